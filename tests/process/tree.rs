//! What a command leaves behind, and how its tree ends.

use std::time::Instant;

use toolgate::process::{Direct, Exit, LaunchError, Limit, Limits, StartStep};
use toolgate::sandbox::FloorChoice;

use crate::support::{FAILSAFE, Place, finish, gone, is_alive, read_until};

/// The number that the command printed after `name=`.
fn pid_in(output: &str, name: &str) -> i32 {
    let start = output.find(&format!("{name}=")).expect("printed") + name.len() + 1;
    output[start..].split_whitespace().next().unwrap().parse().unwrap()
}

#[tokio::test]
async fn output_is_in_order_and_the_exit_code_comes_back() {
    let place = Place::new();
    let launcher = place.launcher(FloorChoice::Auto).await;
    let text = "for i in 1 2 3; do echo out$i; echo err$i >&2; done; pwd; exit 7";
    let (output, ended) = finish(launcher.spawn(place.command(text)).await.unwrap()).await;
    let expected = format!("out1\nerr1\nout2\nerr2\nout3\nerr3\n{}\n", place.path("work").display());
    assert_eq!(output, expected);
    assert_eq!((ended.exit, ended.left.count), (Exit::Code(7), 0));
}

/// What is tried first runs in the place of the shell, and nothing of the shell's where it can be executed.
#[tokio::test]
async fn a_program_comes_before_its_shell() {
    let place = Place::new();
    let launcher = place.launcher(FloorChoice::Landlock).await;
    for (program, expected) in [("/bin/echo", "first\n"), ("./none", "then\n"), ("/etc/hostname", "then\n")] {
        let mut command = place.command("echo then");
        command.direct = Some(Direct { program: program.into(), words: vec!["x".into(), "first".into()] });
        let (output, ended) = finish(launcher.spawn(command).await.unwrap()).await;
        assert_eq!((output.as_str(), ended.exit), (expected, Exit::Code(0)), "{program}");
    }
}

#[tokio::test]
async fn a_signal_is_told_from_a_code() {
    let place = Place::new();
    let launcher = place.launcher(FloorChoice::Landlock).await;
    let (_, ended) = finish(launcher.spawn(place.command("kill -9 $$")).await.unwrap()).await;
    assert_eq!(ended.exit, Exit::Signal(9));
}

#[tokio::test]
async fn standard_input_is_at_its_end() {
    let place = Place::new();
    let launcher = place.launcher(FloorChoice::Auto).await;
    let (output, ended) = finish(launcher.spawn(place.command("cat; echo done")).await.unwrap()).await;
    assert_eq!((output.as_str(), ended.exit), ("done\n", Exit::Code(0)));
}

#[tokio::test]
async fn what_a_command_leaves_running_ends_with_it_and_is_named() {
    for floor in [FloorChoice::Landlock, FloorChoice::Bubblewrap, FloorChoice::None] {
        let place = Place::new();
        let launcher = place.launcher(floor).await;
        let begin = Instant::now();
        // Until the child has become `sleep`, its name is still the shell's.
        let text = "sleep 600 & until grep -q sleep /proc/$!/comm; do :; done; echo hi";
        let running = launcher.spawn(place.command(text)).await.unwrap();
        let (output, ended) = finish(running).await;
        assert_eq!((output.as_str(), ended.exit), ("hi\n", Exit::Code(0)), "{floor:?}");
        assert!(ended.left.names.iter().any(|name| name == "sleep 600"), "{floor:?}: {:?}", ended.left);
        assert!(begin.elapsed().as_secs() < 30, "{floor:?}");
    }
}

