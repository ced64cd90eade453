//! What a hostile script cannot reach under a session that asks nobody: P21, for each floor, over HTTP.

use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::path::Path;

use serde_json::{Value, json};

use crate::support::{Place, Server, children, lines_in};

/// A secret of the server's environment.
const SECRET: &str = "sesame-of-the-server";

/// Each is tried by a script that the gate did not read. All must fail.
const FILES: &[&str] = &[
    "cat $DATA/tokens/agent $DATA/tokens/operator",
    "ls $DATA | grep -q .",
    "ls $DATA/tokens",
    "find $DATA -type f | grep -q .",
    "cat $DATA/toolgate.sqlite",
    "cat $DATA/toolgate.sqlite-wal",
    "python3 -c \"import sqlite3; print(sqlite3.connect('$DATA/toolgate.sqlite').execute('select * from sessions').fetchall())\"",
    "cat $DATA/sessions/*/runtime.json $DATA/sessions/s/runtime.json",
    "echo '{\"bypass_permissions\": true}' > $DATA/sessions/s/runtime.json",
    "echo x >> $DATA/tokens/operator",
    "truncate -s 0 $DATA/toolgate.sqlite",
    "touch $DATA/new",
    "mkdir $DATA/sessions/new",
    "rm -rf $DATA 2>/dev/null && ! test -e $DATA",
    "mv $DATA $DATA-moved",
    "cat $CONFIG",
    "echo '{}' > $CONFIG",
    "mv $CONFIG $CONFIG-moved",
    "ln $DATA/tokens/operator hard && cat hard",
    "mv $DATA/tokens/operator moved && cat moved",
    "ln -sf $DATA/tokens/operator soft && cat soft",
    "ln -sfn $DATA softdir && cat softdir/tokens/operator",
    "cat /proc/self/root$DATA/tokens/operator",
    "cat /proc/self/cwd/../../data/tokens/operator",
    "cp $CONFIG copy && cat copy",
    "python3 -c \"import os; d=os.open('$DATA',os.O_PATH); print(os.read(os.open('tokens/agent',os.O_RDONLY,dir_fd=d),99))\"",
    "tar cf - $DATA/tokens | tar xOf - | grep -q .",
    "cp /bin/true $BINARY",
    "rm -f $BINARY",
    "unshare -Ur cat $DATA/tokens/agent",
    "unshare -Urm sh -c 'umount -l $DATA; cat $DATA/tokens/agent'",
    "unshare -Urm sh -c 'mount --bind / /mnt && cat /mnt$DATA/tokens/agent'",
];

/// The same for `$PID`, which is the server, the spawner and the keeper in turn.
const PROCESS: &[&str] = &[
    "cat /proc/$PID/environ | grep -q .",
    "head -c 1 /proc/$PID/mem",
    "cat /proc/$PID/maps | grep -q .",
    "cat /proc/$PID/auxv | grep -q .",
    "cat /proc/$PID/stack | grep -q .",
    "ls -l /proc/$PID/fd/ | grep -q -- '->'",
    "ls -lL /proc/$PID/fd/ | grep -q '^[a-z-]r'",
    "readlink /proc/$PID/fd/1",
    "cat /proc/$PID/fd/* | grep -q .",
    "readlink /proc/$PID/cwd",
    "ls /proc/$PID/cwd/",
    "readlink /proc/$PID/root",
    "cat /proc/$PID/root$DATA/tokens/agent",
    "readlink /proc/$PID/exe",
    "kill -0 $PID",
    "kill -TERM $PID",
    "kill -KILL $PID",
    "kill -STOP $PID",
    "python3 -c \"import os; os.killpg($PID, 0)\"",
    "python3 -c \"import ctypes; l=ctypes.CDLL(None); exit(0 if l.ptrace(16,$PID,0,0)==0 else 1)\"",
    "python3 -c \"import ctypes; l=ctypes.CDLL(None); exit(0 if l.ptrace(0x4206,$PID,0,0)==0 else 1)\"",
    "python3 -c \"import ctypes; l=ctypes.CDLL(None); b=ctypes.create_string_buffer(8)
class V(ctypes.Structure): _fields_=[('b',ctypes.c_void_p),('n',ctypes.c_size_t)]
m=[int(x.split('-')[0],16) for x in open('/proc/$PID/maps')] or [4096]
i=V(ctypes.addressof(b),8); o=V(m[0],8)
exit(0 if l.process_vm_readv($PID,ctypes.byref(i),1,ctypes.byref(o),1,0)>0 else 1)\"",
    "python3 -c \"import os,signal; signal.pidfd_send_signal(os.pidfd_open($PID),0)\"",
    "python3 -c \"import ctypes,os; l=ctypes.CDLL(None); p=os.pidfd_open($PID); exit(0 if l.syscall(438,p,0,0)>=0 else 1)\"",
    "prlimit --pid $PID --core=0",
    "echo 1000 > /proc/$PID/oom_score_adj",
    "unshare -Ur sh -c \"kill -0 $PID\"",
];

