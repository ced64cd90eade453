//! The Bash tool, through the trait and the gate.

use std::sync::{Arc, RwLock};

use serde_json::{Value, json};
use tokio::sync::mpsc;
use toolgate::config::Config;
use toolgate::domain::event::AgentEvent;
use toolgate::domain::outcome::ToolOutcome;
use toolgate::domain::result::{ToolError, ToolResult};
use toolgate::domain::schema::ToolMutability;
use toolgate::permission::{
    AllowAll, Artifact, Circumstances, Clearance, Gate, NothingToPreview, ResolvedCall, Scope,
};
use toolgate::process::{Launcher, Limits};
use toolgate::sandbox::FloorChoice;
use toolgate::tools::{Bash, Tool, ToolCtx};
use toolgate::workspace::Workspace;

use crate::support::{FAILSAFE, Place};

fn tool() -> Bash {
    Bash::new(Arc::new(RwLock::new(Config::default())))
}

struct Session {
    place: Place,
    launcher: Launcher,
    scope: Scope,
    tool: Bash,
    tokens: Option<mpsc::Sender<AgentEvent>>,
}

impl Session {
    async fn new(floor: FloorChoice) -> Self {
        let place = Place::new();
        let launcher = place.launcher(floor).await;
        let workspace = Arc::new(Workspace::open(&place.path("work")).unwrap());
        let mut scope = Scope::standalone(workspace, "call_1");
        scope.launcher = Some(launcher.clone());
        scope.artifact =
            Some(Artifact { path: place.path("data/artifact"), url: "/v1/the/output".to_owned() });
        Self { place, launcher, scope, tool: tool(), tokens: None }
    }

    /// A call begins where the last one ended, as sessions do it.
    async fn try_call(&mut self, arguments: Value) -> Result<ToolResult, ToolError> {
        std::fs::remove_file(self.place.path("data/artifact")).ok();
        self.scope.directory = self.scope.working_directory.current();
        let scope = Arc::new(self.scope.clone());
        let call = ResolvedCall {
            tool_call_id: "call_1".to_owned(),
            tool_name: "Bash".to_owned(),
            other_names: Vec::new(),
            touches: self.tool.touches(&arguments),
            arguments: Arc::new(arguments),
            mutability: ToolMutability::Mutating,
            concurrency_safe: false,
            repair: None,
        };
        let circumstances = Circumstances {
            scope: Some(&scope),
            bypass: false,
            mode: toolgate::domain::session::PermissionMode::default(),
            interactive: false,
        };
        let gate = Gate::new(Arc::new(AllowAll));
        let Clearance::Permitted(call) = gate.permit(call, &NothingToPreview, circumstances).await? else {
            panic!("nobody is asked here")
        };
        let ctx = ToolCtx {
            session_id: None,
            tool_call_id: "call_1".to_owned(),
            event_tx: self.tokens.clone(),
            available_tool_schemas: None,
            bypass_permissions: false,
            can_async_resume: false,
            bash_completion_sink: None,
            scope: Some(scope),
        };
        let ended = tokio::time::timeout(FAILSAFE, self.tool.invoke(*call, ctx)).await.expect("ends in time");
        match ended? {
            ToolOutcome::Completed(result) => Ok(result),
            other => panic!("{other:?}"),
        }
    }

    async fn run(&mut self, command: &str) -> ToolResult {
        self.try_call(json!({ "command": command })).await.unwrap()
    }
}

fn detail<'a>(result: &'a ToolResult, name: &str) -> &'a Value {
    result.details.as_ref().unwrap().get(name).unwrap_or(&Value::Null)
}

