//! `GET /v1/audit`: what the gate said and people decided, oldest first.

use axum::Json;
use axum::extract::State;
use serde::Deserialize;

use crate::domain::audit::{AuditDecision, AuditEntry, AuditKind};
use crate::domain::clock::Timestamp;
use crate::http::auth::Operator;
use crate::http::error::ApiError;
use crate::http::paging::{List, page};
use crate::http::params::QueryParams;
use crate::session::Sessions;
use crate::store::AuditFilter;

/// Which entries.
#[derive(Default, Deserialize, utoipa::IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(in crate::http) struct AuditQuery {
    /// Only of this session; 404 where there is none.
    session_id: Option<String>,
    /// Only of calls with this id.
    call_id: Option<String>,
    /// Only of this kind.
    #[param(inline)]
    kind: Option<AuditKind>,
    /// Only what came out so.
    #[param(inline)]
    decision: Option<AuditDecision>,
    /// Only of this tool, by its exact name.
    tool: Option<String>,
    /// Only by this token.
    by: Option<String>,
    /// Only from this moment on.
    since: Option<Timestamp>,
    /// Only before this moment.
    until: Option<Timestamp>,
    /// The most items of the page.
    #[param(minimum = 1, maximum = 1_000, default = 100)]
    limit: Option<usize>,
    /// The `next_cursor` of the page before, or the `seq` of an entry.
    #[param(pattern = "^[0-9]{1,18}$")]
    cursor: Option<String>,
}

/// Read the audit log
///
/// What the gate said of each call, how approvals ended, which decisions were refused, and which grants were
/// made, revoked or ended, oldest first. One page looks through a bounded part of the log: while there is a `next_cursor` there is more to
/// look at, also where the page is short or empty.
#[utoipa::path(
    get,
    path = "/v1/audit",
    operation_id = "listAudit",
    tag = "audit",
    params(AuditQuery),
    responses((status = OK, description = "A page", body = List<AuditEntry>)),
    security(("bearer" = ["operator"])),
    extensions(("x-problems" = json!(["not_found"]))),
)]
pub(in crate::http) async fn list(
    State(sessions): State<Sessions>,
    Operator(_): Operator,
    QueryParams(query): QueryParams<AuditQuery>,
) -> Result<Json<List<AuditEntry>>, ApiError> {
    let page = page(query.limit, query.cursor)?;
    let filter = AuditFilter {
        session_id: query.session_id,
        call_id: query.call_id,
        kind: query.kind,
        decision: query.decision,
        tool: query.tool,
        by: query.by,
        since: query.since,
        until: query.until,
    };
    Ok(Json(sessions.audit(filter, page).await?.into()))
}
