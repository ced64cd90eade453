//! Where the server keeps its things and where workspaces lie: apart, or it does not start.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use super::StartError;
use crate::config::Config;

/// Resolved, absolute places.
#[derive(Debug, Clone)]
pub(super) struct Places {
    /// State, tokens, records.
    pub(super) data_dir: PathBuf,
    /// Roots of workspaces, at least one.
    pub(super) roots: Vec<PathBuf>,
    /// The config file, where there is one.
    pub(super) config_file: Option<PathBuf>,
    /// Files of the config that hold secrets, as far as they are there.
    pub(super) secrets: Vec<PathBuf>,
    /// This program.
    pub(super) binary: PathBuf,
    /// The user's home.
    pub(super) home: Option<PathBuf>,
}

impl Places {
    /// Makes what is missing, resolves all, and holds the server's own places against the roots.
    pub(super) fn prepare(
        config: &Config,
        config_file: Option<&Path>,
        environment: &[(OsString, OsString)],
    ) -> Result<Self, StartError> {
        let variable = |name: &str| {
            let found = environment.iter().find(|(key, _)| key == name);
            found.map(|(_, value)| PathBuf::from(value)).filter(|path| path.is_absolute())
        };
        let home = variable("HOME");
        let state =
            variable("XDG_STATE_HOME").or_else(|| home.as_ref().map(|home| home.join(".local/state")));
        let data_dir = config.data_dir.clone().or_else(|| state.map(|state| state.join("toolgate")));
        let data_dir = data_dir
            .ok_or_else(|| StartError("HOME is not set: name a data directory with --data-dir".into()))?;
        let data_dir = private_folder(&data_dir)?;
        let mut asked = config.workspace_roots.clone();
        if asked.is_empty() {
            let home = home.as_ref();
            let home = home.ok_or_else(|| StartError("HOME is not set: give --workspace-root".into()))?;
            let root = home.join("toolgate-workspaces");
            fs::create_dir_all(&root).map_err(|error| at(&root, error))?;
            asked.push(root);
        }
        let roots = asked.iter().map(|root| resolved(root)).collect::<Result<Vec<_>, _>>()?;
        let binary = std::env::current_exe()
            .and_then(|path| path.canonicalize())
            .map_err(|error| StartError::from_display("this program's own path is not known", error))?;
        let config_file = config_file.map(resolved).transpose()?;
        let home = home.and_then(|home| home.canonicalize().ok());
        let secrets = config.secret_files().filter_map(|path| path.canonicalize().ok()).collect();
        let places = Self { data_dir, roots, config_file, secrets, binary, home };
        places.refuse_overlap()?;
        Ok(places)
    }

    /// Paths that commands need: what else lies in the folders above them is not hidden.
    pub(super) fn needed(&self) -> Vec<PathBuf> {
        let home = self.home.iter().cloned();
        self.roots.iter().cloned().chain(home).chain([self.binary.clone()]).collect()
    }

    /// An agent writes beneath the roots: nothing of the server's may lie there.
    fn refuse_overlap(&self) -> Result<(), StartError> {
        let own = [
            ("data directory", Some(&self.data_dir)),
            ("config file", self.config_file.as_ref()),
            ("program", Some(&self.binary)),
        ];
        let secrets = self.secrets.iter().map(|path| ("secret file", Some(path)));
        let own: Vec<_> = own.into_iter().chain(secrets).collect();
        for root in &self.roots {
            for (what, path) in &own {
                if let Some(path) = path.filter(|path| path.starts_with(root)) {
                    return Err(StartError(format!(
                        "the {what} {} lies in the workspace root {}, where agents write: keep them apart",
                        path.display(),
                        root.display()
                    )));
                }
            }
            if root.starts_with(&self.data_dir) {
                return Err(StartError(format!(
                    "the workspace root {} lies in the data directory {}: keep them apart",
                    root.display(),
                    self.data_dir.display()
                )));
            }
        }
        Ok(())
    }
}

/// A folder that only its owner reads.
fn private_folder(path: &Path) -> Result<PathBuf, StartError> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(|error| at(path, error))?;
    let resolved = resolved(path)?;
    let mode = fs::metadata(&resolved).map_err(|error| at(path, error))?.mode();
    if mode & 0o077 != 0 {
        return Err(StartError(format!(
            "the data directory {} holds tokens and others may enter it: chmod 700 it",
            resolved.display()
        )));
    }
    Ok(resolved)
}

fn resolved(path: &Path) -> Result<PathBuf, StartError> {
    path.canonicalize().map_err(|error| at(path, error))
}

fn at(path: &Path, error: std::io::Error) -> StartError {
    StartError::from_display(&path.display().to_string(), error)
}
