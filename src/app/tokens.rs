//! The two tokens that the server makes itself.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use super::StartError;
use crate::config::{KnownToken, Role};
use crate::domain::identity::Ids;

/// The server's own two tokens.
pub(super) struct MadeTokens {
    /// Of role agent.
    pub(super) agent: Made,
    /// Of role operator.
    pub(super) operator: Made,
}

/// One of them.
pub(super) struct Made {
    /// Its file.
    pub(super) path: PathBuf,
    /// The token.
    pub(super) token: String,
    /// Whether this start made it.
    pub(super) fresh: bool,
}

/// Reads the two tokens, and makes those that are missing.
pub(super) fn prepare(data_dir: &Path, ids: &dyn Ids) -> Result<MadeTokens, StartError> {
    let folder = data_dir.join("tokens");
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(&folder)
        .map_err(|error| StartError::from_display(&folder.display().to_string(), error))?;
    Ok(MadeTokens { agent: one(&folder, "agent", ids)?, operator: one(&folder, "operator", ids)? })
}

fn one(folder: &Path, role: &str, ids: &dyn Ids) -> Result<Made, StartError> {
    let path = folder.join(role);
    let failed = |error: std::io::Error| StartError::from_display(&path.display().to_string(), error);
    if path.exists() {
        let mode = fs::metadata(&path).map_err(failed)?.mode();
        if mode & 0o077 != 0 {
            return Err(StartError(format!(
                "{} is a secret that others may read: chmod 600 it",
                path.display()
            )));
        }
        let token = fs::read_to_string(&path).map_err(failed)?.trim().to_owned();
        return Ok(Made { path, token, fresh: false });
    }
    let secret = ids.secret().map_err(|error| StartError::from_display("no random numbers", error))?;
    let token = format!("tgt_{role}_{secret}");
    // Written whole under another name first: a crash leaves no half token.
    let half = path.with_extension("new");
    let mut file = fs::OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(&half)
        .map_err(failed)?;
    file.write_all(token.as_bytes()).and_then(|()| file.write_all(b"\n")).map_err(failed)?;
    file.sync_all().map_err(failed)?;
    fs::rename(&half, &path).map_err(failed)?;
    Ok(Made { path, token, fresh: true })
}

/// The two as the server knows them.
pub(super) fn known(made: &MadeTokens) -> Result<Vec<KnownToken>, StartError> {
    let one = |name: &str, role: Role, made: &Made| {
        KnownToken::new(name, role, &made.token)
            .map_err(|reason| StartError(format!("{}: {reason}", made.path.display())))
    };
    Ok(vec![one("agent", Role::Agent, &made.agent)?, one("operator", Role::Operator, &made.operator)?])
}
