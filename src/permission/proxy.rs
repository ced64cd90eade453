//! The approval proxy over HTTP: asks a host, waits for its decision through outages, and takes nothing but a
//! clear allow of exactly what was asked for an allow.

mod exchange;

use std::time::Duration;

use async_trait::async_trait;
use tokio::time::Instant;

use super::desk::{ApprovalProxy, Ask, ProxyDecision, ProxyError, Withdrawn};
use super::scope::Scope;
use crate::config::ForwardConfig;
use crate::domain::approval::{ApprovalStatus, Choice};
use crate::domain::clock::SharedClock;
use crate::domain::digest::Digest;
use crate::domain::visible;
use crate::domain::worker::{ASK_BYTES_MAX, EXPIRES_IN_S_MAX, WorkerAsk, WorkerStanding};
pub use exchange::HostSecret;
use exchange::{Failure, Host};

/// How long a host is let wait with its answer, so that connections do not look idle.
const POLL: Duration = Duration::from_secs(25);
/// How often a host is asked at most that answers at once although it could wait.
const POLL_APART: Duration = Duration::from_millis(500);
/// How long it is waited after a failure, at first and at most.
const RETRY_FIRST: Duration = Duration::from_millis(200);
const RETRY_MOST: Duration = Duration::from_secs(5);
/// The most characters of a reviewer's name, and the most bytes of a message: what a host takes itself.
const NAME_MAX: usize = 64;
const MESSAGE_BYTES_MAX: usize = 16 * 1024;

/// A host that this server forwards its asks to.
pub struct HostProxy {
    host: Host,
    name: String,
    retry_for: Duration,
    clock: SharedClock,
}

impl HostProxy {
    /// A proxy for the host of the config; `secret` is where its token is kept. The error says what about the
    /// config's files is wrong. Nothing is sent yet.
    pub fn new(config: &ForwardConfig, secret: HostSecret, clock: SharedClock) -> Result<Self, String> {
        Ok(Self {
            host: Host::new(config, secret)?,
            name: config.name.clone(),
            retry_for: Duration::from_secs(config.retry_for_s),
            clock,
        })
    }

    /// The ask; `whole` with what hosts have not always taken, which otherwise is only told of.
    fn body(&self, ask: &Ask, session_id: &str, scope: &Scope, whole: bool) -> Result<String, ProxyError> {
        let left = ask.opened.as_ref().map_or(EXPIRES_IN_S_MAX, |opened| {
            let ms = opened.expires_at.as_millisecond() - self.clock.now().as_millisecond();
            u64::try_from(ms).unwrap_or(0).div_ceil(1_000)
        });
        let changed = ask.opened.as_ref().map(|opened| opened.changed_files.clone());
        let (mut changed_files, mut changed_files_left_out) = changed.unwrap_or_default();
        let mut reason = ask.reason.clone();
        if !whole {
            reason
                .text
                .push_str(", and the session changed files that would run, which this host cannot show");
            (changed_files, changed_files_left_out) = (Vec::new(), 0);
        }
        let body = WorkerAsk {
            worker: self.name.clone(),
            session_id: session_id.to_owned(),
            turn: scope.key.turn.clone(),
            call_id: scope.key.call_id.clone(),
            tool_name: ask.tool_name.clone(),
            arguments: ask.arguments.clone(),
            digest: ask.digest.clone(),
            reason,
            cwd: ask.directory.clone(),
            sandbox: ask.sandbox.clone(),
            diff: ask.preview.diff.clone(),
            leaves: ask.leaves.clone(),
            display: ask.display.clone(),
            changed_files,
            changed_files_left_out,
            expires_in_s: left.clamp(1, EXPIRES_IN_S_MAX),
        };
        let refused = |why: String| ProxyError(format!("what is asked is too large to be forwarded: {why}"));
        body.check().map_err(|(pointer, why)| refused(format!("{pointer}: {why}")))?;
        let body = serde_json::to_string(&body).map_err(|error| ProxyError(error.to_string()))?;
        if body.len() > ASK_BYTES_MAX {
            return Err(refused(format!("{} bytes, at most {ASK_BYTES_MAX} are taken", body.len())));
        }
        Ok(body)
    }
}

