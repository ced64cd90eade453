//! What is offered, and that it covers the call it was offered for.

use std::path::Path;

use proptest::prelude::*;

use super::super::example;
use super::super::petition::Petition;
use super::super::policy::{Circumstances, Policy, RuleSet, SourcedRule};
use super::super::subject::Place;
use super::*;
use crate::domain::session::PermissionMode;
use crate::permission::shell::WordPath;

fn place() -> Place {
    Place { workspace: "/ws".into(), home: Some("/home/u".into()), cwd: "/ws".into() }
}

fn around(grants: &[Grant], confined: bool) -> Circumstances<'_> {
    Circumstances { mode: PermissionMode::Default, bypass: false, someone_there: true, confined, grants }
}

/// A rule that was granted in the workspace itself.
fn granted_here(rule: &str) -> Grant {
    Grant::new(Rule::parse(rule).unwrap(), Some("."), &place().workspace)
}

fn offers_of(policy: &Policy, subject: &Subject<'_>, confined: bool) -> Vec<Offer> {
    let verdict = policy.judge(subject, &around(&[], confined));
    policy.offers(subject, &around(&[], confined), &verdict)
}

/// What is offered for the session; as much is for always.
fn offered(policy: &Policy, call: &str, confined: bool) -> Vec<String> {
    let subject = example::subject(call, &place()).unwrap();
    let offers = offers_of(policy, &subject, confined);
    let of = |scope| offers.iter().filter(move |o| o.scope == scope);
    assert_eq!(of(Scope::Session).count(), of(Scope::Always).count());
    of(Scope::Session).filter_map(|o| o.pattern.clone()).collect()
}

#[test]
fn offers_say_no_more_than_was_seen() {
    let policy = Policy::compile(RuleSet::default(), &[]).unwrap();
    for (call, confined, want) in [
        ("Bash(cargo test --all)", true, &["Bash(cargo test --all)"][..]),
        ("Bash(cargo test)", false, &[]),
        ("Bash(git push origin main)", true, &["Bash(git push origin main)"]),
        ("Bash(git commit -m x)", true, &["Bash(git commit -m x)"]),
        ("Bash(mkdir -p a/b)", false, &["Bash(mkdir -p a/b)"]),
        ("Bash(terraform-like plan)", true, &["Bash(terraform-like plan)"]),
        ("Bash(terraform-like plan)", false, &[]),
        ("Bash(sh ./run.sh)", true, &[]),
        ("Bash(python3 -c x)", true, &[]),
        ("Bash(python3 x.py)", true, &[]),
        // What a relative name runs depends on the directory, which a rule does not say.
        ("Bash(./x.sh)", true, &[]),
        ("Bash(bin/tool -v)", true, &[]),
        ("Bash(bin/ls)", true, &[]),
        ("Bash(bin/mkdir x)", true, &[]),
        ("Bash(../x.sh)", true, &[]),
        ("Bash(cd sub && ./x.sh)", true, &[]),
        ("Bash(timeout 5 ./x.sh)", true, &[]),
        ("Bash(nice bin/tool)", true, &[]),
        ("Bash(FOO=1 ./x.sh)", true, &[]),
        ("Bash(/ws/x.sh)", true, &[]),
        ("Bash(env ls)", true, &[]),
        ("Bash(xargs ls)", true, &[]),
        ("Bash(mkdir 'a b')", true, &["Bash(mkdir 'a b')"]),
        ("Bash(git commit -m \"it is (done); $\" --allow-empty '')", true, &[]),
        (
            "Bash(git commit -m \"it is (done);\" --allow-empty '')",
            true,
            &["Bash(git commit -m 'it is (done);' --allow-empty '')"],
        ),
        ("Bash(mkdir \"it's\")", true, &[]),
        ("Bash(mkdir '*')", true, &[]),
        ("Bash(mkdir 'a                    b')", true, &[]),
        ("Edit(a\u{202e}b)", true, &[]),
        ("Bash(a | b)", true, &[]),
        ("Edit(src/a.rs)", true, &["Edit(./src/a.rs)"]),
        ("Edit(a)", true, &["Edit(./a)"]),
        ("Edit(a[1].rs)", true, &["Edit(./a\\[1\\].rs)"]),
        ("Read(/etc/x)", true, &["Read(/etc/x)"]),
        // What lists, searches or tells of a file shows less than a rule for it would let be read.
        ("ListDir(/etc/x)", true, &[]),
        ("FileInfo(/etc/x)", true, &[]),
        ("Glob(/etc/x)", true, &[]),
        ("Grep(/etc/x)", true, &[]),
        ("Write(/etc/x)", true, &["Edit(/etc/x)"]),
        ("ApplyPatch(/etc/x)", true, &["Edit(/etc/x)"]),
        ("WebFetch(https://docs.rs/x)", true, &["WebFetch(domain:docs.rs)"]),
        ("WebFetch(http://10.0.0.1)", true, &[]),
        ("mcp__a__b", true, &["mcp__a__b"]),
        ("BashInput(y)", true, &[]),
        ("Edit(.git/config)", true, &[]),
        ("Bash(rm -rf /)", true, &[]),
        ("Read(a)", true, &[]),
    ] {
        assert_eq!(offered(&policy, call, confined), want, "{call}");
    }
}

