//! A command again with its subcommand where rules look for it: without the options in front of it, and by its whole name
//! where it is written by another one. Each is a guess, since an option may have a value or none.
//!
//! Sources: npm 10 (docs.npmjs.com, "npm" and each command's "Alias"; names can be shortened to what tells them apart);
//! the Cargo book, "Cargo Commands"; docs.docker.com; kubernetes.io; helm.sh; cli.github.com; the manuals of the others.

use super::super::commands::kind::base_name;
use super::super::commands::names::Names;
use super::super::lexical::file_name;
use super::segment::{Begins, Role, Segment, is_assignment};

/// Programs that take options in front of a subcommand. Git's are known one by one.
static TAKE_OPTIONS: Names = Names::of(&[
    "npm pnpm yarn bun deno cargo rustup docker docker-compose podman nerdctl kubectl oc helm gh glab hub terraform tofu",
    "terragrunt pip pipx poetry uv pdm hatch conda mamba gem bundle composer dotnet twine go make gmake just task rake systemctl",
    "apt apt-get aptitude dnf yum zypper apk pacman snap flatpak brew hg svn jj aws gcloud az heroku fly flyctl vercel",
    "netlify firebase wrangler supabase pulumi serverless sls railway doctl ansible-galaxy vagrant minikube kind argocd",
    "flux skopeo crane oras rails mix wp drush artisan psql redis-cli vault consul nomad op rclone restic borg zfs zpool",
    "ip nmcli virsh lxc incus machinectl loginctl journalctl launchctl yarnpkg podman-compose npm-cli.js",
]);

/// Those whose operands are targets, one beside the other.
static TAKE_TARGETS: Names = Names::of(&["make gmake just task rake"]);

/// The usual names of programs that have another one.
const PROGRAMS: &[(&str, &str)] = &[
    ("yarnpkg", "yarn"),
    ("docker-compose", "docker compose"),
    ("podman-compose", "podman compose"),
    ("npm-cli.js", "npm"),
];

/// Commands of npm, for what is shortened.
static OF_NPM: Names = Names::of(&[
    "access adduser approve-scripts audit bugs cache ci completion config dedupe deny-scripts deprecate diff dist-tag",
    "docs doctor edit exec explain explore find-dupes fund get help help-search hook init install install-ci-test",
    "install-scripts install-test link ll login logout ls org outdated owner pack ping pkg prefix profile prune publish",
    "query rebuild repo restart root run sbom search set shrinkwrap stage star stars start stop team test token trust",
    "undeprecate uninstall unpublish unstar update version view whoami",
]);

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
    ("hg", "ci", "commit"),
    ("svn", "ci", "commit"),
    ("svn", "del remove rm", "delete"),
];

/// So many programs of a segment are looked at.
const PROGRAMS_MAX: usize = 4;
/// So many names one behind the other, as in `gcloud compute instances delete`, with options before each.
const LEVELS: usize = 3;
/// So many words all guesses of a segment have together.
const WORDS_MAX: usize = 2_048;
/// With so few words the bounds are not reached.
const FEW_WORDS: usize = 12;

/// The other ways of writing the segment's commands.
pub(super) fn spelled_out(segment: &Segment) -> Vec<Segment> {
    if segment.role != Role::Runs || !segment.whole_words().any(|word| Program::named(word).is_some()) {
        return Vec::new();
    }
    let words: Vec<&str> = segment.whole_words().collect();
    Spelling::of(&words, segment.begins).out
}

/// The program of a command that may be written in more ways than are looked at, by each of its names.
pub(super) fn untold(words: &[String], begins: Begins) -> impl Iterator<Item = &str> {
    let programs = words.iter().filter(|word| Program::named(word).is_some()).take(PROGRAMS_MAX + 1).count();
    let many = programs > PROGRAMS_MAX || programs > 0 && words.len() > FEW_WORDS;
    let untold = many.then(|| {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        Spelling::of(&words, begins).untold
    });
    untold.flatten().into_iter().flat_map(Program::names)
}

/// A program that takes options in front of its subcommand, as a word names it.
#[derive(Clone, Copy)]
struct Program<'w> {
    own: &'w str,
    /// Without a version (`npm@10`, `pip3.11`), or as most call it.
    usual: &'w str,
}

