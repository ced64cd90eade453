//! What an agent asks people for beyond one call: rules for its session, and the end of planning.

use super::offer::{may_be_granted, why_not_offered};
use super::policy::{Circumstances, Policy};
use super::rule::{Guard, Rule, Spec, ToolPattern};
use super::subject::{Access, Class, OnDisk, PathOf, Place, Subject, SubjectPath};
use super::verdict::{By, Decision};
use super::{example, grant};
use crate::domain::session::PermissionMode;
use crate::domain::visible;

/// The most characters of one rule in an error.
const RULE_MAX: usize = 200;

/// Something that a call asks people for and that outlasts it. It is always put to a person, and
/// what the person allows is done in the step that ends the call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Petition {
    /// Rules to be granted for the session.
    Rules {
        /// In the language of the rules.
        rules: Vec<String>,
        /// Why, in the agent's words.
        claim: String,
    },
    /// That the session no longer only plans.
    EndOfPlan {
        /// What the agent would do, in its own words.
        plan: String,
    },
}

impl Petition {
    /// Why a person is asked; the agent's own words stand elsewhere, marked as such.
    pub(super) fn reason(&self, place: &Place) -> String {
        match self {
            Self::Rules { rules, .. } => {
                let is_command = |rule: &String| Rule::parse(rule).is_ok_and(|rule| rule.is_command());
                let within = grant::directory_name(&place.cwd, &place.workspace)
                    .filter(|_| rules.iter().any(is_command))
                    .map(|directory| format!(" (of commands: for those that start in `{directory}`)"))
                    .unwrap_or_default();
                format!("the agent asks to be granted these rules for the session{within}")
            }
            Self::EndOfPlan { .. } => {
                "the agent has finished planning; allowed, the session's mode becomes default".to_owned()
            }
        }
    }

    /// What is asked for, for a person to look at before it is made safe to show.
    pub(super) fn display(&self) -> String {
        match self {
            Self::Rules { rules, .. } => format!("grant for the session: {}", rules.join("  ")),
            Self::EndOfPlan { plan } => format!("leave plan mode with this plan: {plan}"),
        }
    }

    /// Why a session of this mode has nothing to ask for.
    pub(super) fn moot(&self, mode: PermissionMode) -> Option<String> {
        let leaves_nothing = matches!(self, Self::EndOfPlan { .. }) && mode != PermissionMode::Plan;
        leaves_nothing.then(|| {
            format!(
                "The session is not in plan mode (its mode is {}): there is no plan to leave. Go on with the task.",
                mode.as_str()
            )
        })
    }

    /// Whether a session that runs everything that is not held back has nothing to gain by it.
    pub(super) fn is_pointless_under_bypass(&self) -> bool {
        matches!(self, Self::Rules { .. })
    }

    /// What of it no person may be asked for, each with its reason; none where all is in order.
    pub(super) fn refusal(&self, policy: &Policy, place: &Place, confined: bool) -> Option<String> {
        let Self::Rules { rules, .. } = self else { return None };
        let refused: Vec<String> = rules
            .iter()
            .filter_map(|text| {
                let why = why_not(text, policy, place, confined)?;
                Some(format!("`{}`: {why}", visible::clipped(text, RULE_MAX)))
            })
            .collect();
        (!refused.is_empty()).then(|| {
            format!(
                "These rules cannot be granted, so nobody was asked: {}. A rule that can be granted names one \
                 command (`Bash(cargo test --lib)`), one file (`Edit(./src/a.rs)`), one host \
                 (`WebFetch(domain:docs.rs)`) or one tool of an MCP server. Leave the others out, or just make \
                 the call: it asks by itself.",
                refused.join("; ")
            )
        })
    }
}

