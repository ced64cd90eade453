//! Rows of a terminal's width: a terminal that breaks a long line itself goes on in its first column, where a text from
//! outside reads as a line of the view.

use std::io::IsTerminal;
use std::os::fd::AsFd;

use rustix::termios::tcgetwinsize;

use super::watch::wrap::wrap;

/// Stands before each row that goes on from the one above, and before each line of a text from outside, none of which
/// is one of the view.
pub(super) const MORE: &str = "┆ ";
/// Before what goes on from a row of [`MORE`] whose beginning says what it is, as that of a diff does.
pub(super) const MORE_OF_MORE: &str = "┆ ┆ ";
/// Before what goes on from a field's value, beneath which it stands.
pub(super) const MORE_OF_FIELD: &str = "┆          ";
/// What says that a row was cut.
const CUT: &str = "…";
/// The columns of a terminal that does not say how many it has.
const UNKNOWN: usize = 80;
/// Fewer columns than these are too few for what a list's row is about: it gets a row of its own.
const LAST_MIN: usize = 40;
/// The columns of a tab, as `watch` draws it; where a terminal's own stops are, nothing here can know.
const TAB: &str = "⇥   ";

/// How many columns an output has. A pipe and a file have none: nothing breaks lines there, and scripts read them whole.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Columns(Option<usize>);

impl Columns {
    /// Those that the output has now; a terminal's may be others the next time.
    pub(super) fn of(output: &(impl AsFd + IsTerminal)) -> Self {
        if !output.is_terminal() {
            return Self(None);
        }
        let told = tcgetwinsize(output).map(|size| usize::from(size.ws_col));
        Self(Some(told.ok().filter(|columns| *columns > 0).unwrap_or(UNKNOWN)))
    }

    #[cfg(test)]
    pub(super) fn are(columns: usize) -> Self {
        Self(Some(columns))
    }

    /// Whether lines are broken at all.
    pub(super) fn are_some(self) -> bool {
        self.0.is_some()
    }

    /// Each line in rows of at most this width, further ones with `more` before them; nothing is left out. Line breaks
    /// stay as they are, colours hold over the rows.
    pub(super) fn broken(self, text: &str, more: &str) -> String {
        self.each_line(text, |width, line, out| {
            // Where hardly anything would stand beside the mark, the indentation goes.
            let indent = if wrap(more, width / 2).len() > 1 { MORE } else { more };
            let first = first_row(&line.plain, width);
            let rest = &line.plain[first.len()..];
            let mut at = first.len();
            line.write(0, at, out);
            for row in wrap(rest, width.saturating_sub(indent.chars().count())) {
                if row.is_empty() {
                    continue;
                }
                out.push('\n');
                out.push_str(indent);
                line.write(at, at + row.len(), out);
                at += row.len();
            }
        })
    }

    /// Each line cut to this width, with a mark where something was.
    pub(super) fn clipped(self, text: &str) -> String {
        self.each_line(text, |width, line, out| {
            if wrap(&line.plain, width).len() <= 1 {
                return line.write(0, line.plain.len(), out);
            }
            let kept = first_row(&line.plain, width.saturating_sub(1));
            line.write(0, kept.len(), out);
            out.push_str(CUT);
        })
    }

    /// A row of a list, without its line break: columns, and what the row is about, which gets a row of its own where it
    /// has no place beside them.
    pub(super) fn listed(self, head: &str, last: &str, fit: Fit) -> String {
        let fitted = |text: &str| match fit {
            Fit::Clip => self.clipped(text),
            Fit::Break => self.broken(text, MORE),
        };
        let Some(width) = self.0 else { return format!("{head}{last}") };
        let whole = format!("{head}{last}");
        let fits = |text: &str, width: usize| wrap(&Line::of(text).plain, width).len() <= 1;
        if fits(&whole, width) || fits(head, width.saturating_sub(LAST_MIN)) {
            return fitted(&whole);
        }
        format!("{}\n{}", fitted(head.trim_end()), fitted(&format!("{MORE}{last}")))
    }

    fn each_line(self, text: &str, each: impl Fn(usize, &Line<'_>, &mut String)) -> String {
        let Some(width) = self.0 else { return text.to_owned() };
        let mut out = String::with_capacity(text.len() + text.len() / 16);
        for line in text.split_inclusive('\n') {
            let (line, end) = line.strip_suffix('\n').map_or((line, ""), |line| (line, "\n"));
            each(width, &Line::of(line), &mut out);
            out.push_str(end);
        }
        out
    }
}

fn first_row(text: &str, width: usize) -> &str {
    wrap(text, width).first().copied().unwrap_or_default()
}

/// What becomes of a list's row that is too long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fit {
    /// It is cut: another view has the whole of it.
    Clip,
    /// It goes on in further rows: nothing else shows it to a person.
    Break,
}

/// A line and the colours within it, which have no columns.
struct Line<'a> {
    plain: String,
    /// Where in the plain text each stands.
    colors: Vec<(usize, &'a str)>,
}

