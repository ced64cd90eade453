//! `POST /v1/sessions/{sid}/calls/{cid}/result`: the client reports on its own tool.

use axum::Json;
use axum::extract::State;
use serde::Deserialize;

use crate::domain::call::Call;
use crate::http::auth::Caller;
use crate::http::body::JsonBody;
use crate::http::change::to_its_end;
use crate::http::error::ApiError;
use crate::http::params::{CallQuery, PathParams, QueryParams};
use crate::session::{ReportedResult, Sessions};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::http) struct Report {
    result: ReportedResult,
}

pub(in crate::http) async fn result(
    State(sessions): State<Sessions>,
    Caller(principal): Caller,
    PathParams((sid, cid)): PathParams<(String, String)>,
    QueryParams(query): QueryParams<CallQuery>,
    JsonBody(body): JsonBody<Report>,
) -> Result<Json<Call>, ApiError> {
    let key = query.key(cid)?;
    Ok(Json(to_its_end(async move { sessions.report(&principal, &sid, &key, body.result).await }).await?))
}
