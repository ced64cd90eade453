//! What each carrier runs, evaluates, or does not tell.

use proptest::prelude::*;

use super::*;

/// Words as a shell passes them on: spaces part them, single quotes hold them together.
pub(super) fn words(text: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quoted = false;
    for c in text.chars() {
        match c {
            '\'' => quoted = !quoted,
            ' ' if !quoted => words.push(String::new()),
            _ => words.last_mut().unwrap().push(c),
        }
    }
    words
}

fn of(text: &str) -> Carried {
    carried(&words(text))
}

fn commands(found: &Carried) -> Vec<String> {
    found.commands.iter().map(|c| c.words.join(" ") + if c.open { " …" } else { "" }).collect()
}

/// Exactly these commands and scripts, and nothing untold.
#[track_caller]
fn tells(text: &str, want_commands: &[&str], want_scripts: &[&str]) {
    let found = of(text);
    assert_eq!(commands(&found), want_commands, "commands of {text}");
    assert_eq!(found.scripts, want_scripts, "scripts of {text}");
    assert!(!found.untold && !found.guessed, "{text}: {found:?}");
}

/// What is said to run no argument is not asked what it carries.
#[test]
fn no_carrier_is_listed_as_running_nothing() {
    for name in programs::RUN_NO_ARGUMENT.all() {
        assert!(!subcommands::names(name), "{name}");
    }
}

#[test]
fn the_directory_of_what_is_run_is_told_or_nothing_is() {
    for (text, directory) in [
        ("env -C d rm x", Some("d")),
        ("env -Ca --chdir=d rm x", Some("d")),
        ("env rm x", None),
        ("sudo -D d rm x", Some("d")),
        ("unshare -w d rm x", Some("d")),
    ] {
        let found = of(text);
        assert_eq!(found.directory.as_deref(), directory, "{text}");
        assert_eq!(commands(&found)[0], "rm x", "{text}");
        assert!(!found.untold, "{text}");
    }
    for text in
        ["chroot d rm x", "sudo -i rm x", "sudo -R d rm x", "unshare -R d rm x", "find . -execdir rm x ;"]
    {
        let found = of(text);
        assert_eq!(commands(&found)[0], "rm x", "{text}");
        assert!(found.untold, "{text}");
    }
}

