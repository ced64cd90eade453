//! Whole files.

use std::path::PathBuf;

use super::*;
use crate::permission::{OwnPlaces, compile};

const TOOLS: [&str; 6] = ["Bash", "Read", "Edit", "Write", "WebFetch", "http_request"];

fn of(text: &str) -> Result<Imported, Malformed> {
    let file = OutsideFile::parse(text.to_owned()).unwrap();
    let anchors = Anchors::of(&PathBuf::from("/src/app/.claude/settings.json"), None);
    let imported = import(&file, &anchors, &TOOLS);
    if let Ok(imported) = &imported {
        // Whatever comes out is a config that the server takes, and warns of nothing.
        let policy = compile(&imported.permissions, &OwnPlaces::default(), &TOOLS).unwrap();
        assert_eq!(policy.warnings(), []);
    }
    imported
}

fn remarks(imported: &Imported) -> Vec<(usize, &str, &'static str)> {
    imported.remarks.iter().map(|r| (r.line.unwrap_or(0), r.key.as_str(), r.note.kind.as_str())).collect()
}

#[test]
fn a_team_file_is_carried_over_line_by_line() {
    let imported = of(r#"{
  "$schema": "https://json.schemastore.org/claude-code-settings.json",
  "permissions": {
    "allow": [
      "Bash(npm run test:*)",
      "WebFetch(domain:docs.rs)",
      "Write(docs/**)",
      "Agent(Explore)"
    ],
    "deny": ["Read(.env)", "Read(/secrets/**)", "Bash(curl:*)"],
    "ask": ["Bash(git push:*)"],
    "additionalDirectories": ["../docs/"],
    "defaultMode": "acceptEdits",
    "disableBypassPermissionsMode": "disable"
  },
  "env": {"TOKEN": "hidden-value"},
  "hooks": {"PreToolUse": []},
  "model": "opus"
}"#)
    .unwrap();
    let permissions = &imported.permissions;
    assert_eq!(permissions.allow, ["Bash(npm run test:*)", "WebFetch(domain:docs.rs)", "Read(/src/docs/**)"]);
    assert_eq!(
        permissions.deny,
        ["Read(.env)", "Read(/src/app/.claude/secrets/**)", "Read(/src/app/secrets/**)", "Bash(curl:*)"]
    );
    assert_eq!(permissions.ask, ["Bash(git push:*)", "WebFetch(domain:*.docs.rs)"]);
    assert_eq!((permissions.mode, permissions.max_mode), (PermissionMode::AcceptEdits, MaxMode::SandboxAuto));
    assert_eq!(
        remarks(&imported),
        [
            (6, "permissions.allow[1]", "translated"),
            (7, "permissions.allow[2]", "dropped"),
            (8, "permissions.allow[3]", "ignored"),
            (10, "permissions.deny[1]", "translated"),
            (12, "permissions.additionalDirectories[0]", "different"),
            (16, "env", "ignored"),
            (17, "hooks", "ignored"),
            (18, "model", "ignored"),
        ]
    );
    assert!(!format!("{:?}", imported.remarks).contains("hidden-value"), "values may be secrets");
}

