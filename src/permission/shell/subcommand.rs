//! Rules for a subcommand (`npm publish *`), held against commands that write it otherwise: with options in front of it or
//! between its names, and by other names. Each is a guess, since an option may have a value or none.
//!
//! Sources: npm 10 (docs.npmjs.com, "npm" and each command's "Alias"; names can be shortened to what tells them apart:
//! lib/utils/cmd-list.js); the Cargo book, "Cargo Commands"; docs.docker.com; kubernetes.io; helm.sh; cli.github.com; GNU
//! make's manual, "Goals"; the manuals of the others.

use std::borrow::Cow;
use std::sync::LazyLock;

use foldhash::HashMap;

use super::super::commands::kind::base_name;
use super::super::commands::names::Names;
use super::segment::{Begins, Role, Segment, is_assignment};

/// Programs that take options in front of a subcommand. Git's are known one by one.
static TAKE_OPTIONS: Names = Names::of(&[
    "git npm pnpm yarn bun deno cargo rustup docker docker-compose podman nerdctl kubectl oc helm gh glab hub terraform tofu",
    "terragrunt pip pipx poetry uv pdm hatch conda mamba gem bundle composer dotnet twine go make gmake just task rake systemctl",
    "apt apt-get aptitude dnf yum zypper apk pacman snap flatpak brew hg svn jj aws gcloud az heroku fly flyctl vercel",
    "netlify firebase wrangler supabase pulumi serverless sls railway doctl ansible-galaxy vagrant minikube kind argocd",
    "flux skopeo crane oras rails mix wp drush artisan psql redis-cli vault consul nomad op rclone restic borg zfs zpool",
    "ip nmcli virsh lxc incus machinectl loginctl journalctl launchctl yarnpkg podman-compose npm-cli.js npm-cli",
]);

/// Those whose operands are targets, one beside the other.
static TAKE_TARGETS: Names = Names::of(&["make just task rake"]);

/// Programs that most call otherwise, and the subcommand that stands in their name.
const PROGRAMS: &[(&str, &str, Option<&str>)] = &[
    ("yarnpkg", "yarn", None),
    ("gmake", "make", None),
    ("npm-cli.js", "npm", None),
    ("npm-cli", "npm", None),
    ("docker-compose", "docker", Some("compose")),
    ("podman-compose", "podman", Some("compose")),
];

/// Commands of npm, for what is shortened.
static OF_NPM: Names = Names::of(&[
    "access adduser approve-scripts audit bugs cache ci completion config dedupe deny-scripts deprecate diff dist-tag",
    "docs doctor edit exec explain explore find-dupes fund get help help-search hook init install install-ci-test",
    "install-scripts install-test link ll login logout ls org outdated owner pack ping pkg prefix profile prune publish",
    "query rebuild repo restart root run sbom search set shrinkwrap stage star stars start stop team test token trust",
    "undeprecate uninstall unpublish unstar update version view whoami",
]);

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
    ("pnpm", "i", "install"),
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
    ("brew", "rm remove", "uninstall"),
    ("hg", "ci", "commit"),
    ("svn", "ci", "commit"),
    ("svn", "del remove rm", "delete"),
];

/// The program that a word names, where it takes options in front of its subcommand, as most call it and whatever its version
/// (`npm@10`, `pip3.11`); with the subcommand that stands in its name.
pub(in crate::permission) fn program(word: &str) -> Option<(&str, Option<&'static str>)> {
    let name = base_name(word);
    let name = name.strip_suffix(".__main__").unwrap_or(name);
    let plain = || {
        let name = name.bytes().position(|b| b == b'@').map_or(name, |at| &name[..at]);
        let plain = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
        (plain.len() < name.len() || name.len() < base_name(word).len()).then_some(plain)
    };
    let name = if TAKE_OPTIONS.has(name) { name } else { plain().filter(|name| TAKE_OPTIONS.has(name))? };
    let other = PROGRAMS.iter().find(|(other, ..)| *other == name);
    Some(other.map_or((name, None), |(_, usual, subcommand)| (*usual, *subcommand)))
}

/// The words of a segment, where one of them may be a program that takes options in front of its subcommand.
pub(in crate::permission) struct Commands<'s> {
    words: Vec<&'s str>,
    /// The places of such programs.
    programs: Vec<(usize, &'s str, Option<&'static str>)>,
}

