//! What each line of the table allows, and what it must not.

use super::*;

fn words(text: &str) -> Vec<String> {
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

fn read(command: &str) -> Option<(Vec<String>, bool)> {
    let found = known_use(&words(command))?;
    assert!(found.operands.iter().all(|o| o.access == Access::Read), "{command}");
    Some((found.operands.into_iter().map(|o| o.path).collect(), found.recursive))
}

#[test]
fn harmless_commands_give_their_paths() {
    for (command, paths, recursive) in [
        ("ls", &["."][..], false),
        ("ls -la src", &["src"], false),
        ("ls -R", &["."], true),
        ("ls --recursive src", &["src"], true),
        ("ls -lC --width=80 --block-size=M", &["."], false),
        ("ls --color=never src", &["src"], false),
        ("pwd", &[], false),
        ("cat a b", &["a", "b"], false),
        ("cat -- -x", &["-x"], false),
        ("cat -", &["-"], false),
        ("head -20 f", &["f"], false),
        ("head -n 5 f", &["f"], false),
        ("head -n5 f", &["f"], false),
        ("tail --lines=5 f", &["f"], false),
        ("tail --lines 5 f", &["f"], false),
        ("tail +5 f", &["+5", "f"], false),
        ("cat - f", &["-", "f"], false),
        ("rev -", &["-"], false),
        ("wc -l a", &["a"], false),
        ("sort -k 2 -n f", &["f"], false),
        ("uniq -c f", &["f"], false),
        ("comm -12 a b", &["a", "b"], false),
        ("paste -sd , f", &["f"], false),
        ("join -1 2 a b", &["a", "b"], false),
        ("nl f", &["f"], false),
        ("base64 -d f", &["f"], false),
        ("fold -w 80 f", &["f"], false),
        ("grep -n x f", &["f"], false),
        ("grep -P -5 x f", &["f"], false),
        ("grep -rn x", &["."], true),
        ("grep -e x f", &["f"], false),
        ("grep --recursive --line-number x", &["."], true),
        ("grep -rn x --binary-files=without-match src", &["src"], true),
        ("grep -A 3 x f", &["f"], false),
        ("grep --include '*.rs' -r x src", &["src"], true),
        ("egrep 'a|b' f", &["f"], false),
        ("rg -n x src", &["src"], true),
        ("rg x", &["."], true),
        ("rg --files", &["."], true),
        ("rg --files -g *.rs src", &["src"], true),
        ("rg -e x src", &["src"], true),
        ("rg -.pb -j4 --max-filesize 1M --no-ignore-vcs x src", &["src"], true),
        ("rg --type-add 'x:*.y' -t x -E utf-8 --crlf y", &["."], true),
        ("rg --type-list", &["."], true),
        ("rg --passthru --include-zero --one-file-system --glob-case-insensitive x f", &["f"], true),
        ("rg -uu --files-with-matches x", &["."], true),
        ("sed -n 1,80p f", &["f"], false),
        ("sed -n '/x/,/y/p' f", &["f"], false),
        ("sed -e 1d -e s/a/b/ f", &["f"], false),
        ("sed s/a/b/ f", &["f"], false),
        ("sed -E 's/[^:a-z]+$//' f", &["f"], false),
        ("awk '{print $1}' f", &["f"], false),
        ("awk -F: -v x=1 'NR == x' f", &["f"], false),
        ("awk 'NR>=10 && NR<=20' f", &["f"], false),
        ("awk 'NR>=10 && NR<=20 {print NR, $0}' f", &["f"], false),
        ("awk 'length > 100' f", &["f"], false),
        ("awk 'BEGIN {print ENVIRON[1]}' f", &["f"], false),
        ("awk '$3 > 100 || $2 > 1 {print $1}' f", &["f"], false),
        ("awk '{ if ($2 >= 10 || $1) print $1 }' f", &["f"], false),
        ("jq .x f", &["f"], false),
        ("jq '.importance, .imports, .includes[]' f", &["f"], false),
        ("printf '%ld %5llu' 1 2", &[], false),
        ("b2sum f", &["f"], false),
        ("sum -s f", &["f"], false),
        ("jq --arg a b --argjson n 1 '.[$a]' f", &["f"], false),
        ("jq '.[$a]' f --arg a --import --indent 1", &["f"], false),
        ("jq . -- --arg", &["--arg"], false),
        ("jq -r '.[] | .name'", &[], false),
        ("find . -name *.rs -type f", &["."], true),
        ("find -maxdepth 1", &["."], true),
        ("find a b -not -path x -printf '%p'", &["a", "b"], true),
        ("find src -newer f -type f", &["src", "f"], true),
        ("find -samefile f -o -cnewer g -o -anewer h", &[".", "f", "g", "h"], true),
        ("find . -newermt '2024-01-01' -lname 'x*' -uid 0 -fstype ext4 -used 1", &["."], true),
        ("find . -noleaf -warn -d -ignore_readdir_race", &["."], true),
        ("tree -L 2 -aI node_modules src", &["src"], true),
        ("od -w f", &["f"], false),
        ("od -w8 f", &["f"], false),
        ("diff -U5 a b", &["a", "b"], false),
        ("awk '{print}' -x f", &["-x", "f"], false),
        ("od -S 3 f", &["f"], false),
        ("xxd -l 16 f", &["f"], false),
        ("xxd -c8 -g 1 f", &["f"], false),
        ("xxd -s -16 -l 0x10 f", &["f"], false),
        ("xxd -ps f", &["f"], false),
        ("xxd -plain -u f", &["f"], false),
        ("tree --charset ascii src", &["src"], true),
        ("tree --charset -L out 2", &["out", "2"], true),
        ("date -d 'next monday'", &[], false),
        ("hexdump -C -n 16 f", &["f"], false),
        ("strings -n 8 f", &["f"], false),
        ("date +%s", &[], false),
        ("date -d yesterday +%F", &[], false),
        ("date -Iseconds", &[], false),
        ("echo -x anything", &[], false),
        ("printf '%s %5d%%' a 1", &[], false),
        ("test -f x", &["x"], false),
        ("[ -d x ]", &["x"], false),
        ("[ ! -e x ]", &["x"], false),
        ("[ a = b ]", &[], false),
        ("[ a -nt b ]", &["a", "b"], false),
        ("test -z x", &[], false),
        ("du -sh .", &["."], true),
        ("du -sh --exclude=target src", &["src"], true),
        ("stat -L -c %s f", &["f"], false),
        ("diff --strip-trailing-cr a b", &["a", "b"], false),
        ("nproc --all", &[], false),
        ("uptime -p", &[], false),
        ("ulimit -n", &[], false),
        ("cd src", &["src"], false),
        ("command -v cargo ./x", &["./x"], false),
        ("type ls a/b", &["a/b"], false),
        ("which ls /x/y", &["/x/y"], false),
        ("find . -type f -executable -name x", &["."], true),
        ("find . -printf '%TY %-5AY %%Y %s'", &["."], true),
        ("find . -type d -printf %Y", &["."], true),
        ("find . ( -name a -o -name b ) -type f -exec grep -e x {} ;", &["."], true),
        ("find a b -path x -prune -o -type f -exec sed -n 1,5p {} + -print", &["a", "b"], true),
        ("find . -exec head -n 5 {} f ; -exec wc {} +", &["f", "."], true),
        ("awk -v n=5 -v OFS=, -vFS=: '{print n}' f", &["f"], false),
        ("which -a ls", &[], false),
        ("set -e", &[], false),
        ("set -euo pipefail", &[], false),
        ("exit 1", &[], false),
        ("true", &[], false),
        ("cat /dev/null", &[], false),
        ("grep -n x f /dev/null", &["f"], false),
        ("diff f /dev/null", &["f"], false),
        ("test -c /dev/null", &[], false),
        ("tee /dev/null", &[], false),
        ("tee", &[], false),
        ("ls --help", &[], false),
        ("rg --help", &[], false),
        ("mkdir --help", &[], false),
        ("[ -f a -a -d b ]", &["a", "b"], false),
        ("test -e a -o -L b -a -s c", &["a", "b", "c"], false),
        ("env", &[], false),
        ("printenv HOME", &[], false),
        ("git --version", &[], false),
        ("gcc --version", &[], false),
    ] {
        let want = (paths.iter().map(|s| (*s).to_owned()).collect(), recursive);
        assert_eq!(read(command), Some(want), "{command}");
    }
}

#[test]
fn a_version_of_a_proxy_is_marked() {
    for (command, proxy) in [
        ("cargo --version", Proxy::Rust),
        ("cargo -V", Proxy::Rust),
        ("rustc --version", Proxy::Rust),
        ("rustc -V", Proxy::Rust),
        ("rustc --version --verbose", Proxy::Rust),
        ("rustc -vV", Proxy::Rust),
        ("rustup --version", Proxy::Rust),
        ("python3 --version", Proxy::Python),
        ("python -V", Proxy::Python),
        ("node --version", Proxy::Node),
        ("node -v", Proxy::Node),
    ] {
        let known = known_use(&words(command)).unwrap();
        assert_eq!((known.proxy, known.operands.len()), (Some(proxy), 0), "{command}");
    }
    assert_eq!(known_use(&words("git --version")).unwrap().proxy, None);
}

#[test]
fn what_is_in_an_archive_is_told_in_a_few_forms() {
    for (command, paths) in [
        ("tar tf a.tar", &["a.tar"][..]),
        ("tar -tf a.tar", &["a.tar"]),
        ("tar tvf a.tar", &["a.tar"]),
        ("tar -tvf a.tar", &["a.tar"]),
        ("tar tzf a.tgz", &["a.tgz"]),
        ("tar -ztvf a.tgz src/x", &["a.tgz"]),
        ("unzip -l a.zip", &["a.zip", "a.zip.zip", "a.zip.ZIP"]),
        ("unzip -l a.jar META-INF/x", &["a.jar", "a.jar.zip", "a.jar.ZIP"]),
        ("gzip -l a.gz", &["a.gz", "a.gz.Z"]),
        ("zcat a.log.gz", &["a.log.gz", "a.log.gz.Z"]),
        ("gunzip -c a.gz b.tgz", &["a.gz", "b.tgz", "a.gz.Z", "b.tgz.Z"]),
        ("gzip -dc a.gz", &["a.gz", "a.gz.Z"]),
        ("ps", &[]),
        ("ps aux", &[]),
        ("ps -ef", &[]),
        ("ps -p 1,2", &[]),
        ("pgrep -f cargo", &[]),
        ("pgrep -laf -u root x", &[]),
        ("ss -ltnp", &[]),
        ("ss -tn state established", &[]),
        ("ss -tln sport = :8080", &[]),
        ("ss -n dst 10.0.0.1:443", &[]),
        ("ss -n dst [::1]:22", &[]),
        ("expr 1 + 1", &[]),
        ("expr 5 - 1", &[]),
        ("locale", &[]),
        ("locale -a", &[]),
        ("locale -k LC_TIME", &[]),
    ] {
        let (found, recursive) = read(command).expect(command);
        assert_eq!(
            (found.as_slice(), recursive),
            (&paths.iter().map(ToString::to_string).collect::<Vec<_>>()[..], false),
            "{command}"
        );
    }
    for command in [
        "tar xf a.tar",
        "tar tf a.tar -I cmd",
        "tar tf a.tar --to-command=x",
        "tar tf a.tar --checkpoint=1 --checkpoint-action=exec=x",
        "tar tf host:a.tar",
        "tar -tf user@host:a.tar x",
        "tar tf -",
        "tar tf --rsh-command=x",
        "tar tf",
        "tar t",
        "tar -t -f a.tar",
        "tar tIf x a.tar",
        "tar tFf x a.tar",
        "tar tTf x a.tar",
        "tar ttf a.tar",
        "tar txf a.tar",
        "tar tgf x a.tar",
        "tar --list --file=a.tar",
        "tar vf a.tar",
        "bsdtar tf a.tar",
        "unzip a.zip",
        "unzip -l *.zip",
        "unzip -l a.zip -d x",
        "unzip -p a.zip",
        "unzip -o a.zip",
        "gzip a",
        "gzip -l a",
        "gzip -d a.gz",
        "gzip -lr d.gz",
        "gunzip a.gz",
        "gunzip -c a",
        "zcat a",
        "zcat .gz",
        "zcat d/.gz",
        "zcat ok.gz .tgz",
        "gzip -dc d/.tgz",
        "gzip -l .gz",
        "zcat -f a.gz",
        "zcat",
        "ps auxe",
        "pgrep -F f x",
        "pgrep --pidfile f",
        "ss -tD out",
        "ss -Hn dst secret.evil.example:443",
        "ss -n src localhost",
        "ss -n dst ::a:1",
        "ss -n dst 1.",
        "ss -n dst 1.2.3.",
        "ss -n dst 1.2.3.4.:80",
        "ss -n dst 1.2.3.4/x",
        "ss -n sport = :http",
        "ss -K x",
        "ss -r",
        "ss -F f",
        "ss --diag=out",
        "ss -E",
        "ps e",
        "ps -o environ",
        "ps eww 1",
        "expr --version --x",
        "curl --version",
        "wget --version",
        "sqlite3 --version",
        "locale --x",
        "locale -m",
        "locale --charmaps",
        "npm -v",
    ] {
        assert_eq!(known_use(&words(command)), None, "{command}");
    }
    // With a rule for the program a star covers what it did.
    for program in ["tar", "unzip", "gzip", "ps", "expr", "locale"] {
        assert!(!is_listed(program), "{program}");
    }
}

#[test]
fn what_is_made_is_edited() {
    for (command, paths) in [
        ("mkdir build", &["build"][..]),
        ("mkdir -p a/b c", &["a/b", "c"]),
        ("mkdir --parents -v -- -x", &["-x"]),
    ] {
        let known = known_use(&words(command)).unwrap();
        assert!(!known.only_reads(), "{command}");
        let edited: Vec<&str> = known.operands.iter().map(|o| o.path.as_str()).collect();
        assert_eq!(edited, paths, "{command}");
        assert!(known.operands.iter().all(|o| o.access == Access::Edit), "{command}");
    }
    for command in [
        "mkdir",
        "mkdir -m 777 a",
        "mkdir -Z a",
        "mkdir -p .git/../x",
        "mkdir ''",
        "mkdir ../a",
        "touch a",
        "tee f",
        "tee /dev/null f",
        "tee -a f",
        "tee /dev/zero",
    ] {
        assert_eq!(known_use(&words(command)), None, "{command}");
    }
}

/// What is found and handed on unasked is a regular file, or no symlink may be beneath.
#[test]
fn what_find_hands_on_is_told() {
    for (command, follows) in [
        ("find . -type f -exec wc -l {} +", false),
        ("find . -name x -type f -exec cat {} ;", false),
        ("find . -name y -o -type f -exec cat {} +", false),
        ("find . -name x -exec cat {} +", true),
        ("find . ! -type f -exec cat {} +", true),
        ("find . ! ! -type f -exec cat {} +", false),
        ("find . ( -type f ) -exec cat {} +", true),
        ("find . -type f,l -exec cat {} +", true),
        ("find . -type f -o -exec cat {} +", true),
        ("find . -type f , -exec cat {} +", true),
        ("find . -exec cat {} + -type f", true),
    ] {
        let known = known_use(&words(command)).unwrap_or_else(|| panic!("{command}"));
        assert_eq!((known.follows_beneath, known.recursive), (follows, true), "{command}");
    }
    for command in [
        "find . -type f -exec rm {} +",
        "find . -type f -exec uniq {} +",
        "find . -type f -exec sh -c {} ;",
        "find . -type f -exec {} ;",
        "find . -type f -exec ./cat {} ;",
        "find . -type f -exec cat x ;",
        "find . -type f -exec cat {} {} ;",
        "find . -type f -exec cat {}x ;",
        "find . -type f -exec cat {}",
        "find . -type f -exec grep {} f ;",
        "find . -type f -exec grep -e {} f ;",
        "find . -type f -exec grep -r x {} ;",
        "find . -type f -exec sed -n {} f ;",
        "find . -type f -exec sed -i s/a/b/ {} ;",
        "find . -type f -execdir cat {} ;",
        "find . -type f -ok cat {} ;",
        "find . ( -type f -exec cat {} ; )",
        "find . -type f )",
        "find -L . -type f -exec cat {} +",
        "find . -follow -type f -exec cat {} +",
        "find . -executable",
        "find . -printf %5Y",
        "find . -printf '%TY%Y' -type f",
        "find . -type f -o -readable",
        "find . -writable -o -type f",
        "find . -type l -executable",
        "find . -executable -print -type f",
        "find . -files0-from f",
    ] {
        assert_eq!(known_use(&words(command)), None, "{command}");
    }
}

/// gawk(1): a file of translations, by whichever of its names.
#[test]
fn variables_that_awk_goes_by_are_not_set() {
    for value in [
        "TEXTDOMAIN=../../x",
        "awk::TEXTDOMAIN=x",
        "LINT=1",
        "ENVIRON=x",
        "PROCINFO=x",
        "FILENAME=x",
        "ARGV=x",
        "x",
    ] {
        assert_eq!(known_use(&words(&format!("gawk -v {value} {{print}} f"))), None, "{value}");
        assert_eq!(known_use(&words(&format!("gawk -v a=1 -v{value} {{print}} f"))), None, "{value}");
        assert_eq!(known_use(&words(&format!("gawk {{print}} {value}=1 f"))), None, "{value}");
    }
}

#[test]
fn trees_are_compared_where_no_link_is_followed() {
    let known = known_use(&words("diff -rq --no-dereference a b")).unwrap();
    assert!(known.recursive && !known.files_only && !known.follows_beneath);
    for command in ["diff -ru a b", "diff --recursive a b"] {
        let known = known_use(&words(command)).unwrap();
        assert!(known.recursive && !known.files_only && known.follows_beneath, "{command}");
    }
    assert!(!known_use(&words("diff -u a b")).unwrap().follows_beneath);
    assert!(known_use(&words("diff --no-dereference a b")).unwrap().recursive);
    assert_eq!(known_use(&words("diff -r --no-deref a b")), None);
    assert_eq!(known_use(&words("diff -r a b -- --no-dereference")), None);
}

#[test]
fn diff_is_known_of_files_alone() {
    let known = known_use(&words("diff -u a b")).unwrap();
    assert!(known.files_only && !known.recursive);
    assert_eq!(known.operands.len(), 2);
    assert!(!known_use(&words("cat a")).unwrap().files_only);
    for command in ["diff a", "diff a b c", "diff -r a", "diff -l a b", "diff --from-file=x a"] {
        assert_eq!(read(command), None, "{command}");
    }
}

#[test]
fn whatever_is_not_listed_is_unknown() {
    for command in [
        "sed -n '/[/p;#]/e id' f",
        "sed -e '/[/p' -e '#]/w out' f",
        "sed ':a#;w out' f",
        "sort --compress-prog=./h f",
        "sort --compress-program=./h f",
        "sort -o out f",
        "sort -uo out f",
        "sort -T d f",
        "sort --files0-from=x",
        "rg --pre=sh x",
        "rg --no-config x",
        "rg --ignore-messages x",
        "rg --pre sh x",
        "rg -z x",
        "rg -L x",
        "rg --hostname-bin=x y",
        "rg --regex=x",
        "rg -f x",
        "rg --ignore-file=x y",
        "rg --follow x",
        "rg -E",
        "grep -f list x",
        "grep -R x",
        "grep --recursiv x",
        "grep --dereference-recursive x",
        "grep -d recurse x",
        "sed w f",
        "sed 'w f'",
        "sed -n wf",
        "sed -n 1e f",
        "sed s/a/b/e f",
        "sed s/a/b/w f",
        "sed -e p -e 'r f'",
        "sed -i s/a/b/ f",
        "sed -ni p f",
        "sed --in-place p f",
        "sed -n -f s f",
        "sed -n",
        "awk '{system($1)}' f",
        "awk '{print > \"f\"}'",
        "awk '{print | \"sh\"}'",
        "awk 'BEGIN{while((getline x < \"f\")>0) print x}'",
        "awk '{print>\"f\"}'",
        "awk '{print $1 >> \"f\"}'",
        "awk '{print >>= \"f\"}'",
        "awk '{printf(\"x\") > \"f\"} NR > 1'",
        "awk '{print} $1 > 5' f",
        "awk '{print $1 ||| \"sh\"}'",
        "awk '{print |& \"sh\"}'",
        "awk '\"sh\" | getline'",
        "awk -f prog f",
        "awk '{f=\"system\"; @f(1)}'",
        "awk 'BEGIN{ARGV[1]=\"/etc/passwd\"}1' f",
        "awk '{print}' a=b f",
        "awk -i x y",
        "jq -f f",
        "jq --from-file f",
        "jq -L d .x",
        "jq --arg a",
        "jq --arg a b",
        "jq --arg -f x -f y",
        "jq --arg a b 'import \"x\" as x; .'",
        "jq --indent --arg --slurpfile a b .",
        "jq --args . a",
        "jq 'import \"x\" as x; .'",
        "jq '.a|include \"x\";.'",
        "jq '\"x\"|modulemeta'",
        "printf '%ln' PATH",
        "printf '%lls' x",
        "b2sum -c x",
        "jq --slurpfile a b .x",
        "jq --rawfile a b .x",
        "find -fprintf f x",
        "find . -exec sh -c id ;",
        "find . -delete",
        "find -L .",
        "find . -follow",
        "find . -ok x ;",
        "find . -fls f",
        "find . -fprint f",
        "find . -newer",
        "find . -newermm f",
        "find . -newermt 'TZ=\"out\" 0:00'",
        "find . -newerBt 'TZ=\"out\" 0:00'",
        "awk 'BEGIN {ENVIRON[1]; print strftime()}'",
        "awk 'BEGIN {bindtextdomain(1)}'",
        "awk 'BEGIN {dcngettext(1)}'",
        "find . -xtype l",
        "find -H .",
        "find . -files0-from f",
        "uniq in out",
        "comm a b c",
        "xxd in out",
        "xxd in -c8",
        "xxd -cols -s in",
        "xxd -seek -l in out",
        "xxd -cols -s -r -p in",
        "xxd -c -s in",
        "xxd -l in out",
        "xxd -off -l in",
        "xxd -pl out in",
        "xxd -pg x",
        "xxd -up in",
        "xxd -al x",
        "strings @f",
        "strings -- @f",
        "strings -n @f g",
        "strings --data @f",
        "date -d 'TZ=\"out\" 0:00'",
        "xxd -r in",
        "hexdump -f x y",
        "hexdump -e x y",
        "tail -f x",
        "tail -cf x",
        "tail -c f x",
        "tail +1f x",
        "tail +f x",
        "tail -- +3bf x",
        "tail --follow x",
        "tail -F x",
        "date -s x",
        "date --set=x",
        "date -f x",
        "date 010203",
        "file -m x y",
        "file -C",
        "file -z x",
        "du --files0-from=x",
        "wc --files0-from=x",
        "md5sum -c x",
        "tree -o f",
        "tree -Poo x out",
        "tree -L2o out",
        "tree -R",
        "tree -l",
        "tree --fromfile x",
        "printf -v x y",
        "printf '%n' PATH",
        "printf '%(%s)T'",
        "printf",
        "test -v x",
        "test -R x",
        "test -o x",
        "[ -f x",
        "[ -f x -a ! -f y ]",
        "[ -f x -a -v y ]",
        "[ -f = -a -f y ]",
        "[ -f -v -a -f y ]",
        "[ -f x -a a = b ]",
        "[ -f x -a -f ]",
        "[ ( -f x -a -f y ) ]",
        "cat /dev/zero /dev/null --help",
        "git --help",
        "env --help",
        "ls --help x",
        "python3 --version x",
        "python3 -VV",
        "python3 -v",
        "python3 -c 1",
        "python3.11 --version",
        "node -V",
        "node --version --require ./x",
        "rustc --verbose --version",
        "rustup show",
        "cargo -vV",
        "cargo --version --verbose",
        "java -version",
        "test -t 1",
        "cd",
        "cd -",
        "cd a b",
        "cd -e x",
        "pwd x",
        "head -n",
        "command ls",
        "command -p ls",
        "set -k",
        "set -- x",
        "set -o posix",
        "set -a",
        "exit 'a[$(x)]'",
        "env ls",
        "env A=1",
        "hostname x",
        "umask 0",
        "ulimit -n 100",
        "uptime x",
        "nproc --al",
        "export A=1",
        "read x",
        "eval x",
        "cargo --version x",
        "cargo +nightly --version",
        "cargo version",
        "cargo --vers",
        "go version",
        "npm --version",
        "./git --version",
        "git status",
        "cat --nu x",
        "ls --dired",
        "ls --colo",
        "less f",
        "man ls",
        "tee f",
        "xargs ls",
        "/bin/cat f",
        "",
    ] {
        assert_eq!(read(command), None, "{command}");
    }
}