#[test]
fn where_a_rule_asks_only_this_call_can_be_allowed() {
    let rule = |text| vec![SourcedRule { rule: Rule::parse(text).unwrap(), source: String::new() }];
    for rules in [
        RuleSet { ask: rule("Bash(mkdir *)"), ..RuleSet::default() },
        RuleSet { always_ask: rule("Bash(mkdir *)"), ..RuleSet::default() },
    ] {
        let policy = Policy::compile(rules, &[]).unwrap();
        assert!(offered(&policy, "Bash(mkdir x)", true).is_empty());
        let subject = example::subject("Bash(mkdir x)", &place()).unwrap();
        assert_eq!(offers_of(&policy, &subject, true), [Offer::once()]);
    }
    let denied = Policy::compile(RuleSet { deny: rule("Bash"), ..RuleSet::default() }, &[]).unwrap();
    let subject = example::subject("Bash(mkdir x)", &place()).unwrap();
    assert_eq!(offers_of(&denied, &subject, true), []);
}

#[test]
fn agents_can_ask_only_for_what_would_be_offered() {
    for (rule, confined, want) in [
        ("Bash(cargo test *)", true, false),
        ("Bash(cargo test --all)", true, true),
        ("Bash(mkdir 'a b')", false, true),
        ("Bash(cargo test --all)", false, false),
        ("Bash(cargo *)", true, false),
        ("Bash(mkdir x)", false, true),
        ("Bash(*)", true, false),
        ("Bash", true, false),
        ("Bash(env ls)", true, false),
        ("Bash(./x.sh)", true, false),
        ("Bash(bin/tool -v)", true, false),
        ("Bash(bin/mkdir x)", true, false),
        ("Bash('./x.sh')", true, false),
        ("Bash(cd bin && ./x.sh)", true, false),
        ("Bash(mkdir x && sh ./x.sh)", true, false),
        ("Bash(mkdir x; python3 -c 1)", true, false),
        ("Bash(mkdir x | sh ./x.sh)", true, false),
        ("Bash(mkdir x & sh ./x.sh)", true, false),
        ("Bash(mkdir x > y)", true, false),
        ("Bash(mkdir 'a b' > y)", true, false),
        ("Bash(mkdir $(sh ./x.sh))", true, false),
        ("Bash(mkdir `sh x.sh`)", true, false),
        ("Bash(FOO=1 mkdir x)", true, false),
        ("Bash(timeout 5 ./x.sh)", true, false),
        ("Bash(python3 *)", true, false),
        ("Bash(ls*)", true, false),
        ("Edit(./a)", true, true),
        ("Edit(**)", true, false),
        ("Edit(src/)", true, false),
        ("Edit", true, false),
        ("Grep(a)", true, false),
        ("WebFetch(domain:docs.rs)", true, true),
        ("WebFetch(domain:*)", true, false),
        ("WebFetch(domain:*.rs)", true, false),
        ("WebFetch(domain:10.0.0.1)", true, false),
        ("WebFetch(domain:[::1])", true, false),
        ("Bash(find . -exec sh -c id ';')", true, false),
        ("Bash(ssh-agent bash)", true, false),
        ("mcp__a__b", true, true),
        ("mcp__a__*", true, false),
        ("mcp__a", true, false),
        ("*", true, false),
    ] {
        assert_eq!(may_be_granted(&Rule::parse(rule).unwrap(), confined), want, "{rule}");
    }
}

#[test]
fn a_quoted_grant_covers_that_command_alone() {
    let policy = Policy::compile(RuleSet::default(), &[]).unwrap();
    let grants = [granted_here("Bash(mkdir 'a b')")];
    for (command, want) in [
        ("mkdir 'a b'", true),
        ("mkdir \"a b\"", true),
        ("mkdir a b", false),
        ("mkdir \\'a b\\'", false),
        ("mkdir 'a b' c", false),
        ("mkdir 'a  b'", false),
    ] {
        let call = format!("Bash({command})");
        let subject = example::subject(&call, &place()).unwrap();
        let got = policy.judge(&subject, &around(&grants, true));
        assert_eq!(got.decision == Decision::Allow, want, "{command}");
    }
}

