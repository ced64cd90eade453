#!/usr/bin/env python3
"""Holds /metrics of a real server against the parsers of Prometheus' own Python client.

Needs the package prometheus_client. Starts the given binary, makes a session and calls in it, and
reads both formats: python3 tests/exposition.py target/debug/toolgate
"""

import json
import pathlib
import subprocess
import sys
import tempfile
import urllib.request

from prometheus_client.openmetrics.parser import text_string_to_metric_families as openmetrics
from prometheus_client.parser import text_string_to_metric_families as classic

PREFIXES = ("toolgate_", "process_")


def request(url, token=None, body=None, accept=None):
    headers = {}
    if token:
        headers["Authorization"] = f"Bearer {token}"
    if body is not None:
        headers["Content-Type"] = "application/json"
        body = json.dumps(body).encode()
    if accept:
        headers["Accept"] = accept
    call = urllib.request.Request(url, data=body, headers=headers)
    with urllib.request.urlopen(call, timeout=30) as answer:
        return answer.headers["Content-Type"], answer.read().decode()


def exercise(url, token):
    """A call that ends, one that fails, one whose tool nobody knows and one that waits."""
    _, session = request(f"{url}/v1/sessions", token, {})
    calls = f"{url}/v1/sessions/{json.loads(session)['session_id']}/calls"
    for number, (name, arguments) in enumerate(
        [
            ("Glob", {"pattern": "*"}),
            ("Read", {"file_path": "missing"}),
            ('No"such\ntool\\', {}),
            ("Bash", {"command": "touch x"}),
        ]
    ):
        function = {"name": name, "arguments": json.dumps(arguments)}
        request(calls, token, {"id": f"call_{number}", "type": "function", "function": function})


def check(families, text, fmt):
    families = {family.name: family for family in families}
    assert len(families) > 40, f"{fmt}: {len(families)} families\n{text}"
    for name, family in families.items():
        assert name.startswith(PREFIXES), f"{fmt}: {name}"
        assert family.documentation, f"{fmt}: {name} has no help"
        assert family.samples, f"{fmt}: {name} has no samples"
        assert family.type != "unknown", f"{fmt}: {name} has no type"
    ended = {
        (sample.labels["tool"], sample.labels["status"]): sample.value
        for sample in families["toolgate_calls"].samples
        if sample.name == "toolgate_calls_total"
    }
    for series in [("Glob", "completed"), ("Read", "failed"), ("other", "failed")]:
        assert ended[series] == 1, f"{fmt}: {series} is {ended[series]}"
    waiting = [s.value for s in families["toolgate_calls_open"].samples if s.labels["status"] == "awaiting_approval"]
    assert waiting == [1], f"{fmt}: {waiting}"
    return set(families)


def main():
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "root").mkdir()
        places = ["--data-dir", folder / "data", "--workspace-root", folder / "root"]
        command = [sys.argv[1], "serve", "--listen", "127.0.0.1:0", *map(str, places)]
        server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        try:
            url = server.stdout.readline().split()[-1]
            exercise(url, (folder / "data/tokens/agent").read_text().strip())
            kind, text = request(f"{url}/metrics")
            assert kind == "text/plain; version=0.0.4; charset=utf-8", kind
            first = check(classic(text), text, "text format")
            kind, text = request(f"{url}/metrics", accept="application/openmetrics-text; version=1.0.0")
            assert kind.startswith("application/openmetrics-text; version=1.0.0"), kind
            second = check(openmetrics(text), text, "OpenMetrics")
            # The older format has no type for information: a gauge with that suffix stands for it.
            first = {name.removesuffix("_info") for name in first}
            assert first == second, first ^ second
            print(f"{len(second)} families, in both formats")
        finally:
            server.terminate()
            server.wait(timeout=15)


main()
