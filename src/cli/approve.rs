//! `toolgate approve`: allows a call that waits.

use clap::{Args, ValueEnum};

use crate::domain::approval::{Choice, DecisionRequest, Scope};

use super::client::Client;
use super::connection::{ConnectionArgs, Role};
use super::decision::{How, decide, json_argument};
use super::error::CliError;
use super::output::Output;
use super::span;

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct ApproveArgs {
    /// The approval; the last 8 characters of its id are enough
    id: String,
    /// For how long calls like this one are allowed
    #[arg(long, value_enum, default_value_t = ScopeArg::Once)]
    scope: ScopeArg,
    /// Which of the offered rules is stored, where the scope has several
    #[arg(long, value_name = "RULE")]
    pattern: Option<String>,
    /// For how long the rule holds at most: 90s, 15m, 2h, 7d; as long as the server lets it where this is left out
    #[arg(long, value_name = "TIME", value_parser = lasts)]
    expires_in: Option<u64>,
    /// Run the tool with these arguments instead (JSON, @FILE, or - for standard input)
    #[arg(long, value_name = "JSON")]
    arguments: Option<String>,
    /// A message to the model
    #[arg(long, value_name = "TEXT")]
    message: Option<String>,
    /// Also those that wait in the session and ask exactly the same, one by one
    #[arg(long)]
    identical: bool,
    /// Print the approval as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    connection: ConnectionArgs,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum ScopeArg {
    /// This call alone
    Once,
    /// Calls that fit the rule, in this session
    Session,
    /// Calls that fit the rule, by this agent's token under this workspace root
    Always,
}

impl From<ScopeArg> for Scope {
    fn from(scope: ScopeArg) -> Self {
        match scope {
            ScopeArg::Once => Self::Once,
            ScopeArg::Session => Self::Session,
            ScopeArg::Always => Self::Always,
        }
    }
}

const EXAMPLES: &str = "\
Examples:
  toolgate approve apr_0192
  toolgate approve apr_0192 --scope session --pattern 'Bash(cargo test --lib)'
  toolgate approve apr_0192 --scope always --expires-in 7d
  toolgate approve apr_0192 --arguments '{\"command\":\"rm -i old.log\"}' --message 'asked first'

Needs the operator's token. `toolgate approvals ID` shows what exactly would run, and what is
offered beyond once.";

/// The seconds of a span that is not over at once.
fn lasts(text: &str) -> Result<u64, String> {
    let seconds = span::seconds(text).filter(|seconds| *seconds > 0);
    seconds.ok_or_else(|| format!("{text:?} is no time, as 90s, 15m, 2h or 7d"))
}

/// Allows it.
pub(super) async fn run(args: ApproveArgs, output: &mut Output) -> Result<u8, CliError> {
    let client = Client::new(args.connection.resolve(Role::Operator)?)?;
    approve(&args, &client, output).await
}

async fn approve(args: &ApproveArgs, client: &Client, output: &mut Output) -> Result<u8, CliError> {
    let arguments = args.arguments.as_deref().map(|text| json_argument(text, "--arguments")).transpose()?;
    let request = DecisionRequest {
        decision: Choice::Allow,
        scope: args.scope.into(),
        pattern: args.pattern.clone(),
        arguments,
        expires_in_s: args.expires_in,
        message: args.message.clone(),
    };
    decide(client, &args.id, request, How { json: args.json, identical: args.identical }, output).await
}

#[cfg(test)]
mod tests {
    use clap::Parser;
    use serde_json::{Value, json};

