//! What a step costs does not grow with what was written before: `bounded::STEPS_MAX` holds for each statement.

use super::fixture::{Fixture, ask, decision, finish, key, new_call, of, open_in, resolved, session, token};
use super::{SqliteOptions, schema};
use crate::domain::approval::Choice;
use crate::domain::audit::{AuditDecision, AuditKind, AuditRecord};
use crate::domain::call::CallStatus;
use crate::domain::event::Resolution;
use crate::store::{
    ApprovalStore as _, AuditFilter, AuditStore as _, CallStore as _, EventLog as _, EventQuery,
    GrantStore as _, PageRequest, SessionStore as _,
};

/// Rows of each table: so many that looking through one of them takes more than a statement may.
const PAST: &str = "WITH RECURSIVE past(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM past WHERE n < 100000) ";

/// What lies in the tables, besides what the fixture wrote: 100,000 calls of the session `s` that have ended, each asked about and audited.
const TABLES: [&str; 5] = [
    "INSERT INTO events (position, session, seq, call, ends_call, kind, body)
     SELECT n + 2, 1, n + 1, (1 << 32) + n, 0, 'tool_token', '{}' FROM past",
    "INSERT INTO calls (id, session, key, open, status, fingerprint, tool_name, mutability, first_seq, last_seq, created_at,
                        arguments)
     SELECT (1 << 32) + n, 1, 'past' || n, 0, 'completed', lower(hex(zeroblob(32))), 'Read', 'read_only', n, n,
            '2026-01-02T03:04:05.678Z', '{}' FROM past",
    "INSERT INTO approvals (id, approval_id, session, call, status, spent, body)
     SELECT n, 'past' || n, 1, (1 << 32) + n, 'allowed', 1, '{}' FROM past",
    "INSERT INTO audit (id, at, session, kind, decision, who, body)
     SELECT n + 1, 1893456000000, 1, 'verdict', 'allow', 'agent', (SELECT body FROM audit WHERE id = 1) FROM past",
    "INSERT INTO sessions (id, session_id, status, owner, workspace, workspace_root, labels, tools, runtime, fingerprint,
                           session_token, created_at)
     SELECT n + 2, 'past' || n, 'ended', owner, workspace, workspace_root, labels, tools, runtime, fingerprint,
            session_token, created_at FROM past, sessions WHERE id = 1",
];

#[tokio::test(flavor = "multi_thread")]
async fn no_step_looks_through_a_long_log() {
    let Fixture { store, dir } = Fixture::new().await;
    let told = AuditRecord::new(AuditKind::Verdict, AuditDecision::Allow, "agent").of_call("s", &key("c"));
    store.note("s", vec![told.clone()]).await.unwrap();
    store.close().await;
    drop(store);
    let db = schema::open_second(dir.path()).unwrap();
    for table in TABLES {
        db.execute(&table.replacen("SELECT", &format!("{PAST} SELECT"), 1), []).unwrap();
    }
    drop(db);
    let f = Fixture { store: open_in(dir.path(), &SqliteOptions::default()).into(), dir };
    f.create_session(session("new")).await.unwrap();
    for n in 0..3 {
        let (call, approval_id) = (format!("c{n}"), format!("a{n}"));
        f.accept(new_call(&call)).await.unwrap();
        f.step(ask(&call, &approval_id)).await.unwrap();
        let event = resolved(&call, &approval_id, Resolution::Allow);
        f.decide(&approval_id, decision(Choice::Allow, None), None, event).await.unwrap();
        f.append(Some("s"), vec![token(&call, "x")]).await.unwrap();
        f.append(None, vec![token(&call, "x")]).await.unwrap();
        f.step(finish(&call, &[CallStatus::AwaitingApproval])).await.unwrap();
    }
    // So often that the bounds of the audit log are held.
    f.note("s", vec![told; 1_000]).await.unwrap();
    look_at(&f).await;
    f.end_session("new").await.unwrap();
    f.end_session("s").await.unwrap();
}

async fn look_at(f: &Fixture) {
    let page = PageRequest { cursor: None, limit: 100 };
    f.session("s").await.unwrap().unwrap();
    f.sessions(None, page.clone()).await.unwrap();
    f.sessions(Some("agent"), page.clone()).await.unwrap();
    f.active_sessions().await.unwrap();
    f.call("s", &key("past7")).await.unwrap().unwrap();
    f.fingerprint("s", &key("past7")).await.unwrap().unwrap();
    f.calls("s", page.clone()).await.unwrap();
    f.open_calls().await.unwrap();
    f.approval("a0").await.unwrap().unwrap();
    f.pending_count("s").await.unwrap();
    f.audit(AuditFilter::default(), page.clone()).await.unwrap();
    f.audit(AuditFilter { session_id: Some("s".to_owned()), ..AuditFilter::default() }, page).await.unwrap();
    f.latest_changes("s", 10).await.unwrap();
    f.grants_for("s", "agent", "/w").await.unwrap();
    for query in [of("s"), EventQuery { limit: 1_000, ..EventQuery::default() }] {
        for after in [0, 50_000, 99_999] {
            f.events(EventQuery { after, ..query.clone() }).await.unwrap();
            f.events(EventQuery { after, call: Some(key("past7")), ..of("s") }).await.unwrap();
        }
    }
}
