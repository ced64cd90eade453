//! `POST /v1/sessions`: makes a session, or finds the one that the same body made.

use axum::Json;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use serde::Serialize;
use utoipa::ToSchema;

use crate::domain::session::Session;
use crate::http::auth::Caller;
use crate::http::body::JsonBody;
use crate::http::change::to_its_end;
use crate::http::error::ApiError;
use crate::http::params::NoQuery;
use crate::session::{NewSession, Sessions};

/// A session with the secret that reaches it alone.
#[derive(Serialize, ToSchema)]
#[schema(as = NewSessionAnswer)]
pub(in crate::http) struct Made {
    #[serde(flatten)]
    session: Session,
    /// Reaches this session alone: what an orchestrator hands to its agent.
    session_token: String,
}

/// Make a session
///
/// Answers 201 for a new one and 200 for the one that the same body made before, so that a lost answer can be
/// asked for again. Without `workspace` the session gets a fresh directory. An agent may set only what narrows
/// what may run; what widens it needs an operator.
#[utoipa::path(
    post,
    path = "/v1/sessions",
    operation_id = "createSession",
    tag = "sessions",
    request_body = NewSession,
    responses(
        (status = CREATED, description = "The new session, with the token that reaches it alone", body = Made,
            headers(("location" = String, description = "The session's path"))),
        (status = OK, description = "The session that the same body made before", body = Made),
    ),
    security(("bearer" = ["agent"])),
    extensions(("x-problems" = json!(["forbidden", "operator_required", "exceeds_max_mode", "workspace_not_allowed", "session_id_conflict", "workspace_in_use", "workspace_unavailable", "too_many", "shutting_down"]))),
)]
pub(in crate::http) async fn create(
    State(sessions): State<Sessions>,
    Caller(principal): Caller,
    NoQuery: NoQuery,
    JsonBody(request): JsonBody<NewSession>,
) -> Result<Response, ApiError> {
    let (record, new) = to_its_end(async move { sessions.create(&principal, request).await }).await?;
    // Its letters are few: it needs no encoding.
    let path = format!("/v1/sessions/{}", record.session.session_id);
    let made = Json(Made { session: record.session, session_token: record.session_token });
    Ok(if new {
        (StatusCode::CREATED, [(header::LOCATION, path)], made).into_response()
    } else {
        made.into_response()
    })
}
