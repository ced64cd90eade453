#!/usr/bin/env python3
"""A whole agent: a model, its tools behind Toolgate's gate, and the loop between them.

  export TOOLGATE_URL=http://127.0.0.1:8765 TOOLGATE_TOKEN=…
  OPENAI_API_KEY=… loop.py openai "Which files here have no tests?"
  ANTHROPIC_API_KEY=… loop.py anthropic "Which files here have no tests?"

It needs `pip install openai anthropic`. MODEL names another model.
"""

import json
import os
import sys
import urllib.request


def gate(path, body=None):
    """Asks Toolgate: a POST where there is a body, else a GET."""
    headers = {"Authorization": "Bearer " + os.environ["TOOLGATE_TOKEN"], "Content-Type": "application/json"}
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(os.environ["TOOLGATE_URL"] + path, data, headers)
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


def run(session, api, turn, said):
    """Runs what the model called. Where a person has to decide, the same request again waits for it."""
    path = f"/v1/sessions/{session}/turns?format={api}&turn={turn}&wait_ms=30000"
    while "messages" not in (answer := gate(path, said)):
        print("waiting for a person to decide", file=sys.stderr)
    return answer["messages"]


def openai_loop(session, tools, messages):
    from openai import OpenAI

    client, model = OpenAI(), os.environ.get("MODEL", "gpt-5.5")
    while True:
        answer = client.chat.completions.create(model=model, messages=messages, tools=tools)
        messages.append(answer.choices[0].message.model_dump(mode="json", exclude_none=True))
        results = run(session, "openai", len(messages), messages[-1])
        if not results:
            return messages[-1]["content"]
        messages += results


def anthropic_loop(session, tools, messages):
    from anthropic import Anthropic

    client, model = Anthropic(), os.environ.get("MODEL", "claude-sonnet-4-5")
    while True:
        answer = client.messages.create(model=model, max_tokens=8192, messages=messages, tools=tools)
        content = [block.model_dump(mode="json", exclude_none=True) for block in answer.content]
        messages.append({"role": "assistant", "content": content})
        results = run(session, "anthropic", len(messages), messages[-1])
        if not results:
            return "".join(block["text"] for block in content if block["type"] == "text")
        messages += results


def main():
    api, task = sys.argv[1:]
    loop = {"openai": openai_loop, "anthropic": anthropic_loop}[api]
    session = gate("/v1/sessions", {"labels": {"task": task[:60]}})["session_id"]
    tools = gate(f"/v1/sessions/{session}/tools?format={api}")["tools"]
    print(loop(session, tools, [{"role": "user", "content": task}]))


main()
