//! What subcommands, goals, scripts and other names are called.
//!
//! Sources: npm 10 (docs.npmjs.com, "npm" and each command's "Alias"; names can be shortened to what tells them apart:
//! lib/utils/cmd-list.js); the Cargo book, "Cargo Commands"; docs.docker.com; kubernetes.io; helm.sh; cli.github.com; GNU
//! make's manual, "Goals"; Gradle's, "Command-Line Interface: Name Abbreviation"; the manuals of the others.

use std::borrow::Cow;
use std::sync::LazyLock;

use super::super::super::commands::kind::base_name;
use super::super::super::commands::names::Names;
use super::super::super::lexical::file_name;
use super::kinds::{self, ALL_KINDS, TAKE_KINDS, kinds};
use super::paths::{is_like, may_be_one_of, may_be_the_same, steps, without_ending};
use super::patterns;
use super::shortened::{are_short_for, task_parts};

/// Those whose operands are targets, one beside the other.
static TAKE_TARGETS: Names = Names::of(&[
    "make just task rake rails mvn gradle ant sbt lein mix invoke doit scons ninja grunt gulp turbo nx",
]);

/// Subcommands that run another one of the same program (cargo-watch: `-x`; cargo-hack; `yarn workspace NAME`).
const PASS_ON: &[(&str, &str)] = &[
    ("cargo", "watch"),
    ("cargo", "hack"),
    ("cargo", "auditable"),
    ("cargo", "llvm-cov"),
    ("yarn", "workspace"),
    ("yarn", "workspaces"),
    ("yarn", "foreach"),
    ("pnpm", "recursive"),
    ("pnpm", "multi"),
    ("pnpm", "m"),
    ("gcloud", "alpha"),
    ("gcloud", "beta"),
    ("gcloud", "preview"),
    ("terragrunt", "run-all"),
    ("terragrunt", "run"),
];

/// Subcommands of nx behind which targets stand, the first of them or a list of them.
const OF_NX: [&str; 3] = ["run", "run-many", "affected"];

/// Options of programs that take targets whose value is the next word.
const WITH_VALUE: &[(&str, &str)] = &[
    (
        "gradle",
        "-p --project-dir -b --build-file -c --settings-file -I --init-script -g --gradle-user-home -x --exclude-task \
         --configuration --dependency --task --include-build --max-workers --console --warning-mode --tests",
    ),
    ("make", "-C --directory -f --file --makefile -I --include-dir -o --old-file -W --what-if"),
    (
        "mvn",
        "-pl --projects -f --file -s --settings -gs --global-settings -P --activate-profiles -rf --resume-from",
    ),
    ("just", "-f --justfile -d --working-directory"),
    ("task", "-t --taskfile -d --dir -C --concurrency"),
    ("nx", "-p --projects --project --exclude --parallel --output-style --base --head --files --runner"),
];

/// Commands of npm, for what is shortened.
static OF_NPM: Names = Names::of(&[
    "access adduser approve-scripts audit bugs cache ci completion config dedupe deny-scripts deprecate diff dist-tag",
    "docs doctor edit exec explain explore find-dupes fund get help help-search hook init install install-ci-test",
    "install-scripts install-test link ll login logout ls org outdated owner pack ping pkg prefix profile prune publish",
    "query rebuild repo restart root run sbom search set shrinkwrap stage star stars start stop team test token trust",
    "undeprecate uninstall unpublish unstar update version view whoami",
]);

/// Whether it is a command of npm's.
pub(super) fn is_of_npm(name: &str) -> bool {
    OF_NPM.has(name)
}

/// Every name that npm knows, in order, with the command that it stands for.
static ALL_OF_NPM: LazyLock<Vec<(&str, &str)>> = LazyLock::new(|| {
    let of_it = ALIASES.iter().filter(|(of, ..)| *of == "npm");
    let aliases = of_it.flat_map(|(_, names, whole)| names.split(' ').map(|alias| (alias, *whole)));
    let mut all: Vec<_> = OF_NPM.all().map(|name| (name, name)).chain(aliases).collect();
    all.sort_unstable();
    all
});

