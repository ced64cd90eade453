//! Where hunks go, and what stays as it was.

use super::super::patch::{Action, Patch};
use super::*;

/// The hunks of an update of one file, from what follows its header.
fn hunks(body: &str) -> Vec<Hunk> {
    let patch = format!("*** Begin Patch\n*** Update File: f\n{body}\n*** End Patch");
    match Patch::parse(&patch).unwrap().sections.remove(0).action {
        Action::Update { hunks, .. } => hunks,
        other => panic!("{other:?}"),
    }
}

fn put(text: &str, body: &str) -> String {
    place(text, &hunks(body), false).unwrap()
}

fn refused(text: &str, body: &str) -> String {
    place(text, &hunks(body), false).unwrap_err().to_string()
}

#[test]
fn a_hunk_goes_where_its_lines_are() {
    for (text, body, new) in [
        ("a\nb\nc\n", "@@\n a\n-b\n+B\n c", "a\nB\nc\n"),
        ("a\nb\nc\n", " a\n-b\n+B", "a\nB\nc\n"),
        ("a\nb\n", "@@\n b\n+c", "a\nb\nc\n"),
        ("a\nb\n", "@@\n+z\n a", "z\na\nb\n"),
        ("a\n\nb\n", "@@\n a\n\n-b\n+B", "a\n\nB\n"),
        ("a\nb\nc\nd\n", "@@\n-a\n+A\n@@\n-c\n+C", "A\nb\nC\nd\n"),
        // In the file's order, what is before the hunk before does not count.
        ("x\na\nx\n", "@@\n-a\n+A\n@@\n-x\n+X", "x\nA\nX\n"),
        ("a\n", "@@\n-a", ""),
        ("", "@@\n+a\n+b", "a\nb\n"),
        ("a\nb\n", "@@\n+c\n*** End of File", "a\nb\nc\n"),
        ("b\na\nb\n", "@@\n-b\n+B\n*** End of File", "b\na\nB\n"),
    ] {
        assert_eq!(put(text, body), new, "{text:?} {body:?}");
    }
}

#[test]
fn one_of_several_places_takes_an_anchor_or_a_number() {
    let text = "class A:\n    def f(self):\n        return 1\nclass B:\n    def f(self):\n        return 1\n";
    let change = "-        return 1\n+        return 2";
    let in_b = text.replacen("return 1", "return 2", 2).replacen("return 2", "return 1", 1);
    let in_a = text.replacen("return 1", "return 2", 1);
    assert_eq!(put(text, &format!("@@ class B:\n{change}")), in_b);
    assert_eq!(put(text, &format!("@@ class A:\n@@ def f(self):\n{change}")), in_a);
    assert_eq!(put(text, &format!("@@ -6 +6 @@ class B\n{change}")), in_b);
    assert_eq!(put(text, &format!("@@ -3,1 +3,1 @@\n{change}")), in_a);
    for (header, says) in [
        ("@@", "2 times, at lines 3, 6"),
        ("@@ def f(self):", "`@@ def f(self):` is in the file 2 times, at lines 2, 5"),
        ("@@ class C:", "`@@ class C:` is no line of the file."),
        ("@@ class B:\n@@ class A:", "`@@ class A:` is no line of the file after the one named before it"),
        // A wrong number decides nothing.
        ("@@ -4,1 +4,1 @@", "2 times"),
    ] {
        let error = refused(text, &format!("{header}\n{change}"));
        assert!(error.contains(says), "{header}: {error}");
    }
    // The line named may be the first of the hunk, too; and one above the hunk before.
    assert_eq!(put("f:\n x\n", "@@ f:\n f:\n- x\n+ y"), "f:\n y\n");
    assert_eq!(put("f:\na\nb\n", "@@ f:\n-a\n+A\n@@ f:\n-b\n+B"), "f:\nA\nB\n");
}

#[test]
fn nothing_is_matched_loosely_and_the_error_says_what_is_nearest() {
    for (text, body, says) in [
        ("\tlet a = 1;\n", "@@\n-    let a = 1;\n+x", "Nearest is line 1: it differs only in whitespace"),
        ("a \n", "@@\n-a\n+b", "Nearest is line 1"),
        ("x\n", "@@\n-y\n+z", "No line of the hunk occurs in the file"),
        (
            "a\nb\n",
            "@@\n-b\n+B\n@@\n-a\n+A",
            "hunk 2 of 2 (line 6 of the patch): its lines are in the file only before",
        ),
        (
            "a\nb\n",
            "@@\n a\n-b\n+B\n@@\n b\n+c",
            "hunks come in the file's order, and do not overlap (line 2)",
        ),
        ("a\nb\n", "@@\n-a\n+A\n*** End of File", "not at the end of the file (line 1)"),
        ("a\nf\n", "@@ f\n-a\n+A", "above the line named after `@@` (line 1)"),
        ("a\n", "@@\n+b", "it only adds lines: give the lines before or after"),
        ("a\n", "@@ -7,0 +8 @@\n+b", "it adds lines after line 7; the file has 1 lines"),
        ("a\n", "@@\n-a\n\\ No newline at end of file\n+b", "does not lack its line end"),
        ("a\nb\n", "@@\n-a\n+c\n\\ No newline at end of file", "not at the end"),
    ] {
        let error = refused(text, body);
        assert!(error.contains(says), "{body:?}: {error}");
    }
}

