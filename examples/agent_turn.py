#!/usr/bin/env python3
"""Plays a recorded agent turn on a real project, and checks everything that happens.

The turn (agent_turn.json) is what a model asked for: reads, edits, tests, a command that a rule
denies, one that is cancelled, a question to the user. This script is the agent loop that posts the
calls, the reviewer who decides about those that ask, and a watcher who reads the events over a
connection that drops in the middle. It prints a transcript and exits with 1 on any surprise.

  agent_turn.py --start target/debug/toolgate
  agent_turn.py --url http://127.0.0.1:8765 --agent-token T --operator-token T --workspace DIR

With --start it makes the project (prepare_project.py) and starts a server on a free port, both in
a temporary directory. Otherwise DIR must be a fresh project made by prepare_project.py under a
workspace root of that server, which must have the rules of agent_turn.config.json.
"""

import argparse
import contextlib
import http.client
import json
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unicodedata
import urllib.parse

HERE = pathlib.Path(__file__).resolve().parent
ENDED = {"completed", "backgrounded", "failed", "denied", "cancelled", "interrupted"}
ENDINGS = {"tool_complete", "tool_error", "tool_denied", "tool_cancelled", "tool_interrupted", "tool_backgrounded"}
PATIENCE = 120  # seconds; nothing in the turn takes as long


class Surprise(Exception):
    """Something that should not have happened."""


def expect(condition, what):
    if not condition:
        raise Surprise(what)


def visible(text):
    """The text with whatever could steer a terminal written as an escape."""
    return "".join(c if c in "\n\t" or unicodedata.category(c)[0] != "C" else f"\\u{{{ord(c):x}}}" for c in text)


def say(text="", indent=0):
    for line in visible(text).split("\n"):
        print(" " * indent + line, flush=True)


# ---- the server's API ---------------------------------------------------------------------------


class Api:
    """The HTTP interface under one token."""

    def __init__(self, url, token):
        parts = urllib.parse.urlsplit(url)
        self.host, self.port, self.token = parts.hostname, parts.port or 80, token

    def request(self, method, path, body=None, **query):
        """Status and JSON of the answer."""
        connection = http.client.HTTPConnection(self.host, self.port, timeout=PATIENCE)
        headers = {"authorization": f"Bearer {self.token}"}
        if body is not None:
            headers["content-type"] = "application/json"
            body = json.dumps(body).encode()
        if query:
            path += "?" + urllib.parse.urlencode(query)
        try:
            connection.request(method, path, body, headers)
            answer = connection.getresponse()
            text = answer.read().decode()
            return answer.status, json.loads(text) if text else None
        finally:
            connection.close()

    def ok(self, method, path, body=None, statuses=(200,), **query):
        """The JSON of an answer that has to have one of the statuses."""
        status, answer = self.request(method, path, body, **query)
        expect(status in statuses, f"{method} {path} gave {status}: {json.dumps(answer)}")
        return answer


def lines_of(answer):
    """The lines of an answer as they arrive."""
    rest = b""
    while piece := answer.read1(65536):
        *lines, rest = (rest + piece).split(b"\n")
        for line in lines:
            yield line.decode().rstrip("\r")


class Watcher(threading.Thread):
    """Reads a session's events to its end; drops the connection once, in the middle of an event."""

    def __init__(self, api, session, drop_at):
        super().__init__(daemon=True)
        self.api, self.session, self.drop_at = api, session, drop_at
        self.events, self.drops, self.failure = [], 0, None
        self.news = threading.Condition()

    def run(self):
        try:
            while not self.over():
                self.read_once()
        except Exception as error:  # the main thread reports it
            self.failure = error
        with self.news:
            self.news.notify_all()

    def over(self):
        return bool(self.events) and self.events[-1]["type"] == "session_ended"

    def read_once(self):
        connection = http.client.HTTPConnection(self.api.host, self.api.port, timeout=PATIENCE)
        headers = {"authorization": f"Bearer {self.api.token}", "accept": "text/event-stream"}
        if self.events:
            headers["last-event-id"] = str(self.events[-1]["seq"])
        connection.request("GET", f"/v1/sessions/{self.session}/events", headers=headers)
        answer = connection.getresponse()
        expect(answer.status == 200, f"the event stream gave {answer.status}")
        event_id, data = None, []
        for text in lines_of(answer):
            field, _, value = text.partition(":")
            value = value.removeprefix(" ")
            if field == "id":
                event_id = value
                if not self.drops and int(value) >= self.drop_at:
                    self.drops += 1  # the id came, its event will not be taken
                    break
            elif field == "data":
                data.append(value)
            elif not text and data:
                self.take(event_id, json.loads("\n".join(data)))
                event_id, data = None, []
                if self.over():
                    break
        connection.close()

    def take(self, event_id, event):
        expect(event_id == str(event.get("seq")), f"the id {event_id} is not the number of {event}")
        following = self.events[-1]["seq"] + 1 if self.events else 1
        expect(event["seq"] == following, f"event {event['seq']} came where {following} had to")
        with self.news:
            self.events.append(event)
            self.news.notify_all()

    def wait_for(self, wanted, what):
        """The first event that is wanted."""
        with self.news:
            found = self.news.wait_for(
                lambda: self.failure or next(filter(wanted, self.events), None), timeout=PATIENCE
            )
        if isinstance(found, Exception):
            raise Surprise(f"the watcher failed: {found!r}")
        expect(found, f"no event came: {what}")
        return found