/// Other names of subcommands.
const ALIASES: &[(&str, &str, &str)] = &[
    ("npm", "add i in ins inst insta instal isnt isnta isntal isntall", "install"),
    ("npm", "un unlink remove rm r", "uninstall"),
    ("npm", "u up upgrade udpate", "update"),
    ("npm", "run-script rum urn", "run"),
    ("npm", "x", "exec"),
    ("npm", "create innit", "init"),
    ("npm", "c", "config"),
    ("npm", "t tst", "test"),
    ("npm", "author", "owner"),
    ("npm", "home", "docs"),
    ("npm", "issues", "bugs"),
    ("npm", "info show v", "view"),
    ("npm", "find s se", "search"),
    ("npm", "list la", "ls"),
    ("npm", "ln", "link"),
    ("npm", "rb", "rebuild"),
    ("npm", "it", "install-test"),
    ("npm", "cit sit clean-install-test", "install-ci-test"),
    ("npm", "ddp", "dedupe"),
    ("npm", "why", "explain"),
    ("npm", "verison", "version"),
    ("npm", "ogr", "org"),
    ("npm", "hlep", "help"),
    ("npm", "add-user", "adduser"),
    ("npm", "dist-tags", "dist-tag"),
    ("npm", "clean-install ic install-clean isntall-clean", "ci"),
    ("git", "stage", "add"),
    ("gh", "ext extensions", "extension"),
    ("gh", "cs", "codespace"),
    ("pnpm", "i", "install"),
    // With a package behind it.
    ("pnpm", "i install", "add"),
    ("bun", "i", "install"),
    ("bun", "i install", "add"),
    ("bun", "a", "add"),
    ("bun", "rm", "remove"),
    ("pnpm", "rm un uninstall", "remove"),
    ("pnpm", "up upgrade", "update"),
    ("pnpm", "run-script", "run"),
    ("cargo", "b", "build"),
    ("cargo", "c", "check"),
    ("cargo", "d", "doc"),
    ("cargo", "t", "test"),
    ("cargo", "r", "run"),
    ("cargo", "rm", "remove"),
    ("helm", "del delete un", "uninstall"),
    ("bundle", "e exe", "exec"),
    ("composer", "req r", "require"),
    ("composer", "rm uninstall", "remove"),
    ("composer", "i", "install"),
    ("composer", "u upgrade", "update"),
    ("rails", "d", "destroy"),
    ("rails", "g", "generate"),
    ("rails", "r", "runner"),
    ("rails", "c", "console"),
    ("rails", "s", "server"),
    ("pulumi", "update", "up"),
    ("pulumi", "down dn", "destroy"),
    ("pm2", "del", "delete"),
    ("dnf", "erase rm", "remove"),
    ("dnf", "in", "install"),
    ("yum", "erase", "remove"),
    ("zypper", "rm", "remove"),
    ("zypper", "in", "install"),
    ("apt", "purge autoremove", "remove"),
    ("apt-get", "purge autoremove", "remove"),
    ("brew", "rm remove", "uninstall"),
    ("hg", "ci", "commit"),
    ("pixi", "r", "run"),
    ("svn", "ci", "commit"),
    ("svn", "del remove rm", "delete"),
];
/// Stands for a star in what a rule says; no rule holds a control character.
pub(in crate::permission) const STAR: char = '\0';

pub(super) fn is_starred(name: &str) -> bool {
    name.contains(STAR)
}

/// What a name is that stands at one place of rules, and so which words may stand for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Name {
    /// A subcommand of this program.
    Subcommand(String),
    /// A goal of this program, one of many.
    Goal(String),
    /// The path of a script.
    Script,
    /// A kind of things, or what stands before one.
    Kind,
    /// One of the things of a kind, one of many.
    OfKind,
    /// A command of a console that is a script: `artisan`, `bin/console`.
    OfConsole,
    /// A project's script, which some take by a pattern.
    Run,
    /// Any other.
    Further,
}

