//! Makes outside text safe and honest to look at: nothing in it can hide, move or colour, and two texts never look the
//! same.

use std::borrow::Cow;
use std::fmt::Write as _;

use super::hunks;
use unicode_general_category::{GeneralCategory as Category, get_general_category};
use unicode_width::UnicodeWidthChar as _;

/// A run of one blank that is longer than this is folded: padding pushes what matters out of sight.
const BLANKS_KEPT: usize = 16;
/// Most marks on one letter: further ones are drawn over what stands around it.
const MARKS_KEPT: usize = 3;
/// Around the length of what is folded; in a text itself they are escaped.
const FOLDED: (char, char) = ('⟨', '⟩');

/// The text on one line: control, bidirectional, zero-width, blank and other characters that cannot be told by
/// looking are written as escapes, long padding is folded and its length said (`⟨500 spaces⟩`). A backslash is
/// doubled where it would read as the beginning of an escape otherwise: no other text is shown the same.
pub fn one_line(text: &str) -> String {
    show(text, How { lines: false, kind: Kind::Raw })
}

/// The same, but line breaks and tabs stay.
pub fn lines(text: &str) -> String {
    show(text, How { lines: true, kind: Kind::Raw })
}

/// The same for JSON, in which every backslash is doubled already.
pub fn json(text: &str) -> String {
    show(text, How { lines: false, kind: Kind::Json })
}

/// A unified diff: what it changes as by [`lines`], what it says itself as by [`lines_again`], since the names in it
/// are escaped where it is made.
pub fn diff(text: &str) -> String {
    let shown = |(line, within)| if within { lines(line) } else { lines_again(line) };
    hunks::lines(text).map(shown).collect()
}

/// A text that should have been through [`one_line`] where it comes from, which stays as it is then. From elsewhere
/// it is as safe, but what looks like an escape may have been written as that.
pub fn again(text: &str) -> String {
    show(text, How { lines: false, kind: Kind::Shown })
}

/// The same for [`lines`].
pub fn lines_again(text: &str) -> String {
    show(text, How { lines: true, kind: Kind::Shown })
}

/// [`one_line`], cut after `max` characters with a count of what was left out.
pub fn clipped(text: &str, max: usize) -> String {
    cut(one_line(text), max)
}

/// [`again`], cut likewise.
pub fn clipped_again(text: &str, max: usize) -> String {
    cut(again(text), max)
}

/// What one of these functions made, with letters of scripts that are written from right to left escaped too: terminals
/// draw a text with such letters in another order than it has, so that `mv א ב` could be read as `mv ב א`. For what a
/// person decides on; a name that a program is told stays as it is.
pub fn left_to_right(shown: &str) -> Cow<'_, str> {
    if !shown.contains(is_right_to_left) {
        return Cow::Borrowed(shown);
    }
    let mut out = String::with_capacity(shown.len() * 2);
    let mut backslashes = 0;
    for c in shown.chars() {
        if is_right_to_left(c) {
            // Or the last of them would belong to the escape.
            out.extend(std::iter::repeat_n('\\', backslashes));
            escape(&mut out, c);
            backslashes = 0;
            continue;
        }
        backslashes = if c == '\\' { backslashes + 1 } else { 0 };
        out.push(c);
    }
    Cow::Owned(out)
}

/// Whether the character is strong from right to left, or unassigned where such ones are (UAX 9, DerivedBidiClass.txt).
fn is_right_to_left(c: char) -> bool {
    matches!(
        c,
        '\u{590}'..='\u{8ff}'
            | '\u{fb1d}'..='\u{fdff}'
            | '\u{fe70}'..='\u{feff}'
            | '\u{10800}'..='\u{10fff}'
            | '\u{1e800}'..='\u{1efff}'
    )
}

fn cut(shown: String, max: usize) -> String {
    let total = shown.chars().count();
    if total <= max {
        return shown;
    }
    let kept: String = shown.chars().take(max).collect();
    format!("{kept}… ({} more characters)", total - max)
}

