//! Links that a text makes, and copies that go through links.

use super::*;

/// Commands that open what a command of the same text may have made a link.
const FOLLOWED: &[&str] = &[
    "rsync -a x/ . && cat b",
    "patch -p1 -i x.diff && cat b",
    "mv b d && cat d/x",
    "sudo tar xf a.tar && sudo cat b",
    "sh -c 'tar xf a.tar; cat b'",
    "env tar xf a.tar; timeout 5 cat b",
    "timeout 5 git checkout evil && cat b",
    // A command that is run is told by what runs it, not by its words.
    "git checkout -q cat b && timeout 5 cat b",
    "tar xf a.tar cat b && timeout 5 cat b",
    "timeout 5 tar xf a.tar; cat tar xf a.tar b",
    "timeout 5 sh -c 'tar xf a.tar cat b; cat b'",
    "git bisect run cat b",
    // What goes on beside the next ones.
    "setsid -f sh -c 'sleep 1; cat b'; tar xf a.tar; sleep 2",
    "env setsid --fork timeout 3 tail -n 1 b; tar xf a.tar",
    "setsid setsid sh -c 'sleep 1; cat b'; git checkout -q evil; sleep 1",
    "timeout 1 sh -c \"timeout 4 sh -c 'sleep 1; cat b'; true\"; tar xf a.tar; sleep 2",
    // A value behind its letter.
    "git checkout -q evil && date -fb",
    "git checkout -q evil && nice date -ufb",
    "git checkout -q evil && xargs -ab",
    "git checkout -q evil && xargs --a=b echo",
    "git checkout -q evil && xargs -ra b echo",
    "git checkout -q evil && xargs -t0ab echo",
    "git checkout -q evil && nice xargs -rab echo",
    "git checkout -q evil && /usr/bin/time -vo b true",
    "git checkout -q evil && command time -vob true",
    "git checkout -q evil && /usr/bin/time --o=b true",
    "git checkout -q evil && env --ch=k pwd",
    "git checkout -q evil && env -iC k git status",
    "git checkout -q evil && env -iCk npm test",
    "git checkout -q evil && sudo -nD k git status",
    "git checkout -q evil && shuf -ob -i1-3",
    "git checkout -q evil && curl -sob http://h/x",
    "git checkout -q evil && touch http://w2",
    "git checkout -q evil && truncate -s5 +p",
    "git checkout -q evil && rustc b",
    // What git opens by itself.
    "git checkout -q evil && git reset -q --soft main && git blame k/f",
    "git checkout -q evil && git blame --contents b k/f",
    "git checkout -q evil && git blame -S b k/f",
    "git checkout -q evil && git commit --allow-empty -qF b",
    "git checkout -q evil && git config -f b -l",
    "git checkout -q evil && git hash-object -w b",
    "git checkout -q evil && git mv f new/f",
    "git checkout -q evil && gh pr create --body-file b",
    "git checkout -q evil && gh gist create b",
    "git checkout -q evil && gh pr comment 3 -F b",
    "git checkout -q evil && gh release upload v1 b",
    "git checkout -q evil && gh api graphql --field query=@b",
    "git checkout -q evil && kubectl create configmap x --from-file=b",
    "git checkout -q evil && kubectl cp b pod:x",
    "git checkout -q evil && kubectl --certificate-authority=b get po",
    "git checkout -q evil && helm template x b",
    "git checkout -q evil && svn commit --targets b",
    "git checkout -q evil && gh run download 5 -D k",
    "git checkout -q evil && helm repo index k",
    "git checkout -q evil && helm list --registry-config b",
    "git checkout -q evil && helm search repo x --kube-ca-file b",
    "git checkout -q evil && hg pull k",
    "git checkout -q evil && svn up k",
    "git checkout -q evil && kubectl get po -o jsonpath-file=b",
    "git checkout -q evil && git push lr main",
    "git checkout -q evil && git push --all lr",
    "git checkout -q evil && git ls-remote lr",
    "git checkout -q evil && git remote add z k/r",
    "git checkout -q evil && git remote add -f z lr",
    "docker cp c:/x q && cat q/b",
    "helm pull --untar x; cat x/b",
    "gem unpack x; cat x/b",
    "bash -c 'git checkout -q evil'; cat b",
    "env git checkout evil; head -n1 b",
    "nohup tar xf a.tar; cd k; cat b",
    "sh -c 'timeout 5 git checkout evil; cat b'",
    "tar xf a.tar; ls | xargs cat",
    "git checkout evil; xargs -a b echo",
    "git pull && cd k && touch f",
    "git pull && cd k && ls",
    // What is not understood.
    "tar xf a.tar; cat b*",
    "X=1; git checkout evil; cat b",
    "if true; then git checkout evil; fi; cp b* d",
    "X=1; tar xf a.tar; echo N > k",
];