impl Name {
    /// What stands first behind a program.
    pub(super) fn behind(program: &str) -> Self {
        let of_it = if TAKE_TARGETS.has(program) { Self::Goal } else { Self::Subcommand };
        of_it(program.to_owned())
    }

    /// What stands behind this one.
    pub(super) fn next(&self, name: &str) -> Self {
        match self {
            Self::Subcommand(program) if name == "run" && super::programs::runs_by_name(program) => Self::Run,
            Self::Subcommand(program) if TAKE_KINDS.has(program) => Self::Kind,
            Self::Kind if kinds::is_known(name) => Self::OfKind,
            Self::Kind => Self::Kind,
            Self::OfKind => Self::OfKind,
            Self::Script if matches!(file_name(name), "artisan" | "console") => Self::OfConsole,
            _ => Self::Further,
        }
    }

    /// Whether several may stand there, one beside the other.
    pub(super) fn are_many(&self) -> bool {
        match self {
            // The first is a target, the next a project.
            Self::Goal(program) => program != "nx",
            Self::OfKind => true,
            _ => false,
        }
    }

    /// Whether all words behind the option may be such names.
    pub(super) fn are_listed_behind(&self, option: &str) -> bool {
        matches!(self, Self::Goal(program) if program == "nx")
            && matches!(option, "-t" | "--target" | "--targets")
    }

    /// Whether the word behind the option is its value for sure.
    pub(super) fn is_with_value(&self, option: &str) -> bool {
        let Self::Goal(program) = self else { return false };
        let of_it = WITH_VALUE.iter().filter(|(of, _)| of == program);
        of_it.flat_map(|(_, options)| options.split(' ')).any(|with_value| with_value == option)
    }

    /// Whether what is meant may stand behind the word, which is a subcommand itself.
    pub(super) fn passes_on(&self, word: &str) -> bool {
        match self {
            Self::Subcommand(program) => PASS_ON.contains(&(program, word)),
            // `uv run x.py`, `coverage run x.py`
            Self::Script => word == "run",
            // `kubectl delete pod/a secret/b`, taken apart
            Self::Kind => word.ends_with('/'),
            Self::Goal(program) => program == "nx" && OF_NX.contains(&word),
            Self::Run | Self::OfKind | Self::OfConsole | Self::Further => false,
        }
    }

    /// Whether a word may stand between such a subcommand and what it passes on to.
    pub(super) fn passes_on_behind_a_word(&self) -> bool {
        !matches!(self, Self::Goal(_))
    }

    /// Whether only what stands right behind such a word counts.
    pub(super) fn stands_behind(&self, before: Option<&str>) -> bool {
        match self {
            Self::Subcommand(program) if program == "python" || program == "python2" => {
                before.is_some_and(super::programs::is_module_option)
            }
            _ => true,
        }
    }

