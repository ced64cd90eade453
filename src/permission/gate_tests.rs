//! The gate: its order of proxy, people and nobody; what an allow is bound to; one start a call.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use serde_json::json;

use super::super::call::NothingToPreview;
use super::super::desk::ProxyError;
use super::super::petition::Petition;
use super::*;
use crate::domain::approval::{Approval, ApprovalStatus, AskReason};
use crate::domain::clock::Timestamp;
use crate::domain::digest::Digest;
use crate::domain::session::PermissionMode;
use crate::permission::Touch;

/// A policy that says one thing to everything.
#[derive(Clone)]
enum Says {
    Allow,
    Ask,
    Forced,
    Deny,
}

#[async_trait]
impl PermissionChecker for Says {
    fn requires_forced_confirmation(&self, _: &PermissionRequest<'_>) -> bool {
        matches!(self, Self::Forced)
    }

    async fn check_or_request(&self, _: &PermissionRequest<'_>) -> Result<(), PermissionError> {
        match self {
            Self::Allow | Self::Forced => Ok(()),
            Self::Deny => Err(PermissionError::Denied { by: DeniedBy::Rule, message: "no".into() }),
            Self::Ask => Err(asks()),
        }
    }

    async fn check_or_request_forced(&self, _: &PermissionRequest<'_>) -> Result<(), PermissionError> {
        Err(asks())
    }

    fn hidden(&self, _: &PermissionRequest<'_>) -> Hidden {
        Hidden::default()
    }
}

fn asks() -> PermissionError {
    PermissionError::ConfirmationRequired(Box::new(Confirmation {
        reason: AskReason { text: "asked".into(), rule: None },
        offers: Vec::new(),
        leaves: None,
        forced: false,
        bound: None,
    }))
}

/// A host, or a desk, that answers one thing and counts how often it was asked.
struct Answers {
    standing: Mutex<Option<Standing>>,
    proxy: Option<Result<ProxyDecision, ProxyError>>,
    asked: AtomicUsize,
    begun: AtomicUsize,
    digests: Mutex<Vec<Digest>>,
}

impl Answers {
    fn new(standing: Option<Standing>, proxy: Option<Result<ProxyDecision, ProxyError>>) -> Arc<Self> {
        Arc::new(Self {
            standing: Mutex::new(standing),
            proxy,
            asked: AtomicUsize::new(0),
            begun: AtomicUsize::new(0),
            digests: Mutex::new(Vec::new()),
        })
    }

    fn hear(&self, ask: &Ask) {
        self.asked.fetch_add(1, Ordering::SeqCst);
        self.digests.lock().unwrap().push(ask.digest.clone());
    }
}

#[async_trait]
impl ApprovalDesk for Answers {
    async fn consult(&self, _: &Scope, ask: &Ask) -> Result<Standing, ToolError> {
        self.hear(ask);
        Ok(self.standing.lock().unwrap().clone().unwrap())
    }

    async fn begin(&self, _: &Scope, _: Start) -> Result<(), ToolError> {
        self.begun.fetch_add(1, Ordering::SeqCst);
        Ok(())
    }
}

#[async_trait]
impl ApprovalProxy for Answers {
    async fn request(&self, ask: &Ask, _: &Scope) -> Result<ProxyDecision, ProxyError> {
        self.hear(ask);
        self.proxy.clone().unwrap()
    }
}

fn allowed() -> Standing {
    Standing::Allowed { approval_id: "apr_1".into() }
}

fn waiting() -> Standing {
    let moment = Timestamp::from_millisecond(0).unwrap();
    Standing::Waiting(Box::new(Approval {
        approval_id: "apr_1".into(),
        session_id: "s".into(),
        call: crate::domain::identity::CallKey { turn: None, call_id: "c".into() },
        tool_name: "T".into(),
        arguments: json!({}),
        digest: Digest::of(b""),
        status: ApprovalStatus::Pending,
        reason: AskReason { text: String::new(), rule: None },
        cwd: String::new(),
        cwd_exact: None,
        cwd_from: None,
        sandbox: String::new(),
        diff: None,
        leaves: None,
        display: String::new(),
        offers: Vec::new(),
        claim: None,
        grants_expire_in_s: None,
        created_at: moment,
        expires_at: moment,
        decision: None,
        changed_files: Vec::new(),
        changed_files_left_out: 0,
        identical: Vec::new(),
        worker: None,
        forwarded: false,
    }))
}

