#!/usr/bin/env python3
"""Holds Toolgate's tools and turns against the types of the model APIs' own libraries, and plays the loops.

  check.py TOOLGATE_BINARY NODE_FOLDER

Real calls are made: in parallel, failing, refused, paused and then allowed by the operator, with an image. What
the model says is made by the library, and posted as the library writes it. What comes back, and the tools, are
held against the library's types: in Python by pydantic, to the last field; in TypeScript by its compiler.
"""

import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from anthropic.types import Message, MessageParam, ToolParam
from google.genai import types as google
from openai.types.chat import ChatCompletion, ChatCompletionFunctionToolParam, ChatCompletionMessageParam
from openai.types.responses import FunctionToolParam, Response, ResponseInputItemParam
from pydantic import ValidationError

import fake_model
from fake_model import FakeModel, valid
from server import Reviewer, Toolgate

HERE = pathlib.Path(__file__).resolve().parent
REPO = HERE.parents[1]
FORMATS = ["openai", "openai-responses", "anthropic", "gemini"]
PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
PATIENCE = 120  # seconds for a program that is run

# A tool of the session's own, with about everything in its schema that some API refuses.
CAMERA = {
    "name": "camera",
    "description": "Takes a picture.",
    "kind": "client",
    "parameters": {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "type": "object",
        "properties": {
            "filter[id]": {"type": ["string", "null"], "default": None, "examples": ["a"]},
            "size": {"type": "array", "prefixItems": [{"type": "integer"}, {"type": "integer"}]},
            "zoom": {"type": "number", "exclusiveMinimum": 0, "multipleOf": 0.5},
            "level": {"enum": [1, 2, 3]},
            "mode": {"const": "fast"},
            "target": {"oneOf": [{"type": "string"}, {"type": "integer"}, {"type": "null"}], "title": "Target"},
            "tags": {"type": "object", "patternProperties": {"^x-": {"type": "string"}}},
            "any": True,
            "list": {"type": "array"},
        },
        "anyOf": [{"required": ["size"]}, {"required": ["zoom"]}, {"minProperties": 0}],
        "not": {"required": ["gone"]},
        "additionalProperties": False,
    },
}


def report(what):
    print(f"ok  {what}", flush=True)


# ---- what the model says, as its library writes it ------------------------------------------------


def said(format, calls):
    """Bodies that all say the same: how a client may have what its library gave it."""
    model = {"openai": fake_model.ChatCompletions, "openai-responses": fake_model.Responses,
             "anthropic": fake_model.Messages, "gemini": fake_model.GenerateContent}[format]()
    answer = model.say({}, [(id, name, json.dumps(arguments)) for id, name, arguments in calls])
    if format == "openai":
        whole = ChatCompletion.model_validate(answer)
        message = whole.choices[0].message
        return [message.model_dump(mode="json"), message.model_dump(mode="json", exclude_none=True),
                whole.model_dump_json(), [call.model_dump(mode="json") for call in message.tool_calls or []]]
    if format == "openai-responses":
        whole = Response.model_validate(answer)
        return [[item.model_dump(mode="json") for item in whole.output], whole.model_dump_json(),
                [item.model_dump(mode="json", exclude_none=True) for item in whole.output]]
    if format == "anthropic":
        whole = Message.model_validate(answer)
        content = [block.model_dump(mode="json", exclude_none=True) for block in whole.content]
        return [whole.model_dump_json(), {"role": "assistant", "content": content}, content]
    for part, (id, _, _) in zip(answer["candidates"][0]["content"]["parts"], calls):
        part["functionCall"]["id"] = id
    whole = google.GenerateContentResponse.model_validate(answer)
    content = whole.candidates[0].content
    return [content.model_dump(mode="json"), whole.model_dump_json(by_alias=True), whole.to_json_dict(),
            content.model_dump(mode="json", by_alias=True, exclude_none=True)]


# ---- what comes back, held against the library ----------------------------------------------------


def appended(format, answer):
    key, other = ("items", "messages") if format == "openai-responses" else ("messages", "items")
    assert other not in answer, answer
    return answer[key]


def hold_appended(format, items):
    if format == "gemini":
        for item in items:
            google.Content.model_validate(item)
    else:
        kind = {"openai": ChatCompletionMessageParam, "openai-responses": ResponseInputItemParam,
                "anthropic": MessageParam}[format]
        valid(kind, items)


