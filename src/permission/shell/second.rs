//! A second reading of the same text, by another parser: where the two differ, nothing is understood.

use std::cell::RefCell;
use std::sync::LazyLock;

use tree_sitter::{Language, Node, Parser, TreeCursor};

use super::plain;

/// A word as it is written, and whether it is the first one of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Atom<'t> {
    pub(super) starts: bool,
    pub(super) raw: &'t str,
}

/// Deepest nesting that is followed.
const MAX_DEPTH: usize = 64;

thread_local! {
    static PARSER: RefCell<Option<Parser>> = RefCell::new(parser());
}

fn parser() -> Option<Parser> {
    let mut parser = Parser::new();
    parser.set_language(&language()).ok()?;
    Some(parser)
}

fn language() -> Language {
    tree_sitter_bash::LANGUAGE.into()
}

/// The words of all commands and redirections, in the order of the text; `None` where it is not well formed.
pub(super) fn atoms(text: &str) -> Option<Vec<Atom<'_>>> {
    plain::atoms(text).or_else(|| parsed(text))
}

/// The same by the parser, whatever the text is.
pub(super) fn parsed(text: &str) -> Option<Vec<Atom<'_>>> {
    let tree = PARSER.with_borrow_mut(|parser| {
        let parser = parser.as_mut()?;
        parser.reset();
        parser.parse(text, None)
    })?;
    let root = tree.root_node();
    if root.has_error() {
        return None;
    }
    let mut reading = Reading { text, out: Vec::new() };
    reading.node(&mut root.walk(), 0)?;
    Some(reading.out)
}

/// What the reading does with a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    /// It has no words.
    Skip,
    /// The first word of a command.
    Name,
    /// A word.
    Word,
    /// A word where it is `$?`.
    Expansion,
    /// `[ … ]`.
    Test,
    /// Its words are those of its parts.
    Inner,
    /// It is something that the first reading does not understand either.
    Refuse,
}

impl Part {
    fn of(kind: &str, is_named: bool) -> Self {
        match kind {
            "comment" | "heredoc_start" | "heredoc_body" | "heredoc_end" | "file_descriptor" => Self::Skip,
            "command_name" => Self::Name,
            "word"
            | "raw_string"
            | "string"
            | "concatenation"
            | "number"
            | "variable_assignment"
            | "special_variable_name" => Self::Word,
            "test_command" => Self::Test,
            "program"
            | "list"
            | "pipeline"
            | "command"
            | "redirected_statement"
            | "subshell"
            | "compound_statement"
            | "if_statement"
            | "elif_clause"
            | "else_clause"
            | "while_statement"
            | "do_group"
            | "negated_command"
            | "file_redirect"
            | "heredoc_redirect"
            | "herestring_redirect" => Self::Inner,
            "simple_expansion" => Self::Expansion,
            _ if is_named => Self::Refuse,
            _ => Self::Skip,
        }
    }
}

/// By the numbers that the grammar has for kinds of nodes.
static PARTS: LazyLock<Vec<Part>> = LazyLock::new(|| {
    let language = language();
    let of = |id: u16| {
        let kind = language.node_kind_for_id(id).unwrap_or_default();
        Part::of(kind, language.node_kind_is_named(id))
    };
    (0..u16::try_from(language.node_kind_count()).unwrap_or(u16::MAX)).map(of).collect()
});

struct Reading<'t> {
    text: &'t str,
    out: Vec<Atom<'t>>,
}

impl Reading<'_> {
    /// Adds the words of the node that the cursor is at, where it is again afterwards if all of it is read.
    fn node(&mut self, at: &mut TreeCursor<'_>, depth: usize) -> Option<()> {
        let node = at.node();
        if depth > MAX_DEPTH || node.is_missing() {
            return None;
        }
        // What is not well formed has a number beyond the table.
        match PARTS.get(usize::from(node.kind_id())).unwrap_or(&Part::Refuse) {
            Part::Skip => Some(()),
            Part::Name => self.atom(node, true),
            Part::Word => self.atom(node, false),
            Part::Expansion if self.is_status(node) => self.atom(node, false),
            Part::Test => self.test(at),
            Part::Inner => each_child(at, |child| self.node(child, depth + 1)),
            Part::Expansion | Part::Refuse => None,
        }
    }

    fn is_status(&self, node: Node<'_>) -> bool {
        node.kind() == "simple_expansion" && self.text.get(node.byte_range()) == Some("$?")
    }

    fn atom(&mut self, node: Node<'_>, starts: bool) -> Option<()> {
        let raw = self.text.get(node.byte_range())?;
        self.out.push(Atom { starts, raw });
        Some(())
    }

    /// `[ -f x ]`: each piece of it is a word.
    fn test(&mut self, at: &mut TreeCursor<'_>) -> Option<()> {
        let raw = self.text.get(at.node().byte_range())?;
        if !raw.starts_with("[ ") {
            return None;
        }
        let from = self.out.len();
        self.pieces(at, 0)?;
        self.out.get_mut(from)?.starts = true;
        Some(())
    }

    fn pieces(&mut self, at: &mut TreeCursor<'_>, depth: usize) -> Option<()> {
        let node = at.node();
        let whole = matches!(node.kind(), "word" | "raw_string" | "string" | "concatenation" | "number");
        if depth > MAX_DEPTH || node.is_missing() {
            return None;
        }
        if whole || self.is_status(node) || node.child_count() == 0 {
            return self.atom(node, false);
        }
        each_child(at, |child| self.pieces(child, depth + 1))
    }
}

/// Calls `read` with the cursor at each child of the node that it is at.
fn each_child<'t>(
    at: &mut TreeCursor<'t>,
    mut read: impl FnMut(&mut TreeCursor<'t>) -> Option<()>,
) -> Option<()> {
    if !at.goto_first_child() {
        return Some(());
    }
    loop {
        read(at)?;
        if !at.goto_next_sibling() {
            break;
        }
    }
    at.goto_parent().then_some(())
}