#[tokio::test]
async fn a_link_that_the_text_could_make_is_not_followed_where_rules_speak_of_paths() {
    let disk = disk();
    let deny = &["Read(**/.env)", "Edit(lock/**)"];
    let allow = &["Bash(tar *)", "Bash(cp *)", "Bash(git *)", "Bash(unzip *)", "Bash(rm *)", "Edit(out/**)"];
    for command in [
        "tar xf a.tar && cp b c",
        "tar xf a.tar; cat b",
        "git checkout evil && cp n k",
        "git checkout evil && cat b",
        "tar xf a.tar && echo N > out/k",
        "git stash pop; rm k/f",
        "git switch evil && cp ok.txt k",
        "git -C . pull && head -n 3 b",
        "git merge evil; cp b c",
        "unzip a.zip && cp b c",
        "cp -a sub l && cp l/e3 c",
        "tar xf a.tar | cp b c",
        "cp b c & tar xf a.tar",
    ] {
        let given = Given { deny, allow, ..Given::default() };
        given.is(&disk, command, "forced").await;
        Given { always_ask: deny, allow, ..Given::default() }.is(&disk, command, "forced").await;
        Given { deny, bypass: true, ..Given::default() }.is(&disk, command, "forced").await;
        Given { bypass: true, ..Given::default() }.is(&disk, command, "allow").await;
    }
    for command in FOLLOWED {
        Given { deny, bypass: true, ..Given::default() }.is(&disk, command, "forced").await;
        Given { bypass: true, ..Given::default() }.is(&disk, command, "allow").await;
    }
}

#[tokio::test]
async fn what_opens_no_file_by_its_name_does_not_ask_for_links() {
    let disk = disk();
    for command in [
        "git checkout main && gh pr view 3",
        "git stash && gh pr list",
        "git checkout -b x && git commit -am y && gh pr create --fill --title x",
        "git pull && kubectl get pods -l app=x -o wide",
        "git pull && kubectl logs -f pod",
        "git pull && gh pr list --author @me",
        "git pull && gh pr edit 3 --body 'a b' --title c",
        "git pull && git push upstream x && git remote -v",
        "git pull && nice -n 5 timeout -k 5 60 npm test",
        "git pull && env -u X CI=1 npm test",
        "git pull && sudo -u me -n npm test",
        "git pull && /usr/bin/time -v npm test",
        "git pull && git fetch --depth 1 origin feature/x",
        "git pull && curl -fsSL https://h/x",
        "timeout 60 git pull && timeout 60 npm test",
        "git pull && npm test",
        "git checkout x && cargo build 2>&1 | tail -n 20",
        "git checkout -b x && git add -A && git commit -m 'a b' && git push",
        "tar xf a.tar && make -j 4 all",
        "tar xf a.tar && ./configure --prefix=/usr/x",
        "git pull && cd sub && cargo test",
        "git pull && echo done",
        "git pull && ls -la",
        "git stash && cargo test; git stash pop",
        "git pull && timeout 60 cargo test",
        "git pull && git log --oneline | head -5",
        "git pull && python3 run.py",
        "git pull && kill 5; sleep 3",
        "git fetch && cat ok.txt",
        "git add sub && git commit -m x && cat ok.txt",
        "cargo build && cat ok.txt",
        "cargo build > log && cat log",
        "cp ok.txt copy && cat copy",
        "sed -i s/a/b/ ok.txt && cat ok.txt",
        "curl -o page https://x.example && cat page",
        "cat ok.txt && git checkout x",
        "timeout 5 find . -name x && head ok.txt",
        "docker ps && ls",
    ] {
        let given = Given { deny: &["Edit(lock/**)"], bypass: true, ..Given::default() };
        given.is(&disk, command, "allow").await;
    }
}

