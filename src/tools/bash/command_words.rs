//! The words of a command's text that may name files, whatever the shell makes of the text: a word too many costs little.

use std::collections::HashSet;

use crate::permission::value_starts;

/// So many words of a command are looked at.
const WORDS_MAX: usize = 512;
/// A path has fewer bytes (`PATH_MAX`).
const WORD_BYTES_MAX: usize = 4096;
/// So many words come out of the braces of one.
const BRACES_MAX: usize = 64;
/// So many parts of a path behind what the shell puts in front are looked at.
const PARTS_MAX: usize = 64;
/// Marks that stand before a value, or between the parts of one.
const MARKS: [char; 6] = ['=', ':', ',', '@', '+', '#'];
/// Behind so many of them the rest of a word is looked at whole.
const MARKS_MAX: usize = 32;
/// How deep quoted words are taken apart in their turn.
const DEPTH_MAX: usize = 3;
/// Stands for what the shell puts there.
pub(super) const UNTOLD: char = '\u{1}';

/// Endings that interpreters add to what they are told to load, by their manuals.
const ENDINGS: &[(&str, &[&str])] = &[
    ("python", &["py"]),
    ("ipython", &["py"]),
    ("coverage", &["py"]),
    ("uv", &["py"]),
    ("pytest", &["py"]),
    ("uvicorn", &["py"]),
    ("gunicorn", &["py"]),
    ("hypercorn", &["py"]),
    ("celery", &["py"]),
    ("flask", &["py"]),
    ("nodemon", &["js"]),
    ("pypy", &["py"]),
    ("node", &["js", "cjs", "mjs", "json", "ts", "node"]),
    ("nodejs", &["js", "cjs", "mjs", "json", "ts", "node"]),
    ("tsx", &["ts", "js"]),
    ("ts-node", &["ts", "js"]),
    ("bun", &["ts", "js"]),
    ("ruby", &["rb"]),
    ("rake", &["rb"]),
    ("rspec", &["rb"]),
    ("perl", &["pm", "pl"]),
    ("lua", &["lua"]),
    ("luajit", &["lua"]),
    ("java", &["class", "java"]),
    ("erl", &["beam"]),
];

/// Programs that put what they are given under another name, by their manuals, and what languages have for that.
const MOVE: &[&str] = &[
    "cp",
    "mv",
    "ln",
    "install",
    "rsync",
    "scp",
    "rename",
    "prename",
    "mount",
    "bindfs",
    "ditto",
    "robocopy",
    "gcp",
    "gmv",
    "tar",
    "gtar",
    "bsdtar",
    "cpio",
    "pax",
    "zip",
    "unzip",
    "7z",
    "7za",
    "7zz",
    "ar",
    "jar",
    "git",
    "hg",
    "svn",
    "bwrap",
    "copytree",
    "copy",
    "copyfile",
    "move",
    "replace",
    "renames",
    "symlink",
    "symlink_to",
    "link",
    "renameSync",
    "cpSync",
    "copyFileSync",
    "symlinkSync",
    "cp_r",
    "ln_s",
];

/// Words that may name files.
#[derive(Debug, Default)]
pub(super) struct Words {
    /// In the order in which they were found; those with `*`, `?`, `[` or [`UNTOLD`] in them are patterns of names.
    pub(super) all: Vec<String>,
    /// Some were left out.
    pub(super) more: bool,
    /// A program is among them, or a function of a language, that puts what it is given under another name.
    pub(super) moves: bool,
    /// What is unpacked gets names that cannot be told.
    pub(super) renames: bool,
    seen: HashSet<String>,
    /// What the shell puts there stands beside something else, or beside more of it: what it holds may be named elsewhere
    /// in the text.
    glued: bool,
    /// What a variable holds is changed when it is put there.
    changed: bool,
}

