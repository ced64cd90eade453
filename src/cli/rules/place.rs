//! Where a call is judged on paper: workspace, working directory, home, and the server's own places.

use std::path::{Path, PathBuf};

use crate::cli::connection::default_data_dir;
use crate::config::Config;
use crate::permission::OwnPlaces;
use crate::permission::subject::Place;

/// The places that rules protect under this config, as far as they are known without a server.
pub(super) fn own_places(config: &Config, file: Option<&Path>) -> OwnPlaces {
    let data_dir = config.data_dir.clone().or_else(data_dir_of_user);
    let file = file.and_then(|file| std::path::absolute(file).ok());
    let mut roots = config.workspace_roots.clone();
    if roots.is_empty() {
        roots.extend(home().map(|home| home.join("toolgate-workspaces")));
    }
    OwnPlaces { own_paths: data_dir.into_iter().chain(file).collect(), roots }
}

/// The place of a call: the working directory is the workspace where none is given, and counts from it.
pub(super) fn place(workspace: &Path, cwd: Option<&Path>) -> Place {
    let cwd = cwd.map_or_else(|| workspace.to_owned(), |cwd| workspace.join(cwd));
    Place { workspace: workspace.to_owned(), home: home(), cwd }
}

fn data_dir_of_user() -> Option<PathBuf> {
    default_data_dir(std::env::var("XDG_STATE_HOME").ok(), std::env::var("HOME").ok())
}

fn home() -> Option<PathBuf> {
    std::env::var_os("HOME").map(PathBuf::from).filter(|home| home.is_absolute())
}
