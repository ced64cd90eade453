//! Variables that change nothing but what a program prints.

/// Whether setting the variable in front of a command changes nothing about what is run, read or written.
///
/// A short list, and plain values only: a locale with a slash in it is a path, and so are some time zones and
/// terminal types.
pub(crate) fn is_harmless_variable(name: &str, value: &str) -> bool {
    const MAX_VALUE: usize = 128;
    let digits = || !value.is_empty() && value.bytes().all(|b| b.is_ascii_digit());
    let plain = |extra: &str| {
        value.len() <= MAX_VALUE && value.chars().all(|c| c.is_ascii_alphanumeric() || extra.contains(c))
    };
    let one_of = |values: &[&str]| values.contains(&value);
    match name {
        // ISO 639 names in a list.
        "LANGUAGE" => plain("_.@-:") && !value.contains(".."),
        // setlocale(3). In some encodings a byte behind a letter is no backslash, quote or bar any more, so a program's
        // argument would be read otherwise than it is here.
        "LANG" | "LC_ALL" | "LC_COLLATE" | "LC_CTYPE" | "LC_MESSAGES" | "LC_MONETARY" | "LC_NUMERIC"
        | "LC_TIME" => plain("_.-") && (matches!(value, "" | "C" | "POSIX") || is_utf8(value)),
        // tzset(3): a leading colon or slash is a file.
        "TZ" => plain("_+-/,.") && !value.starts_with('/') && !value.contains(".."),
        // https://no-color.org, https://force-color.org, https://bixense.com/clicolors; go.dev, "Optional environment variables".
        "NO_COLOR" | "FORCE_COLOR" | "CLICOLOR" | "CLICOLOR_FORCE" | "CI" | "GOOS" | "GOARCH"
        | "LOG_LEVEL" => plain(""),
        // terminfo(5) reads a file of that name.
        "TERM" => one_of(&["dumb", "ansi", "linux", "vt100", "xterm", "xterm-256color"]),
        // Where servers listen by the custom of twelve-factor apps; go.dev, "runtime"; the Cargo book, "build.jobs";
        // docs.python.org, "Environment variables"; git(1); pip.pypa.io; consoledonottrack.com; nextjs.org, "Telemetry".
        "COLUMNS"
        | "LINES"
        | "RUST_TEST_THREADS"
        | "PORT"
        | "GOMAXPROCS"
        | "CARGO_BUILD_JOBS"
        | "PYTHONUNBUFFERED"
        | "PYTHONDONTWRITEBYTECODE"
        | "PYTHONHASHSEED"
        | "GIT_TERMINAL_PROMPT"
        | "PIP_NO_INPUT"
        | "DO_NOT_TRACK"
        | "NEXT_TELEMETRY_DISABLED" => digits(),
        "DEBUG" | "VERBOSE" => one_of(&["0", "1", "true", "false"]),
        // std::backtrace; the Cargo book, "Environment Variables"; the rustc book, "Tests".
        "RUST_BACKTRACE" | "RUST_LIB_BACKTRACE" => one_of(&["0", "1", "full", "short"]),
        "RUST_LOG" => plain("_-:=,"),
        "CARGO_TERM_COLOR" => one_of(&["always", "never", "auto"]),
        // pkg.go.dev, "cmd/cgo".
        "CARGO_INCREMENTAL" | "CGO_ENABLED" => one_of(&["0", "1"]),
        // nodejs.org, "The difference between development and production".
        "NODE_ENV" => one_of(&["production", "development", "test"]),
        // git(1), git-var(1), environ(7): what shows long output. Other values are programs; to git none is `cat`.
        "PAGER" => one_of(&["cat"]),
        "GIT_PAGER" => one_of(&["cat", ""]),
        // git(1): what only reads leaves the index alone.
        "GIT_OPTIONAL_LOCKS" => one_of(&["0"]),
        // debconf(7).
        "DEBIAN_FRONTEND" => one_of(&["noninteractive"]),
        _ => false,
    }
}

/// Whether it is the name of a locale in UTF-8 (`en_US.UTF-8`, `C.utf8`).
fn is_utf8(locale: &str) -> bool {
    let encoding = locale.split_once('.').map_or("", |(_, encoding)| encoding);
    encoding.eq_ignore_ascii_case("utf-8") || encoding.eq_ignore_ascii_case("utf8")
}

/// Whether the name is one that scripts give their own variables: lower case, and no element of an array.
pub(super) fn is_own_name(name: &str) -> bool {
    name == "REPLY"
        || (name.starts_with(|c: char| c.is_ascii_lowercase() || c == '_')
            && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
            && name != "_")
}