#[async_trait]
impl ApprovalProxy for HostProxy {
    async fn request(&self, ask: &Ask, scope: &Scope) -> Result<ProxyDecision, ProxyError> {
        let Some(session_id) = &scope.session_id else {
            return Err(ProxyError("a call without a session is not forwarded".to_owned()));
        };
        let id = ask_id(ask, session_id, scope);
        let mut patience = Patience::new(self.retry_for);
        let changes = ask.opened.as_ref().is_some_and(|opened| !opened.changed_files.0.is_empty());
        let (mut known, mut whole) = (false, true);
        loop {
            let sent = Instant::now();
            let heard = if known {
                self.host.standing(&id, POLL).await
            } else {
                self.host.ask(&id, self.body(ask, session_id, scope, whole)?).await
            };
            match heard {
                Ok(standing) => {
                    patience.renew();
                    if let Some(decision) = decision(&standing, &ask.digest)? {
                        return Ok(decision);
                    }
                    if known {
                        tokio::time::sleep(POLL_APART.saturating_sub(sent.elapsed())).await;
                    }
                    known = true;
                }
                Err(Failure::Unfit(why)) if changes && whole && !known => {
                    tracing::warn!(%why, "the approval host may be an older one: it is asked without `changed_files`");
                    whole = false;
                }
                Err(Failure::Final(why) | Failure::Unknown(why) | Failure::Unfit(why)) => {
                    tracing::warn!(%why, "the approval host gave no decision: the call is denied");
                    return Err(ProxyError(why));
                }
                Err(Failure::Passing(why)) => {
                    let Some(pause) = patience.lose(Instant::now(), &why) else {
                        let bound = self.retry_for.as_secs();
                        return Err(ProxyError(format!("it was out of reach for {bound} s ({why})")));
                    };
                    tokio::time::sleep(pause).await;
                }
            }
        }
    }

    async fn withdraw(&self, approval_id: &str) -> Result<Withdrawn, ProxyError> {
        match self.host.withdraw(approval_id).await {
            Ok(_) => Ok(Withdrawn::Gone),
            Err(Failure::Unknown(_)) => Ok(Withdrawn::Unknown),
            Err(Failure::Passing(why) | Failure::Final(why) | Failure::Unfit(why)) => Err(ProxyError(why)),
        }
    }
}

/// What names an ask on the host: the approval that stands for it here. Without one it is what is asked.
fn ask_id(ask: &Ask, session_id: &str, scope: &Scope) -> String {
    if let Some(opened) = &ask.opened {
        return opened.approval_id.clone();
    }
    let key = scope.key.storage_key();
    let fields = [session_id, &key, ask.digest.as_str()].map(str::as_bytes);
    Digest::of_fields(fields).as_str().to_owned()
}

/// What an answer decides; `None` while it waits. Whatever does not hold together is no decision.
fn decision(standing: &WorkerStanding, asked: &Digest) -> Result<Option<ProxyDecision>, ProxyError> {
    let no = |why: &str| Err(ProxyError(why.to_owned()));
    if standing.digest != *asked {
        return no("it answered for something else than what was asked");
    }
    match (standing.status, &standing.decision) {
        (ApprovalStatus::Pending, None) => Ok(None),
        (ApprovalStatus::Allowed, Some(made)) if made.decision == Choice::Allow => {
            Ok(Some(ProxyDecision::Allow { by: visible::clipped(&made.by, NAME_MAX) }))
        }
        (ApprovalStatus::Denied, Some(made)) if made.decision == Choice::Deny => {
            let message = made.message.clone().filter(|message| message.len() <= MESSAGE_BYTES_MAX);
            Ok(Some(ProxyDecision::Deny { by: visible::clipped(&made.by, NAME_MAX), message }))
        }
        (ApprovalStatus::Expired, _) => no("nobody decided there in time"),
        (ApprovalStatus::Cancelled, _) => no("the ask was taken back"),
        _ => no("its answer contradicts itself"),
    }
}

