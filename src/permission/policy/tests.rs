//! Tables: given rules and a call, the verdict.

mod guesses;
mod named_within;
mod protected;

use proptest::prelude::*;

use super::super::example::{self, Expected, RuleTest};
use super::super::rule::Rule;
use super::super::subject::OnDisk;
use super::*;

const TOOLS: [&str; 8] = ["Bash", "Read", "Edit", "Write", "Grep", "WebFetch", "TodoWrite", "BashInput"];
const MODES: [PermissionMode; 5] = [
    PermissionMode::Default,
    PermissionMode::AcceptEdits,
    PermissionMode::Plan,
    PermissionMode::DontAsk,
    PermissionMode::SandboxAuto,
];

fn place() -> Place {
    Place { workspace: "/ws".into(), home: Some("/home/u".into()), cwd: "/ws".into() }
}

fn list(name: &str, rules: &[&str]) -> Vec<SourcedRule> {
    let sourced = |(n, text): (usize, &&str)| SourcedRule {
        rule: Rule::parse(text).unwrap(),
        source: format!("permissions.{name}[{n}]"),
    };
    rules.iter().enumerate().map(sourced).collect()
}

#[derive(Default)]
struct Given<'a> {
    deny: &'a [&'a str],
    always_ask: &'a [&'a str],
    ask: &'a [&'a str],
    allow: &'a [&'a str],
    grants: &'a [&'a str],
}

impl Given<'_> {
    fn policy(&self) -> Policy {
        let rules = RuleSet {
            deny: list("deny", self.deny),
            ask: list("ask", self.ask),
            allow: list("allow", self.allow),
            always_ask: list("always_ask", self.always_ask),
            own_paths: vec!["/var/toolgate".into(), "/etc/toolgate.json".into()],
            roots: Vec::new(),
        };
        Policy::compile(rules, &TOOLS).unwrap()
    }

    fn judge(&self, subject: &Subject<'_>, mode: PermissionMode, bypass: bool) -> Verdict {
        let here = |g: &&str| Grant::new(Rule::parse(g).unwrap(), Some("."), Path::new("/ws"));
        let grants: Vec<Grant> = self.grants.iter().map(here).collect();
        let around = Circumstances { mode, bypass, someone_there: true, confined: true, grants: &grants };
        self.policy().judge(subject, &around)
    }

    #[track_caller]
    fn is(&self, call: &str, want: &str) -> &Self {
        let got = self.judge(&example::subject(call, &place()).unwrap(), PermissionMode::Default, false);
        assert_eq!(shown(got.decision), want, "{call}: {}", got.reason.text);
        self
    }

    #[track_caller]
    fn edits_are(&self, call: &str, want: &str) -> &Self {
        let subject = example::subject(call, &place()).unwrap();
        let got = self.judge(&subject, PermissionMode::AcceptEdits, false);
        assert_eq!(shown(got.decision), want, "where edits are accepted, {call}: {}", got.reason.text);
        self
    }

    #[track_caller]
    fn bypass_is(&self, call: &str, want: &str) -> &Self {
        let got = self.judge(&example::subject(call, &place()).unwrap(), PermissionMode::Default, true);
        assert_eq!(shown(got.decision), want, "under bypass, {call}: {}", got.reason.text);
        self
    }
}

fn shown(decision: Decision) -> &'static str {
    match decision {
        Decision::Allow => "allow",
        Decision::Ask { forced: false } => "ask",
        Decision::Ask { forced: true } => "forced",
        Decision::Deny => "deny",
    }
}

fn file(requested: &str, real: &str, access: Access) -> SubjectPath {
    let inside = real.starts_with("/ws/") || real == "/ws";
    SubjectPath {
        requested: requested.into(),
        real: real.into(),
        access,
        inside,
        of: PathOf::Call,
        kind: None,
    }
}

fn with_paths(tool: &str, class: Class, paths: Vec<SubjectPath>) -> Subject<'_> {
    Subject {
        tool,
        other_names: &[],
        class,
        paths,
        command: None,
        hosts: Vec::new(),
        place: place(),
        on_disk: OnDisk::default(),
    }
}

