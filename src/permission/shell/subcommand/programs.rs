//! What programs with subcommands are called, and what the words of a rule are meant for.

use std::sync::LazyLock;

use super::super::super::commands::first_words;
use super::super::super::commands::kind::{base_name, is_interpreter};
use super::super::super::commands::names::{Index, Names, index};
use super::super::super::lexical::file_name;
use super::names::{STAR, is_of_npm, is_starred};
use super::paths::without_ending;

/// Programs that take options in front of a subcommand. Git's are known one by one.
static TAKE_OPTIONS: Names = Names::of(&[
    "git npm pnpm yarn bun deno cargo rustup docker docker-compose podman nerdctl kubectl oc helm gh glab hub terraform tofu",
    "terragrunt pip pipx poetry uv pdm hatch conda mamba gem bundle composer dotnet twine go make gmake just task rake systemctl",
    "apt apt-get aptitude dnf yum zypper apk pacman snap flatpak brew hg svn jj aws gcloud az heroku fly flyctl vercel",
    "netlify firebase wrangler supabase pulumi serverless sls railway doctl ansible-galaxy vagrant minikube kind argocd",
    "flux skopeo crane oras rails mix wp drush artisan psql redis-cli vault consul nomad op rclone restic borg zfs zpool",
    "ip nmcli virsh lxc incus machinectl loginctl journalctl launchctl yarnpkg podman-compose npm-cli",
    "mvn mvnw gradle gradlew ant sbt lein invoke inv doit scons ninja grunt gulp nx turbo tox nox",
]);

/// Those behind which a program of the project may stand.
static PASS_ON_TO_PROGRAMS: Names =
    Names::of(&["run exec x dlx workspace workspaces foreach recursive m multi"]);

/// Programs that are told names of packages, targets or scripts, which may be those of programs, too.
static TAKE_NAMES: Names = Names::of(&[
    "npm pnpm yarn bun pip pipx poetry uv pdm pipenv hatch rye pixi conda mamba gem bundle composer cargo",
    "make just task rails mvn gradle ant sbt lein mix invoke doit scons ninja grunt gulp turbo nx ng vite brew apt apt-get",
]);

/// Words that are subcommands of many programs as well as packages.
static USUAL: Names = Names::of(&[
    "build serve test lint start dev deploy clean release run format check watch docs preview generate migrate seed app",
]);

/// Programs that run a project's script by its name alone as they do behind `run`; npm does so with some.
static RUN_BY_NAME: Names = Names::of(&["npm pnpm yarn bun turbo nx pdm"]);
const BY_NAME_OF_NPM: [&str; 4] = ["test", "start", "stop", "restart"];

/// What runs the script that it is given, besides interpreters.
static RUN_SCRIPTS: Names = Names::of(&["source . yash posh deno bun uv poetry pdm hatch pipenv coverage"]);

/// What runs the program of a package that it fetches.
const FETCHERS: &[&[&str]] = &[
    &["npx"],
    &["pnpx"],
    &["bunx"],
    &["uvx"],
    &["npm", "exec"],
    &["npm", "x"],
    &["pnpm", "dlx"],
    &["pnpm", "exec"],
    &["yarn", "dlx"],
    &["yarn", "exec"],
    &["bun", "x"],
    &["pipx", "run"],
    &["uv", "tool", "run"],
    &["deno", "run"],
];

/// What runs a program of the project's own.
const RUNNERS: &[&[&str]] = &[
    &["uv", "run"],
    &["poetry", "run"],
    &["pdm", "run"],
    &["pipenv", "run"],
    &["hatch", "run"],
    &["rye", "run"],
    &["pixi", "run"],
    &["conda", "run"],
    &["mamba", "run"],
    &["micromamba", "run"],
    &["mise", "exec"],
    &["rbenv", "exec"],
    &["pyenv", "exec"],
    &["coverage", "run"],
    &["bundle", "exec"],
];

/// More of them within each other than anyone writes.
const MAX_RUNNERS: usize = 4;

/// Options of theirs that have no value.
static ALONE: Names = Names::of(&[
    "-- -y --yes -q --quiet -v --verbose --no-install --no --bun --frozen --locked --no-sync --isolated --offline -s --silent",
    "--no-project --no-dev --all-extras --all-groups --no-deps --keep-file-descriptors -A --allow-all",
]);

