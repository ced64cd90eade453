//! The tree of a folder: level by level, so that upper levels come first where not all of it fits.

use std::collections::VecDeque;
use std::ffi::OsStr;
use std::fmt::Write as _;

use crate::permission::{Hidden, Veil};
use crate::tools::blocking::Patience;
use crate::tools::search::{IgnoreRules, SearchError, Walk, bytes_said, shown_name};
use crate::workspace::{FileKind, ListEntry, Located, Workspace};

/// The most entries of a tree.
pub(super) const ENTRIES_MAX: usize = 1000;
/// The most names that are read of one folder; of a larger one, some are seen.
const NAMES_MAX: usize = 10_000;
/// The same once the tree is full: only to say that there is more.
const NAMES_MAX_WHEN_FULL: usize = 100;
/// The longest target of a symlink that is shown, in characters.
const TARGET_CHARS: usize = 300;
/// Folders that hold a great deal that nobody looks for: they show, and are opened only when asked for.
const HEAVY: &[&str] = &[
    ".git",
    ".hg",
    ".svn",
    ".jj",
    "node_modules",
    "bower_components",
    "target",
    ".venv",
    "venv",
    "__pycache__",
    ".tox",
    ".nox",
    ".mypy_cache",
    ".pytest_cache",
    ".ruff_cache",
    ".gradle",
    ".terraform",
    ".next",
    ".cache",
];

/// What lists folders for one call.
pub(super) struct Explorer<'a> {
    pub(super) workspace: &'a Workspace,
    /// What must not be seen: it is as if not there, but that what a rule asks about is counted.
    pub(super) hidden: &'a Hidden,
    pub(super) patience: &'a Patience,
}

/// A folder with all that is shown beneath.
#[derive(Debug, Default)]
pub(super) struct Tree {
    nodes: Vec<Node>,
    /// The indices of the folder's own entries.
    top: Vec<usize>,
    /// What is said at the end of the folder's own entries.
    rest: Option<String>,
    cut: bool,
    /// Entries that a rule asks about.
    unasked: u64,
}

#[derive(Debug, Default)]
struct Node {
    /// As it is shown, with its size or target.
    line: String,
    children: Vec<usize>,
    /// What is said after the children: what is left out.
    rest: Option<String>,
}

/// A folder that is still to be opened.
struct Pending {
    place: Located,
    depth: usize,
    rules: IgnoreRules,
    /// Its node; none for the top.
    node: Option<usize>,
}

