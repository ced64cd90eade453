//! The paths that the commands of a text may use.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::super::breaker;
use super::super::commands::read_only::KnownUse;
use super::super::lexical;
use super::super::subject::{Access, PathOf, Place};
use super::word_paths::{Found, Words};
use super::{CommandAnalysis, PathUse, WordPath};

impl CommandAnalysis {
    /// Paths that the gate has to resolve and judge as paths: operands of known commands, where a `cd` leads, and
    /// the files of redirections. `git`: the operands of git too, where its repository is plain. An operand with a `..`
    /// behind a name counts twice: as the kernel takes it, and shortened by its spelling, as git and `realpath -s` do
    /// before they open it.
    pub fn path_uses(&self, git: bool) -> Vec<PathUse> {
        let Ok(script) = &self.read else { return Vec::new() };
        let mut uses = Vec::new();
        for (index, leaf) in script.leaves.iter().enumerate().filter(|(_, leaf)| !leaf.carried) {
            let known = leaf.known.iter().chain(leaf.git.iter().filter(|_| git));
            for known in known {
                let plain = PathUse {
                    path: PathBuf::new(),
                    access: Access::Read,
                    enters: leaf.moves(),
                    file_only: known.files_only,
                    of: PathOf::Leaf(index),
                };
                if !known.within.as_os_str().is_empty() {
                    let entered = leaf.directories.iter().map(|directory| directory.join(&known.within));
                    uses.extend(entered.map(|path| PathUse { path, enters: true, ..plain.clone() }));
                }
                for operand in &known.operands {
                    let shortened = lexical::shortened(Path::new(&operand.path));
                    for path in [Some(PathBuf::from(&operand.path)), shortened].into_iter().flatten() {
                        uses.extend(leaf.directories.iter().map(|directory| PathUse {
                            path: directory.join(&known.within).join(&path),
                            access: operand.access,
                            ..plain.clone()
                        }));
                    }
                }
            }
        }
        for file in &script.files {
            uses.extend(file.directories.iter().map(|directory| PathUse {
                path: directory.join(&file.path),
                access: file.access,
                enters: false,
                file_only: false,
                of: PathOf::Redirection,
            }));
        }
        uses
    }

    /// Every directory that one of its commands may start in.
    pub(in crate::permission) fn starts(&self, place: &Place) -> Vec<PathBuf> {
        let Ok(script) = &self.read else { return breaker::directories(&self.segments, place) };
        let all: BTreeSet<PathBuf> = script
            .leaves
            .iter()
            .flat_map(|leaf| &leaf.directories)
            .map(|from| place.cwd.join(from))
            .collect();
        all.into_iter().collect()
    }

    /// The same for what gits of it may look for from the tops of these working trees.
    pub(crate) fn uses_in_trees(&self, trees: &BTreeSet<PathBuf>) -> Vec<PathUse> {
        let leaves = self.read.iter().flat_map(|script| script.leaves.iter().enumerate());
        let named = leaves.filter(|(_, leaf)| !leaf.carried).flat_map(|(index, leaf)| {
            leaf.git.iter().flat_map(|known| &known.in_tree).map(move |path| (index, Path::new(path)))
        });
        let both = |path: &Path| [Some(path.to_path_buf()), lexical::shortened(path)].into_iter().flatten();
        let spelt = named.flat_map(|(index, path)| both(path).map(move |path| (index, path)));
        let counted = spelt.flat_map(|(index, path)| {
            trees.iter().map(move |tree| PathUse {
                path: tree.join(&path),
                access: Access::Read,
                enters: false,
                file_only: false,
                of: PathOf::Leaf(index),
            })
        });
        counted.collect()
    }

    /// Every path that a word of the text may mean, counted from where it starts and from where a `cd` leads.
    pub(crate) fn word_paths(&self, place: &Place) -> Cow<'_, [WordPath]> {
        match self.found(place) {
            Cow::Borrowed(found) => Cow::Borrowed(&found.paths),
            Cow::Owned(found) => Cow::Owned(found.paths),
        }
    }

    /// Whether the words hold names of files that are not among [`Self::word_paths`].
    pub(super) fn has_untold_words(&self, place: &Place) -> bool {
        self.found(place).cut
    }

    /// Whether they are more than are counted from every directory that a command may be in.
    pub(crate) fn has_unfollowed_words(&self, place: &Place) -> bool {
        self.found(place).unfollowed
    }

    /// One verdict asks several times, always from the same place.
    fn found(&self, place: &Place) -> Cow<'_, Found> {
        let (from, found) = self.words.get_or_init(|| (place.clone(), self.find(place)));
        if from == place { Cow::Borrowed(found) } else { Cow::Owned(self.find(place)) }
    }

    fn find(&self, place: &Place) -> Found {
        let mut words = Words::new(place);
        if let Ok(script) = &self.read {
            for (number, leaf) in script.leaves.iter().enumerate() {
                let mut here = places(place, &leaf.directories);
                here.extend(places(place, &leaf.git_directories()));
                let reads = leaf.known.as_ref().is_some_and(KnownUse::only_reads)
                    || script.is_known_by_its_carrier(leaf);
                // Whatever else git does in a repository that is not plain: it lists what lies in a directory.
                let stays = reads || leaf.git.as_ref().is_some_and(|known| !known.recursive);
                words.of_all(self.segments_of(number), reads, stays, &here);
            }
            for file in &script.files {
                words.of(&file.segment(), false, false, &places(place, &file.directories));
            }
        } else {
            let here = places(place, &breaker::directories(&self.segments, place));
            words.of_all(&self.segments, false, false, &here);
        }
        words.found()
    }
}

fn places(place: &Place, directories: &[PathBuf]) -> Vec<Place> {
    directories.iter().map(|directory| Place { cwd: place.cwd.join(directory), ..place.clone() }).collect()
}
