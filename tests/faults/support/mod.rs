//! A server process over folders of its own, and what its tests hold on to.

mod client;
mod events;
mod kernel;

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

pub(crate) use client::{Answer, Client, call_of};
pub(crate) use events::{Stream, endings, ends_call};
pub(crate) use kernel::{
    Watched, children, is_alive, peak_memory_kib, processes_of, signal, wait_until_none,
};

/// Only a failsafe: no test waits for it to pass.
pub(crate) const FAILSAFE: Duration = Duration::from_mins(1);
/// A variable that commands of a [`Place`] carry, so that they can be found.
pub(crate) const MARK: &str = "FAULTS_MARK";

/// The built program.
pub(crate) fn program() -> PathBuf {
    env!("CARGO_BIN_EXE_toolgate").into()
}

/// A config under which Bash and Write run without asking, and `touch` waits for a person.
pub(crate) fn working() -> Value {
    json!({
        "permissions": {"allow": ["Bash", "Write"], "ask": ["Bash(touch *)"]},
        "bash": {"pass_environment": [MARK]},
    })
}

/// A data directory, a workspace root and a config file.
pub(crate) struct Place {
    root: tempfile::TempDir,
    binary: PathBuf,
}

impl Place {
    pub(crate) fn new() -> Self {
        let root = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        std::fs::create_dir(root.path().join("work")).unwrap();
        Self { root, binary: program() }
    }

    /// Runs the program by a name of its own: each process of its servers can be told by it.
    pub(crate) fn with_own_binary() -> Self {
        let mut place = Self::new();
        std::fs::create_dir(place.path("bin")).unwrap();
        place.binary = place.path("bin/toolgate");
        std::fs::hard_link(program(), &place.binary).unwrap();
        place
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.root.path().canonicalize().unwrap().join(name)
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.path("data")
    }

    pub(crate) fn workspace(&self, session: &str) -> PathBuf {
        self.path("work").join(session)
    }

    pub(crate) fn token(&self, role: &str) -> String {
        std::fs::read_to_string(self.data().join("tokens").join(role)).unwrap().trim().to_owned()
    }

    /// What marks the commands of this place's servers.
    pub(crate) fn mark(&self) -> String {
        self.root.path().file_name().unwrap().to_string_lossy().into_owned()
    }

    /// A command line of a server here.
    pub(crate) fn command(&self, config: &Value) -> Command {
        self.command_without("", config)
    }

    /// The same without one of its flags, so that the config says it.
    #[expect(clippy::disallowed_methods, reason = "the server itself is what is started")]
    pub(crate) fn command_without(&self, flag: &str, config: &Value) -> Command {
        std::fs::write(self.path("config.json"), config.to_string()).unwrap();
        let mut command = Command::new(&self.binary);
        command.arg("serve");
        for (name, value) in [
            ("--listen", PathBuf::from("127.0.0.1:0")),
            ("--data-dir", self.data()),
            ("--workspace-root", self.path("work")),
            ("--config", self.path("config.json")),
        ] {
            if name != flag {
                command.arg(name).arg(value);
            }
        }
        command
            .env(MARK, self.mark())
            .env_remove("TOOLGATE_URL")
            .env_remove("TOOLGATE_TOKEN")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(File::options().create(true).append(true).open(self.path("log")).unwrap());
        command
    }

    pub(crate) fn start(&self, config: &Value) -> Server {
        self.run(self.command(config))
    }

    /// Starts a prepared command and waits until it listens.
    pub(crate) fn run(&self, mut command: Command) -> Server {
        let mut child = command.spawn().unwrap();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        stdout.read_line(&mut line).unwrap();
        let Some(url) = line.trim_end().strip_prefix("listening on ") else {
            let _ = child.kill();
            panic!("no server: {line:?} {}", self.log());
        };
        let url = url.replace("0.0.0.0", "127.0.0.1");
        let client = |role| Client::new(&url, &self.token(role));
        Server { agent: client("agent"), operator: client("operator"), child, _stdout: stdout }
    }

    /// Runs a server that must not start: what it says.
    pub(crate) fn refused(mut command: Command) -> String {
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        stdout.read_line(&mut line).unwrap();
        if !line.is_empty() {
            child.kill().unwrap();
        }
        let output = child.wait_with_output().unwrap();
        assert!(line.is_empty() && !output.status.success(), "it started: {line}");
        String::from_utf8(output.stderr).unwrap()
    }

    /// What servers here logged.
    pub(crate) fn log(&self) -> String {
        std::fs::read_to_string(self.path("log")).unwrap_or_default()
    }
}

/// A server that runs; killed where it is dropped.
pub(crate) struct Server {
    pub(crate) agent: Client,
    pub(crate) operator: Client,
    child: Child,
    _stdout: BufReader<ChildStdout>,
}

impl Server {
    pub(crate) fn pid(&self) -> i32 {
        i32::try_from(self.child.id()).unwrap()
    }

    /// SIGKILL, and collects it.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// SIGTERM, and waits until it has left.
    pub(crate) async fn terminate(mut self) -> ExitStatus {
        let watched = Watched::open(self.pid()).unwrap();
        signal(self.pid(), rustix::process::Signal::TERM);
        watched.gone().await;
        self.child.wait().unwrap()
    }

    /// A session whose calls nobody has to allow.
    pub(crate) async fn bypass_session(&self, id: &str) {
        self.agent.session(id).await;
        let patch = json!({"bypass_permissions": true});
        self.operator.patch(&format!("/v1/sessions/{id}/runtime"), &patch).await.expect(200);
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// How often a text is a line of a file; never where there is no file.
pub(crate) fn lines_in(path: &Path, line: &str) -> usize {
    std::fs::read_to_string(path).unwrap_or_default().lines().filter(|found| *found == line).count()
}
