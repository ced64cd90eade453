//! Read: pages, bounds, encodings, what is no text.

use super::*;
use crate::tools::testing::Session;

fn lines(count: usize) -> String {
    (1..=count).fold(String::new(), |mut text, n| {
        let _ = writeln!(text, "line {n}");
        text
    })
}

#[tokio::test]
async fn lines_have_their_numbers_and_a_range_is_exact() {
    let s = Session::new();
    s.put("src/a.txt", lines(5));
    let whole = s.ok(&Read, json!({"file_path": "src/a.txt"})).await;
    assert_eq!(whole, "     1\tline 1\n     2\tline 2\n     3\tline 3\n     4\tline 4\n     5\tline 5\n");
    let absolute = s.path("src/a.txt");
    let range = s.ok(&Read, json!({"file_path": absolute, "offset": 2, "limit": 2})).await;
    assert!(range.starts_with("     2\tline 2\n     3\tline 3\n"), "{range}");
    assert!(range.contains("[Lines 2 to 3 of 5. To go on, read with offset 4.]"), "{range}");
}

#[tokio::test]
async fn a_file_that_is_too_long_gives_its_first_page_and_says_so() {
    let s = Session::new();
    s.put("long", lines(2345));
    let text = s.ok(&Read, json!({"file_path": "long"})).await;
    assert!(text.contains("  2000\tline 2000\n") && !text.contains("line 2001"), "{text}");
    assert!(text.contains("[Lines 1 to 2000 of 2345. To go on, read with offset 2001.]"));
    let rest = s.ok(&Read, json!({"file_path": "long", "offset": 2001})).await;
    assert!(rest.ends_with("  2345\tline 2345\n"), "{rest}");
    s.put("wide", "x".repeat(1_000).as_str().to_owned().add_line(400));
    let wide = s.ok(&Read, json!({"file_path": "wide"})).await;
    assert!(wide.contains("[Lines 1 to 261 of 400."), "{}", &wide[wide.len() - 100..]);
}

trait AddLine {
    fn add_line(self, times: usize) -> String;
}

impl AddLine for String {
    fn add_line(self, times: usize) -> String {
        (self + "\n").repeat(times)
    }
}

#[tokio::test]
async fn an_explicit_range_that_is_too_long_is_an_error_that_says_the_bound() {
    let s = Session::new();
    s.put("wide", "x".repeat(1_000).add_line(400));
    let lines = s.error(&Read, json!({"file_path": "wide", "limit": 2001})).await;
    assert!(lines.contains("2000"), "{lines}");
    let bytes = s.error(&Read, json!({"file_path": "wide", "limit": 400})).await;
    assert!(bytes.contains("256 KiB") && bytes.contains("limit 261"), "{bytes}");
    let zero = s.error(&Read, json!({"file_path": "wide", "offset": 0})).await;
    assert!(zero.contains('1'), "{zero}");
}

#[tokio::test]
async fn empty_and_past_the_end_have_notices_of_their_own() {
    let s = Session::new();
    s.put("empty", "");
    s.put("three", lines(3));
    assert_eq!(s.ok(&Read, json!({"file_path": "empty"})).await, "[empty exists and is empty.]");
    let past = s.ok(&Read, json!({"file_path": "three", "offset": 9})).await;
    assert_eq!(past, "[three has 3 lines; offset 9 is past its end.]");
}

#[tokio::test]
async fn f9_pipes_devices_folders_and_five_gigabytes_answer_at_once() {
    let s = Session::new();
    let mode = rustix::fs::Mode::from_raw_mode(0o600);
    rustix::fs::mkfifoat(rustix::fs::CWD, s.path("fifo"), mode).unwrap();
    s.put("one-line", "x".repeat(5_000));
    std::fs::File::options().append(true).open(s.path("one-line")).unwrap().set_len(5 << 30).unwrap();
    s.put("text", lines(3_000));
    std::fs::File::options().append(true).open(s.path("text")).unwrap().set_len(5 << 30).unwrap();
    let read = |path: &str| s.call(&Read, json!({"file_path": path.to_owned()}));
    let (fifo, zero, folder, one_line, text) = tokio::time::timeout(Duration::from_mins(1), async {
        (
            read("fifo").await,
            read("/dev/zero").await,
            read(".").await,
            read("one-line").await,
            read("text").await,
        )
    })
    .await
    .unwrap();
    assert!(fifo.unwrap_err().to_string().contains("named pipe"));
    assert!(zero.unwrap_err().to_string().contains("a device"));
    assert!(folder.unwrap_err().to_string().contains("is a directory. See what is in it with ListDir"));
    // A sparse file is NULs after its first bytes; the beginning has none for longer than what tells a binary.
    assert!(one_line.unwrap_err().to_string().contains("binary file, type unknown, of 5368709120 bytes"));
    let text = text.unwrap().result;
    assert!(
        text.contains("  2000\tline 2000\n") && text.contains("of more than "),
        "{}",
        &text[text.len() - 200..]
    );
}

