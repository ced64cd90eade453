//! The live screen's loop: events, keys and time to the state, its orders to the server, its view to the
//! terminal.

use std::future::Future;
use std::pin::{Pin, pin};
use std::time::Duration;

use crossterm::event::Event;
use futures_util::stream::FuturesUnordered;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc;
use tokio::time::{Instant, MissedTickBehavior};
use tokio_stream::StreamExt as _;

use crate::cli::client::Client;
use crate::cli::decision::sentence;
use crate::cli::error::CliError;
use crate::cli::events;
use crate::cli::subscription::{Step, Subscription};
use crate::domain::approval::{Approval, DecisionRequest};
use crate::domain::call::Call;
use crate::domain::clock::{Clock as _, SystemClock};
use crate::domain::identity::CallKey;

use super::draw::Painter;
use super::guard::GAP;
use super::keys::key;
use super::state::{Drawn, Input, Link, Moment, Order, Refusal, State};
use super::terminal::{Screen, Told};
use super::view::view;

/// How many of the latest events are read to begin with.
const HISTORY: u64 = 1000;
/// How many approvals are read at once.
const WAITING: u32 = 256;
/// Events that may wait to be shown; the connection waits at more, and the server serves it from its log.
const FEED: usize = 256;
/// Requests that may be on their way before calls are no longer looked up.
const DOING_MAX: usize = 32;
/// How often times on the screen go on.
const TICK: Duration = Duration::from_millis(250);

/// An order that is being carried out.
type Doing<'a> = Pin<Box<dyn Future<Output = Input> + 'a>>;

/// Shows until the person leaves, the terminal goes or the server refuses.
pub(super) async fn run(client: &Client, session: Option<&str>, colors: bool) -> Result<u8, CliError> {
    let after = latest(client, session).await?.saturating_sub(HISTORY);
    let waiting = waiting(client, session).await;
    let query = vec![("after", after.to_string())];
    let subscription = Subscription::open(client, &events::path(session), query).await?;
    let mut leave = Leave::catch().map_err(CliError::Runtime)?;
    let (sender, mut feed) = mpsc::channel(FEED);
    let mut pump = pin!(pump(subscription, sender));
    let mut pumping = true;
    let mut doing: FuturesUnordered<Doing<'_>> = FuturesUnordered::new();
    let mut ticks = tokio::time::interval(TICK);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut live = Live::enter(client.address(), colors)?;
    live.take(waiting);
    loop {
        for order in std::mem::take(&mut live.orders) {
            match order {
                Order::Quit => return Ok(0),
                Order::Refresh => doing.push(Box::pin(self::waiting(client, session))),
                Order::Decide { approval_id, request } => {
                    doing.push(Box::pin(decide(client, approval_id, request)));
                }
                // A call that is not looked up is shown without its name.
                Order::LookUp(..) if doing.len() >= DOING_MAX => {}
                Order::LookUp(session, key) => doing.push(Box::pin(look_up(client, session, key))),
            }
        }
        live.draw()?;
        tokio::select! {
            done = &mut pump, if pumping => {
                done?;
                pumping = false;
            }
            Some(input) = feed.recv() => {
                live.take(input);
                // What came together is shown together.
                for _ in 1..FEED {
                    let Ok(input) = feed.try_recv() else { break };
                    live.take(input);
                }
            }
            told = live.screen.next() => {
                let input = input_of(&told.map_err(CliError::Output)?);
                if let Some(input) = input {
                    live.take(input);
                }
            }
            Some(done) = doing.next(), if !doing.is_empty() => live.take(done),
            _ = ticks.tick() => live.take(Input::Tick),
            () = leave.told() => return Ok(0),
        }
    }
}

/// State, screen and clock.
struct Live<'a> {
    state: State,
    painter: Painter,
    screen: Screen,
    /// What the state wants to be done.
    orders: Vec<Order>,
    address: &'a str,
    began: Instant,
    /// When it last did anything.
    last: Instant,
}

impl<'a> Live<'a> {
    fn enter(address: &'a str, colors: bool) -> Result<Self, CliError> {
        let now = Instant::now();
        let screen = Screen::enter().map_err(CliError::Output)?;
        let (state, painter, orders) = (State::new(), Painter::new(colors), Vec::new());
        Ok(Self { state, painter, screen, orders, address, began: now, last: now })
    }

    fn take(&mut self, input: Input) {
        let at = self.moment();
        self.orders.extend(self.state.apply(input, at));
    }

    fn moment(&self) -> Moment {
        Moment { up: self.began.elapsed(), wall: SystemClock.now() }
    }

