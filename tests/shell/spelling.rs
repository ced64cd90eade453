//! The many ways in which bash lets one write a word.

use crate::random::Random;

/// Writes a plain word in a way that bash reads as that word.
pub(crate) fn spelt(word: &str, random: &mut Random) -> String {
    let chars: Vec<char> = word.chars().collect();
    let cut = random.below(chars.len().max(1));
    let (head, tail): (String, String) = (chars[..cut].iter().collect(), chars[cut..].iter().collect());
    match random.below(22) {
        0 => format!("'{word}'"),
        1 => format!("\"{word}\""),
        2 => format!("{head}\\{tail}"),
        3 => format!("{head}''{tail}"),
        4 => format!("{head}\"\"{tail}"),
        5 => format!("{head}'{tail}'"),
        6 => format!("\"{head}\"{tail}"),
        7 => format!("{head}\\\n{tail}"),
        8 => format!("\"{head}\\\n{tail}\""),
        9 => format!("$'{}'", escaped(&chars, random)),
        10 => format!("{head}$'{}'", escaped(&chars[cut..], random)),
        11 => format!("$\"{word}\""),
        12 => format!("{head}$''{tail}"),
        13 => format!("${{nothing:-{word}}}"),
        14 => format!("\"${{nothing-{word}}}\""),
        15 => format!("$(echo {word})"),
        16 => format!("`echo {word}`"),
        17 => format!("\"$(printf %s {word})\""),
        18 => format!("{head}$nothing{tail}"),
        19 => format!("{head}${{nothing}}{tail}"),
        20 => format!("{head}$@{tail}"),
        _ => chars.iter().flat_map(|c| ['\\', *c]).collect(),
    }
}

/// The inside of `$'…'`.
fn escaped(chars: &[char], random: &mut Random) -> String {
    let escape = |c: &char| {
        let code = u32::from(*c);
        match random.below(6) {
            0 => format!("\\x{code:x}"),
            1 if code < 128 => format!("\\{code:03o}"),
            2 => format!("\\u{code:04x}"),
            3 => format!("\\U{code:08x}"),
            4 if c.is_ascii_alphanumeric() => format!("\\x{code:02X}"),
            _ => c.to_string(),
        }
    };
    chars.iter().map(escape).collect::<Vec<_>>().concat()
}

/// A word that some expansion of bash turns into others.
pub(crate) fn expanding(random: &mut Random, inner: &str) -> String {
    match random.below(40) {
        0 => "$x".to_owned(),
        1 => "\"$x\"".to_owned(),
        2 => format!("${{x:-$({inner})}}"),
        3 => format!("\"${{x:+a}}${{y:=$({inner})}}\""),
        4 => format!("${{x/a/$({inner})}}"),
        5 => "${x@P}".to_owned(),
        6 => format!("$(( a[$({inner})] ))"),
        7 => format!("$[ $({inner}) + 1 ]"),
        8 => format!("$({inner})"),
        9 => format!("`{inner}`"),
        10 => format!("\"$({inner})\""),
        11 => format!("\"`{inner}`\""),
        12 => format!("<({inner})"),
        13 => format!(">({inner})"),
        14 => "{a,b}".to_owned(),
        15 => "{1..3}".to_owned(),
        16 => format!("{{$({inner}),b}}"),
        17 => "*".to_owned(),
        18 => "p?".to_owned(),
        19 => "[a-z]*".to_owned(),
        20 => "~".to_owned(),
        21 => "~/x".to_owned(),
        22 => "~+".to_owned(),
        23 => "$#$?$$$!".to_owned(),
        24 => "${!x}".to_owned(),
        25 => "${!x*}".to_owned(),
        26 => format!("${{x:$(({inner}))}}"),
        27 => format!("${{x:a[$({inner})]:1}}"),
        28 => "${a[@]}".to_owned(),
        29 => format!("${{a[$({inner})]}}"),
        30 => format!("${{#a[$({inner})]}}"),
        31 => "${x^^}".to_owned(),
        32 => "$IFS".to_owned(),
        33 => "!!".to_owned(),
        34 => "$'a\\'b'".to_owned(),
        35 => format!("${{x%$({inner})}}"),
        36 => "$(<in)".to_owned(),
        37 => format!("$({inner} # it's )\n)"),
        38 => format!("$(case a in a) {inner};; esac)"),
        _ => format!("\"${{x:-\"$({inner})\"}}\""),
    }
}

/// White space between words, mostly plain.
pub(crate) fn blank(random: &mut Random, spice: usize) -> &'static str {
    if !random.chance(spice) {
        return " ";
    }
    random.pick(&[
        "  ", "\t", " \t ", "\\\n", " \\\n ", "\\\n\\\n", " \r", "\u{b}", "\u{c}", "\u{a0}", "\u{2003}",
        "$IFS",
    ])
}

/// An argument that means itself.
pub(crate) fn plain(random: &mut Random) -> String {
    let word = random.pick(&[
        "a",
        "b",
        "x",
        "-r",
        "-rf",
        "--",
        "--help",
        "-c",
        "in",
        "a/b",
        "./a",
        "/etc/x",
        "x=1",
        "é",
        "{}",
        "+x",
        "1",
        "rm",
        "p1",
        "%1",
        "a,b",
        "@",
        "a:b",
        "-",
        "other",
        "]",
        "!",
        "}",
        "a=b",
        "in",
        "do",
        "done",
        "then",
        "HEAD~1",
        "a#b",
        "^a",
        "a^b",
        "{a",
        "a}",
        "a\\ b",
        "'a b'",
        "\"a  b\"",
        "''",
        "'$x'",
        "'`p1`'",
        "\\$x",
        "\"\\$(p1)\"",
        "'#'",
        "\\#",
        "'*'",
        "a\\*",
        "'a\nb'",
        "\"a\nb\"",
        "\"a\\\"b\"",
        "'~'",
        "\\~",
        "\"a'b\"",
        "'a\"b'",
        "\\\\",
        "\"\\\\\"",
        "\"\\a\"",
        "\"!\"",
        "=",
        "==",
        "ﬁ",
        "\\;",
        "\\&",
        "\"|\"",
        "'>'",
        "=~",
        "=a",
    ]);
    word.to_owned()
}
