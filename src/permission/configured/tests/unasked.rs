//! What runs unasked opens nothing outside of the workspace, however its paths are spelt and whatever lies beneath them.

use super::*;

/// Beside what `disk` has: a repository, `deep/two`, `lk` → `deep/two`, `od` → outside, `clean/f`, `clean/sub/g`.
fn with_links() -> Disk {
    let disk = disk();
    for name in [".git/objects", ".git/refs", "deep/two", "clean/sub"] {
        std::fs::create_dir_all(disk.root.join(name)).unwrap();
    }
    for (name, text) in
        [(".git/HEAD", "ref: refs/heads/main\n"), ("clean/f", "f"), ("clean/sub/g", "g"), ("deep/x", "x")]
    {
        std::fs::write(disk.root.join(name), text).unwrap();
    }
    symlink("deep/two", disk.root.join("lk")).unwrap();
    symlink(&disk.outside, disk.root.join("od")).unwrap();
    disk
}

/// Git takes `lk/../od` for `od`, where the kernel finds `deep/od`.
#[tokio::test]
async fn an_operand_counts_as_it_is_shortened_too() {
    let disk = with_links();
    let none = Given::default();
    for (command, want) in [
        ("git blame lk/../od/secret", "ask"),
        ("git blame -s -- lk/../od/secret", "ask"),
        ("timeout 5 git annotate lk/../od/secret | head -1", "ask"),
        ("cd deep && git blame ../lk/../od/secret", "ask"),
        ("git -C deep blame ../lk/../od/secret", "ask"),
        ("git diff -- lk/../od/secret", "ask"),
        ("git log lk/../../outside/secret", "ask"),
        ("realpath -s -e lk/../od/secret", "ask"),
        ("cat lk/../od/secret", "ask"),
        ("git blame lk/../x", "allow"),
        ("git blame sub/../ok.txt", "allow"),
        ("cd sub && git blame ../clean/../ok.txt", "allow"),
        ("cat lk/../x sub/../ok.txt", "allow"),
        ("ls deep/two/..", "allow"),
    ] {
        none.is(&disk, command, want).await;
    }
    let outside = format!("Read({}/**)", disk.outside.display());
    let denies = Given { deny: &[&outside], bypass: true, ..Given::default() };
    denies.is(&disk, "git blame lk/../od/secret", "deny").await;
}

/// What is not in the commit git looks for in the working tree, and says whether it is there.
#[tokio::test]
async fn what_stands_behind_a_colon_of_git_is_a_path() {
    let disk = with_links();
    let none = Given::default();
    for path in [
        "/etc/passwd",
        "od/secret",
        "./od/secret",
        "../outside/secret",
        "sub/../od/secret",
        "lk/../../od/secret",
    ] {
        for command in [
            format!("git show HEAD:{path}"),
            format!("git log -1 HEAD:{path}"),
            format!("git diff HEAD:{path} HEAD"),
            format!("git cat-file -e HEAD:{path}"),
            format!("git rev-parse HEAD~2:{path}"),
            format!("git rev-list HEAD:{path}"),
            format!("git diff-tree main HEAD:{path}"),
            format!("git grep x HEAD:{path}"),
            format!("git ls-tree HEAD:{path}"),
            format!("git show :0:{path}"),
            format!("git rev-parse 'v1^{{tree}}:{path}'"),
            format!("git rev-parse 'HEAD^{{/a:b}}:{path}'"),
        ] {
            none.is(&disk, &command, "ask").await;
        }
    }
    // What it is told of by a pattern, `git diff` opens as a file beside a blob, through links.
    for pattern in [
        ":/od/secret",
        ":/:od/secret",
        "::od/secret",
        ":/./od/secret",
        ":/../outside/secret",
        ":(top)od/secret",
        ":(literal)od/secret",
        ":(,top)od/secret",
        ":(prefix:0)od/secret",
        ":(top)/etc/passwd",
    ] {
        for command in [
            format!("git diff HEAD:ok.txt '{pattern}'"),
            format!("git diff HEAD:ok.txt -- '{pattern}'"),
            format!("cd sub && git diff :0:ok.txt -- '{pattern}'"),
            format!("git -C sub diff HEAD:ok.txt -- '{pattern}'"),
        ] {
            none.is(&disk, &command, "ask").await;
        }
    }
    let many = format!("git diff HEAD:ok.txt ':!x{}'", ":y".repeat(65));
    none.is(&disk, &many, "ask").await;
    for (command, want) in [
        ("git diff -- . ':(exclude)sub' ':!*.lock' ':/' ':^sub/a'", "allow"),
        ("git diff HEAD -- ':(glob)sub/**/*.rs' ':(top,icase)OK.txt'", "allow"),
        ("cd sub && git diff HEAD:a ':/sub/a'", "allow"),
        ("cd sub && git show HEAD:od/secret", "ask"),
        ("git -C sub show HEAD:od/secret", "ask"),
        ("git rev-parse :od/secret", "ask"),
        ("cd sub && git show HEAD:../od/secret", "ask"),
        ("cd sub && git show HEAD:../ok.txt", "allow"),
        ("cd sub && git show HEAD:./a", "allow"),
        ("git show HEAD:sub/a", "allow"),
        ("git show HEAD~2:not/there.rs | head -20", "allow"),
        ("git diff main:a.rs HEAD:b.rs", "allow"),
        ("git rev-parse ':0:ok.txt' 'HEAD^{tree}:sub'", "allow"),
        ("git show ':/fix a/b'", "allow"),
        ("git diff -- ':!ok.txt' ':(top)sub' ':/sub'", "allow"),
        ("git log -L 1,2:ok.txt", "allow"),
        ("git log --format='%h: /x'", "allow"),
    ] {
        none.is(&disk, command, want).await;
    }
}