/// Beside what `disk` has: `d/config` → `.git/config`, `d/f` → `lock/f`, `d/o` → outside, `g/.git/config`,
/// `h/AGENTS.md`, `t/f`, `config`, `f`, `o`.
fn copied() -> Disk {
    let disk = disk();
    for folder in ["d", "g/.git", "h", "t", "d2", "big/sub"] {
        std::fs::create_dir_all(disk.root.join(folder)).unwrap();
    }
    for file in [".git/config", "g/.git/config", "h/AGENTS.md", "t/f", "config", "f", "o", "big/sub/a"] {
        std::fs::write(disk.root.join(file), "x").unwrap();
    }
    for (target, link) in [("../.git/config", "d/config"), ("../lock/f", "d/f"), ("../lock", "d2/t")] {
        symlink(target, disk.root.join(link)).unwrap();
    }
    symlink(disk.outside.join("o"), disk.root.join("d/o")).unwrap();
    disk
}

#[tokio::test]
async fn what_is_copied_into_a_directory_counts_by_the_name_that_it_gets_there() {
    let disk = copied();
    std::fs::write(disk.outside.join("AGENTS.md"), "x").unwrap();
    let allow = &["Bash(cp *)", "Bash(mv *)", "Bash(ln *)", "Bash(install *)"];
    for command in [
        "cp config d",
        "cp config d/",
        "cp -t d config",
        "cp --target-directory=d config",
        "cp config d/.",
        "cp config f d",
        "cd sub && cp ../config ../d",
        "cp --parents g/.git/config d2",
        "mv config d",
        "install -m 644 config d",
        "ln -f config d",
        "cp -r g/. .",
        "cp -rT g .",
        "cp -a g/. d2",
        "cp -r h/. .",
        "cp -r h/./ d2/",
    ] {
        Given { allow, ..Given::default() }.is(&disk, command, "forced").await;
        Given { bypass: true, ..Given::default() }.is(&disk, command, "forced").await;
    }
    for command in [
        "rsync -a g/ .",
        "rsync -a h/ sub",
        "sudo cp config d",
        "X=1; cp config d",
        "cp c* d; true",
        "ls | xargs cp -t d",
        "cp -r h/* sub",
        "cp -r ../outside inside",
    ] {
        Given { bypass: true, ..Given::default() }.is(&disk, command, "forced").await;
    }
    // A rule speaks of where it leads.
    let deny = &["Edit(lock/**)"];
    for command in ["cp f d", "mv f d/", "ln -s f d", "cp -r t d2", "cp -t d o f"] {
        Given { deny, allow, ..Given::default() }.is(&disk, command, "deny").await;
        Given { deny, bypass: true, ..Given::default() }.is(&disk, command, "deny").await;
    }
    Given { deny, allow, ..Given::default() }.is(&disk, "cp -r t/. d", "forced").await;
    Given { deny, bypass: true, ..Given::default() }.is(&disk, "cp -r t/. d", "forced").await;
    for command in [
        "cp f d2",
        "cp -T f f2",
        "cp config new",
        "cp -r g new",
        "cp -r h new/",
        "cp -r h sub",
        "rsync -a h sub",
        "cp -r sub big",
        "cp -r big/. sub",
        "mv sub big",
        "mkdir -p n && cp f n",
        "ln -s f link",
        "install -d a/b",
        "cp -r t/* sub",
    ] {
        Given { bypass: true, ..Given::default() }.is(&disk, command, "allow").await;
    }
    let outside = format!("cp -r . {}/new", disk.outside.display());
    Given { bypass: true, ..Given::default() }.is(&disk, &outside, "allow").await;
}

