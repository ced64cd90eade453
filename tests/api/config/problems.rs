//! A bad file keeps the good config, and everyone is told where it is wrong.

use serde_json::json;

use super::{allowing, events, expect_event, reload, shown};
use crate::support::TestServer;
use crate::support::server::text_of;

/// Texts that cannot be used, each with the line and the key that must be named.
const BAD: &[(&str, u64, &str)] = &[
    ("{\n\"permissions\": {\n", 2, ""),
    ("{\n\"permissons\": {}}", 2, "permissons"),
    ("{\n\"limits\": {\n\"streams\": 0}}", 3, "limits.streams"),
    ("{\"permissions\": {\n\"deny\": [\"Read\",\n\"Bash(\"]}}", 3, "permissions.deny[1]"),
    (
        "{\"permissions\": {\n\"allow\": [\"Bash(ls *)\"],\n\"tests\": [\n{\"call\": \"Bash(ls x)\", \"is\": \"deny\"}]}}",
        4,
        "permissions.tests[0]",
    ),
    (
        "{\"auth\": {\"tokens\": [\n{\"name\": \"ci\", \"role\": \"agent\",\n\"file\": \"/nowhere/token\"}]}}",
        3,
        "auth.tokens[0].file",
    ),
    (
        "{\"auth\": {\"tokens\": [\n{\"name\": \"ci\", \"role\": \"agent\",\n\"env\": \"NOT_SET\"}]}}",
        3,
        "auth.tokens[0].env",
    ),
    ("", 1, ""),
];

#[tokio::test]
async fn every_bad_file_is_told_and_changes_nothing() {
    let server = TestServer::with_config(&allowing("Bash(mkdir *)"));
    let good = shown(&server).await;
    let mut stream = events(&server).await;
    for (text, line, key) in BAD {
        server.replace_text(text);
        let problem = server.operator().post("/v1/config/reload", &json!({})).await;
        let problem = problem.problem(422, "config_invalid");
        let error = &problem["errors"][0];
        assert_eq!(error["pointer"], *key, "{text}: {problem}");
        let message = error["message"].as_str().unwrap();
        assert!(message.starts_with(&format!("line {line}: ")), "{text}: {problem}");

        let invalid = expect_event(&mut stream, "config_invalid").await;
        let fault = &invalid["errors"][0];
        assert_eq!((fault["line"].as_u64(), fault["key"].as_str()), (Some(*line), Some(*key)), "{invalid}");
        assert_eq!(fault["file"], server.config_file().to_str().unwrap());

        let ready = server.anonymous().get("/readyz").await.expect(200);
        assert_eq!(ready["ready"], true, "a broken config takes no service down: {ready}");
        let reason = ready["reasons"][0].as_str().unwrap();
        assert!(reason.contains(&format!("line {line}: {key}")), "{text}: {ready}");
        assert!(server.log().contains(&format!("line {line}: {key}")), "{text}: {}", server.log());

        let now = shown(&server).await;
        assert_eq!((&now["revision"], &now["config"]), (&good["revision"], &good["config"]));
        assert_eq!(now["problem"]["errors"][0], *fault, "{now}");
    }
    let session = server.session().await;
    assert_eq!(session.bash("c", "mkdir made").await.expect(200)["status"], "completed");

    server.replace_config(&allowing("Bash(mkdir *)"));
    assert_eq!(reload(&server).await["changed"], json!([]));
    assert_eq!(expect_event(&mut stream, "config_recovered").await["revision"], 1);
    assert_eq!(shown(&server).await.get("problem"), None);
    assert_eq!(server.anonymous().get("/readyz").await.expect(200)["reasons"], json!([]));
}

#[tokio::test]
async fn a_problem_is_told_once_and_a_good_file_after_it_is_a_change() {
    let server = TestServer::start();
    let mut stream = events(&server).await;
    for _ in 0..3 {
        server.replace_text("{\n\"permissons\": {}}");
        server.operator().post("/v1/config/reload", &json!({})).await.problem(422, "config_invalid");
    }
    server.replace_config(&allowing("Bash(mkdir *)"));
    expect_event(&mut stream, "config_invalid").await;
    assert_eq!(expect_event(&mut stream, "config_changed").await["keys"], json!(["permissions.allow"]));
    assert_eq!(expect_event(&mut stream, "config_recovered").await["revision"], 2);
}

#[tokio::test]
async fn all_faults_are_told_and_no_value() {
    let server = TestServer::start();
    let sesame = "sesame-sesame-sesame-sesame-sesame";
    server.replace_text(&format!(
        "{{\"auth\": {{\"mode\": \"{sesame}\",\n\"tokens\": \"{sesame}\"}},\n\"limits\": {{\"streams\": \"{sesame}\"}}}}"
    ));
    let answer = server.operator().post("/v1/config/reload", &json!({})).await;
    let problem = answer.problem(422, "config_invalid");
    let keys: Vec<_> = problem["errors"].as_array().unwrap().iter().map(|error| &error["pointer"]).collect();
    assert_eq!(keys, ["auth.mode", "auth.tokens", "limits.streams"]);
    let ready = server.anonymous().get("/readyz").await;
    for text in [answer.text(), ready.text(), shown(&server).await.to_string(), server.log()] {
        assert!(!text.contains("sesame"), "{text}");
    }
}

#[tokio::test]
async fn config_events_survive_a_crash_and_keep_their_place() {
    let mut server = TestServer::start();
    let mut stream = events(&server).await;
    server.replace_text("{");
    let invalid = expect_event(&mut stream, "config_invalid").await;
    let session = server.session().await;
    server.replace_config(&allowing("Bash(mkdir *)"));
    let changed = expect_event(&mut stream, "config_changed").await;
    server.restart_with(&json!({}));
    let page = server.operator().event_page("/v1/events").await;
    let kinds: Vec<_> = page["events"].as_array().unwrap().iter().map(|e| e["type"].clone()).collect();
    assert_eq!(kinds, ["config_invalid", "session_started", "config_changed", "config_recovered"]);
    assert_eq!((&page["events"][0], &page["events"][2]), (&invalid, &changed));
    drop(session);
}

#[tokio::test]
async fn a_config_that_moved_to_where_agents_write_is_refused() {
    let server = TestServer::start();
    let inside = server.root().join("config.json");
    std::fs::write(&inside, text_of(&allowing("Bash"))).unwrap();
    std::fs::remove_file(server.config_file()).unwrap();
    std::os::unix::fs::symlink(&inside, server.config_file()).unwrap();
    let problem = server.operator().post("/v1/config/reload", &json!({})).await;
    let problem = problem.problem(422, "config_invalid");
    assert!(problem["detail"].as_str().unwrap().contains("workspace root"), "{problem}");
    assert_eq!(shown(&server).await["config"]["permissions"]["allow"], json!([]));
}
