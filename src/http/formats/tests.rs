//! What each API's bodies are read as, what is appended after them, and how tools are told.

use serde_json::{Value, json};

use super::turn::{Answer, Asked, ModelCall};
use super::{Provider, ToolFormat, Turn, TurnFormat, tools};
use crate::domain::call::{Call, CallStatus};
use crate::domain::identity::CallKey;
use crate::domain::result::{Image, ToolResult};
use crate::domain::schema::{ToolMutability, ToolSchema};

/// What a body is read as: id, name, argument text of each call.
#[track_caller]
fn reads(format: TurnFormat, body: &Value, expected: &[(&str, &str, &str)]) {
    let calls = format.provider().parse(&body.to_string()).unwrap();
    let found: Vec<_> = calls
        .iter()
        .map(|call| {
            let Asked::Function(arguments) = &call.asked else { panic!("{call:?}") };
            (call.id.as_deref().unwrap_or(""), call.name.as_str(), arguments.as_str())
        })
        .collect();
    assert_eq!(found, expected, "{body}");
}

#[track_caller]
fn refuses(format: TurnFormat, body: &Value, pointer: &str, says: &str) {
    let error = format.provider().parse(&body.to_string()).unwrap_err();
    assert_eq!(error.pointer, pointer, "{body}: {error}");
    assert!(error.message.contains(says), "{body}: {error}");
}

fn answers<'a>(calls: &'a [ModelCall], results: &'a [ToolResult]) -> Vec<Answer<'a>> {
    let answer = |(call, result): (&'a ModelCall, &'a ToolResult)| Answer {
        call,
        id: call.id.as_deref().unwrap_or("made"),
        text: &result.result,
        success: result.success,
        images: &result.images,
    };
    calls.iter().zip(results).map(answer).collect()
}

#[track_caller]
fn renders(format: TurnFormat, body: &Value, results: &[ToolResult], expected: &Value) {
    let provider: &dyn Provider = format.provider();
    let calls = provider.parse(&body.to_string()).unwrap();
    assert_eq!(calls.len(), results.len());
    assert_eq!(Value::Array(provider.render(&answers(&calls, results))), *expected);
}

fn image(media_type: &str) -> Image {
    Image { media_type: media_type.to_owned(), data: "aGk=".to_owned() }
}

/// A success, a failure, and one with images of which one is of a type that no API takes.
fn results() -> Vec<ToolResult> {
    let images = vec![image("image/png"), image("image/tiff"), image("image/jpeg")];
    vec![
        ToolResult::ok("done"),
        ToolResult::unsuccessful("no"),
        ToolResult { images, ..ToolResult::ok("see") },
    ]
}

// ---- chat completions -------------------------------------------------------------------------

fn function(id: &str, name: &str, arguments: &str) -> Value {
    json!({"id": id, "type": "function", "function": {"name": name, "arguments": arguments}})
}

fn assistant(calls: &[Value]) -> Value {
    json!({"role": "assistant", "content": null, "refusal": null, "tool_calls": calls})
}

