//! Calls: accepted once under their key, moved on by compare-and-set.

use std::sync::Arc;

use async_trait::async_trait;

use super::SqliteStore;
use super::approvals::{self, PreparedApprovals};
use super::audit::{self, PreparedAudit};
use super::bounded::PrepareBounded as _;
use super::call_rows::{self, PreparedCall, PreparedPatch};
use super::codec::{after, fill, sql_failed};
use super::events::PreparedEvent;
use super::heads::{Head, OpenCall};
use super::tx::Tx;
use crate::domain::approval::{ApprovalStatus, Scope};
use crate::domain::call::{Call, CallError, CallStatus};
use crate::domain::digest::Digest;
use crate::domain::event::{AgentEvent, CallRef, Resolution};
use crate::domain::identity::CallKey;
use crate::domain::result::ToolResult;
use crate::store::{Accepted, CallPatch, CallStep, CallStore, NewCall, Page, PageRequest, StoreError};

/// The id before which no call of a session lies.
pub(super) fn first_call_id(session: i64) -> i64 {
    session << 32
}

/// A call to accept, written as far as it can be outside the writer's thread.
struct PreparedNew {
    call: Arc<Call>,
    key: String,
    fingerprint: Digest,
    row: PreparedCall,
    events: Vec<PreparedEvent>,
    audit: Vec<PreparedAudit>,
}

/// What the writer answers for each: the call, and whether it is new.
type Taken = (Arc<Call>, bool);

/// Why a list of calls was not accepted.
enum Refused {
    /// Another call has the id of this one.
    Conflict(usize),
    Store(StoreError),
}

impl From<StoreError> for Refused {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

#[async_trait]
impl CallStore for SqliteStore {
    async fn accept(&self, new: NewCall) -> Result<Accepted, StoreError> {
        let sync = new.sync;
        let prepared = PreparedNew::new(new)?;
        match self.writer.run(sync, move |tx| accept(tx, prepared, 0)).await {
            Ok(taken) => Ok(self.told(accepted(taken))),
            Err(Refused::Conflict(_)) => Ok(Accepted::Conflict),
            Err(Refused::Store(error)) => Err(error),
        }
    }

    async fn accept_all(&self, new: Vec<NewCall>) -> Result<Result<Vec<Accepted>, usize>, StoreError> {
        let sync = new.iter().any(|new| new.sync);
        let prepared = new.into_iter().map(PreparedNew::new).collect::<Result<Vec<_>, _>>()?;
        let all = move |tx: &mut Tx<'_>| -> Result<Vec<Taken>, Refused> {
            prepared.into_iter().enumerate().map(|(index, new)| accept(tx, new, index)).collect()
        };
        match self.writer.run(sync, all).await {
            Ok(taken) => Ok(Ok(taken.into_iter().map(|taken| self.told(accepted(taken))).collect())),
            Err(Refused::Conflict(index)) => Ok(Err(index)),
            Err(Refused::Store(error)) => Err(error),
        }
    }

    async fn step(&self, step: CallStep) -> Result<Call, StoreError> {
        let (sync, ends) = (step.sync, step.events.iter().any(AgentEvent::ends_call));
        let prepared = PreparedStep::new(step)?;
        let call = self.writer.run(sync, move |tx| take_step(tx, prepared)).await?;
        if ends {
            self.metrics.calls().ended(&call);
        }
        Ok(Arc::unwrap_or_clone(call))
    }

    async fn call(&self, session_id: &str, key: &CallKey) -> Result<Option<Call>, StoreError> {
        let (session_id, key) = (session_id.to_owned(), key.storage_key());
        self.pool.read(move |db| call_rows::by_key(db, &session_id, &key)).await
    }

    async fn fingerprint(&self, session_id: &str, key: &CallKey) -> Result<Option<Digest>, StoreError> {
        let (session_id, key) = (session_id.to_owned(), key.storage_key());
        self.pool.read(move |db| call_rows::fingerprint(db, &session_id, &key)).await
    }

