//! What a verdict over a command costs: a typical one, the worst that is understood, and with many rules.

use std::hint::black_box;
use std::path::Path;
use std::time::Instant;

use toolgate::domain::session::PermissionMode;
use toolgate::permission::example;
use toolgate::permission::policy::{Circumstances, Policy, RuleSet, SourcedRule};
use toolgate::permission::rule::Rule;

use crate::Plan;
use crate::table::{Row, median, print};

/// Verdicts in one measurement.
const BATCH: u32 = 50;

/// How many of the slowest texts are told.
const SHOWN: usize = 3;

/// What the rules of a policy are about.
#[derive(Clone, Copy)]
enum About {
    /// A program each.
    Programs,
    /// All of them scripts of one program, of which a text may write each in many ways.
    Scripts,
    /// Packages whose program is run.
    Packages,
}

pub(crate) fn run(plan: &Plan) {
    let (few, many) = (policy(&[(10, About::Programs)]), policy(&[(1_000, About::Programs)]));
    let typical = "Bash(cd src && git diff --stat HEAD~1 | head -n 40)";
    let (one, with_many) = in_turns(plan, &few, &many, typical);
    print(&Row::fact("Verdict, a typical command", micros(one), "under 50 µs"));
    let all = policy(&[(10, About::Programs), (50, About::Scripts), (50, About::Packages)]);
    let timed = worst_cases().into_iter().map(|(name, call)| (name, seconds(plan, &all, &call)));
    let mut worst: Vec<(&str, f64)> = timed.collect();
    worst.sort_by(|one, other| other.1.total_cmp(&one.1));
    for (name, took) in worst.into_iter().take(SHOWN) {
        print(&Row::fact(format!("Verdict, among the worst inputs ({name})"), micros(took), "under 5000 µs"));
    }
    print(&Row::durations("Verdict with 1,000 rules", with_many, ("10 rules", one), "under 2"));
    let (few, many) = (policy(&[(10, About::Scripts)]), policy(&[(1_000, About::Scripts)]));
    let (one, with_many) = in_turns(plan, &few, &many, "Bash(npm run -s build -- --watch 2>&1 | tail -20)");
    print(&Row::durations("Verdict with 1,000 rules for npm", with_many, ("10 rules", one), "under 2"));
}

/// Texts of the greatest length that is read, each made of one thing.
fn worst_cases() -> Vec<(&'static str, String)> {
    [
        ("words", "a ".repeat(590)),
        ("pipes", "a|".repeat(250) + "a"),
        ("lists", "a;".repeat(250)),
        ("quotes", "'a b' ".repeat(590)),
        ("long quotes", format!("echo '{}'", "a;".repeat(4_990))),
        ("redirections", format!("a {}", ">b ".repeat(290))),
        ("conditions", "if a; then ".repeat(15) + &"; fi".repeat(15)),
        ("many words", "a ".repeat(4_990)),
        ("expansions", "$a ".repeat(3_300)),
        ("substitutions", "$(".repeat(2_000)),
        ("parentheses", "(".repeat(9_000)),
        ("shells", "sh -c ".repeat(1_600)),
        ("quotes in a shell", format!("sh -c '{}'", "a \"b\";".repeat(90))),
        ("braces", "{a,b}".repeat(1_990)),
        ("options", "-ua:b ".repeat(1_650)),
        ("endings", format!("cp {} a b", "-Sx ".repeat(580))),
        ("many endings", format!("patch {}", "-Bx -zy a ".repeat(990))),
        ("scripts of sed", format!("sed '{}' x", numbered("w a", 1_400).join(";"))),
        ("outputs", format!("curl {}", "-o a#1 ".repeat(1_400))),
        ("pieces", "split x y;".repeat(990)),
        ("patterns of git", format!("git rm '{}'", "*/".repeat(4_950))),
        ("directories", cut(&format!("{}(\"{}", "cd a;".repeat(8), numbered("y", 3_000).join(" ")))),
        ("pieces of shell", cut(&(0..300).map(piece).collect::<String>())),
        ("a path", format!("sh {}x", "a/../".repeat(1_990))),
        ("programs", "npm ".repeat(2_490)),
        ("scripts", "npm -s run ".repeat(900)),
        ("packages", format!("foo npx -a {}", "forbidden ".repeat(985))),
        ("options of programs", "npm -C npm --a=npm ".repeat(520)),
        ("patterns in capitals", format!("git rm {}", "':(icase)A/b' ".repeat(700))),
    ]
    .map(|(name, text)| (name, format!("Bash({text})")))
    .into()
}

