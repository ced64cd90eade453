//! Every route on one page.

use axum::Router;
use axum::middleware::from_fn_with_state;
use tower::ServiceBuilder;
use tower_http::catch_panic::CatchPanicLayer;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::guard;
use super::routes::{approvals, audit, calls, events, grants, permissions, server, sessions, turns, worker};
use super::state::ApiState;

/// The routes. Each handler says its method and path beside itself, with what it takes and answers: a
/// route that the document does not have cannot be written here.
pub(super) fn routes() -> OpenApiRouter<ApiState> {
    OpenApiRouter::default()
        .routes(routes!(sessions::create::create, sessions::list::list))
        .routes(routes!(sessions::get::get, sessions::end::end))
        .routes(routes!(sessions::runtime::get, sessions::runtime::patch))
        .routes(routes!(sessions::tools::tools))
        .routes(routes!(sessions::guidance::guidance))
        .routes(routes!(sessions::todos::todos))
        .routes(routes!(calls::create::create, calls::list::list))
        .routes(routes!(calls::batch::batch))
        .routes(routes!(calls::get::get))
        .routes(routes!(calls::cancel::cancel))
        .routes(routes!(calls::output::output))
        .routes(routes!(calls::answer::answer))
        .routes(routes!(calls::result::result))
        .routes(routes!(turns::create::create))
        .routes(routes!(events::session::session))
        .routes(routes!(events::all::all))
        .routes(routes!(approvals::list::list))
        .routes(routes!(approvals::get::get))
        .routes(routes!(approvals::decide::decide))
        .routes(routes!(worker::ask::ask, worker::standing::standing, worker::withdraw::withdraw))
        .routes(routes!(grants::list::list))
        .routes(routes!(grants::revoke::revoke))
        .routes(routes!(permissions::explain::explain))
        .routes(routes!(audit::list::list))
        .routes(routes!(server::info::info))
        .routes(routes!(server::config::config))
        .routes(routes!(server::reload::reload))
        .routes(routes!(server::openapi::openapi))
        .routes(routes!(server::probes::healthz))
        .routes(routes!(server::probes::readyz))
        .routes(routes!(server::metrics::metrics))
}

/// The interface over its state.
pub fn router(state: ApiState) -> Router {
    Router::from(routes())
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
