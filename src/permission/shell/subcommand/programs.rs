//! What programs with subcommands are called, and what the words of a rule are meant for.

use super::super::super::commands::kind::{base_name, is_interpreter};
use super::super::super::commands::names::Names;
use super::names::{STAR, is_starred, without_ending};

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

/// Programs that run a project's script by its name alone as they do behind `run`; npm does so with some.
static RUN_BY_NAME: Names = Names::of(&["npm pnpm yarn bun turbo"]);
const BY_NAME_OF_NPM: [&str; 4] = ["test", "start", "stop", "restart"];

/// What runs the script that it is given, besides interpreters.
static RUN_SCRIPTS: Names = Names::of(&["source . yash posh deno bun uv poetry pdm hatch pipenv coverage"]);

/// What fetches a package and runs its program.
const RUNNERS: &[&[&str]] = &[
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
];

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
];
/// What a rule speaks of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::permission) enum Meant<'r> {
    /// A program, as most call it, and the subcommand that stands in its name.
    Program(&'r str, Option<&'static str>),
    /// A script, whose path is the first name.
    Script,
}

/// What the words of a rule may be meant for: each with the place of the first name behind it.
pub(in crate::permission) fn readings<'r>(words: &[&'r str]) -> Vec<(Meant<'r>, usize)> {
    let Some((program, rest)) = words.split_first() else { return Vec::new() };
    if is_starred(program) && !program.contains('/') {
        return Vec::new();
    }
    let mut found = Vec::new();
    let mut add =
        |(name, subcommand): (&'r str, _), behind| found.push((Meant::Program(name, subcommand), behind));
    if let Some(named) = self::program(program, |name| TAKE_OPTIONS.has(name)) {
        add(named, 1);
        let by_name = |script: &str| named.0 != "npm" || BY_NAME_OF_NPM.contains(&script);
        match rest {
            _ if !RUN_BY_NAME.has(named.0) || named.1.is_some() => {}
            ["run" | "run-script", script, ..] if by_name(script) => add((named.0, None), 2),
            [script, ..] if !script.starts_with('-') && by_name(script) => add((named.0, Some("run")), 1),
            _ => {}
        }
    } else if let [name, ..] = rest
        && name.starts_with(|c: char| c.is_ascii_alphabetic())
        && !runs_scripts(program)
        && !program.contains('/')
    {
        // What a rule says of it reads like a subcommand.
        add(usual(plain(program)), 1);
    }
    let runner = RUNNERS.iter().filter(|runner| words.starts_with(runner)).map(|runner| runner.len()).next();
    if let Some(behind) = runner {
        let skipped =
            words.iter().skip(behind).take_while(|word| matches!(**word, "-y" | "--yes" | "--")).count();
        let at = behind + skipped;
        // What is fetched as a package is the program of that name, however it is run.
        let is_package = |word: &&&str| {
            !word.starts_with('-') && !is_starred(word) && (word.starts_with('@') || !word.contains('/'))
        };
        if let Some(package) = words.get(at).filter(is_package) {
            add(usual(plain(package)), at + 1);
        }
    }
    if let ["-m", module, ..] = rest
        && is_python(program)
        && TAKE_OPTIONS.has(module)
    {
        add(usual(module), 3);
    }
    if program.contains('/') && tells_a_file(program) {
        found.push((Meant::Script, 0));
    } else if runs_scripts(program)
        && rest.first().is_some_and(|script| !script.starts_with('-') && tells_a_file(script))
    {
        found.push((Meant::Script, 1));
    }
    found
}

/// Whether a path with stars says more than that it is one.
fn tells_a_file(path: &str) -> bool {
    path.contains(|c: char| !matches!(c, '/' | '.' | '~' | STAR))
}

/// The program that a word names, of those that are known: as most call it and whatever its version (`npm@10`, `pip3.11`,
/// `twine==5`), with the subcommand that stands in its name.
pub(super) fn program(word: &str, known: impl Fn(&str) -> bool) -> Option<(&str, Option<&'static str>)> {
    let named = usual(base_name(word));
    if known(named.0) {
        return Some(named);
    }
    Some(usual(plain(word))).filter(|(name, _)| known(name))
}

/// The program's name as most call it, and the subcommand that stands in it.
fn usual(name: &str) -> (&str, Option<&'static str>) {
    let other = PROGRAMS.iter().find(|(other, ..)| *other == name);
    other.map_or((name, None), |(_, usual, subcommand)| (*usual, *subcommand))
}

/// The name of a program without its version, of a package or module without where it comes from.
fn plain(word: &str) -> &str {
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
pub(in super::super) fn runs_scripts(word: &str) -> bool {
    RUN_SCRIPTS.has(word) || is_interpreter(word)
}

pub(super) fn is_python(program: &str) -> bool {
    matches!(base_name(program), "python" | "pypy")
}