impl Words {
    /// All that the text may name.
    pub(super) fn of(command: &str) -> Self {
        let mut words = Self::default();
        words.text(command, 0);
        // `S+=.sh`
        words.glued |= command.contains("+=");
        for mark in placed(command) {
            words.text(&command.replace(mark, UNTOLD.encode_utf8(&mut [0; 4])), 0);
        }
        words.put_together();
        words.moves = words.all.iter().any(|word| MOVE.iter().any(|program| is_called(word, program)));
        // tar(1): `--strip-components`, `--transform`.
        let renames = ["--strip", "--tran", "--xf"];
        words.renames = words.all.iter().any(|word| renames.iter().any(|option| word.starts_with(option)));
        // unzip(1): `-j`.
        let flattens = |word: &String| word.starts_with('-') && !word.starts_with("--") && word.contains('j');
        words.renames |=
            words.all.iter().any(|word| is_called(word, "unzip")) && words.all.iter().any(flattens);
        let named: Vec<String> = words.all.clone();
        for endings in ENDINGS.iter().filter(|(program, _)| named.iter().any(|word| is_called(word, program)))
        {
            for word in &named {
                words.loaded(word, endings.1);
            }
        }
        words
    }

    /// One more; false where it was there already, or there are too many.
    pub(super) fn add(&mut self, word: &str) {
        if word.is_empty() || word.len() > WORD_BYTES_MAX || self.seen.contains(word) {
            return;
        }
        if self.all.len() >= WORDS_MAX {
            self.more = true;
            return;
        }
        self.seen.insert(word.to_owned());
        self.all.push(word.to_owned());
    }

    /// Cuts a text at blanks and operators outside of quotes, in two ways: at whatever the shell might take out of a
    /// word, and so that a word stays whole with the shell's part in it. What was quoted is a text of its own, too.
    fn text(&mut self, text: &str, depth: usize) {
        for whole in [true, false] {
            let mut cutter = Cutter { whole, ..Cutter::default() };
            for (word, quoted) in cutter.cut(text) {
                if (quoted || word.contains(char::is_whitespace)) && depth < DEPTH_MAX {
                    self.text(&word, depth + 1);
                }
                let (words, all) = braced(&word);
                self.more |= !all;
                for word in &words {
                    self.tails(word);
                }
            }
        }
        // What is glued together, for a program that takes it apart: `do"./x.pl"`, `./run\;true`.
        let glue = |c: char| c.is_whitespace() || ";|&()<>`\"'!\\".contains(c);
        text.split(glue).filter(|piece| !piece.is_empty()).for_each(|piece| self.tails(piece));
        for expansion in text.split("${").skip(1) {
            let (inner, behind) = expansion.split_once('}').unwrap_or((expansion, ""));
            self.of_expansion(inner);
            // `${S:-${D:-scripts}/run.sh}`
            let behind = behind.split(|c: char| c.is_whitespace() || "}\"'`".contains(c)).next();
            behind.filter(|rest| !rest.is_empty()).into_iter().for_each(|rest| {
                self.tails(&format!("{UNTOLD}{rest}"));
            });
        }
    }

    /// What an expansion may give beside the variable's value: `X:-run.sh`, `X/a/run`.
    fn of_expansion(&mut self, inner: &str) {
        let name = |c: char| c.is_alphanumeric() || "_!@*".contains(c);
        let given = inner.trim_start_matches(name);
        let given =
            given.strip_prefix('[').and_then(|index| index.split_once(']')).map_or(given, |(_, given)| given);
        self.changed |= given.starts_with(['#', '%', '/', '^', ',', '@', ':']) && !given.starts_with(":-");
        let given = given.trim_start_matches([':', '-', '=', '+', '?', '/', '#', '%', '^', ',']);
        self.tails(given);
        given.split('/').filter(|part| !part.is_empty()).for_each(|part| self.tails(part));
    }

