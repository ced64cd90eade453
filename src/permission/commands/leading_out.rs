//! Options by which a program works on another directory, or by another file of settings: behind a star their value may
//! not lead out of the workspace.
//!
//! A rule holds where a command starts in the workspace, so that a relative path without `..` stays there.

use super::names::{Index, Options as Row, index};

const TABLE: &[Row] = &[
    // The Cargo book, "Cargo Commands".
    Row {
        names: "cargo",
        long: "manifest-path target-dir artifact-dir out-dir lockfile-path root path",
        short: "C",
    },
    // npm-config(7), pnpm.io/cli, classic.yarnpkg.com/cli, bun.sh/docs/cli.
    Row { names: "npm", long: "prefix pack-destination logs-dir cache", short: "C" },
    Row { names: "pnpm", long: "dir prefix", short: "C" },
    Row { names: "yarn", long: "cwd", short: "" },
    Row { names: "bun", long: "cwd config preload", short: "cr" },
    // `go help build`, `go help test`.
    Row {
        names: "go",
        long: "outputdir coverprofile cpuprofile memprofile trace blockprofile mutexprofile modfile overlay",
        short: "Co",
    },
    // pip.pypa.io, "pip install"; tar 1.34 manual, 3.4.2.
    Row { names: "pip", long: "log target prefix root src editable cache-dir", short: "te" },
    Row { names: "tar bsdtar gtar", long: "directory index-file one-top-level", short: "C" },
    // docker-build(1), docker-save(1); cli.github.com/manual; kubernetes.io, "kubectl cluster-info dump".
    Row { names: "docker podman", long: "output iidfile metadata-file", short: "o" },
    Row { names: "gh", long: "dir output", short: "DO" },
    Row { names: "kubectl", long: "output-directory cache-dir", short: "" },
    // docs.pytest.org, "Command-line Flags": `-o pythonpath=…` too; `--basetemp` is emptied.
    Row {
        names: "pytest",
        long: "rootdir confcutdir basetemp config-file override-ini junitxml junit-xml log-file",
        short: "co",
    },
    Row { names: "mypy", long: "config-file custom-typeshed-dir", short: "" },
    Row { names: "ruff", long: "config", short: "" },
    Row { names: "tox", long: "conf workdir root", short: "c" },
    Row { names: "nox", long: "noxfile envdir", short: "f" },
    Row { names: "pre-commit", long: "config", short: "c" },
    Row { names: "poetry", long: "directory project", short: "CP" },
    Row { names: "uv pdm hatch", long: "directory project config-file python target prefix", short: "p" },
    // jestjs.io, vitest.dev, eslint.org, prettier.io, vite.dev, webpack.js.org, typescriptlang.org: "CLI".
    Row {
        names: "jest vitest vite webpack eslint prettier",
        long: "rootDir root dir config plugin rulesdir resolve-plugins-relative-to globalSetup setupFiles",
        short: "c",
    },
    Row { names: "tsc", long: "project build", short: "pb" },
    // cmake(1), ctest(1), ninja(1), meson(1), just(1), taskfile.dev.
    Row { names: "cmake", long: "build install toolchain", short: "SBCD" },
    Row { names: "ctest", long: "test-dir build-and-test", short: "" },
    Row { names: "ninja", long: "", short: "Cf" },
    Row { names: "meson", long: "native-file cross-file", short: "C" },
    Row { names: "just", long: "working-directory", short: "d" },
    Row { names: "task", long: "dir taskfile", short: "dt" },
    // docs.gradle.org, "Command-Line Interface"; mvn(1); ant(1): files of a build, a Java.
    Row {
        names: "gradle gradlew",
        long: "project-dir build-file settings-file init-script include-build gradle-user-home project-cache-dir",
        short: "pbcIgD",
    },
    Row { names: "mvn", long: "file settings global-settings toolchains", short: "fstgD" },
    Row { names: "ant", long: "buildfile file lib", short: "fl" },
    Row { names: "rake", long: "rakefile libdir rakelibdir require", short: "fIRr" },
    Row { names: "bundle", long: "gemfile path", short: "" },
    Row { names: "rspec", long: "require options", short: "rIO" },
    Row { names: "composer phpunit", long: "working-dir configuration bootstrap", short: "dc" },
    Row { names: "mix", long: "require", short: "r" },
    Row { names: "stack", long: "stack-yaml work-dir", short: "" },
    Row { names: "cabal", long: "project-dir project-file builddir", short: "" },
    Row { names: "dune", long: "root workspace build-dir", short: "" },
    Row { names: "zig", long: "build-file build-runner", short: "" },
    Row { names: "deno", long: "config import-map", short: "c" },
    Row { names: "dotnet", long: "project", short: "p" },
    // hg(1), jj: settings and hooks of another repository.
    Row { names: "hg", long: "cwd repository", short: "R" },
    Row { names: "jj", long: "repository", short: "R" },
    // developer.hashicorp.com, "terraform"; ansible(1): an inventory may be a program.
    Row { names: "terraform", long: "chdir", short: "" },
    Row { names: "ansible ansible-playbook", long: "inventory module-path playbook-dir", short: "iM" },
];

