//! Words by which a program works on another directory, writes or loads a file elsewhere: behind a star they may not lead
//! out of the workspace.
//!
//! A rule holds where a command starts in the workspace, so that a relative path without `..` stays there.

use super::super::lexical::file_name;
use super::carriers;
use super::compilers;
use super::first_words;
use super::git;
use super::kind::{ProgramKind, base_name, kind};
use super::names::{Index, Names, Options as Row, index};
use super::urls;

/// Programs that build, test, check and install. They write and load by so many options, and work on whatever they are
/// given, that no word of theirs may lead out.
static STAY: Names = Names::of(&[
    "cargo rustc rustdoc go npm npx pnpm yarn bun bunx deno pip pipx uv uvx pdm hatch poetry pipenv rye pixi pytest mypy",
    "pyright ruff black isort flake8 pylint tox nox pre-commit jest vitest mocha vite webpack rollup eslint prettier tsc",
    "biome cmake ctest ninja gradle gradlew mvn mvnw ant rake bundle rspec rubocop composer phpunit mix stack cabal dune",
    "coverage zig dotnet terraform tofu ansible ansible-playbook golangci-lint gofmt goimports gofumpt shfmt rustfmt",
    "clang-format codespell typos taplo phpcs phpcbf ktlint sqlfluff yapf autopep8 swiftformat stylelint dos2unix unix2dos",
    // Modules of Python's own that write where they are told: docs.python.org, "Command-line interface" of each.
    "json json.tool venv virtualenv zipfile tarfile zipapp gzip compileall py_compile ensurepip pydoc http.server",
]);

/// Letters of options of those, behind which a path may stand in one word with other letters (`-qc/x.ini`), and options
/// of other programs.
const TABLE: &[Row] = &[
    // The Cargo book, "Cargo Commands"; npm-config(7), pnpm.io/cli, bun.sh/docs/cli; `go help build`.
    Row { names: "cargo npm", long: "", short: "C" },
    Row { names: "bun", long: "", short: "cr" },
    Row { names: "go", long: "", short: "Co" },
    // pip.pypa.io, "pip install"; docs.pytest.org, "Command-line Flags".
    Row { names: "pip", long: "", short: "te" },
    Row { names: "pytest", long: "", short: "co" },
    Row {
        names: "tox pre-commit deno jest vitest vite webpack eslint prettier black",
        long: "",
        short: "co",
    },
    Row { names: "nox ruff", long: "", short: "fo" },
    Row { names: "poetry uv pdm hatch", long: "", short: "CPp" },
    Row { names: "tsc dotnet", long: "", short: "pbo" },
    // cmake(1), ninja(1), docs.gradle.org, mvn(1), ant(1), rake(1), rspec(1), composer(1), phpunit(1).
    Row { names: "cmake ninja", long: "", short: "SBCDf" },
    Row { names: "gradle gradlew", long: "", short: "pbcIgD" },
    Row { names: "mvn", long: "", short: "fstgD" },
    Row { names: "ant", long: "", short: "fl" },
    Row { names: "rake rspec mix", long: "", short: "fIROr" },
    Row { names: "composer phpunit", long: "", short: "dc" },
    Row { names: "ansible ansible-playbook", long: "", short: "iM" },
    // tar 1.34 manual, 3.4.2.
    Row {
        names: "tar bsdtar gtar",
        long: "directory index-file one-top-level listed-incremental volno-file",
        short: "Cg",
    },
    // docker-build(1), docker-save(1), docker-volume-create(1), docker-buildx-bake(1), docker-compose(1).
    Row {
        names: "docker podman docker-compose",
        long: "output iidfile metadata-file cache-to secret build-context opt set file project-directory env-file label-file cidfile tlscacert tlscert",
        short: "of",
    },
    // cli.github.com/manual; kubernetes.io, "kubectl"; helm.sh/docs, "helm template", "helm pull".
    Row { names: "gh", long: "dir output", short: "DO" },
    Row { names: "kubectl", long: "output-directory cache-dir profile-output www", short: "" },
    Row { names: "helm", long: "output-dir destination registry-config repository-config", short: "d" },
    // meson(1), just(1), taskfile.dev: other words are for the project, or for recipes.
    Row { names: "meson", long: "native-file cross-file", short: "C" },
    Row { names: "just", long: "working-directory justfile", short: "df" },
    Row { names: "task", long: "dir taskfile", short: "dt" },
    // hg(1), jj: settings and hooks of another repository.
    Row { names: "hg", long: "cwd repository", short: "R" },
    Row { names: "jj", long: "repository", short: "R" },
];

