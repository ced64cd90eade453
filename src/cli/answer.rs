//! `toolgate answer`: answers the question that a call waits with, or shows it.

use std::time::Duration;

use clap::Args;
use serde_json::json;

use crate::domain::call::{Call, CallStatus};
use crate::domain::outcome::Question;
use crate::domain::visible;

use super::client::{Answer, Client, Query};
use super::connection::{ConnectionArgs, Role};
use super::decision::text_argument;
use super::error::{self, CliError};
use super::output::Output;
use super::rows::MORE;

/// Before what goes on from an option, beneath which it stands.
const MORE_OF_OPTION: &str = "┆     ";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct AnswerArgs {
    /// The session
    session: String,
    /// The call that asks
    call: String,
    /// The answer: the text, @FILE, or - for standard input; without it the question is shown
    answer: Option<String>,
    /// Answer with this one of the options, counted from 1
    #[arg(long, value_name = "NUMBER", conflicts_with = "answer")]
    option: Option<usize>,
    /// The turn that the call's id belongs to, where it has one
    #[arg(long, value_name = "TURN")]
    turn: Option<String>,
    /// Print the call as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    connection: ConnectionArgs,
}

const EXAMPLES: &str = "\
Examples:
  toolgate answer run-7 call_3
  toolgate answer run-7 call_3 'the staging database'
  toolgate answer run-7 call_3 --option 2

Needs the operator's token. Exit codes: 0 answered, 4 the question was shown and still waits; else as
`toolgate call`.";

/// Answers, or shows the question.
pub(super) async fn run(args: AnswerArgs, output: &mut Output) -> Result<u8, CliError> {
    let client = Client::new(args.connection.resolve(Role::Operator)?)?;
    answer(&args, &client, output).await
}

async fn answer(args: &AnswerArgs, client: &Client, output: &mut Output) -> Result<u8, CliError> {
    let query: Query<'_> = args.turn.clone().map(|turn| ("turn", turn)).into_iter().collect();
    let path = ["sessions", args.session.as_str(), "calls", args.call.as_str()];
    let given = match (&args.answer, args.option) {
        (Some(text), _) => text_argument(text)?.trim_end_matches('\n').to_owned(),
        (None, option) => {
            let answer = client.get(&path, &query, Duration::ZERO).await?;
            let question = asked(&client.parse(&answer)?)?;
            let Some(number) = option else { return show(args, &answer, &question, output) };
            let chosen = number.checked_sub(1).and_then(|index| question.options.get(index));
            chosen.cloned().ok_or_else(|| {
                let count = question.options.len();
                CliError::usage(
                    format!("the question has {count} options"),
                    "`toolgate answer` without one shows them",
                )
            })?
        }
    };
    let to = [&path[..], &["answer"]].concat();
    let answer = client.post(&to, &query, &json!({"answer": given}), Duration::ZERO).await?;
    if args.json {
        output.json(&answer.text)?;
    } else {
        let told = format!("answered {}: {}\n", visible::one_line(&args.call), visible::one_line(&given));
        output.prepared(&told)?;
    }
    Ok(0)
}

/// The question that the call waits with.
fn asked(call: &Call) -> Result<Question, CliError> {
    match (&call.question, call.status) {
        (Some(question), CallStatus::AwaitingAnswer) => Ok(question.clone()),
        (_, status) => Err(CliError::usage(
            format!("call {} does not wait for an answer: it is {}", call.key.call_id, status.as_str()),
            "`toolgate events SESSION --types need_clarification` shows what was asked",
        )),
    }
}

fn show(
    args: &AnswerArgs,
    answer: &Answer,
    question: &Question,
    output: &mut Output,
) -> Result<u8, CliError> {
    if args.json {
        output.json(&answer.text)?;
        return Ok(error::WAITS);
    }
    // So that no line of it looks like an option.
    for line in question.question.split('\n') {
        output.prepared(&format!("{MORE}{}\n", visible::one_line(line)))?;
    }
    for (index, option) in question.options.iter().enumerate() {
        let option = format!("  {:>2}  {}\n", index + 1, visible::one_line(option));
        output.rows(&option, MORE_OF_OPTION)?;
    }
    if question.allow_custom && !question.options.is_empty() {
        output.line("  or any other text")?;
    }
    Ok(error::WAITS)
}