fn row(name: &str) -> Option<&'static Row> {
    static ROWS: Index<Row> = Index::new(|| index(TABLE, |row| row.names.split(' ')));
    ROWS.get(name).copied()
}

/// What stands between the paths in one word, such as `name=path` and `from:to`.
pub(in crate::permission) const BETWEEN: [char; 5] = ['=', ':', ',', ';', ' '];

/// Whether a path does not count from the directory that it is used in.
pub(in crate::permission) fn is_rooted(path: &str) -> bool {
    path.starts_with(['/', '~', '\\'])
}

/// Whether a path, or one in a value such as `name=path`, may be one outside of the directory that it counts from.
pub(in crate::permission) fn leads_out(value: &str) -> bool {
    value.split(BETWEEN).any(|part| is_rooted(part) || part.split('/').any(|name| name == ".."))
}

/// Whether a word that a star stands for is such an option, or the value of one that a star stands for, and leads out.
pub(super) fn by_option(name: &str, words: &[String], spelled: impl Fn(usize) -> bool) -> bool {
    let Some(row) = row(name) else { return false };
    words.iter().enumerate().skip(1).filter(|(at, _)| !spelled(*at)).any(|(at, word)| {
        let next = words.get(at + 1).map(String::as_str);
        value(row, word, next).is_some_and(leads_out)
    })
}

/// Whether a word that a star stands for leads out, or to another program, by its form or its place.
pub(super) fn by_place(name: &str, words: &[String], spelled: impl Fn(usize) -> bool) -> bool {
    let has = |wanted: &str| words.iter().skip(1).any(|word| word == wanted);
    words.iter().enumerate().skip(1).filter(|(at, _)| !spelled(*at)).any(|(at, word)| {
        let output = || match word.strip_prefix("-o") {
            Some("") => words.get(at + 1).is_some_and(|file| leads_out(file)),
            Some(file) => leads_out(file),
            None => false,
        };
        let operand_out = || !word.starts_with('-') && leads_out(word);
        match name {
            // rustup(1): a path to a toolchain.
            "cargo" | "rustc" | "rustdoc" if word.starts_with('+') => word.contains('/'),
            "cargo" => has("rustc") && output() || has("vendor") && operand_out(),
            "rustc" | "gcc" | "g++" | "cc" | "c++" | "clang" | "clang++" | "gfortran" => output(),
            "uv" => has("venv") && operand_out(),
            "git" => has("worktree") && has("remove") && operand_out(),
            "docker" | "podman" => {
                let copies_out = has("cp") && !is_remote(word) && operand_out();
                copies_out || chooses_for_docker(words, at)
            }
            // kubernetes.io, "kubectl kustomize": functions and charts of the workspace.
            "kubectl" => {
                ["--enable-exec", "--enable-helm", "--helm-command"].iter().any(|o| word.starts_with(o))
            }
            "tar" | "bsdtar" | "gtar" => {
                let archive = word.strip_prefix("--file=").or(word.strip_prefix("-f")).unwrap_or(word);
                let old_style = at == 1 && !word.starts_with('-') && word.contains('C');
                let remote = !archive.starts_with('-') && is_remote(archive) && !has("--force-local");
                old_style || remote
            }
            _ => false,
        }
    })
}

