//! Holds the rules of this code base that a reviewer would forget; each rule says why it is there.
//!
//! The sources are read as text: a scanner takes strings and comments away, the rest is search.
//! Each rule is tested on a bad sample, so that it is known to be able to fail.

#[path = "tidy/scanner.rs"]
mod scanner;

use std::path::{Path, PathBuf};

use scanner::{blank, blank_strings, divide, item_length, line_of, words};

/// Rooms from left to right: a room imports only from those further right. Rooms on one line do
/// not import each other.
const ROOMS: &[&[&str]] = &[
    &["main"],
    &["cli"],
    &["app"],
    &["http"],
    &["session"],
    &["executor"],
    &["tools", "mcp"],
    &["permission"],
    &["process", "workspace", "sandbox", "store"],
    &["shutdown", "telemetry"],
    &["config"],
    &["domain"],
];

/// Imports between rooms of one line that are meant: a process is spawned into its sandbox.
const NEIGHBOURS: &[(&str, &str)] = &[("process", "sandbox")];

/// Crates that only some places may know, each with the places and the reason.
const CRATES: &[(&str, &[&str], &str)] = &[
    ("axum", &["src/http/", "src/app.rs"], "the wire is known in one room only"),
    ("rusqlite", &["src/store/sqlite/"], "another store must be able to take its place"),
    (
        "reqwest",
        &["src/cli/", "src/tools/", "src/permission/proxy/"],
        "what leaves the machine is checked in one place",
    ),
];

/// What such a crate has that goes nowhere: `Url` only parses.
const NO_SERVICE: &[&str] = &["reqwest::Url"];

const FUNCTION_LINES_MAX: usize = 80;
const FILE_LINES_MAX: usize = 600;

// ---- the rules: each takes text and returns what is wrong ------------------------------------

/// The room of a source file: its folder, or its own name at the top.
fn room(path: &str) -> &str {
    let inside = path.strip_prefix("src/").unwrap_or(path);
    inside.split_once('/').map_or(inside.trim_end_matches(".rs"), |(folder, _)| folder)
}

/// The rooms that code names, each with its line: `crate::room`, `crate::{room, …}`, and `super`
/// as far as it climbs to the top.
fn rooms_named(path: &str, code: &str) -> Vec<(String, usize)> {
    let inside = path.strip_prefix("src/").unwrap_or(path).trim_end_matches(".rs");
    let depth = inside.split('/').filter(|part| *part != "mod").count();
    let mut named = Vec::new();
    let climbs = |at: &usize| repeats(&code[*at..], "super::");
    let from_top = words(code, "crate").map(|at| (at, at + "crate".len()));
    let climbing = words(code, "super").filter(|at| !code[..*at].ends_with("super::") && climbs(at) >= depth);
    let starts = from_top.chain(climbing.map(|at| (at, at + "super::".len() * climbs(&at) - "::".len())));
    for (at, end) in starts {
        let Some(rest) = code[end..].strip_prefix("::") else { continue };
        let line = line_of(code, at);
        named.extend(first_names(rest).into_iter().map(|name| (name, line)));
    }
    named
}

/// How many times in a row the text begins with the part.
fn repeats(text: &str, part: &str) -> usize {
    text.strip_prefix(part).map_or(0, |rest| 1 + repeats(rest, part))
}

/// The first name of a path, or of each path in a group.
fn first_names(rest: &str) -> Vec<String> {
    let name =
        |text: &str| text.trim().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>();
    let Some(group) = rest.strip_prefix('{') else { return vec![name(rest)] };
    let (mut depth, mut names, mut start) = (0_i32, Vec::new(), 0);
    for (at, c) in group.char_indices() {
        match c {
            '{' => depth += 1,
            ',' | '}' if depth == 0 => {
                names.push(name(&group[start..at]));
                start = at + 1;
                if c == '}' {
                    break;
                }
            }
            '}' => depth -= 1,
            _ => {}
        }
    }
    names.retain(|name| !name.is_empty() && name != "self");
    names
}