/// How long a host may be out of reach.
struct Patience {
    bound: Duration,
    lost_since: Option<Instant>,
    pause: Duration,
}

impl Patience {
    fn new(bound: Duration) -> Self {
        Self { bound, lost_since: None, pause: RETRY_FIRST }
    }

    fn renew(&mut self) {
        if self.lost_since.take().is_some() {
            tracing::info!("the approval host answers again");
        }
        self.pause = RETRY_FIRST;
    }

    /// How long to wait before the next attempt; none when it has been long enough.
    fn lose(&mut self, now: Instant, why: &str) -> Option<Duration> {
        if self.lost_since.is_none() {
            tracing::warn!(%why, "the approval host is out of reach; it is tried again");
        }
        let since = *self.lost_since.get_or_insert(now);
        let left = self.bound.saturating_sub(now.saturating_duration_since(since));
        let pause = self.pause.min(left);
        self.pause = (self.pause * 2).min(RETRY_MOST);
        Some(pause).filter(|pause| !pause.is_zero())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn heard(change: &[(&str, Value)]) -> Result<Option<ProxyDecision>, ProxyError> {
        let mut standing = json!({"approval_id": "apr_1", "status": "pending",
            "digest": Digest::of(b"asked"), "expires_at": "2026-12-01T00:00:00Z"});
        for (name, value) in change {
            standing[*name] = value.clone();
        }
        decision(&serde_json::from_value(standing).unwrap(), &Digest::of(b"asked"))
    }

    #[test]
    fn only_a_clear_allow_of_what_was_asked_allows() {
        let allow = ("decision", json!({"decision": "allow", "by": "anna\u{1b}"}));
        let deny = ("decision", json!({"decision": "deny", "by": "anna", "message": "no"}));
        let status = |status: &str| ("status", json!(status));
        assert_eq!(heard(&[]), Ok(None));
        let by = "anna\\u{1b}".to_owned();
        assert_eq!(heard(&[status("allowed"), allow.clone()]), Ok(Some(ProxyDecision::Allow { by })));
        let (by, message) = ("anna".to_owned(), Some("no".to_owned()));
        assert_eq!(heard(&[status("denied"), deny.clone()]), Ok(Some(ProxyDecision::Deny { by, message })));
        let other = ("digest", json!(Digest::of(b"other")));
        for wrong in [
            vec![status("allowed")],
            vec![status("allowed"), deny.clone()],
            vec![status("denied"), allow.clone()],
            vec![status("pending"), allow.clone()],
            vec![status("allowed"), allow.clone(), other.clone()],
            vec![status("pending"), other],
            vec![status("expired")],
            vec![status("cancelled"), allow.clone()],
            vec![status("superseded"), allow],
        ] {
            assert!(heard(&wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn patience_ends_and_is_renewed() {
        let mut patience = Patience::new(Duration::from_secs(20));
        let start = Instant::now();
        let (mut now, mut pauses) = (start, Vec::new());
        while let Some(pause) = patience.lose(now, "x") {
            now += pause;
            pauses.push(pause);
        }
        assert_eq!(now - start, Duration::from_secs(20), "no longer, and no shorter");
        assert!(pauses.is_sorted_by(|a, b| a <= b || *b < RETRY_MOST) && pauses.contains(&RETRY_MOST));
        assert_eq!(patience.lose(now, "x"), None);
        patience.renew();
        assert_eq!(patience.lose(now, "x"), Some(RETRY_FIRST));
    }
}