#[test]
fn commands_behind_known_options_are_told() {
    for (text, command) in [
        ("env rm x", "rm x"),
        ("env -i rm x", "rm x"),
        ("env - rm x", "rm x"),
        ("env -u HOME -C d rm x", "rm x"),
        ("env -uHOME rm x", "rm x"),
        ("env --unset=HOME --chdir=d rm x", "rm x"),
        ("env --uns HOME rm x", "rm x"),
        ("env -i0 -- rm x", "rm x"),
        ("env LC_ALL=C NO_COLOR=1 rm x", "rm x"),
        ("/usr/bin/env rm x", "rm x"),
        ("sudo rm x", "rm x"),
        ("sudo -n -u root rm x", "rm x"),
        ("sudo -nu root rm x", "rm x"),
        ("sudo --user=root --preserve-env=PATH rm x", "rm x"),
        ("sudo -E -- rm x", "rm x"),
        ("doas -u root rm x", "rm x"),
        ("pkexec --user root rm x", "rm x"),
        ("timeout 5 rm x", "rm x"),
        ("timeout -k1 5 rm x", "rm x"),
        ("timeout -k 1 -s KILL 5 rm x", "rm x"),
        ("timeout --kill-after=1 --foreground 5 rm x", "rm x"),
        ("nice rm x", "rm x"),
        ("nice -5 rm x", "rm x"),
        ("nice -n 5 rm x", "rm x"),
        ("nice -n5 rm x", "rm x"),
        ("nohup rm x", "rm x"),
        ("stdbuf -oL rm x", "rm x"),
        ("stdbuf -o L -e 0 rm x", "rm x"),
        ("setsid -fw rm x", "rm x"),
        ("ionice -c 3 rm x", "rm x"),
        ("chrt -b 0 rm x", "rm x"),
        ("taskset -c 0,1 rm x", "rm x"),
        ("taskset 0x3 rm x", "rm x"),
        ("flock f rm x", "rm x"),
        ("flock -n -w 5 f rm x", "rm x"),
        ("strace -f -e trace=open rm x", "rm x"),
        ("strace -o out -ff rm x", "rm x"),
        ("watch -x rm x", "rm x"),
        ("time rm x", "rm x"),
        ("time -p rm x", "rm x"),
        ("command rm x", "rm x"),
        ("command -p rm x", "rm x"),
        ("builtin rm x", "rm x"),
        ("exec rm x", "rm x"),
        ("exec -a name rm x", "rm x"),
        ("exec -cla name rm x", "rm x"),
        ("busybox rm x", "rm x"),
        ("! rm x", "rm x"),
        ("runuser -u u -- rm x", "rm x"),
        ("find . -exec rm x ;", "rm x"),
        ("find . -name y -exec rm x ; -print", "rm x"),
        ("find . -ok rm x ;", "rm x"),
        ("fd y --exec-batch rm", "rm"),
        ("git bisect run rm x", "rm x"),
        ("docker exec c rm x", "rm x"),
        ("npx rm x", "rm x"),
        ("npm exec rm x", "rm x"),
        ("uv run rm x", "rm x"),
        ("bundle exec rm x", "rm x"),
        ("rustup run stable rm x", "rm x"),
        ("cmake -E env rm x", "rm x"),
        ("/lib64/ld-linux-x86-64.so.2 rm x", "rm x"),
    ] {
        let found = of(text);
        assert_eq!(commands(&found)[0], command, "{text}: {found:?}");
        assert!(found.scripts.is_empty() && !found.untold && !found.guessed, "{text}: {found:?}");
    }
}

#[test]
fn shell_text_is_told() {
    for (text, script) in [
        ("sh -c 'rm x'", "rm x"),
        ("bash -lc 'rm x'", "rm x"),
        ("bash -l -c 'rm x'", "rm x"),
        ("bash -c -e 'rm x'", "rm x"),
        ("bash -ec 'rm x' name", "rm x"),
        ("bash -eo pipefail -c 'rm x'", "rm x"),
        ("bash --login --norc -c 'rm x'", "rm x"),
        ("/bin/dash -c 'rm x'", "rm x"),
        ("zsh -c 'rm x'", "rm x"),
        ("fish --command='rm x'", "rm x"),
        ("eval rm x", "rm x"),
        ("eval 'rm x' y", "rm x y"),
        ("eval -- rm x", "rm x"),
        ("trap 'rm x' EXIT", "rm x"),
        ("trap -- 'rm x' EXIT INT", "rm x"),
        ("watch rm x", "rm x"),
        ("watch -n 5 -d 'rm x'", "rm x"),
        ("script -c 'rm x' f", "rm x"),
        ("script -qec 'rm x' /dev/null", "rm x"),
        ("script --command='rm x'", "rm x"),
        ("flock f -c 'rm x'", "rm x"),
        ("flock -n f --command 'rm x'", "rm x"),
        ("su -c 'rm x'", "rm x"),
        ("su root -c 'rm x'", "rm x"),
        ("su - root --command='rm x'", "rm x"),
        ("runuser u -c 'rm x'", "rm x"),
        ("sg root -c 'rm x'", "rm x"),
        ("sg root 'rm x'", "rm x"),
        ("sg - root -c 'rm x'", "rm x"),
        ("dpkg-architecture -c 'rm x'", "rm x"),
        ("dpkg-architecture -aarm64 --command='rm x'", "rm x"),
        ("ssh host 'rm x'", "rm x"),
        ("ssh host rm x", "rm x"),
        ("ssh -p 22 u@host -v 'rm x'", "rm x"),
        ("git rebase --exec 'rm x' main", "rm x"),
        ("git rebase -x 'rm x' main", "rm x"),
        ("git rebase --exec='rm x' main", "rm x"),
        ("hyperfine 'rm x'", "rm x"),
    ] {
        let found = of(text);
        assert_eq!(found.scripts, [script], "{text}: {found:?}");
        assert!(found.commands.is_empty() && !found.untold && !found.guessed, "{text}: {found:?}");
    }
}

