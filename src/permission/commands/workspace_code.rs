//! Programs that run the workspace's code, and the files of it that a command names and will run or obey.
//!
//! An approval of such a command holds the content of these files, so that what runs is what was looked at. It is a
//! list of what the words say, not of all that such a program reads in the end.

use super::kind::{ProgramKind, base_name, kind};
use super::programs::{self, has};

/// Files that a program obeys when it is started in a directory: the manual of each. Those that do not exist count
/// as well: one that comes up later is a change.
const OBEYED: &[(&str, &[&str])] = &[
    // GNU make 4.3 manual, 3.2.
    ("make", &["GNUmakefile", "makefile", "Makefile"]),
    ("gmake", &["GNUmakefile", "makefile", "Makefile"]),
    // The Cargo book, 3.2, 3.6, 3.9; the rustup book, "Overrides".
    (
        "cargo",
        &[
            "Cargo.toml",
            "Cargo.lock",
            "build.rs",
            ".cargo/config.toml",
            ".cargo/config",
            "rust-toolchain.toml",
            "rust-toolchain",
        ],
    ),
    ("rustc", &["rust-toolchain.toml", "rust-toolchain"]),
    // package.json and .npmrc of npm 10; pnpm, yarn, bun.
    ("npm", &["package.json", "package-lock.json", ".npmrc"]),
    ("npx", &["package.json", ".npmrc"]),
    ("pnpm", &["package.json", "pnpm-lock.yaml", ".npmrc", "pnpm-workspace.yaml", ".pnpmfile.cjs"]),
    ("yarn", &["package.json", "yarn.lock", ".yarnrc", ".yarnrc.yml", ".npmrc"]),
    ("bun", &["package.json", "bunfig.toml", "bun.lock"]),
    ("deno", &["deno.json", "deno.jsonc", "package.json"]),
    ("tsc", &["tsconfig.json"]),
    ("jest", &["package.json", "jest.config.js", "jest.config.ts", "jest.config.cjs", "jest.config.mjs"]),
    ("vitest", &["package.json", "vitest.config.ts", "vitest.config.js", "vite.config.ts", "vite.config.js"]),
    ("vite", &["package.json", "vite.config.ts", "vite.config.js"]),
    (
        "eslint",
        &[
            "package.json",
            "eslint.config.js",
            "eslint.config.mjs",
            ".eslintrc.js",
            ".eslintrc.cjs",
            ".eslintrc.json",
        ],
    ),
    ("prettier", &["package.json", ".prettierrc", "prettier.config.js"]),
    // pytest 8 "Configuration"; tox, nox; PEP 518 and 621.
    ("pytest", &["pytest.ini", "pyproject.toml", "tox.ini", "setup.cfg", "conftest.py"]),
    ("tox", &["tox.ini", "pyproject.toml", "setup.cfg", "setup.py"]),
    ("nox", &["noxfile.py"]),
    ("pip", &["pyproject.toml", "setup.py", "setup.cfg", "requirements.txt"]),
    ("uv", &["pyproject.toml", "uv.lock", "uv.toml", ".python-version"]),
    ("poetry", &["pyproject.toml", "poetry.lock", "poetry.toml"]),
    ("pipenv", &["Pipfile", "Pipfile.lock", ".env"]),
    ("hatch", &["pyproject.toml", "hatch.toml"]),
    ("pre-commit", &[".pre-commit-config.yaml"]),
    ("mypy", &["mypy.ini", ".mypy.ini", "pyproject.toml", "setup.cfg"]),
    ("ruff", &["ruff.toml", ".ruff.toml", "pyproject.toml"]),
    ("go", &["go.mod", "go.sum", "go.work"]),
    ("cmake", &["CMakeLists.txt", "CMakePresets.json", "CMakeUserPresets.json"]),
    ("ctest", &["CTestTestfile.cmake", "CMakePresets.json"]),
    ("ninja", &["build.ninja"]),
    ("meson", &["meson.build"]),
    ("bazel", &["WORKSPACE", "MODULE.bazel", "BUILD", "BUILD.bazel", ".bazelrc"]),
    ("just", &["justfile", "Justfile", ".justfile"]),
    ("task", &["Taskfile.yml", "Taskfile.yaml"]),
    ("rake", &["Rakefile", "rakefile", "Rakefile.rb"]),
    ("bundle", &["Gemfile", "Gemfile.lock", ".bundle/config"]),
    ("rspec", &[".rspec", "spec/spec_helper.rb"]),
    (
        "gradle",
        &["build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts", "gradle.properties"],
    ),
    (
        "gradlew",
        &[
            "build.gradle",
            "build.gradle.kts",
            "settings.gradle",
            "settings.gradle.kts",
            "gradle.properties",
            "gradle/wrapper/gradle-wrapper.properties",
        ],
    ),
    ("mvn", &["pom.xml", ".mvn/maven.config", ".mvn/jvm.config", ".mvn/extensions.xml"]),
    ("ant", &["build.xml"]),
    ("sbt", &["build.sbt", "project/build.properties", "project/plugins.sbt"]),
    ("mix", &["mix.exs", "mix.lock"]),
    ("composer", &["composer.json", "composer.lock"]),
    ("phpunit", &["phpunit.xml", "phpunit.xml.dist"]),
    ("zig", &["build.zig", "build.zig.zon"]),
    ("dune", &["dune", "dune-project"]),
    ("stack", &["stack.yaml", "package.yaml"]),
    ("cabal", &["cabal.project"]),
    (
        "docker",
        &[
            "Dockerfile",
            "compose.yaml",
            "compose.yml",
            "docker-compose.yml",
            "docker-compose.yaml",
            ".dockerignore",
        ],
    ),
    ("podman", &["Containerfile", "Dockerfile"]),
    ("docker-compose", &["compose.yaml", "compose.yml", "docker-compose.yml", "docker-compose.yaml"]),
    ("terraform", &["main.tf"]),
    ("vagrant", &["Vagrantfile"]),
];