#[test]
fn what_held_calls_back_is_lost_only_where_it_did() {
    for (setting, want) in [
        (
            r#""hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "x"}]}]}"#,
            "narrower",
        ),
        (r#""hooks": {"PreToolUse": []}"#, "ignored"),
        (r#""sandbox": {"network": {"deniedDomains": ["x.io"]}}"#, "narrower"),
        (r#""sandbox": {"enabled": false}"#, "ignored"),
        (r#""deniedMcpServers": [{"serverName": "x"}]"#, "narrower"),
        (r#""env": {"A": "1"}"#, "ignored"),
    ] {
        let imported = of(&format!("{{{setting}}}")).unwrap();
        assert_eq!(imported.remarks[0].note.kind.as_str(), want, "{setting}");
    }
}

#[test]
fn modes_that_are_not_here_are_told() {
    for (mode, want, told) in [
        ("default", PermissionMode::Default, None),
        ("plan", PermissionMode::Plan, None),
        ("dontAsk", PermissionMode::DontAsk, None),
        ("bypassPermissions", PermissionMode::Default, Some("dropped")),
        ("auto", PermissionMode::Default, Some("dropped")),
        ("yolo", PermissionMode::Default, Some("dropped")),
    ] {
        let imported = of(&format!(r#"{{"permissions": {{"defaultMode": "{mode}"}}}}"#)).unwrap();
        assert_eq!(imported.permissions.mode, want, "{mode}");
        assert_eq!(imported.says_mode, told.is_none(), "{mode}");
        assert_eq!(imported.remarks.first().map(|r| r.note.kind.as_str()), told, "{mode}");
    }
}

#[test]
fn a_host_that_is_allowed_with_all_beneath_it_asks_for_nothing() {
    let rules = |allow: &str, ask: &str| {
        of(&format!(r#"{{"permissions": {{"allow": [{allow}], "ask": [{ask}]}}}}"#)).unwrap()
    };
    let (x, below) = (r#""WebFetch(domain:x.y)""#, r#""WebFetch(domain:*.x.y)""#);
    assert_eq!(rules(x, "").permissions.ask, ["WebFetch(domain:*.x.y)"]);
    for wider in [below, r#""WebFetch(domain:*.y)""#, r#""WebFetch(domain:*)""#, r#""WebFetch""#] {
        let imported = rules(&format!("{x}, {wider}"), "");
        assert_eq!(imported.permissions.ask, <[&str; 0]>::default(), "{wider}");
    }
    // What the file itself asks about stays.
    assert_eq!(rules(&format!("{x}, {below}"), below).permissions.ask, ["WebFetch(domain:x.y)"]);
    // Another host beneath an allowed one would ask: that is told.
    let imported = rules(&format!(r#"{x}, "WebFetch(domain:a.x.y)""#), "");
    assert_eq!(imported.permissions.ask, ["WebFetch(domain:*.x.y)", "WebFetch(domain:*.a.x.y)"]);
    let lost = imported.remarks.iter().filter(|r| r.note.kind == Kind::Dropped).collect::<Vec<_>>();
    assert_eq!((lost.len(), lost[0].key.as_str()), (1, "permissions.allow[1]"));
}

#[test]
fn a_file_of_another_shape_is_refused_whole() {
    for (text, line, key) in [
        ("[]", 1, ""),
        ("{\n\"permissions\": []}", 2, "permissions"),
        ("{\"permissions\": {\n\"deny\": \"Bash\"}}", 2, "permissions.deny"),
        ("{\"permissions\": {\"deny\": [\"Bash\",\n7]}}", 2, "permissions.deny[1]"),
        ("{\"permissions\": {\"allow\": [\n\n{}]}}", 3, "permissions.allow[0]"),
        ("{\"permissions\": {\n\"defaultMode\": 1}}", 2, "permissions.defaultMode"),
        ("{\"permissions\": {\n\"additionalDirectories\": {}}}", 2, "permissions.additionalDirectories"),
    ] {
        let malformed = of(text).unwrap_err();
        assert_eq!((malformed.line, malformed.key.as_str()), (Some(line), key), "{text}");
    }
    assert_eq!(of("{}").unwrap().remarks, []);
}

#[test]
fn unknown_keys_of_the_permissions_are_told() {
    let imported = of(r#"{"permissions": {
        "denyInsteadOfPrompting": true,
        "blockReadsOutsideWorkingDirectories": true,
        "disableBypassPermissionsMode": "no",
        "disableAutoMode": "disable",
        "alow": ["Bash"]
    }}"#)
    .unwrap();
    assert_eq!(imported.permissions, PermissionsConfig::default());
    let told: Vec<_> = remarks(&imported).into_iter().map(|(line, _, kind)| (line, kind)).collect();
    assert_eq!(told, [(2, "narrower"), (3, "narrower"), (4, "ignored"), (5, "ignored"), (6, "ignored")]);
}
