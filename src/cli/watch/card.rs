//! One call as the screen shows it: how it stands, since when, and the end of its output.

use std::collections::VecDeque;
use std::time::Duration;

use crate::domain::about;
use crate::domain::clock::Timestamp;
use crate::domain::event::AgentEvent;
use crate::domain::identity::CallKey;
use crate::domain::visible;

/// The most output of a call that is kept, in bytes: its end. The server has the rest.
const OUTPUT_MAX: usize = 32 * 1024;
/// The most characters of a call's arguments in the list.
const SUMMARY_MAX: usize = 200;

/// How a call stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stand {
    /// It was accepted, or runs: the events do not tell which.
    Running,
    /// It waits for an approval.
    Approval,
    /// It waits for an answer.
    Answer,
    /// It goes on in the background.
    Background,
    /// It has a result that says it went well.
    Done,
    /// It has another result, or failed.
    Failed,
    /// It was refused.
    Denied,
    /// It was cancelled.
    Cancelled,
    /// The server ended while it ran.
    Interrupted,
}

impl Stand {
    /// One word for it.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Approval => "approve?",
            Self::Answer => "answer?",
            Self::Background => "background",
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Denied => "denied",
            Self::Cancelled => "cancelled",
            Self::Interrupted => "interrupted",
        }
    }

    /// Whether it has no answer yet.
    pub(super) fn is_open(self) -> bool {
        matches!(self, Self::Running | Self::Approval | Self::Answer)
    }
}

/// A call.
#[derive(Debug)]
pub(super) struct Card {
    pub(super) session: String,
    pub(super) key: CallKey,
    pub(super) tool: String,
    /// Its arguments on one line, escaped.
    pub(super) summary: String,
    pub(super) stand: Stand,
    began: Option<Timestamp>,
    ended: Option<Timestamp>,
    output: VecDeque<u8>,
    cut: bool,
}

impl Card {
    /// A call that was heard of at this time.
    pub(super) fn new(session: &str, key: CallKey, began: Option<Timestamp>) -> Self {
        Self {
            session: session.to_owned(),
            key,
            tool: "?".into(),
            summary: String::new(),
            stand: Stand::Running,
            began,
            ended: None,
            output: VecDeque::new(),
            cut: false,
        }
    }

    /// What is called.
    pub(super) fn describe(&mut self, tool: &str, arguments: &serde_json::Value) {
        self.tool = visible::clipped(tool, SUMMARY_MAX);
        let summary = visible::clipped(&about::in_short(arguments), SUMMARY_MAX);
        self.summary = visible::left_to_right(&summary).into_owned();
    }

    /// When it really began.
    pub(super) fn begin(&mut self, time: Timestamp) {
        self.began = Some(time);
    }

    /// Takes what happened to it.
    pub(super) fn apply(&mut self, event: &AgentEvent, time: Timestamp) {
        let ending = match event {
            AgentEvent::ToolStart { tool_name, arguments, .. } => {
                self.describe(tool_name, arguments);
                self.began = Some(time);
                return;
            }
            AgentEvent::ToolToken { content, .. } => return self.print(content),
            AgentEvent::ToolProgress { message, .. } => {
                if let Some(message) = message {
                    self.print(&format!("{message}\n"));
                }
                return;
            }
            AgentEvent::ToolApprovalRequested { .. } => {
                self.stand = Stand::Approval;
                return;
            }
            AgentEvent::NeedClarification { question, options, .. } => {
                self.stand = Stand::Answer;
                return self.print(&format!("{question}\n{}\n", options.join(" | ")));
            }
            AgentEvent::ToolApprovalResolved { .. } | AgentEvent::ClarificationAnswered { .. } => {
                self.stand = Stand::Running;
                return;
            }
            AgentEvent::ToolComplete { result, .. } => {
                if self.output.is_empty() {
                    self.print(&result.result);
                }
                if result.success { Stand::Done } else { Stand::Failed }
            }
            AgentEvent::ToolError { error, .. } => self.end_with(error, Stand::Failed),
            AgentEvent::ToolDenied { message, .. } => self.end_with(message, Stand::Denied),
            AgentEvent::ToolCancelled { reason, .. } => self.end_with(reason, Stand::Cancelled),
            AgentEvent::ToolInterrupted { reason, .. } => self.end_with(reason, Stand::Interrupted),
            AgentEvent::ToolBackgrounded { .. } => Stand::Background,
            AgentEvent::BashCompleted { status, .. } if self.stand == Stand::Background => {
                if status == "exited" { Stand::Done } else { Stand::Failed }
            }
            _ => return,
        };
        self.stand = ending;
        self.ended = if ending == Stand::Background { None } else { Some(time) };
    }

