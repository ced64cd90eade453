//! Subcommands that make a repository, write settings that others obey, or add programs that a tool runs from then on.
//!
//! Those of git, whose forms need more than a table, stand beside its reading forms.

use super::super::lexical::between_blanks;
use super::first_words;
use super::kind::base_name;
use super::names::{Index, index};

/// Most words of a command that are looked at: one with more is taken to set something up.
const MAX_WORDS: usize = 512;

struct Row {
    names: &'static str,
    /// Those that make a repository or write a protected file, as words that follow one another with others between
    /// them: asked about in every session.
    protected: &'static [&'static str],
    /// Those that write other settings, by which programs are run: no star stands for them.
    settings: &'static [&'static str],
    /// Options with which nothing of this happens.
    unless: &'static [&'static str],
}

const PLAIN: Row = Row { names: "", protected: &[], settings: &[], unless: &[] };

const TABLE: &[Row] = &[
    // npm-config(1), pnpm.io/cli/config, classic.yarnpkg.com/cli/config, yarnpkg.com/cli: `.npmrc`, `.yarnrc`,
    // `.yarnrc.yml`; `pnpm setup` writes `.bashrc`.
    Row {
        names: "npm",
        protected: &["config set", "config delete", "config edit", "config fix", "set"],
        ..PLAIN
    },
    Row {
        names: "pnpm",
        protected: &["config set", "config delete", "config edit", "config fix", "set", "setup"],
        ..PLAIN
    },
    Row {
        names: "yarn",
        protected: &[
            "config set",
            "config unset",
            "config delete",
            "set",
            "policies",
            "plugin import",
            "plugin remove",
        ],
        ..PLAIN
    },
    // The Cargo book, "cargo new"; docs.astral.sh, "uv init": with a `.git`.
    Row { names: "cargo", protected: &["new", "init"], unless: &["--vcs none", "--vcs=none"], ..PLAIN },
    Row {
        names: "uv",
        protected: &["init", "tool update-shell"],
        unless: &["--vcs none", "--vcs=none"],
        ..PLAIN
    },
    Row { names: "rails", protected: &["new"], unless: &["--skip-git", "-G"], ..PLAIN },
    Row { names: "ng", protected: &["new"], unless: &["--skip-git", "-g"], ..PLAIN },
    // hg(1), whose commands can be shortened; docs.jj-vcs.dev, "CLI reference"; svn(1).
    Row {
        names: "hg",
        protected: &["init", "ini", "clone", "clon", "clo", "cl", "share", "shar", "sha"],
        ..PLAIN
    },
    Row {
        names: "jj",
        protected: &[
            "git init",
            "git clone",
            "init",
            "workspace add",
            "config set",
            "config unset",
            "config edit",
            "config s",
            "config e",
        ],
        ..PLAIN
    },
    Row { names: "svn", protected: &["checkout", "co"], ..PLAIN },
    // cli.github.com/manual, docs.gitlab.com/cli: a clone, git's settings; aliases, an editor.
    Row {
        names: "gh",
        protected: &[
            "repo clone",
            "repo fork --clone",
            "repo create --clone",
            "repo create -c",
            "repo create --source",
            "gist clone",
            "auth setup-git",
        ],
        settings: &[
            "alias set",
            "alias import",
            "config set",
            "extension install",
            "extension upgrade",
            "extension create",
        ],
        ..PLAIN
    },
    Row {
        names: "glab",
        protected: &["repo clone", "repo fork"],
        settings: &["alias set", "config set"],
        ..PLAIN
    },
    // pre-commit.com, lefthook.dev, typicode.github.io/husky: hooks of git.
    Row { names: "pre-commit", protected: &["install", "init-templatedir"], ..PLAIN },
    Row { names: "lefthook", protected: &["install", "add", "init"], ..PLAIN },
    Row { names: "husky", protected: &["install", "init", "add", "set"], ..PLAIN },
    // mise.jdx.dev/cli, asdf-vm.com/manage/commands: `mise.toml`, `.tool-versions`.
    Row {
        names: "mise",
        protected: &["use", "u", "set", "unset", "trust", "config set", "generate git-pre-commit"],
        settings: &["settings"],
        ..PLAIN
    },
    Row { names: "asdf", protected: &["local", "global", "set"], settings: &["plugin add"], ..PLAIN },
    // docs.conda.io, "conda init" writes `.bashrc`; opam-init(1).
    Row {
        names: "conda mamba micromamba",
        protected: &["init", "shell init"],
        settings: &["config"],
        ..PLAIN
    },
    Row { names: "opam", protected: &["init"], settings: &["option", "config"], ..PLAIN },
    // `go help env`.
    Row { names: "go", settings: &["env -w", "env --w", "env -u", "env --u"], ..PLAIN },
    // pip.pypa.io, "pip config"; python-poetry.org, pdm-project.org, hatch.pypa.io, rye.astral.sh: "config".
    Row { names: "pip", settings: &["config set", "config unset", "config edit"], ..PLAIN },
    Row { names: "poetry", settings: &["config", "self"], ..PLAIN },
    Row { names: "pdm", settings: &["config", "self", "plugin"], ..PLAIN },
    Row { names: "hatch rye", settings: &["config"], ..PLAIN },
    // getcomposer.org, bundle-config(1), rubygems.org, docs.haskellstack.org, cabal.readthedocs.io.
    Row { names: "composer", settings: &["config", "global"], ..PLAIN },
    Row { names: "bundle", settings: &["config", "plugin"], ..PLAIN },
    Row { names: "gem", settings: &["sources"], ..PLAIN },
    Row { names: "stack", settings: &["config set"], ..PLAIN },
    Row { names: "cabal", settings: &["user-config"], ..PLAIN },
    // rustup(1): another directory becomes a toolchain.
    Row { names: "rustup", settings: &["toolchain link", "override set", "default"], ..PLAIN },
    // kubernetes.io, "kubectl config": programs that fetch credentials; docs.docker.com; helm.sh; vagrantup.com.
    Row {
        names: "kubectl",
        settings: &[
            "config set",
            "config set-credentials",
            "config set-cluster",
            "config set-context",
            "config use-context",
            "config use",
            "config unset",
            "krew",
        ],
        ..PLAIN
    },
    Row {
        names: "docker podman",
        settings: &["plugin install", "plugin set", "context create", "context use", "context update"],
        ..PLAIN
    },
    Row { names: "helm", settings: &["plugin install", "plugin update"], ..PLAIN },
    Row { names: "vagrant", settings: &["plugin install"], ..PLAIN },
    Row { names: "dotnet", settings: &["nuget"], ..PLAIN },
    // docs.aws.amazon.com, "credential_process"; learn.microsoft.com, "az extension".
    Row { names: "aws", settings: &["configure set", "configure import"], ..PLAIN },
    Row { names: "az", settings: &["extension add", "alias create"], ..PLAIN },
];

