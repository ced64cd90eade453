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
    assert_eq!((&told["decision"], &told["forced"]), (&json!("ask"), &json!(true)));
    assert_eq!(told["reason"]["rule"], "Bash(git push *)");
    assert_eq!((&told["reason"]["line"], &told["matched"][0]["line"]), (&json!(9), &json!(9)));
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
    let run = server.run(&["rules", "explain", "Bash(make)", "--token-file", &agent, "--json"]).expect(0);
    let told = run.json();
    assert_eq!((&told["revision"], &told["call"]), (&json!(1), &json!("Bash(make)")));
    assert_eq!(told["matched"][0]["source"], "permissions.allow[0]");
    let run =
        server.run(&["rules", "explain", "Bash(make)", "--session", "s", "--mode", "default", "--json"]);
    assert_eq!(run.expect(0).json()["session_id"], "s");
    server.run(&["rules", "explain", "Bash(ls", "--session", "s"]).expect(6).says(&["/call"]);
    server.run(&["rules", "explain", "Bash(ls)", "--session", "none"]).expect(6);
    let other = server.run(&["rules", "explain", "Edit(a)", "--workspace", "/w", "--cwd", "/elsewhere"]);
    other.expect(4).shows(&["class      outside", "workspace  /w\n", "directory  /elsewhere\n"]);
}

#[test]
fn all_that_led_to_a_verdict_is_told() {
    let offline = Offline::with(
        r#"{"permissions": {
  "deny": ["Bash(rm *)"],
  "ask": ["Bash(git push *)"],
  "allow": [
    "Bash(cargo test *)",
    "Bash(cargo *)"
  ]
}}"#,
    );
    let explain =
        |words: &[&str]| offline.run(&[&["rules", "explain", "--config", "config.json"], words].concat());
    let run = explain(&["Bash(cargo test --all; git push && rm -r x)"]).expect(3);
    run.shows(&[
        "runs       cargo test --all\nruns       git push\nruns       rm -r x\n",
        "matched    deny `Bash(rm *)` (config.json:2) for `rm -r x`\n",
        "matched    ask `Bash(git push *)` (config.json:3) for `git push`\n",
        "matched    allow `Bash(cargo test *)` (config.json:5) for `cargo test --all`\n",
        "matched    allow `Bash(cargo *)` (config.json:6) for `cargo test --all`\n",
        "allowed by no rule: what is denied stays denied\n",
        "class      run\n",
    ]);
    explain(&["Bash(mkdir x)"]).expect(4).shows(&["allowed by Bash(mkdir x)\n"]);
    explain(&["Bash(git push)"]).expect(4).shows(&["allowed by no rule, while this one asks\n"]);
    explain(&["Edit(.git/config)"])
        .expect(4)
        .shows(&["allowed by no rule: it is asked about in every session"]);
    explain(&["Edit(a)", "--mode", "plan"]).expect(3).shows(&["allowed by no rule: the mode comes first"]);
    let run = explain(&["Bash(cargo test)"]).expect(0);
    assert!(!run.out.contains("\nallowed by"), "{run:#?}");
    let told = explain(&["Bash(cargo test)", "--json"]).expect(0).json();
    assert_eq!(told["matched"].as_array().unwrap().len(), 2);
    assert_eq!((&told["would_allow"], &told["class"]), (&json!([]), &json!("run")));
    explain(&["Bash(ls)", "--no-floor"]).expect(0);
    offline.run(&["rules", "explain", "Bash(ls)", "--no-floor"]).expect(2);
}

const SETTINGS: &str = r#"{
  "permissions": {
    "allow": ["Bash(npm run test:*)", "Read(//usr/share/doc/**)", "Write(docs/**)"],
    "deny": [
      "Read(/secrets/**)",
      "WebFetch(domain:*.evil.example)"
    ],
    "ask": ["Bash(git push:*)"],
    "defaultMode": "acceptEdits",
    "additionalDirectories": ["../shared"]
  },
  "hooks": {}
}"#;