/// Whether something other than line breaks and tabs is in the text that has to be escaped to be seen.
pub fn hides(text: &str) -> bool {
    if text.is_ascii() {
        return text.bytes().any(|b| b.is_ascii_control() && b != b'\n' && b != b'\t');
    }
    let mut looks = Looks::default();
    // Not `any` alone: what stands in front counts.
    text.chars().any(|c| looks.hides(c) && c != '\n' && c != '\t')
}

/// The same, but for what is part of a picture: whether it has colours (U+FE0F), the tone of a skin, what joins two of
/// them, and the box around a digit (UTS 51, 1.4); and for joiners where scripts cannot do without: between Arabic letters,
/// and behind a sign that takes the vowel off an Indic letter (UAX 31, 2.3.1).
pub fn hides_more_than_scripts_need(text: &str) -> bool {
    let is_picture = |c: &char| {
        matches!(c, '\u{a9}' | '\u{ae}' | '\u{203c}'..='\u{3299}' | '\u{1f000}'..='\u{1faff}')
            && get_general_category(*c) != Category::EnclosingMark
    };
    let mut plain = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    let mut within = false;
    while let Some(c) = rest.next() {
        let before = plain.chars().next_back();
        let part = match c {
            '\u{200c}' if before.is_some_and(is_arabic) => rest.peek().copied().is_some_and(is_arabic),
            '\u{200c}' | '\u{200d}' if before.is_some_and(takes_the_vowel_off) => true,
            '\u{fe0f}' | '\u{1f3fb}'..='\u{1f3ff}' => within,
            '\u{200d}' => within && rest.peek().is_some_and(is_picture),
            _ => false,
        };
        if part {
            continue;
        }
        plain.push(c);
        within = is_picture(&c);
        if matches!(c, '0'..='9' | '#' | '*') && rest.clone().take(2).eq(['\u{fe0f}', '\u{20e3}']) {
            rest.nth(1);
        }
    }
    hides(&plain)
}

fn is_arabic(c: char) -> bool {
    matches!(c, '\u{620}'..='\u{64a}' | '\u{66e}'..='\u{6d3}' | '\u{6fa}'..='\u{6ff}' | '\u{750}'..='\u{77f}')
        && c.is_alphabetic()
}

/// The viramas of scripts in which joiners choose the form of a conjunct (UAX 31, table 3a: Canonical_Combining_Class 9).
fn takes_the_vowel_off(c: char) -> bool {
    matches!(
        c,
        '\u{94d}'
            | '\u{9cd}'
            | '\u{a4d}'
            | '\u{acd}'
            | '\u{b4d}'
            | '\u{c4d}'
            | '\u{ccd}'
            | '\u{d4d}'
            | '\u{dca}'
    )
}

/// Whether the character cannot be seen for what it is wherever it stands: control and format characters, blanks
/// other than the plain one and what looks like them or like nothing, what lies over its neighbours, and what has no
/// look or width that all agree on (private use, unassigned, wide since Unicode 16). Unicode 16, UTS 55, UAX 9, UAX 11.
pub fn is_hidden(c: char) -> bool {
    match c {
        ' '..='~' => false,
        // Blank by their drawing or by the standard, whatever their category says: fillers, joiners, variation
        // selectors (Default_Ignorable_Code_Point), empty signs.
        '\u{34f}'
        | '\u{115f}'
        | '\u{1160}'
        | '\u{17b4}'
        | '\u{17b5}'
        | '\u{180b}'..='\u{180f}'
        | '\u{2800}'
        | '\u{303f}'
        | '\u{3164}'
        | '\u{fe00}'..='\u{fe0f}'
        | '\u{ffa0}'
        | '\u{fff0}'..='\u{fffc}'
        | '\u{1107f}'
        | '\u{13430}'..='\u{13455}'
        | '\u{16fe4}'
        | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d159}'
        | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e0fff}'
        // Canonical combining class 1: drawn over the letter.
        | '\u{334}'..='\u{338}'
        | '\u{1cd4}'
        | '\u{1ce2}'..='\u{1ce8}'
        | '\u{20d2}'
        | '\u{20d3}'
        | '\u{20d8}'..='\u{20da}'
        | '\u{20e5}'
        | '\u{20e6}'
        | '\u{20ea}'
        | '\u{20eb}'
        | '\u{10a39}'
        | '\u{16af0}'..='\u{16af4}'
        | '\u{1bc9e}'
        | '\u{1d167}'..='\u{1d169}'
        // Another character by the standard itself, with one look (singleton decompositions).
        | '\u{340}'
        | '\u{341}'
        | '\u{343}'
        | '\u{374}'
        | '\u{37e}'
        | '\u{387}'
        | '\u{1fef}'
        | '\u{2126}'
        | '\u{212a}'
        | '\u{212b}'
        | '\u{f900}'..='\u{faff}'
        | '\u{2f800}'..='\u{2fa1d}'
        // Of one column or two, as the terminal thinks.
        | '\u{17a4}'
        | '\u{17d8}'
        | '\u{3248}'..='\u{324f}'
        | '\u{ff9e}'
        | '\u{ff9f}'
        | '\u{2630}'..='\u{2637}'
        | '\u{268a}'..='\u{268f}'
        | '\u{2d7f}'
        | '\u{4dc0}'..='\u{4dff}'
        | '\u{1d300}'..='\u{1d376}'
        | '\u{1f3fb}'..='\u{1f3ff}' => true,
        _ => matches!(
            get_general_category(c),
            Category::Control
                | Category::Format
                | Category::Surrogate
                | Category::PrivateUse
                | Category::Unassigned
                | Category::LineSeparator
                | Category::ParagraphSeparator
                | Category::SpaceSeparator
                | Category::EnclosingMark
        ) || c.width() == Some(0) && joins(c) == Joins::Nothing,
    }
}

