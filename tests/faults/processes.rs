//! Commands and their process trees, over HTTP: how they end, and that nothing of them is left.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::{
    Place, Server, Watched, children, endings, is_alive, processes_of, wait_until_none, working,
};

/// Far less than the commands would take by themselves.
const AT_ONCE: Duration = Duration::from_secs(20);

async fn place_with(session: &str) -> (Place, Server) {
    let place = Place::with_own_binary();
    let server = place.start(&working());
    server.agent.session(session).await;
    (place, server)
}

fn text(call: &Value) -> &str {
    call["result"]["result"].as_str().unwrap_or_else(|| panic!("no result: {call}"))
}

/// The commands that run now; the spawner and the keepers are the server's program.
fn commands(place: &Place) -> Vec<i32> {
    processes_of(&place.path("no-program"), &place.mark())
        .into_iter()
        .filter(|pid| {
            std::fs::read_link(format!("/proc/{pid}/exe")).is_ok_and(|exe| !exe.starts_with(place.path("")))
        })
        .collect()
}

#[tokio::test]
async fn b1_a_command_that_leaves_a_process_answers_at_once_and_says_what_it_ended() {
    let (place, server) = place_with("s").await;
    let began = Instant::now();
    let call = server.agent.bash("s", "c", "sleep 60 & echo hi").await;
    assert!(began.elapsed() < AT_ONCE);
    assert_eq!(call["status"], "completed", "{call}");
    assert_eq!((&call["result"]["success"], &call["details"]["exit_code"]), (&json!(true), &json!(0)));
    assert!(text(&call).starts_with("hi\n"), "{call}");
    // In the instant of its start a process still goes by another name than `sleep 60`, even by that of bash.
    assert!(text(&call).contains("1 process ("), "{call}");
    assert!(text(&call).contains("run_in_background"), "{call}");
    assert_eq!(commands(&place), Vec::<i32>::new());

    let settled = "sleep 60 & until grep -qa ^sleep /proc/$!/cmdline; do :; done; echo hi";
    let call = server.agent.bash("s", "settled", settled).await;
    assert!(text(&call).contains("1 process (sleep 60)"), "{call}");
    assert_eq!(commands(&place), Vec::<i32>::new());
}

#[tokio::test]
async fn b2_a_time_out_keeps_what_was_printed() {
    let (place, server) = place_with("s").await;
    let arguments = json!({"command": "printf partial; sleep 300", "timeout": 1000});
    let began = Instant::now();
    let call = server.agent.call("s", "c", "Bash", &arguments).await.expect(200);
    assert!(began.elapsed() < AT_ONCE);
    assert_eq!((&call["status"], &call["result"]["success"]), (&json!("completed"), &json!(false)), "{call}");
    assert_eq!(call["details"]["timed_out"], true, "{call}");
    assert!(text(&call).starts_with("partial\n") && text(&call).contains("timed out"), "{call}");
    assert_eq!(commands(&place), Vec::<i32>::new());
}

#[tokio::test]
async fn b3_a_time_out_leaves_no_survivor_whatever_it_did_to_survive() {
    let (place, server) = place_with("s").await;
    for (index, command) in [
        "sh -c 'sleep 300 & wait'",
        "setsid sleep 300 & wait",
        "(setsid sh -c '(sleep 300 &) ; sleep 300' &) ; sleep 300",
        "nohup sleep 300 > /dev/null 2>&1 & sleep 300",
        "trap '' TERM; nohup setsid bash -c 'trap \"\" TERM HUP INT; while :; do sleep 1; done' & sleep 300; sleep 300",
        "python3 -c 'import os,time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.closerange(0, 64)
        time.sleep(300)
    os._exit(0)
time.sleep(300)'",
        "kill -STOP $$",
    ]
    .into_iter()
    .enumerate()
    {
        let id = format!("c{index}");
        let began = Instant::now();
        let arguments = json!({"command": command, "timeout": 700});
        let call = server.agent.call("s", &id, "Bash", &arguments).await.expect(200);
        assert!(began.elapsed() < AT_ONCE, "{command}");
        assert_eq!(call["details"]["timed_out"], true, "{command}: {call}");
        // The answer comes once the tree is gone, so there is nothing to wait for.
        assert_eq!(commands(&place), Vec::<i32>::new(), "{command}");
    }
    // The keepers leave with their trees.
    let spawner = children(server.pid());
    assert_eq!(spawner.len(), 1);
    for keeper in children(spawner[0]).into_iter().filter_map(Watched::open) {
        keeper.gone().await;
    }
}

