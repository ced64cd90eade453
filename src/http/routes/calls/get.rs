//! `GET /v1/sessions/{sid}/calls/{cid}`: one call, waited for through its pauses.

use axum::Json;
use axum::extract::State;

use crate::domain::call::Call;
use crate::http::auth::Caller;
use crate::http::error::ApiError;
use crate::http::params::{CallQuery, PathParams, QueryParams};
use crate::session::Sessions;

pub(in crate::http) async fn get(
    State(sessions): State<Sessions>,
    Caller(principal): Caller,
    PathParams((sid, cid)): PathParams<(String, String)>,
    QueryParams(query): QueryParams<CallQuery>,
) -> Result<Json<Call>, ApiError> {
    let wait = query.wait(0)?;
    Ok(Json(sessions.call(&principal, &sid, &query.key(cid)?, wait).await?))
}
