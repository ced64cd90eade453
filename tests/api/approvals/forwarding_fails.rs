//! Whatever goes wrong on the way to the host denies the call, and nothing runs.

use std::net::SocketAddr;
use std::sync::Arc;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use super::forwarded::{TOKEN, host_with, worker_with};
use crate::support::{TestServer, Web, within};

/// A call at a worker that must end as denied; what the model reads.
async fn denied(worker: &TestServer) -> String {
    let session = worker.session().await;
    session.begin("c", "Bash", json!({"command": "touch x"})).await;
    let call = within("a denial", session.ended("c")).await;
    assert_eq!(call["status"], "denied", "{call}");
    assert_eq!(session.event("c", "tool_denied").await["by"], "no_human");
    assert!(!session.file("x").exists());
    let text = call["result"]["result"].as_str().unwrap().to_owned();
    assert!(text.starts_with("the approval host gave no decision: "), "{text}");
    assert!(!text.contains(TOKEN), "{text}");
    text
}

fn worker_of(address: SocketAddr, token: &str) -> TestServer {
    worker_with(&format!("http://{address}"), token, &json!({}), &json!({}))
}

/// A host that says this to whoever asks.
async fn says(answer: impl Fn(&str) -> Vec<u8> + Send + 'static) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((mut connection, _)) = listener.accept().await {
            let mut asked = Vec::new();
            let mut chunk = [0_u8; 4096];
            // The body is JSON, and ends with its brace; a request without one ends with its head.
            while !(asked.ends_with(b"}") || asked.ends_with(b"\r\n\r\n")) || asked.starts_with(b"PUT") {
                let count = connection.read(&mut chunk).await.unwrap_or(0);
                asked.extend_from_slice(&chunk[..count]);
                if count == 0 || asked.ends_with(b"}") {
                    break;
                }
            }
            let _ = connection.write_all(&answer(&String::from_utf8_lossy(&asked))).await;
        }
    });
    address
}

/// What a host makes of a request.
type Says = Box<dyn Fn(&str) -> Vec<u8> + Send>;

fn http(status: &str, headers: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!("HTTP/1.1 {status}\r\n{headers}Content-Length: {length}\r\nConnection: close\r\n\r\n{body}")
        .into_bytes()
}

/// An answer that allows, about whatever was asked but for this change.
fn allows(asked: &str, change: &[(&str, Value)]) -> Vec<u8> {
    let body = asked.split_once("\r\n\r\n").map_or("", |(_, body)| body);
    let asked: Value = serde_json::from_str(body).unwrap_or_default();
    let mut standing = json!({"approval_id": "apr_1", "status": "allowed", "digest": asked["digest"],
        "expires_at": "2030-01-01T00:00:00Z", "decision": {"decision": "allow", "by": "operator"}});
    for (name, value) in change {
        standing[*name] = value.clone();
    }
    http("200 OK", "Content-Type: application/json\r\n", &standing.to_string())
}

#[tokio::test]
async fn a_host_that_does_not_take_the_token() {
    let host = host_with(&json!({}));
    for (token, said) in [
        ("wrong-0123456789abcdef-0123456789abcdef".to_owned(), "401 (unauthenticated)"),
        (host.token("agent"), "403 (worker_required)"),
        (host.token("operator"), "403 (worker_required)"),
    ] {
        let text = denied(&worker_of(host.address, &token)).await;
        assert!(text.contains(said), "{text}");
    }
    let nothing = host.operator().get("/v1/approvals").await.expect(200);
    assert_eq!(nothing["items"], json!([]));
}

#[tokio::test]
async fn a_server_that_is_no_host_of_approvals() {
    let web = Web::answering("404 Not Found", "text/plain", b"nothing").await;
    let text = denied(&worker_of(web.address, TOKEN)).await;
    assert!(text.contains("it answered 404"), "{text}");
}

