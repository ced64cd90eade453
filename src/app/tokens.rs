//! The tokens: two that the server makes itself, and those of the config.

use std::ffi::OsString;
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

use super::StartError;
use crate::config::TokenConfig;
use crate::domain::identity::Ids;
use crate::http::KnownToken;
use crate::session::{Principal, Role};

/// The shortest token that is taken, in bytes: 128 bits in hexadecimal digits.
const TOKEN_BYTES_MIN: usize = 32;

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
        check(&token, &path.display().to_string())?;
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

/// All tokens by their hashes.
pub(super) fn known(
    made: &MadeTokens,
    configured: &[TokenConfig],
    environment: &[(OsString, OsString)],
) -> Result<Vec<KnownToken>, StartError> {
    let mut known = vec![
        KnownToken { sha256: hash(&made.agent.token), principal: Principal::new("agent", Role::Agent) },
        KnownToken {
            sha256: hash(&made.operator.token),
            principal: Principal::new("operator", Role::Operator),
        },
    ];
    for token in configured {
        let sha256 = configured_hash(token, environment)?;
        if known.iter().any(|other| other.sha256 == sha256) {
            return Err(StartError(format!("the token {:?} is the same as another one", token.name)));
        }
        let principal = Principal {
            workspaces: token.workspaces.clone(),
            max_sessions: token.max_sessions,
            ..Principal::new(&token.name, token.role)
        };
        known.push(KnownToken { sha256, principal });
    }
    Ok(known)
}

fn configured_hash(
    token: &TokenConfig,
    environment: &[(OsString, OsString)],
) -> Result<[u8; 32], StartError> {
    let of = |what: String| format!("the token {:?} ({what})", token.name);
    if let Some(digits) = &token.sha256 {
        return unhex(digits)
            .ok_or_else(|| StartError(format!("{}: 64 hexadecimal digits", of("sha256".into()))));
    }
    let (what, text) = match (&token.file, &token.env) {
        (Some(path), _) => {
            let what = of(path.display().to_string());
            let text = fs::read_to_string(path).map_err(|error| StartError::from_display(&what, error))?;
            (what, text)
        }
        (None, Some(name)) => {
            let what = of(format!("environment variable {name}"));
            let value = environment.iter().find(|(key, _)| key == name.as_str());
            let value = value.and_then(|(_, value)| value.to_str());
            (what.clone(), value.ok_or_else(|| StartError(format!("{what} is not set")))?.to_owned())
        }
        (None, None) => return Err(StartError(of("no source".into()))),
    };
    let text = text.trim();
    check(text, &what)?;
    Ok(hash(text))
}

fn check(token: &str, what: &str) -> Result<(), StartError> {
    let fits = token.len() >= TOKEN_BYTES_MIN && token.bytes().all(|byte| byte.is_ascii_graphic());
    if fits {
        return Ok(());
    }
    Err(StartError(format!("{what}: a token has at least {TOKEN_BYTES_MIN} visible ASCII characters")))
}

fn hash(token: &str) -> [u8; 32] {
    Sha256::digest(token.as_bytes()).into()
}

fn unhex(digits: &str) -> Option<[u8; 32]> {
    let mut bytes = [0_u8; 32];
    if digits.len() != 64 || !digits.is_ascii() {
        return None;
    }
    for (index, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(digits.get(2 * index..2 * index + 2)?, 16).ok()?;
    }
    Some(bytes)
}