#[test]
fn what_is_usual_depends_on_class_and_mode() {
    let none = Given::default();
    for (call, by_mode) in [
        ("Read(src/a.rs)", ["allow", "allow", "allow", "allow", "allow"]),
        ("Edit(src/a.rs)", ["ask", "allow", "deny", "deny", "ask"]),
        ("Read(/etc/passwd)", ["ask", "ask", "deny", "deny", "ask"]),
        ("Edit(/etc/passwd)", ["ask", "ask", "deny", "deny", "ask"]),
        ("Bash(mkdir x)", ["ask", "allow", "deny", "deny", "ask"]),
        ("Bash(mkdir -p a/b && echo x > a/b/c && cat a/b/c)", ["ask", "allow", "deny", "deny", "ask"]),
        ("Bash(mkdir -m 777 x)", ["ask", "ask", "deny", "deny", "ask"]),
        ("Bash(mkdir /etc/x)", ["ask", "ask", "deny", "deny", "ask"]),
        ("Bash(mkdir x && make)", ["ask", "ask", "deny", "deny", "ask"]),
        ("Bash(python3 --version)", ["allow", "allow", "deny", "allow", "allow"]),
        ("Bash(mkdir .tool-versions2 && python3 --version)", ["ask", "ask", "deny", "deny", "ask"]),
        ("Bash(ls |& head)", ["allow", "allow", "deny", "allow", "allow"]),
        ("Bash(cat a)", ["allow", "allow", "deny", "allow", "allow"]),
        ("WebFetch(https://docs.rs)", ["ask", "ask", "deny", "deny", "ask"]),
        ("TodoWrite", ["allow", "allow", "allow", "allow", "allow"]),
        ("mcp__a__b", ["ask", "ask", "deny", "deny", "ask"]),
        ("BashInput(y)", ["ask", "ask", "deny", "deny", "ask"]),
    ] {
        for (mode, want) in MODES.into_iter().zip(by_mode) {
            let got = none.judge(&example::subject(call, &place()).unwrap(), mode, false);
            assert_eq!(shown(got.decision), want, "{call} in {mode:?}");
        }
    }
}

#[test]
fn deny_beats_everything_in_every_mode() {
    for (rule, call) in [
        ("Read(**/.env)", "Read(.env)"),
        ("Bash(curl *)", "Bash(curl x)"),
        ("mcp__a__*", "mcp__a__b"),
        ("*", "TodoWrite"),
        ("TodoWrite", "TodoWrite"),
        ("WebFetch(domain:evil.tld)", "WebFetch(https://a.evil.tld)"),
        ("Edit(src/**)", "Write(src/a)"),
    ] {
        let tool = call.split('(').next().unwrap();
        let given = Given {
            deny: &[rule],
            ask: &["*"],
            always_ask: &["*"],
            allow: &[call, tool],
            grants: &[tool, call],
        };
        // Calls with a URL are no rules: allow the tool outright there.
        let given =
            if call.contains("https") { Given { allow: &[tool], grants: &[tool], ..given } } else { given };
        for mode in MODES {
            for bypass in [false, true] {
                let got = given.judge(&example::subject(call, &place()).unwrap(), mode, bypass);
                assert_eq!(got.decision, Decision::Deny, "{rule} {call} {mode:?} {bypass}");
                assert_eq!(got.reason.rule.as_deref(), Some(rule));
            }
        }
    }
}

#[test]
fn a_grant_does_not_cover_what_may_mean_another_path_by_then() {
    let granted = ["Bash(cp a b)", "Bash(git checkout evil)", "Bash(npm test)"];
    Given { grants: &granted, allow: &["Bash(tar xf a.tar)"], ..Given::default() }
        .is("Bash(cp a b)", "allow")
        .is("Bash(cp a b && cp a b)", "allow")
        .is("Bash(cp a b; tar xf a.tar)", "allow")
        .is("Bash(git checkout evil && npm test)", "allow")
        .is("Bash(tar xf a.tar; cp a b)", "ask")
        .is("Bash(git checkout evil && cp a b)", "ask")
        .is("Bash(cp a b | git checkout evil)", "ask");
}

#[test]
fn the_order_is_the_contract() {
    let plan = |given: Given<'_>, call: &str, bypass| {
        shown(given.judge(&example::subject(call, &place()).unwrap(), PermissionMode::Plan, bypass).decision)
    };
    assert_eq!(plan(Given { always_ask: &["Edit(**)"], ..Given::default() }, "Edit(a)", true), "deny");
    assert_eq!(plan(Given { allow: &["Edit(**)"], ..Given::default() }, "Edit(a)", true), "deny");
    assert_eq!(plan(Given { always_ask: &["Read(**)"], ..Given::default() }, "Read(a)", true), "forced");
    assert_eq!(plan(Given::default(), "Read(a)", true), "allow");

    Given { always_ask: &["Bash(git push *)"], ..Given::default() }.bypass_is("Bash(git push)", "forced");
    Given { ask: &["Bash(git push *)"], ..Given::default() }
        .bypass_is("Bash(git push)", "allow")
        .is("Bash(git push)", "ask");
    Given {
        ask: &["Bash(git push *)"],
        allow: &["Bash(git push *)"],
        grants: &["Bash(git push *)"],
        ..Given::default()
    }
    .is("Bash(git push origin)", "ask")
    .is("Bash(git fetch)", "ask");
    Given { grants: &["Bash(git push origin)"], ..Given::default() }
        .is("Bash(git push origin)", "allow")
        .is("Bash(git push)", "ask");
    Given { ask: &["*"], ..Given::default() }.is("Read(a)", "ask").is("TodoWrite", "allow");
    Given { ask: &["TodoWrite"], ..Given::default() }.is("TodoWrite", "ask");
}

