//! One rule of a Claude Code settings file in our language: the same calls, never more allowed, never less denied
//! without a word.

use std::path::Path;

use super::anchor::Anchors;
use crate::permission::rule::Rule;

/// The tools that are known there under another name.
const RENAMED: [(&str, &str); 5] = [
    ("MultiEdit", "Edit"),
    ("NotebookRead", "Read"),
    ("LS", "ListDir"),
    ("AskUserQuestion", "AskUser"),
    ("KillBash", "KillShell"),
];
/// Arguments of the shell tool there that a rule may name: `Bash(run_in_background:true)`.
const BASH_ARGUMENTS: [&str; 4] =
    ["run_in_background", "dangerouslyDisableSandbox", "timeout", "description"];

/// The list that a rule stands in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum List {
    Deny,
    Ask,
    Allow,
}

/// What became of something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// It allowed something, which now asks.
    Dropped,
    /// It held something back, which is now judged by what is usual.
    Narrower,
    /// It is carried over, and reaches further or less far than there.
    Different,
    /// It is carried over in other words, with the same meaning.
    Translated,
    /// It says nothing here.
    Ignored,
}

/// What has to be said of a rule or key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Note {
    pub(super) kind: Kind,
    pub(super) why: String,
}

/// A rule in our language.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Carried {
    /// For the list that it stood in.
    pub(super) rules: Vec<String>,
    /// Rules that ask, so that an allow rule allows no more than it did.
    pub(super) ask: Vec<String>,
    pub(super) note: Option<Note>,
}

impl List {
    /// What is lost with a rule of this list.
    fn loss(self) -> Kind {
        if self == Self::Allow { Kind::Dropped } else { Kind::Narrower }
    }
}

impl Kind {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Dropped => "dropped",
            Self::Narrower => "narrower",
            Self::Different => "different",
            Self::Translated => "translated",
            Self::Ignored => "ignored",
        }
    }

    /// Whether something of the file's meaning is lost.
    pub(super) fn is_loss(self) -> bool {
        matches!(self, Self::Dropped | Self::Narrower)
    }
}

impl Carried {
    fn as_they_are(rules: impl IntoIterator<Item = String>) -> Self {
        Self { rules: rules.into_iter().collect(), ..Self::default() }
    }

    fn lost(kind: Kind, why: impl Into<String>) -> Self {
        Self { note: Some(Note { kind, why: why.into() }), ..Self::default() }
    }

    fn with(mut self, kind: Kind, why: impl Into<String>) -> Self {
        self.note = Some(Note { kind, why: why.into() });
        self
    }
}

/// Carries one rule over. `tools` are the names of the tools here.
pub(super) fn carry(text: &str, list: List, anchors: &Anchors, tools: &[&str]) -> Carried {
    let (name, spec) = match text.split_once('(') {
        None => (text, None),
        Some((name, rest)) => match rest.strip_suffix(')') {
            Some(spec) => (name, Some(spec)),
            None => return Carried::lost(list.loss(), "it has `(` but does not end in `)`"),
        },
    };
    let carried = match spec.map(str::trim) {
        Some("") if list == List::Allow => {
            Carried::lost(Kind::Dropped, "there is nothing in its parentheses")
        }
        None | Some("") => whole_tool(name, list, tools),
        Some(spec) => part_of_tool(name, spec, list, anchors, tools),
    };
    checked(carried, list, tools)
}

/// Holds what came out against our own grammar: what does not parse, or can never match, is no rule to write.
fn checked(carried: Carried, list: List, tools: &[&str]) -> Carried {
    for text in &carried.rules {
        let wrong = match Rule::parse(text) {
            Err(error) => Some((list.loss(), error.to_string())),
            Ok(rule) if list == List::Allow && rule.only_narrows() => {
                Some((Kind::Dropped, "it names every tool, which no allow rule may".to_owned()))
            }
            Ok(rule) => rule.doubts(tools, list == List::Allow).map(|doubt| {
                let kind = if doubt.starts_with("no tool") { Kind::Ignored } else { list.loss() };
                (kind, doubt)
            }),
        };
        if let Some((kind, why)) = wrong {
            return Carried::lost(kind, why);
        }
    }
    carried
}

fn renamed(name: &str) -> &str {
    RENAMED.iter().find(|(theirs, _)| *theirs == name).map_or(name, |(_, ours)| ours)
}

fn whole_tool(name: &str, list: List, tools: &[&str]) -> Carried {
    let is_pattern = name.contains('*') && name != "*" && !name.starts_with("mcp__");
    if is_pattern {
        return by_pattern(name, list, tools);
    }
    let ours = renamed(name);
    let carried = Carried::as_they_are([ours.to_owned()]);
    match list {
        List::Deny | List::Ask if ours == "Write" => {
            carried.with(Kind::Different, "here it holds for every way of writing, as `Edit` does")
        }
        _ if ours != name => carried.with(Kind::Translated, format!("{name} is {ours} here")),
        _ => carried,
    }
}

/// A star in a tool's name, which our rules have only for MCP servers.
fn by_pattern(name: &str, list: List, tools: &[&str]) -> Carried {
    if list == List::Allow {
        return Carried::lost(Kind::Dropped, "an allow rule names its tool");
    }
    let parts: Vec<&str> = name.split('*').collect();
    let (start, end) = (parts[0], parts[parts.len() - 1]);
    let fits = |tool: &&&str| {
        let mut rest = match tool.strip_prefix(start) {
            Some(rest) if rest.len() >= end.len() => rest,
            _ => return false,
        };
        for part in &parts[1..parts.len() - 1] {
            let Some(at) = rest.find(part) else { return false };
            rest = &rest[at + part.len()..];
        }
        rest.ends_with(end)
    };
    let named: Vec<String> = tools.iter().filter(fits).map(ToString::to_string).collect();
    if named.is_empty() {
        return Carried::lost(Kind::Ignored, "no tool here has such a name");
    }
    Carried::as_they_are(named).with(Kind::Different, "it names the tools that there are now, not later ones")
}

