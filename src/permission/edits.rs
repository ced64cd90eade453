//! What a call changes, as far as its arguments or the words of its command say, held against files that another call needs
//! as they are.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs::Metadata;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Component, Path, PathBuf};

use globset::{GlobBuilder, GlobMatcher};

use super::commands::changes::{self, Changed};
use super::commands::copies::Copy;
use super::located::{self, Lost};
use super::shell::CommandAnalysis;
use super::subject::{Access, Place, Subject};
use crate::workspace::Workspace;

/// Most words of one command that are looked up; where there are more, all of the workspace counts.
const MAX_WORDS: usize = 256;
/// As many links on the way as the kernel follows.
const MAX_LINKS: usize = 40;

/// What is changed. Paths are absolute.
#[derive(Debug, Clone, Default)]
pub struct Edits {
    /// As they really lie.
    files: Vec<PathBuf>,
    /// With all that lies beneath them.
    beneath: Vec<PathBuf>,
    /// Patterns of names; with all that lies beneath what matches.
    patterns: Vec<GlobMatcher>,
    copies: Vec<Copied>,
    /// All of this directory, since what is changed is not told.
    untold: Option<PathBuf>,
}

/// A file that is told by place and by number, so that it is known by its other names, too.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Inode(u64, u64);

impl Inode {
    fn of(meta: &Metadata) -> Self {
        Self(meta.dev(), meta.ino())
    }

    /// Of a file that has other names.
    pub(crate) fn of_several_names(path: &Path) -> Option<Self> {
        let meta = path.symlink_metadata().ok()?;
        (meta.is_file() && meta.nlink() > 1).then(|| Self::of(&meta))
    }
}

/// What one command copies, moves or links.
#[derive(Debug, Clone)]
struct Copied {
    /// By its name, and where that leads.
    targets: Vec<PathBuf>,
    sources: Vec<Source>,
    recursive: bool,
}

#[derive(Debug, Clone)]
enum Source {
    /// As it is written, and where it lies.
    Told(PathBuf, PathBuf),
    /// The name stands for several.
    Pattern(GlobMatcher),
    Untold,
}

impl Edits {
    /// Of a call that says which files it changes.
    pub fn of_files(files: impl IntoIterator<Item = PathBuf>) -> Self {
        Self { files: files.into_iter().collect(), ..Self::default() }
    }

    /// What the call is known to change. Looks at the disk.
    pub(super) fn of(subject: &Subject<'_>, workspace: Option<&Workspace>) -> Self {
        let edited = subject.paths.iter().filter(|path| path.access == Access::Edit);
        let mut edits = Self::of_files(edited.map(|path| path.real.clone()));
        if let (Some(command), Some(workspace)) = (&subject.command, workspace)
            && !command.changes_nothing()
        {
            edits.of_command(command, &subject.place, workspace);
        }
        edits
    }

    fn of_command(&mut self, command: &CommandAnalysis, place: &Place, workspace: &Workspace) {
        let (changed, several) =
            changes::of(command.segments(), ["$(", "`"].iter().any(|begin| command.text().contains(begin)));
        if changed.is_empty() {
            return;
        }
        let starts = command.starts(place);
        // Behind a link that one command makes, another one changes what is not seen yet.
        if changed.len() * starts.len() > MAX_WORDS || several && !command.paths_stay() {
            self.untold = Some(place.workspace.clone());
            return;
        }
        for start in starts {
            let here = Here { workspace, place: &Place { cwd: start, ..place.clone() } };
            for changed in &changed {
                if self.note(changed, several, &here).is_err() {
                    self.untold = Some(place.workspace.clone());
                }
            }
        }
    }

