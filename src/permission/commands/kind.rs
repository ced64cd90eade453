//! What kind of program a command starts, and what a rule with a star may therefore allow.

use super::super::command_pattern::Coverage;
use super::super::lexical::file_name;
use super::builtins::{self, Does};
use super::carriers;
use super::compilers;
use super::leading_out;
use super::programs::{self, row};
use super::read_only as known;
use super::setting_up;

/// What a program does with what it is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ProgramKind {
    /// Of the table of known commands: harmless when all that it is given is.
    Listed,
    /// Runs, evaluates or sources what its arguments say, or changes what later words mean.
    Carrier,
    /// Runs a script file, or code on its command line.
    Interpreter,
    /// Runs what the workspace says: build files, tests, hooks, plug-ins, or is itself a file of it.
    RunsWorkspace,
    /// Nothing is known.
    Other,
}

/// Whether the command may write the files that it names without the ending of their compression.
pub(crate) fn unpacks<'w>(mut words: impl Iterator<Item = &'w str>) -> bool {
    words.any(|word| programs::UNPACKERS.has(file_name(word)))
}

/// The programs that do.
pub(super) fn unpackers() -> impl Iterator<Item = &'static str> {
    programs::UNPACKERS.all()
}

/// The name without directory, version, flavour and machine: `/usr/bin/python3.11` is `python`, `vim.basic` is `vim`,
/// `x86_64-linux-gnu-gcc-12` is `gcc`.
pub(crate) fn base_name(program: &str) -> &str {
    const SYSTEM: &str = "-linux-gnu";
    // Asked of each word of each command, most of which are such.
    if program.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return program;
    }
    let name = file_name(program);
    let may_have = name.len() > SYSTEM.len() && name.contains('-');
    let name = match may_have.then(|| name.split_once(SYSTEM)).flatten() {
        // `perl5.36-x86_64-linux-gnu`
        Some((before, "")) => before.rsplit_once('-').map_or(name, |(program, _)| program),
        Some((_, after)) => after.strip_prefix('-').unwrap_or(name),
        None => name,
    };
    let name = match name.split_once('.') {
        Some((program @ ("vim" | "vi" | "nvim" | "emacs" | "mksh" | "ksh" | "nc" | "gawk" | "mawk"), _)) => {
            program
        }
        _ => name,
    };
    let bare = name.trim_end_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | '-'));
    // `arm-none-eabi-gcc`, `x86_64-w64-mingw32-g++`.
    let bare = match bare.rsplit_once('-') {
        Some((_, compiler @ ("gcc" | "g++" | "cc" | "c++" | "cpp" | "gfortran" | "clang" | "clang++"))) => {
            compiler
        }
        _ => bare,
    };
    // `c99` is no version of a `c`.
    if bare.len() == name.len()
        || bare.is_empty()
        || programs::CARRIERS.has(name)
        || programs::RUNS_WORKSPACE.has(name)
    {
        name
    } else {
        bare
    }
}

/// What kind of program a command's first word starts.
pub(crate) fn kind(program: &str) -> ProgramKind {
    let name = base_name(program);
    if programs::CARRIERS.has(name) || builtins::does(name).is_some_and(Does::carries) {
        ProgramKind::Carrier
    } else if is_interpreter(name) {
        ProgramKind::Interpreter
    } else if programs::RUNS_WORKSPACE.has(name) || !is_system(program) {
        ProgramKind::RunsWorkspace
    } else if known::is_listed(file_name(program)) {
        ProgramKind::Listed
    } else {
        ProgramKind::Other
    }
}

/// Whether the program runs a script that it is given, or code on its command line.
pub(crate) fn is_interpreter(program: &str) -> bool {
    programs::INTERPRETERS.has(base_name(program).to_ascii_lowercase().as_str())
}

pub(super) fn is_system(program: &str) -> bool {
    program.rsplit_once('/').is_none_or(|(directory, _)| programs::SYSTEM_DIRECTORIES.has(directory))
}

/// Whether no rule with a star can ever allow the program.
pub(crate) fn never_by_prefix(program: &str) -> bool {
    kind(program) == ProgramKind::Carrier
}

/// Whether no argument of the command can be run by it.
pub(crate) fn is_inert(words: &[String]) -> bool {
    let mut words = words.iter().map(String::as_str);
    match words.next() {
        None => true,
        Some("git") => git_subcommand(&mut words).is_none_or(|sub| programs::INERT_GIT.has(sub)),
        Some(program) => programs::INERT.has(program),
    }
}

/// The subcommand of git among the words behind its name, when only options stand before it that run nothing, name
/// no file and have no say in what it does.
pub(in crate::permission) fn git_subcommand<'w>(
    words: &mut impl Iterator<Item = &'w str>,
) -> Option<&'w str> {
    loop {
        match words.next()? {
            "--no-pager" | "-P" => {}
            "-C" => {
                words.next()?;
            }
            sub => return Some(sub),
        }
    }
}

/// Whether the command is known to change no file that its words name.
pub(crate) fn only_reads<'w>(mut words: impl Iterator<Item = &'w str>) -> bool {
    match words.next() {
        Some("git") => {
            // `git diff --output=file` writes.
            reading_git(&mut words) && !words.any(|word| word.starts_with("--o"))
        }
        Some(program) => programs::INERT.has(program) && !programs::WRITERS.has(program),
        None => true,
    }
}

/// Whether a subcommand of git follows that changes no file that it is told, in whichever repository (git(1)).
fn reading_git<'w>(words: &mut impl Iterator<Item = &'w str>) -> bool {
    let mut named = false;
    loop {
        let elsewhere = |word: &str| matches!(word, "--git-dir" | "--work-tree");
        match words.next() {
            Some("--no-pager" | "-P") => {}
            Some("-C") => {
                words.next();
            }
            Some(word) if word.split('=').next().is_some_and(elsewhere) => {
                named = true;
                if elsewhere(word) {
                    words.next();
                }
            }
            Some("diff" | "log" | "show" | "blame" | "status") => return true,
            Some(sub) => return !named && programs::INERT_GIT.has(sub) && !matches!(sub, "mv" | "rm"),
            None => return false,
        }
    }
}