    /// The word, and what of it may be a value: behind letters of options, `=`, `:`, `,` and `@`.
    fn tails(&mut self, word: &str) {
        self.one(word);
        value_starts(word).filter_map(|at| word.get(at..)).for_each(|tail| self.one(tail));
        let letters = word.strip_prefix('-').unwrap_or_default();
        let mut marks = word.match_indices(MARKS).map(|(at, _)| &word[at + 1..]);
        marks.by_ref().take(MARKS_MAX).for_each(|tail| self.one(tail));
        self.more |= marks.next().is_some();
        word.split(MARKS).for_each(|part| self.one(part));
        letters.split(MARKS).for_each(|part| self.one(part));
        // The working directory by another name: proc_pid_cwd(5).
        if let Some((_, path)) = word.strip_prefix("/proc/").and_then(|own| own.split_once("/cwd/")) {
            self.one(path);
        }
        if let Some(path) = word.split_once("file://").map(|(_, path)| path) {
            let path = path.split(['?', '#']).next().unwrap_or_default();
            self.one(path.strip_prefix("localhost").unwrap_or(path));
        }
        // A command of an editor stands in front of what it runs: `1e./run`.
        if let Some(at) = word.find("./").filter(|at| *at > 0) {
            self.one(&word[at..]);
        }
    }

    fn one(&mut self, word: &str) {
        let word = word.strip_suffix("/...").unwrap_or(word);
        if word.contains(UNTOLD) {
            self.glued |= is_glued(word);
            if word.trim_matches(['/', UNTOLD]).is_empty() {
                return;
            }
        }
        self.add(word);
        // What the shell puts in front is a directory: which one, each of its parts may say.
        if word.starts_with(['~', UNTOLD]) {
            let mut slashes = word.match_indices('/').map(|(at, _)| &word[at + 1..]);
            slashes.by_ref().take(PARTS_MAX).for_each(|rest| self.add(rest));
            self.more |= slashes.next().is_some();
        }
    }

    /// What the shell may put together of a word and something else: `$P.sh` and `$P$E` where `P` is `scripts/run`,
    /// `${F%.bak}` where `F` is `scripts/run.sh.bak`.
    fn put_together(&mut self) {
        if !self.glued && !self.changed {
            return;
        }
        for word in
            self.all.clone().into_iter().filter(|word| !word.contains(UNTOLD) && !word.starts_with('-'))
        {
            let name = word.rfind('/').map_or(0, |slash| slash + 1);
            // Where it lies, what lies there counts.
            self.add(word[..name].trim_end_matches('/'));
            if word[name..].len() > 1 {
                // With something behind it, before it, or instead of its endings.
                self.add(&format!("{word}{UNTOLD}"));
                self.add(&format!("{UNTOLD}{}", word.trim_start_matches('/')));
            }
            if self.changed {
                word.match_indices('/').take(PARTS_MAX).for_each(|(slash, _)| self.add(&word[slash + 1..]));
                for (dot, _) in word[name..].match_indices('.').filter(|(dot, _)| *dot > 0) {
                    self.add(&word[..name + dot]);
                    self.add(&format!("{}{UNTOLD}", &word[..name + dot]));
                }
            }
        }
    }

    /// What an interpreter makes of a name that it is told to load: `a.b` and `A::B` are directories with a file in it.
    fn loaded(&mut self, word: &str, endings: &[&str]) {
        let path = word.replace("::", "/");
        for ending in endings {
            self.add(&format!("{path}.{ending}"));
        }
        let is_module = path.split('.').all(|part| {
            !part.is_empty() && part.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '/' | UNTOLD))
        });
        if is_module && path.contains('.') {
            let path = path.replace('.', "/");
            for (at, _) in path.match_indices('/') {
                self.add(&path[..at]);
            }
            self.add(&path);
            for ending in endings {
                self.add(&format!("{path}.{ending}"));
            }
        }
    }
}

