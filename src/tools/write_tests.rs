//! Write: new files, files that were read, what stays as it was.

use super::*;
use crate::domain::result::ToolResult;
use crate::tools::testing::Session;
use crate::tools::{Edit, Read};
use std::os::unix::fs::PermissionsExt;

async fn read(s: &Session, path: &str) {
    s.ok(&Read, json!({"file_path": path})).await;
}

fn diff(result: &ToolResult) -> String {
    result.details.as_ref().unwrap()["diff"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_new_file_with_its_folders_and_its_diff() {
    let s = Session::new();
    let result = s.call(&Write, json!({"file_path": "a/b/c.txt", "content": "one\ntwo\n"})).await.unwrap();
    assert_eq!(s.text("a/b/c.txt"), "one\ntwo\n");
    assert_eq!(result.result, "Created a/b/c.txt (2 lines, 8 bytes).");
    assert_eq!(diff(&result), "--- /dev/null\n+++ b/a/b/c.txt\n@@ -0,0 +1,2 @@\n+one\n+two\n");
    assert_eq!(result.details.unwrap()["created"], true);
}

#[tokio::test]
async fn an_existing_file_must_have_been_read_and_not_have_changed() {
    let s = Session::new();
    s.put("f", "old\n");
    let arguments = || json!({"file_path": "f", "content": "new\n"});
    let unread = s.error(&Write, arguments()).await;
    assert!(unread.contains("has not been read in this session. Read it first"), "{unread}");
    read(&s, "f").await;
    s.put("f", "theirs\n");
    let changed = s.error(&Write, arguments()).await;
    assert!(changed.contains("has changed since it was read"), "{changed}");
    assert_eq!(s.text("f"), "theirs\n");
    read(&s, "f").await;
    let result = s.call(&Write, arguments()).await.unwrap();
    assert_eq!(s.text("f"), "new\n");
    assert!(result.result.contains("-theirs\n+new\n"), "{}", result.result);
    // What was written is known: no second read is needed.
    s.ok(&Write, json!({"file_path": "f", "content": "newer\n"})).await;
}

#[tokio::test]
async fn the_content_counts_not_the_time() {
    let s = Session::new();
    s.put("f", "same\n");
    read(&s, "f").await;
    s.put("f", "same\n");
    s.ok(&Write, json!({"file_path": "f", "content": "new\n"})).await;
}

#[tokio::test]
async fn f8_what_looks_like_json_is_written_as_text() {
    let s = Session::new();
    for (index, content) in ["123", "true", "null", "{\"a\": 1}", ""].into_iter().enumerate() {
        let name = format!("f{index}");
        s.ok(&Write, json!({"file_path": name, "content": content})).await;
        assert_eq!(s.text(&name), content);
    }
    assert!(s.error(&Write, json!({"file_path": "n", "content": 123})).await.contains("123"));
}

#[tokio::test]
async fn line_ends_mark_and_encoding_stay_as_they_were() {
    let s = Session::new();
    let utf16 = |text: &str| -> Vec<u8> {
        "\u{FEFF}".encode_utf16().chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect()
    };
    s.put("crlf", "a\r\nb\r\n");
    s.put("bom", "\u{FEFF}a\n");
    s.put("utf16", utf16("a\r\n"));
    for name in ["crlf", "bom", "utf16"] {
        read(&s, name).await;
        s.ok(&Write, json!({"file_path": name, "content": "x\ny\n"})).await;
    }
    assert_eq!(s.text("crlf"), "x\r\ny\r\n");
    assert_eq!(s.text("bom"), "\u{FEFF}x\ny\n");
    assert_eq!(s.bytes("utf16"), utf16("x\r\ny\r\n"));
}

#[tokio::test]
async fn a_symlink_is_written_through_and_a_hard_link_is_said() {
    let s = Session::new();
    let target = s.put("target", "old\n");
    std::fs::set_permissions(&target, std::fs::Permissions::from_mode(0o751)).unwrap();
    s.link("target", "link");
    read(&s, "link").await;
    s.ok(&Write, json!({"file_path": "link", "content": "new\n"})).await;
    assert_eq!(s.text("target"), "new\n");
    assert_eq!(std::fs::metadata(&target).unwrap().permissions().mode() & 0o7777, 0o751);
    assert!(std::fs::symlink_metadata(s.path("link")).unwrap().is_symlink());
    std::fs::hard_link(&target, s.path("twin")).unwrap();
    let text = s.ok(&Write, json!({"file_path": "target", "content": "newer\n"})).await;
    assert!(text.contains("several hard links"), "{text}");
    assert_eq!(s.text("twin"), "newer\n");
}

#[tokio::test]
async fn only_text_files_are_written() {
    let s = Session::new();
    s.put("image", b"\x89PNG\r\n\x1a\n\0\0");
    std::fs::create_dir(s.path("folder")).unwrap();
    let image = s.error(&Write, json!({"file_path": "image", "content": "x"})).await;
    assert!(image.contains("PNG image"), "{image}");
    let folder = s.error(&Write, json!({"file_path": "folder", "content": "x"})).await;
    assert!(folder.contains("is a directory"), "{folder}");
    let slash = s.error(&Write, json!({"file_path": "new/", "content": "x"})).await;
    assert!(slash.contains("a directory"), "{slash}");
    let below = s.error(&Write, json!({"file_path": "image/x", "content": "x"})).await;
    assert!(below.contains("not a directory"), "{below}");
}

#[tokio::test]
async fn the_reviewer_sees_the_diff_and_nothing_is_written_before() {
    let s = Session::new();
    s.put("f", "old\n");
    read(&s, "f").await;
    let path = s.path("f");
    let allowed = s
        .asked(&Write, json!({"file_path": "f", "content": "new\n"}), move |ask| {
            let diff = ask.preview.diff.as_deref().unwrap();
            assert_eq!(diff, "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-old\n+new\n");
            assert_eq!(std::fs::read_to_string(&path).unwrap(), "old\n");
        })
        .await;
    assert!(allowed.unwrap().success);
    assert_eq!(s.text("f"), "new\n");
}

#[tokio::test]
async fn p16_a_file_that_appeared_while_the_reviewer_thought_is_not_overwritten() {
    let s = Session::new();
    let path = s.path("f");
    let meanwhile = move |_: &_| std::fs::write(&path, "appeared").unwrap();
    let error = s.asked(&Write, json!({"file_path": "f", "content": "new"}), meanwhile).await.unwrap_err();
    assert!(error.to_string().contains("nothing was written"), "{error}");
    assert_eq!(s.text("f"), "appeared");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_calls_side_by_side_none_is_lost() {
    let s = std::sync::Arc::new(Session::new());
    s.put("f", (0..20).fold(String::new(), |text, n| text + &format!("<{n}>\n")));
    read(&s, "f").await;
    let calls: Vec<_> = (0..20)
        .map(|n| {
            let s = std::sync::Arc::clone(&s);
            tokio::spawn(async move {
                let (old, new) = (format!("<{n}>"), format!("[{n}]"));
                s.ok(&Edit, json!({"file_path": "f", "old_string": old, "new_string": new})).await
            })
        })
        .collect();
    for call in calls {
        call.await.unwrap();
    }
    assert_eq!(s.text("f"), (0..20).fold(String::new(), |text, n| text + &format!("[{n}]\n")));
}
