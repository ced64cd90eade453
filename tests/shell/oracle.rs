//! Holds what a program did against what the analysis said of it and against the verdicts of many rules.

use std::collections::HashMap;

use toolgate::domain::session::PermissionMode;
use toolgate::permission::example;
use toolgate::permission::policy::{Circumstances, Policy, RuleSet, SourcedRule};
use toolgate::permission::rule::Rule;
use toolgate::permission::subject::{Place, Subject};
use toolgate::permission::verdict::Decision;

use crate::adapter::{self, Reported};
use crate::driver::{ENVIRONMENT, HOME, WORKSPACE};
use crate::recorder::{Opened, Outcome, Ran};
use crate::sandbox::{FAILS, REAL, STAND_INS};

/// Carriers that an allow rule for what they run looks through.
const LOOKED_THROUGH: &[&str] = &["timeout", "nice", "nohup", "stdbuf", "time"];

/// What rules allow beside the programs of the sandbox.
const BUILTINS: &[&str] = &[
    FAILS, "echo", "printf", "true", "false", ":", "cd", "test", "[", "export", "set", "unset", "time",
    "command", "builtin", "exec", "eval", "source", ".",
];

/// Variables that bash sets for every program, and those that a command may set without asking.
const HARMLESS_VARIABLES: &[&str] = &[
    "_",
    "PWD",
    "OLDPWD",
    "SHLVL",
    "LANG",
    "LANGUAGE",
    "LC_ALL",
    "LC_COLLATE",
    "LC_CTYPE",
    "LC_MESSAGES",
    "LC_NUMERIC",
    "LC_TIME",
    "TZ",
    "NO_COLOR",
    "FORCE_COLOR",
    "CLICOLOR",
    "CI",
    "TERM",
    "COLUMNS",
    "LINES",
    "RUST_LOG",
    "RUST_BACKTRACE",
];

/// What is wrong with a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) kind: Kind,
    pub(crate) what: String,
}

/// The promises that can be broken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Kind {
    /// A program started that is not among the leaves.
    UnreportedProgram,
    /// A shell opened a file that no redirection, and no word, names.
    UnreportedFile,
    /// What a deny rule names ran, and the session in bypass was let through.
    DeniedUnderBypass,
    /// What a deny rule names ran, and a rule allowed it.
    DeniedButAllowed,
    /// What a deny rule for files names was opened by a shell, and the session in bypass was let through.
    DeniedFile,
    /// Something else ran than what the rules allow.
    AllowedAnother,
    /// A file was changed under a rule that allows programs only.
    AllowedFile,
    /// A program that was allowed ran with a variable that may change what it does.
    AllowedVariable,
}

/// Policies are kept: the same few hundred are asked again and again.
#[derive(Default)]
pub(crate) struct Oracle {
    policies: HashMap<Rules, Policy>,
}

/// The rules of one policy.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
struct Rules {
    deny: Option<String>,
    /// Every program of the sandbox is allowed but the one of this name, where it is one.
    allow_all_but: Option<String>,
    /// And that one with other arguments.
    allow_other: bool,
}

impl Rules {
    fn allow_all() -> Self {
        Self { allow_all_but: Some(String::new()), ..Self::default() }
    }

    fn compiled(&self) -> Policy {
        let sourced =
            |rule: String| SourcedRule { rule: Rule::parse(&rule).unwrap(), source: "the test".to_owned() };
        let mut allow: Vec<SourcedRule> = Vec::new();
        if let Some(but) = &self.allow_all_but {
            let names = STAND_INS.iter().chain(REAL).chain(BUILTINS).filter(|name| *name != but);
            allow.extend(names.map(|name| sourced(format!("Bash({name} *)"))));
            if self.allow_other {
                allow.push(sourced(format!("Bash({but} other *)")));
            }
        }
        let deny = self.deny.iter().cloned().map(sourced).collect();
        Policy::compile(RuleSet { allow, deny, ..RuleSet::default() }, &["Bash"]).unwrap()
    }
}

