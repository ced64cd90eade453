//! Which folder a session may work in.

use serde_json::json;

use crate::support::{Client, TestServer};

async fn ask(client: &Client, workspace: &str) -> crate::support::Answer {
    client.post("/v1/sessions", &json!({"workspace": workspace})).await
}

#[tokio::test]
async fn a_given_workspace_lies_under_a_root() {
    let server = TestServer::start();
    let project = server.root().join("team/project");
    std::fs::create_dir_all(&project).unwrap();
    let made = ask(&server.agent(), project.to_str().unwrap()).await.expect(201);
    assert_eq!(made["workspace"], project.to_str().unwrap());
    // The same agent may work there twice, and name it as it likes: it is answered resolved.
    let made = ask(&server.agent(), "team/../team/project/").await.expect(201);
    assert_eq!(made["workspace"], project.to_str().unwrap());
}

#[tokio::test]
async fn f1_a_folder_whose_name_only_begins_like_the_root_is_outside() {
    let server = TestServer::start();
    let beside = format!("{}-evil", server.root().display());
    std::fs::create_dir_all(format!("{beside}/x")).unwrap();
    for outside in [beside.clone(), format!("{beside}/x"), "/".to_owned(), "..".to_owned()] {
        ask(&server.agent(), &outside).await.problem(403, "workspace_not_allowed");
    }
    ask(&server.agent(), server.data_dir().to_str().unwrap()).await.problem(403, "workspace_not_allowed");
    ask(&server.operator(), &beside).await.problem(403, "workspace_not_allowed");
}

#[tokio::test]
async fn a_symbolic_link_out_of_the_root_is_outside() {
    let server = TestServer::start();
    let elsewhere = server.outside().join("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    std::os::unix::fs::symlink(&elsewhere, server.root().join("link")).unwrap();
    ask(&server.agent(), "link").await.problem(403, "workspace_not_allowed");

    std::fs::write(server.root().join("file"), "").unwrap();
    let problem = ask(&server.agent(), "file").await.problem(400, "invalid_request");
    assert_eq!(problem["errors"][0]["pointer"], "/workspace");
}

#[tokio::test]
async fn workspaces_of_two_tokens_do_not_nest_while_they_live() {
    let server = TestServer::start();
    let (agent, second) = (server.agent(), server.second_agent());
    std::fs::create_dir_all(server.root().join("a/b/c")).unwrap();
    std::fs::create_dir_all(server.root().join("a/b-beside")).unwrap();
    let made = ask(&agent, "a/b").await.expect(201);
    for taken in ["a/b", "a/b/c", "a", "."] {
        ask(&second, taken).await.problem(409, "workspace_in_use");
    }
    ask(&second, "a/b-beside").await.expect(201);
    ask(&agent, "a/b/c").await.expect(201);

    let path = format!("/v1/sessions/{}", made["session_id"].as_str().unwrap());
    agent.delete(&path).await.expect(200);
    ask(&second, "a/b").await.problem(409, "workspace_in_use");
}

#[tokio::test]
async fn a_fresh_workspace_takes_nothing_that_is_there() {
    let server = TestServer::start();
    std::fs::create_dir(server.root().join("mine")).unwrap();
    std::fs::write(server.root().join("mine/file"), "kept").unwrap();
    let answer = server.agent().post("/v1/sessions", &json!({"session_id": "mine"})).await;
    answer.problem(409, "workspace_in_use");
    std::os::unix::fs::symlink("/", server.root().join("link")).unwrap();
    let answer = server.agent().post("/v1/sessions", &json!({"session_id": "link"})).await;
    answer.problem(409, "workspace_in_use");
}

#[tokio::test]
async fn a_token_with_patterns_works_only_there() {
    let token = "a-token-for-one-team-0123456789abcdef";
    let server = TestServer::start();
    let mut server = server;
    let file = server.outside().join("team-token");
    std::fs::write(&file, token).unwrap();
    let pattern = format!("{}/team/*", server.root().display());
    server.restart_with(&json!({"auth": {"tokens": [
        {"name": "team", "role": "agent", "file": file, "workspaces": [pattern]}
    ]}}));
    let client = server.with_token(token);
    std::fs::create_dir_all(server.root().join("team/one/deep")).unwrap();
    ask(&client, "team/one").await.expect(201);
    ask(&client, "team/one/deep").await.problem(403, "workspace_not_allowed");
    ask(&client, "team").await.problem(403, "workspace_not_allowed");
    client.post("/v1/sessions", &json!({"session_id": "fresh"})).await.problem(403, "workspace_not_allowed");
    assert!(!server.root().join("fresh").exists(), "a refused session leaves no folder");
}
