//! Calls that ask for what outlasts them, over kill -9 and cancels: what was allowed holds exactly where
//! its call says that it does.

use serde_json::{Value, json};

use crate::support::{Place, Server, call_of, endings, working};

const ROUNDS: usize = 12;
const RULE: &str = "Bash(touch granted)";

/// A config without a rule for what is asked for.
fn config() -> Value {
    let mut config = working();
    config["permissions"] = json!({});
    config
}

/// The same where one call runs at a time.
fn one_at_a_time() -> Value {
    let mut config = config();
    config["limits"] = json!({"running_calls": 1});
    config
}

/// The two calls that ask, and what shows that they were allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Asked {
    Rules,
    EndOfPlan,
}

const BOTH: [Asked; 2] = [Asked::Rules, Asked::EndOfPlan];

impl Asked {
    fn request(self) -> (&'static str, Value) {
        match self {
            Self::Rules => ("request_permissions", json!({"reason": "r", "permissions": [RULE]})),
            Self::EndOfPlan => ("ExitPlanMode", json!({"plan": "p"})),
        }
    }

    /// Opens a session with such a call in it, which waits: its approval.
    async fn waiting(self, server: &Server, session: &str) -> String {
        let mode = if self == Self::EndOfPlan { "plan" } else { "default" };
        let body = json!({"session_id": session, "runtime": {"permission_mode": mode}});
        server.agent.post("/v1/sessions", &body).await.expect(201);
        let (tool, arguments) = self.request();
        let call = server.agent.call(session, "c", tool, &arguments).await.expect(202);
        assert_eq!(call["status"], "awaiting_approval", "{call}");
        call["approval_id"].as_str().unwrap().to_owned()
    }

    /// Whether what was asked for holds: all of it and once, or nothing of it.
    async fn holds(self, server: &Server, session: &str) -> bool {
        let of_session = |grant: &&Value| grant["session_id"] == session;
        let grants = server.operator.get("/v1/grants?limit=1000").await.expect(200);
        let grants = grants["items"].as_array().unwrap().iter().filter(of_session).count();
        let path = format!("/v1/sessions/{session}/runtime");
        let mode = server.agent.get(&path).await.expect(200)["permission_mode"].clone();
        match self {
            Self::Rules => {
                assert!(grants <= 1, "{grants}");
                grants == 1
            }
            Self::EndOfPlan => {
                assert!(mode == "plan" || mode == "default", "{mode}");
                mode == "default"
            }
        }
    }

    /// The call has ended as completed, once, and what was allowed holds.
    async fn is_done(self, server: &Server, session: &str) {
        let call = server.agent.ended(session, "c").await;
        assert_eq!(call["status"], "completed", "{self:?} {call}");
        assert!(self.holds(server, session).await, "{self:?}");
        let events = server.agent.events(session).await;
        assert_eq!(endings(&events, "c"), ["completed"]);
        let count = |kind: &str| events.iter().filter(|event| event["type"] == kind).count();
        assert_eq!(count("tool_approval_resolved"), 1);
        assert_eq!(count("runtime_changed"), usize::from(self == Self::EndOfPlan), "{events:?}");
    }
}

