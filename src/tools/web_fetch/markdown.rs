//! Writes Markdown from the tags and text of a page as they come: to be read by a model, not to become HTML again.

mod mark;
mod table;

use std::fmt::Write as _;

use self::mark::{Mark, MarkKind, longest_run};
use self::table::Table;
use crate::domain::web::WebUrl;

/// How deep lists, quotes and tables nest; what is deeper stays in the last of them.
const BLOCKS_MAX: usize = 32;
/// How many emphases and links are open at once.
const MARKS_MAX: usize = 16;
/// The longest link that is kept, in bytes.
const LINK_BYTES_MAX: usize = 2 * 1024;

/// The writer. Its work is linear in what it is given, up to the depths above.
pub(super) struct Markdown {
    out: String,
    chars: usize,
    max_chars: usize,
    /// A blank line is due before the next block.
    blank: bool,
    /// How many quotes the block before was in.
    quoted: usize,
    /// The block that is being written.
    line: String,
    marks: Vec<Mark>,
    blocks: Vec<Block>,
    pre: Option<Pre>,
    base: WebUrl,
}

/// An open block that says how the ones inside it are written.
enum Block {
    Quote,
    List { next: Option<u32>, items: usize },
    Item { marker: String, begun: bool },
    Heading(usize),
    Table(Table),
}

/// Text that is kept as it is.
struct Pre {
    text: String,
    language: Option<String>,
}

type Attributes<'a> = dyn Fn(&str) -> Option<&'a str> + 'a;

impl Markdown {
    /// A writer that stops soon after so many characters.
    pub(super) fn new(base: WebUrl, max_chars: usize) -> Self {
        Self {
            out: String::new(),
            chars: 0,
            max_chars,
            blank: false,
            quoted: 0,
            line: String::new(),
            marks: Vec::new(),
            blocks: Vec::new(),
            pre: None,
            base,
        }
    }

    /// Whether there is enough.
    pub(super) fn is_full(&self) -> bool {
        self.chars > self.max_chars
    }

    /// Counts links from elsewhere.
    pub(super) fn rebase(&mut self, href: &str) {
        if let Ok(base) = self.base.join(href.trim())
            && href.len() <= LINK_BYTES_MAX
        {
            self.base = base;
        }
    }

    /// A start tag.
    pub(super) fn start(&mut self, name: &str, attributes: &Attributes<'_>) {
        if let Some(pre) = &mut self.pre {
            match name {
                "br" => pre.text.push('\n'),
                "code" if pre.language.is_none() => pre.language = language(attributes("class")),
                _ => {}
            }
            return;
        }
        if self.in_cell() && self.start_in_cell(name) {
            return;
        }
        match name {
            "strong" | "b" => self.open_mark("strong", MarkKind::Around("**")),
            "em" | "i" => self.open_mark("em", MarkKind::Around("*")),
            "del" | "s" | "strike" => self.open_mark("del", MarkKind::Around("~~")),
            "code" | "kbd" | "samp" | "tt" => self.open_mark("code", MarkKind::Code),
            "a" => {
                let link = attributes("href").and_then(|href| self.link(href));
                self.close_mark("a");
                self.open_mark("a", MarkKind::Link(link));
            }
            "img" => self.image(attributes),
            "br" => self.line.push('\n'),
            "hr" => {
                self.flush();
                self.write("---");
            }
            "pre" | "listing" => {
                self.flush();
                self.pre = Some(Pre { text: String::new(), language: language(attributes("class")) });
            }
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => {
                self.flush();
                self.close(|block| matches!(block, Block::Heading(_)));
                self.open(Block::Heading(usize::from(name.as_bytes()[1] - b'0')));
            }
            "blockquote" => {
                self.flush();
                self.open(Block::Quote);
            }
            "ul" | "ol" | "menu" | "dl" => self.start_list(name, attributes),
            "li" | "dt" | "dd" => self.start_item(name),
            "table" => {
                self.flush();
                self.open(Block::Table(Table::default()));
            }
            "tr" | "td" | "th" | "thead" => self.start_in_table(name),
            _ if is_block(name) => self.flush(),
            _ => {}
        }
    }

