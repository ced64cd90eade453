//! Programs whose operands are known to be no commands: nothing is guessed of those.
//!
//! What their options run stands in the tables of carriers, so that a text in which they do is not read this far.

use super::super::lexical::file_name;
use super::kind::{self, base_name, git_subcommand};
use super::names::{Index, Names, index};
use super::programs;

struct Row {
    names: &'static str,
    /// Options without a value that may stand in front of the subcommand.
    flags: &'static str,
    /// Subcommands that run none of their operands.
    subcommands: &'static [&'static str],
    /// What stands behind `--` is for another program.
    passes_on: bool,
}

const TABLE: &[Row] = &[
    // docs.docker.com, "docker" reference; podman(1). `run`, `exec` and `create` take a command.
    Row {
        names: "docker podman",
        flags: "",
        subcommands: &[
            "attach build commit cp diff events export history images import info inspect kill load login logout logs \
             pause port ps pull push rename restart rm rmi save search start stats stop tag unpause update version wait \
             network volume image system buildx builder context manifest plugin trust secret config node swarm",
        ],
        passes_on: false,
    },
    // docs.npmjs.com, "CLI Commands"; pnpm.io/cli; yarnpkg.com/cli.
    Row {
        names: "npm pnpm yarn bun",
        flags: "-s --silent -q --quiet -g --global",
        subcommands: &[
            "install i in add ci clean-install remove rm r un uninstall unlink link update up upgrade outdated ls list \
             ll la view info show search find audit dedupe prune pack publish unpublish deprecate owner access \
             dist-tag docs home repo bugs whoami login logout ping version why explain fund cache team token",
        ],
        passes_on: true,
    },
    // The Cargo book, "Cargo Commands". `run` and aliases take words for the workspace's programs.
    Row {
        names: "cargo",
        flags: "-q --quiet -v --verbose --locked --offline --frozen",
        subcommands: &[
            "add bench build b check c clean clippy doc d fetch fix fmt generate-lockfile info init install locate-project \
             login logout metadata new owner package pkgid publish remove rm search test t tree uninstall update vendor \
             verify-project version yank",
        ],
        passes_on: true,
    },
    // pip.pypa.io, "Commands". `config` runs an editor.
    Row {
        names: "pip",
        flags: "-q --quiet -v --verbose",
        subcommands: &[
            "install download uninstall freeze inspect list show check search cache index wheel hash",
        ],
        passes_on: false,
    },
    // cli.github.com/manual. `alias`, `extension`, `codespace` and `api` take words for others.
    Row {
        names: "gh",
        flags: "",
        subcommands: &[
            "auth browse cache gist issue label org pr project release repo ruleset run search secret \
             ssh-key status variable workflow",
        ],
        passes_on: true,
    },
    // go.dev, "cmd/go". `run` and `tool` take words for programs, `generate` runs what files say.
    Row {
        names: "go",
        flags: "",
        subcommands: &["build clean doc fix fmt get install list mod test version vet work"],
        passes_on: false,
    },
    // kubernetes.io, "kubectl" reference. `exec`, `run`, `debug` and `plugin` take a command.
    Row {
        names: "kubectl oc",
        flags: "",
        subcommands: &[
            "get describe delete apply create logs scale autoscale rollout label annotate patch top explain expose cp wait \
             cluster-info api-resources api-versions version drain cordon uncordon taint port-forward auth replace set \
             certificate events",
        ],
        passes_on: true,
    },
    // helm.sh/docs, "helm".
    Row {
        names: "helm",
        flags: "",
        subcommands: &[
            "install uninstall upgrade list ls status get history rollback template lint show search repo pull push \
             dependency package create env version verify",
        ],
        passes_on: false,
    },
    // apk(8), dnf(8), yum(8), zypper(8), pacman(8), snap(8), flatpak(1); docs.brew.sh, "brew(1)".
    Row {
        names: "apk dnf dnf5 microdnf yum zypper snap flatpak brew",
        flags: "-q --quiet -y --yes --assumeyes -n --non-interactive -U --no-cache",
        subcommands: &[
            "add del install in remove rm erase uninstall info search se list ls update upgrade refresh reinstall outdated deps \
             uses show link unlink pin unpin leaves",
        ],
        passes_on: false,
    },
    Row {
        names: "pacman",
        flags: "",
        subcommands: &["-S -Sy -Syu -Syyu -Ss -Si -R -Rs -Rns -Q -Qi -Ql -Qs"],
        passes_on: false,
    },
    // rpm(8): queries.
    Row { names: "rpm", flags: "", subcommands: &["-q -qa -qi -ql -qf -qR -qc -qd"], passes_on: false },
    // docs.conda.io; docs.astral.sh/uv, "CLI Reference"; python-poetry.org; pdm-project.org; rye.astral.sh; pixi.sh.
    Row {
        names: "conda mamba micromamba",
        flags: "-q --quiet -y --yes",
        subcommands: &["install create remove uninstall update upgrade search list info clean"],
        passes_on: false,
    },
    Row {
        names: "uv poetry pdm rye pixi",
        flags: "-q --quiet -v --verbose",
        subcommands: &["add remove lock sync show tree export version init search list update pip install"],
        passes_on: false,
    },
    // guides.rubygems.org, "Command reference"; bundler.io; getcomposer.org.
    Row {
        names: "gem bundle composer",
        flags: "",
        subcommands: &[
            "add require remove uninstall install update outdated list show info search lock fetch cleanup check",
        ],
        passes_on: false,
    },
    // git 2.47 manual, the page of each subcommand.
    Row {
        names: "git",
        flags: "",
        subcommands: &[
            "add am apply archive blame branch cat-file checkout cherry cherry-pick clean clone commit describe diff fetch \
             format-patch gc grep init log ls-files ls-remote ls-tree merge merge-base mv notes prune pull push range-diff \
             rebase reflog remote reset restore rev-list rev-parse revert rm shortlog show show-ref sparse-checkout stash \
             status switch symbolic-ref tag version worktree",
        ],
        passes_on: false,
    },
];

