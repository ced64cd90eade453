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

/// Which approvals.
#[derive(Default, Deserialize, utoipa::IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(in crate::http) struct ApprovalsQuery {
    /// Only of this status.
    #[param(inline)]
    status: Option<ApprovalStatus>,
    /// Only of this session; 404 where there is none.
    session_id: Option<String>,
    /// Of those that wait and ask exactly the same only the first, which names the others as `identical`.
    #[serde(default)]
    #[param(default = false)]
    fold: bool,
    /// The most items of the page.
    #[param(minimum = 1, maximum = 1_000, default = 100)]
    limit: Option<usize>,
    /// The `next_cursor` of the page before.
    #[param(pattern = "^[0-9]{1,18}$")]
    cursor: Option<String>,
}

/// List approvals
///
/// What waits, or was decided, oldest first. One that waits names the others that wait in its session and
/// ask exactly the same as `identical`; each keeps its own approval and is decided by itself.
#[utoipa::path(
    get,
    path = "/v1/approvals",
    operation_id = "listApprovals",
    tag = "approvals",
    params(ApprovalsQuery),
    responses((status = OK, description = "A page", body = List<Approval>)),
    security(("bearer" = ["operator"])),
    extensions(("x-problems" = json!(["not_found"]))),
)]
pub(in crate::http) async fn list(
    State(sessions): State<Sessions>,
    Operator(_): Operator,
    QueryParams(query): QueryParams<ApprovalsQuery>,
) -> Result<Json<List<Approval>>, ApiError> {
    let page = page(query.limit, query.cursor)?;
    let filter = ApprovalFilter { status: query.status, session_id: query.session_id, fold: query.fold };
    Ok(Json(sessions.approvals(filter, page).await?.into()))
}
