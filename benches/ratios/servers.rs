//! The two servers that are compared, each in a process of its own.

use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use axum::body::Bytes;
use axum::routing::post;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

use super::client::Client;
use super::log::{Log, Sender};
use super::suites::commands::{self, Spawned};

/// The argument with which the bench is the bare server.
pub(crate) const SERVE_BARE: &str = "--serve-bare";
/// The argument with the folder in which the bare server keeps a log.
pub(crate) const LOG_IN: &str = "--log-in";
const SESSION: &str = "bench";

/// Toolgate as a user starts it, with the shell allowed.
pub(crate) struct Toolgate {
    child: Child,
    folder: TempDir,
    pub(crate) address: SocketAddr,
    agent: String,
    operator: String,
    counter: Arc<AtomicUsize>,
}

/// Handlers that do what a call asks for, and no more: one reads the file, one spawns a command.
pub(crate) struct Bare {
    child: Child,
    _log: Option<TempDir>,
    pub(crate) address: SocketAddr,
}

/// Requests that differ only in their call's id.
pub(crate) struct Requests {
    call: String,
    batch: String,
    body: String,
    counter: Arc<AtomicUsize>,
}

impl Requests {
    pub(crate) fn next(&mut self) -> Vec<u8> {
        with_body(&self.call, &self.call_body())
    }

    /// Some calls in one request.
    pub(crate) fn next_batch(&mut self, count: usize) -> Vec<u8> {
        let calls: Vec<String> = (0..count).map(|_| self.call_body()).collect();
        with_body(&self.batch, &format!("{{\"calls\":[{}]}}", calls.join(",")))
    }

    fn call_body(&self) -> String {
        let id = self.counter.fetch_add(1, Ordering::Relaxed);
        format!("{{\"id\":\"c{id}\",{}}}", self.body)
    }
}

impl Toolgate {
    /// Started, with a session whose workspace has one file.
    pub(crate) fn start() -> Self {
        let folder = Self::folder();
        let (child, address) = launch(&folder);
        let toolgate = Self::with(child, folder, address);
        toolgate.open_session(SESSION);
        toolgate
    }

    fn open_session(&self, session: &str) {
        let body = format!(r#"{{"session_id":"{session}","workspace":"{SESSION}"}}"#);
        let request = with_body(&head("POST", "/v1/sessions", &self.agent), &body);
        Client::connect(self.address).exchange(&request, b"\"session_token\"");
    }

    /// The same, and the seconds until it said that it listens.
    pub(crate) fn timed_start() -> (f64, Self) {
        let folder = Self::folder();
        let start = Instant::now();
        let (child, address) = launch(&folder);
        (start.elapsed().as_secs_f64(), Self::with(child, folder, address))
    }

    fn folder() -> TempDir {
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
        let workspace = folder.path().join("work").join(SESSION);
        std::fs::create_dir_all(&workspace).expect("a workspace");
        std::fs::write(workspace.join("file"), "a line of text\n".repeat(273)).expect("a file");
        let rules = r#"{"permissions": {"allow": ["Bash"]}}"#;
        std::fs::write(folder.path().join("config.json"), rules).expect("a config");
        folder
    }

    fn with(child: Child, folder: TempDir, address: SocketAddr) -> Self {
        let token = |role: &str| {
            let path = folder.path().join("data/tokens").join(role);
            std::fs::read_to_string(path).expect("a token").trim().to_owned()
        };
        let (agent, operator) = (token("agent"), token("operator"));
        Self { child, folder, address, agent, operator, counter: Arc::default() }
    }

    /// Where the session works.
    pub(crate) fn workspace(&self) -> PathBuf {
        self.folder.path().join("work").join(SESSION)
    }

    /// The file that is read.
    pub(crate) fn file(&self) -> PathBuf {
        self.workspace().join("file")
    }

    /// Memory of the server and of its helper, in MiB.
    pub(crate) fn resident_mib(&self) -> f64 {
        let server = self.child.id();
        let children = std::fs::read_to_string(format!("/proc/{server}/task/{server}/children"));
        let children = children.unwrap_or_default();
        let all = children.split_whitespace().map(str::to_owned).chain([server.to_string()]);
        all.map(|process| resident_kib(&process)).sum::<f64>() / 1024.0
    }

    pub(crate) fn read_request(&self) -> Requests {
        self.requests("Read", &json!({"file_path": "file"}))
    }

    pub(crate) fn command_request(&self, command: &str) -> Requests {
        self.requests("Bash", &json!({ "command": command }))
    }

    /// Calls of a tool.
    pub(crate) fn requests(&self, tool: &str, arguments: &Value) -> Requests {
        let function = json!({"name": tool, "arguments": arguments.to_string()});
        Requests {
            call: head("POST", &format!("/v1/sessions/{SESSION}/calls"), &self.agent),
            batch: head("POST", &format!("/v1/sessions/{SESSION}/calls/batch"), &self.agent),
            body: format!("\"function\":{function}"),
            counter: Arc::clone(&self.counter),
        }
    }

    /// Allows an approval.
    pub(crate) fn decision(&self, approval: &str) -> Vec<u8> {
        let line = head("POST", &format!("/v1/approvals/{approval}/decision"), &self.operator);
        with_body(&line, r#"{"decision":"allow"}"#)
    }

    /// Waits for a call's end.
    pub(crate) fn waited_for(&self, call: &str) -> Vec<u8> {
        let path = format!("/v1/sessions/{SESSION}/calls/{call}?wait_ms=30000");
        format!("{}\r\n", head("GET", &path, &self.agent)).into_bytes()
    }

    /// Opens the session's stream behind an event.
    pub(crate) fn stream(&self, after: u64) -> Vec<u8> {
        let path = format!("/v1/sessions/{SESSION}/events?after={after}");
        format!("{}Accept: text/event-stream\r\n\r\n", head("GET", &path, &self.agent)).into_bytes()
    }

    /// The number of the session's latest event.
    pub(crate) fn latest_event(&self) -> u64 {
        let request = format!("{}\r\n", head("GET", &format!("/v1/sessions/{SESSION}"), &self.agent));
        let mut client = Client::connect(self.address);
        let session: Value = serde_json::from_slice(client.answer(request.as_bytes())).expect("a session");
        session["last_seq"].as_u64().expect("a number")
    }
}

fn head(method: &str, path: &str, token: &str) -> String {
    format!(
        "{method} {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\n\
         Content-Type: application/json\r\n"
    )
}

/// Starts the server as a user does, and waits until it says that it listens.
fn launch(folder: &TempDir) -> (Child, SocketAddr) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_toolgate"))
        .args(["serve", "--listen", "127.0.0.1:0", "--data-dir"])
        .arg(folder.path().join("data"))
        .arg("--workspace-root")
        .arg(folder.path().join("work"))
        .arg("--config")
        .arg(folder.path().join("config.json"))
        .env("RUST_LOG", "warn")
        .stdout(Stdio::piped())
        .spawn()
        .expect("the server starts");
    let address = first_line(&mut child, "listening on http://");
    (child, address)
}

fn with_body(head: &str, body: &str) -> Vec<u8> {
    format!("{head}Content-Length: {}\r\n\r\n{body}", body.len()).into_bytes()
}

fn resident_kib(process: &str) -> f64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or_default();
    line.trim().trim_end_matches(" kB").parse().unwrap_or_default()
}

