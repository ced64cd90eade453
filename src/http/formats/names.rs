//! Names that an API takes, for tools and parameters whose own names it would refuse; and the way back.

use std::collections::{BTreeMap, HashSet};

use serde_json::{Map, Value};

use super::schema;
use crate::domain::arguments::parse_tool_args;
use crate::domain::digest::Digest;
use crate::domain::schema::ToolSchema;

/// What an API takes as names.
#[derive(Debug, Clone, Copy)]
pub(in crate::http) struct Names {
    /// Of tools.
    pub(super) tool: NameRule,
    /// Of parameters: the keys of the root's `properties`. None where the API takes any.
    pub(super) parameter: Option<NameRule>,
}

/// A rule for names: ASCII letters, digits, `_`, and some characters more.
#[derive(Debug, Clone, Copy)]
pub(super) struct NameRule {
    /// Characters beside letters, digits and `_`.
    pub(super) also: &'static [char],
    /// Whether it has to begin with a letter or `_`.
    pub(super) begins_with_letter: bool,
    /// The most characters.
    pub(super) max: usize,
}

/// From a name of ours to the one that the API is told; only names that differ.
pub(super) type Renamed = BTreeMap<String, String>;

impl NameRule {
    fn takes(&self, c: char) -> bool {
        c.is_ascii_alphanumeric() || c == '_' || self.also.contains(&c)
    }

    fn begins_well(&self, name: &str) -> bool {
        let well = |c: char| !self.begins_with_letter || c.is_ascii_alphabetic() || c == '_';
        name.starts_with(well)
    }

    fn fits(&self, name: &str) -> bool {
        self.begins_well(name) && name.len() <= self.max && name.chars().all(|c| self.takes(c))
    }

    /// Finds another name for each that does not fit, one that no other has: the closest that fits,
    /// with a digest where that is taken. It depends on the set of names alone, so that the way back
    /// is found again without being kept.
    pub(super) fn rename<'a>(&self, names: impl Iterator<Item = &'a str>) -> Renamed {
        let (fitting, mut others): (Vec<&str>, Vec<&str>) = names.partition(|name| self.fits(name));
        others.sort_unstable();
        let mut taken: HashSet<String> = fitting.into_iter().map(str::to_owned).collect();
        let mut renamed = Renamed::new();
        for name in others {
            let mut fit = self.closest(name, "");
            let mut attempt = 0_u32;
            while !taken.insert(fit.clone()) {
                let digest = Digest::of_fields([name.as_bytes(), &attempt.to_le_bytes()]);
                fit = self.closest(name, &format!("_{}", &digest.as_str()[..8]));
                attempt += 1;
            }
            renamed.insert(name.to_owned(), fit);
        }
        renamed
    }

    fn closest(&self, name: &str, suffix: &str) -> String {
        let mut fit: String = name.chars().map(|c| if self.takes(c) { c } else { '_' }).collect();
        if !self.begins_well(&fit) {
            fit.insert(0, '_');
        }
        fit.truncate(self.max - suffix.len());
        fit + suffix
    }
}

impl Names {
    pub(super) fn rename_tools(&self, tools: &[ToolSchema]) -> Renamed {
        self.tool.rename(tools.iter().map(ToolSchema::name))
    }

    /// Renames the parameters of a root schema.
    pub(super) fn rename_parameters(&self, schema: &mut Map<String, Value>) {
        let renamed = self.parameters(schema);
        if renamed.is_empty() {
            return;
        }
        if let Some(Value::Object(properties)) = schema.get_mut("properties") {
            rename_keys(properties, &renamed);
        }
        if let Some(Value::Array(required)) = schema.get_mut("required") {
            for name in required {
                if let Some(other) = name.as_str().and_then(|name| renamed.get(name)) {
                    *name = Value::String(other.clone());
                }
            }
        }
    }

    fn parameters(&self, schema: &Map<String, Value>) -> Renamed {
        match (self.parameter, schema.get("properties")) {
            (Some(rule), Some(Value::Object(properties))) => {
                rule.rename(properties.keys().map(String::as_str))
            }
            _ => Renamed::new(),
        }
    }

    /// A call under our own names again. A name that we did not tell stays as the model wrote it, and
    /// argument text that cannot be read stays as it is: both are the model's mistakes.
    pub(super) fn restore(&self, tools: &[ToolSchema], name: &str, arguments: &str) -> (String, String) {
        let told = self.rename_tools(tools);
        let own = told.iter().find(|(_, other)| *other == name).map_or(name, |(own, _)| own.as_str());
        let Some(tool) = tools.iter().find(|tool| tool.name() == own) else {
            return (own.to_owned(), arguments.to_owned());
        };
        let back = back(&self.parameters(&schema::plain(&tool.function.parameters).schema));
        let restored = match parse_tool_args(arguments) {
            Ok(Value::Object(mut map)) if map.keys().any(|key| back.contains_key(key)) => {
                rename_keys(&mut map, &back);
                Value::Object(map).to_string()
            }
            _ => arguments.to_owned(),
        };
        (own.to_owned(), restored)
    }
}