    async fn call_keys(&self, session_id: &str) -> Result<Vec<CallKey>, StoreError> {
        let session_id = session_id.to_owned();
        self.pool.read(move |db| call_rows::keys(db, &session_id)).await
    }

    async fn calls(&self, session_id: &str, page: PageRequest) -> Result<Page<Call>, StoreError> {
        let session_id = session_id.to_owned();
        let from = after(&page)?;
        self.pool
            .read(move |db| {
                let session = call_rows::session_row(db, &session_id)?;
                let mut statement = db.prepare_bounded(call_rows::OF_SESSION).map_err(sql_failed)?;
                let first = first_call_id(session);
                let rows = statement
                    .query_map((from.max(first - 1), first_call_id(session + 1)), call_rows::item)
                    .map_err(sql_failed)?;
                fill(page.limit, rows)
            })
            .await
    }

    async fn open_calls(&self) -> Result<Vec<Call>, StoreError> {
        self.pool
            .read(|db| {
                let mut statement = db.prepare(call_rows::OPEN).map_err(sql_failed)?;
                let rows = statement.query_map([], call_rows::item).map_err(sql_failed)?;
                rows.map(|row| row.map(|(_, _, call)| call).map_err(sql_failed)).collect()
            })
            .await
    }
}

impl SqliteStore {
    /// Counts a call that was accepted with its end.
    fn told(&self, accepted: Accepted) -> Accepted {
        if let Accepted::New(call) = &accepted
            && call.status.has_ended()
        {
            self.metrics.calls().ended(call);
        }
        accepted
    }
}

impl PreparedNew {
    fn new(new: NewCall) -> Result<Self, StoreError> {
        let endings = new.events.iter().filter(|event| event.ends_call()).count();
        if endings != usize::from(new.call.status.has_ended()) {
            return Err(wrong("a call is accepted with one ending event where it has ended, else with none"));
        }
        let key = new.call.key.storage_key();
        let mut call = new.call;
        call_rows::normalise(&mut call);
        let row = PreparedCall::new(&call)?;
        let events = PreparedEvent::all(&new.events, row.result(&key, &call))?;
        if events.iter().any(|event| event.call.as_deref() != Some(key.as_str())) {
            return Err(wrong("a call is accepted with events of its own alone"));
        }
        let audit = PreparedAudit::all(&new.audit)?;
        Ok(Self { call: Arc::new(call), key, fingerprint: new.fingerprint, row, events, audit })
    }
}

fn wrong(text: &str) -> StoreError {
    StoreError::Failed(text.to_owned())
}

fn accepted((call, new): Taken) -> Accepted {
    let call = Arc::unwrap_or_clone(call);
    if new { Accepted::New(call) } else { Accepted::Existing(call) }
}

/// Accepts one; `index` is its place in its list.
fn accept(tx: &mut Tx<'_>, new: PreparedNew, index: usize) -> Result<Taken, Refused> {
    let PreparedNew { mut call, key, fingerprint, row, events, audit } = new;
    let mut head = tx.active(&call.session_id)?;
    let id = head.next_call;
    let (first, last) = (head.last_seq + 1, head.last_seq + events.len() as u64);
    if !row.insert(tx, (&head, id, &key), &fingerprint, &call, (first, last))? {
        let known = known_call(tx, &mut head, &key)?.ok_or(StoreError::NotFound)?;
        let answer = Arc::clone(&known.call);
        let same = known.fingerprint == fingerprint;
        keep(&mut head, key, known);
        tx.put_back(head);
        return if same { Ok((answer, false)) } else { Err(Refused::Conflict(index)) };
    }
    head.next_call += 1;
    for event in events {
        tx.log(&mut head, Some(id), event)?;
    }
    audit::append(tx, head.id, &audit)?;
    let recorded = Arc::make_mut(&mut call);
    (recorded.first_seq, recorded.last_seq) = (first, last);
    let weight = row.weight();
    keep(&mut head, key, OpenCall { id, fingerprint, call: Arc::clone(&call), weight });
    tx.done(head)?;
    Ok((call, true))
}