/// Whether a rule that covers the command as `coverage` says may allow it. `confined`: the floor or a sandbox
/// holds around every program.
pub(crate) fn may_allow(words: &[String], coverage: &Coverage, confined: bool) -> bool {
    let Some(program) = words.first() else { return false };
    let kind = kind(program);
    if matches!(kind, ProgramKind::Interpreter | ProgramKind::RunsWorkspace) && !confined {
        return false;
    }
    if coverage.exact {
        return true;
    }
    match kind {
        ProgramKind::Carrier => false,
        ProgramKind::Listed => listed_is_harmless(words, coverage),
        ProgramKind::Interpreter => {
            script_comes_first(words, coverage) && what_it_runs_is_covered(words, coverage, MAX_NESTED)
        }
        ProgramKind::RunsWorkspace | ProgramKind::Other => words_are_covered(words, coverage, MAX_NESTED),
    }
}

/// Most programs that are looked at in one command where each runs the next one; with more of them no star covers it.
const MAX_NESTED: usize = 4;

/// Whether no word that a star stands for has the program run, write or load something else.
fn words_are_covered(words: &[String], coverage: &Coverage, nested: usize) -> bool {
    let Some(program) = words.first() else { return true };
    let name = base_name(program);
    let swallowed: Vec<&str> = words
        .iter()
        .zip(&coverage.spelled)
        .enumerate()
        .skip(1)
        .filter(|(_, (_, spelled))| !**spelled)
        .map(|(at, (word, _))| throwing_away(name, words, at).unwrap_or(word))
        .collect();
    // `tar cIf`: its first word is options even without a dash.
    let is_tar = matches!(name, "tar" | "bsdtar" | "gtar");
    let old_style = is_tar && words.get(1).is_some_and(|w| w.contains(['I', 'F', 'T', 'P']));
    let plain = name != "git" || git_is_plain(words, coverage);
    let of_subcommand =
        |w: &str| name == "git" && is_risky_for_git(words, w) || carriers::of_subcommand(name, words, w);
    let beyond = name == "git" && compares_files_outside(words, &swallowed);
    let risky = old_style || beyond || swallowed.iter().any(|w| is_risky_option(name, w) || of_subcommand(w));
    let spelled = |at: usize| coverage.spelled.get(at).copied().unwrap_or(false);
    plain
        && !risky
        && !carriers::runs_swallowed(name, words, &spelled)
        && !leading_out::swallowed(name, words, coverage.depth, spelled)
        && !setting_up::swallowed(name, words, spelled)
        && what_it_runs_is_covered(words, coverage, nested)
}

/// What is left of an option by which curl or wget throw away what comes (`-sSo /dev/null`).
fn throwing_away<'w>(name: &str, words: &'w [String], at: usize) -> Option<&'w str> {
    const NOWHERE: &str = "/dev/null";
    let (letter, long) = match name {
        "curl" => ('o', "--output"),
        "wget" => ('O', "--output-document"),
        _ => return None,
    };
    let word = words[at].as_str();
    let option = if words.get(at + 1).is_some_and(|next| next == NOWHERE) {
        word
    } else {
        word.strip_suffix(NOWHERE)?.trim_end_matches('=')
    };
    if option == long {
        return Some("");
    }
    option.strip_suffix(letter).filter(|cluster| cluster.starts_with('-') && !cluster.starts_with("--"))
}

/// The same of the program that a subcommand runs, or of a module (`uv run pytest`, `python3 -m pytest`): it has options of
/// its own.
fn what_it_runs_is_covered(words: &[String], coverage: &Coverage, nested: usize) -> bool {
    run_in_turn(words).all(|at| {
        let (words, coverage) = (&words[at..], coverage.behind(at));
        nested > 0
            && match kind(&words[0]) {
                ProgramKind::Interpreter => what_it_runs_is_covered(words, &coverage, nested - 1),
                _ => words_are_covered(words, &coverage, nested - 1),
            }
    })
}

/// The places of programs and modules that the command runs in turn.
fn run_in_turn(words: &[String]) -> impl Iterator<Item = usize> {
    let name = words.first().map(|program| base_name(program)).unwrap_or_default();
    let places = match kind(name) {
        ProgramKind::Interpreter if name == "python" => {
            words.iter().position(|word| word == "-m").map(|at| at + 1).into_iter().collect()
        }
        ProgramKind::Interpreter => Vec::new(),
        _ => carriers::run_by_subcommand(name, words),
    };
    places.into_iter().filter(|at| *at < words.len())
}

/// Whether one of the programs and modules that the command is, or runs in turn, has words that may not lead out.
pub(in crate::permission) fn is_held(words: &[String]) -> bool {
    fn within(words: &[String], nested: usize) -> bool {
        words.first().is_some_and(|program| leading_out::is_held(program))
            || nested > 0 && run_in_turn(words).any(|at| within(&words[at..], nested - 1))
    }
    within(words, MAX_NESTED)
}

/// A listed command stays harmless when the words that the rule spells out are taken as they are.
fn listed_is_harmless(words: &[String], coverage: &Coverage) -> bool {
    if known::known_use(words).is_some() {
        return true;
    }
    let spelled_option = |(word, spelled): &(&String, &bool)| **spelled && word.starts_with('-');
    let rest: Vec<String> = words
        .iter()
        .zip(&coverage.spelled)
        .enumerate()
        .filter(|(at, pair)| *at == 0 || !spelled_option(pair))
        .map(|(_, (word, _))| word.clone())
        .collect();
    // Options that run or evaluate what follows them are not made harmless by spelling them out.
    let evaluates = |word: &String| {
        let exact = ["-exec", "-execdir", "-ok", "-okdir", "-e", "-f"].contains(&word.as_str());
        exact || ["--pre", "--comp", "--hostname", "--exp", "--fi"].iter().any(|o| word.starts_with(o))
    };
    !words.iter().any(evaluates) && rest.len() < words.len() && known::known_use(&rest).is_some()
}