#[test]
fn chat_completions_are_read() {
    let calls = [function("a", "Read", r#"{"file_path":"x"}"#), function("b", "Glob", r#"{"pattern":"#)];
    let expected = [("a", "Read", r#"{"file_path":"x"}"#), ("b", "Glob", r#"{"pattern":"#)];
    let message = assistant(&calls);
    let whole = json!({"id": "c", "object": "chat.completion", "choices": [
        {"index": 0, "finish_reason": "tool_calls", "message": message}
    ], "usage": {}});
    for body in [message.clone(), whole, json!(calls), json!([message])] {
        reads(TurnFormat::Openai, &body, &expected);
    }
    for quiet in [
        json!({"role": "assistant", "content": "hi"}),
        json!({"role": "assistant", "content": null, "tool_calls": null}),
        json!({"role": "assistant", "content": "", "tool_calls": [], "function_call": null}),
        json!({"choices": [{"message": {"role": "assistant", "content": "hi"}}]}),
        json!([]),
    ] {
        reads(TurnFormat::Openai, &quiet, &[]);
    }
    // What other servers do: no type, arguments as an object or left out, no id.
    reads(
        TurnFormat::Openai,
        &json!({"tool_calls": [
            {"function": {"name": "Read", "arguments": {"b": 1, "a": 2}}},
            {"id": "", "function": {"name": "Glob"}},
            {"id": "c", "function": {"arguments": null}}
        ]}),
        &[("", "Read", r#"{"a":2,"b":1}"#), ("", "Glob", ""), ("c", "", "")],
    );
}

#[test]
fn chat_completions_that_are_none_are_refused() {
    let message = assistant(&[function("a", "Read", "{}")]);
    for (body, pointer, says) in [
        (json!({}), "", "expected the assistant's message"),
        (json!({"error": {"message": "overloaded"}}), "", "expected the assistant's message"),
        (json!("hi"), "", "expected the assistant's message"),
        (json!(null), "", "expected the assistant's message"),
        (json!({"role": "user", "content": "hi"}), "/role", "assistant"),
        (json!({"choices": []}), "/choices", "0 choices"),
        (json!({"choices": [{"message": message}, {"message": message}]}), "/choices", "2 choices"),
        (json!({"choices": [{"delta": {}}]}), "/choices/0", "stream"),
        (json!({"choices": [{"message": {"role": "tool"}}]}), "/choices/0/message/role", "assistant"),
        (json!({"role": "assistant", "tool_calls": {}}), "/tool_calls", "a list"),
        (json!({"role": "assistant", "tool_calls": [7]}), "/tool_calls/0", "a tool call"),
        (json!({"role": "assistant", "tool_calls": [{"id": "a"}]}), "/tool_calls/0", "expected a tool call"),
        (json!({"role": "assistant", "tool_calls": [{"id": 7}]}), "/tool_calls/0/id", "a string"),
        (json!({"role": "assistant", "function_call": {"name": "Read"}}), "/function_call", "old form"),
        (json!([{"role": "user"}, message]), "/0", "not the conversation"),
        (json!([{"type": "function_call"}]), "/0", "expected a tool call"),
    ] {
        refuses(TurnFormat::Openai, &body, pointer, says);
    }
}

#[test]
fn images_of_chat_completions_follow_in_a_message_of_the_users() {
    let message = assistant(&[function("a", "A", ""), function("b", "B", ""), function("c", "C", "")]);
    let left_out = "[an image of type image/tiff is left out: this API takes image/png, image/jpeg, image/webp, \
                    image/gif]";
    renders(
        TurnFormat::Openai,
        &message,
        &results(),
        &json!([
            {"role": "tool", "tool_call_id": "a", "content": "done"},
            {"role": "tool", "tool_call_id": "b", "content": "no"},
            {"role": "tool", "tool_call_id": "c", "content": format!("see\n{left_out}")},
            {"role": "user", "content": [
                {"type": "text", "text": "Images of the result of C (c):"},
                {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk="}},
                {"type": "image_url", "image_url": {"url": "data:image/jpeg;base64,aGk="}}
            ]}
        ]),
    );
    renders(TurnFormat::Openai, &assistant(&[]), &[], &json!([]));
}

#[test]
fn a_custom_call_of_chat_completions_gets_an_answer() {
    let custom = json!({"id": "a", "type": "custom", "custom": {"name": "Bash", "input": "ls"}});
    let body = assistant(&[custom, function("b", "Read", "{}"), function("c", "", "{}")]).to_string();
    let turn = Turn::read(TurnFormat::Openai, &[], &body, None).unwrap();
    let calls = turn.calls();
    assert_eq!(calls.len(), 1, "{calls:?}");
    assert_eq!(calls[0].function.name, "Read");
    let answers = turn.render(&[ended("b", ToolResult::ok("read"))]);
    let contents: Vec<_> = answers.iter().map(|message| message["content"].as_str().unwrap()).collect();
    assert!(contents[0].contains("functions"), "{contents:?}");
    assert_eq!(contents[1], "read");
    assert!(contents[2].contains("1 to 1024 bytes"), "{contents:?}");
}

// ---- responses --------------------------------------------------------------------------------

fn item(call_id: &str, name: &str, arguments: &str) -> Value {
    json!({"type": "function_call", "id": format!("fc_{call_id}"), "call_id": call_id, "name": name,
        "arguments": arguments, "status": "completed"})
}

#[test]
fn responses_are_read() {
    let items = json!([
        {"type": "reasoning", "id": "rs", "summary": []},
        item("a", "Read", "{}"),
        {"type": "web_search_call", "id": "ws", "status": "completed"},
        {"type": "custom_tool_call", "call_id": "x", "name": "own", "input": "…"},
        {"type": "message", "role": "assistant", "content": []},
        {"role": "assistant", "content": "hi"},
        item("done", "Read", "{}"),
        {"type": "function_call_output", "call_id": "done", "output": "by the API itself"},
        item("b", "Bash", r#"{"command":"l"#)
    ]);
    let expected = [("a", "Read", "{}"), ("b", "Bash", r#"{"command":"l"#)];
    for body in [items.clone(), json!({"id": "resp", "object": "response", "output": items})] {
        reads(TurnFormat::OpenaiResponses, &body, &expected);
    }
    reads(TurnFormat::OpenaiResponses, &item("a", "Read", "{}"), &[("a", "Read", "{}")]);
    reads(TurnFormat::OpenaiResponses, &json!({"output": []}), &[]);
    reads(TurnFormat::OpenaiResponses, &json!([]), &[]);
}

#[test]
fn responses_that_are_none_are_refused() {
    for (body, pointer, says) in [
        (json!({}), "", "expected a whole response"),
        (json!(7), "", "expected a whole response"),
        (json!({"choices": []}), "", "expected a whole response"),
        (json!({"output": "text"}), "/output", "a list"),
        (json!({"output": [{"name": "Read"}]}), "/output/0/type", "type"),
        (json!(["text"]), "/0", "an item"),
        (json!([{"type": "function_call", "call_id": 7}]), "/0/call_id", "a string"),
    ] {
        refuses(TurnFormat::OpenaiResponses, &body, pointer, says);
    }
}

#[test]
fn outputs_of_responses_have_images_in_them() {
    let mut third = item("c", "C", "");
    third["caller"] = json!({"type": "program", "caller_id": "p"});
    let left_out = "[an image of type image/tiff is left out: this API takes image/png, image/jpeg, image/webp, \
                    image/gif]";
    renders(
        TurnFormat::OpenaiResponses,
        &json!([item("a", "A", ""), item("b", "B", ""), third]),
        &results(),
        &json!([
            {"type": "function_call_output", "call_id": "a", "output": "done"},
            {"type": "function_call_output", "call_id": "b", "output": "no"},
            {"type": "function_call_output", "call_id": "c", "caller": {"type": "program", "caller_id": "p"},
                "output": [
                {"type": "input_text", "text": format!("see\n{left_out}")},
                {"type": "input_image", "detail": "auto", "image_url": "data:image/png;base64,aGk="},
                {"type": "input_image", "detail": "auto", "image_url": "data:image/jpeg;base64,aGk="}
            ]}
        ]),
    );
}

// ---- messages ---------------------------------------------------------------------------------

fn tool_use(id: &str, name: &str, input: &Value) -> Value {
    json!({"type": "tool_use", "id": id, "name": name, "input": input})
}

#[test]
fn messages_are_read() {
    let content = json!([
        {"type": "thinking", "thinking": "…", "signature": "s"},
        {"type": "text", "text": "I will look."},
        tool_use("a", "Read", &json!({"offset": 1, "file_path": "x"})),
        {"type": "server_tool_use", "id": "srv", "name": "web_search", "input": {}},
        {"type": "web_search_tool_result", "tool_use_id": "srv", "content": []},
        tool_use("b", "Bash", &json!({}))
    ]);
    let expected = [("a", "Read", r#"{"file_path":"x","offset":1}"#), ("b", "Bash", "{}")];
    let message = json!({"role": "assistant", "content": content});
    let whole = json!({"id": "msg", "type": "message", "role": "assistant", "content": content,
        "stop_reason": "tool_use"});
    for body in [message.clone(), whole, content.clone(), json!([message])] {
        reads(TurnFormat::Anthropic, &body, &expected);
    }
    reads(TurnFormat::Anthropic, &json!({"role": "assistant", "content": "hi"}), &[]);
    reads(TurnFormat::Anthropic, &json!({"content": [{"type": "text", "text": "hi"}]}), &[]);
    reads(TurnFormat::Anthropic, &json!([]), &[]);
}

#[test]
fn messages_that_are_none_are_refused() {
    for (body, pointer, says) in [
        (json!({}), "", "expected the assistant's message"),
        (
            json!({"type": "error", "error": {"type": "overloaded_error"}}),
            "",
            "expected the assistant's message",
        ),
        (json!(7), "", "expected the assistant's message"),
        (json!({"role": "user", "content": []}), "/role", "assistant"),
        (json!({"content": {}}), "/content", "a list"),
        (json!({"content": ["text"]}), "/content/0", "a content block"),
        (json!({"content": [{"text": "hi"}]}), "/content/0/type", "type"),
        (
            json!([{"role": "user", "content": "hi"}, {"role": "assistant", "content": []}]),
            "/0",
            "conversation",
        ),
        (json!([{"type": "tool_use", "id": "a", "name": 7}]), "/0/name", "a string"),
    ] {
        refuses(TurnFormat::Anthropic, &body, pointer, says);
    }
}

#[test]
fn all_results_of_a_message_stand_in_one() {
    let mut third = tool_use("c", "C", &json!({}));
    third["toolset_name"] = json!("set");
    let left_out = "[an image of type image/tiff is left out: this API takes image/jpeg, image/png, image/gif, \
                    image/webp]";
    let source = |kind: &str| json!({"type": "base64", "media_type": kind, "data": "aGk="});
    renders(
        TurnFormat::Anthropic,
        &json!([tool_use("a", "A", &json!({})), tool_use("b", "B", &json!({})), third]),
        &results(),
        &json!([{"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "a", "content": "done"},
            {"type": "tool_result", "tool_use_id": "b", "content": "no", "is_error": true},
            {"type": "tool_result", "tool_use_id": "c", "toolset_name": "set", "content": [
                {"type": "text", "text": format!("see\n{left_out}")},
                {"type": "image", "source": source("image/png")},
                {"type": "image", "source": source("image/jpeg")}
            ]}
        ]}]),
    );
    renders(TurnFormat::Anthropic, &json!([]), &[], &json!([]));
}

#[test]
fn a_result_of_no_text_has_no_empty_block() {
    let uses = json!([tool_use("a", "A", &json!({})), tool_use("b", "B", &json!({}))]);
    let pictured = ToolResult { images: vec![image("image/png")], ..ToolResult::ok(" \n") };
    let source = json!({"type": "base64", "media_type": "image/png", "data": "aGk="});
    renders(
        TurnFormat::Anthropic,
        &uses,
        &[ToolResult::ok(""), pictured],
        &json!([{"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "a"},
            {"type": "tool_result", "tool_use_id": "b", "content": [{"type": "image", "source": source}]}
        ]}]),
    );
}

// ---- generateContent --------------------------------------------------------------------------

#[test]
fn contents_are_read() {
    let parts = json!([
        {"text": "I will look.", "thought": true},
        {"functionCall": {"name": "Read", "args": {"offset": 1, "file_path": "x"}}, "thoughtSignature": "s"},
        {"function_call": {"id": "b", "name": "Bash", "args": null}, "text": null, "thought_signature": "s"},
        {"executableCode": {"language": "PYTHON", "code": "1"}}
    ]);
    let expected = [("", "Read", r#"{"file_path":"x","offset":1}"#), ("b", "Bash", "")];
    let content = json!({"role": "model", "parts": parts});
    let candidate = json!({"content": content, "finishReason": "STOP"});
    let whole = json!({"candidates": [candidate], "responseId": "r", "usageMetadata": {}});
    for body in [content.clone(), candidate, whole, parts.clone(), json!([content])] {
        reads(TurnFormat::Gemini, &body, &expected);
    }
    for quiet in [
        json!({"role": "model", "parts": [{"text": "hi"}]}),
        json!({"candidates": [{"finishReason": "SAFETY"}]}),
        json!({"candidates": [{"content": {"role": "model"}}]}),
        json!({"candidates": [{"content": null}], "response_id": null}),
        json!([]),
    ] {
        reads(TurnFormat::Gemini, &quiet, &[]);
    }
}

#[test]
fn contents_that_are_none_are_refused() {
    for (body, pointer, says) in [
        (json!({}), "", "expected the model's content"),
        (json!({"error": {"code": 429}}), "", "expected the model's content"),
        (json!("hi"), "", "expected the model's content"),
        (json!({"role": "user", "parts": []}), "/role", "model"),
        (json!({"parts": {}}), "/parts", "a list"),
        (json!({"parts": ["hi"]}), "/parts/0", "a part"),
        (json!({"candidates": []}), "/candidates", "0 candidates"),
        (json!([{"role": "user", "parts": []}, {"role": "model", "parts": []}]), "/0", "conversation"),
        (json!({"parts": [{"functionCall": {"name": 7}}]}), "/parts/0/functionCall/name", "a string"),
    ] {
        refuses(TurnFormat::Gemini, &body, pointer, says);
    }
}

#[test]
fn responses_to_functions_have_images_in_them() {
    let call = |name: &str| json!({"functionCall": {"name": name}});
    let left_out = "[an image of type image/tiff is left out: this API takes image/png, image/jpeg, image/webp, \
                    image/heic, image/heif]";
    renders(
        TurnFormat::Gemini,
        &json!([{"functionCall": {"id": "a", "name": "A"}}, call("B"), call("C")]),
        &results(),
        &json!([{"role": "user", "parts": [
            {"functionResponse": {"id": "a", "name": "A", "response": {"output": "done"}}},
            {"functionResponse": {"name": "B", "response": {"error": "no"}}},
            {"functionResponse": {"name": "C", "response": {"output": format!("see\n{left_out}")}, "parts": [
                {"inlineData": {"mimeType": "image/png", "data": "aGk="}},
                {"inlineData": {"mimeType": "image/jpeg", "data": "aGk="}}
            ]}}
        ]}]),
    );
}

// ---- turns ------------------------------------------------------------------------------------

fn ended(id: &str, result: ToolResult) -> Call {
    Call {
        session_id: "s".to_owned(),
        key: CallKey::new(None, id.to_owned()).unwrap(),
        tool_name: "Read".to_owned(),
        arguments: json!({}),
        requested_arguments: None,
        status: CallStatus::Completed,
        result: Some(result),
        details: None,
        error: None,
        approval_id: None,
        question: None,
        mutability: ToolMutability::ReadOnly,
        created_at: "2026-01-01T00:00:00Z".parse().unwrap(),
        started_at: None,
        finished_at: None,
        first_seq: 1,
        last_seq: 1,
    }
}

fn ids(format: TurnFormat, body: &Value, turn: Option<&str>) -> Vec<String> {
    let turn = Turn::read(format, &[], &body.to_string(), turn).unwrap();
    turn.calls().into_iter().map(|call| call.id).collect()
}

#[test]
fn a_missing_id_is_made_of_what_no_other_turn_has() {
    let parts = json!([{"functionCall": {"name": "A"}}, {"functionCall": {"name": "B", "id": "b"}}]);
    assert_eq!(ids(TurnFormat::Gemini, &parts, Some("7")), ["call_0", "b"]);
    let whole = json!({"candidates": [{"content": {"parts": parts}}], "responseId": "r"});
    assert_eq!(ids(TurnFormat::Gemini, &whole, None), ["r/0", "b"]);
    assert_eq!(ids(TurnFormat::Gemini, &whole, Some("7")), ["call_0", "b"]);
    let without_call_id = json!([{"type": "function_call", "id": "fc", "name": "A"}]);
    assert_eq!(ids(TurnFormat::OpenaiResponses, &without_call_id, None), ["fc"]);

    let error = Turn::read(TurnFormat::Gemini, &[], &parts.to_string(), None).unwrap_err();
    assert_eq!(error.pointer, "/0");
    assert!(error.message.contains("?turn="), "{error}");
}

#[test]
fn an_id_that_is_no_call_id_is_recorded_by_its_digest() {
    let long = format!("call_1__thought__{}", "x".repeat(4000));
    for id in [long.as_str(), "line\nbreak"] {
        let body = assistant(&[function(id, "Read", "{}")]);
        let found = ids(TurnFormat::Openai, &body, None);
        assert!(found[0].starts_with("sha256:") && found[0].len() == 71, "{found:?}");
        let turn = Turn::read(TurnFormat::Openai, &[], &body.to_string(), None).unwrap();
        let rendered = turn.render(&[ended(&found[0], ToolResult::ok("done"))]);
        assert_eq!(rendered[0]["tool_call_id"], id, "the API knows its own id only");
    }
}

#[test]
fn a_turn_has_at_most_128_calls_each_with_its_own_id() {
    let calls: Vec<_> = (0..129).map(|n| function(&n.to_string(), "Read", "{}")).collect();
    let read = |calls: &[Value]| {
        Turn::read(TurnFormat::Openai, &[], &assistant(calls).to_string(), None)
            .map(|turn| turn.calls().len())
    };
    assert_eq!(read(&calls[..128]), Ok(128));
    let error = read(&calls).unwrap_err();
    assert_eq!((error.pointer.as_str(), error.message.contains("at most 128")), ("/tool_calls", true));
    let error = read(&[calls[0].clone(), calls[1].clone(), calls[0].clone()]).unwrap_err();
    assert_eq!(error.pointer, "/tool_calls/2");
}

// ---- tools ------------------------------------------------------------------------------------

fn awkward() -> Vec<ToolSchema> {
    let parameters = json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "type": "object",
        "properties": {
            "filter[id]": {"type": ["string", "null"], "description": "An id.", "default": null},
            "-n": {"type": "integer", "exclusiveMinimum": 0},
            "pair": {"type": "array", "items": [{"type": "string"}, {"type": "number"}]},
            "level": {"enum": [1, 2, 3]},
            "mode": {"const": "fast"},
            "value": {"anyOf": [{"type": "string"}, {"type": "integer"}, {"type": "null"}], "description": "Any."},
            "map": {"type": "object", "additionalProperties": {"type": "string"}},
            "free": true,
            "when": {"type": "string", "format": "uri", "minLength": 1}
        },
        "required": ["filter[id]", "gone"],
        "anyOf": [{"required": ["-n"]}, {"required": ["pair"]}],
        "additionalProperties": false
    });
    vec![
        ToolSchema::new("3d-render", "Renders.", parameters),
        ToolSchema::new("_3d-render", "Another.", json!({"type": "object"})),
    ]
}

#[test]
fn openai_takes_a_plain_root() {
    for (format, inner) in [(ToolFormat::Openai, "/function"), (ToolFormat::OpenaiResponses, "")] {
        let told = tools(format, &awkward());
        let first = told[0].pointer(inner).unwrap();
        assert_eq!(first["name"], "3d-render");
        let description = first["description"].as_str().unwrap();
        assert!(description.starts_with("Renders.\n\nThe arguments must also match"), "{description}");
        let parameters = first["parameters"].as_object().unwrap();
        for key in ["oneOf", "anyOf", "allOf", "enum", "not", "$schema"] {
            assert!(!parameters.contains_key(key), "{key}");
        }
        assert_eq!(parameters["type"], "object");
        assert!(parameters["properties"]["filter[id]"].is_object(), "keys may be anything");
        assert_eq!(parameters["properties"]["pair"]["items"], json!({}));
        let second = told[1].pointer(inner).unwrap();
        assert_eq!(second["parameters"], json!({"type": "object", "properties": {}}));
    }
    assert_eq!(tools(ToolFormat::OpenaiResponses, &awkward())[0]["strict"], false);
}

#[test]
fn anthropic_takes_keys_of_its_pattern() {
    let told = tools(ToolFormat::Anthropic, &awkward());
    let schema = &told[0]["input_schema"];
    let keys: Vec<_> = schema["properties"].as_object().unwrap().keys().cloned().collect();
    assert!(keys.contains(&"filter_id_".to_owned()) && keys.contains(&"-n".to_owned()), "{keys:?}");
    assert_eq!(schema["required"], json!(["filter_id_", "gone"]));
    assert!(schema.get("anyOf").is_none());
    assert_eq!(told[0]["name"], "3d-render");
}

#[test]
fn gemini_takes_its_own_schema() {
    let told = tools(ToolFormat::Gemini, &awkward());
    assert_eq!(told.len(), 1, "one tool holds all declarations");
    let declarations = told[0]["functionDeclarations"].as_array().unwrap();
    let first = &declarations[0];
    assert!(first["name"].as_str().unwrap().starts_with("_3d-render_"), "{first}");
    assert_eq!(
        first["parameters"],
        json!({
            "type": "OBJECT",
            "properties": {
                "filter_id_": {"type": "STRING", "nullable": true, "description": "An id."},
                "_n": {"type": "INTEGER", "minimum": 1},
                "pair": {"type": "ARRAY", "items": {"anyOf": [{"type": "STRING"}, {"type": "NUMBER"}]}},
                "level": {"type": "INTEGER", "description": "One of: 1, 2, 3."},
                "mode": {"type": "STRING", "enum": ["fast"]},
                "value": {"anyOf": [
                    {"type": "STRING", "description": "Any.", "nullable": true},
                    {"type": "INTEGER", "description": "Any."}
                ]},
                "map": {"type": "OBJECT"},
                "free": {"type": "STRING"},
                "when": {"type": "STRING", "minLength": 1}
            },
            "required": ["filter_id_"]
        })
    );
    assert_eq!(declarations[1], json!({"name": "_3d-render", "description": "Another."}));
    assert_eq!(tools(ToolFormat::Gemini, &[]), Vec::<Value>::new());
}

#[test]
fn mcp_takes_schemas_as_they_are() {
    let awkward = awkward();
    assert_eq!(tools(ToolFormat::Mcp, &awkward)[0]["inputSchema"], awkward[0].function.parameters);
}

#[test]
fn a_call_under_another_name_comes_back() {
    let told = tools(ToolFormat::Gemini, &awkward());
    let name = &told[0]["functionDeclarations"][0]["name"];
    let body = json!([{"functionCall": {"id": "a", "name": name, "args": {"_n": 1, "filter_id_": "x"}}}]);
    let turn = Turn::read(TurnFormat::Gemini, &awkward(), &body.to_string(), None).unwrap();
    let calls = turn.calls();
    assert_eq!(calls[0].function.name, "3d-render");
    assert_eq!(calls[0].function.arguments, r#"{"-n":1,"filter[id]":"x"}"#);
    let rendered = turn.render(&[ended("a", ToolResult::ok("done"))]);
    assert_eq!(&rendered[0]["parts"][0]["functionResponse"]["name"], name, "the API knows its own name only");
}

#[test]
fn a_message_of_another_api_is_not_one_without_calls() {
    let bodies = [
        (TurnFormat::Openai, assistant(&[function("a", "Read", "{}")])),
        (TurnFormat::Openai, json!([function("a", "Read", "{}")])),
        (TurnFormat::OpenaiResponses, json!({"output": [item("a", "Read", "{}")]})),
        (TurnFormat::OpenaiResponses, json!([item("a", "Read", "{}")])),
        (
            TurnFormat::Anthropic,
            json!({"type": "message", "role": "assistant", "content": [tool_use("a", "Read", &json!({}))]}),
        ),
        (TurnFormat::Anthropic, json!([tool_use("a", "Read", &json!({}))])),
        (
            TurnFormat::Gemini,
            json!({"candidates": [{"content": {"parts": [{"functionCall": {"name": "Read"}}]}}]}),
        ),
        (TurnFormat::Gemini, json!([{"functionCall": {"name": "Read"}}])),
    ];
    for (right, body) in bodies {
        for format in TurnFormat::ALL {
            let read = Turn::read(format, &[], &body.to_string(), Some("1"));
            if format == right {
                assert_eq!(read.unwrap().calls().len(), 1);
            } else {
                let error = read.unwrap_err();
                assert!(
                    error.message.ends_with(&format!("?format={}", right.as_str())),
                    "{format:?} {body}: {error}"
                );
            }
        }
    }
}

#[test]
fn no_body_takes_the_reader_down() {
    let deep = "[".repeat(100_000) + &"]".repeat(100_000);
    let wide = format!("[{}{{}}]", "{},".repeat(100_000));
    for format in TurnFormat::ALL {
        for body in [deep.as_str(), wide.as_str(), "", "{", "[{]"] {
            assert!(Turn::read(format, &[], body, None).is_err(), "{format:?}");
        }
    }
}