/// What a character that takes no column of its own has to stand behind to be seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Joins {
    /// A letter.
    Letter,
    /// The part of a syllable before it: Unicode 16, 3.12, "Conjoining Jamo Behavior".
    Lead,
    Vowel,
    Nothing,
}

fn joins(c: char) -> Joins {
    match c {
        '\u{1161}'..='\u{11a7}' | '\u{d7b0}'..='\u{d7c6}' => Joins::Lead,
        '\u{11a8}'..='\u{11ff}' | '\u{d7cb}'..='\u{d7fb}' => Joins::Vowel,
        _ if get_general_category(c) == Category::NonspacingMark => Joins::Letter,
        // Others that extend what stands before them (Bengali and Tamil vowels) have a column on some terminals.
        _ => Joins::Nothing,
    }
}

/// Looks at the characters of a text one by one, with what stands in front of each.
#[derive(Debug, Default)]
struct Looks {
    /// How many marks the letter before has; none where no letter stands there.
    marks: Option<usize>,
    /// What stands right before, where it is to be seen.
    before: Option<char>,
}

impl Looks {
    fn hides(&mut self, c: char) -> bool {
        if c.is_ascii() {
            self.marks = c.is_ascii_alphanumeric().then_some(0);
            self.before = Some(c);
            return c.is_ascii_control();
        }
        let before = self.before.take();
        if is_hidden(c) {
            self.marks = None;
            return true;
        }
        let stands = match (joins(c), self.marks) {
            // One on a slash, a quote or a blank makes it look like something else.
            (Joins::Letter, None | Some(MARKS_KEPT..)) => return true,
            // A dot above takes the place of these letters' own.
            (Joins::Letter, _) if c == '\u{307}' && matches!(before, Some('i' | 'j')) => return true,
            (Joins::Letter, Some(marks)) => {
                self.marks = Some(marks + 1);
                return false;
            }
            (Joins::Lead, _) => matches!(before, Some('\u{1100}'..='\u{115e}' | '\u{a960}'..='\u{a97c}')),
            (Joins::Vowel, _) => before.is_some_and(|before| joins(before) == Joins::Lead),
            (Joins::Nothing, _) => true,
        };
        if get_general_category(c) != Category::SpacingMark {
            self.marks = (stands && c.is_alphanumeric()).then_some(0);
        }
        self.before = stands.then_some(c);
        !stands
    }
}

#[derive(Debug, Clone, Copy)]
struct How {
    /// Line breaks and tabs stay.
    lines: bool,
    kind: Kind,
}

/// What the text is before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// As it came.
    Raw,
    /// JSON: no backslash is in it but in its own escapes.
    Json,
    /// Shown already.
    Shown,
}