#[tokio::test]
async fn programs_are_looked_for_in_the_workspace_alone() {
    let disk = with_links();
    for (command, want) in [
        ("which ls git", "allow"),
        ("command -v ls; type -a ls", "allow"),
        ("which -a ./ok.txt", "allow"),
        ("which -a ../outside/secret", "ask"),
        ("command -v od/secret", "ask"),
        ("command -V ls /none/prog", "ask"),
        ("type od/secret", "ask"),
    ] {
        Given::default().is(&disk, command, want).await;
    }
}

#[tokio::test]
async fn what_follows_links_beneath_runs_where_there_are_none() {
    let disk = with_links();
    let none = Given::default();
    for (command, want) in [
        ("diff -r clean deep", "allow"),
        ("diff -ru clean clean/sub", "allow"),
        ("diff -r clean .", "ask"),
        ("diff -r od clean", "ask"),
        ("diff clean deep", "ask"),
        ("find . -type f -name '*.rs' -exec wc -l {} +", "allow"),
        ("find . -type f -exec grep -n x {} + | head -5", "allow"),
        ("find clean -name f -exec cat {} ';'", "allow"),
        ("find . -name f -exec cat {} +", "ask"),
        ("find od -type f -exec cat {} +", "ask"),
        ("find od/ -type f -exec cat {} +", "ask"),
        ("find clean -exec cat {} od/secret ';'", "ask"),
        ("find clean -type f -exec cat {} ../outside/secret ';'", "ask"),
        ("find clean -type f -exec rm {} +", "ask"),
    ] {
        none.is(&disk, command, want).await;
    }
    let denies = Given { deny: &["Read(**/.env)"], ..Given::default() };
    denies.is(&disk, "diff -r clean deep", "allow").await;
    denies.is(&disk, "find . -type f -exec cat {} +", "forced").await;
    symlink("f", disk.root.join("clean/sub/link")).unwrap();
    none.is(&disk, "diff -r clean deep", "ask").await;
    none.is(&disk, "find clean -name f -exec cat {} ';'", "ask").await;
    none.is(&disk, "find clean -type f -name f -exec cat {} ';'", "allow").await;
}

