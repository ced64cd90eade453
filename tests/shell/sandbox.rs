//! Runs many programs, one after another, in one sandbox whose directory of programs is made of stand-ins.
//!
//! Within the sandbox there is `/usr/bin`: programs that only end (links to `true` and `false`), and the real
//! ones that run others. All of it stands under `strace`, so what is recorded is what the kernel was asked for.

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

use crate::driver;
use crate::recorder::{self, Outcome};

/// Programs that do nothing and succeed.
pub(crate) const STAND_INS: &[&str] =
    &["p1", "p2", "p3", "rm", "git", "curl", "touch", "cp", "mv", "chmod", "dd", "cargo", "sudo", "python3"];

/// A program that does nothing and fails.
pub(crate) const FAILS: &str = "q1";

/// Real programs, since they run others, bring text from one place to another, or may write.
pub(crate) const REAL: &[&str] = &[
    "bash", "sh", "env", "timeout", "nice", "nohup", "stdbuf", "setsid", "xargs", "find", "flock", "ionice",
    "chrt", "taskset", "cat", "head", "tr", "awk", "sed", "perl", "base64", "rev", "seq", "ls", "grep", "wc",
    "sort", "uniq", "cut", "tail", "stat", "diff", "du",
];

/// Programs that one sandbox runs before the next is made.
const BATCH: usize = 200;

/// Runs each text as Toolgate's Bash does, in a fresh directory, and says what each started and opened.
pub(crate) fn run(programs: &[String]) -> Vec<Outcome> {
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    let share = programs.len().div_ceil(workers).clamp(1, BATCH);
    let batches: Vec<&[String]> = programs.chunks(share).collect();
    let taken = std::sync::atomic::AtomicUsize::new(0);
    let done = std::sync::Mutex::new(vec![Vec::new(); batches.len()]);
    std::thread::scope(|scope| {
        for _ in 0..workers.min(batches.len()) {
            scope.spawn(|| {
                loop {
                    let at = taken.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                    let Some(batch) = batches.get(at) else { break };
                    let outcomes = run_batch(batch);
                    done.lock().unwrap()[at] = outcomes;
                }
            });
        }
    });
    done.into_inner().unwrap().into_iter().flatten().collect()
}

/// One sandbox; should a program end it, another one goes on behind that program.
fn run_batch(programs: &[String]) -> Vec<Outcome> {
    let mut outcomes: Vec<Outcome> = Vec::new();
    while outcomes.len() < programs.len() {
        let rest = &programs[outcomes.len()..];
        let stage = Stage::set_up(rest);
        let said = stage.play();
        let mut seen = recorder::read(&stage.folder.path().join("out/trace"), rest.len());
        if seen.is_empty() {
            // The first one started and the end was never reached.
            let started = std::fs::read_to_string(stage.folder.path().join("out/trace")).unwrap_or_default();
            assert!(started.contains(driver::MARK), "the sandbox does not start: {said}");
            seen.push(Outcome::default());
        }
        outcomes.append(&mut seen);
    }
    outcomes
}

/// What a sandbox is made of, on disk.
struct Stage {
    folder: TempDir,
}

impl Stage {
    fn set_up(programs: &[String]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        for name in ["bin", "in", "out"] {
            std::fs::create_dir(root.join(name)).unwrap();
        }
        for name in STAND_INS {
            symlink("/real/true", root.join("bin").join(name)).unwrap();
        }
        symlink("/real/false", root.join("bin").join(FAILS)).unwrap();
        for name in REAL {
            let real = real_program(name);
            let real = real.file_name().unwrap();
            symlink(Path::new("/real").join(real), root.join("bin").join(name)).unwrap();
        }
        std::fs::write(root.join("in/programs"), serde_json::to_vec(programs).unwrap()).unwrap();
        Self { folder }
    }

    /// Plays the batch to its end and gives what was printed, for a sandbox that does not start.
    #[expect(clippy::disallowed_methods, reason = "what is tested is what bash itself starts")]
    fn play(&self) -> String {
        let root = self.folder.path();
        let mut sandbox = Command::new("bwrap");
        sandbox.args(["--unshare-all", "--unshare-user", "--uid", "1000", "--gid", "1000"]);
        sandbox.args(["--die-with-parent", "--clearenv"]);
        for name in ["/usr/lib", "/usr/lib32", "/usr/lib64", "/usr/share/perl", "/etc/ld.so.cache"] {
            sandbox.args(["--ro-bind-try", name, name]);
        }
        sandbox.args(["--ro-bind", "/usr/bin", "/real"]);
        sandbox.arg("--ro-bind").arg(root.join("bin")).arg("/usr/bin");
        for name in ["lib", "lib32", "lib64", "bin"] {
            sandbox.args(["--symlink", &format!("usr/{name}"), &format!("/{name}")]);
        }
        sandbox.args(["--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp"]);
        sandbox.args(["--tmpfs", driver::WORKSPACE, "--tmpfs", driver::HOME]);
        sandbox
            .arg("--ro-bind")
            .arg(root.join("in"))
            .arg("/in")
            .arg("--bind")
            .arg(root.join("out"))
            .arg("/out");
        sandbox.arg("--ro-bind").arg(std::env::current_exe().unwrap()).arg("/driver");
        sandbox.args(["--setenv", driver::PROGRAMS, "/in/programs", "--chdir", "/tmp"]);
        sandbox.args([
            "/real/strace",
            "-f",
            "--seccomp-bpf",
            "-qqq",
            "--signal=none",
            "-v",
            "-y",
            "-x",
            "-s",
            "200000",
        ]);
        sandbox.args(["-e", recorder::CALLS, "-o", "/out/trace"]);
        sandbox.args(["/driver", "--exact", "driver::inside", "--nocapture", "--test-threads=1"]);
        let played = sandbox.stdin(Stdio::null()).output().expect("bubblewrap is installed");
        format!("{}{}", String::from_utf8_lossy(&played.stdout), String::from_utf8_lossy(&played.stderr))
    }
}

fn real_program(name: &str) -> PathBuf {
    let real = std::fs::canonicalize(Path::new("/usr/bin").join(name));
    real.unwrap_or_else(|e| panic!("/usr/bin/{name} is needed (Debian has it in a package): {e}"))
}