fn row(name: &str) -> Option<&'static Row> {
    static ROWS: Index<Row> = Index::new(|| index(TABLE, |row| row.names.split(' ')));
    ROWS.get(name).copied()
}

/// Whether there are words of the program that may not lead out where a star stands for them. A link leads out as well as a
/// spelling does.
pub(in crate::permission) fn is_held(program: &str) -> bool {
    let name = file_name(program);
    let has = |name: &&str| {
        STAY.has(name)
            || compilers::has(name)
            || row(name).is_some()
            // Of these, words that lead out by their spelling are looked at each in its own way.
            || matches!(*name, "git" | "make" | "gmake")
    };
    [name, base_name(name)].iter().any(has)
}

/// Whether one of the words may be a path that the program opens, by its looks or by the option that it belongs to. `words`
/// begin with the program. Code of the workspace opens what it likes: words of what runs such code are none.
pub(in crate::permission) fn names_a_path(words: &[String]) -> bool {
    const OF_PATHS: &[&str] = &["path", "dir", "prefix", "config", "file", "root", "out", "target", "work"];
    const LETTERS: &[&str] = &["-C", "-c", "-f", "-S", "-B", "-o", "-t", "-I"];
    let Some((program, rest)) = words.split_first() else { return false };
    let name = base_name(program);
    let is_for_path = |option: &str| {
        option.starts_with("--") && OF_PATHS.iter().any(|part| option.contains(part))
            || LETTERS.iter().any(|letter| option.starts_with(letter))
    };
    let is_path = |word: &str| word.contains('/') || word.starts_with('-') && is_for_path(word);
    if name == "git" {
        return git::opens(rest, is_path);
    }
    if !compilers::opens_named(name) && kind(program) == ProgramKind::RunsWorkspace {
        return false;
    }
    rest.iter().any(|word| is_path(word))
}

/// What stands between the paths in one word, such as `name=path` and `from:to`.
pub(in crate::permission) const BETWEEN: [char; 5] = ['=', ':', ',', ';', ' '];

/// Whether a path does not count from the directory that it is used in.
pub(in crate::permission) fn is_rooted(path: &str) -> bool {
    path.starts_with(['/', '~', '\\'])
}

/// Whether a path, or one in a value such as `name=path`, may be one outside of the directory that it counts from.
pub(in crate::permission) fn leads_out(value: &str) -> bool {
    value.split(BETWEEN).any(|path| leaves(path, 0))
}

/// Whether a path may be one outside of the workspace, for a command that starts `depth` directories beneath it. Only at
/// its beginning a `..` counts back: behind a name it may go up from where a link leads. What every program has open
/// lies nowhere.
fn leaves(path: &str, depth: usize) -> bool {
    let mut names = path.split('/').filter(|name| !matches!(*name, "" | ".")).peekable();
    let mut up = 0;
    while names.next_if_eq(&"..").is_some() {
        up += 1;
    }
    let streams = ["/dev/null", "/dev/stdin", "/dev/stdout", "/dev/stderr"];
    is_rooted(path) && !streams.contains(&path) || up > depth || names.any(|name| name == "..")
}

/// Whether a star may not stand for one of the words, since it leads out: each word of which `spelled` says no is one
/// that the star stands for.
pub(super) fn swallowed(name: &str, words: &[String], depth: usize, spelled: impl Fn(usize) -> bool) -> bool {
    by_word(name, words, depth, &spelled)
        || compilers::swallowed(name, words, depth, &spelled)
        || by_option(name, words, depth, &spelled)
        || by_place(name, words, depth, &spelled)
}

/// The same of programs of which no word may lead out, whatever it is.
fn by_word(name: &str, words: &[String], depth: usize, spelled: impl Fn(usize) -> bool) -> bool {
    let own = own_words(name, words);
    STAY.has(name)
        && words
            .iter()
            .enumerate()
            .take(own)
            .skip(1)
            .any(|(at, word)| !spelled(at) && strays(name, word, depth))
}