#[test]
fn a_command_is_granted_for_the_directory_that_it_starts_in() {
    let policy = Policy::compile(RuleSet::default(), &[]).unwrap();
    let at = |cwd: &str| Place { cwd: cwd.into(), ..place() };
    let directory = |cwd: &str, command: &str| -> Option<String> {
        let call = format!("Bash({command})");
        let subject = example::subject(&call, &at(cwd)).unwrap();
        offers_of(&policy, &subject, true).into_iter().find_map(|offer| offer.directory)
    };
    for (cwd, command, want) in [
        ("/ws", "rm -r build", Some(".")),
        ("/ws/crates/x", "rm -r build", Some("crates/x")),
        ("/ws", "cd crates/x && rm -r build", Some("crates/x")),
        ("/ws/crates/x", "cd ../y && cargo test", Some("crates/y")),
        ("/ws", "cd a && (cd b && ls) && npm run build | head", Some("a")),
        ("/ws", "cd /ws && git push origin main", Some(".")),
        ("/ws", "cd fe && git commit -m x", Some("fe")),
        ("/ws", "cd fe && cp a b 2>&1 | tail -3", Some("fe")),
        ("/ws", "ln -s x fe && cd fe && npm run build", None),
        ("/ws", "(cd fe && mv a b) | cat", None),
        ("/ws", "cd fe && mv a b & cat x", None),
        ("/ws", "while true; do cd fe && mv a b; done", None),
        ("/ws", "cd a; npm run build", None),
        ("/ws/a", "cd ../.. && cargo test", None),
        ("/other/dir", "rm -r build", None),
        ("/other/dir", "ls", None),
        ("/ws", "cd /other/dir && rm -r build", None),
        ("/ws/a\u{202e}b", "rm -r build", None),
    ] {
        assert_eq!(directory(cwd, command).as_deref(), want, "{command} in {cwd}");
    }
    let grants =
        [Grant::new(Rule::parse("Bash(npm run build)").unwrap(), Some("frontend"), Path::new("/ws"))];
    for (cwd, command, covered) in [
        ("/ws/frontend", "npm run build", true),
        ("/ws", "cd frontend && npm run build", true),
        ("/ws", "cd frontend && npm run build | tail -n 3", true),
        ("/ws/frontend/src", "cd .. && npm run build", true),
        ("/ws", "npm run build", false),
        ("/ws", "cd frontend; npm run build", false),
        ("/ws", "(cd frontend) && npm run build", false),
        ("/ws", "cd backend && npm run build", false),
        ("/ws/frontend/frontend", "npm run build", false),
        ("/ws", "cd frontend && cd frontend && npm run build", false),
        ("/frontend", "npm run build", false),
        ("/ws", "sh -c 'cd frontend && npm run build'", false),
    ] {
        let call = format!("Bash({command})");
        let mut subject = example::subject(&call, &at(cwd)).unwrap();
        let got = policy.judge(&subject, &around(&grants, true));
        assert_eq!(got.decision == Decision::Allow, covered, "{command} in {cwd}: {}", got.reason.text);
        if command.contains("cd ") {
            // A `cd` through a link ends elsewhere than it says.
            subject.on_disk.paths_stay = false;
            subject.on_disk.enters_plainly = false;
            let got = policy.judge(&subject, &around(&grants, true));
            assert_ne!(got.decision, Decision::Allow, "{command}");
        }
    }
    // A word that became a link out of the workspace is not what was granted.
    let touch = [Grant::new(Rule::parse("Bash(touch again)").unwrap(), Some("."), Path::new("/ws"))];
    for (leads, covered) in [("/ws/other", true), ("/out/made", false), ("/ws2/f", false)] {
        let mut subject = example::subject("Bash(touch again)", &place()).unwrap();
        subject.on_disk.leads.push(WordPath {
            path: leads.into(),
            written: "/ws/again".into(),
            may_edit: true,
            descends: false,
            directory: false,
            sweeps: false,
        });
        let got = policy.judge(&subject, &around(&touch, true));
        assert_eq!(got.decision == Decision::Allow, covered, "{leads}: {}", got.reason.text);
    }
    // Without a directory it holds nowhere.
    let nowhere = [Grant::new(Rule::parse("Bash(npm run build)").unwrap(), None, Path::new("/ws"))];
    let subject = example::subject("Bash(npm run build)", &place()).unwrap();
    assert_ne!(policy.judge(&subject, &around(&nowhere, true)).decision, Decision::Allow);
}

