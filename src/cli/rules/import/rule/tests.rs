//! A table of rules as people have them, and what they are here.

use std::path::PathBuf;

use super::*;

const TOOLS: [&str; 12] = [
    "Bash",
    "Read",
    "Edit",
    "Write",
    "Grep",
    "Glob",
    "ListDir",
    "WebFetch",
    "http_request",
    "AskUser",
    "TodoWrite",
    "ExitPlanMode",
];

fn project() -> Anchors {
    Anchors::of(&PathBuf::from("/src/app/.claude/settings.json"), None)
}

fn carried(rule: &str, list: List) -> Carried {
    carry(rule, list, &project(), &TOOLS)
}

/// Our rules for a rule, and the word for what is to be said of it (`""` where nothing is).
fn told(rule: &str, list: List) -> (Vec<String>, &'static str) {
    let carried = carried(rule, list);
    (carried.rules, carried.note.map_or("", |note| note.kind.as_str()))
}

#[track_caller]
fn is(list: List, rows: &[(&str, &[&str], &str)]) {
    for (rule, rules, kind) in rows {
        let (found, said) = told(rule, list);
        assert_eq!(
            (found, said),
            (rules.iter().map(ToString::to_string).collect(), *kind),
            "{list:?} {rule}"
        );
    }
}

#[test]
fn commands_keep_their_patterns() {
    for list in [List::Deny, List::Ask, List::Allow] {
        is(
            list,
            &[
                ("Bash", &["Bash"], ""),
                ("Bash(*)", &["Bash"], "translated"),
                ("Bash(git status)", &["Bash(git status)"], ""),
                ("Bash(npm run test:*)", &["Bash(npm run test:*)"], ""),
                ("Bash(git push *)", &["Bash(git push *)"], ""),
                ("Bash(ls*)", &["Bash(ls*)"], ""),
                ("Bash(git * main)", &["Bash(git * main)"], ""),
            ],
        );
    }
    for list in [List::Deny, List::Ask] {
        is(list, &[("Bash(echo (a) b)", &["Bash(echo (a) b)"], "")]);
    }
    is(
        List::Allow,
        &[
            // No shell text, so it would allow nothing.
            ("Bash(echo (a) b)", &[], "dropped"),
            ("Bash(env *)", &[], "dropped"),
            ("Bash(ls", &[], "dropped"),
            ("Bash()", &[], "dropped"),
            ("Bash(run_in_background:true)", &[], "dropped"),
            ("Bash(timeout:*)", &[], "dropped"),
            ("Bash(a\u{7}b)", &[], "dropped"),
        ],
    );
    is(
        List::Deny,
        &[
            ("Bash(env *)", &["Bash(env *)"], ""),
            ("Bash(ls", &[], "narrower"),
            ("Bash()", &["Bash"], ""),
            ("Bash(run_in_background:true)", &[], "narrower"),
            ("Bash(timeout:*)", &["Bash(timeout:*)"], ""),
            ("Bash(timeout:5000)", &[], "narrower"),
        ],
    );
}

#[test]
fn paths_are_anchored_as_they_were() {
    is(
        List::Allow,
        &[
            ("Read", &["Read"], ""),
            ("Read(~/.zshrc)", &["Read(~/.zshrc)"], ""),
            ("Read(//etc/hosts)", &["Read(/etc/hosts)"], ""),
            ("Read(//)", &["Read(/)"], ""),
            ("Edit(/docs/**)", &["Edit(/src/app/.claude/docs/**)"], "translated"),
            ("Edit(docs/**)", &["Edit(docs/**)"], ""),
            ("Edit(./docs/**)", &["Edit(./docs/**)"], ""),
            ("Read(*.env)", &["Read(*.env)"], ""),
            ("Read(../shared/**)", &["Read(/src/shared/**)"], "translated"),
            ("Read(./../../x)", &["Read(/x)"], "translated"),
            ("Read(a/../b)", &[], "dropped"),
            ("Read(!x)", &[], "dropped"),
            ("Read(a[)", &[], "dropped"),
            // Braces are letters there: a choice would allow more.
            ("Read(src/{a,b}.ts)", &["Read(src/\\{a,b\\}.ts)"], "different"),
        ],
    );
    is(
        List::Deny,
        &[
            ("Read(/x)", &["Read(/src/app/.claude/x)", "Read(/src/app/x)"], "translated"),
            ("Read(.env)", &["Read(.env)"], ""),
            ("Read(a/../b)", &[], "narrower"),
            ("Read(!x)", &[], "narrower"),
            ("Read({a,b})", &["Read({a,b})", "Read(\\{a,b\\})"], "different"),
        ],
    );
    let elsewhere = Anchors::of(&PathBuf::from("/etc/cc [1]/managed.json"), None);
    let found = carry("Edit(/x)", List::Deny, &elsewhere, &TOOLS);
    assert_eq!(found.rules, ["Edit(/etc/cc \\[1\\]/x)"], "a folder's own letters are no pattern");
    let said = Anchors::of(&PathBuf::from("/src/app/.claude/settings.json"), Some("/src/app".into()));
    assert_eq!(carry("Edit(/x)", List::Allow, &said, &TOOLS).rules, ["Edit(/src/app/x)"]);
    assert_eq!(carry("Edit(../x)", List::Allow, &said, &TOOLS).rules, ["Edit(/src/x)"]);
}

