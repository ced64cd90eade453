//! What a command cannot reach, tried by commands.

use toolgate::process::Exit;
use toolgate::sandbox::{FloorChoice, FloorKind};

use crate::support::{Place, finish, program};

const FLOORS: [(FloorChoice, FloorKind); 2] =
    [(FloorChoice::Landlock, FloorKind::Landlock), (FloorChoice::Bubblewrap, FloorKind::Bubblewrap)];

/// Runs `text` with the places that it may need as variables, under each floor.
async fn under_each_floor(text: &str, check: impl Fn(FloorChoice, &Place, &str, Exit)) {
    for (floor, kind) in FLOORS {
        let place = Place::new();
        let launcher = place.launcher(floor).await;
        assert_eq!(launcher.floor().kind, kind);
        let mut command = place.command(text);
        for (name, value) in [
            ("DATA", place.path("data").into_os_string()),
            ("CONFIG", place.path("config.json").into_os_string()),
            ("ROOT", place.path("").into_os_string()),
            ("SERVER", std::process::id().to_string().into()),
            ("BINARY", program().into_os_string()),
        ] {
            command.env.push((name.into(), value));
        }
        let (output, ended) = finish(launcher.spawn(command).await.unwrap()).await;
        check(floor, &place, &output, ended.exit);
    }
}

/// Each line of `attempts` is tried; all must fail, and the secret must not show.
async fn all_refused(attempts: &[&str]) {
    for attempt in attempts {
        let text = format!("{attempt}\nif [ $? = 0 ]; then echo REACHED; fi");
        under_each_floor(&text, |floor, place, output, _| {
            assert!(!output.contains("REACHED"), "{floor:?}: {attempt}: {output}");
            assert!(!output.contains("very-secret"), "{floor:?}: {attempt}");
            assert_eq!(
                std::fs::read_to_string(place.path("data/token")).unwrap(),
                "very-secret",
                "{attempt}"
            );
            assert_eq!(std::fs::read_to_string(place.path("config.json")).unwrap(), "{\"secret\": 1}");
        })
        .await;
    }
}

#[tokio::test]
async fn the_servers_files_cannot_be_read_or_written() {
    all_refused(&[
        "cat $DATA/token",
        "ls $DATA | grep token",
        "grep -q secret $CONFIG",
        "echo x > $DATA/token",
        "echo x >> $CONFIG",
        "touch $DATA/new",
        "rm -f $DATA/token && ! [ -e $DATA/token ] && [ -d $DATA ] && false",
        "mv $DATA $ROOT/moved",
        "mv $CONFIG work/",
        "ln $CONFIG ./link && grep -q secret ./link",
        "ln -s $DATA ./soft && cat ./soft/token",
        "cat $ROOT/link/token",
        "cat /proc/self/root$DATA/token",
        "cat /proc/self/cwd/../data/token",
        "cp /dev/null $BINARY",
        "ln -f /bin/true $BINARY",
        "mv -f /bin/true $BINARY",
    ])
    .await;
}