# ---- the turn -----------------------------------------------------------------------------------


class Turn:
    """The agent loop, and the people beside it."""

    def __init__(self, agent, operator, session, watcher):
        self.agent, self.operator, self.session, self.watcher = agent, operator, session, watcher
        self.base = f"/v1/sessions/{session}"
        self.calls = {}
        self.asked = set()

    def play(self, step):
        if step["say"]:
            say(f"\n\u25c6 {step['say']}")
        ways = {"call": self.each, "batch": self.batch, "repeat": self.repeat, "conflict": self.conflict,
                "cancel": self.cancel}
        ways[step.get("how", "call")](step["calls"])

    def each(self, calls):
        for call in calls:
            self.finish(call, self.post(call))

    def post(self, call, wait_ms=30000):
        return self.agent.ok("POST", f"{self.base}/calls", wire(call), (200, 202), wait_ms=wait_ms)

    def finish(self, call, record):
        """Sees the call through its pauses to its end, and checks it."""
        while record["status"] not in ENDED:
            if record["status"] == "awaiting_approval":
                self.review(call, record)
            elif record["status"] == "awaiting_answer":
                self.answer(call, record)
            path = f"{self.base}/calls/{urllib.parse.quote(call['id'], safe='')}"
            record = self.agent.ok("GET", path, wait_ms=60000)
        self.check(call, record)

    def review(self, call, record):
        """The reviewer reads what would run, and decides as the recording says."""
        review = call.get("review")
        expect(review, f"{call['id']} asks, which nobody foresaw: {json.dumps(record)}")
        aid = record["approval_id"]
        path = f"/v1/approvals/{aid}"
        approval = self.operator.ok("GET", path)
        expect(approval["call_id"] == call["id"], f"{aid} is about {approval['call_id']}, not {call['id']}")
        expect(approval["arguments"] == call["arguments"], f"{aid} shows other arguments: {approval['arguments']}")
        for part in review.get("shows", []):
            expect(part in approval.get("diff", ""), f"the diff of {aid} does not show {part!r}")
        status, _ = self.agent.request("POST", f"{path}/decision", {"decision": "allow"})
        expect(status == 403, f"the agent itself could decide: {status}")
        decision = self.decision(review, approval)
        self.operator.ok("POST", f"{path}/decision", decision)
        again = self.operator.ok("POST", f"{path}/decision", decision)
        expect(again["status"] == {"allow": "allowed", "deny": "denied"}[review["decision"]], f"{aid}: {again}")
        opposite = "deny" if review["decision"] == "allow" else "allow"
        status, _ = self.operator.request("POST", f"{path}/decision", {"decision": opposite})
        expect(status == 409, f"the opposite decision gave {status}")
        self.asked.add(call["id"])
        edited = ", with other arguments" if "arguments" in review else ""
        granted = f": {decision['pattern']}" if "pattern" in decision else ""
        say(f"  ? {call['name']} {headline(call['arguments'])}", 2)
        say(f"    asks: {approval['reason']['text']}", 2)
        scope = "" if review["decision"] == "deny" else f" ({decision['scope']}{granted}{edited})"
        say(f"    reviewer: {review['decision']}{scope}: {review['why']}", 2)

    def decision(self, review, approval):
        decision = {"decision": review["decision"]}
        decision.update({key: review[key] for key in ("arguments", "message") if key in review})
        if review["decision"] == "allow":
            decision["scope"] = review["scope"]
            patterns = [offer.get("pattern") for offer in approval["offers"] if offer["scope"] == review["scope"]]
            expect(patterns, f"{approval['approval_id']} does not offer {review['scope']}: {approval['offers']}")
            if patterns[0]:
                decision["pattern"] = patterns[0]
        return decision

    def answer(self, call, record):
        question = record["question"]["question"]
        path = f"{self.base}/calls/{call['id']}/answer"
        status, _ = self.agent.request("POST", path, {"answer": call["answer"]})
        expect(status == 403, f"the agent itself could answer: {status}")
        self.operator.ok("POST", path, {"answer": call["answer"]})
        say(f"  ? {question}", 2)
        say(f"    user: {call['answer']}", 2)

    def batch(self, calls):
        body = {"calls": [wire(call) for call in calls]}
        answer = self.agent.ok("POST", f"{self.base}/calls/batch", body, (200, 202), wait_ms=60000)
        ids = [record["call_id"] for record in answer["calls"]]
        expect(ids == [call["id"] for call in calls], f"the batch came back in another order: {ids}")
        for call, record in zip(calls, answer["calls"]):
            self.finish(call, record)

    def repeat(self, calls):
        for call in calls:
            before = self.calls[call["id"]]
            record = self.post(call)
            for part in ("status", "result", "details", "first_seq", "last_seq", "started_at", "finished_at"):
                expect(record.get(part) == before.get(part), f"{call['id']} sent again has another {part}")
            say(f"  = {call['id']}: the recorded result of {before['finished_at']}, nothing ran again", 2)

    def conflict(self, calls):
        for call in calls:
            status, problem = self.agent.request("POST", f"{self.base}/calls", wire(call))
            expect(status == 409, f"another call under the id {call['id']} gave {status}")
            say(f"  = {call['id']}: refused, {status} {problem['title']}", 2)

    def cancel(self, calls):
        for call in calls:
            self.post(call, wait_ms=0)
            self.watcher.wait_for(
                lambda event: event["type"] == "tool_token" and event["tool_call_id"] == call["id"]
                and call["cancel_after"] in event["content"],
                f"output of {call['id']}",
            )
            began = time.monotonic()
            record = self.agent.ok("POST", f"{self.base}/calls/{call['id']}/cancel")
            self.finish(call, record)
            expect(time.monotonic() - began < 10, "the cancel took more than 10 s")

    def check(self, call, record):
        wanted, text = call.get("expect", {}), (record.get("result") or {}).get("result")
        context = f"{call['id']} {call['name']}: {json.dumps(record)[:3000]}"
        expect(isinstance(text, str), f"no text for the model in {context}")
        if "status" in wanted:
            expect(record["status"] == wanted["status"], f"status is not {wanted['status']} in {context}")
        if "success" in wanted:
            expect(record["result"]["success"] is wanted["success"], f"success is not {wanted['success']} in {context}")
        for part in wanted.get("contains", []):
            expect(part in text, f"{part!r} is not in the result of {context}")
        for part in wanted.get("lacks", []):
            expect(part not in text, f"{part!r} is in the result of {context}")
        for part in wanted.get("diff", []):
            expect(part in (record.get("details") or {}).get("diff", ""), f"{part!r} is not in the diff of {context}")
        if "exit_code" in wanted:
            expect(record["details"]["exit_code"] == wanted["exit_code"], f"exit code in {context}")
        if "asks" in wanted:
            expect((call["id"] in self.asked) == wanted["asks"], f"asked: {call['id'] in self.asked} in {context}")
        if "by" in wanted:
            denied = self.watcher.wait_for(
                lambda event: event["type"] == "tool_denied" and event["tool_call_id"] == call["id"], "tool_denied"
            )
            expect(denied["by"] == wanted["by"], f"denied by {denied['by']} in {context}")
        self.calls[call["id"]] = record
        self.tell(call, record, text)

    def tell(self, call, record, text):
        mark = {"completed": "\u2713" if record["result"]["success"] else "\u2717"}.get(record["status"], "\u2717")
        say(f"  {mark} {call['name']} {headline(record['arguments'])}".rstrip() + f"  [{record['status']}]", 2)
        diff = (record.get("details") or {}).get("diff")
        lines = text.rstrip("\n").split("\n")
        if diff:
            lines = [line for line in diff.split("\n") if line[:1] in {"+", "-"}]
        shown = lines if len(lines) <= 8 else [*lines[:4], f"\u2026 {len(lines) - 7} lines", *lines[-3:]]
        say("\n".join(line[:110] for line in shown), 8)