#[tokio::test]
async fn success_is_exit_code_zero() {
    let mut session = Session::new(FloorChoice::Auto).await;
    let result = session.run("echo out; echo err >&2").await;
    assert_eq!((result.success, result.result.as_str()), (true, "out\nerr"));
    let cwd = session.place.path("work");
    let expected = json!({"exit_code": 0, "signal": null, "timed_out": false, "total_bytes": 8,
        "omitted_bytes": 0, "artifact": "/v1/the/output", "cwd": cwd});
    assert_eq!(result.details, Some(expected));
    assert_eq!(std::fs::read_to_string(session.place.path("data/artifact")).unwrap(), "out\nerr\n");

    let result = session.run("exit 3").await;
    assert_eq!((result.success, result.result.as_str()), (false, "(no output)\n[exit code 3]"));
    assert_eq!((detail(&result, "exit_code"), detail(&result, "artifact")), (&json!(3), &Value::Null));

    let result = session.run("kill -SEGV $$").await;
    assert_eq!((result.success, detail(&result, "signal")), (false, &json!(11)));
    assert_eq!(result.result, "(no output)\n[ended by signal 11 (SIGSEGV)]");
}

#[tokio::test]
async fn the_command_reaches_bash_untouched() {
    let mut session = Session::new(FloorChoice::Auto).await;
    for (command, expected) in [
        ("echo $0 $# $LINENO ${BASH_ENV-unset}", "/bin/bash 0 1 unset"),
        ("printf '%s' \"$BASH_EXECUTION_STRING\" | wc -c", "44"),
        ("cat <<'E'\n$x `y` \\z\nE", "$x `y` \\z"),
        ("bash -c 'echo ${BASH_ENV-unset}; trap -p'", "unset"),
        ("set -x; :", "+ :"),
        ("set -eu; cd .; false", "(no output)\n[exit code 1]"),
        ("trap 'echo mine' EXIT; echo first", "first\nmine"),
        ("( exit 4 )", "(no output)\n[exit code 4]"),
        ("exec sh -c 'exit 5'", "(no output)\n[exit code 5]"),
    ] {
        assert_eq!(session.run(command).await.result, expected, "{command}");
    }
    let result = session.run("if then").await;
    assert!(result.result.contains("bash: -c: line 1: syntax error"), "{}", result.result);
}

#[tokio::test]
async fn arguments_that_no_bash_can_take_are_told_to_the_model() {
    let mut session = Session::new(FloorChoice::Auto).await;
    for arguments in [
        json!({"command": ""}),
        json!({}),
        json!({"command": "a\0b"}),
        json!({"command": "x".repeat(128 * 1024)}),
        json!({"command": "true", "workdir": "missing"}),
    ] {
        let answer = session.try_call(arguments).await;
        assert!(matches!(answer, Err(ToolError::InvalidArguments(_))), "{answer:?}");
    }
    let longest = format!("echo {} | wc -c", "x".repeat(128 * 1024 - 1 - 13));
    assert_eq!(session.run(&longest).await.result, (128 * 1024 - 13).to_string());
}

#[tokio::test]
async fn a_directory_carries_over_only_inside_the_workspace() {
    for floor in [FloorChoice::Landlock, FloorChoice::Bubblewrap] {
        let mut session = Session::new(floor).await;
        let work = session.place.path("work");
        let carried = [
            "cd sub",
            "cd sub; cd ..; cd sub; exit 3",
            "set -e; cd sub; false",
            "pushd sub >/dev/null; set -x",
            "cd link",
            "cd $'new\\nline '",
            "cd sub; kill -TERM $$",
            "true && { builtin cd sub; }",
            "f() { cd sub; }; f",
            "eval 'cd s'ub",
            ". ./go",
            "mapfile -c 1 -C 'cd sub #' <<< x",
            "shopt -s lastpipe; true | cd sub",
            "shopt -s expand_aliases\nalias go='cd sub'\ngo",
        ];
        for command in carried {
            session.run("mkdir -p sub $'new\\nline '; ln -sfn sub link; echo cd sub > go").await;
            session.scope.working_directory.set(work.clone());
            let result = session.run(command).await;
            let expected = if command.contains("line") { work.join("new\nline ") } else { work.join("sub") };
            assert_eq!(session.scope.working_directory.current(), expected, "{floor:?}: {command}");
            assert_eq!(detail(&result, "cwd"), &json!(expected), "{command}");
            let pwd = session.run("pwd -P").await.result;
            assert_eq!(pwd.trim_end(), expected.to_str().unwrap().trim_end(), "{command}");
        }
        session.scope.working_directory.set(work.clone());
        for command in
            ["cd /", "cd ..", "ln -s / out; cd out", "cd /usr; echo x", "mkdir gone; cd gone; rmdir ../gone"]
        {
            let result = session.run(command).await;
            assert_eq!(session.scope.working_directory.current(), work, "{floor:?}: {command}");
            assert_eq!(detail(&result, "cwd"), &json!(work));
            let said = result.result.contains("set back");
            assert_eq!(said, !command.contains("gone"), "{floor:?}: {command}: {}", result.result);
        }
        // What the shell did not do does not carry over, nor what never was a directory.
        for command in ["(cd sub)", "bash -c 'cd sub'", "true", "printf /etc >&199; exec true"] {
            session.run(command).await;
            assert_eq!(session.scope.working_directory.current(), work, "{command}");
        }
    }
}

