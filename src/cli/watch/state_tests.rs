//! The screen's state as tables: what comes in, what is shown and what is ordered then.

use serde_json::{Value, json};

use super::*;
use crate::cli::approvals::samples::approval;

/// A state and its clock.
struct Table {
    state: State,
    up: u64,
}

impl Table {
    fn new() -> Self {
        Self { state: State::new(), up: 0 }
    }

    fn at(&self) -> Moment {
        let wall = Timestamp::from_second(1_800_000_000).unwrap();
        Moment { up: Duration::from_millis(self.up), wall }
    }

    fn take(&mut self, input: Input) -> Option<Order> {
        let at = self.at();
        self.state.apply(input, at)
    }

    fn event(&mut self, event: &Value) -> Option<Order> {
        let mut whole =
            json!({"seq": 1, "session_id": "s1", "time": "2026-11-30T20:15:01Z", "tool_call_id": "c1"});
        whole.as_object_mut().unwrap().extend(event.as_object().unwrap().clone());
        self.take(Input::Event(serde_json::from_value(whole).unwrap()))
    }

    fn ask(&mut self, id: &str) {
        self.event(&json!({"type": "tool_approval_requested", "tool_call_id": id, "approval": approval(id)}));
    }

    fn resolve(&mut self, id: &str) {
        self.event(&json!({"type": "tool_approval_resolved", "tool_call_id": id, "approval_id": id,
            "decision": "allow", "scope": "once", "by": "op"}));
    }

    /// Draws what is shown, to its end or not.
    fn draw(&mut self, end: bool) {
        let approval = self.state.shown().map(|_| (self.state.guard.generation(), end));
        self.take(Input::Drawn(Drawn { approval, scroll_max: if end { 0 } else { 30 }, page: 10 }));
    }

    /// Time goes by, tick by tick.
    fn wait(&mut self, ms: u64) {
        for _ in 0..ms / 100 {
            self.up += 100;
            self.take(Input::Tick);
        }
    }

    fn press(&mut self, key: char) -> Option<Order> {
        self.take(Input::Key(Key::Char(key), false))
    }

    fn shown(&self) -> Option<&str> {
        self.state.shown().map(|pending| pending.approval.approval_id.as_str())
    }

    fn remark(&self) -> &str {
        self.state.remark(self.at().up).unwrap_or_default()
    }
}

/// An approval that has been on the screen for long enough.
fn ready(ids: &[&str]) -> Table {
    let mut table = Table::new();
    for id in ids {
        table.ask(id);
    }
    table.draw(true);
    table.wait(1000);
    table
}

#[test]
fn each_key_decides_as_it_says() {
    let bash = |pattern: &str| Some(pattern.to_owned());
    for (key, expected) in [
        ('a', request(Choice::Allow, Scope::Once, None, None)),
        ('s', request(Choice::Allow, Scope::Session, bash("Bash(rm x)"), None)),
        ('d', request(Choice::Deny, Scope::Once, None, None)),
    ] {
        let order = ready(&["apr_1"]).press(key);
        assert_eq!(order, Some(Order::Decide { approval_id: "apr_1".into(), request: expected }), "{key}");
    }
    for key in ['x', 'y', 'D', 'S', '1', '\r'] {
        assert_eq!(ready(&["apr_1"]).press(key), None, "{key}");
    }
}

#[test]
fn of_several_rules_one_is_chosen() {
    let mut table = ready(&["apr_1"]);
    assert_eq!(table.press('A'), None);
    assert_eq!(table.state.mode, Mode::Choose(Scope::Always));
    assert_eq!(table.press('9'), None, "there are two");
    let Some(Order::Decide { request, .. }) = table.press('2') else { panic!() };
    assert_eq!(request.pattern.as_deref(), Some("Bash(rm *)"));
    let mut table = ready(&["apr_1"]);
    table.press('A');
    assert_eq!(table.take(Input::Key(Key::Escape, false)), None);
    assert_eq!((table.state.mode.clone(), table.press('1')), (Mode::Normal, None));
}

#[test]
fn a_message_goes_with_a_refusal() {
    let mut table = ready(&["apr_1"]);
    table.press('m');
    for c in "use a, not q?x".chars() {
        assert_eq!(table.press(c), None, "{c} is a letter of the message");
    }
    table.take(Input::Key(Key::Backspace, false));
    let Some(Order::Decide { request, .. }) = table.take(Input::Key(Key::Enter, false)) else { panic!() };
    assert_eq!((request.decision, request.message.as_deref()), (Choice::Deny, Some("use a, not q?")));
}

