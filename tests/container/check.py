"""Drives the image as its users would. Usage: check.py IMAGE"""

import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

IMAGE = sys.argv[1]
os.environ.setdefault("CONTAINERS_CONF", str(pathlib.Path(__file__).with_name("containers.conf")))
# What a careful platform gives a container: no capability, no way to gain any, nothing to write on
# but the volumes.
HARDENED = ["--read-only", "--tmpfs", "/tmp", "--cap-drop=all", "--security-opt", "no-new-privileges"]


def without_namespaces(folder):
    """This engine's default seccomp profile, without the namespaces that Docker's does not allow either."""
    profile = json.loads(pathlib.Path("/usr/share/containers/seccomp.json").read_text())
    refused = {"unshare", "setns", "mount", "umount", "umount2", "pivot_root", "clone", "clone3"}
    for rule in profile["syscalls"]:
        rule["names"] = [name for name in rule["names"] if name not in refused]
    profile["syscalls"] = [rule for rule in profile["syscalls"] if rule["names"]]
    no_new_namespace = {"index": 0, "value": 0x7E020000, "valueTwo": 0, "op": "SCMP_CMP_MASKED_EQ"}
    profile["syscalls"] += [
        {"names": ["clone"], "action": "SCMP_ACT_ALLOW", "args": [no_new_namespace]},
        # So that the C library falls back to clone, whose flags can be looked at.
        {"names": ["clone3"], "action": "SCMP_ACT_ERRNO", "errnoRet": 38},
        {"names": sorted(refused - {"clone", "clone3"}), "action": "SCMP_ACT_ERRNO", "errnoRet": 1},
    ]
    path = pathlib.Path(folder, "seccomp.json")
    path.write_text(json.dumps(profile))
    return ["--security-opt", f"seccomp={path}"]


def podman(*arguments, check=True):
    done = subprocess.run(["podman", *arguments], capture_output=True, text=True, timeout=120)
    if check and done.returncode != 0:
        raise SystemExit(f"podman {' '.join(arguments)}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return done


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Container:
    """A running container of the image, with its workspace and config on this machine."""

    def __init__(self, user, options=(), config=None):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="toolgate-container-"))
        self.workspace = self.folder / "workspace"
        self.workspace.mkdir()
        uid, gid = (int(part) for part in user.split(":"))
        os.chown(self.workspace, uid, gid)
        self.folder.chmod(0o755)
        self.port = free_port()
        self.name = self.folder.name
        mounts = ["-v", f"{self.workspace}:/workspace"]
        if config is not None:
            self.config = self.folder / "config"
            self.config.mkdir()
            self.write_config(config)
            mounts += ["-v", f"{self.config}:/etc/toolgate:ro"]
        podman(
            "run", "-d", "--name", self.name, "--user", user, *options, *mounts,
            "-e", f"TOOLGATE_SERVER__LISTEN=0.0.0.0:{self.port}", "-e", f"TOOLGATE_URL=http://127.0.0.1:{self.port}",
            IMAGE,
        )
        self.wait_until_ready()

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        if kind is not None:
            done = podman("logs", self.name, check=False)
            print(done.stdout + done.stderr, file=sys.stderr)
        podman("rm", "-f", "-v", self.name, check=False)
        shutil.rmtree(self.folder)

    def write_config(self, config):
        """As an editor does it, and as a mounted folder shows it: written beside, renamed over."""
        new = self.config / ".config.json.new"
        new.write_text(json.dumps(config))
        new.chmod(0o644)
        new.rename(self.config / "config.json")

    def exec(self, *command, check=True):
        return podman("exec", self.name, *command, check=check)

    def wait_until_ready(self):
        for _ in range(200):
            if self.exec("toolgate", "health", check=False).returncode == 0:
                break
            if podman("inspect", "-f", "{{.State.Running}}", self.name).stdout.strip() != "true":
                done = podman("logs", self.name)
                raise SystemExit(f"the container ended:\n{done.stdout}{done.stderr}")
            time.sleep(0.1)
        else:
            raise SystemExit("the server did not become ready")
        self.agent = self.exec("cat", "/var/lib/toolgate/data/tokens/agent").stdout.strip()
        self.operator = self.exec("cat", "/var/lib/toolgate/data/tokens/operator").stdout.strip()

    def api(self, token, path, body=None, method=None):
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}{path}",
            data=None if body is None else json.dumps(body).encode(),
            method=method,
            headers={"Authorization": f"Bearer {token}", "Content-Type": "application/json"},
        )
        try:
            with urllib.request.urlopen(request, timeout=90) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as error:
            return error.code, json.load(error)

    def call(self, session, call_id, tool, arguments, wait_ms=30000):
        body = {"id": call_id, "type": "function", "function": {"name": tool, "arguments": json.dumps(arguments)}}
        status, call = self.api(self.agent, f"/v1/sessions/{session}/calls?wait_ms={wait_ms}", body)
        assert status in (200, 202), (status, call)
        return call

    def approve(self, call):
        assert call["status"] == "awaiting_approval", call
        status, approval = self.api(
            self.operator, f"/v1/approvals/{call['approval_id']}/decision", {"decision": "allow"}
        )
        assert status == 200, approval

    def result(self, session, call_id):
        status, call = self.api(self.agent, f"/v1/sessions/{session}/calls/{call_id}?wait_ms=30000")
        assert status == 200, call
        return call

    def run(self, session, call_id, command, **more):
        """A command that a person allows."""
        self.approve(self.call(session, call_id, "Bash", {"command": command, **more}))
        return self.result(session, call_id)