    /// An end tag.
    pub(super) fn end(&mut self, name: &str) {
        if self.pre.is_some() {
            if matches!(name, "pre" | "listing") {
                self.end_pre();
            }
            return;
        }
        match name {
            "strong" | "b" => self.close_mark("strong"),
            "em" | "i" => self.close_mark("em"),
            "del" | "s" | "strike" => self.close_mark("del"),
            "code" | "kbd" | "samp" | "tt" => self.close_mark("code"),
            "a" => self.close_mark("a"),
            "tr" | "td" | "th" | "table" => self.end_in_table(name),
            _ if self.in_cell() && is_block(name) => self.space(),
            _ if self.in_cell() => {}
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => {
                self.flush();
                self.close(|block| matches!(block, Block::Heading(_)));
            }
            "blockquote" => {
                self.flush();
                self.close(|block| matches!(block, Block::Quote));
            }
            "ul" | "ol" | "menu" | "dl" => {
                self.flush();
                self.close(|block| matches!(block, Block::List { .. }));
                self.blank = !self.blocks.iter().any(|block| matches!(block, Block::Item { .. }));
            }
            "li" | "dd" => {
                self.flush();
                self.close_item();
            }
            _ if is_block(name) => self.flush(),
            _ => {}
        }
    }

    /// Text between tags: runs of white space become one blank, but for preformatted text.
    pub(super) fn text(&mut self, text: &str) {
        if let Some(pre) = &mut self.pre {
            pre.text.push_str(text);
            return;
        }
        for (index, word) in text.split(|c: char| c.is_ascii_whitespace()).enumerate() {
            if index > 0 {
                self.space();
            }
            self.line.push_str(word);
        }
    }

    /// The text, and whether some was cut; `more` says that not all of the page was given.
    pub(super) fn finish(mut self, more: bool) -> (String, bool) {
        if self.pre.is_some() {
            self.end_pre();
        }
        while self.blocks.iter().any(|block| matches!(block, Block::Table(_))) {
            self.end_in_table("table");
        }
        self.flush();
        let text = self.out.trim_end();
        match text.char_indices().nth(self.max_chars) {
            None => (text.to_owned(), more),
            Some((end, _)) => (text.get(..end).unwrap_or(text).to_owned(), true),
        }
    }

    fn space(&mut self) {
        if !self.line.is_empty() && !self.line.ends_with([' ', '\n']) {
            self.line.push(' ');
        }
    }

    // ---- emphases and links ----

    fn open_mark(&mut self, tag: &'static str, kind: MarkKind) {
        let nested = self.marks.iter().any(|mark| mark.tag == tag);
        if self.marks.len() < MARKS_MAX && !nested {
            self.marks.push(Mark { tag, kind, start: self.line.len() });
        }
    }

    /// Closes the mark, and those that were opened inside it and left open.
    fn close_mark(&mut self, tag: &str) {
        let Some(at) = self.marks.iter().position(|mark| mark.tag == tag) else { return };
        for mut mark in self.marks.split_off(at).into_iter().rev() {
            mark::put(&mut self.line, &mut mark);
        }
    }

    /// The absolute URL of a link; none for what leads nowhere else.
    fn link(&self, href: &str) -> Option<String> {
        let href = href.trim();
        if href.is_empty() || href.starts_with('#') || href.len() > LINK_BYTES_MAX {
            return None;
        }
        let url = self.base.join(&href.replace(' ', "%20")).ok()?;
        let text = url.to_string();
        (text.len() <= 2 * LINK_BYTES_MAX).then(|| text.replace('(', "%28").replace(')', "%29"))
    }

    fn image(&mut self, attributes: &Attributes<'_>) {
        let alt =
            attributes("alt").unwrap_or_default().split_ascii_whitespace().collect::<Vec<_>>().join(" ");
        let source = attributes("src").and_then(|source| self.link(source));
        if let (false, Some(source)) = (alt.is_empty(), source) {
            let _ = write!(self.line, "![{alt}]({source})");
        }
    }

    // ---- blocks ----

    fn open(&mut self, block: Block) {
        if self.blocks.len() < BLOCKS_MAX {
            self.blocks.push(block);
        }
    }

    /// Closes the innermost block of a kind, and those inside it; not beyond a table.
    fn close(&mut self, kind: impl Fn(&Block) -> bool) {
        let within =
            self.blocks.iter().rposition(|block| matches!(block, Block::Table(_))).map_or(0, |at| at + 1);
        if let Some(at) = self.blocks.iter().rposition(kind).filter(|at| *at >= within) {
            self.blocks.truncate(at);
        }
    }

    /// Closes the item of the innermost list.
    fn close_item(&mut self) {
        let list =
            self.blocks.iter().rposition(|block| matches!(block, Block::List { .. } | Block::Table(_)));
        let item = self.blocks.iter().rposition(|block| matches!(block, Block::Item { .. }));
        if let Some(at) = item.filter(|at| list.is_none_or(|list| *at > list)) {
            self.blocks.truncate(at);
        }
    }

    fn start_list(&mut self, name: &str, attributes: &Attributes<'_>) {
        self.flush();
        if self.blocks.iter().any(|block| matches!(block, Block::Item { .. })) {
            self.blank = false;
        }
        let first = attributes("start").and_then(|start| start.trim().parse().ok()).unwrap_or(1);
        self.open(Block::List { next: (name == "ol").then_some(first), items: 0 });
    }