def hold_tools(format, tools):
    """The library's type, and what the API says of a schema that no type can."""
    if format == "gemini":
        for tool in tools:
            google.Tool.model_validate(tool)
        functions = [function for tool in tools for function in tool["functionDeclarations"]]
    else:
        kind = {"openai": ChatCompletionFunctionToolParam, "openai-responses": FunctionToolParam,
                "anthropic": ToolParam}[format]
        valid(kind, tools)
        functions = [tool.get("function", tool) for tool in tools]
    names = [function["name"] for function in functions]
    assert len(set(names)) == len(names), names
    for function in functions:
        first = "[a-zA-Z_]" if format == "gemini" else "[a-zA-Z0-9_-]"
        assert re.fullmatch(f"{first}[a-zA-Z0-9_-]{{0,63}}", function["name"]), function["name"]
        schema = function.get("parameters", function.get("input_schema"))
        hold_schema(format, schema) if schema is not None else None


def hold_schema(format, schema):
    if format == "gemini":
        hold_gemini(schema)
        assert schema["type"] == "OBJECT" and schema["properties"], schema
        keys = "[a-zA-Z_][a-zA-Z0-9_]{0,63}"
    else:
        assert schema["type"] == "object" and isinstance(schema["properties"], dict), schema
        assert not {"oneOf", "anyOf", "allOf", "enum", "not", "$ref", "$schema"} & set(schema), schema
        keys = "[a-zA-Z0-9_.-]{1,64}" if format == "anthropic" else ".+"
    for key in schema["properties"]:
        assert re.fullmatch(keys, key), key


def hold_gemini(schema):
    """Fields that the API's message has, and no others beside `anyOf`; types, and items of each array."""
    known = set(google.Schema.model_fields) | {field.alias for field in google.Schema.model_fields.values()}
    assert set(schema) <= known, schema
    if "anyOf" in schema:
        assert set(schema) == {"anyOf"}, schema
        for form in schema["anyOf"]:
            hold_gemini(form)
        return
    assert schema["type"] in {"STRING", "NUMBER", "INTEGER", "BOOLEAN", "ARRAY", "OBJECT"}, schema
    assert "items" in schema or schema["type"] != "ARRAY", schema
    assert set(schema.get("required", [])) <= set(schema.get("properties", {})), schema
    for inner in [schema["items"]] if "items" in schema else schema.get("properties", {}).values():
        hold_gemini(inner)


# ---- the scenes -----------------------------------------------------------------------------------


class Scene:
    """One session in the form of one API."""

    def __init__(self, toolgate, format):
        self.toolgate, self.format, self.answers = toolgate, format, []
        self.session = toolgate.agent.ok("POST", "/v1/sessions", {"tools": [CAMERA]}, 201)

    def post(self, body, status=200):
        path = f"/v1/sessions/{self.session['session_id']}/turns?format={self.format}"
        answer = self.toolgate.agent.ok("POST", path, body, status)
        if status == 200:
            hold_appended(self.format, appended(self.format, answer))
            self.answers.append(appended(self.format, answer))
        else:
            assert set(answer) == {"calls"}, answer
        return answer

    def play(self):
        pathlib.Path(self.session["workspace"], "a.txt").write_text("hello\n")
        tools = self.toolgate.agent.ok(
            "GET", f"/v1/sessions/{self.session['session_id']}/tools?format={self.format}"
        )["tools"]
        hold_tools(self.format, tools)
        self.parallel()
        self.paused()
        self.pictured()
        quiet = [self.post(body) for body in said(self.format, [])]
        assert all(appended(self.format, answer) == [] for answer in quiet), quiet
        report(f"{self.format}: {len(self.answers)} answers and {len(tools)} tools fit the library's types")
        return tools, self.answers

    def parallel(self):
        calls = [
            ("p1", "Read", {"file_path": "a.txt"}),
            ("p2", "Read", {"file_path": "none.txt"}),
            ("p3", "Bash", {"command": "curl example.com"}),
            ("p4", "Teleport", {"to": "the moon"}),
            ("p5", "Read", {"path": 7}),
        ]
        bodies = said(self.format, calls)
        answers = [self.post(body) for body in bodies]
        assert all(answer == answers[0] for answer in answers), "each form of the message is the same turn"
        statuses = [call["status"] for call in answers[0]["calls"]]
        assert statuses[0] == "completed" and statuses[2:] == ["denied", "failed", "failed"], statuses
        text = json.dumps(appended(self.format, answers[0]))
        for part in ["hello", "none.txt", "curl", "Teleport"]:
            assert part in text, f"{part}: {text}"

    def paused(self):
        body = said(self.format, [("w1", "Bash", {"command": "touch made && echo made"})])[0]
        call = self.post(body, 202)["calls"][0]
        assert call["status"] == "awaiting_approval", call
        decision = f"/v1/approvals/{call['approval_id']}/decision"
        self.toolgate.operator.ok("POST", decision, {"decision": "allow"})
        assert "made" in json.dumps(appended(self.format, self.post(body)))

    def pictured(self):
        body = said(self.format, [("c1", "camera", {"zoom": 1})])[0]
        call = self.post(body, 202)["calls"][0]
        assert call["status"] == "awaiting_result", call
        images = [{"media_type": "image/png", "data": PNG}, {"media_type": "image/x-raw", "data": PNG}]
        path = f"/v1/sessions/{self.session['session_id']}/calls/c1/result"
        self.toolgate.agent.ok("POST", path, {"result": {"result": "a door", "images": images}})
        assert PNG in json.dumps(appended(self.format, self.post(body)))