    fn draw(&mut self) -> Result<(), CliError> {
        if self.last.elapsed() > GAP {
            // It was stopped, and others may have written to the terminal.
            self.screen.clear().map_err(CliError::Output)?;
        }
        self.last = Instant::now();
        let view = view(&self.state, self.address, self.moment());
        let (painter, mut drawn) = (&mut self.painter, Drawn::default());
        self.screen.draw(|frame| drawn = painter.draw(frame, &view)).map_err(CliError::Output)?;
        self.take(Input::Drawn(drawn));
        Ok(())
    }
}

fn input_of(told: &Told) -> Option<Input> {
    match told.event {
        Event::Key(event) => key(event).map(|key| Input::Key(key, told.together)),
        Event::Paste(_) => Some(Input::Paste),
        // Drawing asks the terminal for its size.
        _ => Some(Input::Tick),
    }
}

/// Hands on what the subscription tells, to its end.
async fn pump(mut events: Subscription<'_>, to: mpsc::Sender<Input>) -> Result<(), CliError> {
    loop {
        let step = events.step().await?;
        let over = step == Step::Over;
        let input = match step {
            Step::Event(event) if event.kind == "resync_required" => Some(Input::Gap),
            // An event of a later version is nothing that this one can show.
            Step::Event(event) => serde_json::from_str(&event.data).ok().map(Input::Event),
            Step::Down { cause, .. } => Some(Input::Link(Link::Down(cause))),
            Step::Up => Some(Input::Link(Link::Up)),
            Step::Over => Some(Input::Link(Link::Over)),
        };
        if let Some(input) = input
            && to.send(input).await.is_err()
        {
            return Ok(());
        }
        if over {
            return Ok(());
        }
    }
}

/// The number of the latest event.
async fn latest(client: &Client, session: Option<&str>) -> Result<u64, CliError> {
    let query = vec![("limit", "1".into())];
    let page = client.get(&events::path(session), &query, Duration::ZERO).await?;
    page.value["latest_seq"].as_u64().ok_or_else(|| client.strange("no page of events".into()))
}

/// What waits. Who may not read that list sees what the events tell.
async fn waiting(client: &Client, session: Option<&str>) -> Input {
    let mut query = vec![("status", "pending".into()), ("limit", WAITING.to_string())];
    query.extend(session.map(|session| ("session_id", session.to_owned())));
    match client.get(&["approvals"], &query, Duration::ZERO).await {
        Ok(answer) => {
            let items = client.read_as::<Vec<Approval>>(&answer.value["items"]).unwrap_or_default();
            Input::Waiting(items, answer.value["next_cursor"].is_string())
        }
        Err(_) => Input::Waiting(Vec::new(), false),
    }
}

async fn look_up(client: &Client, session: String, key: CallKey) -> Input {
    let query = key.turn.clone().map(|turn| ("turn", turn)).into_iter().collect();
    let path = ["sessions", session.as_str(), "calls", key.call_id.as_str()];
    let answer = client.get(&path, &query, Duration::ZERO).await;
    let call = answer.and_then(|answer| client.parse::<Call>(&answer));
    // Without it the call is shown without its name.
    call.map_or(Input::Tick, |call| Input::Call(Box::new(call)))
}

async fn decide(client: &Client, approval_id: String, request: DecisionRequest) -> Input {
    let path = ["approvals", approval_id.as_str(), "decision"];
    let sent = match serde_json::to_value(&request) {
        Ok(body) => client.post(&path, &Vec::new(), &body, Duration::ZERO).await,
        Err(error) => Err(client.strange(error.to_string())),
    };
    let decided = sent.and_then(|answer| client.parse::<Approval>(&answer));
    let outcome = decided.map(|approval| sentence(&request, &approval)).map_err(|error| {
        let (text, still_waits) = match &error {
            CliError::Problem(problem) => {
                let detail = if problem.detail.is_empty() { &problem.title } else { &problem.detail };
                let role =
                    if problem.code == "operator_required" { " (this token is an agent's)" } else { "" };
                (format!("not decided: {detail}{role}"), !matches!(problem.status, 404 | 409))
            }
            other => (format!("not known whether it was decided: {other}; press again"), true),
        };
        Refusal { text, still_waits }
    });
    Input::Decided { approval_id, outcome }
}

/// The signals that end a program with a terminal; Ctrl-C comes as a key.
struct Leave {
    terminate: Signal,
    interrupt: Signal,
    hang_up: Signal,
}

impl Leave {
    fn catch() -> std::io::Result<Self> {
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            hang_up: signal(SignalKind::hangup())?,
        })
    }

    async fn told(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
            _ = self.hang_up.recv() => {}
        }
    }
}