#[test]
fn a_settings_file_becomes_a_config() {
    let offline = Offline::with("{}");
    let project = offline.0.path().canonicalize().unwrap().join("app");
    std::fs::create_dir_all(project.join(".claude")).unwrap();
    std::fs::write(project.join(".claude/settings.json"), SETTINGS).unwrap();
    let file = "app/.claude/settings.json";
    let run = offline.run(&["rules", "import", file]).expect(0);
    let config: serde_json::Value = serde_json::from_str(&run.out).unwrap();
    let at = |path: &str| format!("{}/{path}", project.display());
    let shared = project.with_file_name("shared");
    assert_eq!(
        config,
        json!({"permissions": {
            "mode": "accept_edits",
            "deny": [format!("Read({})", at(".claude/secrets/**")), format!("Read({})", at("secrets/**")),
                     "WebFetch(domain:evil.example)"],
            "ask": ["Bash(git push:*)"],
            "allow": ["Bash(npm run test:*)", "Read(/usr/share/doc/**)",
                      format!("Read({}/**)", shared.display())],
        }})
    );
    let said: Vec<_> = run.err.lines().collect();
    for (line, wanted) in [
        (3, "dropped: permissions.allow[2] `Write(docs/**)`: "),
        (5, "translated: permissions.deny[0] `Read(/secrets/**)`: "),
        (6, "different: permissions.deny[1] "),
        (10, "different: permissions.additionalDirectories[0] `../shared`: "),
        (12, "ignored: hooks: "),
    ] {
        let wanted = format!("{file}:{line}: {wanted}");
        assert!(said.iter().any(|line| line.starts_with(&wanted)), "{wanted}: {run:#?}");
    }
    assert_eq!(said.len(), 5, "{run:#?}");

    // What is written passes our own check, and nothing is written over.
    offline.run(&["rules", "import", file, "--output", "new.json"]).expect(0);
    offline.run(&["rules", "check", "new.json", "--strict"]).expect(0);
    offline
        .run(&["rules", "import", file, "--output", "new.json"])
        .expect(2)
        .says(&["is there already", "--force"]);
    std::fs::write(offline.0.path().join("new.json"), "mine").unwrap();
    offline.run(&["rules", "import", file, "--output", "new.json", "--force"]).expect(0);
    let written = std::fs::read_to_string(offline.0.path().join("new.json")).unwrap();
    assert_eq!(serde_json::from_str::<serde_json::Value>(&written).unwrap(), config);
    offline
        .run(&["rules", "import", file, "--output", "none/new.json"])
        .expect(2)
        .says(&["cannot be written"]);

    offline.run(&["rules", "import", file, "--strict"]).expect(1);
    let told = offline.run(&["rules", "import", file, "--json"]).expect(0).json();
    assert_eq!(told["config"], config);
    let lost = told["not_carried"].as_array().unwrap().iter().find(|r| r["kind"] == "dropped").unwrap();
    assert_eq!((&lost["line"], &lost["rule"]), (&json!(3), &json!("Write(docs/**)")));
    assert_eq!((&lost["key"], &lost["became"]), (&json!("permissions.allow[2]"), &json!([])));
}

