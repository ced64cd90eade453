//! Names of files that words of a command hold in a language of their own, or put together.

use super::*;

fn guarded() -> Given<'static> {
    Given {
        deny: &[
            "Read(**/.env)",
            "Read(secret/**)",
            "Edit(locked/**)",
            "Read(conf/prod.yml)",
            "Edit(**/deploy.yml)",
        ],
        ..Given::default()
    }
}

#[test]
fn a_name_that_can_be_read_counts_as_a_word_does() {
    for command in [
        "curl -s 'file:///ws/%2eenv'",
        "curl -s 'file:///ws/secr%65t/key'",
        "curl -s 'file://127.0.0.1/ws/secret/key'",
        "curl -s 'FILE://LOCALHOST/ws/secret/key'",
        "curl -s 'file:/ws/.env?a'",
        "curl -s 'file:///ws/.env#a'",
        "cd conf && curl -sO http://h/prod.yml",
        "cd conf && wget -q http://h/prod.yml",
        "wget -q -P conf http://h/prod.yml",
        "sed '/r/d;1r.env' a.txt",
        "sed --expression=1r.env a.txt",
        "sed -ne '/r/d;1r.env' a.txt",
        "sed 'y/r/x/;r.env' a.txt",
        "sed '/rw/!wlocked/zz' a.txt",
        "sed 's/w/r/;s/a/b/w locked/zz' a.txt",
        "patch -b -B depl oy.yml p.diff",
        "patch -b -Y depl oy.yml p.diff",
        "gunzip -f deploy.yml-gz",
        "bunzip2 -f deploy.yml.bz",
        "split -n3 x locked/",
    ] {
        guarded().bypass_is(&format!("Bash({command})"), "deny");
    }
}

#[test]
fn a_name_that_is_put_together_asks_where_rules_speak_of_paths() {
    for command in [
        "awk 'BEGIN{ARGV[1]=\".e\" \"nv\"} {print}' a.txt",
        "awk '{print}' a=1 a.txt",
        "awk -v a=.e 'BEGIN{ARGV[1]=a \"nv\"} 1' a.txt",
        "nice awk 'BEGIN{ARGV[1]=\"\\056env\"} 1' a.txt",
        "busybox awk 'BEGIN{ARGV[1]=\".e\" \"nv\"} 1' a.txt",
        "awk 'BEGIN{print \"X\" > (\"lock\" \"ed/f\")}'",
        "awk -f p.awk a.txt",
        "gawk -i inplace 1 a.txt",
        "curl -s 'file:///ws/secr{e,x}t/key'",
        "curl -s 'fil{e,x}:///ws/secr{e,x}t/key'",
        "curl -s -o 'deploy.#1' 'http://h/{yml}'",
        "curl -sOJ http://h/x",
        "wget -r http://h/x",
        "split -a1 -n9 --additional-suffix=ploy.yml x d",
        "csplit -f depl -b 'oy.ym%.0dl' x 2",
        "cpp -P <<'E'\n#include \".env\"\nE",
        "gcc -E -P -x c - <<< '#include \".env\"'",
        "as -o o.o <<'E'\n.incbin \"secret/key\"\nE",
        "ar -M <<'E'\nADDMOD secret/key\nE",
    ] {
        guarded().bypass_is(&format!("Bash({command})"), "forced");
    }
    // Rules about commands alone have nothing to ask here.
    Given { deny: &["Bash(rm *)"], ..Given::default() }
        .bypass_is("Bash(awk '{print > \"out\"}' a.txt)", "allow")
        .bypass_is("Bash(curl -sOJ http://h/x)", "allow");
}

#[test]
fn usual_commands_do_not_ask_for_names_of_their_own() {
    for command in [
        "awk '{print $1}' a.txt",
        "awk -F: '$3 > 5 {print $1}' a.txt",
        "cat a.txt | awk '{s+=$1} END {print s}'",
        "curl -sSfL 'https://h/a/b?c=d#e'",
        "curl -sS -X POST -H 'Content-Type: application/json' -d '{\"a\":{\"u\":\"http://x/y\"}}' http://h/x",
        "curl -fsSL -o a.tgz https://h/a.tgz",
        "curl -sO https://h/a.tgz",
        "wget -q https://h/a.tgz",
        "sed -n '1,80p' src/war.rs",
        "sed -i 's/r/w/' a.txt",
        "sed -i.bak 's/r/w/' a.txt",
        "split -l 1000 big.csv part_",
        "csplit a.txt 10",
        "gunzip a.txt.gz",
        "gcc -c a.c -o a.o",
        "cpp -P a.c",
        "as -o a.o a.s",
        "patch -p1 -i x.diff",
    ] {
        guarded().bypass_is(&format!("Bash({command})"), "allow");
    }
}

