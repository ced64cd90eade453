//! `POST /v1/approvals/{aid}/decision`: a person allows or denies.

use axum::Json;
use axum::extract::State;

use crate::domain::approval::{Approval, DecisionRequest};
use crate::http::auth::Operator;
use crate::http::body::JsonBody;
use crate::http::change::to_its_end;
use crate::http::error::ApiError;
use crate::http::params::{ApprovalPath, NoQuery, PathParams};
use crate::session::Sessions;

/// Decide an approval
///
/// An allow is judged against what would run now: where that differs from what was shown, the approval is
/// superseded and a new one waits (409, with the new `approval`). An equal decision again answers the same,
/// another one is 409 with the `approval` as it stands.
#[utoipa::path(
    post,
    path = "/v1/approvals/{aid}/decision",
    operation_id = "decideApproval",
    tag = "approvals",
    params(ApprovalPath),
    request_body(content = DecisionRequest, examples(
        ("allow" = (summary = "Once", value = json!({"decision": "allow"}))),
        ("session" = (summary = "For the session, by one of the offers",
            value = json!({"decision": "allow", "scope": "session"}))),
        ("edit" = (summary = "With other arguments",
            value = json!({"decision": "allow", "arguments": {"command": "ls"}}))),
        ("deny" = (summary = "With a message to the model",
            value = json!({"decision": "deny", "message": "Use the staging server."}))),
    )),
    responses((status = OK, description = "The approval with its decision", body = Approval)),
    security(("bearer" = ["operator"])),
    extensions(("x-problems" = json!(["host_decides", "session_ended", "workspace_unavailable", "shutting_down", "already_decided", "superseded", "not_waiting", "not_offered", "invalid_arguments", "denied", "cannot_run"]))),
)]
pub(in crate::http) async fn decide(
    State(sessions): State<Sessions>,
    Operator(principal): Operator,
    PathParams(ApprovalPath { aid }): PathParams<ApprovalPath>,
    NoQuery: NoQuery,
    JsonBody(request): JsonBody<DecisionRequest>,
) -> Result<Json<Approval>, ApiError> {
    Ok(Json(to_its_end(async move { sessions.decide(&principal, &aid, request).await }).await?))
}
