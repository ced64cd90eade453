//! What the rules that narrow say of what lies beneath directories, and of what words do not tell.

use std::path::{Path, PathBuf};

use super::commands::open_ended::OpenEnded;
use super::policy::Policy;
use super::protected;
use super::rule_list::RuleList;
use super::shell::WordPath;
use super::subject::{Hold, Place, Subject};
use super::verdict::{By, Reason};

/// The rules that hold back what they speak of, in sessions of one kind.
#[derive(Clone, Copy)]
pub(super) struct Narrowing<'p> {
    /// The sessions that they hold in.
    pub(super) hold: Hold,
    first: &'p RuleList,
    second: Option<&'p RuleList>,
    own_paths: &'p [PathBuf],
}

impl Policy {
    /// The rules that hold in every session: of deny and of always_ask.
    pub(super) fn in_every_session(&self) -> Narrowing<'_> {
        Narrowing {
            hold: Hold::Always,
            first: &self.deny,
            second: Some(&self.always_ask),
            own_paths: self.own_paths(),
        }
    }

    /// Those of ask, which bypass passes over.
    pub(super) fn unless_bypass(&self) -> Narrowing<'_> {
        Narrowing { hold: Hold::UnlessBypass, first: &self.ask, second: None, own_paths: &[] }
    }

    /// All that narrow a session.
    pub(super) fn narrowing(&self, bypass: bool) -> impl Iterator<Item = Narrowing<'_>> + Clone {
        std::iter::once(self.in_every_session()).chain((!bypass).then(|| self.unless_bypass()))
    }

    /// Whether a question about a search of this path (absolute, resolved) would be one about its being read.
    pub(super) fn asks_about_reading(&self, path: &Path, place: &Place, bypass: bool) -> bool {
        let path = place.resolve(path);
        let mut lists = std::iter::once(&self.always_ask).chain((!bypass).then_some(&self.ask));
        lists.any(|list| list.read_guard(&path, place).is_some())
    }

    /// Whether a rule that asks speaks of reading anything.
    pub(super) fn may_ask_about_reading(&self, bypass: bool) -> bool {
        self.always_ask.guards_reads() || !bypass && self.ask.guards_reads()
    }
}

impl<'p> Narrowing<'p> {
    fn lists(self) -> impl Iterator<Item = &'p RuleList> {
        std::iter::once(self.first).chain(self.second)
    }

    /// Whether one speaks of reading `path` (absolute, without dots), or it is Toolgate's own.
    pub(super) fn hides(self, path: &Path, place: &Place) -> bool {
        protected::is_own(path, self.own_paths)
            || self.lists().any(|list| list.read_guard(path, place).is_some())
    }

    /// Whether something that is hidden may lie beneath the directory, for all that the rules say.
    pub(super) fn may_hide_beneath(self, directory: &Path, place: &Place) -> bool {
        self.own_paths.iter().any(|own| own.starts_with(directory))
            || self.lists().any(|list| list.reads_beneath(directory, place))
    }

    /// Whether one speaks of reading anything.
    pub(super) fn guards_reads(self) -> bool {
        self.lists().any(RuleList::guards_reads)
    }

    /// Whether one speaks of paths.
    pub(super) fn guards_paths(self) -> bool {
        self.lists().any(RuleList::guards_paths)
    }

    /// Whether one speaks of a change of this path (absolute, without dots).
    pub(super) fn guards(self, path: &Path, place: &Place) -> bool {
        let [path, written] = [path.to_path_buf(), PathBuf::new()];
        let word =
            [WordPath { path, written, may_edit: true, descends: false, directory: false, sweeps: false }];
        self.any_word(place, &word)
    }

    fn any_word(self, place: &Place, words: &[WordPath]) -> bool {
        self.lists().any(|list| list.any_word(place, words).is_some())
    }

    /// Whether one speaks of what a word for this path would do, for all that is known.
    pub(super) fn speaks_of_word(self, path: &Path, may_edit: bool, place: &Place) -> bool {
        self.lists().any(|list| list.guards_word(path, may_edit, place))
    }

    /// Directories that words mean to go into, for all that is known, and beneath which what a rule speaks of may lie.
    pub(super) fn directories_that_may_hold<'w>(
        self,
        words: &'w [WordPath],
        place: &'w Place,
    ) -> impl Iterator<Item = &'w WordPath>
    where
        'p: 'w,
    {
        let reaches = move |word: &WordPath| self.lists().any(|list| list.reaches_beneath(word, place));
        words.iter().filter(move |word| word.directory && word.descends && reaches(word))
    }

    /// Whether what a rule hides may lie where the command descends.
    pub(super) fn hides_beneath(self, subject: &Subject<'_>) -> bool {
        self.guards_reads() && !subject.on_disk.nothing_hidden.is_known(self.hold)
    }

    /// Whether a rule speaks of a name that one of these may be.
    fn may_name(self, made: &[OpenEnded]) -> bool {
        self.lists().any(|list| list.may_name(made))
    }

    /// A command whose words do not say all that it reads or changes, where rules are about paths.
    pub(super) fn might_reach(self, subject: &Subject<'_>, words: &[WordPath]) -> Option<Reason> {
        let command = subject.command.as_ref()?;
        let (on_disk, place) = (&subject.on_disk, &subject.place);
        let located = on_disk.operands_located && on_disk.words_located;
        let guards_paths = self.guards_paths();
        let none_there = on_disk.nothing_denied.is_known(self.hold);
        let in_its_place = |word: &WordPath| self.lists().any(|list| list.reaches_in_its_place(word, place));
        let reaches_beneath = |word: &WordPath| self.lists().any(|list| list.reaches_beneath(word, place));
        let rules = match self.hold {
            Hold::Always => "rules that hold in every session",
            Hold::UnlessBypass => "rules that ask",
        };
        let text = if guards_paths && !located {
            "it is not known where a path in it leads, and {rules} speak of paths"
        } else if guards_paths && command.opens_untold_names(place) {
            "a program in it gets names of files that are not told, and {rules} speak of paths"
        } else if guards_paths && command.open_ended().is_none_or(|made| self.may_name(&made)) {
            "it makes names of a beginning that it is given, and a rule speaks of such a name"
        } else if guards_paths && command.may_follow_new_links() {
            "a command of it may make a link, so it is not known where a path of another one leads, and {rules} speak of paths"
        } else if self.hides_beneath(subject) && command.descends() {
            "it reads what lies beneath a directory, and what may not be read unasked may be there"
        } else if self.directories_that_may_hold(words, place).any(|word| !none_there || in_its_place(word)) {
            "it is given a directory in which there may be what a rule denies or asks about"
        } else if words.iter().filter(|word| word.sweeps).any(reaches_beneath) {
            "it takes files that it does not name, and {rules} may speak of them"
        } else if self.any_word(place, &on_disk.may_lead) {
            "a pattern or a copy in it reaches a path that a rule speaks of"
        } else {
            return None;
        };
        Some(Reason::new(By::Protection, text.replace("{rules}", rules)))
    }
}
