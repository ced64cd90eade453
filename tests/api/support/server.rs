//! The real program on a free port, with its own data directory and workspace root.

use std::io::{BufRead as _, BufReader, Read as _};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::client::Client;
use super::session::TestSession;

/// The token of a second agent, which every test server knows by its hash.
pub(crate) const SECOND_AGENT: &str = "second-agent-0123456789abcdef-0123456789abcdef";
/// `printf %s TOKEN | sha256sum`, computed once with the token.
fn second_agent_hash() -> String {
    use sha2::{Digest as _, Sha256};
    use std::fmt::Write as _;
    Sha256::digest(SECOND_AGENT.as_bytes()).iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// A running server; it ends when this is dropped.
pub(crate) struct TestServer {
    child: Child,
    folder: TempDir,
    file: PathBuf,
    pub(crate) address: SocketAddr,
}

impl TestServer {
    /// A server with the default config.
    pub(crate) fn start() -> Self {
        Self::with_config(&json!({}))
    }

    /// A server with these keys in its config file.
    pub(crate) fn with_config(config: &Value) -> Self {
        let config = config.clone();
        Self::prepared(&[], |folder| {
            std::fs::write(folder.join("config.json"), text_of(&config)).unwrap();
            folder.join("config.json")
        })
    }

    /// A server with these variables, over a config file that `prepare` makes in the server's folder.
    pub(crate) fn prepared(variables: &[(&str, &str)], prepare: impl FnOnce(&Path) -> PathBuf) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("root")).unwrap();
        let file = prepare(&folder.path().canonicalize().unwrap());
        let (child, address) = spawn(folder.path(), &file, variables, log_file(folder.path()));
        Self { child, folder, file, address }
    }

    /// A server with these variables in its environment; the log goes to `log`.
    pub(crate) fn logging(config: &Value, variables: &[(&str, &str)], log: impl Into<Stdio>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("root")).unwrap();
        let file = folder.path().canonicalize().unwrap().join("config.json");
        std::fs::write(&file, text_of(config)).unwrap();
        let (child, address) = spawn(folder.path(), &file, variables, log.into());
        Self { child, folder, file, address }
    }

    /// The config file, as it is named.
    pub(crate) fn config_file(&self) -> &Path {
        &self.file
    }

    /// Puts another config in the place of the file, as an editor does: written beside it, renamed over.
    pub(crate) fn replace_config(&self, config: &Value) {
        self.replace_text(&text_of(config));
    }

    pub(crate) fn replace_text(&self, text: &str) {
        let beside = self.file.with_extension("json.new");
        std::fs::write(&beside, text).unwrap();
        std::fs::rename(&beside, &self.file).unwrap();
    }

    pub(crate) fn signal(&self, signal: rustix::process::Signal) {
        rustix::process::kill_process(rustix::process::Pid::from_child(&self.child), signal).unwrap();
    }

    /// What the server has logged.
    pub(crate) fn log(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("log")).unwrap()
    }

    /// Ends the server as its supervisor would and starts it again on the same data.
    pub(crate) fn restart_with(&mut self, config: &Value) {
        self.terminate();
        std::fs::write(&self.file, text_of(config)).unwrap();
        let log = log_file(self.folder.path());
        (self.child, self.address) = spawn(self.folder.path(), &self.file, &[], log);
    }

    /// Kills the server without a warning.
    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Starts it again on the same data and config, at another address.
    pub(crate) fn start_again(&mut self) {
        self.start_again_with(&[]);
    }

    /// The same with these variables.
    pub(crate) fn start_again_with(&mut self, variables: &[(&str, &str)]) {
        let log = log_file(self.folder.path());
        (self.child, self.address) = spawn(self.folder.path(), &self.file, variables, log);
    }

    /// Ends the server as its supervisor would, and waits for its end.
    pub(crate) fn terminate(&mut self) {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
        assert!(self.child.wait().unwrap().success());
    }

    pub(crate) fn data_dir(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// The workspace root, as the server resolves it.
    pub(crate) fn root(&self) -> PathBuf {
        self.folder.path().join("root").canonicalize().unwrap()
    }

    /// A place that belongs neither to the server nor to a workspace.
    pub(crate) fn outside(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// One of the two tokens that the server made.
    pub(crate) fn token(&self, role: &str) -> String {
        std::fs::read_to_string(self.data_dir().join("tokens").join(role)).unwrap().trim().to_owned()
    }

    pub(crate) fn agent(&self) -> Client {
        Client::new(self.address, Some(&self.token("agent")))
    }

    pub(crate) fn second_agent(&self) -> Client {
        Client::new(self.address, Some(SECOND_AGENT))
    }

    pub(crate) fn operator(&self) -> Client {
        Client::new(self.address, Some(&self.token("operator")))
    }

    pub(crate) fn with_token(&self, token: &str) -> Client {
        Client::new(self.address, Some(token))
    }

    pub(crate) fn anonymous(&self) -> Client {
        Client::new(self.address, None)
    }

    /// A session of the agent's, with a fresh workspace.
    pub(crate) async fn session(&self) -> TestSession {
        TestSession::create(&self.agent(), &json!({})).await
    }

    /// A session of the agent's in which what only asks runs.
    pub(crate) async fn bypass_session(&self) -> TestSession {
        let session = self.session().await;
        let flags = json!({"bypass_permissions": true});
        self.operator().patch(&session.path("/runtime"), &flags).await.expect(200);
        session
    }

    /// The server still answers, and takes calls.
    pub(crate) async fn assert_alive(&self) {
        self.anonymous().get("/healthz").await.expect(200);
        self.agent().get("/v1/info").await.expect(200);
    }

    /// The most memory that the server ever held, in bytes.
    pub(crate) fn peak_memory(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.pid())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
        let kilobytes: u64 = line.trim().trim_end_matches("kB").trim().parse().unwrap();
        kilobytes * 1024
    }
}