#[tokio::test]
async fn no_way_out_of_the_tree() {
    let ways = [
        ("setsid", "setsid sleep 600 & echo x=$!; sleep 600"),
        ("double fork", "( ( sleep 600 & echo x=$BASHPID ) & ); sleep 600"),
        ("nohup", "nohup sleep 600 >/dev/null 2>&1 & echo x=$!; sleep 600"),
        ("nested wait", "bash -c 'sleep 600 & echo x=$!; wait'"),
        ("deaf", "trap '' TERM HUP INT; bash -c 'trap \"\" TERM; echo x=$$; while :; do sleep 600; done'"),
        ("stopped", "sleep 600 & kill -STOP $!; echo x=$!; sleep 600"),
        (
            "daemon",
            "python3 -c 'import os,time
if os.fork()==0:
  os.setsid()
  if os.fork()==0:
    print(\"x=%d\" % os.getpid(), flush=True); os.close(1); os.close(2); time.sleep(600)
  os._exit(0)
os.wait()'; sleep 600",
        ),
    ];
    let place = Place::new();
    let launcher = place.launcher(FloorChoice::Landlock).await;
    for (way, text) in ways {
        let mut running = launcher.spawn(place.command(text)).await.unwrap();
        let mut output = read_until(&mut running, "x=").await;
        output += &read_until(&mut running, "\n").await;
        let escaped = pid_in(&output, "x");
        running.tree.terminate();
        let ended = tokio::time::timeout(FAILSAFE, running.tree.wait()).await.expect(way).unwrap();
        assert!(!is_alive(escaped), "{way}: {escaped} survived");
        assert!(!is_alive(running.tree.pid()), "{way}");
        assert_eq!(ended.left.survivors, 0, "{way}");
    }
}

#[tokio::test]
async fn a_terminated_command_gets_to_clean_up() {
    let place = Place::new();
    let launcher = place.launcher(FloorChoice::Auto).await;
    let text = "trap 'echo cleaned; exit 3' TERM; echo ready; while :; do sleep 600 & wait; done";
    let mut running = launcher.spawn(place.command(text)).await.unwrap();
    read_until(&mut running, "ready\n").await;
    running.tree.terminate();
    let (output, ended) = finish(running).await;
    assert_eq!((output.as_str(), ended.exit), ("cleaned\n", Exit::Code(3)));
}

#[tokio::test]
async fn a_fork_bomb_ends() {
    // The first doubles until it is stopped (at 2,000: a floor with a hole must not take the machine with
    // it); in the others each process starts the next one and ends, which no list of processes keeps up with.
    let bombs = [
        "b() { if [ $1 -gt 0 ]; then b $(($1 - 1)) & b $(($1 - 1)) & fi; sleep 600; }; b 10",
        "hop() { (hop) & }; for i in {1..300}; do hop & done; sleep 600",
        "hop() { setsid bash -c 'hop() { (hop) & }; hop' & }; for i in {1..250}; do hop; done; sleep 600",
    ];
    let place = Place::new();
    let launcher = place.launcher(FloorChoice::Landlock).await;
    for bomb in bombs {
        let mut command = place.command(bomb);
        command.limits = Limits { processes: Some(200), ..Limits::default() };
        let (_, ended) = finish(launcher.spawn(command).await.unwrap()).await;
        assert_eq!((ended.limit, ended.left.survivors), (Some(Limit::Processes), 0), "{bomb}");
        // The launcher lives.
        let (output, _) = finish(launcher.spawn(place.command("echo ok")).await.unwrap()).await;
        assert_eq!(output, "ok\n");
    }
}

#[tokio::test]
async fn memory_past_its_bound_ends_the_tree() {
    let place = Place::new();
    let launcher = place.launcher(FloorChoice::Landlock).await;
    // Each process stays below the bound; together they pass it.
    let text = "for i in 1 2 3 4; do python3 -c 'x=bytearray(60_000_000)
import time; time.sleep(600)' & done; wait";
    let mut command = place.command(text);
    command.limits = Limits { memory_bytes: Some(150_000_000), ..Limits::default() };
    let (_, ended) = finish(launcher.spawn(command).await.unwrap()).await;
    assert_eq!(ended.limit, Some(Limit::Memory));
}

#[tokio::test]
async fn a_file_past_its_bound_ends_the_writer() {
    let place = Place::new();
    let launcher = place.launcher(FloorChoice::Landlock).await;
    let mut command = place.command("exec head -c 10000000 /dev/zero > big");
    command.limits = Limits { file_bytes: Some(1_000_000), ..Limits::default() };
    let (_, ended) = finish(launcher.spawn(command).await.unwrap()).await;
    assert_eq!(ended.exit, Exit::Signal(libc::SIGXFSZ));
    assert_eq!(std::fs::metadata(place.path("work/big")).unwrap().len(), 1_000_000);
}

#[tokio::test]
async fn dropping_a_command_ends_it() {
    let place = Place::new();
    let launcher = place.launcher(FloorChoice::Landlock).await;
    let mut running = launcher.spawn(place.command("trap '' TERM; echo ready; sleep 600")).await.unwrap();
    read_until(&mut running, "ready\n").await;
    let pid = running.tree.pid();
    drop(running);
    gone(pid).await;
}

#[tokio::test]
async fn stop_ends_every_tree_and_refuses_more() {
    let place = Place::new();
    let launcher = place.launcher(FloorChoice::Landlock).await;
    let mut deaf = launcher.spawn(place.command("trap '' TERM; echo ready; sleep 600")).await.unwrap();
    read_until(&mut deaf, "ready\n").await;
    launcher.stop().await;
    assert!(!is_alive(deaf.tree.pid()));
    assert!(matches!(deaf.tree.wait().await.unwrap().exit, Exit::Signal(9)));
    assert!(matches!(launcher.spawn(place.command("true")).await, Err(LaunchError::Stopped)));
}

#[tokio::test]
async fn a_dead_spawner_is_replaced_and_its_commands_go_on() {
    let place = Place::new();
    let launcher = place.launcher(FloorChoice::Landlock).await;
    let fifo = place.path("work/fifo");
    rustix::fs::mknodat(
        rustix::fs::CWD,
        &fifo,
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::from_raw_mode(0o600),
        0,
    )
    .unwrap();
    let mut running = launcher.spawn(place.command("echo ready; read x < fifo; echo $x")).await.unwrap();
    read_until(&mut running, "ready\n").await;
    let spawner = parent(parent(running.tree.pid()));
    kill(spawner);
    gone(spawner).await;
    let (output, _) = finish(launcher.spawn(place.command("echo again")).await.unwrap()).await;
    assert_eq!(output, "again\n");
    std::fs::write(&fifo, "still here\n").unwrap();
    let (output, ended) = finish(running).await;
    assert_eq!((output.as_str(), ended.exit), ("still here\n", Exit::Code(0)));
}

#[tokio::test]
async fn a_killed_keeper_is_an_error_and_leaves_nothing() {
    let place = Place::new();
    let launcher = place.launcher(FloorChoice::Landlock).await;
    let text = "setsid sleep 600 & echo x=$!; echo ready; sleep 600";
    let mut running = launcher.spawn(place.command(text)).await.unwrap();
    let escaped = pid_in(&read_until(&mut running, "ready\n").await, "x");
    kill(parent(running.tree.pid()));
    assert!(matches!(running.tree.wait().await, Err(LaunchError::Lost)));
    gone(running.tree.pid()).await;
    gone(escaped).await;
}

#[tokio::test]
async fn a_keeper_leaves_soon_after_the_end_of_its_tree() {
    let place = Place::new();
    let launcher = place.launcher(FloorChoice::Landlock).await;
    for taken_note in [false, true] {
        let mut running = launcher.spawn(place.command("exec sleep 600")).await.unwrap();
        let keeper = parent(running.tree.pid());
        running.tree.terminate();
        assert_eq!(running.tree.wait().await.unwrap().exit, Exit::Signal(15));
        let unread = (!taken_note).then_some(running);
        gone(keeper).await;
        drop(unread);
    }
    // The server's end does not wait for one that still lingers.
    let mut running = launcher.spawn(place.command("exit 3")).await.unwrap();
    assert_eq!(running.tree.wait().await.unwrap().exit, Exit::Code(3));
    launcher.stop().await;
    assert!(matches!(launcher.spawn(place.command("true")).await, Err(LaunchError::Stopped)));
}

/// Not a test of its own: with the variable set, this process plays the server of the next test.
#[tokio::test]
async fn stand_in_server() {
    if std::env::var_os(STAND_IN).is_none() {
        return;
    }
    let place = Place::new();
    let launcher = place.launcher(FloorChoice::Landlock).await;
    let text = "trap '' TERM; setsid sleep 600 & echo x=$!; echo ready; sleep 600";
    let mut running = launcher.spawn(place.command(text)).await.unwrap();
    let output = read_until(&mut running, "ready\n").await;
    println!("\n{output} main={} end", running.tree.pid());
    let _ = running.tree.wait().await;
}

const STAND_IN: &str = "PROCESS_TEST_STAND_IN_SERVER";

#[tokio::test]
#[expect(clippy::disallowed_methods, reason = "the stand-in server is a process of its own")]
async fn nothing_survives_a_killed_server() {
    use std::io::BufRead;
    let mut server = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "tree::stand_in_server", "--nocapture"])
        .env(STAND_IN, "1")
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut output = String::new();
    let mut lines = std::io::BufReader::new(server.stdout.take().unwrap());
    while !output.contains(" end") {
        assert_ne!(lines.read_line(&mut output).unwrap(), 0, "{output}");
    }
    let (escaped, main) = (pid_in(&output, "x"), pid_in(&output, "main"));
    let (keeper, spawner) = (parent(main), parent(parent(main)));
    assert!(is_alive(escaped));
    server.kill().unwrap();
    server.wait().unwrap();
    for pid in [main, escaped, keeper, spawner] {
        gone(pid).await;
    }
}