/// Remembers a call while it is open.
fn keep(head: &mut Head, key: String, call: OpenCall) {
    if !call.call.status.has_ended() {
        head.put_call(key, call);
    }
}

/// Takes a call out of the head, or reads it.
pub(super) fn known_call(tx: &Tx<'_>, head: &mut Head, key: &str) -> Result<Option<OpenCall>, StoreError> {
    match head.take_call(key) {
        Some(call) => Ok(Some(call)),
        None => call_rows::load(tx, head.id, key),
    }
}

/// Logs an event that is not part of a step of its call. What comes after the call's end is dropped,
/// but for the end of what it left in the background.
pub(super) fn log_beside_steps(
    tx: &mut Tx<'_>,
    head: &mut Head,
    event: PreparedEvent,
) -> Result<(), StoreError> {
    let Some(key) = event.call.clone() else {
        return tx.log(head, None, event).map(drop);
    };
    let (id, ended) = match head.call(&key) {
        Some(open) => (open.id, false),
        None => call_rows::standing(tx, head.id, &key)?.ok_or(StoreError::NotFound)?,
    };
    if ended && !event.after_end {
        return Ok(());
    }
    let closes = event.after_end && ended;
    let seq = tx.log(head, Some(id), event)?;
    call_rows::touch(tx, id, seq, closes)?;
    if let Some(mut open) = head.take_call(&key) {
        Arc::make_mut(&mut open.call).last_seq = seq;
        head.put_call(key, open);
    }
    Ok(())
}

/// A step, written as far as it can be outside the writer's thread.
struct PreparedStep {
    session_id: String,
    key: String,
    from: &'static [CallStatus],
    to: CallStatus,
    patch: PreparedPatch,
    approvals: PreparedApprovals,
    events: Vec<PreparedEvent>,
    audit: Vec<PreparedAudit>,
}

impl PreparedStep {
    fn new(step: CallStep) -> Result<Self, StoreError> {
        let key = step.key.storage_key();
        let approvals = PreparedApprovals::new(step.approval, &step.session_id, &step.key)?;
        let patch = PreparedPatch::new(step.patch)?;
        let events = PreparedEvent::all(&step.events, patch.result(&key))?;
        Ok(Self {
            session_id: step.session_id,
            key,
            from: step.from,
            to: step.to,
            patch,
            approvals,
            events,
            audit: PreparedAudit::all(&step.audit)?,
        })
    }

    /// An ended call never moves on to another status, and each has exactly one ending event.
    fn check(&self, now: CallStatus) -> Result<(), StoreError> {
        let ends = !now.has_ended() && self.to.has_ended();
        let mut own = self.events.iter().filter(|event| event.call.as_deref() == Some(self.key.as_str()));
        if self.events.iter().filter(|event| event.ends_call).count() != usize::from(ends) {
            return Err(wrong("a step has one ending event where it ends its call, else none"));
        }
        let last = own.rfind(|event| !event.after_end);
        if ends && !last.is_some_and(|event| event.ends_call) {
            return Err(wrong("a call's ending event is its own, and its last"));
        }
        if now.has_ended() && self.patch.result(&self.key).is_some() {
            return Err(wrong("an ended call's result is final: its ending event tells it"));
        }
        if now.has_ended() && last.is_some() {
            return Err(wrong("an ended call has no more events but the end of what it left behind"));
        }
        Ok(())
    }
}