/// Package managers that run a program of the project by its name alone.
static RUN_PROGRAMS: Names = Names::of(&["yarn pnpm bun"]);

/// Their own subcommands, besides those that npm has.
static OWN: Names = Names::of(&[
    "add i remove rm un up upgrade upgrade-interactive dlx why workspace workspaces import global info licenses list plugin",
    "unplug patch patch-commit constraints deploy store server env fetch create recursive m multi autoclean generate-lock-entry",
    "build dev node self-update setup approve-builds x pm foreach cat-file catalog",
]);

/// Programs that most call otherwise, and the subcommand that stands in their name.
const PROGRAMS: &[(&str, &str, Option<&str>)] = &[
    ("yarnpkg", "yarn", None),
    ("gmake", "make", None),
    ("remake", "make", None),
    ("bmake", "make", None),
    ("mingw32-make", "make", None),
    ("mvnw", "mvn", None),
    ("mvnd", "mvn", None),
    ("mvnDebug", "mvn", None),
    ("rake", "rails", None),
    ("cargo-watch", "cargo", None),
    ("cargo-hack", "cargo", None),
    ("gradlew", "gradle", None),
    ("inv", "invoke", None),
    ("npm-cli", "npm", None),
    ("docker-compose", "docker", Some("compose")),
    ("podman-compose", "podman", Some("compose")),
    ("nodejs", "node", None),
    ("sls", "serverless", None),
    ("vc", "vercel", None),
    // Packages whose program has another name.
    ("aws-cdk", "cdk", None),
    ("firebase-tools", "firebase", None),
    ("netlify-cli", "netlify", None),
    ("eas-cli", "eas", None),
    ("expo-cli", "expo", None),
    ("typescript", "tsc", None),
    ("grunt-cli", "grunt", None),
    ("gulp-cli", "gulp", None),
    ("sequelize-cli", "sequelize", None),
    ("go-task", "task", None),
    ("ember-cli", "ember", None),
    ("contentful-cli", "contentful", None),
    ("appcenter-cli", "appcenter", None),
    ("typeorm-ts-node-commonjs", "typeorm", None),
    ("typeorm-ts-node-esm", "typeorm", None),
];

/// Packages with a scope whose program has another name than they.
const SCOPED: &[(&str, &str)] = &[
    ("@changesets/cli", "changeset"),
    ("@railway/cli", "railway"),
    ("@sentry/cli", "sentry-cli"),
    ("@angular/cli", "ng"),
    ("@nestjs/cli", "nest"),
    ("@expo/cli", "expo"),
    ("@vue/cli", "vue"),
    ("@capacitor/cli", "cap"),
    ("@shopify/cli", "shopify"),
    ("@salesforce/cli", "sf"),
    ("@aws-amplify/cli", "amplify"),
    ("@go-task/cli", "task"),
    ("@ionic/cli", "ionic"),
    ("@mikro-orm/cli", "mikro-orm"),
    ("@react-native-community/cli", "react-native"),
    ("@sanity/cli", "sanity"),
    ("@strapi/strapi", "strapi"),
    ("@google/clasp", "clasp"),
    ("@microsoft/rush", "rush"),
    ("@vscode/vsce", "vsce"),
    ("@datadog/datadog-ci", "datadog-ci"),
    ("@graphql-codegen/cli", "graphql-codegen"),
];

/// Programs whose subcommands may be programs of their own: `cargo-nextest nextest run`, `dotnet-ef database drop`.
const PLUGINS: [&str; 2] = ["cargo", "dotnet"];

/// Programs that run scripts of the project which they are given.
static RUN_TOGETHER: Names = Names::of(&["npm-run-all run-s run-p concurrently conc"]);

/// Package managers by which a project's script may be run.
const BY_SCRIPT: [&str; 4] = ["npm", "pnpm", "yarn", "bun"];

/// What a rule speaks of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::permission) enum Meant<'r> {
    /// A program, as most call it, and the subcommand that stands in its name.
    Program(&'r str, Option<&'r str>),
    /// The same, whatever it is told, and only where it is what runs: its name may be a usual word (`build`).
    Alone(&'r str),
    /// A script, whose path is the first name.
    Script,
}