#[tokio::test]
async fn a_copy_of_more_than_can_be_looked_at_asks() {
    let disk = copied();
    let mut deep = disk.root.join("t");
    (0..70).for_each(|_| deep.push("x"));
    std::fs::create_dir_all(&deep).unwrap();
    let bypass = Given { bypass: true, ..Given::default() };
    bypass.is(&disk, "cp -r t/. sub", "forced").await;
    bypass.is(&disk, "cp -r t new", "allow").await;
    Given { deny: &["Edit(lock/**)"], bypass: true, ..Given::default() }
        .is(&disk, "cp -r t new", "forced")
        .await;
}

#[tokio::test]
async fn a_star_in_a_path_follows_no_link_out_of_the_workspace() {
    let disk = disk();
    symlink(&disk.outside, disk.root.join("sub/out")).unwrap();
    symlink("sub", disk.root.join("within")).unwrap();
    std::fs::create_dir_all(disk.root.join(".venv/bin")).unwrap();
    symlink("/usr/bin/python3", disk.root.join(".venv/bin/python")).unwrap();
    symlink("/usr/bin/touch", disk.root.join(".venv/bin/tool")).unwrap();
    let allow = &[
        "Bash(touch sub/*)",
        "Bash(touch *)",
        "Bash(tool -Isub/*)",
        "Bash(rm within/*)",
        "Bash(.venv/bin/*)",
        "Bash(python3 sub/*)",
        "Bash(git pull *)",
    ];
    for (rule, command, want) in [
        (0, "touch sub/new", "allow"),
        (0, "touch sub/out/new", "ask"),
        (0, "touch sub/new sub/out/new", "ask"),
        (0, "timeout 5 touch sub/out/new", "ask"),
        (0, "cd sub && touch sub/new", "allow"),
        (1, "touch sub/out/new", "allow"),
        (2, "tool -Isub/a", "allow"),
        (2, "tool -Isub/out/a", "ask"),
        (3, "rm within/a", "allow"),
        (4, ".venv/bin/python x.py", "allow"),
        (4, ".venv/bin/tool x", "ask"),
        (5, "python3 sub/out/x.py", "ask"),
        (5, "python3 sub/x.py", "allow"),
    ] {
        Given { allow: &allow[rule..=rule], ..Given::default() }.is(&disk, command, want).await;
    }
    let both = [allow[0], allow[6]];
    Given { allow: &both, ..Given::default() }.is(&disk, "git pull && touch sub/new", "ask").await;
    Given { allow: &both, ..Given::default() }.is(&disk, "touch sub/new && git pull", "allow").await;
}

#[tokio::test]
async fn no_star_stands_for_a_word_that_a_link_leads_out() {
    let disk = disk();
    symlink(&disk.outside, disk.root.join("op")).unwrap();
    symlink(disk.root.join("sub"), disk.root.join("within")).unwrap();
    let allow = &[
        "Bash(cargo *)",
        "Bash(gcc *)",
        "Bash(rustc *)",
        "Bash(pytest *)",
        "Bash(git *)",
        "Bash(echo *)",
        "Bash(npm run *)",
        "Bash(python3 -m pytest *)",
        "Bash(make *)",
    ];
    for (command, want) in [
        ("cargo test --manifest-path op/Cargo.toml", "ask"),
        ("cargo build --target-dir=op/x", "ask"),
        ("pytest op", "ask"),
        ("gcc -o op/x ok.txt", "ask"),
        ("git add op/src", "ask"),
        ("cargo test --manifest-path within/Cargo.toml", "allow"),
        ("cargo build && cargo test", "allow"),
        ("cargo test op", "ask"),
        ("gcc -L/lib -o sub/x ok.txt", "allow"),
        ("npm run build", "allow"),
        ("echo op/x", "allow"),
        // What a module, a runner or a variable of make leads to.
        ("python3 -m pytest op/t.py", "ask"),
        ("timeout 5 python3 -m pytest op/t.py", "ask"),
        ("python3 -m pytest sub/t.py", "allow"),
        ("make DESTDIR=op/x all", "ask"),
        ("make DESTDIR=sub/x all", "allow"),
        // A link that is not there yet matters where no code of the workspace runs.
        ("git checkout x && gcc -o new/a ok.txt", "ask"),
        ("git checkout x && rustc -o new/a ok.txt", "ask"),
        ("timeout 5 git checkout x && gcc -o new/a ok.txt", "ask"),
        ("git checkout x && git commit -F new/a", "ask"),
        ("git checkout x && git log --output=new/a", "ask"),
        ("git checkout x && git push new/a main", "ask"),
        ("git checkout x && git push -o ci.skip new/a main", "ask"),
        ("git checkout x && git mv ok.txt new/f", "ask"),
        ("git stash && git mv ok.txt sub/f", "ask"),
        ("git checkout -b feature/x && git push -u origin feature/x", "allow"),
        ("git checkout -b feat/x && git add sub/a && git commit -m 'a/b'", "allow"),
        ("git stash && git rebase origin/main && git stash pop", "allow"),
        ("git pull && cargo test --test it", "allow"),
        ("git pull && cargo build --features a/b --target x86_64-unknown-linux-gnu", "allow"),
        ("git pull && pytest new/t.py", "allow"),
        ("git pull && cargo build --release 2>&1 | tail -n 20", "allow"),
    ] {
        Given { allow, ..Given::default() }.is(&disk, command, want).await;
    }
    // Whoever spells it out has read it.
    let allow = &["Bash(pytest op)"];
    Given { allow, ..Given::default() }.is(&disk, "pytest op", "allow").await;
}

