//! Tools under names that an API refuses are told under others, and come back under their own.

use serde_json::{Value, json};

use super::{FORMATS, post, said, statuses};
use crate::support::{TestServer, TestSession};

/// The name and the parameters that a format tells of the one tool whose description begins so.
async fn tool(session: &TestSession, format: &str, description: &str) -> (String, Value) {
    let told = session.client.get(&session.path(&format!("/tools?format={format}"))).await.expect(200);
    let tools = match format {
        "gemini" => told["tools"][0]["functionDeclarations"].clone(),
        _ => told["tools"].clone(),
    };
    let inner = |tool: &Value| tool.get("function").unwrap_or(tool).clone();
    let tools: Vec<_> = tools.as_array().unwrap().iter().map(inner).collect();
    let described = |tool: &&Value| tool["description"].as_str().unwrap().starts_with(description);
    let tool = tools.iter().find(described).unwrap_or_else(|| panic!("{description}: {tools:?}"));
    let schema = tool.get("input_schema").unwrap_or(&tool["parameters"]);
    (tool["name"].as_str().unwrap().to_owned(), schema["properties"].clone())
}

#[tokio::test]
async fn a_built_in_tool_is_called_as_it_was_told() {
    let server = TestServer::start();
    let session = server.session().await;
    session.write_file("a.txt", "one\ntwo\nthree\n");
    for format in FORMATS {
        let (name, properties) = tool(&session, format, "Searches the content").await;
        assert_eq!(name, "Grep");
        let after = if format == "gemini" { "_A" } else { "-A" };
        assert!(properties.get(after).is_some(), "{format}: {properties}");
        let arguments = json!({"pattern": "one", "output_mode": "content", after: 1});
        let answer =
            post(&session, format, "", &said(format, &[(format, &name, arguments)])).await.expect(200);
        let text = answer["calls"][0]["result"]["result"].as_str().unwrap();
        assert!(text.contains("two") && !text.contains("three"), "{format}: {text}");
        assert_eq!(answer["calls"][0]["arguments"]["-A"], 1, "recorded under its own name");
    }
}

#[tokio::test]
async fn a_sessions_own_tool_may_have_any_schema() {
    let server = TestServer::with_config(&json!({"permissions": {"allow": ["3d-render"]}}));
    let parameters = json!({
        "type": "object",
        "properties": {"filter[id]": {"type": "string"}, "size": {"type": ["integer", "null"]}},
        "oneOf": [{"required": ["filter[id]"]}, {"required": ["size"]}],
        "additionalProperties": false
    });
    let own =
        json!({"name": "3d-render", "description": "Renders.", "parameters": parameters, "kind": "client"});
    let session = TestSession::create(&server.agent(), &json!({ "tools": [own] })).await;
    for (format, name_told, key) in [
        ("openai", "3d-render", "filter[id]"),
        ("openai-responses", "3d-render", "filter[id]"),
        ("anthropic", "3d-render", "filter_id_"),
        ("gemini", "_3d-render", "filter_id_"),
    ] {
        let (name, properties) = tool(&session, format, "Renders.").await;
        assert_eq!(name, name_told);
        assert!(properties.get(key).is_some(), "{format}: {properties}");
        let (good, bad) = (format!("good_{format}"), format!("bad_{format}"));
        let calls = [
            (bad.as_str(), name.as_str(), json!({key: "x", "size": 1})),
            (good.as_str(), name.as_str(), json!({key: "x"})),
        ];
        let answer = post(&session, format, "", &said(format, &calls)).await.expect(202);
        assert_eq!(
            statuses(&answer),
            ["failed", "awaiting_result"],
            "the tool's own schema judges: {answer}"
        );
        assert_eq!(answer["calls"][1]["tool_name"], "3d-render");
        assert_eq!(answer["calls"][1]["arguments"], json!({"filter[id]": "x"}));
    }
}