fn wrong_direction(path: &str, code: &str) -> Vec<String> {
    let rank = |room: &str| ROOMS.iter().position(|rooms| rooms.contains(&room));
    let here = room(path);
    if here == "lib" || !path.starts_with("src/") {
        return Vec::new();
    }
    let Some(from) = rank(here) else { return vec![format!("{path}: `{here}` has no place in ROOMS")] };
    let wrong = |to: &str| {
        to != here && !NEIGHBOURS.contains(&(here, to)) && rank(to).is_some_and(|rank| rank <= from)
    };
    let named = rooms_named(path, code).into_iter().filter(|(to, _)| wrong(to));
    named.map(|(to, line)| format!("{path}:{line}: {here} imports {to}")).collect()
}

fn misplaced_crates(path: &str, code: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    for (name, places, reason) in CRATES {
        let beyond_parsing = |at: &usize| {
            let rest = code[at + name.len()..].trim_start();
            let first = || format!("{name}::{}", first_names(&rest["::".len()..]).join(","));
            rest.starts_with("::") && !NO_SERVICE.contains(&first().as_str())
        };
        let used = words(code, name).find(beyond_parsing);
        if let Some(at) = used.filter(|_| !places.iter().any(|place| path.starts_with(place))) {
            wrong.push(format!("{path}:{}: {name} belongs to {places:?}: {reason}", line_of(code, at)));
        }
    }
    // The numbers that libc names are harmless; its functions and structures are not.
    let beyond_numbers = |at: &usize| {
        let named = code[at + "libc".len()..].strip_prefix("::");
        named.is_some_and(|name| !name.starts_with(char::is_uppercase))
    };
    let unsafe_at = words(code, "unsafe").next().or_else(|| words(code, "libc").find(beyond_numbers));
    let declared = code.contains("#![expect(") && words(code, "unsafe_code").next().is_some();
    if let Some(at) = unsafe_at.filter(|_| !declared) {
        wrong
            .push(format!("{path}:{}: unsafe or libc without #![expect(unsafe_code, …)]", line_of(code, at)));
    }
    wrong
}

fn too_long(path: &str, code: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    let lines = code.trim_end().lines().count();
    if lines > FILE_LINES_MAX {
        wrong.push(format!("{path}: {lines} lines, at most {FILE_LINES_MAX}"));
    }
    for at in words(code, "fn") {
        let body = &code[at..at + item_length(&code[at..])];
        let lines = body.lines().count();
        if lines > FUNCTION_LINES_MAX && body.ends_with('}') {
            let from = line_of(code, at);
            wrong.push(format!("{path}:{from}: a function of {lines} lines, at most {FUNCTION_LINES_MAX}"));
        }
    }
    wrong
}

fn empty_name(path: &str) -> Option<String> {
    const EMPTY: &[&str] =
        &["util", "utils", "helper", "helpers", "common", "types", "misc", "manager", "managers"];
    let says_nothing = |part: &&str| {
        let version = part.rsplit_once("_v").is_some_and(|(_, v)| v.bytes().all(|b| b.is_ascii_digit()));
        EMPTY.contains(part) || version
    };
    let bare = path.trim_end_matches(".rs");
    bare.split('/').find(says_nothing).map(|part| format!("{path}: `{part}` says nothing about its duty"))
}

fn left_open(path: &str, source: &str) -> Vec<String> {
    let marks =
        [concat!("TO", "DO"), concat!("FIX", "ME"), concat!("to", "do!"), concat!("unimplem", "ented!")];
    let open = marks.iter().filter_map(|mark| words(source, mark).next().map(|at| (mark, at)));
    open.map(|(mark, at)| format!("{path}:{}: {mark}", line_of(source, at))).collect()
}

fn bare_allow(path: &str, blanked: &str) -> Vec<String> {
    let found = ["#[allow(", "#![allow("].iter().filter_map(|mark| blanked.find(mark));
    found.map(|at| format!("{path}:{}: allow in place of expect", line_of(blanked, at))).collect()
}

fn sleeps(path: &str, tests: &str) -> Vec<String> {
    let sleeping = |at: &usize| {
        let before = tests[..*at].trim_end();
        let called = tests[at + 5..].trim_start().starts_with('(')
            && !before.ends_with('.')
            && !before.ends_with("fn");
        called || before.ends_with("thread::") || before.ends_with("time::")
    };
    let found = words(tests, "sleep").filter(sleeping);
    found.map(|at| format!("{path}:{}: sleep", line_of(tests, at))).collect()
}

