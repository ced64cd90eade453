//! Takes secrets out of shell words: what a name stands before is the rest of its word, or the next word, however they
//! are quoted.

use super::{REDACTED, is_secret_name, is_user_option, summary};

/// How deep texts within quoted words and substitutions are looked into.
const DEPTH_MAX: usize = 4;
/// So many quotes and substitutions within one another are told apart.
const NESTED_MAX: usize = 64;
/// So many lines that a word spells out are looked at.
const LINES_MAX: usize = 64;
/// A scheme of an Authorization header is no secret.
const SCHEMES: &[&str] = &["Bearer ", "bearer ", "Basic ", "basic ", "Token ", "token "];

/// Options of one letter that are given a password, by programs. Sources: sshpass(1),
/// redis-cli, zip(1), unzip(1), mongosh, mysql(1), 7z(1), ldapsearch(1), sqlcmd, HTTPie.
const PASSWORDS: &[Password] = &[
    Password { in_front: true, ..of(&["sshpass"], 'p') },
    of(&["redis-cli"], 'a'),
    of(&["zip", "unzip", "sqlcmd"], 'P'),
    of(&["mongosh", "mongo", "mongodump", "mongorestore"], 'p'),
    of(&["ldapsearch", "ldapmodify", "ldapadd", "ldapwhoami"], 'w'),
    of(&["http", "https", "xh", "xhs"], 'a'),
    Password {
        apart: false,
        ..of(
            &[
                "mysql",
                "mysqldump",
                "mysqladmin",
                "mysqlimport",
                "mariadb",
                "mariadb-dump",
                "7z",
                "7za",
                "7zz",
            ],
            'p',
        )
    },
];
/// What `login` of these is given: docker-login(1), podman-login(1), `helm registry login`, `oc login`, `az login`.
const OF_LOGIN: Password =
    of(&["docker", "podman", "nerdctl", "buildah", "skopeo", "oras", "crane", "helm", "oc", "az"], 'p');

const fn of(programs: &'static [&'static str], letter: char) -> Password {
    Password { programs, letter, apart: true, in_front: false }
}

/// A letter that stands in front of a password.
#[derive(Debug)]
struct Password {
    programs: &'static [&'static str],
    letter: char,
    /// It may be a word of its own.
    apart: bool,
    /// It stands in front of another command only.
    in_front: bool,
}

/// A word as it is written and as its program gets it.
#[derive(Debug, Default)]
struct Word {
    /// The characters that the program gets, each with where it begins in the text and the quotes around it.
    chars: Vec<(char, usize, Option<char>)>,
    /// The parts within quotes and substitutions: from and to, without the quotes, and what closes them.
    quoted: Vec<(usize, usize, char)>,
    end: usize,
}

/// The text without the values that have a secret's name, and without what here-strings say. Linear in its length.
pub(super) fn redacted(text: &str) -> String {
    within(text, 0)
}

fn within(text: &str, depth: usize) -> String {
    let mut out = String::with_capacity(text.len());
    let mut reader = Reader { text, at: 0, unclosed: (false, false), flat: depth >= DEPTH_MAX };
    // The option may stand behind what it speaks of.
    let hides = text.contains("--secret");
    let mut before = Before { hides, ..Before::default() };
    while let Some(c) = reader.peek() {
        let from = reader.at;
        if reader.skips_blank(c) {
            out.push_str(&text[from..reader.at]);
            continue;
        }
        if text[from..].starts_with("<<<") {
            reader.at += 3;
            out.push_str("<<<");
            before = Before { here: true, ..before };
            (before.secret, before.user) = (false, false);
            continue;
        }
        if is_end(c) && (c != '`' || reader.flat) {
            reader.at += c.len_utf8();
            out.push(c);
            let listed = c != ')' && (before.listed || (before.list && c == '('));
            before = Before { listed, hides, ..Before::default() };
            continue;
        }
        let word = reader.word();
        let value: String = word.chars.iter().map(|(c, ..)| c).collect();
        let kept = before.kept(&value);
        match kept.filter(|kept| *kept < word.chars.len()) {
            Some(kept) => {
                let (_, at, quote) = word.chars[kept];
                out.push_str(&text[from..at]);
                out.push_str(REDACTED);
                out.extend(quote);
            }
            None if before.here => out.push_str(&summary(&value)),
            None => inner(&mut out, text, from, &word, depth),
        }
        before.goes_on(&value, kept, word.chars.len());
    }
    out
}

