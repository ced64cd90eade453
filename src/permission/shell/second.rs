//! A second reading of the same text, by another parser: where the two differ, nothing is understood.

use std::cell::RefCell;

use tree_sitter::{Node, Parser};

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
    parser.set_language(&tree_sitter_bash::LANGUAGE.into()).ok()?;
    Some(parser)
}

/// The words of all commands and redirections, in the order of the text; `None` where it is not well formed.
pub(super) fn atoms(text: &str) -> Option<Vec<Atom<'_>>> {
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
    reading.node(root, 0)?;
    Some(reading.out)
}

struct Reading<'t> {
    text: &'t str,
    out: Vec<Atom<'t>>,
}

impl Reading<'_> {
    fn node(&mut self, node: Node<'_>, depth: usize) -> Option<()> {
        if depth > MAX_DEPTH || node.is_missing() {
            return None;
        }
        match node.kind() {
            "comment" | "heredoc_start" | "heredoc_body" | "heredoc_end" | "file_descriptor" => Some(()),
            "command_name" => self.atom(node, true),
            "word"
            | "raw_string"
            | "string"
            | "concatenation"
            | "number"
            | "variable_assignment"
            | "special_variable_name" => self.atom(node, false),
            "test_command" => self.test(node),
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
            | "herestring_redirect" => {
                let mut cursor = node.walk();
                node.children(&mut cursor).try_for_each(|child| self.node(child, depth + 1))
            }
            "simple_expansion" if self.text.get(node.byte_range()) == Some("$?") => self.atom(node, false),
            // Everything else that has a name is something that the first reading does not understand either.
            _ if node.is_named() => None,
            _ => Some(()),
        }
    }

    fn atom(&mut self, node: Node<'_>, starts: bool) -> Option<()> {
        let raw = self.text.get(node.byte_range())?;
        self.out.push(Atom { starts, raw });
        Some(())
    }

    /// `[ -f x ]`: each piece of it is a word.
    fn test(&mut self, node: Node<'_>) -> Option<()> {
        let raw = self.text.get(node.byte_range())?;
        if !raw.starts_with("[ ") {
            return None;
        }
        let from = self.out.len();
        self.pieces(node, 0)?;
        self.out.get_mut(from)?.starts = true;
        Some(())
    }

    fn pieces(&mut self, node: Node<'_>, depth: usize) -> Option<()> {
        let whole = matches!(node.kind(), "word" | "raw_string" | "string" | "concatenation" | "number");
        if depth > MAX_DEPTH || node.is_missing() {
            return None;
        }
        if whole || node.child_count() == 0 {
            return self.atom(node, false);
        }
        let mut cursor = node.walk();
        node.children(&mut cursor).try_for_each(|child| self.pieces(child, depth + 1))
    }
}
