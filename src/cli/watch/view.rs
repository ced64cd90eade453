//! What is to be seen: the state put into words for one moment. Drawing knows nothing else.

use std::time::Duration;

use crate::cli::color::Tone;
use crate::domain::approval::Scope;
use crate::domain::visible;

use super::card::{Card, Stand};
use super::fold;
use super::pending::{Pending, Row};
use super::state::{Link, Mode, Moment, State};

/// The most characters of an id or name.
const NAME_MAX: usize = 40;

/// The whole screen.
#[derive(Debug)]
pub(super) struct View<'a> {
    /// The first line, in parts.
    pub(super) header: Vec<(Tone, String)>,
    /// Calls, the latest first.
    pub(super) calls: Vec<CallLine>,
    /// The approval to be decided.
    pub(super) approval: Option<ApprovalView<'a>>,
    /// The call whose output is shown.
    pub(super) output: Option<OutputView<'a>>,
    /// The last lines.
    pub(super) bottom: Vec<(Tone, String)>,
    /// The list of keys lies over everything.
    pub(super) help: bool,
}

/// A call in one line.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct CallLine {
    pub(super) stand: Stand,
    pub(super) elapsed: String,
    pub(super) name: String,
    pub(super) summary: String,
    pub(super) selected: bool,
}

/// An approval.
#[derive(Debug)]
pub(super) struct ApprovalView<'a> {
    pub(super) title: String,
    pub(super) rows: &'a [Row],
    pub(super) generation: u64,
    pub(super) scroll: usize,
    /// The keys that decide it, and whether they do at present.
    pub(super) keys: String,
    pub(super) ready: bool,
}

/// A call's output.
#[derive(Debug)]
pub(super) struct OutputView<'a> {
    pub(super) title: String,
    pub(super) card: &'a Card,
    pub(super) back: usize,
}

/// The keys, for who asks.
pub(super) const HELP: &[&str] = &[
    "a        allow once                    d        deny",
    "i        decide all that ask exactly the same, one by one",
    "s        allow for the session         m        deny, with a message to the model",
    "A        allow always                  n p      another approval",
    "",
    "space b  a page on, a page back        End G    to the end",
    "j k      an older call, a newer one    f Esc    follow the latest call",
    "?        these keys                    q        leave",
    "",
    "A key decides what has stood here for a moment, and allows what was shown to its end.",
    "Edited arguments: toolgate approve ID --arguments JSON",
];

/// The view at a moment.
pub(super) fn view<'a>(state: &'a State, address: &str, at: Moment) -> View<'a> {
    let focus = state.focus();
    let mut calls: Vec<CallLine> = state
        .cards
        .iter()
        .enumerate()
        .map(|(index, card)| CallLine {
            stand: card.stand,
            elapsed: card.elapsed(at.wall).map(clock).unwrap_or_default(),
            name: name(card),
            summary: card.summary.clone(),
            selected: focus == Some(index),
        })
        .collect();
    calls.reverse();
    View {
        header: header(state, address),
        calls,
        approval: state.shown().map(|pending| approval(state, pending, at)),
        output: focus.map(|index| output(state, &state.cards[index])),
        bottom: bottom(state, at),
        help: state.mode == Mode::Help,
    }
}

fn header(state: &State, address: &str) -> Vec<(Tone, String)> {
    let running = state.cards.iter().filter(|card| card.stand == Stand::Running).count();
    let asked = state.cards.iter().filter(|card| card.stand == Stand::Answer).count();
    let more = if state.more_waiting { "+" } else { "" };
    // What matters most comes first: a narrow terminal cuts the end.
    let mut parts = vec![(Tone::Strong, "toolgate".to_owned())];
    parts.push(match &state.link {
        Link::Up => (Tone::Good, "connected".into()),
        Link::Down(cause) => (Tone::Bad, format!("DISCONNECTED: {}", visible::clipped(cause, 80))),
        Link::Over => (Tone::Quiet, "the session has ended".into()),
    });
    let waiting = if state.pending.is_empty() { Tone::Quiet } else { Tone::Attention };
    parts.push((waiting, format!("{}{more} wait for approval", state.pending.len())));
    parts.push((Tone::Quiet, format!("{running} run")));
    if asked > 0 {
        parts.push((Tone::Attention, format!("{asked} ask: toolgate answer SESSION CALL")));
    }
    parts.push((Tone::Quiet, visible::one_line(address)));
    parts
}