impl<'s> Commands<'s> {
    pub(in crate::permission) fn of(segment: &'s Segment) -> Option<Self> {
        if segment.role() != Role::Runs || !segment.whole_words().any(|word| program(word).is_some()) {
            return None;
        }
        let words: Vec<&str> = segment.whole_words().collect();
        let first = words.iter().take_while(|word| is_assignment(word)).count();
        let may_begin = |at: usize| match segment.begins {
            Begins::Inert | Begins::First => at == first || words.get(first..=at).is_some_and(is_module),
            Begins::Nowhere | Begins::Elsewhere | Begins::Listed => false,
            Begins::Told | Begins::Guessed | Begins::Any | Begins::AllGuessed => true,
        };
        let named = words.iter().enumerate().filter_map(|(at, word)| Some((at, program(word)?)));
        let programs: Vec<_> = named
            .filter(|(at, _)| may_begin(*at))
            .map(|(at, (name, subcommand))| (at, name, subcommand))
            .collect();
        (!programs.is_empty()).then_some(Self { words, programs })
    }

    /// The programs, each once.
    pub(in crate::permission) fn programs(&self) -> impl Iterator<Item = &'s str> {
        let first = |at: usize, name: &str| !self.programs[..at].iter().any(|(_, other, _)| *other == name);
        let each = self.programs.iter().enumerate();
        each.filter(move |(at, (_, name, _))| first(*at, name)).map(|(_, (_, name, _))| *name)
    }

    /// Goes through the rules of a program that may name one of its commands here, each with the words from the first place on
    /// where what it says behind the names may begin, and whether that may be the very end.
    ///
    /// Time is linear in the words, for each beginning of names that is found in them.
    pub(in crate::permission) fn each_named<R>(
        &self,
        program: &str,
        rules: &Named<R>,
        found: &mut impl FnMut(&R, &[&'s str], bool),
    ) {
        let of_it = || self.programs.iter().filter(|(_, name, _)| *name == program);
        let starts: Vec<usize> =
            of_it().filter(|(.., subcommand)| subcommand.is_none()).map(|(at, ..)| at + 1).collect();
        let mut behind = self.behind(program, 0, rules, &starts);
        for (at, _, subcommand) in of_it() {
            let child = subcommand.and_then(|name| rules.numbers.get(name));
            if let Some(child) = child {
                let places = behind.entry(*child).or_default();
                places.push(at + 1);
                places.sort_unstable();
            }
        }
        self.tell(&rules.rules, &starts, found);
        self.go_on(program, 1, rules, behind, found);
    }

    fn go_on<R>(
        &self,
        program: &str,
        level: usize,
        rules: &Named<R>,
        behind: HashMap<usize, Vec<usize>>,
        found: &mut impl FnMut(&R, &[&'s str], bool),
    ) {
        for (child, starts) in behind {
            let Some(rules) = rules.children.get(child) else { continue };
            self.tell(&rules.rules, &starts, found);
            let behind = self.behind(program, level, rules, &starts);
            self.go_on(program, level + 1, rules, behind, found);
        }
    }

    fn tell<R>(&self, rules: &[R], starts: &[usize], found: &mut impl FnMut(&R, &[&'s str], bool)) {
        let (Some(first), Some(last)) = (starts.first(), starts.last()) else { return };
        let words = self.words.get(*first..).unwrap_or_default();
        for rule in rules {
            found(rule, words, *last == self.words.len());
        }
    }

    /// The places behind the names that may begin at one of `starts`, by what goes on there: at these themselves, or behind
    /// options, each of which may have a value; at any word where each may be a target.
    fn behind<R>(
        &self,
        program: &str,
        level: usize,
        rules: &Named<R>,
        starts: &[usize],
    ) -> HashMap<usize, Vec<usize>> {
        let mut behind: HashMap<usize, Vec<usize>> = HashMap::default();
        let Some(first) = starts.first().filter(|_| !rules.children.is_empty()) else { return behind };
        let targets = level == 0 && TAKE_TARGETS.has(program);
        let mut starts = starts.iter().peekable();
        let mut going_on = false;
        for (at, word) in self.words.iter().enumerate().skip(*first) {
            if starts.next_if_eq(&&at).is_none() && !going_on {
                continue;
            }
            let is_option = |word: &&str| word.starts_with(['-', '+']);
            if is_option(word) {
                going_on = true;
                continue;
            }
            rules.called(program, level, word, |child| {
                let places = behind.entry(child).or_default();
                if places.last() != Some(&(at + 1)) {
                    places.push(at + 1);
                }
            });
            // What does not stand behind an option is no value of one: all that follows is the subcommand's.
            let value = || at.checked_sub(1).and_then(|before| self.words.get(before)).is_some_and(is_option);
            going_on = targets || going_on && value();
        }
        behind
    }
}

/// Rules of one program, by the names of its subcommands, one behind the other.
#[derive(Debug, Clone)]
pub(in crate::permission) struct Named<R> {
    /// Those that say no further name.
    rules: Vec<R>,
    /// Those that do, by that name.
    children: Vec<Named<R>>,
    numbers: HashMap<String, usize>,
    /// The same by each name that may stand for that one.
    called: HashMap<String, Vec<usize>>,
}

impl<R> Default for Named<R> {
    fn default() -> Self {
        Self {
            rules: Vec::new(),
            children: Vec::new(),
            numbers: HashMap::default(),
            called: HashMap::default(),
        }
    }
}

impl<R> Named<R> {
    /// Adds a rule about the program with these names behind it.
    pub(in crate::permission) fn add<'n>(
        &mut self,
        program: &str,
        names: impl Iterator<Item = &'n str>,
        rule: R,
    ) {
        let mut here = self;
        for (level, name) in names.enumerate() {
            here = here.child(program, level, name);
        }
        here.rules.push(rule);
    }

    fn child(&mut self, program: &str, level: usize, name: &str) -> &mut Self {
        let next = self.children.len();
        let number = *self.numbers.entry(name.to_owned()).or_insert(next);
        if number == next {
            self.children.push(Self::default());
            let names = if level == 0 { may_stand_for(program, name) } else { vec![name.into()] };
            for name in names {
                self.called.entry(name.into_owned()).or_default().push(number);
            }
        }
        &mut self.children[number]
    }

    /// Those that the word may name.
    fn called(&self, program: &str, level: usize, word: &str, mut each: impl FnMut(usize)) {
        if level > 0 {
            return self.called.get(word).into_iter().flatten().copied().for_each(each);
        }
        if TAKE_TARGETS.has(program) {
            // `./all` is the goal `all`, and one may be set as the default.
            let set = word.split_once('=').map(|(variable, value)| (variable.trim(), value.trim()));
            if set.is_some_and(|(variable, _)| variable.contains('$')) {
                // Make puts a variable's name together as it does values.
                return (0..self.children.len()).for_each(each);
            }
            let goal = set.filter(|(variable, _)| variable.starts_with(".DEFAULT_GOAL"));
            return self.called(program, 1, &goal_of(goal.map_or(word, |(_, goal)| goal)), each);
        }
        for name in may_stand_for(program, word) {
            self.called.get(name.as_ref()).into_iter().flatten().copied().for_each(&mut each);
        }
    }
}

/// Whether the last of the words is the module that Python runs (`python3 -m pip`).
fn is_module(words: &[&str]) -> bool {
    let [program, .., option, _] = words else { return false };
    *option == "-m" && (base_name(program).starts_with("python") || base_name(program).starts_with("pypy"))
}

/// The names of subcommands, or goals, that a word may be taken for, itself among them.
fn may_stand_for<'w>(program: &str, word: &'w str) -> Vec<Cow<'w, str>> {
    if TAKE_TARGETS.has(program) {
        return vec![goal_of(word)];
    }
    let wholes = whole_names(program, word).into_iter().map(Cow::Borrowed);
    std::iter::once(Cow::Borrowed(word)).chain(wholes).collect()
}

/// A goal as make counts it, whose path leads through `.` and empty names.
fn goal_of(word: &str) -> Cow<'_, str> {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn may_run(command: &str, begins: Begins, rule: &str) -> bool {
        let words = super::super::one_literal(command);
        let words = words.unwrap_or_else(|| command.split(' ').map(str::to_owned).collect());
        let segment = Segment::runs(&words, begins);
        let rule: Vec<&str> = rule.split(' ').collect();
        let (program, subcommand) = program(rule[0]).unwrap();
        let names: Vec<&str> = subcommand.into_iter().chain(rule[1..].iter().copied()).collect();
        let mut rules = Named::default();
        rules.add(program, names.into_iter(), ());
        let mut found = false;
        if let Some(commands) = Commands::of(&segment) {
            commands.each_named(program, &rules, &mut |(), _, _| found = true);
        }
        found
    }

    #[test]
    fn subcommands_are_found_however_they_are_written() {
        for (command, rule, want) in [
            ("npm publish", "npm publish", true),
            ("npm pub --tag x", "npm publish", true),
            ("npm -s publish", "npm publish", true),
            ("npm -m 'a b' publish", "npm publish", true),
            ("npm -m '' publish", "npm publish", true),
            ("npm --tag z publish y", "npm publish", true),
            ("npm i x", "npm install", true),
            ("npm install x", "npm i", true),
            ("npm run publish", "npm publish", false),
            ("npm view publish", "npm publish", false),
            ("npm run -s deploy", "npm run deploy", true),
            ("npm -s run-scri deploy", "npm run deploy", true),
            ("npm runScript deploy", "npm run deploy", true),
            ("npm run build deploy", "npm run deploy", false),
            ("npm remo x", "npm uninstall", true),
            ("npx npm@10 publish", "npm publish", true),
            ("pip3 install x", "pip install", true),
            ("pip install x", "pip3 install", true),
            ("python3 -m pip3.11 -q install x", "pip install", true),
            ("cargo +nightly publish", "cargo publish", true),
            ("cargo -q --locked r", "cargo run", true),
            ("kubectl -n x delete pod y", "kubectl delete", true),
            ("/usr/bin/docker -H tcp://h rm -f c", "docker rm", true),
            ("docker compose -f x down -v", "docker compose down", true),
            ("docker-compose -f x down", "docker compose down", true),
            ("docker compose down", "docker-compose down", true),
            ("docker -D compose down", "docker-compose down", true),
            ("gcloud -q compute instances --zone=z delete v", "gcloud compute instances delete", true),
            ("az network vnet subnet -g x --debug delete", "az network vnet subnet delete", true),
            ("make -j4 deploy", "make deploy", true),
            ("make X=1 all deploy", "make deploy", true),
            ("make ././deploy", "make deploy", true),
            ("make .DEFAULT_GOAL:=deploy", "make deploy", true),
            ("make deployed", "make deploy", false),
            ("make '$().DEFAULT_GOAL=deploy'", "make deploy", true),
            ("make ' .DEFAULT_GOAL=deploy'", "make deploy", true),
            ("make CFLAGS=-O2 all", "make deploy", false),
            ("node /usr/lib/npm/bin/npm-cli publish", "npm publish", true),
            ("python3 -m pip.__main__ install x", "pip install", true),
            ("gmake deploy", "make deploy", true),
            ("terraform -chdir=x apply", "terraform apply", true),
            ("go -C d run x", "go run", true),
            ("git -C '' push", "git push", true),
            ("git log push", "git push", false),
            ("bundle e x", "bundle exec", true),
            ("ls -la publish", "npm publish", false),
        ] {
            assert_eq!(may_run(command, Begins::Told, rule), want, "{command}: {rule}");
        }
        for (begins, command, want) in [
            (Begins::Inert, "echo npm publish", false),
            (Begins::First, "A=1 npm -s publish", true),
            (Begins::First, "python3 -m npm publish", true),
            (Begins::Nowhere, "npm publish", false),
            (Begins::Inert, "A=/x/npm B=/y/npm ls", false),
        ] {
            assert_eq!(may_run(command, begins, "npm publish"), want, "{command}");
        }
    }

    #[test]
    fn no_number_of_options_hides_a_subcommand() {
        for (text, many) in [("-s ", 4_000), ("-s x ", 4_000), ("npm -s ", 4_000)] {
            let command = format!("npm {}publish", text.repeat(many));
            assert!(may_run(&command, Begins::Any, "npm publish"), "{text}");
            assert!(!may_run(&command, Begins::Any, "npm unpublish"), "{text}");
        }
    }
}
