//! Who calls: bearer tokens, compared by hash in constant time.

use axum::extract::{FromRequestParts, RawPathParams};
use axum::http::request::Parts;
use axum::http::{StatusCode, header};
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

use super::error::ApiError;
use super::snapshot::snapshot;
use super::state::ApiState;
use crate::config::{AuthMode, KnownToken};
use crate::permission::Revision;
use crate::session::{Principal, Role, Sessions};

/// The holder of a token; every known one is compared, so that time tells nothing.
async fn holder(known: &[KnownToken], token: &str, sessions: &Sessions) -> Option<Principal> {
    let presented: [u8; 32] = Sha256::digest(token.as_bytes()).into();
    let mut found = None;
    for known in known {
        if bool::from(known.sha256.ct_eq(&presented)) {
            found = Some(known);
        }
    }
    if let Some(known) = found {
        return Some(Principal::from(known));
    }
    // A session's own token goes with the token that made the session.
    let principal = sessions.by_session_token(token).await?;
    known.iter().any(|known| known.name == principal.name).then_some(principal)
}

/// By what a request was let in: as long as that is known, its stream goes on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Holder {
    /// Tokens are not asked for.
    Anyone,
    /// A token, by its hash.
    Token([u8; 32]),
    /// A session's own token, by the name of the token that made the session.
    Session(String),
}

impl Holder {
    /// Whether it would be let in now.
    pub(super) fn is_known(&self, revision: &Revision) -> bool {
        match self {
            Self::Anyone => true,
            Self::Token(sha256) => revision.tokens.iter().any(|known| known.sha256 == *sha256),
            Self::Session(owner) => revision.tokens.iter().any(|known| known.name == *owner),
        }
    }

    fn of(token: &str, principal: &Principal) -> Self {
        match principal.only_session {
            None => Self::Token(Sha256::digest(token.as_bytes()).into()),
            Some(_) => Self::Session(principal.name.clone()),
        }
    }
}

/// To be named after [`Caller`] or [`Operator`], which finds it.
impl FromRequestParts<ApiState> for Holder {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &ApiState) -> Result<Self, ApiError> {
        let found = parts.extensions.get::<Self>().cloned();
        found.ok_or_else(|| ApiError::new(StatusCode::UNAUTHORIZED, "unauthenticated", "send a token"))
    }
}

/// Whoever holds a valid token, but for workers: those reach what is theirs alone.
pub(super) struct Caller(pub(super) Principal);

/// Whoever holds an operator's token.
pub(super) struct Operator(pub(super) Principal);

/// Whoever holds a worker's token. An operator does not: an ask is made in the name of a worker.
pub(super) struct Worker(pub(super) Principal);

struct Authenticated(Principal);

impl FromRequestParts<ApiState> for Authenticated {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &ApiState) -> Result<Self, ApiError> {
        let revision = snapshot(&parts.extensions, state);
        if revision.config.auth.mode == AuthMode::None {
            parts.extensions.insert(Holder::Anyone);
            return Ok(Self(Principal::new("local", Role::Operator)));
        }
        let missing = || {
            let detail =
                "send the header Authorization: Bearer TOKEN; the server's tokens lie in DATA_DIR/tokens";
            ApiError::new(StatusCode::UNAUTHORIZED, "unauthenticated", detail)
        };
        let value = parts.headers.get(header::AUTHORIZATION).ok_or_else(missing)?;
        let text = value.to_str().map_err(|_| missing())?;
        // RFC 9110, section 11.1: the scheme's name is not case-sensitive.
        let token = match text.split_once(' ') {
            Some((scheme, token)) if scheme.eq_ignore_ascii_case("bearer") => token.trim(),
            _ => return Err(missing()),
        };
        let principal = holder(&revision.tokens, token, &state.sessions).await.ok_or_else(|| {
            ApiError::new(StatusCode::UNAUTHORIZED, "unauthenticated", "this token is not known")
        })?;
        let holder = Holder::of(token, &principal);
        parts.extensions.insert(holder);
        tracing::Span::current().record("principal", &principal.name);
        check_reach(parts, state, &principal).await?;
        Ok(Self(principal))
    }
}

impl FromRequestParts<ApiState> for Caller {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &ApiState) -> Result<Self, ApiError> {
        let Authenticated(principal) = Authenticated::from_request_parts(parts, state).await?;
        if principal.role == Role::Worker {
            let detail = "a worker's token forwards asks and nothing else: this needs one of role agent";
            return Err(ApiError::new(StatusCode::FORBIDDEN, "agent_required", detail));
        }
        Ok(Self(principal))
    }
}

impl FromRequestParts<ApiState> for Worker {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &ApiState) -> Result<Self, ApiError> {
        let Authenticated(principal) = Authenticated::from_request_parts(parts, state).await?;
        if principal.role == Role::Worker {
            return Ok(Self(principal));
        }
        let detail = "this needs a token of role worker";
        Err(ApiError::new(StatusCode::FORBIDDEN, "worker_required", detail))
    }
}

/// A session's own token gets 404 for every other session, before anything else is looked at.
async fn check_reach(parts: &mut Parts, state: &ApiState, principal: &Principal) -> Result<(), ApiError> {
    let Some(only) = &principal.only_session else { return Ok(()) };
    let Ok(params) = RawPathParams::from_request_parts(parts, state).await else { return Ok(()) };
    let other = params.iter().any(|(name, value)| name == "sid" && value != only);
    if other {
        return Err(ApiError::new(StatusCode::NOT_FOUND, "not_found", "there is no such session"));
    }
    Ok(())
}

impl FromRequestParts<ApiState> for Operator {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &ApiState) -> Result<Self, ApiError> {
        let Authenticated(principal) = Authenticated::from_request_parts(parts, state).await?;
        if principal.is_operator() {
            return Ok(Self(principal));
        }
        let detail = "this needs a token of role operator";
        Err(ApiError::new(StatusCode::FORBIDDEN, "operator_required", detail))
    }
}