/// What the words of a rule may be meant for: each with the place of the first name behind it. What runs the rest of them is
/// seen through, as it is in commands.
pub(in crate::permission) fn readings<'r>(words: &[&'r str]) -> Vec<(Meant<'r>, usize)> {
    let mut found = own_readings(words);
    // `.venv/bin/alembic downgrade`, `node_modules/.bin/prisma db push`
    if let Some(name) = words.first().and_then(|program| of_project(program)) {
        let by_name: Vec<&str> = std::iter::once(name).chain(words.iter().skip(1).copied()).collect();
        found.extend(own_readings(&by_name).into_iter().chain(package(&by_name, false)));
    }
    let mut runs = run_by(words);
    let fetched = fetches(words);
    for _ in 0..MAX_RUNNERS {
        let mut within = Vec::new();
        for (from, alone) in runs {
            let words = words.get(from..).unwrap_or_default();
            let own = own_readings(words).into_iter().chain(alone.then(|| package(words, fetched)).flatten());
            found.extend(own.map(|(meant, behind)| (meant, from + behind)));
            within.extend(run_by(words).into_iter().map(|(at, alone)| (from + at, alone)));
        }
        runs = within;
    }
    found
}

/// The name of a program that lies where those of the packages do that a project uses.
fn of_project(program: &str) -> Option<&str> {
    let (folder, name) = program.rsplit_once('/')?;
    let is_usual = |within: &str| folder == within || folder.ends_with(&format!("/{within}"));
    let found = ["venv/bin", ".venv/bin", "node_modules/.bin", "vendor/bin"].into_iter().any(is_usual);
    (found && !is_starred(name)).then_some(name)
}

