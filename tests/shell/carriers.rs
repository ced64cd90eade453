//! Commands that run what their arguments or their input say.

use crate::random::Random;

/// The text of a command in single quotes, as an argument.
pub(crate) fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// A carrier around a simple command (`words`) or any text (`text`, one line without here-documents).
pub(crate) fn carried(random: &mut Random, words: &str, text: &str) -> String {
    if random.chance(55) { around_words(random, words) } else { around_text(random, text) }
}

/// What stands before the words of a command and runs them.
const BEFORE_WORDS: &[&str] = &[
    "env",
    "env -i",
    "env -u x",
    "env A=b",
    "env -",
    "env --",
    "env -C sub",
    "env --unset=x",
    "timeout 5",
    "timeout -k1 5",
    "timeout -s KILL 5",
    "timeout --signal=KILL 5s",
    "timeout --foreground 1",
    "timeout -- 5",
    "nice",
    "nice -n 5",
    "nice -5",
    "nice --adjustment=3",
    "nohup",
    "nohup --",
    "stdbuf -oL",
    "stdbuf -o L -e0",
    "setsid",
    "setsid -w",
    "ionice -c 3",
    "chrt -o 0",
    "taskset 1",
    "taskset -c 0",
    "flock in",
    "flock -n in",
    "flock -w 1 in",
    "command",
    "command -p",
    "command --",
    "builtin command",
    "exec",
    "exec -a x",
    "exec -c",
    "exec -l",
    "exec --",
    "eval",
    "eval --",
    "time",
    "time -p",
    "time --",
    "! ",
    "! !",
    "coproc",
    "coproc N",
    "xargs",
    "xargs -r",
    "xargs -n1",
    "xargs -I{}",
    "xargs -0 -I x",
    "xargs --max-args=1",
    "xargs -t --",
    "xargs -a in",
    "find . -maxdepth 0 -exec",
    "\\command",
    "c\\ommand",
    "\"exec\"",
    "'env'",
    "/usr/bin/env",
    "/bin/nice",
    "env env",
    "timeout 5 nice -n 1",
    "builtin eval",
    "env -S",
    "env --split-string",
    "env -vS",
    "nohup nice",
    "setsid -f",
    "env timeout 5 nohup setsid -w nice",
    "command exec",
    "time !",
    "then",
    "do",
    "time command",
    "flock in --",
    "perl -e exec",
];

fn around_words(random: &mut Random, words: &str) -> String {
    let carrier = random.pick(BEFORE_WORDS);
    match carrier {
        "find . -maxdepth 0 -exec" => match random.below(4) {
            0 => format!("{carrier} {words} \\;"),
            1 => format!("{carrier} {words} {{}} +"),
            2 => format!("find . -maxdepth 0 -execdir {words} {{}} ';'"),
            _ => format!("find . -maxdepth 0 -name . -ok {words} \\;"),
        },
        c if c.starts_with("xargs") => match random.below(4) {
            0 => format!("echo a | {c} {words}"),
            1 => format!("{c} {words} <in"),
            2 => format!("{c} <<< a {words}"),
            _ => format!("{c} {words}"),
        },
        c if c.contains('S') && c.contains("env") || c == "env --split-string" => match random.below(3) {
            0 => format!("{c}{}", quoted(words)),
            1 => format!("{c} {}", quoted(words)),
            _ => format!("{c} {words}"),
        },
        "perl -e exec" => format!("perl -e 'exec qw({})'", words.replace(['\'', ')', '('], "")),
        c => format!("{c} {words}"),
    }
}

fn around_text(random: &mut Random, text: &str) -> String {
    let inner = quoted(text);
    let double = format!(
        "\"{}\"",
        text.replace('\\', "\\\\").replace('"', "\\\"").replace('$', "\\$").replace('`', "\\`")
    );
    match random.below(44) {
        0 => format!("sh -c {inner}"),
        1 => format!("bash -c {inner}"),
        2 => format!("sh -c {double}"),
        3 => format!("bash -ec {inner} x y"),
        4 => format!("sh -e -c {inner}"),
        5 => format!("bash -c -- {inner}"),
        6 => format!("bash -o posix -c {inner}"),
        7 => format!("bash +x -c {inner}"),
        8 => format!("bash --norc -c {inner}"),
        9 => format!("sh -c'{}'", text.replace('\'', "")),
        10 => format!("eval {inner}"),
        11 => format!("eval {double} a"),
        12 => format!("eval -- {inner}"),
        13 => format!("trap {inner} EXIT"),
        14 => format!("trap -- {double} 0"),
        15 => format!("trap {inner} DEBUG; :"),
        16 => format!("trap {inner} ERR; false"),
        17 => format!("source /dev/stdin <<< {inner}"),
        18 => format!(". /dev/stdin <<< {inner}"),
        19 => format!(". <(echo {inner})"),
        20 => format!("source <(printf '%s\\n' {inner})"),
        21 => format!("bash <<< {inner}"),
        22 => format!("sh <<< {inner}"),
        23 => format!("echo {inner} | sh"),
        24 => format!("printf '%s' {inner} | bash -s a b"),
        25 => format!("echo {inner} | bash /dev/stdin"),
        26 => format!("bash <(echo {inner})"),
        27 => format!("xargs -I% sh -c % <<< {inner}"),
        28 => format!("xargs -d '\\n' -I% bash -c % <<< {double}"),
        29 => format!("find . -maxdepth 0 -exec sh -c {inner} \\;"),
        30 => format!("env sh -c {inner}"),
        31 => format!("timeout 5 bash -c {inner}"),
        32 => format!("flock in -c {inner}"),
        33 => format!("PROMPT_COMMAND={inner} bash -i"),
        34 => format!("BASH_ENV=<(echo {inner}) bash -c :"),
        35 => format!("awk 'BEGIN{{system(\"{}\")}}'", text.replace(['"', '\'', '\\', '\n'], "")),
        36 => format!("perl -e 'system(q({}))'", text.replace(['\'', '(', ')'], "")),
        37 => format!("sed '1e {}' in", text.replace(['\'', '\n'], " ")),
        38 => format!("mapfile -C {inner} -c 1 <in"),
        39 => format!("x={inner}; eval \"$x\""),
        40 => format!("x={inner}; echo ${{x@P}}"),
        41 => format!("f() {{ eval \"$@\"; }}; f {inner}"),
        42 => format!("echo {inner} | base64 | base64 -d | sh"),
        _ => format!("command . /dev/stdin <<< {inner}"),
    }
}