/// Marks in whose place xargs(1) and parallel(1) put what they read: `-I %`, `-IX`, `--replace=X`.
fn placed(command: &str) -> impl Iterator<Item = &str> {
    const MAX: usize = 4;
    let mut words = command.split_whitespace();
    let marks = std::iter::from_fn(move || {
        words
            .by_ref()
            .find_map(|word| match word.strip_prefix("-I") {
                Some("") => Some(None),
                Some(mark) => Some(Some(mark)),
                None => word.strip_prefix("--replace=").map(Some),
            })?
            .or_else(|| words.next())
    });
    let bare = |mark: &'_ str| mark.trim_matches(['\'', '"']).len();
    marks
        .filter(move |mark| bare(mark) > 0 && *mark != "{}")
        .map(|mark| mark.trim_matches(['\'', '"']))
        .take(MAX)
}

/// Whether something stands right beside what the shell puts there: a directory before it or behind it does not, nor do the
/// marks that part values.
fn is_glued(word: &str) -> bool {
    let parts = |c: Option<char>| c.is_none_or(|c| c == '/' || MARKS.contains(&c));
    let beside = |at: usize| (word[..at].chars().next_back(), word[at + UNTOLD.len_utf8()..].chars().next());
    word.match_indices(UNTOLD)
        .map(|(at, _)| beside(at))
        .any(|(before, behind)| !parts(before) || !parts(behind))
}

/// Whether the word starts the program, of whatever version.
pub(super) fn is_called(word: &str, program: &str) -> bool {
    let name = word.rsplit('/').next().unwrap_or_default();
    name == program
        || name.trim_end_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | '-')) == program
}

/// Cuts a text into words.
#[derive(Default)]
struct Cutter {
    /// Expansions and braces stay in their word.
    whole: bool,
    word: String,
    quoted: bool,
    words: Vec<(String, bool)>,
}

impl Cutter {
    fn cut(&mut self, text: &str) -> Vec<(String, bool)> {
        let mut chars = text.chars().peekable();
        let (mut quote, mut dollar) = (None, false);
        while let Some(c) = chars.next() {
            let after_dollar = std::mem::replace(&mut dollar, c == '$');
            match (c, quote) {
                (c, Some((open, _))) if c == open => quote = None,
                // `\x72` in `$'…'`: some character.
                ('\\', Some(('\'', true))) => {
                    chars.next();
                    while chars.next_if(char::is_ascii_hexdigit).is_some() {}
                    self.word.push(UNTOLD);
                }
                ('\\', None | Some(('"', _))) => self.word.extend(chars.next()),
                (c @ ('\'' | '"'), None) => (quote, self.quoted) = (Some((c, after_dollar)), true),
                ('$', None | Some(('"', _))) if self.whole => {
                    match chars.peek() {
                        Some('\'' | '"') => continue,
                        Some('{') => while chars.next().is_some_and(|c| c != '}') {},
                        Some('(') => {}
                        _ => while chars.next_if(|c| c.is_alphanumeric() || *c == '_').is_some() {},
                    }
                    dollar = false;
                    self.word.push(UNTOLD);
                }
                (c, None) if c.is_whitespace() || ";|&()<>`".contains(c) => {
                    self.end();
                    // Behind the output of a command a word may go on.
                    if self.whole && matches!(c, ')' | '`') {
                        self.word.push(UNTOLD);
                    }
                }
                (c, None) if !self.whole && "{}$,".contains(c) => self.end(),
                (c, _) => self.word.push(c),
            }
        }
        self.end();
        std::mem::take(&mut self.words)
    }

    fn end(&mut self) {
        let word = std::mem::take(&mut self.word);
        let quoted = std::mem::take(&mut self.quoted);
        if !word.is_empty() {
            self.words.push((word, quoted));
        }
    }
}

