//! Programs that run their operands once their options are read: one line for each, with its manual.

use super::options::{Line, Order, Spec};
use super::variables::behind_assignments;
use super::{Carried, Told};
use crate::permission::commands::names::{Index, index};

/// What the operands are, once options are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operands {
    /// So many of its own, then a command.
    Command(usize),
    /// `NAME=value` words, then a command.
    Assigned,
    /// Each is a script.
    Scripts,
}

/// What an option does to the reading of the rest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Effect {
    /// Nothing is run.
    Quiet,
    /// Its value is a script.
    Script,
    /// What is run is not told.
    Untold,
    /// Its value is the directory in which the rest is run.
    Directory,
}

struct Row {
    names: &'static str,
    /// As [`Line::read`] takes them.
    options: Spec,
    operands: Operands,
    /// Without operands it runs a shell, or what it reads.
    shell: bool,
    effects: &'static [(&'static str, Effect)],
}

const PLAIN: Row = Row { names: "", options: "", operands: Operands::Command(0), shell: false, effects: &[] };

const TABLE: &[Row] = &[
    // coreutils 9.1, 23.2. `-S` is looked at by itself.
    Row {
        names: "env",
        options: "i,ignore-environment 0,null u,unset: C,chdir: S,split-string: block-signal? default-signal? \
                  ignore-signal? list-signal-handling v,debug help version",
        operands: Operands::Assigned,
        effects: &[("C", Effect::Directory), ("help", Effect::Quiet), ("version", Effect::Quiet)],
        ..PLAIN
    },
    // coreutils 9.1, 23.1, 23.3 to 23.7. Beneath another root paths lead elsewhere.
    Row {
        names: "chroot",
        options: "groups: userspec: skip-chdir help version",
        operands: Operands::Command(1),
        shell: true,
        ..PLAIN
    },
    Row { names: "nice", options: "n,adjustment: # help version", ..PLAIN },
    Row { names: "nohup", options: "help version", ..PLAIN },
    Row { names: "stdbuf", options: "i,input: o,output: e,error: help version", ..PLAIN },
    Row {
        names: "timeout",
        options: "k,kill-after: s,signal: preserve-status foreground v,verbose help version",
        operands: Operands::Command(1),
        ..PLAIN
    },
    // sudo(8) 1.9; `-h` is help or a host, so it is not known.
    Row {
        names: "sudo",
        options: "A,askpass a,auth-type: b,background B,bell C,close-from: c,login-class: D,chdir: E,preserve-env? \
                  e,edit g,group: H,set-home i,login K,remove-timestamp k,reset-timestamp l,list n,non-interactive \
                  N,no-update P,preserve-groups p,prompt: R,chroot: r,role: S,stdin s,shell T,command-timeout: \
                  t,type: U,other-user: u,user: V,version v,validate help host:",
        operands: Operands::Assigned,
        shell: true,
        effects: &[
            ("D", Effect::Directory),
            ("R", Effect::Untold),
            ("i", Effect::Untold),
            ("e", Effect::Untold),
            ("l", Effect::Quiet),
            ("v", Effect::Quiet),
            ("V", Effect::Quiet),
            ("K", Effect::Quiet),
            ("help", Effect::Quiet),
        ],
    },
    // doas(1) 6.8.
    Row { names: "doas", options: "C: L n s u: a:", operands: Operands::Assigned, shell: true, ..PLAIN },
    // polkit pkexec(1).
    Row {
        names: "pkexec",
        options: "user: disable-internal-agent keep-cwd help version",
        shell: true,
        effects: &[("help", Effect::Quiet), ("version", Effect::Quiet)],
        ..PLAIN
    },
    // util-linux 2.38: setsid(1), ionice(1), chrt(1), taskset(1), setarch(8), prlimit(1), choom(1), setpriv(1),
    // unshare(1), nsenter(1).
    Row { names: "setsid", options: "c,ctty f,fork w,wait h,help V,version", ..PLAIN },
    Row {
        names: "ionice",
        options: "c,class: n,classdata: p,pid: P,pgid: u,uid: t,ignore h,help V,version",
        effects: &[("p", Effect::Quiet), ("P", Effect::Quiet), ("u", Effect::Quiet)],
        ..PLAIN
    },
    Row {
        names: "chrt",
        options: "o,other f,fifo r,rr b,batch i,idle d,deadline T,sched-runtime: P,sched-period: D,sched-deadline: \
                  R,reset-on-fork m,max a,all-tasks v,verbose p,pid h,help V,version",
        operands: Operands::Command(1),
        effects: &[("p", Effect::Quiet), ("m", Effect::Quiet)],
        ..PLAIN
    },
    Row {
        names: "taskset",
        options: "a,all-tasks p,pid c,cpu-list h,help V,version",
        operands: Operands::Command(1),
        effects: &[("p", Effect::Quiet)],
        ..PLAIN
    },
    Row {
        names: "linux32 linux64 i386 x86_64 uname26",
        options: "B,32bit F,fdpic-funcptrs I,short-inode L,addr-compat-layout R,addr-no-randomize S,whole-seconds \
                  T,sticky-timeouts X,read-implies-exec Z,mmap-page-zero 3,3gb v,verbose uname-2.6 h,help V,version",
        shell: true,
        ..PLAIN
    },
    Row {
        names: "choom",
        options: "n,adjust: p,pid: h,help V,version",
        effects: &[("p", Effect::Quiet)],
        ..PLAIN
    },
    Row {
        names: "setpriv",
        options: "d,dump clear-groups groups: inh-caps: ambient-caps: bounding-set: init-groups keep-groups list-caps \
                  no-new-privs,nnp rgid: ruid: egid: euid: regid: reuid: reset-env securebits: pdeathsig: \
                  selinux-label: apparmor-profile: h,help V,version",
        effects: &[("d", Effect::Quiet), ("list-caps", Effect::Quiet)],
        ..PLAIN
    },
    Row {
        names: "unshare",
        options: "m,mount? u,uts? i,ipc? n,net? p,pid? U,user? C,cgroup? T,time? f,fork r,map-root-user \
                  c,map-current-user map-auto map-user: map-group: map-users: map-groups: mount-proc? kill-child? \
                  propagation: setgroups: R,root: w,wd: S,setuid: G,setgid: keep-caps monotonic: boottime: h,help V,version",
        shell: true,
        effects: &[("R", Effect::Untold), ("w", Effect::Directory)],
        ..PLAIN
    },
    // strace(1) 6.1; `-o '|command'` is looked at by itself.
    Row {
        names: "strace",
        options: "a,columns: b,detach-on: e: E,env: I,interruptible: o,output: O,summary-syscall-overhead: p,attach: \
                  P,trace-path: s,string-limit: S,summary-sort-by: u,user: U,summary-columns: X,const-print-style: \
                  c,summary-only C,summary d,debug D,daemonize? f,follow-forks ff,output-separately F i,instruction-pointer \
                  k,stack-traces n,syscall-number N N,arg-names q,quiet? r,relative-timestamps? t \
                  T,syscall-times? v,no-abbrev w,summary-wall-clock x xx y,decode-fds? yy z,successful-only Z,failed-only \
                  seccomp-bpf h,help V,version",
        effects: &[("E", Effect::Untold)],
        ..PLAIN
    },
    // github.com/kentcdodds/cross-env: variables, then a command.
    Row { names: "cross-env", operands: Operands::Assigned, ..PLAIN },
    // xvfb-run(1), dbus-run-session(1), unbuffer(1), chronic(1).
    Row {
        names: "xvfb-run",
        options: "a,auto-servernum n,server-num: s,server-args: e,error-file: f,auth-file: p,xauth-protocol: w,wait: \
                  l,listen-tcp h,help",
        effects: &[("h", Effect::Quiet)],
        ..PLAIN
    },
    Row { names: "dbus-run-session", options: "help version", ..PLAIN },
    Row { names: "unbuffer chronic", ..PLAIN },
    // fakeroot(1), rlwrap(1), torsocks(1) and others: with options, any word may begin a command.
    Row {
        names: "fakeroot rlwrap torsocks proxychains proxychains4 setarch faketime multitime cgexec firejail nsenter prlimit numactl softlimit cpulimit chpst ts \
                ltrace perf valgrind bwrap systemd-run start-stop-daemon run-parts capsh entr watchexec \
                nix-shell nix mispipe socat nc ncat toybox screen busybox-static sshpass pee sponge",
        operands: Operands::Command(0),
        effects: &[("*", Effect::Untold)],
        ..PLAIN
    },
    // busybox(1): an applet and what it gets.
    Row { names: "busybox", options: "list list-full install help", ..PLAIN },
    // hyperfine(1) 1.15.
    Row {
        names: "hyperfine",
        options: "w,warmup: m,min-runs: M,max-runs: r,runs: s,setup: p,prepare: c,cleanup: i,ignore-failure style: N \
                  S,shell: export-json: export-markdown: export-csv: show-output n,command-name: u,time-unit:",
        operands: Operands::Scripts,
        effects: &[
            ("s", Effect::Script),
            ("p", Effect::Script),
            ("c", Effect::Script),
            ("S", Effect::Script),
        ],
        ..PLAIN
    },
    // The loader runs what it is given: ld.so(8).
    Row {
        names: "ld.so ld-linux.so.2 ld-linux-x86-64.so.2 ld-linux-aarch64.so.1 ld-musl-x86_64.so.1",
        options: "list verify inhibit-cache library-path: inhibit-rpath: audit: preload: argv0: list-tunables \
                  list-diagnostics glibc-hwcaps-prepend: glibc-hwcaps-mask: help version",
        effects: &[("library-path", Effect::Untold), ("preload", Effect::Untold), ("audit", Effect::Untold)],
        ..PLAIN
    },
    // ssh-agent(1): with a command it runs that.
    Row { names: "ssh-agent", options: "c D d k s T u U a: E: O: P: t:", ..PLAIN },
    // ldd(1) may run the program that it is asked about.
    Row { names: "ldd", options: "d,data-relocs r,function-relocs u,unused v,verbose help version", ..PLAIN },
];

