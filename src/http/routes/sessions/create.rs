//! `POST /v1/sessions`: makes a session, or finds the one that the same body made.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde::Serialize;

use crate::domain::session::Session;
use crate::http::auth::Caller;
use crate::http::body::JsonBody;
use crate::http::change::to_its_end;
use crate::http::error::ApiError;
use crate::http::params::NoQuery;
use crate::session::{NewSession, Sessions};

/// A session with the secret that reaches it alone.
#[derive(Serialize)]
pub(in crate::http) struct Made {
    #[serde(flatten)]
    session: Session,
    session_token: String,
}

pub(in crate::http) async fn create(
    State(sessions): State<Sessions>,
    Caller(principal): Caller,
    NoQuery: NoQuery,
    JsonBody(request): JsonBody<NewSession>,
) -> Result<(StatusCode, Json<Made>), ApiError> {
    let (record, new) = to_its_end(async move { sessions.create(&principal, request).await }).await?;
    let status = if new { StatusCode::CREATED } else { StatusCode::OK };
    Ok((status, Json(Made { session: record.session, session_token: record.session_token })))
}
