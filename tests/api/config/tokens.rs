//! Tokens of the config while the server runs: rotated, added, taken away.

use std::path::{Path, PathBuf};

use serde_json::json;

use super::{events, expect_event, reload};
use crate::support::{TestServer, TestSession};

fn token(name: &str) -> String {
    format!("{name}-0123456789abcdef-0123456789abcdef")
}

/// A server whose token `ci` is in a file of its own.
fn with_token_file() -> (TestServer, PathBuf) {
    let mut secret = PathBuf::new();
    let server = TestServer::prepared(&[], |folder| {
        std::fs::create_dir(folder.join("secrets")).unwrap();
        secret = folder.join("secrets/ci");
        std::fs::write(&secret, token("old")).unwrap();
        let config = json!({"auth": {"tokens": [{"name": "ci", "role": "agent", "file": &secret}]}});
        std::fs::write(folder.join("config.json"), config.to_string()).unwrap();
        folder.join("config.json")
    });
    (server, secret)
}

fn replace(secret: &Path, token: &str) {
    std::fs::write(secret.with_extension("new"), token).unwrap();
    std::fs::rename(secret.with_extension("new"), secret).unwrap();
}

#[tokio::test]
async fn a_rotated_token_holds_and_the_old_one_is_refused_at_once() {
    let (server, secret) = with_token_file();
    let mut stream = events(&server).await;
    let session = TestSession::create(&server.with_token(&token("old")), &json!({})).await;
    replace(&secret, &token("new"));
    let changed = expect_event(&mut stream, "config_changed").await;
    assert_eq!(changed["keys"], json!(["auth.tokens"]));
    assert!(!changed.to_string().contains("0123456789abcdef"), "{changed}");
    server.with_token(&token("old")).get("/v1/info").await.problem(401, "unauthenticated");
    // It is the same agent: its sessions are still its own, by its token and by theirs.
    server.with_token(&token("new")).get(&session.path("")).await.expect(200);
    server.with_token(&session.token).get(&session.path("")).await.expect(200);
}

#[tokio::test]
async fn a_token_file_that_is_unreadable_keeps_the_old_token() {
    let (server, secret) = with_token_file();
    let mut stream = events(&server).await;
    replace(&secret, "short");
    let invalid = expect_event(&mut stream, "config_invalid").await;
    assert_eq!(invalid["errors"][0]["key"], "auth.tokens[0].file", "{invalid}");
    server.with_token(&token("old")).get("/v1/info").await.expect(200);
    replace(&secret, &token("new"));
    expect_event(&mut stream, "config_changed").await;
    expect_event(&mut stream, "config_recovered").await;
    server.with_token(&token("new")).get("/v1/info").await.expect(200);
}

#[tokio::test]
async fn a_token_file_that_is_named_anew_is_watched_too() {
    let (server, secret) = with_token_file();
    let mut stream = events(&server).await;
    let other = secret.with_file_name("other");
    std::fs::write(&other, token("other")).unwrap();
    server.replace_config(
        &json!({"auth": {"tokens": [{"name": "other", "role": "operator", "file": &other}]}}),
    );
    expect_event(&mut stream, "config_changed").await;
    server.with_token(&token("old")).get("/v1/info").await.problem(401, "unauthenticated");
    server.with_token(&token("other")).get("/v1/config").await.expect(200);
    replace(&other, &token("rotated"));
    expect_event(&mut stream, "config_changed").await;
    server.with_token(&token("other")).get("/v1/config").await.problem(401, "unauthenticated");
    server.with_token(&token("rotated")).get("/v1/config").await.expect(200);
}

#[tokio::test]
async fn a_token_that_is_taken_away_takes_its_streams_and_session_tokens_along() {
    let (server, _secret) = with_token_file();
    let session = TestSession::create(&server.with_token(&token("old")), &json!({})).await;
    let (by_agent, by_session) = (server.with_token(&token("old")), server.with_token(&session.token));
    let mut streams =
        [by_agent.stream(&session.path("/events")).await, by_session.stream(&session.path("/events")).await];
    server.replace_config(&json!({"auth": {"tokens": []}}));
    reload(&server).await;
    for client in [by_agent, by_session] {
        client.get(&session.path("")).await.problem(401, "unauthenticated");
    }
    for stream in &mut streams {
        stream.rest().await;
    }
    server.operator().get(&session.path("")).await.expect(200);
}
