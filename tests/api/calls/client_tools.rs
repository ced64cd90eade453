//! Session tools of kind `client`, and `POST /v1/sessions/{sid}/calls/{cid}/result`.

use serde_json::{Value, json};

use crate::support::{Answer, TestServer, TestSession};

fn tool(name: &str) -> Value {
    let parameters = json!({
        "type": "object", "properties": {"env": {"type": "string"}},
        "required": ["env"], "additionalProperties": false
    });
    json!({"name": name, "description": "Deploys.", "parameters": parameters, "kind": "client"})
}

async fn with_tool(server: &TestServer) -> TestSession {
    TestSession::create(&server.agent(), &json!({"tools": [tool("deploy")]})).await
}

async fn report(session: &TestSession, id: &str, result: &Value) -> Answer {
    session.client.post(&session.call_path(id, "/result"), &json!({"result": result})).await
}

#[tokio::test]
async fn it_asks_then_waits_for_its_client_and_ends_with_the_report() {
    let server = TestServer::start();
    let session = with_tool(&server).await;
    let approval = session.asks("c", "deploy", json!({"env": "prod"})).await;
    report(&session, "c", &json!("forged")).await.problem(409, "not_waiting");
    server.operator().allow(&approval).await;
    let resolved = session.event("c", "tool_approval_resolved").await;
    assert_eq!(resolved["decision"], "allow");

    let call = session.call("c", "deploy", json!({"env": "prod"})).await.expect(202);
    assert_eq!(call["status"], "awaiting_result");
    assert_eq!(call["mutability"], "mutating");
    let done = report(&session, "c", &json!("deployed")).await.expect(200);
    assert_eq!(done["status"], "completed");
    assert_eq!(done["result"], json!({"success": true, "result": "deployed"}));
    assert_eq!(report(&session, "c", &json!("deployed")).await.expect(200), done, "asked for again");
    report(&session, "c", &json!("again")).await.problem(409, "not_waiting");
    assert_eq!(session.event_types("c").await.last().unwrap(), "tool_complete");
}

#[tokio::test]
async fn a_rule_lets_it_pass() {
    let server = TestServer::with_config(&json!({"permissions": {"allow": ["deploy"]}}));
    let session = with_tool(&server).await;
    let call = session.call("c", "deploy", json!({"env": "prod"})).await.expect(202);
    assert_eq!(call["status"], "awaiting_result");

    let server = TestServer::with_config(&json!({"permissions": {"deny": ["deploy"]}}));
    let session = with_tool(&server).await;
    let call = session.call("c", "deploy", json!({"env": "prod"})).await.expect(200);
    assert_eq!(call["status"], "denied");
}

#[tokio::test]
async fn a_report_may_be_a_whole_result() {
    let server = TestServer::with_config(&json!({"permissions": {"allow": ["deploy"]}}));
    let session = with_tool(&server).await;
    session.call("c", "deploy", json!({"env": "prod"})).await.expect(202);
    for wrong in [json!(7), json!(null), json!({"success": true}), json!({"result": "x", "approved": true})] {
        report(&session, "c", &wrong).await.problem(400, "invalid_request");
    }
    let image = json!({"media_type": "image/png", "data": "AAAA"});
    let whole = json!({"success": false, "result": "no", "images": [image],
        "display_preference": "request_permissions"});
    let done = report(&session, "c", &whole).await.expect(200);
    assert_eq!(done["status"], "completed");
    assert_eq!(done["result"]["success"], false);
    assert_eq!(done["result"]["images"], json!([image]));
    assert!(done["result"].get("display_preference").is_none(), "the gate's mark cannot be forged");
}

#[tokio::test]
async fn its_arguments_are_held_against_its_schema() {
    let server = TestServer::with_config(&json!({"permissions": {"allow": ["deploy"]}}));
    let session = with_tool(&server).await;
    for (id, arguments) in [("a", json!({})), ("b", json!({"env": 7})), ("c", json!({"env": "p", "x": 1}))] {
        let call = session.call(id, "deploy", arguments).await.expect(200);
        assert_eq!(call["error"]["code"], "invalid_arguments");
    }
}

#[tokio::test]
async fn names_and_schemas_that_would_mislead_are_refused() {
    let server = TestServer::start();
    let long = "x".repeat(65);
    for name in ["Bash", "Read", "ask_user", "mcp__a__b", "mcp__", "", "a b", "ü", "a/b", long.as_str()] {
        let body = json!({"tools": [tool("fine"), tool(name)]});
        let problem = server.agent().post("/v1/sessions", &body).await.problem(400, "invalid_request");
        assert_eq!(problem["errors"][0]["pointer"], "/tools/1", "{name:?}: {problem}");
    }
    for (key, value) in [
        ("parameters", json!({"type": "array"})),
        ("parameters", json!({"type": "object", "properties": {"a": {"$ref": "http://x/"}}})),
        ("parameters", json!({"type": "object", "properties": 7})),
        ("description", json!("x".repeat(16 * 1024 + 1))),
        ("kind", json!("webhook")),
        ("command", json!("rm")),
    ] {
        let mut tool = tool("fine");
        tool[key] = value;
        let body = json!({"tools": [tool]});
        server.agent().post("/v1/sessions", &body).await.problem(400, "invalid_request");
    }
    let twice = json!({"tools": [tool("one"), tool("one")]});
    server.agent().post("/v1/sessions", &twice).await.problem(400, "invalid_request");
    let many: Vec<_> = (0..129).map(|n| tool(&format!("t{n}"))).collect();
    server.agent().post("/v1/sessions", &json!({"tools": many})).await.problem(400, "invalid_request");
}
