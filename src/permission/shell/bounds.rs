//! What a text may be made of to be read at all, so that reading stays within its time whatever is given.

use brush_parser::Token;

use super::script::NotUnderstood;
use crate::domain::visible;

/// Longest text that is understood, in characters.
pub(super) const MAX_CHARS: usize = 10_000;
/// Most tokens (words, operators, line ends) of a text that is understood.
const MAX_TOKENS: usize = 600;
/// Most substitutions that a text begins. The tokenizer recurses for each that lies within another one.
const MAX_SUBSTITUTIONS: usize = 60;
/// Most words that begin something with an end of its own. The parser recurses for each within another one.
const MAX_COMPOUND: usize = 60;
/// Most brackets in a word that may be an assignment.
const MAX_SUBSCRIPTS: usize = 30;
/// Most parentheses that are open at once: the parser's time doubles with each that is never closed.
const MAX_OPEN: usize = 6;

/// Most words `case`, for the same reason.
const MAX_CASES: usize = 3;

/// Words that make the parser recurse where they begin a command.
const COMPOUND: &[&str] =
    &["{", "if", "while", "until", "for", "select", "function", "coproc", "time", "!", "[[", "elif"];

/// Whether the characters are those that a person reads as they are, and not too many of them.
pub(super) fn text(text: &str) -> Result<(), NotUnderstood> {
    if text.chars().nth(MAX_CHARS).is_some() {
        return Err(NotUnderstood("it is longer than 10,000 characters"));
    }
    if visible::hides_more_than_scripts_need(text) {
        return Err(NotUnderstood("it has control characters, or some that cannot be seen"));
    }
    if text.contains("\\\n") {
        return Err(NotUnderstood("a backslash joins two of its lines"));
    }
    let begins = ["$(", "${", "$[", "`", "<(", ">(", "=("];
    if begins.iter().map(|begin| text.matches(begin).count()).sum::<usize>() > MAX_SUBSTITUTIONS {
        return Err(NotUnderstood("it begins more than 60 substitutions"));
    }
    Ok(())
}

/// Whether the tokens can be parsed in a time that grows with their number alone.
pub(super) fn tokens(tokens: &[Token]) -> Result<(), NotUnderstood> {
    if tokens.len() > MAX_TOKENS {
        return Err(NotUnderstood("it has more than 600 words and operators"));
    }
    let (mut open, mut cases, mut compound) = (0usize, 0, 0);
    for token in tokens {
        match token {
            Token::Operator(text, _) if text == "(" => {
                open += 1;
                if open > MAX_OPEN {
                    return Err(NotUnderstood("its parentheses are nested more than 6 deep"));
                }
            }
            Token::Operator(text, _) if text == ")" => {
                open = open.checked_sub(1).ok_or(NotUnderstood(if cases > 0 {
                    "a `case` is in it"
                } else {
                    "a parenthesis is closed that was not open"
                }))?;
            }
            Token::Word(text, _) if COMPOUND.contains(&text.as_str()) => {
                compound += 1;
                if compound > MAX_COMPOUND {
                    return Err(NotUnderstood("it has more than 60 groups and conditions"));
                }
            }
            Token::Word(text, _) if text == "case" => {
                cases += 1;
                if cases > MAX_CASES {
                    return Err(NotUnderstood("the word `case` is in it more than 3 times"));
                }
            }
            // `a[b[c[…` may be the name of an assignment, and is read as one level within another.
            Token::Word(text, _) if text.starts_with(|c: char| c.is_alphabetic() || c == '_') => {
                if text.matches('[').count() > MAX_SUBSCRIPTS {
                    return Err(NotUnderstood("a word in it has more than 30 brackets"));
                }
            }
            Token::Operator(..) | Token::Word(..) => {}
        }
    }
    if open > 0 {
        return Err(NotUnderstood("a parenthesis is never closed"));
    }
    Ok(())
}
