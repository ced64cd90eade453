//! `POST /v1/permissions/explain`: what would come of a call, and why.

use axum::Json;
use axum::extract::State;

use crate::http::auth::Caller;
use crate::http::body::JsonBody;
use crate::http::error::ApiError;
use crate::http::params::NoQuery;
use crate::session::{ExplainRequest, Explained, Sessions};

/// Ask what would come of a call
///
/// Judges a call as the gate would if it were made now: the verdict, the rule or reason behind it, every rule that
/// speaks of it, and which rule would let it run. Nothing runs, no call is recorded, nobody is asked. With
/// `session_id` it is judged in that session (its workspace on the disk, its flags, its grants); without, on paper,
/// by its text alone. An answer is no permission: rules, files and flags may change before the call is made. Only
/// 200 with `decision: "allow"` says that it would run.
#[utoipa::path(
    post,
    path = "/v1/permissions/explain",
    operation_id = "explainPermission",
    tag = "permissions",
    request_body(content = ExplainRequest, examples(
        ("written" = (summary = "As the tests of a config say it", value = json!({"call": "Bash(git push)"}))),
        ("named" = (summary = "A tool's name and its arguments", value = json!({"tool_name": "Read",
            "arguments": {"file_path": "/etc/passwd"}, "workspace": "/srv/app", "mode": "accept_edits"}))),
        ("function" = (summary = "A model's call as it came", value = json!({"id": "call_1", "type": "function",
            "function": {"name": "Bash", "arguments": "{\"command\":\"git push\"}"}}))),
    )),
    responses((status = OK, description = "What would come of it", body = Explained)),
    security(("bearer" = ["agent"])),
    extensions(("x-problems" = json!(["not_found", "session_ended", "workspace_unavailable", "shutting_down", "invalid_arguments", "cannot_run"]))),
)]
pub(in crate::http) async fn explain(
    State(sessions): State<Sessions>,
    Caller(principal): Caller,
    NoQuery: NoQuery,
    JsonBody(request): JsonBody<ExplainRequest>,
) -> Result<Json<Explained>, ApiError> {
    Ok(Json(sessions.explain(&principal, request).await?))
}