    /// An error where it is not told. `several`: other commands of the text change something, too.
    fn note(&mut self, changed: &Changed, several: bool, here: &Here<'_>) -> Result<(), Lost> {
        match changed {
            Changed::Named(word) => match here.word(word) {
                Word::Pattern(glob) => self.patterns.push(glob),
                Word::Told(path) | Word::Untold(Some(path)) => self.beneath.extend(here.names(&path)?),
                Word::Untold(None) => return Err(Lost),
            },
            Changed::Beneath(word) => match here.word(word) {
                Word::Told(path) | Word::Untold(Some(path)) => self.beneath.extend(here.names(&path)?),
                Word::Pattern(_) | Word::Untold(None) => return Err(Lost),
            },
            Changed::Tree if here.place.cwd.starts_with(&here.place.workspace) => {
                self.beneath.push(here.place.workspace.clone());
            }
            Changed::Tree => self.beneath.extend(here.names(&here.place.cwd)?),
            Changed::Copies(copy) => match here.word(&copy.target) {
                // What is copied may not be there yet.
                Word::Told(target) if several && copy.recursive => self.beneath.extend(here.names(&target)?),
                Word::Told(target) => self.copies.push(here.copied(copy, &target)?),
                _ => return Err(Lost),
            },
            Changed::Untold => return Err(Lost),
        }
        Ok(())
    }

    /// Whether nothing is known to be changed.
    pub(crate) fn is_empty(&self) -> bool {
        let Self { files, beneath, patterns, copies, untold } = self;
        files.is_empty() && beneath.is_empty() && patterns.is_empty() && copies.is_empty() && untold.is_none()
    }

    /// Whether the path is changed, or a directory or link that it leads through. Looks at the disk.
    pub(crate) fn touch(&self, path: &Path) -> bool {
        self.files.iter().any(|file| file == path)
            || self.beneath.iter().chain(&self.untold).any(|above| path.starts_with(above))
            || self.patterns.iter().any(|glob| path.ancestors().any(|above| glob.is_match(above)))
            || self.copies.iter().any(|copied| copied.touch(path))
    }

    /// Whether one of these files is changed by another name that it has.
    pub(crate) fn touch_one_of(&self, inodes: &[Inode]) -> bool {
        let of_one = |path: &PathBuf| path.metadata().is_ok_and(|meta| inodes.contains(&Inode::of(&meta)));
        !inodes.is_empty() && self.files.iter().chain(&self.beneath).any(of_one)
    }
}

impl Copied {
    fn touch(&self, path: &Path) -> bool {
        self.targets.iter().any(|target| {
            path == target
                || path
                    .strip_prefix(target)
                    .is_ok_and(|within| self.sources.iter().any(|source| self.brings(source, within)))
        })
    }

    /// Whether a source brings what gets to lie so in the target.
    fn brings(&self, source: &Source, within: &Path) -> bool {
        let mut parts = within.components();
        let Some(Component::Normal(first)) = parts.next() else { return false };
        let rest = parts.as_path();
        let alone = rest.as_os_str().is_empty();
        match source {
            Source::Untold => alone || self.recursive,
            Source::Pattern(glob) => (alone || self.recursive) && glob.is_match(first),
            Source::Told(written, real) => {
                let named = written.file_name() == Some(first);
                let there = |path: PathBuf| self.recursive && path.symlink_metadata().is_ok();
                // `cp --parents` keeps the way.
                named && alone
                    || within == written
                    || there(real.join(within))
                    || named && there(real.join(rest))
            }
        }
    }
}

/// What a word stands for.
enum Word {
    Told(PathBuf),
    Pattern(GlobMatcher),
    /// Something beneath the directory, where that is told.
    Untold(Option<PathBuf>),
}

/// Where words count from.
struct Here<'a> {
    workspace: &'a Workspace,
    place: &'a Place,
}