fn part_of_tool(name: &str, spec: &str, list: List, anchors: &Anchors, tools: &[&str]) -> Carried {
    match name {
        "Bash" => command(spec, list),
        "Read" | "Edit" => paths(name, spec, list, anchors),
        "Write" | "MultiEdit" | "NotebookEdit" | "NotebookRead" | "Glob" | "Grep" | "LS" => {
            unconsulted(name, spec, list, anchors)
        }
        "WebFetch" => domain(spec, list),
        _ if spec == "*" && list != List::Allow => whole_tool(name, list, tools),
        _ if name.starts_with("mcp__") => match list {
            List::Allow => Carried::lost(Kind::Dropped, "rules for MCP tools take no parentheses here"),
            List::Deny | List::Ask => whole_tool(name, list, tools).with(
                Kind::Different,
                "rules for MCP tools take no parentheses: here it holds for every call",
            ),
        },
        _ if tools.contains(&renamed(name)) => {
            Carried::lost(list.loss(), format!("rules for {} take nothing in parentheses", renamed(name)))
        }
        _ => Carried::lost(Kind::Ignored, format!("no tool is named {name}")),
    }
}

fn command(spec: &str, list: List) -> Carried {
    if spec == "*" || spec == ":*" {
        return Carried::as_they_are(["Bash".to_owned()]).with(Kind::Translated, "this is the whole tool");
    }
    // With nothing but a star it is a program's name as well (`timeout:*`), which at worst denies or asks more.
    let is_prefix = |value: &str| value == "*" && list != List::Allow;
    let argument =
        spec.split_once(':').filter(|(name, value)| BASH_ARGUMENTS.contains(name) && !is_prefix(value));
    if let Some((argument, _)) = argument {
        return Carried::lost(
            list.loss(),
            format!("rules do not see the argument {argument}, only the command"),
        );
    }
    Carried::as_they_are([format!("Bash({spec})")])
}

fn paths(tool: &str, spec: &str, list: List, anchors: &Anchors) -> Carried {
    match anchors.carry(spec, list) {
        Ok(found) => {
            let carried = Carried::as_they_are(found.patterns.iter().map(|path| format!("{tool}({path})")));
            Carried { note: found.note, ..carried }
        }
        Err(why) => Carried::lost(list.loss(), why),
    }
}

/// Rules with a path that are accepted there and ignored: for paths `Read(…)` and `Edit(…)` alone are looked at.
fn unconsulted(name: &str, spec: &str, list: List, anchors: &Anchors) -> Carried {
    let ours = match name {
        "Write" | "MultiEdit" | "NotebookEdit" => "Edit",
        "NotebookRead" => "Read",
        "LS" => "ListDir",
        other => other,
    };
    if list == List::Allow {
        let instead = if ours == "Edit" { "Edit" } else { "Read" };
        return Carried::lost(
            Kind::Dropped,
            format!(
                "paths are allowed by `Read(…)` and `Edit(…)` alone there, so it allowed nothing; if it should, \
                 write `{instead}({spec})`"
            ),
        );
    }
    let carried = paths(ours, spec, list, anchors);
    if carried.rules.is_empty() {
        return carried;
    }
    let reach = if ours == "Edit" { "for every way of writing" } else { "though it had no effect there" };
    carried.with(Kind::Different, format!("here it holds, {reach}"))
}

fn domain(spec: &str, list: List) -> Carried {
    let rule = |host: &str| format!("WebFetch(domain:{host})");
    let Some(host) = spec.strip_prefix("domain:") else {
        if spec == "*" && list != List::Allow {
            return Carried::as_they_are(["WebFetch".to_owned()])
                .with(Kind::Translated, "this is the whole tool");
        }
        return Carried::lost(list.loss(), "rules for WebFetch name a host: `WebFetch(domain:…)`");
    };
    let beneath = host.strip_prefix("*.");
    match (list, beneath) {
        (List::Allow, Some(_)) => Carried::as_they_are([rule(host)]),
        (List::Allow, None) => {
            let below = format!("WebFetch(domain:*.{host})");
            // An address has no names beneath it, nor has a star.
            let has_names = Rule::parse(&below).is_ok();
            let carried = Carried::as_they_are([rule(host)]);
            if !has_names {
                return carried;
            }
            Carried { ask: vec![below.clone()], ..carried }.with(
                Kind::Translated,
                format!("here it holds for the names beneath it too, so that `{below}` asks"),
            )
        }
        (_, Some(name)) => Carried::as_they_are([rule(name)]).with(
            Kind::Different,
            format!("here it holds for {name} itself too, and for every tool that connects"),
        ),
        (_, None) => Carried::as_they_are([rule(host)]).with(
            Kind::Different,
            "here it holds for the names beneath it too, and for every tool that connects",
        ),
    }
}

/// The rule that lets the files of a further directory be read.
pub(super) fn readable(directory: &str, anchors: &Anchors) -> Option<String> {
    let rule = format!("Read({}/**)", anchors.directory(Path::new(directory))?.trim_end_matches('/'));
    Rule::parse(&rule).is_ok().then_some(rule)
}

#[cfg(test)]
mod tests;