/// What a list's order and a rule's narrowness say: nothing.
#[test]
fn neither_position_nor_narrowness_counts() {
    let wide_and_narrow =
        [["Bash(git *)", "Bash(git push origin main)"], ["Bash(git push origin main)", "Bash(git *)"]];
    for both in wide_and_narrow {
        for one in &both {
            let other = [if *one == both[0] { both[1] } else { both[0] }];
            let one = [*one];
            Given { deny: &one, allow: &both, grants: &both, ..Given::default() }
                .is("Bash(git push origin main)", "deny");
            Given { deny: &one, allow: &other, ask: &other, ..Given::default() }
                .bypass_is("Bash(git push origin main)", "deny");
            Given { ask: &one, allow: &other, ..Given::default() }.is("Bash(git push origin main)", "ask");
            Given { always_ask: &one, allow: &other, grants: &other, ..Given::default() }
                .bypass_is("Bash(git push origin main)", "forced");
        }
        Given { allow: &both, ..Given::default() }.is("Bash(git push origin main)", "allow");
    }
    let paths = [["Read(**)", "Read(a/b)"], ["Read(a/b)", "Read(**)"]];
    for [one, other] in paths {
        Given { deny: &[one], allow: &[other], ..Given::default() }.is("Read(a/b)", "deny");
        Given { ask: &[one], allow: &[other], ..Given::default() }.is("Read(a/b)", "ask");
    }
}

/// What bash itself connects to is network access, and rules about hosts hold for it.
#[test]
fn connections_of_the_shell_are_network_access() {
    for call in ["Bash(cat < /dev/tcp/evil.tld/80)", "Bash(exec 3<>/dev/udp/a.evil.tld/53)"] {
        let subject = example::subject(call, &place()).unwrap();
        assert_eq!(class_of(&subject), Class::Network, "{call}");
        Given { allow: &["Bash(cat *)", "Bash(exec *)"], ..Given::default() }.is(call, "ask");
        Given { deny: &["WebFetch(domain:evil.tld)"], allow: &["Bash"], ..Given::default() }
            .is(call, "deny")
            .bypass_is(call, "deny");
        Given { always_ask: &["http_request(domain:evil.tld)"], ..Given::default() }
            .bypass_is(call, "forced");
        Given { deny: &["WebFetch(domain:other.tld)"], allow: &["Bash"], ..Given::default() }
            .is(call, "allow");
    }
    let to_address = Given {
        deny: &["WebFetch(domain:127.0.0.1)", "WebFetch(domain:::1)"],
        allow: &["Bash"],
        ..Given::default()
    };
    for peer in ["::1", "0:0:0:0:0:0:0:1", "::1%lo", "::ffff:127.0.0.1", "127.1", "0", "::"] {
        to_address.bypass_is(&format!("Bash(cat < /dev/tcp/{peer}/80)"), "deny");
    }
    // A host that is not told may be the one of a rule, which is a guess; every host is that of `*`.
    for peer in ["$h", "\"$h\"", "evil.$(echo tld)", "{a,b}.tld", "a@evil.tld", "$(echo evil).tld"] {
        let call = format!("Bash(cat < /dev/tcp/{peer}/80)");
        for given in [
            Given { deny: &["WebFetch(domain:evil.tld)"], allow: &["Bash"], ..Given::default() },
            Given { always_ask: &["WebFetch(domain:192.0.2.1)"], allow: &["Bash"], ..Given::default() },
        ] {
            given.is(&call, "forced").bypass_is(&call, "forced");
        }
        Given { deny: &["WebFetch(domain:*)"], allow: &["Bash"], ..Given::default() }
            .bypass_is(&call, "deny");
        Given { allow: &["Bash"], ..Given::default() }.bypass_is(&call, "allow");
    }
    let subject = example::subject("Bash(cat /dev/null)", &place()).unwrap();
    assert_eq!(class_of(&subject), Class::Run);
}

#[test]
fn a_question_that_nobody_answers_is_a_denial() {
    let policy = Given::default().policy();
    let subject = example::subject("Edit(a)", &place()).unwrap();
    let around = Circumstances {
        mode: PermissionMode::Default,
        bypass: false,
        someone_there: false,
        confined: true,
        grants: &[],
    };
    let got = policy.judge(&subject, &around);
    assert_eq!((got.decision, got.reason.by), (Decision::Deny, By::NoHuman));
    let got = policy.judge(&subject, &Circumstances { mode: PermissionMode::DontAsk, ..around });
    assert_eq!((got.decision, got.reason.by), (Decision::Deny, By::Mode));
    let forced = example::subject("Edit(.git/config)", &place()).unwrap();
    assert!(policy.requires_forced_confirmation(&forced).is_some());
    assert!(policy.requires_forced_confirmation(&subject).is_none());
    let got = policy.judge(&forced, &Circumstances { bypass: true, ..around });
    assert_eq!((got.decision, got.reason.by), (Decision::Deny, By::NoHuman));
    let unasked = Circumstances { bypass: true, mode: PermissionMode::DontAsk, ..around };
    let got = policy.judge(&forced, &unasked);
    assert_eq!((got.decision, got.reason.by), (Decision::Deny, By::Mode));
}

