//! Grep: matches, counts, bounds, what does not show.

use tokio_util::sync::CancellationToken;

use super::*;
use crate::tools::testing::Session;

async fn grep(s: &Session, arguments: Value) -> String {
    s.ok(&Grep, arguments).await
}

fn session() -> Session {
    let s = Session::new();
    s.put("src/a.rs", "fn one() {}\nfn two() {}\n");
    s.put("src/b.py", "def one():\n    pass\n");
    s.put("c.txt", "zero\none\ntwo\none one\n");
    s
}

/// What a call runs, searching below the workspace's root.
fn job(s: &Session, arguments: Value) -> Job {
    let top = s.scope.workspace.resolve(&s.scope.directory, ".").unwrap();
    let arguments: Arguments = serde_json::from_value(arguments).unwrap();
    Job {
        files: arguments.search().unwrap(),
        filter: Filter::of(&arguments, &top).unwrap(),
        hidden: Hidden::default(),
        include_ignored: false,
        workspace: Arc::clone(&s.scope.workspace),
        top,
        shown: ".".to_owned(),
        directory: s.scope.directory.clone(),
    }
}

#[tokio::test]
async fn the_three_modes() {
    let s = session();
    let files = grep(&s, json!({"pattern": "one"})).await;
    assert_eq!(files, "c.txt\nsrc/a.rs\nsrc/b.py\n\n[3 files with a match.]");
    let content = grep(&s, json!({"pattern": "one", "output_mode": "content"})).await;
    let lines = "c.txt:2:one\nc.txt:4:one one\nsrc/a.rs:1:fn one() {}\nsrc/b.py:1:def one():\n";
    assert_eq!(content, format!("{lines}\n[4 matching lines in 3 files.]"));
    let count = grep(&s, json!({"pattern": "one", "output_mode": "count"})).await;
    assert_eq!(count, "c.txt:2\nsrc/a.rs:1\nsrc/b.py:1\n\n[4 matching lines in 3 files.]");
    let bare = grep(&s, json!({"pattern": "zero", "output_mode": "content", "-n": false})).await;
    assert!(bare.starts_with("c.txt:zero\n"), "{bare}");
}

#[tokio::test]
async fn files_are_chosen_by_path_glob_and_type() {
    let s = session();
    let of = |arguments: Value| grep(&s, arguments);
    assert!(of(json!({"pattern": "one", "path": "src"})).await.starts_with("src/a.rs\nsrc/b.py\n\n"));
    assert!(of(json!({"pattern": "one", "path": "c.txt"})).await.starts_with("c.txt\n\n"));
    assert!(of(json!({"pattern": "one", "glob": "*.py"})).await.starts_with("src/b.py\n\n"));
    assert!(of(json!({"pattern": "one", "glob": "!src/**"})).await.starts_with("c.txt\n\n"));
    assert!(of(json!({"pattern": "one", "type": "rust"})).await.starts_with("src/a.rs\n\n"));
    assert!(s.error(&Grep, json!({"pattern": "one", "type": "klingon"})).await.contains("klingon"));
    assert!(s.error(&Grep, json!({"pattern": "one", "glob": "[a"})).await.contains("glob:"));
    let missing = s.error(&Grep, json!({"pattern": "one", "path": "c.tx"})).await;
    assert!(missing.contains("c.tx does not exist. Did you mean") && missing.contains("c.txt"), "{missing}");
}

#[tokio::test]
async fn context_case_and_many_lines() {
    let s = session();
    let around = json!({"pattern": "^TWO$", "-i": true, "output_mode": "content", "-B": 1, "-A": 1});
    assert!(grep(&s, around).await.starts_with("c.txt-2-one\nc.txt:3:two\nc.txt-4-one one\n\n"));
    let both = json!({"pattern": "two", "path": "c.txt", "output_mode": "content", "-C": 1});
    assert!(grep(&s, both).await.starts_with("c.txt-2-one\nc.txt:3:two\nc.txt-4-one one\n\n"));
    let across = json!({"pattern": "zero.*two", "multiline": true, "output_mode": "content"});
    assert!(grep(&s, across).await.starts_with("c.txt:1:zero\nc.txt:2:one\nc.txt:3:two\n\n"));
    let single = s.error(&Grep, json!({"pattern": "zero\\none"})).await;
    assert!(single.contains("set multiline"), "{single}");
}