/// Why a rule cannot be granted.
fn why_not(text: &str, policy: &Policy, place: &Place, confined: bool) -> Option<String> {
    let rule = match Rule::parse(text) {
        Ok(rule) => rule,
        Err(error) => return Some(format!("it is no rule: {error}")),
    };
    if visible::one_line(text) != text {
        return Some(
            "a person cannot see it as it is: it has invisible characters or long padding".to_owned(),
        );
    }
    // Written otherwise, a person might take it for another host.
    if let Some(spelt) = rule.spelt_out().filter(|spelt| spelt != text) {
        return Some(format!("write the host as it is connected to: `{spelt}`"));
    }
    if let Some(reason) = held_back(&rule, policy, place) {
        return Some(reason);
    }
    if !may_be_granted(&rule, confined) {
        return Some(why_not_offered(&rule).to_owned());
    }
    let nowhere = rule.is_command() && grant::directory_name(&place.cwd, &place.workspace).is_none();
    nowhere.then(|| {
        "a command is granted for the directory of the workspace that it is asked for in, and the session is in none \
         that a person could see as it is"
            .to_owned()
    })
}

/// What would deny or ask for the call that the rule names, whatever were granted.
fn held_back(rule: &Rule, policy: &Policy, place: &Place) -> Option<String> {
    let subject = named_call(rule, place)?;
    let around = Circumstances {
        mode: PermissionMode::Default,
        bypass: false,
        someone_there: true,
        confined: true,
        grants: &[],
    };
    let verdict = policy.judge(&subject, &around);
    match verdict.decision {
        Decision::Deny => Some(format!("what it names is never run: {}", verdict.reason.text)),
        Decision::Ask { forced: true } => {
            Some(format!("what it names is asked about each time: {}", verdict.reason.text))
        }
        Decision::Ask { forced: false } if verdict.reason.by == By::Rule => {
            Some(format!("what it names is asked about each time: {}", verdict.reason.text))
        }
        Decision::Ask { .. } | Decision::Allow => None,
    }
}

/// The one call that a rule names, on paper; none where it names many.
fn named_call<'r>(rule: &'r Rule, place: &Place) -> Option<Subject<'r>> {
    let ToolPattern::Exact(tool) = &rule.tool else { return None };
    let mut subject = Subject {
        tool,
        other_names: &[],
        class: Class::Foreign,
        paths: Vec::new(),
        command: None,
        hosts: Vec::new(),
        place: place.clone(),
        on_disk: OnDisk::on_paper(),
    };
    match &rule.spec {
        Spec::Path(pattern) => {
            let path = pattern.spelt(place)?;
            let access = if rule.guard() == Some(Guard::Read) { Access::Read } else { Access::Edit };
            let inside = path.starts_with(&place.workspace);
            subject.class = match (inside, access) {
                (false, _) => Class::Outside,
                (true, Access::Read) => Class::ReadInside,
                (true, Access::Edit) => Class::EditInside,
            };
            subject.paths.push(SubjectPath {
                requested: path.clone(),
                real: path,
                access,
                inside,
                of: PathOf::Call,
                kind: None,
            });
        }
        Spec::Command(pattern) => {
            pattern.exact_words().filter(|_| rule.is_for_bash())?;
            return example::subject(rule.as_str(), &subject.place).ok();
        }
        Spec::Domain(_) => return example::subject(rule.as_str(), &subject.place).ok(),
        Spec::Absent | Spec::Unknown => {}
    }
    Some(subject)
}

#[cfg(test)]
mod tests {
    use super::super::policy::{RuleSet, SourcedRule};
    use super::*;

    fn place() -> Place {
        Place { workspace: "/ws".into(), home: Some("/home/u".into()), cwd: "/ws/sub".into() }
    }

    fn policy() -> Policy {
        let list = |texts: &[&str]| {
            let rule = |text: &&str| SourcedRule { rule: Rule::parse(text).unwrap(), source: "t".to_owned() };
            texts.iter().map(rule).collect()
        };
        let rules = RuleSet {
            deny: list(&[
                "Bash(curl *)",
                "Read(**/.env)",
                "Edit(a\\[1\\].rs)",
                "mcp__x__*",
                "WebFetch(domain:evil.tld)",
            ]),
            ask: list(&["Edit(docs/**)", "mcp__y__z"]),
            always_ask: list(&["Bash(git push *)"]),
            own_paths: vec!["/data".into()],
            ..RuleSet::default()
        };
        Policy::compile(rules, &[]).unwrap()
    }