fn name(card: &Card) -> String {
    let turn = card.key.turn.as_ref().map(|turn| format!("{}/", visible::clipped(turn, NAME_MAX)));
    let session = visible::clipped(&card.session, NAME_MAX);
    let call = visible::clipped(&card.key.call_id, NAME_MAX);
    let name = format!("{session} {}{call} {}", turn.unwrap_or_default(), card.tool);
    visible::left_to_right(&name).into_owned()
}

fn approval<'a>(state: &'a State, pending: &'a Pending, at: Moment) -> ApprovalView<'a> {
    let approval = &pending.approval;
    let since = Duration::try_from(at.wall.duration_since(approval.created_at)).unwrap_or_default();
    let (place, count) = fold::place(&state.pending, state.shown_index());
    let (identical, all) = state.identical();
    let same = match (identical, all) {
        (0 | 1, _) => String::new(),
        (n, None) => format!(" · {n} the same"),
        (n, Some(all)) if n == all => format!(" · ALL {n} the same"),
        (n, Some(all)) => format!(" · {all} OF {n} the same"),
    };
    let title = format!(
        "{} of {}{same} · {} · {} · since {}",
        place + 1,
        count,
        visible::clipped(&approval.session_id, NAME_MAX),
        visible::clipped(&approval.call.call_id, NAME_MAX),
        clock(since)
    );
    let mut keys = "a once".to_owned();
    for (scope, text) in [(Scope::Session, "  s session"), (Scope::Always, "  A always")] {
        if !pending.patterns(scope).is_empty() {
            keys.push_str(text);
        }
    }
    keys.push_str("  d deny  m deny with a message");
    if identical > 1 {
        keys.push_str(if all.is_some() { "  i only this one" } else { "  i all the same" });
    }
    if pending.deciding {
        keys = "deciding …".into();
    } else if state.has_more_below() {
        keys = "space or End: more below, then it can be allowed  d deny  m deny with a message".into();
    }
    ApprovalView {
        title: visible::left_to_right(&title).into_owned(),
        rows: &pending.rows,
        generation: state.guard.generation(),
        scroll: state.scroll,
        keys,
        ready: !pending.deciding && state.guard.may_allow(at.up).is_ok(),
    }
}

fn output<'a>(state: &State, card: &'a Card) -> OutputView<'a> {
    let how = if state.is_selected() { "selected, f follows" } else { "latest" };
    let back = if state.output_back > 0 { ", scrolled back" } else { "" };
    OutputView { title: format!("{} ({how}{back})", name(card)), card, back: state.output_back }
}

fn bottom(state: &State, at: Moment) -> Vec<(Tone, String)> {
    match &state.mode {
        Mode::Message(text) => {
            // The end of what is written matters while it is written.
            let text: Vec<char> = visible::one_line(text).chars().collect();
            let end: String = text[text.len().saturating_sub(60)..].iter().collect();
            vec![(Tone::Strong, format!("deny, and tell the model: {end}▏ (Enter sends, Esc leaves it)"))]
        }
        Mode::Lost => vec![(
            Tone::Attention,
            "the approval that you were writing about no longer waits: Esc goes on".into(),
        )],
        Mode::Choose(scope) => {
            let scope_name = if *scope == Scope::Session { "for the session" } else { "always" };
            let patterns = state.shown().map(|pending| pending.patterns(*scope)).unwrap_or_default();
            let mut lines = vec![(Tone::Strong, format!("allow {scope_name}: which rule? (Esc leaves it)"))];
            let choices = patterns.iter().take(9).enumerate();
            lines.extend(
                choices.map(|(i, p)| (Tone::Strong, format!("  {} {}", i + 1, visible::one_line(p)))),
            );
            lines
        }
        Mode::Normal | Mode::Help => vec![match state.remark(at.up) {
            Some(remark) => (Tone::Attention, remark.to_owned()),
            None => (Tone::Quiet, "? keys  j k calls  q leave".into()),
        }],
    }
}

/// A span of time as a person reads it at a glance.
fn clock(time: Duration) -> String {
    let seconds = time.as_secs();
    match (seconds / 3600, seconds / 60 % 60, seconds % 60) {
        (0, 0, _) if time.as_millis() < 10_000 => format!("{:.1}s", time.as_secs_f64()),
        (0, 0, s) => format!("{s}s"),
        (0, m, s) => format!("{m}:{s:02}"),
        (h, m, s) => format!("{h}:{m:02}:{s:02}"),
    }
}