fn machine_paths(path: &str, text: &str) -> Vec<String> {
    let places = [concat!("/wo", "rk/"), concat!("/ro", "ot/")];
    let found = places.iter().filter_map(|place| text.find(place).map(|at| (place, at)));
    found.map(|(place, at)| format!("{path}:{}: {place}", line_of(text, at))).collect()
}

/// Targets of Markdown links into the repository, outside code.
fn links(markdown: &str) -> Vec<String> {
    let mut targets = Vec::new();
    let mut fenced = false;
    for line in markdown.lines() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        } else if !fenced {
            let prose: String = line.split('`').step_by(2).collect::<Vec<_>>().join("`");
            targets.extend(
                prose.split("](").skip(1).filter_map(|rest| rest.split([')', ' ']).next()).map(Into::into),
            );
        }
    }
    let outside = |target: &String| {
        target.is_empty()
            || target.starts_with('#')
            || target.contains("://")
            || target.starts_with("mailto:")
    };
    targets.retain(|target| !outside(target));
    targets.into_iter().map(|target| target.split('#').next().unwrap_or_default().to_owned()).collect()
}

/// The types that a file makes tools of.
fn tools_defined(code: &str) -> Vec<String> {
    let made = code.match_indices("impl Tool for ").map(|(at, mark)| first_names(&code[at + mark.len()..]));
    made.flatten().collect()
}

/// The name that a tool's file gives it: the first string in its `name`.
fn tool_name(source: &str) -> Option<String> {
    let body = source.split("fn name(&self)").nth(1)?;
    body.split('"').nth(1).map(ToOwned::to_owned)
}

// ---- the repository ---------------------------------------------------------------------------

struct Source {
    path: String,
    text: String,
    blanked: String,
    /// What ships; nothing in files that are only tests.
    code: String,
    tests: String,
}

/// Whether nothing in the file ships: it lies under `tests/`, or is the room that tests got when
/// they outgrew their file.
fn only_tests(path: &str) -> bool {
    path.starts_with("tests/") || path.ends_with("tests.rs") || path.ends_with("/fake_server.rs")
}

