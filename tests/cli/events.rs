//! `toolgate events`, and `watch` where there is no terminal.

use crate::support::TestServer;

#[test]
fn the_log_is_printed_to_its_end() {
    let server = TestServer::start();
    server.run(&["sessions", "create", "--id", "s"]).expect(0);
    server.run(&["call", "--session", "s", "--id", "c1", "Bash", r#"{"command":"ls"}"#]).expect(0);
    let run = server.run(&["events", "s"]).expect(0);
    run.shows(&["s#1 session started", "[c1] Bash {\"command\":\"ls\"}", "[c1] done"]);
    let events = server.run(&["events", "s", "--json"]).expect(0).json_lines();
    assert_eq!(events.len(), run.out.lines().count());
    let sequence: Vec<_> = events.iter().map(|event| event["seq"].as_u64().unwrap()).collect();
    assert_eq!(sequence, (1..=sequence.len() as u64).collect::<Vec<_>>());
    let some = server.run(&["events", "s", "--call", "c1", "--types", "tool_complete", "--json"]).expect(0);
    assert_eq!(some.json()["type"], "tool_complete");
    let rest = server.run(&["events", "s", "--after", "1", "--json"]).expect(0).json_lines();
    assert_eq!(rest.len(), events.len() - 1);
    let all = server.run(&["events", "--json"]).expect(0).json_lines();
    assert_eq!(all.len(), events.len());
}

#[test]
fn following_ends_with_the_session_and_so_does_watching_without_a_terminal() {
    let server = TestServer::start();
    server.run(&["sessions", "create", "--id", "s"]).expect(0);
    server.run(&["sessions", "end", "s"]).expect(0);
    for words in [&["events", "s", "--follow"][..], &["watch", "s"], &["watch", "s", "--plain"]] {
        let run = server.run(words).expect(0);
        assert!(!run.out.contains('\u{1b}'), "{run:#?}");
        run.shows(&["s#1 session started\n", "session ended\n"]);
    }
    let events = server.run(&["watch", "s", "--json"]).expect(0).json_lines();
    assert_eq!(events.last().unwrap()["type"], "session_ended");
}

#[test]
fn following_goes_on_after_the_server_was_away() {
    let mut server = TestServer::start();
    server.run(&["sessions", "create", "--id", "s"]).expect(0);
    let mut command = server.command(&["events", "s", "--follow", "--json"]);
    let mut child =
        command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped()).spawn().unwrap();
    let mut lines = std::io::BufRead::lines(std::io::BufReader::new(child.stdout.take().unwrap()));
    assert!(lines.next().unwrap().unwrap().contains("session_started"));
    server.kill();
    server.start_again();
    server.run(&["sessions", "end", "s"]).expect(0);
    let rest: Vec<_> = lines.map(Result::unwrap).collect();
    assert_eq!(rest.len(), 1, "{rest:?}");
    assert!(rest[0].contains("session_ended"), "{rest:?}");
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success() && String::from_utf8_lossy(&output.stderr).contains("going on after 1"));
}
