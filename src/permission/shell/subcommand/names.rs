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

/// Those whose operands are targets, one beside the other.
static TAKE_TARGETS: Names = Names::of(&[
    "make just task rake rails mvn gradle ant sbt lein mix invoke doit scons ninja grunt gulp turbo nx",
]);

/// Those that take kinds of things behind a subcommand.
static TAKE_KINDS: Names = Names::of(&["kubectl oc"]);

/// Kinds by their short names (`kubectl api-resources`).
const KINDS: &[(&str, &str)] = &[
    ("cj", "cronjob"),
    ("cm", "configmap"),
    ("crd", "customresourcedefinition"),
    ("csr", "certificatesigningrequest"),
    ("cs", "componentstatus"),
    ("dc", "deploymentconfig"),
    ("deploy", "deployment"),
    ("ds", "daemonset"),
    ("ep", "endpoint"),
    ("ev", "event"),
    ("hpa", "horizontalpodautoscaler"),
    ("ing", "ingress"),
    ("limits", "limitrange"),
    ("netpol", "networkpolicy"),
    ("no", "node"),
    ("ns", "namespace"),
    ("pc", "priorityclass"),
    ("pdb", "poddisruptionbudget"),
    ("po", "pod"),
    ("pv", "persistentvolume"),
    ("pvc", "persistentvolumeclaim"),
    ("quota", "resourcequota"),
    ("rc", "replicationcontroller"),
    ("rs", "replicaset"),
    ("sa", "serviceaccount"),
    ("sc", "storageclass"),
    ("sts", "statefulset"),
    ("svc", "service"),
];

/// What kubectl takes `all` for.
const ALL_KINDS: &[&str] = &[
    "pod",
    "service",
    "deployment",
    "replicaset",
    "replicationcontroller",
    "statefulset",
    "daemonset",
    "job",
    "cronjob",
    "horizontalpodautoscaler",
];

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
    /// A kind of things, or one of them.
    Kind,
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
            Self::Kind => Self::Kind,
            _ => Self::Further,
        }
    }

    /// Whether several may stand there, one beside the other.
    pub(super) fn are_many(&self) -> bool {
        matches!(self, Self::Goal(_))
    }

    /// Whether what is meant may stand behind the word, which is a subcommand itself.
    pub(super) fn passes_on(&self, word: &str) -> bool {
        match self {
            Self::Subcommand(program) => PASS_ON.contains(&(program, word)),
            // `uv run x.py`, `coverage run x.py`
            Self::Script => word == "run",
            // `kubectl delete pod/a secret/b`, taken apart
            Self::Kind => word.ends_with('/'),
            Self::Goal(_) | Self::Run | Self::Further => false,
        }
    }

    /// By what a name, or a word, is found: those that have one in common may mean the same.
    pub(super) fn keys<'w>(&self, word: &'w str) -> Vec<Cow<'w, str>> {
        match self {
            Self::Subcommand(program) => {
                // `cargo watch -x 'publish --locked'`
                let word = word.split_whitespace().next().unwrap_or_default();
                let wholes = whole_names(program, word).into_iter().map(Cow::Borrowed);
                std::iter::once(Cow::Borrowed(word)).chain(wholes).collect()
            }
            Self::Goal(program) => {
                let set = set_by(word).filter(|(variable, _)| variable.starts_with(".DEFAULT_GOAL"));
                let goals = set.map_or(word, |(_, goal)| goal);
                // `sbt 'clean;publish'`, `mix do a, b`
                let parts = goals.split([';', ',', ' ']).filter(|part| *part != goals && !part.is_empty());
                std::iter::once(goals).chain(parts).flat_map(|goal| goal_keys(program, goal)).collect()
            }
            Self::Script => vec![without_ending(file_name(word)).into()],
            Self::Kind => further_keys(word).into_iter().chain(kinds(word).map(Cow::Owned)).collect(),
            Self::Run | Self::Further => further_keys(word),
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
        matches!(self, Self::Goal(program) if program == "gradle").then(|| task_parts(name))
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

    /// Whether the word may stand for any name, by its keys or not.
    pub(super) fn may_be_any(&self, word: &str) -> bool {
        match self {
            Self::Goal(program) => {
                // Make puts a variable's name together as it does values.
                program == "make" && set_by(word).is_some_and(|(variable, _)| variable.contains('$'))
            }
            // `pnpm run "/deploy/"`, `run-s 'deploy:*'`
            Self::Run => {
                word.contains('*') || word.len() > 2 && word.starts_with('/') && word[1..].contains('/')
            }
            _ => false,
        }
    }

    /// Whether a word that is found may stand for the name.
    pub(super) fn fits(&self, name: &str, word: &str) -> bool {
        match self {
            Self::Script if is_starred(name) => may_be_one_of(name, word),
            Self::Script => may_be_the_same(name, word),
            Self::Run if word.contains('*') && !word.starts_with('/') => {
                let start = word.split('*').next().unwrap_or_default();
                is_starred(name) || name.starts_with(start)
            }
            Self::Run if self.may_be_any(word) => true,
            _ if is_starred(name) => match (self.parts(name), self.parts(word)) {
                (Some(name), Some(word)) => is_like(&name.join("-"), &word.join("-")),
                _ => self.keys(word).iter().any(|key| is_like(name, key)),
            },
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

/// The kinds that a word names (`po`, `pods,secrets`, `deployments.v1.apps`, `pod/`), each by one name.
fn kinds(word: &str) -> impl Iterator<Item = String> {
    word.split(',').map(|kind| {
        let kind = kind.split(['/', '.']).next().unwrap_or_default().to_ascii_lowercase();
        if let Some((_, long)) = KINDS.iter().find(|(short, _)| *short == kind) {
            return (*long).to_owned();
        }
        // Both are brought to one form; that it is a word does not matter.
        match (kind.strip_suffix("ies"), kind.strip_suffix("sses"), kind.strip_suffix('s')) {
            (Some(one), ..) => format!("{one}y"),
            (_, Some(one), _) => format!("{one}ss"),
            (.., Some(one)) if !one.ends_with('s') => one.to_owned(),
            _ => kind,
        }
    })
}

/// The words with those taken apart that say several things, where there are such: `pod/x` is `pod/ x` to kubectl.
pub(in crate::permission) fn apart<'w>(words: &[&'w str]) -> Option<Vec<&'w str>> {
    let mut programs: Vec<&str> =
        words.iter().map(|word| base_name(word)).filter(|name| joins_words(name)).collect();
    programs.sort_unstable();
    programs.dedup();
    let mut out = Vec::with_capacity(words.len());
    for word in words {
        match programs.iter().find_map(|program| parts_of(program, word)) {
            Some(parts) => out.extend(parts.into_iter().filter(|part| !part.is_empty())),
            None => out.push(*word),
        }
    }
    (out != words).then_some(out)
}

