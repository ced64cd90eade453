//! HTML to Markdown in one pass over its tokens: no tree, so that neither depth nor a parser's repairs can make a
//! page cost more than its length.

use std::cell::RefCell;

use html5ever::tendril::StrTendril;
use html5ever::tokenizer::states::RawKind;
use html5ever::tokenizer::{
    BufferQueue, Tag, TagKind, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts,
};
use html5ever::{Attribute, LocalName};

use super::markdown::Markdown;
use crate::domain::visible;
use crate::domain::web::WebUrl;
use crate::tools::blocking::{GivenUp, Patience};

/// How much is read between two looks at the time: within one tag the tokenizer's cost grows with the square of
/// the number of attributes.
const PIECE: usize = 4 * 1024;
/// The longest title, in characters.
const TITLE_MAX: usize = 300;

/// Elements that are left out with all that is in them.
const SKIPPED: &[&str] = &[
    "audio", "button", "canvas", "datalist", "iframe", "math", "nav", "noembed", "noframes", "noscript",
    "object", "script", "select", "style", "svg", "template", "textarea", "video", "xmp",
];
/// Elements without an end tag.
const VOID: &[&str] =
    &["area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"];
/// Elements whose end tag may be left out, so that it is not known where they end.
const END_OMITTED: &[&str] = &[
    "body", "caption", "colgroup", "dd", "dt", "head", "html", "li", "optgroup", "option", "p", "rp", "rt",
    "tbody", "td", "tfoot", "th", "thead", "tr",
];

/// A page as Markdown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Rendered {
    pub(super) title: String,
    pub(super) text: String,
    /// Whether there was more.
    pub(super) cut: bool,
}

/// Renders a page up to so many characters; links count from `base`.
pub(super) fn render(
    html: &str,
    base: &WebUrl,
    max_chars: usize,
    patience: &Patience,
) -> Result<Rendered, GivenUp> {
    let sink = Sink(RefCell::new(State {
        markdown: Markdown::new(base.clone(), max_chars),
        skipped: None,
        title: None,
        in_title: false,
        based: false,
    }));
    let tokenizer = Tokenizer::new(sink, TokenizerOpts::default());
    let queue = BufferQueue::default();
    let mut rest = html;
    while !rest.is_empty() && !tokenizer.sink.0.borrow().markdown.is_full() {
        patience.check()?;
        let (piece, after) = rest.split_at(rest.floor_char_boundary(PIECE));
        rest = after;
        queue.push_back(StrTendril::from(piece));
        let _ = tokenizer.feed(&queue);
    }
    patience.check()?;
    if rest.is_empty() {
        tokenizer.end();
    }
    let state = tokenizer.sink.0.into_inner();
    let title = state.title.unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ");
    let (text, cut) = state.markdown.finish(!rest.is_empty());
    Ok(Rendered { title: visible::clipped(&title, TITLE_MAX), text, cut })
}

struct Sink(RefCell<State>);

struct State {
    markdown: Markdown,
    /// The element that is left out, and how many of its name are open.
    skipped: Option<(LocalName, usize)>,
    title: Option<String>,
    in_title: bool,
    based: bool,
}

impl TokenSink for Sink {
    type Handle = ();

    fn process_token(&self, token: Token, _line: u64) -> TokenSinkResult<()> {
        let mut state = self.0.borrow_mut();
        match token {
            Token::TagToken(tag) if tag.kind == TagKind::StartTag => state.start(&tag),
            Token::TagToken(tag) => {
                state.end(&tag.name);
                TokenSinkResult::Continue
            }
            Token::CharacterTokens(text) => {
                state.text(&text);
                TokenSinkResult::Continue
            }
            _ => TokenSinkResult::Continue,
        }
    }
}

impl State {
    fn start(&mut self, tag: &Tag) -> TokenSinkResult<()> {
        let name: &str = &tag.name;
        if let Some((skipped, open)) = &mut self.skipped {
            // What closes itself inside of a drawing or formula has nothing in it.
            let foreign = matches!(&**skipped, "svg" | "math");
            if *skipped == tag.name {
                *open += 1;
            }
            return if foreign { TokenSinkResult::Continue } else { raw(name) };
        }
        if SKIPPED.contains(&name) || is_hidden(name, &tag.attrs) {
            if name == "math" {
                self.markdown.text(attribute(&tag.attrs, "alttext").unwrap_or_default());
            }
            let closed = tag.self_closing && matches!(name, "svg" | "math");
            if !closed && !VOID.contains(&name) {
                self.skipped = Some((tag.name.clone(), 1));
            }
            return raw(name);
        }
        match name {
            "title" if self.title.is_none() => (self.in_title, self.title) = (true, Some(String::new())),
            "title" => self.skipped = Some((tag.name.clone(), 1)),
            "base" if !self.based => {
                if let Some(href) = attribute(&tag.attrs, "href") {
                    self.based = true;
                    self.markdown.rebase(href);
                }
            }
            _ => self.markdown.start(name, &|wanted| attribute(&tag.attrs, wanted)),
        }
        raw(name)
    }

    fn end(&mut self, name: &LocalName) {
        if let Some((skipped, open)) = &mut self.skipped {
            if skipped == name {
                *open -= 1;
                if *open == 0 {
                    self.skipped = None;
                }
            }
        } else if &**name == "title" {
            self.in_title = false;
        } else {
            self.markdown.end(name);
        }
    }

    fn text(&mut self, text: &str) {
        match (&mut self.title, self.in_title) {
            (Some(title), true) => {
                let room = (TITLE_MAX * 8).saturating_sub(title.len());
                title.push_str(&text[..text.floor_char_boundary(room)]);
            }
            _ if self.skipped.is_none() => self.markdown.text(text),
            _ => {}
        }
    }
}

/// How the tokenizer reads on after a start tag (HTML Standard, section 13.2.6.4), scripts being on.
fn raw(name: &str) -> TokenSinkResult<()> {
    match name {
        "title" | "textarea" => TokenSinkResult::RawData(RawKind::Rcdata),
        "style" | "xmp" | "iframe" | "noembed" | "noframes" | "noscript" => {
            TokenSinkResult::RawData(RawKind::Rawtext)
        }
        "script" => TokenSinkResult::RawData(RawKind::ScriptData),
        "plaintext" => TokenSinkResult::Plaintext,
        _ => TokenSinkResult::Continue,
    }
}

fn attribute<'a>(attributes: &'a [Attribute], name: &str) -> Option<&'a str> {
    attributes.iter().find(|attribute| &*attribute.name.local == name).map(|attribute| &*attribute.value)
}

/// Whether a reader would not see the element: text for machines alone has no place in what a model reads.
fn is_hidden(name: &str, attributes: &[Attribute]) -> bool {
    if VOID.contains(&name) || END_OMITTED.contains(&name) {
        return false;
    }
    let style = attribute(attributes, "style").map(|style| {
        let plain = style.chars().filter(|c| !c.is_whitespace()).collect::<String>().to_ascii_lowercase();
        plain.contains("display:none") || plain.contains("visibility:hidden")
    });
    attribute(attributes, "hidden").is_some()
        || attribute(attributes, "aria-hidden") == Some("true")
        || style.unwrap_or(false)
}

#[cfg(test)]
#[path = "html_tests.rs"]
mod tests;