#[tokio::test]
async fn answers_that_are_none() {
    // This one is right: what differs in the others is what is wrong with them.
    let right = says(|asked| allows(asked, &[])).await;
    let worker = worker_of(right, TOKEN);
    let session = worker.session().await;
    session.begin("c", "Bash", json!({"command": "touch x"})).await;
    assert_eq!(session.ended("c").await["status"], "completed");
    let elsewhere = format!("Location: http://{right}/v1/worker/approvals/x\r\n");
    let hosts: Vec<(&str, Says)> = vec![
        ("", Box::new(|_| b"\x00\x01\x02 garbage\r\n\r\n".to_vec())),
        ("not one of a Toolgate host", Box::new(|_| http("200 OK", "", "<html>"))),
        ("not one of a Toolgate host", Box::new(|_| http("200 OK", "", "{\"status\": \"allowed\"}"))),
        ("it answered 302", Box::new(move |_| http("302 Found", &elsewhere, ""))),
        ("more than", Box::new(|_| http("200 OK", "", &" ".repeat(300 * 1024)))),
        (
            "something else than what was asked",
            Box::new(|asked| allows(asked, &[("digest", json!("0".repeat(64)))])),
        ),
        ("contradicts itself", Box::new(|asked| allows(asked, &[("decision", Value::Null)]))),
        ("contradicts itself", Box::new(|asked| allows(asked, &[("status", json!("denied"))]))),
        ("not one of a Toolgate host", Box::new(|asked| allows(asked, &[("status", json!("ALLOWED"))]))),
    ];
    for (said, answer) in hosts {
        let text = denied(&worker_of(says(answer).await, TOKEN)).await;
        assert!(text.contains(said), "{said}: {text}");
    }
}

/// Before a host took `changed_files` it refused an ask that had them.
#[tokio::test]
async fn an_older_host_is_told_that_files_changed() {
    let older = says(|asked| {
        let told = asked.contains("changed files that would run");
        match (asked.contains("\"changed_files\""), told || !asked.contains("sh run.sh")) {
            (false, true) => allows(asked, &[]),
            _ => http("400 Bad Request", "", "{\"code\": \"invalid_request\"}"),
        }
    });
    let worker = worker_of(older.await, TOKEN);
    let session = worker.session().await;
    session.begin("w", "Write", json!({"file_path": "run.sh", "content": "touch ran\n"})).await;
    assert_eq!(session.ended("w").await["status"], "completed");
    session.begin("c", "Bash", json!({"command": "sh run.sh"})).await;
    assert_eq!(session.ended("c").await["status"], "completed");
    assert!(session.file("ran").exists());
    // One that takes neither form gives no decision.
    let never = says(|_| http("400 Bad Request", "", "{\"code\": \"invalid_request\"}"));
    denied(&worker_of(never.await, TOKEN)).await;
}

#[tokio::test]
async fn a_host_out_of_reach_is_waited_for_only_so_long() {
    let bound = json!({"retry_for_s": 1});
    // Nothing listens; connections are closed; the server fails.
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let nobody = listener.local_addr().unwrap();
    drop(listener);
    let closes = says(|_| Vec::new()).await;
    let fails = says(|_| http("503 Service Unavailable", "", "")).await;
    for address in [nobody, closes, fails] {
        let worker = worker_with(&format!("http://{address}"), TOKEN, &bound, &json!({}));
        let text = denied(&worker).await;
        assert!(text.contains("out of reach for 1 s"), "{text}");
    }
}

/// What a worker makes of a host behind TLS, whose authority it knows or not.
struct Encrypted {
    host: TestServer,
    address: SocketAddr,
    authority: rcgen::CertifiedIssuer<'static, rcgen::KeyPair>,
}

impl Encrypted {
    async fn start() -> Self {
        let host = host_with(&json!({}));
        let mut params = rcgen::CertificateParams::new(Vec::<String>::new()).unwrap();
        params.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
        let key = rcgen::KeyPair::generate().unwrap();
        let authority = rcgen::CertifiedIssuer::self_signed(params, key).unwrap();
        let key = rcgen::KeyPair::generate().unwrap();
        let names = vec!["localhost".to_owned()];
        let certificate = rcgen::CertificateParams::new(names).unwrap().signed_by(&key, &authority).unwrap();
        let key = rustls::pki_types::PrivateKeyDer::try_from(key.serialize_der()).unwrap();
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let config = rustls::ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![certificate.der().clone()], key)
            .unwrap();
        let acceptor = tokio_rustls::TlsAcceptor::from(Arc::new(config));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (address, target) = (listener.local_addr().unwrap(), host.address);
        tokio::spawn(async move {
            while let Ok((near, _)) = listener.accept().await {
                let acceptor = acceptor.clone();
                tokio::spawn(async move {
                    let Ok(mut near) = acceptor.accept(near).await else { return };
                    let mut far = TcpStream::connect(target).await.unwrap();
                    let _ = tokio::io::copy_bidirectional(&mut near, &mut far).await;
                });
            }
        });
        Self { host, address, authority }
    }

    fn worker(&self, change: &Value) -> TestServer {
        worker_with(&format!("https://localhost:{}", self.address.port()), TOKEN, change, &json!({}))
    }
}