#[test]
fn allow_needs_a_command_that_is_understood() {
    Given { allow: &["Bash(cat *)", "Bash(echo *)", "Bash(ls *)"], ..Given::default() }
        .is("Bash(cat <<E && touch x\nhi\nE)", "ask")
        .is("Bash(x='$(touch x)'; echo ${x@P})", "ask")
        .is("Bash($(echo touch x))", "ask")
        .is("Bash(PATH=./b ls)", "ask")
        .is("Bash(LD_PRELOAD=./x.so ls)", "ask")
        .is("Bash(/bin/ls)", "ask")
        .is("Bash(ls -la)", "allow")
        .is("Bash(ls > x)", "ask")
        .is("Bash(cat /etc/passwd)", "allow")
        .is("Bash(lsof)", "ask");
    Given { allow: &["Bash(sort *)", "Bash(rg *)", "Bash(sed *)", "Bash(find *)"], ..Given::default() }
        .is("Bash(sort --compress-prog=./h)", "ask")
        .is("Bash(rg \\--pre=sh)", "ask")
        .is("Bash(sed 'w f')", "ask")
        .is("Bash(find -fprintf f x)", "ask")
        .is("Bash(find . -exec sh -c id \\;)", "ask")
        .is("Bash(sort -n f)", "allow")
        .is("Bash(sed -n '1,80p' f)", "allow");
    Given { allow: &["Bash(cargo test *)", "Bash(sh ./run.sh)"], ..Given::default() }
        .is("Bash(cargo test --all)", "allow")
        .is("Bash(cargo test; rm x)", "ask")
        .is("Bash(cargo test && rm x)", "ask")
        .is("Bash(sh ./run.sh)", "allow")
        .is("Bash(sh ./run.sh x)", "ask");
    Given { allow: &["Bash"], ..Given::default() }.is("Bash(a | b $(c))", "allow");
    Given { allow: &["Bash(*)"], ..Given::default() }
        .is("Bash(a | $b)", "ask")
        .is("Bash(a | mkdir b)", "allow");
}

#[test]
fn programs_of_the_workspace_need_the_floor() {
    let policy = Given { allow: &["Bash(cargo test *)"], ..Given::default() }.policy();
    let subject = example::subject("Bash(cargo test)", &place()).unwrap();
    let mut around = Circumstances {
        mode: PermissionMode::Default,
        bypass: false,
        someone_there: true,
        confined: true,
        grants: &[],
    };
    assert_eq!(policy.judge(&subject, &around).decision, Decision::Allow);
    around.confined = false;
    assert_eq!(policy.judge(&subject, &around).decision, Decision::Ask { forced: false });
}

#[test]
fn known_commands_run_unless_they_could_reach_too_far() {
    // Those that every user is promised.
    for command in [
        "ls",
        "pwd",
        "cat f",
        "head f",
        "tail f",
        "wc f",
        "sort f",
        "uniq f",
        "cut -c1 f",
        "tr a b",
        "diff a b",
        "stat f",
        "file f",
        "du",
        "rg x",
        "grep x f",
        "find",
        "sed -n 1p f",
        "cargo --version",
    ] {
        Given::default().is(&format!("Bash({command})"), "allow");
    }
    Given::default()
        .is("Bash(cat a b)", "allow")
        .is("Bash(cat /etc/passwd)", "ask")
        .is("Bash(cat ../x)", "ask")
        .is("Bash(rg -n x src)", "allow")
        .is("Bash(find . -name '*.rs')", "allow")
        .is("Bash(cd sub && cat a | head -5; ls)", "allow")
        .is("Bash(cd .. && cat a)", "ask")
        .is("Bash(cd sub; cd ..; cat x)", "ask")
        .is("Bash(cd sub && cat ../x && wc -l < y 2>/dev/null)", "allow")
        .is("Bash(if [ -f a ]; then cat a; else echo no; fi)", "allow")
        .is("Bash(timeout 5 cat a | LC_ALL=C sort)", "allow")
        .is("Bash(cat a > b)", "ask")
        .is("Bash(cat < /etc/passwd)", "ask")
        .is("Bash(cat a | tee b)", "ask")
        .is("Bash(ls && touch b)", "ask");
    Given::default()
        .edits_are("Bash(cat a > b)", "allow")
        .edits_are("Bash(cat a > ../b)", "ask")
        .edits_are("Bash(cat a > .git/config)", "forced")
        .edits_are("Bash(cd .git && echo x > hooks/pre-commit)", "forced");
    Given { allow: &["Edit(out/**)", "Bash(mkdir *)"], ..Given::default() }
        .is("Bash(mkdir out && ls > out/x)", "allow")
        .is("Bash(mkdir out && ls > x)", "ask")
        .is("Bash(mkdir out && cat x)", "allow");
    // What a command may make a link of is not known before it has run.
    Given { allow: &["Bash(ln *)", "Bash(rm *)"], ..Given::default() }
        .is("Bash(ln -s /etc/shadow x)", "allow")
        .is("Bash(ln -s /etc/shadow x && cat x)", "ask")
        .is("Bash(rm -f a; cat x)", "allow");
    Given { deny: &["Read(**/.env)"], ..Given::default() }
        .is("Bash(grep -rn x .)", "forced")
        .is("Bash(cat a)", "allow")
        .is("Bash(cat .env)", "deny")
        .is("Bash(cat < .env)", "deny")
        .is("Bash(cd sub && cat ../.env)", "deny")
        .is("Bash(python3 x.py --file=.env)", "deny")
        .bypass_is("Bash(cat sub/.env | head)", "deny");
    Given { deny: &["Read(**/.env)"], allow: &["Bash(grep *)"], ..Given::default() }
        .is("Bash(grep -rn x .)", "forced")
        .is("Bash(grep -n x a)", "allow");
    // The gate resolved nothing: then the operands are not known to lie inside.
    let mut bare = example::subject("Bash(cat a)", &place()).unwrap();
    bare.on_disk = OnDisk::default();
    assert_eq!(shown(Given::default().judge(&bare, PermissionMode::Default, false).decision), "ask");
}

