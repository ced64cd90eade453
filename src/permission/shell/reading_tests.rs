//! What is understood, and what is not.

use super::{Leaf, analyse};

#[track_caller]
fn reads(text: &str, want: &[&[&str]]) {
    let analysis = analyse(text);
    let script = analysis.understood().unwrap_or_else(|| panic!("{text:?}: {:?}", analysis.not_understood()));
    let got: Vec<Vec<&str>> =
        script.leaves().iter().map(|leaf| leaf.words.iter().map(String::as_str).collect()).collect();
    assert_eq!(got, want, "{text:?}");
}

#[test]
fn one_command_is_read_as_bash_reads_it() {
    for (text, want) in [
        ("ls", &["ls"][..]),
        ("  ls   -la\t x \n", &["ls", "-la", "x"]),
        ("sed -n '1,80p' f", &["sed", "-n", "1,80p", "f"]),
        ("echo \"a b\"'c d'e", &["echo", "a bc de"]),
        ("echo \"\\\"x\\\" \\n\"", &["echo", "\"x\" \\n"]),
        ("echo ''", &["echo", ""]),
        ("rg \\--hidden x", &["rg", "--hidden", "x"]),
        ("git log HEAD~1", &["git", "log", "HEAD~1"]),
        ("echo a#b # c", &["echo", "a#b"]),
        ("ls x 2>&1", &["ls", "x"]),
        ("ls 2>/dev/null x", &["ls", "x"]),
        ("ls > /dev/null 2>&1", &["ls"]),
        ("ls &>/dev/null", &["ls"]),
        ("cat </dev/null", &["cat"]),
        ("echo 'a\nb'", &["echo", "a\nb"]),
        ("find . -name '*.rs'", &["find", ".", "-name", "*.rs"]),
        ("echo {} a=b c:d", &["echo", "{}", "a=b", "c:d"]),
        ("git log HEAD@{1} @{u}..v1^{}", &["git", "log", "HEAD@{1}", "@{u}..v1^{}"]),
        ("GIT_PAGER= git diff", &["git", "diff"]),
        ("LC_ALL=C ls", &["ls"]),
        ("! ls", &["ls"]),
        ("time -p ls", &["ls"]),
        ("cat <<'E'\n$x `y` \\\nz\nE", &["cat"]),
        ("cat <<E\nplain\nE", &["cat"]),
        ("cat <<< 'a b'", &["cat"]),
        ("[ -f x ]", &["[", "-f", "x", "]"]),
        ("git commit -m 'don'\\''t'", &["git", "commit", "-m", "don't"]),
    ] {
        if text.contains("\\\n") {
            assert!(analyse(text).understood().is_none(), "{text:?}");
            continue;
        }
        reads(text, &[want]);
    }
}

#[test]
fn only_what_the_shell_does_itself_can_move_it() {
    for (text, moves) in [
        ("true", false),
        ("git -C sub status && cargo test 2>&1 | tail -3", false),
        ("echo cd; ls 'cd sub' > /dev/null", false),
        ("sh -c 'cd sub'; env -C sub ls; xargs cd", false),
        ("cd sub", true),
        ("ls; (cd sub)", true),
        ("pushd sub; popd", true),
        ("eval ls", true),
        (". ./file", true),
        ("builtin cd sub", true),
        ("f() { cd sub; }; f", true),
        ("$go sub", true),
        ("alias ls='cd sub'", true),
        ("ls 'open", true),
    ] {
        assert_eq!(analyse(text).may_move(), moves, "{text}");
    }
}

