//! `GET /v1/sessions/{sid}/todos`: the tasks that the session's agent has set itself.

use axum::Json;
use axum::extract::State;
use serde::Serialize;
use utoipa::ToSchema;

use crate::domain::todo::Todo;
use crate::http::auth::Caller;
use crate::http::error::ApiError;
use crate::http::params::{NoQuery, PathParams, SessionPath};
use crate::session::Sessions;

/// The tasks of a session.
#[derive(Serialize, ToSchema)]
pub(in crate::http) struct TodosAnswer {
    /// In the agent's order; empty where it has set itself none.
    todos: Vec<Todo>,
}

/// List the tasks that a session's agent has set itself
///
/// The list that TodoWrite keeps, also of a session that has ended.
#[utoipa::path(
    get,
    path = "/v1/sessions/{sid}/todos",
    operation_id = "listTodos",
    tag = "sessions",
    params(SessionPath),
    responses((status = OK, description = "The list", body = TodosAnswer)),
    security(("bearer" = ["agent"])),
)]
pub(in crate::http) async fn todos(
    State(sessions): State<Sessions>,
    Caller(principal): Caller,
    PathParams(SessionPath { sid }): PathParams<SessionPath>,
    NoQuery: NoQuery,
) -> Result<Json<TodosAnswer>, ApiError> {
    Ok(Json(TodosAnswer { todos: sessions.todos(&principal, &sid).await? }))
}