#[test]
fn deny_sees_through_disguise() {
    let rm = Given { deny: &["Bash(rm *)"], allow: &["Bash"], ..Given::default() };
    for command in [
        "rm x",
        "env rm x",
        "FOO=1 rm x",
        "timeout -k1 5 rm x",
        "sh -c 'rm x'",
        "/bin/rm x",
        "xargs rm",
        "busybox rm x",
        "r\\m x",
        "r\"\"m x",
        "true; rm x",
        "echo $(rm x)",
        "find . -exec rm {} \\;",
    ] {
        let call = format!("Bash({command})");
        rm.is(&call, "deny").bypass_is(&call, "deny");
    }
    rm.is("Bash(grep -n rm a)", "allow").is("Bash(echo rm)", "allow");
    let curl = format!("Bash({}curl x)", "true && ".repeat(60));
    Given { deny: &["Bash(curl *)"], allow: &["Bash"], ..Given::default() }
        .is(&curl, "deny")
        .bypass_is(&curl, "deny");
    let long = format!("Bash({}curl x)", "true && ".repeat(30_000));
    Given { deny: &["Bash(curl *)"], ..Given::default() }.bypass_is(&long, "deny");
}

#[test]
fn what_is_not_understood_cannot_slip_a_rule_about_bash() {
    Given { deny: &["Bash(touch *)"], allow: &["Bash"], ..Given::default() }
        .bypass_is("Bash($(echo tou)ch x)", "forced")
        .bypass_is("Bash(X=touch; $X x)", "forced")
        .is("Bash(X=touch; $X x)", "forced")
        .bypass_is("Bash(mkdir x)", "allow");
    Given { always_ask: &["Bash(touch *)"], ..Given::default() }
        .bypass_is("Bash(a | $b)", "forced")
        .bypass_is("Bash(a | b)", "allow");
    Given { deny: &["Read(x)"], ..Given::default() }.bypass_is("Bash(a | b)", "allow");
    Given::default().bypass_is("Bash(a | b)", "allow").is("Bash(a | b)", "ask");
    // Input is never understood; where a rule allows it outright, only what can be read in it is held back.
    Given { deny: &["Bash(touch *)"], ..Given::default() }.bypass_is("BashInput(y)", "forced");
    Given { deny: &["Bash(touch *)"], allow: &["BashInput"], ..Given::default() }
        .is("BashInput(y)", "allow")
        .is("BashInput(touch x)", "deny");
    Given { deny: &["Bash"], allow: &["BashInput"], ..Given::default() }.is("BashInput(y)", "deny");
}

#[test]
fn read_and_edit_guard_every_tool() {
    Given { deny: &["Read(**/*.env)"], ..Given::default() }
        .is("Read(a/b/.env)", "deny")
        .is("Read(.env)", "deny")
        .is("Grep(a/.env)", "deny")
        .is("ListDir(.env)", "deny")
        .is("Edit(.env)", "deny")
        .is("Write(.env)", "deny")
        .is("ApplyPatch(.env)", "deny")
        .is("Bash(echo x > .env)", "deny")
        .is("Bash(cp a .env)", "deny")
        .bypass_is("Bash(touch a/.env)", "deny")
        .is("Read(a/env)", "allow");
    Given { deny: &["Edit(secret/**)"], ..Given::default() }
        .is("Write(x/../secret/p)", "deny")
        .is("NotebookEdit(secret/p)", "deny")
        .is("Read(secret/p)", "allow")
        .is("Bash(cat secret/p)", "allow")
        .is("Bash(cp a secret/p)", "deny")
        .is("Bash(echo x > secret/p)", "deny");
    Given { deny: &["Write(secret/**)"], ..Given::default() }.is("Edit(secret/p)", "deny");
    Given { deny: &["Read"], ..Given::default() }.is("Grep(a)", "deny").is("Edit(a)", "deny");
    Given { deny: &["Grep(a)"], ..Given::default() }.is("Grep(a)", "deny").is("Read(a)", "allow");
    Given { ask: &["Read(a)"], ..Given::default() }.is("Read(a)", "ask").is("Edit(a)", "ask");
    Given { allow: &["Read(/data/**)", "Edit(/out/**)"], ..Given::default() }
        .is("Read(/data/x)", "allow")
        .is("Grep(/data/x)", "allow")
        .is("Edit(/data/x)", "ask")
        .is("Write(/out/x)", "allow")
        .is("Read(/data-evil/x)", "ask");
    Given { allow: &["Read(**)"], ..Given::default() }.is("Read(/ws-evil/x)", "ask").is("Read(x)", "allow");
}