/// What is not told, and still all that could be read of it.
#[test]
fn what_words_do_not_tell_is_said() {
    let mut wrong = Vec::new();
    for text in [
        "nm --plugin ./x.so f",
        "nm @f",
        "gcc x.c @f",
        "rustc @f",
        "rustdoc --edition 2021 @f",
        "cargo rustc --offline -- @f",
        "cargo rustdoc -- @f",
        "cargo +nightly clippy -- -W x @f",
        "cargo build -- @f",
        "dotnet build @f.rsp",
        "go tool compile @f",
        "go tool link @f",
        "ld.lld @f",
        "mold @f",
        "clang++-17 @f",
        "swiftc @f",
        "ghc @f",
        "kotlinc @f",
        "scalac @f",
        "dmd @f",
        "ldc2 @f",
        "javac @f",
        "tsc @f",
        "clang-tidy @f",
        "clang-format -i @f",
        "pytest @f",
        "python3 -m pytest -q @f",
        "python3 -m mypy @f",
        "mypy @f",
        "pylint @f",
        "ruff check @f",
        "nvcc --options-file f",
        "nvcc -optf f",
        "tar cf x -T list",
        "ar --plug=./x.so t f",
        "dpkg --pre-invoke=x -i f",
        "gpg --photo-viewer x -k",
        "openssl dgst -engine ./x.so f",
        "curl --engine ./x.so u",
        "bat --pager=x f",
        "fzf --preview x",
        "hg --config alias.x=!y x",
        "rename 'system(1)' f",
        "rename 's/a/@{[x]}/' f",
        "rename s/a/x/e f",
        "rename 's/[/]/x/;#/e' f",
        "sh",
        "bash",
        "bash -s",
        "bash -s x",
        "sh -",
        "bash -i",
        "bash --rcfile f -c x",
        "su",
        "su root",
        "sudo -i",
        "sudo -s",
        "sudo -e f",
        "doas -s",
        "chroot d",
        "script",
        "script f",
        "ssh host",
        ". f",
        "source f",
        "at now",
        "batch",
        "crontab f",
        "crontab -",
        "crontab -e",
        "python3",
        "python3 -",
        "python3 -c x",
        "python3 -Ic x",
        "python3.11 -c x",
        "perl -e x",
        "perl -pie x",
        "perl -ne x f",
        "ruby -e x",
        "node -e x",
        "node --eval x",
        "node -p x",
        "php -r x",
        "lua -e x",
        "node -r ./x y",
        "python3 -m timeit x",
        "awk '{system($1)}' f",
        "awk '{print | \"sh\"}'",
        "awk '{print ||| \"sh\"}'",
        "git -c core.pager=x log",
        "git -c core.fsmonitor=true status",
        "awk '{\"x\" | getline y}'",
        "awk -f prog f",
        "gawk --file=prog",
        "gawk -i x y",
        "sed e f",
        "sed '1e rm x' f",
        "sed 's/a/b/e' f",
        "sed -n 's/a/b/ep'",
        "sed -f s f",
        "sed -e p -e 'e rm x'",
        "sed --expression=e",
        "sed -n '/[/p;#]/e rm x' f",
        "sed 's/[/]/x/;#/e' f",
        "vim -c x",
        "vim f",
        "ex f",
        "ed f",
        "make -f -",
        "make --file=/dev/stdin",
        "make --eval=x",
        "just --command rm x",
        "docker run --entrypoint rm x y",
        "docker exec -it --unknown rm x",
        "kubectl run x --overrides rm --image y -- ls",
        "kubectl exec a b -- rm x",
        "mise exec -c 'rm x'",
        "uv run --env-file rm x",
        "npx -c 'rm x'",
        "xvfb-run --weird rm x",
        "make 'X=$(shell rm x)'",
        "make SHELL=x",
        "alias ls=rm",
        "unalias ls",
        "enable -f ./x.so x",
        "enable -n cd",
        "hash -p ./x ls",
        "export PATH=./b",
        "export BASH_ENV=x",
        "export LD_PRELOAD=./x.so",
        "declare -x PATH=./b",
        "declare PATH=./b",
        "declare 'a[$(rm x)]=1'",
        "readonly PATH=x",
        "typeset -n x=PATH",
        "local IFS=x",
        "read 'a[$(rm x)]'",
        "read PATH",
        "read -a PATH",
        "printf -v 'a[$(rm x)]' y",
        "printf -v PATH y",
        "printf -vPATH y",
        "let 'a[$(rm x)]=1'",
        "let x",
        "test -v 'a[$(rm x)]'",
        "[ -v 'a[$(rm x)]' ]",
        "unset 'a[$(rm x)]'",
        "getopts x 'a[$(rm x)]'",
        "wait -p 'a[$(rm x)]'",
        "mapfile -C 'rm x' -c 1",
        "mapfile 'a[$(rm x)]'",
        "readarray PATH",
        "set -o posix",
        "set -k",
        "set -- x",
        "shopt -s expand_aliases",
        "bind -x x",
        "complete -C x y",
        "compgen -C x",
        "compgen -W '$(x)'",
        "fc -s",
        "history -s x",
        "env PATH=./b ls",
        "env LD_PRELOAD=./x.so ls",
        "sudo PATH=./b ls",
        "parallel",
        "parallel rm",
        "xargs sh",
        "xargs env",
        "xargs sh -c",
        "xargs -I{} {} x",
        "xargs -I{} sh -c 'rm {}'",
        "find . -exec {} ;",
        "find . -exec sh -c {} ;",
        "find . -exec sh {} ;",
        "tmux new 'rm x'",
        "tmux send-keys x",
        "tmux",
        "screen -dm x",
        "tar --to-command=x -xf a",
        "tar --to-com x -xf a",
        "tar cIf prog a b",
        "tar -I prog -cf a b",
        "tar --checkpoint-action=exec=x",
        "tar -xFf x a",
        "rsync -e x a b",
        "rsync -ave x a b",
        "rsync --rsh=x a b",
        "rsync --rsync-path=x a b",
        "sort --compress-program=x f",
        "sort --compress-prog=x f",
        "split --filter=x f",
        "rg --pre=x y",
        "rg --pre x y",
        "zip -T x",
        "zip --unzip-command=x y",
        "git -c alias.x='!sh' x",
        "git -c core.pager=x log",
        "git -c core.pager=x -p log",
        "git --config-env=a=b x",
        "git --exec-path=x y",
        "git -p log",
        "git x",
        "git difftool",
        "git submodule update",
        "git fetch --upload-pack=x o",
        "git clone --upload-pack x o",
        "git clone -u x o",
        "git clone -c core.fsmonitor=x o",
        "git clone --config core.fsmonitor=x o",
        "git clone 'ext::rm x'",
        "git push --receive-pack=x o",
        "git push --rec=x o",
        "git grep -Ox y",
        "git grep --open-files-in-pager=x y",
        "git log --ext-diff",
        "git config core.pager x",
        "git config alias.x '!rm x'",
        "git filter-branch --tree-filter x",
        "git hook run x",
        "git rebase -i x",
        "cargo --config x=y build",
        "npm exec -c 'rm x'",
        "npx -c 'rm x'",
        "curl -K f",
        "wget -e x y",
        "wget --use-askpass=x y",
        "go test -exec x ./...",
        "go build -toolexec=x",
        "gcc -wrapper x,y f.c",
        "go vet -vettool=x",
        "man -P x y",
        "man --pager=x y",
        "less '+!rm x' f",
        "sqlite3 f",
        "sqlite3 f '.shell rm x'",
        "psql",
        "psql -c '\\! rm x'",
        "psql -f f",
        "sftp host",
        "ssh -o ProxyCommand=x host y",
        "ssh -oProxyCommand=x host y",
        "ssh -F f host y",
        "scp -S x a b",
        "scp -oProxyCommand=x a b",
        "env -S 'a${X} b'",
        "env --weird rm x",
        "sudo -h rm",
        "timeout --weird 5 rm x",
        "xargs --weird rm",
        "strace --weird rm x",
        "nsenter -t 1 rm x",
        "bwrap --x y",
        "toybox rm x",
        "entr rm x",
        "systemd-run rm x",
        "sh -c '\"$@\"' sh rm x",
        "man -H y",
        "apt-get -o x=y install z",
        "gdb -ex x y",
        "m4 f",
        "for x",
        "env FOO=1 ls",
    ] {
        let found = of(text);
        if !found.untold {
            wrong.push(format!("{text}: {found:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn nothing_is_carried_where_nothing_runs() {
    let mut wrong = Vec::new();
    for text in [
        "ls -la",
        "cat rm",
        "grep -rn 'rm x' src",
        "echo rm x",
        "rm -rf x",
        "git status",
        "git commit -m 'rm x; curl y'",
        "git log --oneline -5",
        "git add -A",
        "git push origin main",
        "git -C d -c user.name=x commit -m y",
        "git rebase main",
        "git config --get user.name",
        "git config user.name 'A B'",
        "git submodule status",
        "cargo test --all",
        "cargo build",
        "npm test",
        "npm run build",
        "npm install x",
        "make",
        "make -j4 all",
        "make V=1",
        "python3 x.py",
        "python3 -m pytest -q",
        "python3 --version",
        "node --version",
        "node x.js",
        "perl x.pl",
        "command -v rm",
        "command -V rm",
        "env",
        "env -0",
        "sudo -l",
        "sudo -v",
        "sudo --version",
        "trap",
        "trap -p",
        "trap - EXIT",
        "exec",
        "alias",
        "export",
        "export -p",
        "export NO_COLOR=1",
        "export LC_ALL=C",
        "declare x=1",
        "local tmp=1",
        "readonly x",
        "read line",
        "read -r a b",
        "read -ra parts",
        "mapfile -t lines",
        "printf '%s\\n' x",
        "printf -v out x",
        "test -f x",
        "[ -f x ]",
        "[ x = y ]",
        "unset x",
        "let 1+1",
        "set -e",
        "set -euo pipefail",
        "set -x",
        "set +e",
        "shopt",
        "shopt globstar",
        "hash",
        "hash -r",
        "enable",
        "wait",
        "wait -n",
        "wait 5",
        "fc -l",
        "history",
        "history -c",
        "cd x",
        "exit 1",
        "return 1",
        "true",
        ":",
        "type rm",
        "umask 022",
        "kill 5",
        "sed -n 1,80p f",
        "sed -i 's/a/b/g' f",
        "sed -e 1d -e '$d' f",
        "sed '/x/d' f",
        "awk '{print $1}' f",
        "awk '$1==1||$2>1' f",
        "git -c core.pager=cat log",
        "git -c core.fsmonitor=false status",
        "awk -F: '{print $2}' f",
        "awk -v x=1 'NR>x' f",
        "find . -name '*.rs'",
        "find . -delete",
        "tar xf a.tar",
        "tar -czf a.tgz d",
        "rsync -av a b",
        "curl -s url",
        "wget url",
        "jq .x f",
        "docker ps",
        "docker build -t rm .",
        "tmux ls",
        "crontab -l",
        "ionice -p 5",
        "taskset -p 5",
        "chrt -p 5",
        "man ls",
        "less f",
        "sqlite3 f 'select 1'",
        "ssh -V",
        "ssh -N host",
        "sort -u f",
        "xargs",
        "time",
        "watch",
        "busybox",
        "bash --version",
        "rustup show",
        "docker run",
        "go build ./...",
        "gcc -O2 x.c",
        "kubectl get pods",
        "uv pip install x",
        "which rm",
        "git fetch origin main",
        "git clone https://x/y",
        "git stash",
        "patch -p1",
        "docker run",
        "poetry install",
    ] {
        let found = of(text);
        if found != Carried::default() {
            wrong.push(format!("{text}: {found:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_the_words_leave_open_is_marked() {
    for (text, want) in [
        ("xargs rm", &["rm …"][..]),
        ("xargs -0 -n 1 -P4 rm -f", &["rm -f …"]),
        ("xargs -n1 rm", &["rm …"]),
        ("xargs --max-args=1 --no-run rm", &["rm …"]),
        ("xargs -d , rm", &["rm …"]),
        ("xargs -a f rm", &["rm …"]),
        ("xargs -I{} rm {} y", &["rm {} y …", "rm …"]),
        ("xargs -I % rm % y", &["rm % y …", "rm …"]),
        ("xargs -i rm {}", &["rm {} …", "rm …"]),
        ("find . -exec rm {} +", &["rm {} …", "rm …"]),
        ("find . -exec rm -f {} ;", &["rm -f {} …", "rm -f …"]),
        ("find . -exec a + ; -exec rm {} +", &["a +", "rm {} …", "rm …"]),
    ] {
        let found = of(text);
        assert_eq!(commands(&found), want, "{text}");
        assert!(!found.untold && !found.guessed, "{text}: {found:?}");
    }
}

#[test]
fn scripts_are_found_behind_what_is_not_told() {
    for (text, script) in [
        ("xargs sh -c 'rm x'", None),
        ("find . -exec sh -c 'rm {}' ;", None),
        ("env -S 'sh -c' 'rm x'", Some("sh -c 'rm x'")),
        ("tmux new 'rm x'", Some("rm x")),
        ("tmux new-session -d -s a 'rm x'", Some("rm x")),
        ("git -c alias.x='!rm x' x", Some("rm x")),
        ("git submodule foreach 'rm x'", Some("rm x")),
        ("git submodule foreach --recursive rm x", Some("rm x")),
        ("git clone 'ext::rm x'", Some("rm x")),
        ("git difftool -x 'rm x'", Some("rm x")),
        ("tar --to-command='rm x' -xf a", Some("rm x")),
        ("tar --checkpoint-action=exec='rm x' -cf a b", Some("rm x")),
        ("tar -I 'rm x' -cf a b", Some("rm x")),
        ("rsync -e 'rm x' a b", Some("rm x")),
        ("python3 -c 'import os; os.system(\"rm x\")'", Some("rm x")),
        ("awk 'BEGIN{system(\"rm x\")}'", Some("rm x")),
        ("sed '1e rm x' f", Some("rm x")),
        ("mapfile -C 'rm x' y", Some("rm x")),
        ("alias ls='rm x'", Some("rm x")),
        ("parallel rm {} ::: x", Some("rm {} x")),
        ("parallel ::: 'rm x'", Some("rm x")),
        ("npx -c 'rm x'", Some("rm x")),
        ("ssh -o ProxyCommand='rm x' host y", Some("rm x")),
        ("env --weird sh -c 'rm x'", Some("rm x")),
        ("capsh --drop=x -- -c 'rm x'", Some("rm x")),
        ("sh -c'rm x'", Some("rm x")),
        ("foo --run 'rm x'", Some("rm x")),
        ("less '+!rm x' f", Some("rm x")),
        ("sqlite3 f '.shell rm x'", Some("rm x")),
        ("psql -c '\\! rm x'", None),
        ("strace -o '|rm x' y", Some("rm x")),
        ("declare 'a[$(rm x)]=1'", Some("a[$(rm x)]=1")),
        ("test -v 'a[$(rm x)]'", Some("a[$(rm x)]")),
    ] {
        let found = of(text);
        if let Some(script) = script {
            assert!(found.scripts.iter().any(|s| s == script), "{text}: {found:?}");
            continue;
        }
        // One level down.
        let inner = found.commands.iter().flat_map(|c| carried(&c.words).scripts);
        let all: Vec<String> = inner.chain(found.scripts.clone()).collect();
        assert!(all.iter().any(|s| s.contains("rm")), "{text}: {all:?}");
    }
}

#[test]
fn an_unknown_option_or_program_makes_every_word_a_start() {
    let found = of("env --weird a b rm x");
    assert!(found.untold && found.guessed);
    let found = of("foo a rm x");
    assert!(!found.untold && found.guessed);
    // A file of the workspace is unknown whatever its name is.
    assert!(of("./cat rm x").guessed);
    assert!(!of("/bin/cat rm x").guessed);
}

#[test]
fn a_shell_among_words_that_are_guessed_at_is_looked_into() {
    for (text, script) in
        [("foo sh -c 'rm x'", "rm x"), ("foo a b bash -ec '$(x)'", "$(x)"), ("./cat env -S 'rm x'", "rm x ")]
    {
        assert_eq!(of(text).guessed_scripts, [script], "{text}");
    }
    for text in
        ["foo perl -e x", "foo awk '{system($1)}'", "foo python3.11 -c x", "foo sed 1e", "foo sh -s x"]
    {
        assert!(of(text).untold, "{text}");
    }
    for text in
        ["foo bash", "foo python x.py", "foo bash x.sh -c", "foo set x", "foo awk '{print}'", "foo read x"]
    {
        let found = of(text);
        assert!(!found.untold && found.guessed_scripts.is_empty(), "{text}: {found:?}");
    }
}

#[test]
fn the_exact_ones_say_nothing_more() {
    tells("env LC_ALL=C timeout 5 rm x", &["timeout 5 rm x"], &[]);
    tells("sh -c 'rm x'", &[], &["rm x"]);
    tells("find . -exec rm x ; -exec touch y ;", &["rm x", "touch y"], &[]);
}

/// Everything that is reached, level by level.
fn reaches(words: &[String], program: &str, depth: usize) -> bool {
    let found = carried(words);
    let is_it = |word: &String| word.rsplit('/').next() == Some(program);
    let here = found.commands.iter().any(|c| is_it(&c.words[0]));
    here || found.guessed && words.iter().any(is_it)
        || (depth > 0
            && !found.guessed
            && found.commands.iter().any(|c| reaches(&c.words, program, depth - 1)))
}

proptest! {
    /// Carriers in any order, with any of their options, lead to the command.
    #[test]
    fn any_chain_of_carriers_leads_to_the_command(
        chain in prop::collection::vec(
            prop::sample::select(vec![
                "env", "env -i", "env -u X", "env A=1", "sudo -u root", "sudo", "timeout 5", "timeout -k 1 5", "nice -n 3",
                "nohup", "stdbuf -oL", "setsid", "ionice -c3", "taskset 1", "flock f", "strace -f", "command", "exec -a x",
                "xargs", "xargs -n 1", "busybox", "time -p", "env --what", "foo", "npx --yes", "doas", "watch -x",
            ]),
            1..6,
        )
    ) {
        let text = format!("{} rm x", chain.join(" "));
        prop_assert!(reaches(&words(&text), "rm", 8), "{}", text);
    }

    #[test]
    fn any_words_are_read_within_bounds(
        words in prop::collection::vec("[-a-z='$|;{}:!/ 0-9]{0,8}|env|sh|-c|xargs|find|-exec|git|sed|awk|sudo|eval", 0..40)
    ) {
        let found = carried(&words);
        let size: usize = words.iter().map(|w| w.len() + 1).sum();
        let scripts: usize = found.scripts.iter().map(String::len).sum();
        let commands: usize = found.commands.iter().flat_map(|c| &c.words).map(|w| w.len() + 1).sum();
        prop_assert!(commands <= 2 * MAX_GUESSED_WORDS * (size + 1), "{} of {}", commands, size);
        prop_assert!(scripts <= 8 * MAX_GUESSED_WORDS * (size + 1), "{} of {}", scripts, size);
        // One level of what is not guessed is shorter, so that asking again ends.
        if !found.guessed {
            let length = |words: &[String]| words.iter().map(|w| w.len() + 1).sum::<usize>();
            prop_assert!(found.commands.iter().all(|c| length(&c.words) < length(&words)));
        }
        let _ = transparent(&words);
    }
}

#[test]
fn subcommands_options_and_forms_of_tools_tell_what_they_run() {
    for text in [
        "conda run touch x",
        "mise exec touch x",
        "jj util exec -- touch x",
        "mix cmd touch x",
        "stack exec -- touch x",
        "tox exec -e py -- touch x",
        "meson devenv touch x",
        "podman unshare touch x",
        "pnpm touch x",
        "pnpm --filter web touch x",
        "bun run touch x",
    ] {
        assert!(commands(&of(text)).contains(&"touch x".to_owned()), "{text}: {:?}", of(text));
    }
    for text in [
        "direnv exec . touch x",
        "mise exec node@22 -- touch x",
        "xvfb-run -a --server-args='-screen 0 800x600x24' touch x",
        "cross-env NODE_ENV=production touch x",
        "docker exec -it -e A=b web touch x",
        "docker exec -itu root web touch x",
        "docker run --rm -it -v a:/b --name=c node:22 touch x",
        "docker create --name c node:22 touch x",
        "docker compose -f x.yml exec -T web touch x",
        "docker compose run --rm --no-deps web touch x",
        "podman run --rm alpine touch x",
        "kubectl exec pod -- touch x",
        "kubectl exec -it pod -n prod -c app -- touch x",
        "kubectl run x --image=y --rm -it -- touch x",
        "kubectl debug node/x --image=y -- touch x",
        "oc rsh pod touch x",
        "uv run --with y --python 3.12 touch x",
        "uv tool run --from y touch x",
        "conda run -n base --no-capture-output touch x",
        "pixi r touch x",
        "npx -y -p y touch x",
        "npm exec --package=y -- touch x",
        "poetry run -- touch x",
    ] {
        let found = of(text);
        assert!(found.exact && !found.untold, "{text}: {found:?}");
        assert!(commands(&of(text)).contains(&"touch x".to_owned()), "{text}: {:?}", of(text));
    }
    assert_eq!(commands(&of("yarn node -e x")), ["node -e x"]);
    for (text, script) in [
        ("hg bisect -c 'touch x'", "touch x"),
        ("hg bisect --command 'touch x'", "touch x"),
        ("hg extdiff -p touch", "touch"),
        ("apt-cache -o Dir::Bin::dpkg=touch policy", "Dir::Bin::dpkg=touch"),
        ("pip --python touch list", "touch"),
        ("gcc -Wl,-plugin=./touch m.c", "./touch"),
        ("rake -e x", "x"),
        ("mix run -e x", "x"),
        ("bazel run --run_under=touch x", "touch"),
        ("sbt '!touch x'", "touch x"),
        ("mvn exec:exec -Dexec.executable=touch", "touch"),
        ("mypy --python-executable touch x", "touch"),
        ("cargo rustc -- -C linker=touch", "touch"),
        ("tox -x testenv.commands=touch", "touch"),
        ("go build -ldflags=-extld=touch", "-extld=touch"),
        ("npm -script-shell=touch run x", "touch"),
    ] {
        let found = of(text);
        assert!(found.untold && found.scripts.iter().any(|found| found == script), "{text}: {found:?}");
    }
    for text in ["pandoc -t x.lua f", "jj --config x=y log"] {
        assert!(of(text).untold, "{text}");
    }
    for text in [
        "make -f x.mk all",
        "make --file=x.mk",
        "just -f x all",
        "docker network create x",
        "hg diff -c 1",
        "jj diff --to x",
        "pnpm install",
        "tox -e py",
        "cargo run -- @alice",
        "cargo test -- --nocapture",
        "cargo clippy -- -D warnings",
        "dotnet run -- @alice",
        "go get example.com/x@v1",
        "npm install @types/node",
        "pytest -q tests",
        "ruff check src",
        "go build -ldflags=-s",
        "pandoc -t html f",
    ] {
        assert!(!of(text).untold && of(text).commands.is_empty(), "{text}: {:?}", of(text));
    }
}