#[test]
fn line_ends_and_the_last_one_stay() {
    for (text, body, new) in [
        ("a\r\nb\r\n", "@@\n a\n-b\n+B\n+C", "a\r\nB\r\nC\r\n"),
        ("a\r\nb\r\n", "@@\n a\r\n-b\r\n+B\r", "a\r\nB\r\n"),
        ("a\r\nb\n", "@@\n-b\n+B", "a\r\nB\n"),
        ("a\nb", "@@\n-b\n+B", "a\nB"),
        ("a\nb", "@@\n b\n+c", "a\nb\nc"),
        ("a\r\nb", "@@\n b\n+c", "a\r\nb\r\nc"),
        ("a\nb", "@@\n a\n-b", "a"),
        ("a\r\nb", "@@\n a\n-b", "a"),
        ("a", "@@\n-a\n+b", "b"),
        ("a", "@@\n-a\n\\ No newline at end of file\n+b", "b\n"),
        ("a\n", "@@\n-a\n+b\n\\ No newline at end of file", "b"),
        ("a", "@@\n a\n\\ No newline at end of file\n+b", "a\nb\n"),
        ("a\nb", "@@\n-a\n+A\n b\n\\ No newline at end of file", "A\nb"),
        // A CR that is no part of a line end is text.
        ("a\rb\n", "@@\n-a\rb\n+c", "c\n"),
        ("a\n", "@@\n-a\n+b\r", "b\r\n"),
    ] {
        assert_eq!(put(text, body), new, "{text:?} {body:?}");
    }
}

#[test]
fn in_a_text_that_changed_only_one_place_in_all_of_it_will_do() {
    let changed = |text: &str, body: &str| place(text, &hunks(body), true).map_err(|error| error.to_string());
    assert_eq!(changed("new\na\nb\n", "@@\n-a\n+A"), Ok("new\nA\nb\n".to_owned()));
    for (text, body, says) in [
        ("x\na\nx\n", "@@\n-a\n+A\n@@\n-x\n+X", "2 times, at lines 1, 3"),
        ("x\nx\n", "@@ -2 +2 @@\n-x\n+X", "2 times, at lines 1, 2"),
        ("f\nx\nx\n", "@@ f\n-x\n+X", "2 times, at lines 2, 3"),
        ("a\n", "@@\n-b\n+B", "its lines are not in the file"),
        ("a\n", "@@\n+b\n*** End of File", "it only adds lines"),
    ] {
        let error = changed(text, body).unwrap_err();
        assert!(error.contains(says) && error.contains("Read it again"), "{body:?}: {error}");
    }
}

#[test]
fn a_hopeless_search_ends() {
    let text = "same\n".repeat(4_000);
    let body = format!("@@\n{}-other\n+x", " same\n".repeat(2_000));
    let error = place_within(&text, &hunks(&body), false, 1_000_000).unwrap_err().to_string();
    assert!(error.contains("takes too long"), "{error}");
}

proptest::proptest! {
    /// Whatever hunks say, there is a text or an error, and no line that no hunk names is lost.
    #[test]
    fn any_hunk_on_any_text(text in "[ab\r\n]{0,30}", body in "(@@( a| -1,2 \\+2 @@)?\n)?([ +-][ab\r]?\n){1,6}") {
        let patch = format!("*** Begin Patch\n*** Update File: f\n{body}*** End Patch");
        if let Ok(patch) = Patch::parse(&patch) {
            for changed in [false, true] {
                if let Ok(new) = place(&text, patch.sections[0].action.hunks(), changed) {
                    let hunks = patch.sections[0].action.hunks();
                    let count = |kind| hunks.iter().flat_map(|h| &h.lines).filter(|l| l.kind == kind).count();
                    let lines = |text: &str| text.lines().count();
                    let expected = lines(&text) + count(Kind::Add) - count(Kind::Remove);
                    // A last line without end that is empty is no line.
                    assert!(expected - lines(&new) <= 1, "{text:?} {new:?}");
                }
            }
        }
    }

    /// A patch made of the difference of two texts, as `diff -u` writes it, makes the one from the other.
    #[test]
    fn a_diff_applies(old in "[abc\n]{0,40}", new in "[abc\n]{0,40}") {
        let diff = crate::tools::text::unified("f", Some(&old), Some(&new));
        if !diff.is_empty() {
            let patch = Patch::parse(&diff).unwrap();
            let hunks = patch.sections[0].action.hunks();
            assert_eq!(place(&old, hunks, false).unwrap(), new, "{diff}");
        }
    }
}