#[test]
fn what_changes_nothing_is_not_offered() {
    let policy = Policy::compile(RuleSet::default(), &[]).unwrap();
    // The version is asked of a proxy that a file may have chosen by then.
    for command in ["cargo --version && mkdir x", "mkdir x > /etc/y"] {
        assert_eq!(offered(&policy, &format!("Bash({command})"), true), [""; 0], "{command}");
    }
    // What is granted already counts with what is offered.
    let subject = example::subject("Bash(cd /etc && ls)", &place()).unwrap();
    assert_eq!(offers_of(&policy, &subject, true), [Offer::once()]);
}

#[test]
fn for_always_a_file_is_named_by_its_whole_path() {
    let policy = Policy::compile(RuleSet::default(), &[]).unwrap();
    let subject = example::subject("Write(new[1].txt)", &place()).unwrap();
    let offers = offers_of(&policy, &subject, true);
    let pattern = |scope| offers.iter().find(|o| o.scope == scope).and_then(|o| o.pattern.as_deref());
    assert_eq!(pattern(Scope::Session), Some("Edit(./new\\[1\\].txt)"));
    assert_eq!(pattern(Scope::Always), Some("Edit(/ws/new\\[1\\].txt)"));
    let elsewhere = Place { workspace: "/other".into(), cwd: "/other".into(), ..place() };
    let other = example::subject("Write(new[1].txt)", &elsewhere).unwrap();
    let always = offers.iter().find(|offer| offer.scope == Scope::Always).unwrap();
    for (subject, place, covered) in [(&subject, place(), true), (&other, elsewhere.clone(), false)] {
        let grants = [granted(always, &place).unwrap()];
        let got = policy.judge(subject, &around(&grants, true)).decision;
        assert_eq!(got == Decision::Allow, covered, "{place:?}");
    }
}

#[test]
fn a_rule_for_a_file_is_none_for_a_directory_of_that_name() {
    let policy = Policy::compile(RuleSet::default(), &[]).unwrap();
    let grants = ["Read(/srv/x)", "Edit(/srv/x)"].map(granted_here);
    for (tool, kind, is_offered, is_covered) in [
        ("Read", Some(FileKind::File), true, true),
        ("Grep", Some(FileKind::File), false, true),
        ("Read", None, false, true),
        ("Edit", None, true, true),
        ("Write", Some(FileKind::File), true, true),
        ("Read", Some(FileKind::Directory), false, false),
        ("Grep", Some(FileKind::Directory), false, false),
        ("ListDir", Some(FileKind::Directory), false, false),
        ("Edit", Some(FileKind::Directory), false, false),
        ("Read", Some(FileKind::Device), false, false),
    ] {
        let call = format!("{tool}(/srv/x)");
        let mut subject = example::subject(&call, &place()).unwrap();
        subject.paths[0].kind = kind;
        let offers = offers_of(&policy, &subject, true);
        assert_eq!(offers.iter().any(|offer| offer.pattern.is_some()), is_offered, "{tool} {kind:?}");
        let got = policy.judge(&subject, &around(&grants, true)).decision;
        assert_eq!(got == Decision::Allow, is_covered, "{tool} {kind:?}");
    }
    // A rule of the owner's covers what is beneath the directory that it names.
    let rule = vec![SourcedRule { rule: grants[0].rule().clone(), source: String::new() }];
    let policy = Policy::compile(RuleSet { allow: rule, ..RuleSet::default() }, &[]).unwrap();
    let mut subject = example::subject("Grep(/srv/x)", &place()).unwrap();
    subject.paths[0].kind = Some(FileKind::Directory);
    assert_eq!(policy.judge(&subject, &around(&[], true)).decision, Decision::Allow);
}

