//! Why an exact match failed: the nearest place in the text and the kind of difference there.

use crate::domain::visible;

/// The most line comparisons made for one explanation.
const COMPARISONS_MAX: usize = 2_000_000;
/// The longest piece of a line that is quoted, in characters.
const QUOTED_CHARS: usize = 200;

/// A way to look at a line in which some kind of difference disappears.
struct Lens {
    what: &'static str,
    see: fn(&str) -> String,
}

const LENSES: &[Lens] = &[
    Lens { what: "trailing whitespace", see: |line| line.trim_end().to_owned() },
    Lens { what: "whitespace (indentation, tabs or spaces)", see: without_space },
    Lens { what: "the kind of quotes or dashes", see: plain_quotes },
    Lens {
        what: "whitespace and the kind of quotes or dashes",
        see: |line| without_space(&plain_quotes(line)),
    },
    Lens { what: "upper and lower case", see: |line| without_space(&plain_quotes(line)).to_lowercase() },
];

/// Says, for a model, where `text` comes nearest to `old` and how they differ. `old` does not occur in `text`;
/// `what` is how the model knows it (`old_string`).
pub(in crate::tools) fn describe_nearest(text: &str, old: &str, what: &str) -> String {
    if old.contains('\r') && text.contains(&old.replace("\r\n", "\n")) {
        return format!("It would match with LF line ends: {what} has CR LF and the file has not.");
    }
    if let Some(stripped) = without_line_numbers(old)
        && text.contains(&stripped)
    {
        return format!(
            "{what} has the line numbers that Read shows; leave them and the tab after them out."
        );
    }
    let file: Vec<&str> = text.lines().collect();
    let wanted: Vec<&str> = old.lines().collect();
    if wanted.iter().all(|line| line.trim().is_empty()) {
        return format!("{what} is nothing but whitespace, and the file has no such run of it.");
    }
    for lens in LENSES {
        if let Some(start) = find_through(lens, &file, &wanted) {
            let difference = first_difference(&file, &wanted, start, what);
            return format!("Nearest is line {}: it differs only in {}. {difference}", start + 1, lens.what);
        }
    }
    match most_alike(&file, &wanted) {
        Some(start) => {
            format!("Nearest is line {}. {}", start + 1, first_difference(&file, &wanted, start, what))
        }
        None => format!("No line of {what} occurs in the file."),
    }
}

/// The first window of lines that equals `wanted` through the lens. First and last line may be pieces of lines.
fn find_through(lens: &Lens, file: &[&str], wanted: &[&str]) -> Option<usize> {
    let wanted: Vec<String> = wanted.iter().map(|line| (lens.see)(line)).collect();
    let file: Vec<String> = file.iter().map(|line| (lens.see)(line)).collect();
    let last = wanted.len().checked_sub(1)?;
    let mut budget = COMPARISONS_MAX;
    for start in 0..=file.len().checked_sub(wanted.len())? {
        let matches = wanted.iter().enumerate().all(|(index, line)| {
            budget = budget.saturating_sub(1);
            let there = &file[start + index];
            match index {
                0 if last == 0 => !line.is_empty() && there.contains(line.as_str()),
                0 => there.ends_with(line.as_str()),
                _ if index == last => there.starts_with(line.as_str()),
                _ => there == line,
            }
        });
        if matches {
            return Some(start);
        }
        if budget == 0 {
            return None;
        }
    }
    None
}

/// Where the most lines of `wanted` stand at their place, blank ones aside.
fn most_alike(file: &[&str], wanted: &[&str]) -> Option<usize> {
    let mut places: std::collections::HashMap<&str, Vec<usize>> = std::collections::HashMap::new();
    for (index, line) in wanted.iter().enumerate().filter(|(_, line)| line.trim().len() > 1) {
        places.entry(line.trim()).or_default().push(index);
    }
    let mut votes: std::collections::HashMap<usize, usize> = std::collections::HashMap::new();
    let mut budget = COMPARISONS_MAX;
    for (at, line) in file.iter().enumerate() {
        for index in places.get(line.trim()).into_iter().flatten() {
            budget = budget.checked_sub(1)?;
            if let Some(start) = at.checked_sub(*index) {
                *votes.entry(start).or_default() += 1;
            }
        }
    }
    votes.into_iter().max_by_key(|(start, count)| (*count, std::cmp::Reverse(*start))).map(|(start, _)| start)
}