/// As much of it as is read.
fn cut(text: &str) -> String {
    text.chars().take(9_900).collect()
}

/// What no parser reads, with paths in several directories and much that a program may begin in.
fn piece(number: usize) -> String {
    let n = number;
    format!("cd a{n};x$(y${{z[@]}}/p{n}<(b>&c/{n} \"d{n}\"{{e,f}}\n{{print > \"i\"}}-fxargs=j,k((l ")
}

/// So many different words.
fn numbered(word: &str, most: usize) -> Vec<String> {
    (0..most).map(|number| format!("{word}{number}")).collect()
}

/// With so many rules about these.
fn policy(about: &[(usize, About)]) -> Policy {
    let mut rules = RuleSet::default();
    for (count, about) in about {
        let program = |word: &str, number: usize| match about {
            About::Programs => format!("{word}{number}"),
            About::Scripts => format!("npm run {word}{number}"),
            About::Packages => format!("npx {word}{number}"),
        };
        let add = |list: &mut Vec<SourcedRule>, name: &str, make: &dyn Fn(usize) -> String| {
            let rule = |number: usize| {
                let rule = Rule::parse(&make(number)).expect("a rule");
                SourcedRule { rule, source: format!("permissions.{name}[{number}]") }
            };
            list.extend((0..count / 5).map(rule));
        };
        add(&mut rules.deny, "deny", &|n| format!("Bash({} *)", program("forbidden", n)));
        add(&mut rules.ask, "ask", &|n| format!("Edit(kept{n}/**)"));
        add(&mut rules.always_ask, "always_ask", &|n| format!("Bash({} * --force *)", program("asked", n)));
        add(&mut rules.allow, "allow", &|n| format!("Bash({} run *)", program("program", n)));
        add(&mut rules.allow, "allow", &|n| format!("Edit(out{n}/**)"));
    }
    Policy::compile(rules, &["Bash", "Edit"]).expect("a policy")
}

/// The same call by two policies, in turns: what the machine does meanwhile meets both.
fn in_turns(plan: &Plan, one: &Policy, other: &Policy, call: &str) -> (f64, f64) {
    // A batch takes some milliseconds.
    const TURNS: usize = 20;
    let rounds = (0..plan.rounds.max(5) * TURNS).map(|_| (batch(one, call), batch(other, call)));
    let (ones, others) = rounds.unzip();
    (median(ones), median(others))
}

fn seconds(plan: &Plan, policy: &Policy, call: &str) -> f64 {
    median((0..plan.rounds.max(5)).map(|_| batch(policy, call)).collect())
}

/// Seconds of one verdict.
fn batch(policy: &Policy, call: &str) -> f64 {
    let place = example::place_in(Path::new("/workspace"), Some(Path::new("/home/user")));
    let circumstances = Circumstances {
        mode: PermissionMode::Default,
        bypass: false,
        someone_there: true,
        confined: true,
        grants: &[],
    };
    let start = Instant::now();
    for _ in 0..BATCH {
        let subject = example::subject(black_box(call), &place).expect("a call");
        black_box(policy.judge(&subject, &circumstances));
    }
    start.elapsed().as_secs_f64() / f64::from(BATCH)
}

fn micros(seconds: f64) -> String {
    format!("{:.1} µs", seconds * 1e6)
}
