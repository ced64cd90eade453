//! What a command needs before it starts, found out in one go and away from the threads that answer requests.

use std::ffi::OsString;
use std::os::fd::{OwnedFd, RawFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::carry::{self, Carry};
use super::direct;
use super::unasked::Settings;
use crate::domain::result::ToolError;
use crate::permission::{PermittedCall, shell};
use crate::process::Direct;
use crate::workspace::{Workspace, WorkspaceError};

/// A command that can start.
#[derive(Debug)]
pub(super) struct Ready {
    /// The directory that was judged.
    pub(super) directory: OwnedFd,
    pub(super) environment: Vec<(OsString, OsString)>,
    pub(super) descriptors: Vec<(RawFd, OwnedFd)>,
    pub(super) carry: Carry,
    /// What bash would only become.
    pub(super) direct: Option<Direct>,
}

impl Ready {
    /// For a call that begins in `start`, with this environment.
    pub(super) async fn of(
        call: &PermittedCall,
        command: &str,
        workspace: &Arc<Workspace>,
        start: &Path,
        mut environment: Vec<(OsString, OsString)>,
    ) -> Result<Self, ToolError> {
        let (command, asked, usual) = (command.to_owned(), call.was_asked(), call.is_usual());
        let (workspace, start) = (Arc::clone(workspace), start.to_path_buf());
        let internal = |error: &dyn std::fmt::Display| ToolError::Internal(error.to_string());
        let found = tokio::task::spawn_blocking(move || {
            let directory = open_directory(&workspace, &start).map_err(|error| {
                ToolError::Execution(format!("the working directory cannot be used: {error}"))
            })?;
            let analysis = shell::analyse(&command);
            let settings = if asked {
                Settings::default()
            } else {
                Settings::of(&analysis, usual, &workspace, &start).map_err(|error| internal(&error))?
            };
            settings.put_into(&mut environment);
            let mut descriptors = settings.descriptors;
            environment.retain(|(name, _)| name != carry::PROLOGUE_VARIABLE);
            let parent = wants_a_parent(&command);
            let direct = if parent { None } else { direct::of(&command, &start, &mut environment) };
            let carry = if direct.is_none() && (parent || analysis.may_move()) {
                let (carry, mut ends) = Carry::reported().map_err(|error| internal(&error))?;
                environment.push(carry::prologue());
                descriptors.append(&mut ends);
                carry
            } else {
                Carry::default()
            };
            Ok(Self { directory, environment, descriptors, carry, direct })
        });
        found.await.map_err(|error| internal(&error)).flatten()
    }
}

/// setsid(1) goes into the background where it leads a group of processes, as a program does that bash becomes instead of
/// starting it: its call would end at once, and what it started with it.
fn wants_a_parent(command: &str) -> bool {
    command.contains("setsid")
}

/// Opens the directory without following a symlink that took its place since it was judged.
fn open_directory(workspace: &Workspace, directory: &Path) -> Result<OwnedFd, WorkspaceError> {
    let located = workspace.locate(directory, Path::new("."))?;
    if located.real != directory {
        return Err(WorkspaceError::Changed { path: PathBuf::from(directory) });
    }
    workspace.open_dir(&located)
}
