//! The audit log: with its steps or not at all, never changed, bounded, found again.

use serde_json::json;

use super::super::fixture::{
    Fixture, Hands, approval, ask, decision, finish, key, new_call, resolved as resolution, session, step,
};
use super::super::{SqliteOptions, schema};
use super::*;
use crate::domain::approval::{ApprovalStatus, Choice, Scope};
use crate::domain::audit::AuditReason;
use crate::domain::call::CallStatus;
use crate::store::{
    ApprovalStep, ApprovalStore as _, CallStep, CallStore as _, GrantStore as _, NewCall, SessionStore as _,
};

const QUEUED: &[CallStatus] = &[CallStatus::Queued];
const WAITS: &[CallStatus] = &[CallStatus::AwaitingApproval];

fn verdict(call: &str, decision: AuditDecision) -> AuditRecord {
    let mut told = AuditRecord::new(AuditKind::Verdict, decision, "agent").of_call("s", &key(call));
    told.tool_name = Some("Read".to_owned());
    told.reason = Some(AuditReason {
        text: "reading in the workspace".to_owned(),
        rule: None,
        source: None,
        by: "class".to_owned(),
    });
    told
}

async fn listed(f: &Fixture, filter: AuditFilter) -> Vec<AuditEntry> {
    let page = f.audit(filter, PageRequest { cursor: None, limit: 1_000 }).await.unwrap();
    assert_eq!(page.next_cursor, None);
    page.items
}