/// What the words before say of the next one.
#[derive(Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is one thing that a word may say")]
struct Before {
    /// It is a secret.
    secret: bool,
    /// It is a user's name and password.
    user: bool,
    /// It is what a here-string says.
    here: bool,
    /// It is the name of what is set; a name of a secret, whatever it is, where `secret` stood before that.
    set: bool,
    names_secret: bool,
    /// It is the name of what the next one is (`jq --arg`).
    arg: bool,
    /// A secret has been named that stands behind options: all that is no option may be it.
    given: bool,
    /// A list of a secret's values begins, or goes on.
    list: bool,
    listed: bool,
    /// The word before, and whether the command is curl.
    last: String,
    curl: bool,
    /// It may be something that curl sends as a cookie.
    cookie: bool,
    /// A letter in front of a password, of a program among the words, and of one for when it logs in.
    password: Option<&'static Password>,
    of_login: Option<&'static Password>,
    /// The command takes names of values, each followed by its value.
    pairs: bool,
    /// What is set is a secret whatever its name, when it is set for `sets_hidden`.
    hides: bool,
    sets_hidden: bool,
}

impl Before {
    /// How many characters of the word are no secret; none where it has no secret.
    fn kept(&self, value: &str) -> Option<usize> {
        if self.here {
            return None;
        }
        if self.given && value.starts_with('-') {
            let long = value.starts_with("--").then(|| value.find('=')).flatten();
            let attached = if value.starts_with("--") { long.map(|at| at + 1) } else { Some(2) };
            return attached.map(|at| value[..at.min(value.len())].chars().count()).or(named(value));
        }
        // `flyctl secrets set A=x`
        if self.names_secret
            && !value.starts_with('-')
            && let Some((name, _)) = value.split_once('=')
        {
            return Some(name.chars().count() + 1);
        }
        let is_secret = self.secret
            || self.given
            || self.listed
            || (self.user && value.contains(':'))
            || (self.cookie && value.contains('='));
        let cluster = || {
            let of_curl = self.curl.then(|| cluster_of_curl(value)).flatten();
            of_curl.or_else(|| self.password?.attached(value))
        };
        if is_secret { Some(0) } else { cluster().or_else(|| named(value)).or_else(|| behind_line(value)) }
    }

    /// Goes past a word of `length` characters, of which the first `kept` are no secret.
    fn goes_on(&mut self, value: &str, kept: Option<usize>, length: usize) {
        let name = value.trim_matches(|c| matches!(c, '"' | '\''));
        let option = kept.is_none_or(|kept| kept >= length)
            && !self.here
            && name.starts_with('-')
            && !name.contains(['=', ':', ' ', '/']);
        let first = self.last.is_empty() && !value.contains('=');
        let hidden = self.set && self.sets_hidden && self.hides;
        let is_name = kept.is_none() && (is_set_secret(name) || self.names_secret || hidden);
        let program = name.rsplit('/').next().unwrap_or_default();
        let password = PASSWORDS.iter().find(|row| row.programs.contains(&program)).or(self.password);
        let is_pair = self.pairs && kept.is_none() && !name.starts_with('-') && is_secret_name(name);
        // `printf 'TOKEN=%s' x`: the value is one of the further words.
        let format = kept.is_some_and(|kept| value.chars().nth(kept) == Some('%'));
        *self = Self {
            secret: option
                && (is_secret_name(name)
                    || self.password.is_some_and(|row| row.is_apart(name))
                    || self.curl && is_secret_of_curl(name))
                || self.arg && is_name
                || is_pair,
            cookie: option && self.curl && is_cookie_of_curl(name),
            of_login: Some(&OF_LOGIN).filter(|row| row.programs.contains(&program)).or(self.of_login),
            password: match name {
                "login" => self.of_login.or(password),
                // Options of what `sshpass` runs are that program's.
                _ if self.password.is_some() && kept.is_none() && !name.starts_with('-') => {
                    password.filter(|row| !row.in_front)
                }
                _ => password,
            },
            pairs: self.pairs || first && program == "rclone",
            hides: self.hides,
            sets_hidden: self.sets_hidden || first && program == "pulumi",
            // What is set may stand behind further options.
            given: self.given || format || self.set && is_name,
            user: option && (is_user_option(name) || self.curl && is_user_of_curl(name)),
            names_secret: name == "set" && matches!(self.last.as_str(), "secret" | "secrets")
                || self.names_secret && (value.starts_with('-') || value.contains('=')),
            set: matches!(name, "set" | "setenv" | "env:set" | "config:set" | "config")
                || name == "add" && self.last == "env"
                || self.set && value.starts_with('-'),
            arg: matches!(name, "--arg" | "--argjson"),
            list: kept == Some(length) && value.ends_with('='),
            curl: self.curl || first && program == "curl",
            last: name.to_owned(),
            here: false,
            listed: self.listed,
        };
    }
}

