//! Paths that no rule can free: Toolgate's own are denied, those that other programs obey ask before a change.

use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use super::lexical;
use super::name_pattern::NamePattern;
use super::subject::Place;

/// Names that are protected wherever they stand in a path, with all that lies beneath.
const NAMES: &[&str] = &[
    // Repositories (a new or moved one too) and what they obey.
    ".git",
    ".husky",
    ".pre-commit-config.yaml",
    ".pre-commit-config.yml",
    ".gitmodules",
    ".gitattributes",
    ".gitconfig",
    ".githooks",
    ".hg",
    ".hgrc",
    ".jj",
    ".svn",
    // Shell start-up files.
    ".bashrc",
    ".bash_profile",
    ".bash_login",
    ".bash_logout",
    ".bash_aliases",
    ".profile",
    ".zshrc",
    ".zshenv",
    ".zprofile",
    ".zlogin",
    ".zlogout",
    ".kshrc",
    ".mkshrc",
    ".cshrc",
    ".tcshrc",
    ".login",
    ".logout",
    ".inputrc",
    "config.fish",
    ".envrc",
    // Managers of hooks, tools and packages, which run what these say.
    "lefthook.yml",
    "lefthook.yaml",
    "lefthook.toml",
    "lefthook.json",
    "lefthook.jsonc",
    ".lefthook.yml",
    ".lefthook.yaml",
    ".lefthook.toml",
    ".lefthook.json",
    ".lefthook.jsonc",
    "lefthook-local.yml",
    "lefthook-local.yaml",
    "lefthook-local.toml",
    "lefthook-local.json",
    "lefthook-local.jsonc",
    ".lefthook-local.yml",
    ".lefthook-local.yaml",
    ".lefthook-local.toml",
    ".lefthook-local.json",
    ".lefthook-local.jsonc",
    "mise.toml",
    ".mise.toml",
    "mise.local.toml",
    ".mise.local.toml",
    ".mise",
    ".tool-versions",
    ".npmrc",
    ".yarnrc",
    ".yarnrc.yml",
    ".pnpmfile.cjs",
    ".pnpmfile.mjs",
    "bunfig.toml",
    "rust-toolchain",
    "rust-toolchain.toml",
    ".miserc.toml",
    ".prototools",
    "aqua.yaml",
    "aqua.yml",
    ".aqua.yaml",
    ".aqua.yml",
    ".pnp.cjs",
    ".pnp.loader.mjs",
    // What programs read in one's home, which may be the workspace.
    ".curlrc",
    ".wgetrc",
    ".sqliterc",
    ".psqlrc",
    ".gdbinit",
    ".gdbearlyinit",
    ".lldbinit",
    ".xinitrc",
    ".xprofile",
    ".ssh",
    ".gnupg",
    // Editors and agents.
    ".vimrc",
    ".gvimrc",
    ".emacs",
    ".emacs.d",
    ".exrc",
    ".nvimrc",
    ".nvim.lua",
    ".dir-locals.el",
    ".dir-locals-2.el",
    ".agents",
    ".mcp.json",
    ".vscode",
    ".devcontainer",
    ".devcontainer.json",
    ".idea",
    ".zed",
    ".claude",
    "AGENTS.md",
    "AGENTS.override.md",
    "CLAUDE.md",
    "CLAUDE.local.md",
    "GEMINI.md",
    ".gemini",
    ".codex",
    ".cursor",
    ".cursorrules",
    ".windsurf",
    ".windsurfrules",
    ".clinerules",
    ".aider.conf.yml",
    ".roo",
    ".roorules",
    ".roomodes",
    ".kiro",
    ".junie",
    ".trae",
    ".amazonq",
    ".continue",
    ".continuerules",
    ".opencode",
    ".opencode.json",
    "opencode.json",
    "opencode.jsonc",
    ".qwen",
    "QWEN.md",
    // Continuous integration.
    ".gitlab-ci.yml",
    ".gitlab-ci.yaml",
    ".circleci",
    ".travis.yml",
    "Jenkinsfile",
    "azure-pipelines.yml",
    "bitbucket-pipelines.yml",
    ".buildkite",
    ".drone.yml",
    ".woodpecker",
    ".woodpecker.yml",
    "appveyor.yml",
    ".appveyor.yml",
    ".cirrus.yml",
];