fn call() -> ResolvedCall {
    ResolvedCall {
        tool_call_id: "c".into(),
        tool_name: "T".into(),
        other_names: Vec::new(),
        arguments: Arc::new(json!({"a": 1})),
        mutability: ToolMutability::Mutating,
        concurrency_safe: false,
        touches: vec![Touch::Foreign],
        repair: None,
    }
}

struct Place {
    _folder: tempfile::TempDir,
    scope: Arc<Scope>,
}

fn place() -> Place {
    let folder = tempfile::tempdir().unwrap();
    let workspace = Workspace::open(&folder.path().canonicalize().unwrap()).unwrap();
    let mut scope = Scope::standalone(Arc::new(workspace), "c");
    scope.session_id = Some("s".into());
    Place { _folder: folder, scope: Arc::new(scope) }
}

impl Place {
    fn circumstances(&self) -> Circumstances<'_> {
        Circumstances {
            scope: Some(&self.scope),
            bypass: false,
            mode: PermissionMode::Default,
            interactive: true,
        }
    }
}

async fn permit(gate: &Gate, place: &Place) -> Result<Clearance, ToolError> {
    gate.permit(call(), &NothingToPreview, place.circumstances()).await
}

fn denied_by(outcome: Result<Clearance, ToolError>) -> DeniedBy {
    match outcome {
        Err(ToolError::Denied { by, .. }) => by,
        other => panic!("not denied: {other:?}"),
    }
}

#[tokio::test]
async fn an_allowed_call_asks_nobody_and_begins_once() {
    let (place, desk) = (place(), Answers::new(Some(waiting()), None));
    let gate = Gate::new(Arc::new(Says::Allow)).with_desk(desk.clone());
    assert!(matches!(permit(&gate, &place).await, Ok(Clearance::Permitted(_))));
    assert_eq!((desk.asked.load(Ordering::SeqCst), desk.begun.load(Ordering::SeqCst)), (0, 1));
}

#[tokio::test]
async fn a_denial_reaches_neither_proxy_nor_people() {
    let (place, desk) =
        (place(), Answers::new(Some(allowed()), Some(Ok(ProxyDecision::Allow { by: "reviewer".into() }))));
    let gate = Gate::new(Arc::new(Says::Deny)).with_desk(desk.clone()).with_proxy(desk.clone());
    assert_eq!(denied_by(permit(&gate, &place).await), DeniedBy::Rule);
    assert_eq!((desk.asked.load(Ordering::SeqCst), desk.begun.load(Ordering::SeqCst)), (0, 0));
}

#[tokio::test]
async fn the_proxy_comes_before_people_and_whatever_goes_wrong_there_denies() {
    let place = place();
    let people = Answers::new(Some(allowed()), None);
    for (decision, by) in [
        (Ok(ProxyDecision::Allow { by: "reviewer".into() }), None),
        (Ok(ProxyDecision::Deny { by: "reviewer".into(), message: None }), Some(DeniedBy::Reviewer)),
        (Err(ProxyError("it does not answer".into())), Some(DeniedBy::NoHuman)),
    ] {
        let host = Answers::new(None, Some(decision));
        let gate = Gate::new(Arc::new(Says::Ask)).with_desk(people.clone()).with_proxy(host.clone());
        let outcome = permit(&gate, &place).await;
        assert_eq!(host.asked.load(Ordering::SeqCst), 1);
        match by {
            None => assert!(matches!(outcome, Ok(Clearance::Permitted(_)))),
            Some(by) => assert_eq!(denied_by(outcome), by),
        }
    }
    assert_eq!(people.asked.load(Ordering::SeqCst), 0, "people are not asked where a host is");
}

