//! ApplyPatch: all or nothing, what it refuses, what stays as it was.

use super::*;
use crate::tools::testing::Session;
use crate::tools::{Edit, Read};
use std::os::unix::fs::PermissionsExt;

fn patch(body: &str) -> Value {
    json!({"patch": format!("*** Begin Patch\n{body}\n*** End Patch")})
}

async fn with(files: &[(&str, &str)]) -> Session {
    let s = Session::new();
    for (name, content) in files {
        s.put(name, content);
        s.ok(&Read, json!({"file_path": name})).await;
    }
    s
}

fn names(s: &Session) -> Vec<String> {
    let entries = std::fs::read_dir(s.path("")).unwrap();
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[tokio::test]
async fn several_files_are_changed_at_once_and_the_diff_has_all_of_them() {
    let s = with(&[("a", "1\n2\n3\n"), ("gone", "x\n"), ("m", "old\n")]).await;
    let body = "*** Add File: d/new\n+hello\n*** Update File: a\n 1\n-2\n+two\n*** Delete File: gone\n\
                *** Update File: m\n*** Move to: d/m\n-old\n+new";
    let result = s.call(&ApplyPatch, patch(body)).await.unwrap();
    assert_eq!(
        (s.text("a"), s.text("d/new"), s.text("d/m")),
        ("1\ntwo\n3\n".into(), "hello\n".into(), "new\n".into())
    );
    assert_eq!(names(&s), ["a", "d"]);
    let said = "Applied the patch:\nA d/new (1 line)\nM a (1 hunk)\nD gone\nR m -> d/m (1 hunk)";
    assert_eq!(result.result, said);
    let details = result.details.unwrap();
    let diff = "--- /dev/null\n+++ b/d/new\n@@ -0,0 +1 @@\n+hello\n--- a/a\n+++ b/a\n@@ -1,3 +1,3 @@\n 1\n-2\n+two\n 3\n\
                --- a/gone\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n\
                diff --git a/m b/d/m\nrename from m\nrename to d/m\n--- a/m\n+++ b/d/m\n@@ -1 +1 @@\n-old\n+new\n";
    assert_eq!(details["diff"], diff);
    assert_eq!(details["files"].as_array().unwrap().len(), 5);
    // What was written is known: no second read is needed.
    s.ok(&Edit, json!({"file_path": "d/m", "old_string": "new", "new_string": "newer"})).await;
    s.ok(&ApplyPatch, patch("*** Update File: d/new\n-hello\n+bye")).await;
}

#[tokio::test]
async fn the_diff_of_one_session_is_a_patch_in_another() {
    let files = [("a", "1\n2\n3\n"), ("gone", "x\n"), ("m", "old\n"), ("p", "pure\n")];
    let (one, other) = (with(&files).await, with(&files).await);
    let body = "*** Add File: d/new\n+hello\n*** Update File: a\n 1\n-2\n+two\n*** Delete File: gone\n\
                *** Update File: m\n*** Move to: d/m\n-old\n+new\n*** Update File: p\n*** Move to: q";
    let diff = one.call(&ApplyPatch, patch(body)).await.unwrap().details.unwrap()["diff"].clone();
    other.ok(&ApplyPatch, json!({"patch": diff})).await;
    for name in ["a", "d/new", "d/m", "q"] {
        assert_eq!(one.text(name), other.text(name), "{name}");
    }
    assert_eq!(names(&one), names(&other));
}

#[tokio::test]
async fn nothing_is_applied_when_anything_does_not_fit() {
    let s = with(&[("a", "1\n"), ("b", "2\n")]).await;
    s.put("unread", "u\n");
    s.put("image", b"\x89PNG\r\n\x1a\n\0\0");
    s.link("a", "link");
    std::fs::create_dir(s.path("folder")).unwrap();
    let before = names(&s);
    let first = "*** Add File: new/deep\n+n\n*** Update File: a\n-1\n+one\n";
    for (body, says) in [
        (
            "*** Update File: b\n-9\n+x",
            "Nothing was applied: b, hunk 1 of 1 (line 8 of the patch): its lines are not in the file.",
        ),
        ("*** Update File: unread\n-u\n+x", "unread has not been read in this session"),
        ("*** Delete File: unread", "unread has not been read in this session"),
        ("*** Update File: gone\n-u\n+x", "gone does not exist."),
        ("*** Update File: folder\n-u\n+x", "is a directory"),
        ("*** Update File: image\n-u\n+x", "image has not been read"),
        ("*** Add File: b\n+x", "b exists already. To change it, update it."),
        ("*** Add File: folder\n+x", "folder exists already"),
        ("*** Update File: b\n*** Move to: unread", "unread exists already"),
        (
            "*** Update File: ./b\n-2\n+x\n*** Delete File: folder/../b",
            "folder/../b is named twice in the patch",
        ),
        ("*** Delete File: link", "link is named twice in the patch"),
        ("*** Update File: b\n-2\n+2", "The patch changes nothing in b."),
        ("*** Add File: a/below\n+x", "not a directory"),
        ("*** Add File: folder/\n+x", "folder/ exists already"),
    ] {
        let error = s.error(&ApplyPatch, patch(&format!("{first}{body}"))).await;
        assert!(error.contains(says), "{body}: {error}");
        assert_eq!(
            (s.text("a"), s.text("b"), names(&s)),
            ("1\n".into(), "2\n".into(), before.clone()),
            "{body}"
        );
    }
}

#[tokio::test]
async fn a_link_is_written_through_but_not_deleted_or_moved() {
    let s = with(&[("bin", "#!/bin/sh\nold\n")]).await;
    s.link("bin", "link");
    let mode = |name: &str| std::fs::metadata(s.path(name)).unwrap().permissions().mode() & 0o7777;
    std::fs::set_permissions(s.path("bin"), std::fs::Permissions::from_mode(0o755)).unwrap();
    // F6: mode and link stay.
    s.ok(&ApplyPatch, patch("*** Update File: link\n-old\n+new")).await;
    assert_eq!((s.text("bin"), mode("bin")), ("#!/bin/sh\nnew\n".into(), 0o755));
    assert_eq!(std::fs::read_link(s.path("link")).unwrap(), Path::new("bin"));
    for body in
        ["*** Delete File: link", "*** Update File: link\n*** Move to: other", "*** Delete File: ./link"]
    {
        let error = s.error(&ApplyPatch, patch(body)).await;
        assert!(error.contains("is a symbolic link"), "{error}");
    }
    s.ok(&ApplyPatch, patch("*** Update File: bin\n*** Move to: sbin\n-new\n+newer")).await;
    assert_eq!(
        (s.text("sbin"), mode("sbin"), s.path("bin").exists()),
        ("#!/bin/sh\nnewer\n".into(), 0o755, false)
    );
}

#[tokio::test]
async fn encoding_mark_and_line_ends_stay_and_hard_links_are_said() {
    let utf16 = |text: &str| -> Vec<u8> {
        "\u{FEFF}".encode_utf16().chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect()
    };
    let s = with(&[("crlf", "\u{FEFF}a\r\nb"), ("h", "x\n")]).await;
    s.put("wide", utf16("a\r\nb\r\n"));
    s.ok(&Read, json!({"file_path": "wide"})).await;
    std::fs::hard_link(s.path("h"), s.path("h2")).unwrap();
    let body =
        "*** Update File: crlf\n a\n-b\n+B\n+C\n*** Update File: wide\n-b\n+ü\n*** Update File: h\n-x\n+y";
    let text = s.ok(&ApplyPatch, patch(body)).await;
    assert_eq!(s.text("crlf"), "\u{FEFF}a\r\nB\r\nC");
    assert_eq!(s.bytes("wide"), utf16("a\r\nü\r\n"));
    assert_eq!(s.text("h2"), "y\n");
    assert!(text.contains("several hard links"), "{text}");
}

#[tokio::test]
async fn after_a_change_only_a_hunk_with_one_place_may_go_on() {
    let s = with(&[("f", "a\nb\n")]).await;
    s.put("f", "new\na\nb\n");
    let text = s.ok(&ApplyPatch, patch("*** Update File: f\n-b\n+B")).await;
    assert!(text.contains("had changed since it was read"), "{text}");
    assert_eq!(s.text("f"), "new\na\nB\n");
    s.put("f", "a\na\n");
    for body in [
        "*** Update File: f\n@@ -1 +1 @@\n-a\n+A",
        "*** Delete File: f",
        "*** Update File: f\n*** Move to: g",
    ] {
        let error = s.error(&ApplyPatch, patch(body)).await;
        assert!(error.contains("has changed since it was read"), "{error}");
    }
    assert_eq!(s.text("f"), "a\na\n");
    // Who names all that is in it has seen it.
    s.put("f", "other\n");
    s.ok(&ApplyPatch, json!({"patch": "--- a/f\n+++ /dev/null\n@@ -1 +0,0 @@\n-other\n"})).await;
    assert!(!s.path("f").exists());
}

#[tokio::test]
async fn a_deletion_that_leaves_something_is_refused() {
    let s = with(&[("f", "a\nb\n")]).await;
    let error = s.error(&ApplyPatch, json!({"patch": "--- a/f\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n"})).await;
    assert!(error.contains("f is to be deleted, but its hunks leave 1 line in it"), "{error}");
    assert_eq!(s.text("f"), "a\nb\n");
}

#[tokio::test]
async fn every_path_is_judged_both_sides_of_a_move_and_deletions_as_edits() {
    let body = "*** Add File: /etc/a\n+x\n*** Delete File: x/../d\n*** Update File: m\n*** Move to: .git/hooks/pre-commit";
    let touches = ApplyPatch.touches(&patch(body));
    let edits: Vec<_> =
        ["/etc/a", "x/../d", "m", ".git/hooks/pre-commit"].map(|path| Touch::Edit(path.to_owned())).into();
    assert_eq!(touches, edits);
    let git = "diff --git a/o b/n\nrename from o\nrename to n\n--- a/p\n+++ b/p\n@@ -1 +1 @@\n-a\n+b\n";
    let edits: Vec<_> = ["o", "n"].map(|path| Touch::Edit(path.to_owned())).into();
    let error = ApplyPatch.check(&json!({"patch": git})).unwrap_err().to_string();
    assert!(error.contains("name other files"), "a rename and names that differ: {error}");
    assert_eq!(
        ApplyPatch.touches(&json!({"patch": git.replace("/p", "/o").replace("+++ b/o", "+++ b/n")})),
        edits
    );
}

#[tokio::test]
async fn what_is_no_patch_is_told_before_anyone_is_asked() {
    let s = with(&[("f", "a\n")]).await;
    let not_asked = |arguments: Value| s.asked(&ApplyPatch, arguments, |_| panic!("asked"));
    let error = not_asked(json!({"patch": "*** Begin Patch\n*** Update File: f\nx\n*** End Patch"}))
        .await
        .unwrap_err();
    assert!(
        matches!(&error, ToolError::InvalidArguments(text) if text.contains("line 3 of the patch")),
        "{error:?}"
    );
    let error = not_asked(patch("*** Update File: f\n-zzz\n+b")).await.unwrap_err();
    assert!(error.to_string().contains("its lines are not in the file"), "{error}");
}

#[tokio::test]
async fn p16_an_allowed_patch_is_not_applied_to_content_the_reviewer_did_not_see() {
    let s = with(&[("f", "a\n"), ("g", "b\n")]).await;
    let (f, appeared) = (s.path("f"), s.path("n"));
    let body = "*** Update File: g\n-b\n+B\n*** Update File: f\n-a\n+A";
    let error = s
        .asked(&ApplyPatch, patch(body), move |ask| {
            let diff = ask.preview.diff.as_deref().unwrap();
            assert!(diff.contains("-a\n+A\n") && diff.contains("-b\n+B\n"), "{diff}");
            assert_eq!(ask.preview.files.len(), 2);
            std::fs::write(&f, "new\na\n").unwrap();
        })
        .await
        .unwrap_err();
    assert!(error.to_string().contains("changed since it was read; nothing was written"), "{error}");
    assert_eq!((s.text("f"), s.text("g")), ("new\na\n".into(), "b\n".into()));
    let body = "*** Update File: g\n-b\n+B\n*** Add File: n\n+mine";
    let meanwhile = move |_: &_| std::fs::write(&appeared, "theirs").unwrap();
    s.asked(&ApplyPatch, patch(body), meanwhile).await.unwrap_err();
    assert_eq!((s.text("n"), s.text("g")), ("theirs".into(), "b\n".into()));
}

#[tokio::test]
async fn what_cannot_be_written_at_the_last_step_undoes_the_rest() {
    let Ok(elsewhere) = tempfile::tempdir_in("/dev/shm") else { return };
    let s = with(&[("a", "1\n"), ("b", "2\n")]).await;
    let on_another = |path: &Path| std::os::unix::fs::MetadataExt::dev(&std::fs::metadata(path).unwrap());
    if on_another(elsewhere.path()) == on_another(&s.path("")) {
        return; // the machine has but one file system
    }
    let to = elsewhere.path().join("b");
    let body = format!(
        "*** Add File: new/n\n+x\n*** Update File: a\n-1\n+one\n*** Update File: b\n*** Move to: {}\n-2\n+two",
        to.display()
    );
    let error = s.error(&ApplyPatch, patch(&body)).await;
    assert!(
        error.contains("Nothing of the patch was applied") && error.contains("another file system"),
        "{error}"
    );
    assert_eq!(
        (s.text("a"), s.text("b"), names(&s)),
        ("1\n".into(), "2\n".into(), vec!["a".into(), "b".into()])
    );
    assert!(!to.exists());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn patches_and_edits_side_by_side_lose_nothing_and_never_wait_for_each_other() {
    let content = (0..20).fold(String::new(), |text, n| text + &format!("<{n}>\n"));
    let s = Arc::new(with(&[("f", &content), ("g", &content)]).await);
    let calls: Vec<_> = (0..20)
        .map(|n| {
            let s = Arc::clone(&s);
            tokio::spawn(async move {
                // The two files in one order here and in the other there.
                let (one, two) = if n % 2 == 0 { ("f", "g") } else { ("g", "f") };
                if n < 15 {
                    let of = |name: &str| format!("*** Update File: {name}\n-<{n}>\n+[{n}]\n");
                    s.ok(&ApplyPatch, patch(format!("{}{}", of(one), of(two)).trim_end())).await;
                } else {
                    for name in [one, two] {
                        let (old, new) = (format!("<{n}>"), format!("[{n}]"));
                        s.ok(&Edit, json!({"file_path": name, "old_string": old, "new_string": new})).await;
                    }
                }
            })
        })
        .collect();
    for call in calls {
        call.await.unwrap();
    }
    let expected = (0..20).fold(String::new(), |text, n| text + &format!("[{n}]\n"));
    assert_eq!((s.text("f"), s.text("g")), (expected.clone(), expected));
}