/// A text that cannot move its shell is given nothing to report by, and bash becomes the one program that it starts.
#[tokio::test]
async fn a_shell_that_stays_is_left_alone() {
    let mut session = Session::new(FloorChoice::Landlock).await;
    for (command, reports) in
        [("readlink /proc/self/fd/199", false), ("cd . && readlink /proc/self/fd/199", true)]
    {
        let result = session.run(command).await;
        assert_eq!(result.result.starts_with("pipe:"), reports, "{command}: {}", result.result);
    }
    session.run("printf '#!/bin/sh\nkill -SEGV $$' > die; chmod +x die").await;
    let result = session.run("./die").await;
    assert_eq!((detail(&result, "exit_code"), detail(&result, "signal")), (&Value::Null, &json!(11)));
}

/// The program of setsid(1) is waited for, in the place of bash or behind it.
#[tokio::test]
async fn a_new_session_is_waited_for() {
    let mut session = Session::new(FloorChoice::Landlock).await;
    session.run("printf 'sleep 0.2; echo done' > late").await;
    for command in ["setsid sh late", "true; setsid sh late", "env setsid sh late", "sh -c 'setsid sh late'"]
    {
        assert_eq!(session.run(command).await.result, "done", "{command}");
    }
}

/// A program with plain words starts without bash, and nobody can tell. With a comment it is for bash.
#[tokio::test]
async fn a_program_that_starts_by_itself_is_as_under_bash() {
    for floor in [FloorChoice::Landlock, FloorChoice::Bubblewrap] {
        let mut session = Session::new(floor).await;
        session.run("mkdir sub; printf 'echo as bash: $0 $1' > plain; printf '#!/none\\n' > lost; chmod +x plain lost").await;
        for command in [
            "printenv",
            "/usr/bin/printenv",
            "printenv PWD",
            "cat no-such-file",
            "head -c 7 /proc/self/cmdline",
            "./plain a=b",
            "./lost",
            "./sub",
            "./sub/none",
            "sub",
            "no-such-program x",
            "sh ./plain x",
            "git --version",
            "sleep",
        ] {
            let plain = session.run(command).await;
            let by_bash = session.run(&format!("{command} #")).await;
            let lines = |result: &ToolResult| {
                let mut lines: Vec<String> = result.result.lines().map(str::to_owned).collect();
                lines.sort();
                lines
            };
            assert_eq!(lines(&plain), lines(&by_bash), "{floor:?}: {command}");
            assert_eq!(detail(&plain, "exit_code"), detail(&by_bash, "exit_code"), "{floor:?}: {command}");
        }
    }
}

#[tokio::test]
async fn workdir_is_for_one_call() {
    let mut session = Session::new(FloorChoice::Auto).await;
    session.run("mkdir sub").await;
    let result = session.try_call(json!({"command": "pwd", "workdir": "sub"})).await.unwrap();
    assert_eq!(result.result, session.place.path("work/sub").to_str().unwrap());
    assert_eq!(session.run("pwd").await.result, session.place.path("work").to_str().unwrap());
    let result = session.try_call(json!({"command": "pwd", "workdir": "/usr"})).await.unwrap();
    assert_eq!(result.result, "/usr");
}

