//! Every way in which a request can be wrong, on every route: status, code and shape.

use std::collections::BTreeSet;

use reqwest::Method;
use serde_json::{Value, json};

use crate::approvals::forwarded::{TOKEN, host_with};
use crate::support::contract::operations;
use crate::support::raw::exchange;
use crate::support::server::SECOND_AGENT;
use crate::support::{Answer, Client, TestServer, TestSession};

/// The least role that may call.
#[derive(Clone, Copy, PartialEq)]
enum Role {
    Nobody,
    Agent,
    Operator,
    Worker,
}

/// What a route takes in its query, each with values that are wrong.
type Query = &'static [(&'static str, &'static [&'static str])];

struct Route {
    method: Method,
    /// With `{sid}`, `{cid}`, `{aid}`, `{gid}`.
    path: &'static str,
    role: Role,
    query: Query,
    /// A body that is right, and whether more fields may stand in it.
    body: Option<(&'static str, Fields)>,
}

#[derive(Clone, Copy, PartialEq)]
enum Fields {
    Known,
    /// A model's call comes as its API sent it, with whatever else that says.
    Any,
    /// So does what a model said, which may be a list.
    AnyOrList,
}

const LIST: Query =
    &[("limit", &["0", "1001", "-1", "x", ""]), ("cursor", &["x", "1.5", "-1", "1234567890123456789"])];
const CALL: Query = &[("wait_ms", &["300001", "-1", "x", "1.5"]), ("turn", &["", "%01"])];
const TURN: Query = &[("turn", &["", "%01"]), ("wait_ms", &["0", "1000"])];
const EVENTS: Query = &[
    ("after", &["-1", "x", "1.5", "9223372036854775808"]),
    ("types", &["tool_stop", "tool_start,tool_stop"]),
    ("turn", &["t"]),
    ("limit", &["0", "1001", "x"]),
    ("wait_ms", &["300001", "x"]),
    ("call_id", &["", "%01"]),
];
const APPROVALS: Query = &[
    ("limit", &["0", "1001", "x"]),
    ("cursor", &["x"]),
    ("status", &["waiting", "PENDING", ""]),
    ("fold", &["yes", "1", ""]),
];
const AUDIT: Query = &[
    ("limit", &["0", "1001", "x"]),
    ("cursor", &["x", "-1"]),
    ("kind", &["VERDICT", "x", ""]),
    ("decision", &["allowed", ""]),
    ("since", &["yesterday", "2026-01-01", ""]),
    ("until", &["x"]),
];
const FORMAT: Query = &[("format", &["openai2", "OPENAI", ""])];
const TURNS: Query =
    &[("format", &["mcp", "OPENAI", ""]), ("wait_ms", &["300001", "-1", "x", "1.5"]), ("turn", &["", "%01"])];
const TURN_BODY: &str =
    r#"{"tool_calls":[{"id":"new","function":{"name":"Glob","arguments":"{\"pattern\":\"*\"}"}}]}"#;
const CALL_BODY: &str = r#"{"id":"new","function":{"name":"Glob","arguments":"{\"pattern\":\"*\"}"}}"#;
const ASK_BODY: &str = r#"{"worker":"w","session_id":"s","call_id":"c","tool_name":"Bash","arguments":{},"digest":"0000000000000000000000000000000000000000000000000000000000000000","reason":{"text":"r"},"cwd":"/","sandbox":"none","display":"d","expires_in_s":60}"#;
const BATCH_BODY: &str =
    r#"{"calls":[{"id":"new","function":{"name":"Glob","arguments":"{\"pattern\":\"*\"}"}}]}"#;

fn routes() -> Vec<Route> {
    use Role::{Agent, Nobody, Operator, Worker};
    let get = |path, role, query| Route { method: Method::GET, path, role, query, body: None };
    let delete = |path, role| Route { method: Method::DELETE, path, role, query: &[], body: None };
    let post = |path, role, query, body, fields| Route {
        method: Method::POST,
        path,
        role,
        query,
        body: Some((body, fields)),
    };
    let call = |rest: &'static str, role, body| post(rest, role, TURN, body, Fields::Known);
    vec![
        post("/v1/sessions", Agent, &[], "{}", Fields::Known),
        get("/v1/sessions", Agent, LIST),
        get("/v1/sessions/{sid}", Agent, &[]),
        delete("/v1/sessions/{sid}", Agent),
        get("/v1/sessions/{sid}/runtime", Agent, &[]),
        Route {
            method: Method::PATCH,
            path: "/v1/sessions/{sid}/runtime",
            role: Operator,
            query: &[],
            body: Some(("{}", Fields::Known)),
        },
        get("/v1/sessions/{sid}/tools", Agent, FORMAT),
        get("/v1/sessions/{sid}/guidance", Agent, &[]),
        get("/v1/sessions/{sid}/todos", Agent, &[]),
        post("/v1/sessions/{sid}/calls", Agent, CALL, CALL_BODY, Fields::Any),
        get("/v1/sessions/{sid}/calls", Agent, LIST),
        post("/v1/sessions/{sid}/calls/batch", Agent, CALL, BATCH_BODY, Fields::Known),
        post("/v1/sessions/{sid}/turns", Agent, TURNS, TURN_BODY, Fields::AnyOrList),
        get("/v1/sessions/{sid}/calls/{cid}", Agent, CALL),
        Route {
            method: Method::POST,
            path: "/v1/sessions/{sid}/calls/{cid}/cancel",
            role: Agent,
            query: TURN,
            body: None,
        },
        get("/v1/sessions/{sid}/calls/{cid}/output", Agent, TURN),
        call("/v1/sessions/{sid}/calls/{cid}/answer", Operator, r#"{"answer":"x"}"#),
        call("/v1/sessions/{sid}/calls/{cid}/result", Agent, r#"{"result":"x"}"#),
        get("/v1/sessions/{sid}/events", Agent, EVENTS),
        get("/v1/events", Operator, EVENTS),
        get("/v1/approvals", Operator, APPROVALS),
        get("/v1/approvals/{aid}", Operator, &[]),
        post("/v1/approvals/{aid}/decision", Operator, &[], r#"{"decision":"deny"}"#, Fields::Known),
        Route {
            method: Method::PUT,
            path: "/v1/worker/approvals/{ask}",
            role: Worker,
            query: &[],
            body: Some((ASK_BODY, Fields::Known)),
        },
        get("/v1/worker/approvals/{ask}", Worker, &[("wait_ms", &["300001", "-1", "x", "1.5"])]),
        delete("/v1/worker/approvals/{ask}", Worker),
        get("/v1/grants", Operator, LIST),
        delete("/v1/grants/{gid}", Operator),
        post("/v1/permissions/explain", Agent, &[], r#"{"call":"Bash(ls)"}"#, Fields::Known),
        get("/v1/audit", Operator, AUDIT),
        get("/v1/info", Agent, &[]),
        get("/v1/config", Operator, &[]),
        Route { method: Method::POST, path: "/v1/config/reload", role: Operator, query: &[], body: None },
        get("/healthz", Nobody, &[]),
        get("/readyz", Nobody, &[]),
        get("/metrics", Nobody, &[]),
        get("/openapi.json", Nobody, &[]),
    ]
}

/// A server with a session, a call that waits and its approval, and what a path needs of them.
struct Bench {
    server: TestServer,
    session: TestSession,
    foreign: TestSession,
    approval: String,
}

impl Bench {
    async fn new() -> Self {
        let server = host_with(&json!({}));
        let session = server.session().await;
        let asked: Value = serde_json::from_str(ASK_BODY).unwrap();
        server.with_token(TOKEN).put("/v1/worker/approvals/ask", &asked).await.expect(201);
        let approval = session.asks("c", "Bash", json!({"command": "touch x"})).await;
        let foreign = TestSession::create(&server.with_token(SECOND_AGENT), &json!({})).await;
        Self { server, session, foreign, approval }
    }

    /// A path in which everything exists, but for grants.
    fn path(&self, route: &Route) -> String {
        let path = route.path.replace("{sid}", &self.session.id).replace("{cid}", "c");
        path.replace("{aid}", &self.approval).replace("{gid}", "grt_none").replace("{ask}", "ask")
    }

    /// A client that may call the route.
    fn client(&self, route: &Route) -> Client {
        match route.role {
            Role::Nobody => self.server.anonymous(),
            Role::Agent => self.server.agent(),
            Role::Operator => self.server.operator(),
            Role::Worker => self.server.with_token(TOKEN),
        }
    }

    /// The route as it should be called, but for the path's query.
    async fn send(&self, client: &Client, route: &Route, path: &str) -> Answer {
        let mut request = client.request(route.method.clone(), path).header("Accept", "application/json");
        if let Some((body, _)) = route.body {
            request = request.header("Content-Type", "application/json").body(body);
        }
        Answer::of(request).await
    }

    async fn send_body(&self, route: &Route, content_type: &str, body: String) -> Answer {
        let request = self.client(route).request(route.method.clone(), &self.path(route));
        Answer::of(request.header("Content-Type", content_type).body(body)).await
    }
}

#[tokio::test]
async fn no_token_and_a_wrong_token() {
    let bench = Bench::new().await;
    for route in routes().iter().filter(|route| route.role != Role::Nobody) {
        let path = bench.path(route);
        let anonymous = bench.server.anonymous();
        bench.send(&anonymous, route, &path).await.problem(401, "unauthenticated");
        let wrong = bench.server.with_token("tgt_operator_0000000000000000000000000000000000");
        bench.send(&wrong, route, &path).await.problem(401, "unauthenticated");
        // What does not exist is not told to who has no token.
        let missing = route.path.replace("{sid}", "none").replace("{cid}", "none");
        bench.send(&anonymous, route, &missing).await.problem(401, "unauthenticated");
    }
}

#[tokio::test]
async fn a_role_that_is_not_enough() {
    let bench = Bench::new().await;
    let (agent, session) = (bench.server.agent(), bench.server.with_token(&bench.session.token));
    let (operator, worker) = (bench.server.operator(), bench.server.with_token(TOKEN));
    for route in &routes() {
        let (clients, code) = match route.role {
            Role::Nobody => continue,
            Role::Agent => (vec![&worker], "agent_required"),
            Role::Operator => (vec![&agent, &session, &worker], "operator_required"),
            Role::Worker => (vec![&agent, &session, &operator], "worker_required"),
        };
        for client in clients {
            bench.send(client, route, &bench.path(route)).await.problem(403, code);
        }
    }
    let ask = worker.get("/v1/worker/approvals/ask").await.expect(200);
    assert_eq!(ask["status"], "pending");
    assert_eq!(bench.server.operator().approval(&bench.approval).await["status"], "pending");
}

#[tokio::test]
async fn a_method_that_a_route_does_not_take() {
    let bench = Bench::new().await;
    let all = routes();
    let paths: BTreeSet<_> = all.iter().map(|route| route.path).collect();
    for path in paths {
        let taken: Vec<_> = all.iter().filter(|route| route.path == path).collect();
        for method in [Method::GET, Method::POST, Method::PUT, Method::PATCH, Method::DELETE, Method::OPTIONS]
        {
            // A name among the calls is a call's id for who only reads.
            let is_taken = taken.iter().any(|route| route.method == method)
                || (path.ends_with("/batch") && method == Method::GET);
            if is_taken {
                continue;
            }
            let request = bench.server.operator().request(method.clone(), &bench.path(taken[0]));
            let answer = Answer::of(request).await;
            answer.problem(405, "method_not_allowed");
            assert!(!answer.header("allow").is_empty(), "RFC 9110, section 15.5.6: {method} {path}");
        }
    }
    for path in
        ["/", "/v1", "/v1/", "/v2/sessions", "/v1/session", "/v1/sessions/", "/V1/sessions", "/v1//sessions"]
    {
        bench.server.operator().get(path).await.problem(404, "no_route");
    }
}

#[tokio::test]
async fn a_body_that_is_wrong() {
    let bench = Bench::new().await;
    for route in &routes() {
        let Some((body, fields)) = route.body else { continue };
        for broken in ["", "{", "not json", "\u{feff}{}", "'{}'"] {
            let answer = bench.send_body(route, "application/json", broken.to_owned()).await;
            answer.problem(400, "invalid_json");
        }
        let answer = bench.send_body(route, "application/json", format!("{body} {{}}")).await;
        answer.problem(400, "invalid_json");
        let unfit = ["[]", "7", "null", "\"text\""].into_iter();
        for unfit in unfit.skip(usize::from(fields == Fields::AnyOrList)) {
            let answer = bench.send_body(route, "application/json", unfit.to_owned()).await;
            answer.problem(400, "invalid_request");
        }
        for kind in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"] {
            let answer = bench.send_body(route, kind, body.to_owned()).await;
            answer.problem(415, "unsupported_media_type");
        }
        if fields == Fields::Known {
            let more = body.replacen('{', "{\"approved\":true,", 1).replace(",}", "}");
            let answer = bench.send_body(route, "application/json", more).await;
            let problem = answer.problem(400, "invalid_request");
            let message = problem["errors"][0]["message"].as_str().unwrap();
            assert!(message.contains("approved"), "{} {problem}", route.path);
        }
        // Only its head is sent: a client that goes on sending may not see the answer.
        let head = format!(
            "{} {} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\nContent-Length: {}\r\n\r\n",
            route.method,
            bench.path(route),
            bench.server.address,
            match route.role {
                Role::Operator => bench.server.token("operator"),
                Role::Worker => TOKEN.to_owned(),
                Role::Agent | Role::Nobody => bench.server.token("agent"),
            },
            32 * 1024 * 1024 + 1
        );
        let answer = exchange(bench.server.address, head.as_bytes()).await;
        assert!(answer.status == 413 && answer.text.contains("\"body_too_large\""), "{}", answer.text);
        let invalid_utf8 = bench.client(route).request(route.method.clone(), &bench.path(route));
        let invalid_utf8 =
            invalid_utf8.header("Content-Type", "application/json").body(b"{\"\xff\":1}".to_vec());
        assert_eq!(Answer::of(invalid_utf8).await.status, 400, "{}", route.path);
    }
    assert_eq!(bench.server.operator().approval(&bench.approval).await["status"], "pending");
    bench.server.agent().get(&bench.session.call_path("new", "")).await.problem(404, "not_found");
}

#[tokio::test]
async fn a_list_in_the_place_of_an_object() {
    // A list would be taken as the fields in their order, which nobody means.
    let bench = Bench::new().await;
    for (path, body, pointer) in [
        ("/v1/sessions".to_owned(), json!({"runtime": [null, null]}), "/runtime"),
        ("/v1/sessions".to_owned(), json!({"tools": [["t", "d", {}, "client"]]}), "/tools/0"),
        (bench.session.path("/calls"), json!({"function": ["Glob", "{}"]}), "/function"),
        (bench.session.path("/calls/batch"), json!({"calls": [["n", "function"]]}), "/calls/0"),
        (bench.session.call_path("c", "/result"), json!({"result": [true, "done"]}), "/result"),
    ] {
        let problem = bench.server.agent().post(&path, &body).await.problem(400, "invalid_request");
        assert_eq!(problem["errors"][0]["pointer"], pointer, "{body}: {problem}");
    }
}

#[tokio::test]
async fn a_query_that_is_wrong() {
    let bench = Bench::new().await;
    for route in routes().iter().filter(|route| route.role != Role::Nobody) {
        let (client, path) = (bench.client(route), bench.path(route));
        for (key, values) in route.query {
            for value in *values {
                let answer = bench.send(&client, route, &format!("{path}?{key}={value}")).await;
                assert_eq!(answer.status, 400, "{} {path}?{key}={value}: {}", route.method, answer.text());
                let problem: Value = serde_json::from_slice(&answer.bytes).unwrap();
                let code = problem["code"].as_str().unwrap();
                assert!(code.starts_with("invalid_"), "{path}?{key}={value}: {problem}");
                answer.problem(400, code);
            }
            let twice = format!("{path}?{key}=1&{key}=1");
            bench.send(&client, route, &twice).await.problem(400, "invalid_query");
        }
        for unknown in ["?approved=true", "?WAIT_MS=1", "?limit[]=1"] {
            let answer = bench.send(&client, route, &format!("{path}{unknown}")).await;
            assert_eq!(answer.status, 400, "{} {path}{unknown}: {}", route.method, answer.text());
            answer.problem(400, "invalid_query");
        }
    }
    assert_eq!(bench.session.current("c").await["status"], "awaiting_approval");
}

#[tokio::test]
async fn an_id_that_nobody_has() {
    let bench = Bench::new().await;
    for route in &routes() {
        let client = bench.client(route);
        for id in ["{sid}", "{cid}", "{aid}", "{gid}", "{ask}"] {
            if !route.path.contains(id) {
                continue;
            }
            for unknown in ["none", "..%2f..", "%00", "a%20b", "%ff", &"x".repeat(300)] {
                // An ask's id is of the worker's making: it may be a new one.
                if route.method == Method::PUT && unknown == "none" {
                    continue;
                }
                let path = bench.path(&Route {
                    path: Box::leak(route.path.replace(id, unknown).into_boxed_str()),
                    method: route.method.clone(),
                    ..*route
                });
                let answer = bench.send(&client, route, &path).await;
                let status = answer.status.as_u16();
                // What cannot be an id at all may be said to be wrong.
                let expected = if unknown == "none" { vec![404] } else { vec![404, 400] };
                assert!(expected.contains(&status), "{} {path}: {}", route.method, answer.text());
                answer.problem(status, if status == 404 { "not_found" } else { "invalid_path" });
            }
        }
    }
}

#[tokio::test]
async fn a_session_of_another_token() {
    let bench = Bench::new().await;
    for route in routes().iter().filter(|route| route.path.contains("{sid}") && route.role == Role::Agent) {
        let path = bench.path(route);
        for token in [SECOND_AGENT, bench.foreign.token.as_str()] {
            let client = bench.server.with_token(token);
            bench.send(&client, route, &path).await.problem(404, "not_found");
        }
    }
    assert_eq!(bench.session.current("c").await["status"], "awaiting_approval");
}

#[tokio::test]
async fn p20_a_key_twice_anywhere_is_refused() {
    let bench = Bench::new().await;
    let decision = bench.path(&Route {
        path: "/v1/approvals/{aid}/decision",
        method: Method::POST,
        role: Role::Operator,
        query: &[],
        body: None,
    });
    let sessions = "/v1/sessions".to_owned();
    let tool = |schema: &str| {
        format!(r#"{{"tools":[{{"name":"t","description":"d","kind":"client","parameters":{schema}}}]}}"#)
    };
    let operator = bench.server.operator();
    for (path, body, pointer) in [
        (&decision, r#"{"decision":"allow","decision":"deny"}"#.to_owned(), ""),
        (
            &decision,
            r#"{"decision":"allow","arguments":{"command":"a","command":"b"}}"#.to_owned(),
            "/arguments",
        ),
        (
            &decision,
            r#"{"decision":"allow","arguments":{"x":[{"a":1,"\u0061":2}]}}"#.to_owned(),
            "/arguments",
        ),
        (&sessions, r#"{"labels":{"a":"1","a":"2"}}"#.to_owned(), "/labels"),
        (&sessions, tool(r#"{"type":"object","type":"object"}"#), "/tools/0/parameters"),
        (&sessions, tool(r#"{"type":"object","properties":{"a":{},"a":{}}}"#), "/tools/0/parameters"),
        (
            &sessions,
            r#"{"runtime":{"permission_mode":"plan","permission_mode":"default"}}"#.to_owned(),
            "/runtime",
        ),
    ] {
        let request = operator.request(Method::POST, path).header("content-type", "application/json");
        let problem = Answer::of(request.body(body.clone())).await.problem(400, "invalid_request");
        let found = problem["errors"][0]["pointer"].as_str().unwrap();
        assert!(found.starts_with(pointer), "{body}: {problem}");
        assert!(problem["detail"].as_str().unwrap().contains(if pointer.is_empty() {
            "duplicate"
        } else {
            ""
        }));
    }
    assert_eq!(bench.session.current("c").await["status"], "awaiting_approval");
    // An explicit nothing is nothing.
    let none = json!({"decision": "deny", "arguments": null, "message": "no"});
    operator.post(&decision, &none).await.expect(200);
}

#[test]
fn every_route_that_is_described_is_tried_here() {
    let mut described: Vec<_> = operations()
        .into_iter()
        .map(|operation| {
            let role = match operation.described["security"][0]["bearer"][0].as_str() {
                None => "nobody",
                Some(role) => role,
            };
            format!("{} {} {role}", operation.method, operation.path)
        })
        .collect();
    let mut tried: Vec<_> = routes()
        .iter()
        .map(|route| {
            let role = match route.role {
                Role::Nobody => "nobody",
                Role::Agent => "agent",
                Role::Operator => "operator",
                Role::Worker => "worker",
            };
            format!("{} {} {role}", route.method, route.path)
        })
        .collect();
    described.sort();
    tried.sort();
    assert_eq!(tried, described);
}
