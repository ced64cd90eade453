//! `POST /v1/sessions/{sid}/calls/{cid}/result`: the client reports on its own tool.

use axum::Json;
use axum::extract::State;
use serde::Deserialize;
use utoipa::ToSchema;

use crate::domain::call::Call;
use crate::http::auth::Caller;
use crate::http::body::JsonBody;
use crate::http::change::to_its_end;
use crate::http::error::ApiError;
use crate::http::params::{CallPath, PathParams, QueryParams, TurnQuery};
use crate::session::{ReportedResult, Sessions};

/// What the client's own tool gave back.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::http) struct ResultReport {
    /// The text, or the whole result; a text is at most 8 MiB.
    result: ReportedResult,
}

/// Report the result of the client's own tool
///
/// For a call that is `awaiting_result`. The same result again gives the same call.
#[utoipa::path(
    post,
    path = "/v1/sessions/{sid}/calls/{cid}/result",
    operation_id = "reportCallResult",
    tag = "calls",
    params(CallPath, TurnQuery),
    request_body(content = ResultReport, examples(
        ("text" = (summary = "A text that the model reads", value = json!({"result": "ticket 42 is open"}))),
        ("whole" = (summary = "A whole result", value = json!({"result": {"success": false, "result": "no such queue"}}))),
    )),
    responses((status = OK, description = "The call, completed with the result", body = Call)),
    security(("bearer" = ["agent"])),
    extensions(("x-problems" = json!(["session_ended", "workspace_unavailable", "shutting_down", "not_waiting"]))),
)]
pub(in crate::http) async fn result(
    State(sessions): State<Sessions>,
    Caller(principal): Caller,
    PathParams(CallPath { sid, cid }): PathParams<CallPath>,
    QueryParams(query): QueryParams<TurnQuery>,
    JsonBody(body): JsonBody<ResultReport>,
) -> Result<Json<Call>, ApiError> {
    let key = query.key(cid)?;
    Ok(Json(to_its_end(async move { sessions.report(&principal, &sid, &key, body.result).await }).await?))
}
