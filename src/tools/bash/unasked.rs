//! What a command gets that runs without anybody being asked: settings under which the programs that the gate knows do no
//! more than it knows of them.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Write as _};
use std::os::fd::{OwnedFd, RawFd};
use std::path::Path;

use rustix::fs::MemfdFlags;

use crate::permission::shell::CommandAnalysis;
use crate::workspace::Workspace;

const RIPGREP_NUMBER: RawFd = 197;
const RIPGREP_PATH: &str = "/dev/fd/197";
/// rg(1), "Configuration files": one argument a line. A line of an ignore file that is no pattern is not printed: a
/// symlink may stand for such a file, and lead anywhere.
const RIPGREP: &str = "--no-ignore-messages\n";

/// Variables, which come in the place of others of their names, and descriptors.
#[derive(Debug, Default)]
pub(super) struct Settings {
    variables: Vec<(OsString, OsString)>,
    pub(super) descriptors: Vec<(RawFd, OwnedFd)>,
}

impl Settings {
    /// Those of a call that begins in `start`. `usual`: the gate took its programs for what they usually are.
    pub(super) fn of(
        analysis: &CommandAnalysis,
        usual: bool,
        workspace: &Workspace,
        start: &Path,
    ) -> io::Result<Self> {
        let mut settings = Self::default();
        if usual {
            settings.variables = analysis.environment(workspace, start);
        }
        if analysis.searches_by_ripgrep() {
            let mut file = File::from(rustix::fs::memfd_create("ripgrep", MemfdFlags::CLOEXEC)?);
            file.write_all(RIPGREP.as_bytes())?;
            settings.descriptors.push((RIPGREP_NUMBER, file.into()));
            settings.variables.push(("RIPGREP_CONFIG_PATH".into(), RIPGREP_PATH.into()));
        }
        Ok(settings)
    }

    /// Puts the variables in the place of those of their names.
    pub(super) fn put_into(&self, environment: &mut Vec<(OsString, OsString)>) {
        for (name, value) in &self.variables {
            environment.retain(|(present, _)| present != name);
            environment.push((name.clone(), value.clone()));
        }
    }
}