#[tokio::test]
async fn what_outlasts_a_call_is_not_a_hosts_to_allow() {
    let place = place();
    let plan = || ResolvedCall {
        touches: vec![Touch::Petition(Petition::EndOfPlan { plan: "p".into() })],
        ..call()
    };
    let host = Answers::new(None, Some(Ok(ProxyDecision::Allow { by: "reviewer".into() })));
    let people = Answers::new(Some(waiting()), None);
    let gate = Gate::new(Arc::new(Says::Ask)).with_proxy(host.clone());
    let outcome = gate.permit(plan(), &NothingToPreview, place.circumstances()).await;
    assert_eq!(denied_by(outcome), DeniedBy::NoHuman);
    let gate = gate.with_desk(people.clone());
    let outcome = gate.permit(plan(), &NothingToPreview, place.circumstances()).await;
    assert!(matches!(outcome, Ok(Clearance::Pause(_))));
    assert_eq!((host.asked.load(Ordering::SeqCst), people.asked.load(Ordering::SeqCst)), (0, 1));
}

#[tokio::test]
async fn people_allow_pause_or_refuse_and_a_pause_is_never_a_start() {
    let place = place();
    let refused = Standing::Denied { by: DeniedBy::Reviewer, message: "not now".into() };
    for (standing, begun) in [(allowed(), 1), (waiting(), 0), (refused, 0)] {
        let desk = Answers::new(Some(standing.clone()), None);
        let gate = Gate::new(Arc::new(Says::Ask)).with_desk(desk.clone());
        match (standing, permit(&gate, &place).await) {
            (Standing::Allowed { .. }, Ok(Clearance::Permitted(_))) => {}
            (Standing::Waiting(_), Ok(Clearance::Pause(outcome))) => {
                assert!(matches!(*outcome, ToolOutcome::NeedsHuman(HumanRequest::Approval(_))));
                let collapsed = outcome.into_result();
                assert_eq!(collapsed.display_preference.as_deref(), Some("request_permissions"));
            }
            (Standing::Denied { .. }, Err(ToolError::Denied { message, .. })) => {
                assert_eq!(message, "not now");
            }
            other => panic!("{other:?}"),
        }
        assert_eq!(desk.begun.load(Ordering::SeqCst), begun);
    }
}