    /// By what a name, or a word, is found: those that have one in common may mean the same.
    pub(super) fn keys<'w>(&self, word: &'w str) -> Vec<Cow<'w, str>> {
        match self {
            Self::Subcommand(program) if program == "redis-cli" => vec![word.to_ascii_lowercase().into()],
            Self::Subcommand(program) => {
                // `cargo watch -x 'publish --locked'`
                let word = word.split_whitespace().next().unwrap_or_default();
                let wholes = whole_names(program, word).into_iter().map(Cow::Borrowed);
                std::iter::once(Cow::Borrowed(word)).chain(wholes).collect()
            }
            Self::Goal(program) => {
                let goals = match set_by(word) {
                    Some((variable, goal)) if variable.starts_with(".DEFAULT_GOAL") => goal,
                    // What else make is told of a variable is no goal (`ARGS="-k deploy"`).
                    Some(_) if program == "make" => return vec![word.into()],
                    _ => word,
                };
                // `sbt 'clean;publish'`, `mix do a, b`
                let parts = goals.split([';', ',', ' ']).filter(|part| *part != goals && !part.is_empty());
                std::iter::once(goals).chain(parts).flat_map(|goal| goal_keys(program, goal)).collect()
            }
            Self::Script => vec![without_ending(file_name(word)).into()],
            Self::Kind => further_keys(word).into_iter().chain(kinds(word).map(Cow::Owned)).collect(),
            Self::Run | Self::OfKind | Self::OfConsole | Self::Further => further_keys(word),
        }
    }

    /// What a word of a command stands for besides, though not what a rule says.
    pub(super) fn includes(&self, word: &str) -> &'static [&'static str] {
        match self {
            Self::Kind if kinds(word).any(|kind| kind == "all") => ALL_KINDS,
            // `npm cit`
            Self::Subcommand(program) if program == "npm" => match whole_names_of_npm(word).as_slice() {
                ["install-ci-test"] => &["ci", "test"],
                ["install-test"] => &["install", "test"],
                _ if word == "install-ci-test" => &["ci", "test"],
                _ if word == "install-test" => &["install", "test"],
                _ => &[],
            },
            _ => &[],
        }
    }

    /// What a word begins with that a name with a star may stand for: one of its keys, or a folder on its way.
    pub(super) fn beginning(&self, name: &str) -> Option<String> {
        let (before, _) = name.split_once(STAR)?;
        if let Some(parts) = self.parts(before) {
            return Some(parts.join("-"));
        }
        if *self != Self::Script {
            return Some(before.to_owned());
        }
        let start = file_name(before);
        let folder = before[..before.len() - start.len()].trim_end_matches('/');
        let folder = Some(file_name(folder)).filter(|name| !matches!(*name, "." | "..")).unwrap_or_default();
        Some(if start.is_empty() { folder } else { start }.to_owned())
    }

    /// The last name of a script of whose folders one is not told.
    pub(super) fn told_last<'n>(&self, name: &'n str) -> Option<&'n str> {
        (*self == Self::Script).then(|| file_name(name)).filter(|last| !is_starred(last) && !last.is_empty())
    }

    /// The parts of which each may be shortened, where some may: `publishToMavenLocal` is `pubToMavLoc` to Gradle, in
    /// whatever project.
    pub(super) fn parts(&self, name: &str) -> Option<Vec<String>> {
        match self {
            Self::Goal(program) if program == "gradle" => Some(task_parts(name)),
            Self::OfConsole => Some(name.split(':').map(str::to_ascii_lowercase).collect()),
            _ => None,
        }
    }

    /// Whether the parts may be short for those of the whole name.
    pub(super) fn are_short_for(&self, parts: &[String], whole: &[String]) -> bool {
        (*self != Self::OfConsole || parts.len() == whole.len()) && are_short_for(parts, whole)
    }

    /// The folders on the way to a script, by which one may be found whose own name a rule does not tell.
    pub(super) fn folders(&self, word: &str) -> Vec<String> {
        if *self != Self::Script {
            return Vec::new();
        }
        let mut folders = steps(word);
        folders.pop();
        folders.sort_unstable();
        folders.dedup();
        folders
    }

    /// What the names begin with that a word may stand for which is a pattern of them, by its keys or not.
    pub(super) fn beginnings<'w>(&self, word: &'w str) -> Option<Vec<&'w str>> {
        match self {
            // Make puts a variable's name together as it does values.
            Self::Goal(program) => (program == "make"
                && set_by(word).is_some_and(|(variable, _)| variable.contains('$')))
            .then(|| vec![""]),
            // `pnpm run "/deploy/"`, `run-s 'deploy:*'`
            Self::Run => patterns::beginnings(word),
            // `pnpm '/^deploy/'`
            Self::Subcommand(program) if program == "pnpm" && word.starts_with('/') => {
                patterns::beginnings(word)
            }
            _ => None,
        }
    }

    /// Whether the parts of a word, put together, are what a name with a star may stand for.
    pub(super) fn is_like(&self, name: &str, parts: &str) -> bool {
        self.parts(name).is_some_and(|name| is_like(&name.join("-"), parts))
    }

    /// Whether a word that is found may stand for the name.
    pub(super) fn fits(&self, name: &str, word: &str) -> bool {
        match self {
            Self::Script if is_starred(name) => may_be_one_of(name, word),
            Self::Script => may_be_the_same(name, word),
            _ if is_starred(name) => self.keys(word).iter().any(|key| is_like(name, key)),
            _ => true,
        }
    }
}

