//! Commands in a workspace on the disk: what their words lead to counts.

mod asked;
mod links;
mod unasked;
mod untold;

use std::os::unix::fs::symlink;

use serde_json::json;

use super::*;
use crate::config::Config;
use crate::domain::schema::ToolMutability;
use crate::domain::session::PermissionMode;
use crate::permission::checker::{Flags, JudgedPath, Looked};
use crate::permission::revision::{InForce, Revision};
use crate::workspace::Workspace;

struct Disk {
    _folder: tempfile::TempDir,
    root: PathBuf,
    outside: PathBuf,
}

/// `.env`, `e2` → `.env`, `lock/`, `L2` → `lock`, `.git/hooks`, `g2` → `.git`, `sub/a`, and a folder beside it.
fn disk() -> Disk {
    let folder = tempfile::tempdir().unwrap();
    let real = folder.path().canonicalize().unwrap();
    let (root, outside) = (real.join("ws"), real.join("outside"));
    for path in [root.join("lock"), root.join(".git/hooks"), root.join("sub"), outside.clone()] {
        std::fs::create_dir_all(path).unwrap();
    }
    for path in [root.join(".env"), root.join("sub/a"), root.join("ok.txt"), outside.join("secret")] {
        std::fs::write(path, "x").unwrap();
    }
    for (target, link) in
        [(".env", "e2"), (".env", "e 2"), ("lock", "L2"), (".git", "g2"), ("../e2", "sub/e3")]
    {
        symlink(target, root.join(link)).unwrap();
    }
    Disk { _folder: folder, root, outside }
}

#[derive(Default)]
struct Given<'a> {
    deny: &'a [&'a str],
    allow: &'a [&'a str],
    ask: &'a [&'a str],
    always_ask: &'a [&'a str],
    workdir: Option<&'a str>,
    bypass: bool,
    /// Edits are accepted.
    edits: bool,
    /// What is in force meanwhile; none where the call carries no revision of its own.
    meanwhile: Option<&'a str>,
}

impl Given<'_> {
    async fn judges(&self, disk: &Disk, command: &str) -> &'static str {
        let texts = |rules: &[&str]| rules.iter().map(ToString::to_string).collect();
        let permissions = PermissionsConfig {
            deny: texts(self.deny),
            allow: texts(self.allow),
            ask: texts(self.ask),
            always_ask: texts(self.always_ask),
            ..PermissionsConfig::default()
        };
        let policy = compile(&permissions, &OwnPlaces::default(), &["Bash", "Read", "Edit"]).unwrap();
        let revision = Arc::new(Revision::of(Config::default(), policy));
        let workspace = Arc::new(Workspace::open(&disk.root).unwrap());
        let mut scope = Scope::standalone(Arc::clone(&workspace), "c");
        let nothing = compile(&PermissionsConfig::default(), &OwnPlaces::default(), &[]).unwrap();
        let in_force = InForce::new(Revision::of(Config::default(), nothing));
        match self.meanwhile {
            None => in_force.replace(revision),
            Some(rule) => {
                let other = PermissionsConfig { deny: texts(&[rule]), ..PermissionsConfig::default() };
                let other = compile(&other, &OwnPlaces::default(), &["Bash"]).unwrap();
                in_force.replace(Arc::new(Revision::of(Config::default(), other)));
                scope.revision = Some(revision);
            }
        }
        let checker = PolicyChecker::new(Arc::new(in_force), None, None, true);
        let call = ResolvedCall {
            tool_call_id: "c".to_owned(),
            tool_name: "Bash".to_owned(),
            other_names: Vec::new(),
            arguments: Arc::new(json!({"command": command})),
            mutability: ToolMutability::Mutating,
            concurrency_safe: false,
            touches: vec![Touch::Run {
                command: command.to_owned(),
                directory: self.workdir.map(str::to_owned),
            }],
            repair: None,
        };
        let located = self.workdir.map(|path| workspace.locate(&disk.root, Path::new(path)).unwrap());
        let directory = located.as_ref().map_or(disk.root.clone(), |located| located.real.clone());
        let paths: Vec<JudgedPath> =
            located.into_iter().map(|located| JudgedPath { located, edits: false }).collect();
        let told = crate::permission::Told::default();
        let request = PermissionRequest {
            told: &told,
            looked: Looked::default(),
            call: &call,
            paths: &paths,
            scope: Some(&scope),
            directory: Some(&directory),
            flags: Flags {
                bypass: self.bypass,
                mode: if self.edits { PermissionMode::AcceptEdits } else { PermissionMode::Default },
                someone_there: true,
            },
        };
        let forced = checker.requires_forced_confirmation(&request);
        match checker.check_or_request(&request).await {
            Ok(()) => "allow",
            Err(PermissionError::Denied { .. }) => "deny",
            Err(PermissionError::ConfirmationRequired(_)) if forced => "forced",
            Err(PermissionError::ConfirmationRequired(_)) => "ask",
            Err(PermissionError::Unfit(_)) => "unfit",
        }
    }

    async fn is(&self, disk: &Disk, command: &str, want: &str) {
        assert_eq!(self.judges(disk, command).await, want, "{command:.80}");
    }
}