/// Whether words of the program may say several things.
pub(super) fn joins_words(program: &str) -> bool {
    TAKE_KINDS.has(program) || matches!(program, "python" | "nx")
}

/// What the word says to the program, if it is several things.
fn parts_of<'w>(program: &str, word: &'w str) -> Option<[&'w str; 3]> {
    match program {
        // `python3 -mpip`
        "python" => {
            word.strip_prefix("-m").filter(|module| !module.is_empty()).map(|module| ["-m", module, ""])
        }
        // `nx affected --target=deploy`, `nx run app:deploy:production` as `nx deploy app production`
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

/// A file's name without the ending that its interpreter may add (`node x`, `python3 -m x`).
pub(super) fn without_ending(name: &str) -> &str {
    const ENDINGS: [&str; 6] = [".js", ".mjs", ".cjs", ".ts", ".json", ".py"];
    ENDINGS.iter().find_map(|ending| name.strip_suffix(ending)).unwrap_or(name)
}

/// The names on the way that a path leads, without those that `..` takes back.
fn steps(path: &str) -> Vec<String> {
    let mut names = Vec::new();
    for name in path.split('/').filter(|name| !matches!(*name, "" | ".")) {
        if name == ".." {
            names.pop();
        } else {
            names.push(name.to_owned());
        }
    }
    names
}

/// Whether two paths may lead to one file: what one says of where it lies, and of its ending, the other one says as well.
fn may_be_the_same(one: &str, other: &str) -> bool {
    let folders = |path: &str| {
        let mut names = steps(path);
        names.pop();
        names
    };
    let names = (file_name(one), file_name(other));
    let same = names.0 == names.1 || without_ending(names.0) == names.1 || without_ending(names.1) == names.0;
    let (one, other) = (folders(one), folders(other));
    same && (one.ends_with(&other) || other.ends_with(&one))
}

/// Whether a path may lead to one of the files that a pattern means. Where the path says less of where it lies, the name of
/// the file has to begin as the pattern says: nearly any file would be `scripts/*` else.
fn may_be_one_of(pattern: &str, path: &str) -> bool {
    let (pattern, mut path) = (steps(pattern).join("/"), steps(path).join("/"));
    let ending =
        pattern.rfind('.').map(|at| &pattern[at..]).filter(|ending| !without_ending(ending).contains('.'));
    if let Some(ending) = ending.filter(|_| !file_name(&path).contains('.')) {
        // `node tools/x`
        path.push_str(ending);
    }
    let beginnings = |path: &str| -> Vec<usize> {
        std::iter::once(0).chain(path.match_indices('/').map(|(at, _)| at + 1)).collect()
    };
    let start = pattern.split(STAR).next().unwrap_or_default();
    // A later place leaves it only less room.
    let deepest = beginnings(&path).into_iter().find(|at| path[*at..].starts_with(start));
    let tells = |at: &usize| {
        let rest = &pattern[*at..];
        *at > 0 && (!rest.starts_with(STAR) || !is_starred(file_name(rest)))
    };
    deepest.is_some_and(|at| is_like(&pattern, &path[at..]))
        || beginnings(&pattern).iter().filter(|at| tells(at)).any(|at| is_like(&pattern[*at..], &path))
}

/// Whether a text is what a name with stars may stand for.
fn is_like(name: &str, text: &str) -> bool {
    let mut parts = name.split(STAR);
    let Some(mut rest) = parts.next().and_then(|first| text.strip_prefix(first)) else { return false };
    let Some(last) = parts.next_back() else { return rest.is_empty() };
    for part in parts {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(last)
}

/// The words in the name of a task of Gradle's, without its project.
fn task_parts(path: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    for c in path.rsplit(':').next().unwrap_or_default().chars() {
        if c.is_ascii_uppercase() || c == '-' {
            parts.push(String::new());
        }
        if let Some(last) = parts.last_mut().filter(|_| c != '-') {
            last.push(c.to_ascii_lowercase());
        }
    }
    parts.retain(|part| !part.is_empty());
    parts
}

/// Whether the parts are beginnings of those of the whole name, the first one of its first.
pub(super) fn are_short_for(parts: &[String], whole: &[String]) -> bool {
    let mut left = whole.iter();
    parts.first().zip(whole.first()).is_some_and(|(part, whole)| whole.starts_with(part.as_str()))
        && parts.iter().all(|part| left.any(|whole| whole.starts_with(part.as_str())))
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