impl Oracle {
    /// Everything that is wrong with the text, given what it did.
    pub(crate) fn faults(&mut self, text: &str, outcome: &Outcome) -> Vec<Fault> {
        let mut faults = Vec::new();
        let call = called(text);
        let subject = &example::subject(&call, &place()).unwrap();
        if let Some(reported) = adapter::reported(text) {
            faults.extend(unreported(&reported, outcome));
            // Rules for paths hold what is not understood only as far as it can be read.
            for opened in outcome.opened.iter().take(4).filter(|opened| is_plain(&opened.real)) {
                self.denied_file(subject, opened, &mut faults);
            }
        }
        // Rules that allow less allow nothing that these do not.
        let allowable = self.judge(subject, &Rules::allow_all(), false) == Decision::Allow;
        if !runs_what_it_wrote(outcome) {
            let mut seen: Vec<Vec<String>> = Vec::new();
            for ran in outcome.ran.iter().filter(|ran| !is_implied(ran)) {
                let words = ran.words();
                if seen.len() < 8 && !seen.contains(&words) {
                    self.denied(subject, &words, allowable, &mut faults);
                    if allowable {
                        self.allowed(subject, ran, &words, &mut faults);
                    }
                    seen.push(words);
                }
            }
        }
        if allowable {
            faults.extend(beside_programs(outcome));
        }
        faults
    }

    /// A rule for the file that was opened holds the text back.
    fn denied_file(&mut self, subject: &Subject<'_>, opened: &Opened, faults: &mut Vec<Fault>) {
        let tool = if opened.writes { "Edit" } else { "Read" };
        let rules = Rules { deny: Some(format!("{tool}({})", opened.real)), ..Rules::default() };
        if self.judge(subject, &rules, true) == Decision::Allow {
            faults.push(Fault {
                kind: Kind::DeniedFile,
                what: format!("deny {tool}({}): opened", opened.real),
            });
        }
    }

    /// Whether rules for all programs that are known here let the text run.
    pub(crate) fn could_be_allowed(&mut self, text: &str) -> bool {
        let call = called(text);
        let subject = example::subject(&call, &place()).unwrap();
        self.judge(&subject, &Rules::allow_all(), false) == Decision::Allow
    }

    /// A rule for what ran holds it back.
    fn denied(&mut self, subject: &Subject<'_>, words: &[String], allowable: bool, faults: &mut Vec<Fault>) {
        let [name, arguments @ ..] = words else { return };
        if !is_plain(name) {
            return;
        }
        let mut rules = vec![format!("Bash({name} *)")];
        match arguments.first() {
            None => rules.push(format!("Bash({name})")),
            Some(first) if is_plain(first) => rules.push(format!("Bash({name} {first} *)")),
            Some(_) => {}
        }
        for rule in rules {
            let rules = Rules { deny: Some(rule.clone()), ..Rules::default() };
            if self.judge(subject, &rules, true) == Decision::Allow {
                faults.push(Fault {
                    kind: Kind::DeniedUnderBypass,
                    what: format!("deny {rule}: ran {words:?}"),
                });
            }
            let rules = Rules { deny: rules.deny, ..Rules::allow_all() };
            if allowable && self.judge(subject, &rules, false) == Decision::Allow {
                faults.push(Fault {
                    kind: Kind::DeniedButAllowed,
                    what: format!("deny {rule}: ran {words:?}"),
                });
            }
        }
    }

    /// Rules for all other programs do not allow this one.
    fn allowed(&mut self, subject: &Subject<'_>, ran: &Ran, words: &[String], faults: &mut Vec<Fault>) {
        let Some(name) = words.first() else { return };
        if LOOKED_THROUGH.contains(&name.as_str()) || self.is_usual(words) {
            return;
        }
        let mut rules = Rules { allow_all_but: Some(name.clone()), ..Rules::default() };
        if self.judge(subject, &rules, false) == Decision::Allow {
            faults.push(Fault {
                kind: Kind::AllowedAnother,
                what: format!("{name} is not allowed: ran {words:?}"),
            });
        }
        // The program with other arguments, and one of its name from another place.
        rules.allow_other = true;
        if words.get(1).is_none_or(|first| first != "other")
            && self.judge(subject, &rules, false) == Decision::Allow
        {
            let what = format!("only `{name} other *` is allowed: ran {words:?}");
            faults.push(Fault { kind: Kind::AllowedAnother, what });
        }
        let spelt = ran.arguments.first().is_some_and(|first| first.contains('/'));
        if !spelt
            && !ran.path.starts_with("/usr/bin/")
            && !ran.path.starts_with("/bin/")
            && self.judge(subject, &Rules::allow_all(), false) == Decision::Allow
        {
            faults.push(Fault { kind: Kind::AllowedAnother, what: format!("{} ran for {name}", ran.path) });
        }
    }