#[tokio::test]
async fn a_program_that_is_not_there_is_told_apart() {
    let place = Place::new();
    let launcher = place.launcher(FloorChoice::Landlock).await;
    let mut missing = place.command("true");
    missing.argv[0] = "/no/such/program".into();
    match launcher.spawn(missing).await {
        Err(LaunchError::Start { step: StartStep::Execute, error }) => {
            assert_eq!(error.raw_os_error(), Some(libc::ENOENT));
        }
        other => panic!("{other:?}"),
    }
    let mut relative = place.command("true");
    relative.argv[0] = "bash".into();
    assert!(matches!(launcher.spawn(relative).await, Err(LaunchError::Command(_))));
    let huge = "x".repeat(3 * 1024 * 1024);
    assert!(matches!(launcher.spawn(place.command(&huge)).await, Err(LaunchError::Command(_))));
}

#[tokio::test]
async fn nothing_else_is_open_in_a_command() {
    let place = Place::new();
    let launcher = place.launcher(FloorChoice::Landlock).await;
    let (read, write) = std::io::pipe().unwrap();
    let mut command = place.command("ls /proc/self/fd; echo through >&199; ulimit -c; trap; umask");
    command.extra = vec![(199, write.into())];
    let (output, _) = finish(launcher.spawn(command).await.unwrap()).await;
    // 3 is the directory that `ls` itself reads.
    assert!(output.starts_with("0\n1\n199\n2\n3\n0\n"), "{output}");
    assert_eq!(std::io::read_to_string(read).unwrap(), "through\n");
}

fn parent(pid: i32) -> i32 {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    stat.rsplit(')').next().unwrap().split_whitespace().nth(1).unwrap().parse().unwrap()
}

fn kill(pid: i32) {
    let pid = rustix::process::Pid::from_raw(pid).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
}