fn row(name: &str) -> Option<&'static Row> {
    static ROWS: Index<Row> = Index::new(|| index(TABLE, |row| row.names.split(' ')));
    ROWS.get(name).copied()
}

/// Whether the command, its words joined by blanks, makes a repository or writes a protected file. `told`: it gets no
/// words but these.
pub(super) fn sets_up(command: &str, told: bool) -> bool {
    let program = between_blanks(command).next().unwrap_or_default();
    let Some(row) = row(base_name(program)).filter(|row| !row.protected.is_empty()) else { return false };
    let words: Vec<&str> = command.split(' ').take(MAX_WORDS + 1).collect();
    if words.len() > MAX_WORDS {
        return true;
    }
    let places = first_words::places(&words);
    let makes = |verb: &&str| {
        places.iter().any(|at| match find(verb, &words, *at) {
            Found::All(_) => true,
            // `xargs npm config`.
            Found::Begun => !told,
            Found::None => false,
        })
    };
    !row.is_excepted(&words) && row.protected.iter().any(makes)
}

/// Whether a star stands for a word of such a subcommand, or of one that writes other settings.
pub(super) fn swallowed(name: &str, words: &[String], spelled: impl Fn(usize) -> bool) -> bool {
    let Some(row) = row(name) else { return false };
    let places = first_words::places(words);
    let by_star = |verb: &&str| {
        places
            .iter()
            .any(|at| matches!(find(verb, words, *at), Found::All(last) if !spelled(*at) || !spelled(last)))
    };
    !row.is_excepted(words) && row.protected.iter().chain(row.settings).any(by_star)
}