impl How {
    /// Whether a text that begins so, behind a backslash, reads as an escape or is shown as one.
    fn reads_as_escape(self, mut rest: std::str::Chars<'_>) -> bool {
        match rest.next() {
            None => false,
            Some('r') => true,
            Some('u') => rest.next() == Some('{'),
            Some('n' | 't') => !self.lines,
            Some('\n' | '\t') if self.lines => false,
            Some(c) if c == FOLDED.0 || c == FOLDED.1 => true,
            // A mark behind a backslash is always escaped: no letter is there.
            Some(c) => Looks::default().hides(c) && !self.folds(c, 1 + same(&rest, c)),
        }
    }

    /// Whether so many of a blank, or of what is escaped, are folded.
    fn folds(self, c: char, count: usize) -> bool {
        count > BLANKS_KEPT && !(self.lines && c == '\n')
    }
}

fn show(text: &str, how: How) -> String {
    let mut out = String::with_capacity(text.len());
    let mut looks = Looks::default();
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        let hidden = looks.hides(c);
        if c == '\\' && how.kind == Kind::Raw {
            let more = same(&rest, c);
            rest = skipped(rest, more);
            let shown = if how.reads_as_escape(rest.clone()) { 2 * (more + 1) } else { more + 1 };
            out.extend(std::iter::repeat_n('\\', shown));
        } else if hidden || c == ' ' {
            let more = same(&rest, c);
            rest = skipped(rest, more);
            run(&mut out, c, more + 1, how);
        } else if how.kind != Kind::Shown && (c == FOLDED.0 || c == FOLDED.1) {
            escape(&mut out, c);
        } else {
            out.push(c);
        }
    }
    out
}

/// How many of the character come next.
fn same(rest: &std::str::Chars<'_>, c: char) -> usize {
    rest.clone().take_while(|next| *next == c).count()
}