impl Password {
    /// How many characters of the word stand in front of a password right behind the letter: `-pS1`.
    fn attached(&self, word: &str) -> Option<usize> {
        let behind = word.strip_prefix('-')?.strip_prefix(self.letter)?;
        // `-p3306:3306` is of ports.
        let is_ports = behind.contains(':')
            && behind.bytes().all(|b| b.is_ascii_digit() || matches!(b, b':' | b'.' | b'/'));
        (!behind.is_empty() && !is_ports).then_some(2)
    }

    /// Whether the next word is a password: behind the letter, alone or the last of several.
    fn is_apart(&self, word: &str) -> bool {
        let letters = word.strip_prefix('-').unwrap_or_default();
        self.apart && letters.ends_with(self.letter) && letters.bytes().all(|b| b.is_ascii_alphabetic())
    }
}

/// Letters of curl that take no value (curl(1)).
const FLAGS_OF_CURL: &str = "0123469afgGiIjJklLnNOpqRsSvVZ#";

/// Whether an option of curl is given a secret, a long one that is shortened; the whole ones say so by their names.
fn is_secret_of_curl(option: &str) -> bool {
    const LONG: &str = "--oauth2-bearer";
    option.len() >= "--oau".len() && LONG.starts_with(option)
}

/// Whether an option of curl is given a cookie, or a file of them.
fn is_cookie_of_curl(option: &str) -> bool {
    let letters = option.strip_prefix('-').and_then(|letters| letters.strip_suffix('b'));
    letters.is_some_and(|letters| letters.chars().all(|c| FLAGS_OF_CURL.contains(c)))
        || option.len() >= "--coo".len() && "--cookie".starts_with(option)
}

/// Whether an option of curl is given a name and a password, the last letter of several, or a long one that is shortened
/// (curl(1)).
fn is_user_of_curl(option: &str) -> bool {
    let long = ["--user", "--proxy-user", "--cert", "--proxy-cert"];
    let short = option.strip_prefix('-').filter(|letters| letters.bytes().all(|b| b.is_ascii_alphabetic()));
    short.is_some_and(|letters| letters.ends_with(['u', 'U', 'E']))
        || option.len() >= 4 && long.iter().any(|full| full.starts_with(option))
}

/// How many characters stand in front of a cookie, or of a name and a password, right behind letters of curl's options:
/// `-Lsume:x`.
fn cluster_of_curl(word: &str) -> Option<usize> {
    let letters = word.strip_prefix('-').filter(|letters| !letters.starts_with('-'))?;
    let flags = letters.len() - letters.trim_start_matches(|c| FLAGS_OF_CURL.contains(c)).len();
    if letters[flags..].starts_with('b') && letters[flags..].contains('=') {
        return Some(flags + 2);
    }
    let at = letters.find(['u', 'U', 'E'])?;
    let plain = letters[..at].bytes().all(|b| b.is_ascii_alphabetic());
    (plain && letters[at..].contains(':')).then_some(at + 2)
}

/// Whether what is set by this name is a secret: `aws_secret_access_key`, `//host/:_authToken`.
fn is_set_secret(name: &str) -> bool {
    // `npm config set //host/:_auth`
    if name.ends_with("_auth") {
        return true;
    }
    let name: String =
        name.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect();
    ["token", "secret", "password", "accesskey"].iter().any(|ending| name.ends_with(ending))
}