/// A path that is too long together with the directory, and that the kernel takes.
fn long(end: &str) -> String {
    format!("{}{end}", "./".repeat((4080 - end.len()) / 2))
}

#[tokio::test]
async fn an_operand_that_cannot_be_located_is_not_left_out() {
    let disk = disk();
    let command = format!("cat {}", long("../outside/secret"));
    for workdir in [None, Some("."), Some("sub")] {
        Given { workdir, ..Given::default() }.is(&disk, &command, "ask").await;
        Given { workdir, allow: &["Bash(cat *)"], ..Given::default() }.is(&disk, &command, "ask").await;
        Given { workdir, allow: &["Bash"], ..Given::default() }.is(&disk, &command, "ask").await;
        for deny in ["Read(/none/x)", "Edit(/none/x)"] {
            let given = Given { workdir, deny: &[deny], bypass: true, ..Given::default() };
            given.is(&disk, &command, "forced").await;
        }
    }
    Given { workdir: Some("."), ..Given::default() }.is(&disk, "cat sub/a", "allow").await;
    // A name that no file can have is no path.
    let given = Given { deny: &["Read(/none/x)"], bypass: true, ..Given::default() };
    given.is(&disk, &format!("true; echo {}", "x".repeat(300)), "allow").await;
    let many = (0..2000).map(|n| format!("w{n}")).collect::<Vec<_>>().join(" ");
    given.is(&disk, &format!("true; echo {many}"), "forced").await;
    Given { bypass: true, ..Given::default() }.is(&disk, &format!("true; echo {many}"), "allow").await;
}

#[tokio::test]
async fn a_rule_for_a_command_holds_in_the_workspace_alone() {
    let disk = disk();
    let outside = disk.outside.to_str().unwrap();
    let allow = &["Bash(rm -rf build)"];
    Given { allow, ..Given::default() }.is(&disk, "rm -rf build", "allow").await;
    Given { allow, workdir: Some("sub"), ..Given::default() }.is(&disk, "rm -rf build", "allow").await;
    Given { allow, workdir: Some(outside), ..Given::default() }.is(&disk, "rm -rf build", "ask").await;
    let edit = format!("Edit({outside})");
    let both = &["Bash(rm -rf build)", edit.as_str()];
    Given { allow: both, workdir: Some(outside), ..Given::default() }
        .is(&disk, "rm -rf build", "allow")
        .await;
    Given { allow: &["Bash"], workdir: Some(outside), ..Given::default() }
        .is(&disk, "rm -rf build", "allow")
        .await;
}

#[tokio::test]
async fn words_are_followed_to_where_they_lead() {
    let disk = disk();
    let deny: &[&str] = &["Read(**/.env)", "Edit(lock/**)"];
    let given = Given { deny, bypass: true, ..Given::default() };
    for command in [
        "cp e2 zz",
        "cp 'e 2' zz",
        "true; cp 'e 2' zz",
        "sed -n p e2",
        "true; sed -n p e2",
        "cd sub && sed -n p ../e2",
        "cd sub && sed -n p e3",
        "tee L2/a",
        "true > L2/a",
        "cd L2 && touch a",
        "sed -n p sub/../e2",
    ] {
        given.is(&disk, command, "deny").await;
    }
    given.is(&disk, "cp ok.txt zz", "allow").await;
    for command in
        ["cat .e*", "cat .e?v | head", "cat {.e,x}nv", "cat e[0-9]", "cp ok.txt L?/a", "cat su*/e3"]
    {
        given.is(&disk, command, "forced").await;
    }
    // What a pattern stands for when the command runs is not told now.
    for command in
        ["cat *.txt", "cat .e{n..n}v", "shopt -s extglob; cat .@(env)", "cat $(ls -A)", "cat .e``nv"]
    {
        given.is(&disk, command, "forced").await;
    }
    let ask = Given { always_ask: deny, bypass: true, ..Given::default() };
    ask.is(&disk, "cp e2 zz", "forced").await;
    ask.is(&disk, "tee L2/a", "forced").await;
    let none = Given { bypass: true, ..Given::default() };
    none.is(&disk, "cp ok.txt g2/hooks/pre-commit", "forced").await;
    none.is(&disk, &format!("cp ok.txt {}", long("g2/hooks/pre-commit")), "forced").await;
    none.is(&disk, "cd g2 && cp ../ok.txt hooks/pre-commit", "forced").await;
    none.is(&disk, "cp ok.txt .g*/hooks/x", "forced").await;
    none.is(&disk, "cp ok.txt .g{i..i}t/hooks/x", "forced").await;
    none.is(&disk, "cd .g{h..j}t && touch hooks/x", "forced").await;
    none.is(&disk, "cp e2 zz", "allow").await;
    none.is(&disk, "cat *.txt", "allow").await;
}