/// `python3 x.py …`; or every option is one that the rule spells out, and none brings code.
fn script_comes_first(words: &[String], coverage: &Coverage) -> bool {
    let mut arguments =
        words.iter().map(String::as_str).zip(coverage.spelled.iter().copied()).skip(1).peekable();
    if arguments.peek().is_none_or(|(word, _)| !word.starts_with(['-', '+'])) {
        return true;
    }
    while let Some((word, spelled)) = arguments.next() {
        let Some(option) = word.strip_prefix(['-', '+']) else { continue };
        if option == "m" {
            // What follows a module that is spelt out is the module's, unless it evaluates that.
            let takes_code = |name: &str| name == "pip" || !carriers::is_plain_module(name);
            return spelled && arguments.next().is_some_and(|(name, known)| known && !takes_code(name));
        }
        let code = match option.strip_prefix('-') {
            Some(long) => ["eval", "print", "run", "command", "execute"].iter().any(|l| long.starts_with(l)),
            None => option.contains(['c', 'e', 'E', 'p', 'r', 's', 'x']),
        };
        if !spelled || code {
            return false;
        }
    }
    true
}

fn is_risky_option(program: &str, word: &str) -> bool {
    if carriers::runs_something(program, word) {
        return true;
    }
    if let Some(names) = row(programs::RISKY_NAMES, program) {
        let name = word.trim_start_matches('-').split('=').next().unwrap_or(word);
        return word.starts_with('-') && names.split_ascii_whitespace().any(|n| n == name);
    }
    if matches!(program, "make" | "gmake") && word.contains('=') {
        return is_risky_for_make(word);
    }
    // cmake(1), cmake-variables(7): `-DX=y`, `-D X:TYPE=y`.
    if program == "cmake" && word.contains('=') && (word.starts_with("-D") || !word.starts_with('-')) {
        let variable = word.strip_prefix("-D").unwrap_or(word);
        return variable.split([':', '=']).next().is_some_and(names_a_program);
    }
    if let Some(long) = carriers::long_name(program, word).filter(|l| !l.is_empty()) {
        let name = long.split('=').next().unwrap_or(long);
        return row(programs::RISKY_LONG, program)
            .is_some_and(|risky| risky.split_ascii_whitespace().any(|r| r.starts_with(name)));
    }
    match word.strip_prefix('-') {
        Some(cluster) => {
            row(programs::RISKY_SHORT, program).is_some_and(|risky| cluster.contains(|c| risky.contains(c)))
        }
        None => false,
    }
}

/// Whether a variable on the line of make (GNU make 4.3 manual, 9.5 and 10.3) is code, as it is as soon as it holds more
/// than a word, names a program or a makefile, or leads out of the workspace.
fn is_risky_for_make(word: &str) -> bool {
    let (name, value) = word.split_once('=').unwrap_or((word, ""));
    if compilers::are_plain_flags(name, value) {
        return false;
    }
    let name = name.trim_end_matches([':', '+', '?', '!']);
    word.starts_with("--")
        || name.contains("FLAGS")
        || word.contains(|c: char| !c.is_ascii_alphanumeric() && !"=_./,:+-".contains(c))
        || names_a_program(name)
        || is_obeyed_by_tools(name)
        || leading_out::leads_out(value)
}

/// Whether the loader, the shell or the tools of a recipe obey a variable of this name: make hands it on to them.
fn is_obeyed_by_tools(name: &str) -> bool {
    const BEGIN: &[&str] = &[
        "LD_",
        "DYLD_",
        "GIT_",
        "PYTHON",
        "PERL5",
        "BASH_",
        "NODE_",
        "npm_",
        "NPM_",
        "CARGO_",
        "RUSTUP_",
        "PYTEST_",
        "TF_CLI_",
        "TF_PLUGIN_",
        "ANSIBLE_",
        "XDG_",
        "CCACHE_",
        "SCCACHE_",
        "DOCKER_CONFIG",
        "DOCKER_HOST",
    ];
    // Options, settings and programs of tools: `MAVEN_OPTS`, `KUBE_EDITOR`, `SSH_ASKPASS`, `CCACHE_PREFIX`.
    const END: &[&str] = &[
        "WRAPPER",
        "RUSTC",
        "RUSTDOC",
        "ASKPASS",
        "EDITOR",
        "PAGER",
        "BROWSER",
        "PREFIX",
        "_OPTS",
        "ADDOPTS",
        "PLUGINS",
        "TOOLCHAIN_FILE",
        "CONFIG_HOME",
    ];
    // Where something is installed: those may not lead out.
    const PLACES: &[&str] = &["PREFIX", "INSTALL_PREFIX", "CMAKE_INSTALL_PREFIX"];
    const NAMES: &[&str] = &[
        "ENV",
        "PATH",
        "HOME",
        "IFS",
        "SHELLOPTS",
        "BASHOPTS",
        "RUBYOPT",
        "RUBYLIB",
        "JAVA_TOOL_OPTIONS",
        "JDK_JAVA_OPTIONS",
        "_JAVA_OPTIONS",
        "GNUMAKEFLAGS",
        "GOFLAGS",
        "RUSTFLAGS",
        "CLASSPATH",
        "GOENV",
        "GOROOT",
        "GOTOOLCHAIN",
        "KUBECONFIG",
        "AWS_CONFIG_FILE",
        "AWS_SHARED_CREDENTIALS_FILE",
    ];
    // What recipes print, or hand on as a label.
    const LABELS: &[&str] = &["_VERSION", "_COMMIT", "_SHA", "_TAG", "_BRANCH", "_HASH", "_ENV"];
    let is_label = LABELS.iter().any(|end| name.ends_with(end) && name != "BASH_ENV");
    NAMES.contains(&name)
        || programs::OBEYED_VARIABLES.has(name)
        || !PLACES.contains(&name) && END.iter().any(|end| name.ends_with(end))
        || !is_label && BEGIN.iter().any(|begin| name.starts_with(begin))
}

