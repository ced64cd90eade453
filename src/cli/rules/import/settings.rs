//! A whole Claude Code settings file: its permissions in our config's terms, and what is to be said of the rest.

use serde_json::{Map, Value};

use super::anchor::Anchors;
use super::rule::{Carried, Kind, List, Note, carry, readable};
use crate::config::{MaxMode, OutsideFile, PermissionsConfig};
use crate::domain::session::PermissionMode;

/// The most entries that one file may have.
const ENTRIES_MAX: usize = 10_000;

/// Keys beside the permissions that people may take for part of them.
const OTHER_KEYS: [(&str, &str); 9] = [
    (
        "env",
        "variables for commands are not carried over: `bash.pass_environment` names those that commands get",
    ),
    ("hooks", "no programs run at events here: what a hook refused has to become a rule"),
    ("sandbox", "what commands may reach is this server's own matter: see `sandbox` and `network`"),
    ("allowedTools", "only `permissions.allow` is read: move the rules there"),
    ("autoMode", "no model judges calls here"),
    ("deniedMcpServers", "MCP servers are those of this server's own config: leave these out there"),
    ("disabledMcpjsonServers", "MCP servers are those of this server's own config: leave these out there"),
    ("allowedMcpServers", "MCP servers are those of this server's own config"),
    ("enabledMcpjsonServers", "MCP servers are those of this server's own config"),
];

/// Those of them that held something back there.
const BOUNDS: [&str; 4] = ["hooks", "sandbox", "deniedMcpServers", "disabledMcpjsonServers"];

/// Whether anything but what is switched off or empty stands in a value.
fn says_something(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => false,
        Value::Array(items) => items.iter().any(says_something),
        Value::Object(fields) => fields.values().any(says_something),
        _ => true,
    }
}

/// What became of a file.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Imported {
    pub(super) permissions: PermissionsConfig,
    /// The file says how sessions begin.
    pub(super) says_mode: bool,
    pub(super) remarks: Vec<Remark>,
}

/// What has to be said of one key.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Remark {
    pub(super) key: String,
    pub(super) line: Option<usize>,
    /// The rule, where it is one.
    pub(super) rule: Option<String>,
    /// Our rules for it.
    pub(super) became: Vec<String>,
    pub(super) note: Note,
}

/// A file that is no settings file: nothing of it is carried over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Malformed {
    pub(super) key: String,
    pub(super) line: Option<usize>,
    pub(super) message: String,
}

struct Import<'a> {
    file: &'a OutsideFile,
    anchors: &'a Anchors,
    tools: &'a [&'a str],
    result: Imported,
    /// Rules that ask, each so that an allow rule for a host reaches no further than there.
    bounds: Vec<String>,
}

/// Carries a file over.
pub(super) fn import(file: &OutsideFile, anchors: &Anchors, tools: &[&str]) -> Result<Imported, Malformed> {
    let result =
        Imported { permissions: PermissionsConfig::default(), says_mode: false, remarks: Vec::new() };
    let mut import = Import { file, anchors, tools, result, bounds: Vec::new() };
    let settings = import.object(&file.value, "")?;
    for (key, value) in settings {
        match key.as_str() {
            "permissions" => import.permissions(import.object(value, "permissions")?)?,
            "$schema" => {}
            other => {
                let why = OTHER_KEYS.iter().find(|(name, _)| *name == other).map(|(_, why)| *why);
                let why = why.unwrap_or("it does not say what may run, or is not known here");
                let holds_back = BOUNDS.contains(&other) && says_something(value);
                let kind = if holds_back { Kind::Narrower } else { Kind::Ignored };
                import.remark(other, kind, why);
            }
        }
    }
    import.settle_hosts();
    import.result.remarks.sort_by_key(|remark| remark.line);
    Ok(import.result)
}

impl<'a> Import<'a> {
    fn malformed(&self, key: &str, message: &str) -> Malformed {
        Malformed { key: key.to_owned(), line: self.file.line(key), message: message.to_owned() }
    }