/// Programs beside those of [`programs::RUN_NO_ARGUMENT`] whose operands are files, names or conditions alone: man(1),
/// less(1), more(1); findutils 4.9 find(1), whose `-exec` is told by itself; GNU sed 4.9, whose script is; pidof(1), whereis(1).
static PLAIN: Names =
    Names::of(&["man less more most find apropos whatis printf test [ sed gsed pidof whereis"]);

/// Linters and formatters, whose operands are files that they read and write back, by the manual of each.
static LINTERS: Names = Names::of(&[
    "ruff black isort flake8 mypy pyright autopep8 yapf bandit pyflakes pycodestyle pydocstyle vulture",
    "eslint prettier tsc stylelint biome oxlint jshint shfmt gofmt goimports gofumpt golangci-lint staticcheck rustfmt",
    "rubocop phpcs phpcbf clang-format hadolint yamllint markdownlint markdownlint-cli2 actionlint tflint ansible-lint",
    "sqlfluff codespell typos cspell taplo dos2unix unix2dos ktlint swiftformat swiftlint",
]);

/// What runs tests, whose operands are files and names of those.
static TEST_RUNNERS: Names = Names::of(&["pytest py.test jest vitest mocha ava rspec phpunit minitest"]);

/// Long options of those that run nothing but tests, spelt in full.
static ABOUT_TESTS: Names = Names::of(&[
    "tb lf ff nf last-failed failed-first maxfail durations verbose quiet capture exitfirst bail silent run watch watchAll",
    "coverage cov cov-report no-cov runInBand testNamePattern testPathPattern passWithNoTests updateSnapshot update",
    "detectOpenHandles forceExit maxWorkers grep filter testsuite group fail-fast tag example seed order color",
    "no-color no-header no-summary stepwise collect-only co help version numprocesses dist",
]);

