//! `--help` of every command, and what a wrong command line gets.

use crate::support::{Run, program};

fn run(arguments: &[&str]) -> Run {
    let home = tempfile::tempdir().unwrap();
    Run::of(&program(home.path(), arguments).output().unwrap())
}

/// The commands that a help page lists.
fn listed(help: &str) -> Vec<String> {
    let lines = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let names = lines.take_while(|line| !line.is_empty()).filter_map(|line| line.split_whitespace().next());
    names.filter(|name| *name != "help").map(ToOwned::to_owned).collect()
}

#[test]
fn every_command_shows_examples_that_begin_with_it() {
    let mut paths = vec![Vec::<String>::new()];
    let mut seen = 0;
    while let Some(path) = paths.pop() {
        let mut words: Vec<&str> = path.iter().map(String::as_str).collect();
        words.push("--help");
        let help = run(&words).expect(0);
        let examples =
            help.out.split("\nExamples:\n").nth(1).unwrap_or_else(|| panic!("{path:?}: {help:#?}"));
        let own = format!("toolgate {}", path.join(" "));
        assert!(examples.contains(own.trim_end()), "{path:?}: {examples}");
        for name in listed(&help.out) {
            paths.push([path.clone(), vec![name]].concat());
        }
        seen += 1;
    }
    assert!(seen > 20, "only {seen} commands were found");
}

#[test]
fn exit_codes_are_in_the_help() {
    let help = run(&["--help"]).expect(0);
    help.shows(&["Exit codes: 0 ", "3 the call was denied", "4 it waits", "5 the server cannot be reached"]);
}

#[test]
fn a_wrong_command_line_says_what_would_be_right() {
    run(&["sesions"]).expect(2).says(&["sesions", "sessions"]);
    run(&["sessions", "end"]).expect(2).says(&["<IDS>"]);
    run(&["approvals", "apr_1", "--all"]).expect(2).says(&["cannot be used with"]);
    run(&["--listen", "127.0.0.1:0", "info"]).expect(2).says(&["toolgate serve --listen"]);
    run(&["--color", "never", "completions", "bash"]).expect(0);
    run(&["events", "--turn", "1"]).expect(2).says(&["--call"]);
}
