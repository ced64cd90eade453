//! What a call is about, told by its arguments: what it acts on comes first, what is long comes last.

use std::fmt::Write as _;

use serde_json::Value;

/// Parameters that say what a call acts on, in the order in which they are shown.
const MAIN: &[&str] =
    &["command", "method", "url", "file_path", "path", "workdir", "pattern", "question", "bash_id", "input"];

/// The arguments in the order in which a person should read them: nothing that is long pushes out of sight what
/// the call acts on.
pub fn ordered(arguments: &Value) -> Vec<(&str, &Value)> {
    let fields = arguments.as_object().into_iter().flatten();
    let mut fields: Vec<_> = fields
        .map(|(name, value)| {
            let main = MAIN.iter().position(|main| main == name).unwrap_or(MAIN.len());
            let length = if main < MAIN.len() { 0 } else { name.len() + value.to_string().len() };
            (main, length, name.as_str(), value)
        })
        .collect();
    fields.sort_by_key(|(main, length, name, _)| (*main, *length, *name));
    fields.into_iter().map(|(_, _, name, value)| (name, value)).collect()
}

/// The arguments as JSON in that order.
pub fn json(arguments: &Value) -> String {
    if !arguments.is_object() {
        return arguments.to_string();
    }
    let mut text = "{".to_owned();
    for (index, (name, value)) in ordered(arguments).into_iter().enumerate() {
        let comma = if index == 0 { "" } else { "," };
        let _ = write!(text, "{comma}{}:{value}", Value::from(name));
    }
    text.push('}');
    text
}

/// In a few words: the one argument that says most, and where it counts from; else all as JSON.
pub fn in_short(arguments: &Value) -> String {
    let text = |name: &str| arguments.get(name).and_then(Value::as_str);
    let main = ["command", "file_path", "path", "pattern", "question", "url"];
    let Some(said) = main.iter().find_map(|name| text(name)) else { return json(arguments) };
    match (text("workdir"), text("method")) {
        (Some(directory), _) => format!("in {directory}: {said}"),
        (None, Some(method)) => format!("{method} {said}"),
        (None, None) => said.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_it_acts_on_comes_first_and_what_is_long_last() {
        let long = "x".repeat(500);
        for (arguments, begins) in [
            (json!({"content": long, "file_path": "ci.yml"}), r#"{"file_path":"ci.yml","content":"x"#),
            (
                json!({"body": long, "headers": {}, "url": "http://a", "method": "PUT"}),
                r#"{"method":"PUT","url":"http://a","headers":{},"body":"#,
            ),
            (json!({"a": long, "target": "prod"}), r#"{"target":"prod","a":"#),
            (json!([1]), "[1]"),
        ] {
            let text = json(&arguments);
            assert!(text.starts_with(begins), "{text}");
            assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), arguments);
        }
    }

    #[test]
    fn in_short_it_is_what_is_run() {
        assert_eq!(in_short(&json!({"command": "ls\n", "timeout": 5})), "ls\n");
        assert_eq!(in_short(&json!({"command": "rm -r x", "workdir": "/etc"})), "in /etc: rm -r x");
        assert_eq!(in_short(&json!({"url": "http://a", "method": "PUT", "body": "b"})), "PUT http://a");
        assert_eq!(in_short(&json!({"x": 1})), "{\"x\":1}");
    }
}
