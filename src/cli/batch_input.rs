//! Reads calls from text: one a line, an array, or an object that holds them.

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::domain::call::ToolCall;

use super::error::CliError;

/// An object that holds calls: a batch's body, or a model's message.
#[derive(Deserialize)]
struct Holder {
    #[serde(alias = "tool_calls")]
    calls: Vec<ToolCall>,
}

/// The calls in the text, in its order; an error names the line.
pub(super) fn read_calls(text: &str) -> Result<Vec<ToolCall>, CliError> {
    let mut calls = Vec::new();
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<&RawValue>();
    loop {
        let line = line_at(text, values.byte_offset());
        match values.next() {
            None => break,
            Some(Err(error)) => return Err(wrong(error.line().max(1), &error)),
            Some(Ok(value)) => {
                let read = of_value(value.get());
                calls.extend(read.map_err(|error| wrong(line + error.line().saturating_sub(1), &error))?);
            }
        }
    }
    if calls.is_empty() {
        return Err(CliError::usage("there are no calls to make", "the form is in `toolgate batch --help`"));
    }
    Ok(calls)
}

fn of_value(text: &str) -> Result<Vec<ToolCall>, serde_json::Error> {
    if text.starts_with('[') {
        return serde_json::from_str(text);
    }
    // What has a function is a call; what has not should hold some.
    let fields: std::collections::HashMap<String, &RawValue> = serde_json::from_str(text)?;
    if fields.contains_key("calls") || fields.contains_key("tool_calls") {
        return serde_json::from_str::<Holder>(text).map(|holder| holder.calls);
    }
    serde_json::from_str(text).map(|call| vec![call])
}

/// The line, from 1, of the first thing after a place in the text.
fn line_at(text: &str, offset: usize) -> usize {
    let rest = text.get(offset..).unwrap_or_default();
    let blank = rest.len() - rest.trim_start().len();
    1 + text.as_bytes().iter().take(offset + blank).filter(|byte| **byte == b'\n').count()
}

fn wrong(line: usize, error: &serde_json::Error) -> CliError {
    let text = error.to_string();
    // The place that the message ends with counts from the beginning of one value.
    let what = text.rsplit_once(" at line ").map_or(text.as_str(), |(what, _)| what);
    CliError::usage(format!("line {line}: {what}"), "the form is in `toolgate batch --help`")
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: &str = r#"{"id":"a","function":{"name":"Read","arguments":{"x":1,"x":2}}}"#;
    const B: &str = r#"{"id":"b","type":"function","function":{"name":"Bash","arguments":"{}"}}"#;

    #[test]
    fn every_form_gives_the_same_calls() {
        for text in [
            format!("{A}\n{B}\n"),
            format!("\n\n{A}  {B}"),
            format!("[{A},\n{B}]"),
            format!("{{\"calls\":[{A},{B}]}}"),
            format!("{{\"role\":\"assistant\",\"tool_calls\":[{A},{B}]}}"),
        ] {
            let calls = read_calls(&text).unwrap();
            let ids: Vec<_> = calls.iter().map(|call| call.id.as_str()).collect();
            assert_eq!(ids, ["a", "b"], "{text}");
            // The arguments travel as they were written: a key that is there twice is for the server to see.
            assert_eq!(calls[0].function.arguments, r#"{"x":1,"x":2}"#);
        }
    }

    #[test]
    fn errors_name_the_line() {
        for (text, parts) in [
            (format!("{A}\n\n{{\"id\":\"c\"}}"), &["line 3", "function"][..]),
            (format!("{A}\n{{\"id\":"), &["line 2", "EOF"]),
            (
                format!("[{A},\n{B},\n{{\"function\":{{\"name\":\"R\",\"arguments\":7}}}}]"),
                &["line 3", "arguments"],
            ),
            ("nonsense".into(), &["line 1"]),
            ("7".into(), &["line 1"]),
            (String::new(), &["no calls"]),
            ("[]".into(), &["no calls"]),
        ] {
            let report = read_calls(&text).unwrap_err().report().unwrap();
            for part in parts {
                assert!(report.contains(part), "{part} in {report}");
            }
        }
    }
}