#[tokio::test]
async fn totals_are_of_everything_and_pages_go_on() {
    let s = Session::new();
    s.put("f", "x\n".repeat(1_000));
    let first = grep(&s, json!({"pattern": "x", "output_mode": "content", "head_limit": 2})).await;
    let says = "[1000 matching lines in 1 file. Lines 1 to 2 of 1000 are shown; go on with offset 2.]";
    assert_eq!(first, format!("f:1:x\nf:2:x\n\n{says}"));
    let next =
        grep(&s, json!({"pattern": "x", "output_mode": "content", "head_limit": 2, "offset": 998})).await;
    assert_eq!(next, "f:999:x\nf:1000:x\n\n[1000 matching lines in 1 file.]");
    let default = grep(&s, json!({"pattern": "x", "output_mode": "content"})).await;
    assert!(default.contains("Lines 1 to 250 of 1000"), "{}", default.len());
    let past = grep(&s, json!({"pattern": "x", "output_mode": "content", "offset": 5000})).await;
    assert_eq!(past, "[1000 matching lines in 1 file; offset 5000 is past the end.]");
}

#[tokio::test]
async fn pages_of_a_large_tree_are_the_whole_in_order() {
    let s = Session::new().denying("/secret");
    for folder in 0..30 {
        for file in 0..15 {
            s.put(&format!("d{folder:02}/f{file:02}"), "needle\n".repeat(if file == 7 { 300 } else { 3 }));
        }
        s.put(&format!("d{folder:02}/secret"), "needle\n");
    }
    let lines = |text: &str| -> Vec<String> {
        text.lines().take_while(|line| !line.is_empty()).map(str::to_owned).collect()
    };
    let every: Vec<String> = (0..30)
        .flat_map(|folder| (0..15).map(move |file| (folder, file)))
        .flat_map(|(folder, file)| {
            let count = if file == 7 { 300 } else { 3 };
            (1..=count).map(move |line| format!("d{folder:02}/f{file:02}:{line}:needle"))
        })
        .collect();
    let whole = grep(&s, json!({"pattern": "needle", "output_mode": "content", "head_limit": 10_000})).await;
    assert_eq!(lines(&whole), every[..10_000]);
    assert!(whole.contains(&format!("[{} matching lines in 450 files.", every.len())), "{}", whole.len());
    for offset in [0, 1, 999, 5_000, every.len() - 10] {
        let arguments =
            json!({"pattern": "needle", "output_mode": "content", "head_limit": 1_000, "offset": offset});
        let page = lines(&grep(&s, arguments).await);
        assert_eq!(page, every[offset..every.len().min(offset + 1_000)], "{offset}");
    }
}

#[tokio::test]
async fn a_bad_pattern_is_an_error_and_no_match_is_said() {
    let s = session();
    let error = s.error(&Grep, json!({"pattern": "(unclosed"})).await;
    assert!(error.starts_with("pattern:"), "{error}");
    assert_eq!(grep(&s, json!({"pattern": "nothing like it"})).await, "No matches.");
}

#[tokio::test]
async fn gitignore_binaries_and_links_are_left_out_and_said() {
    let s = Session::new();
    s.put(".gitignore", "build/\n");
    s.put("build/out.js", "needle\n");
    s.put("a.txt", "needle\n");
    s.put("paper", b"%PDF-1.7\nneedle\n");
    s.put(".git/config", "needle\n");
    s.link("a.txt", "link");
    let text = grep(&s, json!({"pattern": "needle"})).await;
    assert!(text.starts_with("a.txt\n\n[1 file with a match.]"), "{text}");
    assert!(text.contains("1 ignored by .gitignore") && text.contains("1 binary"), "{text}");
    assert!(text.contains("1 symbolic links, not followed"), "{text}");
    let named = grep(&s, json!({"pattern": "needle", "path": "build/out.js"})).await;
    assert!(named.starts_with("build/out.js\n"), "{named}");
    let all = grep(&s, json!({"pattern": "needle", "include_ignored": true})).await;
    assert!(all.contains("build/out.js\n") && all.contains(".git/config\n"), "{all}");
}

