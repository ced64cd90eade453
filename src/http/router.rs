//! Every route on one page.

use axum::Router;
use axum::middleware::from_fn_with_state;
use axum::routing::{delete, get, post};
use tower::ServiceBuilder;
use tower_http::catch_panic::CatchPanicLayer;

use super::guard;
use super::routes::{approvals, calls, events, grants, server, sessions, turns};
use super::state::ApiState;

/// The interface over its state.
pub fn router(state: ApiState) -> Router {
    Router::new()
        .route("/v1/sessions", post(sessions::create::create).get(sessions::list::list))
        .route("/v1/sessions/{sid}", get(sessions::get::get).delete(sessions::end::end))
        .route("/v1/sessions/{sid}/runtime", get(sessions::runtime::get).patch(sessions::runtime::patch))
        .route("/v1/sessions/{sid}/tools", get(sessions::tools::tools))
        .route("/v1/sessions/{sid}/guidance", get(sessions::guidance::guidance))
        .route("/v1/sessions/{sid}/todos", get(sessions::todos::todos))
        .route("/v1/sessions/{sid}/calls", post(calls::create::create).get(calls::list::list))
        .route("/v1/sessions/{sid}/calls/batch", post(calls::batch::batch))
        .route("/v1/sessions/{sid}/calls/{cid}", get(calls::get::get))
        .route("/v1/sessions/{sid}/calls/{cid}/cancel", post(calls::cancel::cancel))
        .route("/v1/sessions/{sid}/calls/{cid}/output", get(calls::output::output))
        .route("/v1/sessions/{sid}/calls/{cid}/answer", post(calls::answer::answer))
        .route("/v1/sessions/{sid}/calls/{cid}/result", post(calls::result::result))
        .route("/v1/sessions/{sid}/turns", post(turns::create::create))
        .route("/v1/sessions/{sid}/events", get(events::session::session))
        .route("/v1/events", get(events::all::all))
        .route("/v1/approvals", get(approvals::list::list))
        .route("/v1/approvals/{aid}", get(approvals::get::get))
        .route("/v1/approvals/{aid}/decision", post(approvals::decide::decide))
        .route("/v1/grants", get(grants::list::list))
        .route("/v1/grants/{gid}", delete(grants::revoke::revoke))
        .route("/v1/info", get(server::info::info))
        .route("/v1/config", get(server::config::config))
        .route("/v1/config/reload", post(server::reload::reload))
        .route("/healthz", get(server::probes::healthz))
        .route("/readyz", get(server::probes::readyz))
        .route("/metrics", get(server::metrics::metrics))
        .method_not_allowed_fallback(guard::no_method)
        .fallback(guard::no_route)
        .layer(
            // From the outside in: whatever panics within is still answered with its request's id.
            ServiceBuilder::new()
                .layer(from_fn_with_state(state.clone(), guard::guard))
                .layer(CatchPanicLayer::custom(guard::panicked)),
        )
        .with_state(state)
}
