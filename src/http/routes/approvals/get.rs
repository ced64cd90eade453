//! `GET /v1/approvals/{aid}`: one approval.

use axum::Json;
use axum::extract::State;

use crate::domain::approval::Approval;
use crate::http::auth::Operator;
use crate::http::error::ApiError;
use crate::http::params::{ApprovalPath, NoQuery, PathParams};
use crate::session::Sessions;

/// Get an approval
#[utoipa::path(
    get,
    path = "/v1/approvals/{aid}",
    operation_id = "getApproval",
    tag = "approvals",
    params(ApprovalPath),
    responses((status = OK, description = "The approval", body = Approval)),
    security(("bearer" = ["operator"])),
)]
pub(in crate::http) async fn get(
    State(sessions): State<Sessions>,
    Operator(_): Operator,
    PathParams(ApprovalPath { aid }): PathParams<ApprovalPath>,
    NoQuery: NoQuery,
) -> Result<Json<Approval>, ApiError> {
    Ok(Json(sessions.approval(&aid).await?))
}