def headline(arguments):
    """What a person wants to see of a call first; what could not be read is a text."""
    if isinstance(arguments, str):
        return arguments
    return arguments.get("command") or arguments.get("file_path") or arguments.get("pattern") or ""


def wire(call):
    """The call in the shape of a model's API."""
    arguments = json.dumps(call["arguments"])
    return {"id": call["id"], "type": "function", "function": {"name": call["name"], "arguments": arguments}}


def check_events(events, calls, drops):
    """The whole story once more, from the log alone."""
    expect(drops == 1, "the connection did not drop in the middle")
    expect([event["seq"] for event in events] == list(range(1, len(events) + 1)), "the log has gaps")
    for call_id, record in calls.items():
        own = [event for event in events if event.get("tool_call_id") == call_id]
        kinds = [event["type"] for event in own]
        expect(kinds.count("tool_start") == 1, f"{call_id} started {kinds.count('tool_start')} times")
        ends = [place for place, kind in enumerate(kinds) if kind in ENDINGS]
        expect(ends == [len(kinds) - 1], f"{call_id} has its end at {ends} of {kinds}")
        expect((own[0]["seq"], own[-1]["seq"]) == (record["first_seq"], record["last_seq"]), f"numbers of {call_id}")


def play(agent, operator, workspace):
    turn = json.loads((HERE / "agent_turn.json").read_text())
    session = agent.ok("POST", "/v1/sessions", {"workspace": workspace, "labels": {"task": "example"}}, (201,))
    tools = agent.ok("GET", f"/v1/sessions/{session['session_id']}/tools")["tools"]
    names = {tool["function"]["name"] for tool in tools}
    used = {call["name"] for step in turn["steps"] for call in step["calls"]}
    expect(used <= names, f"the session lacks {used - names}")
    say(f"session {session['session_id']} in {session['workspace']}, {len(names)} tools")
    say(f"\n\u25cf {turn['task']}")
    watcher = Watcher(agent, session["session_id"], drop_at=14)
    watcher.start()
    player = Turn(agent, operator, session["session_id"], watcher)
    for step in turn["steps"]:
        player.play(step)
    agent.ok("DELETE", f"/v1/sessions/{session['session_id']}")
    watcher.wait_for(lambda event: event["type"] == "session_ended", "session_ended")
    watcher.join(PATIENCE)
    expect(not watcher.failure, f"the watcher failed: {watcher.failure!r}")
    check_events(watcher.events, player.calls, watcher.drops)
    say(f"\n{len(player.calls)} calls, {len(player.asked)} of them reviewed; {len(watcher.events)} events, each once,")
    say("over a connection that dropped in the middle.")