#[tokio::test]
async fn b4_standard_input_is_at_its_end() {
    let (_place, server) = place_with("s").await;
    let began = Instant::now();
    let call = server.agent.bash("s", "c", "cat; read line || echo end").await;
    assert!(began.elapsed() < AT_ONCE);
    assert_eq!((text(&call), &call["details"]["exit_code"]), ("end", &json!(0)), "{call}");
}

/// SIGTERM while a command runs that knows of nothing; `allowed` says that a person has allowed it.
async fn told_to_leave_while_a_command_runs(allowed: bool) {
    let place = Place::with_own_binary();
    let mut config = working();
    if allowed {
        config["permissions"]["ask"] = json!(["Bash"]);
    }
    let server = place.start(&config);
    server.agent.session("s").await;
    let mut stream = server.agent.stream("s", 0).await;
    let command = "echo partial; trap '' TERM; setsid sleep 300 & sleep 300; sleep 300";
    server.agent.start_bash("s", "c", command).await;
    if allowed {
        let asked = stream.until(|event| event["type"] == "tool_approval_requested").await;
        let approval = asked.last().unwrap()["approval"]["approval_id"].as_str().unwrap();
        server.operator.decide(approval, "allow").await.expect(200);
    }
    stream.until_output("c", "partial").await;
    let began = Instant::now();
    let left = server.terminate().await;
    let took = began.elapsed();
    assert!(took < Duration::from_secs(10) && left.success(), "{left} after {took:?}: {}", place.log());
    wait_until_none(&place.path(""), &place.mark()).await;

    let server = place.start(&config);
    let call = server.agent.recorded("s", "c").await.expect(200);
    assert_eq!(call["status"], "interrupted", "{call}");
    assert!(text(&call).contains("partial"), "{call}");
    assert_eq!(endings(&server.agent.events("s").await, "c"), ["interrupted"]);
    let again = server.agent.bash("s", "c", command).await;
    assert_eq!(again, call);
}

#[tokio::test]
async fn b5_on_sigterm_the_tree_ends_and_the_call_keeps_its_output() {
    told_to_leave_while_a_command_runs(false).await;
}

#[tokio::test]
async fn on_sigterm_a_command_that_a_person_allowed_ends_alike() {
    told_to_leave_while_a_command_runs(true).await;
}

#[tokio::test]
async fn a_call_that_waits_survives_sigterm() {
    let (place, server) = place_with("s").await;
    let call = server.agent.call("s", "c", "Bash", &json!({"command": "touch x"})).await.expect(202);
    assert_eq!(call["status"], "awaiting_approval");
    let began = Instant::now();
    assert!(server.terminate().await.success());
    assert!(began.elapsed() < Duration::from_secs(5));
    let server = place.start(&working());
    assert_eq!(server.agent.recorded("s", "c").await.expect(200), call);
    server.operator.decide(call["approval_id"].as_str().unwrap(), "allow").await.expect(200);
    assert_eq!(server.agent.ended("s", "c").await["status"], "completed");
    assert!(place.workspace("s").join("x").exists());
}

#[tokio::test]
async fn a_call_is_shown_as_running_while_it_runs() {
    let (_place, server) = place_with("s").await;
    let mut stream = server.agent.stream("s", 0).await;
    server.agent.start_bash("s", "c", "echo on; sleep 300").await;
    stream.until_output("c", "on").await;
    assert_eq!(server.agent.recorded("s", "c").await.expect(200)["status"], "running");
    let body =
        json!({"id": "c", "function": {"name": "Bash", "arguments": "{\"command\":\"echo on; sleep 300\"}"}});
    let again = server.agent.post("/v1/sessions/s/calls?wait_ms=1", &body).await.expect(202);
    assert_eq!(again["status"], "running");
    server.agent.cancel("s", "c").await.expect(200);
}

