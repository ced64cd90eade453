//! The reading forms of real git, in real repositories that try to run something.

use std::path::{Path, PathBuf};

use super::*;

fn words(text: &str) -> Vec<String> {
    text.split(' ').map(str::to_owned).collect()
}

/// A repository, and programs in it that leave a mark when they run.
struct Trap {
    root: tempfile::TempDir,
}

impl Trap {
    fn new() -> Self {
        let trap = Self { root: tempfile::tempdir().unwrap() };
        std::fs::create_dir_all(trap.ws().join("sub")).unwrap();
        std::fs::create_dir(trap.root.path().join("home")).unwrap();
        trap.git("init -q -b main .", &[]);
        trap.git("config user.name A", &[]);
        trap.git("config user.email a@b", &[]);
        trap.write("f", "one\n");
        trap.write("sub/g", "two\n");
        trap.git("add -A", &[]);
        trap.git("commit -q -m first", &[]);
        trap.write("f", "one\nmore\n");
        trap.git("commit -q -a -m second", &[]);
        trap
    }

    fn ws(&self) -> PathBuf {
        self.root.path().join("ws")
    }

    /// Text of the same length as before is what git has to look into; another length it knows by itself.
    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.ws().join(name), text).unwrap();
    }

    /// The path of a program that leaves a mark, passes its input on, and succeeds.
    fn program(&self, name: &str) -> String {
        self.script(&self.root.path().join(name), "exec cat")
    }

    /// Makes a program that leaves a mark and does what `end` says. A shell writes it: a file that this process has
    /// open cannot be run by any other.
    #[expect(clippy::disallowed_methods, reason = "a program has to be written from outside of the test")]
    fn script(&self, path: &Path, end: &str) -> String {
        let text = format!("#!/bin/sh\n: > '{}'\n{end}\n", self.mark().display());
        let written = std::process::Command::new("sh")
            .args(["-c", r#"printf %s "$2" > "$1" && chmod 755 "$1""#, "sh"])
            .args([path.as_os_str(), text.as_ref()])
            .status()
            .unwrap();
        assert!(written.success());
        path.display().to_string()
    }

    fn mark(&self) -> PathBuf {
        self.root.path().join("mark")
    }

    /// Whether a program ran since the last question.
    fn sprang(&self) -> bool {
        std::fs::remove_file(self.mark()).is_ok()
    }

    fn git(&self, text: &str, environment: &[(&str, &str)]) -> bool {
        self.git_in(&self.ws(), &words(text), environment)
    }

    #[expect(clippy::disallowed_methods, reason = "git itself is what is looked at")]
    fn git_in(&self, directory: &Path, words: &[String], environment: &[(&str, &str)]) -> bool {
        let output = std::process::Command::new("git")
            .args(words)
            .current_dir(directory)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap())
            .env("HOME", self.root.path().join("home"))
            .env("GIT_CEILING_DIRECTORIES", self.root.path())
            .envs(environment.iter().copied())
            .stdin(std::process::Stdio::null())
            .output()
            .unwrap();
        output.status.success()
    }

    fn set(&self, key: &str, value: &str) {
        let words = ["config".to_owned(), key.to_owned(), value.to_owned()];
        assert!(self.git_in(&self.ws(), &words, &[]), "{key}");
    }

    fn hook(&self, name: &str) {
        let hooks = self.ws().join(".git/hooks");
        std::fs::create_dir_all(&hooks).unwrap();
        self.script(&hooks.join(name), "");
    }

    /// Makes the index out of date, so that git looks at the files again.
    fn touch(&self) {
        let text = std::fs::read_to_string(self.ws().join("f")).unwrap();
        std::fs::remove_file(self.ws().join("f")).unwrap();
        self.write("f", &text);
    }

    /// A commit with a signature that nobody made.
    fn signed_commit(&self) {
        let object = self.root.path().join("commit");
        let read = |name: &str| std::fs::read_to_string(self.ws().join(name)).unwrap();
        let head = read(".git/refs/heads/main");
        let tree = self.output("rev-parse HEAD^{tree}");
        let text = format!(
            "tree {}\nparent {}\nauthor A <a@b> 1 +0000\ncommitter A <a@b> 1 +0000\ngpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n \
             -----END PGP SIGNATURE-----\n\nthird\n",
            tree.trim(),
            head.trim()
        );
        std::fs::write(&object, text).unwrap();
        let hash = self.output(&format!("hash-object -t commit -w {}", object.display()));
        self.write(".git/refs/heads/main", &hash);
    }

    #[expect(clippy::disallowed_methods, reason = "git itself is what is looked at")]
    fn output(&self, text: &str) -> String {
        let output =
            std::process::Command::new("git").args(words(text)).current_dir(self.ws()).output().unwrap();
        assert!(output.status.success(), "{text}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    fn config(&self) -> String {
        std::fs::read_to_string(self.ws().join(".git/config")).unwrap()
    }

    /// What the index holds, and which file it is.
    fn index(&self) -> (Vec<u8>, u64) {
        use std::os::unix::fs::MetadataExt as _;
        let path = self.ws().join(".git/index");
        (std::fs::read(&path).unwrap(), std::fs::metadata(&path).unwrap().ino())
    }

    fn index_is_plain(&self) -> bool {
        index_is_plain(&std::fs::read(self.ws().join(".git/index")).unwrap(), 20)
    }

    /// The trap works; and once it is known to be set, the command runs nothing in the safe environment, or the
    /// repository is not plain.
    fn springs(&self, command: &str, in_environment: bool) {
        assert!(known(&words(&format!("git {command}"))).is_some(), "{command}");
        self.touch();
        self.git(command, &[]);
        assert!(self.sprang(), "the trap is not set for {command}");
        self.touch();
        if in_environment {
            self.git(command, SAFE_ENVIRONMENT);
            assert!(!self.sprang(), "{command} ran something");
        } else {
            assert!(!config_is_plain(&self.config()) || !self.index_is_plain(), "{command}");
        }
    }
}

#[test]
fn the_environment_holds_over_what_the_repository_sets() {
    let trap = Trap::new();
    trap.set("core.fsmonitor", &trap.program("monitor"));
    trap.springs("status", true);
    trap.springs("diff", true);

    let trap = Trap::new();
    trap.hook("post-index-change");
    trap.springs("status", true);

    let trap = Trap::new();
    std::fs::create_dir(trap.ws().join("hooks")).unwrap();
    trap.script(&trap.ws().join("hooks/post-index-change"), "");
    trap.set("core.hooksPath", "hooks");
    trap.springs("status", true);

    let trap = Trap::new();
    trap.signed_commit();
    trap.set("gpg.program", &trap.program("gpg"));
    trap.set("log.showSignature", "true");
    trap.springs("log", true);
    trap.springs("show", true);
}

#[test]
fn settings_of_the_user_do_not_count() {
    let trap = Trap::new();
    trap.write(".gitattributes", "* filter=x\n");
    trap.write("f", "one\nm0re\n");
    let settings = format!("[filter \"x\"]\n\tclean = {}\n", trap.program("driver"));
    std::fs::write(trap.root.path().join("home/.gitconfig"), settings).unwrap();
    trap.springs("status", true);
    trap.springs("diff", true);
}

#[test]
fn nothing_is_fetched_to_be_shown() {
    let trap = Trap::new();
    let blob = trap.output("rev-parse HEAD:f");
    let (folder, file) = blob.trim().split_at(2);
    std::fs::remove_file(trap.ws().join(".git/objects").join(folder).join(file)).unwrap();
    trap.set(
        "remote.origin.url",
        &format!("ext::{}", trap.script(&trap.root.path().join("fetch"), "exit 1")),
    );
    trap.set("remote.origin.promisor", "true");
    trap.set("extensions.partialClone", "origin");
    trap.set("protocol.ext.allow", "always");
    trap.springs("show HEAD:f", true);
    assert!(!config_is_plain(&trap.config()));
}

#[test]
fn a_directory_that_looks_like_a_repository_is_none() {
    let trap = Trap::new();
    let bare = trap.ws().join("bare");
    std::fs::create_dir(&bare).unwrap();
    trap.git("init -q --bare bare", &[]);
    let config = format!(
        "[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = .\n\tfsmonitor = {}\n",
        trap.program("monitor")
    );
    std::fs::write(bare.join("config"), config).unwrap();
    trap.git_in(&bare, &words("status"), &[]);
    assert!(trap.sprang());
    assert!(!trap.git_in(&bare, &words("status"), SAFE_ENVIRONMENT));
    assert!(!trap.sprang());
}

/// Git looks at another user's repository where it is named, and at no other; nor does that let it run anything.
#[test]
fn a_repository_of_another_user_is_read() {
    let trap = Trap::new();
    trap.set("core.fsmonitor", &trap.program("monitor"));
    let git = |trees: &[PathBuf], directory: &Path| {
        let trees = trees.iter().cloned().collect();
        let environment = safe_environment(&trees, Attributes::OfHead);
        let mut environment: Vec<(&str, &str)> = environment
            .iter()
            .map(|(name, value)| (name.to_str().unwrap(), value.to_str().unwrap()))
            .collect();
        // git's own tests take every repository for one of another user by this.
        environment.push(("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1"));
        trap.touch();
        trap.git_in(directory, &words("status"), &environment)
    };
    let root = trap.ws().canonicalize().unwrap();
    assert!(!git(&[], &root) && !git(&[root.join("sub")], &root));
    assert!(git(std::slice::from_ref(&root), &root));
    assert!(git(&[root.join("sub"), root.clone()], &root.join("sub")));
    assert!(!trap.sprang());

    let names: Vec<_> =
        safe_environment(&[root].into(), Attributes::None(20)).into_iter().map(|(name, _)| name).collect();
    let distinct: std::collections::HashSet<_> = names.iter().collect();
    assert_eq!(distinct.len(), names.len());
    assert_eq!(names.len(), SAFE_ENVIRONMENT.len() + 3);
}

/// Why the gate asks about whoever is in a `.git`, and about a `.git` that is no repository.
#[test]
fn settings_of_a_repository_within_or_above_hold() {
    let trap = Trap::new();
    trap.write(".gitattributes", "* filter=x\n");
    trap.write("f", "one\nm0re\n");
    trap.git("clone -q --bare . .git/modules/m", &[]);
    std::fs::copy(trap.ws().join(".git/index"), trap.ws().join(".git/modules/m/index")).unwrap();
    let settings = format!(
        "[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = {}\n[filter \"x\"]\n\tclean = {}\n",
        trap.ws().display(),
        trap.program("driver")
    );
    trap.write(".git/modules/m/config", &settings);
    assert!(config_is_plain(&trap.config()));
    // The copied index is younger than the file, which may have the times of the one before.
    trap.touch();
    trap.git_in(&trap.ws().join(".git/modules/m"), &words("status"), SAFE_ENVIRONMENT);
    assert!(trap.sprang());

    let trap = Trap::new();
    trap.write(".gitattributes", "* filter=x\n");
    trap.write("f", "one\nm0re\n");
    trap.set("filter.x.clean", &trap.program("driver"));
    std::fs::create_dir(trap.ws().join("sub/.git")).unwrap();
    trap.git_in(&trap.ws().join("sub"), &words("status"), SAFE_ENVIRONMENT);
    assert!(trap.sprang());
}

#[test]
fn what_has_a_name_of_its_own_is_refused_in_the_settings() {
    let attributes = "* filter=x diff=x\n";
    for (key, commands) in [
        ("filter.x.clean", &["status", "diff"][..]),
        ("diff.x.textconv", &["diff", "log -p", "show", "blame f", "stash list -p"]),
        ("diff.x.command", &["diff"]),
        ("diff.external", &["diff"]),
    ] {
        for command in commands {
            let trap = Trap::new();
            trap.write(".gitattributes", attributes);
            trap.write("f", "one\nm0re\n");
            if command.starts_with("stash") {
                trap.git("stash -q", &[]);
            }
            assert!(config_is_plain(&trap.config()), "{}", trap.config());
            trap.set(key, &trap.program("driver"));
            trap.springs(command, false);
        }
    }
    let trap = Trap::new();
    trap.write(".gitattributes", attributes);
    trap.write("settings", &format!("[filter \"x\"]\n\tclean = {}\n", trap.program("driver")));
    trap.write("f", "one\nm0re\n");
    trap.set("include.path", "../settings");
    trap.springs("status", false);

    let trap = Trap::new();
    trap.signed_commit();
    trap.set("gpg.program", &trap.program("gpg"));
    trap.set("format.pretty", "%G?");
    trap.springs("log", false);
}

#[test]
fn a_repository_within_is_refused_in_the_index() {
    let trap = Trap::new();
    let within = trap.ws().join("within");
    std::fs::create_dir(&within).unwrap();
    std::fs::write(within.join("h"), "one").unwrap();
    std::fs::write(within.join(".gitattributes"), "* filter=x\n").unwrap();
    for text in
        ["init -q -b main .", "config user.name A", "config user.email a@b", "add -A", "commit -q -m x"]
    {
        assert!(trap.git_in(&within, &words(text), &[]), "{text}");
    }
    assert!(trap.index_is_plain());
    trap.git("add within", &[]);
    trap.git("commit -q -m within", &[]);
    // What the workspace's own file says comes before the setting that leaves submodules alone.
    trap.write(".gitmodules", "[submodule \"within\"]\n\tpath = within\n\turl = x\n\tignore = none\n");
    let driver = trap.program("driver");
    assert!(trap.git_in(&within, &["config".into(), "filter.x.clean".into(), driver], &[]));
    std::fs::write(within.join("h"), "two").unwrap();
    trap.springs("status", false);
    // The environment alone would not hold.
    trap.git("status", SAFE_ENVIRONMENT);
    assert!(trap.sprang());
    assert!(config_is_plain(&trap.config()) && !trap.index_is_plain());
}

#[test]
fn an_index_is_read_in_each_of_its_versions() {
    for version in ["2", "3", "4"] {
        let trap = Trap::new();
        trap.git("add --intent-to-add f", &[]);
        trap.write("new", "x");
        for name in ["sub/deep", "sub/next"] {
            std::fs::create_dir(trap.ws().join(name)).unwrap();
            trap.write(&format!("{name}/file of some length"), "x");
        }
        assert!(trap.git("add sub", &[]));
        if version == "3" {
            // An extended flag makes it version 3.
            trap.git("add --intent-to-add new", &[]);
        } else {
            assert!(trap.git(&format!("update-index --index-version {version}"), &[]));
        }
        let bytes = std::fs::read(trap.ws().join(".git/index")).unwrap();
        assert_eq!(bytes[7].to_string(), version);
        assert!(index_is_plain(&bytes, 20), "{version}");
        for end in [0, 4, 11, 12, 60, bytes.len() / 2, bytes.len() - 21] {
            assert!(!index_is_plain(&bytes[..end], 20), "{version}: {end}");
        }
        let directories: Vec<_> = directories_of(&bytes, 20).unwrap().into_iter().collect();
        assert_eq!(directories, [Path::new("sub"), Path::new("sub/deep"), Path::new("sub/next")]);
        let hash = trap.output("rev-parse HEAD");
        assert!(trap.git(&format!("update-index --add --cacheinfo 160000,{},deep/within", hash.trim()), &[]));
        assert!(!trap.index_is_plain(), "{version}");
    }
    // Git counts by the length that is said, and by the flag of an extended entry in each version.
    let trap = Trap::new();
    let bytes = std::fs::read(trap.ws().join(".git/index")).unwrap();
    assert!(bytes[7] == 2 && index_is_plain(&bytes, 20));
    for (at, value) in [(12 + 40 + 20, 0x40), (12 + 40 + 21, 1), (12 + 40 + 21, 0xff)] {
        let mut other = bytes.clone();
        other[at] |= value;
        if other[at] == bytes[at] {
            other[at] ^= value;
        }
        assert!(!index_is_plain(&other, 20), "{at}: {value}");
    }
    // It says where each thread begins to read.
    let trap = Trap::new();
    assert!(trap.git("config index.recordEndOfIndexEntries true", &[]));
    assert!(trap.git("update-index --force-write-index", &[]));
    assert!(!trap.index_is_plain());
    let trap = Trap::new();
    assert!(trap.git("update-index --split-index", &[]));
    assert!(!trap.index_is_plain());
    assert!(!index_is_plain(b"DIRC\0\0\0\x02\xff\xff\xff\xff", 20));
}

/// Forms that agents use, each of which succeeds in a repository.
const READING: &[&str] = &[
    "status",
    "status -s",
    "status -sb",
    "status --short --branch",
    "status --porcelain",
    "status --porcelain=v2",
    "status -uno",
    "status -uall",
    "status --untracked-files=no",
    "status --ignored",
    "status f",
    "diff",
    "diff --stat",
    "diff --cached",
    "diff --staged --name-only",
    "diff HEAD~1",
    "diff HEAD~1..HEAD",
    "diff HEAD~1 HEAD -- f",
    "diff -U5",
    "diff --name-status HEAD~1",
    "diff -w --no-color",
    "diff --diff-filter=M HEAD~1",
    "diff --no-ext-diff --no-textconv",
    "log",
    "log --oneline",
    "log --oneline -5",
    "log -n 5",
    "log -n5 --stat",
    "log -p",
    "log -p -1 -- f",
    "log --graph --all --decorate",
    "log --format=%H",
    "log --pretty=format:%h%x09%s",
    "log --pretty=oneline",
    "log --format=Git:%h%x47",
    "cat-file -s HEAD",
    "cat-file -e HEAD:f",
    "log --since=yesterday --author=A",
    "log --grep first -i",
    "log -S more",
    "log -L1,1:f",
    "log --follow f",
    "log --name-only HEAD~1..HEAD",
    "log main",
    "log --no-merges --reverse --abbrev-commit",
    "log -1 --date=iso",
    "show",
    "show HEAD",
    "show HEAD:f",
    "show --stat HEAD",
    "show -s --format=%B HEAD",
    "show --name-only HEAD",
    "blame f",
    "blame -L 1,1 f",
    "blame -w HEAD -- f",
    "shortlog -sn HEAD",
    "shortlog HEAD",
    "rev-parse HEAD",
    "rev-parse --short HEAD",
    "rev-parse --abbrev-ref HEAD",
    "rev-parse --show-toplevel",
    "rev-parse --git-dir",
    "rev-parse --is-inside-work-tree",
    "rev-list --count HEAD",
    "rev-list -n 1 HEAD",
    "ls-files",
    "ls-files -m",
    "ls-files --eol",
    "ls-files -o --exclude-standard",
    "ls-files --others --exclude-standard",
    "ls-files sub",
    "ls-tree HEAD",
    "ls-tree -r --name-only HEAD",
    "cat-file -p HEAD",
    "cat-file -t HEAD",
    "cat-file -p HEAD:f",
    "grep one",
    "grep -n one -- f",
    "grep -e one",
    "describe --always",
    "describe --all",
    "merge-base HEAD HEAD~1",
    "show-ref",
    "show-ref --heads",
    "for-each-ref",
    "for-each-ref --format=%(refname)",
    "name-rev HEAD",
    "count-objects -v",
    "version",
    "stash list",
    "reflog",
    "reflog show",
    "reflog -2",
    "reflog show main",
    "remote",
    "remote -v",
    "worktree list",
    "config --get user.name",
    "config user.name",
    "config --local user.name",
    "config --get-regexp user",
    "config --show-origin --list",
    "config --name-only -z -l",
    "config --default x --get a.b",
    "config --list",
    "config -l",
    "branch",
    "branch -a",
    "branch -v",
    "branch -vv",
    "branch --list",
    "branch --list m*",
    "branch --show-current",
    "branch -r",
    "branch --merged",
    "branch --contains HEAD",
    "branch --sort=-committerdate",
    "branch --format=%(refname:short)",
    "tag",
    "tag -l",
    "tag --list v*",
    "tag -n",
    "tag -n3",
    "tag --sort=-creatordate",
    "tag --points-at HEAD",
    "--no-pager log -1",
    "-P diff",
    "annotate f",
    "log --oneline --decorate --graph -20",
    "stash show",
    "config --get-all user.name",
    "notes list",
    "check-ignore -v ignored",
    "remote get-url origin",
    "reflog list",
    "config get user.name",
    "config list",
    "remote --verbose",
    "-C sub status",
    "-C sub log --oneline -- g",
    "-C . diff HEAD~1",
    "-C sub -C .. --no-pager show HEAD:f",
    "--no-pager -C sub ls-files",
    "-c color.ui=never -c core.quotePath=false log -1",
    "-c core.pager=cat diff",
    "-c core.fsmonitor=false status",
    "diff-index HEAD",
    "diff-index --cached --name-only HEAD",
    "diff-files --name-only",
    "diff-tree -r --no-commit-id --name-only HEAD~1",
    "diff-tree -p HEAD~1",
    "diff-tree --root --name-status HEAD~1",
    "cherry main",
    "cherry -v main HEAD~1",
    "symbolic-ref HEAD",
    "symbolic-ref --short -q HEAD",
    "diff --stat-width=80 HEAD~1",
    "diff --color-moved --find-copies-harder",
    "diff --src-prefix=a/ --dst-prefix=b/ --line-prefix=x",
    "diff --ignore-cr-at-eol --word-diff-regex=. HEAD~1",
    "diff --patch-with-stat --irreversible-delete --ita-visible-in-index --indent-heuristic",
    "diff --cc",
    "diff --pickaxe-all -S more HEAD~1",
    "log --right-only --oneline main...HEAD~1",
    "log --left-only --cherry-pick main...HEAD~1",
    "log --no-walk --full-diff -- f",
    "log --exclude=x --all --glob=refs/heads/*",
    "log --encoding=UTF-8 --no-expand-tabs --expand-tabs --notes --use-mailmap -1",
    "log --remove-empty --show-pulls --log-size -1",
    "log --show-linear-break --clear-decorations -1",
    "rev-list --max-parents=0 HEAD",
    "rev-list --parents -n 1 HEAD",
    "rev-list --left-right --count main...HEAD",
    "ls-files -v",
    "ls-files --format=%(path)",
    "ls-tree --format=%(path) HEAD",
    "grep -o one",
];

#[test]
fn no_reading_form_runs_anything_in_a_plain_repository() {
    let trap = Trap::new();
    trap.write(".gitignore", "ignored\n");
    trap.write(".gitattributes", "* filter=x diff=x merge=x\n");
    trap.write(".gitmodules", "[submodule \"s\"]\n\tpath = sub\n\tupdate = !touch x\n\tignore = none\n");
    trap.set(
        "remote.origin.url",
        &format!("ext::{}", trap.script(&trap.root.path().join("fetch"), "exit 1")),
    );
    trap.set("alias.status", &format!("!{}", trap.program("alias")));
    trap.signed_commit();
    trap.write("f", "one\nchanged\n");
    trap.git("stash -q", &[]);
    trap.write("f", "one\nchanged again\n");
    for hook in [
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
        "reference-transaction",
        "push-to-checkout",
        "pre-auto-gc",
        "post-rewrite",
        "sendemail-validate",
        "fsmonitor-watchman",
        "post-index-change",
    ] {
        trap.hook(hook);
    }
    assert!(config_is_plain(&trap.config()) && trap.index_is_plain(), "{}", trap.config());
    trap.sprang();
    let before = trap.output("for-each-ref");
    trap.sprang();
    for command in READING {
        let words = words(&format!("git {command}"));
        assert!(known(&words).is_some(), "{command}");
        trap.touch();
        // As it was, but for its times: git writes the index where it finds out.
        std::fs::rename(trap.ws().join("sub/g"), trap.root.path().join("g")).unwrap();
        trap.write("sub/g", "two\n");
        let index = trap.index();
        let ended_well = trap.git_in(&trap.ws(), &words[1..], SAFE_ENVIRONMENT);
        assert!(!trap.sprang(), "{command} ran something");
        assert!(trap.index() == index, "{command} wrote the index");
        // Subcommands that older versions lack fail there, and run nothing.
        let newer = ["config get", "config list", "reflog list", "show-ref --exists"]
            .iter()
            .any(|n| command.starts_with(n));
        assert!(ended_well || newer, "{command} failed");
    }
    assert_eq!(trap.output("for-each-ref"), before);
}

/// Git reads a value as an option where it does not take it for one: behind letters that it does not read together, and
/// where it sorts words before it reads them.
#[test]
fn no_option_hides_as_the_value_of_another() {
    let trap = Trap::new();
    trap.write("f", "one\nchanged\n");
    trap.git("stash -q", &[]);
    let written = trap.root.path().join("written");
    let output = format!("--output={}", written.display());
    let forms = FORMS.iter().flat_map(|form| form.names.iter().map(move |name| (vec![*name], form)));
    let listing = LISTING.iter().map(|(sub, second, form)| (vec![*sub, *second], form));
    let alone = [(vec!["reflog"], &LOG)];
    let mut tried = 0;
    for (subcommand, form) in forms.chain(listing).chain(alone) {
        let letters = form.values.chars();
        let clusters = letters.flat_map(|value| {
            let flags = form.flags.chars().map(move |flag| format!("-{flag}{value}"));
            flags.chain([format!("-{value}")]).map(|cluster| vec![cluster])
        });
        let names = [form.long_values, form.long].concat().join(" ");
        let torn: Vec<Vec<String>> = names
            .split_ascii_whitespace()
            .map(|name| vec![format!("--{name}"), "stash".to_owned(), format!("--{name}")])
            .collect();
        for options in clusters.chain(torn) {
            let mut words = vec!["git".to_owned()];
            words.extend(subcommand.iter().map(|word| (*word).to_owned()));
            words.extend(options);
            words.push(output.clone());
            if known(&words).is_none() {
                continue;
            }
            tried += 1;
            trap.git_in(&trap.ws(), &words[1..], SAFE_ENVIRONMENT);
            assert!(std::fs::remove_file(&written).is_err(), "{words:?}");
        }
    }
    assert!(tried > 0, "some forms read their words as getopt does");
    for command in [
        "log -gn --output=x",
        "show -pL --output=x",
        "diff-tree -rS --output=x HEAD",
        "stash show -p --line-prefix stash --line-prefix --output=x",
        "diff --src-prefix --no-index f g",
        "diff -S --no-index f g",
    ] {
        assert!(known(&words(&format!("git {command}"))).is_none(), "{command}");
    }
    for command in ["log -n 5 -S text", "log -n5 --grep text", "stash show -p --stat-width=9", "diff -U5 -Sx"]
    {
        assert!(known(&words(&format!("git {command}"))).is_some(), "{command}");
    }
}

#[test]
fn every_form_was_tried() {
    let tried = |start: &str| {
        READING.iter().any(|c| c.strip_prefix(start).is_some_and(|r| r.is_empty() || r.starts_with(' ')))
    };
    for name in FORMS.iter().flat_map(|form| form.names) {
        assert!(tried(name), "{name}");
    }
    for (sub, second, _) in LISTING {
        assert!(tried(&format!("{sub} {second}")), "{sub} {second}");
    }
}

#[test]
fn whatever_else_git_does_asks() {
    for command in [
        "",
        "commit",
        "push",
        "pull",
        "fetch",
        "checkout x",
        "add f",
        "-C",
        "-C d",
        "-C d push",
        "-C -p status",
        "-C d -p status",
        "-Cd status",
        "-C d --git-dir=x status",
        "-C d -c core.pager=x log",
        "-c",
        "-c core.pager log",
        "-c core.pager=x log",
        "-c core.pager=cat;x log",
        "-c core.fsmonitor=x status",
        "-c core.fsmonitor=true status",
        "-c color.ui=x status",
        "-c diff.external=x diff",
        "-c alias.log=x log",
        "--config-env=core.pager=x log",
        "diff-tree --stdin",
        "diff-tree --pretty=%G? HEAD",
        "diff-tree --ext-diff HEAD",
        "diff-index --output=f HEAD",
        "diff-files --textconv",
        "log --encoding --output=f",
        "cherry --output=f",
        "symbolic-ref",
        "symbolic-ref HEAD refs/heads/x",
        "symbolic-ref -d HEAD",
        "symbolic-ref --delete HEAD",
        "symbolic-ref -m x HEAD",
        "rev-list --objects --filter=x HEAD",
        "rev-list --max-parents 0 --output=f",
        "-p log",
        "--git-dir=x status",
        "--exec-path=x status",
        "--paginate log",
        "x",
        "status --column=x y -v",
        "status -v",
        "status --verbose",
        "status --ignore-submodules=none",
        "diff --ext-diff",
        "diff --textconv",
        "diff --output=f",
        "diff -O f",
        "diff --no-index a b",
        "diff --submodule=diff",
        "diff --outp=f",
        "diff -U --output=f",
        "diff --ignore-submodules=none",
        "log --show-signature",
        "log --format=%G?",
        "log --pretty=format:%+GK",
        "log --format=%(describe)",
        "log --format=Git:%h%-GS",
        "log --format=%<(9)%GT",
        "log --pretty=format:%%G?",
        "log --pretty --output=f",
        "log --alternate-refs",
        "log --ext-diff",
        "log --textconv",
        "log --output f",
        "log --remerge-diff",
        "show --output=f",
        "show --textconv HEAD:f",
        "show --show-signature",
        "blame --contents x f",
        "blame -S x f",
        "blame --ignore-revs-file=x f",
        "blame --textconv f",
        "shortlog --output=f HEAD",
        "shortlog --group=format:%G? HEAD",
        "shortlog --group format:%G? HEAD",
        "rev-parse --parseopt",
        "rev-parse --show-superproject-working-tree",
        "rev-parse --local-env-vars --x",
        "ls-files --recurse-submodules",
        "ls-files -X f",
        "ls-files --exclude-from=f",
        "cat-file --batch",
        "cat-file --textconv HEAD:f",
        "cat-file --filters HEAD:f",
        "grep -O x",
        "grep --open-files-in-pager=x y",
        "grep --no-index x",
        "grep -f x",
        "grep --recurse-submodules x",
        "grep --textconv x",
        "describe --broken",
        "describe --always --dirty",
        "branch x",
        "branch -d x",
        "branch -D x",
        "branch -m x",
        "branch --edit-description",
        "branch --set-upstream-to=x",
        "branch -v x",
        "branch --format --list x",
        "branch --format=%(signature)",
        "branch -f x",
        "tag x",
        "tag -d x",
        "tag -v x",
        "tag -a x",
        "tag --format=x y",
        "stash",
        "stash push",
        "stash pop",
        "stash drop",
        "stash clear",
        "reflog expire",
        "reflog delete x",
        "reflog expire --all",
        "remote add x y",
        "remote show origin",
        "remote update",
        "remote -v update",
        "remote prune x",
        "worktree add x",
        "worktree prune",
        "config user.name x",
        "config --get x y --unset z",
        "config --unset x",
        "config -e",
        "config --edit",
        "config set a b",
        "config --list --file x",
        "config --get a --file x",
        "config --blob x --list",
        "submodule status",
        "submodule foreach x",
        "difftool",
        "mergetool",
        "ls-remote",
        "archive HEAD",
        "bisect run x",
        "for-each-ref --shell x",
        "for-each-ref --format=%(signature)",
        "verify-commit HEAD",
        "gc",
        "fsck",
        "init",
        "clone x",
        "show-ref --exclude-existing",
        "check-ignore --stdin",
        "merge-base --output=x",
        "count-objects x",
        "version x",
        "notes add",
        "notes list x",
        "help -w x",
    ] {
        assert_eq!(known(&words(&format!("git {command}"))), None, "{command}");
    }
    assert_eq!(known(&words("./git status")), None);
    assert_eq!(known(&words("/usr/bin/git status")), None);
}

#[test]
fn operands_are_paths() {
    let of = |command: &str| known(&words(command)).unwrap();
    let known = of("git diff /etc/passwd /dev/null");
    assert_eq!(known.operands[0].path, "/etc/passwd");
    assert!(of("git branch --list ../x").operands.is_empty());
    for (command, within, operands) in [
        ("git log f", "", &["f"][..]),
        ("git -C sub log f", "sub", &["f"]),
        ("git -C sub -P -C ../x log f g", "sub/../x", &["f", "g"]),
        ("git -C sub -C /abs status", "/abs", &[]),
        ("git -C sub branch -a", "sub", &[]),
    ] {
        let known = of(command);
        assert_eq!(known.within, Path::new(within), "{command}");
        assert_eq!(known.operands.iter().map(|o| o.path.as_str()).collect::<Vec<_>>(), operands, "{command}");
    }
}

/// What prints lines of files that it does not name asks where a rule hides files.
#[test]
fn what_prints_content_is_told_by_its_options() {
    for (line, want) in [
        ("status", false),
        ("diff", true),
        ("diff HEAD~1 -- f", true),
        ("diff --stat", false),
        ("diff --name-only HEAD~3", false),
        ("diff -s", false),
        ("diff --stat -p", true),
        ("diff --stat -U3", true),
        ("diff --name-only --check", true),
        ("log --oneline -20", false),
        ("log --stat --graph", false),
        ("log -p", true),
        ("log -n3 --cc", true),
        ("log -L1,2:f", true),
        ("log -S x", true),
        ("log --word-diff", true),
        ("log --word-diff-regex=x", true),
        ("show", true),
        ("show --stat HEAD", false),
        ("show -s --format=%ci", false),
        ("show -s @~2 HEAD^2", false),
        ("show --stat -p HEAD", true),
        // Of a blob it prints the content all the same.
        ("show --stat main", true),
        ("show -s HEAD:f", true),
        ("show -s HEAD1", true),
        ("show -s @{1}", true),
        // Nor are its options of revisions those of commits alone.
        ("show -s --tags", true),
        ("show --stat --tags", true),
        ("show --name-only HEAD --tags", true),
        ("show -s --remotes", true),
        ("show -s --branches", true),
        ("show -s --all", true),
        ("show -s --glob=tags", true),
        ("show -s --exclude=x --all", true),
        ("show -s -g", true),
        ("show -s --walk-reflogs HEAD", true),
        ("log --stat --tags", false),
        ("stash list", false),
        ("stash show", true),
        ("stash show --stat", false),
        ("reflog", false),
        ("reflog -p", true),
        ("diff-tree HEAD", false),
        ("diff-tree -p HEAD", true),
        ("blame f", false),
        ("grep x", true),
        ("cat-file -p HEAD", true),
        ("cat-file -t HEAD", false),
        ("cat-file -e HEAD:f", false),
        ("cat-file -s HEAD:f", false),
        ("cat-file blob HEAD:f", true),
        ("config --list", true),
        ("branch -a", false),
        ("ls-files", false),
    ] {
        assert_eq!(known(&words(&format!("git {line}"))).map(|known| known.recursive), Some(want), "{line}");
    }
}
