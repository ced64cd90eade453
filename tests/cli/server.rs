//! `toolgate info` and `tools`.

use crate::support::TestServer;

#[test]
fn info_is_for_people_and_programs() {
    let server = TestServer::start();
    let run = server.run(&["info"]).expect(0);
    run.shows(&[
        &format!("server     {}/\n", server.url),
        "version    0.",
        "tools      ",
        "limit      wait_ms 300000\n",
    ]);
    assert_eq!(server.run(&["info", "--json"]).expect(0).json()["name"], "toolgate");
}

#[test]
fn tools_come_in_every_shape() {
    let server = TestServer::start();
    let run = server.run(&["tools"]).expect(0);
    run.shows(&["Bash\n", "Read\n"]);
    assert!(server.run(&["tools", "--json"]).expect(0).json()["tools"].is_array());
    server.run(&["sessions", "create", "--id", "s"]).expect(0);
    let list = server.run(&["tools", "--session", "s"]).expect(0);
    assert!(list.out.lines().any(|line| line.starts_with("Bash    ") && line.len() > 30), "{list:#?}");
    for (format, pointer) in [
        ("openai", "/tools/0/function/parameters"),
        ("openai-responses", "/tools/0/parameters"),
        ("anthropic", "/tools/0/input_schema"),
        ("mcp", "/tools/0/inputSchema"),
    ] {
        let tools = server.run(&["tools", "--session", "s", "--format", format]).expect(0).json();
        assert!(tools.pointer(pointer).is_some(), "{format}: {tools}");
    }
    server.run(&["tools", "--format", "mcp"]).expect(2).says(&["--session"]);
}