/// What a rule says of its first word.
fn own_readings<'r>(words: &[&'r str]) -> Vec<(Meant<'r>, usize)> {
    let Some((program, rest)) = words.split_first() else { return Vec::new() };
    if is_starred(program) && !program.contains('/') {
        return Vec::new();
    }
    let mut found = Vec::new();
    let mut add =
        |(name, subcommand): (&'r str, _), behind| found.push((Meant::Program(name, subcommand), behind));
    let is_name = |word: &str| word.starts_with(|c: char| c.is_ascii_alphabetic());
    if let Some(named) = self::program(program, |name| TAKE_OPTIONS.has(name)) {
        // `cargo-nextest nextest run` says its name again.
        let again = named.1.is_some() && named.1 == rest.first().copied() && PLUGINS.contains(&named.0);
        add(if again { (named.0, None) } else { named }, 1);
        if named.0 == "pnpm" && matches!(rest, ["recursive" | "multi" | "m", ..]) {
            add(named, 2);
        }
        let by_name = |script: &str| named.0 != "npm" || BY_NAME_OF_NPM.contains(&script);
        match rest {
            _ if !RUN_BY_NAME.has(named.0) || named.1.is_some() => {}
            ["run" | "run-script", script, ..] if by_name(script) => add((named.0, None), 2),
            [script, ..] if !script.starts_with('-') && by_name(script) => add((named.0, Some("run")), 1),
            _ => {}
        }
        // A script of the project is the same one under each package manager.
        if let Some(at) = script_of_project(named, rest) {
            for other in BY_SCRIPT.into_iter().filter(|other| *other != named.0) {
                add((other, Some("run")), at);
                if other != "npm" || BY_NAME_OF_NPM.contains(&words[at]) {
                    add((other, None), at);
                }
            }
        }
    } else if let [name, ..] = rest
        && is_name(name)
        && !runs_scripts(program)
        && !program.contains('/')
    {
        // What a rule says of it reads like a subcommand.
        add(usual(plain(program)), 1);
    }
    match rest {
        ["-m", module, ..] if is_python(program) => {
            add((own_name(program), None), 2);
            match rest {
                _ if is_starred(module) => {}
                [_, _, name, ..] if is_name(name) => add(usual(plain(module)), 3),
                _ if TAKE_OPTIONS.has(module) => add(usual(module), 3),
                _ => found.push((Meant::Alone(usual(plain(module)).0), 3)),
            }
        }
        // `python *`, `python -c *`
        [] => found.extend(is_interpreter(program).then(|| (Meant::Alone(own_name(program)), 1))),
        [option, ..] if option.starts_with('-') && is_interpreter(program) => {
            found.push((Meant::Alone(own_name(program)), 1));
        }
        _ => {}
    }
    found.extend(script(words).map(|at| (Meant::Script, at)));
    found
}

/// Where a rule for a package manager names a script of the project, which is no command of theirs.
fn script_of_project(named: (&str, Option<&str>), rest: &[&str]) -> Option<usize> {
    if !BY_SCRIPT.contains(&named.0) || named.1.is_some() {
        return None;
    }
    let is_script = |word: &str| word.starts_with(|c: char| c.is_ascii_alphanumeric());
    match rest {
        ["run" | "run-script", script, ..] if is_script(script) => Some(2),
        [script, ..] if BY_NAME_OF_NPM.contains(script) => Some(1),
        [script, ..] if named.0 != "npm" && is_script(script) && !OWN.has(script) && !is_of_npm(script) => {
            Some(1)
        }
        _ => None,
    }
}

/// Where in a rule a script stands.
fn script(words: &[&str]) -> Option<usize> {
    let (program, rest) = words.split_first()?;
    if program.contains('/') && !program.starts_with('@') && tells_a_file(program) {
        return Some(0);
    }
    // `deno run x.ts`
    let at = if RUN_SCRIPTS.has(program) && rest.first() == Some(&"run") { 2 } else { 1 };
    let script = words.get(at).filter(|_| runs_scripts(program))?;
    // `uv run app` is a program of the project, `uv run app.py` a script.
    if at == 2 && !matches!(*program, "deno" | "bun") && !script.contains(['.', '/']) {
        return None;
    }
    (!script.starts_with('-') && tells_a_file(script) && !runs_scripts(script)).then_some(at)
}

/// Where what a rule's words run may begin, each with whether that is for sure: an option before it may have a value.
fn run_by(words: &[&str]) -> Vec<(usize, bool)> {
    let is_name =
        |at: usize| words.get(at).is_some_and(|word| word.starts_with(|c: char| c.is_ascii_alphabetic()));
    // `yarn prisma migrate reset`, but no `yarn deploy`
    if let [manager, ..] = words
        && RUN_PROGRAMS.has(manager)
    {
        let at = if words.get(1) == Some(&"run") { 2 } else { 1 };
        let is_own = |word: &&str| OWN.has(word) || is_of_npm(word);
        if is_name(at) && words.len() > at + 1 && !words.get(at).is_some_and(is_own) {
            return vec![(at, false)];
        }
    }
    let mut runners = FETCHERS.iter().chain(RUNNERS);
    let Some(behind) = runners.find_map(|runner| behind_runner(words, runner)) else { return Vec::new() };
    let (mut found, mut after_option, mut sure) = (Vec::new(), false, true);
    for (at, word) in words.iter().enumerate().skip(behind) {
        if word.starts_with('-') {
            after_option = !ALONE.has(word) && !word.contains('=');
            sure &= !after_option;
            continue;
        }
        found.push((at, sure));
        if !after_option {
            break;
        }
        after_option = false;
    }
    found
}

/// Where the words of a runner end, if the words begin with it: options may stand between, each with a value or none.
fn behind_runner(words: &[&str], runner: &[&str]) -> Option<usize> {
    let mut at = 0;
    for name in runner {
        while at > 0 && words.get(at)?.starts_with('-') {
            let has_value =
                words.get(at + 1) != Some(name) && !words[at].contains('=') && !ALONE.has(words[at]);
            at += if has_value && !words.get(at + 1)?.starts_with('-') { 2 } else { 1 };
        }
        if words.get(at) != Some(name) {
            return None;
        }
        at += 1;
    }
    Some(at)
}

/// Whether the words fetch a package and run its program.
fn fetches(words: &[&str]) -> bool {
    FETCHERS.iter().any(|fetcher| words.starts_with(fetcher))
}

/// What may be run at a place, for all that the words before it tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Place {
    /// Whatever it names.
    #[default]
    Any,
    /// The program of a package that the one before it fetches.
    Fetched,
    /// Nothing: it is a name of what the one before it makes, fetches or reads.
    Name,
}