#[tokio::test]
async fn f9_one_line_of_five_gigabytes_costs_one_page() {
    let s = Session::new();
    s.put("line", "x".repeat(20_000));
    std::fs::File::options().append(true).open(s.path("line")).unwrap().set_len(5 << 30).unwrap();
    let text = s.ok(&Read, json!({"file_path": "line"})).await;
    assert!(text.starts_with(&format!("     1\t{}", "x".repeat(2000))));
    assert!(
        text.contains("more than ") && text.contains("more characters in this line"),
        "{}",
        &text[2000..]
    );
    assert!(text.contains("too long to be read to its end"));
    let write = s.error(&crate::tools::Write, json!({"file_path": "line", "content": "y"})).await;
    assert!(write.contains("5368709120 bytes"), "{write}");
}

#[tokio::test]
async fn long_lines_are_cut_and_the_rest_is_counted() {
    let s = Session::new();
    s.put("f", format!("{}\nshort\n", "ä".repeat(2_100)));
    let text = s.ok(&Read, json!({"file_path": "f"})).await;
    let expected =
        format!("     1\t{} [… 100 more characters in this line]\n     2\tshort\n", "ä".repeat(2000));
    assert_eq!(text, expected);
}

#[tokio::test]
async fn other_encodings_are_read_and_what_cannot_be_decoded_is_said() {
    let s = Session::new();
    let utf16: Vec<u8> = "\u{FEFF}grün\r\n".encode_utf16().flat_map(u16::to_be_bytes).collect();
    s.put("utf16", utf16);
    s.put("bom", "\u{FEFF}first\n");
    s.put("latin1", b"gr\xfcn\n");
    s.put("image", b"BM\x0c\0\0\0\0\0\0\0\0\0");
    s.put("paper", b"%PDF-1.7\n1 0 obj");
    let utf16 = s.ok(&Read, json!({"file_path": "utf16"})).await;
    assert!(utf16.starts_with("     1\tgrün\n") && utf16.contains("UTF-16BE") && utf16.contains("CR LF"));
    assert_eq!(s.ok(&Read, json!({"file_path": "bom"})).await, "     1\tfirst\n");
    let latin1 = s.error(&Read, json!({"file_path": "latin1"})).await;
    assert!(latin1.contains("not valid UTF-8 at byte 2"), "{latin1}");
    let image = s.error(&Read, json!({"file_path": "image"})).await;
    assert!(image.contains("a binary file, BMP image, of 12 bytes"), "{image}");
    assert!(s.error(&Read, json!({"file_path": "paper"})).await.contains("PDF document, of 16 bytes"));
}

#[tokio::test]
async fn a_missing_file_gets_suggestions_but_never_a_hidden_name() {
    let s = Session::new().denying("secret");
    for name in ["src/config.rs", "src/config_secret.rs", "src/main.rs", "README.md"] {
        s.put(name, "");
    }
    s.link("main.rs", "src/confg_secret.rs");
    let error = |path: &str| s.error(&Read, json!({"file_path": path.to_owned()}));
    let near = error("src/confg.rs").await;
    assert!(near.contains("Did you mean") && near.contains("src/config.rs?"), "{near}");
    assert!(!near.contains("secret"), "{near}");
    assert!(error("src/config.py").await.contains("src/config.rs?"));
    assert!(error("readme.txt").await.contains("README.md?"));
    let folder = error("srv/main.rs").await;
    assert!(folder.contains("folder does not exist") && folder.contains("ws/src?"), "{folder}");
    let hidden = error("src/config_secrets.rs").await;
    assert!(!hidden.contains("Did you mean"), "{hidden}");
    assert_eq!(error("src/zzzzzz").await, "src/zzzzzz does not exist.");
    let outside = error("/etc/hosst").await;
    assert_eq!(outside, "/etc/hosst does not exist.");
}

#[tokio::test]
async fn unknown_arguments_are_refused() {
    let s = Session::new();
    s.put("f", "x");
    let error = s.error(&Read, json!({"file_path": "f", "approved": true})).await;
    assert!(error.contains("approved"), "{error}");
}