    fn object(&self, value: &'a Value, key: &str) -> Result<&'a Map<String, Value>, Malformed> {
        value.as_object().ok_or_else(|| self.malformed(key, "an object is expected here"))
    }

    fn remark(&mut self, key: &str, kind: Kind, why: impl Into<String>) {
        let note = Note { kind, why: why.into() };
        let line = self.file.line(key);
        self.result.remarks.push(Remark { key: key.to_owned(), line, rule: None, became: Vec::new(), note });
    }

    fn permissions(&mut self, permissions: &'a Map<String, Value>) -> Result<(), Malformed> {
        // The rules in their own order come before what is made of directories.
        let (lists, others): (Vec<_>, Vec<_>) = permissions.iter().partition(|(_, value)| value.is_array());
        let is_rules = |name: &str| matches!(name, "deny" | "ask" | "allow");
        let (rules, lists): (Vec<_>, Vec<_>) = lists.into_iter().partition(|(name, _)| is_rules(name));
        for (name, value) in rules.into_iter().chain(lists).chain(others) {
            let key = format!("permissions.{name}");
            match name.as_str() {
                "deny" => self.list(&key, value, List::Deny)?,
                "ask" => self.list(&key, value, List::Ask)?,
                "allow" => self.list(&key, value, List::Allow)?,
                "defaultMode" => self.mode(&key, value)?,
                "additionalDirectories" => self.directories(&key, value)?,
                "disableBypassPermissionsMode" if value == "disable" => {
                    self.result.permissions.max_mode = MaxMode::SandboxAuto;
                }
                "disableBypassPermissionsMode" => {
                    self.remark(&key, Kind::Ignored, "only \"disable\" says something");
                }
                "disableAutoMode" => self.remark(&key, Kind::Ignored, "no model judges calls here"),
                "denyInsteadOfPrompting" if value == true => self.remark(
                    &key,
                    Kind::Narrower,
                    "set `permissions.mode` to `dont_ask` if what would ask is to be denied",
                ),
                "blockReadsOutsideWorkingDirectories" | "blockWritesOutsideWorkingDirectories"
                    if value == true =>
                {
                    self.remark(&key, Kind::Narrower, "what lies outside of the workspace asks here");
                }
                _ => self.remark(&key, Kind::Ignored, "this key is not known here"),
            }
        }
        Ok(())
    }

    fn items(&self, key: &str, value: &'a Value) -> Result<Vec<&'a str>, Malformed> {
        let items = value.as_array().ok_or_else(|| self.malformed(key, "a list is expected here"))?;
        if items.len() > ENTRIES_MAX {
            return Err(self.malformed(key, &format!("more than {ENTRIES_MAX} entries")));
        }
        let text = |(index, item): (usize, &'a Value)| {
            item.as_str()
                .ok_or_else(|| self.malformed(&format!("{key}[{index}]"), "a string is expected here"))
        };
        items.iter().enumerate().map(text).collect()
    }

    fn list(&mut self, key: &str, value: &'a Value, list: List) -> Result<(), Malformed> {
        for (index, rule) in self.items(key, value)?.into_iter().enumerate() {
            let Carried { rules, ask, note } = carry(rule, list, self.anchors, self.tools);
            if let Some(note) = note {
                let key = format!("{key}[{index}]");
                let line = self.file.line(&key);
                let became = rules.clone();
                self.result.remarks.push(Remark { line, key, rule: Some(rule.to_owned()), became, note });
            }
            self.add(list, rules);
            self.bounds.extend(ask);
        }
        Ok(())
    }

    fn add(&mut self, list: List, rules: Vec<String>) {
        let permissions = &mut self.result.permissions;
        let list = match list {
            List::Deny => &mut permissions.deny,
            List::Ask => &mut permissions.ask,
            List::Allow => &mut permissions.allow,
        };
        for rule in rules {
            if !list.contains(&rule) {
                list.push(rule);
            }
        }
    }

    fn mode(&mut self, key: &str, value: &Value) -> Result<(), Malformed> {
        let name = value.as_str().ok_or_else(|| self.malformed(key, "a string is expected here"))?;
        let mode = match name {
            "default" => PermissionMode::Default,
            "acceptEdits" => PermissionMode::AcceptEdits,
            "plan" => PermissionMode::Plan,
            "dontAsk" => PermissionMode::DontAsk,
            "bypassPermissions" => {
                self.remark(
                    key,
                    Kind::Dropped,
                    "no session begins so: an operator sets `bypass_permissions`",
                );
                return Ok(());
            }
            "auto" => {
                self.remark(key, Kind::Dropped, "no model judges calls here: sessions begin in `default`");
                return Ok(());
            }
            other => {
                self.remark(key, Kind::Dropped, format!("the mode {other:?} is not known here"));
                return Ok(());
            }
        };
        self.result.permissions.mode = mode;
        self.result.says_mode = true;
        Ok(())
    }

    fn directories(&mut self, key: &str, value: &'a Value) -> Result<(), Malformed> {
        for (index, directory) in self.items(key, value)?.into_iter().enumerate() {
            let key = format!("{key}[{index}]");
            let Some(rule) = readable(directory, self.anchors) else {
                self.remark(&key, Kind::Dropped, "this is no directory that a rule can name");
                continue;
            };
            let why = "reading there is allowed by a rule; changes there ask in `accept_edits` too, unless an \
                       `Edit(…)` allows them";
            let line = self.file.line(&key);
            let note = Note { kind: Kind::Different, why: why.to_owned() };
            let (rule_text, became) = (Some(directory.to_owned()), vec![rule.clone()]);
            self.result.remarks.push(Remark { key, line, rule: rule_text, became, note });
            self.add(List::Allow, vec![rule]);
        }
        Ok(())
    }

    /// Adds the rules that keep an allowed host from reaching further, but where further is allowed anyway; and
    /// tells of the hosts that they hold back against the file's word.
    fn settle_hosts(&mut self) {
        let allow = self.result.permissions.allow.clone();
        let all = allow.iter().any(|rule| rule == "WebFetch" || rule == "WebFetch(domain:*)");
        let beneath: Vec<String> =
            allow.iter().filter_map(|rule| host(rule)?.strip_prefix("*.").map(str::to_owned)).collect();
        let mut bounds = std::mem::take(&mut self.bounds);
        bounds.retain(|rule| {
            let name = host(rule).unwrap_or_default();
            !all && !beneath.iter().any(|above| lies_in(name.trim_start_matches("*."), above))
        });
        let of_file = self.file.value.pointer("/permissions/allow").and_then(Value::as_array);
        for (index, rule) in of_file.into_iter().flatten().enumerate() {
            let Some(rule) = rule.as_str().filter(|rule| allow.iter().any(|carried| carried == rule)) else {
                continue;
            };
            let Some(name) = host(rule) else { continue };
            let name = name.trim_start_matches("*.");
            let held = bounds.iter().find(|bound| {
                let above = host(bound).unwrap_or_default();
                let above = above.trim_start_matches("*.");
                name != above && lies_in(name, above)
            });
            let Some(bound) = held else { continue };
            let why = format!("it asks, since `{bound}` keeps the host above it from reaching further");
            let key = format!("permissions.allow[{index}]");
            let (line, rule) = (self.file.line(&key), rule.to_owned());
            let (became, note) = (vec![rule.clone()], Note { kind: Kind::Dropped, why });
            self.result.remarks.push(Remark { key, line, rule: Some(rule), became, note });
        }
        self.add(List::Ask, bounds);
    }
}

/// The host that a rule names, in lower case.
fn host(rule: &str) -> Option<String> {
    Some(rule.strip_prefix("WebFetch(domain:")?.strip_suffix(')')?.to_ascii_lowercase())
}

/// Whether a host is the one of this name or lies beneath it.
fn lies_in(host: &str, name: &str) -> bool {
    host.strip_suffix(name).is_some_and(|front| front.is_empty() || front.ends_with('.'))
}

#[cfg(test)]
mod tests;