async fn outcomes(f: &Fixture) -> Vec<String> {
    let all = listed(f, AuditFilter::default()).await;
    assert_eq!(
        all.iter().map(|entry| entry.seq).collect::<Vec<_>>(),
        (1..=all.len() as u64).collect::<Vec<_>>()
    );
    let told = |entry: AuditEntry| {
        let record = entry.record;
        let of = record.call_id.or(record.grant_id).unwrap_or_default();
        format!("{} {} {of} by {}", record.kind.as_str(), record.decision.as_str(), record.by)
    };
    all.into_iter().map(told).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_entry_is_there_with_its_step_or_not_at_all() {
    let f = Fixture::new().await;
    f.accept(NewCall { audit: vec![verdict("c", AuditDecision::Allow)], ..new_call("c") }).await.unwrap();
    // A repeat, and a step that does not happen, tell nothing.
    f.accept(NewCall { audit: vec![verdict("c", AuditDecision::Deny)], ..new_call("c") }).await.unwrap();
    let early = CallStep { audit: vec![verdict("c", AuditDecision::Deny)], ..finish("c", WAITS) };
    f.step(early).await.unwrap_err();
    let end = CallStep { audit: vec![verdict("c", AuditDecision::Ask)], ..finish("c", QUEUED) };
    f.step(end).await.unwrap();
    f.note("s", vec![verdict("late", AuditDecision::Deny)]).await.unwrap();
    let expected = ["verdict allow c by agent", "verdict ask c by agent", "verdict deny late by agent"]
        .map(str::to_owned);
    assert_eq!(outcomes(&f).await, expected);
    let f = f.reopened().await;
    assert_eq!(outcomes(&f).await, expected);
    assert_eq!(listed(&f, AuditFilter::default()).await[0].record, verdict("c", AuditDecision::Allow));
}

#[tokio::test(flavor = "multi_thread")]
async fn how_approvals_end_is_told_whoever_ends_them() {
    let f = Fixture::new().await;
    for call in ["allowed", "denied", "expired", "superseded", "cancelled", "left"] {
        f.accept_one(call).await;
        f.step(ask(call, &format!("apr-{call}"))).await.unwrap();
    }
    let grant = super::super::grants::tests::grant("g", Scope::Session);
    let mut allow = decision(Choice::Allow, Some(json!({"command": "ls"})));
    allow.request.scope = Scope::Session;
    allow.request.pattern = Some("Bash(curl -H 'Authorization: Bearer hunter2')".to_owned());
    let event = resolution("allowed", "apr-allowed", Resolution::Allow);
    f.decide("apr-allowed", allow, Some(grant), event).await.unwrap();
    let event = resolution("denied", "apr-denied", Resolution::Deny);
    f.decide("apr-denied", decision(Choice::Deny, None), None, event).await.unwrap();
    let mut expire = finish("expired", WAITS);
    expire.approval = ApprovalStep::Close(ApprovalStatus::Expired);
    expire.events.insert(0, resolution("expired", "apr-expired", Resolution::Expired));
    f.step(expire).await.unwrap();
    let instead = CallStep {
        approval: ApprovalStep::Supersede {
            old: "apr-superseded".to_owned(),
            seen: ApprovalStatus::Pending,
            new: approval("apr-new", "superseded"),
            of_token: 99,
        },
        events: vec![resolution("superseded", "apr-superseded", Resolution::Superseded)],
        ..step("superseded", WAITS, CallStatus::AwaitingApproval)
    };
    f.step(instead).await.unwrap();
    f.step(finish("cancelled", WAITS)).await.unwrap();
    assert!(f.revoke("g", "someone").await.unwrap());
    assert!(!f.revoke("g", "someone").await.unwrap());
    f.end_session("s").await.unwrap();
    assert_eq!(
        outcomes(&f).await,
        [
            "grant granted g by operator",
            "approval allow allowed by operator",
            "approval deny denied by operator",
            "approval expired expired by server",
            "approval superseded superseded by server",
            "approval cancelled cancelled by server",
            "grant revoked g by someone",
            "approval cancelled superseded by server",
            "approval cancelled left by server",
        ]
    );
    let all = listed(&f, AuditFilter::default()).await;
    let allowed = &all[1].record;
    assert_eq!((allowed.scope, allowed.edited), (Some(Scope::Session), Some(true)));
    assert_eq!(allowed.pattern.as_deref(), Some("Bash(curl -H 'Authorization: Bearer [redacted]')"));
    assert_eq!(all[2].record.edited, Some(false));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failed_decision_or_revocation_tells_nothing() {
    let f = Fixture::new().await;
    f.accept_one("c").await;
    f.step(ask("c", "a")).await.unwrap();
    let allow =
        || f.decide("a", decision(Choice::Allow, None), None, resolution("c", "a", Resolution::Allow));
    allow().await.unwrap();
    allow().await.unwrap_err();
    f.revoke("nothing", "operator").await.unwrap();
    assert_eq!(outcomes(&f).await, ["approval allow c by operator"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_in_it_can_be_changed_or_taken_out() {
    let f = Fixture::new().await;
    f.note("s", vec![verdict("a", AuditDecision::Allow), verdict("b", AuditDecision::Deny)]).await.unwrap();
    let db = schema::open_second(f.dir.path()).unwrap();
    for sql in [
        "UPDATE audit SET body = '{}'",
        "UPDATE audit SET id = 7 WHERE id = 1",
        "DELETE FROM audit",
        "DELETE FROM audit WHERE id = 1",
        "UPDATE audit_state SET kept_from = 3",
        "UPDATE audit_state SET kept_from = 0",
        "DELETE FROM audit_state",
    ] {
        let refused = db.execute(sql, []).unwrap_err().to_string();
        assert!(refused.contains("append-only"), "{sql}: {refused}");
    }
    assert_eq!(outcomes(&f).await, ["verdict allow a by agent", "verdict deny b by agent"]);
}

async fn note_many(f: &Fixture, n: usize) {
    for _ in 0..n {
        f.note("s", vec![verdict("c", AuditDecision::Allow)]).await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_oldest_make_way_and_that_is_told() {
    let audit = AuditBounds { days: 1, rows: 300 };
    let f = Fixture::with(SqliteOptions { audit, ..SqliteOptions::default() }).await;
    note_many(&f, 1_000).await;
    let all = listed(&f, AuditFilter::default()).await;
    assert!(all.len() <= 300 + CHECK_EVERY, "{}", all.len());
    let numbers: Vec<u64> = all.iter().map(|entry| entry.seq).collect();
    assert!(numbers.windows(2).all(|pair| pair[1] == pair[0] + 1));
    let told: Vec<_> = all.iter().filter_map(|entry| entry.record.dropped.as_ref()).collect();
    let last = told.last().unwrap();
    assert_eq!((last.to + 1, last.bound.as_str()), (numbers[0], "rows"));
    // A lower bound is reached with what comes then; the numbers go on after a start.
    f.keep_audit(AuditBounds { rows: 10, ..audit });
    note_many(&f, CHECK_EVERY).await;
    let newest = listed(&f, AuditFilter::default()).await.last().unwrap().seq;
    let f = f.reopened().await;
    note_many(&f, 1).await;
    let all = listed(&f, AuditFilter::default()).await;
    assert_eq!(all.last().unwrap().seq, newest + 1);
    assert!(all.len() <= 10 + CHECK_EVERY, "{}", all.len());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_too_old_goes_with_the_first_entry_after_an_hour() {
    let hands = Hands::at(Timestamp::from_millisecond(1_800_000_000_000).unwrap());
    let dir = tempfile::tempdir().unwrap();
    let options = SqliteOptions { audit: AuditBounds { days: 2, rows: 1_000 }, ..SqliteOptions::default() };
    let store = Arc::new(SqliteStore::open(dir.path(), hands.clone(), &options).unwrap());
    store.create_session(session("s")).await.unwrap();
    let f = Fixture { store, dir };
    note_many(&f, 3).await;
    for kept in [4, 3, 4] {
        hands.go_on(DAY_MS + 1);
        note_many(&f, 1).await;
        let all = listed(&f, AuditFilter::default()).await;
        assert_eq!(all.len(), kept, "{all:?}");
    }
    let told = listed(&f, AuditFilter { kind: Some(AuditKind::Retention), ..AuditFilter::default() }).await;
    let dropped = told.last().unwrap().record.dropped.clone().unwrap();
    assert_eq!((dropped.from, dropped.bound.as_str()), (4, "age"));
}

#[tokio::test(flavor = "multi_thread")]
async fn entries_are_found_by_what_they_tell() {
    let f = Fixture::new().await;
    let other = AuditRecord { session_id: Some("other".to_owned()), ..verdict("c", AuditDecision::Deny) };
    f.note("other", vec![AuditRecord { tool_name: Some("Bash".to_owned()), by: "x".to_owned(), ..other }])
        .await
        .unwrap();
    f.note("s", vec![verdict("c", AuditDecision::Allow), verdict("d", AuditDecision::Ask)]).await.unwrap();
    let all = AuditFilter::default;
    let text = |text: &str| Some(text.to_owned());
    let now = listed(&f, all()).await[2].time;
    let later = Timestamp::from_millisecond(now.as_millisecond() + 1).unwrap();
    for (filter, found) in [
        (AuditFilter { session_id: text("s"), ..all() }, vec![2, 3]),
        (AuditFilter { session_id: text("s"), call_id: text("d"), ..all() }, vec![3]),
        (AuditFilter { call_id: text("c"), ..all() }, vec![1, 2]),
        (AuditFilter { decision: Some(AuditDecision::Deny), ..all() }, vec![1]),
        (AuditFilter { tool: text("Bash"), ..all() }, vec![1]),
        (AuditFilter { by: text("agent"), ..all() }, vec![2, 3]),
        (AuditFilter { kind: Some(AuditKind::Grant), ..all() }, vec![]),
        (AuditFilter { until: Some(later), ..all() }, vec![1, 2, 3]),
        (AuditFilter { since: Some(later), ..all() }, vec![]),
    ] {
        let seqs: Vec<u64> = listed(&f, filter.clone()).await.iter().map(|entry| entry.seq).collect();
        assert_eq!(seqs, found, "{filter:?}");
    }
    let nobody = AuditFilter { session_id: text("nobody"), ..all() };
    let first = || PageRequest { cursor: None, limit: 2 };
    assert!(matches!(f.audit(nobody, first()).await, Err(StoreError::NotFound)));
    let page = f.audit(all(), first()).await.unwrap();
    assert_eq!((page.items.len(), page.next_cursor.as_deref()), (2, Some("2")));
    let page = f.audit(all(), PageRequest { cursor: page.next_cursor, limit: 2 }).await.unwrap();
    assert_eq!((page.items[0].seq, page.next_cursor), (3, None));
}

#[tokio::test(flavor = "multi_thread")]
async fn one_page_looks_through_a_bounded_part() {
    let f = Fixture::new().await;
    f.note("s", vec![verdict("first", AuditDecision::Allow)]).await.unwrap();
    let db = schema::open_second(f.dir.path()).unwrap();
    db.execute(
        "INSERT INTO audit (at, session, kind, decision, who, body)
         WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1)
         SELECT 0, 1, 'verdict', 'allow', 'x', '{}' FROM n",
        [SCAN_MAX],
    )
    .unwrap();
    f.note("s", vec![verdict("last", AuditDecision::Allow)]).await.unwrap();
    for session_id in [None, Some("s".to_owned())] {
        let filter = AuditFilter { by: Some("agent".to_owned()), session_id, ..AuditFilter::default() };
        let page = f.audit(filter.clone(), PageRequest { cursor: None, limit: 9 }).await.unwrap();
        assert_eq!((page.items.len(), page.next_cursor.as_deref()), (1, Some("10000")));
        let page = f.audit(filter, PageRequest { cursor: page.next_cursor, limit: 9 }).await.unwrap();
        assert_eq!((page.items.len(), page.next_cursor), (1, None));
        assert_eq!(page.items[0].record.call_id.as_deref(), Some("last"));
    }
}