/// The machine.
const MACHINE: &[&str] = &[
    "now=$(cat /proc/sys/kernel/core_pattern); echo \"$now\" > /proc/sys/kernel/core_pattern",
    "echo h > /proc/sysrq-trigger",
    "mount -t tmpfs none /mnt",
    "mount --bind $DATA /mnt",
    "mknod disk b 254 0",
    "mknod memory c 1 1",
    "for d in /dev/vd* /dev/sd* /dev/nvme* /dev/loop* /dev/dm-* /dev/mem /dev/kmsg; do head -c 1 $d | grep -q . && exit 0; done; false",
    "grep -Eq '^Cap(Eff|Prm|Inh|Amb):.*[1-9a-f]' /proc/self/status",
    "grep -q '^NoNewPrivs:.0' /proc/self/status",
    "chroot / true",
    "nsenter -t 1 -m true",
];

/// Only Landlock scopes these: behind bubblewrap the network name space is the host's.
const SOCKETS: &[&str] =
    &["python3 -c \"import socket; socket.socket(socket.AF_UNIX).connect(chr(0)+'$SOCKET')\""];

/// More processes than the script starts.
const FRESH_NUMBERS: u32 = 5_000;

/// Names that a script goes by, and the attempts themselves.
fn script(names: &[(&str, String)], attempts: &[String]) -> String {
    let names: Vec<String> = names.iter().map(|(name, value)| format!("export {name}='{value}'")).collect();
    let tries: Vec<String> = (0..)
        .zip(attempts)
        .map(|(index, attempt)| {
            let reached = format!("printf '\\nREACHED {index}\\n'");
            format!("a{index}() {{\n{attempt}\n}}\nif ( a{index} ) 2>&1; then {reached}; fi")
        })
        .collect();
    // The keeper is found from outside, while this waits. A name space of processes counts anew: on a machine
    // that has just started, the script's own processes would get the numbers that are tried.
    format!(
        "cd \"$(dirname \"$0\")\"\n{}\n\
         mkfifo go\necho ready\nread KEEPER < go\nexport KEEPER\n\
         if [ \"$KEEPER\" -lt {FRESH_NUMBERS} ]; then while [ \"$(exec sh -c 'echo $$')\" -le \"$KEEPER\" ]; \
         do :; done; fi\n{}\n\
         env; tr '\\0' '\\n' < /proc/self/environ; cat /proc/[0-9]*/environ | tr '\\0' '\\n'\n\
         echo finished >> finished\n",
        names.join("\n"),
        tries.join("\n"),
    )
}

fn attempts(sockets: bool) -> Vec<String> {
    let mut all: Vec<String> = FILES.iter().chain(MACHINE).map(ToString::to_string).collect();
    if sockets {
        all.extend(SOCKETS.iter().map(ToString::to_string));
    }
    for process in ["SERVER", "SPAWNER", "KEEPER"] {
        all.extend(PROCESS.iter().map(|attempt| attempt.replace("$PID", &format!("${process}"))));
    }
    all
}

fn config(floor: &str) -> Value {
    json!({"sandbox": {"floor": floor}})
}

fn start(place: &Place, floor: &str) -> Server {
    let mut command = place.command(&config(floor));
    command.env("FAULTS_SECRET", SECRET).env("TOOLGATE_TOKEN", SECRET).env("AWS_SECRET_ACCESS_KEY", SECRET);
    place.run(command)
}