#[tokio::test]
async fn cancel_ends_the_tree_and_keeps_what_was_printed() {
    let (place, server) = place_with("s").await;
    let mut stream = server.agent.stream("s", 0).await;
    server.agent.start_bash("s", "c", "echo partial; setsid sleep 300 & sleep 300").await;
    stream.until_output("c", "partial").await;
    assert!(!commands(&place).is_empty());
    let call = server.agent.cancel("s", "c").await.expect(200);
    assert_eq!(call["status"], "cancelled", "{call}");
    assert!(text(&call).contains("partial"), "{call}");
    assert_eq!(commands(&place), Vec::<i32>::new());
    assert_eq!(server.agent.cancel("s", "c").await.expect(200), call, "again: unchanged");
    assert_eq!(endings(&server.agent.events("s").await, "c"), ["cancelled"]);
}

#[tokio::test]
async fn the_end_of_a_session_ends_its_commands_and_no_others() {
    let (place, server) = place_with("one").await;
    server.agent.session("other").await;
    let mut streams = Vec::new();
    for session in ["one", "other"] {
        let mut stream = server.agent.stream(session, 0).await;
        server.agent.start_bash(session, "c", "echo on $$; sleep 300 & wait").await;
        stream.until_output("c", "\n").await;
        streams.push(stream);
    }
    let pid = |call: &Value| -> i32 {
        text(call).split_whitespace().skip_while(|word| *word != "on").nth(1).unwrap().parse().unwrap()
    };
    let ended = server.agent.delete("/v1/sessions/one").await.expect(200);
    assert_eq!(ended["status"], "ended");
    let one = server.agent.recorded("one", "c").await.expect(200);
    assert_eq!(one["status"], "cancelled", "{one}");
    assert!(!is_alive(pid(&one)));
    assert_eq!(commands(&place).len(), 2, "the other session's shell and its sleep");
    let events = streams[0].until(|event| event["type"] == "session_ended").await;
    assert_eq!(endings(&events, "c"), ["cancelled"]);
    assert!(streams[0].next().await.is_none(), "nothing comes after the end");
    let other = server.agent.cancel("other", "c").await.expect(200);
    assert!(!is_alive(pid(&other)));
}

#[tokio::test]
async fn a_directory_is_carried_over_inside_of_the_workspace_only() {
    let (place, server) = place_with("s").await;
    let workspace = place.workspace("s").display().to_string();
    let pwd = async |id: &str| {
        let call = server.agent.bash("s", id, "pwd").await;
        text(&call).to_owned()
    };
    server.agent.bash("s", "1", "mkdir -p a/b && cd a/b").await;
    assert_eq!(pwd("2").await, format!("{workspace}/a/b"));
    server.agent.bash("s", "3", "cd .. ; false").await;
    assert_eq!(pwd("4").await, format!("{workspace}/a"));
    let out = server.agent.bash("s", "5", "cd /usr && pwd").await;
    assert!(text(&out).starts_with("/usr\n") && text(&out).contains("set back to"), "{out}");
    assert_eq!(out["details"]["cwd"], json!(format!("{workspace}/a")));
    assert_eq!(pwd("6").await, format!("{workspace}/a"));
    // A link inside that leads out is outside.
    std::os::unix::fs::symlink("/usr", place.workspace("s").join("a/out")).unwrap();
    server.agent.bash("s", "7", "cd out").await;
    assert_eq!(pwd("8").await, format!("{workspace}/a"));
    // Another session begins at its own workspace.
    server.agent.session("t").await;
    let call = server.agent.bash("t", "1", "pwd").await;
    assert_eq!(text(&call), place.workspace("t").display().to_string());
}