# ---- TypeScript -----------------------------------------------------------------------------------

TYPES = {
    "openai": ("OpenAI.Chat.ChatCompletionMessageParam[]", "OpenAI.Chat.ChatCompletionTool[]"),
    "openai-responses": ("OpenAI.Responses.ResponseInputItem[]", "OpenAI.Responses.FunctionTool[]"),
    "anthropic": ("Anthropic.MessageParam[]", "Anthropic.Tool[]"),
}


def compile_typescript(node, folder):
    """What the compiler says; nothing when all is well."""
    command = [node / "node_modules" / ".bin" / "tsc", "--project", folder / "tsconfig.json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
    assert bool(done.returncode) == bool(done.stdout.strip()), done.stderr
    return done.stdout


def typescript_folder(node, parent, name):
    folder = pathlib.Path(parent, name)
    folder.mkdir()
    shutil.copy(HERE / "tsconfig.json", folder)
    shutil.copy(HERE / "package.json", folder)
    (folder / "node_modules").symlink_to(node / "node_modules")
    return folder


def literals(played):
    lines = ['import type OpenAI from "openai";', 'import type Anthropic from "@anthropic-ai/sdk";']
    for format, (tools, answers) in played.items():
        if format not in TYPES:
            continue
        item_type, tool_type = TYPES[format]
        lines += [f"({json.dumps(items)}) satisfies {item_type};" for items in [*answers, []]]
        lines.append(f"({json.dumps(tools)}) satisfies {tool_type};")
    return "\n".join(lines) + "\n"


def check_typescript(played, node, scratch):
    folder = typescript_folder(node, scratch, "literals")
    good = literals(played)
    (folder / "answers.ts").write_text(good)
    said = compile_typescript(node, folder)
    assert not said, said
    for right, wrong in [('"role": "tool"', '"role": "tol"'), ('"tool_use_id"', '"tool_id"'),
                         ('"call_id"', '"calls_id"'), ('"image/png"', '"image/tiff"')]:
        assert right in good, right
        (folder / "answers.ts").write_text(good.replace(right, wrong, 1))
        assert compile_typescript(node, folder), f"the compiler takes {wrong}"
    report("TypeScript: every answer and every tool compiles as the library's type")


def check_strictness():
    """What is wrong is found: the checks above would fail."""
    for format, wrong in [
        ("openai", [{"role": "tool", "tool_call_id": "a", "content": [{"type": "image_url"}]}]),
        ("openai", [{"role": "tool", "tool_call_id": "a", "content": "x", "is_error": True}]),
        ("openai-responses", [{"type": "function_call_output", "call_id": "a", "output": [{"type": "text"}]}]),
        ("anthropic", [{"role": "user", "content": [{"type": "tool_result", "tool_call_id": "a"}]}]),
        ("gemini", [{"role": "user", "parts": [{"functionResponse": {"output": "x"}}]}]),
    ]:
        try:
            hold_appended(format, wrong)
        except ValidationError:
            continue
        raise AssertionError(f"{format} takes {wrong}")
    report("Python: what does not fit is found")


# ---- loops against the fake model -----------------------------------------------------------------

SCRIPT = [
    {
        "calls": [("Write", '{"file_path": "a.txt", "content": "hello\\n"}'), ("Glob", '{"pattern": "*"}')],
        "expect": [("a.txt", False), ("a.txt", False)],
    },
    {
        "calls": [("Read", '{"file_path": "a.txt"}'), ("Grep", '{"pattern": "hello"}'), ("Nope", "{}")],
        "expect": [("hello", False), ("a.txt", False), ("Nope", True)],
    },
    # Again the ids of the first step.
    {
        "calls": [("Bash", '{"command": "touch made; ls"}'), ("Bash", '{"command": "curl example.com"}')],
        "expect": [("made", False), ("curl", True)],
    },
    {"text": "There is a file that says hello."},
]


def play(toolgate, command, environment, what):
    """Runs a program that is a whole agent; the fake model is its model, a person allows what asks."""
    model, reviewer = FakeModel(SCRIPT), Reviewer(toolgate)
    reviewer.start()
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=PATIENCE, env=environment | {
                "TOOLGATE_URL": toolgate.url, "TOOLGATE_TOKEN": toolgate.agent_token,
                "OPENAI_BASE_URL": f"{model.url}/v1", "OPENAI_API_KEY": "none",
                "ANTHROPIC_BASE_URL": model.url, "ANTHROPIC_API_KEY": "none",
                "GOOGLE_GEMINI_BASE_URL": model.url, "GEMINI_API_KEY": "none", "MODEL": "fake",
            },
        )
    finally:
        reviewer.leave()
        model.close()
    said = f"{done.stdout}\n{done.stderr}"
    try:
        model.finished()
    except fake_model.Wrong as wrong:
        raise AssertionError(f"{what}: {wrong}\n{said}") from None
    assert done.returncode == 0, f"{what}: {said}"
    assert "There is a file that says hello." in done.stdout, f"{what}: {said}"
    assert reviewer.allowed >= 2, f"{what}: only {reviewer.allowed} calls asked"
    report(f"loop: {what}")