#[test]
fn what_has_just_come_up_is_not_decided() {
    let mut table = Table::new();
    assert_eq!(table.press('a'), None);
    assert!(table.remark().contains("nothing waits"));
    table.ask("apr_1");
    assert_eq!(table.press('a'), None, "it was not drawn");
    table.wait(5000);
    assert_eq!(table.press('a'), None, "still not");
    table.draw(true);
    assert_eq!(table.press('d'), None, "it was drawn this moment");
    assert!(table.remark().contains("just come up"), "{}", table.remark());
    table.wait(700);
    assert!(table.press('a').is_some());
}

#[test]
fn another_one_under_the_finger_is_not_decided() {
    let mut table = ready(&["apr_1", "apr_2"]);
    table.resolve("apr_1");
    assert_eq!(table.shown(), Some("apr_2"));
    table.draw(true);
    assert_eq!(table.press('a'), None, "the finger meant apr_1");
    table.wait(700);
    let Some(Order::Decide { approval_id, .. }) = table.press('a') else { panic!() };
    assert_eq!(approval_id, "apr_2");
    // One that comes later does not take the place of the one that is looked at.
    let mut table = ready(&["apr_1"]);
    table.ask("apr_0");
    assert_eq!(table.shown(), Some("apr_1"));
    assert!(table.press('a').is_some());
}

#[test]
fn what_is_typed_on_is_not_meant_for_the_next_one() {
    let mut table = ready(&["apr_1", "apr_2"]);
    table.press('m');
    table.press('n');
    table.resolve("apr_1");
    table.draw(true);
    for c in "o, please use another path and".chars() {
        table.wait(100);
        assert_eq!(table.press(c), None, "{c}");
    }
    assert_eq!(table.take(Input::Key(Key::Enter, false)), None);
    table.take(Input::Key(Key::Escape, false));
    assert_eq!(table.press('a'), None, "it begins to be looked at now");
    table.draw(true);
    table.wait(700);
    assert!(table.press('a').is_some());
}

#[test]
fn keys_that_come_together_or_late_do_not_decide() {
    let mut table = ready(&["apr_1"]);
    for key in ['a', 's', 'A', 'd', 'm'] {
        assert_eq!(table.take(Input::Key(Key::Char(key), true)), None, "{key}");
        assert_eq!(table.state.mode, Mode::Normal);
    }
    assert!(table.remark().contains("at once"));
    table.take(Input::Paste);
    assert!(table.remark().contains("pasted"));
    // The program was stopped: the key was typed at another screen.
    table.up += 60_000;
    assert_eq!(table.press('a'), None);
    table.draw(true);
    table.wait(700);
    assert!(table.press('a').is_some());
}

#[test]
fn what_was_not_read_to_its_end_is_not_allowed() {
    let mut table = Table::new();
    table.ask("apr_1");
    table.draw(false);
    table.wait(1000);
    assert_eq!(table.press('a'), None);
    assert!(table.remark().contains("goes on below"), "{}", table.remark());
    table.press(' ');
    assert_eq!(table.state.scroll, 9);
    table.take(Input::Key(Key::End, false));
    assert_eq!(table.state.scroll, 30);
    table.draw(true);
    assert!(table.press('a').is_some());
    let mut table = Table::new();
    table.ask("apr_1");
    table.draw(false);
    table.wait(1000);
    assert!(table.press('d').is_some(), "refusing needs no reading");
}

#[test]
fn a_decision_is_sent_once_and_what_it_met_is_told() {
    let decided = |still_waits| Input::Decided {
        approval_id: "apr_1".into(),
        outcome: Err(Refusal { text: "it was denied by op".into(), still_waits }),
    };
    let mut table = ready(&["apr_1"]);
    assert!(table.press('a').is_some());
    assert_eq!(table.press('a'), None, "it is on its way");
    table.take(decided(true));
    assert!(table.press('a').is_some(), "the connection failed: again");
    table.take(decided(false));
    assert_eq!((table.shown(), table.remark()), (None, "it was denied by op"));
}

