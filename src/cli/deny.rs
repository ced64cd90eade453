//! `toolgate deny`: refuses a call that waits.

use clap::Args;

use crate::domain::approval::{Choice, DecisionRequest, Scope};

use super::client::Client;
use super::connection::{ConnectionArgs, Role};
use super::decision::{How, decide};
use super::error::CliError;
use super::output::Output;

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct DenyArgs {
    /// The approval; the last 8 characters of its id are enough
    id: String,
    /// A message to the model: why, or what to do instead
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

const EXAMPLES: &str = "\
Examples:
  toolgate deny apr_0192
  toolgate deny apr_0192 --message 'use the staging branch'

Needs the operator's token.";

/// Refuses it.
pub(super) async fn run(args: DenyArgs, output: &mut Output) -> Result<u8, CliError> {
    let client = Client::new(args.connection.resolve(Role::Operator)?)?;
    deny(&args, &client, output).await
}

async fn deny(args: &DenyArgs, client: &Client, output: &mut Output) -> Result<u8, CliError> {
    let request = DecisionRequest {
        decision: Choice::Deny,
        scope: Scope::Once,
        pattern: None,
        arguments: None,
        expires_in_s: None,
        message: args.message.clone(),
    };
    decide(client, &args.id, request, How { json: args.json, identical: args.identical }, output).await
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::super::approvals::samples::approval;
    use super::super::fake_server::{FakeServer, Reply};
    use super::super::output::capture::Captured;
    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        args: DenyArgs,
    }

    #[tokio::test]
    async fn a_message_goes_to_the_model() {
        let answer = Reply::json(200, &approval("apr_1").to_string());
        let server = FakeServer::start(vec![answer.clone(), answer]).await;
        let client = Client::new(server.connection()).unwrap();
        let captured = Captured::default();
        let args = Line::parse_from(["deny", "apr_1", "--message", "no"]).args;
        assert_eq!(deny(&args, &client, &mut captured.output()).await.unwrap(), 0);
        assert_eq!(captured.text(), "denied apr_1: Bash rm x\\r\n");
        let requests = server.finish().await;
        assert!(
            requests[1].ends_with(r#"{"decision":"deny","message":"no","scope":"once"}"#),
            "{requests:?}"
        );
    }
}
