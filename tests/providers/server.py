"""A Toolgate of its own: the real program on a free port, with its tokens and a client for each."""

import json
import os
import pathlib
import subprocess
import tempfile
import threading
import urllib.error
import urllib.request

PATIENCE = 60  # seconds; nothing here takes as long unless it fails


class Client:
    """The HTTP interface under one token."""

    def __init__(self, url, token):
        self.url, self.token = url, token

    def request(self, method, path, body=None):
        """Status and JSON of the answer; a body that is text already is sent as it is."""
        text = body if isinstance(body, str) or body is None else json.dumps(body)
        request = urllib.request.Request(self.url + path, text and text.encode(), method=method)
        request.add_header("Authorization", f"Bearer {self.token}")
        request.add_header("Accept", "application/json")
        request.add_header("Content-Type", "application/json")
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as error:
            return error.code, json.load(error)

    def ok(self, method, path, body=None, status=200):
        found, answer = self.request(method, path, body)
        assert found == status, f"{method} {path}: {found} {json.dumps(answer)}"
        return answer


class Toolgate:
    """A running server; it ends with the `with`."""

    def __init__(self, binary, permissions):
        self.binary, self.permissions = binary, permissions

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="toolgate-providers-")
        place = pathlib.Path(self.folder.name)
        (place / "root").mkdir()
        (place / "config.json").write_text(json.dumps({"permissions": self.permissions}))
        command = [self.binary, "serve", "--listen", "127.0.0.1:0", "--data-dir", place / "data"]
        command += ["--workspace-root", place / "root", "--config", place / "config.json"]
        self.log = open(place / "log", "wb")
        # A TOOLGATE_… of whoever runs this is not this server's.
        environment = {name: value for name, value in os.environ.items() if not name.startswith("TOOLGATE_")}
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=self.log, stdin=subprocess.DEVNULL, env=environment
        )
        line = self.process.stdout.readline().decode()
        assert line.startswith("listening on "), (place / "log").read_text()
        self.url = line.removeprefix("listening on ").strip()
        self.agent_token, operator_token = (
            (place / "data" / "tokens" / role).read_text().strip() for role in ("agent", "operator")
        )
        self.agent, self.operator = Client(self.url, self.agent_token), Client(self.url, operator_token)
        return self

    def __exit__(self, *_):
        self.process.terminate()
        try:
            self.process.wait(timeout=15)
        except subprocess.TimeoutExpired:
            self.process.kill()
        self.log.close()
        self.folder.cleanup()


class Reviewer(threading.Thread):
    """A person who allows everything that asks, as soon as it does, until it is told to leave."""

    def __init__(self, toolgate):
        super().__init__(daemon=True)
        self.operator, self.leaving, self.allowed, self.failure = toolgate.operator, False, 0, None
        page = self.operator.ok("GET", "/v1/events?limit=1000")
        while page["events"]:
            page = self.operator.ok("GET", f"/v1/events?limit=1000&after={page['next_after']}")
        self.after = page["next_after"]

    def run(self):
        try:
            while not self.leaving:
                path = f"/v1/events?types=tool_approval_requested&wait_ms=200&after={self.after}"
                page = self.operator.ok("GET", path)
                self.after = page["next_after"]
                for event in page["events"]:
                    approval = event["approval"]["approval_id"]
                    self.operator.ok("POST", f"/v1/approvals/{approval}/decision", {"decision": "allow"})
                    self.allowed += 1
        except Exception as error:  # whoever waits for it reports it
            self.failure = error

    def leave(self):
        self.leaving = True
        self.join()
        if self.failure:
            raise self.failure