#[test]
fn several_commands_are_read_in_their_order() {
    reads("cd sub && git diff | head -5; ls", &[&["cd", "sub"], &["git", "diff"], &["head", "-5"], &["ls"]]);
    reads("set -e; ls", &[&["set", "-e"], &["ls"]]);
    reads("set -euo pipefail\nls", &[&["set", "-euo", "pipefail"], &["ls"]]);
    reads("ls |& head; { ls; id 2>&1; } |& wc", &[&["ls"], &["head"], &["ls"], &["id"], &["wc"]]);
    reads("ls & pwd\nid || true", &[&["ls"], &["pwd"], &["id"], &["true"]]);
    reads("(ls; pwd) && { id; } 2>&1", &[&["ls"], &["pwd"], &["id"]]);
    reads(
        "if [ -f x ]; then ls; elif pwd; then id; else true; fi",
        &[&["[", "-f", "x", "]"], &["ls"], &["pwd"], &["id"], &["true"]],
    );
    reads("while true; do ls; done | wc -l", &[&["true"], &["ls"], &["wc", "-l"]]);
    reads("cat <<E && ls x\nhi\nE\npwd", &[&["cat"], &["ls", "x"], &["pwd"]]);
    reads(
        "git commit -m \"$(cat <<'E'\nit's $x\n\nmore\nE\n)\"",
        &[&["cat"], &["git", "commit", "-m", "it's $x\n\nmore"]],
    );
}

#[test]
fn what_a_command_runs_in_turn_is_read_too() {
    reads("timeout 5 ls x", &[&["timeout", "5", "ls", "x"], &["ls", "x"]]);
    reads("sh -c 'cd a && rm x'", &[&["sh", "-c", "cd a && rm x"], &["cd", "a"], &["rm", "x"]]);
    reads(
        "nice -n 5 setsid rm x",
        &[&["nice", "-n", "5", "setsid", "rm", "x"], &["setsid", "rm", "x"], &["rm", "x"]],
    );
    let analysis = analyse("ls | xargs rm");
    let last = analysis.understood().unwrap().leaves().last().unwrap().clone();
    assert_eq!((last.words, last.open, last.carried), (vec!["rm".to_owned()], true, true));
}

#[test]
fn each_command_knows_where_it_may_run() {
    let directories = |text: &str| -> Vec<Vec<String>> {
        let shown = |leaf: &Leaf| leaf.directories.iter().map(|d| d.display().to_string()).collect();
        analyse(text).understood().unwrap().leaves().iter().map(shown).collect()
    };
    for (text, want) in [
        ("cd a && ls", &[&[""][..], &["a"]][..]),
        ("cd a; ls", &[&[""], &["a", ""]]),
        ("cd a || ls", &[&[""], &[""]]),
        ("! cd a && ls", &[&[""], &[""]]),
        ("(cd a); ls", &[&[""], &[""]]),
        ("cd a | cat; ls", &[&[""], &[""], &[""]]),
        ("cd a & ls", &[&[""], &[""]]),
        ("{ cd a; } && cd ../b && ls", &[&[""], &["a"], &["a/../b"]]),
        ("if cd a; then ls; else pwd; fi; id", &[&[""], &["a"], &[""], &["a", ""]]),
        ("cd /x && ls", &[&[""], &["/x"]]),
        ("cd a && sh -c 'cd b && ls'", &[&[""], &["a"], &["a"], &["a/b"]]),
    ] {
        assert_eq!(directories(text), want, "{text:?}");
    }
}

#[test]
fn each_command_knows_whether_it_is_given_something_to_read() {
    for (text, want) in [
        ("patch -p1", &[false][..]),
        ("patch -p1 < d", &[true]),
        ("< d patch -p1", &[true]),
        ("patch -p1 3< d", &[true]),
        ("patch -p1 <<'E'\nx\nE", &[true]),
        ("patch -p1 <<< x", &[true]),
        ("cat d | patch -p1 | wc -l", &[false, true, true]),
        ("cat d | { cd a && patch -p1; }", &[false, true, true]),
        ("(patch -p1) < d; id", &[true, false]),
        ("if true; then patch -p1; fi < d", &[true, true]),
        ("while true; do patch -p1; done <<< x; id", &[true, true, false]),
        ("{ patch -p1 <&3; } 3< d", &[true]),
        ("{ patch -p1; id; } 2>&1 > log", &[false, false]),
        ("patch -p1 < /dev/null > log 2>&1", &[false]),
        // What a command runs reads what it is given.
        ("timeout 5 patch -p1 < d", &[true, true]),
        ("sh -c 'patch -p1; id < e' < d", &[true, true, true]),
        ("sh -c 'id < e'", &[false, true]),
    ] {
        let analysis = analyse(text);
        let script = analysis.understood().unwrap_or_else(|| panic!("{text}"));
        let fed: Vec<bool> = script.leaves().iter().map(Leaf::is_fed).collect();
        assert_eq!(fed, want, "{text}");
    }
}

