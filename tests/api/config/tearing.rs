//! A thousand reloads while calls run: no call and no request sees half of a config.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use tokio::sync::watch;

use super::{reload, shown};
use crate::support::server::text_of;
use crate::support::{TestServer, TestSession};

const RELOADS: u64 = 1_000;

/// Two configs in which rules, environment, tokens and hosts agree with each other and with no part of the
/// other one: a command that may run finds its variable, a token that is known comes with its host.
fn config(side: &str) -> Value {
    let other = if side == "ODD" { "EVEN" } else { "ODD" };
    json!({
        "permissions": {
            "allow": [format!("Bash(printenv {side})")],
            "deny": [format!("Bash(printenv {other})")],
        },
        "bash": {"pass_environment": [side]},
        "server": {"allowed_hosts": [format!("{side}.example")]},
        "auth": {"tokens": [{"name": side, "role": "operator", "sha256": sha256(&token(side))}]},
    })
}

fn token(side: &str) -> String {
    format!("token-of-{side}-0123456789abcdef0123456789")
}

fn sha256(text: &str) -> String {
    use sha2::Digest as _;
    use std::fmt::Write as _;
    sha2::Sha256::digest(text).iter().fold(String::new(), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

/// What was seen of one kind.
#[derive(Default)]
struct Seen {
    allowed: AtomicUsize,
    refused: AtomicUsize,
}

/// Calls a command that only one config allows, and that needs the variable that only this one passes.
async fn call(session: TestSession, side: &'static str, mut reloads: watch::Receiver<u64>, seen: Arc<Seen>) {
    // At most one for each reload, so that the reloads get their turn.
    while reloads.changed().await.is_ok() {
        let n = *reloads.borrow_and_update();
        let call = session.bash(&format!("{side}{n}"), &format!("printenv {side}")).await.expect(200);
        match call["status"].as_str().unwrap() {
            "completed" => {
                assert_eq!(call["details"]["exit_code"], 0, "judged by one config, run by another: {call}");
                seen.allowed.fetch_add(1, Ordering::Relaxed);
            }
            "denied" => drop(seen.refused.fetch_add(1, Ordering::Relaxed)),
            other => panic!("{other}: {call}"),
        }
    }
}

/// Asks for the config with a token and a host of one config: both fit, or neither does.
async fn ask(
    server: Arc<TestServer>,
    side: &'static str,
    mut reloads: watch::Receiver<u64>,
    seen: Arc<Seen>,
) {
    let client = server.with_token(&token(side));
    let host = format!("{side}.example");
    while reloads.changed().await.is_ok() {
        let request = client.request(reqwest::Method::GET, "/v1/config").header("Host", &host);
        let answer = crate::support::Answer::of(request).await;
        if answer.status == 200 {
            seen.allowed.fetch_add(1, Ordering::Relaxed);
        } else {
            answer.problem(403, "host_not_allowed");
            seen.refused.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// Looks at the config: all of it is of one side.
async fn look(server: Arc<TestServer>, mut reloads: watch::Receiver<u64>) {
    while reloads.changed().await.is_ok() {
        let shown = shown(&server).await;
        let side = if shown["revision"].as_u64().unwrap() % 2 == 1 { "ODD" } else { "EVEN" };
        let expected = config(side);
        for key in ["permissions", "bash", "server"] {
            for (name, value) in expected[key].as_object().unwrap() {
                assert_eq!(shown["config"][key][name], *value, "{shown}");
            }
        }
        assert_eq!(shown["config"]["auth"]["tokens"][0]["name"], side);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_thousand_reloads_tear_nothing() {
    let variables = [("ODD", "1"), ("EVEN", "1")];
    let server = Arc::new(TestServer::prepared(&variables, |folder| {
        std::fs::write(folder.join("config.json"), text_of(&config("ODD"))).unwrap();
        folder.join("config.json")
    }));
    let (reloaded, reloads) = watch::channel(0);
    let (calls, requests) = (Arc::new(Seen::default()), Arc::new(Seen::default()));
    let mut tasks = tokio::task::JoinSet::new();
    for side in ["ODD", "EVEN"] {
        let session = server.session().await;
        tasks.spawn(call(session, side, reloads.clone(), Arc::clone(&calls)));
        tasks.spawn(ask(Arc::clone(&server), side, reloads.clone(), Arc::clone(&requests)));
    }
    tasks.spawn(look(Arc::clone(&server), reloads.clone()));
    drop(reloads);
    for n in 0..RELOADS {
        server.replace_config(&config(if n % 2 == 0 { "EVEN" } else { "ODD" }));
        assert_eq!(reload(&server).await["revision"], n + 2, "each replaced file is one revision");
        if reloaded.send(n).is_err() {
            break;
        }
    }
    drop(reloaded);
    while let Some(ended) = tasks.join_next().await {
        ended.unwrap();
    }
    assert_eq!(shown(&server).await["revision"], RELOADS + 1);
    for (what, seen) in [("calls", &calls), ("requests", &requests)] {
        let (allowed, refused) = (seen.allowed.load(Ordering::Relaxed), seen.refused.load(Ordering::Relaxed));
        assert!(allowed > 10 && refused > 10, "{what} saw both: {allowed} allowed, {refused} refused");
    }
}