impl Row {
    fn is_excepted<W: AsRef<str>>(&self, words: &[W]) -> bool {
        self.unless.iter().any(|option| match option.split_once(' ') {
            Some((option, value)) => {
                words.windows(2).any(|two| two[0].as_ref() == option && two[1].as_ref() == value)
            }
            None => words.iter().any(|word| word.as_ref() == *option),
        })
    }
}

/// How much of a subcommand stands among words.
enum Found {
    /// All of it, up to that word.
    All(usize),
    /// Its first word, and no other operand behind that.
    Begun,
    None,
}

/// Looks for the words of `verb`, the first at `at` and the others anywhere behind it.
fn find<W: AsRef<str>>(verb: &str, words: &[W], at: usize) -> Found {
    let first = words[at].as_ref();
    let mut parts = verb.split(' ');
    // The programs' words for it can be shortened: `npm c`, `npm conf`, `bundle plug`.
    let shortened = |part: &str| match part {
        "config" => true,
        "plugin" | "sources" | "global" => first.len() > 1,
        _ => false,
    };
    let is_first = |part: &str| first == part || (shortened(part) && part.starts_with(first));
    if first.is_empty() || !parts.next().is_some_and(is_first) {
        return Found::None;
    }
    let mut last = at;
    for part in parts {
        match words.iter().skip(last + 1).position(|word| word.as_ref() == part) {
            Some(behind) => last += behind + 1,
            None if words.iter().skip(last + 1).all(|word| word.as_ref().starts_with('-')) => {
                return Found::Begun;
            }
            None => return Found::None,
        }
    }
    Found::All(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(command: &str) -> Vec<String> {
        command.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn what_is_protected_is_found_wherever_options_stand() {
        for (command, want) in [
            ("npm config set script-shell=/tmp/a --location=project", true),
            ("npm set a=b", true),
            ("npm c set a b", true),
            ("npm conf --location project set a b", true),
            ("npm --prefix x config delete a", true),
            ("npm config get a", false),
            ("npm config list", false),
            ("npm ci", false),
            ("npm run set", false),
            ("npm config", false),
            ("pnpm -C x config set a b", true),
            ("pnpm install", false),
            ("yarn config set yarnPath x", true),
            ("yarn set version stable", true),
            ("hg init x", true),
            ("hg clone a b", true),
            ("hg in", false),
            ("jj git init", true),
            ("jj git push", false),
            ("jj config set --repo a b", true),
            ("jj config list", false),
            ("cargo new x", true),
            ("cargo init --lib", true),
            ("cargo -q new --vcs none x", false),
            ("cargo new --vcs=none x", false),
            ("cargo new --vcs git x", true),
            ("cargo test init", false),
            ("uv init", true),
            ("gh repo clone x -- -c core.sshCommand=touch", true),
            ("gh repo view x", false),
            ("gh repo create x --private", false),
            ("gh repo create x --clone", true),
            ("pre-commit install", true),
            ("pre-commit run -a", false),
            ("mise use node@20", true),
            ("go env -w A=b", false),
        ] {
            assert_eq!(sets_up(command, true), want, "{command}");
        }
        assert!(sets_up("npm config", false) && !sets_up("npm config get", false));
    }

    #[test]
    fn no_star_stands_for_a_subcommand_that_writes_settings() {
        for (command, want) in [
            ("go env -w GOFLAGS=-toolexec=x", true),
            ("go env GOFLAGS", false),
            ("pip config set a b", true),
            ("pip3.11 --user config set a b", true),
            ("pip config list", false),
            ("pip install set", false),
            ("composer config a b", true),
            ("jj config set --user a b", true),
            ("gh alias set x y", true),
            ("gh alias list", false),
            ("poetry config a b", true),
            ("bundle config set a b", true),
            ("bundle install", false),
            ("conda config --set a b", true),
            ("kubectl config set-credentials x --exec-command=y", true),
            ("aws configure set credential_process y", true),
            ("aws s3 ls", false),
            ("az extension add --source y", true),
            ("kubectl config view", false),
        ] {
            let words = words(command);
            assert_eq!(swallowed(base_name(&words[0]), &words, |_| false), want, "{command}");
            assert!(!swallowed(base_name(&words[0]), &words, |_| true), "spelt out: {command}");
        }
    }
}
