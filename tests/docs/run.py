#!/usr/bin/env python3
"""Runs the commands of the documentation as they are printed.

    tests/docs/run.py TOOLGATE_BINARY [PAGE...]

In a page, the fenced block after `<!-- run -->` is run, the one after `<!-- run: background -->` is a
server that is started and waited for. The blocks of a page are one bash script, run in a copy of the
repository with a home of its own; a page without a server of its own finds one listening on the default
address. The block after `<!-- config -->` is what that server is configured with.
"""

import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
MARK = re.compile(r"^<!-- (run|run: background|config) -->\n+```\w*\n(.*?)^```$", re.M | re.S)
READY = "http://127.0.0.1:8765/readyz"
# A first build of everything, in release mode, on two cores.
LIMIT_S = 1500


def pages(names):
    found = [REPOSITORY / name for name in names] or [REPOSITORY / "README.md", *sorted((REPOSITORY / "docs").glob("*.md"))]
    return [(page, blocks) for page in found if (blocks := MARK.findall(page.read_text()))]


def copy_of_repository(folder):
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=REPOSITORY, capture_output=True, check=True).stdout
    for name in listed.decode().split("\0"):
        source = REPOSITORY / name
        if name and source.is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, folder / name)


def environment(home, binary):
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("TOOLGATE_", "XDG_"))}
    was = pathlib.Path.home()
    kept.setdefault("CARGO_HOME", str(was / ".cargo"))
    kept.setdefault("RUSTUP_HOME", str(was / ".rustup"))
    kept.update(HOME=str(home), PATH=f"{binary.parent}:{kept['PATH']}")
    return kept


def start(command, folder, env, log):
    """A server in a process group of its own, until it is ready."""
    server = subprocess.Popen(
        ["bash", "-eu", "-c", command],
        cwd=folder, env=env, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
    )
    until = time.monotonic() + LIMIT_S
    while time.monotonic() < until and server.poll() is None:
        try:
            urllib.request.urlopen(READY, timeout=5)
            return server
        except (urllib.error.URLError, OSError):
            time.sleep(0.2)
    stop(server)
    raise SystemExit(f"the server did not become ready: {command}\n{pathlib.Path(log.name).read_text()}")


def stop(server):
    if server.poll() is None:
        os.killpg(server.pid, signal.SIGTERM)
    try:
        server.wait(timeout=20)
    except subprocess.TimeoutExpired:
        os.killpg(server.pid, signal.SIGKILL)


def run(page, blocks, binary):
    with tempfile.TemporaryDirectory(prefix="toolgate-docs-") as scratch:
        folder, home = pathlib.Path(scratch, "toolgate"), pathlib.Path(scratch, "home")
        folder.mkdir()
        home.mkdir()
        copy_of_repository(folder)
        env = environment(home, binary)
        servers = [text for kind, text in blocks if kind == "run: background"]
        config = "".join(text for kind, text in blocks if kind == "config")
        if not servers:
            (home / "config.json").write_text(config or "{}")
            servers = [f"exec toolgate serve --config {home}/config.json"]
        script = "".join(text for kind, text in blocks if kind == "run")
        with open(pathlib.Path(scratch, "log"), "w+") as log:
            running = [start(command, folder, env, log) for command in servers]
            try:
                done = subprocess.run(
                    ["bash", "-eu", "-c", script],
                    cwd=folder, env=env, stdin=subprocess.DEVNULL, timeout=LIMIT_S,
                    capture_output=True, text=True,
                )
            finally:
                for server in running:
                    stop(server)
        name = page.relative_to(REPOSITORY)
        if done.returncode != 0:
            print(f"{name}: exit code {done.returncode}\n{script}\n{done.stdout}\n{done.stderr}")
            return False
        print(f"{name}: ran as printed")
        return True


def main():
    binary = pathlib.Path(sys.argv[1]).resolve()
    results = [run(page, blocks, binary) for page, blocks in pages(sys.argv[2:])]
    print(f"{results.count(True)} passed, {results.count(False)} failed")
    sys.exit(0 if results and all(results) else 1)


main()
