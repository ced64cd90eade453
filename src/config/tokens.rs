//! The tokens that the config names, found where they are kept and known by their hashes.

use std::ffi::OsString;
use std::fmt;
use std::path::Path;

use sha2::{Digest as _, Sha256};

use super::auth::{Role, TokenConfig};
use super::file;
use super::load::LoadedConfig;
use super::problem::ConfigProblem;

/// The shortest token that is taken, in bytes: 128 bits in hexadecimal digits.
const TOKEN_BYTES_MIN: usize = 32;
/// The largest file that may hold a token, in bytes.
const FILE_MAX: u64 = 64 * 1024;

/// A token that the server knows by its hash.
#[derive(Clone, PartialEq, Eq)]
pub struct KnownToken {
    /// SHA-256 of the token.
    pub sha256: [u8; 32],
    /// Its name.
    pub name: String,
    /// What it may do.
    pub role: Role,
    /// Workspace patterns that it may use; all under the roots where there are none.
    pub workspaces: Vec<String>,
    /// The most active sessions, where it has a bound of its own.
    pub max_sessions: Option<usize>,
}

impl fmt::Debug for KnownToken {
    /// Without the hash, which would help to guess a weak token.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KnownToken")
            .field("name", &self.name)
            .field("role", &self.role)
            .finish_non_exhaustive()
    }
}

impl KnownToken {
    /// A token without bounds of its own; the error says what is wrong with its text.
    pub fn new(name: &str, role: Role, token: &str) -> Result<Self, String> {
        let sha256 = hash(token)?;
        Ok(Self { sha256, name: name.to_owned(), role, workspaces: Vec::new(), max_sessions: None })
    }
}

/// Finds every token of a config, beside the server's `own`. All problems are told.
pub fn known_tokens(
    loaded: &LoadedConfig,
    own: &[KnownToken],
    environment: &[(OsString, OsString)],
) -> Result<Vec<KnownToken>, Vec<ConfigProblem>> {
    let (mut known, mut problems) = (own.to_vec(), Vec::new());
    for (index, token) in loaded.config.auth.tokens.iter().enumerate() {
        let key = format!("auth.tokens[{index}]");
        match found(token, environment) {
            Ok(sha256) if known.iter().any(|other| other.sha256 == sha256) => {
                problems.push(loaded.problem(&key, "this is the same token as another one's"));
            }
            Ok(sha256) => known.push(KnownToken {
                sha256,
                name: token.name.clone(),
                role: token.role,
                workspaces: token.workspaces.clone(),
                max_sessions: token.max_sessions,
            }),
            Err((field, message)) => problems.push(loaded.problem(&format!("{key}.{field}"), message)),
        }
    }
    if problems.is_empty() { Ok(known) } else { Err(problems) }
}

/// The hash of a configured token, or the field that does not lead to one and why.
fn found(
    token: &TokenConfig,
    environment: &[(OsString, OsString)],
) -> Result<[u8; 32], (&'static str, String)> {
    if let Some(digits) = &token.sha256 {
        return unhex(digits).ok_or_else(|| ("sha256", "64 hexadecimal digits are needed".to_owned()));
    }
    if let Some(path) = &token.file {
        let text = file::read(path, FILE_MAX);
        let text = text.map_err(|reason| ("file", format!("{} cannot be read: {reason}", path.display())))?;
        return hash(text.trim()).map_err(|reason| ("file", format!("{}: {reason}", path.display())));
    }
    let name = token.env.as_deref().unwrap_or_default();
    let value = environment.iter().find(|(key, _)| key == name).and_then(|(_, value)| value.to_str());
    let value = value.ok_or_else(|| ("env", format!("the environment variable {name} is not set")))?;
    hash(value.trim()).map_err(|reason| ("env", format!("the environment variable {name}: {reason}")))
}

/// A token that this server presents to another one, out of its file; the error is for its owner.
pub fn read_secret(path: &Path) -> Result<String, String> {
    let at = |reason: String| format!("{}: {reason}", path.display());
    let token = file::read(path, FILE_MAX).map_err(at)?.trim().to_owned();
    check(&token).map_err(at)?;
    Ok(token)
}

/// The same out of the environment.
pub fn secret_of(name: &str, environment: &[(OsString, OsString)]) -> Result<String, String> {
    let at = |reason: String| format!("the environment variable {name} {reason}");
    let value = environment.iter().find(|(key, _)| key == name).and_then(|(_, value)| value.to_str());
    let token = value.ok_or_else(|| at("is not set".to_owned()))?.trim().to_owned();
    check(&token).map_err(|reason| at(format!("holds no token: {reason}")))?;
    Ok(token)
}

fn hash(token: &str) -> Result<[u8; 32], String> {
    check(token)?;
    Ok(Sha256::digest(token.as_bytes()).into())
}

fn check(token: &str) -> Result<(), String> {
    let fits = token.len() >= TOKEN_BYTES_MIN && token.bytes().all(|byte| byte.is_ascii_graphic());
    if fits {
        return Ok(());
    }
    Err(format!("a token has at least {TOKEN_BYTES_MIN} visible ASCII characters and no others"))
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