/// What one goal may be called.
fn goal_keys<'w>(program: &str, goal: &'w str) -> Vec<Cow<'w, str>> {
    // A goal's arguments stand in brackets behind it; what a plugin of Maven's does bears the name of the phase.
    let bare = goal.split('[').next().filter(|bare| *bare != goal);
    let behind = |marks: &[char]| goal.rsplit_once(marks).map(|(_, goal)| goal);
    let other = match program {
        "mvn" => behind(&[':']).map(|goal| goal.split('@').next().unwrap_or(goal)),
        "just" | "task" | "sbt" => behind(&['/', ':', '+']),
        "turbo" => behind(&['#']),
        "grunt" | "gulp" => goal.split_once(':').map(|(task, _)| task),
        _ => None,
    };
    let shortened = whole_names(program, goal).into_iter().map(Cow::Borrowed);
    [Some(goal), bare, other].into_iter().flatten().map(without_dots).chain(shortened).collect()
}

/// Words behind a subcommand that most programs take for one another: `gh pr new`, `docker image remove`.
const FURTHER: &[&[&str]] =
    &[&["rm", "remove", "delete", "del", "destroy"], &["create", "new"], &["ls", "list"]];

fn further_keys(word: &str) -> Vec<Cow<'_, str>> {
    let meant = FURTHER.iter().find(|names| names.contains(&word)).and_then(|names| names.first());
    let meant = meant.filter(|meant| **meant != word).map(|meant| Cow::Borrowed(*meant));
    std::iter::once(Cow::Borrowed(word)).chain(meant).collect()
}

/// The words with those taken apart that say several things, where there are such: `pod/x` is `pod/ x` to kubectl.
pub(in crate::permission) fn apart<'w>(words: &[&'w str]) -> Option<Vec<&'w str>> {
    let mut programs: Vec<&str> =
        words.iter().map(|word| base_name(word)).filter(|name| joins_words(name)).collect();
    programs.sort_unstable();
    programs.dedup();
    let mut out = Vec::with_capacity(words.len());
    // A project is named behind its target, wherever nx is told of it.
    let (mut projects, mut is_project) = (Vec::new(), false);
    let nx = programs.contains(&"nx");
    for word in words {
        let (option, value) =
            word.split_once('=').map_or((*word, None), |(option, value)| (option, Some(value)));
        if nx && std::mem::take(&mut is_project) {
            projects.push(*word);
            continue;
        }
        if nx && matches!(option, "-p" | "--projects" | "--project") {
            projects.extend(value);
            is_project = value.is_none();
            continue;
        }
        match programs.iter().find_map(|program| parts_of(program, word)) {
            Some(parts) => out.extend(parts.into_iter().filter(|part| !part.is_empty())),
            None => out.push(*word),
        }
    }
    let named = projects.iter().flat_map(|names| names.split(',')).filter(|name| !name.is_empty());
    out.extend(named.flat_map(|name| ["--projects", name]));
    (out != words).then_some(out)
}

/// Whether words of the program may say several things.
pub(super) fn joins_words(program: &str) -> bool {
    TAKE_KINDS.has(program) || matches!(program, "python" | "nx" | "hatch")
}

