//! Files that URLs lead to, and those that programs save under a name that a URL has.
//!
//! Sources: RFC 8089; curl(1) 8.5 ("GLOBBING", `-O`, `-J`, `-o`, `-T`, `--expand-`), wget(1) 1.21 ("HTTP Options",
//! "Directory Options"), aria2c(1), axel(1), scp(1).

use super::kind::base_name;
use super::open_ended::OpenEnded;

/// Most names that are made for one command.
const MAX: usize = 256;

/// Most names that are told in part, for one command.
const MAX_OPEN: usize = 64;

/// Letters of curl's options that take a value.
const CURL_VALUES: &str = "AbcCdDeEFhHKmoPQrtTuUwxXyYz";
/// Those of wget's.
const WGET_VALUES: &str = "oaitOTwQPUlARDIXeB";

/// The places where a file's URL goes on behind its scheme, in whatever case that is.
fn behind_scheme(word: &str) -> impl Iterator<Item = &str> {
    const SCHEME: &str = "file:";
    const MAX_URLS: usize = 8;
    // No letter changes its length by this; most words have no mark.
    let lower = word.contains(':').then(|| word.to_ascii_lowercase());
    let found = lower.map(|lower| lower.match_indices(SCHEME).map(|(at, _)| at).take(MAX_URLS).collect());
    found.unwrap_or_else(Vec::new).into_iter().filter_map(move |at| {
        let inside = word[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
        (!inside).then(|| &word[at + SCHEME.len()..])
    })
}

/// The paths that URLs of files in the word lead to: whatever their host is, decoded, with and without what follows `?` or
/// `#`.
pub(super) fn files(word: &str) -> Vec<String> {
    let mut found = Vec::new();
    for rest in behind_scheme(word) {
        let path = match rest.strip_prefix("//") {
            Some(authority) => authority.find('/').map_or("", |at| &authority[at..]),
            None => rest,
        };
        let cut = path.split(['?', '#']).next().unwrap_or_default();
        found.extend([path, cut].into_iter().map(decoded).filter(|path| !path.is_empty()));
    }
    found
}

/// With `%2e` and the like as what they stand for.
fn decoded(text: &str) -> String {
    let digit = |byte: Option<&u8>| byte.and_then(|byte| char::from(*byte).to_digit(16));
    let bytes = text.as_bytes();
    let (mut out, mut at) = (Vec::with_capacity(bytes.len()), 0);
    while let Some(byte) = bytes.get(at) {
        let pair = digit(bytes.get(at + 1)).zip(digit(bytes.get(at + 2))).filter(|_| *byte == b'%');
        if let Some(meant) = pair.and_then(|(high, low)| u8::try_from(high * 16 + low).ok()) {
            out.push(meant);
            at += 3;
        } else {
            out.push(*byte);
            at += 1;
        }
    }
    String::from_utf8_lossy(&out).replace('\0', "")
}

/// Whether curl makes several words of it.
fn globs(word: &str) -> bool {
    word.contains(['{', '['])
}

/// Whether curl may take the word for a URL of a file: by its scheme, or by one that braces or brackets hide.
fn may_be_file(word: &str) -> bool {
    let hidden = || {
        word.split_once(':').is_some_and(|(scheme, rest)| {
            let spelt = |c: char| c.is_ascii_alphanumeric() || "{}[],-+.=".contains(c);
            globs(scheme) && scheme.chars().all(spelt) && rest.contains('/')
        })
    };
    behind_scheme(word).next().is_some() || hidden()
}

/// Whether curl or wget may read a file by the word, wherever that lies.
pub(super) fn names_file(word: &str) -> bool {
    may_be_file(word) || word.starts_with("--proto-d") || word.starts_with("--expand-")
}

/// Whether curl makes of the word a URL of a file that is not told.
fn is_untold(word: &str) -> bool {
    let goes_on = |rest: &str| rest.starts_with(['/', '{', '[']);
    let decodes_twice = |rest: &str| decoded(rest).contains('%');
    let mut urls = behind_scheme(word).filter(|rest| goes_on(rest)).peekable();
    if urls.peek().is_none() {
        return may_be_file(word) && behind_scheme(word).next().is_none();
    }
    globs(word) || urls.any(decodes_twice)
}

/// What the words of curl or wget say of files.
#[derive(Default)]
struct Fetch<'w> {
    urls: Vec<&'w str>,
    /// It saves what comes under the name that the URL has.
    saves: bool,
    /// A backslash ends what is left out of that name, too.
    cuts_at_backslashes: bool,
    /// The server, or a value put together by the program, chooses a name.
    untold: bool,
    directories: Vec<&'w str>,
    /// Values of `-o`, in which `#1` is a part of the URL.
    outputs: Vec<&'w str>,
}