    fn start_item(&mut self, name: &str) {
        self.flush();
        self.close_item();
        let list = self.blocks.iter_mut().rev().find_map(|block| match block {
            Block::List { next, items } => Some((next, items)),
            _ => None,
        });
        let (marker, first) = match list {
            None => ("- ".to_owned(), false),
            Some((next, items)) => {
                *items += 1;
                let marker = match next {
                    Some(number) => {
                        *number = number.saturating_add(1);
                        format!("{}. ", *number - 1)
                    }
                    None if name == "dd" => ": ".to_owned(),
                    None => "- ".to_owned(),
                };
                (marker, *items == 1)
            }
        };
        match name {
            // A term stands by itself, its definition under it.
            "dt" => self.blank = true,
            "dd" => self.blank = false,
            _ => self.blank &= first,
        }
        if name != "dt" {
            self.open(Block::Item { marker, begun: false });
        }
    }

    /// Ends the block that is being written.
    fn flush(&mut self) {
        if self.in_cell() {
            self.space();
            return;
        }
        for mark in self.marks.iter_mut().rev() {
            mark::put(&mut self.line, mark);
            // It goes on in the next block.
            mark.start = 0;
        }
        let line = std::mem::take(&mut self.line);
        let text = line.trim();
        if text.is_empty() {
            return;
        }
        match self.blocks.last() {
            Some(Block::Heading(level)) => {
                let heading = format!("{} {}", "#".repeat(*level), text.replace('\n', " "));
                self.write(&heading);
            }
            _ => self.write(text),
        }
    }

    /// Writes a block under the prefixes of those around it.
    fn write(&mut self, text: &str) {
        let start = self.out.len();
        if self.blank && start > 0 {
            self.blank_line();
        }
        for line in text.split('\n') {
            self.prefix();
            self.out.push_str(line.trim_end());
            self.out.push('\n');
        }
        self.blank = true;
        self.quoted = self.blocks.iter().filter(|block| matches!(block, Block::Quote)).count();
        self.chars += self.out.get(start..).unwrap_or_default().chars().count();
    }

    fn prefix(&mut self) {
        for block in &mut self.blocks {
            match block {
                Block::Quote => self.out.push_str("> "),
                Block::Item { marker, begun: false } => self.out.push_str(marker),
                Block::Item { marker, .. } => self.out.extend(std::iter::repeat_n(' ', marker.len())),
                _ => {}
            }
            if let Block::Item { begun, .. } = block {
                *begun = true;
            }
        }
    }

    /// A line of nothing, which belongs to the quotes that both its neighbours are in.
    fn blank_line(&mut self) {
        let quotes = self.blocks.iter().filter(|block| matches!(block, Block::Quote)).count();
        let mark = "> ".repeat(quotes.min(self.quoted));
        self.out.push_str(mark.trim_end());
        self.out.push('\n');
    }

    fn end_pre(&mut self) {
        let Some(pre) = self.pre.take() else { return };
        let text = pre.text.strip_prefix('\n').unwrap_or(&pre.text).trim_end();
        if !text.trim().is_empty() {
            let fence = "`".repeat(longest_run(text, '`').max(2) + 1);
            self.write(&format!("{fence}{}\n{text}\n{fence}", pre.language.unwrap_or_default()));
        }
    }
}

/// The language of a block of code, as highlighters are told it.
fn language(class: Option<&str>) -> Option<String> {
    let name = class?
        .split_ascii_whitespace()
        .find_map(|name| name.strip_prefix("language-").or_else(|| name.strip_prefix("lang-")))?;
    let plain = name.len() <= 32 && name.chars().all(|c| c.is_ascii_alphanumeric() || "+#-_.".contains(c));
    plain.then(|| name.to_owned())
}

fn is_block(name: &str) -> bool {
    matches!(
        name,
        "address"
            | "article"
            | "aside"
            | "blockquote"
            | "body"
            | "caption"
            | "center"
            | "dd"
            | "details"
            | "dialog"
            | "div"
            | "dl"
            | "dt"
            | "fieldset"
            | "figcaption"
            | "figure"
            | "footer"
            | "form"
            | "h1"
            | "h2"
            | "h3"
            | "h4"
            | "h5"
            | "h6"
            | "header"
            | "hgroup"
            | "html"
            | "legend"
            | "li"
            | "main"
            | "menu"
            | "ol"
            | "option"
            | "p"
            | "search"
            | "section"
            | "summary"
            | "tbody"
            | "tfoot"
            | "ul"
    )
}
