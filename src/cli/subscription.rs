//! Follows a stream of events across dropped connections: each later event exactly once.

use std::collections::VecDeque;
use std::time::Duration;

use reqwest::Response;

use super::client::{Client, Query};
use super::error::CliError;
use super::output;
use super::sse::{SseEvent, SseParser};

/// The first pause before coming back, where the server named none.
const FIRST_PAUSE: Duration = Duration::from_millis(250);
/// The longest pause: a server that comes back is noticed within it.
const LONGEST_PAUSE: Duration = Duration::from_secs(10);

/// What a subscription tells.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// The next event.
    Event(SseEvent),
    /// The connection is gone: why, and after how long it is tried again.
    Down {
        /// Why.
        cause: String,
        /// The pause.
        pause: Duration,
    },
    /// The connection is there again.
    Up,
    /// The session is over and has no more events.
    Over,
}

/// A subscription that lives until the server ends it.
#[derive(Debug)]
pub(super) struct Subscription<'a> {
    client: &'a Client,
    path: Vec<String>,
    query: Query<'a>,
    /// The id of the latest event that was handed out.
    last_id: Option<String>,
    stream: Option<(Response, SseParser)>,
    ready: VecDeque<SseEvent>,
    /// Whether the present connection gave any event.
    gave_any: bool,
    /// Attempts in a row that gave no event.
    fruitless: u32,
    first_pause: Duration,
    /// How long to wait before coming back, where the connection is gone.
    pause: Option<Duration>,
}

impl<'a> Subscription<'a> {
    /// Opens the stream; an error here is final.
    pub(super) async fn open(client: &'a Client, path: &[&str], query: Query<'a>) -> Result<Self, CliError> {
        let mut subscription = Self {
            client,
            path: path.iter().map(ToString::to_string).collect(),
            query,
            last_id: None,
            stream: None,
            ready: VecDeque::new(),
            gave_any: false,
            fruitless: 0,
            first_pause: FIRST_PAUSE,
            pause: None,
        };
        subscription.connect().await?;
        Ok(subscription)
    }

    /// The next event; none when the session is over and has no more. Waits for as long as it
    /// takes, comes back when the connection drops, says so on standard error, and fails only where
    /// the server refuses.
    pub(super) async fn next(&mut self) -> Result<Option<SseEvent>, CliError> {
        loop {
            match self.step().await? {
                Step::Event(event) => return Ok(Some(event)),
                Step::Over => return Ok(None),
                Step::Up => {}
                Step::Down { cause, pause } => {
                    let after = self.last_id.as_deref().unwrap_or("the beginning");
                    output::note(&format!("{cause}; going on after {after} in {:.1} s", pause.as_secs_f64()));
                }
            }
        }
    }

    /// The same one step at a time, for who shows more than the events.
    pub(super) async fn step(&mut self) -> Result<Step, CliError> {
        if let Some(pause) = self.pause.take() {
            tokio::time::sleep(pause).await;
            return match self.connect().await {
                Ok(()) => Ok(Step::Up),
                Err(CliError::Unreachable { cause, .. }) => Ok(self.down(cause)),
                Err(CliError::Problem(problem)) if problem.status >= 500 || problem.status == 429 => {
                    Ok(self.down(format!("{} ({})", problem.title, problem.status)))
                }
                Err(error) => Err(error),
            };
        }
        loop {
            if let Some(event) = self.ready.pop_front() {
                self.fruitless = 0;
                if event.id.is_some() {
                    self.last_id.clone_from(&event.id);
                }
                return Ok(Step::Event(event));
            }
            match self.receive().await {
                Ok(true) => {}
                // A stream that ended with the session gives nothing when it is opened again.
                Ok(false) if !self.gave_any && self.session_is_over().await? => return Ok(Step::Over),
                Ok(false) => return Ok(self.down("the server closed the stream".into())),
                Err(CliError::Unreachable { cause, .. }) => return Ok(self.down(cause)),
                Err(error) => return Err(error),
            }
        }
    }

