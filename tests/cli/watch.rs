//! `toolgate watch` on a terminal, against a real server.

use rustix::process::{Signal, kill_process};

use crate::support::{Pty, TestServer, bare};

fn watch(server: &TestServer, words: &[&str]) -> Pty {
    Pty::start(&server.on_terminal(&[&["watch"], words].concat()), 100, 32)
}

/// The terminal was given back, and nothing but drawing was ever sent to it.
#[track_caller]
fn assert_left_well(mut pty: Pty) {
    let (status, as_it_was) = pty.end();
    let screen = &pty.screen;
    assert!(status.success(), "{status}\n{}", screen.text());
    assert!(as_it_was && screen.cursor && !screen.alternate, "{screen:#?}");
    assert!(screen.strange.is_empty(), "{:?}", screen.strange);
}

#[test]
fn a_call_is_approved_by_key_and_its_output_seen() {
    let server = TestServer::start();
    server.waiting("s", "c1", "for i in 1 2 3; do echo line $i; done; touch 'e\u{1b}[31mvil'");
    let mut pty = watch(&server, &[]);
    pty.until_text("waits for you: 1 of 1");
    // At once it is refused: nobody can have read it.
    pty.keys("a");
    pty.until_text("this one has just come up");
    assert!(!server.root().join("s/e\u{1b}[31mvil").exists());
    pty.until_text("a once  d deny");
    pty.press_until("a", "allowed once");
    pty.until_text("line 3");
    pty.until_text("done");
    assert!(server.root().join("s/e\u{1b}[31mvil").exists());
    assert!(pty.screen.text().contains("0 wait for approval"), "{}", pty.screen.text());
    pty.keys("q");
    assert_left_well(pty);
}

#[test]
fn a_call_is_refused_with_a_message() {
    let server = TestServer::start();
    server.waiting("s", "c1", "touch x");
    let mut pty = watch(&server, &["s"]);
    pty.until_text("waits for you");
    pty.press_until("m", "deny, and tell the model");
    pty.keys("use y, a");
    pty.until_text("use y, a");
    pty.keys("\r");
    pty.until_text("denied apr_");
    let call = server.run(&["call", "--session", "s", "--id", "c1", "Bash", r#"{"command":"touch x"}"#]);
    call.expect(3).shows(&["use y, a"]);
    pty.keys("\u{3}");
    assert_left_well(pty);
}

#[test]
fn pasted_text_decides_nothing() {
    let server = TestServer::start();
    let approval = server.waiting("s", "c1", "touch x");
    let mut pty = watch(&server, &[]);
    pty.until_text("waits for you");
    pty.keys("\u{1b}[200~a\u{1b}[201~");
    pty.until_text("pasted text is ignored");
    // A terminal that does not mark what is pasted sends it at once.
    pty.keys("aaddd");
    pty.until_text("several keys came at once");
    let shown = server.run(&["approvals", &approval, "--json"]).expect(0).json();
    assert_eq!(shown["status"], "pending");
    pty.keys("q");
    assert_left_well(pty);
}

#[test]
fn it_comes_back_and_says_so() {
    let mut server = TestServer::start();
    let mut pty = watch(&server, &[]);
    pty.until_text("connected");
    server.kill();
    pty.until_text("DISCONNECTED");
    server.start_again();
    pty.until("it is connected again", |screen| !screen.text().contains("DISCONNECTED"));
    server.waiting("later", "c9", "touch x");
    pty.until_text("later · c9");
    pty.keys("q");
    assert_left_well(pty);
}

#[test]
fn it_follows_the_terminals_size() {
    let server = TestServer::start();
    server.waiting("s", "c1", "touch x");
    let mut pty = watch(&server, &[]);
    pty.until_text("waits for you");
    pty.resize(60, 16);
    // The corner of the frame stands where the new edge is.
    pty.until("it is drawn anew", |screen| {
        screen.text().lines().nth(1).is_some_and(|line| line.ends_with('┐') && line.chars().count() == 60)
    });
    pty.keys("q");
    assert_left_well(pty);
}

/// A terminal tells of its new size by a signal, which reaches the program at about the time of the next key.
#[test]
fn no_key_is_lost_while_the_size_changes() {
    const HELP: &str = "┌ keys ─";
    let server = TestServer::start();
    let mut pty = watch(&server, &[]);
    pty.until_text("connected");
    for round in 0..200 {
        pty.resize(80 + round % 20, 32);
        pty.keys("?");
        let shown = round % 2 == 0;
        pty.until("help comes and goes", |screen| screen.text().contains(HELP) == shown);
    }
    pty.keys("q");
    assert_left_well(pty);
}

#[test]
fn every_way_of_ending_gives_the_terminal_back() {
    let server = TestServer::start();
    for signal in [Signal::TERM, Signal::INT, Signal::HUP] {
        let mut pty = watch(&server, &[]);
        pty.until_text("connected");
        assert!(pty.screen.alternate && !pty.screen.cursor, "{:#?}", pty.screen);
        kill_process(pty.pid(), signal).unwrap();
        let (_, as_it_was) = pty.end();
        let screen = &pty.screen;
        assert!(as_it_was && screen.cursor && !screen.alternate, "{signal:?}: {screen:#?}");
    }
}

/// Runs a program on a terminal, closes that from the other side, and waits for the program's end.
const CLOSED_TERMINAL: &str = r#"
import fcntl, os, pty, signal, struct, sys, termios
child, terminal = pty.fork()
if child == 0:
    fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 32, 100, 0, 0))
    os.execv(sys.argv[1], sys.argv[1:])
step = "it never was connected"
def gives_up(*_):
    os.kill(child, signal.SIGKILL)
    sys.exit(step)
signal.signal(signal.SIGALRM, gives_up)
signal.alarm(30)
seen = b""
while b"connected" not in seen:
    seen += os.read(terminal, 65536)
os.close(terminal)
step = "it goes on without a terminal"
os.waitpid(child, 0)
"#;

#[test]
fn a_terminal_that_is_closed_ends_it() {
    let server = TestServer::start();
    let watch = server.on_terminal(&["watch"]);
    let mut python = bare(server.home(), "python3");
    python
        .envs(watch.get_envs().filter_map(|(name, value)| Some((name, value?))))
        .env("TERM", "xterm-256color");
    python.args(["-c", CLOSED_TERMINAL]).arg(watch.get_program()).args(watch.get_args());
    let output = python.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn what_is_wrong_at_the_beginning_is_said_on_a_plain_screen() {
    let server = TestServer::start();
    let mut command = server.on_terminal(&["watch"]);
    command.env("TOOLGATE_TOKEN", "wrong");
    let mut pty = Pty::start(&command, 100, 32);
    pty.until_text("status 401");
    assert!(!pty.screen.alternate);
    let (status, _) = pty.end();
    assert_eq!(status.code(), Some(6));
    // A line an event where that is asked for, on a terminal too.
    server.run(&["sessions", "create", "--id", "s"]).expect(0);
    let mut pty = watch(&server, &["s", "--plain"]);
    pty.until_text("s#1 session started");
    assert!(!pty.screen.alternate);
    server.run(&["sessions", "end", "s"]).expect(0);
    assert_left_well(pty);
}