#[tokio::test]
async fn what_descends_is_asked_about_where_it_may_meet_what_is_denied() {
    let disk = disk();
    for (bypass, allow) in
        [(true, &[][..]), (false, &["Bash"][..]), (false, &["Bash(tar *)", "Bash(cp *)"][..])]
    {
        let given = Given { deny: &["Read(**/.env)"], bypass, allow, ..Given::default() };
        for command in [
            "grep -r SECRET .",
            "ls -R",
            "true; grep -r SECRET",
            "tar cf - .",
            "tar cf - sub",
            "cp -r . x",
            "cp -r sub x",
            "cat ok.txt | xargs rg SECRET",
        ] {
            given.is(&disk, command, "forced").await;
        }
    }
    let given = Given { deny: &["Read(**/.env)"], bypass: true, ..Given::default() };
    for command in
        ["cd sub && touch b", "git commit -m 'in sub and lock'", "cp ok.txt b", "ls sub", "mkdir sub"]
    {
        given.is(&disk, command, "allow").await;
    }
    let elsewhere = format!("Read({}/**)", disk.outside.display());
    let given = Given { deny: &[&elsewhere], bypass: true, ..Given::default() };
    given.is(&disk, "tar cf - sub", "allow").await;
    given.is(&disk, "tar cf - ../outside", "deny").await;
    given.is(&disk, "tar cf - ..", "forced").await;
    for command in ["grep -r SECRET .", "tar cf - .", "cp -r . x"] {
        Given { bypass: true, ..Given::default() }.is(&disk, command, "allow").await;
    }
    let given = Given { deny: &["Edit(lock/x)"], bypass: true, ..Given::default() };
    given.is(&disk, "cp -r sub lock", "forced").await;
    given.is(&disk, "cp -r lock sub", "forced").await;
    given.is(&disk, "cp ok.txt sub", "allow").await;
}

/// A word that names a directory is looked at for what lies there now.
#[tokio::test]
async fn a_directory_asks_where_what_is_denied_lies_in_it_now() {
    let disk = disk();
    for name in ["build", "src/deep", "tests", "docs"] {
        std::fs::create_dir_all(disk.root.join(name)).unwrap();
        std::fs::write(disk.root.join(name).join("f"), "x").unwrap();
    }
    symlink("deep", disk.root.join("src/inner")).unwrap();
    symlink("../ok.txt", disk.root.join("src/file")).unwrap();
    let rules = ["Read(**/.env)", "Read(secrets/**)", "Edit(**/*.lock)"];
    let allow = ["Bash(npm *)", "Bash(cp *)", "Bash(tar *)"];
    let daily = [
        "npm run build",
        "cargo build 2>&1 | tail -5",
        "make build",
        "make -C build",
        "make -kC build --directory=docs all",
        "pytest tests",
        "ruff check src",
        "rm -rf build",
        "cp -r src build/src",
        "mv docs x",
        "tar czf o.tgz src",
        "prettier --write src",
        "cmake --build build",
        "cd src && tar czf ../o.tgz deep",
        "timeout 60 make build; echo done",
    ];
    for rule in &rules {
        let rule = [*rule];
        let given = Given { deny: &rule, allow: &allow, bypass: true, ..Given::default() };
        for command in daily {
            given.is(&disk, command, "allow").await;
        }
    }
    let given = Given { deny: &rules, allow: &allow, ..Given::default() };
    given.is(&disk, "tar czf o.tgz src", "allow").await;
    let given = Given { bypass: true, ..given };
    // What another command of the text may put there is not there yet.
    for command in [
        "tar xf a.tar && make build",
        "make build & tar xf a.tar",
        "sh -c 'tar xf a.tar; tar cf - build'",
        "foo sh -c 'tar xf a.tar; tar cf - build'",
        "sg root -c 'tar xf a.tar; tar cf - build'",
        "git checkout b; tar cf - src",
    ] {
        given.is(&disk, command, "forced").await;
    }
    for (at, target) in [
        ("build/deep/.env", None),
        ("build/deep/x.lock", None),
        ("build/link", Some("../.env")),
        ("build/link", Some("../sub")),
        ("build/link", Some("../../outside")),
        ("build/link", Some("nowhere")),
    ] {
        let path = disk.root.join(at);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        match target {
            None => std::fs::write(&path, "x").unwrap(),
            Some(target) => symlink(target, &path).unwrap(),
        }
        for command in
            ["make build", "make -C build", "npm test build", "tar cf - build", "timeout 5 cp -r build x"]
        {
            given.is(&disk, command, "forced").await;
        }
        std::fs::remove_file(&path).unwrap();
        given.is(&disk, "make build", "allow").await;
    }
    // A rule that names the place counts for what is made there, too.
    let given = Given { deny: &["Edit(build/keep)"], bypass: true, ..Given::default() };
    given.is(&disk, "make build", "forced").await;
    given.is(&disk, "make tests", "allow").await;
}

#[tokio::test]
async fn a_call_is_judged_by_the_revision_that_it_carries() {
    let disk = disk();
    let given = Given { allow: &["Bash(make *)"], meanwhile: Some("Bash(make *)"), ..Given::default() };
    given.is(&disk, "make all", "allow").await;
    Given { meanwhile: Some("Bash(make *)"), ..Given::default() }.is(&disk, "make all", "ask").await;
    let given = Given { always_ask: &["Bash(make *)"], meanwhile: Some("Bash(make *)"), ..Given::default() };
    given.is(&disk, "make all", "forced").await;
}