/// A colon in front of any slash: another machine (tar 1.34 manual, 6.1), a container.
fn is_remote(word: &str) -> bool {
    word.split_once(':').is_some_and(|(host, _)| !host.contains('/'))
}

/// Whether the word has docker take its plug-ins or its daemon from elsewhere, or make a container with a command.
fn chooses_for_docker(words: &[String], at: usize) -> bool {
    let word = words[at].as_str();
    let option = word.split('=').next().unwrap_or(word);
    let before = words[at - 1].as_str();
    let cluster = word.strip_prefix('-').filter(|cluster| !cluster.starts_with('-'));
    matches!(option, "--config" | "--host" | "--context" | "--url" | "--connection")
        || cluster.is_some_and(|cluster| cluster.contains('H') || at == 1 && cluster.contains('c'))
        || word == "create"
            && !matches!(before, "network" | "volume" | "secret" | "config" | "manifest" | "buildx")
}

/// The value of the option, where the word is one of the row.
fn value<'w>(row: &Row, word: &'w str, next: Option<&'w str>) -> Option<&'w str> {
    let short = || {
        let cluster = word.strip_prefix('-').filter(|cluster| !cluster.starts_with('-'))?;
        let (_, attached) = cluster.split_once(|letter| row.short.contains(letter))?;
        if attached.is_empty() { next } else { Some(attached) }
    };
    // Some of the programs take a whole name behind one dash, too.
    let long = || {
        let option = word.strip_prefix("--").or_else(|| word.strip_prefix('-'))?;
        let (option, value) = option.split_once('=').map_or((option, None), |(o, v)| (o, Some(v)));
        let is_it =
            option.len() > 1 && row.long.split_ascii_whitespace().any(|known| known.starts_with(option));
        if is_it { value.or(next) } else { None }
    };
    long().filter(|value| leads_out(value)).or_else(short)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_value_that_leads_out_is_told() {
        for (command, want) in [
            ("cargo test --manifest-path /outside/Cargo.toml", true),
            ("cargo test --manifest-path=../Cargo.toml", true),
            ("cargo test --manifest-path a/../../Cargo.toml", true),
            ("cargo test --manifest-path crates/a/Cargo.toml", false),
            ("cargo test --target-dir=/outside", true),
            ("cargo test --target x86_64-unknown-linux-gnu /x", false),
            ("cargo -C .. test", true),
            ("cargo -C.. test", true),
            ("cargo -C sub test", false),
            ("npm test -C ~/x", true),
            ("npm -prefix /x test", true),
            ("npm --prefix frontend test", false),
            ("pnpm --dir=../x test", true),
            ("yarn --cwd packages/a build", false),
            ("pytest -o pythonpath=/x", true),
            ("pytest -qc /x.ini", true),
            ("pytest -k a/../b", false),
            ("cmake -DCMAKE_TOOLCHAIN_FILE=/x.cmake", true),
            ("cmake -S . -B build -DX=ON", false),
            ("gradle -Dorg.gradle.java.home=/x build", true),
            ("terraform -chdir=../x plan", true),
            ("unknown --prefix /x", false),
            ("npm pack --pack-destination /x", true),
            ("pip install -t ../x a", true),
            ("pip install -e .", false),
            ("tar -C /x -xf a.tar", true),
            ("tar -C sub -xf a.tar", false),
            ("tar tf /x.tar", false),
            ("go test ./... -coverprofile=c.out", false),
            ("go test -coverprofile=/x", true),
            ("go build -o ../x", true),
            ("docker build -o type=local,dest=/x .", true),
            ("docker build -t x .", false),
            ("gh release download -D /x", true),
            ("kubectl cluster-info dump --output-directory=/x", true),
            ("uv pip install --target /x a", true),
        ] {
            let words: Vec<String> = command.split(' ').map(str::to_owned).collect();
            let name = words[0].clone();
            assert_eq!(by_option(&name, &words, |_| false), want, "{command}");
            assert!(!by_option(&name, &words, |_| true), "spelt out: {command}");
        }
    }
}
