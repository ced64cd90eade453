//! `DELETE /v1/grants/{gid}`: takes back what was granted; it holds for the next call.

use axum::extract::State;
use axum::http::StatusCode;

use crate::http::auth::Operator;
use crate::http::error::ApiError;
use crate::http::params::{GrantPath, NoQuery, PathParams};
use crate::session::Sessions;

/// Revoke a grant
///
/// It holds for the next call.
#[utoipa::path(
    delete,
    path = "/v1/grants/{gid}",
    operation_id = "revokeGrant",
    tag = "grants",
    params(GrantPath),
    responses((status = NO_CONTENT, description = "It is revoked")),
    security(("bearer" = ["operator"])),
)]
pub(in crate::http) async fn revoke(
    State(sessions): State<Sessions>,
    Operator(principal): Operator,
    PathParams(GrantPath { gid }): PathParams<GrantPath>,
    NoQuery: NoQuery,
) -> Result<StatusCode, ApiError> {
    sessions.revoke(&principal, &gid).await?;
    Ok(StatusCode::NO_CONTENT)
}
