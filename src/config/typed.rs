//! From JSON to the config's types, telling everything that does not fit and not only the first.

use std::fmt::Write as _;

use serde_json::Value;
use serde_path_to_error::{Path, Segment};

use super::problem::ConfigProblem;
use super::{Config, source};

/// The most problems that are told of one text.
const PROBLEMS_MAX: usize = 50;

/// The config in `value`, of which everything that does not fit is taken out and told. `text` is what
/// lines are found in.
pub(super) fn typed(value: &mut Value, text: Option<&str>) -> (Config, Vec<ConfigProblem>) {
    let (mut problems, mut removed) = (Vec::new(), Removed::default());
    for key in take_out_lists(value) {
        let line = text.and_then(|text| source::locate(text, &key));
        problems.push(ConfigProblem {
            line,
            key,
            message: "invalid type: sequence, expected an object".to_owned(),
        });
    }
    loop {
        let error = match serde_path_to_error::deserialize::<_, Config>(&*value) {
            Ok(config) => return (config, problems),
            Err(error) => error,
        };
        let path = steps(error.path());
        let key = removed.key_in_text(&path);
        let message = without_values(&error.into_inner().to_string());
        problems.push(ConfigProblem { line: text.and_then(|text| source::locate(text, &key)), key, message });
        if problems.len() == PROBLEMS_MAX || !remove(value, &path) {
            return (Config::default(), problems);
        }
        removed.note(&path);
    }
}

/// Takes out lists that stand where an object belongs: serde would read their elements as its fields, in
/// order. The keys at which they stood.
fn take_out_lists(value: &mut Value) -> Vec<String> {
    let sections = serde_json::to_value(Config::default()).unwrap_or_default();
    let is_section = |name: &str| sections.get(name).is_some_and(Value::is_object);
    let Some(map) = value.as_object_mut() else {
        *value = Value::Object(serde_json::Map::new());
        return vec![String::new()];
    };
    let mut out: Vec<String> = Vec::new();
    map.retain(|name, section| {
        let stays = !(section.is_array() && is_section(name));
        if !stays {
            out.push(name.clone());
        }
        stays
    });
    for (name, section) in map {
        for (key, field) in section.as_object_mut().into_iter().flatten() {
            let nested = field.as_array().is_some_and(|list| list.iter().any(Value::is_array));
            if nested {
                *field = Value::Array(Vec::new());
                out.push(format!("{name}.{key}"));
            }
        }
    }
    out
}

/// A step on the way to a value.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Step {
    Key(String),
    Index(usize),
}

fn steps(path: &Path) -> Vec<Step> {
    let step = |segment: &Segment| match segment {
        Segment::Seq { index } => Some(Step::Index(*index)),
        Segment::Map { key } => Some(Step::Key(key.clone())),
        Segment::Enum { .. } | Segment::Unknown => None,
    };
    path.iter().filter_map(step).collect()
}

/// Takes out what lies at the path; false where nothing does.
fn remove(value: &mut Value, path: &[Step]) -> bool {
    let Some((last, way)) = path.split_last() else { return false };
    let parent = way.iter().try_fold(value, |value, step| match step {
        Step::Key(key) => value.get_mut(key),
        Step::Index(index) => value.get_mut(index),
    });
    match (parent, last) {
        (Some(Value::Object(map)), Step::Key(key)) => map.remove(key).is_some(),
        (Some(Value::Array(items)), Step::Index(index)) if *index < items.len() => {
            items.remove(*index);
            true
        }
        _ => false,
    }
}

/// Elements that were taken out of lists: those after them had a higher number in the text.
#[derive(Default)]
struct Removed(Vec<(Vec<Step>, usize)>);

impl Removed {
    fn note(&mut self, path: &[Step]) {
        if let Some((Step::Index(index), list)) = path.split_last() {
            self.0.push((list.to_vec(), *index));
        }
    }

    fn key_in_text(&self, path: &[Step]) -> String {
        let mut key = String::new();
        for (at, step) in path.iter().enumerate() {
            match step {
                Step::Key(name) if key.is_empty() => key.push_str(name),
                Step::Key(name) => key.extend([".", name]),
                Step::Index(index) => {
                    let earlier = self.0.iter().rev().filter(|(list, _)| *list == path[..at]);
                    let index = earlier.fold(*index, |index, (_, gone)| index + usize::from(*gone <= index));
                    // Writing to a string does not fail.
                    let _ = write!(key, "[{index}]");
                }
            }
        }
        key
    }
}

/// The words of a type error without the value that did not fit, which may be a secret in the wrong place.
fn without_values(message: &str) -> String {
    let Some((found, expected)) = message.rsplit_once(", expected ") else { return message.to_owned() };
    let kind = |found: &str| found.split(['`', '"']).next().unwrap_or_default().trim().to_owned();
    for beginning in ["invalid type: ", "invalid value: ", "unknown variant "] {
        if found.starts_with(beginning) {
            return format!("{}, expected {expected}", kind(found));
        }
    }
    message.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(text: &str) -> Vec<(Option<usize>, String)> {
        let mut value = source::parse(text).unwrap();
        let (_, problems) = typed(&mut value, Some(text));
        problems.into_iter().map(|problem| (problem.line, problem.key)).collect()
    }

    #[test]
    fn everything_that_does_not_fit_is_told() {
        let text = "{\n\"server\": {\"listen\": 7,\n\"lisen\": 1},\n\"permissions\": {\"deny\": [1,\n\"Bash\",\n2,\n3],\n\"mode\": \"x\"},\n\"tokens\": 1}";
        let mut found = problems(text);
        found.sort();
        let key = |line, key: &str| (Some(line), key.to_owned());
        let expected = [
            key(2, "server.listen"),
            key(3, "server.lisen"),
            key(4, "permissions.deny[0]"),
            key(6, "permissions.deny[2]"),
            key(7, "permissions.deny[3]"),
            key(8, "permissions.mode"),
            key(9, "tokens"),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn a_text_that_is_all_wrong_is_told_within_bounds() {
        let many: Vec<String> = (0..500).map(|n| format!("\"k{n}\": 1")).collect();
        assert_eq!(problems(&format!("{{{}}}", many.join(","))).len(), PROBLEMS_MAX);
    }

    #[test]
    fn a_list_is_no_object() {
        for (text, key) in [
            ("[]", ""),
            (r#"{"server": ["127.0.0.1:1"]}"#, "server"),
            (r#"{"auth": {"tokens": [["a", "operator"]]}}"#, "auth.tokens"),
        ] {
            assert_eq!(problems(text), [(Some(1), key.to_owned())], "{text}");
        }
    }

    #[test]
    fn values_are_not_repeated() {
        for text in [
            r#"{"auth": {"tokens": "tgt_sesame"}}"#,
            r#"{"auth": {"mode": "sesame`, expected `x"}}"#,
            r#"{"data_dir": {"sesame": 1}, "server": {"listen": ["sesame"]}}"#,
        ] {
            let (_, problems) = typed(&mut source::parse(text).unwrap(), Some(text));
            assert!(!problems.is_empty());
            for problem in problems {
                assert!(!problem.message.contains("sesame"), "{problem:?}");
            }
        }
    }
}
