//! `/healthz`, `/readyz`, `/v1/info`, `/v1/config`.

use serde_json::json;

use crate::support::TestServer;
use crate::support::server::SECOND_AGENT;

#[tokio::test]
async fn probes_need_no_token() {
    let server = TestServer::start();
    assert_eq!(server.anonymous().get("/healthz").await.expect(200)["status"], "ok");
    let ready = server.anonymous().get("/readyz").await.expect(200);
    assert_eq!(ready["ready"], true);
    assert!(ready["reasons"].is_array());
}

#[tokio::test]
async fn a_missing_floor_is_said() {
    let server = TestServer::with_config(&json!({"sandbox": {"floor": "none"}}));
    let ready = server.anonymous().get("/readyz").await.expect(200);
    assert!(ready["reasons"][0].as_str().unwrap().contains("floor"), "{ready}");
    let info = server.agent().get("/v1/info").await.expect(200);
    assert!(info["floor"]["reason_if_missing"].is_string(), "{info}");
}

#[tokio::test]
async fn info_says_what_an_agent_needs_to_know() {
    let server = TestServer::start();
    let session = server.session().await;
    let info = server.agent().get("/v1/info").await.expect(200);
    assert_eq!(info["version"], env!("CARGO_PKG_VERSION"));
    assert!(info["tools"].as_array().unwrap().contains(&json!("Bash")));
    assert!(info["executors"].is_array());
    assert!(info["floor"]["kind"].is_string() && info["sandbox"].is_string());
    assert_eq!(info["limits"]["batch_calls"], 128);
    assert_eq!(info["limits"]["body_bytes"], 16 * 1024 * 1024);
    let data = server.data_dir();
    assert!(!info.to_string().contains(data.to_str().unwrap()), "no paths of the server's");
    server.with_token(&session.token).get("/v1/info").await.expect(200);
}

#[tokio::test]
async fn the_config_is_shown_without_secrets() {
    let server = TestServer::with_config(&json!({"permissions": {"deny": ["Bash(curl *)"]}}));
    let shown = server.operator().get("/v1/config").await.expect(200);
    let config = &shown["config"];
    assert_eq!(config["permissions"]["deny"], json!(["Bash(curl *)"]));
    assert_eq!(config["auth"]["tokens"][0]["name"], "second");
    assert_eq!(config["auth"]["tokens"][0]["sha256"], "(redacted)");
    let text = shown.to_string();
    for role in ["agent", "operator"] {
        let token = std::fs::read_to_string(server.data_dir().join("tokens").join(role)).unwrap();
        assert!(!text.contains(token.trim()));
    }
    assert!(!text.contains(SECOND_AGENT));
    server.agent().get("/v1/config").await.problem(403, "operator_required");
}

#[tokio::test]
async fn every_answer_has_an_id_and_no_cache() {
    let server = TestServer::start();
    let session = server.session().await;
    let paths = ["/healthz", "/v1/info", &session.path(""), &session.path("/calls"), "/nowhere"];
    let mut ids = std::collections::HashSet::new();
    for path in paths {
        let answer = server.agent().get(path).await;
        assert!(answer.header("x-request-id").starts_with("req_"), "{path}");
        assert_eq!(answer.header("cache-control"), "no-store", "{path}");
        assert_eq!(answer.header("x-content-type-options"), "nosniff", "{path}");
        assert!(ids.insert(answer.header("x-request-id").to_owned()), "each its own");
    }
}

#[tokio::test]
async fn a_command_sees_no_secret_of_the_servers() {
    let server = TestServer::start();
    let session = server.bypass_session().await;
    let call = session.bash("env", "env; cat /proc/$PPID/environ 2>&1 | tr '\\0' '\\n'").await.expect(200);
    let text = call["result"]["result"].as_str().unwrap();
    assert!(!text.contains("TOOLGATE") && !text.contains(SECOND_AGENT), "{text}");
    // p21: nor its files, its memory, its process.
    let data = server.data_dir().display().to_string();
    let pid = server.pid();
    for (id, command) in [
        ("token", format!("cat {data}/tokens/operator")),
        ("list", format!("ls {data}")),
        ("config", format!("cat {}/config.json", server.outside().display())),
        ("environ", format!("cat /proc/{pid}/environ")),
        ("memory", format!("head -c 1 /proc/{pid}/mem")),
        ("signal", format!("kill -0 {pid}")),
    ] {
        let call = session.bash(id, &command).await.expect(200);
        assert_eq!(call["result"]["success"], false, "{call}");
        assert!(!call.to_string().contains("tgt_operator_"), "{call}");
    }
    server.assert_alive().await;
}
