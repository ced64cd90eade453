//! What the screen knows: events, keys and time in, a view and orders out. It does nothing itself.

use std::collections::VecDeque;
use std::time::Duration;

use crate::domain::approval::{Approval, Choice, DecisionRequest, Scope};
use crate::domain::call::Call;
use crate::domain::clock::Timestamp;
use crate::domain::event::{AgentEvent, LoggedEvent};
use crate::domain::identity::CallKey;
use crate::domain::visible;

use super::card::{Card, Stand};
use super::fold;
use super::guard::{GAP, Guard, NotYet};
use super::keys::Key;
use super::pending::{Pending, request};

/// The most calls that are shown; of more, those that ended first are left out.
const CARDS_MAX: usize = 500;
/// The most approvals that are kept here; of more, the later ones are fetched when these are decided.
const PENDING_MAX: usize = 256;
/// How many approvals that no longer wait are remembered, so that a list read before does not bring
/// them back.
const RESOLVED_MAX: usize = 512;
/// The longest message to a model, in characters.
const MESSAGE_MAX: usize = 2000;
/// How long a remark stays.
const REMARK: Duration = Duration::from_secs(6);

/// When something comes in.
#[derive(Debug, Clone, Copy)]
pub(super) struct Moment {
    /// Since the program began; it never goes back.
    pub(super) up: Duration,
    /// The time of day.
    pub(super) wall: Timestamp,
}

/// What comes in.
#[derive(Debug)]
pub(super) enum Input {
    /// Something happened.
    Event(Box<LoggedEvent>),
    /// A call that was looked up.
    Call(Box<Call>),
    /// Events were lost: what waits is read anew.
    Gap,
    /// What waits, as the server lists it; whether there is more.
    Waiting(Vec<Approval>, bool),
    /// How the connection is.
    Link(Link),
    /// A key; whether others came with it, as they do when text is pasted.
    Key(Key, bool),
    /// Text was pasted.
    Paste,
    /// The screen was drawn.
    Drawn(Drawn),
    /// What became of a decision.
    Decided {
        approval_id: String,
        /// In words; an error says whether the approval still waits.
        outcome: Result<String, Refusal>,
    },
    /// Time went by.
    Tick,
}

/// Why a decision was not taken.
#[derive(Debug)]
pub(super) struct Refusal {
    /// In words.
    pub(super) text: String,
    /// Whether the approval may still be decided.
    pub(super) still_waits: bool,
}

/// What was drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Drawn {
    /// The approval that is on the screen, and whether its last line is.
    pub(super) approval: Option<(u64, bool)>,
    /// How far the approval can be scrolled, in rows.
    pub(super) scroll_max: usize,
    /// Rows of a page.
    pub(super) page: usize,
}

/// How the connection is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Link {
    /// It is there.
    Up,
    /// It is not: why.
    Down(String),
    /// The session is over.
    Over,
}

/// What has to be done.
#[derive(Debug, PartialEq)]
pub(super) enum Order {
    /// Send a decision.
    Decide { approval_id: String, request: DecisionRequest },
    /// Read the list of what waits.
    Refresh,
    /// Read a call that was heard of after it began.
    LookUp(String, CallKey),
    /// Leave.
    Quit,
}

/// What the keys mean at present.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Mode {
    /// Moving and deciding.
    Normal,
    /// The list of keys is shown.
    Help,
    /// A message for a refusal is being written.
    Message(String),
    /// One of several rules is to be chosen.
    Choose(Scope),
    /// The approval that a message was being written for is gone: what is typed on is not meant for the
    /// next one.
    Lost,
}

/// All of it.
#[derive(Debug)]
pub(super) struct State {
    pub(super) cards: VecDeque<Card>,
    pub(super) pending: Vec<Pending>,
    pub(super) more_waiting: bool,
    resolved: VecDeque<String>,
    /// The approval on the screen.
    shown: Option<String>,
    pub(super) guard: Guard,
    /// How far the approval is scrolled, in rows.
    pub(super) scroll: usize,
    /// The call whose output is shown; none: the latest that is open.
    selected: Option<(String, CallKey)>,
    /// How many of the output's last lines are scrolled away.
    pub(super) output_back: usize,
    pub(super) link: Link,
    pub(super) mode: Mode,
    remark: Option<(String, Duration)>,
    drawn: Drawn,
    last: Duration,
    /// The next decision is on all of these, which ask the same: those that were there when all were asked for.
    all: Option<Vec<String>>,
    /// What is still to be decided so, one by one.
    rest: VecDeque<(String, DecisionRequest)>,
}