#[tokio::test]
async fn a_cancelled_call_says_so() {
    let s = Session::new();
    s.put("f", "x");
    s.scope.cancel.cancel();
    let error = s.call(&Read, json!({"file_path": "f"})).await.unwrap_err();
    assert!(matches!(error, ToolError::Cancelled { .. }), "{error:?}");
}

#[tokio::test]
async fn f1_f2_nothing_leads_out_of_a_confined_workspace() {
    let s = Session::new();
    std::fs::create_dir(s.base.join("ws-evil")).unwrap();
    std::fs::write(s.base.join("ws-evil/x"), "evil").unwrap();
    s.put("fine", "fine\n");
    s.link("../ws-evil", "folder");
    s.link("../ws-evil/x", "file");
    s.link("/proc/self/root", "slash");
    let evil = s.base.join("ws-evil/x");
    for path in ["../ws-evil/x", "file", "folder/x", "fine/../../ws-evil/x", "slash/etc/passwd"] {
        let error = s.confined(&Read, json!({"file_path": path})).await;
        assert!(error.is_err(), "{path}: {error:?}");
    }
    assert!(s.confined(&Read, json!({"file_path": evil})).await.is_err());
    assert!(s.confined(&Read, json!({"file_path": "fine"})).await.unwrap().success);
    // Where a path outside was judged and allowed, it is read.
    assert_eq!(s.ok(&Read, json!({"file_path": "folder/x"})).await, "     1\tevil\n");
}

#[test]
fn what_models_are_told_of_the_file_tools_is_consistent() {
    use crate::tools::{Edit, Glob, Grep, Write};
    let tools: [&dyn Tool; 5] = [&Read, &Write, &Edit, &Glob, &Grep];
    let guides: [&dyn ToolGuide; 5] = [&Read, &Write, &Edit, &Glob, &Grep];
    for (tool, guide) in tools.into_iter().zip(guides) {
        let parameters = tool.parameters();
        assert_eq!(parameters["type"], "object");
        assert_eq!(parameters["additionalProperties"], false);
        let has = |name: &str| parameters["properties"].get(name).is_some();
        for (alias, real) in tool.parameter_aliases() {
            assert!(has(real) && !has(alias), "{}: {alias} for {real}", tool.name());
        }
        assert_eq!(guide.tool_name(), tool.name());
        let schema = jsonschema::draft202012::new(&parameters).unwrap();
        for example in guide.examples() {
            let arguments: Value = serde_json::from_str(&example.arguments).unwrap();
            assert!(schema.is_valid(&arguments), "{}: {}", tool.name(), example.arguments);
        }
    }
}

#[tokio::test]
async fn an_image_is_an_image_whatever_its_name() {
    let s = Session::new();
    let bytes = include_bytes!("file_info/pixel.png");
    s.put("notes.txt", bytes);
    // Larger than what is read on the async thread: what follows the image's end counts for nothing.
    s.put("large.png", [bytes.as_slice(), &vec![0; 100_000]].concat());
    for name in ["notes.txt", "large.png"] {
        let result = s.call(&Read, json!({"file_path": name})).await.unwrap();
        assert!(
            result.result.starts_with(&format!("[{name}: PNG image, 3 x 2 pixels, ")),
            "{}",
            result.result
        );
        let [image] = result.images.as_slice() else { panic!("{result:?}") };
        assert_eq!(image.media_type, "image/png");
        assert!(image.data.starts_with("iVBORw0KGgo"), "{}", image.data);
        let details = result.details.unwrap();
        assert_eq!((&details["width"], &details["shown"]["height"]), (&json!(3), &json!(2)));
    }
    s.put("text.gif", "GIF89a is how this text begins\n");
    assert!(s.ok(&Read, json!({"file_path": "text.gif"})).await.contains("how this text begins"));
    s.put("broken.png", &bytes[..40]);
    let error = s.error(&Read, json!({"file_path": "broken.png"})).await;
    assert!(
        error.contains("broken.png looks like a PNG image of 40 bytes, but it cannot be decoded"),
        "{error}"
    );
    let huge = std::fs::File::create(s.path("huge.png")).unwrap();
    io::Write::write_all(&mut &huge, bytes).unwrap();
    huge.set_len(5 << 30).unwrap();
    let error = s.error(&Read, json!({"file_path": "huge.png"})).await;
    assert!(error.contains("at most 33554432 bytes"), "{error}");
}