/// The place of each word. Time is linear in the words.
pub(super) fn places(words: &[&str]) -> Vec<Place> {
    let mut places = vec![Place::Any; words.len()];
    let mut takers = (0..words.len()).filter(|at| takes_names(words[*at])).peekable();
    while let Some(by) = takers.next() {
        // What the next one is told, it says itself.
        let end = takers.peek().map_or(words.len(), |next| next + 1);
        behind(&words[by..end], &mut places[by..end]);
    }
    places
}

/// Whether the words behind the program are names of packages, targets, scripts or modules.
fn takes_names(word: &str) -> bool {
    let name = usual(base_name(word)).0;
    TAKE_NAMES.has(name) || FETCHERS.iter().any(|fetcher| fetcher[0] == name) || is_interpreter(word)
}

/// The places behind the first of the words, which takes names.
fn behind(words: &[&str], places: &mut [Place]) {
    let run = if fetches(words) { Place::Fetched } else { Place::Any };
    let program = base_name(words[0]);
    let fetched = FETCHERS.contains(&&[program][..]).then(|| run_by(words));
    let is_manager = RUN_PROGRAMS.has(program);
    // Whether what follows may be a program: an own subcommand of a package manager takes names, another runs.
    let mut runs = is_manager;
    for (at, place) in places.iter_mut().enumerate().skip(1) {
        let word = words[at];
        let may_run = match &fetched {
            Some(places) => places.binary_search_by_key(&at, |(place, _)| *place).is_ok(),
            None if is_python(program) => is_module_option(words[at - 1]),
            None if first_words::is_with_value(program, words[at - 1]) => {
                *place = Place::Name;
                continue;
            }
            None => runs,
        };
        *place = if may_run { run } else { Place::Name };
        if is_manager {
            runs &= PASS_ON_TO_PROGRAMS.has(word) || !OWN.has(word) && !is_of_npm(word);
        } else {
            let runners: &[&str] = if program == "npm" { &["exec", "x"] } else { &["run", "exec"] };
            runs |= runners.contains(&word);
        }
    }
}

/// Whether a module of Python's stands behind the option (`-m`, `-um`).
pub(super) fn is_module_option(word: &str) -> bool {
    word.starts_with('-') && !word.starts_with("--") && word.ends_with('m')
}

/// What a runner runs by its name: the program of a package, however it is run, or a script.
fn package<'r>(words: &[&'r str], fetched: bool) -> Option<(Meant<'r>, usize)> {
    let package = words.first().filter(|word| !is_starred(word))?;
    let is_script = without_ending(package) != *package;
    let is_package =
        !is_script && (package.starts_with('@') || !package.contains('/')) && !is_interpreter(package);
    let (name, subcommand) = usual(plain(package));
    if is_script {
        return (!package.contains('/')).then_some((Meant::Script, 0));
    }
    let bare = words.get(1).is_none_or(|word| word.starts_with('-'));
    // `uv run pytest *` has no say in `uv add pytest`.
    let meant = if bare && (!fetched || USUAL.has(name)) {
        Meant::Alone(name)
    } else {
        Meant::Program(name, subcommand)
    };
    is_package.then_some((meant, 1))
}

/// Whether a path with stars says more than that it is one.
fn tells_a_file(path: &str) -> bool {
    path.contains(|c: char| !matches!(c, '/' | '.' | '~' | STAR))
}

/// Whether the program runs a project's script behind `run`.
pub(super) fn runs_by_name(program: &str) -> bool {
    BY_SCRIPT.contains(&program)
}

/// Whether the word is a program of which a subcommand is one of its own, that may be told its name again.
pub(super) fn is_plugin(word: &str) -> bool {
    let name = base_name(word);
    PLUGINS.iter().any(|program| name.strip_prefix(program).is_some_and(|rest| rest.starts_with('-')))
}

/// Whether a plugin is told its own name, as Cargo does.
pub(super) fn is_plugin_again(word: &str, next: &str) -> bool {
    !next.is_empty() && base_name(word).strip_suffix(next).is_some_and(|program| program.ends_with('-'))
}