impl State {
    /// Nothing is known yet.
    pub(super) fn new() -> Self {
        Self {
            cards: VecDeque::new(),
            pending: Vec::new(),
            more_waiting: false,
            resolved: VecDeque::new(),
            shown: None,
            guard: Guard::default(),
            scroll: 0,
            selected: None,
            output_back: 0,
            link: Link::Up,
            mode: Mode::Normal,
            remark: None,
            drawn: Drawn::default(),
            last: Duration::ZERO,
            all: None,
            rest: VecDeque::new(),
        }
    }

    /// Takes what came in; what has to be done about it.
    pub(super) fn apply(&mut self, input: Input, at: Moment) -> Option<Order> {
        if at.up.saturating_sub(self.last) > GAP {
            self.guard.looked_away();
        }
        self.last = at.up;
        match input {
            Input::Event(event) => return self.event(&event),
            Input::Call(call) => {
                if let Some(index) = self.position(&call.session_id, &call.key) {
                    self.cards[index].describe(&call.tool_name, &call.arguments);
                    self.cards[index].begin(call.started_at.unwrap_or(call.created_at));
                }
            }
            Input::Gap => return Some(Order::Refresh),
            Input::Waiting(approvals, more) => {
                self.more_waiting = more;
                for approval in approvals {
                    self.wait_for(approval);
                }
            }
            Input::Link(link) => self.link = link,
            Input::Key(key, together) => return self.key(key, together, at),
            Input::Paste => self.say("pasted text is ignored here", at),
            Input::Drawn(drawn) => {
                self.scroll = self.scroll.min(drawn.scroll_max);
                self.guard.drawn(drawn.approval, at.up);
                self.drawn = drawn;
            }
            Input::Decided { approval_id, outcome } => return self.decided(&approval_id, outcome, at),
            Input::Tick => {}
        }
        None
    }

    /// The approval on the screen.
    pub(super) fn shown(&self) -> Option<&Pending> {
        let id = self.shown.as_ref()?;
        self.pending.iter().find(|pending| pending.approval.approval_id == *id)
    }

    /// Its place among those that wait, from 0.
    pub(super) fn shown_index(&self) -> usize {
        let is_shown = |pending: &Pending| Some(&pending.approval.approval_id) == self.shown.as_ref();
        self.pending.iter().position(is_shown).unwrap_or(0)
    }

    /// How many ask the same as the one that is shown, itself among them, and how many of them a key decides where that
    /// is not the one alone.
    pub(super) fn identical(&self) -> (usize, Option<usize>) {
        let group = || fold::group(&self.pending, self.shown_index()).map(|one| &one.approval.approval_id);
        (group().count(), self.all.as_ref().map(|all| group().filter(|id| all.contains(id)).count()))
    }

    /// Whether the next decision is on all that ask the same, or on the one alone again.
    fn toggle_all(&mut self) {
        let group = fold::group(&self.pending, self.shown_index());
        let group = || group.map(|one| one.approval.approval_id.clone()).collect();
        self.all = self.all.is_none().then(group);
        // How many they are has to stand on the screen for a moment, too.
        self.guard.looked_away();
    }

    /// Whether the approval goes on below what was shown of it so far.
    pub(super) fn has_more_below(&self) -> bool {
        self.drawn.scroll_max > 0 && !self.guard.seen_end()
    }

    /// The call whose output is shown: the selected one, else the latest that is open, else the latest.
    pub(super) fn focus(&self) -> Option<usize> {
        let selected = self.selected.as_ref().and_then(|(session, key)| self.position(session, key));
        if selected.is_some() {
            return selected;
        }
        let open = self.cards.iter().rposition(|card| card.stand == Stand::Running);
        open.or_else(|| self.cards.len().checked_sub(1))
    }

    /// Whether a person chose the call, so that it stays while others come.
    pub(super) fn is_selected(&self) -> bool {
        self.selected.is_some()
    }

