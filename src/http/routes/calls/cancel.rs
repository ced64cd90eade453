//! `POST /v1/sessions/{sid}/calls/{cid}/cancel`: ends an open call.

use axum::Json;
use axum::extract::State;

use crate::domain::call::Call;
use crate::http::auth::Caller;
use crate::http::change::to_its_end;
use crate::http::error::ApiError;
use crate::http::params::{CallQuery, PathParams, QueryParams};
use crate::session::Sessions;

pub(in crate::http) async fn cancel(
    State(sessions): State<Sessions>,
    Caller(principal): Caller,
    PathParams((sid, cid)): PathParams<(String, String)>,
    QueryParams(query): QueryParams<CallQuery>,
) -> Result<Json<Call>, ApiError> {
    let key = query.key(cid)?;
    Ok(Json(to_its_end(async move { sessions.cancel(&principal, &sid, &key).await }).await?))
}