/// Whether a variable of this name usually holds a program.
pub(super) fn names_a_program(variable: &str) -> bool {
    programs::PROGRAM_VARIABLES.has(variable)
        || programs::PROGRAM_ENDINGS.split_ascii_whitespace().any(|end| variable.ends_with(end))
}

/// Whether the word is a cluster of short options with one that the subcommand reads a file, or runs a program, by.
fn is_risky_for_git(words: &[String], word: &str) -> bool {
    if let Some((option, value)) = word.split_once('=').filter(|_| word.starts_with("--")) {
        return option.len() > 2 && "--rebase".starts_with(option) && value.starts_with('i');
    }
    let Some(cluster) = word.strip_prefix('-').filter(|c| !c.starts_with('-')) else { return false };
    let subcommand = git_subcommand(&mut words.iter().skip(1).map(String::as_str)).unwrap_or_default();
    let risky = row(programs::RISKY_GIT, subcommand);
    // `git pull -ri`, as `--rebase=interactive`: an editor.
    if subcommand == "pull" && cluster.contains("ri") {
        return true;
    }
    // Behind `-m` it is the message, or the number of a parent.
    let takes_message = matches!(subcommand, "commit" | "merge" | "tag" | "notes" | "cherry-pick" | "revert");
    let cluster = cluster.split('m').next().filter(|_| takes_message).unwrap_or(cluster);
    risky.is_some_and(|letters| cluster.contains(|c| letters.contains(c)))
}

/// Two operands for `git diff` of which one leads out are files to compare, as with `--no-index` (git-diff(1)).
fn compares_files_outside(words: &[String], swallowed: &[&str]) -> bool {
    let mut rest = words.iter().skip(1).map(String::as_str);
    let leads_out = |word: &&str| word.starts_with('/') || word.split('/').any(|name| name == "..");
    git_subcommand(&mut rest) == Some("diff")
        && rest.filter(|word| !word.starts_with('-')).count() > 1
        && swallowed.iter().any(leads_out)
}