#[test]
fn a_command_that_is_given_something_to_read_is_not_granted() {
    let policy = Policy::compile(RuleSet::default(), &[]).unwrap();
    let rules = ["Bash(loader -q)", "Bash(git am)", "Bash(kubectl apply -f -)", "Bash(loader -q <<< 'x y')"];
    let grants = rules.map(granted_here);
    for (command, granted) in [
        ("loader -q", true),
        ("loader -q < x.diff", false),
        ("cat x.diff | loader -q", false),
        ("{ cat x.diff; } | (loader -q)", false),
        ("loader -q <<'E'\nx\nE", false),
        ("loader -q <<< x", false),
        ("loader -q <<< 'x y'", false),
        ("timeout 5 loader -q < x.diff", false),
        ("git am < m", false),
        ("kubectl apply -f - <<< x", false),
        ("loader -q | wc -l", true),
        ("loader -q < /dev/null", true),
    ] {
        let call = format!("Bash({command})");
        if !granted {
            assert_eq!(offered(&policy, &call, true), [""; 0], "{command}");
        }
        let subject = example::subject(&call, &place()).unwrap();
        let got = policy.judge(&subject, &around(&grants, true));
        assert_eq!(got.decision == Decision::Allow, granted, "{command}: {}", got.reason.text);
    }
    assert!(!may_be_granted(grants[3].rule(), true));
    // A rule of the owner's says that such a command may read whatever it is given.
    let rule = vec![SourcedRule { rule: grants[0].rule().clone(), source: String::new() }];
    let policy = Policy::compile(RuleSet { allow: rule, ..RuleSet::default() }, &[]).unwrap();
    let subject = example::subject("Bash(loader -q <<< x)", &place()).unwrap();
    assert_eq!(policy.judge(&subject, &around(&[], true)).decision, Decision::Allow);
}

#[test]
fn a_command_that_a_file_tells_what_to_write_is_not_granted() {
    let policy = Policy::compile(RuleSet::default(), &[]).unwrap();
    for command in [
        "patch -p1 -i x.diff",
        "patch f x.diff",
        "git apply x.diff",
        "git am x",
        "tar xf a.tar",
        "timeout 5 tar -xf a.tar",
        "unzip a.zip",
        "7z x a.7z",
        "wget -i f",
    ] {
        let rule = format!("Bash({command})");
        assert_eq!(offered(&policy, &rule, true), [""; 0], "{command}");
        assert!(!may_be_granted(&Rule::parse(&rule).unwrap(), true), "{command}");
        // Nor does one hold that was given before.
        let subject = example::subject(&rule, &place()).unwrap();
        let got = policy.judge(&subject, &around(&[granted_here(&rule)], true));
        assert_eq!(got.decision, Decision::Ask { forced: false }, "{command}: {}", got.reason.text);
    }
    for command in ["tar czf a.tgz x", "make install", "npm ci", "kubectl apply -f x.yml"] {
        let rule = format!("Bash({command})");
        assert_eq!(offered(&policy, &rule, true), [rule.as_str()], "{command}");
    }
}

#[test]
fn a_grant_of_several_commands_covers_nothing() {
    let policy = Policy::compile(RuleSet::default(), &[]).unwrap();
    for command in ["mkdir x && sh ./x.sh", "mkdir x; touch y", "mkdir x > y"] {
        let rule = format!("Bash({command})");
        let grants = [granted_here(&rule)];
        let subject = example::subject(&rule, &place()).unwrap();
        let got = policy.judge(&subject, &around(&grants, true));
        assert_eq!(got.decision, Decision::Ask { forced: false }, "{command}: {}", got.reason.text);
    }
}

proptest! {
    #[test]
    fn every_offer_parses_may_be_granted_and_covers_its_call(
        call in prop_oneof![
            "Bash\\((cargo (test|build)|git (push|log|commit)|mkdir|touch|cp|go test)( [a-z0-9./=:@*\\[-]{1,8}){0,3}\\)",
            "(Edit|Write|Read|Grep)\\([/]?[a-z.*\\[\\]{}!?,~ #()-]{1,12}(/[a-z.*\\[]{1,6}){0,2}\\)",
            "WebFetch\\(https://[a-z]{1,5}(\\.[a-z]{2,5}){0,3}/x\\)",
            "mcp__[a-z]{1,4}__[a-z_]{1,6}",
        ],
        confined: bool,
    ) {
        let policy = Policy::compile(RuleSet::default(), &[]).unwrap();
        let subject = example::subject(&call, &place()).unwrap();
        for offer in offers_of(&policy, &subject, confined) {
            let Some(pattern) = &offer.pattern else { continue };
            let rule = Rule::parse(pattern).unwrap();
            prop_assert!(may_be_granted(&rule, confined), "{}", pattern);
            let petition = Petition::Rules { rules: vec![pattern.clone()], claim: String::new() };
            prop_assert_eq!(petition.refusal(&policy, &place(), confined), None, "{}", pattern);
            let grants = [granted(&offer, &place()).unwrap()];
            let again = policy.judge(&subject, &around(&grants, confined));
            prop_assert_eq!(again.decision, Decision::Allow, "{} for {}: {}", pattern, call, again.reason.text);
        }
    }
}
