//! What a rule asks about is looked for where a command does not name it, as what is denied is.

use super::*;

/// A workspace with `.env`, `priv/k`, `infra/x.tf`, `src/a`, and a repository.
fn files() -> Disk {
    let disk = disk();
    for name in [".git/objects", ".git/refs", "priv", "infra", "src/deep"] {
        std::fs::create_dir_all(disk.root.join(name)).unwrap();
    }
    for name in ["priv/k", "infra/x.tf", "src/deep/a"] {
        std::fs::write(disk.root.join(name), "x").unwrap();
    }
    std::fs::write(disk.root.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
    disk
}

const READS: [&str; 12] = [
    "rg --hidden TOP",
    "rg -uu TOP",
    "rg -n k priv",
    "rg -n k",
    "grep -rn k .",
    "grep -rn k priv | head -3",
    "find . -name k",
    "ls -R",
    "git grep -n k",
    "git diff",
    "git log -p -- priv",
    "cat .env",
];

#[tokio::test]
async fn searches_ask_where_a_rule_asks_about_what_lies_there() {
    let disk = files();
    let guarded = ["Read(**/.env)", "Read(priv/k)"];
    for command in READS {
        Given::default().is(&disk, command, "allow").await;
        Given { always_ask: &guarded, ..Given::default() }.is(&disk, command, "forced").await;
        Given { always_ask: &guarded, bypass: true, ..Given::default() }.is(&disk, command, "forced").await;
        Given { ask: &guarded, ..Given::default() }.is(&disk, command, "ask").await;
        Given { ask: &guarded, bypass: true, ..Given::default() }.is(&disk, command, "allow").await;
        // Each list is held against what lies there for itself.
        let nothing = &["Read(**/*.pem)"];
        let given = Given { ask: &guarded, always_ask: nothing, ..Given::default() };
        let git = command.starts_with("git");
        given.is(&disk, command, if git { "forced" } else { "ask" }).await;
    }
    for command in [
        "rg -n TODO src",
        "grep -rn x src | head -3",
        "cd src && rg --files",
        "ls -R src; tree src",
        "git status",
        "git log --oneline -5",
        "git diff --stat",
        "cat ok.txt",
        "ls",
        "echo x",
    ] {
        Given { always_ask: &guarded, ..Given::default() }.is(&disk, command, "allow").await;
        Given { ask: &guarded, ..Given::default() }.is(&disk, command, "allow").await;
        Given { ask: &["Edit(infra/**)"], ..Given::default() }.is(&disk, command, "allow").await;
    }
    let ruled = Given { allow: &["Bash(rg *)", "Bash(tar *)"], ..Given::default() };
    Given { ask: &guarded, ..ruled }.is(&disk, "rg x src", "allow").await;
    for command in ["rg x .", "tar cf - priv", "tar cf - ."] {
        let ruled = Given { allow: &["Bash(rg *)", "Bash(tar *)"], ..Given::default() };
        Given { ask: &guarded, ..ruled }.is(&disk, command, "ask").await;
    }
}

#[tokio::test]
async fn whole_directories_ask_where_a_rule_asks_about_what_lies_there() {
    let disk = files();
    let guarded = ["Read(priv/k)", "Edit(infra/x.tf)"];
    let given = || Given { always_ask: &guarded, bypass: true, ..Given::default() };
    for command in [
        "cp -r priv p2",
        "git checkout -- infra",
        "git restore infra",
        "git clean -fdx infra",
        "rm -r infra",
        "mv infra c2",
        "tar czf o.tgz priv",
        "tar cf - -C priv k",
    ] {
        given().is(&disk, command, "forced").await;
        Given { bypass: true, ..Given::default() }.is(&disk, command, "allow").await;
        Given { ask: &guarded, bypass: true, ..Given::default() }.is(&disk, command, "allow").await;
    }
    for command in
        ["cp -r src s2", "rm -r src/deep", "mv src s3", "cargo test", "npm run build", "cat infra/x.tf"]
    {
        given().is(&disk, command, "allow").await;
    }
    let usual = Given { always_ask: &["Bash(git push *)"], bypass: true, ..Given::default() };
    for command in ["cp -r priv p2", "rm -r infra", "git diff", "rg x .", "tar czf o.tgz priv"] {
        usual.is(&disk, command, "allow").await;
    }
}

/// A rule for a subcommand holds behind options, and for its other names: what may be meant is asked about.
#[tokio::test]
async fn subcommands_are_found_behind_options_and_by_other_names() {
    let disk = files();
    let rules = ["Bash(npm publish *)", "Bash(cargo run *)", "Bash(kubectl delete *)", "Bash(make deploy)"];
    for (command, want) in [
        ("npm pub", "forced"),
        ("npm -s publish --tag x", "forced"),
        ("npm --tag x publish", "forced"),
        ("cd src && npm publi", "forced"),
        ("sh -c 'npm pub'", "forced"),
        ("x=$y; npm -w a pub", "forced"),
        ("cargo +nightly r --release", "forced"),
        ("kubectl -n x --context y delete pod z", "forced"),
        ("make -j4 -C src deploy", "forced"),
        ("npm pack", "allow"),
        ("npm run publish", "allow"),
        ("cargo test run", "allow"),
        ("kubectl -n x get pods", "allow"),
        ("make -j4 build", "allow"),
    ] {
        Given { deny: &rules, bypass: true, ..Given::default() }.is(&disk, command, want).await;
        Given { always_ask: &rules, bypass: true, ..Given::default() }.is(&disk, command, want).await;
    }
}