fn take_step(tx: &mut Tx<'_>, step: PreparedStep) -> Result<Arc<Call>, StoreError> {
    let mut head = tx.active(&step.session_id)?;
    let mut known = known_call(tx, &mut head, &step.key)?.ok_or(StoreError::NotFound)?;
    let now = known.call.status;
    if !step.from.contains(&now) || (now.has_ended() && step.to != now) {
        let moved = Box::new(Call::clone(&known.call));
        keep(&mut head, step.key, known);
        tx.put_back(head);
        return Err(StoreError::CallMoved(moved));
    }
    step.check(now)?;
    approvals::apply(tx, head.id, known.id, step.approvals)?;
    if step.to.has_ended() && known.call.approval_id.is_some() {
        close_left_open(tx, &mut head, &known)?;
    }
    let mut last_seq = known.call.last_seq;
    let mut closes = step.to.has_ended() && step.to != CallStatus::Backgrounded;
    for event in step.events {
        match &event.call {
            None => drop(tx.log(&mut head, None, event)?),
            Some(key) if *key == step.key => {
                closes |= event.after_end;
                last_seq = tx.log(&mut head, Some(known.id), event)?;
            }
            Some(_) => log_beside_steps(tx, &mut head, event)?,
        }
    }
    audit::append(tx, head.id, &step.audit)?;
    step.patch.write(tx, known.id, step.to, closes, last_seq)?;
    known.weight += step.patch.weight();
    let call = Arc::make_mut(&mut known.call);
    call.status = step.to;
    call.last_seq = last_seq;
    step.patch.apply(call);
    let answer = Arc::clone(&known.call);
    keep(&mut head, step.key, known);
    tx.done(head)?;
    Ok(answer)
}

/// Cancels an approval that waits though its call ends: nobody is asked about a call that is over.
fn close_left_open(tx: &mut Tx<'_>, head: &mut Head, known: &OpenCall) -> Result<(), StoreError> {
    let Some(approval_id) = approvals::close(tx, known.id, ApprovalStatus::Cancelled)? else { return Ok(()) };
    let resolved = AgentEvent::ToolApprovalResolved {
        call: CallRef::from(&known.call.key),
        approval_id,
        decision: Resolution::Cancelled,
        scope: Scope::Once,
        by: "server".to_owned(),
        arguments: None,
    };
    tx.log(head, Some(known.id), PreparedEvent::new(&resolved)?).map(drop)
}