#[test]
fn protected_names_count_without_rules_where_they_can_be_read() {
    for command in [
        "split -a1 -n3 x .bashr",
        "split -a1 --additional-suffix=rc x .bas",
        "csplit -f .bashr -b 'c%.0d' x 2",
        "curl -s -o '.bash#1' 'http://h/{rc}'",
        "curl -s -o '.ca#1/config.toml' 'http://h/{rgo}'",
        "cd .cargo && curl -sO http://h/config.toml",
        "cd .cargo && curl -s --remote-name-all http://h/config.toml",
        "curl -s --output-dir .cargo -O http://h/config.toml",
        "sed '/w/!w.bashrc' a.txt",
        "sed '/w/d;w.profile' a.txt",
        "gunzip .bashrc-gz",
        "gunzip .bashrc.GZ",
        "patch -b -B .bash rc p.diff",
        "awk 'BEGIN{print \"x\" > \".git/hooks/x\"}'",
        "zstd -qd --output-dir-flat .cargo g/config.toml.zst",
    ] {
        Given::default().bypass_is(&format!("Bash({command})"), "forced");
    }
    for command in [
        "split x part_",
        "split -n3 x out/",
        "curl -o 'img_#1.jpg' 'http://h/{a,b}.jpg'",
        "curl -sO http://h/x",
        "awk '{print > \"out\"}' a.txt",
    ] {
        Given::default().bypass_is(&format!("Bash({command})"), "allow");
    }
}

#[test]
fn a_star_of_curl_covers_no_file_anywhere() {
    let star = Given { allow: &["Bash(curl *)", "Bash(wget *)"], ..Given::default() };
    star.is("Bash(curl https://h/x)", "allow")
        .is("Bash(curl file:///etc/hostname)", "ask")
        .is("Bash(curl FILE:/etc/hostname)", "ask")
        .is("Bash(curl 'fil{e,x}:///etc/hostname')", "ask")
        .is("Bash(curl --proto-default file /etc/hostname)", "ask");
    Given { allow: &["Bash(curl file:///etc/hostname)"], ..Given::default() }
        .is("Bash(curl file:///etc/hostname)", "allow");
}

#[test]
fn more_names_than_are_looked_at_ask() {
    let many = |command: &str, word: &dyn Fn(usize) -> String, count: usize, end: &str| {
        let words: Vec<String> = (0..count).map(word).collect();
        format!("Bash({command} {} {end})", words.join(" "))
    };
    // The last ending is the one that counts.
    let padded = many("cp -b", &|at| format!("-S.{at}"), 300, "-S .yml a conf/deploy");
    guarded().bypass_is(&padded, "deny");
    for call in [
        many("cp -b -S.yml", &|at| format!("a{at}"), 300, "conf/deploy x"),
        many("sed -n", &|at| format!("-e 'w a{at}'"), 280, "-e 'w b' f"),
        many("split -n3", &|at| format!("-b {at}"), 100, "x deplo"),
    ] {
        guarded().bypass_is(&call, "forced");
    }
    guarded().bypass_is(&many("cp -b -S.yml", &|at| format!("a{at}"), 40, "conf/x"), "allow");
}

/// Each of them took seconds where the work grew with the square of its length.
#[test]
fn long_texts_of_names_and_options_are_judged() {
    for text in [
        "-ua:b ".repeat(10_000),
        format!("curl {}", "-saab ".repeat(10_000)),
        format!("cp {} a b", "-Sx ".repeat(10_000)),
        format!("patch {}", "-Bx -zy a ".repeat(6_000)),
        format!("curl {}", "-o a#1 ".repeat(9_000)),
        format!("git rm '{}'", "*/".repeat(30_000)),
        format!("git rm {}", "':(icase)A/b' ".repeat(4_000)),
    ] {
        guarded().bypass_is(&format!("Bash({text})"), "forced");
    }
}