#[test]
fn both_spellings_of_a_path_count() {
    let deny = Given { deny: &["Read(secret/**)"], ..Given::default() };
    for (requested, real) in [("link", "/ws/secret/x"), ("secret/link", "/ws/public/x")] {
        let subject = with_paths("Read", Class::ReadInside, vec![file(requested, real, Access::Read)]);
        assert_eq!(
            deny.judge(&subject, PermissionMode::Default, true).decision,
            Decision::Deny,
            "{requested}"
        );
    }
    let allow = Given { allow: &["Edit(src/**)"], ..Given::default() };
    for (requested, real, want) in [
        ("src/a", "/ws/src/a", "allow"),
        ("src/a", "/ws/other/a", "ask"),
        ("other/a", "/ws/src/a", "ask"),
        ("src/a", "/etc/a", "ask"),
    ] {
        let subject = with_paths("Edit", Class::EditInside, vec![file(requested, real, Access::Edit)]);
        let got = allow.judge(&subject, PermissionMode::Default, false);
        assert_eq!(shown(got.decision), want, "{requested} {real}");
    }
    let two = vec![file("src/a", "/ws/src/a", Access::Edit), file("b", "/ws/b", Access::Edit)];
    let subject = with_paths("ApplyPatch", Class::EditInside, two);
    assert_eq!(shown(allow.judge(&subject, PermissionMode::Default, false).decision), "ask");
    assert_eq!(shown(allow.judge(&subject, PermissionMode::AcceptEdits, false).decision), "allow");
}

#[test]
fn a_class_that_its_paths_contradict_is_not_believed() {
    let none = Given::default();
    let outside = with_paths("Read", Class::ReadInside, vec![file("x", "/etc/x", Access::Read)]);
    assert_eq!(shown(none.judge(&outside, PermissionMode::Default, false).decision), "ask");
    assert_eq!(shown(none.judge(&outside, PermissionMode::Plan, true).decision), "deny");
    let edits = with_paths("Read", Class::ReadInside, vec![file("x", "/ws/x", Access::Edit)]);
    assert_eq!(shown(none.judge(&edits, PermissionMode::Plan, false).decision), "deny");
}

#[test]
fn hosts_compare_as_parsed() {
    Given { allow: &["WebFetch(domain:trusted.io)"], ..Given::default() }
        .is("WebFetch(https://trusted.io/x)", "allow")
        .is("WebFetch(https://TRUSTED.io./x)", "allow")
        .is("WebFetch(https://a.trusted.io/x)", "allow")
        .is("WebFetch(https://trusted.io.evil.tld)", "ask")
        .is("WebFetch(https://eviltrusted.io)", "ask")
        .is("http_request(https://trusted.io)", "ask");
    assert!(example::subject("WebFetch(https://trusted.io@evil)", &place()).is_err());
    Given { deny: &["WebFetch(domain:evil.tld)"], ..Given::default() }
        .is("http_request(https://evil.tld)", "deny");
    let mut two = example::subject("WebFetch(https://trusted.io)", &place()).unwrap();
    two.hosts.extend(example::subject("WebFetch(https://evil.tld)", &place()).unwrap().hosts);
    let allow = Given { allow: &["WebFetch(domain:trusted.io)"], ..Given::default() };
    assert_eq!(shown(allow.judge(&two, PermissionMode::Default, false).decision), "ask");
}

#[test]
fn tools_of_others_answer_to_both_names() {
    let others = ["mcp__github__delete.repo".to_owned(), "Read".to_owned()];
    let subject = Subject {
        tool: "mcp__github__delete_repo",
        other_names: &others,
        class: Class::Foreign,
        paths: Vec::new(),
        command: None,
        hosts: Vec::new(),
        place: place(),
        on_disk: OnDisk::default(),
    };
    for (deny, allow, want) in [
        ("mcp__github__delete.repo", "mcp__github__*", "deny"),
        ("mcp__github__delete_*", "mcp__github__*", "deny"),
        ("mcp__github", "mcp__github__delete_repo", "deny"),
        ("mcp__*", "mcp__github__*", "deny"),
        ("mcp__other__*", "mcp__github__*", "allow"),
        ("mcp__other__*", "Read", "ask"),
        ("mcp__other__*", "mcp__git__*", "ask"),
    ] {
        let given = Given { deny: &[deny], allow: &[allow], ..Given::default() };
        assert_eq!(
            shown(given.judge(&subject, PermissionMode::Default, false).decision),
            want,
            "{deny} {allow}"
        );
    }
    for name in ["evil::read_file", "READ", "Read "] {
        let subject = Subject { tool: name, other_names: &[], ..subject.clone() };
        let given = Given { allow: &["Read", "Read(**)"], ..Given::default() };
        assert_eq!(shown(given.judge(&subject, PermissionMode::Default, false).decision), "ask", "{name}");
    }
}

