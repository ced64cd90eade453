//! Tables: given rules and a call, everything that is told of it.

use super::super::policy::RuleSet;
use super::super::rule::Rule;
use super::super::subject::{PathOf, SubjectPath};
use super::*;

#[derive(Default, Clone, Copy)]
struct Given<'a> {
    deny: &'a [&'a str],
    always_ask: &'a [&'a str],
    ask: &'a [&'a str],
    allow: &'a [&'a str],
    grants: &'a [&'a str],
    mode: PermissionMode,
    bypass: bool,
    nobody: bool,
}

fn place() -> Place {
    Place { workspace: "/ws".into(), home: Some("/home/u".into()), cwd: "/ws".into() }
}

fn list(name: &str, rules: &[&str]) -> Vec<SourcedRule> {
    let sourced = |(n, text): (usize, &&str)| SourcedRule {
        rule: Rule::parse(text).unwrap(),
        source: format!("{name}[{n}]"),
    };
    rules.iter().enumerate().map(sourced).collect()
}

impl Given<'_> {
    fn policy(&self) -> Policy {
        let rules = RuleSet {
            deny: list("deny", self.deny),
            ask: list("ask", self.ask),
            allow: list("allow", self.allow),
            always_ask: list("always_ask", self.always_ask),
            own_paths: vec!["/var/toolgate".into()],
            roots: Vec::new(),
        };
        Policy::compile(rules, &["Bash", "Read", "Edit", "WebFetch"]).unwrap()
    }

    /// What is told of a call, and the verdict that `judge` comes to.
    fn explain(&self, subject: &Subject<'_>) -> (Explanation, Verdict) {
        let here = |g: &&str| Grant::new(Rule::parse(g).unwrap(), Some("."), Path::new("/ws"));
        let grants: Vec<Grant> = self.grants.iter().map(here).collect();
        let around = Circumstances {
            mode: self.mode,
            bypass: self.bypass,
            someone_there: !self.nobody,
            confined: true,
            grants: &grants,
        };
        let policy = self.policy();
        (policy.explain(subject, &around), policy.judge(subject, &around))
    }

    #[track_caller]
    fn told(&self, call: &str) -> Explanation {
        self.explain(&example::subject(call, &place()).unwrap()).0
    }

    /// The rules that are told, as `source`, or `source @ leaf` where that is not the whole call.
    #[track_caller]
    fn names(&self, call: &str, want: &[&str]) {
        let shown = |rule: &MatchedRule| {
            let source = rule.source.clone().unwrap_or_else(|| rule.list.as_str().to_owned());
            match &rule.leaf {
                Some(leaf) if format!("Bash({leaf})") != call => format!("{source} @ {leaf}"),
                _ => source,
            }
        };
        let told: Vec<String> = self.told(call).matched.iter().map(shown).collect();
        assert_eq!(told, want, "{call}");
    }
}

#[test]
fn every_rule_that_speaks_of_the_call_is_told_not_only_the_first() {
    let given = Given {
        deny: &["Bash(rm *)", "Read(**/.env)", "Bash(git push --force *)", "mcp__x__*", "Edit(/etc/**)"],
        always_ask: &["Bash(git push *)", "Read(secret/**)"],
        ask: &["Bash(git *)", "Bash(git push origin *)", "*"],
        allow: &["Bash(git push *)", "Bash(git *)", "Bash(ls *)", "Read(**)", "Read(src/**)"],
        ..Given::default()
    };
    for (call, want) in [
        (
            "Bash(git push origin)",
            &["always_ask[0]", "ask[0]", "ask[1]", "ask[2]", "allow[0]", "allow[1]"][..],
        ),
        (
            "Bash(git push --force origin)",
            &["deny[2]", "always_ask[0]", "ask[0]", "ask[1]", "ask[2]", "allow[0]", "allow[1]"],
        ),
        ("Bash(ls -la)", &["ask[2]", "allow[2]"]),
        ("Read(src/a.rs)", &["ask[2]", "allow[3]", "allow[4]"]),
        ("Read(secret/.env)", &["deny[1]", "always_ask[1]", "ask[2]", "allow[3]"]),
        // A path denied for reading is denied for writing; an always_ask for reading is not.
        ("Edit(secret/.env)", &["deny[1]", "ask[2]"]),
        ("Edit(/etc/hosts)", &["deny[4]", "ask[2]"]),
        ("mcp__x__y", &["deny[3]", "ask[2]"]),
        // The session's own tools are asked about by name alone.
        ("TodoWrite", &[]),
    ] {
        given.names(call, want);
    }
}

#[test]
fn the_leaf_that_a_rule_speaks_of_is_told() {
    let given = Given {
        deny: &["Bash(rm *)", "Bash"],
        ask: &["Bash(git push *)"],
        allow: &["Bash(cargo test *)"],
        ..Given::default()
    };
    given.names(
        "Bash(cargo test --all && git push; rm -r x)",
        &["deny[0] @ rm -r x", "deny[1]", "ask[0] @ git push", "allow[0] @ cargo test --all"],
    );
    let told = given.told("Bash(cargo test && git push)");
    assert_eq!(told.leaves.unwrap(), ["cargo test", "git push"]);
    assert_eq!(given.told("Read(a)").leaves, None);
}

