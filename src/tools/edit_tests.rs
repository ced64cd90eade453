//! Edit: exact matches, what it refuses, what stays as it was.

use super::*;
use crate::tools::Read;
use crate::tools::testing::Session;
use std::os::unix::fs::PermissionsExt;

fn edit(path: &str, old: &str, new: &str) -> Value {
    json!({"file_path": path, "old_string": old, "new_string": new})
}

async fn with(content: &str) -> Session {
    let s = Session::new();
    s.put("f", content);
    s.ok(&Read, json!({"file_path": "f"})).await;
    s
}

#[tokio::test]
async fn an_exact_piece_is_replaced_and_the_diff_returned() {
    let s = with("a\nb\nc\n").await;
    let result = s.call(&Edit, edit("f", "b", "B")).await.unwrap();
    assert_eq!(s.text("f"), "a\nB\nc\n");
    let diff = "--- a/f\n+++ b/f\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n";
    assert_eq!(result.details.as_ref().unwrap()["diff"], diff);
    assert_eq!(result.result, format!("Edited f: replaced 1 occurrence, at line 2.\n\n{diff}"));
}

#[tokio::test]
async fn the_file_must_have_been_read() {
    let s = Session::new();
    s.put("f", "a\n");
    let error = s.error(&Edit, edit("f", "a", "b")).await;
    assert!(error.contains("has not been read in this session"), "{error}");
    assert_eq!(s.text("f"), "a\n");
}

#[tokio::test]
async fn after_a_change_only_one_exact_match_may_go_on() {
    let s = with("a\nb\n").await;
    s.put("f", "a\nb\nmore\n");
    let text = s.ok(&Edit, edit("f", "b", "B")).await;
    assert!(text.contains("had changed since it was read"), "{text}");
    assert_eq!(s.text("f"), "a\nB\nmore\n");
    s.put("f", "a\nB\nB\n");
    let all = json!({"file_path": "f", "old_string": "B", "new_string": "c", "replace_all": true});
    for arguments in [edit("f", "B", "c"), edit("f", "gone", "c"), all] {
        let error = s.error(&Edit, arguments).await;
        assert!(error.contains("has changed since it was read: Read it again"), "{error}");
    }
    assert_eq!(s.text("f"), "a\nB\nB\n");
}

#[tokio::test]
async fn an_ambiguous_piece_is_counted_with_its_lines() {
    let s = with("x\ny\nx\n").await;
    let error = s.error(&Edit, edit("f", "x", "z")).await;
    assert!(error.contains("occurs 2 times in f, at lines 1, 3."), "{error}");
    let all = json!({"file_path": "f", "old_string": "x", "new_string": "z", "replace_all": true});
    let text = s.ok(&Edit, all).await;
    assert!(text.contains("2 occurrences, at lines 1, 3"), "{text}");
    assert_eq!(s.text("f"), "z\ny\nz\n");
}

#[tokio::test]
async fn nothing_is_matched_loosely_and_the_nearest_is_named() {
    let s = with("fn f() {\n\tlet a = \"x\";\n}\n").await;
    for (old, says) in [
        ("    let a = \"x\";", "line 2: it differs only in whitespace"),
        ("let a = \u{201C}x\u{201D};", "line 2: it differs only in the kind of quotes"),
        ("fn f() {\r\n\tlet", "CR LF"),
    ] {
        let error = s.error(&Edit, edit("f", old, "new")).await;
        assert!(error.contains("does not occur in f") && error.contains(says), "{error}");
    }
    assert_eq!(s.text("f"), "fn f() {\n\tlet a = \"x\";\n}\n");
}

#[tokio::test]
async fn lf_matches_a_crlf_file_and_everything_stays_as_it_was() {
    let s = with("\u{FEFF}a\r\nb\r\nc").await;
    s.ok(&Edit, edit("f", "a\nb\n", "A\nA2\nB\n")).await;
    assert_eq!(s.text("f"), "\u{FEFF}A\r\nA2\r\nB\r\nc");
}

#[tokio::test]
async fn f6_a_script_edited_through_a_symlink_keeps_mode_and_link() {
    let s = Session::new();
    let script = s.put("bin/run.sh", "#!/bin/sh\necho old\n");
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).unwrap();
    s.link("bin/run.sh", "run");
    s.ok(&Read, json!({"file_path": "run"})).await;
    s.ok(&Edit, edit("run", "old", "new")).await;
    assert_eq!(s.text("bin/run.sh"), "#!/bin/sh\necho new\n");
    assert_eq!(std::fs::metadata(&script).unwrap().permissions().mode() & 0o7777, 0o755);
    assert_eq!(std::fs::read_link(s.path("run")).unwrap(), std::path::Path::new("bin/run.sh"));
}

#[tokio::test]
async fn p16_an_allowed_edit_is_not_applied_to_content_the_reviewer_did_not_see() {
    let s = with("a\nb\n").await;
    let path = s.path("f");
    let meanwhile = move |ask: &crate::permission::Ask| {
        assert!(ask.preview.diff.as_deref().unwrap().contains("-b\n+B\n"));
        std::fs::write(&path, "a\nb\nsomething new\n").unwrap();
    };
    let error = s.asked(&Edit, edit("f", "b", "B"), meanwhile).await.unwrap_err();
    assert!(error.to_string().contains("changed since it was read; nothing was written"), "{error}");
    assert_eq!(s.text("f"), "a\nb\nsomething new\n");
}

#[tokio::test]
async fn a_call_that_cannot_work_fails_before_anyone_is_asked() {
    let s = with("a\n").await;
    let error = s.asked(&Edit, edit("f", "zzz", "b"), |_| panic!("asked")).await.unwrap_err();
    assert!(error.to_string().contains("does not occur"), "{error}");
    for (arguments, says) in [
        (edit("f", "a", "a"), "the same"),
        (edit("f", "", "a"), "shorter than 1"),
        (edit("g", "a", "b"), "g does not exist."),
        (edit(".", "a", "b"), "is a directory"),
    ] {
        let error = s.error(&Edit, arguments).await;
        assert!(error.contains(says), "{error}");
    }
}

#[tokio::test]
async fn f2_a_symlink_leads_to_the_place_that_is_judged() {
    let s = Session::new();
    std::fs::write(s.base.join("outside"), "secret\n").unwrap();
    s.link("../outside", "link");
    let touches = Edit.touches(&edit("link", "a", "b"));
    assert_eq!(touches, [Touch::Edit("link".to_owned())]);
    let located = s.scope.workspace.resolve(&s.scope.directory, "link").unwrap();
    assert_eq!((located.real, located.inside), (s.base.join("outside"), false));
}
