//! `POST /v1/sessions/{sid}/turns`: the same scenes in the form of each API.

mod answers;
mod envelope;
mod identity;
mod images;
mod names;
mod pauses;

use serde_json::{Value, json};

use crate::support::{Answer, TestServer, TestSession};

/// The APIs.
const FORMATS: [&str; 4] = ["openai", "openai-responses", "anthropic", "gemini"];

/// A call as a scene has it: id, tool, arguments.
type Asked<'a> = (&'a str, &'a str, Value);

/// What a model says that makes these calls.
fn said(format: &str, calls: &[Asked<'_>]) -> Value {
    let calls = calls.iter();
    match format {
        "openai" => {
            let call = |(id, name, arguments): &Asked<'_>| {
                let function = json!({"name": name, "arguments": text_of(arguments)});
                json!({"id": id, "type": "function", "function": function})
            };
            let calls: Vec<_> = calls.map(call).collect();
            json!({"role": "assistant", "content": "I will look.", "tool_calls": calls})
        }
        "openai-responses" => {
            let call = |(id, name, arguments): &Asked<'_>| {
                json!({"type": "function_call", "id": format!("fc_{id}"), "call_id": id, "name": name,
                    "arguments": text_of(arguments)})
            };
            let reasoning = json!({"type": "reasoning", "id": "rs_1", "summary": []});
            Value::Array(std::iter::once(reasoning).chain(calls.map(call)).collect())
        }
        "anthropic" => {
            let block = |(id, name, arguments): &Asked<'_>| json!({"type": "tool_use", "id": id, "name": name, "input": arguments});
            let text = json!({"type": "text", "text": "I will look."});
            let content: Vec<_> = std::iter::once(text).chain(calls.map(block)).collect();
            json!({"role": "assistant", "content": content})
        }
        _ => {
            let part = |(id, name, arguments): &Asked<'_>| json!({"functionCall": {"id": id, "name": name, "args": arguments}});
            json!({"role": "model", "parts": calls.map(part).collect::<Vec<_>>()})
        }
    }
}

/// Arguments as text; a string is text already, which may be cut off.
fn text_of(arguments: &Value) -> String {
    arguments.as_str().map_or_else(|| arguments.to_string(), str::to_owned)
}

/// One result in what is to be appended: id, text, and whether the API is told that it failed.
type Told = (String, String, Option<bool>);

/// The results in an answer, in order, with the form around them checked.
#[track_caller]
fn told(format: &str, answer: &Value) -> Vec<Told> {
    let (key, other) =
        if format == "openai-responses" { ("items", "messages") } else { ("messages", "items") };
    assert!(answer.get(other).is_none(), "{answer}");
    let appended = answer[key].as_array().unwrap_or_else(|| panic!("no {key} in {answer}"));
    let text = |value: &Value| value.as_str().unwrap_or_else(|| panic!("no text: {answer}")).to_owned();
    match format {
        "openai" => {
            let read = |message: &Value| {
                assert_eq!(message["role"], "tool", "{answer}");
                (text(&message["tool_call_id"]), text(&message["content"]), None)
            };
            appended.iter().map(read).collect()
        }
        "openai-responses" => {
            let read = |item: &Value| {
                assert_eq!(item["type"], "function_call_output", "{answer}");
                (text(&item["call_id"]), text(&item["output"]), None)
            };
            appended.iter().map(read).collect()
        }
        "anthropic" => {
            assert!(appended.len() <= 1, "all results stand in one message: {answer}");
            let blocks = appended.iter().flat_map(|message| {
                assert_eq!(message["role"], "user", "{answer}");
                message["content"].as_array().unwrap()
            });
            let read = |block: &Value| {
                assert_eq!(block["type"], "tool_result", "{answer}");
                let failed = block.get("is_error").is_some_and(|is_error| is_error == true);
                (text(&block["tool_use_id"]), text(&block["content"]), Some(failed))
            };
            blocks.map(read).collect()
        }
        _ => {
            assert!(appended.len() <= 1, "all responses stand in one content: {answer}");
            let parts = appended.iter().flat_map(|content| {
                assert_eq!(content["role"], "user", "{answer}");
                content["parts"].as_array().unwrap()
            });
            let read = |part: &Value| {
                let response = &part["functionResponse"];
                let failed = response["response"].get("error");
                let said = failed.unwrap_or(&response["response"]["output"]);
                (text(&response["id"]), text(said), Some(failed.is_some()))
            };
            parts.map(read).collect()
        }
    }
}

/// The texts of the results.
#[track_caller]
fn texts(format: &str, answer: &Value) -> Vec<String> {
    told(format, answer).into_iter().map(|(_, text, _)| text).collect()
}

fn statuses(answer: &Value) -> Vec<&str> {
    answer["calls"].as_array().unwrap().iter().map(|call| call["status"].as_str().unwrap()).collect()
}

/// Posts a turn; `query` goes on after the format.
async fn post(session: &TestSession, format: &str, query: &str, body: &Value) -> Answer {
    session.client.post(&session.path(&format!("/turns?format={format}{query}")), body).await
}

/// A server whose sessions have a tool that the client runs, without asking for it.
fn with_camera() -> (TestServer, Value) {
    let server = TestServer::with_config(&json!({"permissions": {"allow": ["camera"]}}));
    let parameters = json!({"type": "object", "properties": {}});
    let tool = json!({"name": "camera", "description": "Looks.", "parameters": parameters, "kind": "client"});
    (server, json!({ "tools": [tool] }))
}