impl<'a> Line<'a> {
    /// All escape sequences in it are our own ([`super::color::Paint`]): those from outside are escaped.
    fn of(line: &'a str) -> Self {
        let (mut plain, mut colors) = (String::with_capacity(line.len()), Vec::new());
        let mut rest = line;
        while let Some(at) = rest.find('\u{1b}') {
            plain.push_str(&rest[..at]);
            let end = rest[at..].find('m').map_or(rest.len(), |end| at + end + 1);
            colors.push((plain.len(), &rest[at..end]));
            rest = &rest[end..];
        }
        plain.push_str(rest);
        if plain.contains('\t') {
            let tabs_before = |at: &usize| plain[..*at].matches('\t').count();
            for (at, _) in &mut colors {
                *at += tabs_before(at) * (TAB.len() - 1);
            }
            plain = plain.replace('\t', TAB);
        }
        Self { plain, colors }
    }

    /// Writes a part of it as it is coloured; the mark before the next row never is.
    fn write(&self, start: usize, end: usize, out: &mut String) {
        let is_on = |code: &&str| *code != OFF;
        let before = self.colors.iter().take_while(|(at, _)| *at <= start);
        let mut on = before.last().map(|(_, code)| *code).filter(is_on);
        out.extend(on);
        let mut from = start;
        for (at, code) in self.colors.iter().filter(|(at, _)| start < *at && *at < end) {
            out.push_str(&self.plain[from..*at]);
            out.push_str(code);
            from = *at;
            on = Some(*code).filter(is_on);
        }
        out.push_str(&self.plain[from..end]);
        if on.is_some() {
            out.push_str(OFF);
        }
    }
}

/// Ends a colour.
const OFF: &str = "\u{1b}[0m";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_a_broken_line_is_left_out_and_no_row_is_wider() {
        for (text, width, more, rows) in [
            ("", 10, MORE, ""),
            ("abc\n", 3, MORE, "abc\n"),
            ("a\n\nb", 3, MORE, "a\n\nb"),
            ("abcdefgh\nij\n", 4, MORE, "abcd\n┆ ef\n┆ gh\nij\n"),
            ("name       12345678901234567890x\n", 22, MORE_OF_FIELD, {
                "name       12345678901\n┆          234567890x\n"
            }),
            ("name       1234\n", 12, MORE_OF_FIELD, "name       1\n┆ 234\n"),
            ("漢字漢字漢\n", 5, MORE, "漢字\n┆ 漢\n┆ 字\n┆ 漢\n"),
            ("a\tb\n", 80, MORE, "a⇥   b\n"),
            ("ab", 1, MORE, "a\n┆ b"),
        ] {
            assert_eq!(Columns::are(width).broken(text, more), rows, "{text} in {width}");
            assert_eq!(Columns::default().broken(text, more), text);
            assert_eq!(Columns::default().clipped(text), text);
        }
    }

    #[test]
    fn colours_have_no_columns_and_end_with_their_row() {
        let green = |text: &str| format!("\u{1b}[32m{text}{OFF}");
        let line = format!("{} {}", green("ab"), green("cdefgh"));
        let columns = Columns::are(6);
        let broken = format!("{} {}\n┆ {}", green("ab"), green("cde"), green("fgh"));
        assert_eq!(columns.broken(&line, MORE), broken);
        assert_eq!(columns.clipped(&line), format!("{} {}…", green("ab"), green("cd")));
        assert_eq!(columns.broken(&green("a\tb"), MORE), green("a⇥   b"));
        let exact = green("abcdef");
        assert_eq!((columns.broken(&exact, MORE), columns.clipped(&exact)), (exact.clone(), exact));
        let next = format!("{}{}", green("abcdef"), green("gh"));
        assert_eq!(columns.broken(&next, MORE), format!("{}\n┆ {}", green("abcdef"), green("gh")));
    }

    #[test]
    fn rows_of_lists_are_cut_with_a_mark_or_go_on() {
        let listed = |head: &str, last: &str, width, fit| Columns::are(width).listed(head, last, fit);
        let (head, last) = (format!("{:<20}  ", "head"), "x".repeat(70));
        assert_eq!(listed(&head, "short", 30, Fit::Clip), format!("{head}short"));
        assert_eq!(listed(&head, &last, 62, Fit::Clip), format!("{head}{}…", "x".repeat(39)));
        assert_eq!(
            listed(&head, &last, 62, Fit::Break),
            format!("{head}{}\n┆ {}", "x".repeat(40), "x".repeat(30))
        );
        assert_eq!(listed(&head, &last, 61, Fit::Clip), format!("head\n┆ {}…", "x".repeat(58)));
        assert_eq!(
            listed(&head, &last, 61, Fit::Break),
            format!("head\n┆ {}\n┆ {}", "x".repeat(59), "x".repeat(11))
        );
        assert_eq!(Columns::default().listed(&head, &last, Fit::Clip), format!("{head}{last}"));
    }
}
