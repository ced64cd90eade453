//! An explanation as it is printed: in lines for a person, as one JSON document for a program.

use std::fmt::Write as _;

use serde_json::{Map, Value, json};

use crate::cli::color::{Paint, Tone};
use crate::config::LoadedConfig;
use crate::domain::explanation::{DecidedBy, Explanation, MatchedRule, Verdict};
use crate::domain::visible;

/// What is told of one call.
pub(super) struct Told<'a> {
    /// The call, as it was written.
    pub(super) call: &'a str,
    /// What came of it.
    pub(super) explanation: Explanation,
    /// The config file that it was judged by, to name lines.
    pub(super) file: Option<&'a LoadedConfig>,
}

impl Told<'_> {
    fn line_of(&self, source: Option<&String>) -> Option<usize> {
        self.file?.problem(source?, "").line
    }

    /// `config.json:12`, where the rule stands in a file.
    fn place_of(&self, source: Option<&String>) -> Option<String> {
        let line = self.line_of(source)?;
        let path = self.file?.path.as_ref()?;
        Some(format!("{}:{line}", path.display()))
    }

    /// In lines, each with a word for what it says.
    pub(super) fn text(&self, paint: Paint) -> String {
        let told = &self.explanation;
        let decision = told.decision.as_str();
        let mut text = format!(
            "{} {}\n",
            paint.status(decision, &format!("{decision:<10}")),
            visible::one_line(self.call)
        );
        let mut field = |name: &str, value: &str| {
            let name = paint.tone(Tone::Quiet, &format!("{name:<10}"));
            let _ = writeln!(text, "{name} {}", visible::again(value));
        };
        field("because", &told.reason.text);
        if let Some(place) = self.place_of(told.reason.source.as_ref()) {
            field("at", &place);
        }
        for leaf in told.leaves.iter().flatten() {
            field("runs", leaf);
        }
        for rule in &told.matched {
            field("matched", &self.matched(rule));
        }
        match (told.decision, told.would_allow.as_slice()) {
            (Verdict::Allow, _) => {}
            (_, []) => field("allowed by", no_rule(told)),
            (_, rules) => rules.iter().for_each(|rule| field("allowed by", rule)),
        }
        field("class", told.class.as_str());
        let bypass = if told.bypass { ", bypass" } else { "" };
        field("mode", &format!("{}{bypass}", told.mode.as_str()));
        field("workspace", &told.workspace);
        if told.cwd != told.workspace {
            field("directory", &told.cwd);
        }
        text
    }

    fn matched(&self, rule: &MatchedRule) -> String {
        let MatchedRule { list, rule, source, leaf } = rule;
        let place = self.place_of(source.as_ref()).or_else(|| source.clone());
        let place = place.map(|place| format!(" ({place})")).unwrap_or_default();
        let several = self.explanation.leaves.as_ref().is_some_and(|leaves| leaves.len() > 1);
        let leaf = leaf.as_ref().filter(|_| several);
        let leaf = leaf.map(|leaf| format!(" for `{leaf}`")).unwrap_or_default();
        format!("{} `{rule}`{place}{leaf}", list.as_str())
    }

    /// As the server answers, with the call, and with lines where there is a file; `more` is what only a server
    /// knows.
    pub(super) fn json(&self, more: Map<String, Value>) -> Value {
        let mut told = json!(self.explanation);
        told["call"] = json!(self.call);
        if self.file.is_some() {
            told["reason"]["line"] = json!(self.line_of(self.explanation.reason.source.as_ref()));
            for (index, rule) in self.explanation.matched.iter().enumerate() {
                told["matched"][index]["line"] = json!(self.line_of(rule.source.as_ref()));
            }
        }
        if let Some(map) = told.as_object_mut() {
            map.extend(more);
        }
        told
    }
}

/// Why no rule can be named that would allow the call.
fn no_rule(told: &Explanation) -> &'static str {
    match (told.decision, told.reason.by) {
        (Verdict::Ask, _) if told.forced => "no rule: it is asked about in every session",
        (Verdict::Ask, DecidedBy::Rule) => "no rule, while this one asks",
        (Verdict::Deny, DecidedBy::Rule | DecidedBy::Protection) => "no rule: what is denied stays denied",
        (Verdict::Deny, DecidedBy::Mode) => "no rule: the mode comes first",
        _ => "no rule that could be offered",
    }
}