#[test]
fn a_list_read_before_brings_nothing_back() {
    let list = |ids: &[&str]| ids.iter().map(|id| serde_json::from_value(approval(id)).unwrap()).collect();
    let mut table = ready(&["apr_1"]);
    table.resolve("apr_1");
    table.take(Input::Waiting(list(&["apr_1", "apr_2"]), false));
    assert_eq!((table.shown(), table.state.pending.len()), (Some("apr_2"), 1));
    table.take(Input::Waiting(list(&["apr_2"]), false));
    assert_eq!(table.state.pending.len(), 1);
    // Of more than are kept the rest is fetched when these are decided.
    let ids: Vec<String> = (0..PENDING_MAX + 5).map(|i| format!("apr_x{i}")).collect();
    for id in &ids {
        table.ask(id);
    }
    assert_eq!((table.state.pending.len(), table.state.more_waiting), (PENDING_MAX, true));
    table.state.pending.truncate(1);
    let only = table.shown().unwrap().to_owned();
    let order = table.take(Input::Decided { approval_id: only, outcome: Ok("allowed".into()) });
    assert_eq!(order, Some(Order::Refresh));
}

#[test]
fn a_session_that_ends_takes_its_approvals_along() {
    let mut table = ready(&["apr_1", "apr_2"]);
    table.event(&json!({"type": "session_ended"}));
    assert_eq!((table.shown(), table.state.pending.len()), (None, 0));
}

#[test]
fn calls_are_followed_and_selected() {
    let mut table = Table::new();
    let start = |table: &mut Table, id: &str| {
        table.event(&json!({"type": "tool_start", "tool_call_id": id, "tool_name": "Bash",
            "arguments": {"command": id}}));
    };
    let focus = |table: &Table| table.state.focus().map(|i| table.state.cards[i].key.call_id.clone());
    assert_eq!(focus(&table), None);
    start(&mut table, "c1");
    start(&mut table, "c2");
    assert_eq!(focus(&table).as_deref(), Some("c2"));
    table.event(
        &json!({"type": "tool_complete", "tool_call_id": "c2", "result": {"success": true, "result": "x"}}),
    );
    assert_eq!(focus(&table).as_deref(), Some("c1"), "it is the latest that is open");
    table.press('k');
    assert_eq!(focus(&table).as_deref(), Some("c2"));
    start(&mut table, "c3");
    assert_eq!(focus(&table).as_deref(), Some("c2"), "what was selected stays");
    table.press('j');
    assert_eq!(focus(&table).as_deref(), Some("c1"));
    table.press('j');
    assert_eq!(focus(&table).as_deref(), Some("c1"), "there is no older one");
    table.press('f');
    assert_eq!(focus(&table).as_deref(), Some("c3"));
    for i in 0..2 * CARDS_MAX {
        start(&mut table, &format!("n{i}"));
    }
    assert_eq!(table.state.cards.len(), CARDS_MAX);
}

#[test]
fn a_call_that_began_before_is_looked_up_once() {
    let mut table = Table::new();
    let token = json!({"type": "tool_token", "tool_call_id": "old", "stream": "stdout", "content": "x"});
    let order = table.event(&token);
    assert_eq!(order, Some(Order::LookUp("s1".into(), CallKey { turn: None, call_id: "old".into() })));
    assert_eq!(table.event(&token), None);
    let call = json!({"session_id": "s1", "call_id": "old", "tool_name": "Bash", "arguments": {"command": "make"},
        "status": "running", "mutability": "mutating", "created_at": "2026-11-30T20:00:00Z",
        "first_seq": 1, "last_seq": 2});
    table.take(Input::Call(serde_json::from_value(call).unwrap()));
    let card = &table.state.cards[0];
    assert_eq!((card.tool.as_str(), card.summary.as_str()), ("Bash", "make"));
    let start = json!({"type": "tool_start", "tool_call_id": "new", "tool_name": "Bash", "arguments": {}});
    assert_eq!(table.event(&start), None);
}

#[test]
fn leaving() {
    for key in [Key::Char('q'), Key::Interrupt] {
        assert_eq!(ready(&["apr_1"]).take(Input::Key(key, false)), Some(Order::Quit));
    }
    // In a message a q is a letter; Ctrl-C leaves from everywhere.
    let mut table = ready(&["apr_1"]);
    table.press('m');
    assert_eq!(table.press('q'), None);
    assert_eq!(table.take(Input::Key(Key::Interrupt, false)), Some(Order::Quit));
    assert_eq!(table.take(Input::Gap), Some(Order::Refresh));
}

/// Three that ask the same, under one that does not.
fn same() -> Table {
    let mut table = Table::new();
    for id in ["apr_1", "apr_2", "apr_3", "other"] {
        let mut asked = approval(id);
        if id != "other" {
            asked["digest"] = json!("00");
        }
        table.event(&json!({"type": "tool_approval_requested", "tool_call_id": id, "approval": asked}));
    }
    table.draw(true);
    table.wait(1000);
    table
}