    /// What there is to say at this time.
    pub(super) fn remark(&self, up: Duration) -> Option<&str> {
        self.remark.as_ref().filter(|(_, until)| up < *until).map(|(text, _)| text.as_str())
    }

    fn say(&mut self, text: &str, at: Moment) {
        self.remark = Some((visible::clipped(text, 300), at.up + REMARK));
    }

    fn event(&mut self, logged: &LoggedEvent) -> Option<Order> {
        let time = logged.time;
        match &logged.event {
            AgentEvent::ToolApprovalRequested { approval, .. } => self.wait_for((**approval).clone()),
            AgentEvent::ToolApprovalResolved { approval_id, .. } => self.resolve(approval_id),
            AgentEvent::SessionEnded {} => {
                // A worker's session is none of this server's, whatever it is called.
                let of_it = |pending: &&Pending| {
                    pending.approval.worker.is_none()
                        && Some(&pending.approval.session_id) == logged.session_id.as_ref()
                };
                let over: Vec<_> =
                    self.pending.iter().filter(of_it).map(|p| p.approval.approval_id.clone()).collect();
                for id in &over {
                    self.resolve(id);
                }
            }
            _ => {}
        }
        let (session, key) = (logged.session_id.as_ref()?, logged.event.call()?);
        let heard_of = self.position(session, &key).is_some();
        self.card(session, &key, time).apply(&logged.event, time);
        let begins = matches!(logged.event, AgentEvent::ToolStart { .. });
        (!heard_of && !begins).then(|| Order::LookUp(session.clone(), key))
    }

    fn position(&self, session: &str, key: &CallKey) -> Option<usize> {
        self.cards.iter().rposition(|card| card.key == *key && card.session == session)
    }

    fn card(&mut self, session: &str, key: &CallKey, time: Timestamp) -> &mut Card {
        let index = self.position(session, key).unwrap_or_else(|| {
            if self.cards.len() >= CARDS_MAX {
                let over = self.cards.iter().position(|card| !card.stand.is_open()).unwrap_or(0);
                self.cards.remove(over);
            }
            self.cards.push_back(Card::new(session, key.clone(), Some(time)));
            self.cards.len() - 1
        });
        &mut self.cards[index]
    }

    fn wait_for(&mut self, approval: Approval) {
        let id = &approval.approval_id;
        let known = self.pending.iter().any(|pending| pending.approval.approval_id == *id);
        if known || self.resolved.contains(id) {
            return;
        }
        if self.pending.len() >= PENDING_MAX {
            self.more_waiting = true;
            return;
        }
        // What becomes of a worker's call is not told here.
        if approval.worker.is_none() {
            let (session, key) = (approval.session_id.clone(), approval.call.clone());
            let card = self.card(&session, &key, approval.created_at);
            card.describe(&approval.tool_name, &approval.arguments);
            card.stand = Stand::Approval;
        }
        self.pending.push(Pending::new(approval));
        if self.shown.is_none() {
            self.show(0);
        }
    }

    /// It no longer waits: the next one takes its place, under a number of its own.
    fn resolve(&mut self, id: &str) {
        if self.resolved.len() >= RESOLVED_MAX {
            self.resolved.pop_front();
        }
        self.resolved.push_back(id.to_owned());
        let Some(index) = self.pending.iter().position(|p| p.approval.approval_id == id) else { return };
        self.pending.remove(index);
        if self.shown.as_deref() == Some(id) {
            self.show(index.min(self.pending.len().saturating_sub(1)));
        }
    }

    fn show(&mut self, index: usize) {
        self.shown = self.pending.get(index).map(|pending| pending.approval.approval_id.clone());
        (self.scroll, self.all) = (0, None);
        self.drawn = Drawn::default();
        self.guard.change();
        self.mode = match std::mem::replace(&mut self.mode, Mode::Normal) {
            Mode::Help => Mode::Help,
            Mode::Message(_) | Mode::Lost => Mode::Lost,
            Mode::Normal | Mode::Choose(_) => Mode::Normal,
        };
    }