/// Names that are protected beneath a certain directory. The directory itself is, too: who moves it moves them.
const BENEATH: &[(&str, &[&str])] = &[
    (".cargo", &["config.toml", "config"]),
    (
        ".github",
        &[
            "workflows",
            "actions",
            "copilot-instructions.md",
            "instructions",
            "prompts",
            "agents",
            "hooks",
            "skills",
        ],
    ),
    (".forgejo", &["workflows", "actions"]),
    (".gitea", &["workflows", "actions"]),
    (".config", &["git", "fish", "mise", "mise.toml"]),
    (".ci", &["run"]),
    (".yarn", &["releases", "plugins"]),
];

/// The same where the directory may be any other's, too, and is not protected itself.
const BENEATH_PLAIN: &[(&str, &[&str])] = &[("mise", &["config.toml", "config.*.toml", "conf.d"])];

/// Endings of names that are protected like [`NAMES`]: tasks and settings of an editor's workspace.
const ENDINGS: &[&str] = &[".code-workspace"];

/// Names that are protected like [`NAMES`], whatever stands in the star's place: what mise reads for one of its environments.
const AROUND: &[&str] = &["mise.*.toml", ".mise.*.toml"];

/// What stands for all hidden names of a home.
const IN_HOME: &str = "~/.*";

/// The protected name in `path` (absolute, without dots), if a change to it has to be confirmed. Letters match
/// in either case: the file system may not tell them apart.
pub(crate) fn protected_name(path: &Path, place: &Place) -> Option<&'static str> {
    if is_setting_of_home(path, place) {
        return Some(IN_HOME);
    }
    // A workspace that itself lies beneath such a name is not all protected.
    let path = lexical::within(path, &place.workspace).unwrap_or(path.as_os_str().as_bytes());
    let mut parts = path.split(|byte| *byte == b'/').filter_map(|part| str::from_utf8(part).ok());
    let mut next = parts.next();
    while let Some(part) = next {
        next = parts.next();
        if let Some(ending) = ENDINGS.iter().find(|ending| ends_with(part, ending)) {
            return Some(ending);
        }
        if let Some(around) = AROUND.iter().find(|around| stands_around(part, around)) {
            return Some(around);
        }
        if !may_be_listed(part) {
            continue;
        }
        if let Some(name) = NAMES.iter().find(|n| n.eq_ignore_ascii_case(part)) {
            return Some(name);
        }
        let below = BENEATH.iter().find(|(directory, _)| directory.eq_ignore_ascii_case(part));
        if let Some((directory, names)) = below {
            match next {
                None => return Some(directory),
                Some(child) if names.iter().any(|n| n.eq_ignore_ascii_case(child)) => return Some(directory),
                Some(_) => {}
            }
        }
        let plain = BENEATH_PLAIN.iter().find(|(directory, _)| directory.eq_ignore_ascii_case(part));
        if let (Some((directory, names)), Some(child)) = (plain, next)
            && names.iter().any(|name| name.eq_ignore_ascii_case(child) || stands_around(child, name))
        {
            return Some(directory);
        }
    }
    None
}

/// Whether the path lies in a home that is a workspace, or beneath one, behind a name with a dot in front: all of these are
/// settings of programs that the user runs.
fn is_setting_of_home(path: &Path, place: &Place) -> bool {
    let home = place.home.as_deref().filter(|home| lexical::within(home, &place.workspace).is_some());
    home.and_then(|home| lexical::within(path, home)).is_some_and(|within| within.starts_with(b"."))
}

