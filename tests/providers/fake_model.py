#!/usr/bin/env python3
"""A model of four APIs that plays a scripted conversation, and holds each request against its API's rules.

A script is a list of steps. A step says something, or calls tools: `{"calls": [(name, arguments), …]}` in
parallel, with what the result of each has to be in the next request: `{"expect": [(text, failed), …]}`.
Ids are used again in each step, as some models do, and Google's are left out.

The request has to be what the API's own library calls valid, go on from the one before, and answer each
call of the step before, in order: else the model answers 400, remembers why, and the conversation is over.
"""

import json
import threading
from collections.abc import Iterable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from anthropic.types.message_create_params import MessageCreateParamsNonStreaming
from google.genai import types as google
from openai.types.chat.completion_create_params import CompletionCreateParamsNonStreaming
from openai.types.responses.response_create_params import ResponseCreateParamsNonStreaming
from pydantic import ConfigDict, TypeAdapter

STRICT = ConfigDict(extra="forbid", strict=True, arbitrary_types_allowed=True)


def valid(kind, values):
    """Raises unless the values are of the library's type, to their last field. Pydantic looks into `Iterable`
    only when it is iterated, so that is done."""

    def walk(value):
        if isinstance(value, dict):
            for inner in value.values():
                walk(inner)
        elif isinstance(value, Iterable) and not isinstance(value, (str, bytes)):
            for inner in value:
                walk(inner)

    adapter = TypeAdapter(list[kind], config=STRICT)  # it has to outlive the iterators that it makes
    walk(adapter.validate_python(values))


class Wrong(Exception):
    """A request that the API would refuse, or that is not what the script expects."""


def hold(condition, what):
    if not condition:
        raise Wrong(what)


def text_of(content):
    """The text of a string or of a list of parts."""
    if isinstance(content, str):
        return content
    return "".join(part.get("text", "") for part in content or [])


class ChatCompletions:
    """OpenAI's chat completions."""

    path = "/chat/completions"

    def check(self, body):
        valid(CompletionCreateParamsNonStreaming, [body])

    def history(self, body):
        return body["messages"]

    def say(self, step, calls):
        message = {"role": "assistant", "content": step.get("text"), "refusal": None}
        if calls:
            message["tool_calls"] = [
                {"id": id, "type": "function", "function": {"name": name, "arguments": text}}
                for id, name, text in calls
            ]
        choice = {"index": 0, "message": message, "logprobs": None}
        choice["finish_reason"] = "tool_calls" if calls else "stop"
        return {
            "id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "fake", "choices": [choice],
            "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
        }

    def results(self, added, calls):
        """The results of the calls in what was added to the conversation after the model's message."""
        hold(added and added[0]["role"] == "assistant", "the model's message is not there")
        tools = added[1 : 1 + len(calls)]
        hold([m["role"] for m in tools] == ["tool"] * len(calls), "each call has a message of role tool")
        hold([m["tool_call_id"] for m in tools] == [id for id, _, _ in calls], "the ids are the calls'")
        hold(all(m["role"] == "user" for m in added[1 + len(calls) :]), "only the user's messages follow")
        return [(text_of(m["content"]), None) for m in tools]