/// Whether the words that a test runner gets name nothing but tests, for all that is known.
fn are_about_tests(runner: &str, arguments: &[String]) -> bool {
    arguments.iter().all(|word| match word.strip_prefix("--") {
        Some(long) => ABOUT_TESTS.has(long.split('=').next().unwrap_or(long)),
        // Letters by which one of them loads a file or a plug-in; `-rA` says what pytest reports.
        None => {
            !word.starts_with('-')
                || runner == "pytest" && word.starts_with("-r")
                || !word.contains(['c', 'C', 'o', 'p', 'r', 'R', 'I', 'P'])
        }
    })
}

/// Modules of Python's that read the files that they are given and run none.
static READING_MODULES: Names =
    Names::of(&["py_compile compileall tokenize ast venv json.tool tabnanny dis"]);

/// Long options of linters that load nothing, spelt in full: others may be short for one by which code or a file of
/// settings is loaded, or start a program.
static LOADS_NOTHING: Names = Names::of(&[
    "fix write check diff quiet verbose color no-color cache max-warnings ext line-length strict all list-different",
    "ignore-missing-imports noEmit pretty watch in-place select ignore exclude target-version fast safe unsafe-fixes",
    "autocorrect auto-correct autofix simplify indent help version",
]);

/// Whether a linter with these arguments loads nothing but its usual settings.
fn loads_nothing<W: AsRef<str>>(arguments: &[W]) -> bool {
    arguments.iter().map(AsRef::as_ref).all(|word: &str| match word.strip_prefix("--") {
        Some(long) => LOADS_NOTHING.has(long.split('=').next().unwrap_or(long)),
        None => !word.starts_with('-') || !word.contains(['c', 'f', 'r', 'R']),
    })
}

/// Whether the command looks through its operands and runs none of them: a linter, or an interpreter that only checks
/// what it would run (bash 5.2 manual, 4.3.1 `-n`; `node --help`; php(1)) or is told such a module.
pub(in crate::permission) fn only_checks<W: AsRef<str>>(words: &[W]) -> bool {
    let Some((program, arguments)) = words.split_first() else { return false };
    if !kind::is_system(program.as_ref()) {
        return false;
    }
    let base = base_name(program.as_ref());
    let [first, second, rest @ ..] = arguments else {
        return LINTERS.has(base) && loads_nothing(arguments);
    };
    let (first, second) = (first.as_ref(), second.as_ref());
    let is_file = !second.starts_with(['-', '+']);
    match base {
        "sh" | "bash" | "dash" | "zsh" | "ksh" => first == "-n" && is_file,
        "node" | "nodejs" => matches!(first, "-c" | "--check") && is_file && rest.is_empty(),
        "php" => first == "-l" && is_file && rest.is_empty(),
        // A linter that is a module may be what a rule is about: it is guessed at.
        "python" => first == "-m" && READING_MODULES.has(second),
        _ => LINTERS.has(base) && loads_nothing(arguments),
    }
}

/// Whether no word of the command that is understood is run, but for what its options do.
pub(crate) fn are_no_commands(words: &[String]) -> bool {
    let Some((program, arguments)) = words.split_first() else { return true };
    if !kind::is_system(program) {
        return false;
    }
    let name = file_name(program);
    match (base_name(name), arguments) {
        _ if programs::RUN_NO_ARGUMENT.has(name) || PLAIN.has(name) || only_checks(words) => true,
        (base, _) if TEST_RUNNERS.has(base) => are_about_tests(base, arguments),
        // bash 5.2 manual, 4.2: it says what a name means.
        ("command", [option, ..]) => matches!(option.as_str(), "-v" | "-V"),
        ("python", [option, module, rest @ ..]) if option == "-m" && module == "pip" => {
            subcommand_is_plain("pip", rest)
        }
        ("git", _) => {
            let mut words = arguments.iter().map(String::as_str);
            git_subcommand(&mut words).is_some_and(|sub| row("git").is_some_and(|row| row.has(sub)))
        }
        (base, _) => subcommand_is_plain(base, arguments),
    }
}