/// An option of the words with its value, as far as a letter or a long name has one: `next` counts when none is attached.
struct Given<'w> {
    letter: char,
    long: &'w str,
    value: &'w str,
}

impl Given<'_> {
    fn is(&self, long: &str, least: usize) -> bool {
        self.long.len() >= least && long.starts_with(self.long)
    }
}

/// Calls `option` for each option and `operand` for each other word. A value of a long option counts as an operand too.
fn walk<'w>(
    words: &[&'w str],
    valued: &str,
    mut option: impl FnMut(Given<'w>),
    mut operand: impl FnMut(&'w str),
) {
    let mut at = 0;
    while let Some(word) = words.get(at).copied() {
        at += 1;
        let next = words.get(at).copied().unwrap_or_default();
        if let Some(long) = word.strip_prefix("--") {
            let (long, value) = long.split_once('=').unwrap_or((long, next));
            option(Given { letter: '-', long, value });
        } else if let Some(cluster) = word.strip_prefix('-') {
            for (number, letter) in cluster.char_indices() {
                let takes = valued.contains(letter);
                let rest = &cluster[number + letter.len_utf8()..];
                let value = if rest.is_empty() { next } else { rest };
                option(Given { letter, long: "", value: if takes { value } else { "" } });
                if takes {
                    at += usize::from(rest.is_empty());
                    break;
                }
            }
        } else {
            operand(word);
        }
    }
}

fn curl<'w>(words: &[&'w str]) -> Fetch<'w> {
    let mut fetch = Fetch { cuts_at_backslashes: true, ..Fetch::default() };
    let (mut served, mut urls) = (false, Vec::new());
    let option = |given: Given<'w>| {
        if given.letter == 'o' || given.is("output", 2) {
            fetch.outputs.push(given.value);
        } else if given.is("output-dir", 7) {
            fetch.directories.push(given.value);
        }
        fetch.saves |= given.letter == 'O' || given.is("remote-name-all", 8);
        served |= given.letter == 'J' || given.is("remote-header-name", 8);
        let uploads = given.letter == 'T' || given.is("upload-file", 2);
        fetch.untold |= uploads && globs(given.value)
            || given.is("proto-default", 7)
            || given.long.starts_with("expand-")
            || given.is("url", 2) && given.value.starts_with('@');
    };
    walk(words, CURL_VALUES, option, |word| urls.push(word));
    fetch.urls = urls;
    fetch.untold |= fetch.saves && (served || fetch.urls.iter().any(|url| globs(url)))
        || fetch.outputs.iter().any(|file| of_output(file).is_some())
        || words.iter().any(|word| is_untold(word));
    fetch
}

fn wget<'w>(words: &[&'w str]) -> Fetch<'w> {
    const UNTOLD: &[(&str, usize)] = &[
        ("recursive", 3),
        ("mirror", 2),
        ("force-directories", 7),
        ("page-requisites", 3),
        ("content-disposition", 9),
        ("trust-server-names", 3),
        ("default-page", 3),
        ("input-metalink", 7),
        ("metalink-over-http", 3),
        ("restrict-file-names", 3),
        ("adjust-extension", 2),
        ("html-extension", 5),
    ];
    let mut fetch = Fetch { saves: true, ..Fetch::default() };
    let (mut after_n, mut urls) = (false, Vec::new());
    let option = |given: Given<'w>| {
        if given.letter == 'P' || given.is("directory-prefix", 9) {
            fetch.directories.push(given.value);
        }
        // `-np` and `-nH` are names of two letters.
        let letter = !std::mem::replace(&mut after_n, given.letter == 'n')
            && matches!(given.letter, 'r' | 'm' | 'x' | 'p' | 'E');
        fetch.untold |= letter || UNTOLD.iter().any(|(long, least)| given.is(long, *least));
    };
    walk(words, WGET_VALUES, option, |word| urls.push(word));
    fetch.urls = urls;
    fetch
}

