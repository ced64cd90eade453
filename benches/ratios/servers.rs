//! The two servers that are compared, each in a process of its own.

use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use tokio_util::sync::CancellationToken;

use super::RAW_SPAWNS;
use super::client::Client;

/// The argument with which the bench is the bare server.
pub(crate) const SERVE_BARE: &str = "--serve-bare";
const SESSION: &str = "bench";

/// Toolgate as a user starts it, with the shell allowed.
pub(crate) struct Toolgate {
    child: Child,
    folder: tempfile::TempDir,
    pub(crate) address: SocketAddr,
    token: String,
    counter: std::sync::Arc<std::sync::atomic::AtomicUsize>,
}

/// A handler that reads the file and answers it.
pub(crate) struct Bare {
    child: Child,
    pub(crate) address: SocketAddr,
}

/// Requests that differ only in their call's id.
pub(crate) struct Requests {
    head: String,
    body: String,
    counter: std::sync::Arc<std::sync::atomic::AtomicUsize>,
}

impl Requests {
    pub(crate) fn next(&mut self) -> Vec<u8> {
        let id = self.counter.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let body = format!("{{\"id\":\"c{id}\",{}}}", self.body);
        format!("{}Content-Length: {}\r\n\r\n{body}", self.head, body.len()).into_bytes()
    }
}

impl Toolgate {
    pub(crate) fn start() -> Self {
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
        let root = folder.path().join("work");
        std::fs::create_dir_all(root.join(SESSION)).expect("a workspace");
        std::fs::write(root.join(SESSION).join("file"), "a line of text\n".repeat(273)).expect("a file");
        let config = folder.path().join("config.json");
        std::fs::write(&config, r#"{"permissions": {"allow": ["Bash"]}}"#).expect("a config");
        let mut child = Command::new(env!("CARGO_BIN_EXE_toolgate"))
            .args(["serve", "--listen", "127.0.0.1:0", "--data-dir"])
            .arg(folder.path().join("data"))
            .arg("--workspace-root")
            .arg(&root)
            .arg("--config")
            .arg(&config)
            .stdout(Stdio::piped())
            .spawn()
            .expect("the server starts");
        let address = first_line(&mut child, "listening on http://");
        let token = std::fs::read_to_string(folder.path().join("data/tokens/agent")).expect("a token");
        let counter = std::sync::Arc::default();
        let toolgate = Self { child, folder, address, token: token.trim().to_owned(), counter };
        let body = format!(r#"{{"session_id":"{SESSION}","workspace":"{SESSION}"}}"#);
        let head = toolgate.head("/v1/sessions");
        let request = format!("{head}Content-Length: {}\r\n\r\n{body}", body.len());
        Client::connect(address).exchange(request.as_bytes(), b"\"session_token\"");
        toolgate
    }

    /// The file that is read.
    pub(crate) fn file(&self) -> PathBuf {
        self.folder.path().join("work").join(SESSION).join("file")
    }

    pub(crate) fn read_request(&self) -> Requests {
        self.requests(r#""function":{"name":"Read","arguments":"{\"file_path\":\"file\"}"}"#.to_owned())
    }

    pub(crate) fn command_request(&self, command: &str) -> Requests {
        let arguments = serde_json::json!({ "command": command }).to_string();
        let arguments = serde_json::Value::String(arguments);
        self.requests(format!(r#""function":{{"name":"Bash","arguments":{arguments}}}"#))
    }

    /// Seconds for one raw spawn, measured by this bench run as a command of the server.
    pub(crate) fn raw_on_floor(&self, client: &mut Client, count: usize) -> f64 {
        let bench = std::env::current_exe().expect("the bench's path");
        let command = format!("'{}' {RAW_SPAWNS} {count}", bench.display());
        let answer = client.answer(&self.command_request(&command).next()).to_vec();
        let call: serde_json::Value = serde_json::from_slice(&answer).expect("a call");
        let nanoseconds = call["result"]["result"].as_str().expect("a text").trim();
        nanoseconds.parse::<f64>().unwrap_or_else(|_| panic!("no figure in {call}")) / 1e9
    }

    fn requests(&self, body: String) -> Requests {
        let head = self.head(&format!("/v1/sessions/{SESSION}/calls"));
        Requests { head, body, counter: std::sync::Arc::clone(&self.counter) }
    }

    fn head(&self, path: &str) -> String {
        format!(
            "POST {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {}\r\nContent-Type: application/json\r\n",
            self.token
        )
    }
}

impl Bare {
    pub(crate) fn start(file: &std::path::Path) -> Self {
        let mut child = Command::new(std::env::current_exe().expect("the bench's path"))
            .arg(SERVE_BARE)
            .arg(file)
            .stdout(Stdio::piped())
            .spawn()
            .expect("the bare server starts");
        let address = first_line(&mut child, "");
        Self { child, address }
    }

    pub(crate) fn request() -> Vec<u8> {
        let body = r#"{"id":"c1","function":{"name":"Read","arguments":"{}"}}"#;
        let head = "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n";
        format!("{head}Content-Length: {}\r\n\r\n{body}", body.len()).into_bytes()
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

/// Is the bare server: reads the body, reads the file, answers it.
pub(crate) fn serve_bare(file: &str) {
    let file = PathBuf::from(file);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async move {
        let handler = move |_body: axum::body::Bytes| {
            let file = file.clone();
            async move { tokio::fs::read(file).await.expect("the file") }
        };
        let router = axum::Router::new().route("/", axum::routing::post(handler));
        let listening = toolgate::http::Listening::bind(([127, 0, 0, 1], 0).into()).await.expect("a port");
        println!("{}", listening.address);
        // The same listener as the server's: what differs is what a request does.
        let limits =
            toolgate::http::ServeLimits { connections: 64, head_timeout: std::time::Duration::from_secs(10) };
        let (stop, abort) = (CancellationToken::new(), CancellationToken::new());
        toolgate::http::serve(listening, router, limits, stop, abort).await;
    });
}