    fn decided(&mut self, id: &str, outcome: Result<String, Refusal>, at: Moment) -> Option<Order> {
        let still_waits = matches!(&outcome, Err(refusal) if refusal.still_waits);
        match outcome {
            Ok(text) => self.say(&text, at),
            Err(refusal) => {
                self.say(&refusal.text, at);
                self.leave_rest();
            }
        }
        if let Some(pending) = self.pending.iter_mut().find(|p| p.approval.approval_id == id) {
            pending.deciding = false;
        }
        if !still_waits {
            self.resolve(id);
        }
        while let Some((approval_id, request)) = self.rest.pop_front() {
            if self.pending.iter().any(|pending| pending.approval.approval_id == approval_id) {
                return Some(Order::Decide { approval_id, request });
            }
        }
        (self.more_waiting && self.pending.is_empty()).then_some(Order::Refresh)
    }

    /// What was to be decided with one that was refused waits on.
    fn leave_rest(&mut self) {
        for (id, _) in self.rest.drain(..) {
            if let Some(pending) = self.pending.iter_mut().find(|p| p.approval.approval_id == id) {
                pending.deciding = false;
            }
        }
    }

    fn key(&mut self, key: Key, together: bool, at: Moment) -> Option<Order> {
        if key == Key::Interrupt {
            return Some(Order::Quit);
        }
        match self.mode.clone() {
            Mode::Help => {
                self.mode = Mode::Normal;
                None
            }
            Mode::Lost => {
                if key == Key::Escape {
                    self.mode = Mode::Normal;
                    self.guard.looked_away();
                }
                None
            }
            Mode::Message(_) if key == Key::Enter && together => None,
            Mode::Message(text) => self.message_key(text, key, at),
            Mode::Choose(scope) => self.choice_key(scope, key, together, at),
            Mode::Normal => self.normal_key(key, together, at),
        }
    }

    fn normal_key(&mut self, key: Key, together: bool, at: Moment) -> Option<Order> {
        match key {
            Key::Char('q') => return Some(Order::Quit),
            Key::Char('?' | 'h') => self.mode = Mode::Help,
            Key::Char('a' | 's' | 'A' | 'd' | 'm') if together => {
                self.say("several keys came at once: none of them decides", at);
            }
            Key::Char('a') => return self.allow(Scope::Once, at),
            Key::Char('s') => return self.allow(Scope::Session, at),
            Key::Char('A') => return self.allow(Scope::Always, at),
            Key::Char('d') => return self.deny(None, at),
            Key::Char('m') if self.ready(Choice::Deny, at) => self.mode = Mode::Message(String::new()),
            Key::Char('i') if self.identical().0 > 1 => self.toggle_all(),
            Key::Right | Key::Char('n') => self.turn_to(1),
            Key::Left | Key::Char('p') => self.turn_to(-1),
            Key::Down | Key::Char('j') => self.select(-1),
            Key::Up | Key::Char('k') => self.select(1),
            Key::Char('f') | Key::Escape => self.follow(),
            Key::PageDown | Key::Char(' ') => self.turn_page(1),
            Key::PageUp | Key::Char('b') => self.turn_page(-1),
            Key::Home | Key::Char('g') => self.scroll = 0,
            Key::End | Key::Char('G') => {
                self.scroll = self.drawn.scroll_max;
                self.output_back = 0;
            }
            _ => {}
        }
        None
    }

    fn follow(&mut self) {
        self.selected = None;
        self.output_back = 0;
    }

    fn turn_to(&mut self, step: isize) {
        let (place, count) = fold::place(&self.pending, self.shown_index());
        if count > 1 {
            let next = (place + count).saturating_add_signed(step) % count;
            self.show(fold::firsts(&self.pending)[next]);
        }
    }

    /// To a newer call (1) or an older one (-1).
    fn select(&mut self, step: isize) {
        let Some(focus) = self.focus() else { return };
        let next = focus.saturating_add_signed(step).min(self.cards.len() - 1);
        self.selected = Some((self.cards[next].session.clone(), self.cards[next].key.clone()));
        self.output_back = 0;
    }

    fn turn_page(&mut self, direction: isize) {
        // A line stays, so that the eye finds its place.
        let rows = self.drawn.page.saturating_sub(1).max(1);
        let rows = direction.saturating_mul(isize::try_from(rows).unwrap_or(1));
        if self.shown().is_some() {
            self.scroll = self.scroll.saturating_add_signed(rows).min(self.drawn.scroll_max);
        } else {
            self.output_back = self.output_back.saturating_add_signed(-rows).min(10_000);
        }
    }