/// What the word says to the program, if it is several things.
fn parts_of<'w>(program: &str, word: &'w str) -> Option<[&'w str; 3]> {
    match program {
        // `python3 -umpip`
        "python" => {
            let (flags, module) = word.split_once('m').filter(|(_, module)| !module.is_empty())?;
            let is_flag = |c: char| "bBdEiIOPqsSuvx".contains(c);
            flags.strip_prefix('-')?.chars().all(is_flag).then_some(["-m", module, ""])
        }
        // `nx affected --target=deploy`, `nx run app:deploy:production` as `nx deploy app production`
        // `hatch run dev:test`: in that environment.
        "hatch" => word
            .split_once(':')
            .filter(|(environment, _)| !environment.is_empty())
            .map(|(_, name)| [name, "", ""]),
        "nx" if word.starts_with('-') => {
            let (option, value) = word.split_once('=')?;
            matches!(option, "-t" | "--target" | "--targets" | "-c" | "--configuration")
                .then_some([value, "", ""])
        }
        "nx" => {
            let (project, target) = word.split_once(':').filter(|(project, _)| !project.is_empty())?;
            let (target, configuration) = target.split_once(':').unwrap_or((target, ""));
            Some([target, project, configuration])
        }
        _ => {
            let (kind, name) = word.split_at(word.find('/')? + 1);
            let is_kind = kind.starts_with(|c: char| c.is_ascii_alphabetic())
                && kind.bytes().all(|b| b.is_ascii_alphanumeric() || b"./-".contains(&b))
                && base_name(word) != program;
            // `pod/*` is any pod, or all of them.
            let is_any = name.chars().all(|c| c == STAR);
            is_kind.then_some([kind, if is_any { "" } else { name }, ""])
        }
    }
}

/// A variable that the word sets, and to what.
fn set_by(word: &str) -> Option<(&str, &str)> {
    word.split_once('=').map(|(variable, value)| (variable.trim(), value.trim()))
}

/// A path without `.` and empty names, as make takes goals.
fn without_dots(word: &str) -> Cow<'_, str> {
    let is_idle = |part: &&str| matches!(*part, "" | ".");
    if !word.split('/').any(|part| is_idle(&part)) {
        return word.into();
    }
    word.split('/').filter(|part| !is_idle(part)).collect::<Vec<_>>().join("/").into()
}

/// The names that the word stands for.
fn whole_names(program: &str, name: &str) -> Vec<&'static str> {
    if program == "npm" {
        return whole_names_of_npm(name);
    }
    let of_it = ALIASES.iter().filter(|(of, names, _)| *of == program && names.split(' ').any(|n| n == name));
    of_it.map(|(.., whole)| *whole).collect()
}

/// What npm takes a word for that is none of its names: `runScript` for `run-script`, and whatever a beginning may be
/// meant for.
fn whole_names_of_npm(name: &str) -> Vec<&'static str> {
    const LONGEST: usize = 24;
    if name.len() > LONGEST || !name.starts_with(|c: char| c.is_ascii_alphabetic()) {
        return Vec::new();
    }
    let mut dashed = String::new();
    for c in name.chars() {
        if c.is_ascii_uppercase() {
            dashed.push('-');
        }
        dashed.push(c.to_ascii_lowercase());
    }
    let from = ALL_OF_NPM.partition_point(|(long, _)| *long < dashed.as_str());
    let mut found = ALL_OF_NPM[from..].iter().take_while(|(long, _)| long.starts_with(&dashed)).peekable();
    if let Some((_, whole)) = found.next_if(|(long, _)| *long == dashed) {
        return if *whole == name { Vec::new() } else { vec![whole] };
    }
    let mut found: Vec<_> = found.map(|(_, whole)| *whole).collect();
    found.sort_unstable();
    found.dedup();
    found
}
