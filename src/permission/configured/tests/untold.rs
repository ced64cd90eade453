//! Files that a command takes without their names: by patterns of git, or because it is told no place.

use super::*;

/// An index that names these files (gitformat-index(5), version 2).
fn index(names: &[&str]) -> Vec<u8> {
    let mut bytes = b"DIRC\0\0\0\x02".to_vec();
    bytes.extend(u32::try_from(names.len()).unwrap().to_be_bytes());
    for name in names {
        let mut entry = vec![0; 24];
        entry.extend(0o100_644_u32.to_be_bytes());
        entry.extend([0; 12 + 20]);
        entry.extend(u16::try_from(name.len()).unwrap().to_be_bytes());
        entry.extend(name.as_bytes());
        let padded = (entry.len() + 8) / 8 * 8;
        entry.resize(padded, 0);
        bytes.extend(entry);
    }
    bytes.extend([0; 20]);
    bytes
}

/// A repository that tracks `lock/f`, `conf/f` and `sub/a`.
fn repository() -> Disk {
    let disk = disk();
    for name in [".git/objects", ".git/refs", "conf"] {
        std::fs::create_dir_all(disk.root.join(name)).unwrap();
    }
    std::fs::write(disk.root.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
    std::fs::write(disk.root.join(".git/config"), "").unwrap();
    std::fs::write(disk.root.join(".git/index"), index(&["conf/f", "lock/f", "sub/a"])).unwrap();
    disk
}

const BY_PATTERN: &[&str] = &[
    "git rm 'lock*/f'",
    "git rm 'loc[k]/f'",
    "git rm 'loc\\k/f'",
    "git rm ':/lock/f'",
    "git rm ':(top)lock/f'",
    "git rm ':(icase)LOCK/F'",
    "git rm ':(glob)lock/**'",
    "git rm -r ':!a.txt'",
    "git rm -r ':^a.txt'",
    "git --icase-pathspecs rm LOCK/F",
    "git clean -fdx -- 'lock*'",
    "git restore 'loc*/f'",
    "git checkout HEAD -- 'loc*'",
    "git restore ':/lock'",
    "git -C sub restore '../lo*'",
    "cd sub && git restore ':/lock'",
    "sudo git rm 'lock*/f'",
    "git co 'lock*'",
    "git checkout HEAD --pathspec-from-file=ok.txt",
];

const WITHOUT_A_PLACE: &[&str] = &[
    "git clean -fdx",
    "git clean -fdx -e x",
    "git clean -ffdxq",
    "git stash -uq",
    "git stash -aq",
    "git stash push --include-untracked",
    "find -name f -delete",
    "find -type f -newer ok.txt -delete",
    "find -name f -exec rm {} +",
    "find -name f -exec truncate -s0 {} ';'",
];

const OF_TRACKED_FILES: &[&str] = &[
    "git reset --hard",
    "git reset --hard HEAD~1",
    "cd sub && git reset -q --hard",
    "git checkout -f",
    "git switch -f main",
    "git stash",
    "git stash push -m x",
    "git sparse-checkout set sub",
    "git -C sub reset --hard",
];

#[tokio::test]
async fn what_git_and_find_take_without_a_name_counts_where_rules_speak_of_it() {
    let disk = repository();
    let all = || BY_PATTERN.iter().chain(WITHOUT_A_PLACE).chain(OF_TRACKED_FILES);
    let rules: &[&str] = &["Edit(lock/**)"];
    for command in all() {
        Given { deny: rules, bypass: true, ..Given::default() }.is(&disk, command, "forced").await;
        Given { always_ask: rules, bypass: true, ..Given::default() }.is(&disk, command, "forced").await;
        let allow: &[&str] = &["Bash(git *)", "Bash(find *)"];
        Given { deny: rules, allow, ..Given::default() }.is(&disk, command, "forced").await;
        Given { bypass: true, ..Given::default() }.is(&disk, command, "allow").await;
    }
    for command in ["cd sub && git clean -fdxq", "cd sub && find -name '*.yml' -delete"] {
        Given { deny: &["Edit(**/deploy.yml)"], bypass: true, ..Given::default() }
            .is(&disk, command, "forced")
            .await;
        Given { deny: rules, bypass: true, ..Given::default() }.is(&disk, command, "allow").await;
    }
    for command in WITHOUT_A_PLACE {
        Given { deny: &["Read(**/.env)"], bypass: true, ..Given::default() }
            .is(&disk, command, "forced")
            .await;
    }
}

#[tokio::test]
async fn what_is_done_every_day_does_not_ask_for_what_it_leaves_alone() {
    let disk = repository();
    let given = Given { deny: &["Edit(lock/**)"], bypass: true, ..Given::default() };
    for command in [
        "git add '*.rs'",
        "git add -A",
        "git commit -qam 'all of [x]: *'",
        "git log -- '*.rs'",
        "git diff -- ':!Cargo.lock'",
        "git ls-files '*.md'",
        "git restore 'sub/*'",
        "git rm 'sub/*.rs'",
        "git checkout main",
        "git switch -c x",
        "git pull",
        "git stash pop",
        "git stash list",
        "git clean -nfdx",
        "git clean -fdx sub",
        "git reset --soft HEAD~1",
        "git merge main",
        "git rebase main",
        "git push origin ':x'",
        "git tag -l 'v*'",
        "find -name '*.rs'",
        "find sub -name a -delete",
    ] {
        given.is(&disk, command, "allow").await;
    }
    // Nothing that is tracked is spoken of.
    let untracked = Given { deny: &["Read(**/.env)"], bypass: true, ..Given::default() };
    for command in ["git reset --hard", "git stash", "git checkout -f main"] {
        untracked.is(&disk, command, "allow").await;
    }
    std::fs::write(disk.root.join(".git/index"), "no index").unwrap();
    untracked.is(&disk, "git reset --hard", "forced").await;
    for command in
        ["git log -- '*.rs'", "git diff -- ':!Cargo.lock'", "git ls-files '*.md'", "find -name '*.rs'"]
    {
        std::fs::remove_file(disk.root.join(".git/index")).ok();
        Given::default().is(&disk, command, "allow").await;
    }
}

#[tokio::test]
async fn a_pattern_of_git_that_may_be_a_protected_name_asks() {
    let disk = repository();
    let none = Given { bypass: true, ..Given::default() };
    for command in [
        "git checkout HEAD~1 -- '.husk*'",
        "git rm -rq '.husk*'",
        "git restore ':(icase).HUSKY/x'",
        "git -C sub rm 'AGENTS.m?'",
        "git rm .husk*",
        "shopt -s extglob\ncp ok.txt .@(git|x)/hooks/y",
    ] {
        none.is(&disk, command, "forced").await;
    }
    for command in ["git add '.husk*'", "git rm -rq 'src/*.rs'", "git checkout -- '*.rs'", "git rm -r ."] {
        none.is(&disk, command, "allow").await;
    }
}

/// What words hold behind marks that programs know is a path, too.
#[tokio::test]
async fn labels_and_local_addresses_hide_no_path() {
    let disk = disk();
    let given = Given { deny: &["Read(**/.env)", "Read(lock/**)"], bypass: true, ..Given::default() };
    for command in [
        "gh release upload v1 '.env#label'",
        "aws s3api put-object --body fileb://lock/k",
        "aws lambda invoke --payload=file://lock/k out",
    ] {
        given.is(&disk, command, "deny").await;
    }
    for command in ["gh release upload v1 'a.tgz#label'", "curl https://lock/k", "gh issue view '#12'"] {
        given.is(&disk, command, "allow").await;
    }
}

/// So many copies by which a text makes names, each of several files.
fn padding(copies: usize, names: impl Fn(usize) -> usize) -> String {
    let copy = |number: usize| {
        let files: Vec<String> =
            (0..100).map(|file| format!("f{}", names(number * 100 + file) % 7_000)).collect();
        format!("cp -S x 'f g' {}; ", files.join(" "))
    };
    format!("make \"rsync x\n{}\"; ", (0..copies).map(copy).collect::<String>())
}

#[tokio::test]
async fn what_names_there_are_many_of_hides_none() {
    let disk = disk();
    let given = Given { deny: &["Read(**/.env)"], bypass: true, ..Given::default() };
    for command in ["sed -n '1r.env' ok.txt", "sed -n 'w.env' ok.txt", "gunzip -kf .env.gz"] {
        given.is(&disk, command, "deny").await;
        // There are more than are looked at, of the same or of others.
        given.is(&disk, &(padding(15, |file| file % 7) + command), "forced").await;
        given.is(&disk, &(padding(15, |file| file) + command), "forced").await;
    }
}

#[tokio::test]
async fn more_copied_words_than_are_looked_at_ask() {
    let disk = disk();
    let given = Given { bypass: true, ..Given::default() };
    let copies = |files: usize| {
        let mut names: Vec<String> = (0..files).map(|file| format!("f{file}")).collect();
        let to_d = names.join(" ");
        names.reverse();
        format!("cp {to_d} d; cp {} d", names.join(" "))
    };
    given.is(&disk, &copies(512), "allow").await;
    given.is(&disk, &copies(513), "forced").await;
    // A word counts once, and nothing is looked for beneath what is not there.
    given.is(&disk, &format!("cp {}d", "ok.txt ".repeat(1_300)), "allow").await;
    given.is(&disk, &format!("cat {}.env", "no*/".repeat(1_300)), "allow").await;
}

#[tokio::test]
async fn a_subcommand_is_no_directory_that_is_gone_into() {
    let disk = disk();
    for name in ["test", "build", "vet", "commit"] {
        std::fs::create_dir_all(disk.root.join(name)).unwrap();
    }
    let deny = &["Read(**/.env)"];
    for command in [
        "cargo build && cargo test",
        "npm ci && npm test",
        "npm run build && npm run test -- --ci",
        "pnpm build && pnpm test",
        "yarn run build && yarn test",
        "go vet && go test",
        "git add a.txt && git commit -m x",
    ] {
        Given { deny, bypass: true, ..Given::default() }.is(&disk, command, "allow").await;
    }
    for command in [
        "cargo build && cargo run test",
        "npm ci && npm run x test",
        "npm ci && npm run ./test",
        "npm ci && npm -x test",
        "cargo build && ./go test",
        "cargo build && other test",
        "go vet ./test && go test ./test",
    ] {
        Given { deny, bypass: true, ..Given::default() }.is(&disk, command, "forced").await;
    }
}