def blocks(page, language):
    """The blocks of a page that are marked to be run, by name."""
    found = re.findall(rf"<!-- run: (\S+) -->\n```{language}\n(.*?)```", page.read_text(), re.S)
    assert found, page
    return dict(found)


def check_events_block(toolgate, block, environment):
    """The page's command for events, on a session that has ended, so that the stream ends too."""
    session = toolgate.agent.ok("POST", "/v1/sessions", {}, 201)["session_id"]
    body = said("openai", [("e1", "Bash", {"command": "echo seen"})])[0]
    toolgate.agent.ok("POST", f"/v1/sessions/{session}/turns?turn=1", body)
    toolgate.agent.ok("DELETE", f"/v1/sessions/{session}")
    names = {"TOOLGATE_URL": toolgate.url, "TOOLGATE_TOKEN": toolgate.agent_token, "SID": session}
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", block], capture_output=True, text=True, timeout=PATIENCE,
        env=environment | names,
    )
    assert done.returncode == 0 and "tool_start" in done.stdout and "seen" in done.stdout, done
    report("docs/agent-loops.md events")


def check_loops(toolgate, node, scratch, environment):
    task = "Look around, and tell me what you see."
    play(toolgate, [sys.executable, REPO / "examples" / "loop_stdlib.py"], environment, "examples/loop_stdlib.py")
    for format in ["openai", "anthropic"]:
        command = [sys.executable, REPO / "examples" / "loop.py", format, task]
        play(toolgate, command, environment, f"examples/loop.py {format}")
    folder = typescript_folder(node, scratch, "loop")
    shutil.copy(REPO / "examples" / "loop.ts", folder)
    said = compile_typescript(node, folder)
    assert not said, said
    for format in ["openai", "anthropic"]:
        command = [node / "node_modules" / ".bin" / "tsx", folder / "loop.ts", format, task]
        play(toolgate, command, environment, f"examples/loop.ts {format}")
    page = REPO / "docs" / "agent-loops.md"
    parts = blocks(page, "python")
    check_events_block(toolgate, blocks(page, "sh")["events"], environment)
    first = parts.pop("gate")
    for name, block in parts.items():
        program = pathlib.Path(scratch, f"loop-{name}.py")
        program.write_text(first + "\n" + block)
        play(toolgate, [sys.executable, program], environment, f"docs/agent-loops.md {name}")


def main():
    import os

    binary, node = sys.argv[1], pathlib.Path(sys.argv[2])
    environment = {"PATH": os.environ["PATH"], "HOME": os.environ.get("HOME", "/")}
    check_strictness()
    rules = {"allow": ["camera"], "deny": ["Bash(curl *)"]}
    with Toolgate(binary, rules) as toolgate, tempfile.TemporaryDirectory() as scratch:
        played = {format: Scene(toolgate, format).play() for format in FORMATS}
        check_typescript(played, node, scratch)
        check_loops(toolgate, node, scratch, environment)
    print("all of it holds")


main()