impl<'w> Program<'w> {
    fn named(word: &'w str) -> Option<Self> {
        let (own, name) = (file_name(word), base_name(word));
        if TAKE_OPTIONS.has(name) {
            let usual = PROGRAMS.iter().find(|(other, _)| *other == name).map_or(name, |(_, usual)| usual);
            return Some(Self { own, usual });
        }
        let name = name.bytes().position(|b| b == b'@').map_or(name, |at| &name[..at]);
        let usual = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
        (usual.len() < own.len() && TAKE_OPTIONS.has(usual)).then_some(Self { own, usual })
    }

    fn names(self) -> impl Iterator<Item = &'w str> {
        [self.own, self.usual].into_iter().take(if self.own == self.usual { 1 } else { 2 })
    }
}

/// The guesses of a command, as they are made.
struct Spelling<'w> {
    out: Vec<Segment>,
    /// How many words there may be yet.
    left: usize,
    untold: Option<Program<'w>>,
}

/// What is looked for at one place: the program, and which name of a command stands there.
#[derive(Clone, Copy)]
struct Place<'w> {
    program: Program<'w>,
    level: usize,
    /// The words up to here are not those of the text.
    differs: bool,
}

impl<'w> Spelling<'w> {
    fn of(words: &[&'w str], begins: Begins) -> Self {
        let mut spelling = Self { out: Vec::new(), left: WORDS_MAX, untold: None };
        let assigned = words.iter().take_while(|word| is_assignment(word)).count();
        let most = match begins {
            Begins::Inert | Begins::First => assigned + 1,
            Begins::Nowhere | Begins::Elsewhere | Begins::Listed => 0,
            _ => usize::MAX,
        };
        let places = words.iter().enumerate().take(most);
        let programs = places.filter_map(|(at, word)| Some((at, Program::named(word)?)));
        for (number, (at, program)) in programs.enumerate() {
            if number == PROGRAMS_MAX {
                spelling.untold.get_or_insert(program);
                break;
            }
            for name in program.names() {
                let differs = at > assigned || name != words[at];
                let place = Place { program, level: 0, differs };
                spelling.behind(&mut vec![name], &words[at + 1..], place);
            }
        }
        spelling
    }

    /// What may stand behind `front`: a name with what follows it, with or without the options in front of it.
    fn behind(&mut self, front: &mut Vec<&'w str>, rest: &[&'w str], place: Place<'w>) {
        if place.differs {
            self.guess(front, rest, place);
        }
        let any = place.level == 0 && TAKE_TARGETS.has(place.program.usual);
        for behind in subcommands(rest, any) {
            let Some((name, further)) = behind.split_first().filter(|_| self.untold.is_none()) else {
                return;
            };
            if behind.len() < rest.len() {
                self.guess(front, behind, place);
            }
            let wholes = if place.level == 0 { whole_names(place.program.usual, name) } else { Vec::new() };
            for (name, differs) in wholes.into_iter().map(|whole| (whole, true)).chain([(*name, false)]) {
                front.push(name);
                let next = Place { level: place.level + 1, differs, ..place };
                if next.level < LEVELS {
                    self.behind(front, further, next);
                } else if differs {
                    self.guess(front, further, next);
                }
                front.pop();
            }
        }
    }

    fn guess(&mut self, front: &[&str], behind: &[&str], place: Place<'w>) {
        let Some(left) = self.left.checked_sub(front.len() + behind.len()) else {
            self.untold = Some(place.program);
            return;
        };
        self.left = left;
        let words = front.iter().chain(behind).copied();
        self.out.push(Segment { listed: vec![0], ..Segment::joined(words, Begins::Listed) });
    }
}