/// The same as [`named`] where a line within the word begins with the name: `user=a\npassword=`.
fn behind_line(value: &str) -> Option<usize> {
    let lines = value.match_indices("\\n").map(|(at, end)| at + end.len());
    lines.take(LINES_MAX).find_map(|at| Some(value[..at].chars().count() + named(&value[at..])?))
}

/// How many characters of a word are in front of a secret that the word itself names: `--password=`, `Cookie: `,
/// `--header=X-Api-Key: `.
fn named(value: &str) -> Option<usize> {
    // `-ume:password`.
    if value.starts_with("-u") || value.starts_with("-U") {
        let (user, password) = value[2..].split_once(':').unwrap_or_default();
        if !user.is_empty() && !password.is_empty() && user.chars().all(|c| super::in_word(c) || c == '@') {
            return Some(2);
        }
    }
    let mut begin = 0;
    // A name may be what an option is given.
    for _ in 0..2 {
        let rest = &value[begin..];
        let sign = rest.find(|c: char| !super::in_word(c))?;
        let (name, behind) = rest.split_at(sign);
        // `NAME[0]=`
        let index = behind.strip_prefix('[').and_then(|index| index.find(']')).map_or(0, |end| end + 2);
        let length = index + if behind[index..].starts_with("+=") { 2 } else { 1 };
        if !behind[index..].starts_with(['=', ':']) && length == index + 1 {
            return None;
        }
        let blanks = |text: &str| text.len() - text.trim_start_matches([' ', '\t']).len();
        let mut at = begin + sign + length;
        if is_user_option(name) && value[at..].contains(':') {
            return Some(value[..at].chars().count());
        }
        if !is_secret_name(name) {
            begin = at;
            continue;
        }
        at += blanks(&value[at..]);
        // A list, or what is in braces, may go on in further words.
        if value[at..].starts_with(['[', '{']) {
            return None;
        }
        let scheme = SCHEMES.iter().find(|scheme| value[at..].starts_with(**scheme));
        at += scheme.map_or(0, |scheme| scheme.len());
        return Some(value[..at].chars().count());
    }
    None
}

/// A word that names no secret: what is in its quotes may be a command again.
fn inner(out: &mut String, text: &str, from: usize, word: &Word, depth: usize) {
    let mut at = from;
    for (begin, end, quote) in &word.quoted {
        let raw = &text[*begin..*end];
        if depth >= DEPTH_MAX || !raw.contains([' ', '\t', '\n']) {
            continue;
        }
        out.push_str(&text[at..*begin]);
        at = *end;
        // A quote in it that is not escaped belongs to a substitution.
        let escaped = raw.replace("\\\"", "");
        let quote = if escaped.contains('"') { &')' } else { quote };
        let plain = if *quote == '"' { raw.replace("\\\"", "\"") } else { raw.to_owned() };
        let kept = within(&plain, depth + 1);
        match (kept == plain, quote) {
            (true, _) => out.push_str(raw),
            (false, '"') => out.push_str(&kept.replace('"', "\\\"")),
            (false, _) => out.push_str(&kept),
        }
    }
    out.push_str(&text[at..word.end]);
}

fn is_end(c: char) -> bool {
    matches!(c, '\n' | ';' | '|' | '&' | '(' | ')' | '<' | '>' | '`')
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
    /// No single quote, or no double one, closes any more: each is a character like others.
    unclosed: (bool, bool),
    /// Substitutions are not told apart from what is around them: none closes any more, or it is too deep.
    flat: bool,
}

