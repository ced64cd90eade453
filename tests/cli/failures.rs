//! What goes wrong between program and server, what is said of it, and the exit codes.

use crate::support::{Run, TestServer, program};

#[test]
fn a_server_that_is_not_there() {
    let mut server = TestServer::start();
    let token = server.file("token", &server.token("operator"));
    server.kill();
    for words in [
        &["info"][..],
        &["sessions"],
        &["approvals"],
        &["events"],
        &["watch"],
        &["grants"],
        &["call", "Glob"],
        &["rules", "explain", "Bash(ls)"],
    ] {
        let run = server.run(&[words, &["--token-file", &token]].concat()).expect(5);
        assert!(run.out.is_empty(), "{run:#?}");
        run.says(&["error: cannot reach http://127.0.0.1:", "toolgate serve", "TOOLGATE_URL"]);
    }
}

#[test]
fn a_wrong_token_and_one_of_too_little_a_role() {
    let server = TestServer::start();
    let wrong =
        |words: &[&str]| Run::of(&server.command(words).env("TOOLGATE_TOKEN", "nonsense").output().unwrap());
    for words in [&["info"][..], &["sessions"], &["approvals"], &["events"]] {
        let run = wrong(words).expect(6);
        run.says(&["status 401", "--token-file", "TOOLGATE_TOKEN"]);
        assert!(!run.err.contains("nonsense"), "{run:#?}");
    }
    let agent = server.token("agent");
    let approval = server.waiting("s", "c1", "touch x");
    for words in [
        &["approvals"][..],
        &["approve", &approval],
        &["deny", &approval],
        &["grants"],
        &["events"],
        &["watch"],
        &["answer", "s", "c1", "x"],
    ] {
        let run = Run::of(&server.command(words).env("TOOLGATE_TOKEN", &agent).output().unwrap()).expect(6);
        run.says(&["status 403", "this is an agent's token", "tokens/operator"]);
        assert!(!run.err.contains(&agent), "{run:#?}");
    }
    // A file that is named is meant, whatever the environment says.
    let file = server.file("operator", &server.token("operator"));
    let mut command = server.command(&["approvals", "--json", "--token-file", &file]);
    Run::of(&command.env("TOOLGATE_TOKEN", &agent).output().unwrap()).expect(0).json();
}

#[test]
fn a_token_that_cannot_be_found() {
    let home = tempfile::tempdir().unwrap();
    let run = |words: &[&str]| Run::of(&program(home.path(), words).output().unwrap());
    run(&["approvals"]).expect(2).says(&["no operator token", "tokens/operator", "TOOLGATE_TOKEN"]);
    run(&["info", "--token-file", "missing"]).expect(2).says(&["missing", "cannot be read"]);
    // Tokens of this machine are for this machine's server alone.
    run(&["info", "--url", "https://gate.example"]).expect(2).says(&["no token for https://gate.example/"]);
    run(&["info", "--url", "gate:1"]).expect(2).says(&["http://HOST:PORT"]);
}

#[test]
fn a_token_is_no_argument() {
    let home = tempfile::tempdir().unwrap();
    let help = Run::of(&program(home.path(), &["call", "--help"]).output().unwrap()).expect(0);
    assert!(!help.out.contains("--token "), "arguments can be read by everyone on the machine: {help:#?}");
}

#[test]
fn a_token_that_reaches_one_session_reaches_no_other() {
    let server = TestServer::start();
    let made = server.run(&["sessions", "create", "--id", "mine", "--json"]).expect(0).json();
    server.run(&["sessions", "create", "--id", "other"]).expect(0);
    let token = made["session_token"].as_str().unwrap();
    let run = |words: &[&str]| Run::of(&server.command(words).env("TOOLGATE_TOKEN", token).output().unwrap());
    run(&["call", "--session", "mine", "Glob", r#"{"pattern":"*"}"#]).expect(0);
    run(&["call", "--session", "other", "Glob", r#"{"pattern":"*"}"#]).expect(6).says(&["status 404"]);
}