/// Whether the table speaks of the program.
pub(super) fn names(name: &str) -> bool {
    row(name).is_some()
}

fn row(name: &str) -> Option<&'static Row> {
    static ROWS: Index<Row> = Index::new(|| index(TABLE, |row| row.names.split_ascii_whitespace()));
    ROWS.get(name).copied()
}

pub(super) fn look(name: &str, words: &[String], out: &mut Carried) -> Option<Told> {
    let row = row(name)?;
    let Ok(line) = Line::read(words, row.options, Order::Stops) else { return Some(Told::Anything) };
    let effects = || {
        row.effects.iter().filter(|(option, _)| *option == "*" || line.has(option)).map(|(_, effect)| *effect)
    };
    out.untold |= effects().any(|effect| effect == Effect::Untold);
    if effects().any(|effect| effect == Effect::Quiet) {
        return Some(Told::All);
    }
    let directories = row.effects.iter().filter(|(_, effect)| *effect == Effect::Directory);
    out.directory = directories.flat_map(|(option, _)| line.values(option)).last().map(str::to_owned);
    // What follows a new root is another file system, whose paths say nothing.
    out.untold |= name == "chroot";
    for (option, _) in row.effects.iter().filter(|(_, effect)| *effect == Effect::Script) {
        line.values(option).for_each(|text| out.script(text));
    }
    if name == "env" {
        for text in line.values("S") {
            split_string(text, line.from(0, words), out);
        }
    }
    if name == "strace" {
        line.values("o").filter_map(|o| o.strip_prefix(['|', '!'])).for_each(|text| out.script(text));
    }
    if row.effects.iter().any(|(option, _)| *option == "*") {
        // Some of these have operands of their own in front of the command.
        out.command(line.from(0, words));
        return Some(Told::Anything);
    }
    operands(row, &line, words, out);
    out.exact = !out.commands.is_empty() || !out.scripts.is_empty();
    Some(Told::All)
}

