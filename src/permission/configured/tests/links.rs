//! Links that a text makes, and copies that go through links.

use super::*;

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
    for command in [
        "rsync -a x/ . && cat b",
        "patch -p1 -i x.diff && cat b",
        "mv b d && cat d/x",
        "sudo tar xf a.tar && sudo cat b",
        "sh -c 'tar xf a.tar; cat b'",
        "env tar xf a.tar; timeout 5 cat b",
        "tar xf a.tar; ls | xargs cat",
        "git checkout evil; xargs -a b echo",
        "git pull && cd k && touch f",
        "git pull && cd k && ls",
        // What is not understood.
        "tar xf a.tar; cat b*",
        "X=1; git checkout evil; cat b",
        "if true; then git checkout evil; fi; cp b* d",
        "X=1; tar xf a.tar; echo N > k",
    ] {
        Given { deny, bypass: true, ..Given::default() }.is(&disk, command, "forced").await;
        Given { bypass: true, ..Given::default() }.is(&disk, command, "allow").await;
    }
}

#[tokio::test]
async fn what_opens_no_file_by_its_name_does_not_ask_for_links() {
    let disk = disk();
    for command in [
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
        "git pull; env X=1 npm test",
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
        "env X=1 cargo build && cat ok.txt",
        "timeout 5 find . -name x && head ok.txt",
        "docker ps && ls",
        "X=1; git pull && npm test",
        "for f in a b; do make x; done; git pull",
    ] {
        let given = Given { deny: &["Edit(lock/**)"], bypass: true, ..Given::default() };
        given.is(&disk, command, "allow").await;
    }
}
