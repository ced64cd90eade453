//! The first parser. It has places where an odd text makes it panic: such a text is not understood.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind};

use brush_parser::ast::Program;
use brush_parser::word::WordPieceWithSource;
use brush_parser::{ParserImpl, ParserOptions};

use super::bounds;
use super::script::NotUnderstood;

/// How bash reads a text that it is given with `-c`.
const OPTIONS: ParserOptions = ParserOptions {
    enable_extended_globbing: false,
    posix_mode: false,
    sh_mode: false,
    tilde_expansion_at_word_start: true,
    tilde_expansion_after_colon: false,
    parser_impl: ParserImpl::Peg,
};

thread_local! {
    static PARSING: Cell<bool> = const { Cell::new(false) };
}

/// Whether a panic is one of the parser's, which is caught and leads to a text that is not understood: a panic hook
/// then has nothing to tell.
pub fn is_caught(_: &PanicHookInfo<'_>) -> bool {
    PARSING.get()
}

/// The program that a text is.
pub(super) fn program(text: &str) -> Result<Program, NotUnderstood> {
    const INCOMPLETE: NotUnderstood = NotUnderstood("it is no complete shell text");
    guarded(|| {
        let tokens = brush_parser::uncached_tokenize_str(text, &OPTIONS.tokenizer_options());
        let tokens = tokens.map_err(|_| INCOMPLETE)?;
        bounds::tokens(&tokens)?;
        brush_parser::parse_tokens(&tokens, &OPTIONS).map_err(|_| INCOMPLETE)
    })
}

/// The pieces of a word.
pub(super) fn pieces(raw: &str) -> Result<Vec<WordPieceWithSource>, NotUnderstood> {
    guarded(|| {
        brush_parser::word::parse(raw, &OPTIONS).map_err(|_| NotUnderstood("a word in it cannot be read"))
    })
}

/// What is parsed is plain data that a panic leaves nowhere, so nothing half done is seen.
fn guarded<T>(parse: impl FnOnce() -> Result<T, NotUnderstood>) -> Result<T, NotUnderstood> {
    let before = PARSING.replace(true);
    let parsed = catch_unwind(AssertUnwindSafe(parse));
    PARSING.set(before);
    parsed.unwrap_or(Err(NotUnderstood("a parser cannot read it")))
}