#[tokio::test]
async fn f4_what_a_deny_rule_hides_is_neither_searched_nor_named() {
    let s = Session::new().denying("/secret");
    s.put("secret/key", "needle\n");
    s.put("a/secret.env", "needle\n");
    s.put("open", "needle\n");
    s.link("secret/key", "innocent");
    for mode in ["files_with_matches", "content", "count"] {
        for include_ignored in [false, true] {
            let arguments =
                json!({"pattern": "needle", "output_mode": mode, "include_ignored": include_ignored});
            let text = grep(&s, arguments).await;
            assert!(text.contains("open"), "{text}");
            assert!(
                !text.contains("secret") && !text.contains("innocent") && !text.contains("Skipped"),
                "{text}"
            );
        }
    }
}

#[tokio::test]
async fn f2_a_symlink_does_not_lead_out() {
    let s = Session::new();
    std::fs::create_dir(s.base.join("out")).unwrap();
    std::fs::write(s.base.join("out/f"), "needle\n").unwrap();
    s.link("../out", "folder");
    s.link("../out/f", "file");
    let text = grep(&s, json!({"pattern": "needle", "output_mode": "content"})).await;
    assert_eq!(text, "No matches.\n[Skipped: 2 symbolic links, not followed.]");
}

#[tokio::test]
async fn f9_pipes_and_huge_lines_do_not_stop_a_search() {
    let s = Session::new();
    let mode = rustix::fs::Mode::from_raw_mode(0o600);
    rustix::fs::mkfifoat(rustix::fs::CWD, s.path("pipe"), mode).unwrap();
    s.put("line", "x".repeat(40 * 1024 * 1024));
    s.put("z", "needle\n");
    let work = s.ok(&Grep, json!({"pattern": "needle"}));
    let text = tokio::time::timeout(Duration::from_mins(1), work).await.unwrap();
    assert!(text.starts_with("z\n\n[1 file with a match.]"), "{text}");
    assert!(
        text.contains("1 no regular files") && text.contains("[Searched only in part: 1 file; line:"),
        "{text}"
    );
}

#[tokio::test]
async fn crlf_and_utf16_files_are_searched_as_text() {
    let s = Session::new();
    s.put("crlf", "one\r\ntwo\r\n");
    let utf16: Vec<u8> = "\u{FEFF}drei\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    s.put("utf16", utf16);
    let found = grep(&s, json!({"pattern": "(one|drei)$", "output_mode": "content"})).await;
    assert!(found.starts_with("crlf:1:one\nutf16:1:drei\n\n"), "{found}");
}

#[tokio::test]
async fn a_pattern_has_a_bound() {
    let s = session();
    s.call(&Grep, json!({"pattern": r"\w{100}"})).await.unwrap();
    let error = s.call(&Grep, json!({"pattern": r"(\w{100}){100}"})).await.unwrap_err();
    assert!(error.to_string().contains("exceeds size limit"), "{error}");
}

/// Each match across lines takes its whole line anew: all of them would take hours here, with nothing asked in between.
#[tokio::test]
async fn many_matches_in_one_line_are_given_up_in_time() {
    let s = Session::new();
    s.put("long.txt", "a".repeat(4_000_000));
    let soon = Patience::new(CancellationToken::new(), Duration::from_millis(100));
    let error = job(&s, json!({"pattern": ".", "multiline": true})).run(&soon).unwrap_err();
    assert!(error.to_string().starts_with("Timed out"), "{error}");
}

#[tokio::test]
async fn cancelled_and_timed_out_are_errors_not_empty_answers() {
    let s = session();
    s.scope.cancel.cancel();
    let error = s.call(&Grep, json!({"pattern": "one"})).await.unwrap_err();
    assert!(matches!(error, ToolError::Cancelled { .. }), "{error:?}");

    let at_once = Patience::new(CancellationToken::new(), Duration::ZERO);
    let error = job(&s, json!({"pattern": "one"})).run(&at_once).unwrap_err();
    assert!(error.to_string().starts_with("Timed out"), "{error}");
}