/// Runs the script to its end; the keeper's number is told to it on the way.
async fn run_script(place: &Place, server: &Server, session: &str, text: &str) -> (Value, String, i32) {
    let workspace = place.workspace(session);
    std::fs::write(workspace.join("attempts.sh"), text).unwrap();
    let mut stream = server.agent.stream(session, 0).await;
    server.agent.start_bash(session, "c", "bash ./attempts.sh").await;
    stream.until_output("c", "ready").await;
    let spawner = children(server.pid())[0];
    let keeper = children(spawner)[0];
    let go = workspace.join("go");
    tokio::task::spawn_blocking(move || std::fs::write(go, format!("{keeper}\n")).unwrap()).await.unwrap();
    let call = server.agent.ended(session, "c").await;
    let path = format!("/v1/sessions/{session}/calls/c/output");
    let output = String::from_utf8_lossy(&server.agent.bytes(&path).await).into_owned();
    (call, output, spawner)
}

/// What must be the same afterwards.
fn own_files(place: &Place) -> Vec<(String, String)> {
    let mut files = Vec::new();
    for name in ["data/tokens/agent", "data/tokens/operator", "data/sessions/s/runtime.json", "config.json"] {
        files.push((name.to_owned(), std::fs::read_to_string(place.path(name)).unwrap()));
    }
    let mut names: Vec<String> = std::fs::read_dir(place.data())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    files.push(("data".to_owned(), names.join(" ")));
    files
}

async fn nothing_is_reached(floor: &str) {
    let place = Place::with_own_binary();
    let server = start(&place, floor);
    assert_eq!(server.agent.get("/v1/info").await.expect(200)["floor"]["kind"], floor);
    server.bypass_session("s").await;
    let socket = format!("faults-{}", place.mark());
    let address = SocketAddr::from_abstract_name(&socket).unwrap();
    let _listener = UnixListener::bind_addr(&address).unwrap();
    let names = [
        ("DATA", place.data().display().to_string()),
        ("CONFIG", place.path("config.json").display().to_string()),
        ("BINARY", place.path("bin/toolgate").display().to_string()),
        ("SERVER", server.pid().to_string()),
        ("SPAWNER", children(server.pid())[0].to_string()),
        ("SOCKET", socket),
    ];
    let before = own_files(&place);
    let attempts = attempts(floor == "landlock");
    let (call, output, spawner) = run_script(&place, &server, "s", &script(&names, &attempts)).await;
    assert_eq!(call["status"], "completed", "{call}");
    assert_eq!(lines_in(&place.workspace("s").join("finished"), "finished"), 1, "{output}");
    let reached: Vec<&str> = output
        .lines()
        .filter_map(|line| line.strip_prefix("REACHED ")?.parse::<usize>().ok())
        .map(|index| attempts[index].as_str())
        .collect();
    assert!(reached.is_empty(), "{floor}: {reached:#?}");
    for secret in [place.token("agent"), place.token("operator"), SECRET.to_owned(), "TOOLGATE_".to_owned()] {
        assert!(!output.contains(&secret), "{floor}: {secret} in {output}");
    }
    assert_eq!(own_files(&place), before);
    assert_eq!(children(server.pid()), [spawner]);
    server.agent.get("/healthz").await.expect(200);
}

#[tokio::test]
async fn p21_nothing_of_the_server_is_reached_under_landlock() {
    nothing_is_reached("landlock").await;
}

#[tokio::test]
async fn p21_nothing_of_the_server_is_reached_under_bubblewrap() {
    nothing_is_reached("bubblewrap").await;
}

/// The attempts are real: without a floor those that do no harm succeed.
#[tokio::test]
async fn without_a_floor_the_same_attempts_succeed() {
    let place = Place::with_own_binary();
    let server = start(&place, "none");
    server.bypass_session("s").await;
    let names = [
        ("DATA", place.data().display().to_string()),
        ("CONFIG", place.path("config.json").display().to_string()),
        ("SERVER", server.pid().to_string()),
    ];
    let harmless = |attempt: &&String| {
        let reads = ["cat $DATA", "ls $DATA", "find $DATA", "cat $CONFIG", "cp $CONFIG", "ln -s", "tar cf"];
        reads.iter().any(|read| attempt.starts_with(read)) || attempt.starts_with("kill -0 $SERVER")
    };
    let all = attempts(false);
    let attempts: Vec<String> = all.iter().filter(harmless).cloned().collect();
    let (_, output, _) = run_script(&place, &server, "s", &script(&names, &attempts)).await;
    for (index, attempt) in attempts.iter().enumerate() {
        assert!(output.lines().any(|line| line == format!("REACHED {index}")), "{attempt}: {output}");
    }
    assert!(output.contains(&place.token("operator")));
}

