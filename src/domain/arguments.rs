//! Argument text to a JSON object: strict first, repaired only where nothing can be changed.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// Why argument text was refused; the text is for the model that wrote it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ArgumentsError {
    /// Not JSON, or a key twice.
    #[error("the arguments are not valid JSON: {0}. Send one complete JSON object")]
    Syntax(String),
    /// JSON, but no object.
    #[error("the arguments must be a JSON object, not {0}")]
    NotAnObject(&'static str),
    /// A NUL character, which no tool takes.
    #[error("the arguments hold a NUL character at {0}; remove it")]
    Nul(String),
}

/// Arguments as read.
#[derive(Debug, Clone, PartialEq)]
pub struct Parsed {
    /// A JSON object.
    pub value: Value,
    /// What was mended, where the text was not valid as it came.
    pub repair: Option<&'static str>,
}

/// Reads argument text strictly: one JSON object (RFC 8259), no key twice at any depth, no NUL.
/// Empty text is the empty object.
pub fn parse_tool_args(text: &str) -> Result<Value, ArgumentsError> {
    if text.trim().is_empty() {
        return Ok(Value::Object(Map::new()));
    }
    let value = parse_unambiguous(text).map_err(|error| ArgumentsError::Syntax(error.to_string()))?;
    if !value.is_object() {
        return Err(ArgumentsError::NotAnObject(kind_of(&value)));
    }
    match find_nul(&value, String::new()) {
        Some(place) => Err(ArgumentsError::Nul(place)),
        None => Ok(value),
    }
}

/// Reads strictly and, failing that, closes what was cut off: only for tools that are read-only by
/// name, since a call that was cut short must never change anything.
pub fn parse_tool_args_best_effort(text: &str) -> Result<Parsed, ArgumentsError> {
    let strict = match parse_tool_args(text) {
        Ok(value) => return Ok(Parsed { value, repair: None }),
        Err(error @ ArgumentsError::Syntax(_)) => error,
        Err(error) => return Err(error),
    };
    let closed = close_open_ends(text);
    match parse_tool_args(&closed) {
        Ok(value) => Ok(Parsed { value, repair: Some("the argument text was cut off and has been closed") }),
        Err(_) => Err(strict),
    }
}

/// Closes an open string and open brackets, and drops a trailing comma.
fn close_open_ends(text: &str) -> String {
    let mut closers = Vec::new();
    let (mut in_string, mut escaped) = (false, false);
    for c in text.chars() {
        match (in_string, escaped, c) {
            (true, true, _) => escaped = false,
            (true, false, '\\') => escaped = true,
            (_, _, '"') => in_string = !in_string,
            (false, _, '{') => closers.push('}'),
            (false, _, '[') => closers.push(']'),
            (false, _, '}' | ']') => {
                closers.pop();
            }
            _ => {}
        }
    }
    let mut closed = text.trim_end().to_owned();
    if escaped {
        closed.pop();
    }
    if in_string {
        closed.push('"');
    }
    if closed.ends_with(',') {
        closed.pop();
    }
    closed.extend(closers.iter().rev());
    closed
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

fn find_nul(value: &Value, pointer: String) -> Option<String> {
    match value {
        Value::String(text) => text.contains('\0').then_some(pointer),
        Value::Array(items) => {
            items.iter().enumerate().find_map(|(index, item)| find_nul(item, format!("{pointer}/{index}")))
        }
        Value::Object(map) => map.iter().find_map(|(key, item)| {
            let place = format!("{pointer}/{key}");
            if key.contains('\0') { Some(place) } else { find_nul(item, place) }
        }),
        _ => None,
    }
}

/// Reads JSON text in which no object has a key twice, at any depth.
pub fn parse_unambiguous(text: &str) -> Result<Value, serde_json::Error> {
    serde_json::from_str(text).map(|Unambiguous(value)| value)
}

/// For a field of a request that is any JSON value (`deserialize_with`): no key twice in it.
pub fn unambiguous<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Value, D::Error> {
    Unambiguous::deserialize(deserializer).map(|Unambiguous(value)| value)
}

/// The same for one that may be missing or null.
pub fn unambiguous_or_none<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    let read = Option::<Unambiguous>::deserialize(deserializer)?;
    Ok(read.map(|Unambiguous(value)| value))
}