async fn behind_by(steps: usize) {
    for _ in 0..steps {
        tokio::task::yield_now().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_that_waits_over_a_kill_still_waits_and_can_be_allowed() {
    let place = Place::with_own_binary();
    let server = place.start(&config());
    let mut approvals = Vec::new();
    for (index, asked) in BOTH.into_iter().enumerate() {
        approvals.push(asked.waiting(&server, &format!("s{index}")).await);
    }
    server.kill();
    let server = place.start(&config());
    for (index, asked) in BOTH.into_iter().enumerate() {
        let session = format!("s{index}");
        assert_eq!(server.agent.recorded(&session, "c").await.expect(200)["status"], "awaiting_approval");
        assert!(!asked.holds(&server, &session).await);
        server.operator.decide(&approvals[index], "allow").await.expect(200);
        asked.is_done(&server, &session).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answered_allow_holds_after_a_kill_at_any_moment() {
    let place = Place::with_own_binary();
    let mut server = place.start(&config());
    for round in 0..ROUNDS {
        let asked = BOTH[round % 2];
        let session = format!("s{round}");
        let approval = asked.waiting(&server, &session).await;
        server.operator.decide(&approval, "allow").await.expect(200);
        behind_by(round / 2 * 40).await;
        server.kill();
        server = place.start(&config());
        asked.is_done(&server, &session).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_allow_in_the_middle_of_a_kill_is_made_whole_or_not_at_all() {
    let place = Place::with_own_binary();
    let mut server = place.start(&config());
    for round in 0..ROUNDS {
        let asked = BOTH[round % 2];
        let session = format!("s{round}");
        let approval = asked.waiting(&server, &session).await;
        let operator = server.operator.clone();
        let id = approval.clone();
        let deciding = tokio::spawn(async move {
            let path = format!("/v1/approvals/{id}/decision");
            operator.try_post(&path, &json!({"decision": "allow"})).await.is_some()
        });
        behind_by(round / 2 * 60).await;
        server.kill();
        let answered = deciding.await.unwrap();
        server = place.start(&config());
        let stands = server.operator.get(&format!("/v1/approvals/{approval}")).await.expect(200);
        match stands["status"].as_str().unwrap() {
            "pending" => {
                assert!(!answered && !asked.holds(&server, &session).await);
                server.operator.decide(&approval, "allow").await.expect(200);
            }
            "allowed" => {}
            other => panic!("{other}: {stands}"),
        }
        asked.is_done(&server, &session).await;
    }
}

/// Allows a call that cannot go on, since another one has the only place.
async fn allowed_and_held_up(server: &Server, asked: Asked) {
    let approval = asked.waiting(server, "s").await;
    server.agent.session("sleeper").await;
    let sleep = call_of("sleep", "Sleep", &json!({"seconds": 300}));
    server.agent.post("/v1/sessions/sleeper/calls?wait_ms=0", &sleep).await.expect(202);
    let mut sleeper = server.agent.recorded("sleeper", "sleep").await.expect(200);
    while sleeper["status"] != "running" {
        sleeper = server.agent.recorded("sleeper", "sleep").await.expect(200);
    }
    server.operator.decide(&approval, "allow").await.expect(200);
    assert!(!asked.holds(server, "s").await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_kill_between_the_decision_and_its_effect_leaves_the_effect_to_the_next_start() {
    for asked in BOTH {
        let place = Place::with_own_binary();
        let server = place.start(&one_at_a_time());
        allowed_and_held_up(&server, asked).await;
        server.kill();
        let server = place.start(&one_at_a_time());
        asked.is_done(&server, "s").await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_mode_that_was_written_before_the_kill_does_not_fail_its_call() {
    let place = Place::with_own_binary();
    let server = place.start(&one_at_a_time());
    allowed_and_held_up(&server, Asked::EndOfPlan).await;
    server.kill();
    let file = place.data().join("sessions/s/runtime.json");
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(text.contains("\"plan\""), "{text}");
    std::fs::write(&file, text.replace("\"plan\"", "\"default\"")).unwrap();
    let server = place.start(&one_at_a_time());
    Asked::EndOfPlan.is_done(&server, "s").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cancel_before_the_effect_comes_in_time() {
    for asked in BOTH {
        let place = Place::with_own_binary();
        let server = place.start(&one_at_a_time());
        allowed_and_held_up(&server, asked).await;
        assert_eq!(server.agent.cancel("s", "c").await.expect(200)["status"], "cancelled");
        server.agent.cancel("sleeper", "sleep").await.expect(200);
        assert!(!asked.holds(&server, "s").await);
        server.kill();
        let server = place.start(&one_at_a_time());
        assert_eq!(server.agent.recorded("s", "c").await.expect(200)["status"], "cancelled");
        assert!(!asked.holds(&server, "s").await);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cancel_that_races_with_the_effect_comes_before_all_of_it_or_after() {
    let place = Place::with_own_binary();
    let server = place.start(&config());
    let (mut cancelled, mut completed) = (0, 0);
    // Goes to where the race is close, on whatever machine this is.
    let mut steps = 16;
    for round in 0..40 {
        let asked = BOTH[round % 2];
        let session = format!("s{round}");
        let approval = asked.waiting(&server, &session).await;
        server.operator.decide(&approval, "allow").await.expect(200);
        behind_by(steps).await;
        let cancel = server.agent.cancel(&session, "c").await.expect(200);
        assert_eq!(cancel, server.agent.ended(&session, "c").await);
        match cancel["status"].as_str().unwrap() {
            "completed" => {
                completed += 1;
                steps /= 2;
                asked.is_done(&server, &session).await;
            }
            "cancelled" => {
                cancelled += 1;
                steps = steps * 2 + 1;
                assert!(!asked.holds(&server, &session).await, "{cancel}");
            }
            other => panic!("{other}: {cancel}"),
        }
    }
    assert_eq!(cancelled + completed, 40);
}
