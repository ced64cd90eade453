//! Where the commands of a text may run: each `cd` in it changes that for what follows, if it succeeds.

use std::path::{Path, PathBuf};

use super::script::NotUnderstood;

/// Most directories in which one command may run.
const MAX_DIRECTORIES: usize = 4;

/// The directories in which a command may run, each counted from where the text starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Directories(Vec<PathBuf>);

/// The same once a command has run.
#[derive(Debug, Clone)]
pub(super) struct After {
    pub(super) succeeded: Directories,
    pub(super) failed: Directories,
}

impl Directories {
    pub(super) fn here() -> Self {
        Self(vec![PathBuf::new()])
    }

    pub(super) fn paths(&self) -> Vec<PathBuf> {
        self.0.clone()
    }

    /// Where `cd` with these operands leads: one directory, spelt out.
    pub(super) fn moved(&self, operands: &[String]) -> Result<Self, NotUnderstood> {
        let target = match operands {
            // A lone dash is where the shell was before, behind `--` as well.
            [dashes, target] if dashes == "--" && target != "-" => target,
            [target] if !target.starts_with('-') => target,
            _ => return Err(NotUnderstood("it is not told where a `cd` in it leads")),
        };
        if target.is_empty() {
            return Err(NotUnderstood("it is not told where a `cd` in it leads"));
        }
        let moved = self.0.iter().map(|directory| directory.join(Path::new(target)));
        Self(Vec::new()).with(moved)
    }

    /// Either of the two.
    pub(super) fn or(&self, other: &Self) -> Result<Self, NotUnderstood> {
        self.clone().with(other.0.iter().cloned())
    }

    fn with(mut self, more: impl Iterator<Item = PathBuf>) -> Result<Self, NotUnderstood> {
        for path in more {
            if !self.0.contains(&path) {
                self.0.push(path);
            }
        }
        if self.0.len() > MAX_DIRECTORIES {
            return Err(NotUnderstood("it may run in more than 4 directories"));
        }
        Ok(self)
    }
}

impl After {
    pub(super) fn unchanged(from: &Directories) -> Self {
        Self { succeeded: from.clone(), failed: from.clone() }
    }

    /// Whether it succeeds is not known.
    pub(super) fn either(&self) -> Result<Directories, NotUnderstood> {
        self.succeeded.or(&self.failed)
    }

    /// Either this one or the other one is how it went.
    pub(super) fn or(&self, other: &Self) -> Result<Self, NotUnderstood> {
        Ok(Self { succeeded: self.succeeded.or(&other.succeeded)?, failed: self.failed.or(&other.failed)? })
    }
}