def any_uid():
    """`docker run --user UID:GID -v …:/workspace` is enough, for every uid."""
    for user in ("0:0", "1000:1000", "54321:12345", "12345:0"):
        with Container(user) as box:
            box.api(box.agent, "/v1/sessions", {"session_id": "s"})
            call = box.run("s", "c", "id -u; echo hi > made")
            uid, gid = (int(part) for part in user.split(":"))
            assert call["details"]["exit_code"] == 0, call
            made = (box.workspace / "s" / "made").stat()
            assert (made.st_uid, made.st_gid) == (uid, gid), made
            mode = box.exec("stat", "-c", "%a", "/var/lib/toolgate/data").stdout.strip()
            assert mode == "700", mode
        print(f"  any uid: {user}")


def hardened():
    """Everything that matters, with no capability, nothing writable and no user namespaces."""
    config = {"permissions": {"allow": ["Bash(touch *)"], "deny": ["Bash(curl *)"]}}
    with tempfile.TemporaryDirectory() as scratch, Container(
        "10007:10007", HARDENED + without_namespaces(scratch), config
    ) as box:
        assert box.exec("unshare", "-U", "true", check=False).returncode != 0, "user namespaces are allowed here"
        floor = box.api(box.agent, "/v1/info")[1]["floor"]
        assert floor["kind"] == "landlock", floor
        print("  floor:", json.dumps(floor))

        assert box.api(box.agent, "/v1/sessions", {"session_id": "s"})[0] == 201
        call = box.call("s", "allowed", "Bash", {"command": "touch x"})
        assert call["status"] == "completed" and (box.workspace / "s" / "x").exists(), call
        print("  a call")
        call = box.run("s", "asked", "echo approved > y; cat y")
        assert "approved" in call["result"]["result"], call
        print("  an approval")

        paths = "/var/lib/toolgate/data/tokens/operator /etc/toolgate/config.json /proc/*/environ"
        # In a script, since the rules refuse the paths themselves.
        script = box.workspace / "s" / "steal.sh"
        script.write_text(f"cat {paths}\nkill -9 1 $(pgrep toolgate)\nls /var/lib/toolgate/data\ntrue\n")
        call = box.run("s", "steal", "sh steal.sh")
        text = call["result"]["result"]
        assert box.operator not in text and box.agent not in text and "TOOLGATE" not in text, text
        assert box.exec("toolgate", "health").returncode == 0
        print("  the floor holds")

        started = time.monotonic()
        call = box.run("s", "left", "setsid sleep 300 & sleep 301 & echo started")
        assert "started" in call["result"]["result"] and time.monotonic() - started < 60, call
        assert box.left_sleeping() == [], box.left_sleeping()
        print("  nothing outlives its call")

        reload(box)
        stop(box)


def sleeping(box):
    names = box.exec("sh", "-c", "cat /proc/[0-9]*/comm 2>/dev/null").stdout.split()
    return [name for name in names if name == "sleep"]


Container.left_sleeping = sleeping


def reload(box):
    """A rule changed in the mounted file holds for the next call."""
    revision = box.api(box.operator, "/v1/config")[1]["revision"]
    box.write_config({"permissions": {"deny": ["Bash(touch *)"]}})
    for _ in range(200):
        if box.api(box.operator, "/v1/config")[1]["revision"] != revision:
            break
        time.sleep(0.1)
    call = box.call("s", "denied", "Bash", {"command": "touch z"})
    assert call["status"] == "denied" and not (box.workspace / "s" / "z").exists(), call
    (box.config / "config.json").write_text('{"permissions": {"deny": ["Bash(touch"]}}')
    for _ in range(200):
        reasons = box.api(box.agent, "/readyz")[1]["reasons"]
        if reasons:
            break
        time.sleep(0.1)
    assert re.search(r"config", " ".join(reasons)), reasons
    assert box.exec("toolgate", "health").returncode == 0, "a broken config took the service down"
    call = box.call("s", "still-denied", "Bash", {"command": "touch z"})
    assert call["status"] == "denied", call
    box.write_config({"permissions": {"allow": ["Bash(sleep *)"]}})
    for _ in range(200):
        if not box.api(box.agent, "/readyz")[1]["reasons"]:
            break
        time.sleep(0.1)
    print("  a reload; a broken config keeps the good one")


def stop(box):
    """`docker stop` ends what runs; after `docker start` its end is on record and what waited waits."""
    running = box.call("s", "running", "Bash", {"command": "sleep 300"}, wait_ms=0)
    assert running["status"] in ("queued", "running"), running
    waiting = box.call("s", "waiting", "Bash", {"command": "touch waited"})
    started = time.monotonic()
    podman("stop", "-t", "20", box.name)
    took = time.monotonic() - started
    code = podman("inspect", "-f", "{{.State.ExitCode}}", box.name).stdout.strip()
    assert code == "0" and took < 15, (code, took)
    podman("start", box.name)
    box.wait_until_ready()
    assert box.result("s", "running")["status"] == "interrupted"
    box.approve({"status": "awaiting_approval", "approval_id": waiting["approval_id"]})
    assert box.result("s", "waiting")["status"] == "completed" and (box.workspace / "s" / "waited").exists()
    print(f"  a clean stop in {took:.1f} s; what waited still waits")


for scenario in (any_uid, hardened):
    print(scenario.__name__)
    scenario()
print("2 passed, 0 failed")
