//! Names that come from outside, checked once: session ids, call ids, turns.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The longest session id in bytes.
pub const SESSION_ID_MAX: usize = 128;
/// The longest call id or turn in bytes.
pub const CALL_ID_MAX: usize = 256;

/// Why a name was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum IdentityError {
    /// A session id must match `[A-Za-z0-9][A-Za-z0-9._-]{0,127}`.
    #[error("session_id must begin with a letter or digit and have at most 128 of A-Z a-z 0-9 . _ -")]
    SessionId,
    /// Call ids and turns are 1 to 256 bytes without control characters.
    #[error("{0} must have 1 to 256 bytes and no control characters")]
    CallId(&'static str),
}

/// Checks the form of a session id: it is a folder's name later, so its letters are few.
pub fn check_session_id(id: &str) -> Result<(), IdentityError> {
    let mut bytes = id.bytes();
    let first = bytes.next().is_some_and(|b| b.is_ascii_alphanumeric());
    let rest = bytes.all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-'));
    if first && rest && id.len() <= SESSION_ID_MAX { Ok(()) } else { Err(IdentityError::SessionId) }
}

/// Which call of a session: the model's id, in the name space of its turn where it gave one.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
pub struct CallKey {
    /// The turn that makes a name space of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<String>,
    /// The model's id of the call.
    pub call_id: String,
}

impl CallKey {
    /// A checked key.
    pub fn new(turn: Option<String>, call_id: String) -> Result<Self, IdentityError> {
        check_call_text(&call_id, "call id")?;
        if let Some(turn) = &turn {
            check_call_text(turn, "turn")?;
        }
        Ok(Self { turn, call_id })
    }

    /// One text for storage: unambiguous, since neither part can hold the separator.
    pub fn storage_key(&self) -> String {
        match &self.turn {
            None => self.call_id.clone(),
            Some(turn) => format!("{turn}\u{1f}{}", self.call_id),
        }
    }

    /// Reads back what [`CallKey::storage_key`] wrote.
    pub fn from_storage_key(key: &str) -> Self {
        match key.split_once('\u{1f}') {
            None => Self { turn: None, call_id: key.to_owned() },
            Some((turn, id)) => Self { turn: Some(turn.to_owned()), call_id: id.to_owned() },
        }
    }
}

fn check_call_text(text: &str, what: &'static str) -> Result<(), IdentityError> {
    if text.is_empty() || text.len() > CALL_ID_MAX || text.chars().any(char::is_control) {
        return Err(IdentityError::CallId(what));
    }
    Ok(())
}

/// Makes ids; injected so that tests can foresee them.
pub trait Ids: Send + Sync + std::fmt::Debug {
    /// A new id that begins with `prefix_`.
    fn make(&self, prefix: &str) -> String;
    /// A new secret: 32 random bytes as hexadecimal digits.
    fn secret(&self) -> Result<String, getrandom::Error>;
}

/// Ids by UUID version 7 (RFC 9562): they sort by time; secrets from the kernel's generator.
#[derive(Debug, Clone, Copy, Default)]
pub struct RandomIds;

impl Ids for RandomIds {
    fn make(&self, prefix: &str) -> String {
        format!("{prefix}_{}", uuid::Uuid::now_v7().simple())
    }

    fn secret(&self) -> Result<String, getrandom::Error> {
        use std::fmt::Write as _;
        let mut bytes = [0_u8; 32];
        getrandom::fill(&mut bytes)?;
        let mut text = String::with_capacity(64);
        for byte in bytes {
            let _ = write!(text, "{byte:02x}");
        }
        Ok(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn session_ids() {
        for good in ["a", "0", "run-1.2_3", &"x".repeat(128)] {
            assert_eq!(check_session_id(good), Ok(()), "{good}");
        }
        for bad in ["", ".", "..", "-a", "a/b", "a b", "é", "a\n", &"x".repeat(129)] {
            assert!(check_session_id(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn call_keys_are_unambiguous() {
        assert!(CallKey::new(None, "../../x".into()).is_ok());
        assert!(CallKey::new(None, String::new()).is_err());
        assert!(CallKey::new(None, "a\u{1f}b".into()).is_err());
        assert!(CallKey::new(Some("t\0".into()), "a".into()).is_err());
        let key = CallKey::new(Some("t".into()), "a".into()).unwrap();
        assert_eq!(CallKey::from_storage_key(&key.storage_key()), key);
    }
}