impl Bare {
    pub(crate) fn start(file: &Path) -> Self {
        Self::launch(file, None)
    }

    /// The same, with a row in a log for each request.
    pub(crate) fn start_with_log(file: &Path) -> Self {
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
        Self::launch(file, Some(folder))
    }

    fn launch(file: &Path, log: Option<TempDir>) -> Self {
        let mut command = Command::new(std::env::current_exe().expect("the bench's path"));
        command.arg(SERVE_BARE).arg(file).stdout(Stdio::piped());
        if let Some(folder) = &log {
            command.arg(LOG_IN).arg(folder.path());
        }
        let mut child = command.spawn().expect("the bare server starts");
        let address = first_line(&mut child, "");
        Self { child, _log: log, address }
    }

    /// Asks for the file.
    pub(crate) fn read_request() -> Vec<u8> {
        Self::request("/read")
    }

    /// Asks for a run of the command.
    pub(crate) fn spawn_request(spawned: &Spawned) -> Vec<u8> {
        Self::request(spawned.path)
    }

    fn request(path: &str) -> Vec<u8> {
        let head = format!("POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n");
        with_body(&head, r#"{"id":"c1","function":{"name":"Read","arguments":"{}"}}"#)
    }
}

impl Drop for Toolgate {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Bare {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn first_line(child: &mut Child, prefix: &str) -> SocketAddr {
    let mut line = String::new();
    let stdout = child.stdout.take().expect("a pipe");
    let mut reader = BufReader::new(stdout);
    reader.read_line(&mut line).expect("a line");
    // What else it prints is taken, so that it never waits for us.
    std::thread::spawn(move || reader.lines().for_each(drop));
    line.trim().strip_prefix(prefix).expect("the greeting").parse().expect("an address")
}

/// Is the bare server: takes the body, reads the file or spawns the command, answers; with a log in a folder once it
/// is written there.
pub(crate) fn serve_bare(file: &str, log_in: Option<&str>) {
    let file = PathBuf::from(file);
    let log = log_in.map(|folder| Log::create(Path::new(folder)).into_thread());
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async move {
        let logs = log.clone();
        let read = move |_body: Bytes| {
            let (file, log) = (file.clone(), log.clone());
            async move {
                let content = Bytes::from(tokio::fs::read(file).await.expect("the file"));
                if let Some(log) = log {
                    log.commit(content.clone(), false).await;
                }
                content
            }
        };
        let mut router = axum::Router::new().route("/read", post(read));
        for spawned in [&commands::BUILTIN, &commands::PROGRAM] {
            let logs = logs.clone();
            router = router.route(spawned.path, post(move |_body: Bytes| spawn(spawned, logs)));
        }
        let listening = toolgate::http::Listening::bind(([127, 0, 0, 1], 0).into()).await.expect("a port");
        println!("{}", listening.address);
        // The same listener as the server's: what differs is what a request does.
        let limits = toolgate::http::ServeLimits {
            connections: toolgate::config::Capacity::new(64),
            head_timeout: Arc::new(|| std::time::Duration::from_secs(10)),
        };
        let (stop, abort) = (CancellationToken::new(), CancellationToken::new());
        toolgate::http::serve(listening, router, limits, stop, abort).await;
    });
}

/// Runs the command; with a log its start is on the disk before it, and its end written after it.
async fn spawn(spawned: &'static Spawned, log: Option<Sender>) -> &'static str {
    if let Some(log) = &log {
        log.commit(Bytes::from_static(b"start"), true).await;
    }
    let run = || spawned.command().output();
    let output = tokio::task::spawn_blocking(run).await.expect("no panic").expect("it runs");
    assert!(output.status.success());
    if let Some(log) = &log {
        log.commit(Bytes::from_static(b"end"), false).await;
    }
    "{\"exit_code\":0}"
}