fn told(table: &mut Table, id: &str, outcome: Result<String, Refusal>) -> Option<String> {
    match table.take(Input::Decided { approval_id: id.to_owned(), outcome }) {
        Some(Order::Decide { approval_id, .. }) => Some(approval_id),
        _ => None,
    }
}

#[test]
fn identical_ones_have_one_place_and_a_count() {
    let mut table = same();
    assert_eq!(table.state.identical(), (3, None));
    assert_eq!(fold::place(&table.state.pending, table.state.shown_index()), (0, 2));
    table.press('n');
    assert_eq!((table.shown(), table.state.identical()), (Some("other"), (1, None)));
    table.press('n');
    assert_eq!(table.shown(), Some("apr_1"));
    // One of them is decided by itself; the next of them takes its place.
    table.draw(true);
    table.wait(1000);
    let Some(Order::Decide { approval_id, .. }) = table.press('a') else { panic!() };
    assert_eq!(approval_id, "apr_1");
    assert_eq!(told(&mut table, "apr_1", Ok("done".to_owned())), None);
    assert_eq!((table.shown(), table.state.identical()), (Some("apr_2"), (2, None)));
}

#[test]
fn all_that_ask_the_same_are_decided_one_by_one() {
    let mut table = same();
    table.press('i');
    table.draw(true);
    table.wait(1000);
    let Some(Order::Decide { approval_id, request }) = table.press('a') else { panic!() };
    assert_eq!((approval_id.as_str(), request.scope), ("apr_1", Scope::Once));
    // Somebody else was quicker with the second.
    table.resolve("apr_2");
    assert_eq!(told(&mut table, "apr_1", Ok("done".to_owned())).as_deref(), Some("apr_3"));
    assert_eq!(told(&mut table, "apr_3", Ok("done".to_owned())), None);
    assert_eq!(table.shown(), Some("other"));
}

/// One after the other, while the answer to the first of each is still to come.
#[test]
fn two_groups_can_be_on_their_way() {
    let mut table = same();
    for id in ["p1", "p2"] {
        let mut pair = approval(id);
        pair["digest"] = json!("11");
        table.event(&json!({"type": "tool_approval_requested", "tool_call_id": id, "approval": pair}));
    }
    let mut asked = Vec::new();
    for first in ["apr_1", "p1"] {
        while table.shown() != Some(first) {
            table.press('n');
        }
        for key in ['i', 'd'] {
            table.draw(true);
            table.wait(1000);
            if let Some(Order::Decide { approval_id, .. }) = table.press(key) {
                asked.push(approval_id);
            }
        }
    }
    assert_eq!(asked, ["apr_1", "p1"]);
    let mut next = asked.clone();
    while let Some(id) = next.pop() {
        if let Some(id) = told(&mut table, &id, Ok("done".to_owned())) {
            asked.push(id.clone());
            next.push(id);
        }
    }
    asked.sort();
    assert_eq!(asked, ["apr_1", "apr_2", "apr_3", "p1", "p2"]);
    assert_eq!(table.shown(), Some("other"));
}

#[test]
fn a_refusal_ends_the_row_and_the_others_wait_on() {
    let mut table = same();
    table.press('i');
    table.draw(true);
    table.wait(1000);
    table.press('d');
    let refused = Refusal { text: "no".to_owned(), still_waits: true };
    assert_eq!(told(&mut table, "apr_1", Err(refused)), None);
    assert!(table.state.pending.iter().all(|pending| !pending.deciding));
    assert_eq!(table.state.pending.len(), 4);
}

#[test]
fn what_came_since_is_not_decided_with_the_others() {
    let mut table = same();
    table.press('i');
    assert!(table.press('a').is_none(), "their number was not on the screen yet");
    table.draw(true);
    table.wait(1000);
    let mut late = approval("late");
    late["digest"] = json!("00");
    table.event(&json!({"type": "tool_approval_requested", "tool_call_id": "late", "approval": late}));
    assert_eq!(table.state.identical(), (4, Some(3)));
    let Some(Order::Decide { approval_id, .. }) = table.press('a') else { panic!() };
    assert_eq!(approval_id, "apr_1");
    assert_eq!(told(&mut table, "apr_1", Ok("done".to_owned())).as_deref(), Some("apr_2"));
    assert_eq!(told(&mut table, "apr_2", Ok("done".to_owned())).as_deref(), Some("apr_3"));
    assert_eq!(told(&mut table, "apr_3", Ok("done".to_owned())), None);
    assert!(
        table.state.pending.iter().any(|pending| pending.approval.approval_id == "late" && !pending.deciding)
    );
}
