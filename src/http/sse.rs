//! Event streams: pages of the log, one after the other, as server-sent events.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::Response;
use bytes::Bytes;
use futures_util::stream;
use tokio::sync::watch;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::auth::Holder;
use super::error::ApiError;
use super::state::ApiState;
use crate::config::Place;
use crate::permission::ConfigStatus;
use crate::store::{EventPage, EventQuery, Store, StoreError};
use crate::telemetry::metrics::Counted;

/// How many events, and how many of their bytes, a stream reads at once: what a slow reader holds in
/// memory, about twice while it is written out.
const PAGE: usize = 256;
const PAGE_BYTES: usize = 256 * 1024;
/// How long a client waits before it connects again, in milliseconds.
const RETRY_MS: u32 = 1_000;

/// Up to so many readers of one log, each is told of an event when it happens.
const READERS_AT_ONCE: usize = 16;
/// Beyond, a reader rests between two pages for so long per reader, so that they cost a bounded share of the
/// machine however many they are: an event that follows another closely waits, and goes out with those after it.
const REST_PER_READER: Duration = Duration::from_micros(100);
/// The longest rest.
const REST_MAX: Duration = Duration::from_millis(200);

/// How long one of so many readers of a log rests after a page.
fn rest(readers: usize) -> Duration {
    if readers <= READERS_AT_ONCE {
        return Duration::ZERO;
    }
    u32::try_from(readers).map_or(REST_MAX, |readers| (REST_PER_READER * readers).min(REST_MAX))
}

/// What ends a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Until {
    /// The session's end.
    SessionEnds,
    /// The end of the one call that it follows.
    CallEnds,
    /// Nothing but its reader and the server.
    Never,
}

/// The place in the log after which a client wants to go on: `Last-Event-ID` wins over `after`.
pub(super) fn position(headers: &HeaderMap, after: Option<u64>) -> Result<u64, ApiError> {
    // No log gets as far as that: it is a mistake, and signed 64-bit integers are what clients have.
    let is_place = |place: &u64| i64::try_from(*place).is_ok();
    let after = after.unwrap_or(0);
    if !is_place(&after) {
        let detail = "after is the id of an event of this stream: a decimal number below 2^63";
        return Err(ApiError::bad_request("invalid_query", detail).field("/after", detail));
    }
    let Some(value) = headers.get("last-event-id") else { return Ok(after) };
    let text = value.to_str().unwrap_or_default();
    text.parse().ok().filter(is_place).ok_or_else(|| {
        let detail = "Last-Event-ID is the id of an event of this stream: a decimal number below 2^63";
        ApiError::bad_request("invalid_last_event_id", detail)
    })
}

/// Whether a client wants a stream.
pub(super) fn wants_stream(headers: &HeaderMap) -> bool {
    let accepts = headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok());
    accepts.into_iter().any(|accept| accept.contains("text/event-stream"))
}

/// Whether a client wants JSON and not a stream.
pub(super) fn wants_json(headers: &HeaderMap) -> bool {
    let accepts = headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok());
    accepts.into_iter().any(|accept| accept.contains("application/json")) && !wants_stream(headers)
}

/// A place among the streams, given back when it is dropped.
pub(super) struct StreamPlace {
    _place: Place,
    _open: Counted,
}

/// A place among the streams, or the refusal.
pub(super) fn stream_permit(state: &ApiState) -> Result<StreamPlace, ApiError> {
    let place = state.facts.streams.try_enter().ok_or_else(|| {
        let detail = "the server has as many event streams as it takes; try again";
        ApiError::new(StatusCode::SERVICE_UNAVAILABLE, "too_many_streams", detail).retry_after(5)
    })?;
    Ok(StreamPlace { _place: place, _open: state.metrics.http().stream() })
}

/// Streams what a query finds, from the log, until it ends.
pub(super) fn respond(
    state: &ApiState,
    holder: Holder,
    place: StreamPlace,
    query: EventQuery,
    until: Until,
) -> Response {
    let follower = Follower {
        store: Arc::clone(&state.store),
        latest: state.store.latest(query.session_id.as_deref()),
        query: EventQuery { limit: PAGE, bytes: PAGE_BYTES, ..query },
        until,
        holder,
        in_force: state.in_force.follow(),
        closing: state.facts.closing.clone(),
        greeted: false,
        caught_up: false,
        rests_until: None,
        over: false,
        span: tracing::Span::current(),
        _place: place,
    };
    let chunks = stream::unfold(follower, |mut follower| async move {
        let chunk = follower.next().await?;
        Some((Ok::<Bytes, std::convert::Infallible>(chunk), follower))
    });
    let mut response = Response::new(Body::from_stream(chunks));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    // Some proxies hold back what they may buffer.
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
}