/// Options that name a file to obey or a directory to start in, attached, behind `=` or as the next word.
const NAMING: &[(&str, &str)] = &[
    ("make", "-f --file --makefile -C --directory -I --include-dir"),
    ("gmake", "-f --file --makefile -C --directory -I --include-dir"),
    ("cargo", "--manifest-path --config -C"),
    ("npm", "--prefix -C --userconfig --script-shell"),
    ("pnpm", "--dir -C --prefix"),
    ("yarn", "--cwd"),
    ("bun", "--cwd --config"),
    ("deno", "--config -c --import-map"),
    ("tsc", "-p --project"),
    ("jest", "--config -c"),
    ("vitest", "--config -c"),
    ("vite", "--config -c"),
    ("eslint", "--config -c --rulesdir"),
    ("prettier", "--config"),
    ("pytest", "-c --config-file --rootdir"),
    ("tox", "-c --conf"),
    ("nox", "-f --noxfile"),
    ("pip", "-r --requirement -c --constraint -e --editable"),
    ("uv", "-r --requirement --directory --project --config-file -e"),
    ("poetry", "-C --directory -P --project"),
    ("pre-commit", "-c --config"),
    ("mypy", "--config-file"),
    ("go", "-C -modfile -overlay"),
    ("cmake", "-P -C -S --build --install"),
    ("ctest", "-S --test-dir"),
    ("ninja", "-f -C"),
    ("just", "-f --justfile"),
    ("task", "-t --taskfile -d --dir"),
    ("rake", "-f --rakefile"),
    ("bundle", "--gemfile"),
    ("gradle", "-b --build-file -p --project-dir -I --init-script -c --settings-file"),
    ("gradlew", "-b --build-file -p --project-dir -I --init-script -c --settings-file"),
    ("mvn", "-f --file -s --settings"),
    ("ant", "-f -file -buildfile"),
    ("docker", "-f --file"),
    ("podman", "-f --file"),
    ("docker-compose", "-f --file"),
    ("python", "-W"),
    ("node", "-r --require --import --loader --experimental-loader --env-file"),
    ("perl", "-I"),
    ("ruby", "-r -I"),
    ("php", "-c -f"),
    ("bash", "--rcfile --init-file"),
];