/// Where a name may begin: at the first word, or behind options, each of which may have a value; at `any` word where
/// each may be a target.
fn subcommands<'a, 'w>(rest: &'a [&'w str], any: bool) -> impl Iterator<Item = &'a [&'w str]> {
    let is_option = |at: usize| rest[at].starts_with(['-', '+']);
    let mut places = 0..rest.len();
    let mut ended = false;
    std::iter::from_fn(move || {
        let at = places.by_ref().find(|at| ended || !is_option(*at)).filter(|_| !ended)?;
        // What does not stand behind an option is no value of one: all that follows is the subcommand's.
        ended = !any && !at.checked_sub(1).is_some_and(is_option);
        Some(&rest[at..])
    })
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
    let mut dashed = String::new();
    for c in name.chars() {
        if c.is_ascii_uppercase() {
            dashed.push('-');
        }
        dashed.push(c.to_ascii_lowercase());
    }
    let aliases = || {
        let of_it = ALIASES.iter().filter(|(of, ..)| *of == "npm");
        of_it.flat_map(|(_, names, whole)| names.split(' ').map(|alias| (alias, *whole)))
    };
    if let Some(exact) = OF_NPM.get(&dashed) {
        return if dashed == name { Vec::new() } else { vec![exact] };
    }
    if let Some((_, whole)) = aliases().find(|(alias, _)| *alias == dashed) {
        return vec![whole];
    }
    let all = OF_NPM.all().map(|name| (name, name)).chain(aliases());
    let mut found: Vec<_> =
        all.filter(|(long, _)| long.starts_with(&dashed)).map(|(_, whole)| whole).collect();
    found.sort_unstable();
    found.dedup();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subcommands_are_spelled_out() {
        for (command, want) in [
            ("npm publish", &[][..]),
            ("npm pub --tag x", &["npm publish --tag x", "npm publish x", "npm pub x"]),
            ("npm -m 'a b' publish", &["npm a b publish", "npm publish"]),
            ("npm run -s deploy", &["npm run deploy"]),
            ("npm -s run-scri deploy", &["npm run-scri deploy", "npm run deploy"]),
            ("npm runScript deploy", &["npm run deploy"]),
            ("npm remo x", &["npm uninstall x"]),
            ("npx npm@10 publish", &["npm publish"]),
            ("pip3 install x", &["pip install x"]),
            ("python3 -m pip3.11 -q install x", &["pip3.11 install x", "pip -q install x", "pip install x"]),
            ("docker compose -f x down -v", &["docker compose x down -v", "docker compose down -v"]),
            ("docker-compose down", &["docker compose down"]),
            (
                "gcloud -q compute instances --zone=z delete v",
                &["gcloud compute instances --zone=z delete v", "gcloud compute instances delete v"],
            ),
            ("npm -s publish", &["npm publish"]),
            ("npm --tag z publish y", &["npm z publish y", "npm publish y"]),
            ("npm i x", &["npm install x"]),
            ("npm run publish", &[]),
            ("npm run-script deploy", &["npm run deploy"]),
            ("cargo +nightly publish", &["cargo publish"]),
            ("cargo -q --locked r", &["cargo r", "cargo run"]),
            ("kubectl -n x delete pod y", &["kubectl x delete pod y", "kubectl delete pod y"]),
            ("/usr/bin/docker -H tcp://h rm -f c", &["docker tcp://h rm -f c", "docker rm -f c"]),
            ("make -j4 deploy", &["make deploy"]),
            ("make X=1 all deploy", &["make deploy"]),
            ("go -C d run x", &["go d run x", "go run x"]),
            ("terraform -chdir=x apply", &["terraform apply"]),
            ("ls -la publish", &[]),
            ("git -C x push", &[]),
        ] {
            let words = super::super::one_literal(command).unwrap();
            let found = spelled_out(&Segment::runs(&words, Begins::Told));
            let texts: Vec<&str> = found.iter().map(Segment::text).collect();
            for text in want {
                assert!(texts.contains(text), "{command}: {text} of {texts:?}");
            }
            assert_eq!(texts.is_empty(), want.is_empty(), "{command}: {texts:?}");
            assert_eq!(untold(&words, Begins::Told).next(), None, "{command}");
        }
    }

    #[test]
    fn what_is_not_looked_at_is_told() {
        let words = |text: &str, count: usize| -> Vec<String> {
            let all = std::iter::repeat_n(text, count).collect::<Vec<_>>().join(" ") + " publish";
            all.split(' ').map(str::to_owned).collect()
        };
        for (text, count, told) in [
            ("npm -s", 4_000, true),
            ("npm -s", 5, true),
            ("npm -s", 3, false),
            ("-s", 60, false),
            ("-s x", 90, true),
        ] {
            let words = [vec!["npm".to_owned()], words(text, count)].concat();
            assert_eq!(untold(&words, Begins::Any).next().is_some(), told, "{text} {count}");
            let guesses = spelled_out(&Segment::runs(&words, Begins::Any));
            assert!(guesses.iter().map(|guess| guess.words().count()).sum::<usize>() <= WORDS_MAX);
            assert!(told || guesses.iter().any(|guess| guess.text() == "npm publish"), "{text} {count}");
        }
        let inert = ["echo", "npm", "-s", "publish"].map(str::to_owned);
        assert!(spelled_out(&Segment::runs(&inert, Begins::Inert)).is_empty());
    }
}
