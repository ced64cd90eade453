//! Files that a build tool or test runner runs without being told their names.

use std::fs::File;
use std::io::Read as _;

use super::command_words::is_called;

/// What git and the programs that its hooks usually start go by, from the top of a working tree: git-config(1),
/// githooks(5), gitattributes(5); husky, pre-commit, lefthook.
pub(super) const OF_TREE: &[&str] =
    &[".git", ".gitattributes", ".husky/*", ".husky/_/*", ".pre-commit-config.yaml", "lefthook.yml"];
/// The same in its own directory: gitrepository-layout(5).
pub(super) const OF_GIT: &[&str] = &["commondir", "config", "config.worktree", "info/attributes", "hooks/*"];
/// githooks(5).
pub(super) const HOOKS: &[&str] = &[
    "applypatch-msg",
    "pre-applypatch",
    "post-applypatch",
    "pre-commit",
    "pre-merge-commit",
    "prepare-commit-msg",
    "commit-msg",
    "post-commit",
    "pre-rebase",
    "post-checkout",
    "post-merge",
    "pre-push",
    "pre-receive",
    "update",
    "proc-receive",
    "post-receive",
    "post-update",
    "reference-transaction",
    "push-to-checkout",
    "pre-auto-gc",
    "post-rewrite",
    "sendemail-validate",
    "fsmonitor-watchman",
    "p4-changelist",
    "p4-prepare-changelist",
    "p4-post-changelist",
    "p4-pre-submit",
    "post-index-change",
];
/// So many bytes of a repository's settings are looked at.
const SETTINGS_MAX: u64 = 256 * 1024;
/// So many of the places that they name for hooks; the last one counts for git.
const HOOKS_PATHS_MAX: usize = 4;

/// What a small file of git says.
pub(super) fn text_of(file: File) -> Option<String> {
    let mut text = Vec::new();
    file.take(SETTINGS_MAX).read_to_end(&mut text).ok()?;
    Some(String::from_utf8_lossy(&text).into_owned())
}

/// The directories where settings of git say that hooks lie, the last first.
pub(super) fn hooks_of(settings: &str) -> Vec<String> {
    const NAME: &str = "hookspath";
    let lower = settings.to_ascii_lowercase();
    let behind = lower.rmatch_indices(NAME).filter_map(|(at, _)| {
        settings[at + NAME.len()..].trim_start_matches([' ', '\t']).strip_prefix('=').map(value_of)
    });
    behind.filter(|value| !value.is_empty()).take(HOOKS_PATHS_MAX).collect()
}

/// A setting's value as git reads it: parts of it may be in quotes, and a line goes on behind a backslash.
fn value_of(text: &str) -> String {
    let (mut value, mut quoted) = (String::new(), false);
    let mut chars = text.chars().filter(|c| *c != '\r');
    while let Some(c) = chars.next() {
        match c {
            '"' => quoted = !quoted,
            '\\' => match chars.next() {
                Some('\n') | None => {}
                Some('t') => value.push('\t'),
                Some('n') => value.push('\n'),
                Some(c) => value.push(c),
            },
            '\n' => break,
            '#' | ';' if !quoted => break,
            c => value.push(c),
        }
    }
    value.trim().to_owned()
}

/// Programs that run git, and with it its hooks, behind words of their own: docs.npmjs.com, "npm version"; classic.yarnpkg.com,
/// "yarn version"; cli.github.com/manual; lerna.js.org, "version".
pub(super) const RUN_GIT: &[&str] = &["git", "gh", "glab", "hub", "npm", "pnpm", "yarn", "lerna"];