fn is_kind(path: &str, extension: &str) -> bool {
    Path::new(path).extension().is_some_and(|found| found == extension)
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// The repository's own text files: what .gitignore names is not looked at.
fn files() -> Vec<(String, String)> {
    let mut walk = ignore::WalkBuilder::new(root());
    walk.hidden(false).require_git(false).parents(false).git_global(false);
    walk.filter_entry(|entry| entry.file_name() != ".git");
    let mut files = Vec::new();
    for entry in walk.build().flatten().filter(|entry| entry.path().is_file()) {
        let path = entry.path().strip_prefix(root()).unwrap_or(entry.path()).to_string_lossy().into_owned();
        if let Ok(text) = std::fs::read_to_string(entry.path()) {
            files.push((path, text));
        }
    }
    files.sort();
    files
}

fn sources() -> Vec<Source> {
    let ours = |path: &str| is_kind(path, "rs") && (path.starts_with("src/") || path.starts_with("tests/"));
    let sources = files().into_iter().filter(|(path, _)| ours(path)).map(|(path, text)| {
        let blanked = blank(&text);
        let (code, tests) =
            if only_tests(&path) { (String::new(), blanked.clone()) } else { divide(&blanked) };
        Source { path, text, blanked, code, tests }
    });
    let sources: Vec<_> = sources.collect();
    assert!(sources.len() > 10, "the sources were not found");
    sources
}

fn hold(why: &str, wrong: impl IntoIterator<Item = String>) {
    let wrong: Vec<String> = wrong.into_iter().collect();
    assert!(wrong.is_empty(), "{why}:\n  {}", wrong.join("\n  "));
}

#[test]
fn imports_go_one_way() {
    hold(
        "a room imports only from rooms to its right, so that each can be read and tested without those to its left",
        sources().iter().flat_map(|source| wrong_direction(&source.path, &source.code)),
    );
}

#[test]
fn crates_stay_in_their_rooms() {
    hold(
        "a crate that only its room knows can be replaced there",
        sources().iter().flat_map(|source| misplaced_crates(&source.path, &source.code)),
    );
}

#[test]
fn every_file_says_its_duty() {
    let silent = |source: &&Source| source.text.lines().next().is_none_or(|line| !line.starts_with("//! "));
    hold(
        "the first line is `//! ` and the file's one duty, so that a file is found in one guess",
        sources().iter().filter(silent).map(|source| source.path.clone()),
    );
}

#[test]
fn files_and_functions_can_be_read() {
    hold(
        "what does not fit a screen hides a second duty: find it and give it a room",
        sources().iter().flat_map(|source| {
            let text = if source.path.starts_with("tests/") { &source.blanked } else { &source.code };
            too_long(&source.path, text)
        }),
    );
}

#[test]
fn names_say_something() {
    hold(
        "a name that fits anything collects everything",
        sources().iter().filter_map(|source| empty_name(&source.path)),
    );
}

#[test]
fn nothing_is_left_open() {
    let text = |path: &str| {
        path == ".ci/run" || ["rs", "py", "toml", "sh", "json"].iter().any(|kind| is_kind(path, kind))
    };
    hold(
        "what is not done is an issue, not a note in the code",
        files().into_iter().filter(|(path, _)| text(path)).flat_map(|(path, text)| {
            let text = if is_kind(&path, "rs") { blank_strings(&text) } else { text };
            left_open(&path, &text)
        }),
    );
    hold(
        "`expect` with a reason complains once it is no longer needed, `allow` stays for ever",
        sources().iter().flat_map(|source| bare_allow(&source.path, &source.blanked)),
    );
}

#[test]
fn tests_wait_on_events() {
    hold(
        "a test that sleeps is slow on a good day and wrong on a bad one: wait for what must happen",
        sources().iter().flat_map(|source| sleeps(&source.path, &source.tests)),
    );
}

#[test]
fn nothing_speaks_of_one_machine() {
    hold(
        "a path of the machine it was written on works nowhere else",
        files().iter().flat_map(|(path, text)| machine_paths(path, text)),
    );
}

#[test]
fn links_lead_somewhere() {
    let dead = |path: &str, text: &str| {
        let folder = root().join(path).parent().map(Path::to_path_buf).unwrap_or_default();
        let base = |target: &str| if target.starts_with('/') { root() } else { folder.clone() };
        let dead =
            links(text).into_iter().filter(move |to| !base(to).join(to.trim_start_matches('/')).exists());
        dead.map(|to| format!("{path}: {to}")).collect::<Vec<_>>()
    };
    let markdown = files().into_iter().filter(|(path, _)| is_kind(path, "md"));
    hold("a reader follows links", markdown.flat_map(|(path, text)| dead(&path, &text)));
}

#[test]
fn every_tool_is_listed_and_documented() {
    let sources = sources();
    let documents: String = files()
        .into_iter()
        .filter(|(path, _)| path == "README.md" || path == "docs/tools.md")
        .map(|(_, t)| t)
        .collect();
    let mut wrong = Vec::new();
    for source in sources.iter().filter(|source| source.path.starts_with("src/tools/")) {
        for tool in tools_defined(&source.code) {
            let elsewhere = sources.iter().filter(|other| other.path != source.path);
            if !elsewhere.into_iter().any(|other| words(&other.code, &tool).next().is_some()) {
                wrong.push(format!("{}: {tool} is in no list", source.path));
            }
            match tool_name(&source.text) {
                Some(name) if words(&documents, &name).next().is_some() => {}
                name => wrong.push(format!("{}: {name:?} is not in README.md or docs/tools.md", source.path)),
            }
        }
    }
    hold("a tool that nobody can find does not exist", wrong);
}

// ---- each rule can fail -----------------------------------------------------------------------

#[test]
fn a_wrong_direction_is_seen() {
    for (path, code, lines) in [
        ("src/domain/call.rs", "use crate::store::Store;", vec![1]),
        ("src/store/sqlite/mod.rs", "\nuse crate::{domain::x, config::{y, z}, http};", vec![2]),
        ("src/store/mod.rs", "use crate::workspace::Path;", vec![1]),
        ("src/tools/bash.rs", "use super::super::executor::Chain;", vec![1]),
        ("src/tools/mod.rs", "fn f() { super::session::x() }", vec![1]),
        ("src/sandbox/mod.rs", "use crate::process::Tree;", vec![1]),
        ("src/process/mod.rs", "use crate::sandbox::Floor; use crate::domain;", vec![]),
        ("src/tools/bash.rs", "use crate::tools::Tool; use super::Tool; pub(crate) fn x() {}", vec![]),
        ("src/cli/call.rs", "use super::executor::x; use crate::app::serve;", vec![]),
    ] {
        let wrong = wrong_direction(path, code);
        let expected: Vec<_> = lines.iter().map(|line| format!("{path}:{line}:")).collect();
        assert_eq!(wrong.len(), expected.len(), "{path} {code}: {wrong:?}");
        assert!(wrong.iter().zip(&expected).all(|(wrong, start)| wrong.starts_with(start)), "{wrong:?}");
    }
    assert_eq!(wrong_direction("src/attic/mod.rs", "").len(), 1);
}

#[test]
fn misplaced_crates_are_seen() {
    assert_eq!(
        misplaced_crates("src/session/mod.rs", "use axum::Router; rusqlite::x(); reqwest ::y()").len(),
        3
    );
    assert_eq!(misplaced_crates("src/http/a.rs", "use axum::Router; fn not_axum() { axumx::y }").len(), 0);
    assert_eq!(misplaced_crates("src/process/tree.rs", "unsafe { x() }").len(), 1);
    assert_eq!(misplaced_crates("src/process/tree.rs", "libc::kill(0)").len(), 1);
    assert_eq!(misplaced_crates("src/process/tree.rs", "libc::SIGTERM").len(), 0);
    assert_eq!(misplaced_crates("src/permission/host.rs", "use reqwest::Url;").len(), 0);
    assert_eq!(misplaced_crates("src/permission/host.rs", "use reqwest::{Url, Client};").len(), 1);
    assert_eq!(
        misplaced_crates("src/a.rs", "#![expect(unsafe_code, reason = \"\")]\nunsafe { libc::x() }").len(),
        0
    );
}

#[test]
fn length_is_seen() {
    let function = |lines: usize| format!("fn f(x: [u8; 3]) -> u8 {{\n{}}}\n", "x;\n".repeat(lines - 2));
    assert_eq!(too_long("a", &function(FUNCTION_LINES_MAX)).len(), 0);
    assert_eq!(too_long("a", &function(FUNCTION_LINES_MAX + 1)).len(), 1);
    assert_eq!(too_long("a", &"x;\n".repeat(FILE_LINES_MAX)).len(), 0);
    assert_eq!(too_long("a", &"x;\n".repeat(FILE_LINES_MAX + 1)).len(), 1);
}

#[test]
fn other_offenders_are_seen() {
    for path in
        ["src/utils/x.rs", "src/a/helpers.rs", "src/types.rs", "src/call_v2.rs", "tests/common/mod.rs"]
    {
        assert!(empty_name(path).is_some(), "{path}");
    }
    assert!(empty_name("src/tools/list_dir.rs").is_none());
    assert_eq!(left_open("a", concat!("x // TO", "DO\nto", "do!()")).len(), 2);
    assert_eq!(left_open("a", "let todos = TodoWrite;").len(), 0);
    assert_eq!(bare_allow("a", "#[allow(dead_code)]\n#![allow(x)]").len(), 2);
    assert_eq!(bare_allow("a", "#[expect(dead_code, reason = \"\")]").len(), 0);
    assert_eq!(sleeps("a", "std::thread::sleep(x); tokio::time::sleep (y); sleep(z)").len(), 3);
    assert_eq!(sleeps("a", "fn sleep() {} use super::sleep; clock.sleep(x)").len(), 0);
    assert_eq!(machine_paths("a", concat!("x\n/wo", "rk/y /ro", "ot/z")).len(), 2);
    assert_eq!(machine_paths("a", "/workspace/x").len(), 0);
}

#[test]
fn links_and_tools_are_found() {
    let markdown =
        "[a](b.md#c) [d](https://e) [f](#g) ![h](i/j.png \"k\") `[l](m)`\n```\n[n](o)\n```\n[p](q)";
    assert_eq!(links(markdown), ["b.md", "i/j.png", "q"]);
    assert_eq!(tools_defined("impl Tool for Bash {} impl Tool for Read<X> {}"), ["Bash", "Read"]);
    assert_eq!(tool_name("fn name(&self) -> &str {\n \"Bash\"\n}").as_deref(), Some("Bash"));
}
