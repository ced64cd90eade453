//! `toolgate sessions`.

use crate::support::TestServer;

#[test]
fn they_are_made_listed_shown_and_ended() {
    let server = TestServer::start();
    let workspace = server.root().join("mine");
    std::fs::create_dir(&workspace).unwrap();
    let workspace = workspace.display().to_string();
    let run = server.run(&[
        "sessions",
        "create",
        "--id",
        "run-7",
        "--workspace",
        &workspace,
        "--label",
        "ticket=12",
        "--mode",
        "plan",
    ]);
    assert_eq!(run.expect(0).out, format!("session run-7 in {workspace}\n"));
    let made = server.run(&["sessions", "create", "--no-human", "--json"]).expect(0).json();
    assert!(made["session_token"].is_string() && made["runtime"]["no_human_approver"] == true, "{made}");

    let list = server.run(&["sessions"]).expect(0);
    list.shows(&["SESSION", "run-7", "active", "plan", &workspace]);
    assert_eq!(list.out.lines().count(), 3, "{list:#?}");
    assert_eq!(list.out, server.run(&["sessions", "list"]).expect(0).out);
    let ids: Vec<_> = server.run(&["sessions", "--json"]).expect(0).json_lines();
    assert_eq!((ids.len(), &ids[0]["session_id"]), (2, &"run-7".into()));

    server.run(&["call", "--session", "run-7", "--id", "c1", "Glob", r#"{"pattern":"*"}"#]).expect(0);
    let shown = server.run(&["sessions", "show", "run-7"]).expect(0);
    shown.shows(&[
        "session    run-7\n",
        "mode       plan\n",
        "label      ticket=12\n",
        "completed",
        "c1",
        "Glob",
    ]);
    assert_eq!(
        server.run(&["sessions", "show", "run-7", "--json"]).expect(0).json()["labels"]["ticket"],
        "12"
    );
    let with_calls = server.run(&["sessions", "show", "run-7", "--json", "--calls"]).expect(0).json_lines();
    assert_eq!(with_calls[1]["call_id"], "c1");

    assert_eq!(server.run(&["sessions", "end", "run-7"]).expect(0).out, "ended run-7\n");
    assert_eq!(server.run(&["sessions", "end", "run-7", "--json"]).expect(0).json()["status"], "ended");
    assert_eq!(server.run(&["sessions"]).expect(0).out.lines().count(), 2);
    server.run(&["sessions", "--all"]).expect(0).shows(&["run-7", "ended"]);
}

#[test]
fn what_widens_needs_an_operator() {
    let server = TestServer::start();
    let run = server.run(&["sessions", "create", "--bypass"]).expect(6);
    run.says(&["status 403"]);
    let token = server.file("token", &server.token("operator"));
    let made =
        server.run(&["sessions", "create", "--bypass", "--json", "--token-file", &token]).expect(0).json();
    assert_eq!(made["runtime"]["bypass_permissions"], true);
    server.run(&["sessions"]).expect(0).shows(&["bypass"]);
}

#[test]
fn an_agent_sees_its_own_and_an_operator_all() {
    let server = TestServer::start();
    server.run(&["sessions", "create", "--id", "of-agent"]).expect(0);
    let operator = server.file("operator", &server.token("operator"));
    server.run(&["sessions", "create", "--id", "of-operator", "--token-file", &operator]).expect(0);
    let agent = server.file("agent", &server.token("agent"));
    let seen = |token: &str| {
        let lines = server.run(&["sessions", "--json", "--token-file", token]).expect(0).json_lines();
        lines.iter().map(|line| line["session_id"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(seen(&agent), ["of-agent"]);
    assert_eq!(seen(&operator), ["of-agent", "of-operator"]);
    let run = server.run(&["sessions", "show", "of-operator", "--token-file", &agent]).expect(6);
    run.says(&["status 404", "toolgate sessions"]);
}

#[test]
fn nothing_to_list_is_said_to_people_alone() {
    let server = TestServer::start();
    let run = server.run(&["sessions"]).expect(0);
    assert!(run.out.is_empty());
    run.says(&["no session is active"]);
    let run = server.run(&["sessions", "--json"]).expect(0);
    assert!(run.out.is_empty() && run.err.is_empty(), "{run:#?}");
}