/// Whether the program runs code of the workspace: it obeys build files, interprets scripts, or is itself a file there.
pub(crate) fn runs_workspace_code(program: &str) -> bool {
    matches!(kind(program), ProgramKind::RunsWorkspace | ProgramKind::Interpreter)
}

/// The files of the workspace that the command (its program's name first, all words literal) names and will run or
/// obey, relative ones from its working directory: the program itself, an interpreter's script, what options name,
/// and what the program looks for by itself. Empty for programs that run no code of the workspace.
pub(crate) fn named_files(words: &[String]) -> Vec<&str> {
    let Some(program) = words.first() else { return Vec::new() };
    if !runs_workspace_code(program) {
        return Vec::new();
    }
    let mut files: Vec<&str> = Vec::new();
    if program.contains('/') {
        files.push(program);
    }
    let file = program.rsplit('/').next().unwrap_or(program);
    let name = base_name(file);
    let named = NAMING.iter().find(|(of, _)| *of == name).map_or("", |(_, options)| *options);
    for (at, word) in words.iter().enumerate().skip(1) {
        if let Some(value) = value_of(word, words.get(at + 1), named) {
            files.push(value);
        }
    }
    if has(programs::INTERPRETERS, name.to_ascii_lowercase().as_str()) {
        files.extend(script(name, words, named));
    } else {
        files.extend(words.iter().skip(1).map(String::as_str).filter_map(source));
    }
    // What is named can be a directory, so that what is looked for by itself counts as well.
    files.extend(OBEYED.iter().filter(|(of, _)| *of == name).flat_map(|(_, files)| files.iter().copied()));
    // `python3 -m pytest` obeys what pytest does.
    if let Some(module) = words.iter().position(|w| w == "-m").and_then(|at| words.get(at + 1)) {
        files.extend(
            OBEYED.iter().filter(|(of, _)| of == module).flat_map(|(_, files)| files.iter().copied()),
        );
    }
    let mut seen = std::collections::HashSet::new();
    files.retain(|file| seen.insert(*file));
    files
}

/// The value of an option that names a file.
fn value_of<'w>(word: &'w str, next: Option<&'w String>, named: &str) -> Option<&'w str> {
    for option in named.split_ascii_whitespace() {
        let Some(rest) = word.strip_prefix(option) else { continue };
        if rest.is_empty() {
            return next.map(String::as_str);
        }
        if let Some(value) = rest.strip_prefix('=') {
            return Some(value);
        }
        if option.len() == 2 && !word.starts_with("--") {
            return Some(rest);
        }
    }
    None
}

/// The first word that is neither an option, nor an option's value, nor code.
fn script<'w>(name: &str, words: &'w [String], named: &str) -> Option<&'w str> {
    // Options whose value is the next word, for each language.
    let valued: &[&str] = match name {
        "python" | "pypy" => &["-W", "-X"],
        "node" | "nodejs" => &["-C", "--conditions", "--input-type"],
        "sh" | "bash" | "dash" | "zsh" | "ksh" => &["-o", "-O", "+o", "+O"],
        "java" => &["-cp", "-classpath", "--class-path", "-jar"],
        _ => &[],
    };
    let mut words = words.iter().skip(1).map(String::as_str);
    while let Some(word) = words.next() {
        match word {
            // A module, or the input.
            "-m" | "-" => return None,
            word if is_code(name, word) => {
                words.next();
            }
            "-jar" | "--" => return words.next(),
            word if valued.contains(&word) || named.split(' ').any(|option| option == word) => {
                words.next();
            }
            word if word.starts_with(['-', '+']) => {}
            word => return Some(word),
        }
    }
    None
}

/// Whether the next word is code, so that no file stands there. Where options are joined the code is taken for a
/// file: one too many does no harm.
fn is_code(name: &str, option: &str) -> bool {
    match option {
        "--eval" => true,
        "-c" => matches!(
            name,
            "sh" | "bash" | "dash" | "zsh" | "ksh" | "fish" | "ash" | "mksh" | "python" | "pypy"
        ),
        "-e" | "-E" => {
            matches!(name, "perl" | "ruby" | "node" | "nodejs" | "lua" | "elixir" | "julia" | "bun")
        }
        _ => false,
    }
}