#[tokio::test]
async fn the_longest_command_is_judged_within_bounds() {
    let disk = disk();
    let words = (0..18_000).map(|n| format!("{n:x}/x")).collect::<Vec<_>>().join(" ");
    let moves = "cd d;".repeat(8);
    let command = format!("{moves} {words} 'x'");
    assert!(command.len() > 100_000 && command.len() < 131_072, "{}", command.len());
    let given = Given { deny: &["Read(**/.env)"], bypass: true, ..Given::default() };
    let begun = std::time::Instant::now();
    given.is(&disk, &command, "forced").await;
    assert!(begun.elapsed() < std::time::Duration::from_secs(20), "{:?}", begun.elapsed());
}

/// Git passes by a `.git` that is no repository, and goes to others from within one: their settings are not those
/// that were looked at.
#[tokio::test]
async fn only_the_repository_that_git_finds_counts() {
    let disk = disk();
    let repository = |at: &str, settings: &str| {
        let git = disk.root.join(at);
        for name in ["objects", "refs"] {
            std::fs::create_dir_all(git.join(name)).unwrap();
        }
        std::fs::write(git.join("HEAD"), "ref: refs/heads/main\n").unwrap();
        std::fs::write(git.join("config"), settings).unwrap();
    };
    let bare = Given::default();
    bare.is(&disk, "git status", "ask").await;
    repository(".git", "");
    bare.is(&disk, "git status", "allow").await;
    bare.is(&disk, "cd sub && git status", "allow").await;
    bare.is(&disk, "cd .git && git status", "ask").await;
    for link in [".git/BISECT_START", ".git/objects/aa", ".git/rebase-merge/done"] {
        std::fs::create_dir_all(disk.root.join(link).parent().unwrap()).unwrap();
        symlink("/etc/hostname", disk.root.join(link)).unwrap();
        bare.is(&disk, "git status", "ask").await;
        std::fs::remove_file(disk.root.join(link)).unwrap();
        bare.is(&disk, "git status", "allow").await;
    }
    std::fs::create_dir_all(disk.root.join(".git/hooks")).unwrap();
    std::fs::write(disk.root.join("hook"), "#!/bin/sh\n").unwrap();
    symlink("../../hook", disk.root.join(".git/hooks/pre-commit")).unwrap();
    bare.is(&disk, "git status", "allow").await;
    // Anything else may be a reference, or the way to one.
    for target in ["../../sub/a", "../../sub", "/bin/sh", "nowhere"] {
        symlink(target, disk.root.join(".git/hooks/x")).unwrap();
        bare.is(&disk, "git status", "ask").await;
        std::fs::remove_file(disk.root.join(".git/hooks/x")).unwrap();
    }
    repository(".git/modules/m", "[filter \"x\"]\n\tclean = x\n");
    bare.is(&disk, "cd .git/modules/m && git status", "ask").await;
    bare.is(&disk, "cd .git/worktrees/w && git status", "ask").await;
    repository("sub/.git", "");
    bare.is(&disk, "cd sub && git status", "allow").await;
    for (name, head) in
        [("HEAD", "ref: refs/heads/main"), ("HEAD", "0123456789012345678901234567890123456789\n")]
    {
        std::fs::write(disk.root.join("sub/.git").join(name), head).unwrap();
        bare.is(&disk, "cd sub && git status", "allow").await;
    }
    // Another directory counts as a `cd` there does.
    std::fs::create_dir(disk.root.join("other")).unwrap();
    std::fs::create_dir(disk.outside.join(".git")).unwrap();
    symlink("other", disk.root.join("o2")).unwrap();
    for (command, want) in [
        ("git -C sub status", "allow"),
        ("git -C sub -C .. log -- ok.txt", "allow"),
        ("git -C ./other --no-pager diff | head", "allow"),
        ("cd other && git -C ../sub status; git -C . status", "allow"),
        ("git -C .. status", "ask"),
        ("git -C ../outside status", "ask"),
        ("git -C sub -C ../.. status", "ask"),
        ("git -C o2 status", "ask"),
        ("git -C .git status", "ask"),
        ("git -C .git/modules/m status", "ask"),
        ("git -C sub log -- ../../outside/secret", "ask"),
        ("git -C sub diff ../g2/config", "allow"),
        ("mkdir other2 && git -C other2 status", "ask"),
    ] {
        bare.is(&disk, command, want).await;
    }
    bare.is(&disk, &format!("git -C {} status", disk.root.join("sub").display()), "allow").await;
    bare.is(&disk, &format!("git -C {} status", disk.outside.display()), "ask").await;
    let lost = |name: &str| disk.root.join("sub/.git").join(name);
    for head in ["", "x", "ref: heads/main", "0123", " ref: refs/heads/main"] {
        std::fs::write(lost("HEAD"), head).unwrap();
        bare.is(&disk, "cd sub && git status", "ask").await;
    }
    repository("sub/.git", "");
    for name in ["objects", "refs"] {
        std::fs::remove_dir(lost(name)).unwrap();
        bare.is(&disk, "cd sub && git status", "ask").await;
        std::fs::write(lost(name), "").unwrap();
        bare.is(&disk, "cd sub && git status", "ask").await;
        std::fs::remove_file(lost(name)).unwrap();
        symlink("../../.git/objects", lost(name)).unwrap();
        bare.is(&disk, "cd sub && git status", "ask").await;
        std::fs::remove_file(lost(name)).unwrap();
        repository("sub/.git", "");
    }
    bare.is(&disk, "cd sub && git status", "allow").await;
}

