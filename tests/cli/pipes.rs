//! Readers that leave early, and servers that take their time.

use crate::support::{Pty, TestServer};

#[test]
fn a_closed_pipe_is_no_error_and_no_panic() {
    let server = TestServer::start();
    server.run(&["sessions", "create", "--id", "s"]).expect(0);
    for _ in 0..3 {
        server.run(&["call", "--session", "s", "Bash", r#"{"command":"ls"}"#]).expect(0);
    }
    let status = "; echo \"${PIPESTATUS[0]}\"";
    for line in [
        "toolgate events s --json",
        "toolgate events s --follow",
        "toolgate watch",
        "toolgate completions bash",
        "toolgate --help",
        "toolgate tools --session s",
    ] {
        let run = server.shell(&format!("{line} | head -n 1 {status}")).expect(0);
        let lines: Vec<_> = run.out.lines().collect();
        assert_eq!((lines.len(), lines[1]), (2, "0"), "{line}: {run:#?}");
        assert!(run.err.is_empty(), "{line}: {run:#?}");
    }
    // Nobody reads at all.
    for line in ["toolgate info", "toolgate sessions", "toolgate events s", "toolgate nonsense 2>&1"] {
        let run = server.shell(&format!("{line} | true {status}")).expect(0);
        assert!(run.err.is_empty(), "{line}: {run:#?}");
    }
}

#[test]
fn a_person_is_told_what_is_waited_for() {
    let server = TestServer::start();
    let mut pty = Pty::start(&server.on_terminal(&["sessions", "create", "--id", "s"]), 80, 24);
    pty.until_text("session s in");
    server.hold(true);
    let mut pty = Pty::start(&server.on_terminal(&["sessions"]), 80, 24);
    pty.until_text("waiting for the server …");
    server.hold(false);
    pty.until_text("SESSION");
    let (status, _) = pty.end();
    assert!(status.success() && !pty.screen.text().contains("waiting"), "{}", pty.screen.text());
}