/// Whether the program runs scripts of the project by their names.
pub(super) fn runs_together(word: &str) -> bool {
    RUN_TOGETHER.has(base_name(word))
}

/// What is run by a program that runs scripts of the project by their names, as package managers would be told: `run-s a b`,
/// `concurrently npm:a`.
pub(super) fn run_together<'w>(words: &[&'w str]) -> Vec<&'w str> {
    let with_manager = words.first().is_some_and(|program| base_name(program).starts_with("conc"));
    let names = words.iter().skip(1).filter_map(|word| word.split_whitespace().next());
    let runs = names.filter(|name| !name.starts_with('-')).flat_map(|name| {
        let name = match name.split_once(':') {
            Some((manager, script)) if with_manager => {
                Some(script).filter(|_| BY_SCRIPT.contains(&manager) || matches!(manager, "node" | "deno"))
            }
            _ if with_manager => None,
            _ => Some(name),
        };
        name.into_iter()
            .flat_map(|name| BY_SCRIPT.into_iter().flat_map(move |manager| [manager, "run", name]))
    });
    runs.collect()
}

/// The program that a word names, of those that are known: as most call it and whatever its version (`npm@10`, `pip3.11`,
/// `twine==5`), with the subcommand that stands in its name.
pub(super) fn program(word: &str, known: impl Fn(&str) -> bool) -> Option<(&str, Option<&str>)> {
    let named = (own_name(word), None);
    if named.0 == "python2" {
        return Some(named).filter(|(name, _)| known(name));
    }
    let named = usual(base_name(word));
    if known(named.0) {
        return Some(named);
    }
    let plugin = |program: &&str| named.0.strip_prefix(*program).is_some_and(|rest| rest.starts_with('-'));
    if let Some(program) = PLUGINS.iter().find(|program| plugin(program) && known(program)) {
        return Some((program, named.0.get(program.len() + 1..)));
    }
    Some(usual(plain(word))).filter(|(name, _)| known(name))
}

/// What an interpreter is called. Python 2 is another program than Python 3, which a rule may mean to have used instead.
fn own_name(program: &str) -> &str {
    if file_name(program).starts_with("python2") { "python2" } else { usual(base_name(program)).0 }
}

/// The program's name as most call it, and the subcommand that stands in it.
fn usual(name: &str) -> (&str, Option<&str>) {
    /// Asked of each word of each command.
    static BY_NAME: Index<(&str, &str, Option<&str>)> = LazyLock::new(|| index(PROGRAMS, |row| [row.0]));
    let other = BY_NAME.get(name);
    other.map_or((name, None), |(_, usual, subcommand)| (*usual, *subcommand))
}

/// The name of a program without its version, of a package or module without where it comes from.
fn plain(word: &str) -> &str {
    let scoped = word.strip_prefix("npm:").unwrap_or(word);
    if scoped.starts_with('@')
        && let Some((_, name)) = SCOPED.iter().find(|(package, _)| {
            scoped.strip_prefix(package).is_some_and(|rest| rest.is_empty() || rest.starts_with('@'))
        })
    {
        return name;
    }
    let word = word.strip_suffix("/__main__.py").unwrap_or(word);
    let name = base_name(word);
    let name = name.strip_prefix("npm:").or_else(|| name.strip_prefix("jsr:")).unwrap_or(name);
    let own = [".__main__", ".__pip-runner__"].iter().find_map(|module| name.strip_suffix(module));
    let name = without_ending(own.unwrap_or(name));
    let version = |byte: u8| matches!(byte, b'@' | b'=' | b'<' | b'>' | b'~' | b'!' | b'[');
    let name = name.bytes().skip(1).position(version).map_or(name, |at| name.get(..=at).unwrap_or(name));
    name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.')
}

/// Whether the program runs a script that it is given.
pub(in crate::permission) fn runs_scripts(word: &str) -> bool {
    RUN_SCRIPTS.has(word) || is_interpreter(word)
}

pub(super) fn is_python(program: &str) -> bool {
    matches!(base_name(program), "python" | "pypy")
}
