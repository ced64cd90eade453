//! Bash, where nobody is asked.

use rustix::fs::{Gid, Uid, chown};
use serde_json::json;

use crate::support::TestServer;

/// A workspace that is mounted from elsewhere is another user's: git reads it all the same where the gate lets it run unasked.
#[tokio::test]
async fn git_that_runs_unasked_reads_a_repository_of_another_user() {
    // git's own tests take every repository for one of another user by this.
    let variable = "GIT_TEST_ASSUME_DIFFERENT_OWNER";
    let server = TestServer::prepared(&[(variable, "1")], |folder| {
        let config = json!({"bash": {"pass_environment": [variable]}});
        std::fs::write(folder.join("config.json"), config.to_string()).unwrap();
        folder.join("config.json")
    });
    for command in [
        "cd repository && git status --short",
        "cd repository/sub && git status --short",
        "git -C repository status --short | cat",
    ] {
        let session = server.session().await;
        for name in [".git/objects", ".git/refs", "sub"] {
            std::fs::create_dir_all(session.file("repository").join(name)).unwrap();
        }
        let settings = "[core]\n\trepositoryformatversion = 0\n\tbare = false\n";
        session.write_file("repository/.git/HEAD", "ref: refs/heads/main\n");
        session.write_file("repository/.git/config", settings);
        session.write_file("repository/sub/new", "");
        // Where it can be, it is another user's for sure.
        if rustix::process::geteuid().is_root() {
            for name in ["repository", "repository/.git"] {
                let (user, group) = (Uid::from_raw(12_345), Gid::from_raw(12_345));
                chown(session.file(name), Some(user), Some(group)).unwrap();
            }
        }
        let call = session.bash("c", command).await.expect(200);
        let printed = call["result"]["result"].as_str().unwrap();
        assert!(printed.contains("?? ") && !printed.contains("ownership"), "{command}: {printed}");
    }
}