fn skipped(mut rest: std::str::Chars<'_>, count: usize) -> std::str::Chars<'_> {
    if let Some(last) = count.checked_sub(1) {
        rest.nth(last);
    }
    rest
}

/// Several of one blank, or of one character that is escaped.
fn run(out: &mut String, c: char, count: usize, how: How) {
    let stays = c == ' ' || (how.lines && matches!(c, '\n' | '\t'));
    if how.folds(c, count) {
        out.push(FOLDED.0);
        if c == ' ' {
            let _ = write!(out, "{count} spaces");
        } else {
            let _ = write!(out, "{count} × ");
            escape(out, c);
        }
        out.push(FOLDED.1);
    } else if stays {
        out.extend(std::iter::repeat_n(c, count));
    } else {
        (0..count).for_each(|_| escape(out, c));
    }
}

fn escape(out: &mut String, c: char) {
    match c {
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        c => {
            let _ = write!(out, "\\u{{{:x}}}", u32::from(c));
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn nothing_hides() {
        for (text, shown) in [
            ("ls -l", "ls -l"),
            ("a\nb\tc\r", "a\\nb\\tc\\r"),
            ("\u{1b}[31mred", "\\u{1b}[31mred"),
            ("rm \u{202e}txt", "rm \\u{202e}txt"),
            ("a\u{200b}b\u{feff}", "a\\u{200b}b\\u{feff}"),
            ("a\u{a0}b", "a\\u{a0}b"),
            ("grüße 漢字 👍", "grüße 漢字 👍"),
            // Letters with marks of their own.
            ("gru\u{308}ße नमस्ते שָׁלוֹם ไทย", "gru\u{308}ße नमस्ते שָׁלוֹם ไทย"),
            ("\u{1112}\u{1161}\u{11ab} ｶ हिन्दी", "\u{1112}\u{1161}\u{11ab} ｶ हिन्दी"),
            ("বা 👍🏽", "ব\\u{9be} 👍\\u{1f3fd}"),
            ("a\u{11a8} \u{1112}\u{11ab}\u{1161}", "a\\u{11a8} \u{1112}\\u{11ab}\\u{1161}"),
            ("kﾞ ｶﾞ", "k\\u{ff9e} ｶ\\u{ff9e}"),
            ("conf\u{69}\u{307}g \u{212a} \u{37e} \u{f900}", "confi\\u{307}g \\u{212a} \\u{37e} \\u{f900}"),
            ("a\u{a8fa}b☰c", "a\\u{a8fa}b\\u{2630}c"),
            ("a/\u{301}b", "a/\\u{301}b"),
            ("a\u{301}\u{302}\u{303}\u{304}", "a\u{301}\u{302}\u{303}\\u{304}"),
        ] {
            assert_eq!(one_line(text), shown);
        }
        for c in "\u{ad}\u{61c}\u{115f}\u{2800}\u{1d159}\u{fffc}\u{16fe4}\u{13430}\u{13441}\u{ffff}\u{fdd0}\u{e000}\u{378}\
            \u{336}\u{338}\u{20d2}\u{20dd}\u{1d173}\u{1bca0}\u{3000}\u{2003}\u{fe0f}\u{e0100}\u{10ffff}\u{2065}"
            .chars()
        {
            assert_eq!(one_line(&format!("a{c}b")), format!("a\\u{{{:x}}}b", u32::from(c)));
            assert!(hides(&format!("a{c}b")), "{:x}", u32::from(c));
        }
        assert!(!hides("ls\t-l\ngru\u{308}ße 漢字 👍"));
        assert_eq!(lines("a\n\u{1b}b"), "a\n\\u{1b}b");
    }

    #[test]
    fn parts_of_pictures_and_joiners_hide_nothing_else() {
        for (text, hides) in [
            ("♻\u{fe0f} 👍🏽 👨\u{200d}👩\u{200d}👧 ❤\u{fe0f}\u{200d}🔥 1\u{fe0f}\u{20e3}", false),
            ("a\u{fe0f}", true),
            ("👍\u{200d}a", true),
            ("a🏽", true),
            ("1\u{20e3}", true),
            ("👍\u{200b}", true),
            ("می\u{200c}خواهم", false),
            ("می\u{200c}", true),
            ("می\u{200c}\u{200c}خواهم", true),
            ("a\u{200c}b", true),
            ("می\u{200d}خواهم", true),
            ("क्\u{200d}ष क्\u{200c}ष", false),
            ("क\u{200d}ष", true),
        ] {
            assert_eq!(hides_more_than_scripts_need(text), hides, "{text:?}");
        }
    }

    #[test]
    fn padding_is_folded_with_its_length() {
        let padded = |blank: &str| one_line(&format!("ls{}; rm x", blank.repeat(300)));
        assert_eq!(padded(" "), "ls⟨300 spaces⟩; rm x");
        assert_eq!(padded("\n"), "ls⟨300 × \\n⟩; rm x");
        assert_eq!(padded("\u{200b}"), "ls⟨300 × \\u{200b}⟩; rm x");
        assert_eq!(lines(&"\t".repeat(17)), "⟨17 × \\t⟩");
        assert_eq!(lines(&"\n".repeat(17)), "\n".repeat(17));
        assert_eq!(one_line(&" ".repeat(16)), " ".repeat(16));
    }

    #[test]
    fn what_looks_like_an_escape_is_told_from_one() {
        for (text, shown) in [
            (r"touch a\nb", r"touch a\\nb"),
            (r"a\u{200b}", r"a\\u{200b}"),
            ("a\\\u{200b}", r"a\\\u{200b}"),
            (r"a\\n", r"a\\\\n"),
            (r"\d+\.\\d \users \", r"\d+\.\\d \users \"),
            ("⟨300 spaces⟩", r"\u{27e8}300 spaces\u{27e9}"),
            ("[300 spaces]", "[300 spaces]"),
        ] {
            assert_eq!(one_line(text), shown);
            assert_eq!(again(shown), shown);
        }
        assert_eq!(lines(r"\n\t\r"), r"\n\t\\r");
    }

    #[test]
    fn json_and_diffs_are_not_escaped_twice() {
        assert_eq!(json("{\"a\":\"x\\n\u{200b}⟨\"}"), "{\"a\":\"x\\n\\u{200b}\\u{27e8}\"}");
        let made = "--- a/x\\u{1b}\n+++ b/x\\u{1b}\n@@ -1,2 +1 @@\n a\\r\n--- \\u{1b}\n--- \\u{1b}\n";
        let shown = "--- a/x\\u{1b}\n+++ b/x\\u{1b}\n@@ -1,2 +1 @@\n a\\\\r\n--- \\\\u{1b}\n--- \\u{1b}\n";
        assert_eq!(diff(made), shown);
    }

    #[test]
    fn letters_from_right_to_left_are_told_by_number() {
        for (text, shown) in [
            ("mv א ב", r"mv \u{5d0} \u{5d1}"),
            ("mv ب a", r"mv \u{628} a"),
            (r"a\א", r"a\\\u{5d0}"),
            (r"a\\א", r"a\\\\\u{5d0}"),
            ("grüße 漢字", "grüße 漢字"),
        ] {
            assert_eq!(left_to_right(&one_line(text)), shown);
            assert_eq!(left_to_right(shown), shown);
        }
    }

    #[test]
    fn clipping_counts() {
        assert_eq!(clipped("abcdef", 4), "abcd… (2 more characters)");
        assert_eq!(clipped("abcd", 4), "abcd");
        assert_eq!(clipped_again(r"\u{1b}\n", 6), r"\u{1b}… (2 more characters)");
    }

    /// What was shown, from how it looks.
    fn decode(shown: &str, lines: bool) -> String {
        let mut out = String::new();
        let mut rest = shown;
        while let Some(c) = rest.chars().next() {
            if c == FOLDED.0 {
                let (folded, behind) = rest[c.len_utf8()..].split_once(FOLDED.1).unwrap();
                let (count, what) = folded.split_once(' ').unwrap();
                let what = match what.strip_prefix("× ") {
                    Some(escape) => decode(escape, false),
                    None => " ".to_owned(),
                };
                out.push_str(&what.repeat(count.parse().unwrap()));
                rest = behind;
            } else if c == '\\' {
                let behind = rest.trim_start_matches('\\');
                let count = rest.len() - behind.len();
                let named = [('r', '\r'), ('n', '\n'), ('t', '\t')];
                let named = named.iter().find(|(name, _)| behind.starts_with(*name));
                let named = named.filter(|(name, _)| *name == 'r' || !lines).map(|(_, c)| (*c, &behind[1..]));
                let numbered = behind.strip_prefix("u{").map(|number| {
                    let (number, behind) = number.split_once('}').unwrap_or((number, ""));
                    (u32::from_str_radix(number, 16).ok().and_then(char::from_u32), behind)
                });
                let escaped = named.or(numbered.map(|(c, behind)| (c.unwrap_or('?'), behind)));
                let odd = count % 2 == 1;
                match escaped {
                    None => out.push_str(&"\\".repeat(count)),
                    Some(_) => out.push_str(&"\\".repeat(count / 2)),
                }
                rest = behind;
                if let (Some((c, behind)), true) = (escaped, odd) {
                    out.push(c);
                    rest = behind;
                }
            } else {
                out.push(c);
                rest = &rest[c.len_utf8()..];
            }
        }
        out
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4_000))]

        #[test]
        fn no_two_texts_look_the_same(
            parts in prop::collection::vec(
                (
                    prop::sample::select(vec![
                        "\\", "n", "r", "t", "u", "u{", "u{200b}", "{", "}", "200b", "\n", "\r", "\t", " ", "a", "/",
                        "\u{200b}", "\u{301}", "\u{336}", "⟨", "⟩", "17", "spaces", "×", "é", "漢", "\u{2800}", "א",
                    ]),
                    prop_oneof![Just(1_usize), Just(2), Just(3), 15..19_usize],
                ),
                0..12,
            ),
            any in ".*",
        ) {
            let text: String = parts.iter().map(|(part, count)| part.repeat(*count)).collect();
            for text in [text, any] {
                let shown = one_line(&text);
                prop_assert_eq!(decode(&shown, false), text.clone());
                prop_assert_eq!(again(&shown), shown.clone());
                prop_assert!(!hides(&shown) && !shown.contains(['\n', '\t']));
                let shown = lines(&text);
                prop_assert_eq!(decode(&shown, true), text.clone());
                prop_assert_eq!(lines_again(&shown), shown.clone());
                prop_assert!(!hides(&shown));
                prop_assert_eq!(decode(&left_to_right(&one_line(&text)), false), text);
            }
        }
    }
}