/// Whether a list may have the name, or a directory of that name: asked of each part of each path, it tells most apart by
/// length and first letter.
fn may_be_listed(name: &str) -> bool {
    static LENGTHS: LazyLock<[u64; 256]> = LazyLock::new(|| {
        let directories = BENEATH.iter().chain(BENEATH_PLAIN).map(|(directory, _)| directory);
        let mut lengths = [0; 256];
        for name in NAMES.iter().chain(directories) {
            if let Some(first) = name.bytes().next() {
                lengths[usize::from(first.to_ascii_lowercase())] |= bit(name.len());
            }
        }
        lengths
    });
    let first = name.bytes().next().map(|first| first.to_ascii_lowercase());
    first.is_some_and(|first| LENGTHS[usize::from(first)] & bit(name.len()) != 0)
}

/// Of a length; all beyond the last one share that.
fn bit(length: usize) -> u64 {
    1 << length.min(63)
}

fn ends_with(name: &str, ending: &str) -> bool {
    let at = name.len().checked_sub(ending.len());
    at.and_then(|at| name.get(at..)).is_some_and(|end| end.eq_ignore_ascii_case(ending))
}

fn stands_around(name: &str, around: &str) -> bool {
    let Some((beginning, ending)) = around.split_once('*') else { return false };
    let begins = name.get(..beginning.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(beginning));
    begins && name.len() > beginning.len() + ending.len() && ends_with(name, ending)
}

/// The protected name that may be in a path for which these patterns stand, one between two slashes each.
pub(crate) fn may_be_among(parts: &[NamePattern]) -> Option<&'static str> {
    parts.iter().enumerate().find_map(|(at, part)| {
        let beneath = |names: &[&str]| {
            let next = parts.get(at + 1);
            part.has_star() || next.is_none_or(|next| names.iter().any(|name| next.may_be(name, true)))
        };
        let by_itself = NAMES.iter().chain(ENDINGS).find(|name| part.may_be(name, false)).copied();
        let begins = |around: &&str| part.begins_with(around.split('*').next().unwrap_or(around));
        let around = || AROUND.iter().copied().find(begins);
        let plain = || {
            let may_be = |next: &NamePattern, name: &&str| match name.split_once('*') {
                Some((beginning, _)) => next.begins_with(beginning),
                None => next.may_be(name, true),
            };
            let next_is = |names: &[&str]| {
                parts.get(at + 1).is_some_and(|next| names.iter().any(|name| may_be(next, name)))
            };
            BENEATH_PLAIN.iter().find(|row| part.may_be(row.0, false) && next_is(row.1)).map(|row| row.0)
        };
        by_itself.or_else(around).or_else(plain).or_else(|| {
            let directory = |row: &&(&str, &[&str])| part.may_be(row.0, false) && beneath(row.1);
            BENEATH.iter().find(directory).map(|(directory, _)| *directory)
        })
    })
}

/// Every name that is a protected one, or a part of one.
pub(crate) fn parts() -> impl Iterator<Item = &'static str> {
    let beneath = BENEATH.iter().flat_map(|(directory, names)| std::iter::once(directory).chain(*names));
    NAMES.iter().chain(ENDINGS).chain(beneath).copied()
}