/// The words that braces stand for, and whether those are all: `{run,}.sh` is `run.sh` and `.sh`. Of a sequence
/// (`{1..3}`) each is some name.
fn braced(word: &str) -> (Vec<String>, bool) {
    let (mut out, mut all) = (Vec::new(), true);
    let mut todo = vec![word.to_owned()];
    while let Some(word) = todo.pop() {
        let innermost = word.find('}').and_then(|end| Some((word[..end].rfind('{')?, end)));
        let Some((begin, end)) = innermost else {
            out.push(word);
            continue;
        };
        if todo.len() + out.len() >= BRACES_MAX {
            all = false;
            continue;
        }
        let (before, inner, after) = (&word[..begin], &word[begin + 1..end], &word[end + 1..]);
        // `{}` is what xargs and find put there.
        if inner.is_empty() || inner.contains("..") {
            todo.push(format!("{before}{UNTOLD}{after}"));
        } else {
            todo.extend(inner.split(',').rev().map(|part| format!("{before}{part}{after}")));
        }
    }
    (out, all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_of_nothing_but_marks_costs_little() {
        for mark in ["=", "a,", "@:", "x=y+"] {
            let words = Words::of(&format!("foo {}", mark.repeat(4_900)));
            let bytes: usize = words.all.iter().map(String::len).sum();
            assert!(words.more && words.all.len() < 100 && bytes < 1_000_000, "{mark}: {bytes}");
        }
    }

    #[test]
    fn words_that_may_be_files() {
        for (command, named) in [
            ("sh ./run.sh", vec!["./run.sh"]),
            ("cd sub&&./run.sh>out", vec!["sub", "./run.sh", "out"]),
            ("sh -c 'sh ./a.sh; b'", vec!["./a.sh", "b"]),
            ("python 'my file.py'", vec!["my file.py"]),
            ("make -f my\\ file CONFIG=x.mk", vec!["my file", "x.mk"]),
            ("bash -c \"bash -c './deep.sh 1'\"", vec!["./deep.sh"]),
            ("x `./a` $(./b) {./c,./d}", vec!["./a", "./b", "./c", "./d"]),
            ("make -fM -Csub2", vec!["M", "sub2"]),
            ("make -kfM", vec!["M"]),
            ("xargs -0acmds sh", vec!["cmds"]),
            ("sh -c ./run\\;true", vec!["./run"]),
            ("bash \"${SCRIPT:-sub/run.sh}\" ${X-run} ${Y//abc/b.sh}", vec!["sub/run.sh", "run", "b.sh"]),
            ("python3 -m ${M:-mymod}; ${MAKE:-make} -s", vec!["mymod.py", "make"]),
            ("gh release create v1 'run#Label' file:///ws/b/run?x", vec!["run", "/ws/b/run"]),
            ("bash -c ./run\\&\\&true", vec!["./run"]),
            ("perl -e 'do\"./x.pl\"'", vec!["./x.pl"]),
            ("vim -c '!./run'", vec!["./run"]),
            ("sed -n '1e./run' f", vec!["./run"]),
            ("curl -o y file://localhost/ws/run", vec!["/ws/run"]),
            ("uvicorn app.main:x", vec!["app/main.py"]),
            ("curl -sSfLkgiv#4pKcfg x", vec!["cfg"]),
            ("bash $X/1/2/3/4/5/6/7/8/9/10/run.sh", vec!["run.sh", "9/10/run.sh"]),
            ("awk -fp.awk x", vec!["p.awk"]),
            ("curl -Kcfg --config=other", vec!["cfg", "other"]),
            ("gcc @args -Wl,-T,a.ld -I./inc", vec!["args", "a.ld", "./inc"]),
            ("curl -d@body -F 'a=@part;type=b'", vec!["body", "part"]),
            ("vim -Ss.vim +so\\ t.vim", vec!["s.vim", "t.vim"]),
            ("node -r./h x", vec!["./h", "./h.js", "x.mjs"]),
            ("ruby -rlib", vec!["lib.rb"]),
            ("perl -MFoo::Bar -e 1", vec!["Foo/Bar.pm"]),
            ("python3 -m mymod", vec!["mymod", "mymod.py"]),
            ("python3.11 -mpkg.sub.mod", vec!["pkg", "pkg/sub", "pkg/sub/mod", "pkg/sub/mod.py"]),
            ("go run ./cmd/x ./lib/...", vec!["./cmd/x", "./lib"]),
            ("bash ./r*.sh", vec!["./r*.sh"]),
            ("pytest tests/test_a.py::test_x", vec!["tests/test_a.py"]),
            ("foo file://./run.sh --x=file:///ws/b.sh", vec!["./run.sh", "/ws/b.sh"]),
            ("foo a=b,c@d", vec!["a", "b", "c", "d", "b,c@d", "c@d"]),
            ("bash {run,}.sh a{b{c,d},e}", vec!["run.sh", ".sh", "abc", "abd", "ae"]),
            ("bash run{1..3}.sh", vec!["run\u{1}.sh"]),
            ("bash \"$PWD/run.sh\"", vec!["run.sh", "\u{1}/run.sh"]),
            ("bash ${D:-x}/s/run.sh", vec!["s/run.sh", "run.sh"]),
            ("bash $(pwd)/run.sh `pwd`/b.sh", vec!["run.sh", "b.sh"]),
            ("P=scripts/run; bash $P.sh", vec!["scripts", "\u{1}.sh"]),
            ("P=scripts; E=/run.sh; bash $P$E", vec!["scripts\u{1}", "\u{1}run.sh"]),
            ("f=s/run.sh.bak; bash ${f%.bak}", vec!["s/run.sh", "s/run\u{1}"]),
            ("for f in s/*.in; do bash ${f%.in}.sh; done", vec!["s", "\u{1}.sh"]),
            ("xargs -I{} bash s/{}.sh", vec!["s/\u{1}.sh"]),
            ("bash \"$(echo s/run).sh\"", vec!["s", "\u{1}.sh"]),
            ("python3 -m s.$M; python3 -m \"$P.mod\"", vec!["s/\u{1}.py", "\u{1}/mod.py"]),
            ("bash \"${S:-${D:-s}/run.sh}\"", vec!["s", "run.sh"]),
            ("S=s/run; S+=.sh; bash $S", vec!["s/run\u{1}"]),
            ("xargs -I % bash s/%.sh; xargs -I'XX' bash t/XX.sh", vec!["s/\u{1}.sh", "t/\u{1}.sh"]),
            ("bash ${a[i-0]%.bak} s/run.sh.bak", vec!["s/run.sh"]),
            ("f=x/s/run.sh; bash ${f#x/}", vec!["s/run.sh"]),
            ("bash /proc/self/cwd/s/run.sh", vec!["s/run.sh"]),
            ("bash ~/ws/run.sh ru$X.sh", vec!["ws/run.sh", "run.sh", "ru\u{1}.sh"]),
            ("bash $'r\\x75n.sh' $'b.sh'", vec!["r\u{1}n.sh", "b.sh"]),
        ] {
            let words = Words::of(command);
            for name in named {
                assert!(words.all.iter().any(|word| word == name), "{command}: {name:?}, {words:?}");
            }
            assert!(!words.more, "{command}");
        }
        for text in ["bash $f", "bash \"$f\" --out=\"$g\"", "bash $d/$f"] {
            let told = Words::of(text).all.iter().all(|word| !word.contains(UNTOLD) || word.starts_with('-'));
            assert!(told, "{text}");
        }
    }

    #[test]
    fn there_is_a_bound_and_it_is_told() {
        let many: Vec<String> = (0..2_000).map(|n| format!("f{n}")).collect();
        let words = Words::of(&many.join(" "));
        assert_eq!((words.all.len(), words.more), (WORDS_MAX, true));
        let (words, all) = braced(&"{a,b}".repeat(40));
        assert!(words.len() <= BRACES_MAX && !all);
        assert!(Words::of(&"{a,b}".repeat(40)).more);
    }
}
