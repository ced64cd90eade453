//! Both forms of a patch, and what is no patch.

use super::*;

fn parse(text: &str) -> Patch {
    Patch::parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn error(text: &str) -> String {
    Patch::parse(text).unwrap_err().to_string()
}

/// A short form of a section: what, path, hunks with their signs.
fn short(section: &Section) -> String {
    let hunk = |hunk: &Hunk| {
        let lines = hunk.lines.iter().map(|line| {
            let sign = match line.kind {
                Kind::Context => ' ',
                Kind::Remove => '-',
                Kind::Add => '+',
            };
            format!("{sign}{}", line.text)
        });
        format!("{:?}{:?}{}", hunk.start, hunk.anchors, lines.collect::<Vec<_>>().join("|"))
    };
    let hunks = |hunks: &[Hunk]| hunks.iter().map(hunk).collect::<Vec<_>>().join(" ; ");
    match &section.action {
        Action::Add(content) => format!("A {} {content:?}", section.path),
        Action::Delete(lines) => format!("D {} {}", section.path, hunks(lines)),
        Action::Update { move_to: None, hunks: lines } => format!("M {} {}", section.path, hunks(lines)),
        Action::Update { move_to: Some(to), hunks: lines } => {
            format!("R {} > {to} {}", section.path, hunks(lines))
        }
    }
}

fn shorts(text: &str) -> Vec<String> {
    parse(text).sections.iter().map(short).collect()
}

#[test]
fn the_begin_patch_form() {
    let text = "\n*** Begin Patch\n*** Add File: new.txt\n+one\n+\n+*** two\n*** Update File: src/a b.py\n*** Move to: src/c.py\n\
                @@ class A:\n@@     def f(self):\n ctx\n\n-old\n+new\n\n*** Delete File: gone.txt\n*** Update File: d\n-x\n+y\n\
                @@\n-z\n*** End of File\n\n*** Add File: empty\n*** End Patch\n\n";
    assert_eq!(
        shorts(text),
        [
            "A new.txt \"one\\n\\n*** two\\n\"",
            "R src/a b.py > src/c.py None[\"class A:\", \"    def f(self):\"] ctx| |-old|+new",
            "D gone.txt ",
            "M d None[]-x|+y ; None[]-z",
            "A empty \"\"",
        ]
    );
    let patch = parse(text);
    assert_eq!(patch.paths(), ["new.txt", "src/a b.py", "src/c.py", "gone.txt", "d", "empty"]);
    assert!(patch.sections[3].action.hunks()[1].at_end);
    assert_eq!(shorts(&text.replace('\n', "\r\n")), shorts(text), "a patch in CR LF says the same");
}

#[test]
fn the_unified_form() {
    let text = "From 123 Mon\nSubject: [PATCH] x\n\n---\n f | 2 +-\n\ndiff --git a/f b/f\nindex 1..2 100644\n--- a/f\n+++ b/f\n\
                @@ -1,3 +1,3 @@ fn x\n a\n-b\n+B\n c\n@@ -9 +9,2 @@\n-i\n+I\n+J\n\
                diff --git a/n b/n\nnew file mode 100644\n--- /dev/null\n+++ b/n\n@@ -0,0 +1,2 @@\n+x\n+y\n\\ No newline at end of file\n\
                diff --git a/d b/d\ndeleted file mode 100644\n--- a/d\n+++ /dev/null\n@@ -1 +0,0 @@\n-gone\n\
                diff --git a/o o b/p p\nsimilarity index 100%\nrename from o o\nrename to p p\n\
                diff --git a/e b/e\nnew file mode 100755\nindex 0..0\n-- \n2.40.1\n";
    assert_eq!(
        shorts(text),
        [
            "M f Some(1)[] a|-b|+B| c ; Some(9)[]-i|+I|+J",
            "A n \"x\\ny\"",
            "D d Some(1)[]-gone",
            "R o o > p p ",
            "A e \"\"",
        ]
    );
    assert!(parse(text).has_modes);
    assert_eq!(
        shorts("--- x.c\t2024-01-01\n+++ x.c\t2024-01-02\n@@ -1 +1 @@\n-a\n+b\n"),
        ["M x.c Some(1)[]-a|+b"]
    );
    assert_eq!(shorts("--- a/x\n+++ a/x\n@@ -1 +1 @@\n-a\n+b\n"), ["M a/x Some(1)[]-a|+b"]);
    assert_eq!(
        shorts("--- \"a/\\303\\251\"\n+++ \"b/\\303\\251\"\n@@ -1 +1 @@\n-a\n+b\n"),
        ["M é Some(1)[]-a|+b"]
    );
}

#[test]
fn a_hunk_goes_by_its_numbers_and_without_right_ones_by_its_lines() {
    // Lines that look like the header of a file are lines of the hunk where the numbers say so.
    let tricky = "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n a\n--- x\n+++ y\n@@ -9 +9 @@\n-p\n+q\n";
    assert_eq!(shorts(tricky), ["M f Some(1)[] a|--- x|+++ y ; Some(9)[]-p|+q"]);
    for header in ["@@ -1,9 +1,9 @@", "@@ -1 +1 @@", "@@", "@@ ... @@", "@@ @@"] {
        let text = format!("--- a/f\n+++ b/f\n{header}\n a\n-b\n+c\n\n--- a/g\n+++ b/g\n{header}\n-d\n+e\n");
        let number = if header == "@@ -1 +1 @@" { "Some(1)" } else { "None" };
        assert_eq!(
            shorts(&text),
            ["M f None[] a|-b|+c".to_owned(), format!("M g {number}[]-d|+e")],
            "{header}"
        );
    }
    assert_eq!(shorts("--- a/f\n+++ b/f\n@@ fn main() {\n-b\n+c\n"), ["M f None[\"fn main() {\"]-b|+c"]);
}

#[test]
fn what_is_no_patch_says_where_and_why() {
    let update = "*** Begin Patch\n*** Update File: f\n";
    let unified = "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n";
    for (text, says) in [
        (String::new(), "there is nothing to change in it"),
        ("hello\n".to_owned(), "It begins with `*** Begin Patch`"),
        ("*** Begin Patch\n*** End Patch".to_owned(), "there is nothing to change in it"),
        ("```diff\n*** Begin Patch\n*** End Patch\n```".to_owned(), "nothing to change"),
        (
            "*** Begin Patch\n*** Add File: x\n+a".to_owned(),
            "line 4 of the patch: it ends without `*** End Patch`",
        ),
        (
            "*** Begin Patch\n*** Add File: x\na\n*** End Patch".to_owned(),
            "line 3 of the patch: each line of a new file",
        ),
        ("*** Begin Patch\n*** Add File:  \n*** End Patch".to_owned(), "the path is missing"),
        (
            "*** Begin Patch\n*** Rename File: x\n*** End Patch".to_owned(),
            "line 2 of the patch: expected `*** Add File",
        ),
        ("*** Begin Patch\n*** Delete File: x\n*** End Patch\nmore".to_owned(), "nothing may follow"),
        (format!("{update}*** End Patch"), "line 2 of the patch: an update has hunks"),
        (
            format!("{update}@@\n a\n*** End Patch"),
            "line 3 of the patch: the hunk has no line that begins with",
        ),
        (format!("{update}@@\n-a\nb\n*** End Patch"), "line 5 of the patch: a line of a hunk begins with"),
        (format!("{unified}c\n"), "line 6 of the patch: not understood"),
        (format!("{unified}@@@ -1 -1 +1 @@@\n"), "line 6 of the patch: not understood"),
        ("--- a/f\n+++ b/g\n@@ -1 +1 @@\n-a\n+b\n".to_owned(), "the two sides name different files"),
        ("--- /dev/null\n+++ /dev/null\n@@ -1 +1 @@\n-a\n+b\n".to_owned(), "both sides are /dev/null"),
        (
            "--- /dev/null\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n".to_owned(),
            "a new file has one hunk, and only lines with `+`",
        ),
        ("--- a/f\n+++ b/f\n".to_owned(), "line 1 of the patch: the file has no hunks"),
        ("diff --git a/f b/f\nold mode 100644\nnew mode 100755\n".to_owned(), "file modes are not changed"),
        ("diff --git a/f b/f\nnew file mode 120000\n".to_owned(), "only regular files"),
        ("diff --git a/f b/g\ncopy from f\ncopy to g\n".to_owned(), "copies are not made"),
        ("diff --git a/f b/f\nGIT binary patch\n".to_owned(), "binary files are not patched"),
        ("diff --git a/f b/g\nrename from f\n".to_owned(), "belong together"),
        (
            "diff --git a/f b/g\nrename from f\nrename to g\n--- a/x\n+++ b/y\n@@ -1 +1 @@\n-a\n+b\n"
                .to_owned(),
            "name other files",
        ),
        ("diff --git a/x y b/z\nindex 1..2\n".to_owned(), "it cannot be read which file is meant"),
    ] {
        let error = error(&text);
        assert!(error.contains(says), "{text:?}: {error}");
    }
}

#[test]
fn a_patch_is_bounded() {
    let many = (0..=PATHS_MAX).fold(String::new(), |text, n| text + &format!("*** Delete File: f{n}\n"));
    assert!(
        error(&format!("*** Begin Patch\n{many}*** End Patch")).contains("it has 101 files; at most 100")
    );
    let hunks = "@@\n-a\n".repeat(HUNKS_MAX + 1);
    let text = format!("*** Begin Patch\n*** Update File: f\n{hunks}*** End Patch");
    assert!(error(&text).contains("5001 hunks"));
}

proptest::proptest! {
    #[test]
    fn any_text_is_a_patch_or_an_error(text in "\\PC{0,200}") {
        let _ = Patch::parse(&text);
    }

    /// Text that is nearly a patch: lines of both forms in any order.
    #[test]
    fn lines_in_any_order_are_a_patch_or_an_error(lines in proptest::collection::vec(0..LINES.len(), 0..25)) {
        let text: Vec<&str> = lines.into_iter().map(|line| LINES[line]).collect();
        let text = text.join("\n");
        if let Ok(patch) = Patch::parse(&text) {
            // No line with a sign is lost: each is a line of a hunk, of a new file, or was no line of a file.
            let paths = patch.paths();
            assert!(!paths.is_empty() && paths.iter().all(|path| !path.is_empty()), "{text}");
        }
    }
}

const LINES: &[&str] = &[
    "*** Begin Patch",
    "*** End Patch",
    "*** Add File: a",
    "*** Update File: b",
    "*** Delete File: c",
    "*** Move to: d",
    "*** End of File",
    "@@",
    "@@ x",
    "@@ -1,2 +1,2 @@",
    "@@ -0,0 +1 @@",
    "+a",
    "-a",
    " a",
    "",
    " ",
    "-",
    "+",
    "--- a/f",
    "+++ b/f",
    "--- /dev/null",
    "+++ /dev/null",
    "diff --git a/f b/f",
    "diff --git \"a/\\",
    "rename from x",
    "rename to y",
    "new file mode 100644",
    "deleted file mode 100644",
    "\\ No newline at end of file",
    "-- ",
    "é",
    "\r",
    "--- ",
    "+++ ",
    "@@ -18446744073709551615 +1 @@",
];
