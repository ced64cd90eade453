//! A command again with its subcommand where rules look for it: without the options in front of it, and by its whole name
//! where it is written by another one. Each is a guess, since an option may have a value or none.
//!
//! Sources: npm 10 (docs.npmjs.com, "npm" and each command's "Alias"; names can be shortened to what tells them apart);
//! the Cargo book, "Cargo Commands"; docs.docker.com; kubernetes.io; helm.sh; cli.github.com; the manuals of the others.

use super::super::commands::kind::base_name;
use super::super::commands::names::Names;
use super::segment::{Begins, Role, Segment};

/// Programs that take options in front of a subcommand. Git's are known one by one.
static TAKE_OPTIONS: Names = Names::of(&[
    "npm pnpm yarn bun deno cargo rustup docker docker-compose podman nerdctl kubectl oc helm gh glab hub terraform tofu",
    "terragrunt pip pipx poetry uv pdm hatch conda mamba gem bundle composer dotnet twine make gmake just task systemctl",
    "apt apt-get aptitude dnf yum zypper apk pacman snap flatpak brew hg svn jj aws gcloud az heroku fly flyctl vercel",
    "netlify firebase wrangler supabase pulumi serverless sls railway doctl ansible-galaxy vagrant minikube kind argocd",
    "flux skopeo crane oras rails mix wp drush artisan psql redis-cli vault consul nomad op rclone restic borg zfs zpool",
    "ip nmcli virsh lxc incus machinectl loginctl journalctl launchctl",
]);

/// Commands of npm, for what is shortened.
static OF_NPM: Names = Names::of(&[
    "access adduser audit bugs cache ci completion config dedupe deprecate diff dist-tag docs doctor edit exec explain",
    "explore find-dupes fund get hook init install install-ci-test install-test link login logout ls org outdated owner",
    "pack ping pkg prefix profile prune publish query rebuild repo restart root run sbom search set shrinkwrap star stars",
    "start stop team test token undeprecate uninstall unpublish unstar update version view whoami",
]);

/// Other names of subcommands.
const ALIASES: &[(&str, &str, &str)] = &[
    ("npm", "add i in ins inst insta instal isnt isnta isntal isntall", "install"),
    ("npm", "un unlink remove rm r", "uninstall"),
    ("npm", "up upgrade udpate", "update"),
    ("npm", "run-script rum urn", "run"),
    ("npm", "x", "exec"),
    ("npm", "create innit", "init"),
    ("npm", "c", "config"),
    ("npm", "t tst", "test"),
    ("npm", "author", "owner"),
    ("npm", "ln", "link"),
    ("npm", "rb", "rebuild"),
    ("npm", "add-user", "adduser"),
    ("npm", "dist-tags", "dist-tag"),
    ("npm", "clean-install ic install-clean isntall-clean", "ci"),
    ("pnpm", "i", "install"),
    ("pnpm", "rm un uninstall", "remove"),
    ("pnpm", "up upgrade", "update"),
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

/// So many words behind the program are looked at, and so many programs of a segment.
const WORDS: usize = 8;
const PROGRAMS: usize = 4;

/// The other ways of writing the segment's commands.
pub(super) fn spelled_out(segment: &Segment) -> Vec<Segment> {
    if segment.role != Role::Runs || segment.begins == Begins::Nowhere {
        return Vec::new();
    }
    let is_one = |word: &str| TAKE_OPTIONS.has(base_name(word));
    let mut starts =
        segment.words().enumerate().filter(|(_, word)| is_one(word)).map(|(at, _)| at).peekable();
    if starts.peek().is_none() {
        return Vec::new();
    }
    let words: Vec<&str> = segment.words().collect();
    let mut out = Vec::new();
    for (program, rest) in starts.take(PROGRAMS).filter_map(|at| words[at..].split_first()) {
        let program = base_name(program);
        for behind in subcommands(rest) {
            if behind.len() < rest.len() {
                out.push(guess(program, behind));
            }
            out.extend(behind.split_first().into_iter().flat_map(|(name, further)| {
                whole_names(program, name)
                    .map(|whole| guess(program, &[&[whole], further].concat()))
                    .collect::<Vec<_>>()
            }));
        }
    }
    out
}

/// Where the subcommand may begin: at the first word, or behind options, each of which may have a value.
fn subcommands<'a, 'w>(rest: &'a [&'w str]) -> impl Iterator<Item = &'a [&'w str]> {
    let is_option = |at: usize| rest[at].starts_with(['-', '+']);
    let mut ended = false;
    let begins = move |at: &usize| {
        let begins = !ended && !is_option(*at);
        // What does not stand behind an option is no value of one: all that follows is the subcommand's.
        ended |= begins && !at.checked_sub(1).is_some_and(is_option);
        begins
    };
    (0..rest.len().min(WORDS)).filter(begins).map(|at| &rest[at..])
}

/// The names that the word stands for.
fn whole_names<'w>(program: &'w str, name: &'w str) -> impl Iterator<Item = &'static str> + 'w {
    const SHORTEST: usize = 2;
    let aliases =
        ALIASES.iter().filter(move |(of, names, _)| *of == program && names.split(' ').any(|n| n == name));
    let shortens = program == "npm" && name.len() >= SHORTEST && !OF_NPM.has(name);
    let shortened = shortens.then(|| OF_NPM.all().filter(move |whole| whole.starts_with(name)));
    aliases.map(|(.., whole)| *whole).chain(shortened.into_iter().flatten())
}

fn guess(program: &str, words: &[&str]) -> Segment {
    let mut text = program.to_owned();
    for word in words {
        text.push(' ');
        text.push_str(word);
    }
    Segment {
        text,
        role: Role::Runs,
        begins: Begins::Listed,
        spaced: Vec::new(),
        listed: vec![0],
        repeats: false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subcommands_are_spelled_out() {
        for (command, want) in [
            ("npm publish", &[][..]),
            ("npm pub --tag x", &["npm publish --tag x"]),
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
            ("terraform -chdir=x apply", &["terraform apply"]),
            ("ls -la publish", &[]),
            ("git -C x push", &[]),
        ] {
            let words: Vec<String> = command.split(' ').map(str::to_owned).collect();
            let found = spelled_out(&Segment::runs(&words, Begins::First));
            let texts: Vec<&str> = found.iter().map(Segment::text).collect();
            assert_eq!(texts, want, "{command}");
        }
        let many: Vec<String> = std::iter::repeat_n("npm -s".to_owned(), 4_000).collect();
        assert!(spelled_out(&Segment::runs(&many, Begins::Any)).len() <= PROGRAMS * WORDS);
    }
}