    #[test]
    fn what_can_never_be_granted_says_why() {
        let policy = policy();
        for (rule, says) in [
            ("Bash(cargo test --lib)", None),
            ("Bash(mkdir 'a b')", None),
            ("Edit(./a)", None),
            ("Edit(~/a)", None),
            ("Read(/etc/hosts)", None),
            ("WebFetch(domain:docs.rs)", None),
            ("WebFetch(domain:xn--pple-43d.com)", None),
            ("WebFetch(domain:\u{430}pple.com)", Some("`WebFetch(domain:xn--pple-43d.com)`")),
            ("WebFetch(domain:Docs.RS)", Some("`WebFetch(domain:docs.rs)`")),
            ("WebFetch(domain:docs.rs.)", Some("`WebFetch(domain:docs.rs)`")),
            ("mcp__z__a", None),
            ("Bash(cargo", Some("no rule")),
            ("", Some("no rule")),
            ("*", Some("every tool")),
            ("mcp__*", Some("more than one tool")),
            ("Read", Some("everything")),
            ("TodoWrite(x)", Some("never match")),
            ("Bash(cargo test *)", Some("more than one command")),
            ("Bash(env ls)", Some("more than its words")),
            ("BashInput(y)", Some("call by call")),
            ("Edit(src/**)", Some("more than one file")),
            ("Edit(a)", Some("`./`")),
            ("Edit(./a/../b)", Some("never match")),
            ("Grep(./a)", Some("`Read(…)`")),
            ("WebFetch(domain:*)", Some("more than one host")),
            ("WebFetch(domain:::1)", Some("address")),
            ("WebFetch(domain:[::1])", Some("`WebFetch(domain:::1)`")),
            ("Bash(curl x)", Some("denied by `Bash(curl *)`")),
            ("Read(./sub/.env)", Some("denied by")),
            ("Edit(./sub/.env)", Some("denied by")),
            // As the rule spells it, without the escapes.
            ("Edit(./a\\[1\\].rs)", Some("denied by")),
            ("WebFetch(domain:evil.tld)", Some("denied by")),
            ("WebFetch(domain:sub.evil.tld)", Some("denied by")),
            ("mcp__x__y", Some("denied by")),
            ("mcp__y__z", Some("each time")),
            ("Edit(./docs/a.md)", Some("each time")),
            ("Bash(git push)", Some("each time")),
            ("Bash(rm -rf /)", Some("each time")),
            ("Edit(./.git/hooks/pre-commit)", Some("each time")),
            ("Edit(~/.bashrc)", Some("each time")),
            ("Read(/data/tokens/agent)", Some("out of reach")),
            ("Edit(./a\u{202e}b)", Some("cannot see it")),
            ("Edit(./a                     b)", Some("cannot see it")),
        ] {
            let why = why_not(rule, &policy, &place(), true);
            match says {
                None => assert_eq!(why, None, "{rule}"),
                Some(says) => assert!(why.as_ref().is_some_and(|why| why.contains(says)), "{rule}: {why:?}"),
            }
        }
        assert!(why_not("Bash(cargo test --lib)", &policy, &place(), false).is_some(), "no floor");
    }

    #[test]
    fn every_rule_that_is_refused_is_named_and_no_other() {
        let rules = ["Bash(mkdir x)", "*", "Edit(./\u{1b}x)"].map(str::to_owned).to_vec();
        let petition = Petition::Rules { rules, claim: "c".to_owned() };
        let text = petition.refusal(&policy(), &place(), true).unwrap();
        assert!(text.contains("`*`: it names every tool; `Edit(./\\u{1b}x)`: it is no rule"), "{text}");
        assert!(!text.contains("mkdir"), "{text}");
        let plan = Petition::EndOfPlan { plan: "*".to_owned() };
        assert_eq!(plan.refusal(&policy(), &place(), true), None);
    }

    #[test]
    fn only_plan_mode_can_be_left() {
        let plan = Petition::EndOfPlan { plan: "p".to_owned() };
        let rules = Petition::Rules { rules: Vec::new(), claim: String::new() };
        for (mode, moot) in [
            (PermissionMode::Default, true),
            (PermissionMode::AcceptEdits, true),
            (PermissionMode::DontAsk, true),
            (PermissionMode::SandboxAuto, true),
            (PermissionMode::Plan, false),
        ] {
            assert_eq!((plan.moot(mode).is_some(), rules.moot(mode)), (moot, None), "{mode:?}");
        }
    }
}