# ---- a server of its own ------------------------------------------------------------------------


@contextlib.contextmanager
def server(binary, scratch):
    """A server on a free port; gives its address and data directory, and ends it properly."""
    data, root = scratch / "data", scratch / "workspaces"
    root.mkdir()
    command = [str(binary), "serve", "--listen", "127.0.0.1:0", "--data-dir", str(data)]
    command += ["--workspace-root", str(root), "--config", str(HERE / "agent_turn.config.json")]
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
    try:
        line = process.stdout.readline().strip()
        expect(line.startswith("listening on http://"), f"the server's first line is {line!r}")
        yield line.removeprefix("listening on "), data
        process.send_signal(signal.SIGTERM)
        expect(process.wait(timeout=15) == 0, f"the server left with {process.returncode}")
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()


def play_started(binary):
    sys.path.insert(0, str(HERE))
    import prepare_project  # its neighbour: only needed here

    scratch = pathlib.Path(tempfile.mkdtemp(prefix="toolgate-example-"))
    try:
        project = scratch / "workspaces" / "xmltodict"
        with server(binary, scratch) as (url, data):
            prepare_project.prepare(project)
            tokens = [(data / "tokens" / role).read_text().strip() for role in ("agent", "operator")]
            play(Api(url, tokens[0]), Api(url, tokens[1]), str(project))
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--start", metavar="BINARY", type=pathlib.Path, help="start this toolgate for the turn")
    parser.add_argument("--url", help="or use the server at this address")
    parser.add_argument("--agent-token")
    parser.add_argument("--operator-token")
    parser.add_argument("--workspace", metavar="DIR")
    options = parser.parse_args()
    others = [options.url, options.agent_token, options.operator_token, options.workspace]
    if options.start and any(others) or not options.start and not all(others):
        parser.error("give --start, or all of --url, --agent-token, --operator-token and --workspace")
    try:
        if options.start:
            play_started(options.start.resolve())
        else:
            agent, operator = Api(options.url, options.agent_token), Api(options.url, options.operator_token)
            play(agent, operator, str(pathlib.Path(options.workspace).resolve()))
    except (Surprise, OSError, KeyError, ValueError, http.client.HTTPException, subprocess.SubprocessError) as error:
        print(f"\nSURPRISE: {visible(str(error))} ({type(error).__name__})", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