impl Drop for TestServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn log_file(folder: &Path) -> Stdio {
    std::fs::File::create(folder.join("log")).unwrap().into()
}

/// A config with the second agent's token, unless it has tokens of its own.
pub(crate) fn text_of(config: &Value) -> String {
    let mut config = config.clone();
    let tokens = json!([{"name": "second", "role": "agent", "sha256": second_agent_hash()}]);
    let auth = config.as_object_mut().unwrap().entry("auth").or_insert_with(|| json!({}));
    auth.as_object_mut().unwrap().entry("tokens").or_insert(tokens);
    config.to_string()
}

fn spawn(folder: &Path, file: &Path, variables: &[(&str, &str)], log: Stdio) -> (Child, SocketAddr) {
    let mut child = program(folder)
        .args(["serve", "--listen", "127.0.0.1:0"])
        .arg("--data-dir")
        .arg(folder.join("data"))
        .arg("--workspace-root")
        .arg(folder.join("root"))
        .arg("--config")
        .arg(file)
        .envs(variables.iter().copied())
        .stdout(Stdio::piped())
        .stderr(log)
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let Some(address) = line.trim().strip_prefix("listening on http://") else {
        let log = std::fs::read_to_string(folder.join("log")).unwrap_or_default();
        panic!("the server did not start: {line:?}\n{log}");
    };
    (child, address.parse().unwrap())
}

/// The program in a bare environment.
#[expect(clippy::disallowed_methods, reason = "the server under test is a process of its own")]
fn program(home: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_toolgate"));
    command.env_clear().env("PATH", "/usr/local/bin:/usr/bin:/bin").env("HOME", home);
    command.env("RUST_LOG", "warn").stdin(Stdio::null());
    command
}

/// Runs a server that must refuse to start; what it says.
pub(crate) fn refusal(home: &Path, arguments: &[&str]) -> String {
    let mut child = program(home)
        .arg("serve")
        .args(arguments)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut started = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut started).unwrap();
    if !started.is_empty() {
        child.kill().unwrap();
        panic!("it started: {started}");
    }
    let mut said = String::new();
    child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert!(!child.wait().unwrap().success(), "{said}");
    said
}