/// Operands behind `git -C` are those of its directory, for whoever denies one and for what is protected.
#[tokio::test]
async fn operands_of_git_count_from_its_directory() {
    let disk = disk();
    for name in ["objects", "refs"] {
        std::fs::create_dir_all(disk.root.join(".git").join(name)).unwrap();
    }
    std::fs::write(disk.root.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
    let denies = Given { deny: &["Read(sub/a)"], ..Given::default() };
    for command in ["git -C sub log a", "git -C sub blame -- a", "git --no-pager -C sub log ./a", "cat sub/a"]
    {
        denies.is(&disk, command, "deny").await;
    }
    for bypass in [false, true] {
        let given = Given { bypass, ..Given::default() };
        given.is(&disk, "git --no-pager log -- AGENTS.md", "allow").await;
        given.is(&disk, "git -C sub diff -- .vscode", "allow").await;
        given.is(&disk, "git -C sub rm AGENTS.md", "forced").await;
    }
}

/// `rm -r` of the workspace by a way that leads there through a link.
#[tokio::test]
async fn a_removal_goes_by_where_it_leads() {
    let disk = disk();
    std::fs::create_dir_all(disk.root.join("sub/deep")).unwrap();
    symlink("sub/deep", disk.root.join("far")).unwrap();
    let given = Given { bypass: true, ..Given::default() };
    for (command, want) in [
        ("rm -rf far/../../../ws", "forced"),
        ("cd far && rm -rf ../../../ws", "forced"),
        ("rm -rf $X far/../../../ws", "forced"),
        ("rm -rf far/../../../w*", "forced"),
        ("rm -rf far/../deep", "allow"),
        ("rm -rf far", "allow"),
        ("cd far && rm -rf ../../sub", "allow"),
    ] {
        given.is(&disk, command, want).await;
    }
}

/// `cargo --version` runs what a file in the workspace or above it chooses; without one it only prints.
#[tokio::test]
async fn a_version_is_told_unasked_where_no_file_chooses_the_program() {
    let disk = disk();
    let given = Given { allow: &["Bash(cp *)"], ..Given::default() };
    given.is(&disk, "cargo --version && cd sub && rustc -V 2>&1 | head -1", "allow").await;
    given.is(&disk, "cargo --version; git --version; cat ok.txt", "allow").await;
    // Some go upwards from where the shell says that it is.
    symlink("../lock", disk.root.join("sub/lk")).unwrap();
    let cd = Given { allow: &["Bash(cd *)"], ..Given::default() };
    cd.is(&disk, "cd sub/lk && cargo --version", "ask").await;
    cd.is(&disk, "cd lock && cargo --version", "allow").await;
    // What the text itself makes may choose.
    for (command, want) in [
        ("echo x > rust-toolchain && cargo --version", "forced"),
        ("cp a rust-toolchain.toml; cargo --version", "forced"),
        ("cp a package.json; node --version", "ask"),
        ("cd ../outside && cargo --version", "ask"),
        ("cargo --version --list", "ask"),
        ("mkdir mise && cargo --version", "ask"),
    ] {
        given.is(&disk, command, want).await;
    }
    for name in ["rust-toolchain", "rust-toolchain.toml", ".tool-versions", "mise.toml", ".config/mise.toml"]
    {
        for directory in ["sub", ".", ".."] {
            let file = disk.root.join(directory).join(name);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(&file, "x").unwrap();
            given.is(&disk, "cd sub && cargo --version", "ask").await;
            std::fs::remove_file(&file).unwrap();
            symlink("nowhere", &file).unwrap();
            given.is(&disk, "cd sub && rustc --version", "ask").await;
            std::fs::remove_file(&file).unwrap();
        }
        given.is(&disk, "cd sub && cargo --version", "allow").await;
    }
}

/// The same for other languages, each of which has files of its own.
#[tokio::test]
async fn each_language_has_its_choosers() {
    let disk = disk();
    let given = Given::default();
    let all = "python3 --version; node -v && cd sub && rustup --version && rustc -vV";
    given.is(&disk, all, "allow").await;
    for (name, content, commands) in [
        (".python-version", "x", &["python3 --version", "python -V"][..]),
        ("pyproject.toml", "[tool.rye]\nmanaged = true\n", &["python --version"]),
        (".node-version", "x", &["node --version"]),
        (".nvmrc", "x", &["node -v"]),
        (".volta/hooks.json", "{}", &["node -v"]),
        ("package.json", "{\"volta\": {}}", &["node -v"]),
        (".tool-versions", "x", &["python3 --version", "node -v", "rustup --version"]),
        ("rust-toolchain", "x", &["rustup -V", "rustc --version --verbose"]),
    ] {
        for directory in ["sub", ".", ".."] {
            let file = disk.root.join(directory).join(name);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(&file, content).unwrap();
            for command in commands {
                given.is(&disk, &format!("cd sub && {command}"), "ask").await;
            }
            std::fs::remove_file(&file).unwrap();
            symlink("nowhere", &file).unwrap();
            given.is(&disk, &format!("cd sub && {}", commands[0]), "ask").await;
            std::fs::remove_file(&file).unwrap();
            if file.parent() != Some(&disk.root.join(directory)) {
                std::fs::remove_dir(file.parent().unwrap()).unwrap();
            }
        }
        given.is(&disk, all, "allow").await;
    }
    for (name, content) in [("package.json", "{\"name\": \"x\"}"), ("pyproject.toml", "[project]\n")] {
        std::fs::write(disk.root.join(name), content).unwrap();
    }
    given.is(&disk, all, "allow").await;
}

/// What only git knows how to name, and variables that leave it as it is.
#[tokio::test]
async fn git_reads_by_its_own_names() {
    let disk = disk();
    for name in ["objects", "refs"] {
        std::fs::create_dir_all(disk.root.join(".git").join(name)).unwrap();
    }
    std::fs::write(disk.root.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
    let none = Given::default();
    for (command, want) in [
        ("git diff HEAD@{1}", "allow"),
        ("git log --oneline @{u}..HEAD", "allow"),
        ("git show stash@{0} v1^{commit} v1^{}", "allow"),
        ("git diff HEAD@{1,2}", "ask"),
        ("git diff HEAD@{1..2}", "ask"),
        ("git diff HEAD@{1}{a,b}", "ask"),
        ("git diff x{1}", "ask"),
        ("git diff @{a@{1},b}", "ask"),
        ("git diff HEAD@{1\"\",2}", "ask"),
        ("GIT_PAGER= git diff", "allow"),
        ("GIT_PAGER=cat git diff |& head", "allow"),
        ("GIT_OPTIONAL_LOCKS=0 git status", "allow"),
        ("GIT_OPTIONAL_LOCKS=1 git status", "ask"),
        ("GIT_PAGER=./x git diff", "ask"),
        ("git config user.email", "allow"),
        ("git config --get-regexp '^remote'", "allow"),
        ("git config --show-origin --list", "allow"),
        ("git config --global --list", "ask"),
        ("git config --global user.email", "ask"),
        ("git config user.email x", "forced"),
        ("git config user.email ''", "forced"),
        ("timeout 5 git config --list", "allow"),
        ("git --git-dir=.git log", "ask"),
        ("git --git-dir .git --work-tree=. status", "ask"),
        ("git --git-dir=.git config a.b c", "forced"),
        ("git --git-dir=.git checkout x", "forced"),
        ("grep -rnE x . --exclude-dir={.git,.venv}", "ask"),
        ("grep -rnE x . > {.git,.venv}", "forced"),
    ] {
        none.is(&disk, command, want).await;
    }
}

/// What is made counts by where it leads.
#[tokio::test]
async fn what_is_made_counts_by_where_it_leads() {
    let disk = disk();
    symlink("../outside", disk.root.join("out")).unwrap();
    let given = Given { edits: true, ..Given::default() };
    for (command, want) in [
        ("mkdir -p build/x && echo a > build/x/a", "allow"),
        ("mkdir new -- other", "allow"),
        ("mkdir out/x", "ask"),
        ("mkdir g2/x", "forced"),
        ("mkdir -p g2/hooks/pre-commit", "forced"),
        ("mkdir .claude", "forced"),
        ("mkdir -p x/../.git/y", "forced"),
        ("mkdir ../outside/y", "ask"),
        ("touch new", "ask"),
    ] {
        given.is(&disk, command, want).await;
    }
    let denies = Given { edits: true, deny: &["Edit(lock/**)"], ..Given::default() };
    for command in ["mkdir lock/x", "mkdir -p L2/x"] {
        denies.is(&disk, command, "deny").await;
        Given { bypass: true, deny: &["Edit(lock/**)"], ..Given::default() }.is(&disk, command, "deny").await;
    }
}

/// What git has kept of files is content like that of the files.
#[tokio::test]
async fn git_shows_no_content_that_a_rule_hides() {
    let disk = disk();
    for name in [".git/objects", ".git/refs"] {
        std::fs::create_dir_all(disk.root.join(name)).unwrap();
    }
    std::fs::write(disk.root.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
    let given = |bypass: bool| Given { deny: &["Read(**/.env)"], bypass, ..Given::default() };
    for (command, usual, bypass) in [
        ("git status", "allow", "allow"),
        ("git log --oneline -20", "allow", "allow"),
        ("git diff --stat | cat", "allow", "allow"),
        ("git blame sub/a", "allow", "allow"),
        ("git log --oneline -5 -- sub", "allow", "allow"),
        ("git -C . log --oneline -3", "allow", "allow"),
        ("git ls-files sub", "allow", "allow"),
        ("git log -p -- sub", "forced", "forced"),
        ("git diff", "forced", "forced"),
        ("git diff HEAD~1 -- sub", "forced", "forced"),
        ("git log -p", "forced", "forced"),
        ("git show HEAD", "forced", "forced"),
        ("git -C sub diff", "forced", "forced"),
        ("x=1; git diff $x", "forced", "forced"),
        ("git show HEAD:.env", "deny", "deny"),
        ("git blame .env", "deny", "deny"),
    ] {
        given(false).is(&disk, command, usual).await;
        given(true).is(&disk, command, bypass).await;
    }
    Given::default().is(&disk, "git diff", "allow").await;
}

#[tokio::test]
async fn where_nothing_hidden_lies_beneath_a_search_runs_unasked() {
    let disk = disk();
    std::fs::create_dir_all(disk.root.join("src/deep/er")).unwrap();
    std::fs::write(disk.root.join("src/deep/er/main.rs"), "x").unwrap();
    symlink("../.env", disk.root.join("src/link")).unwrap();
    let given = Given { deny: &["Read(**/.env)"], ..Given::default() };
    for command in [
        "rg -n Foo src",
        "grep -rn x src | head -3",
        "find src -name '*.rs'",
        "cd src && rg --files",
        "cd src && find . -type f | wc -l",
        "timeout 5 rg x src",
        "ls -R src sub",
        "tree src; du -sh src",
        "rg x ok.txt src",
        "grep -rn x ok.txt",
    ] {
        given.is(&disk, command, "allow").await;
    }
    // With a rule for the program it is the same.
    let ruled = Given { allow: &["Bash(rg *)"], ..given };
    ruled.is(&disk, "rg -n Foo src", "allow").await;
    let given = Given { deny: &["Read(**/.env)"], ..Given::default() };
    for command in
        ["rg -n Foo", "rg x .", "rg x src .", "find . -name x", "du", "rg x src; ls -R", "tar cf - src"]
    {
        given.is(&disk, command, "forced").await;
    }
    given.is(&disk, "rg x src - not-there", "allow").await;
    // What the text itself may put there first is not there yet.
    let ruled = Given { allow: &["Bash(tar *)", "Bash(rg *)", "Bash(git *)"], ..Given::default() };
    let ruled = Given { deny: &["Read(**/.env)"], ..ruled };
    let bypass = Given { deny: &["Read(**/.env)"], bypass: true, ..Given::default() };
    for command in [
        "tar xf b.tar; rg x src",
        "git checkout -q b && rg x src",
        "rg x src & tar xf a.tar",
        "rg x src; tar xf a.tar",
    ] {
        ruled.is(&disk, command, "forced").await;
        bypass.is(&disk, command, "forced").await;
    }
    given.is(&disk, "rg x src > /dev/null 2>&1; echo done", "allow").await;
    given.is(&disk, "rg x .env", "deny").await;
    std::fs::write(disk.root.join("src/deep/er/.env"), "x").unwrap();
    for command in ["rg -n Foo src", "cd src && rg --files", "timeout 5 rg x src"] {
        given.is(&disk, command, "forced").await;
    }
    for command in ["rg x src/link", "rg x sub", "cat src/deep/er/main.rs"] {
        let want = if command.ends_with("link") { "deny" } else { "allow" };
        given.is(&disk, command, want).await;
    }
}

#[tokio::test]
async fn a_tree_that_is_too_large_to_look_through_asks() {
    let disk = disk();
    let many = disk.root.join("many");
    std::fs::create_dir(&many).unwrap();
    for number in 0..20_001 {
        std::fs::write(many.join(number.to_string()), "").unwrap();
    }
    let given = Given { deny: &["Read(**/.env)"], ..Given::default() };
    given.is(&disk, "rg x many", "forced").await;
    std::fs::remove_file(many.join("0")).unwrap();
    given.is(&disk, "rg x many", "allow").await;
    // Where nothing that the rule speaks of can lie, nothing is looked through.
    std::fs::write(many.join("0"), "").unwrap();
    let given = Given { deny: &["Read(./lock/**)"], ..Given::default() };
    given.is(&disk, "rg x many", "allow").await;
    given.is(&disk, "rg x .", "forced").await;
}

#[tokio::test]
async fn a_way_through_the_links_of_a_process_is_not_told() {
    let disk = disk();
    symlink("/proc/self/cwd", disk.root.join("pc")).unwrap();
    symlink("/proc/self", disk.root.join("ps")).unwrap();
    symlink("/proc/self/fd", disk.root.join("fd")).unwrap();
    let ways = [
        "cat /dev/fd/../cwd/lock/x",
        "cat /tmp/../proc/self/cwd/lock/x",
        "cat pc/lock/x",
        "cat ps/cwd/lock/x",
        "cat fd/../cwd/lock/x",
        "cat < fd/../cwd/lock/x",
        "echo x > /dev/fd/../cwd/lock/x",
        "cat /proc/thread-self/cwd/lock/x",
        "cp /dev/fd/../cwd/lock/x y",
    ];
    let given = Given { deny: &["Read(./lock/**)"], bypass: true, ..Given::default() };
    for command in ways {
        given.is(&disk, command, "forced").await;
    }
    for command in ways {
        Given::default().is(&disk, command, "ask").await;
    }
    given.is(&disk, "cat ok.txt > /dev/stderr", "allow").await;
    given.is(&disk, "cat ok.txt 2> /dev/null", "allow").await;
}

#[tokio::test]
async fn a_dash_is_a_file_to_programs_that_take_it_so() {
    let disk = disk();
    let outside = disk.outside.join("secret");
    for command in ["hexdump -C -", "rev -", "ls -", "ls -a -- -", "realpath -", "rev - ok.txt", "df -"] {
        Given::default().is(&disk, command, "allow").await;
    }
    symlink(&outside, disk.root.join("-")).unwrap();
    for command in ["hexdump -C -", "rev -", "ls -", "ls -a -- -", "realpath -", "rev - ok.txt", "df -"] {
        Given::default().is(&disk, command, "ask").await;
    }
    std::fs::remove_file(disk.root.join("-")).unwrap();
    symlink(".env", disk.root.join("-")).unwrap();
    let given = Given { deny: &["Read(**/.env)"], allow: &["Bash(cp *)"], ..Given::default() };
    for command in ["rev -", "cp - out.txt", "cp ok.txt -", "true; cp - out.txt"] {
        given.is(&disk, command, "deny").await;
    }
}

#[tokio::test]
async fn names_that_the_text_does_not_tell_are_asked_about_where_rules_speak_of_paths() {
    let disk = disk();
    let home = format!("Read({}/**)", disk.outside.display());
    for deny in ["Read(./lock/**)", "Edit(lock/**)", &home] {
        let given = Given { deny: &[deny], bypass: true, ..Given::default() };
        for command in [
            "D=lock; cat $D/x",
            "cat ~root/x",
            "x=1; cat < $f",
            "cat .e$(:)nv",
            "for i in 1 2; do echo $i; done",
            "source <(printf 'cat lo%sk/x' c)",
            "printf 'cat lo%sk/x' c | sh",
            "python3 -c 'print(1)'",
            "ls -A | xargs cat",
            "xargs cat <<< .env",
            "printf x > n; sort --files0-from=n",
            "tar cf o -T n",
            "git add --pathspec-from-file=n",
        ] {
            given.is(&disk, command, "forced").await;
        }
        for command in ["echo a | xargs echo", "sort ok.txt", "npm install @types/node", "sh -c 'echo a'"] {
            given.is(&disk, command, "allow").await;
        }
    }
    // Without rules for paths bypass is what it says.
    let given = Given { bypass: true, ..Given::default() };
    for command in ["D=lock; cat $D/x", "ls -A | xargs cat"] {
        given.is(&disk, command, "allow").await;
    }
}

#[tokio::test]
async fn a_program_counts_by_what_it_leads_to() {
    let disk = disk();
    for (target, link) in [("/usr/bin/curl", "c"), ("c", "d"), ("/bin/sh", "s"), ("ok.txt", "o")] {
        symlink(target, disk.root.join(link)).unwrap();
    }
    let denies = Given { deny: &["Bash(curl *)"], allow: &["Bash"], bypass: true, ..Given::default() };
    for (command, want) in [
        ("./c --version", "deny"),
        ("./d x", "deny"),
        ("cd sub && ../c x", "deny"),
        ("sudo ./c x", "deny"),
        ("foo ./c x", "forced"),
        ("./s -c 'X=r; ${X}m x'", "forced"),
        ("./o x", "allow"),
    ] {
        assert_eq!(denies.judges(&disk, command).await, want, "{command}");
    }
}

/// Whoever writes the rules may know a directory by another name than the one that it has.
#[tokio::test]
async fn an_absolute_rule_holds_for_what_its_path_leads_to() {
    let disk = disk();
    let link = disk.outside.join("to ws");
    symlink(&disk.root, &link).unwrap();
    for end in ["lock/**", "lock/", "lock/*", "**/lock/x", "loc?/x"] {
        let rule = format!("Read({}/{end})", link.display());
        let double = format!("Read(/{}/{end})", link.display());
        for rule in [rule, double] {
            let given = Given { deny: &[&rule], ..Given::default() };
            given.is(&disk, "cat lock/x", "deny").await;
            given.is(&disk, "cat ok.txt", "allow").await;
            Given { always_ask: &[&rule], ..Given::default() }.is(&disk, "cat lock/x", "forced").await;
            Given { allow: &[&rule], ..Given::default() }.is(&disk, "cat lock/x", "allow").await;
        }
    }
    let rule = format!("Edit({}/not/there)", link.display());
    let given = Given { deny: &[&rule], bypass: true, ..Given::default() };
    given.is(&disk, "echo x > not/there", "deny").await;
}
