#!/usr/bin/env python3
"""Makes a git repository with a real project in it: a published source distribution, with its tests.

Usage: prepare_project.py DIR

DIR must not exist, or be empty. Needs pip and git, and the package index (or pip's cache).
"""

import hashlib
import pathlib
import shutil
import subprocess
import sys
import tarfile
import tempfile

PACKAGE, VERSION = "xmltodict", "0.13.0"
SHA256 = "341595a488e3e01a85a9d8911d8912fd922ede5fecc4dce437eb4b6c8d037e56"


def fetch(into: pathlib.Path) -> pathlib.Path:
    """Downloads the source distribution and checks that it is the one the recorded turn was made on."""
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"]
    command += ["--no-deps", "--no-binary", PACKAGE, "--dest", str(into), f"{PACKAGE}=={VERSION}"]
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL)
    archive = into / f"{PACKAGE}-{VERSION}.tar.gz"
    digest = hashlib.sha256(archive.read_bytes()).hexdigest()
    if digest != SHA256:
        raise SystemExit(f"{archive.name} has the digest {digest}, expected {SHA256}")
    return archive


def unpack(archive: pathlib.Path, project: pathlib.Path) -> None:
    """Puts the files of the archive's top folder into the project, without what was built."""
    with tempfile.TemporaryDirectory() as scratch:
        with tarfile.open(archive) as tar:
            if hasattr(tarfile, "data_filter"):
                tar.extractall(scratch, filter="data")
            else:
                tar.extractall(scratch)  # the digest was checked: these are known files
        top = pathlib.Path(scratch) / f"{PACKAGE}-{VERSION}"
        for built in [*top.rglob("__pycache__"), *top.glob("*.egg-info")]:
            shutil.rmtree(built)
        shutil.copytree(top, project, dirs_exist_ok=True)


def commit(project: pathlib.Path) -> None:
    """Makes the repository, with an author of its own so that later commits work anywhere."""
    (project / ".gitignore").write_text("__pycache__/\n")
    git = ["git", "-C", str(project)]
    subprocess.run([*git, "init", "--quiet", "--initial-branch=main"], check=True)
    subprocess.run([*git, "config", "user.name", "Example"], check=True)
    subprocess.run([*git, "config", "user.email", "example@example.org"], check=True)
    subprocess.run([*git, "add", "--all"], check=True)
    subprocess.run([*git, "commit", "--quiet", "--message", f"{PACKAGE} {VERSION}"], check=True)


def prepare(project: pathlib.Path) -> None:
    """Does all of it."""
    if project.exists() and any(project.iterdir()):
        raise SystemExit(f"{project} is not empty")
    project.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as downloads:
        unpack(fetch(pathlib.Path(downloads)), project)
    commit(project)


if __name__ == "__main__":
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        raise SystemExit(__doc__.strip())
    prepare(pathlib.Path(sys.argv[1]).absolute())
    print(f"{PACKAGE} {VERSION} is in {sys.argv[1]}")