    use super::super::approvals::samples::approval;
    use super::super::fake_server::{FakeServer, Reply};
    use super::super::output::capture::Captured;
    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        args: ApproveArgs,
    }

    #[tokio::test]
    async fn identical_ones_are_decided_one_by_one() {
        let mut first = approval("apr_1");
        first["identical"] = json!(["apr_2", "apr_3"]);
        let page = json!({"items": [first.clone()], "next_cursor": null}).to_string();
        let late = Reply::json(409, r#"{"title":"Already decided","status":409,"detail":"denied by op"}"#);
        let replies =
            vec![Reply::json(200, &first.to_string()), Reply::json(200, &page), allowed(), allowed(), late];
        let server = FakeServer::start(replies).await;
        let words = ["approve", "apr_1", "--identical", "--scope", "session"];
        let client = Client::new(server.connection()).unwrap();
        let captured = Captured::default();
        let outcome = approve(&Line::parse_from(words).args, &client, &mut captured.output()).await;
        assert!(outcome.unwrap_err().report().unwrap().contains("denied by op"));
        let requests = server.finish().await;
        let sent: Vec<_> = requests[2..].iter().map(|it| (&it[..35], it.contains("Bash(rm x)"))).collect();
        let to = |id| (&*format!("POST /v1/approvals/{id}/decision HTTP/1.1")[..35].to_owned().leak(), false);
        assert_eq!(sent, [(to("apr_1").0, true), to("apr_2"), to("apr_3")], "the first one grants");
        assert_eq!(captured.text().lines().count(), 2);
    }

    async fn approved(words: &[&str], decision: Reply) -> (Result<u8, CliError>, String, Option<Value>) {
        let found = Reply::json(200, &approval("apr_1").to_string());
        let server = FakeServer::start(vec![found, decision]).await;
        let args = Line::parse_from([&["approve", "apr_1"], words].concat()).args;
        let client = Client::new(server.connection()).unwrap();
        let captured = Captured::default();
        let outcome = approve(&args, &client, &mut captured.output()).await;
        let requests = server.finish().await;
        let body = requests.get(1).map(|request| {
            assert!(request.starts_with("POST /v1/approvals/apr_1/decision "), "{request}");
            serde_json::from_str(request.split_once("\r\n\r\n").unwrap().1).unwrap()
        });
        (outcome, captured.text(), body)
    }

    fn allowed() -> Reply {
        let mut approval = approval("apr_1");
        approval["status"] = json!("allowed");
        Reply::json(200, &approval.to_string())
    }

    #[tokio::test]
    async fn once_is_the_default() {
        let (outcome, text, body) = approved(&[], allowed()).await;
        assert_eq!(outcome.unwrap(), 0);
        assert_eq!(body.unwrap(), json!({"decision": "allow", "scope": "once"}));
        assert_eq!(text, "allowed once apr_1: Bash rm x\\r\n");
    }

    #[tokio::test]
    async fn a_wider_scope_names_its_rule() {
        let (_, _, body) = approved(&["--scope", "session"], allowed()).await;
        assert_eq!(body.unwrap(), json!({"decision": "allow", "scope": "session", "pattern": "Bash(rm x)"}));
        let (outcome, _, body) = approved(&["--scope", "always"], allowed()).await;
        let report = outcome.unwrap_err().report().unwrap();
        assert!(report.contains("Bash(rm *)") && body.is_none(), "{report}");
        let (_, _, body) = approved(&["--scope", "session", "--expires-in", "2h"], allowed()).await;
        assert_eq!(body.unwrap()["expires_in_s"], 7_200);
        for wrong in ["0s", "soon", "2"] {
            let words = ["approve", "apr_1", "--expires-in", wrong];
            assert!(Line::try_parse_from(words).is_err(), "{wrong}");
        }
    }

    #[tokio::test]
    async fn edited_arguments_and_a_message() {
        let (_, text, body) =
            approved(&["--arguments", r#"{"command":"ls"}"#, "--message", "safer"], allowed()).await;
        assert_eq!(
            body.unwrap(),
            json!({"decision": "allow", "scope": "once", "arguments": {"command": "ls"}, "message": "safer"})
        );
        assert!(text.contains("edited arguments"), "{text}");
        let (outcome, _, body) = approved(&["--arguments", "{nope"], allowed()).await;
        assert_eq!(outcome.unwrap_err().exit_code(), super::super::error::USAGE);
        assert!(body.is_none());
    }

    #[tokio::test]
    async fn a_decision_that_came_too_late_is_told() {
        let late = Reply::json(409, r#"{"title":"Already decided","status":409,"detail":"denied by op"}"#);
        let error = approved(&[], late).await.0.unwrap_err();
        assert!(error.report().unwrap().contains("denied by op"));
    }
}
