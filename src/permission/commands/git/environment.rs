//! The variables with which git obeys nothing but plain settings of its repository.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::PathBuf;

/// What Bash sets for a command of git that runs only because it is known.
pub(super) const SAFE_ENVIRONMENT: &[(&str, &str)] = &[
    // git(1): no settings but the repository's own.
    ("GIT_CONFIG_NOSYSTEM", "1"),
    ("GIT_CONFIG_SYSTEM", "/dev/null"),
    ("GIT_CONFIG_GLOBAL", "/dev/null"),
    ("GIT_ATTR_NOSYSTEM", "1"),
    // The index is not written, so no hook hears of it.
    ("GIT_OPTIONAL_LOCKS", "0"),
    // Objects that are missing are not fetched, and nothing else is.
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_ALLOW_PROTOCOL", "none"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_ASKPASS", "false"),
    ("GIT_SSH_COMMAND", "false"),
    ("GIT_PAGER", "cat"),
    ("PAGER", "cat"),
    ("GIT_EDITOR", ":"),
    ("GIT_SEQUENCE_EDITOR", ":"),
    // git-config(1): these hold over the repository's own settings.
    ("GIT_CONFIG_COUNT", "15"),
    ("GIT_CONFIG_KEY_0", "core.fsmonitor"),
    ("GIT_CONFIG_VALUE_0", "false"),
    ("GIT_CONFIG_KEY_1", "core.hooksPath"),
    ("GIT_CONFIG_VALUE_1", "/dev/null"),
    ("GIT_CONFIG_KEY_2", "core.pager"),
    ("GIT_CONFIG_VALUE_2", "cat"),
    // A directory of the workspace that looks like a repository is none.
    ("GIT_CONFIG_KEY_3", "safe.bareRepository"),
    ("GIT_CONFIG_VALUE_3", "explicit"),
    ("GIT_CONFIG_KEY_4", "log.showSignature"),
    ("GIT_CONFIG_VALUE_4", "false"),
    ("GIT_CONFIG_KEY_5", "gpg.program"),
    ("GIT_CONFIG_VALUE_5", "false"),
    ("GIT_CONFIG_KEY_6", "diff.ignoreSubmodules"),
    ("GIT_CONFIG_VALUE_6", "all"),
    ("GIT_CONFIG_KEY_7", "diff.submodule"),
    ("GIT_CONFIG_VALUE_7", "short"),
    ("GIT_CONFIG_KEY_8", "submodule.recurse"),
    ("GIT_CONFIG_VALUE_8", "false"),
    ("GIT_CONFIG_KEY_9", "status.submoduleSummary"),
    ("GIT_CONFIG_VALUE_9", "false"),
    // Nor does `diff` write the index, which it does without the optional lock.
    ("GIT_CONFIG_KEY_10", "diff.autoRefreshIndex"),
    ("GIT_CONFIG_VALUE_10", "false"),
    // What the index says of where its entries begin, and of what lay untracked, is not believed.
    ("GIT_CONFIG_KEY_11", "index.threads"),
    ("GIT_CONFIG_VALUE_11", "1"),
    ("GIT_CONFIG_KEY_12", "core.untrackedCache"),
    ("GIT_CONFIG_VALUE_12", "false"),
    // Without these git looks in the user's directory of settings, and `check-ignore -v` prints what stands there.
    ("GIT_CONFIG_KEY_13", "core.excludesFile"),
    ("GIT_CONFIG_VALUE_13", "/dev/null"),
    ("GIT_CONFIG_KEY_14", "core.attributesFile"),
    ("GIT_CONFIG_VALUE_14", "/dev/null"),
];

/// Where git takes the attributes of files from. Not from files: git asks for the attributes of each name that it meets in
/// a tree, and those may lead anywhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Attributes {
    /// From the last commit.
    OfHead,
    /// From nowhere, as there is no commit yet: an empty tree has them, in a repository whose names of objects have so many
    /// bytes.
    None(usize),
}

impl Attributes {
    /// The name of the tree. Git knows the empty one without having it (gitrepository-layout(5)).
    fn source(self) -> &'static str {
        match self {
            Self::OfHead => "HEAD",
            Self::None(32) => "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321",
            Self::None(_) => "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
        }
    }
}

/// [`SAFE_ENVIRONMENT`] for a text whose gits find these working trees: git takes them though they are another user's
/// (git-config(1), `safe.directory`, which counts in variables as it does for a command). What that guards against, hooks and
/// settings of others, has been looked at or is switched off.
pub(crate) fn safe_environment(
    trees: &BTreeSet<PathBuf>,
    attributes: Attributes,
) -> Vec<(OsString, OsString)> {
    const COUNT: &str = "GIT_CONFIG_COUNT";
    let is_setting = |name: &str| name.starts_with("GIT_CONFIG_KEY_");
    let own = SAFE_ENVIRONMENT.iter().filter(|(name, _)| is_setting(name)).count();
    let constant = SAFE_ENVIRONMENT.iter().filter(|(name, _)| *name != COUNT);
    let mut environment: Vec<(OsString, OsString)> =
        constant.map(|(name, value)| (name.into(), value.into())).collect();
    // git(1), since 2.41. Where git finds no such tree it ends: it does not look at files then.
    environment.push(("GIT_ATTR_SOURCE".into(), attributes.source().into()));
    environment.push((COUNT.into(), (own + trees.len()).to_string().into()));
    for (number, tree) in (own..).zip(trees) {
        environment.push((format!("GIT_CONFIG_KEY_{number}").into(), "safe.directory".into()));
        environment.push((format!("GIT_CONFIG_VALUE_{number}").into(), tree.clone().into()));
    }
    environment
}