#[tokio::test]
async fn without_anyone_to_ask_it_is_refused() {
    let place = place();
    let desk = Answers::new(Some(allowed()), None);
    let with_desk = Gate::new(Arc::new(Says::Ask)).with_desk(desk.clone());
    let nobody_interactive = Circumstances { interactive: false, ..place.circumstances() };
    let no_scope = Circumstances { scope: None, ..place.circumstances() };
    let alone = Gate::new(Arc::new(Says::Ask));
    for (gate, circumstances) in
        [(&alone, place.circumstances()), (&with_desk, nobody_interactive), (&with_desk, no_scope)]
    {
        let outcome = gate.permit(call(), &NothingToPreview, circumstances).await;
        assert_eq!(denied_by(outcome), DeniedBy::NoHuman);
    }
    assert_eq!(desk.asked.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn what_has_to_be_confirmed_asks_although_the_policy_would_allow() {
    let (place, desk) = (place(), Answers::new(Some(waiting()), None));
    let gate = Gate::new(Arc::new(Says::Forced)).with_desk(desk.clone());
    let bypass = Circumstances { bypass: true, ..place.circumstances() };
    let outcome = gate.permit(call(), &NothingToPreview, bypass).await;
    assert!(matches!(outcome, Ok(Clearance::Pause(_))));
}

#[tokio::test]
async fn checking_starts_nothing_and_can_be_repeated() {
    let (place, desk) = (place(), Answers::new(Some(waiting()), None));
    let gate = Gate::new(Arc::new(Says::Ask)).with_desk(desk.clone());
    for _ in 0..3 {
        let paused = gate.check(&call(), &NothingToPreview, place.circumstances()).await.unwrap();
        assert!(paused.is_some());
    }
    *desk.standing.lock().unwrap() = Some(allowed());
    assert_eq!(gate.check(&call(), &NothingToPreview, place.circumstances()).await.unwrap(), None);
    assert_eq!(desk.begun.load(Ordering::SeqCst), 0);
    let digests = desk.digests.lock().unwrap();
    assert!(digests.windows(2).all(|pair| pair[0] == pair[1]), "the same call has the same digest");
}

/// A previewer whose file has some content.
struct Shows(&'static [u8]);

#[async_trait]
impl Previewer for Shows {
    async fn preview(&self, _: &Value, _: &Scope) -> Result<Preview, ToolError> {
        let files = vec![(PathBuf::from("/f"), Some(ContentHash::of(self.0)))];
        Ok(Preview { files, ..Preview::default() })
    }
}

#[tokio::test]
async fn an_allow_is_bound_to_everything_that_it_covers() {
    let place = place();
    let digest = async |call: ResolvedCall, shows: &Shows, gate: &Gate| {
        let review = gate.review(&call, shows, place.circumstances()).await.unwrap();
        match review.verdict() {
            Reviewed::Ask(ask) => ask.digest.clone(),
            Reviewed::Allowed => panic!("it asks"),
        }
    };
    let desk = Answers::new(Some(waiting()), None);
    let gate = Gate::new(Arc::new(Says::Ask)).with_desk(desk.clone());
    let sandboxed = gate.clone().with_sandbox("full");
    let plain = digest(call(), &Shows(b"1"), &gate).await;
    let reading = |text: &str, edits: bool| ResolvedCall {
        touches: vec![if edits { Touch::Edit(text.into()) } else { Touch::Read(text.into()) }],
        ..call()
    };
    let others = [
        digest(ResolvedCall { tool_name: "U".into(), ..call() }, &Shows(b"1"), &gate).await,
        digest(ResolvedCall { arguments: Arc::new(json!({"a": 2})), ..call() }, &Shows(b"1"), &gate).await,
        digest(call(), &Shows(b"2"), &gate).await,
        digest(call(), &Shows(b"1"), &sandboxed).await,
        digest(reading("x", false), &Shows(b"1"), &gate).await,
        digest(reading("x", true), &Shows(b"1"), &gate).await,
        digest(reading("y", true), &Shows(b"1"), &gate).await,
    ];
    for (index, other) in others.iter().enumerate() {
        assert_ne!(*other, plain, "{index}");
        assert!(!others[..index].contains(other), "{index}");
    }
}

#[test]
fn an_allow_of_a_plain_ask_does_not_fit_a_forced_one() {
    let of = |forced: bool, leads: Option<&Digest>| {
        let call = call();
        binding::digest(&call, &[], &Preview::default(), Path::new("/"), "none", (forced, leads))
    };
    let (one, other) = (Digest::of(b"1"), Digest::of(b"2"));
    let all = [of(false, None), of(true, None), of(false, Some(&one)), of(false, Some(&other))];
    for (n, digest) in all.iter().enumerate() {
        assert!(all[..n].iter().all(|before| before != digest), "{n}");
    }
    assert_eq!(of(true, Some(&one)), of(true, Some(&one)));
}

#[tokio::test]
async fn the_tool_gets_the_content_that_was_shown() {
    let (place, desk) = (place(), Answers::new(Some(allowed()), None));
    let gate = Gate::new(Arc::new(Says::Ask)).with_desk(desk);
    match gate.permit(call(), &Shows(b"1"), place.circumstances()).await {
        Ok(Clearance::Permitted(permitted)) => {
            assert_eq!(permitted.approved_content(Path::new("/f")), Some(Some(ContentHash::of(b"1"))));
            assert_eq!(permitted.approved_content(Path::new("/g")), None);
            assert_eq!(permitted.arguments(), &json!({"a": 1}));
        }
        other => panic!("{other:?}"),
    }
}
