//! The grammar as it is documented: every form of a rule, and the calls that it speaks of and does not.

use super::super::configured::{OwnPlaces, RuleProblem, compile};
use super::super::example;
use super::super::policy::{Circumstances, Policy};
use super::super::subject::Place;
use super::super::verdict::By;
use crate::config::{self, PermissionsConfig};
use crate::domain::session::PermissionMode;

const TOOLS: [&str; 12] = [
    "Bash",
    "Read",
    "Edit",
    "Write",
    "ApplyPatch",
    "Grep",
    "Glob",
    "ListDir",
    "FileInfo",
    "WebFetch",
    "http_request",
    "TodoWrite",
];

fn place() -> Place {
    Place { workspace: "/home/u/ws".into(), home: Some("/home/u".into()), cwd: "/home/u/ws/sub".into() }
}

fn policy(list: &str, rule: &str) -> Policy {
    let mut permissions = PermissionsConfig::default();
    let rules = vec![rule.to_owned()];
    match list {
        "deny" => permissions.deny = rules,
        "ask" => permissions.ask = rules,
        "always_ask" => permissions.always_ask = rules,
        _ => permissions.allow = rules,
    }
    compile(&permissions, &OwnPlaces::default(), &TOOLS).unwrap_or_else(|e| panic!("{rule}: {e:?}"))
}

/// Whether the one rule of a policy decides over a call.
fn decides(policy: &Policy, call: &str) -> bool {
    let around = Circumstances {
        mode: PermissionMode::Default,
        bypass: false,
        someone_there: true,
        confined: true,
        grants: &[],
    };
    policy.judge(&example::subject(call, &place()).unwrap(), &around).reason.by == By::Rule
}

/// For each rule the calls that it speaks of and those that it does not, in each of the lists.
#[track_caller]
fn speaks(lists: &[&str], rows: &[(&str, &[&str], &[&str])]) {
    for list in lists {
        for (rule, of, not_of) in rows {
            let policy = policy(list, rule);
            assert_eq!(policy.warnings(), [], "{rule}");
            for call in *of {
                assert!(decides(&policy, call), "{list} {rule} speaks of {call}");
            }
            for call in *not_of {
                assert!(!decides(&policy, call), "{list} {rule} does not speak of {call}");
            }
        }
    }
}

const NARROWING: [&str; 3] = ["deny", "ask", "always_ask"];
const ALL: [&str; 4] = ["deny", "ask", "always_ask", "allow"];

#[test]
fn tools_are_named_whole_or_by_server() {
    speaks(
        &ALL,
        &[
            ("TodoWrite", &["TodoWrite"], &["mcp__a__TodoWrite"]),
            ("WebFetch", &["WebFetch(https://a.b/)"], &["http_request(https://a.b/)"]),
            ("mcp__a__b", &["mcp__a__b"], &["mcp__a__bc", "mcp__a__B", "mcp__aa__b", "mcp__a"]),
            ("mcp__a__*", &["mcp__a__b", "mcp__a__"], &["mcp__aa__b", "mcp__a"]),
            ("mcp__a__get_*", &["mcp__a__get_x"], &["mcp__a__got"]),
            ("mcp__a", &["mcp__a__b"], &["mcp__ab__c", "mcp__a"]),
            ("http_request", &["http_request(https://a.b/)"], &["WebFetch(https://a.b/)"]),
        ],
    );
    speaks(
        &NARROWING,
        &[
            ("mcp__*", &["mcp__a__b", "mcp__b__c"], &["TodoWrite"]),
            ("*", &["mcp__a__b", "Bash(ls)", "Read(a)", "WebFetch(https://a.b/)"], &[]),
        ],
    );
    // What the session does with itself is asked about by its whole name alone.
    speaks(&["deny"], &[("*", &["TodoWrite"], &[])]);
    speaks(&["ask", "always_ask"], &[("*", &[], &["TodoWrite"])]);
}