#[tokio::test]
async fn a_name_that_a_program_makes_counts_as_where_it_leads() {
    let disk = disk();
    symlink(".env", disk.root.join("xx00")).unwrap();
    symlink(".env", disk.root.join("sub/xab")).unwrap();
    let given = Given { deny: &["Read(**/.env)"], bypass: true, ..Given::default() };
    for (command, want) in [
        ("csplit -s ok.txt 2", "forced"),
        ("csplit -s -f sub/xb ok.txt 2", "allow"),
        ("csplit -s -f yy ok.txt 2", "allow"),
        ("cd sub && split -l1 ../ok.txt", "forced"),
        ("split -l1 ok.txt sub/x", "forced"),
        ("split -l1 ok.txt", "forced"),
    ] {
        given.is(&disk, command, want).await;
    }
    let plain = self::disk();
    for command in ["split -l1 ok.txt part_", "split -l1 ok.txt", "csplit -s ok.txt 2"] {
        given.is(&plain, command, "allow").await;
    }
}

#[tokio::test]
async fn a_script_counts_as_where_links_lead() {
    let disk = disk();
    std::fs::create_dir(disk.root.join("scripts")).unwrap();
    for file in ["top.sh", "scripts/dep.sh", "scripts/x.js", "manage.py", "other.sh"] {
        std::fs::write(disk.root.join(file), "").unwrap();
    }
    for (target, link) in [
        ("top.sh", "t"),
        ("../top.sh", "scripts/t2"),
        ("t", "tt"),
        ("scripts", "s"),
        ("scripts/x.js", "y.js"),
        ("manage.py", "m.py"),
        ("other.sh", "o"),
    ] {
        symlink(target, disk.root.join(link)).unwrap();
    }
    let deny = &[
        "Bash(./top.sh *)",
        "Bash(scripts/dep.sh *)",
        "Bash(node scripts/x.js *)",
        "Bash(python manage.py flush *)",
    ];
    let given = Given { deny, bypass: true, ..Given::default() };
    for (command, stopped) in [
        ("./t", true),
        ("sh t", true),
        ("sh -e t x", true),
        ("scripts/t2", true),
        ("bash tt", true),
        (". ./t", true),
        ("env -i sh t", true),
        ("sh s/dep.sh", true),
        ("s/dep.sh", true),
        ("sh scripts/../s/dep.sh", true),
        ("cd scripts && sh t2", true),
        ("node y.js", true),
        ("python3 -u m.py flush", true),
        ("sh o x; sh t", true),
        ("python3 m.py migrate", false),
        ("sh o", false),
        ("./o", false),
        ("cat t", false),
        ("sh other.sh", false),
    ] {
        let judged = given.judges(&disk, command).await;
        assert_eq!(judged != "allow", stopped, "{command}: {judged}");
    }
}