fn back(renamed: &Renamed) -> Renamed {
    renamed.iter().map(|(own, other)| (other.clone(), own.clone())).collect()
}

fn rename_keys(map: &mut Map<String, Value>, renamed: &Renamed) {
    *map = std::mem::take(map)
        .into_iter()
        .map(|(key, value)| (renamed.get(&key).cloned().unwrap_or(key), value))
        .collect();
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const RULE: NameRule = NameRule { also: &['-', '.'], begins_with_letter: true, max: 16 };
    const NAMES: Names =
        Names { tool: RULE, parameter: Some(NameRule { also: &[], begins_with_letter: true, max: 16 }) };

    fn renamed(names: &[&str]) -> Vec<(String, String)> {
        RULE.rename(names.iter().copied()).into_iter().collect()
    }

    #[test]
    fn names_that_fit_stay() {
        assert_eq!(renamed(&["Bash", "a-b", "_x", "mcp__a.b"]), []);
    }

    #[test]
    fn others_get_the_closest_that_is_free() {
        for (name, closest) in
            [("3d", "_3d"), ("-n", "-n"), ("a b", "a_b"), ("filter[id]", "filter_id_"), ("", "_")]
        {
            let found = renamed(&[name]);
            let expected = if name == "-n" { "_-n" } else { closest };
            assert_eq!(found, [(name.to_owned(), expected.to_owned())]);
        }
        let long = "x".repeat(40);
        assert_eq!(renamed(&[&long])[0].1, "x".repeat(16));
    }

    #[test]
    fn no_two_names_become_one() {
        let (long, longer) = ("x".repeat(40), "x".repeat(41));
        let names = ["a_b", "a b", "a/b", "a\u{fc}b", long.as_str(), longer.as_str()];
        let renamed = RULE.rename(names.iter().copied());
        let mut all: HashSet<&str> = renamed.values().map(String::as_str).collect();
        assert!(all.insert("a_b"));
        assert_eq!(all.len(), names.len(), "{renamed:?}");
        assert!(all.iter().all(|name| RULE.fits(name)), "{renamed:?}");
        let mut reversed = names;
        reversed.reverse();
        assert_eq!(RULE.rename(reversed.iter().copied()), renamed, "the order does not matter");
    }

    #[test]
    fn a_call_comes_back_under_its_own_names() {
        let parameters = json!({"type": "object", "properties": {"-A": {}, "_A": {}, "path": {}}});
        let tools = [ToolSchema::new("3grep", "Finds.", parameters.clone())];
        let Value::Object(mut schema) = parameters else { panic!() };
        schema.insert("required".to_owned(), json!(["-A", "path"]));
        NAMES.rename_parameters(&mut schema);
        let told: Vec<_> = schema["properties"].as_object().unwrap().keys().cloned().collect();
        assert_eq!(told.len(), 3);
        assert!(told.iter().all(|key| RULE.fits(key) && !key.starts_with('-')), "{told:?}");
        let other = told.iter().find(|key| key.starts_with("_A_")).unwrap();
        assert_eq!(schema["required"], json!([other, "path"]));

        let arguments = json!({other.as_str(): 1, "_A": 2, "path": "x"}).to_string();
        let (name, arguments) = NAMES.restore(&tools, "_3grep", &arguments);
        assert_eq!(name, "3grep");
        let arguments: Value = serde_json::from_str(&arguments).unwrap();
        assert_eq!(arguments, json!({"-A": 1, "_A": 2, "path": "x"}));
    }

    #[test]
    fn what_was_not_renamed_comes_back_byte_for_byte() {
        let parameters = json!({"type": "object", "properties": {"-A": {}, "path": {}}});
        let tools = [ToolSchema::new("Grep", "Finds.", parameters)];
        for (name, arguments) in [
            ("Grep", r#"{ "path" : "x" }"#),
            ("Grep", r#"{"_A": 1"#),
            ("Grep", ""),
            ("Unknown", r#"{"_A": 1}"#),
            ("", "{}"),
        ] {
            let (own, same) = NAMES.restore(&tools, name, arguments);
            assert_eq!((own.as_str(), same.as_str()), (name, arguments));
        }
    }
}