#[test]
fn commands_have_words() {
    speaks(
        &ALL,
        &[
            ("Bash(git push)", &["Bash(git push)", "Bash( git   push )"], &["Bash(git push x)", "Bash(git)"]),
            ("Bash(mkdir *)", &["Bash(mkdir)", "Bash(mkdir a b)"], &["Bash(mkdirs)"]),
            ("Bash(mkdir:*)", &["Bash(mkdir)", "Bash(mkdir a b)"], &["Bash(mkdirs)"]),
            ("Bash(mkdir*)", &["Bash(mkdir)", "Bash(mkdirs)", "Bash(mkdir a)"], &["Bash(mkdi)"]),
            ("Bash(git push *)", &["Bash(git push)", "Bash(git push a b)"], &["Bash(git pushx)"]),
            ("Bash(git push:*)", &["Bash(git push)", "Bash(git push a b)"], &["Bash(git pushx)"]),
            ("Bash(touch * b)", &["Bash(touch a b)", "Bash(touch a a b)"], &["Bash(touch b)"]),
            ("Bash(touch a-*)", &["Bash(touch a-b)", "Bash(touch a-b c)"], &["Bash(touch b)"]),
            ("Bash(touch \\*)", &["Bash(touch '*')"], &["Bash(touch a)"]),
        ],
    );
    speaks(&ALL, &[("Bash", &["Bash(mkdir a)", "Bash(true; x)"], &["Read(a)"])]);
    // Wide where it holds back, narrow where it lets through.
    let calls = ["Bash(true && mkdir a)", "Bash(/bin/mkdir a)", "Bash(X=1 mkdir a)", "Bash(echo $(mkdir a))"];
    speaks(&["deny", "always_ask", "ask"], &[("Bash(mkdir *)", &calls, &[])]);
    speaks(&["allow"], &[("Bash(mkdir *)", &[], &calls[1..])]);
}