    /// Whether it runs with no rule at all.
    fn is_usual(&mut self, words: &[String]) -> bool {
        let quoted: Vec<String> = words.iter().map(|word| quoted(word)).collect();
        let call = called(&quoted.join(" "));
        let subject = example::subject(&call, &place()).unwrap();
        self.judge(&subject, &Rules::default(), false) == Decision::Allow
    }

    fn judge(&mut self, subject: &Subject<'_>, rules: &Rules, bypass: bool) -> Decision {
        let mode = PermissionMode::Default;
        let circumstances = Circumstances { mode, bypass, someone_there: true, confined: true, grants: &[] };
        if !self.policies.contains_key(rules) {
            self.policies.insert(rules.clone(), rules.compiled());
        }
        self.policies[rules].judge(subject, &circumstances).decision
    }
}

fn called(text: &str) -> String {
    format!("Bash({text})")
}

fn place() -> Place {
    Place { workspace: WORKSPACE.into(), home: Some(HOME.into()), cwd: WORKSPACE.into() }
}

fn unreported(reported: &Reported, outcome: &Outcome) -> Vec<Fault> {
    let mut faults = Vec::new();
    for ran in outcome.ran.iter().filter(|ran| !is_implied(ran)) {
        let words = ran.words();
        if !reported.leaves.iter().any(|leaf| leaf.covers(&words)) {
            let what = format!("ran {words:?}, reported {:?}", reported.leaves);
            faults.push(Fault { kind: Kind::UnreportedProgram, what });
        }
    }
    for opened in &outcome.opened {
        let listed = if opened.writes { &reported.targets } else { &reported.sources };
        let named = || reported.leaves.iter().flat_map(|leaf| &leaf.words).any(|word| *word == opened.path);
        if !listed.contains(&opened.path) && !named() {
            let what = format!("opened {opened:?}, reported {:?} {:?}", reported.targets, reported.sources);
            faults.push(Fault { kind: Kind::UnreportedFile, what });
        }
    }
    faults
}

/// What may not happen when programs are all that is allowed.
fn beside_programs(outcome: &Outcome) -> Vec<Fault> {
    let opened = outcome.opened.iter().filter(|opened| opened.writes).map(|opened| &opened.real);
    let changed = opened.chain(&outcome.written).next();
    let variable = outcome.ran.iter().flat_map(|ran| &ran.environment).find(|v| !is_harmless_variable(v));
    let changed =
        changed.map(|file| Fault { kind: Kind::AllowedFile, what: format!("{file} was opened to write") });
    let variable =
        variable.map(|set| Fault { kind: Kind::AllowedVariable, what: format!("a program ran with {set}") });
    changed.into_iter().chain(variable).collect()
}

/// The shell between a program and the command that it was given as text; what that starts counts by itself.
fn is_implied(ran: &Ran) -> bool {
    ran.name() == "sh" && ["awk", "perl", "sed", "flock"].contains(&ran.parent.as_str())
}

/// A shell read a file that the text had made: what then ran stood in no text that could be analysed.
fn runs_what_it_wrote(outcome: &Outcome) -> bool {
    let written = |path: &str| outcome.opened.iter().any(|o| o.writes && o.path == path);
    outcome.opened.iter().any(|opened| !opened.writes && written(&opened.path))
}

fn is_harmless_variable(variable: &str) -> bool {
    let (name, value) = variable.split_once('=').unwrap_or((variable, ""));
    ENVIRONMENT.contains(&(name, value)) || HARMLESS_VARIABLES.contains(&name)
}

/// A word that means itself in a rule.
fn is_plain(word: &str) -> bool {
    !word.is_empty()
        && word.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '/' | '-' | '='))
}

fn quoted(word: &str) -> String {
    if is_plain(word) { word.to_owned() } else { format!("'{}'", word.replace('\'', "'\\''")) }
}