#[tokio::test]
async fn only_a_trusted_certificate_is_spoken_to() {
    let encrypted = Encrypted::start().await;
    let text = denied(&encrypted.worker(&json!({}))).await;
    assert!(text.contains("certificate"), "{text}");
    let plain = format!("https://{}", encrypted.host.address);
    denied(&worker_with(&plain, TOKEN, &json!({}), &json!({}))).await;
    let ca = encrypted.host.outside().join("ca.pem");
    std::fs::write(&ca, encrypted.authority.pem()).unwrap();
    let worker = encrypted.worker(&json!({"ca_file": ca}));
    let session = worker.session().await;
    session.asks("c", "Bash", json!({"command": "touch x"})).await;
    let mut told = encrypted.host.operator().stream("/v1/events?types=tool_approval_requested").await;
    let event = told.next().await.unwrap().data.unwrap();
    encrypted.host.operator().allow(event["approval"]["approval_id"].as_str().unwrap()).await;
    assert_eq!(session.ended("c").await["status"], "completed");
}

#[tokio::test]
async fn an_ask_is_taken_back_however_often_that_fails() {
    const FAILURES: usize = 6;
    let (gone, mut heard) = tokio::sync::mpsc::channel(64);
    let state = std::sync::Mutex::new((Value::Null, 0));
    let host = says(move |asked| {
        let mut state = state.lock().unwrap();
        if let Some((_, body)) = asked.split_once("\r\n\r\n").filter(|(_, body)| !body.is_empty()) {
            state.0 = serde_json::from_str::<Value>(body).unwrap()["digest"].clone();
        }
        let standing = |status: &str| {
            let standing = json!({"approval_id": "apr_1", "status": status, "digest": state.0,
                "expires_at": "2222-01-01T00:00:00Z"});
            http("200 OK", "Content-Type: application/json\r\n", &standing.to_string())
        };
        if !asked.starts_with("DELETE") {
            return standing("pending");
        }
        let answer = if state.1 < FAILURES { http("503 Busy", "", "") } else { standing("cancelled") };
        state.1 += 1;
        let _ = gone.try_send(state.1);
        answer
    })
    .await;
    let worker = worker_of(host, TOKEN);
    let session = worker.session().await;
    session.asks("c", "Bash", json!({"command": "touch x"})).await;
    assert_eq!(session.cancel("c").await.expect(200)["status"], "cancelled");
    for attempt in 1..=FAILURES + 1 {
        assert_eq!(within("an attempt", heard.recv()).await, Some(attempt));
    }
    // One that was taken back is left alone: the next that is heard of is another one's.
    session.asks("d", "Bash", json!({"command": "touch y"})).await;
    session.cancel("d").await.expect(200);
    assert_eq!(within("an attempt", heard.recv()).await, Some(FAILURES + 2));
    assert!(heard.is_empty());
}

#[tokio::test]
async fn a_token_that_is_gone() {
    let host = host_with(&json!({}));
    let worker = worker_of(host.address, TOKEN);
    std::fs::remove_file(worker.outside().join("host-token")).unwrap();
    let text = denied(&worker).await;
    assert!(text.contains("there is no token for it"), "{text}");
}

#[tokio::test]
async fn a_worker_with_nobody_there_asks_no_host() {
    let host = host_with(&json!({}));
    let worker = worker_of(host.address, TOKEN);
    let body = json!({"runtime": {"no_human_approver": true}});
    let session = crate::support::TestSession::create(&worker.agent(), &body).await;
    let call = session.bash("c", "touch x").await.expect(200);
    assert_eq!(call["status"], "denied", "{call}");
    let nothing = host.operator().get("/v1/approvals").await.expect(200);
    assert_eq!(nothing["items"], json!([]));
}