#[test]
fn rules_that_were_not_looked_at_allow_nothing_new() {
    is(
        List::Allow,
        &[
            ("Write", &["Write"], ""),
            ("Write(docs/**)", &[], "dropped"),
            ("MultiEdit(docs/**)", &[], "dropped"),
            ("Glob(src/**)", &[], "dropped"),
            ("Grep", &["Grep"], ""),
            ("LS", &["ListDir"], "translated"),
            ("MultiEdit", &["Edit"], "translated"),
        ],
    );
    is(
        List::Deny,
        &[
            ("Write", &["Write"], "different"),
            ("Write(docs/**)", &["Edit(docs/**)"], "different"),
            ("Glob(src/**)", &["Glob(src/**)"], "different"),
            ("LS(src)", &["ListDir(src)"], "different"),
            ("Write(a/../b)", &[], "narrower"),
        ],
    );
}

#[test]
fn hosts_reach_no_further_than_they_did() {
    let one = carried("WebFetch(domain:docs.rs)", List::Allow);
    assert_eq!(one.rules, ["WebFetch(domain:docs.rs)"]);
    assert_eq!(one.ask, ["WebFetch(domain:*.docs.rs)"]);
    for rule in ["WebFetch(domain:127.0.0.1)", "WebFetch(domain:*)", "WebFetch(domain:*.docs.rs)", "WebFetch"]
    {
        let carried = carried(rule, List::Allow);
        assert_eq!((carried.rules, carried.ask, carried.note), (vec![rule.to_owned()], vec![], None));
    }
    is(
        List::Allow,
        &[
            ("WebFetch(https://docs.rs/)", &[], "dropped"),
            ("WebFetch(*)", &[], "dropped"),
            ("WebFetch(domain:a*b)", &[], "dropped"),
            ("WebFetch(domain:docs.rs/x)", &[], "dropped"),
        ],
    );
    is(
        List::Deny,
        &[
            ("WebFetch(domain:x.y)", &["WebFetch(domain:x.y)"], "different"),
            ("WebFetch(domain:*.x.y)", &["WebFetch(domain:x.y)"], "different"),
            ("WebFetch(*)", &["WebFetch"], "translated"),
            ("WebFetch(domain:a*b)", &[], "narrower"),
        ],
    );
}

#[test]
fn other_tools_are_what_they_are_here_or_nothing() {
    is(
        List::Allow,
        &[
            ("mcp__github__create_issue", &["mcp__github__create_issue"], ""),
            ("mcp__github__get_*", &["mcp__github__get_*"], ""),
            ("mcp__github", &["mcp__github"], ""),
            ("mcp__github__*", &["mcp__github__*"], ""),
            ("mcp__*", &[], "dropped"),
            ("mcp__a*__x", &[], "dropped"),
            ("mcp__a__b(x)", &[], "dropped"),
            ("*", &[], "dropped"),
            ("Web*", &[], "dropped"),
            ("TodoWrite", &["TodoWrite"], ""),
            ("AskUserQuestion", &["AskUser"], "translated"),
            ("TodoWrite(x)", &[], "dropped"),
            ("Task", &[], "ignored"),
            ("Agent(Explore)", &[], "ignored"),
            ("Skill(deploy *)", &[], "ignored"),
            ("WebSearch", &[], "ignored"),
            ("", &[], "dropped"),
            ("Bash git", &[], "dropped"),
        ],
    );
    is(
        List::Deny,
        &[
            ("*", &["*"], ""),
            ("mcp__*", &["mcp__*"], ""),
            ("mcp__a__b(x)", &["mcp__a__b"], "different"),
            ("mcp__a*__x", &[], "narrower"),
            ("Web*", &["WebFetch"], "different"),
            ("*Write", &["Write", "TodoWrite"], "different"),
            ("Note*", &[], "ignored"),
            ("Agent(Explore)", &[], "ignored"),
            ("TodoWrite(x)", &[], "narrower"),
            ("TodoWrite(*)", &["TodoWrite"], ""),
            ("bash(rm *)", &[], "ignored"),
        ],
    );
}

#[test]
fn further_directories_can_be_read() {
    let anchors = project();
    for (directory, want) in [
        ("/srv/data", Some("Read(/srv/data/**)")),
        ("/srv/data/", Some("Read(/srv/data/**)")),
        ("../docs/", Some("Read(/src/docs/**)")),
        ("~/notes", Some("Read(~/notes/**)")),
        ("/srv/a[1]", Some("Read(/srv/a\\[1\\]/**)")),
        ("/", None),
        ("../../..", None),
        ("", None),
    ] {
        assert_eq!(readable(directory, &anchors).as_deref(), want, "{directory}");
    }
}
