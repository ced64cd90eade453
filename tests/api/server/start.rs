//! What a server does not start with, and what it makes when it starts.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use serde_json::{Value, json};

use crate::support::TestServer;
use crate::support::server::refusal;

/// What a server with this config says when it refuses to start.
fn refused(config: &Value, more: &[&str]) -> String {
    let home = tempfile::tempdir().unwrap();
    let path = |name: &str| home.path().join(name).display().to_string();
    std::fs::create_dir(path("root")).unwrap();
    std::fs::write(path("config.json"), config.to_string()).unwrap();
    let (data, root, file) = (path("data"), path("root"), path("config.json"));
    let mut arguments = vec!["--data-dir", &data, "--workspace-root", &root, "--config", &file];
    arguments.extend(more);
    refusal(home.path(), &arguments)
}

#[test]
fn h3_other_than_loopback_without_tokens_does_not_start() {
    let config = json!({"auth": {"mode": "none"}});
    for listen in ["0.0.0.0:0", "[::]:0"] {
        let said = refused(&config, &["--listen", listen]);
        assert!(said.contains("auth.mode") && said.contains("127.0.0.1"), "it says how: {said}");
    }
}

#[test]
fn h3_other_than_loopback_without_a_floor_does_not_start() {
    let config = json!({"sandbox": {"floor": "none"}});
    let said = refused(&config, &["--listen", "0.0.0.0:0"]);
    assert!(said.contains("accept_missing_floor"), "it says how: {said}");
}

#[test]
fn the_servers_own_things_lie_in_no_workspace_root() {
    let home = tempfile::tempdir().unwrap();
    let root = home.path().join("root");
    std::fs::create_dir_all(root.join("inside")).unwrap();
    let text = |path: &Path| path.display().to_string();
    let (root_text, outside) = (text(&root), text(&home.path().join("data")));
    let listen = ["--listen", "127.0.0.1:0", "--workspace-root", &root_text];

    let data_dir = text(&root.join("inside"));
    let said = refusal(home.path(), &[&listen[..], &["--data-dir", &data_dir]].concat());
    assert!(said.contains("data directory"), "{said}");

    std::os::unix::fs::symlink(root.join("inside"), home.path().join("link")).unwrap();
    let linked = text(&home.path().join("link"));
    let said = refusal(home.path(), &[&listen[..], &["--data-dir", &linked]].concat());
    assert!(said.contains("data directory"), "{said}");

    let config = text(&root.join("config.json"));
    std::fs::write(&config, "{}").unwrap();
    let arguments = [&listen[..], &["--data-dir", &outside, "--config", &config]].concat();
    let said = refusal(home.path(), &arguments);
    assert!(said.contains("config file"), "{said}");

    let inside_data = text(&home.path().join("data/root"));
    std::fs::create_dir_all(&inside_data).unwrap();
    std::fs::set_permissions(&outside, std::fs::Permissions::from_mode(0o700)).unwrap();
    let arguments = ["--listen", "127.0.0.1:0", "--workspace-root", &inside_data, "--data-dir", &outside];
    let said = refusal(home.path(), &arguments);
    assert!(said.contains("workspace root"), "{said}");
}

#[test]
fn a_config_that_is_wrong_is_refused_with_line_and_key() {
    for (config, says) in [
        (json!({"permisions": {}}), "permisions"),
        (json!({"permissions": {"deny": ["Bash("]}}), "permissions.deny[0]"),
        (json!({"limits": {"streams": 0}}), "limits.streams"),
        (json!({"server": {"listen": "nowhere"}}), "server.listen"),
        (json!({"permissions": {"mode": "accept_edits", "max_mode": "default"}}), "permissions.mode"),
        (json!({"permissions": {"tests": [{"call": "Bash(rm x)", "is": "allow"}]}}), "permissions.tests[0]"),
        (json!({"auth": {"tokens": [{"name": "agent", "role": "operator", "env": "X"}]}}), "auth.tokens[0]"),
    ] {
        let said = refused(&config, &[]);
        assert!(said.contains(says) && said.contains("line 1"), "{config}: {said}");
    }
}

#[test]
fn tokens_are_secrets_of_the_owner() {
    let server = TestServer::start();
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let tokens = server.data_dir().join("tokens");
    assert_eq!(mode(&server.data_dir()), 0o700);
    for role in ["agent", "operator"] {
        assert_eq!(mode(&tokens.join(role)), 0o600);
        assert!(std::fs::read_to_string(tokens.join(role)).unwrap().trim().len() >= 64);
    }
}

#[tokio::test]
async fn tokens_stay_over_a_restart() {
    let mut server = TestServer::start();
    let path = server.data_dir().join("tokens/agent");
    let before = std::fs::read_to_string(&path).unwrap();
    server.restart_with(&json!({}));
    assert_eq!(std::fs::read_to_string(&path).unwrap(), before);
    server.agent().get("/v1/info").await.expect(200);
}