#[test]
fn searches_hide_what_may_not_be_read() {
    let policy =
        Given { deny: &["Read(secret/**)", "Read(**/.env)", "Edit(x)"], ..Given::default() }.policy();
    for (path, want) in [
        ("/ws/secret", true),
        ("/ws/secret/a/b", true),
        ("/ws/a/.env", true),
        ("/ws/a", false),
        ("/ws/x", false),
        ("/var/toolgate/db", true),
    ] {
        assert_eq!(policy.hides(Path::new(path), &place()), want, "{path}");
    }
}

#[test]
fn grants_cover_only_what_they_name() {
    Given {
        grants: &["Edit(./a)", "Read(/etc/x)", "WebFetch(domain:a.io)", "mcp__a__b", "*"],
        ..Given::default()
    }
    .is("Edit(a)", "allow")
    .is("Edit(a/b)", "ask")
    .is("Edit(x/a)", "ask")
    .is("Read(/etc/x)", "allow")
    .is("Edit(/etc/x)", "ask")
    .is("WebFetch(https://a.io)", "allow")
    .is("WebFetch(https://b.a.io)", "ask")
    .is("mcp__a__b", "allow")
    .is("mcp__a__c", "ask");
    Given { grants: &["Edit(./a)"], deny: &["Edit(a)"], ..Given::default() }.is("Edit(a)", "deny");
}

#[test]
fn rules_that_cannot_be_are_refused_or_doubted() {
    for rule in ["*", "mcp__*"] {
        let rules = RuleSet { allow: list("allow", &[rule]), ..RuleSet::default() };
        let error = Policy::compile(rules, &TOOLS).unwrap_err();
        assert!(error.to_string().starts_with("permissions.allow[0]: "), "{error}");
    }
    let policy =
        Given { deny: &["Bsh(rm *)"], allow: &["Bash(env *)", "Read(**)"], ..Given::default() }.policy();
    let warned: Vec<_> = policy.warnings().iter().map(|w| (w.source.as_str(), w.rule.as_str())).collect();
    assert_eq!(warned, [("permissions.deny[0]", "Bsh(rm *)"), ("permissions.allow[0]", "Bash(env *)")]);
}

#[test]
fn a_config_is_held_against_its_own_examples() {
    let policy =
        Given { allow: &["Bash(cargo test *)"], deny: &["Read(**/.env)"], ..Given::default() }.policy();
    let test = |call: &str, is| RuleTest { call: call.to_owned(), is };
    let good = [
        test("Bash(cargo test --all)", Expected::Allow),
        test("Bash(cargo test; rm x)", Expected::Ask),
        test("Read(.env)", Expected::Deny),
    ];
    assert_eq!(policy.check_tests(&good, PermissionMode::Default), Ok(()));
    let bad = [test("Bash(cargo test --all)", Expected::Deny), test("Bash(x", Expected::Ask)];
    let failures = policy.check_tests(&bad, PermissionMode::Default).unwrap_err();
    assert_eq!(failures.len(), 2);
    assert!(failures[0].to_string().contains("is allow"), "{}", failures[0]);
}

/// Ways to write a command so that it does not look like itself.
fn disguised() -> impl Strategy<Value = String> {
    let name = prop::sample::select(vec![
        "curl",
        "/usr/bin/curl",
        "c\\url",
        "c''url",
        "\"curl\"",
        "cu\"r\"l",
        "'curl'",
    ]);
    let front = prop::sample::select(vec![
        "",
        "env ",
        "A=1 ",
        "sudo -n ",
        "timeout 5 ",
        "nice -n 3 ",
        "nohup ",
        "exec ",
        "command ",
        "time ",
        "xargs ",
        "true && ",
        "false || ",
        "x | ",
        "! ",
        "{ ",
        "( ",
        "if ",
        "setsid ",
        "stdbuf -oL ",
        "busybox ",
        ">o ",
        "2>&1 ",
    ]);
    let around = prop::sample::select(vec![
        ("", ""),
        ("sh -c '", "'"),
        ("bash -c \"", "\""),
        ("echo $(", ")"),
        ("echo `", "`"),
        ("(", ")"),
        ("{ ", "; }"),
        ("eval \"", "\""),
        ("cat <<E\n$(", ")\nE"),
        ("f() { ", "; }; f"),
        ("for i in 1; do ", "; done"),
        ("", " &"),
        ("", " # x"),
        ("", " >/dev/null"),
        ("true\n", "\ntrue"),
    ]);
    (prop::collection::vec(front, 0..4), name, around)
        .prop_map(|(front, name, (before, after))| format!("{before}{}{name} x{after}", front.concat()))
}