    fn end_with(&mut self, text: &str, stand: Stand) -> Stand {
        self.print(&format!("{text}\n"));
        stand
    }

    fn print(&mut self, text: &str) {
        let bytes = text.as_bytes();
        let kept = &bytes[bytes.len().saturating_sub(OUTPUT_MAX)..];
        let over = (self.output.len() + kept.len()).saturating_sub(OUTPUT_MAX);
        self.cut |= over > 0 || kept.len() < bytes.len();
        self.output.drain(..over);
        self.output.extend(kept);
    }

    /// How long it took, or takes until now; a clock that differs from the server's never makes it less
    /// than nothing.
    pub(super) fn elapsed(&self, now: Timestamp) -> Option<Duration> {
        let from = self.began?;
        let until = self.ended.unwrap_or(now);
        Some(Duration::try_from(until.duration_since(from)).unwrap_or_default())
    }

    /// The last lines of its output, escaped; a carriage return ends a line too, since progress bars end
    /// theirs so. `back` leaves that many of the last ones out.
    pub(super) fn output(&self, lines: usize, back: usize) -> Vec<String> {
        let bytes: Vec<u8> = self.output.iter().copied().collect();
        let text = String::from_utf8_lossy(&bytes);
        let text = text.trim_end_matches('\n').replace("\r\n", "\n");
        if text.is_empty() {
            return Vec::new();
        }
        let mut all: Vec<&str> = text.split(['\n', '\r']).collect();
        if self.cut {
            all[0] = "… what came before is not kept here";
        }
        let end = all.len() - back.min(all.len() - 1);
        let start = end.saturating_sub(lines);
        all[start..end].iter().map(|line| visible::one_line(&line.replace('\t', "    "))).collect()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn card() -> Card {
        Card::new("s", CallKey { turn: None, call_id: "c".into() }, None)
    }

    #[test]
    fn output_is_bounded_and_escaped() {
        let mut card = card();
        card.print("one\ttab\n\u{1b}[2Jtwo\rthree\r\nfour");
        assert_eq!(card.output(10, 0), ["one    tab", "\\u{1b}[2Jtwo", "three", "four"]);
        assert_eq!(card.output(2, 0), ["three", "four"]);
        assert_eq!(card.output(2, 1), ["\\u{1b}[2Jtwo", "three"]);
        assert_eq!(card.output(2, 99), ["one    tab"]);
        card.print(&"x".repeat(3 * OUTPUT_MAX));
        assert_eq!(card.output.len(), OUTPUT_MAX);
        card.print(&format!("\n{}", "é\n".repeat(OUTPUT_MAX)));
        assert_eq!(card.output.len(), OUTPUT_MAX);
        let lines = card.output(usize::MAX, 0);
        assert!(lines[0].starts_with("… what came before"), "{}", lines[0]);
        assert!(lines[1..].iter().all(|line| line == "é"));
    }

    #[test]
    fn time_runs_until_the_end_and_never_backwards() {
        let at = |second: i64| Timestamp::from_second(second).unwrap();
        let mut card = card();
        assert_eq!(card.elapsed(at(5)), None);
        let call = || (&card_key()).into();
        card.apply(
            &AgentEvent::ToolStart { call: call(), tool_name: "Bash".into(), arguments: json!({}) },
            at(10),
        );
        assert_eq!(card.elapsed(at(13)), Some(Duration::from_secs(3)));
        assert_eq!(card.elapsed(at(7)), Some(Duration::ZERO));
        card.apply(&AgentEvent::ToolCancelled { call: call(), reason: "x".into() }, at(12));
        assert_eq!(card.elapsed(at(99)), Some(Duration::from_secs(2)));
        assert_eq!((card.stand, card.output(9, 0)), (Stand::Cancelled, vec!["x".to_owned()]));
    }

    fn card_key() -> CallKey {
        CallKey { turn: None, call_id: "c".into() }
    }
}
