//! The real server on a free port, with runs of the program that reach it.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::run::{Run, bare, on_terminal, program};

/// A running server; it ends when this is dropped.
pub(crate) struct TestServer {
    child: Child,
    folder: TempDir,
    pub(crate) url: String,
}

impl TestServer {
    /// A server with the default config.
    pub(crate) fn start() -> Self {
        Self::with_config(&json!({}))
    }

    /// A server with these keys in its config file.
    pub(crate) fn with_config(config: &Value) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("root")).unwrap();
        std::fs::write(folder.path().join("config.json"), config.to_string()).unwrap();
        let (child, url) = spawn(folder.path(), "127.0.0.1:0");
        Self { child, folder, url }
    }

    /// Ends the server, as a crash would.
    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Holds it still, or lets it go on.
    pub(crate) fn hold(&self, still: bool) {
        use rustix::process::{Pid, Signal, kill_process};
        let signal = if still { Signal::STOP } else { Signal::CONT };
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// Starts it again on the same data and port.
    pub(crate) fn start_again(&mut self) {
        let address = self.url.trim_start_matches("http://").to_owned();
        (self.child, _) = spawn(self.folder.path(), &address);
    }

    pub(crate) fn home(&self) -> &Path {
        self.folder.path()
    }

    /// A file beside the server's own, to give to the program.
    pub(crate) fn file(&self, name: &str, content: &str) -> String {
        let path = self.home().join(name);
        std::fs::write(&path, content).unwrap();
        path.display().to_string()
    }

    /// The workspace root, as the server resolves it.
    pub(crate) fn root(&self) -> PathBuf {
        self.folder.path().join("root").canonicalize().unwrap()
    }

    pub(crate) fn token(&self, role: &str) -> String {
        let path = self.home().join("data/tokens").join(role);
        std::fs::read_to_string(path).unwrap().trim().to_owned()
    }

    /// A run that finds the server's own tokens, as its owner's would.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        self.reach(program(self.home(), arguments))
    }

    /// The same for a terminal.
    pub(crate) fn on_terminal(&self, arguments: &[&str]) -> Command {
        self.reach(on_terminal(self.home(), arguments))
    }

    /// Lets another program's runs of the program find the server.
    pub(crate) fn reach(&self, mut command: Command) -> Command {
        command.env("TOOLGATE_URL", &self.url).env("TOOLGATE_DATA_DIR", self.home().join("data"));
        command
    }

    /// A shell line in which `toolgate` is the program.
    pub(crate) fn shell(&self, line: &str) -> Run {
        let mut command = self.reach(bare(self.home(), "timeout"));
        let line = format!("toolgate() {{ '{}' \"$@\"; }}; {line}", env!("CARGO_BIN_EXE_toolgate"));
        command.args(["60", "bash", "-c", &line]);
        Run::of(&command.output().unwrap())
    }

    /// Runs the program.
    pub(crate) fn run(&self, arguments: &[&str]) -> Run {
        Run::of(&self.command(arguments).output().unwrap())
    }

    /// A session of this name with a call of Bash that waits for approval, and the approval's id.
    pub(crate) fn waiting(&self, session: &str, call: &str, command: &str) -> String {
        self.run(&["sessions", "create", "--id", session]).expect(0);
        let arguments = json!({"command": command}).to_string();
        let run = self.run(&["call", "--session", session, "--id", call, "--json", "Bash", &arguments]);
        let call = run.expect(4).json();
        call["approval_id"].as_str().unwrap().to_owned()
    }
}

impl Drop for TestServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn spawn(folder: &Path, listen: &str) -> (Child, String) {
    let mut child = bare(folder, env!("CARGO_BIN_EXE_toolgate"))
        .args(["serve", "--listen", listen])
        .arg("--data-dir")
        .arg(folder.join("data"))
        .arg("--workspace-root")
        .arg(folder.join("root"))
        .arg("--config")
        .arg(folder.join("config.json"))
        .stdout(Stdio::piped())
        .stderr(std::fs::File::create(folder.join("log")).unwrap())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let Some(url) = line.trim().strip_prefix("listening on ") else {
        panic!("it did not start: {line:?}\n{}", std::fs::read_to_string(folder.join("log")).unwrap());
    };
    (child, url.to_owned())
}