fn operands(row: &Row, line: &Line<'_>, words: &[String], out: &mut Carried) {
    match row.operands {
        Operands::Command(skip) => {
            let command = line.from(skip, words);
            out.untold |= row.shell && command.is_empty();
            out.command(command);
        }
        Operands::Assigned => {
            // For env a lone dash means `-i`.
            let operands = line.from(0, words);
            let operands = operands.strip_prefix(&["-".to_owned()]).unwrap_or(operands);
            let (command, steers) = behind_assignments(operands);
            out.untold |= (steers && !command.is_empty()) || (row.shell && command.is_empty());
            out.command(command);
        }
        Operands::Scripts => line.operand_words(words).into_iter().for_each(|text| out.script(text)),
    }
}

/// `env -S 'sh -c' text`: the string is split into words, and those of the line follow them.
fn split_string(text: &str, rest: &[String], out: &mut Carried) {
    // It has variables and escapes of its own.
    out.untold |= text.contains(['$', '\\', '\'', '"', '#']);
    let split: Vec<String> = text.split_ascii_whitespace().map(str::to_owned).collect();
    let whole: Vec<String> = split.iter().chain(rest).cloned().collect();
    let (command, steers) = behind_assignments(&whole);
    // Options may stand in the string as well: `-S '-i sh'`.
    out.untold |= steers || command.first().is_some_and(|w| w.starts_with('-'));
    out.command(command.iter().position(|w| !w.starts_with('-')).map_or(&[], |at| &command[at..]));
    let quoted: Vec<String> = rest.iter().map(|w| format!("'{}'", w.replace('\'', "'\\''"))).collect();
    out.script(format!("{text} {}", quoted.join(" ")));
}
