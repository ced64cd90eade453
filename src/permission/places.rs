//! Where a call would act: its directory and its paths, and what stands in their way.

use std::path::PathBuf;

use super::call::{ResolvedCall, Touch};
use super::checker::JudgedPath;
use super::scope::Scope;
use crate::domain::result::ToolError;
use crate::workspace::{FileKind, Way};

/// The places of a call, as they are judged.
#[derive(Debug, Default)]
pub(super) struct Places {
    /// The directory that the call would run in: the one it asks for, else the session's; none without a session.
    pub(super) directory: Option<PathBuf>,
    /// Its paths, in the order of its touches.
    pub(super) paths: Vec<JudgedPath>,
    /// The first thing for which it cannot succeed whatever is decided.
    pub(super) obstacle: Option<Obstacle>,
}

/// What stands in the way of a call. To tell it tells what lies there, so that is for those who may know.
#[derive(Debug)]
pub(super) struct Obstacle {
    /// What is told.
    pub(super) error: ToolError,
    /// All of the way lies in the workspace: it may be told before anyone has allowed the call.
    pub(super) plain: bool,
}

impl Places {
    /// Looks them up. An error is one of the call's text alone, or of the workspace as a whole.
    pub(super) fn of(call: &ResolvedCall, scope: Option<&Scope>) -> Result<Self, ToolError> {
        let mut places = Self { directory: scope.map(|scope| scope.directory.clone()), ..Self::default() };
        for touch in &call.touches {
            let (text, edits) = match touch {
                Touch::Read(text) | Touch::Run { directory: Some(text), .. } => (text, false),
                Touch::Edit(text) => (text, true),
                _ => continue,
            };
            let Some(scope) = scope else {
                return Err(ToolError::Execution("there is no workspace for this call".to_owned()));
            };
            let way = scope.workspace.way(&scope.directory, text);
            let mut way = way.map_err(|error| ToolError::Execution(error.to_string()))?;
            let error = match way.obstacle.take() {
                Some(error) => Some(ToolError::Execution(error.to_string())),
                None if matches!(touch, Touch::Run { .. }) => no_directory(&way, text),
                None => None,
            };
            if matches!(touch, Touch::Run { .. }) {
                places.directory = Some(way.located.real.clone());
            }
            if let (Some(error), None) = (error, &places.obstacle) {
                places.obstacle = Some(Obstacle { error, plain: way.straight && way.located.inside });
            }
            places.paths.push(JudgedPath { located: way.located, edits });
        }
        Ok(places)
    }

    /// The obstacle of a call that is allowed.
    pub(super) fn clear(&self) -> Result<(), ToolError> {
        self.obstacle.as_ref().map_or(Ok(()), |obstacle| Err(obstacle.error.clone()))
    }

    /// The obstacle of a call that someone would have to be asked about, where it may be told: it is no use to ask.
    pub(super) fn worth_asking(&self) -> Result<(), ToolError> {
        match &self.obstacle {
            Some(Obstacle { error, plain: true }) => Err(error.clone()),
            _ => Ok(()),
        }
    }

    /// Whether any of it lies outside of the workspace.
    pub(super) fn lead_outside(&self) -> bool {
        self.paths.iter().any(|path| !path.located.inside)
    }
}

fn no_directory(way: &Way, text: &str) -> Option<ToolError> {
    match way.located.kind {
        Some(FileKind::Directory) => None,
        Some(_) => Some(ToolError::InvalidArguments(format!("workdir {text:?} is not a directory"))),
        None => Some(ToolError::InvalidArguments(format!("workdir {text:?} does not exist"))),
    }
}