#[test]
fn paths_count_from_where_they_say() {
    let rows: &[(&str, &[&str], &[&str])] = &[
        // Absolute, in either spelling.
        ("Edit(/etc/**)", &["Edit(/etc/a)", "Edit(/etc/a/b)"], &["Edit(/etcx)", "Edit(etc/a)"]),
        ("Edit(//etc/**)", &["Edit(/etc/a)", "Edit(//etc//a)"], &["Edit(/etcx)", "Edit(etc/a)"]),
        ("Edit(/etc/hosts)", &["Edit(/etc/hosts)", "Edit(/etc/../etc/./hosts)"], &["Edit(/etc/hostsx)"]),
        // The home, which the workspace may lie in.
        ("Edit(~/notes/**)", &["Edit(/home/u/notes/a)", "Edit(~/notes/a)"], &["Edit(notes/a)"]),
        ("Edit(~/ws/a)", &["Edit(../a)", "Edit(/home/u/ws/a)"], &["Edit(a)"]),
        ("Edit(~)", &["Edit(~/x)", "Edit(../../x)"], &["Edit(/home/v/x)"]),
        // The workspace, wherever the call starts in it.
        ("Edit(src/**)", &["Edit(../src/a)", "Edit(../src/a/b)"], &["Edit(src/a)", "Edit(/src/a)"]),
        ("Edit(./src/*.rs)", &["Edit(../src/a.rs)"], &["Edit(../src/b/a.rs)", "Edit(../src/a.rsx)"]),
        ("Edit(./a)", &["Edit(../a)", "Edit(../a/b)"], &["Edit(a)"]),
        // A name alone is found at any depth, and so is what begins with two stars.
        ("Edit(a.rs)", &["Edit(a.rs)", "Edit(../a.rs)", "Edit(x/y/a.rs)"], &["Edit(a.rsx)", "Edit(xa.rs)"]),
        ("Edit(*.rs)", &["Edit(a.rs)", "Edit(x/y/b.rs)"], &["Edit(a.rsx)"]),
        ("Edit(**/a.rs)", &["Edit(a.rs)", "Edit(../a.rs)"], &["Edit(xa.rs)"]),
        ("Edit(a/**/b)", &["Edit(../a/b)", "Edit(../a/x/y/b)"], &["Edit(../a/bx)"]),
        ("Edit(build/)", &["Edit(build/a)", "Edit(../build/a/b)"], &["Edit(../builds/a)"]),
        ("Edit(**)", &["Edit(a)", "Edit(../x/y)"], &[]),
        // Wildcards within a name, choices, and letters that mean themselves.
        ("Edit(a?c)", &["Edit(abc)"], &["Edit(ac)", "Edit(a/c)"]),
        ("Edit([ab].c)", &["Edit(a.c)"], &["Edit(c.c)"]),
        ("Edit([!ab].c)", &["Edit(c.c)"], &["Edit(a.c)"]),
        ("Edit({a,b}.c)", &["Edit(a.c)", "Edit(b.c)"], &["Edit(c.c)"]),
        ("Edit(a\\*)", &["Edit(a*)"], &["Edit(ab)"]),
        ("Edit(a (copy).txt)", &["Edit(a (copy).txt)"], &["Edit(a copy.txt)"]),
        ("Edit(A)", &["Edit(A)"], &["Edit(a)"]),
        // `Write` says the same as `Edit`.
        ("Write(src/**)", &["Edit(../src/a)", "Write(../src/a)", "ApplyPatch(../src/a)"], &["Edit(src/a)"]),
        ("Edit(src/**)", &["Edit(../src/a)", "Write(../src/a)", "ApplyPatch(../src/a)"], &[]),
        // Of one tool alone.
        ("ApplyPatch(src/**)", &["ApplyPatch(../src/a)"], &["Edit(../src/a)"]),
        ("Grep(/srv/**)", &["Grep(/srv/a)"], &["Read(/srv/a)", "Glob(/srv/a)"]),
    ];
    speaks(&ALL, rows);
    // Reading, by whatever reads.
    let reads = ["Read(/srv/a)", "Grep(/srv/a)", "Glob(/srv/a)", "ListDir(/srv/a)", "FileInfo(/srv/a)"];
    speaks(&ALL, &[("Read(/srv/**)", &reads, &["Read(/srvx)"]), ("Read(//srv/**)", &reads, &[])]);
    speaks(
        &["deny"],
        &[("Read(/srv/**)", &["Edit(/srv/a)", "Bash(cat /srv/a)", "Bash(true; cat /srv/a)"], &[])],
    );
    speaks(&["ask", "always_ask", "allow"], &[("Read(/srv/**)", &[], &["Edit(/srv/a)"])]);
    // What holds back reaches the directory itself, and floats outside of the workspace too.
    speaks(
        &NARROWING,
        &[("Edit(/srv/x/**)", &["Edit(/srv/x)"], &[]), ("Edit(**/.env)", &["Edit(/y/.env)"], &[])],
    );
    speaks(
        &["allow"],
        &[("Edit(/srv/x/**)", &[], &["Edit(/srv/x)"]), ("Edit(**/.env)", &[], &["Edit(/y/.env)"])],
    );
}

#[test]
fn hosts_compare_at_a_dot_as_they_are_connected_to() {
    let rows: &[(&str, &[&str], &[&str])] = &[
        (
            "WebFetch(domain:docs.rs)",
            &["WebFetch(https://docs.rs/x)", "WebFetch(http://a.b.DOCS.rs.:8080/)"],
            &["WebFetch(https://evildocs.rs/)", "WebFetch(https://docs.rs.evil.tld/)"],
        ),
        ("WebFetch(domain:*.docs.rs)", &["WebFetch(https://a.docs.rs/)"], &["WebFetch(https://docs.rs/)"]),
        ("WebFetch(domain:*)", &["WebFetch(https://docs.rs/)", "WebFetch(http://192.0.2.1/)"], &[]),
        (
            "WebFetch(domain:192.0.2.1)",
            &[
                "WebFetch(http://192.0.2.1/)",
                "WebFetch(http://0xc0000201/)",
                "WebFetch(http://[::ffff:c000:201]/)",
            ],
            &["WebFetch(http://192.0.2.2/)"],
        ),
        (
            "WebFetch(domain:[2001:db8::1])",
            &["WebFetch(http://[2001:db8:0::1]/)"],
            &["WebFetch(http://[2001:db8::2]/)"],
        ),
        ("WebFetch(domain:xn--bcher-kva.example)", &["WebFetch(https://b\u{fc}cher.example/)"], &[]),
        ("http_request(domain:docs.rs)", &["http_request(https://docs.rs/)"], &[]),
    ];
    speaks(&ALL, rows);
    let other = &["http_request(https://docs.rs/)"];
    speaks(&NARROWING, &[("WebFetch(domain:docs.rs)", other, &[])]);
    speaks(&["allow"], &[("WebFetch(domain:docs.rs)", &[], other)]);
    // What may end at an address is held back with it, and not allowed with it.
    let within = &["WebFetch(http://[64:ff9b::192.0.2.1]/)", "WebFetch(http://[2002:c000:201::]/)"];
    speaks(
        &NARROWING,
        &[("WebFetch(domain:192.0.2.1)", within, &["WebFetch(http://[64:ff9b::192.0.2.2]/)"])],
    );
    speaks(&["allow"], &[("WebFetch(domain:192.0.2.1)", &[], within)]);
}