#[test]
fn what_would_allow_it_is_what_would_be_offered_and_lets_it_run() {
    let none = Given::default();
    for (given, call, want) in [
        (none, "Bash(mkdir x)", &["Bash(mkdir x)"][..]),
        (none, "Edit(a.rs)", &["Edit(./a.rs)"]),
        (none, "WebFetch(https://docs.rs/x)", &["WebFetch(domain:docs.rs)"]),
        (none, "mcp__a__b", &["mcp__a__b"]),
        // Nobody would be asked, but a rule would do.
        (Given { nobody: true, ..none }, "Bash(mkdir x)", &["Bash(mkdir x)"]),
        (Given { mode: PermissionMode::DontAsk, ..none }, "Edit(a.rs)", &["Edit(./a.rs)"]),
        // It runs already, or nothing that can be granted would help.
        (none, "Read(a.rs)", &[]),
        (Given { bypass: true, ..none }, "Bash(mkdir x)", &[]),
        (none, "Bash(python3 -c x)", &[]),
        (none, "Bash(echo $(x))", &[]),
        (none, "Edit(.git/config)", &[]),
        (Given { ask: &["Edit(**)"], ..none }, "Edit(a.rs)", &[]),
        (Given { deny: &["Edit(**)"], ..none }, "Edit(a.rs)", &[]),
        (Given { mode: PermissionMode::Plan, ..none }, "Edit(a.rs)", &[]),
    ] {
        let told = given.told(call);
        assert_eq!(told.would_allow, want, "{call}: {}", told.reason.text);
        // Each of them, granted, does what was said.
        if !want.is_empty() {
            let granted = Given { grants: want, ..given };
            assert_eq!(granted.told(call).decision, Outcome::Allow, "{call}");
            granted.names(call, &["grant"]);
        }
    }
}

#[test]
fn what_is_told_is_what_is_judged() {
    let rules = Given {
        deny: &["Bash(curl *)", "Read(**/.env)"],
        always_ask: &["Bash(git push *)"],
        ask: &["Edit(src/**)"],
        allow: &["Bash(cargo test *)", "Edit(**)", "WebFetch(domain:docs.rs)"],
        grants: &["Bash(make)"],
        ..Given::default()
    };
    let modes = [
        PermissionMode::Default,
        PermissionMode::AcceptEdits,
        PermissionMode::Plan,
        PermissionMode::DontAsk,
        PermissionMode::SandboxAuto,
    ];
    for call in [
        "Bash(cargo test)",
        "Bash(make)",
        "Bash(git push)",
        "Bash(true; curl x)",
        "Bash(echo $x)",
        "Bash(rm -r /)",
        "Read(.env)",
        "Read(/var/toolgate/tokens)",
        "Edit(src/a)",
        "Edit(b)",
        "WebFetch(https://a.docs.rs/)",
        "BashInput(y)",
        "TodoWrite",
        "mcp__a__b",
    ] {
        let subject = example::subject(call, &place()).unwrap();
        for mode in modes {
            for (bypass, nobody) in [(false, false), (true, false), (false, true), (true, true)] {
                let (told, judged) = Given { mode, bypass, nobody, ..rules }.explain(&subject);
                assert_eq!(told.decision, Outcome::from(judged.decision), "{call} {mode:?} {bypass}");
                assert_eq!(told.forced, judged.decision == Decision::Ask { forced: true }, "{call}");
                assert_eq!(told.reason, VerdictReason::from(judged.reason), "{call}");
                assert_eq!((told.mode, told.bypass), (mode, bypass));
                // The rule that decided is among those that are told.
                if let (DecidedBy::Rule, Some(source)) = (told.reason.by, &told.reason.source) {
                    assert!(told.matched.iter().any(|m| m.source.as_ref() == Some(source)), "{call}");
                }
            }
        }
    }
}

#[test]
fn both_spellings_of_a_path_are_looked_at() {
    let given = Given { deny: &["Read(lock/**)"], allow: &["Edit(open/**)"], ..Given::default() };
    let edit = |requested: &str, real: &str| Subject {
        tool: "Edit",
        other_names: &[],
        class: Class::EditInside,
        paths: vec![SubjectPath {
            requested: requested.into(),
            real: real.into(),
            access: Access::Edit,
            inside: true,
            of: PathOf::Call,
            kind: None,
        }],
        command: None,
        hosts: Vec::new(),
        place: place(),
        on_disk: OnDisk::default(),
    };
    for (requested, real, want) in [
        ("/ws/open/a", "/ws/open/a", &["allow[0]"][..]),
        // Allow needs both, deny needs either.
        ("/ws/open/a", "/ws/b", &[]),
        ("/ws/b", "/ws/open/a", &[]),
        ("/ws/open/a", "/ws/lock/a", &["deny[0]"]),
        ("/ws/lock/a", "/ws/open/a", &["deny[0]"]),
    ] {
        let told = given.explain(&edit(requested, real)).0;
        let sources: Vec<&str> = told.matched.iter().filter_map(|m| m.source.as_deref()).collect();
        assert_eq!(sources, want, "{requested} → {real}");
    }
    let mut two = edit("/ws/open/a", "/ws/open/a");
    two.paths.push(SubjectPath {
        requested: "/ws/x".into(),
        real: "/ws/x".into(),
        access: Access::Edit,
        inside: true,
        of: PathOf::Call,
        kind: None,
    });
    // One path of two is covered: the call asks, and it is told by which rule it came so far.
    let told = given.explain(&two).0;
    assert_eq!((told.decision, told.matched.len()), (Outcome::Ask, 1));
}

