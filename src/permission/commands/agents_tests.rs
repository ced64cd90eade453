//! The fifty commands that coding agents run most, and what each gets in `default` mode without any rule.
//!
//! Two things are held: nothing that can change or run something goes through unasked, and what an agent types
//! every minute to look around does not ask. Those of git are allowed where the repository is plain (see
//! [`super::git`]); on paper, where nothing is known of a repository, the policy asks.

use super::super::example;
use super::super::policy::{Circumstances, Policy, RuleSet};
use super::super::verdict::Decision;
use super::kind::{ProgramKind, kind};
use super::{carriers, git};
use crate::domain::session::PermissionMode;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Want {
    /// It only looks, so asking would be a nuisance.
    Runs,
    /// The same, in a repository whose settings are plain.
    RunsInPlainRepository,
    /// It changes, connects or runs something: a person or a rule decides.
    Asks,
    /// It asks, and a rule can allow it only under the floor or a sandbox: it runs the workspace's code.
    AsksAsWorkspaceCode,
}

use Want::{Asks, AsksAsWorkspaceCode, Runs, RunsInPlainRepository};

const COMMANDS: &[(&str, Want, &str)] = &[
    ("ls", Runs, "names in the workspace"),
    ("ls -la src", Runs, "names in the workspace"),
    ("pwd", Runs, "prints one line"),
    ("cat README.md", Runs, "as Read"),
    ("cat /etc/passwd", Asks, "outside of the workspace"),
    ("head -n 50 src/main.rs", Runs, "as Read"),
    ("tail -n 20 log.txt", Runs, "as Read; `-f` would not end"),
    ("wc -l src/main.rs", Runs, "as Read"),
    ("grep -rn TODO src", Runs, "as Grep"),
    ("grep -n 'fn main' src/main.rs", Runs, "as Grep"),
    ("rg -n pattern src", Runs, "as Grep; `--pre` would run a program"),
    ("rg --files", Runs, "as Glob"),
    ("find . -name '*.rs'", Runs, "as Glob; `-exec` and `-delete` ask"),
    ("find . -type f -not -path './target/*'", Runs, "as Glob"),
    ("sed -n '1,80p' src/main.rs", Runs, "as Read; the script was read to its end"),
    ("sed -i 's/a/b/' src/main.rs", Asks, "an edit without a diff to look at"),
    ("tree -L 2", Runs, "names in the workspace"),
    ("file a.bin", Runs, "as Read"),
    ("stat Cargo.toml", Runs, "metadata"),
    ("du -sh .", Runs, "sizes in the workspace"),
    ("diff a.txt b.txt", Runs, "as Read of both, where both are files"),
    ("jq .version package.json", Runs, "as Read; a filter that imports asks"),
    ("awk '{print $1}' data.txt", Runs, "as Read; a program that opens or runs anything asks"),
    ("sort data.txt", Runs, "as Read; `-o` and `--compress-program` ask"),
    ("which python3", Runs, "prints a path"),
    ("echo done", Runs, "prints"),
    ("date +%F", Runs, "prints"),
    ("test -f Cargo.toml", Runs, "metadata"),
    ("git status", RunsInPlainRepository, "looks at the work tree"),
    ("git status --short", RunsInPlainRepository, "looks at the work tree"),
    ("git diff", RunsInPlainRepository, "as Read of tracked files"),
    ("git diff --stat HEAD~1", RunsInPlainRepository, "as Read of tracked files"),
    ("git log --oneline -10", RunsInPlainRepository, "prints commits"),
    ("git show HEAD", RunsInPlainRepository, "as Read of tracked files"),
    ("git branch --show-current", RunsInPlainRepository, "prints a name"),
    ("git rev-parse --show-toplevel", RunsInPlainRepository, "prints a path"),
    ("git add -A", Asks, "writes the index, and runs filters"),
    ("git commit -m 'fix: x'", Asks, "runs hooks"),
    ("git push", Asks, "leaves the machine"),
    ("git checkout -b topic", Asks, "changes files, and runs hooks"),
    ("mkdir -p src/new", Asks, "an edit"),
    ("rm -rf target", Asks, "removes"),
    ("mv a.txt b.txt", Asks, "an edit"),
    ("cp a.txt b.txt", Asks, "an edit"),
    ("chmod +x run.sh", Asks, "an edit"),
    ("touch new.txt", Asks, "an edit"),
    ("curl -s https://example.org", Asks, "leaves the machine"),
    ("cargo test", AsksAsWorkspaceCode, "runs tests and build scripts"),
    ("npm --version", AsksAsWorkspaceCode, "obeys the `.npmrc` of its directory"),
    ("go version", AsksAsWorkspaceCode, "obeys `go.mod`, and writes files of its own"),
    ("npm test", AsksAsWorkspaceCode, "runs what package.json says"),
    ("npm install", AsksAsWorkspaceCode, "runs scripts of packages"),
    ("python3 script.py", AsksAsWorkspaceCode, "runs a file of the workspace"),
    ("pytest -q", AsksAsWorkspaceCode, "runs tests"),
    ("make", AsksAsWorkspaceCode, "runs what the makefile says"),
    ("node index.js", AsksAsWorkspaceCode, "runs a file of the workspace"),
    ("./run.sh", AsksAsWorkspaceCode, "runs a file of the workspace"),
    ("python3 -c 'print(1)'", AsksAsWorkspaceCode, "code that no rule with a star covers"),
    ("bash -lc 'ls'", AsksAsWorkspaceCode, "a shell, whose text deny looks into"),
];

fn decision(command: &str) -> Decision {
    let policy = Policy::compile(RuleSet::default(), &[]).unwrap();
    let place = example::place_in("/workspace".as_ref(), Some("/home/user".as_ref()));
    let call = format!("Bash({command})");
    let subject = example::subject(&call, &place).unwrap();
    let circumstances = Circumstances {
        mode: PermissionMode::Default,
        bypass: false,
        someone_there: true,
        confined: true,
        grants: &[],
    };
    policy.judge(&subject, &circumstances).decision
}

fn words(command: &str) -> Vec<String> {
    command.split(' ').map(|word| word.trim_matches('\'').to_owned()).collect()
}

#[test]
fn looking_around_runs_and_everything_else_asks() {
    for (command, want, why) in COMMANDS {
        let got = decision(command);
        let runs = got == Decision::Allow;
        match want {
            Runs => assert!(runs, "{command} ({why}): {got:?}"),
            // Whether the repository is plain is for the gate to find out.
            RunsInPlainRepository => assert!(git::known(&words(command)).is_some(), "{command} ({why})"),
            Asks | AsksAsWorkspaceCode => assert!(!runs, "{command} ({why}): {got:?}"),
        }
        if *want != RunsInPlainRepository {
            assert!(git::known(&words(command)).is_none(), "{command}");
        }
    }
}

#[test]
fn what_runs_unasked_carries_nothing() {
    for (command, ..) in COMMANDS.iter().filter(|(_, want, _)| matches!(want, Runs | RunsInPlainRepository)) {
        assert_eq!(carriers::carried(&words(command)), carriers::Carried::default(), "{command}");
    }
}

#[test]
fn code_of_the_workspace_is_a_class_of_its_own() {
    for (command, want, why) in COMMANDS.iter().filter(|(command, ..)| !command.starts_with("git ")) {
        let program = command.split(' ').next().unwrap();
        let is_code = matches!(kind(program), ProgramKind::RunsWorkspace | ProgramKind::Interpreter);
        assert_eq!(is_code, *want == AsksAsWorkspaceCode, "{command} ({why})");
    }
}
