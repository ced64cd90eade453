//! `GET /v1/approvals`: what waits, or was decided, oldest first.

use axum::Json;
use axum::extract::State;
use serde::Deserialize;

use crate::domain::approval::{Approval, ApprovalStatus};
use crate::http::auth::Operator;
use crate::http::error::ApiError;
use crate::http::paging::{List, page};
use crate::http::params::QueryParams;
use crate::session::Sessions;
use crate::store::ApprovalFilter;

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::http) struct ApprovalsQuery {
    status: Option<ApprovalStatus>,
    session_id: Option<String>,
    limit: Option<usize>,
    cursor: Option<String>,
}

pub(in crate::http) async fn list(
    State(sessions): State<Sessions>,
    Operator(_): Operator,
    QueryParams(query): QueryParams<ApprovalsQuery>,
) -> Result<Json<List<Approval>>, ApiError> {
    let page = page(query.limit, query.cursor)?;
    let filter = ApprovalFilter { status: query.status, session_id: query.session_id };
    Ok(Json(sessions.approvals(filter, page).await?.into()))
}