/// A program and the files that it looks for where it begins and in what it is given, by the manual of each; some are
/// patterns.
const IMPLIED: &[(&str, &[&str])] = &[
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
    ("vite", &["package.json", "vite.config.*", "postcss.config.*", ".postcssrc", ".postcssrc.*"]),
    ("eslint", &["package.json", "eslint.config.*", ".eslintrc.js", ".eslintrc.cjs", ".eslintrc.json"]),
    ("prettier", &["package.json", ".prettierrc", ".prettierrc.*", "prettier.config.*"]),
    // webpack.js.org, rollupjs.org, mochajs.org, playwright.dev, docs.cypress.io, nextjs.org, nuxt.com, docs.astro.build:
    // "Configuration".
    ("webpack", &["package.json", "webpack.config.*", ".webpack/webpack.config.*", ".webpack/webpackfile"]),
    ("rollup", &["package.json", "rollup.config.*"]),
    ("mocha", &["package.json", ".mocharc.*", "test/mocha.opts"]),
    ("playwright", &["package.json", "playwright.config.*"]),
    (
        "cypress",
        &[
            "package.json",
            "cypress.config.*",
            "cypress.json",
            "cypress/plugins/index.*",
            "cypress/support/e2e.*",
            "cypress.env.json",
        ],
    ),
    (
        "next",
        &[
            "package.json",
            "next.config.*",
            "postcss.config.*",
            ".babelrc",
            "babel.config.*",
            ".env",
            ".env.local",
        ],
    ),
    ("nuxt", &["package.json", "nuxt.config.*", ".nuxtrc", ".env"]),
    ("nuxi", &["package.json", "nuxt.config.*", ".nuxtrc", ".env"]),
    ("astro", &["package.json", "astro.config.*", "postcss.config.*", ".env"]),
    // pytest 8 "Configuration"; tox, nox; PEP 518 and 621.
    (
        "pytest",
        &[
            "pytest.ini",
            ".pytest.ini",
            "pytest.toml",
            ".pytest.toml",
            "pyproject.toml",
            "tox.ini",
            "setup.cfg",
            "conftest.py",
        ],
    ),
    ("tox", &["tox.ini", "tox.toml", "pyproject.toml", "setup.cfg", "setup.py"]),
    ("nox", &["noxfile.py"]),
    ("pip", &["pyproject.toml", "setup.py", "setup.cfg", "requirements.txt"]),
    ("uv", &["pyproject.toml", "uv.lock", "uv.toml", ".python-version"]),
    ("poetry", &["pyproject.toml", "poetry.lock", "poetry.toml"]),
    ("pipenv", &["Pipfile", "Pipfile.lock", ".env"]),
    ("hatch", &["pyproject.toml", "hatch.toml"]),
    ("pre-commit", &[".pre-commit-config.yaml"]),
    ("mypy", &["mypy.ini", ".mypy.ini", "pyproject.toml", "setup.cfg"]),
    ("ruff", &["ruff.toml", ".ruff.toml", "pyproject.toml"]),
    ("go", &["go.mod", "go.sum", "go.work", "*.go"]),
    // Python's "Command line and environment": a directory runs by its `__main__.py`; what a `setup.py` goes by, setuptools;
    // Node's "Modules: CommonJS modules".
    ("python", &["__main__.py", "__init__.py", "setup.cfg", "pyproject.toml"]),
    ("pypy", &["__main__.py", "__init__.py"]),
    ("node", &["package.json", "index.js", "index.cjs", "index.mjs", "index.json"]),
    ("nodejs", &["package.json", "index.js", "index.cjs", "index.mjs", "index.json"]),
    // GDB's "Startup".
    ("gdb", &[".gdbinit"]),
    ("cmake", &["CMakeLists.txt", "CMakePresets.json", "CMakeUserPresets.json", "Makefile", "build.ninja"]),
    ("ctest", &["CTestTestfile.cmake", "CMakePresets.json"]),
    ("ninja", &["build.ninja"]),
    ("meson", &["meson.build", "build.ninja"]),
    ("bazel", &["WORKSPACE", "MODULE.bazel", "BUILD", "BUILD.bazel", ".bazelrc"]),
    ("just", &["justfile", "Justfile", ".justfile"]),
    (
        "task",
        &[
            "Taskfile.yml",
            "taskfile.yml",
            "Taskfile.yaml",
            "taskfile.yaml",
            "Taskfile.dist.yml",
            "taskfile.dist.yml",
            "Taskfile.dist.yaml",
            "taskfile.dist.yaml",
        ],
    ),
    ("rake", &["Rakefile", "rakefile", "Rakefile.rb", "rakefile.rb"]),
    ("bundle", &["Gemfile", "Gemfile.lock", "gems.rb", "gems.locked", ".bundle/config"]),
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
    ("mvnw", &["pom.xml", ".mvn/wrapper/maven-wrapper.properties", ".mvn/maven.config", ".mvn/jvm.config"]),
    ("ant", &["build.xml"]),
    (
        "sbt",
        &[
            "build.sbt",
            "project/build.properties",
            "project/plugins.sbt",
            ".sbtopts",
            ".jvmopts",
            "project/*.scala",
        ],
    ),
    // leiningen.org, "sample.project.clj"; nim-lang.org, "Compiler User Guide"; R's `?Startup`.
    ("lein", &["project.clj", "profiles.clj", ".lein-env"]),
    ("nim", &["config.nims", "nim.cfg", "*.nimble"]),
    ("nimble", &["config.nims", "nim.cfg", "*.nimble"]),
    ("R", &[".Rprofile", ".Renviron"]),
    ("Rscript", &[".Rprofile", ".Renviron"]),
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
            "*.override.yml",
            "*.override.yaml",
            ".env",
            ".dockerignore",
        ],
    ),
    ("podman", &["Containerfile", "Dockerfile"]),
    (
        "docker-compose",
        &[
            "compose.yaml",
            "compose.yml",
            "docker-compose.yml",
            "docker-compose.yaml",
            "*.override.yml",
            "*.override.yaml",
            ".env",
        ],
    ),
    // developer.hashicorp.com, "Files and Directories", "Input Variables"; opentofu.org; helm.sh/docs, "Charts".
    ("terraform", &["*.tf", "*.tf.json", "*.tfvars", "*.tfvars.json", ".terraform.lock.hcl"]),
    ("tofu", &["*.tf", "*.tofu", "*.tf.json", "*.tfvars", "*.tfvars.json", ".terraform.lock.hcl"]),
    ("helm", &["Chart.yaml", "values.yaml", "templates/*.yaml", "templates/*.tpl"]),
    // docs.ansible.com, "Ansible Configuration Settings"; nix.dev, "nix-build", "nix flake".
    ("ansible", &["ansible.cfg"]),
    ("ansible-playbook", &["ansible.cfg"]),
    ("nix", &["flake.nix", "flake.lock", "default.nix", "shell.nix"]),
    ("nix-build", &["default.nix"]),
    ("nix-shell", &["shell.nix", "default.nix"]),
    // hg(1): hooks of a repository stand in its settings.
    ("hg", &[".hg/hgrc"]),
    ("lefthook", &["lefthook.yml", "lefthook.yaml", ".lefthook.yml", "lefthook-local.yml"]),
    ("mise", &["mise.toml", ".mise.toml", ".tool-versions"]),
    ("direnv", &[".envrc", ".env"]),
    // scons(1); gulpjs.com, gruntjs.com, pyinvoke.org, fabfile.org, docs.fastlane.tools, pydoit.org.
    ("scons", &["SConstruct", "Sconstruct", "sconstruct", "SConscript"]),
    ("gulp", &["gulpfile.js", "gulpfile.mjs", "gulpfile.ts"]),
    ("grunt", &["Gruntfile.js", "Gruntfile.cjs"]),
    ("invoke", &["tasks.py", "invoke.yaml"]),
    ("inv", &["tasks.py", "invoke.yaml"]),
    ("fab", &["fabfile.py", "fabfile/__init__.py"]),
    ("fastlane", &["Fastfile", "fastlane/Fastfile"]),
    ("doit", &["dodo.py"]),
    // magefile.org, docs.tilt.dev, foreman(1), snakemake.readthedocs.io, flask.palletsprojects.com, sphinx-doc.org.
    ("mage", &["magefile.go", "magefiles/*.go"]),
    ("tilt", &["Tiltfile"]),
    ("foreman", &["Procfile", "Procfile.dev", ".env", ".foreman"]),
    ("snakemake", &["Snakefile", "snakefile", "workflow/Snakefile", "workflow/snakefile"]),
    ("flask", &["app.py", "wsgi.py", ".env", ".flaskenv"]),
    ("sphinx-build", &["conf.py"]),
    // kubernetes.io, "kubectl apply": each file of the directory; perlrun(1), `-I`; bats(1).
    ("kubectl", &["*.yaml", "*.yml", "*.json"]),
    ("perl", &["*.pm"]),
    ("bats", &["*.bats", "*.bash"]),
    ("swift", &["Package.swift", "Package.resolved"]),
    (
        "dotnet",
        &[
            "*.csproj",
            "*.fsproj",
            "*.vbproj",
            "*.sln",
            "Directory.Build.props",
            "Directory.Build.targets",
            "global.json",
            "nuget.config",
        ],
    ),
    // mkdocs.org, alembic.sqlalchemy.org, turbo.build, nx.dev, lerna.js.org, serverless.com, docs.aws.amazon.com (CDK, SAM),
    // pulumi.com, wrangler, hardhat.org, getfoundry.sh, storybook.js.org, karma-runner.github.io, stylelint.io,
    // semantic-release, black, pylint, pdm-project.org, dart.dev, guides.cocoapods.org, skaffold.dev, earthly.dev: what they
    // look for.
    ("mkdocs", &["mkdocs.yml", "mkdocs.yaml"]),
    ("alembic", &["alembic.ini", "pyproject.toml", "alembic/env.py", "migrations/env.py"]),
    ("turbo", &["turbo.json", "turbo.jsonc", "package.json"]),
    ("nx", &["nx.json", "project.json", "package.json", "workspace.json"]),
    ("lerna", &["lerna.json", "package.json"]),
    ("serverless", &["serverless.*", "package.json", ".env"]),
    ("sls", &["serverless.*", "package.json", ".env"]),
    ("cdk", &["cdk.json", "cdk.context.json", "package.json"]),
    ("sam", &["samconfig.toml", "template.yaml", "template.yml"]),
    ("pulumi", &["Pulumi.yaml", "Pulumi.*.yaml", "__main__.py", "index.*", "main.go"]),
    ("wrangler", &["wrangler.toml", "wrangler.json", "wrangler.jsonc"]),
    ("vercel", &["vercel.json", "package.json"]),
    ("netlify", &["netlify.toml", "package.json"]),
    ("firebase", &["firebase.json", ".firebaserc"]),
    ("hardhat", &["hardhat.config.*"]),
    ("forge", &["foundry.toml", "remappings.txt"]),
    ("storybook", &[".storybook/main.*", ".storybook/preview.*"]),
    ("karma", &["karma.conf.*"]),
    ("ava", &["ava.config.*", "package.json"]),
    ("tsup", &["tsup.config.*", "package.json"]),
    ("stylelint", &["stylelint.config.*", ".stylelintrc", ".stylelintrc.*", "package.json"]),
    ("lint-staged", &[".lintstagedrc", ".lintstagedrc.*", "lint-staged.config.*", "package.json"]),
    ("semantic-release", &[".releaserc", ".releaserc.*", "release.config.*", "package.json"]),
    ("release-it", &[".release-it.*", "package.json"]),
    ("black", &["pyproject.toml"]),
    ("isort", &["pyproject.toml", ".isort.cfg", "setup.cfg", "tox.ini"]),
    ("flake8", &[".flake8", "setup.cfg", "tox.ini"]),
    ("pylint", &["pylintrc", ".pylintrc", "pyproject.toml", "setup.cfg"]),
    ("coverage", &[".coveragerc", "pyproject.toml", "setup.cfg", "tox.ini"]),
    ("pdm", &["pyproject.toml", "pdm.toml", "pdm.lock"]),
    ("rye", &["pyproject.toml"]),
    ("pixi", &["pixi.toml", "pyproject.toml"]),
    ("dbt", &["dbt_project.yml", "profiles.yml", "packages.yml"]),
    ("scrapy", &["scrapy.cfg"]),
    ("dart", &["pubspec.yaml", "build.yaml"]),
    ("flutter", &["pubspec.yaml", "l10n.yaml"]),
    ("pod", &["Podfile", "Podfile.lock"]),
    ("skaffold", &["skaffold.yaml"]),
    ("earthly", &["Earthfile"]),
    ("buf", &["buf.yaml", "buf.gen.yaml", "buf.work.yaml"]),
    ("sqlc", &["sqlc.yaml", "sqlc.yml", "sqlc.json"]),
    ("goreleaser", &[".goreleaser.yml", ".goreleaser.yaml", "goreleaser.yml", "goreleaser.yaml"]),
    ("golangci-lint", &[".golangci.*"]),
    ("air", &[".air.toml"]),
    ("ansible-galaxy", &["ansible.cfg", "galaxy.yml", "requirements.yml"]),
    ("vagrant", &["Vagrantfile"]),
];