struct Follower {
    store: Arc<dyn Store>,
    latest: watch::Receiver<u64>,
    query: EventQuery,
    until: Until,
    /// Who reads: the stream ends when its token is no longer known.
    holder: Holder,
    in_force: watch::Receiver<ConfigStatus>,
    closing: CancellationToken,
    greeted: bool,
    /// Whether all that was there has been read once.
    caught_up: bool,
    /// When the next page may be read.
    rests_until: Option<Instant>,
    over: bool,
    /// Of the request that the stream answers.
    span: tracing::Span,
    _place: StreamPlace,
}

impl Follower {
    /// The next piece of the stream; none at its end. A reader that does not take it keeps this
    /// one page in memory and holds up nobody.
    async fn next(&mut self) -> Option<Bytes> {
        if !self.greeted {
            self.greeted = true;
            return Some(Bytes::from(format!("retry: {RETRY_MS}\n\n")));
        }
        loop {
            if self.over {
                return None;
            }
            if let Some(until) = self.rests_until.take() {
                tokio::select! {
                    () = self.closing.cancelled() => return None,
                    () = tokio::time::sleep_until(until) => {}
                }
            }
            let revision = Arc::clone(&self.in_force.borrow_and_update().revision);
            if !self.holder.is_known(&revision) {
                return None;
            }
            self.latest.borrow_and_update();
            let page = match self.store.events(self.query.clone()).await {
                Ok(page) => page,
                Err(error) => {
                    tracing::error!(parent: &self.span, %error, "an event stream could not read the log");
                    return None;
                }
            };
            let chunk = self.chunk(&page);
            if !chunk.is_empty() {
                // Who still reads what is past does not rest, nor who waits for the one call that it made.
                if page.latest <= self.query.after && self.until != Until::CallEnds {
                    let readers = self.store.followers(self.query.session_id.as_deref());
                    self.rests_until =
                        Some(rest(readers)).filter(|rest| !rest.is_zero()).map(|rest| Instant::now() + rest);
                }
                return Some(chunk);
            }
            if page.latest > self.query.after {
                continue;
            }
            // A stream of everything gets the session's end as an event: it has to be looked for only where
            // that lies before the beginning, or is filtered out.
            let may_miss_the_end = !self.query.types.is_empty() || self.query.call.is_some();
            if (may_miss_the_end || !self.caught_up) && self.has_ended().await {
                return None;
            }
            self.caught_up = true;
            let heartbeat = Duration::from_millis(revision.config.events.heartbeat_ms);
            tokio::select! {
                () = self.closing.cancelled() => return None,
                changed = self.latest.changed() => changed.ok()?,
                changed = self.in_force.changed() => changed.ok()?,
                () = tokio::time::sleep(heartbeat) => return Some(Bytes::from_static(b": keep-alive\n\n")),
            }
        }
    }

    /// Writes out a page and moves on past it.
    fn chunk(&mut self, page: &EventPage) -> Bytes {
        use std::fmt::Write as _;
        let mut text = String::new();
        if self.query.after.saturating_add(1) < page.earliest {
            // What comes next is no continuation of what the client has.
            let earliest = page.earliest;
            let _ = write!(text, "event: resync_required\ndata: {{\"earliest\":{earliest}}}\n\n");
        }
        for event in &page.events {
            let _ = write!(text, "id: {}\nevent: {}\ndata: {}\n\n", event.id, event.kind, event.json);
            if self.until == Until::CallEnds && event.ends_call {
                self.over = true;
                break;
            }
            if self.until == Until::SessionEnds && event.kind == "session_ended" {
                self.over = true;
            }
        }
        self.query.after = page.next_after;
        Bytes::from(text)
    }

    /// Whether the session is over and everything of it was read.
    async fn has_ended(&self) -> bool {
        let Some(session_id) = &self.query.session_id else { return false };
        match self.store.session(session_id).await {
            // What was written between the page and now is still to be read.
            Ok(Some(record)) => !record.is_active() && record.session.last_seq <= self.query.after,
            Ok(None) | Err(_) => true,
        }
    }
}

/// One page as JSON, waited for as long as `wait`.
pub(super) async fn page(
    state: &ApiState,
    query: EventQuery,
    wait: Duration,
) -> Result<EventPage, StoreError> {
    let mut latest = state.store.latest(query.session_id.as_deref());
    let deadline = Instant::now() + wait;
    let mut query = query;
    loop {
        latest.borrow_and_update();
        let page = state.store.events(query.clone()).await?;
        if !page.events.is_empty() || query.after.saturating_add(1) < page.earliest {
            return Ok(page);
        }
        query.after = page.next_after;
        if page.latest > query.after {
            continue;
        }
        tokio::select! {
            () = tokio::time::sleep_until(deadline) => return Ok(page),
            () = state.facts.closing.cancelled() => return Ok(page),
            changed = latest.changed() => if changed.is_err() { return Ok(page) },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_readers_never_rest_and_many_rest_for_a_bounded_time() {
        let rests =
            [0, 1, 16, 17, 200, 1_000, 2_000, 1_000_000, usize::MAX].map(|readers| rest(readers).as_micros());
        assert_eq!(rests, [0, 0, 0, 1_700, 20_000, 100_000, 200_000, 200_000, 200_000]);
    }
}