#[tokio::test]
async fn a_time_out_keeps_what_was_printed() {
    let mut session = Session::new(FloorChoice::Auto).await;
    let call = json!({"command": "printf partial; sleep 30", "timeout": 300});
    let result = session.try_call(call).await.unwrap();
    assert!(!result.success);
    assert!(result.result.starts_with("partial\n[timed out after 300 ms"), "{}", result.result);
    assert_eq!(detail(&result, "timed_out"), &json!(true));
    let call = json!({"command": "sh -c 'sleep 300 & wait'", "timeout": 300});
    assert_eq!(detail(&session.try_call(call).await.unwrap(), "timed_out"), &json!(true));
}

#[tokio::test]
async fn a_cancel_ends_the_tree_and_keeps_what_was_printed() {
    let mut session = Session::new(FloorChoice::Auto).await;
    let (sender, mut receiver) = mpsc::channel(16);
    session.tokens = Some(sender);
    let cancel = session.scope.cancel.clone();
    let canceller = tokio::spawn(async move {
        let token = receiver.recv().await;
        cancel.cancel();
        token
    });
    let answer = session.try_call(json!({"command": "echo begun; sleep 300"})).await;
    assert!(canceller.await.unwrap().is_some());
    match answer {
        Err(ToolError::Cancelled { message }) => assert!(message.ends_with("begun"), "{message}"),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn what_is_left_running_is_named() {
    let mut session = Session::new(FloorChoice::Auto).await;
    let result = session.run("sleep 60 & until grep -q sleep /proc/$!/comm; do :; done; echo hi").await;
    assert!(result.success);
    assert!(result.result.starts_with("hi\n[still running when the command ended"), "{}", result.result);
    assert!(result.result.contains("1 process (sleep 60)"), "{}", result.result);
}

#[tokio::test]
async fn long_output_is_cut_in_the_result_and_whole_in_the_artifact() {
    let mut session = Session::new(FloorChoice::Auto).await;
    let result = session.run("seq 200000").await;
    let whole = std::fs::read_to_string(session.place.path("data/artifact")).unwrap();
    assert_eq!(whole.lines().count(), 200_000);
    assert_eq!(detail(&result, "total_bytes"), &json!(whole.len()));
    let omitted = detail(&result, "omitted_bytes").as_u64().unwrap();
    assert!(result.result.contains(&format!("[... {omitted} bytes omitted ...]")));
    assert!(result.result.starts_with("1\n2\n") && result.result.contains("\n200000\n[full output, "));
    assert!(result.result.ends_with(" bytes: /v1/the/output]"));
}

#[tokio::test]
async fn six_hundred_megabytes_are_bounded() {
    let mut session = Session::new(FloorChoice::Auto).await;
    let result = session.run("head -c 600000000 /dev/zero | tr '\\0' x").await;
    assert_eq!(detail(&result, "total_bytes"), &json!(600_000_000));
    assert!(result.result.len() < 64 * 1024);
    assert!(std::fs::metadata(session.place.path("data/artifact")).unwrap().len() < 65 * 1024 * 1024);
    let peak = std::fs::read_to_string("/proc/self/status").unwrap();
    let peak = peak.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    let peak: u64 = peak.trim().trim_end_matches(" kB").parse().unwrap();
    // The other tests of this binary are in it too.
    assert!(peak < 400_000, "{peak} kB");
}

#[tokio::test]
async fn output_streams_as_valid_text_with_its_colours() {
    let mut session = Session::new(FloorChoice::Auto).await;
    let (sender, mut receiver) = mpsc::channel(64);
    session.tokens = Some(sender);
    let script = "import os
for byte in '\\x1b[31m€🦀\\x1b[0m\\n'.encode() * 500: os.write(1, bytes([byte]))";
    std::fs::write(session.place.path("work/s.py"), script).unwrap();
    let reader = tokio::spawn(async move {
        let mut streamed = String::new();
        while let Some(event) = receiver.recv().await {
            if let AgentEvent::ToolToken { content, stream, .. } = event {
                assert_eq!(stream, "stdout");
                streamed += &content;
            }
        }
        streamed
    });
    let result = session.run("python3 s.py").await;
    session.tokens = None;
    assert_eq!(reader.await.unwrap(), "\x1b[31m€🦀\x1b[0m\n".repeat(500));
    assert_eq!(result.result, "€🦀\n".repeat(500).trim_end());
}

#[tokio::test]
async fn a_bound_that_was_hit_is_named() {
    let mut session = Session::new(FloorChoice::Auto).await;
    let limits = Limits { processes: Some(20), memory_bytes: Some(200_000_000), file_bytes: Some(1_000_000) };
    session.tool = tool().with_limits(limits);
    for (command, bound) in [
        ("for i in {1..50}; do sleep 60 & done; wait", "processes"),
        (
            "for i in 1 2 3; do python3 -c 'x=bytearray(90_000_000)\nimport time; time.sleep(60)' & done; wait",
            "memory",
        ),
        ("head -c 5000000 /dev/zero > big", "file_size"),
    ] {
        let result = session.run(command).await;
        assert_eq!(
            (result.success, detail(&result, "limit_hit")),
            (false, &json!(bound)),
            "{}",
            result.result
        );
    }
    // One process alone meets the same bound as an error of its own.
    let result = session.run("python3 -c 'x=bytearray(2_000_000_000)'").await;
    assert!(result.result.contains("MemoryError"), "{}", result.result);
}

#[tokio::test]
async fn a_stopped_launcher_ends_the_call() {
    let mut session = Session::new(FloorChoice::Auto).await;
    let (sender, mut receiver) = mpsc::channel(16);
    session.tokens = Some(sender);
    let launcher = session.launcher.clone();
    let stopper = tokio::spawn(async move {
        receiver.recv().await;
        launcher.stop().await;
    });
    let result = session.run("echo begun; sleep 300").await;
    stopper.await.unwrap();
    assert_eq!((result.success, detail(&result, "signal")), (false, &json!(15)));
}

#[tokio::test]
async fn without_a_launcher_nothing_runs() {
    let mut session = Session::new(FloorChoice::Auto).await;
    session.scope.launcher = None;
    assert!(matches!(session.try_call(json!({"command": "true"})).await, Err(ToolError::Execution(_))));
}

#[test]
fn the_schema_closes_what_it_does_not_know() {
    let tool = tool();
    let parameters = tool.parameters();
    assert_eq!(parameters["additionalProperties"], json!(false));
    assert_eq!(parameters["required"], json!(["command"]));
    assert!(jsonschema::validator_for(&parameters).unwrap().is_valid(&json!({"command": "ls"})));
}

/// Ignore files may be symlinks to whatever is elsewhere: lines of those are not printed where nobody was asked.
#[tokio::test]
async fn ripgrep_prints_no_lines_of_ignore_files() {
    let mut session = Session::new(FloorChoice::Auto).await;
    let folder = session.place.path("work/src");
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(session.place.path("work/other"), "top secret [abc\n").unwrap();
    std::os::unix::fs::symlink("../other", folder.join(".ignore")).unwrap();
    std::fs::write(folder.join("a"), "hello\n").unwrap();
    // It holds whether there is an `rg` here or not, and so does what it is told.
    for command in ["rg hello src", "timeout 20 rg hello src | cat", "cd src && rg hello"] {
        let result = session.run(command).await;
        assert!(!result.result.contains("secret"), "{command}: {}", result.result);
        session.scope.working_directory.set(session.place.path("work"));
    }
    let told =
        session.run("rg --version > /dev/null 2>&1; cat /dev/fd/197; printenv RIPGREP_CONFIG_PATH").await;
    assert_eq!(told.result, "--no-ignore-messages\n/dev/fd/197");
    let other = session.run("ls /dev/fd/197; printenv RIPGREP_CONFIG_PATH").await;
    assert!(!other.success && other.result.contains("No such file"), "{}", other.result);
}