#[test]
fn redirections_are_files_that_the_shell_opens() {
    let analysis = analyse("cd a && cat < in > out 2>> 'l og'");
    let files: Vec<(String, String)> = analysis
        .path_uses(false)
        .iter()
        .map(|used| (used.path.display().to_string(), format!("{:?}", used.access)))
        .collect();
    let want = [("a", "Read"), ("a/in", "Read"), ("a/out", "Edit"), ("a/l og", "Edit")];
    assert_eq!(
        files[files.len() - 3..],
        want[1..].iter().map(|(p, a)| ((*p).into(), (*a).into())).collect::<Vec<_>>()
    );
}

#[test]
fn the_reason_is_the_one_that_a_person_would_name() {
    for (text, want) in [
        ("case a in a) ls;; esac", "a `case` is in it"),
        ("ls )", "a parenthesis is closed that was not open"),
        ("export A=1; ls", "one of its commands changes what others mean"),
        ("declare -p", "a builtin in it sets up the shell itself, or evaluates its words"),
        ("export A=1", "a builtin in it sets up the shell itself, or evaluates its words"),
        (
            "python3 - <<'EOF'\nprint(1)\nEOF",
            "a shell or interpreter in it runs code from its words or its input",
        ),
        ("python3 -c 'print(1)'", "a shell or interpreter in it runs code from its words or its input"),
        ("curl x | sh", "a shell or interpreter in it runs code from its words or its input"),
        ("vim a", "an editor, pager or console in it takes commands while it runs"),
        ("psql", "an editor, pager or console in it takes commands while it runs"),
        ("make -f /dev/stdin", "one of its commands runs what the text does not tell"),
    ] {
        assert_eq!(analyse(text).not_understood().map(|why| why.0), Some(want), "{text:?}");
    }
    for text in ["java -version", "psql --version", "vim --version", "python3 -V", "php --version"] {
        assert!(analyse(text).understood().is_some(), "{text:?}");
    }
}

