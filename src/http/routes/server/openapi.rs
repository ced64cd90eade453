//! `GET /openapi.json`: this interface, described.

use axum::http::header;
use axum::response::IntoResponse;

use crate::http::openapi::SERVED;

/// Get the description of this interface
///
/// OpenAPI 3.1, made from the routes of the program that answers.
#[utoipa::path(
    get,
    path = "/openapi.json",
    operation_id = "getOpenapi",
    tag = "server",
    responses((status = OK, description = "An OpenAPI document", body = Object)),
    security(()),
)]
pub(in crate::http) async fn openapi() -> impl IntoResponse {
    ([(header::CONTENT_TYPE, "application/json")], SERVED.clone())
}
