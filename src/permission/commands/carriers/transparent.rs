//! The few programs behind which a rule may allow the command that they run.

/// The command inside of `timeout nice nohup stdbuf time command builtin`, for *allow* only: `None` when the
/// program is another one or has options that are not listed here, spelt in full.
///
/// Sources: coreutils 9.1, sections 23.4 to 23.6 and 24.1; the bash 5.2 manual, 3.2.3 and 4.2.
pub(crate) fn transparent(words: &[String]) -> Option<&[String]> {
    let (program, arguments) = words.split_first()?;
    let inner = match program.as_str() {
        "timeout" => timeout(arguments)?,
        "nice" => nice(arguments)?,
        "stdbuf" => stdbuf(arguments)?,
        "nohup" | "builtin" | "command" => behind_dashes(arguments),
        "time" => match arguments {
            [option, rest @ ..] if option == "-p" => rest,
            _ => arguments,
        },
        _ => return None,
    };
    let first = inner.first()?;
    // Another program than the builtin of that name, and one that leaves the shell where it is.
    let other_cd = first == "cd" && !matches!(program.as_str(), "command" | "builtin" | "time");
    let is_name = !first.is_empty() && !first.starts_with('-') && !first.contains('=');
    (is_name && !other_cd).then_some(inner)
}

fn timeout(mut words: &[String]) -> Option<&[String]> {
    loop {
        let (first, rest) = words.split_first()?;
        words = match first.as_str() {
            "--preserve-status" | "--foreground" | "--verbose" | "-v" => rest,
            "-s" | "--signal" => behind(rest, is_signal)?,
            "-k" | "--kill-after" => behind(rest, is_duration)?,
            word if attached(word, &["-s", "--signal="], is_signal) => rest,
            word if attached(word, &["-k", "--kill-after="], is_duration) => rest,
            word => return is_duration(word).then_some(rest),
        };
    }
}

fn nice(words: &[String]) -> Option<&[String]> {
    let inner = match words {
        [first, rest @ ..] if first == "-n" || first == "--adjustment" => behind(rest, is_integer)?,
        [first, rest @ ..] if attached(first, &["-n", "--adjustment="], is_integer) => rest,
        // The form of old, `-5`.
        [first, rest @ ..] if attached(first, &["-"], is_number) => rest,
        _ => words,
    };
    Some(behind_dashes(inner))
}

/// The words without the `--` that ends options.
fn behind_dashes(words: &[String]) -> &[String] {
    match words {
        [dashes, rest @ ..] if dashes == "--" => rest,
        _ => words,
    }
}

fn stdbuf(mut words: &[String]) -> Option<&[String]> {
    let mut options = 0;
    loop {
        let (first, rest) = words.split_first()?;
        words = match first.as_str() {
            "-i" | "-o" | "-e" | "--input" | "--output" | "--error" => behind(rest, is_buffering)?,
            word if attached(
                word,
                &["-i", "-o", "-e", "--input=", "--output=", "--error="],
                is_buffering,
            ) =>
            {
                rest
            }
            _ => return (options > 0).then_some(behind_dashes(words)),
        };
        options += 1;
    }
}

fn behind(words: &[String], is_value: fn(&str) -> bool) -> Option<&[String]> {
    let (value, rest) = words.split_first()?;
    is_value(value).then_some(rest)
}

fn attached(word: &str, options: &[&str], is_value: fn(&str) -> bool) -> bool {
    options.iter().filter_map(|option| word.strip_prefix(option)).any(is_value)
}

fn is_duration(text: &str) -> bool {
    let number = text.strip_suffix(['s', 'm', 'h', 'd']).unwrap_or(text);
    let digits = |part: &str| part.bytes().all(|b| b.is_ascii_digit());
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    digits(whole) && digits(fraction) && number.contains(|c: char| c.is_ascii_digit())
}

fn is_signal(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit())
}

fn is_integer(text: &str) -> bool {
    is_number(text.strip_prefix(['-', '+']).unwrap_or(text))
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
}

fn is_buffering(text: &str) -> bool {
    text == "L" || (!text.is_empty() && text.bytes().all(|b| b.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inside(text: &str) -> Option<String> {
        let words: Vec<String> = text.split(' ').map(str::to_owned).collect();
        transparent(&words).map(|inner| inner.join(" "))
    }

    #[test]
    fn simple_forms_are_looked_through() {
        for (text, want) in [
            ("timeout 5 ls -l", "ls -l"),
            ("timeout 2.5m ls", "ls"),
            ("timeout -k1 5 ls", "ls"),
            ("timeout -k 1s -s KILL 5 ls", "ls"),
            ("timeout --signal=TERM --foreground 5 ls", "ls"),
            ("nice ls", "ls"),
            ("nice -n 5 ls", "ls"),
            ("nice -n-5 ls", "ls"),
            ("nice --adjustment=5 ls", "ls"),
            ("nice -5 ls", "ls"),
            ("nice -5 -- ls", "ls"),
            ("nohup ls", "ls"),
            ("nohup -- ls", "ls"),
            ("command -- ls", "ls"),
            ("stdbuf -e0 -- ls", "ls"),
            ("stdbuf -oL -e 0 ls", "ls"),
            ("stdbuf --output=L ls", "ls"),
            ("time ls", "ls"),
            ("time -p ls", "ls"),
            ("command ls", "ls"),
            ("builtin cd x", "cd x"),
            ("timeout 5 nice ls", "nice ls"),
        ] {
            assert_eq!(inside(text).as_deref(), Some(want), "{text}");
        }
    }

    #[test]
    fn anything_else_is_not() {
        for text in [
            "timeout",
            "timeout 5",
            "timeout ls 5",
            "timeout --sig KILL 5 ls",
            "timeout -x 5 ls",
            "timeout 5 -k ls",
            "timeout . ls",
            "nice -5x ls",
            "nice -- -5 ls",
            "nice -5 -5 ls",
            "stdbuf -- ls",
            "nohup -- -- ls",
            "nohup --",
            "nice -n x ls",
            "nice",
            "nohup --version",
            "stdbuf ls",
            "stdbuf -o ls",
            "time -o f ls",
            "time -v ls",
            "command -v ls",
            "command -p ls",
            "command",
            "env ls",
            "sudo ls",
            "xargs ls",
            "/usr/bin/timeout 5 ls",
            "./timeout 5 ls",
            "exec ls",
            "timeout 5 A=1",
            "timeout 5 cd x",
            "nice cd x",
            "",
        ] {
            assert_eq!(inside(text), None, "{text}");
        }
    }
}