#[test]
fn everything_else_is_not_understood() {
    for text in [
        "",
        "  ",
        "# x",
        "x='$(touch x)'; echo ${x@P}",
        "$(echo touch x)",
        "echo $x",
        "echo \"$x\"",
        "echo `x`",
        "echo \"`x`\"",
        "echo \"$(x)\"",
        "echo \"$(cat <<E\n$x\nE\n)\"",
        "echo \"$(cat <<'E' && x\na\nE\n)\"",
        "echo $((1))",
        "echo $'a'",
        "echo $\"a\"",
        "ls *.rs",
        "ls a?",
        "ls [ab]",
        "ls {a,b}",
        "ls x{1..3}",
        "ls x{1}",
        "ls {1}",
        "ls @{1,2}",
        "ls @{1..2}",
        "ls @{1}{a,b}",
        "ls {a@{1},b}",
        "ls @{a@{1},b}",
        "ls @{1'',2}",
        "ls @{",
        "ls @{1}*",
        "ls ~",
        "ls ~/x",
        "dd if=~/x",
        "PATH=./b ls",
        "LD_PRELOAD=./x.so ls",
        "A+=1 ls",
        "A=1",
        "PATH=b; ls",
        "a=(b c); ls",
        "[[ -f x ]]",
        "((1))",
        "if",
        "if ls",
        "coproc ls",
        "%1",
        "for x in a b; do ls; done",
        "for PATH in b; do ls; done",
        "case a in a) ls;; esac",
        "select x in a; do ls; done",
        "f() { ls; }; f",
        "function ls { rm x; }; ls",
        "ls >&x",
        "ls 2>&1x",
        "ls {fd}>x",
        "ls 12>x",
        "ls > >(cat)",
        "cat <(ls)",
        "ls > /dev/tcp/a/1",
        "ls > $x",
        "ls > \"\"",
        "ls \\\nx",
        "ls \"a\\\nb\"",
        "ls 'x",
        "ls \"x",
        "ls \\",
        "ls )",
        "((((((((ls",
        "cat <<\"E x\"\na\nE x",
        "ls \u{0}",
        "ls \u{1b}[2J",
        "ls\r",
        "ls \u{202e}x",
        "ls \u{200b}x",
        "l\u{455} x",
        "r\\m x",
        "'rm' x",
        "r''m x",
        "\"\" x",
        "cd; ls",
        "cd - && ls",
        "cd -- - && ls",
        "cd a && cd -- - && cat ../x",
        "cd -P a && ls",
        "cd a b",
        "pushd a && ls",
        "while true; do cd ..; done",
        "export PATH=b; ls",
        "alias ls=rm; ls",
        "hash -p ./b ls; ls",
        "command cd a && ls",
        "builtin eval x; ls",
        "read PATH; ls",
        "printf -v PATH b; ls",
        "set -- a; ls",
        "set -a; ls",
        "set -k; ls",
        "set +h; ls",
        "set -ef; ls",
        "set -o posix; ls",
        "command set -e; ls",
        "shopt -s expand_aliases; ls",
        "time -- ls",
        "time -p -- ls",
        "-- ls",
        "source x",
        ". x",
        "sh -c 'echo $x'",
        "eval 'rm $x'",
        "echo 'rm x' | sh",
        "sh <<'E'\nrm x\nE",
        "python3 -c 'x'",
        "echo 'rm x' | sh /dev/stdin",
        "echo 'rm x' | bash /proc/self/fd/0",
        "bash /dev//stdin <<< 'rm x'",
        "cd /dev && bash stdin <<< 'rm x'",
        "cd ../../dev/. && bash ./stdin <<< 'rm x'",
        "env -C /dev bash stdin <<< 'rm x'",
        // Whatever runs it.
        "frob sh <<< 'rm x'",
        "frob -v -- sh < d",
        "echo 'rm x' | frob /bin/bash -",
        "{ frob a dash; } <<'E'\nrm x\nE",
        "timeout 5 frob python3 <<< x",
        "sh -c 'frob ed' < d",
        "frob xargs cat < d",
        "frob env < d",
        "frob make -f - < d",
        "frob sqlite3 < d",
        "frob gdb -q < d",
        "frob tclsh < d",
        "sh -c 'echo &> out rm x'",
        "flock f -c 'echo &> out rm x'",
        "fish -c 'echo a'",
        "zsh -c 'echo a'",
    ] {
        assert!(analyse(text).understood().is_none(), "{text:?}: {:?}", analyse(text).understood());
    }
    for text in
        ["frob sh", "frob -y bash python3 < /dev/null", "frob a b < d", "frob ./make.txt < d", "which sh < d"]
    {
        assert!(analyse(text).understood().is_some(), "{text:?}: {:?}", analyse(text).not_understood());
    }
    assert!(analyse(&format!("echo {}", "a".repeat(9_995))).understood().is_some());
    assert!(analyse(&format!("echo {}", "a".repeat(9_996))).understood().is_none());
    assert!(analyse(&"ls;".repeat(200)).understood().is_some());
    assert!(analyse(&"ls;".repeat(400)).understood().is_none());
}

#[test]
fn reading_ends_soon_whatever_is_nested() {
    for (open, middle, close) in [
        ("(", "", ""),
        ("( ", "a", " )"),
        ("{ ", "", ""),
        ("if a; then ", "", ""),
        ("case a in a) ", "", ""),
        ("$(", "a", ")"),
        ("\"$(", "a", ")\""),
        ("`", "a", "`"),
        ("${a:-", "b", "}"),
        ("[[ ! ( ", "a", " ) ]]"),
        ("((", "1", "))"),
        ("! ", "a", ""),
        ("f() { ", "a;", " }"),
        ("sh -c '", "a", "'"),
        ("a <<E\n", "", ""),
        ("<(", "a", ")"),
        ("a=(", "b", ")"),
    ] {
        for depth in [5, 50, 5_000] {
            let text = format!("{}{middle}{}", open.repeat(depth), close.repeat(depth));
            let _ = analyse(&text);
        }
    }
}