proptest! {
    #[test]
    fn a_disguised_command_never_runs(command in disguised()) {
        let given = Given { deny: &["Bash(curl *)"], allow: &["Bash", "Bash(*)"], grants: &["Bash(*)"], ..Given::default() };
        let call = format!("Bash({command})");
        let subject = example::subject(&call, &place()).unwrap();
        for bypass in [false, true] {
            let got = given.judge(&subject, PermissionMode::Default, bypass);
            prop_assert_ne!(got.decision, Decision::Allow, "{}", command);
        }
    }

    #[test]
    fn any_command_gets_a_verdict(command in "[ a-z'\"\\\\$(){}<>|&;`#=\n/*~.-]{0,200}", mode in 0usize..5, bypass: bool) {
        let given = Given { deny: &["Bash(zz *)", "Read(zz)"], ask: &["Bash(*q)"], allow: &["Bash(a* b*)"], ..Given::default() };
        let call = format!("Bash({command})");
        let subject = example::subject(&call, &place()).unwrap();
        given.judge(&subject, MODES[mode], bypass);
    }

    #[test]
    fn a_denied_path_is_denied_however_written(parts in prop::collection::vec("(a|\\.|b/\\.\\.|)", 0..6), bypass: bool) {
        let given = Given { deny: &["Read(**/.env)"], allow: &["Read", "Read(**)"], ..Given::default() };
        let call = format!("Read(./{}/.env)", parts.join("/"));
        let subject = example::subject(&call, &place()).unwrap();
        let got = given.judge(&subject, PermissionMode::Default, bypass);
        prop_assert_eq!(got.decision, Decision::Deny);
    }
}

#[test]
fn p1_what_follows_a_here_document_on_its_line_is_judged() {
    Given { allow: &["Bash(cat *)"], ..Given::default() }.is("Bash(cat <<E && touch x\nhi\nE)", "ask");
    Given { allow: &["Bash(cat *)"], deny: &["Bash(touch *)"], ..Given::default() }
        .is("Bash(cat <<E && touch x\nhi\nE)", "deny");
}

#[test]
fn p2_text_that_becomes_a_command_is_not_understood() {
    let echo = Given { allow: &["Bash(echo *)"], ..Given::default() };
    echo.is("Bash(x='$(touch x)'; echo ${x@P})", "ask").is("Bash($(echo touch x))", "ask");
}

#[test]
fn p4_options_that_run_or_write_are_not_behind_a_star() {
    let star = ["Bash(sort *)", "Bash(rg *)", "Bash(sed *)", "Bash(find *)"];
    let rules = Given { allow: &star, ..Given::default() };
    for command in [
        "sort --compress-prog=./h f",
        "rg \\--pre=sh x",
        "sed 'w f' x",
        "find -fprintf f x",
        "find . -exec sh -c id \\;",
    ] {
        rules.is(&format!("Bash({command})"), "ask").is(&format!("Bash(ls && {command})"), "ask");
    }
}

#[test]
fn p5_a_denied_program_is_found_behind_every_carrier() {
    let rm = Given { deny: &["Bash(rm *)"], allow: &["Bash"], ..Given::default() };
    for command in [
        "env rm x",
        "FOO=1 rm x",
        "timeout -k1 5 rm x",
        "sh -c 'rm x'",
        "/bin/rm x",
        "ls | xargs rm",
        "busybox rm x",
        "nice -n 5 env A=b sh -c 'timeout 5 rm x'",
        "(cd sub && command rm x)",
    ] {
        let call = format!("Bash({command})");
        rm.is(&call, "deny").bypass_is(&call, "deny");
    }
}

#[test]
fn p6_a_variable_that_changes_what_runs_asks() {
    let ls = Given { allow: &["Bash(ls *)"], ..Given::default() };
    ls.is("Bash(PATH=./b ls)", "ask")
        .is("Bash(LD_PRELOAD=./x.so ls)", "ask")
        .is("Bash(LC_ALL=C ls)", "allow");
}

/// A rule that spells out a whole text allows just that text, code on a command line too.
#[test]
fn a_text_that_is_spelt_out_is_allowed() {
    let allow = &[
        "Bash(python3 -c 'print(1)')",
        "Bash(find . -name '*.py' | xargs wc -l)",
        "Bash(find src -name '\\*.rs' | xargs wc -l)",
        "Bash(for f in a b; do touch x; done)",
        "Bash(python3 -c *)",
    ][..];
    let given = Given { allow, ..Given::default() };
    for (command, want) in [
        ("python3 -c 'print(1)'", "allow"),
        ("python3 -c 'print(2)'", "ask"),
        ("python3 -c 'print(1)' x", "ask"),
        ("python3 -c \"print(1)\"", "ask"),
        ("python3 -c 'print(1)'; ls", "ask"),
        ("python3 -c 'print(1)' > x", "ask"),
        ("cd sub && python3 -c 'print(1)'", "ask"),
        ("python3 -c *", "ask"),
        ("find . -name '*.py' | xargs wc -l", "allow"),
        ("find . -name 'x.py' | xargs wc -l", "ask"),
        ("find . -name *.py | xargs wc -l", "ask"),
        ("find src -name '*.rs' | xargs wc -l", "allow"),
        ("for f in a b; do touch x; done", "ask"),
    ] {
        given.is(&format!("Bash({command})"), want);
    }
    let guarded = Given { allow, deny: &["Bash(curl *)"], ..Given::default() };
    guarded.is("Bash(python3 -c 'print(1)')", "forced");
}