/// The words behind leading assignments (`A=1 b=2 rm x`), and whether one of those may change what is run.
pub(super) fn behind_assignments(words: &[String]) -> (&[String], bool) {
    let mut steers = false;
    let mut rest = words;
    while let [first, after @ ..] = rest
        && let Some((name, value)) = first.split_once('=')
    {
        steers |= !is_harmless_variable(name, value);
        rest = after;
    }
    (rest, steers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_changes_no_program_is_harmless() {
        for (name, value, want) in [
            ("LC_ALL", "C", true),
            ("LC_ALL", "en_US.UTF-8", true),
            ("LANG", "", true),
            ("LC_ALL", "../../ws/locale", false),
            ("LC_ALL", "/ws/locale", false),
            ("LC_ALL", "C..", false),
            ("LC_ALL", "C.utf8", true),
            ("LC_CTYPE", "zh_CN.GBK", false),
            ("LC_ALL", "ja_JP.SJIS", false),
            ("LANG", "zh_TW", false),
            ("LANGUAGE", "de:en", true),
            ("TZ", "UTC", true),
            ("TZ", "Europe/Berlin", true),
            ("TZ", ":/ws/zone", false),
            ("TZ", "/ws/zone", false),
            ("TZ", "../x", false),
            ("NO_COLOR", "1", true),
            ("NO_COLOR", "$(x)", false),
            ("FORCE_COLOR", "0", true),
            ("TERM", "dumb", true),
            ("TERM", "../evil", false),
            ("CI", "true", true),
            ("RUST_BACKTRACE", "full", true),
            ("RUST_BACKTRACE", "x", false),
            ("RUST_LOG", "debug,hyper=info", true),
            ("COLUMNS", "80", true),
            ("COLUMNS", "a[0]", false),
            ("PORT", "3000", true),
            ("PORT", "./x", false),
            ("PYTHONUNBUFFERED", "1", true),
            ("PYTHONPATH", "1", false),
            ("DEBUG", "1", true),
            ("DEBUG", "x", false),
            ("LOG_LEVEL", "debug", true),
            ("LOG_LEVEL", "a/b", false),
            ("RAILS_ENV", "production", false),
            ("CARGO_TERM_COLOR", "never", true),
            ("CGO_ENABLED", "0", true),
            ("CGO_ENABLED", "x", false),
            ("GOOS", "linux", true),
            ("GOOS", "../x", false),
            ("NODE_ENV", "test", true),
            ("NODE_ENV", "../x", false),
            ("PAGER", "cat", true),
            ("GIT_PAGER", "cat", true),
            ("GIT_PAGER", "cat;x", false),
            ("GIT_PAGER", "./cat", false),
            ("GIT_PAGER", "", true),
            ("PAGER", "", false),
            ("GIT_OPTIONAL_LOCKS", "0", true),
            ("GIT_OPTIONAL_LOCKS", "1", false),
            ("GIT_OPTIONAL_LOCKS", "", false),
        ] {
            assert_eq!(is_harmless_variable(name, value), want, "{name}={value}");
        }
        for name in [
            "PATH",
            "LD_PRELOAD",
            "LD_LIBRARY_PATH",
            "LD_AUDIT",
            "BASH_ENV",
            "ENV",
            "IFS",
            "PS4",
            "SHELLOPTS",
            "BASHOPTS",
            "PROMPT_COMMAND",
            "CDPATH",
            "HOME",
            "SHELL",
            "PAGER",
            "EDITOR",
            "VISUAL",
            "BROWSER",
            "LESSOPEN",
            "LOCPATH",
            "NLSPATH",
            "TERMINFO",
            "TZDIR",
            "POSIXLY_CORRECT",
            "GCONV_PATH",
            "GIT_PAGER",
            "GIT_DIR",
            "GIT_SSH_COMMAND",
            "GIT_CONFIG_COUNT",
            "PYTHONPATH",
            "PYTHONSTARTUP",
            "PERL5LIB",
            "PERL5OPT",
            "RUBYOPT",
            "NODE_OPTIONS",
            "NODE_PATH",
            "RUSTFLAGS",
            "RUSTC_WRAPPER",
            "RUSTC",
            "CARGO_HOME",
            "RUSTUP_TOOLCHAIN",
            "MAKEFLAGS",
            "CC",
            "TMPDIR",
            "RIPGREP_CONFIG_PATH",
            "GREP_OPTIONS",
            "npm_config_script_shell",
            "FOO",
            "",
        ] {
            assert!(!is_harmless_variable(name, "1"), "{name}");
        }
    }

    #[test]
    fn own_names_are_lower_case() {
        for (name, want) in
            [("x", true), ("line_2", true), ("REPLY", true), ("PATH", false), ("_", false), ("a[0]", false)]
        {
            assert_eq!(is_own_name(name), want, "{name}");
        }
    }
}
