//! What a literal word is, once its quotes are gone.

use brush_parser::word::{Parameter, ParameterExpr, SpecialParameter, WordPiece, WordPieceWithSource};

use super::script::NotUnderstood;
use super::{brush, read};

/// A word's value, and whether it has the output of `cat <<'E'` in it, or `$?`.
#[derive(Default)]
pub(super) struct Literal {
    pub(super) value: String,
    pub(super) runs_cat: bool,
    /// How the command before ended, a number, which stands as `$?` in the value.
    pub(super) has_status: bool,
}

/// The one value that the shell takes `raw` for, whatever is set and whichever files exist.
pub(super) fn literal(raw: &str) -> Result<Literal, NotUnderstood> {
    printed(raw).and_then(|literal| if literal.has_status { Err(EXPANDS) } else { Ok(literal) })
}

/// Commands of which [`status_is_no_matter`] may be so.
pub(super) fn may_have_status(program: &str) -> bool {
    matches!(program, "echo" | "exit" | "test" | "[")
}

/// Whether it is no matter to the command which number stands in the place of a `$?` among its words: it is printed, is what
/// the shell ends with, or is compared with another number. As part of any other word, or of another test (`-f $?`, `-v
/// a[$?]`), it may be a name.
pub(super) fn status_is_no_matter(words: &[String]) -> bool {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let is_number = |word: &str| word == "$?" || word.len() <= 3 && word.bytes().all(|b| b.is_ascii_digit());
    let compares = |words: &[&str]| match words {
        [left, "-eq" | "-ne" | "-lt" | "-le" | "-gt" | "-ge" | "=" | "==" | "!=", right] => {
            is_number(left) && is_number(right)
        }
        _ => false,
    };
    match words.as_slice() {
        ["echo", ..] | ["exit", "$?"] => true,
        ["test", operands @ ..] | ["[", operands @ .., "]"] => compares(operands),
        _ => false,
    }
}

/// The same of a word in which a `$?` may stand, where [`status_is_no_matter`].
pub(super) fn printed(raw: &str) -> Result<Literal, NotUnderstood> {
    let mut literal = Literal::default();
    if raw.chars().all(is_plain) || matches!(raw, "{}" | "[" | "]") {
        raw.clone_into(&mut literal.value);
        return Ok(literal);
    }
    let pieces = brush::pieces(raw)?;
    whole(&pieces, 0, raw.len())?;
    for piece in pieces {
        let before = literal.value.chars().next_back().filter(|_| piece.start_index > 0);
        match piece.piece {
            WordPiece::Text(text) => {
                unquoted(&text, piece.start_index == 0, before)?;
                literal.value.push_str(&text);
            }
            WordPiece::SingleQuotedText(text) => literal.value.push_str(&text),
            WordPiece::DoubleQuotedSequence(inner) => double_quoted(inner, &mut literal)?,
            WordPiece::EscapeSequence(text) => {
                let mut escaped = text.chars();
                if escaped.next() != Some('\\') {
                    return Err(NotUnderstood("a word in it cannot be read"));
                }
                literal.value.push_str(escaped.as_str());
            }
            WordPiece::ParameterExpansion(parameter) => literal.status(&parameter)?,
            other => return Err(expands(&other)),
        }
    }
    Ok(literal)
}

pub(super) const EXPANDS: NotUnderstood = NotUnderstood("a variable is expanded in it");

impl Literal {
    /// Takes `$?`. No variable that splits words can be set in a text that is understood.
    fn status(&mut self, parameter: &ParameterExpr) -> Result<(), NotUnderstood> {
        let ParameterExpr::Parameter {
            parameter: Parameter::Special(SpecialParameter::LastExitStatus),
            indirect: false,
        } = parameter
        else {
            return Err(EXPANDS);
        };
        self.value.push_str("$?");
        self.has_status = true;
        Ok(())
    }
}

/// Characters that mean themselves anywhere in a word.
fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | '@' | '%' | '+' | ',' | '^')
}