/// A subcommand that is no alias and evaluates nothing, with no option before it; or the rule spells out
/// everything up to such a subcommand.
fn git_is_plain(words: &[String], coverage: &Coverage) -> bool {
    let is_plain = |word: &String| programs::PLAIN_GIT.has(word);
    match words.get(1) {
        None => true,
        Some(first) if !first.starts_with('-') => coverage.spelled.get(1) == Some(&true) || is_plain(first),
        Some(_) => words
            .iter()
            .zip(&coverage.spelled)
            .skip(1)
            .take_while(|(_, spelled)| **spelled)
            .any(|(word, _)| is_plain(word)),
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::command_pattern::CommandPattern;
    use super::*;

    fn allows(pattern: &str, command: &str, confined: bool) -> bool {
        let words: Vec<String> = command.split(' ').map(str::to_owned).collect();
        CommandPattern::parse(pattern)
            .unwrap()
            .allows(&words, &[])
            .is_some_and(|coverage| may_allow(&words, &coverage, confined))
    }

    #[test]
    fn kinds_go_by_the_bare_name() {
        for (program, want) in [
            ("ls", ProgramKind::Listed),
            ("env", ProgramKind::Carrier),
            ("/usr/bin/env", ProgramKind::Carrier),
            ("python3.11", ProgramKind::Interpreter),
            ("/usr/bin/perl5.36", ProgramKind::Interpreter),
            ("./x.sh", ProgramKind::RunsWorkspace),
            ("/ws/x.sh", ProgramKind::RunsWorkspace),
            ("gcc-12", ProgramKind::RunsWorkspace),
            ("/bin/mkdir", ProgramKind::Other),
            ("mkdir", ProgramKind::Other),
            ("/lib64/ld-linux-x86-64.so.2", ProgramKind::Carrier),
        ] {
            assert_eq!(kind(program), want, "{program}");
        }
    }

    #[test]
    fn options_before_a_subcommand_hide_nothing_of_it() {
        let words = |command: &str| command.split(' ').map(str::to_owned).collect::<Vec<_>>();
        for (command, inert, reads) in [
            ("git", true, false),
            ("git diff rm", true, true),
            ("git --no-pager diff rm", true, true),
            ("git -C sub -P log rm", true, true),
            ("git -C sub rm f", true, false),
            ("git --no-pager diff --output=f", true, false),
            ("git -C sub bisect run rm", false, false),
            ("git -c diff rm", false, false),
            ("git -C log push", false, false),
            ("cat rm", true, true),
            ("touch rm", true, false),
        ] {
            let words = words(command);
            assert_eq!(is_inert(&words), inert, "{command}");
            assert_eq!(only_reads(words.iter().map(String::as_str)), reads, "{command}");
        }
    }

    #[test]
    fn a_star_allows_only_what_cannot_run_its_arguments() {
        for (pattern, command, want) in [
            ("sort *", "sort -n f", true),
            ("sort *", "sort --compress-prog=./h", false),
            ("rg *", "rg --pre=sh x", false),
            ("sed *", "sed w f", false),
            ("sed *", "sed -n 1,5p f", true),
            ("find *", "find -fprintf f x", false),
            ("find *", "find . -exec sh -c id ;", false),
            ("find . -exec sh -c id ;", "find . -exec sh -c id ;", true),
            ("find . -exec *", "find . -exec sh -c id ;", false),
            ("/usr/bin/find *", "/usr/bin/find . -exec sh -c id ;", false),
            ("rg --pre *", "rg --pre sh x", false),
            ("sort --compress-program *", "sort --compress-program ./h x", false),
            ("sort -o out *", "sort -o out f", true),
            ("sort -o out *", "sort -o out --compress-program=x f", false),
            ("env *", "env rm", false),
            ("*", "env rm", false),
            ("*", "mkdir x", true),
            ("timeout 5 ls", "timeout 5 ls", true),
            ("tar *", "tar xf a.tar --to-command=sh", false),
            ("tar *", "tar xf a.tar --to-com=sh", false),
            ("tar *", "tar xf a.tar", true),
            ("tar *", "tar cIf ./prog out f", false),
            ("mkdir *", "mkdir -p a/b", true),
            ("curl *", "curl -sS -o /dev/null http://h/x", true),
            ("curl *", "curl -sSLo /dev/null -w %{http_code} http://h/x", true),
            ("curl *", "curl -o/dev/null --output /dev/null http://h/x", true),
            ("curl *", "curl -o x http://h/x", false),
            ("curl *", "curl -oo /dev/null http://h/x", false),
            ("curl *", "curl -Ko /dev/null http://h/x", false),
            ("curl *", "curl -o /dev/null/x http://h/x", false),
            ("wget *", "wget -qO /dev/null http://h/x", true),
            ("wget *", "wget --output-document=/dev/null http://h/x", true),
            ("wget *", "wget -qO x http://h/x", false),
            ("printf *", "printf -v a[$(x)]", false),
        ] {
            assert_eq!(allows(pattern, command, true), want, "{pattern} | {command}");
            assert_eq!(allows(pattern, command, false), want, "unconfined: {pattern} | {command}");
        }
    }

    #[test]
    fn programs_that_run_the_workspace_need_confinement() {
        for (pattern, command, want) in [
            ("cargo test *", "cargo test --all", true),
            ("cargo test *", "cargo test --config x", false),
            ("cargo *", "cargo test watch -- --nocapture", true),
            ("cargo *", "cargo run -- watch -x", true),
            ("cargo *", "cargo watch -- touch x", false),
            ("cargo *", "cargo -q watch -s ./x", false),
            ("cargo *", "cargo +nightly with gdb -- x", false),
            ("cargo *", "cargo flamegraph --cmd ./x", false),
            ("cargo flamegraph *", "cargo flamegraph --cmd ./x", false),
            ("cargo watch test *", "cargo watch test --all", true),
            ("npm run *", "npm run build", true),
            ("npm *", "npm exec evil", false),
            ("make *", "make V=1 all", true),
            ("make *", "make CC=sh;id", false),
            ("make *", "make --eval=x", false),
            ("go test *", "go test -v ./...", true),
            ("go test *", "go test -exec=./x ./...", false),
            ("cmake *", "cmake -E env sh", false),
            ("npm exec *", "npm exec evil", false),
            ("npm *", "npm init evil", false),
            ("npm init *", "npm init -y evil", false),
            ("npm *", "npm init -y", true),
            ("npm init vite *", "npm init vite my-app", true),
            ("npm *", "npm run create", true),
            ("npm *", "npm create evil", false),
            ("pnpm *", "pnpm create evil", false),
            ("yarn *", "yarn create evil x", false),
            ("bun *", "bun create evil", false),
            ("bun *", "bun init", true),
            ("cargo *", "cargo workspaces exec touch x", false),
            ("cargo *", "cargo ws exec touch x", false),
            ("cargo *", "cargo foreach touch x", false),
            ("cargo *", "cargo eval x", false),
            ("cargo *", "cargo tauri build --runner x", false),
            ("cargo *", "cargo hack test --each-feature", true),
            ("npm exec jest *", "npm exec jest -- -t x", true),
            ("nx *", "nx exec -- rm x", false),
            ("nx *", "nx test app", true),
            ("lerna *", "lerna exec rm x", false),
            ("uv run *", "uv run rm", false),
            ("uv run pytest *", "uv run pytest -q", true),
            ("python3 *", "python3 x.py -c y", true),
            ("python3 *", "python3 -c y", false),
            ("python3 -c *", "python3 -c y", false),
            ("python3 -Ic *", "python3 -Ic y", false),
            ("python3 -m pytest *", "python3 -m pytest -q", true),
            ("python3 -m *", "python3 -m pytest", false),
            ("perl -ne *", "perl -ne y", false),
            ("node --eval *", "node --eval y", false),
            ("sh ./run.sh", "sh ./run.sh", true),
            ("sh *", "sh -c id", false),
            ("bash *", "bash -lc id", false),
            ("./x.sh *", "./x.sh a", true),
            ("git push *", "git push origin", true),
            ("git push *", "git push --receive-pack=./x origin", false),
            ("git push *", "git push --rec=./x origin", false),
            ("git *", "git status", true),
            ("git *", "git apply --unsafe-paths p.patch", false),
            ("git *", "git apply --build-fake-ancestor=/x p.patch", false),
            ("git *", "git apply p.patch", true),
            ("git *", "git pull --rebase -s x/y . side", false),
            ("git pull *", "git pull -sx/y . side", false),
            ("git *", "git pull --rebase origin main", true),
            ("git *", "git pull --rebase=merges", true),
            ("git *", "git pull --rebase=interactive", false),
            ("git *", "git pull --reb=i", false),
            ("git *", "git pull -ri", false),
            ("git *", "git pull -r", true),
            ("git *", "git -C d merge -qs x side", false),
            ("git *", "git commit -F /etc/hostname", false),
            ("git *", "git commit -qF/etc/hostname", false),
            ("git *", "git commit -S -m x", false),
            ("git *", "git commit -am Fix", true),
            ("git *", "git commit -c HEAD", false),
            ("git *", "git switch -c feat/x origin/main", true),
            ("git *", "git diff -c", true),
            ("git *", "git cherry-pick -x abc", true),
            ("git *", "git -c alias.x=!y switch -c z", false),
            ("git *", "git -C d -c core.pager=x log", false),
            ("git -C *", "git -C d -c core.pager=x log", false),
            ("git *", "git clone -c core.fsmonitor=x https://h/r", false),
            ("git *", "git clean -fdx", false),
            ("git *", "git difftool -x ./c", false),
            ("git *", "git commit -mFeS", true),
            ("git *", "git tag -u key v1", false),
            ("git *", "git tag -a v1 -m x", true),
            ("git *", "git add --pathspec-from-file=/etc/passwd", false),
            ("git *", "git add -e", false),
            ("git *", "git add -u", true),
            ("git *", "git push -u origin x", true),
            ("git *", "git blame -S /etc/passwd f", false),
            ("git *", "git log -S word --oneline", true),
            ("git *", "git archive -o /x HEAD", false),
            ("git *", "git diff --no-index /dev/null /etc/passwd", false),
            ("git commit -F msg", "git commit -F msg", true),
            ("hg *", "hg pull --ssh=./x", false),
            ("hg *", "hg pull --ss ./x", false),
            ("hg *", "hg status", true),
            ("npm *", "npm edit x --editor=./e", false),
            ("npm *", "npm ci --no-audit", true),
            ("just *", "just --choose --chooser ./e", false),
            ("make *", "make MAKEFILES=/tmp/x", false),
            ("make *", "make MAKE:=./x", false),
            ("make *", "make MAKE_ENV=1", true),
            ("git *", "git -c core.pager=x log", false),
            ("git *", "git myalias", false),
            ("git *", "git config core.pager x", false),
            ("git * main", "git bisect main", false),
            ("git *", "git rebase origin/main", true),
            ("git *", "git rebase --continue", true),
            ("git *", "git rebase --onto main a b", true),
            ("git *", "git rebase -x ./c main", false),
            ("git *", "git rebase -ix ./c main", false),
            ("git *", "git rebase -mx ./c main", false),
            ("git *", "git am -mS x", false),
            ("git *", "git rebase -x./c main", false),
            ("git *", "git rebase --exec=./c main", false),
            ("git *", "git rebase --ex ./c main", false),
            ("git *", "git rebase -i main", false),
            ("git *", "git rebase --inter main", false),
            ("git *", "git rebase --edit-todo", false),
            ("git *", "git rebase -s ./c main", false),
            ("git *", "git rebase --strategy=x main", false),
            ("git -C dir *", "git -C dir config x", false),
            ("git -C dir log *", "git -C dir log -p", true),
            ("ruby -I lib *", "ruby -I lib -e x", false),
            ("ruby -I lib *", "ruby -I lib x.rb", true),
            ("python3 -m timeit *", "python3 -m timeit x", false),
        ] {
            assert_eq!(allows(pattern, command, true), want, "{pattern} | {command}");
            assert!(!allows(pattern, command, false), "unconfined: {pattern} | {command}");
        }
    }

    /// Whether a star for the program covers the command, on a floor.
    fn by_star(command: &str) -> bool {
        let program = command.split(' ').next().unwrap_or_default();
        allows(&format!("{program} *"), command, true)
    }

    #[test]
    fn a_star_stands_for_no_other_program_no_settings_and_no_place_outside() {
        let commands = [
            "apt-cache -o Dir::Bin::dpkg=./x policy",
            "apt-cache -oDir::Bin::dpkg=./x policy",
            "apt-mark --option=Dir::Bin::dpkg=./x showauto",
            "apt-config -c x dump",
            "apt-key --config-fi x list",
            "npm config set script-shell=x",
            "npm set script-shell=x",
            "npm -script-shell=./x run build",
            "npm -userconfig x ci",
            "go env -w GOFLAGS=-toolexec=x",
            "pip config set a b",
            "gh alias set x y",
            "cargo new x",
            "hg init",
            "cargo test --manifest-path /outside/Cargo.toml",
            "cargo test --target-dir /outside",
            "cargo test --manifest-path ../x/Cargo.toml",
            "cargo -C /outside test",
            "cargo rustc -- -C linker=./x",
            "cargo rustc -- -Clink-arg=-fplugin=x",
            "npm test -C /outside",
            "npm --prefix /outside test",
            "pnpm --dir=/outside test",
            "yarn --cwd /outside test",
            "go build -C /outside",
            "go test -ldflags=-extld=touch",
            "go test -ldflags=-extldflags=-fplugin=x",
            "pytest --rootdir /outside",
            "pytest -c /outside/x.ini",
            "conda run touch x",
            "mamba run touch x",
            "docker-compose run x touch",
            "mise exec touch x",
            "asdf exec touch x",
            "devbox run touch x",
            "pip --python ./x.sh list",
            "pip3 --pyth=./x.sh list",
            "gcc -Wl,-plugin=./pl.so m.c",
            "gcc -Wl,--as-needed,-plug,./pl.so m.c",
            "gcc -Wl,@f m.c",
            "gcc -Wp,-fplugin=./x m.c",
            "gcc -Xlinker -plugin=./pl.so m.c",
            "clang -fuse-ld=./x m.c",
            "make CC=./x.sh m",
            "make HOSTCC=x m",
            "make SHELL=/bin/true m",
            "make DESTDIR=/outside install",
            "make X=../x m",
            "cmake -DCMAKE_C_COMPILER=./x .",
            "cmake -D CMAKE_CXX_COMPILER_LAUNCHER:STRING=x .",
            "cmake -Pa=b.cmake",
            "cmake -D CMAKE_TOOLCHAIN_FILE=/x .",
            "pnpm touch x",
            "pnpm -r ./x.sh",
            "pnpm --filter web node -e x",
            "bun run touch f",
            "bun /outside/x.ts",
            "yarn node -e x",
            "yarn run node -e x",
            "rake -e x",
            "rake -vp x",
            "mix eval x",
            "mix cmd touch x",
            "mix run -e x",
            "npm exe evil",
            "npm ini evil",
            "npm innit evil",
            "npm crea evil",
            "npm --silent cre evil",
            "bundle exe touch x",
            "bundle e touch x",
            "bundle plug install x",
            "tox e -- touch x",
            "composer exe touch x",
            "dune exe touch x",
            "gem exe touch x",
            "gcc --prefix=./x a.c",
            "gcc --prefix ./x a.c",
            "clang --config x.cfg a.c",
            "clang --config=x.cfg a.c",
            "clang -fpass-plugin=./x.so a.c",
            "clang -ccc-install-dir x a.c",
            "clang --gcc-toolchain=x a.c",
            "nvcc -run a.cu",
            "nvcc -Xcompiler -wrapper,./x a.cu",
            "nvcc -Xcompiler=-wrapper,./x a.cu",
            "nvcc --compiler-options=-Bx a.cu",
            "nvcc -Xcompiler -O2,-fplugin=./x.so a.cu",
            "ghc -pgmF ./x Main.hs",
            "ghc -F -pgmF./x Main.hs",
            "ghc -optl-fplugin=./x.so Main.hs",
            "ghc -e main",
            "dmd -run a.d",
            "dmd -L--plugin=./x.so a.d",
            "ldc2 -conf=x.conf a.d",
            "javac -J-javaagent:x.jar A.java",
            "javac -processorpath x A.java",
            "javac --processor-path=x A.java",
            "kotlinc -J-javaagent:x.jar a.kt",
            "kotlinc -Xplugin=x.jar a.kt",
            "scalac -Xplugin:x.jar a.scala",
            "swiftc -load-plugin-library x.so a.swift",
            "rustc -Cdlltool=./x a.rs",
            "rustc -C dlltool=./x a.rs",
            "jj util exec -- touch x",
            "jj --config x=y log",
            "jj diff --tool touch",
            "hg bisect -c touch",
            "hg bis -xc touch",
            "hg extdiff -p touch",
            "hg merge -t touch",
            "stack exec -- touch x",
            "stack eval x",
            "cabal exec -- touch x",
            "dune exec -- touch x",
            "composer exec -- touch x",
            "tox exec -- touch x",
            "tox -x testenv.commands=touch",
            "meson devenv touch x",
            "bazel run --run_under=touch x",
            "sbt !touch",
            "mvn exec:exec -Dexec.executable=touch",
            "mvn -Djvm=./x test",
            "mypy --python-executable ./x m",
            "pandoc -t ./x.lua f",
            "pandoc -tx.lua f",
            "pandoc --from=x.lua f",
            "kubectl --kubeconfig=x get pods",
            "git diff /etc/hostname /etc/shells",
            "git diff a ../../x",
            "git diff -- /etc/hostname a",
            "git tag --local-user=x v1",
            "git blame --ignore-revs-file=/etc/passwd a",
            "cargo +/outside/x test",
            "cargo rustc -- -o /outside",
            "cargo vendor ../x",
            "rustc +./x m.rs",
            "docker --config ./dc foo",
            "docker -H x ps",
            "docker --context=x ps",
            "docker create x touch",
            "docker container create x touch",
            "docker container run x touch",
            "docker compose run x touch",
            "docker cp web:/x /outside",
            "make LD_PRELOAD=./x m",
            "make COMPILER_PATH=x m",
            "make GCC_EXEC_PREFIX=x m",
            "make CFLAGS=-fplugin=x.so m",
            "make RSYNC_RSH=x m",
            "make SVN_SSH=x m",
            "make CVS_RSH=x m",
            "make LESSOPEN=x m",
            "make HGRCPATH=x m",
            "make GCONV_PATH=x m",
            "make OPENSSL_CONF=x m",
            "make BUNDLE_GEMFILE=x m",
            "make PIP_CONFIG_FILE=x m",
            "make UV_CONFIG_FILE=x m",
            "make PERLLIB=x m",
            "make DOTNET_STARTUP_HOOKS=x m",
            "make BASH_ENV=x m",
            "make PATH=x m",
            "make RUSTC_WRAPPER=x m",
            "make CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_LINKER=x m",
            "make CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER=x m",
            "make CARGO_BUILD_RUSTC=x m",
            "make CARGO_HOME=x m",
            "make RUSTDOC=x m",
            "make RUNNER=x m",
            "make KUBE_EDITOR=x m",
            "make SSH_ASKPASS=x m",
            "make SUDO_ASKPASS=x m",
            "make CCACHE_PREFIX=x m",
            "make MAVEN_OPTS=-javaagent:x m",
            "make GRADLE_OPTS=-Dx=y m",
            "make PYTEST_ADDOPTS=-px m",
            "make PYTEST_PLUGINS=x m",
            "make CMAKE_TOOLCHAIN_FILE=x m",
            "make TF_CLI_ARGS=-x m",
            "make ANSIBLE_CONFIG=x m",
            "make XDG_CONFIG_HOME=x m",
            "make KUBECONFIG=x m",
            "make MANPAGER=x m",
            "make GIT_SSH=x m",
            "make NODE_OPTIONS=x m",
            "kubectl kustomize --enable-exec x",
            "tar xf host:a",
            "tar xCf /outside a.tar",
            "gcc -o /outside m.c",
            "uv venv /outside",
            "git worktree remove ../x",
            "unzip -o -: a.zip",
            "bsdtar -P -xf a",
            "bsdtar xPf a",
            "go test --o=/outside",
        ];
        let covered: Vec<&str> = commands.into_iter().filter(|command| by_star(command)).collect();
        assert!(covered.is_empty(), "{covered:#?}");
        assert!(
            commands.into_iter().all(|command| allows(command, command, true)),
            "those that are spelt out"
        );
    }

    #[test]
    fn a_star_behind_a_module_or_a_runner_is_that_of_what_they_run() {
        for (pattern, command, want) in [
            ("python3 -m pytest *", "python3 -m pytest -q -k a tests", true),
            ("python3 -m pytest *", "python3 -m pytest -c /x", false),
            ("python3 -m json.tool *", "python3 -m json.tool a b", true),
            ("python3 -m json.tool *", "python3 -m json.tool a /x", false),
            ("python3 -m venv *", "python3 -m venv --prompt=a ../x", false),
            ("python3 -m http.server *", "python3 -m http.server --directory=/", false),
            ("python3 -m app.tool *", "python3 -m app.tool /x", true),
            ("python3 -m pytest *", "python3 -m pytest --junitxml=/x", false),
            ("python3 -m pytest *", "python3 -m pytest -o cache_dir=/x", false),
            ("python3 -m pytest -c /x *", "python3 -m pytest -c /x -q", true),
            ("python -m mypy *", "python -m mypy --python-executable=./x", false),
            ("python -m mypy *", "python -m mypy src", true),
            ("python3 x.py *", "python3 x.py -m /x", true),
            ("uv run pytest *", "uv run pytest -c /x", false),
            ("uv run pytest *", "uv run pytest -q", true),
            ("uv run python *", "uv run python x.py /data", true),
            ("uv run python -m pytest *", "uv run python -m pytest -c /x", false),
            ("poetry run pytest *", "poetry run pytest --rootdir=/x", false),
            ("bundle exec rspec *", "bundle exec rspec -r /x", false),
            ("bundle exec rspec *", "bundle exec rspec spec/a_spec.rb:5", true),
            ("pnpm exec tsc *", "pnpm exec tsc -p /x", false),
            ("pnpm exec tsc *", "pnpm exec tsc --noEmit", true),
            ("npm exec jest *", "npm exec jest -- --outputFile=/x", false),
            ("npm exec git *", "npm exec git push --receive-pack=./x", false),
            ("docker exec web *", "docker exec web cat /var/log/x", true),
            ("docker compose *", "docker compose ps", true),
            ("docker compose *", "docker compose -f dev.yml logs -f web", true),
            ("docker compose *", "docker compose up -d", true),
            ("docker compose *", "docker compose exec web touch x", false),
            ("docker compose *", "docker compose run web touch x", false),
            ("docker compose *", "docker compose -f /x/dev.yml up", false),
            ("docker compose *", "docker compose --env-file ../.env config", false),
            ("docker compose *", "docker compose --env-file=dev.env config", true),
            ("docker compose exec web *", "docker compose exec web cat x", true),
            ("docker *", "docker compose up", false),
            ("coverage *", "coverage html -d /x", false),
            ("cargo fmt *", "cargo fmt -- /x/y.rs", false),
            ("cargo fmt *", "cargo fmt --all -- --check", true),
        ] {
            assert_eq!(allows(pattern, command, true), want, "{pattern} | {command}");
        }
        let nested = format!("{}pytest", "npm exec ".repeat(6));
        assert!(!allows(&format!("{nested} *"), &format!("{nested} -q"), true), "too many runners");
    }

    #[test]
    fn a_star_stands_for_what_is_done_every_day() {
        let commands = [
            "apt-cache policy curl",
            "apt-cache search --names-only x",
            "npm run build",
            "npm test -- --watch",
            "npm ci",
            "npm --prefix frontend run build",
            "npm config get registry",
            "npm init -y",
            "npm in left-pad",
            "npm ins left-pad",
            "npm i left-pad",
            "npm expla left-pad",
            "bundle info rack",
            "nvcc -O2 -Xcompiler -fPIC,-Wall -o a a.cu",
            "ghc -O2 -optl-static -o a Main.hs",
            "javac -d out -cp lib A.java",
            "dmd -O -ofa a.d -L-lm",
            "swiftc -O a.swift",
            "clang -O2 -fPIC -c a.c",
            "pnpm test",
            "pnpm build",
            "pnpm --filter web build",
            "pnpm -r lint --fix",
            "pnpm vitest run x",
            "pnpm add -D x",
            "pnpm install --frozen-lockfile",
            "pnpm watch",
            "yarn build",
            "yarn test --ci",
            "yarn workspace web build",
            "bun test",
            "bun run src/x.ts",
            "bun run test --x",
            "cargo test --all",
            "cargo test --manifest-path crates/a/Cargo.toml",
            "cargo test --target x86_64-unknown-linux-gnu -- --nocapture",
            "cargo clippy --all-targets -- -D warnings",
            "make test VERBOSE=1",
            "make -j4",
            "make V=1 BUILD_DIR=out/x",
            "make PYTHON_VERSION=3.11 GIT_COMMIT=abc NODE_ENV=test m",
            "make test TESTS=tests/a.py",
            "make CFLAGS=-O2 LDFLAGS+=-lm",
            "cmake -S . -B build -DCMAKE_BUILD_TYPE=Release",
            "cmake --build build -j4",
            "go test ./... -run TestX",
            "go build -ldflags=-s -o bin/x ./cmd/x",
            "go env GOPATH",
            "go build -ldflags=-extldflags=-static ./...",
            "gcc -Wl,--as-needed,-rpath,lib -Wall -o m m.c -lpthread",
            "gcc -Wp,-D_FORTIFY_SOURCE=2 -c m.c",
            "pytest -q tests -k a",
            "pytest -p no:cacheprovider -x",
            "pip install -r requirements.txt",
            "pip list",
            "mypy --python-version 3.11 src",
            "tox -e py311",
            "jj log -r @",
            "jj diff --from a --to b",
            "hg diff -c 1",
            "hg log -p",
            "rake -T",
            "mix test --exclude x",
            "mvn -DskipTests package",
            "mvn -q -Dtest=A#b test",
            "gradle build -x test",
            "kubectl get pods -n x",
            "conda list",
            "composer install --no-dev",
            "gh pr view 1",
            "gh repo view x",
            "docker compose-x",
            "docker ps -a",
            "docker build -t x .",
            "docker network create x",
            "docker cp web:/x y",
            "tar czf out.tgz src",
            "tar -C sub -xf a.tar",
            "tar xf host:a --force-local",
            "gcc -o prog m.c",
            "cargo +nightly test",
            "make CI=1 PREFIX=build",
            "make INSTALL_PREFIX=build TARGET=x86_64 PROFILE=release JOBS=4 CARGO_PKG_VERSION=1.2.3",
            "pip install -e .",
            "go test ./... -coverprofile=c.out",
            "pandoc -t html f.md",
            "git diff main..dev",
            "git diff HEAD -- src/a",
            "git diff HEAD~1 HEAD",
            "git commit --signoff -m x",
            "unzip -o a.zip",
            "terraform plan -out=tfplan",
            "eslint --fix src --ext .ts",
            "prettier --write src/**/*.ts",
            "dotnet test --filter X",
            "npx-x",
        ];
        let asked: Vec<&str> = commands.into_iter().filter(|command| !by_star(command)).collect();
        assert!(asked.is_empty(), "{asked:#?}");
    }
}
