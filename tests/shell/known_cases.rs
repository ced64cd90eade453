//! Texts whose programs are known to run: each was found once, by a person or by the generator, and is always run.

use crate::oracle::Oracle;
use crate::sandbox;

/// A text, and words of programs that bash must be seen to start for it.
const CASES: &[(&str, &[&str])] = &[
    ("cat <<E && p1 x\nhi\nE", &["cat", "p1 x"]),
    ("cat <<'E' | sh\np1 x\nE", &["cat", "sh", "p1 x"]),
    ("x='$(p1 x)'; echo ${x@P}", &["p1 x"]),
    ("$(echo p1 x)", &["p1 x"]),
    ("env p1 x", &["env p1 x", "p1 x"]),
    ("FOO=1 p1 x", &["p1 x"]),
    ("timeout -k1 5 p1 x", &["timeout -k1 5 p1 x", "p1 x"]),
    ("sh -c 'p1 x'", &["sh -c p1 x", "p1 x"]),
    ("/bin/p1 x", &["p1 x"]),
    ("echo x | xargs p1", &["xargs p1", "p1 x"]),
    ("PATH=./sub ls", &["ls"]),
    ("p1 & p2", &["p1", "p2"]),
    ("coproc p1 x", &["p1 x"]),
    ("trap 'p1 x' EXIT", &["p1 x"]),
    ("source /dev/stdin <<<'p1 x'", &["p1 x"]),
    ("shopt -s expand_aliases\nalias ls='p1 '\nls x", &["p1 x"]),
    ("exec -a ls p1 x", &["p1 x"]),
    ("p? x", &["p1 x"]),
    ("set -- p1 x; \"$@\"", &["p1 x"]),
    ("echo $((a[$(p1)0]))", &["p1"]),
    ("test -v 'a[$(p1)0]'", &["p1"]),
    ("[[ -v a[$(p1)0] ]]", &["p1"]),
    ("printf -v 'a[$(p1)0]' x", &["p1"]),
    ("mapfile -C 'p1 x' -c 1 <in", &["p1 x 0 a\n"]),
    ("awk 'BEGIN{system(\"p1 x\")}'", &["awk BEGIN{system(\"p1 x\")}", "p1 x"]),
    ("sed '1e p1 x' in", &["sed 1e p1 x in", "p1 x"]),
    ("perl -e 'system(\"p1 x\")'", &["perl -e system(\"p1 x\")", "p1 x"]),
    ("env -S'p1 x'", &["env -Sp1 x", "p1 x"]),
    ("find . -maxdepth 0 -exec p1 {} \\;", &["p1 ."]),
    ("PS4='$(p1 x)' bash -xc :", &["bash -xc :", "p1 x"]),
    // Found by running: what stands behind `time` is the program, not the dashes.
    ("time -- p1 x", &["p1 x"]),
    // A builtin of job control runs its arguments.
    ("jobs -x p1 a", &["p1 a"]),
    // The same stream under other names, and from the directory in which it lies.
    ("bash /dev//stdin <<< 'p1 x'", &["p1 x"]),
    ("cd /dev && bash stdin <<< 'p1 x'", &["p1 x"]),
    ("cd ../dev && timeout 5 sh ./stdin <<'E'\np1 x\nE", &["p1 x"]),
    ("env -C /dev bash stdin <<< 'p1 x'", &["p1 x"]),
    ("find /dev -maxdepth 1 -name stdin -exec sh {} \\; <<< p1", &["p1"]),
    // To `sh` an `&>` ends a command.
    ("sh -c 'echo &> out p1 x'", &["p1 x"]),
    ("sh -c 'p1 &> out x'", &["p1"]),
    ("flock in -c 'echo &> out p1 x'", &["p1 x"]),
    // A file lies where the carrier goes, not where it starts.
    ("env -C sub sh -c 'p1 >out'", &["p1"]),
    ("cd sub && p1 >out", &["p1"]),
    // An expression is evaluated before the program gets it.
    ("declare -i x='a[$(git $[])]'", &["git 0"]),
    ("cd sub; p1 >out & p2 >../out.txt; wait", &["p1", "p2"]),
    ("sort --compress-prog=p1 -S1 in", &["sort --compress-prog=p1 -S1 in"]),
    ("sed -n 's/a/b/w out' in", &["sed -n s/a/b/w out in"]),
    ("find . -fprintf out x", &["find . -fprintf out x"]),
    ("BASH_ENV=<(echo p1 x) bash -c :", &["bash -c :", "p1 x"]),
    ("command_not_found_handle() { p1 x; }; nosuch", &["p1 x"]),
    ("hash -p sub/p1 p1; p1 x", &["p1 x"]),
    ("p1 >out 2>>out.txt", &["p1"]),
    // Within `$(…)` a line that begins as the delimiter does, and has a `)` in it, ends the document.
    ("echo \"$(cat <<'E'\nhello\nE<in p1 ')'\nE\n)\"", &["p1 )"]),
    ("git commit -m \"$(cat <<'E'\nE>out \\)\nE\n)\"", &["git commit -m "]),
];

#[test]
fn what_was_found_once_stays_found() {
    let texts: Vec<String> = CASES.iter().map(|(text, _)| (*text).to_owned()).collect();
    let outcomes = sandbox::run(&texts);
    let mut oracle = Oracle::default();
    let mut wrong = Vec::new();
    for ((text, runs), outcome) in CASES.iter().zip(&outcomes) {
        let ran: Vec<String> = outcome.ran.iter().map(|ran| ran.words().join(" ")).collect();
        for words in runs.iter().filter(|words| !ran.iter().any(|ran| ran == *words)) {
            wrong.push(format!("{text:?} does not run `{words}`: {ran:?}"));
        }
        wrong.extend(oracle.faults(text, outcome).iter().map(|fault| format!("{text:?}: {fault:?}")));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn files_that_a_shell_opens_are_seen() {
    let texts = [
        "p1 >out 2>>out.txt",
        "sh -c '>sub/x'",
        "cat <in",
        "p1 x >/dev/null 2>&1 </dev/null",
        "cat <<E\nx\nE",
    ];
    let outcomes = sandbox::run(&texts.map(str::to_owned));
    let opened = |at: usize| -> Vec<(&str, bool)> {
        outcomes[at].opened.iter().map(|o| (o.path.as_str(), o.writes)).collect()
    };
    assert_eq!(opened(0), [("out", true), ("out.txt", true)]);
    assert_eq!(opened(1), [("sub/x", true)]);
    assert_eq!(opened(2), [("in", false)]);
    assert_eq!(opened(3), []);
    assert_eq!(opened(4), []);
}