impl Explorer<'_> {
    /// The tree of a folder, `depth` levels of it.
    pub(super) fn explore(&self, top: &Located, depth: usize) -> Result<Tree, SearchError> {
        let mut tree = Tree::default();
        let rules = IgnoreRules::down_to(self.workspace, top);
        let mut pending = VecDeque::from([Pending { place: top.clone(), depth, rules, node: None }]);
        while let Some(folder) = pending.pop_front() {
            self.patience.check()?;
            match self.folder(&folder, &mut tree, &mut pending) {
                Err(error @ SearchError::GivenUp(_)) => return Err(error),
                Err(error) if folder.node.is_none() => return Err(error),
                Err(_) => tree.note(&folder, "(cannot be listed)".to_owned()),
                Ok(()) => {}
            }
        }
        Ok(tree)
    }

    fn folder(
        &self,
        folder: &Pending,
        tree: &mut Tree,
        pending: &mut VecDeque<Pending>,
    ) -> Result<(), SearchError> {
        let is_full = tree.nodes.len() >= ENTRIES_MAX;
        let limit = if is_full { NAMES_MAX_WHEN_FULL } else { NAMES_MAX };
        let listing = self.workspace.list(&folder.place, limit)?;
        let walk = Walk {
            workspace: self.workspace,
            hidden: self.hidden,
            patience: self.patience,
            include_ignored: true,
        };
        let mut left_out = 0_u64;
        for entry in listing.entries {
            self.patience.check()?;
            let place = folder.place.entry(&entry.name, entry.kind);
            if let Some(veil) = walk.veil(&place) {
                tree.unasked += u64::from(veil == Veil::Unasked);
                continue;
            }
            if tree.nodes.len() >= ENTRIES_MAX {
                left_out += 1;
                continue;
            }
            let opened = entry.kind == FileKind::Directory && folder.depth > 1;
            let why_not = if opened { closed(&entry, &place, &folder.rules) } else { None };
            let node = tree.add(folder, self.line(&entry, &place, why_not));
            if opened && why_not.is_none() {
                let rules = folder.rules.with(self.workspace, &place);
                pending.push_back(Pending { place, depth: folder.depth - 1, rules, node: Some(node) });
            }
        }
        if listing.cut || left_out > 0 {
            tree.cut = true;
            let more = match (left_out, listing.cut) {
                (0, _) => "more".to_owned(),
                (count, true) => format!("more than {count} more"),
                (count, false) => format!("{count} more"),
            };
            tree.note(folder, format!("… {more}"));
        }
        Ok(())
    }

    fn line(&self, entry: &ListEntry, place: &Located, why_not: Option<&str>) -> String {
        let name = shown_name(&entry.name);
        match entry.kind {
            FileKind::Directory => match why_not {
                Some(why) => format!("{name}/  ({why})"),
                None => format!("{name}/"),
            },
            FileKind::File => match self.workspace.facts(place) {
                Ok(facts) => format!("{name}  {}", bytes_said(facts.size)),
                Err(_) => name,
            },
            FileKind::Symlink => {
                let target = self.workspace.link_target(place).map(|target| shown_name(&target));
                let target = target.unwrap_or_else(|_| "?".to_owned());
                let kept: String = target.chars().take(TARGET_CHARS).collect();
                format!("{name} -> {kept}{}", if kept.len() < target.len() { "…" } else { "" })
            }
            kind => format!("{name}  ({kind})"),
        }
    }
}

/// Why a folder is not opened below the one asked for.
fn closed(entry: &ListEntry, place: &Located, rules: &IgnoreRules) -> Option<&'static str> {
    if HEAVY.iter().any(|heavy| entry.name == OsStr::new(heavy)) {
        Some("not opened")
    } else if rules.ignores(&place.real, true) {
        Some("ignored by .gitignore, not opened")
    } else {
        None
    }
}

impl Tree {
    fn add(&mut self, folder: &Pending, line: String) -> usize {
        let node = self.nodes.len();
        self.nodes.push(Node { line, ..Node::default() });
        match folder.node {
            Some(parent) => self.nodes[parent].children.push(node),
            None => self.top.push(node),
        }
        node
    }

    fn note(&mut self, folder: &Pending, text: String) {
        match folder.node {
            Some(node) => self.nodes[node].rest = Some(text),
            None => self.rest = Some(text),
        }
    }

    /// How many entries it has.
    pub(super) fn shown(&self) -> usize {
        self.nodes.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.nodes.is_empty() && !self.cut && self.unasked == 0
    }

    /// How many entries are left out because a rule asks about them.
    pub(super) fn unasked(&self) -> u64 {
        self.unasked
    }

    /// There are more entries than are shown.
    pub(super) fn is_cut(&self) -> bool {
        self.cut
    }

    /// One line an entry, two blanks a level.
    pub(super) fn write(&self, out: &mut String) {
        self.write_level(&self.top, self.rest.as_deref(), 1, out);
    }

    fn write_level(&self, nodes: &[usize], rest: Option<&str>, level: usize, out: &mut String) {
        for node in nodes.iter().map(|node| &self.nodes[*node]) {
            let _ = writeln!(out, "{:1$}{2}", "", level * 2, node.line);
            self.write_level(&node.children, node.rest.as_deref(), level + 1, out);
        }
        if let Some(rest) = rest {
            let _ = writeln!(out, "{:1$}{rest}", "", level * 2);
        }
    }
}
