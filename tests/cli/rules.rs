//! `toolgate rules`: offline on a file, and by the server's own rules.

use serde_json::json;

use crate::support::{Run, TestServer, program};

const CONFIG: &str = r#"{
  // what may run
  "permissions": {
    "deny": ["Read(**/.env)"],
    "allow": [
      "Bash(cargo test *)",
      "bash(ls)"
    ],
    "always_ask": ["Bash(git push *)"],
    "tests": [
      {"call": "Bash(cargo test --all)", "is": "allow"},
      {"call": "Bash(git push)", "is": "allow"},
      {"call": "Bash(", "is": "allow"}
    ]
  }
}"#;

/// A home with a config file, and no server at all.
struct Offline(tempfile::TempDir);

impl Offline {
    fn with(config: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("config.json"), config).unwrap();
        Self(folder)
    }

    fn run(&self, arguments: &[&str]) -> Run {
        let mut command = program(self.0.path(), arguments);
        Run::of(&command.current_dir(self.0.path()).output().unwrap())
    }
}

#[test]
fn all_that_is_wrong_is_told_with_its_line() {
    let offline = Offline::with(CONFIG);
    let run = offline.run(&["rules", "check", "config.json"]).expect(1);
    let lines: Vec<_> = run.out.lines().collect();
    assert!(
        lines[0].starts_with("config.json:12: error: permissions.tests[1]: `Bash(git push)` is ask"),
        "{run:#?}"
    );
    assert!(lines[1].starts_with("config.json:13: error: permissions.tests[2]: "), "{run:#?}");
    assert!(lines[2].starts_with("config.json:7: warning: permissions.allow[1]: `bash(ls)` "), "{run:#?}");
    assert_eq!(lines[3], "2 errors, 1 warning, 3 tests");
    let told = offline.run(&["rules", "check", "config.json", "--json"]).expect(1).json();
    assert_eq!((&told["ok"], &told["problems"][0]["line"]), (&json!(false), &json!(12)));
    assert_eq!(told["warnings"][0]["rule"], "bash(ls)");

    let good = Offline::with(
        &CONFIG
            .replace(r#""Bash(git push)", "is": "allow"},"#, r#""Bash(git push)", "is": "ask"}"#)
            .replace(r#"{"call": "Bash(", "is": "allow"}"#, ""),
    );
    good.run(&["rules", "check", "config.json"]).expect(0).shows(&["0 errors, 1 warning, 2 tests hold"]);
    good.run(&["rules", "check", "config.json", "--strict"]).expect(1);
    for (config, place) in [
        ("{\n\"permissions\": {\n\"deny\": [7]}}", "config.json:3: error: permissions.deny[0]: "),
        ("{\n\n\"permissions\": {\"deny\": [\n\"Bash(\"]}}", "config.json:4: error: permissions.deny[0]: "),
        ("{\n\"permissions\" {}}", "config.json:2: error: "),
    ] {
        Offline::with(config).run(&["rules", "check", "config.json"]).expect(1).shows(&[place]);
    }
    offline.run(&["rules", "check", "missing.json"]).expect(2).says(&["missing.json", "cannot be read"]);
}

#[test]
fn a_verdict_is_explained_and_has_the_calls_own_exit_code() {
    let offline = Offline::with(&CONFIG.replace(
        "is\": \"allow\"},\n      {\"call\": \"Bash(\"",
        "is\": \"ask\"},\n      {\"call\": \"Bash(x\"",
    ));
    let explain =
        |words: &[&str]| offline.run(&[&["rules", "explain", "--config", "config.json"], words].concat());
    let run = explain(&["Bash(git push)"]).expect(4);
    run.shows(&["ask        Bash(git push)\n", "permissions.always_ask[0]", "at         config.json:9\n"]);
    // Broken examples do not keep a rule from being explained.
    explain(&["Bash(cargo test --lib)"]).expect(0).shows(&["allowed by `Bash(cargo test *)`"]);
    explain(&["Read(conf/.env)"]).expect(3).shows(&["deny ", "config.json:4"]);
    for (words, code) in [
        (&["Edit(a.txt)"][..], 4),
        (&["Edit(a.txt)", "--mode", "accept_edits"], 0),
        (&["Edit(a.txt)", "--mode", "plan"], 3),
        (&["Edit(a.txt)", "--no-human"], 3),
        (&["Edit(a.txt)", "--bypass"], 0),
        (&["Bash(git push)", "--bypass"], 4),
        (&["Read(a.txt)"], 0),
        (&["Read(a.txt)", "--workspace", "/w", "--cwd", "/elsewhere"], 4),
    ] {
        explain(words).expect(code);
    }
    let told = explain(&["Bash(git push)", "--json"]).expect(4).json();
    assert_eq!((&told["verdict"], &told["forced"], &told["line"]), (&json!("ask"), &json!(true), &json!(9)));
    assert_eq!(told["rule"], "Bash(git push *)");
    explain(&["Bash"]).expect(2).says(&["Bash needs a command in parentheses"]);
}

#[test]
fn without_a_file_the_servers_rules_speak() {
    let server = TestServer::with_config(&json!({"permissions": {"allow": ["Bash(make)"]}}));
    server.run(&["sessions", "create", "--id", "s", "--mode", "plan"]).expect(0);
    server.run(&["rules", "explain", "Bash(make)"]).expect(0).shows(&["permissions.allow[0]"]);
    let run = server.run(&["rules", "explain", "Bash(make)", "--session", "s"]).expect(3);
    run.shows(&["mode       plan\n", &format!("workspace  {}\n", server.root().join("s").display())]);
    let agent = server.file("agent", &server.token("agent"));
    server
        .run(&["rules", "explain", "Bash(make)", "--token-file", &agent])
        .expect(6)
        .says(&["tokens/operator"]);
}
