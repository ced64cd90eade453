//! One run of the program, to its end.

use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

/// What a run left.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

/// The program in a bare environment; a run that hangs is ended with code 124.
pub(crate) fn program(home: &Path, arguments: &[&str]) -> Command {
    let mut command = bare(home, "timeout");
    command.args(["60", env!("CARGO_BIN_EXE_toolgate")]).args(arguments);
    command
}

/// The program by itself, for a terminal: `timeout` would take it out of its terminal's foreground.
pub(crate) fn on_terminal(home: &Path, arguments: &[&str]) -> Command {
    let mut command = bare(home, env!("CARGO_BIN_EXE_toolgate"));
    command.args(arguments);
    command
}

/// Another program in the same environment.
#[expect(clippy::disallowed_methods, reason = "the program under test is a process of its own")]
pub(crate) fn bare(home: &Path, name: &str) -> Command {
    let mut command = Command::new(name);
    command.env_clear().env("PATH", "/usr/local/bin:/usr/bin:/bin").env("HOME", home).stdin(Stdio::null());
    command
}

impl Run {
    /// Runs it with this text on standard input.
    pub(crate) fn with_input(mut command: Command, input: &str) -> Self {
        use std::io::Write as _;
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        Self::of(&child.wait_with_output().unwrap())
    }

    pub(crate) fn of(output: &std::process::Output) -> Self {
        Self {
            code: output.status.code().unwrap_or(-1),
            out: String::from_utf8(output.stdout.clone()).unwrap(),
            err: String::from_utf8(output.stderr.clone()).unwrap(),
        }
    }

    /// The same, when it ended with this code.
    #[track_caller]
    pub(crate) fn expect(self, code: i32) -> Self {
        assert_eq!(self.code, code, "{self:#?}");
        self
    }

    /// Its output as the one JSON document that it has to be, on one line.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        assert_eq!(self.out.matches('\n').count(), 1, "{self:#?}");
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {self:#?}"))
    }

    /// Its output as JSON lines.
    #[track_caller]
    pub(crate) fn json_lines(&self) -> Vec<Value> {
        self.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// All parts are in the output.
    #[track_caller]
    pub(crate) fn shows(&self, parts: &[&str]) -> &Self {
        for part in parts {
            assert!(self.out.contains(part), "{part:?} in {self:#?}");
        }
        self
    }

    /// All parts are on standard error.
    #[track_caller]
    pub(crate) fn says(&self, parts: &[&str]) -> &Self {
        for part in parts {
            assert!(self.err.contains(part), "{part:?} in {self:#?}");
        }
        self
    }
}