/// Whether `path` is or lies beneath one of Toolgate's own.
pub(crate) fn is_own(path: &Path, own: &[PathBuf]) -> bool {
    own.iter().any(|o| path.starts_with(o))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_names_of_a_home_that_a_workspace_holds_are_protected() {
        let name = |path: &str, workspace: &str| {
            let home = Some("/srv/u".into());
            let place = Place { workspace: workspace.into(), home, cwd: workspace.into() };
            protected_name(Path::new(path), &place)
        };
        for path in ["/srv/u/.rustup/settings.toml", "/srv/u/.jq", "/srv/u/.config/nvim/init.lua"] {
            assert_eq!(name(path, "/srv/u"), Some(IN_HOME), "{path}");
            assert_eq!(name(path, "/srv"), Some(IN_HOME), "{path}");
            assert_eq!(name(path, "/srv/u/project"), None, "{path}");
            assert_eq!(name(path, "/srv/u/.rustup"), None, "{path}");
        }
        for path in ["/srv/u/src/.jq", "/srv/u", "/srv/.jq", "/srv/u/x"] {
            assert_eq!(name(path, "/srv"), None, "{path}");
        }
    }

    #[test]
    fn names_are_found_at_any_depth() {
        let place = Place { workspace: "/ws".into(), home: None, cwd: "/ws".into() };
        let name = |path: &str| protected_name(Path::new(path), &place);
        for (path, want) in [
            ("/ws/.git/hooks/pre-commit", Some(".git")),
            ("/ws/sub/.git", Some(".git")),
            ("/ws/.GIT/config", Some(".git")),
            ("/elsewhere/.git/config", Some(".git")),
            ("/ws/.gitignore", None),
            ("/ws/x.git/config", None),
            ("/ws/.cargo/config.toml", Some(".cargo")),
            ("/ws/.cargo", Some(".cargo")),
            ("/ws/.cargo/registry/x", None),
            ("/ws/.github/workflows/ci.yml", Some(".github")),
            ("/ws/.github/ISSUE_TEMPLATE.md", None),
            ("/ws/agents.md", Some("AGENTS.md")),
            ("/ws/docs/CLAUDE.md", Some("CLAUDE.md")),
            ("/ws/GEMINI.md", Some("GEMINI.md")),
            ("/ws/.cursor/rules/a.mdc", Some(".cursor")),
            ("/ws/.github/copilot-instructions.md", Some(".github")),
            ("/ws/.config/mise/config.toml", Some(".config")),
            ("/ws/x.Code-Workspace", Some(".code-workspace")),
            ("/ws/code-workspace", None),
            ("/ws/.yarn/releases/yarn.cjs", Some(".yarn")),
            ("/ws/.yarn/cache/x.zip", None),
            ("/ws/.zed/tasks.json", Some(".zed")),
            ("/ws/mise.ci.toml", Some("mise.*.toml")),
            ("/ws/sub/.Mise.ci.local.toml", Some(".mise.*.toml")),
            ("/ws/mise.toml", Some("mise.toml")),
            ("/ws/mise..toml", None),
            ("/ws/promise.ci.toml", None),
            ("/ws/mise/config.toml", Some("mise")),
            ("/ws/mise/config.ci.toml", Some("mise")),
            ("/ws/Mise/Config.ci.local.toml", Some("mise")),
            ("/ws/mise/config.ci.md", None),
            ("/ws/mise/notes.md", None),
            ("/ws/.config/lefthook.json", Some("lefthook.json")),
            ("/ws/.Lefthook-local.yaml", Some(".lefthook-local.yaml")),
            ("/ws/lefthook-local.toml", Some("lefthook-local.toml")),
            ("/ws/.lefthook.jsonc", Some(".lefthook.jsonc")),
            ("/ws/lefthook.rs", None),
            ("/ws/bin/mise", None),
            ("/ws/.prototools", Some(".prototools")),
            ("/ws/aqua.yaml", Some("aqua.yaml")),
            ("/ws/.pnp.cjs", Some(".pnp.cjs")),
            ("/ws/.github/hooks/a.json", Some(".github")),
            ("/ws/.github/skills/a/SKILL.md", Some(".github")),
            ("/ws/.agents/skills/a/SKILL.md", Some(".agents")),
            ("/ws/.nvim.lua", Some(".nvim.lua")),
            ("/ws/.dir-locals-2.el", Some(".dir-locals-2.el")),
            ("/ws/qwen.md", Some("QWEN.md")),
            ("/home/u/.bashrc", Some(".bashrc")),
            ("/ws/.envrc", Some(".envrc")),
            ("/ws/src/main.rs", None),
        ] {
            assert_eq!(name(path), want, "{path}");
        }
        let odd = Place { workspace: "/x/.claude/ws".into(), home: None, cwd: "/x/.claude/ws".into() };
        assert_eq!(protected_name(Path::new("/x/.claude/ws/a.rs"), &odd), None);
        assert!(protected_name(Path::new("/x/.claude/b"), &odd).is_some());
    }

    #[test]
    fn own_paths_compare_by_whole_names() {
        let own = [PathBuf::from("/var/toolgate")];
        assert!(is_own(Path::new("/var/toolgate/tokens/agent"), &own));
        assert!(!is_own(Path::new("/var/toolgate-x"), &own));
    }
}