impl Reader<'_> {
    fn peek(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    /// Goes past a blank, or a line that goes on.
    fn skips_blank(&mut self, c: char) -> bool {
        let length = match c {
            ' ' | '\t' | '\r' => 1,
            '\\' if self.text[self.at..].starts_with("\\\n") => 2,
            _ => return false,
        };
        self.at += length;
        true
    }

    fn word(&mut self) -> Word {
        let mut word = Word::default();
        while let Some(c) = self.peek() {
            let rest = &self.text[self.at..];
            if rest.starts_with("\\\n") {
                self.at += 2;
                continue;
            }
            if let Some((length, closed)) = self.substitution(rest) {
                let begin = self.at;
                let inside = (begin + length, begin + closed, ')');
                word.quoted.push(inside);
                let chars = rest[..=closed].char_indices();
                word.chars.extend(chars.map(|(at, c)| (c, begin + at, None)));
                self.at = begin + closed + 1;
                continue;
            }
            if is_end(c) || matches!(c, ' ' | '\t' | '\r') {
                break;
            }
            let ansi = rest.starts_with("$'");
            let opens = usize::from(ansi || rest.starts_with("$\""));
            let quote = rest[opens..].chars().next().filter(|c| matches!(c, '"' | '\''));
            if let Some(quote) = quote
                && let Some(length) = self.closing(&rest[opens + 1..], quote, ansi)
            {
                let begin = self.at + opens + 1;
                word.quoted.push((begin, begin + length, quote));
                quoted(&mut word, &self.text[begin..begin + length], begin, quote, ansi);
                self.at = begin + length + 1;
                continue;
            }
            if c == '\\' {
                self.at += 1;
            }
            if let Some(c) = self.peek() {
                word.chars.push((c, self.at, None));
                self.at += c.len_utf8();
            }
        }
        word.end = self.at;
        word
    }

    /// The bytes that open the substitution which a text begins with, and where what closes it stands.
    fn substitution(&mut self, rest: &str) -> Option<(usize, usize)> {
        let (length, closer) = opened(rest).filter(|_| !self.flat)?;
        let end = end_of(&rest[length..], closer).map(|at| (length, length + at));
        self.flat |= end.is_none();
        end
    }

    /// How much stands in front of the quote that closes.
    fn closing(&mut self, rest: &str, quote: char, ansi: bool) -> Option<usize> {
        if quote == '"' && !self.flat {
            let closed = end_of(rest, '"');
            if closed.is_some() {
                return closed;
            }
            self.flat = true;
        }
        let has_escapes = quote == '"' || ansi;
        let given_up = if has_escapes { &mut self.unclosed.1 } else { &mut self.unclosed.0 };
        if *given_up {
            return None;
        }
        let mut escaped = false;
        for (at, c) in rest.char_indices() {
            match c {
                _ if escaped => escaped = false,
                '\\' if has_escapes => escaped = true,
                c if c == quote => return Some(at),
                _ => {}
            }
        }
        *given_up = true;
        None
    }
}

/// The bytes that open a substitution, and what closes it.
fn opened(text: &str) -> Option<(usize, char)> {
    let pairs = [("$(", ')'), ("<(", ')'), (">(", ')'), ("${", '}'), ("`", '`')];
    pairs.into_iter().find(|(open, _)| text.starts_with(open)).map(|(open, closer)| (open.len(), closer))
}

/// Where the quote or the substitution ends that `closer` closes, with what is nested in it left out.
fn end_of(text: &str, closer: char) -> Option<usize> {
    let mut open = vec![closer];
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        let innermost = *open.last()?;
        let next = at + c.len_utf8();
        if c == innermost {
            open.pop();
            if open.is_empty() {
                return Some(at);
            }
            at = next;
            continue;
        }
        let in_quotes = innermost == '"';
        // No process substitution is one within quotes.
        let nested = opened(&text[at..]).filter(|_| !in_quotes || matches!(c, '$' | '`'));
        at = match (c, nested) {
            ('\\', _) => next + text[next..].chars().next().map_or(0, char::len_utf8),
            ('\'', _) if !in_quotes => text[next..].find('\'').map_or(next, |end| next + end + 1),
            (_, Some((length, closer))) => {
                open.push(closer);
                at + length
            }
            ('"', _) => {
                open.push('"');
                next
            }
            ('(', _) if innermost == ')' => {
                open.push(')');
                next
            }
            _ => next,
        };
        if open.len() > NESTED_MAX {
            return None;
        }
    }
    None
}

/// What a program gets of what is in quotes; an escape stays as it is but for its backslash.
fn quoted(word: &mut Word, text: &str, begin: usize, quote: char, ansi: bool) {
    let mut escaped = false;
    for (at, c) in text.char_indices() {
        if c == '\\' && !escaped && (ansi || quote == '"') {
            escaped = true;
            continue;
        }
        let start = if escaped { begin + at - 1 } else { begin + at };
        if !(escaped && c == '\n' && quote == '"') {
            word.chars.push((c, start, Some(quote)));
        }
        escaped = false;
    }
}