/// The first program of the words that fetches, by its name, and what it is told.
fn fetches<'w>(words: &[&'w str]) -> Option<Fetch<'w>> {
    let at = words.iter().position(|word| FETCHERS.contains(&base_name(word)))?;
    let rest = &words[at + 1..];
    Some(if base_name(words[at]) == "curl" { curl(rest) } else { wget(rest) })
}

/// Programs that fetch what a URL names; beside curl they save it under its name.
const FETCHERS: &[&str] = &["curl", "wget", "aria2c", "axel"];

/// Programs that save what is elsewhere under a name that they make.
pub(super) fn programs() -> impl Iterator<Item = &'static str> {
    FETCHERS.iter().copied().chain([SCP])
}

const SCP: &str = "scp";

/// Whether the program gets or makes names of files that its words do not tell. `words`: those behind its name.
pub(super) fn untold(program: &str, words: &[&str]) -> bool {
    match program {
        "curl" => curl(words).untold,
        "wget" => wget(words).untold,
        _ => false,
    }
}

/// The names under which the command saves what its words name elsewhere.
pub(super) fn saved(words: &[&str]) -> Vec<String> {
    let Some(fetch) = fetches(words) else { return copied(words) };
    let mut names: Vec<String> = Vec::new();
    for file in fetch.outputs.iter().take(MAX) {
        let within = fetch.directories.iter().map(|directory| format!("{directory}/{file}"));
        names.extend(within.take(MAX.saturating_sub(names.len())));
    }
    if !fetch.saves {
        return names;
    }
    let marks: &[char] = if fetch.cuts_at_backslashes { &['/', '\\'] } else { &['/'] };
    for url in fetch.urls.iter().filter(|url| url.contains('/')) {
        let cut = url.split(['?', '#']).next().unwrap_or_default();
        for base in [*url, cut].map(|url| url.rsplit(marks).next().unwrap_or_default()) {
            for base in [base.to_owned(), decoded(base)].into_iter().filter(|base| !base.is_empty()) {
                let within = fetch.directories.iter().map(|directory| format!("{directory}/{base}"));
                names.extend(within.take(MAX.saturating_sub(names.len())));
                names.push(base);
            }
        }
        if names.len() >= MAX {
            break;
        }
    }
    names
}

/// What scp puts into a directory of this machine.
fn copied(words: &[&str]) -> Vec<String> {
    let Some(at) = words.iter().position(|word| base_name(word) == SCP) else { return Vec::new() };
    let operands: Vec<&str> = words[at + 1..].iter().copied().filter(|word| !word.starts_with('-')).collect();
    let Some((into, sources)) = operands.split_last() else { return Vec::new() };
    if into.split('/').next().is_some_and(|first| first.contains(':')) {
        return Vec::new();
    }
    let base = |source: &&str| source.rsplit(['/', ':']).next().unwrap_or_default().to_owned();
    sources.iter().take(MAX).map(|source| format!("{into}/{}", base(source))).collect()
}

/// The names of outputs with a part of the URL in them.
pub(super) fn open_ended(words: &[&str]) -> Vec<OpenEnded> {
    let outputs = fetches(words).map(|fetch| fetch.outputs).unwrap_or_default();
    outputs.into_iter().filter_map(of_output).take(MAX_OPEN).collect()
}