#[test]
fn what_can_never_match_is_a_warning_at_its_place() {
    for (list, rule, want) in [
        ("deny", "read(**)", "did you mean Read"),
        ("deny", "Raed(**)", "no tool is named Raed"),
        ("deny", "Read(../x)", "never match"),
        ("deny", "Read(a/./b)", "never match"),
        ("deny", "Read(a//b)", "never match"),
        ("deny", "TodoWrite(x)", "never match"),
        ("deny", "mcp__a__b(x)", "never match"),
        ("deny", "mcp__a__", "`mcp__a__*`"),
        ("allow", "WebFetch(domain:b\u{fc}cher.example)", "write `WebFetch(domain:xn--bcher-kva.example)`"),
        ("deny", "http_request(domain:*.\u{430}pple.com)", "write `http_request(domain:*.xn--pple-43d.com)`"),
        ("deny", "WebFetch(domain:0x7f.1)", "write `WebFetch(domain:127.0.0.1)`"),
        ("allow", "Bash(env *)", "never match"),
        ("allow", "Bash(sudo *)", "never match"),
    ] {
        let policy = policy(list, rule);
        let [warning] = policy.warnings() else { panic!("{rule}: {:?}", policy.warnings()) };
        assert_eq!(
            (warning.source.as_str(), warning.rule.as_str()),
            (&*format!("permissions.{list}[0]"), rule)
        );
        assert!(warning.text.contains(want), "{rule}: {}", warning.text);
    }
}

#[test]
fn what_is_no_rule_is_an_error_at_its_place() {
    let problems = |permissions: &PermissionsConfig| -> Vec<RuleProblem> {
        compile(permissions, &OwnPlaces::default(), &TOOLS).unwrap_err()
    };
    let texts = |rules: &[&str]| rules.iter().map(ToString::to_string).collect::<Vec<_>>();
    let wrong = PermissionsConfig {
        deny: texts(&["Bash", "Bash(", ""]),
        ask: texts(&["Re*"]),
        always_ask: texts(&["Read(!x)"]),
        allow: texts(&["WebFetch(https://a.b/)", "Read"]),
        ..PermissionsConfig::default()
    };
    let keys: Vec<String> = problems(&wrong).into_iter().map(|problem| problem.key).collect();
    assert_eq!(
        keys,
        [
            "permissions.deny[1]",
            "permissions.deny[2]",
            "permissions.ask[0]",
            "permissions.allow[0]",
            "permissions.always_ask[0]"
        ]
    );
    for wide in ["*", "mcp__*"] {
        let wrong = PermissionsConfig { allow: texts(&["Read", wide]), ..PermissionsConfig::default() };
        let [problem] = problems(&wrong).try_into().unwrap();
        assert_eq!(problem.key, "permissions.allow[1]");
        assert!(problem.message.contains("only in deny"), "{}", problem.message);
    }
    let test = |call: &str, is| config::RuleTest { call: call.to_owned(), is };
    let broken = PermissionsConfig {
        deny: texts(&["Bash(rm *)"]),
        tests: vec![
            test("Bash(rm x)", config::Verdict::Deny),
            test("Bash(rm x)", config::Verdict::Ask),
            test("Bash", config::Verdict::Deny),
        ],
        ..PermissionsConfig::default()
    };
    let keys: Vec<String> = problems(&broken).into_iter().map(|problem| problem.key).collect();
    assert_eq!(keys, ["permissions.tests[1]", "permissions.tests[2]"]);
}