#[tokio::test]
async fn the_servers_process_cannot_be_read_traced_or_signalled() {
    all_refused(&[
        "cat /proc/$SERVER/environ > /dev/null",
        "head -c 1 /proc/$SERVER/mem",
        "cat /proc/$SERVER/maps | grep -q .",
        "readlink /proc/$SERVER/fd/0",
        "head -c 1 /proc/$SERVER/fd/0",
        "ls -d /proc/$SERVER/cwd/.",
        "cat /proc/$SERVER/root$DATA/token",
        "kill -0 $SERVER",
        "kill -TERM $SERVER",
        // Behind bubblewrap the parent is its own first process, with Landlock the keeper.
        "[ $PPID != 1 ] && kill -0 $PPID",
        "python3 -c 'import ctypes,os
libc=ctypes.CDLL(None)
raise SystemExit(0 if libc.ptrace(16, int(os.environ[\"SERVER\"]), 0, 0)==0 else 1)'",
        "python3 -c 'import resource,os
resource.prlimit(int(os.environ[\"SERVER\"]), resource.RLIMIT_CORE, (0, 0))'",
        "[ $PPID != 1 ] && prlimit --pid $PPID --core=0",
    ])
    .await;
}

#[tokio::test]
async fn the_machine_cannot_be_changed() {
    all_refused(&[
        "mknod disk b 7 0",
        "head -c 1 /dev/loop0",
        "head -c 1 /dev/vda",
        "head -c 1 /dev/mem",
        "mount -t tmpfs none /mnt",
        "unshare -m true",
        // What is there, so that a floor with a hole leaves no damage.
        "now=$(cat /proc/sys/kernel/core_pattern); echo $now > /proc/sys/kernel/core_pattern",
        "echo h > /proc/sysrq-trigger",
        "now=$(cat /sys/kernel/mm/transparent_hugepage/enabled); echo x > /sys/kernel/mm/transparent_hugepage/enabled",
        "grep -q '^CapEff:.*[1-9a-f]' /proc/self/status",
        "grep -q '^CapPrm:.*[1-9a-f]' /proc/self/status",
        "grep -q '^NoNewPrivs:.0' /proc/self/status",
        "chown 12345 . ",
    ])
    .await;
}

#[tokio::test]
async fn a_user_namespace_gives_nothing_back() {
    all_refused(&[
        "unshare -Ur cat $DATA/token",
        "unshare -Urm sh -c 'mount --bind / /mnt && cat /mnt$DATA/token'",
        "unshare -Ur sh -c \"kill -0 $SERVER\"",
        "unshare -Ur mount -t tmpfs none $DATA -o remount",
        "unshare -Urm umount $DATA",
        "unshare -Urm sh -c \"umount -l $DATA; cat $DATA/token\"",
    ])
    .await;
}

#[tokio::test]
async fn ordinary_work_goes_on() {
    let text = "set -e
echo hi > file; mkdir -p a/b; mv file a/b/; ln -s a/b link; ln a/b/file hard; cat link/file
echo to-null > /dev/null; head -c 4 /dev/urandom | wc -c; cat <(echo subst); echo err > /dev/stderr
tmp=$(mktemp); echo x > $tmp; rm $tmp
git init -q . && git -c user.name=a -c user.email=a@b add a && git -c user.name=a -c user.email=a@b commit -qm one
git log --oneline | wc -l
python3 -c 'import multiprocessing as m; print(m.Pool(2).map(abs, [-1, -2]))'
printf 'fn main(){println!(\"built\");}' > m.rs
ulimit -n >/dev/null
prlimit --core=0 echo limited
(sleep 600 & kill $!; wait) 2>/dev/null || true
cat /proc/self/status | grep -c NoNewPrivs:.1
stat /tmp > /dev/null; ls /usr > /dev/null; ls /proc > /dev/null; cat /sys/kernel/uevent_seqnum >/dev/null
echo done";
    under_each_floor(text, |floor, _, output, exit| {
        assert_eq!(exit, Exit::Code(0), "{floor:?}: {output}");
        for expected in ["hi\n", "4\n", "subst\n", "err\n", "[1, 2]\n", "limited\n", "done\n"] {
            assert!(output.contains(expected), "{floor:?}: {expected:?} in {output}");
        }
    })
    .await;
}

#[tokio::test]
async fn the_binary_is_seen_and_not_changed() {
    let text = "ls \"$(dirname $BINARY)\" && echo x >> $BINARY; mv $BINARY $BINARY.away; [ -x $BINARY ] && echo kept";
    under_each_floor(text, |floor, _, output, _| {
        assert!(output.contains("toolgate\n") && output.contains("kept"), "{floor:?}: {output}");
        assert!(!std::fs::read(program()).unwrap().ends_with(b"x\n"), "{floor:?}");
    })
    .await;
}

#[tokio::test]
async fn what_appears_beside_a_hidden_path_becomes_usable() {
    let place = Place::new();
    let launcher = place.launcher(FloorChoice::Landlock).await;
    finish(launcher.spawn(place.command("true")).await.unwrap()).await;
    for round in 0..5 {
        let name = format!("beside{round}");
        std::fs::create_dir(place.path(&name)).unwrap();
        let text = format!("echo x > ../{name}/f");
        let (output, ended) = finish(launcher.spawn(place.command(&text)).await.unwrap()).await;
        assert_eq!(ended.exit, Exit::Code(0), "{name}: {output}");
    }
}

#[tokio::test]
async fn without_bubblewrap_the_bounding_set_is_empty_too() {
    for floor in [FloorChoice::Landlock, FloorChoice::None] {
        let place = Place::new();
        let launcher = place.launcher(floor).await;
        let text = "grep -E '^Cap(Inh|Prm|Eff|Bnd|Amb)' /proc/self/status | cut -f2 | sort -u";
        let (output, _) = finish(launcher.spawn(place.command(text)).await.unwrap()).await;
        assert_eq!(output, "0000000000000000\n", "{floor:?}");
    }
}

#[tokio::test]
async fn a_missing_floor_says_so() {
    let place = Place::new();
    let launcher = place.launcher(FloorChoice::None).await;
    let status = launcher.floor();
    assert_eq!(status.kind, FloorKind::Missing);
    assert!(status.reason_if_missing.is_some());
    let text = "grep ^CapEff /proc/self/status; grep ^NoNewPrivs /proc/self/status";
    let (output, _) = finish(launcher.spawn(place.command(text)).await.unwrap()).await;
    assert_eq!(output, "CapEff:\t0000000000000000\nNoNewPrivs:\t1\n");
}
