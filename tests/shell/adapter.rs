//! The one place that knows the form in which an analysis says what a text runs.

use toolgate::permission::shell::{self, CommandAnalysis};
use toolgate::permission::subject::Access;

/// What an analysis that understood the text says of it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Reported {
    pub(crate) leaves: Vec<Leaf>,
    /// Files that redirections change, and those that they read.
    pub(crate) targets: Vec<String>,
    pub(crate) sources: Vec<String>,
}

/// One program or builtin that the text runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Leaf {
    pub(crate) words: Vec<String>,
    /// More words may follow.
    pub(crate) open: bool,
}

impl Leaf {
    /// Whether the leaf says that a program was started with these words.
    pub(crate) fn covers(&self, words: &[String]) -> bool {
        let [name, arguments @ ..] = self.words.as_slice() else { return false };
        let [ran, given @ ..] = words else { return false };
        name.rsplit('/').next() == Some(ran)
            && (arguments == given || self.open && given.starts_with(arguments))
    }
}

/// `None`: the text is not understood.
pub(crate) fn reported(text: &str) -> Option<Reported> {
    let analysis = shell::analyse(text);
    let script = analysis.understood()?;
    let leaf = |leaf: &shell::Leaf| Leaf { words: leaf.words.clone(), open: leaf.open };
    let files = |reads: bool| {
        let files = script.files().iter().filter(move |file| (file.access == Access::Read) == reads);
        files.map(|file| file.path.clone()).collect()
    };
    Some(Reported {
        leaves: script.leaves().iter().map(leaf).collect(),
        targets: files(false),
        sources: files(true),
    })
}

/// Every size that has a bound, for a text of any kind: how much an analysis holds.
pub(crate) fn size(analysis: &CommandAnalysis) -> usize {
    analysis.segments().iter().map(|s| s.text().len()).sum()
}

/// Panics of a parser that the analysis catches are not shown: there are many, and each is as it should be.
pub(crate) fn hide_caught_panics() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        let shown = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            if !shell::is_caught(panic) {
                shown(panic);
            }
        }));
    });
}