/// Whether the pieces cover the text without a gap.
fn whole(pieces: &[WordPieceWithSource], from: usize, to: usize) -> Result<(), NotUnderstood> {
    let mut at = from;
    for piece in pieces {
        if piece.start_index != at {
            return Err(NotUnderstood("a word in it cannot be read"));
        }
        at = piece.end_index;
    }
    if at == to { Ok(()) } else { Err(NotUnderstood("a word in it cannot be read")) }
}

/// Text outside of quotes that no expansion begins in. `before`: the character in front of it, in the word.
fn unquoted(text: &str, first: bool, before: Option<char>) -> Result<(), NotUnderstood> {
    let mut before = before;
    let mut past = 0;
    for (at, c) in text.char_indices() {
        if at < past {
            continue;
        }
        match c {
            '{' if matches!(before, Some('@' | '^')) => {
                let inner = text.get(at + 1..).and_then(|rest| rest.split_once('}')).map(|(inner, _)| inner);
                let Some(inner) = inner.filter(|inner| is_no_list(inner)) else {
                    return Err(NotUnderstood("a brace outside of quotes is in it"));
                };
                past = at + inner.len() + 2;
                before = Some('}');
            }
            '*' | '?' | '[' | ']' => return Err(NotUnderstood("a pattern of file names is in it")),
            '{' | '}' => return Err(NotUnderstood("a brace outside of quotes is in it")),
            '~' if (first && at == 0) || matches!(before, Some('=' | ':')) => {
                return Err(NotUnderstood("a `~` for a home directory is in it"));
            }
            '$' | '`' | '(' | ')' | '<' | '>' | '&' | '|' | ';' | '\'' | '"' | '\\' | '\n' | ' ' | '\t' => {
                return Err(NotUnderstood("a word in it cannot be read"));
            }
            _ => before = Some(c),
        }
    }
    Ok(())
}

/// Whether braces around it mean themselves: neither a list nor a sequence (bash 5.2 manual, 3.5.1), and nothing within it
/// that could be one. Git's `HEAD@{1}` and `v1^{commit}` are such.
fn is_no_list(inner: &str) -> bool {
    inner.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | '/'))
        && !inner.contains("..")
}

fn double_quoted(pieces: Vec<WordPieceWithSource>, literal: &mut Literal) -> Result<(), NotUnderstood> {
    for piece in pieces {
        match piece.piece {
            WordPiece::Text(text) if is_quoted_text(&text) => literal.value.push_str(&text),
            WordPiece::EscapeSequence(text) => match text.strip_prefix('\\') {
                Some(escaped @ ("$" | "`" | "\"" | "\\")) => literal.value.push_str(escaped),
                Some("\n") | None => return Err(NotUnderstood("a word in it cannot be read")),
                Some(_) => literal.value.push_str(&text),
            },
            WordPiece::CommandSubstitution(inner) => {
                literal.value.push_str(read::quoted_document(&inner)?.trim_end_matches('\n'));
                literal.runs_cat = true;
            }
            WordPiece::ParameterExpansion(parameter) => literal.status(&parameter)?,
            other => return Err(expands(&other)),
        }
    }
    Ok(())
}

/// Text in double quotes that stands for itself: a backslash does, before most characters.
fn is_quoted_text(text: &str) -> bool {
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let odd = match c {
            '$' | '`' | '"' => true,
            '\\' => matches!(chars.peek(), None | Some('$' | '`' | '"' | '\\' | '\n')),
            _ => false,
        };
        if odd {
            return false;
        }
    }
    true
}

fn expands(piece: &WordPiece) -> NotUnderstood {
    NotUnderstood(match piece {
        WordPiece::AnsiCQuotedText(_) => "a word in `$'…'` is in it",
        WordPiece::GettextDoubleQuotedSequence(_) => "a word in `$\"…\"` is in it",
        WordPiece::TildeExpansion(_) => "a `~` for a home directory is in it",
        WordPiece::ParameterExpansion(_) => EXPANDS.0,
        WordPiece::CommandSubstitution(_) | WordPiece::BackquotedCommandSubstitution(_) => {
            "the output of a command becomes part of it"
        }
        WordPiece::ArithmeticExpression(_) => "arithmetic is in it",
        _ => "a word in it cannot be read",
    })
}
