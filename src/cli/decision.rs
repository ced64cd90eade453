//! Sends a decision on an approval, and says what came of it.

use std::time::Duration;

use serde_json::Value;

use crate::domain::approval::{Approval, Choice, DecisionRequest, Offer, Scope, rule_in};
use crate::domain::arguments::parse_unambiguous;
use crate::domain::visible;

use super::approvals::{find, scope_name, with_identical};
use super::client::Client;
use super::error::CliError;
use super::output::Output;

/// Decides on the approval of this id.
pub(super) async fn decide(
    client: &Client,
    id: &str,
    mut request: DecisionRequest,
    how: How,
    output: &mut Output,
) -> Result<u8, CliError> {
    let (_, approval) = find(client, id).await?;
    if request.scope != Scope::Once && request.pattern.is_none() {
        request.pattern = Some(only_offer(&approval, request.scope)?);
    }
    let ids = if how.identical {
        with_identical(client, &approval).await?
    } else {
        vec![approval.approval_id.clone()]
    };
    for id in &ids {
        let body = serde_json::to_value(&request).map_err(|error| client.strange(error.to_string()))?;
        let path = ["approvals", id.as_str(), "decision"];
        let answer = client.post(&path, &Vec::new(), &body, Duration::ZERO).await?;
        if how.json {
            output.json(&answer.text)?;
        } else {
            let decided: Approval = client.parse(&answer)?;
            let told = visible::again(&sentence(&request, &decided));
            output.prepared(&format!("{told}\n"))?;
        }
        // The rule is granted by the first; the others just run.
        if request.scope != Scope::Once {
            request.expires_in_s = None;
        }
        (request.scope, request.pattern) = (Scope::Once, None);
    }
    Ok(0)
}

/// How a decision is sent and told.
#[derive(Debug, Clone, Copy)]
pub(super) struct How {
    /// As JSON.
    pub(super) json: bool,
    /// Also on those that ask exactly the same, one by one; it ends at the first that is refused.
    pub(super) identical: bool,
}

/// What was decided, in words; the outside parts are escaped.
pub(super) fn sentence(request: &DecisionRequest, approval: &Approval) -> String {
    let verb = match request.decision {
        Choice::Allow => "allowed",
        Choice::Deny => "denied",
    };
    let scope = match (&request.decision, request.scope, &request.pattern) {
        (Choice::Deny, ..) => String::new(),
        (_, Scope::Once, _) => " once".into(),
        (_, scope, pattern) => {
            let granted = approval.decision.as_ref().and_then(|decision| decision.grant.as_ref());
            let until = granted.map(|grant| format!(" until {}", grant.expires_at)).unwrap_or_default();
            let fits = |offer: &&Offer| offer.scope == scope && offer.pattern == *pattern;
            let within = approval.offers.iter().find(fits).and_then(|offer| offer.directory.as_deref());
            let rule = rule_in(pattern.as_deref().unwrap_or("-"), within);
            format!(" ({}: {rule}){until}", scope_name(scope))
        }
    };
    let what = visible::again(&approval.display);
    // Of most tools the display begins with their name.
    let tool = format!("{} ", visible::again(&approval.tool_name));
    let tool = if what.starts_with(&tool) { "" } else { &tool };
    let edited = if request.arguments.is_some() { " with edited arguments, in place of" } else { ":" };
    format!("{verb}{scope} {}{edited} {tool}{what}", approval.approval_id)
}

/// The pattern of the scope's only offer: what is granted beyond once is never guessed.
fn only_offer(approval: &Approval, scope: Scope) -> Result<String, CliError> {
    let offers: Vec<_> = approval
        .offers
        .iter()
        .filter(|offer| offer.scope == scope)
        .filter_map(|o| o.pattern.as_deref())
        .collect();
    let name = scope_name(scope);
    match offers.as_slice() {
        [pattern] => Ok((*pattern).to_owned()),
        [] => Err(CliError::usage(
            format!("this call cannot be allowed with --scope {name}"),
            format!("`toolgate approvals {}` shows what is offered", approval.approval_id),
        )),
        several => Err(CliError::usage(
            format!(
                "--scope {name} has several patterns here: {}",
                visible::left_to_right(&visible::again(&several.join("   ")))
            ),
            "choose one of them with --pattern",
        )),
    }
}

/// JSON from the command line: the text, `@FILE`, or `-` for standard input.
pub(super) fn json_argument(text: &str, what: &str) -> Result<Value, CliError> {
    let text = text_argument(text)?;
    parse_unambiguous(&text).map_err(|error| {
        CliError::usage(
            format!("{what} is not JSON: {error}"),
            "quote it for the shell: '{\"key\":\"value\"}'",
        )
    })
}

/// The longest text that is taken from a file or standard input, in bytes: the server's own bound.
const TEXT_MAX: u64 = 16 * 1024 * 1024;

/// A text from the command line: as it is, `@FILE`, or `-` for standard input.
pub(super) fn text_argument(text: &str) -> Result<String, CliError> {
    use std::io::Read as _;
    let (path, mut source): (&str, Box<dyn std::io::Read>) = match text.strip_prefix('@') {
        None if text == "-" => ("standard input", Box::new(std::io::stdin().lock())),
        None => return Ok(text.to_owned()),
        Some(path) => {
            let file =
                std::fs::File::open(path).map_err(|source| CliError::File { path: path.into(), source })?;
            (path, Box::new(file))
        }
    };
    let mut read = String::new();
    let told = |source| CliError::File { path: path.into(), source };
    source.by_ref().take(TEXT_MAX + 1).read_to_string(&mut read).map_err(told)?;
    if read.len() as u64 > TEXT_MAX {
        return Err(CliError::usage(
            format!("{path} has more than {TEXT_MAX} bytes"),
            "the server takes no more",
        ));
    }
    Ok(read)
}