/// What tools in the server's own process must refuse, since no floor is under them.
async fn tools_refuse(place: &Place, server: &Server, id: &str, tool: &str, arguments: Value) {
    let call = server.agent.call("s", id, tool, &arguments).await.expect(200);
    assert!(matches!(call["status"].as_str(), Some("denied" | "failed" | "completed")), "{call}");
    assert_ne!(call["result"]["success"], true, "{tool} {arguments}: {call}");
    let told = call["result"].to_string();
    for role in ["agent", "operator"] {
        assert!(!told.contains(&place.token(role)), "{tool} {arguments}");
    }
}

#[tokio::test]
async fn tools_do_not_reach_the_servers_files_either_under_bypass() {
    let place = Place::new();
    let server = start(&place, "auto");
    server.bypass_session("s").await;
    let workspace = place.workspace("s");
    let link = |target: &Path, name: &str| std::os::unix::fs::symlink(target, workspace.join(name)).unwrap();
    link(&place.data().join("tokens/operator"), "soft");
    link(&place.data(), "softdir");
    link(&place.path("config.json"), "config");
    link(Path::new(&format!("/proc/{}/environ", server.pid())), "environ");
    let before = own_files(&place);
    let data = place.data().display().to_string();
    let direct = format!("{data}/tokens/operator");
    let dotted = "../../data/tokens/operator";
    let mut number = 0;
    for path in ["soft", "softdir/tokens/agent", "config", direct.as_str(), dotted] {
        for (tool, arguments) in [
            ("Read", json!({"file_path": path})),
            ("Write", json!({"file_path": path, "content": "x"})),
            ("Edit", json!({"file_path": path, "old_string": "t", "new_string": "x"})),
            ("Grep", json!({"pattern": ".", "path": path})),
            ("Bash", json!({"command": format!("cat {path}")})),
        ] {
            number += 1;
            tools_refuse(&place, &server, &format!("c{number}"), tool, arguments).await;
        }
    }
    for (tool, arguments) in [
        ("Grep", json!({"pattern": ".", "path": data, "output_mode": "content"})),
        ("Grep", json!({"pattern": ".", "path": "softdir", "output_mode": "content"})),
        ("Glob", json!({"pattern": "**/*", "path": data})),
        ("Glob", json!({"pattern": "**/*", "path": "softdir"})),
        ("Write", json!({"file_path": format!("{data}/new"), "content": "x"})),
        ("Write", json!({"file_path": "softdir/new", "content": "x"})),
        ("Bash", json!({"command": "true", "workdir": data})),
        ("Bash", json!({"command": "ls softdir/"})),
    ] {
        number += 1;
        tools_refuse(&place, &server, &format!("c{number}"), tool, arguments).await;
    }
    let call = server.agent.call("s", "environ", "Read", &json!({"file_path": "environ"})).await.expect(200);
    assert!(!call.to_string().contains(SECRET), "the server's own environment: {call}");
    assert_eq!(own_files(&place), before);
}

#[tokio::test]
async fn a_missing_floor_is_said_and_others_are_kept_out() {
    let place = Place::new();
    let server = place.start(&config("none"));
    let ready = server.agent.get("/readyz").await.expect(200);
    assert!(ready["reasons"].to_string().contains("floor"), "{ready}");
    let info = server.agent.get("/v1/info").await.expect(200);
    assert_eq!(info["floor"]["kind"], "missing");
    assert!(info["floor"]["reason_if_missing"].is_string(), "{info}");
    server.kill();

    let mut config = config("none");
    config["server"] = json!({"listen": "0.0.0.0:0"});
    let said = Place::refused(place.command_without("--listen", &config));
    assert!(said.contains("floor") && said.contains("accept_missing_floor"), "{said}");
    config["sandbox"]["accept_missing_floor"] = json!(true);
    let server = place.run(place.command_without("--listen", &config));
    server.agent.get("/v1/info").await.expect(200);
}

#[tokio::test]
async fn places_that_the_floor_could_not_hold_refuse_to_start() {
    let place = Place::new();
    let inside = place.path("work/data").display().to_string();
    let memory = format!("/dev/shm/{}", place.mark());
    for data in [inside.as_str(), memory.as_str()] {
        let mut config = config("auto");
        config["data_dir"] = json!(data);
        let said = Place::refused(place.command_without("--data-dir", &config));
        assert!(said.contains(data), "{said}");
    }
    let _ = std::fs::remove_dir_all(memory);
}