#[test]
fn many_rules_are_told_within_bounds() {
    let rules: Vec<String> = (0..300).map(|n| format!("Edit(**/*{})", "x".repeat(n % 5))).collect();
    let rules: Vec<&str> = rules.iter().map(String::as_str).collect();
    let given = Given { ask: &rules, allow: &rules, ..Given::default() };
    let told = given.told("Edit(axxxxx)");
    let of = |list| told.matched.iter().filter(|m| m.list == list).count();
    assert_eq!((of(RuleListName::Ask), of(RuleListName::Allow)), (MATCHED_MAX, MATCHED_MAX));
}

#[test]
fn a_long_command_names_one_rule_of_a_list_and_the_verdict_stands() {
    let rules: Vec<String> = (0..300).map(|n| format!("Read(secret-{n}/**)")).collect();
    let mut rules: Vec<&str> = rules.iter().map(String::as_str).collect();
    rules.push("Read(**/.env)");
    rules.push("Read(**/.e*)");
    let given = Given { deny: &rules, ..Given::default() };
    let words = |n: usize| (0..n).map(|n| format!("w{n}")).collect::<Vec<_>>().join(" ");
    given.names(&format!("Bash(cat .env {})", words(20)), &["deny[300]", "deny[301]"]);
    let long = format!("Bash(cat .env {})", words(3000));
    given.names(&long, &["deny[300]"]);
    assert_eq!(given.told(&long).decision, Outcome::Deny);
}

#[test]
fn a_written_call_says_what_it_touches() {
    let touches = |text: &str| written(text).unwrap().touches;
    for (text, want) in [
        ("Bash(ls; x)", Touch::Run { command: "ls; x".to_owned(), directory: None }),
        ("Read(a)", Touch::Read("a".to_owned())),
        ("Grep", Touch::Read(".".to_owned())),
        ("Write(/a b)", Touch::Edit("/a b".to_owned())),
        ("WebFetch(domain:docs.rs)", Touch::Network("https://docs.rs/".to_owned())),
        ("TodoWrite", Touch::SessionOnly),
        ("mcp__a__b", Touch::Foreign),
        ("mcp__a__b(x)", Touch::Foreign),
    ] {
        assert_eq!(touches(text), [want], "{text}");
    }
    for (text, want) in [
        ("Bash", "needs a command"),
        ("Bash(ls", "written as"),
        ("", "written as"),
        ("Bash x(ls)", "written as"),
        ("Read(~/.ssh/id)", "write the whole path"),
        ("Edit($HOME/x)", "write the whole path"),
        ("BashInput(y)", "runs already"),
    ] {
        let error = written(text).unwrap_err().to_string();
        assert!(error.contains(want), "{text}: {error}");
    }
}

#[test]
fn a_resolved_call_on_paper_is_the_written_one() {
    let call = |tool: &str, touches: Vec<Touch>| ResolvedCall {
        tool_name: tool.to_owned(),
        touches,
        ..written("X").unwrap()
    };
    let given = Given {
        deny: &["Read(**/.env)", "WebFetch(domain:evil.tld)"],
        allow: &["Bash(cargo test *)"],
        ..Given::default()
    };
    let run = |command: &str, directory: Option<&str>| Touch::Run {
        command: command.to_owned(),
        directory: directory.map(str::to_owned),
    };
    for (call, text) in [
        (call("Bash", vec![run("cargo test", None)]), "Bash(cargo test)"),
        (call("Bash", vec![run("cat .env", None)]), "Bash(cat .env)"),
        (call("Read", vec![Touch::Read("x/.env".to_owned())]), "Read(x/.env)"),
        (call("Edit", vec![Touch::Edit("/etc/x".to_owned())]), "Edit(/etc/x)"),
        (
            call("WebFetch", vec![Touch::Network("https://evil.tld/".to_owned())]),
            "WebFetch(https://evil.tld/)",
        ),
        (call("mcp__a__b", vec![Touch::Foreign]), "mcp__a__b"),
        (call("TodoWrite", vec![Touch::SessionOnly]), "TodoWrite"),
    ] {
        let told = given.explain(&on_paper(&call, &place()).unwrap()).0;
        assert_eq!(told, given.told(text), "{text}");
    }
    let elsewhere = call("Bash", vec![run("cat .env", Some("../other"))]);
    let subject = on_paper(&elsewhere, &place()).unwrap();
    assert_eq!((subject.place.cwd.to_str(), subject.paths.len()), (Some("/other"), 2));
    assert_eq!(given.explain(&subject).0.decision, Outcome::Deny);
}
