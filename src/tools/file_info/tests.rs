//! FileInfo: every kind of file, and what is not touched.

use super::*;
use crate::tools::testing::Session;
use crate::tools::{Edit, Read};
use std::fs::File;
use std::os::unix::fs::PermissionsExt;
use std::time::{Duration as Span, UNIX_EPOCH};

async fn info(s: &Session, path: &str) -> (String, Value) {
    let result = s.call(&FileInfo, json!({"path": path})).await.unwrap();
    (result.result, result.details.unwrap())
}

#[tokio::test]
async fn a_text_file_with_all_that_is_known() {
    let s = Session::new();
    let path = s.put("f.txt", "\u{FEFF}a\r\nb");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
    File::options()
        .write(true)
        .open(&path)
        .unwrap()
        .set_modified(UNIX_EPOCH + Span::from_secs(1_000_000_000))
        .unwrap();
    std::fs::hard_link(&path, s.path("twin")).unwrap();
    let (text, details) = info(&s, "f.txt").await;
    assert_eq!(
        text,
        "f.txt: a regular file\nsize: 7 B (7 bytes)\ntype: text/plain\nencoding: UTF-8 with a byte order mark\n\
         lines: 2 lines, the last one without a line end\nline ends: CR LF\nread in this session: no\nmode: 0640 (rw-r-----)\n\
         last changed: 2001-09-09T01:46:40Z\nhard links: 2 (other names show the same content)\n"
    );
    assert_eq!(
        details,
        json!({
            "kind": "file", "size": 7, "media_type": "text/plain", "encoding": "UTF-8", "bom": true, "lines": 2,
            "line_ending": "CR LF", "final_newline": false, "read": "no", "mode": "0640",
            "modified": "2001-09-09T01:46:40Z", "hard_links": 2,
        })
    );
}

#[tokio::test]
async fn whether_the_session_has_read_it_and_it_is_unchanged() {
    let s = Session::new();
    s.put("f", "a\n");
    let read = async |s: &Session| info(s, "f").await.1["read"].as_str().unwrap().to_owned();
    assert_eq!(read(&s).await, "no");
    s.ok(&Read, json!({"file_path": "f"})).await;
    assert_eq!(read(&s).await, "unchanged");
    s.ok(&Edit, json!({"file_path": "f", "old_string": "a", "new_string": "b"})).await;
    assert_eq!(read(&s).await, "unchanged", "what was written is known");
    s.put("f", "theirs\n");
    assert_eq!(read(&s).await, "changed");
    // To look at it is not to have read it.
    let error = s.error(&Edit, json!({"file_path": "f", "old_string": "nothing", "new_string": "b"})).await;
    assert!(error.contains("has changed since it was read"), "{error}");
}

#[tokio::test]
async fn folders_links_and_binary_files() {
    let s = Session::new().denying("secret");
    for name in ["d/a", "d/b", "d/secret", "latin"] {
        s.put(name, b"caf\xe9");
    }
    s.put("image.png", include_bytes!("pixel.png"));
    s.put("unknown", b"\0\x01\x02");
    s.link("d", "link");
    s.link("gone", "dead");
    let (text, details) = info(&s, "d").await;
    assert!(text.starts_with("d: a directory\nentries: 2\nmode: ") && details["entries"] == 2, "{text}");
    let (text, details) = info(&s, "link").await;
    assert!(text.starts_with("link: a directory\nsymbolic link to: d\nentries: 2\n"), "{text}");
    assert_eq!((&details["link_target"], &details["kind"]), (&json!("d"), &json!("directory")));
    let (text, details) = info(&s, "dead").await;
    assert_eq!(text, "dead: a symbolic link that leads to nothing\nsymbolic link to: gone\n");
    assert_eq!(details, json!({"kind": "symlink", "link_target": "gone"}));
    let (text, details) = info(&s, "image.png").await;
    assert!(
        text.contains("type: image/png (PNG image)\n") && text.contains("dimensions: 3 x 2 pixels\n"),
        "{text}"
    );
    assert_eq!((&details["width"], &details["height"]), (&json!(3), &json!(2)));
    let (text, _) = info(&s, "unknown").await;
    assert!(text.contains("type: application/octet-stream (binary, type unknown)"), "{text}");
    let (text, _) = info(&s, "latin").await;
    assert!(text.contains("text: no: the content is not valid UTF-8 at byte 3"), "{text}");
    let missing = s.error(&FileInfo, json!({"path": "imag.png"})).await;
    assert!(missing.contains("Did you mean") && missing.contains("image.png"), "{missing}");
}

#[tokio::test]
async fn f9_a_pipe_and_a_device_are_not_opened_and_a_huge_file_not_read() {
    let s = Session::new();
    rustix::fs::mknodat(
        rustix::fs::CWD,
        s.path("pipe"),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::from_raw_mode(0o600),
        0,
    )
    .unwrap();
    File::create(s.path("huge")).unwrap().set_len(5 << 30).unwrap();
    let (text, details) = info(&s, "pipe").await;
    assert!(text.starts_with("pipe: a named pipe (FIFO)\nmode: 0600") && details["kind"] == "fifo", "{text}");
    let (text, _) = info(&s, "/dev/zero").await;
    assert!(text.starts_with("/dev/zero: a device\nmode: "), "{text}");
    let (text, details) = info(&s, "huge").await;
    assert!(
        text.contains("size: 5.0 GiB (5368709120 bytes)") && text.contains("lines: not counted"),
        "{text}"
    );
    assert_eq!(details["media_type"], "application/octet-stream");
}
