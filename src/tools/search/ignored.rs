//! `.gitignore` files, read by descriptor and bounded, since the workspace's owner is not trusted.

use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use crate::workspace::{FileKind, Located, Workspace};

/// The most bytes of one `.gitignore` that count.
const IGNORE_FILE_BYTES: u64 = 1024 * 1024;
/// The file's name.
pub(super) const IGNORE_FILE: &str = ".gitignore";

/// The rules of a folder on top of those of the folders above it.
#[derive(Clone, Default)]
pub(in crate::tools) struct IgnoreRules(Option<Arc<Layer>>);

struct Layer {
    own: Gitignore,
    above: IgnoreRules,
}

impl IgnoreRules {
    /// The rules in force in a folder: of the workspace's root, and of each folder on the way.
    pub(in crate::tools) fn down_to(workspace: &Workspace, folder: &Located) -> Self {
        let mut rules = Self::default();
        if !folder.inside {
            return rules.with(workspace, folder);
        }
        let mut folders: Vec<&Path> =
            folder.real.ancestors().take_while(|path| path.starts_with(workspace.root())).collect();
        folders.reverse();
        for path in folders {
            let Ok(place) = workspace.locate(workspace.root(), path) else { continue };
            rules = rules.with(workspace, &place);
        }
        rules
    }

    /// These rules and those of a folder beneath. A `.gitignore` that is no readable regular file has none.
    pub(in crate::tools) fn with(&self, workspace: &Workspace, folder: &Located) -> Self {
        let file = folder.entry(IGNORE_FILE.as_ref(), FileKind::File);
        let Ok(opened) = workspace.open_read(&file) else { return self.clone() };
        let mut bytes = Vec::new();
        if opened.take(IGNORE_FILE_BYTES).read_to_end(&mut bytes).is_err() {
            return self.clone();
        }
        let mut builder = GitignoreBuilder::new(&folder.real);
        for line in String::from_utf8_lossy(&bytes).lines() {
            // A line that is no pattern ignores nothing, as in git.
            let _ = builder.add_line(None, line);
        }
        match builder.build() {
            Ok(own) => Self(Some(Arc::new(Layer { own, above: self.clone() }))),
            Err(_) => self.clone(),
        }
    }

    /// Whether a path beneath the folder is ignored; the nearest `.gitignore` that says anything decides.
    pub(in crate::tools) fn ignores(&self, path: &Path, is_folder: bool) -> bool {
        let mut layer = &self.0;
        while let Some(here) = layer {
            match here.own.matched(path, is_folder) {
                Match::Ignore(_) => return true,
                Match::Whitelist(_) => return false,
                Match::None => layer = &here.above.0,
            }
        }
        false
    }
}
