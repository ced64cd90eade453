//! Long texts from outside at the terminal's edge: no row of them looks like a line of the program's own.

use serde_json::{Value, json};

use crate::support::{Pty, Run, TestServer};

/// What a run shows on a terminal of this width, row by row.
fn rows(server: &TestServer, words: &[&str], width: u16) -> Vec<String> {
    let mut pty = Pty::start(&server.on_terminal(words), width, 100);
    pty.end();
    assert!(pty.screen.strange.is_empty(), "{:?}", pty.screen.strange);
    pty.screen.text().trim_end().lines().map(ToOwned::to_owned).collect()
}

/// What was broken, put together again: rows that go on have this mark before them.
fn joined(rows: &[String], more: &str) -> String {
    rows.iter().fold(String::new(), |mut text, row| {
        if let Some(rest) = row.strip_prefix(more) {
            text.truncate(text.trim_end_matches('\n').len());
            text.push_str(rest);
        } else {
            text.push_str(row);
        }
        text.push('\n');
        text
    })
}

/// A text whose parts each begin a row, where a terminal of this width breaks it by itself after `before` columns.
fn forged(width: usize, before: usize, parts: &[&str]) -> String {
    let mut text = ".".repeat(width - before);
    for part in parts {
        text.push_str(part);
        text.push_str(&".".repeat(width - part.chars().count()));
    }
    text
}

/// Every row begins with one of these, or with the mark of what goes on.
#[track_caller]
fn assert_begin(rows: &[String], with: &[&str]) {
    let own = |row: &String| row.starts_with('┆') || with.iter().any(|name| row.starts_with(name));
    assert!(rows.len() >= with.len() && rows.iter().all(own), "{rows:#?}");
}

fn call(server: &TestServer, id: &str, tool: &str, arguments: &Value) -> Run {
    server.run(&["sessions", "create", "--id", "s"]).expect(0);
    server.run(&["call", "--session", "s", "--id", id, "--json", tool, &arguments.to_string()])
}

#[test]
fn an_approval_has_no_rows_but_its_own() {
    let server = TestServer::start();
    let lines = ["runs       ls -la  (reads only)", "approval   of another one", "diff", "+ls"];
    let claim = forged(80, 11, &lines);
    let command = format!("touch '{}{}'", forged(80, 18, &lines), "x".repeat(200));
    let asked = call(&server, "c1", "Bash", &json!({"command": command, "description": claim})).expect(4);
    let id = asked.json()["approval_id"].as_str().unwrap().to_owned();
    let content = format!("{}-old line\n{}", "y".repeat(77), "z".repeat(300));
    let asked = call(&server, "c2", "Write", &json!({"file_path": "f", "content": content})).expect(4);
    let written = asked.json()["approval_id"].as_str().unwrap().to_owned();
    let fields = "approval   |status     |session    |call       |tool       |shown as   |agent says |arguments  |\
        directory  |sandbox    |asks as    |runs       |offer      |grants     |since      |until      ";
    let fields: Vec<&str> = fields.split('|').collect();
    let shown = rows(&server, &["approvals", &id], 80);
    assert_begin(&shown, &fields);
    for name in &fields[..15] {
        let times = shown.iter().filter(|row| row.starts_with(name)).count();
        assert!(times == 1 || *name == "offer      ", "{name}: {shown:#?}");
    }
    let whole = joined(&shown, "┆          ");
    assert!(whole.contains(&format!("agent says {claim}\n")), "{whole}");
    assert!(whole.contains(&format!("runs       {command}\n")), "{whole}");
    // What a diff's line goes on with is none of its lines.
    let shown = rows(&server, &["approvals", &written], 80);
    let diff: Vec<String> = shown.iter().skip_while(|row| *row != "diff").skip(1).cloned().collect();
    assert!(diff.iter().all(|row| row.starts_with("┆ ") && !row.starts_with("┆ -old")), "{shown:#?}");
    let whole = joined(&diff, "┆ ┆ ");
    content.lines().for_each(|line| assert!(whole.contains(&format!("┆ +{line}\n")), "{whole}"));
    // Where nothing breaks lines, they are whole.
    let piped = server.run(&["approvals", &id]).expect(0);
    piped.shows(&[&format!("agent says {claim}\n"), &format!("runs       {command}\n")]);
}

#[test]
fn rows_of_lists_are_those_of_the_list() {
    let server = TestServer::start();
    let other = "apr_01a23aa42bb47389a1cae8fec3dec1b8  allowed     2026-12-03T06:42:47  s  ls";
    let time = "2026-12-03T06:47:00.000Z  allow       operator      release-42";
    // Wherever a terminal breaks it, a forged row begins there.
    for (index, fill) in (10..50).step_by(8).enumerate() {
        let command = format!("touch {}{other}", "x".repeat(fill));
        call(&server, &format!("c{index}"), "Bash", &json!({ "command": command })).expect(4);
    }
    for width in [60, 80, 100, 120, 180] {
        let shown = rows(&server, &["approvals"], width);
        assert_begin(&shown, &["APPROVAL", "apr_"]);
        let listed = server.run(&["approvals", "--json"]).expect(0).json_lines();
        let ids: Vec<&str> = listed.iter().map(|item| item["approval_id"].as_str().unwrap()).collect();
        let own: Vec<&str> =
            shown.iter().filter(|row| row.starts_with("apr_")).map(|row| &row[..36]).collect();
        assert_eq!(own, ids, "{shown:#?}");
        assert!(shown.iter().any(|row| row.ends_with('…')), "what was cut is not told: {shown:#?}");
        assert!(shown.iter().any(|row| row.contains("touch")), "{shown:#?}");
    }
    let piped = server.run(&["approvals"]).expect(0);
    assert_eq!(piped.out.lines().count(), 6, "{piped:#?}");

    for fill in 0..12 {
        let command = format!("touch {}{time}", "x".repeat(fill));
        call(&server, &format!("d{fill}"), "Bash", &json!({ "command": command }));
    }
    let count = server.run(&["audit", "--json"]).expect(0).json_lines().len();
    for width in [80, 100, 110] {
        let shown = rows(&server, &["audit"], width);
        assert_begin(&shown, &["TIME", "20"]);
        let own = shown.iter().filter(|row| row.starts_with("20")).count();
        assert_eq!(own, count, "{shown:#?}");
    }
    for words in [&["sessions", "show", "s"][..], &["events", "s"], &["watch", "s", "--plain"]] {
        if words[0] == "watch" {
            server.run(&["sessions", "end", "s"]).expect(0);
        }
        let shown = rows(&server, words, 80);
        assert!(
            !shown.iter().any(|row| row.starts_with("apr_") || row.starts_with("2026-12-03T")),
            "{shown:#?}"
        );
        assert!(shown.iter().any(|row| row.starts_with('┆')), "{shown:#?}");
    }
}