    /// Whether a key may decide on what is shown; says why not.
    fn ready(&mut self, choice: Choice, at: Moment) -> bool {
        let Some(pending) = self.shown() else {
            self.say("nothing waits for a decision", at);
            return false;
        };
        let answer = if pending.deciding {
            Err("a decision on this one is on its way")
        } else {
            let may = match choice {
                Choice::Allow => self.guard.may_allow(at.up),
                Choice::Deny => self.guard.may_deny(at.up),
            };
            may.map_err(|not_yet| match not_yet {
                NotYet::TooSoon => "this one has just come up: look at it, then press again",
                NotYet::Unread => "it goes on below: space or End shows the rest, then it can be allowed",
            })
        };
        answer.inspect_err(|why| self.say(why, at)).is_ok()
    }

    fn allow(&mut self, scope: Scope, at: Moment) -> Option<Order> {
        if !self.ready(Choice::Allow, at) {
            return None;
        }
        if scope == Scope::Once {
            return self.decide(request(Choice::Allow, scope, None, None));
        }
        let patterns: Vec<String> =
            self.shown()?.patterns(scope).into_iter().map(ToOwned::to_owned).collect();
        match patterns.as_slice() {
            [] => {
                self.say("this one can only be allowed once", at);
                None
            }
            [only] => self.decide(request(Choice::Allow, scope, Some(only.clone()), None)),
            _ => {
                self.mode = Mode::Choose(scope);
                None
            }
        }
    }

    fn choice_key(&mut self, scope: Scope, key: Key, together: bool, at: Moment) -> Option<Order> {
        let Key::Char(digit @ '1'..='9') = key else {
            self.mode = Mode::Normal;
            return None;
        };
        if together || !self.ready(Choice::Allow, at) {
            return None;
        }
        let index = usize::try_from(digit.to_digit(10)?).ok()?.checked_sub(1)?;
        let pattern = (*self.shown()?.patterns(scope).get(index)?).to_owned();
        self.mode = Mode::Normal;
        self.decide(request(Choice::Allow, scope, Some(pattern), None))
    }

    fn deny(&mut self, message: Option<String>, at: Moment) -> Option<Order> {
        if !self.ready(Choice::Deny, at) {
            return None;
        }
        self.decide(request(Choice::Deny, Scope::Once, None, message))
    }

    fn message_key(&mut self, mut text: String, key: Key, at: Moment) -> Option<Order> {
        match key {
            Key::Escape => self.mode = Mode::Normal,
            Key::Enter => {
                self.mode = Mode::Normal;
                let message = Some(text.trim().to_owned()).filter(|text| !text.is_empty());
                return self.deny(message, at);
            }
            Key::Backspace => {
                text.pop();
                self.mode = Mode::Message(text);
            }
            Key::Char(c) if text.chars().count() < MESSAGE_MAX => {
                text.push(c);
                self.mode = Mode::Message(text);
            }
            _ => {}
        }
        None
    }

    fn decide(&mut self, request: DecisionRequest) -> Option<Order> {
        let id = self.shown.clone()?;
        let pending = self.pending.iter_mut().find(|pending| pending.approval.approval_id == id)?;
        pending.deciding = true;
        if let Some(all) = &self.all {
            // The rule is granted by the first; the others just run.
            let rest = DecisionRequest { scope: Scope::Once, pattern: None, ..request.clone() };
            let others = fold::group(&self.pending, self.shown_index());
            let others = others.filter(|other| !other.deciding).map(|other| &other.approval.approval_id);
            let others = others.filter(|other| all.contains(other));
            // Those of a group before may still be on their way.
            self.rest.extend(others.map(|other| (other.clone(), rest.clone())));
            for pending in &mut self.pending {
                pending.deciding |= self.rest.iter().any(|(id, _)| *id == pending.approval.approval_id);
            }
        }
        Some(Order::Decide { approval_id: id, request })
    }
}

#[cfg(test)]
#[path = "state_tests.rs"]
mod tests;
