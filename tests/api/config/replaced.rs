//! However the file is replaced, the next call goes by what it says.

use std::os::unix::fs::symlink;
use std::path::Path;

use serde_json::json;

use super::{allowing, events, expect_event, shown};
use crate::support::TestServer;
use crate::support::server::text_of;

/// Whether `mkdir` runs unasked.
async fn runs_mkdir(server: &TestServer, id: &str) -> bool {
    let session = server.session().await;
    let call = session.bash(id, "mkdir made").await;
    call.status == 200 && call.expect(200)["status"] == "completed"
}

#[tokio::test]
async fn a_file_renamed_over_holds_for_the_next_call() {
    let server = TestServer::start();
    let mut stream = events(&server).await;
    assert!(!runs_mkdir(&server, "before").await);
    server.replace_config(&allowing("Bash(mkdir *)"));
    let changed = expect_event(&mut stream, "config_changed").await;
    assert_eq!(changed["revision"], 2);
    assert_eq!(changed["keys"], json!(["permissions.allow"]), "names, not values: {changed}");
    assert_eq!(changed["restart_needed"], json!([]));
    assert!(runs_mkdir(&server, "after").await);
    let shown = shown(&server).await;
    assert_eq!((&shown["revision"], &shown["restart_needed"]), (&json!(2), &json!([])));
    assert_eq!(shown["source"].as_str().unwrap(), server.config_file().to_str().unwrap());
    assert!(shown["loaded_at"].as_str().is_some_and(|time| time.ends_with('Z')), "{shown}");
    assert_eq!(shown["config"]["permissions"]["allow"], json!(["Bash(mkdir *)"]));
    assert_eq!(shown.get("problem"), None);
}

#[tokio::test]
async fn a_file_written_in_place_is_taken_too() {
    let server = TestServer::start();
    let mut stream = events(&server).await;
    std::fs::write(server.config_file(), text_of(&allowing("Bash(mkdir *)"))).unwrap();
    expect_event(&mut stream, "config_changed").await;
    assert!(runs_mkdir(&server, "after").await);
}

/// Lays a mount as Kubernetes does: the file is a link to `..data/NAME`, `..data` one to a dated folder.
fn mount(folder: &Path, version: &str, text: &str) {
    let mount = folder.join("mount");
    let dated = format!("..2026_{version}");
    std::fs::create_dir_all(mount.join(&dated)).unwrap();
    std::fs::write(mount.join(&dated).join("config.json"), text).unwrap();
    symlink(&dated, mount.join("..data_tmp")).unwrap();
    std::fs::rename(mount.join("..data_tmp"), mount.join("..data")).unwrap();
    if !mount.join("config.json").exists() {
        symlink("..data/config.json", mount.join("config.json")).unwrap();
    }
}

#[tokio::test]
async fn a_link_swapped_as_kubernetes_does_it_is_taken_again_and_again() {
    let server = TestServer::prepared(&[], |folder| {
        mount(folder, "1", &text_of(&json!({})));
        folder.join("mount/config.json")
    });
    let mut stream = events(&server).await;
    let folder = server.outside().canonicalize().unwrap();
    for version in 2..5_u64 {
        let allow = allowing(&format!("Bash(echo {version} *)"));
        mount(&folder, &version.to_string(), &text_of(&allow));
        let old = format!("mount/..2026_{}", version - 1);
        std::fs::remove_dir_all(folder.join(old)).unwrap();
        let changed = expect_event(&mut stream, "config_changed").await;
        assert_eq!(changed["revision"], version);
        assert_eq!(shown(&server).await["config"]["permissions"], {
            let mut permissions = shown(&server).await["config"]["permissions"].clone();
            permissions["allow"] = allow["permissions"]["allow"].clone();
            permissions
        });
    }
    // The same content in another folder is no change.
    mount(&folder, "9", &text_of(&allowing("Bash(echo 4 *)")));
    assert_eq!(super::reload(&server).await["changed"], json!([]));
    assert_eq!(shown(&server).await["revision"], 4);
}

#[tokio::test]
async fn a_burst_is_one_change_or_few() {
    let server = TestServer::start();
    let mut stream = events(&server).await;
    for n in 1..=200 {
        server.replace_config(&json!({"limits": {"sessions_per_token": n}}));
    }
    let mut revisions = 0;
    loop {
        revisions += 1;
        let changed = expect_event(&mut stream, "config_changed").await;
        assert_eq!(changed["keys"], json!(["limits.sessions_per_token"]));
        if shown(&server).await["config"]["limits"]["sessions_per_token"] == 200 {
            break;
        }
    }
    assert!(revisions <= 5, "{revisions} reloads for a burst of a moment");
}

#[tokio::test]
async fn an_unchanged_file_is_no_change() {
    let server = TestServer::with_config(&allowing("Bash(mkdir *)"));
    let mut stream = events(&server).await;
    // Written again, and with other comments and spaces: nothing of it is another config.
    server.replace_config(&allowing("Bash(mkdir *)"));
    server.replace_text(&format!("// new\n\n{}", text_of(&allowing("Bash(mkdir *)"))));
    assert_eq!(super::reload(&server).await, json!({"revision": 1, "changed": [], "restart_needed": []}));
    server.replace_config(&json!({"limits": {"streams": 9}}));
    assert_eq!(expect_event(&mut stream, "config_changed").await["revision"], 2);
}

#[tokio::test]
async fn a_file_that_is_away_for_a_moment_is_no_error() {
    let server = TestServer::start();
    let mut stream = events(&server).await;
    std::fs::remove_file(server.config_file()).unwrap();
    std::fs::write(server.config_file(), text_of(&allowing("Bash(mkdir *)"))).unwrap();
    expect_event(&mut stream, "config_changed").await;
    assert!(!server.log().contains("cannot be read"), "{}", server.log());
}

#[tokio::test]
async fn a_file_that_stays_away_is_said_and_the_config_stays_until_it_is_back() {
    let server = TestServer::with_config(&allowing("Bash(mkdir *)"));
    let mut stream = events(&server).await;
    std::fs::remove_file(server.config_file()).unwrap();
    let invalid = expect_event(&mut stream, "config_invalid").await;
    assert!(invalid["error"].as_str().unwrap().contains("cannot be read"), "{invalid}");
    assert!(runs_mkdir(&server, "away").await, "the last good one stays in force");
    server.anonymous().get("/readyz").await.expect(200);
    server.replace_config(&allowing("Bash(mkdir *)"));
    assert_eq!(expect_event(&mut stream, "config_recovered").await["revision"], 1);
    assert_eq!(shown(&server).await.get("problem"), None);
}