class Responses:
    """OpenAI's responses."""

    path = "/responses"

    def check(self, body):
        valid(ResponseCreateParamsNonStreaming, [body])

    def history(self, body):
        return body["input"]

    def say(self, step, calls):
        output = [{"type": "reasoning", "id": "rs_1", "summary": []}]
        for id, name, text in calls:
            call = {"type": "function_call", "id": f"fc_{id}", "call_id": id, "name": name, "arguments": text}
            output.append({**call, "status": "completed"})
        if step.get("text"):
            text = {"type": "output_text", "text": step["text"], "annotations": [], "logprobs": []}
            message = {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed"}
            output.append({**message, "content": [text]})
        return {
            "id": "resp_1", "object": "response", "created_at": 1, "model": "fake", "status": "completed",
            "output": output, "error": None, "incomplete_details": None, "instructions": None, "metadata": {},
            "parallel_tool_calls": True, "temperature": 1, "top_p": 1, "tool_choice": "auto", "tools": [],
        }

    def results(self, added, calls):
        kinds = [item["type"] for item in added]
        hold(kinds[: 1 + len(calls)] == ["reasoning"] + ["function_call"] * len(calls), f"the items: {kinds}")
        outputs = added[1 + len(calls) :]
        hold([item["type"] for item in outputs] == ["function_call_output"] * len(calls), "an output a call")
        hold([item["call_id"] for item in outputs] == [id for id, _, _ in calls], "the ids are the calls'")
        return [(text_of(item["output"]), None) for item in outputs]


class Messages:
    """Anthropic's messages."""

    path = "/messages"

    def check(self, body):
        valid(MessageCreateParamsNonStreaming, [body])
        roles = [message["role"] for message in body["messages"]]
        hold(roles == ["user", "assistant"] * (len(roles) // 2) + ["user"], f"roles take turns: {roles}")

    def history(self, body):
        return body["messages"]

    def say(self, step, calls):
        content = [{"type": "text", "text": step.get("text", "I will look."), "citations": None}]
        for id, name, text in calls:
            content.append({"type": "tool_use", "id": id, "name": name, "input": json.loads(text)})
        return {
            "id": "msg_1", "type": "message", "role": "assistant", "model": "fake", "content": content,
            "stop_reason": "tool_use" if calls else "end_turn", "stop_sequence": None,
            "usage": {"input_tokens": 1, "output_tokens": 1},
        }

    def results(self, added, calls):
        hold([message["role"] for message in added] == ["assistant", "user"], "the results are one message")
        blocks = added[1]["content"]
        hold([block["type"] for block in blocks] == ["tool_result"] * len(calls), "a result a call")
        hold([block["tool_use_id"] for block in blocks] == [id for id, _, _ in calls], "the ids are the calls'")
        return [(text_of(block.get("content")), block.get("is_error", False)) for block in blocks]


class GenerateContent:
    """Google's generateContent."""

    path = "/models/fake:generateContent"

    def check(self, body):
        known = {"contents", "tools", "generationConfig", "systemInstruction", "toolConfig"}
        hold(not set(body) - known, f"unknown fields: {sorted(set(body) - known)}")
        for content in body["contents"]:
            google.Content.model_validate(content)
        for tool in body.get("tools", []):
            google.Tool.model_validate(tool)

    def history(self, body):
        return body["contents"]

    def say(self, step, calls):
        parts = [{"text": step["text"]}] if step.get("text") else []
        for _, name, text in calls:
            parts.append({"functionCall": {"name": name, "args": json.loads(text)}, "thoughtSignature": "c2ln"})
        candidate = {"content": {"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0}
        return {"candidates": [candidate], "modelVersion": "fake", "usageMetadata": {"totalTokenCount": 1}}

    def results(self, added, calls):
        hold([content["role"] for content in added] == ["model", "user"], "the responses are one content")
        responses = [part["functionResponse"] for part in added[1]["parts"]]
        hold([response["name"] for response in responses] == [name for _, name, _ in calls], "the calls' names")
        hold(not any(response.get("id") for response in responses), "ids that nobody gave")
        told = [response["response"] for response in responses]
        return [(response.get("output", response.get("error")), "error" in response) for response in told]


APIS = [ChatCompletions(), Responses(), Messages(), GenerateContent()]


class FakeModel:
    """One conversation, served until `close`."""

    def __init__(self, script):
        self.script = script
        self.step = 0
        self.history = []
        self.calls = []
        self.wrong = None
        self.lock = threading.Lock()
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), self.handler())
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()

    def finished(self):
        """Raises unless the whole script was played."""
        hold(self.wrong is None, f"step {self.step}: {self.wrong}")
        hold(self.step == len(self.script), f"it ended at step {self.step} of {len(self.script)}")

    def answer(self, api, body):
        hold(self.step < len(self.script), "the conversation was over")
        api.check(body)
        history = api.history(body)
        hold(history[: len(self.history)] == self.history, "the conversation does not go on from the last request")
        if self.calls:
            results = api.results(history[len(self.history) :], self.calls)
            expected = self.script[self.step - 1]["expect"]
            for (_, name, _), (text, failed), (part, fails) in zip(self.calls, results, expected, strict=True):
                hold(part in text, f"the result of {name} has no {part!r}: {text!r}")
                hold(failed is None or failed == fails, f"the result of {name} is told as {failed}: {text!r}")
        step = self.script[self.step]
        self.step += 1
        self.history = history
        self.calls = [(f"call_{n}", name, text) for n, (name, text) in enumerate(step.get("calls", []))]
        return api.say(step, self.calls)

    def handler(model):  # noqa: N805: the handler has a self of its own
        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                raw = self.rfile.read(int(self.headers.get("content-length", 0)))
                with model.lock:
                    try:
                        api = next((api for api in APIS if self.path.split("?")[0].endswith(api.path)), None)
                        hold(api, f"no such path: {self.path}")
                        status, body = 200, model.answer(api, json.loads(raw))
                    except Exception as error:  # whatever it is, the conversation is over
                        model.wrong = model.wrong or f"{type(error).__name__}: {error}"
                        status, body = 400, {"error": {"type": "invalid_request_error", "message": str(error)}}
                data = json.dumps(body).encode()
                self.send_response(status)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_):
                pass

        return Handler