/// How many words are the program's own: what follows is for the workspace's program that it runs, or for another one
/// that counts by itself.
fn own_words(name: &str, words: &[String]) -> usize {
    let all = words.len();
    if let Some(last) = carriers::run_by_subcommand(name, words).last() {
        return last + 1;
    }
    let run = first_words::places(words).into_iter().find(|at| words[*at] == "run");
    match (name, run) {
        ("cargo" | "dotnet", Some(_)) => words.iter().position(|word| word == "--").unwrap_or(all),
        ("go" | "deno" | "bun", Some(at)) => at + 2,
        _ => all,
    }
}

/// Whether a word, or a path in it, leads out. Addresses of hosts do not.
pub(super) fn strays(name: &str, word: &str, depth: usize) -> bool {
    let option = word.starts_with('-');
    // `-t "GET /users"` is a text, `-o "addopts=-c /x"` is more words.
    if let Some((first, _)) = word.split_once(' ').filter(|(first, _)| !option && !first.contains('=')) {
        return leaves(first, depth);
    }
    // `dotnet build /p:X=y`
    let word = match word.strip_prefix('/') {
        Some(switch) if name == "dotnet" && word.contains(':') => switch,
        _ => word,
    };
    let (before, address) = word.split_once("://").unwrap_or((word, ""));
    if before.ends_with("file") && before.len() < word.len() {
        return true;
    }
    let mut pieces = before.split(BETWEEN).map(|piece| piece.trim_start_matches('@'));
    let first = pieces.next().unwrap_or_default();
    let leaves = |path: &str| leaves(path, depth);
    (if option { attached(first).is_some_and(leaves) } else { leaves(first) })
        || pieces.chain(address.split(BETWEEN).skip(1)).any(leaves)
}

/// What may be a path right behind the letters of an option, however many those are: `-C../x`, `-qo/x`. The name of
/// a directory among them (`-rrequirements/dev.txt`) looks no other.
fn attached(option: &str) -> Option<&str> {
    option.find(['/', '~', '.', '\\']).map(|at| &option[at..])
}

/// The same as [`leads_out`] of a word that may be an option with a path right behind its letters.
pub(in crate::permission) fn word_leads_out(word: &str) -> bool {
    let option = word.starts_with('-').then(|| word.split(BETWEEN).next().and_then(attached)).flatten();
    leads_out(word) || option.is_some_and(|path| leaves(path, 0))
}

/// The same of options of the table, with a value that a star stands for.
fn by_option(name: &str, words: &[String], depth: usize, spelled: impl Fn(usize) -> bool) -> bool {
    let Some(row) = row(name) else { return false };
    let leads_out = |value: &str| value.split(BETWEEN).any(|path| leaves(path, depth));
    words.iter().enumerate().skip(1).filter(|(at, _)| !spelled(*at)).any(|(at, word)| {
        let next = words.get(at + 1).map(String::as_str);
        values(row, word, next).into_iter().flatten().any(leads_out)
    })
}