/// Cancels a call that its session leaves behind.
pub(super) fn cancel_in_ended_session(
    tx: &mut Tx<'_>,
    head: &mut Head,
    key: &str,
) -> Result<Arc<Call>, StoreError> {
    const REASON: &str = "The session was ended before this call had its result.";
    let known = known_call(tx, head, key)?.ok_or(StoreError::NotFound)?;
    let call = CallRef::from(&known.call.key);
    let patch = PreparedPatch::new(CallPatch {
        result: Some(ToolResult::unsuccessful(REASON)),
        error: Some(CallError { code: "cancelled".to_owned(), message: REASON.to_owned() }),
        finished_at: Some(tx.now()),
        ..CallPatch::default()
    })?;
    close_left_open(tx, head, &known)?;
    let cancelled = AgentEvent::ToolCancelled { call, reason: REASON.to_owned() };
    let last_seq = tx.log(head, Some(known.id), PreparedEvent::new(&cancelled)?)?;
    patch.write(tx, known.id, CallStatus::Cancelled, true, last_seq)?;
    let mut call = known.call;
    Arc::make_mut(&mut call).status = CallStatus::Cancelled;
    Ok(call)
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{Fixture, call_of, finish, key, moment, new_call, step, token};
    use super::*;
    use crate::domain::outcome::Question;
    use crate::store::{EventLog as _, SessionStore as _};
    use serde_json::{Value, json};

    const QUEUED: &[CallStatus] = &[CallStatus::Queued];

    #[tokio::test(flavor = "multi_thread")]
    async fn a_call_is_accepted_once() {
        let f = Fixture::new().await;
        let call = f.accept_one("c").await;
        assert_eq!((call.first_seq, call.last_seq), (2, 2));
        assert_eq!(f.accept(new_call("c")).await.unwrap(), Accepted::Existing(call.clone()));
        assert_eq!(f.get("c").await, call);
        let other = call_of("s", key("c"), json!({"path": "b"}));
        assert_eq!(f.accept(other.clone()).await.unwrap(), Accepted::Conflict);
        // The same id in a turn, and in another session, is another call.
        let turn = CallKey::new(Some("t".to_owned()), "c".to_owned()).unwrap();
        let in_turn = call_of("s", turn.clone(), json!({"path": "b"}));
        assert!(matches!(f.accept(in_turn.clone()).await.unwrap(), Accepted::New(_)));
        let elsewhere = call_of("other", key("c"), json!({}));
        assert!(matches!(f.accept(elsewhere).await.unwrap(), Accepted::New(_)));
        assert_eq!(f.call("s", &turn).await.unwrap().unwrap().key, turn);
        assert_eq!(f.fingerprint("s", &turn).await.unwrap(), Some(in_turn.fingerprint));
        assert!(matches!(f.accept(call_of("nobody", key("c"), json!({}))).await, Err(StoreError::NotFound)));
        assert_eq!(f.call("nobody", &key("c")).await.unwrap(), None);
        // Nothing of it is forgotten by a new start.
        let f = f.reopened().await;
        assert_eq!(f.accept(new_call("c")).await.unwrap(), Accepted::Existing(call));
        assert_eq!(f.accept(other).await.unwrap(), Accepted::Conflict);
        assert_eq!(f.kinds("s").await, ["session_started", "tool_start", "tool_start"]);
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn one_of_many_racing_accepts_is_new() {
        let f = Fixture::new().await;
        let racing: Vec<_> = (0..64)
            .map(|_| {
                let store = Arc::clone(&f.store);
                tokio::spawn(async move { store.accept(new_call("c")).await.unwrap() })
            })
            .collect();
        let mut new = 0;
        for task in racing {
            match task.await.unwrap() {
                Accepted::New(_) => new += 1,
                Accepted::Existing(_) => {}
                Accepted::Conflict => panic!("the same call"),
            }
        }
        assert_eq!(new, 1);
        assert_eq!(f.kinds("s").await, ["session_started", "tool_start"]);
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_batch_is_accepted_whole_or_not_at_all() {
        let f = Fixture::new().await;
        f.accept_one("b").await;
        let conflict = call_of("s", key("b"), json!({"path": "else"}));
        let batch = vec![new_call("a"), new_call("b"), conflict, new_call("d")];
        assert_eq!(f.accept_all(batch).await.unwrap(), Err(2));
        assert_eq!(f.call("s", &key("a")).await.unwrap(), None);
        let taken = f.accept_all(vec![new_call("a"), new_call("b"), new_call("d")]).await.unwrap().unwrap();
        let numbers: Vec<(bool, u64)> = taken
            .iter()
            .map(|accepted| match accepted {
                Accepted::New(call) => (true, call.first_seq),
                Accepted::Existing(call) => (false, call.first_seq),
                Accepted::Conflict => panic!("none"),
            })
            .collect();
        assert_eq!(numbers, [(true, 3), (false, 2), (true, 4)]);
        assert_eq!(f.kinds("s").await.len(), 4);
        let listed = f.calls("s", PageRequest { cursor: None, limit: 10 }).await.unwrap();
        assert_eq!(
            listed.items.iter().map(|call| call.key.call_id.as_str()).collect::<Vec<_>>(),
            ["b", "a", "d"]
        );
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn one_of_many_racing_steps_wins() {
        let f = Fixture::new().await;
        f.accept_one("c").await;
        let racing: Vec<_> = (0..100)
            .map(|_| {
                let store = Arc::clone(&f.store);
                tokio::spawn(async move { store.step(finish("c", QUEUED)).await })
            })
            .collect();
        let mut won = 0;
        for task in racing {
            match task.await.unwrap() {
                Ok(_) => won += 1,
                Err(StoreError::CallMoved(call)) => assert_eq!(call.status, CallStatus::Completed),
                Err(error) => panic!("{error}"),
            }
        }
        assert_eq!(won, 1);
        assert_eq!(f.kinds("s").await, ["session_started", "tool_start", "tool_complete"]);
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn what_a_step_answers_is_what_is_read_later() {
        let f = Fixture::new().await;
        f.accept_one("c").await;
        let mut asks = step("c", QUEUED, CallStatus::AwaitingAnswer);
        asks.patch.question =
            Some(Question { question: "Which?".to_owned(), options: vec![], allow_custom: true });
        assert_eq!(f.step(asks).await.unwrap(), f.get("c").await);
        let mut runs = step("c", &[CallStatus::AwaitingAnswer], CallStatus::Running);
        runs.patch.started_at = Some(moment());
        runs.sync = true;
        assert_eq!(f.step(runs).await.unwrap(), f.get("c").await);
        f.append(Some("s"), vec![token("c", "x")]).await.unwrap();
        let done = f.step(finish("c", &[CallStatus::Running])).await.unwrap();
        assert_eq!((done.first_seq, done.last_seq), (2, 4));
        assert_eq!(done.details, Some(json!({"exit_code": 0})));
        assert_eq!(done, f.get("c").await);
        let f = f.reopened().await;
        assert_eq!(done, f.get("c").await);
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn an_ended_call_stays_ended_and_has_one_end() {
        let f = Fixture::new().await;
        f.accept_one("c").await;
        let silent = step("c", QUEUED, CallStatus::Completed);
        assert!(matches!(f.step(silent).await, Err(StoreError::Failed(_))));
        let mut chatty = finish("c", QUEUED);
        chatty.events.push(token("c", "after the end"));
        assert!(matches!(f.step(chatty).await, Err(StoreError::Failed(_))));
        let mut twice = finish("c", QUEUED);
        twice.events.extend(twice.events.clone());
        assert!(matches!(f.step(twice).await, Err(StoreError::Failed(_))));
        let early = CallStep { to: CallStatus::Running, ..finish("c", QUEUED) };
        assert!(matches!(f.step(early).await, Err(StoreError::Failed(_))));
        f.step(finish("c", QUEUED)).await.unwrap();
        for to in [CallStatus::Running, CallStatus::Queued, CallStatus::Cancelled] {
            let again = step("c", &[CallStatus::Completed], to);
            assert!(matches!(f.step(again).await, Err(StoreError::CallMoved(_))));
        }
        assert!(matches!(f.step(finish("d", QUEUED)).await, Err(StoreError::NotFound)));
        assert_eq!(f.kinds("s").await, ["session_started", "tool_start", "tool_complete"]);
        assert_eq!(f.open_calls().await.unwrap(), []);
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn long_arguments_lie_beside_the_row() {
        let f = Fixture::new().await;
        let long = json!({"content": "x".repeat(200_000)});
        let call = match f.accept(call_of("s", key("c"), long.clone())).await.unwrap() {
            Accepted::New(call) => call,
            other => panic!("{other:?}"),
        };
        assert_eq!(call, f.get("c").await);
        let mut edited = call.clone();
        for (number, arguments) in
            [json!({"content": "short"}), json!({"content": "y".repeat(5000)}), json!({})]
                .into_iter()
                .enumerate()
        {
            let mut edit = step("c", QUEUED, CallStatus::Queued);
            edit.patch.arguments = Some(arguments.clone());
            edited = f.step(edit).await.unwrap();
            assert_eq!(edited, f.get("c").await, "edit {number}");
            assert_eq!((&edited.arguments, edited.requested_arguments.as_ref()), (&arguments, Some(&long)));
        }
        // From short to long as well.
        f.accept_one("d").await;
        let mut edit = step("d", QUEUED, CallStatus::Queued);
        edit.patch.arguments = Some(long.clone());
        assert_eq!(f.step(edit.clone()).await.unwrap(), f.get("d").await);
        edit.patch.arguments = Some(json!({}));
        for _ in 0..2 {
            assert_eq!(f.step(edit.clone()).await.unwrap(), f.get("d").await);
        }
        let f = f.reopened().await;
        assert_eq!(edited, f.get("c").await);
        assert_eq!(f.get("d").await.requested_arguments, Some(json!({"path": "a"})));
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn open_calls_are_found_after_a_start() {
        let f = Fixture::new().await;
        for id in ["done", "runs", "shell", "shell-ended"] {
            f.accept_one(id).await;
        }
        f.accept(call_of("other", key("of-ended"), json!({}))).await.unwrap();
        f.step(finish("done", QUEUED)).await.unwrap();
        f.step(step("runs", QUEUED, CallStatus::Running)).await.unwrap();
        for id in ["shell", "shell-ended"] {
            let call = CallRef::from(&key(id));
            let mut background = step(id, QUEUED, CallStatus::Backgrounded);
            background.events = vec![AgentEvent::ToolBackgrounded { call, bash_id: id.to_owned() }];
            f.step(background).await.unwrap();
        }
        let mut end = step("shell-ended", &[CallStatus::Backgrounded], CallStatus::Backgrounded);
        end.patch.details = Some(json!({"background": {"exit_code": 1}}));
        end.events = vec![AgentEvent::BashCompleted {
            bash_id: "shell-ended".to_owned(),
            tool_call_id: Some("shell-ended".to_owned()),
            turn: None,
            exit_code: Some(1),
            signal: None,
            status: "exited".to_owned(),
            tail: String::new(),
        }];
        let ended = f.step(end).await.unwrap();
        assert_eq!(ended.details.unwrap()["background"]["exit_code"], 1);
        f.end_session("other").await.unwrap();
        let f = f.reopened().await;
        let open: Vec<String> =
            f.open_calls().await.unwrap().into_iter().map(|call| call.key.call_id).collect();
        assert_eq!(open, ["runs", "shell"]);
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn lists_go_on_where_they_stopped() {
        let f = Fixture::new().await;
        for n in 0..7 {
            f.accept_one(&format!("c{n}")).await;
            f.accept(call_of("other", key(&format!("o{n}")), json!({}))).await.unwrap();
        }
        let mut cursor = None;
        let mut pages = Vec::new();
        loop {
            let page = f.calls("s", PageRequest { cursor, limit: 3 }).await.unwrap();
            pages.push(page.items.into_iter().map(|call| call.key.call_id).collect::<Vec<_>>());
            cursor = page.next_cursor;
            if cursor.is_none() {
                break;
            }
        }
        assert_eq!(pages, [vec!["c0", "c1", "c2"], vec!["c3", "c4", "c5"], vec!["c6"]]);
        for bad in ["x", "-1", "1; DROP TABLE calls", "99999999999999999999"] {
            let page = PageRequest { cursor: Some(bad.to_owned()), limit: 3 };
            assert!(matches!(f.calls("s", page).await, Err(StoreError::BadCursor)), "{bad}");
        }
        let whole = PageRequest { cursor: None, limit: 7 };
        assert_eq!(f.calls("s", whole).await.unwrap().next_cursor, None);
        // Long arguments make short pages.
        for n in 0..3 {
            let long = json!({"content": "x".repeat(3 << 20)});
            f.accept(call_of("s", key(&format!("long{n}")), long)).await.unwrap();
        }
        let page = f.calls("s", PageRequest { cursor: None, limit: 1000 }).await.unwrap();
        assert_eq!(page.items.len(), 8);
        assert!(page.next_cursor.is_some());
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn b8_outside_strings_stay_values() {
        let f = Fixture::new().await;
        let names = ["../../x", "'; DROP TABLE events; --", "%00", "a/b", "\u{202e}"];
        for id in names {
            let mut new = call_of("s", key(id), Value::String("not an object".to_owned()));
            new.call.tool_name = format!("{id}\0");
            let Accepted::New(call) = f.accept(new).await.unwrap() else { panic!("new") };
            assert_eq!(f.get(id).await, call);
        }
        assert_eq!(f.kinds("s").await.len(), 1 + names.len());
        let mut files: Vec<String> = std::fs::read_dir(f.dir.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        files.sort();
        let known = ["toolgate.lock", "toolgate.sqlite", "toolgate.sqlite-shm", "toolgate.sqlite-wal"];
        assert_eq!(files, known);
    }
}
