//! Every code of a problem: its status, what it means, and the answers that tell of it.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::reference;

/// One code.
#[derive(Debug)]
pub(super) struct Code {
    /// As in the answer.
    pub(super) name: &'static str,
    /// The answer's status.
    pub(super) status: u16,
    /// For who gets it.
    meaning: &'static str,
}

const fn code(status: u16, name: &'static str, meaning: &'static str) -> Code {
    Code { name, status, meaning }
}

/// All of them, by status.
const CODES: &[Code] = &[
    code(400, "invalid_json", "The body is not one JSON value in UTF-8."),
    code(400, "invalid_request", "The body does not fit; `errors` says where."),
    code(400, "invalid_query", "A query parameter is unknown, there twice, or out of its bounds."),
    code(400, "invalid_path", "A part of the path cannot be such an id."),
    code(400, "invalid_last_event_id", "`Last-Event-ID` is no event's id."),
    code(400, "host_required", "There is not exactly one `Host`."),
    code(400, "body_broken", "The body ended before it was complete."),
    code(400, "malformed_request", "The request's head is no HTTP/1.1."),
    code(401, "unauthenticated", "There is no token, or none that is known."),
    code(403, "operator_required", "This needs a token of role operator."),
    code(403, "agent_required", "A worker's token may not do this."),
    code(403, "worker_required", "This needs a token of role worker."),
    code(403, "host_decides", "Only the host that this server forwards its approvals to allows."),
    code(403, "host_not_allowed", "The `Host` is not the server's; see `server.allowed_hosts`."),
    code(403, "origin_not_allowed", "The `Origin` may not call; see `server.allowed_origins`."),
    code(403, "workspace_not_allowed", "The workspace lies under no root, or the token may not use it."),
    code(403, "exceeds_max_mode", "This is wider than `permissions.max_mode`."),
    code(403, "forbidden", "A session's own token may not do this."),
    code(404, "not_found", "There is no such thing, or it is someone else's."),
    code(404, "no_route", "There is no such path."),
    code(405, "method_not_allowed", "The path does not take this method; `Allow` says which it takes."),
    code(408, "body_timeout", "The body did not arrive in time."),
    code(409, "session_id_conflict", "The session id is taken by another body, or another token."),
    code(409, "session_ended", "The session takes nothing more."),
    code(409, "workspace_in_use", "The workspace is, holds or lies in one that another token uses."),
    code(409, "workspace_unavailable", "The session's workspace cannot be used any more."),
    code(409, "call_id_conflict", "The call id is taken by a call with another name or other arguments."),
    code(409, "ask_conflict", "The worker's ask id is taken by another ask."),
    code(409, "already_decided", "Another decision stands; `approval` has it."),
    code(409, "superseded", "What the approval was bound to changed; `approval` is the one that waits now."),
    code(409, "not_waiting", "The call does not wait for this."),
    code(413, "body_too_large", "The body has more bytes than this operation takes."),
    code(414, "uri_too_long", "The request's target is too long."),
    code(415, "unsupported_media_type", "The body is not sent as `application/json`."),
    code(416, "range_not_satisfiable", "The range lies outside the output; `Content-Range` has its size."),
    code(
        422,
        "config_invalid",
        "The config file is wrong; `errors` says where, and the last good one stays.",
    ),
    code(422, "not_offered", "The approval does not offer this scope or pattern."),
    code(422, "invalid_arguments", "The arguments do not fit the tool's schema."),
    code(422, "denied", "A rule denies what would run."),
    code(422, "cannot_run", "What would run cannot run."),
    code(422, "not_an_option", "The question takes only its options."),
    code(429, "too_many", "A bound of the token or the session is reached."),
    code(431, "head_too_large", "The request's head has too many fields or bytes."),
    code(500, "internal", "The server failed; its log has the `request_id`."),
    code(503, "overloaded", "The server has as many requests as it takes."),
    code(503, "too_many_streams", "The server has as many event streams as it takes."),
    code(503, "busy", "The store is behind; nothing of the request was done."),
    code(503, "shutting_down", "The server is going down."),
];

/// A code by its name.
pub(super) fn find(name: &str) -> Option<&'static Code> {
    CODES.iter().find(|code| code.name == name)
}

/// The answers that tell of these codes, by status.
pub(super) fn answers(codes: &[&'static Code]) -> BTreeMap<u16, Value> {
    let mut by_status = BTreeMap::<u16, Vec<&Code>>::new();
    for code in CODES.iter().filter(|code| codes.iter().any(|wanted| wanted.name == code.name)) {
        by_status.entry(code.status).or_default().push(code);
    }
    by_status.into_iter().map(|(status, codes)| (status, answer(status, &codes))).collect()
}

fn answer(status: u16, codes: &[&Code]) -> Value {
    let names: Vec<&str> = codes.iter().map(|code| code.name).collect();
    let lines: Vec<String> = codes.iter().map(|code| format!("`{}`: {}", code.name, code.meaning)).collect();
    let mut answer = json!({
        "description": lines.join("\n\n"),
        "content": {"application/problem+json": {"schema": {"allOf": [
            {"$ref": reference("Problem")},
            {"type": "object", "properties": {"status": {"const": status}, "code": {"enum": names}}},
        ]}}},
    });
    let more = match status {
        401 => "www-authenticate",
        416 => "content-range",
        429 | 503 => "retry-after",
        _ => return answer,
    };
    answer["headers"][more] = json!({"$ref": format!("#/components/headers/{more}")});
    answer
}

/// The schema of every problem.
pub(super) fn schema() -> Value {
    json!({
        "type": "object",
        "description": "Why a request was refused (RFC 9457).",
        "required": ["type", "title", "status", "detail", "code", "request_id"],
        "properties": {
            "type": {"type": "string", "format": "uri", "description": "`urn:toolgate:problem:` and the code"},
            "title": {"type": "string", "description": "The status in words"},
            "status": {"type": "integer", "minimum": 400, "maximum": 599},
            "detail": {"type": "string", "description": "What is wrong and what would be right, for a person"},
            "code": {"$ref": reference("ProblemCode")},
            "request_id": {"type": "string", "description": "The answer's `x-request-id`, as in the server's log"},
            "errors": {
                "type": "array",
                "description": "What is wrong with which field",
                "items": {
                    "type": "object",
                    "required": ["pointer", "message"],
                    "properties": {
                        "pointer": {"type": "string", "description": "A JSON pointer (RFC 6901)"},
                        "message": {"type": "string"},
                    },
                },
            },
            "approval": {
                "$ref": reference("Approval"),
                "description": "With `already_decided` and `superseded`: the approval that stands",
            },
        },
        "example": {
            "type": "urn:toolgate:problem:not_found",
            "title": "Not Found",
            "status": 404,
            "detail": "there is no such session",
            "code": "not_found",
            "request_id": "req_019a8f6e5d7c7b5e8f1d2c3b4a596877",
        },
    })
}

/// The schema of all codes, each with its status and meaning.
pub(super) fn code_schema() -> Value {
    let names: Vec<&str> = CODES.iter().map(|code| code.name).collect();
    let meanings = CODES.iter().map(|code| {
        let meaning = json!({"status": code.status, "meaning": code.meaning});
        (code.name.to_owned(), meaning)
    });
    json!({
        "type": "string",
        "description": "The stable code of a problem, for programs; a later version may have more.",
        "enum": names,
        "x-codes": meanings.collect::<Value>(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_told_once_and_by_status() {
        assert!(CODES.is_sorted_by_key(|code| code.status));
        let mut names: Vec<_> = CODES.iter().map(|code| code.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), CODES.len(), "a code stands for one thing");
    }
}