#[test]
fn rules_are_merged_into_a_config_without_touching_it() {
    let mine = r#"{
  // mine
  "server": {"listen": "127.0.0.1:1"},
  "permissions": {
    "max_mode": "accept_edits",
    "mode": "default",
    "deny": ["Read(**/.env)", "Bash(curl *)"],
    "tests": [{"call": "Bash(curl x)", "is": "deny"}]
  }
}"#;
    let offline = Offline::with(mine);
    let settings = |text: &str| std::fs::write(offline.0.path().join("settings.json"), text).unwrap();
    settings(
        r#"{"permissions": {"deny": ["Bash(curl *)", "Bash(wget *)"], "allow": ["Bash(ls *)"],
            "defaultMode": "acceptEdits", "disableBypassPermissionsMode": "disable"}}"#,
    );
    let run = offline.run(&["rules", "import", "settings.json", "--merge", "config.json"]).expect(0);
    let merged: serde_json::Value = serde_json::from_str(&run.out).unwrap();
    assert_eq!(
        merged,
        json!({
            "server": {"listen": "127.0.0.1:1"},
            "permissions": {
                "max_mode": "accept_edits",
                "mode": "default",
                "deny": ["Read(**/.env)", "Bash(curl *)", "Bash(wget *)"],
                "ask": [],
                "allow": ["Bash(ls *)"],
                "tests": [{"call": "Bash(curl x)", "is": "deny"}],
            },
        })
    );
    run.says(&["permissions.defaultMode", "that stays"]);
    assert_eq!(std::fs::read_to_string(offline.0.path().join("config.json")).unwrap(), mine);
    std::fs::write(offline.0.path().join("merged.json"), &run.out).unwrap();
    offline.run(&["rules", "check", "merged.json"]).expect(0);
    // What the config allowed and a rule that comes in holds back.
    std::fs::write(
        offline.0.path().join("config.json"),
        r#"{"permissions": {"allow": ["Bash(git push *)", "Bash(npm test)", "Bash(wget:*)", "Edit(src/**)", "TodoWrite"]}}"#,
    )
    .unwrap();
    settings(
        r#"{"permissions": {"deny": ["Bash(wget *)"], "ask": ["Bash(git push origin *)", "Bash(npm *)", "Edit"]}}"#,
    );
    let run = offline.run(&["rules", "import", "settings.json", "--merge", "config.json"]).expect(0);
    run.says(&["allow of the config `Bash(npm test)`", "comes to ask", "`Bash(npm *)`"]);
    run.says(&["allow of the config `Bash(wget:*)`", "comes to deny", "`Bash(wget *)`"]);
    run.says(&["allow of the config `Edit(src/**)`"]);
    assert!(
        !run.err.contains("of the config `Bash(git push") && !run.err.contains("`TodoWrite`"),
        "{}",
        run.err
    );
    settings(
        r#"{"permissions": {"deny": ["Bash(curl *)", "Bash(wget *)"], "allow": ["Bash(ls *)"],
            "defaultMode": "acceptEdits", "disableBypassPermissionsMode": "disable"}}"#,
    );
    // An example of the config's own that no longer holds.
    std::fs::write(
        offline.0.path().join("config.json"),
        r#"{"permissions": {"tests": [{"call": "Bash(wget x)", "is": "ask"}]}}"#,
    )
    .unwrap();
    let run = offline.run(&["rules", "import", "settings.json", "--merge", "config.json"]).expect(1);
    run.says(&["error: permissions.tests[0]: "]);
}

#[test]
fn a_file_that_is_no_settings_file_is_refused_with_its_place() {
    let offline = Offline::with("{}");
    for (text, place) in [
        ("{\n \"permissions\": {\n  \"deny\": [\"a\" \"b\"]\n}}", "settings.json:3:15: "),
        ("{\"permissions\": {\n\"deny\": \"Bash\"}}", "settings.json:2: permissions.deny: "),
        ("{\"permissions\": {\"deny\": [\n7]}}", "settings.json:2: permissions.deny[0]: "),
        ("{\"permissions\": {\"deny\": [],\n\"deny\": []}}", "settings.json:2: permissions.deny: "),
        ("", "settings.json:1: "),
        ("[]", "settings.json:1: "),
    ] {
        std::fs::write(offline.0.path().join("settings.json"), text).unwrap();
        let run = offline.run(&["rules", "import", "settings.json"]).expect(2);
        run.says(&[place]);
        assert_eq!(run.out, "", "{text}");
    }
    offline.run(&["rules", "import", "missing.json"]).expect(2).says(&["missing.json:cannot be read"]);
    std::fs::write(offline.0.path().join("odd.json"), "{\"a\u{1b}[31m\": 1}").unwrap();
    let run = offline.run(&["rules", "import", "odd.json"]);
    assert!(!run.err.contains('\u{1b}') && !run.out.contains('\u{1b}'), "{run:#?}");
}
