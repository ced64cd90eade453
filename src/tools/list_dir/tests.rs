//! ListDir: the tree, what is not opened, what does not show, bounds.

use super::*;
use crate::tools::testing::Session;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

#[tokio::test]
async fn a_tree_with_folders_sizes_and_links() {
    let s = Session::new();
    s.put("src/deep/er/x", "");
    s.put("src/main.rs", "x".repeat(1536));
    s.put(".hidden", "abc");
    s.link("src/main.rs", "link");
    s.link("nowhere", "dead");
    rustix::fs::mknodat(
        rustix::fs::CWD,
        s.path("pipe"),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::from_raw_mode(0o644),
        0,
    )
    .unwrap();
    let text = s.ok(&ListDir, json!({})).await;
    assert_eq!(
        text,
        "./\n  .hidden  3 B\n  dead -> nowhere\n  link -> src/main.rs\n  pipe  (a named pipe (FIFO))\n  src/\n    deep/\n    \
         main.rs  1.5 KiB\n"
    );
    let one = s.ok(&ListDir, json!({"depth": 1, "path": "src"})).await;
    assert_eq!(one, "src/\n  deep/\n  main.rs  1.5 KiB\n");
    assert!(s.ok(&ListDir, json!({"depth": 4})).await.contains("      er/\n        x  0 B\n"));
    // A link that is asked for is a folder like another; beneath, it is not entered.
    s.link("src", "to");
    assert_eq!(s.ok(&ListDir, json!({"path": "to", "depth": 1})).await, "to/\n  deep/\n  main.rs  1.5 KiB\n");
    assert!(s.ok(&ListDir, json!({})).await.contains("  to -> src\n"));
}

#[tokio::test]
async fn heavy_and_ignored_folders_show_and_are_opened_only_by_themselves() {
    let s = Session::new();
    for name in [".git/config", "node_modules/a/x", "out/y", "kept/z", "kept/inner/w", "kept/node_modules/v"]
    {
        s.put(name, "");
    }
    s.put(".gitignore", "out/\n");
    s.put("kept/.gitignore", "inner\n");
    let text = s.ok(&ListDir, json!({"depth": 3})).await;
    assert_eq!(
        text,
        "./\n  .git/  (not opened)\n  .gitignore  5 B\n  kept/\n    .gitignore  6 B\n    inner/  (ignored by .gitignore, not \
         opened)\n    node_modules/  (not opened)\n    z  0 B\n  node_modules/  (not opened)\n  out/  (ignored by .gitignore, not \
         opened)\n"
    );
    assert_eq!(s.ok(&ListDir, json!({"path": ".git"})).await, ".git/\n  config  0 B\n");
    assert_eq!(s.ok(&ListDir, json!({"path": "out"})).await, "out/\n  y  0 B\n");
}

#[tokio::test]
async fn what_a_rule_denies_is_as_if_not_there() {
    let s = Session::new().denying("secret");
    for name in ["open/a", "secret/b", "open/secret.txt"] {
        s.put(name, "");
    }
    s.link("secret/b", "alias");
    s.link("secret/b/beneath-a-file", "broken");
    s.link("../secret", "open/up");
    let text = s.ok(&ListDir, json!({"depth": 3})).await;
    assert_eq!(text, "./\n  open/\n    a  0 B\n");
    let missing = s.error(&ListDir, json!({"path": "secre"})).await;
    assert_eq!(missing, "secre does not exist.");
}

#[tokio::test]
async fn names_cannot_hide_anything() {
    let s = Session::new();
    std::fs::write(s.path("").join(OsStr::from_bytes(b"bad\xff\n\x1b[2Jname")), "").unwrap();
    s.link("x\n  forged  1 B", "l");
    let text = s.ok(&ListDir, json!({})).await;
    assert_eq!(text, "./\n  bad\\xff\\n\\u{1b}[2Jname  0 B\n  l -> x\\n  forged  1 B\n");
}

#[tokio::test]
async fn a_huge_folder_is_cut_and_said_and_starves_no_other() {
    let s = Session::new();
    for n in 0..1_200 {
        s.put(&format!("big/f{n:04}"), "");
    }
    s.put("small/one", "");
    s.put("z", "");
    let result = s.call(&ListDir, json!({"depth": 3})).await.unwrap();
    let text = result.result;
    assert!(text.starts_with("./\n  big/\n    f0000  0 B\n") && text.contains("\n  z  0 B\n"), "{text}");
    assert!(text.contains("    f0996  0 B\n    … 203 more\n  small/\n    … 1 more\n  z"), "{text}");
    assert!(text.ends_with(
        "[Only 1000 entries are shown (at most 1000). List a folder beneath by itself, or use Glob.]\n"
    ));
    assert_eq!(result.details.unwrap(), json!({"shown": 1000, "cut": true}));
}

#[tokio::test]
async fn what_is_no_folder_is_said() {
    let s = Session::new();
    s.put("file", "");
    std::fs::create_dir(s.path("empty")).unwrap();
    assert_eq!(s.ok(&ListDir, json!({"path": "empty/"})).await, "empty/\n[The folder is empty.]\n");
    for (arguments, says) in [
        (json!({"path": "file"}), "file is a regular file, not a folder. FileInfo"),
        (json!({"path": "emty"}), "Did you mean"),
        (json!({"depth": 0}), "0 is less than the minimum"),
        (json!({"depth": 11}), "11 is greater than the maximum"),
    ] {
        let error = s.error(&ListDir, arguments).await;
        assert!(error.contains(says), "{error}");
    }
    let (other, inside) = (json!({"path": "/"}), json!({}));
    assert!(s.confined(&ListDir, other).await.is_err());
    assert!(s.confined(&ListDir, inside).await.unwrap().success);
}

#[tokio::test]
async fn of_a_folder_with_more_names_than_are_read_some_are_seen() {
    let s = Session::new();
    for (folder, count) in [("a", 10_050), ("b", 150)] {
        std::fs::create_dir(s.path(folder)).unwrap();
        for n in 0..count {
            std::fs::File::create(s.path(&format!("{folder}/{n}"))).unwrap();
        }
    }
    let text = s.ok(&ListDir, json!({})).await;
    // Two folders and 998 of the first one's 10,000 names that were read; of the second only that there are more.
    assert!(text.contains("    … more than 9002 more\n  b/\n    … more than 100 more\n"), "{text}");
    let alone = s.ok(&ListDir, json!({"path": "b"})).await;
    assert_eq!(alone.lines().count(), 151, "{alone}");
}
