"""Makes what schemathesis invents reach deep, and end soon.

Generated ids name nothing, so part of them is replaced by ids of things that are there. Nothing is
kept from being wrong: a value that does not fit stays as it was made.
"""

import json
import os
import re

import hypothesis.internal.lambda_sources
import schemathesis

# Texts for people about strategies, which nobody reads: making them runs into a fault of CPython 3.11
# (SystemError: AST constructor recursion depth mismatch) where strategies are nested deep.
hypothesis.internal.lambda_sources.lambda_description = lambda function: "lambda"

SUBJECTS = json.loads(os.environ["OPENAPI_SUBJECTS"])
WAIT_MS_MOST = 50
NAME_BYTES_MOST = 1024
SESSION_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")

# What reads, asks, changes and fails; Bash is denied by the server's config, so that nothing
# invented is run as a command.
CALLS = [
    ("Glob", {"pattern": "**/*"}),
    ("Read", {"file_path": "README.md"}),
    ("Grep", {"pattern": "a+", "output_mode": "content"}),
    ("Write", {"file_path": "made.txt", "content": "made\n"}),
    ("AskUser", {"question": "Which one?", "options": ["a", "b"]}),
    ("Bash", {"command": "true"}),
    ("open_ticket", {"title": "broken"}),
]


def pick(text, choices):
    """One of the choices, by what was generated, so that a seed gives the same run again."""
    return choices[sum(text.encode("utf-8", "surrogatepass")) % len(choices)]


def real(name, value, operation_id):
    """An id of something that is there, in place of half of those that could be one."""
    known = SUBJECTS.get(name)
    if not known or not isinstance(value, str) or not value:
        return value
    if name == "sid" and (operation_id == "endSession" or not SESSION_ID.fullmatch(value)):
        return value
    return pick(value, [value] + known)


@schemathesis.hook
def map_path_parameters(context, path_parameters):
    if not isinstance(path_parameters, dict):
        return path_parameters
    operation_id = context.operation.definition.raw.get("operationId")
    return {name: real(name, value, operation_id) for name, value in path_parameters.items()}


@schemathesis.hook
def map_body(context, body):
    """A call of a tool that exists, in place of most that do not."""
    if not isinstance(body, dict):
        return body
    calls = body["calls"] if isinstance(body.get("calls"), list) else [body]
    for call in calls:
        function = call.get("function") if isinstance(call, dict) else None
        name = function.get("name") if isinstance(function, dict) else None
        if isinstance(name, str) and 0 < len(name.encode("utf-8", "surrogatepass")) <= NAME_BYTES_MOST:
            chosen = pick(name, CALLS + [None])
            arguments = function.get("arguments", "")
            if chosen and isinstance(arguments, (str, dict)):
                function["name"], known = chosen
                function["arguments"] = json.dumps(known) if isinstance(arguments, str) else known
    return body


@schemathesis.hook
def before_call(context, case, kwargs):
    query = case.query if isinstance(case.query, dict) else {}
    wait = query.get("wait_ms")
    # A wait that is refused stays as it is; the others end soon.
    if isinstance(wait, int) and not isinstance(wait, bool) and WAIT_MS_MOST < wait <= 300_000:
        query["wait_ms"] = WAIT_MS_MOST
    elif isinstance(wait, str) and wait.isdigit() and WAIT_MS_MOST < int(wait) <= 300_000:
        query["wait_ms"] = str(WAIT_MS_MOST)
    operation_id = case.operation.definition.raw.get("operationId")
    if operation_id in ("createCall", "createCallBatch") and "wait_ms" not in query:
        # By itself it would wait for half a minute behind a batch that waits for a person.
        case.query = {**query, "wait_ms": WAIT_MS_MOST} if isinstance(case.query, dict) else case.query