impl Here<'_> {
    fn word(&self, word: &str) -> Word {
        let written = self.place.word_target(word);
        let bytes = written.as_os_str().as_bytes();
        // The home of others, and where the shell was before (`~user`, `~+`), are not looked up.
        let elsewhere = word.strip_prefix('~').is_some_and(|rest| !rest.is_empty() && !rest.starts_with('/'));
        if word.contains("{}") || elsewhere {
            return Word::Untold(None);
        }
        if bytes.iter().any(|byte| matches!(byte, b'$' | b'`')) {
            let put =
                |part: &Component<'_>| part.as_os_str().as_bytes().iter().any(|b| matches!(b, b'$' | b'`'));
            let above = written.components().take_while(|part| !put(part)).collect();
            let turns = written.components().any(|part| part == Component::ParentDir);
            return Word::Untold((!turns).then_some(above));
        }
        if !located::is_pattern(written.as_os_str()) {
            return Word::Told(written);
        }
        let glob = self.place.resolve(&written).to_str().and_then(glob);
        glob.map_or(Word::Untold(None), Word::Pattern)
    }

    /// A path by its name, and where that leads.
    fn names(&self, written: &Path) -> Result<Vec<PathBuf>, Lost> {
        let mut names = vec![self.place.resolve(written)];
        names.extend(self.find(written)?);
        if let (Some(parent), Some(name)) = (written.parent(), written.file_name()) {
            names.extend(self.find(parent)?.map(|parent| parent.join(name)));
        }
        names.sort_unstable();
        names.dedup();
        Ok(names)
    }

    fn find(&self, path: &Path) -> Result<Option<PathBuf>, Lost> {
        let located = located::find(self.workspace, &self.place.cwd, path)?;
        Ok(located.map(|located| located.real))
    }

    fn copied(&self, copy: &Copy, target: &Path) -> Result<Copied, Lost> {
        let source = |word: &String| {
            Ok(match self.word(word) {
                Word::Told(path) => {
                    let written =
                        Path::new(word).components().filter(|part| *part != Component::CurDir).collect();
                    Source::Told(written, self.find(&path)?.unwrap_or(path))
                }
                Word::Pattern(_) => {
                    let name = Path::new(word).file_name().and_then(OsStr::to_str).and_then(glob);
                    name.map_or(Source::Untold, Source::Pattern)
                }
                Word::Untold(_) => Source::Untold,
            })
        };
        Ok(Copied {
            targets: self.names(target)?,
            sources: copy.sources.iter().map(source).collect::<Result<_, Lost>>()?,
            recursive: copy.recursive,
        })
    }
}

fn glob(pattern: &str) -> Option<GlobMatcher> {
    let glob = GlobBuilder::new(pattern).literal_separator(true).case_insensitive(true).build();
    glob.ok().map(|glob| glob.compile_matcher())
}

/// The links that the paths of the call's command lead through: whoever puts others in their places changes what it runs.
pub(super) fn led_through(subject: &Subject<'_>) -> Vec<PathBuf> {
    if subject.command.is_none() {
        return Vec::new();
    }
    let on_disk = &subject.on_disk;
    let words = on_disk.leads.iter().chain(&on_disk.may_lead).map(|word| &word.written);
    let written: HashSet<&PathBuf> = words.chain(subject.paths.iter().map(|path| &path.requested)).collect();
    let mut links: Vec<PathBuf> = written.into_iter().flat_map(|path| links_on(path)).collect();
    links.sort_unstable();
    links.dedup();
    links
}

/// Every link on the way of an absolute path, by where it really lies.
fn links_on(path: &Path) -> Vec<PathBuf> {
    let mut links = Vec::new();
    let mut at = PathBuf::from("/");
    let mut todo: Vec<_> = owned(path).rev().collect();
    while let Some(part) = todo.pop() {
        if part == ".." {
            at.pop();
            continue;
        }
        at.push(part);
        let Ok(target) = at.read_link() else { continue };
        if links.len() == MAX_LINKS {
            break;
        }
        links.push(at.clone());
        at.pop();
        if target.is_absolute() {
            at = PathBuf::from("/");
        }
        todo.extend(owned(&target).rev());
    }
    links
}

fn owned(path: &Path) -> impl DoubleEndedIterator<Item = std::ffi::OsString> {
    let parts = path.components().filter(|part| matches!(part, Component::Normal(_) | Component::ParentDir));
    parts.map(|part| part.as_os_str().to_owned()).collect::<Vec<_>>().into_iter()
}