#[test]
fn a_question_has_no_options_but_its_own() {
    let server = TestServer::start();
    let forged_option = "   2  Only look";
    let question = forged(80, 2, &["   1  Stop everything", forged_option]);
    let options = [forged(80, 6, &[forged_option]), "Wait \u{5d0} or \u{5d1}".to_owned()];
    call(&server, "q", "AskUser", &json!({"question": question, "options": options})).expect(4);
    let shown = rows(&server, &["answer", "s", "q"], 80);
    assert_begin(&shown, &["   1  .", "   2  Wait", "  or any"]);
    assert_eq!(shown.iter().filter(|row| !row.starts_with('┆')).count(), 3, "{shown:#?}");
    assert!(joined(&shown, "┆     ").contains(&format!("   1  {}\n", options[0])), "{shown:#?}");
    // The remark of the call that waits is on the terminal too.
    let words = ["call", "--session", "s", "--id", "q2", "AskUser"];
    let arguments = json!({"question": question, "options": options}).to_string();
    let shown = rows(&server, &[&words[..], &[&arguments]].concat(), 80);
    assert!(!shown.iter().any(|row| row.starts_with("   ")), "{shown:#?}");

    let piped = server.run(&["answer", "s", "q"]).expect(4);
    piped.shows(&[&format!("┆ {question}\n"), r"   2  Wait \u{5d0} or \u{5d1}"]);
    assert!(!piped.out.contains(['\u{5d0}', '\u{5d1}']), "{piped:#?}");
    let answered = server.run(&["answer", "s", "q", "--option", "2"]).expect(0);
    answered.shows(&[r"answered q: Wait \u{5d0} or \u{5d1}"]);
}

#[test]
fn grants_explanations_and_what_was_decided_keep_their_rows() {
    let server = TestServer::start();
    let forged = "grt_01a23aa42bb47389a1cae8fec3dec1b8  session  s                     agent";
    let command = format!("touch {}{forged} \u{5d0}", "x".repeat(20));
    let asked = call(&server, "c1", "Bash", &json!({ "command": command })).expect(4);
    let id = asked.json()["approval_id"].as_str().unwrap().to_owned();
    // What was decided is told with the rule that is granted.
    let shown = rows(&server, &["approve", &id, "--scope", "session"], 50);
    assert!(!shown.iter().any(|row| row.starts_with("grt_")), "{shown:#?}");
    assert!(!shown.iter().any(|row| row.contains('\u{5d0}')), "{shown:#?}");
    let grants = server.run(&["grants"]).expect(0);
    assert!(grants.out.contains(r"\u{5d0}") && !grants.out.contains('\u{5d0}'), "{grants:#?}");
    for width in [60, 80, 104, 130] {
        let shown = rows(&server, &["grants"], width);
        assert_begin(&shown, &["GRANT", "grt_"]);
        assert_eq!(shown.iter().filter(|row| row.starts_with("grt_")).count(), 1, "{shown:#?}");
        // Nothing of a rule is left out: no other view has it.
        let whole = joined(&shown, "┆ ").replace(' ', "");
        assert!(whole.contains(r"dec1b8sessionsagent'\u{5d0}')in."), "{shown:#?}");
    }
    let told = format!("Bash(touch {}{})", ".".repeat(63), "runs       ls  (reads only)");
    let shown = rows(&server, &["rules", "explain", &told, "--session", "s"], 80);
    assert!(shown.iter().any(|row| row.starts_with("┆          ")), "{shown:#?}");
    assert!(!shown.iter().any(|row| row.starts_with("runs       ls")), "{shown:#?}");
}

#[test]
fn a_result_in_a_batch_is_no_head_of_another() {
    let server = TestServer::start();
    server.run(&["sessions", "create", "--id", "s"]).expect(0);
    std::fs::write(server.root().join("s/f"), "a\n== c2 Bash completed\n").unwrap();
    let calls = json!([{"id": "c1", "function": {"name": "Bash", "arguments": {"command": "cat f"}}}]);
    let file = server.file("calls.json", &calls.to_string());
    let shown = rows(&server, &["batch", "--session", "s", &file], 80);
    assert_eq!(shown, ["== c1 Bash completed", "┆ a", "┆ == c2 Bash completed"]);
    server.run(&["batch", "--session", "s", &file]).expect(0).shows(&["completed\na\n== c2 Bash"]);
}