/// The files that the programs among these words look for.
pub(super) fn of(words: &[String]) -> Vec<&'static str> {
    let mut files: Vec<&'static str> = Vec::new();
    for word in words {
        let implied =
            IMPLIED.iter().filter(|(program, _)| is_called(word, program)).flat_map(|(_, files)| *files);
        for file in implied {
            if !files.contains(file) {
                files.push(file);
            }
        }
    }
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_hooks_lie_is_read_as_git_reads_it() {
        for (text, want) in [
            ("[core]\n\thooksPath = a/b # c\n", vec!["a/b"]),
            ("[core] HooksPath=\"a b\"\r\n", vec!["a b"]),
            ("[core]\n hookspath = h\"k6\" ; x\n", vec!["hk6"]),
            ("[core]\n hookspath = h\\\nk\n", vec!["hk"]),
            ("[core]\n hookspath = \"a#\\\"b\n", vec!["a#\"b"]),
            ("[x \"a=b\"] hooksPath = a\n[core]\nhooksPath = b", vec!["b", "a"]),
            ("[core]\n hookspath\n bare = false", vec![]),
            ("[core]\n\tbare = false\n", vec![]),
        ] {
            assert_eq!(hooks_of(text), want, "{text:?}");
        }
    }

    #[test]
    fn a_programs_own_files_are_known_wherever_it_stands() {
        let of = |words: &[&str]| of(&words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>());
        assert!(of(&["cd", "sub", "/usr/bin/make", "all"]).contains(&"Makefile"));
        assert_eq!(of(&["npm", "npx"]), ["package.json", "package-lock.json", ".npmrc"]);
        assert!(of(&["tsc"]).contains(&"tsconfig.json"));
        assert!(of(&["python3.11"]).contains(&"__main__.py"));
        assert!(
            of(&["dotnet", "build"]).contains(&"*.csproj")
                && of(&["swift", "build"]).contains(&"Package.swift")
        );
        assert!(of(&["kubectl", "apply", "-f", "dir"]).contains(&"*.yaml"));
        assert!(of(&["terraform", "apply"]).contains(&"*.tfvars") && of(&["tofu", "plan"]).contains(&"*.tf"));
        assert!(of(&["docker", "compose", "up"]).contains(&"*.override.yml"));
        for (program, file) in [
            ("task", "taskfile.yml"),
            ("task", "Taskfile.dist.yaml"),
            ("rake", "rakefile.rb"),
            ("bundle", "gems.rb"),
            ("eslint", "eslint.config.*"),
            ("prettier", ".prettierrc.*"),
            ("tox", "tox.toml"),
            ("pytest", ".pytest.ini"),
            ("python3", "setup.cfg"),
            ("sbt", ".jvmopts"),
            ("vite", "postcss.config.*"),
            ("nim", "config.nims"),
            ("R", ".Rprofile"),
            ("Rscript", ".Renviron"),
            ("webpack", "webpack.config.*"),
            ("rollup", "rollup.config.*"),
            ("mocha", ".mocharc.*"),
            ("mage", "magefile.go"),
            ("tilt", "Tiltfile"),
            ("lein", "project.clj"),
            ("foreman", "Procfile"),
            ("snakemake", "Snakefile"),
            ("flask", ".flaskenv"),
            ("sphinx-build", "conf.py"),
            ("next", "next.config.*"),
            ("nuxt", "nuxt.config.*"),
            ("astro", "astro.config.*"),
            ("playwright", "playwright.config.*"),
            ("cypress", "cypress.config.*"),
            ("mkdocs", "mkdocs.yml"),
            ("alembic", "alembic.ini"),
            ("turbo", "turbo.json"),
            ("black", "pyproject.toml"),
            ("serverless", "serverless.*"),
        ] {
            assert!(of(&[program]).contains(&file), "{program}: {file}");
        }
        assert!(of(&["ls", "makeup"]).is_empty());
    }
}