/// The file in an argument of a build tool or test runner whose code is most likely run (`tests/a.py::case`).
fn source(word: &str) -> Option<&str> {
    const SOURCES: &[&str] = &[
        "py js cjs mjs ts tsx jsx rs go rb pl php sh lua c cc cpp h java kt scala ex exs yml yaml toml json cmake mk",
    ];
    let path = word.split("::").next().unwrap_or(word);
    let extension = std::path::Path::new(path).extension()?.to_str()?;
    (!word.starts_with('-') && has(SOURCES, extension)).then_some(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn what_a_command_runs_or_obeys_is_named() {
        for (command, files) in [
            ("sh ./run.sh", &["./run.sh"][..]),
            ("bash -e -o pipefail run.sh x", &["run.sh"]),
            ("./x.sh a", &["./x.sh"]),
            ("tools/build --fast", &["tools/build"]),
            ("python3 x.py -c y", &["x.py"]),
            ("python3 -W ignore -u x.py", &["ignore", "x.py"]),
            ("python3 -m http.server", &[]),
            ("python3 -c pass", &[]),
            ("perl -e print", &[]),
            ("perl -Icode x.pl", &["code", "x.pl"]),
            ("perl -w -e print x.pl", &["x.pl"]),
            ("node --require ./a.js b.js", &["./a.js", "b.js"]),
            ("perl -Ilib x.pl", &["lib", "x.pl"]),
            ("java -jar x.jar", &["x.jar"]),
            ("/ws/gradlew build", &["/ws/gradlew", "build.gradle"]),
            ("make", &["GNUmakefile", "makefile", "Makefile"]),
            ("make -f other.mk all", &["other.mk", "GNUmakefile"]),
            ("make -fother.mk", &["other.mk"]),
            ("make --file=other.mk", &["other.mk"]),
            ("make -C sub", &["sub", "Makefile"]),
            ("cargo test", &["Cargo.toml", "build.rs", ".cargo/config.toml", "rust-toolchain.toml"]),
            ("cargo test --manifest-path a/Cargo.toml", &["a/Cargo.toml", "Cargo.toml"]),
            ("npm test", &["package.json", ".npmrc"]),
            ("pytest tests/test_x.py::test_a", &["tests/test_x.py", "conftest.py"]),
            ("python3 -m pytest -q", &["conftest.py", "pyproject.toml"]),
            ("docker build -f d/Dockerfile .", &["d/Dockerfile", "Dockerfile"]),
            ("tsc -p tsconfig.build.json", &["tsconfig.build.json"]),
        ] {
            let words = words(command);
            let found = named_files(&words);
            for file in files {
                assert!(found.contains(file), "{command}: {found:?}");
            }
            assert!(!files.is_empty() || found.is_empty(), "{command}: {found:?}");
            let mut once = found.clone();
            once.sort_unstable();
            once.dedup();
            assert_eq!(once.len(), found.len(), "{command}: {found:?}");
        }
    }

    #[test]
    fn what_runs_no_code_names_none() {
        for command in
            ["ls x.py", "cat Makefile", "rm run.sh", "git status", "mkdir a", "/bin/cat x.sh", "grep x a.py"]
        {
            let words = words(command);
            let found = named_files(&words);
            assert!(found.is_empty() || command.starts_with("git"), "{command}: {found:?}");
        }
        assert!(named_files(&[]).is_empty());
    }

    #[test]
    fn every_program_that_obeys_files_is_of_the_class() {
        for (program, _) in OBEYED {
            assert!(runs_workspace_code(program) || *program == "npx", "{program}");
        }
        for program in ["ls", "cat", "mkdir", "rm", "/bin/sed"] {
            assert!(!runs_workspace_code(program), "{program}");
        }
        for program in
            ["cargo", "npm", "make", "pytest", "python3", "python3.11", "node", "sh", "./x.sh", "/ws/x"]
        {
            assert!(runs_workspace_code(program), "{program}");
        }
    }
}