/// The same of words that lead out, or to another program, by their form or their place.
fn by_place(name: &str, words: &[String], depth: usize, spelled: impl Fn(usize) -> bool) -> bool {
    let has = |wanted: &str| words.iter().skip(1).any(|word| word == wanted);
    let leads_out = |value: &str| value.split(BETWEEN).any(|path| leaves(path, depth));
    words.iter().enumerate().skip(1).filter(|(at, _)| !spelled(*at)).any(|(at, word)| {
        let operand_out = || !word.starts_with('-') && leads_out(word);
        let copies_out = || has("cp") && !is_remote(word) && operand_out();
        match name {
            // rustup(1): a path to a toolchain.
            "cargo" | "rustc" | "rustdoc" if word.starts_with('+') => word.contains('/'),
            // Their URLs of files lie anywhere.
            // curl(1), "--write-out", since 8.3: what it prints goes to a file.
            "curl" | "wget" => urls::names_file(word) || word.contains("%output{"),
            "git" => {
                // git-push(1), git-fetch(1), git-remote(1): another repository may be a directory, whose hooks run.
                let elsewhere = || {
                    let directory =
                        !word.starts_with('-') && leaves(word, depth) || word.starts_with("file:");
                    directory && ["push", "fetch", "pull", "remote"].iter().any(|name| has(name))
                };
                has("worktree") && has("remove") && operand_out() || elsewhere()
            }
            "docker" | "podman" => copies_out() || chooses_for_docker(words, at),
            // kubernetes.io, "kubectl kustomize": functions and charts of the workspace.
            "kubectl" => {
                copies_out()
                    || ["--enable-exec", "--enable-helm", "--helm-command"]
                        .iter()
                        .any(|o| word.starts_with(o))
            }
            // 7-Zip's manual, "-spf": names go where they say.
            "7z" | "7za" | "7zz" => word.starts_with("-spf"),
            "tar" | "bsdtar" | "gtar" => {
                let archive = word.strip_prefix("--file=").or(word.strip_prefix("-f")).unwrap_or(word);
                let old_style = at == 1 && !word.starts_with('-') && word.contains(['C', 'g']);
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

/// What may be the value of the option, where the word is one of the row.
fn values<'w>(row: &Row, word: &'w str, next: Option<&'w str>) -> [Option<&'w str>; 2] {
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
    [long(), short()]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(command: &str) -> Vec<String> {
        command.split(' ').map(|word| word.replace('_', " ")).collect()
    }

    fn is_told(command: &str, depth: usize) -> bool {
        let words = words(command);
        swallowed(&words[0], &words, depth, |_| false)
    }

    #[test]
    fn no_word_of_what_builds_and_tests_leads_out() {
        for command in [
            "cargo test --manifest-path /outside/Cargo.toml",
            "cargo test --manifest-path=../Cargo.toml",
            "cargo test --manifest-path a/../../Cargo.toml",
            "cargo test --target-dir=/outside",
            "gofmt -w ../x.go",
            "clang-format -i /x.c",
            "stylelint --custom-syntax /x",
            "cargo -C .. test",
            "cargo -C.. test",
            "cargo rustc -- --emit=link=/x",
            "cargo fmt -- /x.rs",
            "cargo nextest run --tool-config-file x:/y",
            "cargo nextest archive --archive-file /x",
            "cargo run --manifest-path /x -- a",
            "npm test -C ~/x",
            "npm -prefix /x test",
            "npm pack --pack-destination /x",
            "npm test -- --outputFile=/x",
            "npm install file:../x",
            "pnpm --dir=../x test",
            "go --C /x test ./...",
            "go build --o=/x",
            "go test -coverprofile=/x",
            "go build -o ../x",
            "go run -C /x .",
            "pytest -o pythonpath=/x",
            "pytest -o addopts=-p_/x",
            "pytest -qc /x.ini",
            "pytest -vvvvqc/x.ini",
            "pytest -vvvvvz/x.ini",
            "pip install -vvvvr~/x.txt",
            "pip install -rrequirements/dev.txt",
            "pytest --debug=/x",
            "pytest --cov-report=html:/x",
            "pytest ../x",
            "pytest @/x",
            "eslint -o /x src",
            "eslint -o/x src",
            "tsc --generateTrace /x",
            "jest --coverageDirectory=/x",
            "ruff check --cache-dir /x",
            "mypy --junit-xml file:///x",
            "black --config /x .",
            "cmake -DCMAKE_TOOLCHAIN_FILE=/x.cmake",
            "cmake -D X=https://a,/etc",
            "gradle -Dorg.gradle.java.home=/x build",
            "terraform -chdir=../x plan",
            "terraform plan -out=/x",
            "pip install -t ../x a",
            "uv pip install --target /x a",
            "uv run --project /x pytest",
            "dotnet test --results-directory /x",
            "dotnet build /p:OutputPath=/x",
            "bun test --coverage-dir /x",
            "deno test --coverage=/x",
        ] {
            assert!(is_told(command, 0), "{command}");
            let words = words(command);
            assert!(!swallowed(&words[0], &words, 0, |_| true), "spelt out: {command}");
        }
    }

    #[test]
    fn options_of_others_lead_out_where_the_table_says_so() {
        for command in [
            "git push /x HEAD",
            "git pull ../x",
            "git fetch file:///x",
            "git remote add o ../x",
            "tar -C /x -xf a.tar",
            "tar -g /x -cf a.tar src",
            "tar -czg/x -f a.tar src",
            "tar cgf /x a.tar src",
            "tar --listed-incremental=/x -cf a.tar src",
            "tar --volno-file=/x -cf a.tar src",
            "docker buildx bake --set *.output=/x",
            "docker buildx bake --set *.output=type=local,dest=/x",
            "gcc -o /x a.c",
            "gcc -o/x a.c",
            "gcc a.c -MF /x",
            "gcc a.c -MD -MF/x",
            "gcc a.c -Wl,-Map=/x",
            "gcc a.c -Wl,-o,/x",
            "gcc a.c -Wl,-rpath,/r,-Map,/x",
            "gcc a.c -Xlinker -Map=/x",
            "gcc a.c -dumpdir /x",
            "gcc a.c -fdump-tree-all=/x",
            "gcc a.c -fprofile-generate=/x",
            "gcc a.c -Wa,-a=/x",
            "gcc a.c -Wl,--dependency-file=/x",
            "clang --serialize-diagnostics /x a.c",
            "javac -d /x A.java",
            "ld -Map /x a.o",
            "swiftc -o ../x a.swift",
            "docker build -o type=local,dest=/x .",
            "docker build --cache-to type=local,dest=/x .",
            "docker build --secret id=a,src=/x .",
            "docker build --build-context a=../x .",
            "docker volume create --opt device=/ v",
            "docker volume create -o device=/ v",
            "gh release download -D /x",
            "kubectl cluster-info dump --output-directory=/x",
            "kubectl cp pod:/a /x",
            "kubectl proxy --www=/x",
            "helm template --output-dir /x .",
            "helm pull -d /x c",
            "just --working-directory .. x",
            "7z x -spf a.7z",
        ] {
            assert!(is_told(command, 0), "{command}");
        }
    }

    #[test]
    fn what_stays_in_the_workspace_is_not_told() {
        for command in [
            "git push origin HEAD~1:main",
            "git push https://h/x main",
            "git fetch git@h:/x/y",
            "git pull ./sub",
            "git log ../x",
            "cargo test --manifest-path crates/a/Cargo.toml",
            "cargo test --target x86_64-unknown-linux-gnu a::b",
            "cargo -C sub test",
            "cargo run -- --config /x",
            "npm --prefix frontend test",
            "npm install --registry=https://registry.example/x",
            "npm install git+ssh://git@host.example:22/a/b",
            "npm test -- -t GET_/users_returns",
            "npm run start -- --port=3000",
            "npm install @types/node",
            "go run ./cmd/x /data",
            "go test ./... -run TestX/sub -coverprofile=c.out",
            "go install example.com/a/b@latest",
            "poetry run python x.py /data",
            "pytest tests/test_a.py::test_b[a/b] -k a -rA",
            "pytest --junitxml=/dev/null -r requirements/dev.txt",
            "pip install -r requirements/dev.txt -c./x.txt -vvv",
            "cmake -S . -B build -DX=ON",
            "gradle :app:test",
            "mvn -pl :a -Dtest=A#b test",
            "dotnet build /p:Configuration=Release",
            "yarn --cwd packages/a build",
            "pip install -e .",
            "tar -C sub -xf a.tar",
            "tar tf /x.tar",
            "tar --listed-incremental=a.snar -cf a.tar src",
            "tar -xzf pkg.tgz",
            "gcc -O2 -Wall -I/usr/include/x -L/usr/lib -lx -o build/a src/a.c",
            "gcc -I /usr/include -isystem /opt/x -D_FORTIFY_SOURCE=2 -DDATA=/usr/share a.c",
            "gcc a.c -Wl,-rpath,/usr/lib -Wl,-rpath=/usr/lib -Wl,-Map=a.map,--as-needed",
            "clang -std=c11 -MMD -MF build/a.d -ffile-prefix-map=/src=. -c a.c",
            "gcc -x c -o /dev/null a.c",
            "docker build -t x .",
            "docker logs -f web",
            "docker cp web:/x y",
            "kubectl cp pod:/x y",
            "just run /data",
            "meson setup build --prefix=/usr",
            "gh pr comment --body /lgtm",
            "unknown --prefix /x",
        ] {
            assert!(!is_told(command, 0), "{command}");
        }
    }

    #[test]
    fn dots_count_from_where_the_command_starts() {
        for (command, depth, want) in [
            ("cmake ..", 0, true),
            ("cmake ..", 1, false),
            ("cargo test --manifest-path=../../Cargo.toml", 1, true),
            ("cargo test --manifest-path=../../Cargo.toml", 2, false),
            ("pytest ./../tests", 1, false),
            ("pytest a/../b", 1, true),
            ("pytest /ws/tests", 9, true),
            ("tar -C .. -xf a.tar", 1, false),
            ("docker cp web:/x ../y", 1, false),
        ] {
            assert_eq!(is_told(command, depth), want, "{command} from {depth}");
        }
    }
}
