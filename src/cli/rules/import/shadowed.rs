//! What the config allowed by itself and no longer does with the rules that came in.

use super::rule::{Kind, Note};
use super::settings::Remark;
use crate::cli::rules::place::own_places;
use crate::config::{Config, PermissionsConfig};
use crate::permission::example::{Expected, RuleTest, TestFailure};
use crate::permission::policy::Policy;

/// A remark for each allow rule of the config that another rule of `merged` comes before.
pub(super) fn remarks(config: &Config, merged: &PermissionsConfig, names: &[&str]) -> Vec<Remark> {
    let compile = |permissions: &PermissionsConfig| {
        let untested = PermissionsConfig { tests: Vec::new(), ..permissions.clone() };
        crate::permission::compile(&untested, &own_places(config, None), names).ok()
    };
    let own = &config.permissions;
    let (Some(before), Some(after)) = (compile(own), compile(merged)) else { return Vec::new() };
    let calls = own.allow.iter().map(|rule| (rule, RuleTest { call: call_of(rule), is: Expected::Allow }));
    let mode = own.mode;
    let otherwise = |policy: &Policy, call: &RuleTest| {
        policy
            .check_tests(std::slice::from_ref(call), mode)
            .err()
            .and_then(|failures| failures.into_iter().next())
    };
    let shadowed = calls.filter(|(_, call)| otherwise(&before, call).is_none()).filter_map(|(rule, call)| {
        let TestFailure::Differs { got, why, .. } = otherwise(&after, &call)? else { return None };
        let why = format!("the config allows it; with these rules `{}` comes to {got}: {why}", call.call);
        let note = Note { kind: Kind::Different, why };
        let key = "permissions.allow of the config".to_owned();
        Some(Remark { key, line: None, rule: Some(rule.clone()), became: Vec::new(), note })
    });
    shadowed.collect()
}

/// The shortest call that the rule is about.
fn call_of(rule: &str) -> String {
    let body = rule.strip_suffix(')').unwrap_or(rule);
    let short = body.strip_suffix(":*").or_else(|| body.strip_suffix(" *")).unwrap_or(body);
    if body.len() == rule.len() { short.to_owned() } else { format!("{short})") }
}