/// A mark, a colour and a place among directories tell what lies where a symlink leads.
#[tokio::test]
async fn what_tells_of_the_targets_of_links_runs_where_none_leads_out() {
    let disk = with_links();
    let none = Given::default();
    let telling = [
        "ls -F",
        "ls -lF .",
        "ls --classify",
        "ls -l --color=always",
        "ls --color",
        "ls --group-directories-first",
        "cd clean && ls -F ..",
        "timeout 5 ls -F",
        "tree",
        "tree -L 1 .",
        "tree -d",
        "tree -F --dirsfirst -C",
    ];
    for command in telling {
        none.is(&disk, command, "ask").await;
    }
    for command in
        ["ls -la", "ls --color=never", "ls -p", "ls -F clean deep", "tree clean deep", "ls -RF clean"]
    {
        none.is(&disk, command, "allow").await;
    }
    std::fs::remove_file(disk.root.join("od")).unwrap();
    for command in telling {
        none.is(&disk, command, "allow").await;
    }
    symlink(disk.outside.join("none"), disk.root.join("clean/sub/gone")).unwrap();
    for (command, want) in [
        ("ls -F clean", "allow"),
        ("ls -F clean/sub", "ask"),
        ("ls -RF clean", "ask"),
        ("tree -L 1 clean", "allow"),
        ("tree -L 2 clean", "ask"),
        ("tree", "ask"),
        ("tree -I 'sub|x'", "allow"),
        ("tree -I 'su*'", "ask"),
        ("ls --color=never --color clean/sub", "ask"),
    ] {
        none.is(&disk, command, want).await;
    }
}

/// How the command before ended is a number.
#[tokio::test]
async fn the_status_may_be_printed() {
    let disk = disk();
    let none = Given::default();
    for (command, want) in [
        ("cat ok.txt; echo $?", "allow"),
        ("cat ok.txt; echo \"exit: $?\" rc=$?", "allow"),
        ("cat ok.txt || echo \"failed: ${?}\"", "allow"),
        ("cat ok.txt; echo $? > out", "ask"),
        ("cat ok.txt; echo x > \"out$?\"", "ask"),
        ("cat ok.txt; cat \"f$?\"", "ask"),
        ("cat ok.txt; echo ${?+x}", "ask"),
        ("cat ok.txt; echo ${!?}", "ask"),
        ("cat ok.txt; echo $$ $! $# $-", "ask"),
        ("cat ok.txt; exit $?", "allow"),
        ("cat ok.txt; exit \"$?\"", "allow"),
        ("cat ok.txt; [ $? -eq 0 ] && ls", "allow"),
        ("cat ok.txt; test \"$?\" -ne 0 || ls", "allow"),
        ("cat ok.txt; if [ 0 = $? ]; then ls; fi", "allow"),
        ("cat ok.txt; exit 1$?", "ask"),
        ("cat ok.txt; exit $? 1", "ask"),
        ("cat ok.txt; [ -f $? ]", "ask"),
        ("cat ok.txt; [ -v $? ]", "ask"),
        ("cat ok.txt; test -v 'a[$?]'", "ask"),
        ("cat ok.txt; test -v \"a[$?]\"", "ask"),
        ("cat ok.txt; [ x$? -eq 0 ]", "ask"),
        ("cat ok.txt; [ $? -eq x ]", "ask"),
        ("cat ok.txt; [ $? -nt 0 ]", "ask"),
        ("cat ok.txt; [ $? -eq 0 -a -f ok.txt ]", "ask"),
        ("cat ok.txt; kill $?", "ask"),
    ] {
        none.is(&disk, command, want).await;
    }
    Given { allow: &["Bash(cat *)", "Bash(echo done)"], ..Given::default() }
        .is(&disk, "cat ok.txt; echo $?", "allow")
        .await;
    Given { deny: &["Bash(rm *)"], ..Given::default() }.is(&disk, "cat ok.txt; rm $?", "deny").await;
}

/// A commit told without its patch has no lines of files.
#[tokio::test]
async fn a_commit_is_told_where_lines_are_hidden() {
    let disk = with_links();
    let denies = Given { deny: &["Read(**/.env)"], ..Given::default() };
    for (command, want) in [
        ("git show -s --format=%ci HEAD", "allow"),
        ("git show -s --format=%ci", "allow"),
        ("git show --stat HEAD~2", "allow"),
        ("git show --no-patch HEAD^2~1 @", "allow"),
        ("git show -s -p HEAD", "forced"),
        ("git show HEAD", "forced"),
        ("git show -s main", "forced"),
        ("git show -s 0123456", "forced"),
        ("git show -s HEAD:sub/a", "forced"),
        ("git show -s HEAD1", "forced"),
        ("git show -s --tags", "forced"),
        ("git show --stat HEAD --all", "forced"),
        ("git show --name-only --glob=tags", "forced"),
    ] {
        denies.is(&disk, command, want).await;
        Given::default().is(&disk, command, "allow").await;
    }
}