/// `#1` in an output stands for a part of the URL.
fn of_output(file: &str) -> Option<OpenEnded> {
    let marks = || {
        let digit = |at: usize| file[at + 1..].starts_with(|c: char| c.is_ascii_digit());
        file.match_indices('#').map(|(at, _)| at).filter(move |at| digit(*at))
    };
    let (first, last) = (marks().next()?, marks().next_back()?);
    let tail = file[last + 1..].trim_start_matches(|c: char| c.is_ascii_digit());
    Some(OpenEnded { head: file[..first].to_owned(), tail: tail.to_owned(), anything: true })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_of_files_lead_to_their_paths() {
        for (word, want) in [
            ("file:///ws/%2eenv", "/ws/.env"),
            ("file:///ws/secr%65t/key", "/ws/secret/key"),
            ("file://127.0.0.1/ws/key", "/ws/key"),
            ("FILE://LOCALHOST/ws/key", "/ws/key"),
            ("file:/ws/key", "/ws/key"),
            ("file:///ws/.env?a", "/ws/.env"),
            ("file:///ws/.env#a", "/ws/.env"),
            ("--url=File:///ws/.env", "/ws/.env"),
            ("git+file:///ws/a", "/ws/a"),
            ("file:../a", "../a"),
        ] {
            assert!(files(word).contains(&want.to_owned()), "{word}: {:?}", files(word));
        }
        for word in ["profile:/x", "http://h/file", "file", "a:b"] {
            assert_eq!(files(word), [""; 0], "{word}");
        }
    }

    #[test]
    fn names_come_from_urls() {
        for (command, want) in [
            ("curl -sO http://h/config.toml", "config.toml"),
            ("curl -s --remote-name http://h/a/x.yml?y#z", "x.yml"),
            ("curl --remote-name-all --output-dir d http://h/x", "d/x"),
            ("nice curl -O --output-dir=d h/x", "d/x"),
            ("wget -q http://h/prod.yml", "prod.yml"),
            ("wget -q -P conf http://h/%70rod.yml", "conf/prod.yml"),
            ("wget --directory-prefix=conf http://h/prod.yml", "conf/prod.yml"),
            ("scp h:x/prod.yml conf", "conf/prod.yml"),
            ("curl -sO H/a\\.bashrc", ".bashrc"),
            ("curl -sO --output- d H/a\\.bashrc", "d/.bashrc"),
            ("curl --output-dir lock -o ../locked/g http://h/x", "lock/../locked/g"),
            ("curl --create-dirs --output-dir=d --ou g http://h/x", "d/g"),
            ("wget --directory conf http://h/prod.yml", "conf/prod.yml"),
        ] {
            let words: Vec<&str> = command.split(' ').collect();
            assert!(saved(&words).contains(&want.to_owned()), "{command}: {:?}", saved(&words));
        }
        for command in ["curl -s http://h/x", "curl -XPOST http://h/x", "echo a/b", "scp a h:b"] {
            assert_eq!(saved(&command.split(' ').collect::<Vec<_>>()), [""; 0], "{command}");
        }
    }

    #[test]
    fn what_curl_and_wget_make_of_words_is_not_told() {
        for (command, want) in [
            ("curl file:///ws/secr{e,x}t/key", true),
            ("curl file:///ws/secr[e-e]t/key", true),
            ("curl fil{e,x}:///ws/key", true),
            ("curl --url=[f-f]ile:///ws/key", true),
            ("curl file:///ws/%252eenv", true),
            ("curl --proto-default file ws/%2eenv", true),
            ("curl --variable a=x --expand-url file:///{{a}}", true),
            ("curl -T {.e,}nv http://h", true),
            ("curl --upload {.e,}nv http://h", true),
            ("wget --restrict-file-names=lowercase http://h/X", true),
            ("wget --restrict lowercase http://h/X", true),
            ("wget -qE http://h/x", true),
            ("wget --adjust http://h/x", true),
            ("wget --def=.env http://h/", true),
            ("curl -o a#1 http://h/{x,y}", true),
            ("curl -sOJ http://h/x", true),
            ("curl -O http://h/{x,y}", true),
            ("curl --url @list", true),
            ("wget -r http://h", true),
            ("wget -nHx http://h/x", true),
            ("wget --content-disposition http://h/x", true),
            ("curl -s file:///ws/a", false),
            ("curl -d {\"a\":{\"b\":\"http://x/y\"}} -XPOST -HJ:1 http://h", false),
            ("curl -sSfLO http://h/x", false),
            ("curl -fsSL -o a.tgz http://h/x?a=[1]#2", false),
            ("wget -qnp -nH -O - http://h", false),
        ] {
            let words: Vec<&str> = command.split(' ').collect();
            assert_eq!(untold(words[0], &words[1..]), want, "{command}");
        }
    }
}