    /// Reads once; false at the stream's end.
    async fn receive(&mut self) -> Result<bool, CliError> {
        let Some((response, parser)) = &mut self.stream else { return Ok(false) };
        let Some(chunk) = self.client.next_chunk(response).await? else { return Ok(false) };
        let events = parser.feed(&chunk).map_err(|error| self.client.strange(error.to_string()))?;
        self.first_pause = parser.retry().unwrap_or(self.first_pause).min(LONGEST_PAUSE);
        self.gave_any |= !events.is_empty();
        self.ready.extend(events);
        Ok(true)
    }

    async fn session_is_over(&self) -> Result<bool, CliError> {
        let [list, session, ..] = self.path.as_slice() else { return Ok(false) };
        match self.client.get(&[list, session], &Vec::new(), Duration::ZERO).await {
            Ok(answer) => Ok(answer.value["status"] == "ended"),
            Err(CliError::Unreachable { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    fn down(&mut self, cause: String) -> Step {
        self.stream = None;
        let pause = self.first_pause.saturating_mul(1 << self.fruitless.min(10)).min(LONGEST_PAUSE);
        self.fruitless += 1;
        self.pause = Some(pause);
        Step::Down { cause, pause }
    }

    async fn connect(&mut self) -> Result<(), CliError> {
        let path: Vec<&str> = self.path.iter().map(String::as_str).collect();
        let response = self.client.stream(&path, &self.query, self.last_id.as_deref()).await?;
        self.gave_any = false;
        self.stream = Some((response, SseParser::default()));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::fake_server::{FakeServer, Reply};
    use super::*;

    #[tokio::test]
    async fn comes_back_with_the_last_id_and_hands_out_each_event_once() {
        let server = FakeServer::start(vec![
            Reply::broken_events("retry: 1\n\nid: 1\ndata: a\n\nid: 2\ndata: b\n\nid: 3\ndata: half"),
            Reply::json(503, r#"{"title":"Busy","status":503}"#),
            Reply::events("id: 3\ndata: c\n\n: beat\n\n"),
            Reply::events("id: 4\ndata: d\n\n"),
        ])
        .await;
        let client = Client::new(server.connection()).unwrap();
        let mut subscription =
            Subscription::open(&client, &["events"], vec![("after", "0".into())]).await.unwrap();
        let mut seen = String::new();
        for _ in 0..4 {
            seen.push_str(&subscription.next().await.unwrap().unwrap().data);
        }
        assert_eq!(seen, "abcd");
        let requests = server.finish().await;
        assert!(!requests[0].contains("last-event-id"));
        assert!(requests[1].contains("last-event-id: 2\r\n"), "{requests:?}");
        assert!(requests[2].contains("last-event-id: 2\r\n"), "{requests:?}");
        assert!(requests[3].contains("last-event-id: 3\r\n"), "{requests:?}");
    }

    #[tokio::test]
    async fn a_refusal_is_final() {
        let server = FakeServer::start(vec![
            Reply::events("retry: 1\n\nid: 1\ndata: a\n\n"),
            Reply::json(404, r#"{"title":"No such session","status":404}"#),
        ])
        .await;
        let client = Client::new(server.connection()).unwrap();
        let mut subscription = Subscription::open(&client, &["events"], vec![]).await.unwrap();
        subscription.next().await.unwrap();
        let Err(CliError::Problem(problem)) = subscription.next().await else { panic!() };
        assert_eq!(problem.status, 404);
        server.finish().await;
    }

    #[tokio::test]
    async fn a_session_that_is_over_ends_the_stream() {
        let server = FakeServer::start(vec![
            Reply::events("retry: 1\n\nid: 1\ndata: a\n\n"),
            Reply::events(": nothing more\n\n"),
            Reply::json(200, r#"{"status":"active"}"#),
            Reply::events(""),
            Reply::json(200, r#"{"status":"ended"}"#),
        ])
        .await;
        let client = Client::new(server.connection()).unwrap();
        let mut subscription =
            Subscription::open(&client, &["sessions", "s", "events"], vec![]).await.unwrap();
        assert_eq!(subscription.next().await.unwrap().unwrap().data, "a");
        assert_eq!(subscription.next().await.unwrap(), None);
        let requests = server.finish().await;
        assert!(requests[2].starts_with("GET /v1/sessions/s HTTP"), "{requests:?}");
        assert_eq!(requests.len(), 5);
    }
}
