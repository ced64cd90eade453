//! `POST /v1/sessions/{sid}/calls/{cid}/cancel`: ends an open call.

use axum::Json;
use axum::extract::State;

use crate::domain::call::Call;
use crate::http::auth::Caller;
use crate::http::change::to_its_end;
use crate::http::error::ApiError;
use crate::http::params::{CallPath, PathParams, QueryParams, TurnQuery};
use crate::session::Sessions;

/// Cancel a call
///
/// Ends its process tree and answers how the call ended. One that has ended is unchanged.
#[utoipa::path(
    post,
    path = "/v1/sessions/{sid}/calls/{cid}/cancel",
    operation_id = "cancelCall",
    tag = "calls",
    params(CallPath, TurnQuery),
    responses((status = OK, description = "The call", body = Call)),
    security(("bearer" = ["agent"])),
)]
pub(in crate::http) async fn cancel(
    State(sessions): State<Sessions>,
    Caller(principal): Caller,
    PathParams(CallPath { sid, cid }): PathParams<CallPath>,
    QueryParams(query): QueryParams<TurnQuery>,
) -> Result<Json<Call>, ApiError> {
    let key = query.key(cid)?;
    Ok(Json(to_its_end(async move { sessions.cancel(&principal, &sid, &key).await }).await?))
}
