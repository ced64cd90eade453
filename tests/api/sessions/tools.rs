//! `GET /v1/sessions/{sid}/tools` and `/guidance`.

use serde_json::{Value, json};

use crate::support::{TestServer, TestSession};

async fn tools(server: &TestServer, session: &TestSession, query: &str) -> Vec<Value> {
    let answer = server.agent().get(&session.path(&format!("/tools{query}"))).await.expect(200);
    answer["tools"].as_array().unwrap().clone()
}

#[tokio::test]
async fn schemas_come_in_the_shape_of_each_model_api() {
    let server = TestServer::start();
    let session = server.session().await;
    let default = tools(&server, &session, "").await;
    assert_eq!(tools(&server, &session, "?format=openai").await, default);
    for tool in &default {
        assert_eq!(tool["type"], "function");
        assert_eq!(tool.as_object().unwrap().len(), 2, "{tool}");
        let function = tool["function"].as_object().unwrap();
        assert_eq!(function.keys().collect::<Vec<_>>(), ["description", "name", "parameters"]);
    }
    for (format, schema_key) in
        [("openai-responses", "parameters"), ("anthropic", "input_schema"), ("mcp", "inputSchema")]
    {
        let tools = tools(&server, &session, &format!("?format={format}")).await;
        assert_eq!(tools.len(), default.len());
        for (tool, openai) in tools.iter().zip(&default) {
            assert_eq!(tool["name"], openai["function"]["name"]);
            assert_eq!(tool["description"], openai["function"]["description"]);
            assert_eq!(tool[schema_key], openai["function"]["parameters"]);
        }
    }
}

#[tokio::test]
async fn gemini_gets_one_tool_with_all_declarations() {
    let server = TestServer::start();
    let session = server.session().await;
    let default = tools(&server, &session, "").await;
    let told = tools(&server, &session, "?format=gemini").await;
    assert_eq!(told.len(), 1);
    let declarations = told[0]["functionDeclarations"].as_array().unwrap();
    assert_eq!(declarations.len(), default.len());
    for (declaration, openai) in declarations.iter().zip(&default) {
        assert_eq!(declaration["name"], openai["function"]["name"]);
        assert_eq!(declaration["description"], openai["function"]["description"]);
        let parameters = &declaration["parameters"];
        assert_eq!(parameters["type"], "OBJECT");
        assert_eq!(parameters["required"], openai["function"]["parameters"]["required"]);
        assert!(!declaration.to_string().contains("additionalProperties"), "{declaration}");
    }
}

#[tokio::test]
async fn descriptions_are_no_longer_than_the_strictest_api_takes() {
    let server = TestServer::start();
    let session = server.session().await;
    for tool in tools(&server, &session, "").await {
        let description = tool["function"]["description"].as_str().unwrap();
        assert!(description.chars().count() <= 1024, "{description}");
    }
}

#[tokio::test]
async fn every_schema_stands_on_its_own() {
    let server = TestServer::start();
    let session = server.session().await;
    let tools = tools(&server, &session, "?format=mcp").await;
    let names: Vec<_> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    for name in ["Bash", "Read", "Write", "Edit", "Glob", "Grep", "AskUser"] {
        assert!(names.contains(&name), "{names:?}");
    }
    for tool in &tools {
        assert_eq!(tool["inputSchema"]["type"], "object");
        assert_eq!(tool["inputSchema"]["additionalProperties"], false);
        assert!(!tool.to_string().contains("$ref"));
        assert!(!tool["description"].as_str().unwrap().is_empty());
    }
}

#[tokio::test]
async fn a_sessions_own_tools_are_among_them() {
    let server = TestServer::start();
    let parameters = json!({"type": "object", "properties": {"env": {"type": "string"}}});
    let own = json!({
        "name": "deploy", "description": "Deploys.", "parameters": parameters, "kind": "client"
    });
    let session = TestSession::create(&server.agent(), &json!({"tools": [own]})).await;
    let with = tools(&server, &session, "?format=mcp").await;
    let deploy = with.iter().find(|tool| tool["name"] == "deploy").unwrap();
    assert_eq!(deploy["inputSchema"], parameters);
    let other = server.session().await;
    assert!(tools(&server, &other, "?format=mcp").await.iter().all(|tool| tool["name"] != "deploy"));
}

#[tokio::test]
async fn guidance_is_text_for_the_system_prompt() {
    let server = TestServer::start();
    let session = server.session().await;
    let guidance = server.agent().get(&session.path("/guidance")).await.expect(200);
    assert!(guidance["text"].as_str().unwrap().contains("Bash"), "{guidance}");
}