/// For a field of a request that is a map of texts: no key twice in it.
pub fn unambiguous_texts<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<BTreeMap<String, String>, D::Error> {
    struct Texts;
    impl<'de> Visitor<'de> for Texts {
        type Value = BTreeMap<String, String>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a JSON object of strings")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Self::Value, A::Error> {
            let mut map = BTreeMap::new();
            while let Some((key, value)) = access.next_entry::<String, String>()? {
                if map.contains_key(&key) {
                    return Err(twice(&key));
                }
                map.insert(key, value);
            }
            Ok(map)
        }
    }
    deserializer.deserialize_map(Texts)
}

fn twice<E: de::Error>(key: &str) -> E {
    E::custom(format!("the key {key:?} appears twice"))
}

/// A JSON value in which no object has a key twice. `serde_json::Value` would keep the last one,
/// while another parser may keep the first: what was judged could differ from what runs.
struct Unambiguous(Value);

impl<'de> Deserialize<'de> for Unambiguous {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(UnambiguousVisitor).map(Self)
    }
}

struct UnambiguousVisitor;

impl<'de> Visitor<'de> for UnambiguousVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Value, E> {
        Number::from_f64(value).map(Value::Number).ok_or_else(|| E::custom("a number out of range"))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
        let mut items = Vec::new();
        while let Some(Unambiguous(item)) = seq.next_element()? {
            items.push(item);
        }
        Ok(Value::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        let mut map = Map::new();
        while let Some(key) = access.next_key::<String>()? {
            let Unambiguous(value) = access.next_value()?;
            if map.contains_key(&key) {
                return Err(twice(&key));
            }
            map.insert(key, value);
        }
        Ok(Value::Object(map))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn strict_reading() {
        assert_eq!(parse_tool_args("").unwrap(), json!({}));
        assert_eq!(parse_tool_args(" \n").unwrap(), json!({}));
        assert_eq!(
            parse_tool_args(r#"{"a":[1,-2,3.5,null,true]}"#).unwrap(),
            json!({"a":[1,-2,3.5,null,true]})
        );
        for (bad, says) in [
            (r#"{"a":1"#, "not valid JSON"),
            (r#"{"a":1} x"#, "not valid JSON"),
            ("[]", "not an array"),
            ("\"{}\"", "not a string"),
            (r#"{"a":{"b":["\u0000"]}}"#, "/a/b/0"),
        ] {
            let error = parse_tool_args(bad).unwrap_err().to_string();
            assert!(error.contains(says), "{bad}: {error}");
        }
    }

    #[test]
    fn p20_a_key_twice_is_refused_at_any_depth() {
        for bad in [r#"{"a":1,"a":1}"#, r#"{"x":[{"a":1,"\u0061":2}]}"#] {
            let error = parse_tool_args(bad).unwrap_err().to_string();
            assert!(error.contains("twice"), "{error}");
            assert!(parse_tool_args_best_effort(bad).is_err());
        }
    }

    #[test]
    fn f8_content_that_looks_like_json_stays_text() {
        for text in ["123", "true", "null"] {
            let parsed = parse_tool_args(&format!(r#"{{"content":"{text}"}}"#)).unwrap();
            assert_eq!(parsed, json!({ "content": text }));
        }
    }

    #[test]
    fn what_was_cut_off_is_closed() {
        for (cut, whole) in [
            (r#"{"a":"b"#, json!({"a":"b"})),
            (r#"{"a":["b","c""#, json!({"a":["b","c"]})),
            (r#"{"a":1,"#, json!({"a":1})),
            (r#"{"a":"b\"#, json!({"a":"b"})),
        ] {
            let parsed = parse_tool_args_best_effort(cut).unwrap();
            assert_eq!(parsed.value, whole);
            assert!(parsed.repair.is_some());
        }
        assert!(parse_tool_args_best_effort(r#"{"a":"#).is_err());
        assert_eq!(parse_tool_args_best_effort("{}").unwrap().repair, None);
    }

    #[test]
    fn deep_nesting_is_an_error_not_a_crash() {
        let deep = format!("{}{}", r#"{"a":"#.repeat(100_000), "}".repeat(100_000));
        assert!(parse_tool_args(&deep).is_err());
        assert!(parse_tool_args_best_effort(&deep).is_err());
    }
}