fn first_difference(file: &[&str], wanted: &[&str], start: usize, what: &str) -> String {
    let last = wanted.len().saturating_sub(1);
    let differs = |index: usize, line: &str| match file.get(start + index) {
        None => true,
        Some(there) if index == 0 && last == 0 => !there.contains(line),
        Some(there) if index == 0 => !there.ends_with(line),
        Some(there) if index == last => !there.starts_with(line),
        Some(there) => *there != line,
    };
    let Some((index, line)) = wanted.iter().enumerate().find(|(index, line)| differs(*index, line)) else {
        return "The lines are alike; the difference is in the line ends.".to_owned();
    };
    let there = match file.get(start + index) {
        Some(there) => format!("`{}`", quoted(there)),
        None => "nothing (the end)".to_owned(),
    };
    format!("Line {} of the file is {there}, {what} has `{}`.", start + index + 1, quoted(line))
}

/// Tabs and other blanks are told apart, so that a difference in them can be seen.
fn quoted(line: &str) -> String {
    let line: String = line.chars().take(QUOTED_CHARS).collect();
    line.split(' ').map(visible::again).collect::<Vec<_>>().join(" ")
}

fn without_space(line: &str) -> String {
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn plain_quotes(line: &str) -> String {
    line.chars()
        .map(|c| match c {
            '\u{2018}' | '\u{2019}' | '\u{201A}' | '\u{201B}' | '`' | '\u{B4}' => '\'',
            '\u{201C}' | '\u{201D}' | '\u{201E}' | '\u{AB}' | '\u{BB}' => '"',
            '\u{2010}'..='\u{2015}' | '\u{2212}' => '-',
            '\u{A0}' | '\u{202F}' | '\u{2009}' => ' ',
            other => other,
        })
        .collect()
}

/// The text without the numbers that Read puts before each line; `None` when a line has none.
fn without_line_numbers(old: &str) -> Option<String> {
    let mut out = String::new();
    for line in old.split_inclusive('\n') {
        let rest = line.trim_start().trim_start_matches(|c: char| c.is_ascii_digit());
        let numbered = rest.len() < line.trim_start().len();
        out.push_str(rest.strip_prefix(['\t', '→']).filter(|_| numbered)?);
    }
    (!out.is_empty()).then_some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kind_of_difference_and_its_line() {
        let text = "fn main() {\n\tlet name = \"x\";\n    call(name);\n}\n";
        let cases = [
            ("    let name = \"x\";", "line 2: it differs only in whitespace", "`\\tlet name = \"x\";`"),
            ("let name = \u{201C}x\u{201D};", "line 2: it differs only in the kind of quotes", "\u{201C}x"),
            ("fn main() { \n\tlet name", "line 1: it differs only in trailing whitespace", "`fn main() { `"),
            ("LET NAME = \"x\";", "line 2: it differs only in upper and lower case", "LET NAME"),
            ("fn main() {\n\tlet other = 1;\n    call(name);", "Nearest is line 1.", "Line 2 of the file is"),
            ("fn main() {\r\n\tlet", "old_string has CR LF", ""),
            ("     2\t\tlet name = \"x\";\n     3\t    call(name);", "line numbers that Read shows", ""),
            ("nothing of this", "No line of old_string occurs", ""),
            ("\n\n\n", "nothing but whitespace", ""),
        ];
        for (old, says, quotes) in cases {
            let answer = describe_nearest(text, old, "old_string");
            assert!(answer.contains(says) && answer.contains(quotes), "{old:?}: {answer}");
        }
        assert!(describe_nearest("", "x", "old_string").contains("No line"));
    }

    #[test]
    fn a_huge_repetitive_file_is_explained_in_bounded_time() {
        let text = "same line\n".repeat(200_000);
        let old = "same line\n".repeat(1_000) + "other";
        assert!(describe_nearest(&text, &old, "old_string").len() < 1_000);
    }
}