fn subcommand_is_plain(program: &str, arguments: &[String]) -> bool {
    let Some(row) = row(program) else { return false };
    let mut words = arguments.iter().map(String::as_str).skip_while(|word| programs::has(&[row.flags], word));
    words.next().is_some_and(|sub| row.has(sub)) && !(row.passes_on && words.any(|word| word == "--"))
}

impl Row {
    fn has(&self, subcommand: &str) -> bool {
        programs::has(self.subcommands, subcommand)
    }
}

fn row(program: &str) -> Option<&'static Row> {
    static ROWS: Index<Row> = Index::new(|| index(TABLE, |row| row.names.split(' ')));
    ROWS.get(program).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operands_are_plain_where_a_row_says_so() {
        for (command, want) in [
            ("docker rm x", true),
            ("docker run rm x", false),
            ("docker --host x rm y", false),
            ("npm -g rm x", true),
            ("npm run rm", false),
            ("npm install x -- rm", false),
            ("cargo rm x", true),
            ("cargo run rm", false),
            ("cargo xtask rm", false),
            ("pip install curl", true),
            ("pip3 install curl", true),
            ("pip config rm", false),
            ("python3 -m pip install curl", true),
            ("python3 -m x install curl", false),
            ("git remote rm x", true),
            ("git -C d checkout rm", true),
            ("git -c alias.remote=x remote rm", false),
            ("git bisect run rm", false),
            ("apt-get install curl", true),
            ("systemctl status curl", true),
            ("dpkg -l curl", true),
            ("man curl", true),
            ("command -v rm", true),
            ("command rm", false),
            ("gh pr create --title x", true),
            ("gh alias set x rm", false),
            ("./docker rm x", false),
            ("docker create rm x", false),
            ("docker buildx ls", true),
            ("go test ./rm", true),
            ("go run ./rm", false),
            ("go tool rm", false),
            ("kubectl delete pod rm", true),
            ("kubectl delete pod x -- rm", false),
            ("kubectl exec x rm", false),
            ("helm install rm x", true),
            ("apk add --no-cache curl", true),
            ("dnf -y install curl", true),
            ("brew info curl", true),
            ("brew services curl", false),
            ("rpm -q curl", true),
            ("conda install -y curl", true),
            ("conda run curl", false),
            ("poetry add curl", true),
            ("uv tool run curl", false),
            ("uv pip install curl", true),
            ("composer require rm", true),
            ("bundle exec rm", false),
            ("pytest -x -k rm tests/rm", true),
            ("pytest -rA tests/rm", true),
            ("pytest -p rm x", false),
            ("pytest --pdbcls rm x", false),
            ("rspec -r rm x", false),
            ("jest --runInBand src/rm", true),
            ("jest --config rm x", false),
            ("foo rm x", false),
            ("ruff check rm", true),
            ("./ruff check rm", false),
            ("eslint --fix rm --max-warnings 0", true),
            ("eslint -c rm x", false),
            ("eslint --config=rm x", false),
            ("prettier --plugin rm x", false),
            ("sed -i s/a/b/ rm", true),
            ("bash -n rm", true),
            ("bash -n -c rm", false),
            ("bash rm -n", false),
            ("node --check rm", true),
            ("node --check -r rm", false),
            ("node -c rm x", false),
            ("node rm --check", false),
            ("python3 -m mypy rm", false),
            ("python3 -m compileall -q rm", true),
            ("mypy --strict rm", true),
            ("mypy --python-executable rm x", false),
            ("mypy --python-exec rm x", false),
            ("pyright --pythonpath rm x", false),
            ("phpcs --filter=rm .", false),
            ("rubocop --req rm", false),
            ("prettier --check rm", true),
            ("python3 -m rm rm", false),
            ("python3 -m flake8 --config rm x", false),
        ] {
            let words: Vec<String> = command.split(' ').map(str::to_owned).collect();
            assert_eq!(are_no_commands(&words), want, "{command}");
        }
    }
}
