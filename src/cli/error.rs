//! What can go wrong in a client command, how it is told to a person, and the exit code it has.

use std::fmt::Write as _;
use std::path::PathBuf;

use serde::Deserialize;

use crate::domain::visible;

/// The call ended without success.
pub(super) const UNSUCCESSFUL: u8 = 1;
/// The command line, or a value on it, is wrong.
pub(super) const USAGE: u8 = 2;
/// The gate or a person refused the call.
pub(super) const DENIED: u8 = 3;
/// The call has no result yet: it waits for someone, or still runs.
pub(super) const WAITS: u8 = 4;
/// The server cannot be reached, or does not work.
pub(super) const UNREACHABLE: u8 = 5;
/// The server refused the request itself: token, session, form.
pub(super) const REFUSED: u8 = 6;

/// Why a client command stopped.
#[derive(Debug, thiserror::Error)]
pub(super) enum CliError {
    /// Nobody reads the output any more: no error for anyone.
    #[error("the output was closed")]
    PipeClosed,
    /// The output cannot be written.
    #[error("cannot write the output: {0}")]
    Output(#[source] std::io::Error),
    /// The asynchronous runtime did not start.
    #[error("cannot start: {0}")]
    Runtime(#[source] std::io::Error),
    /// Something on the command line or in the environment is wrong.
    #[error("{what}")]
    Usage {
        /// What is wrong.
        what: String,
        /// What to do.
        hint: String,
    },
    /// A file named on the command line cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// There is no token to present.
    #[error("{what}")]
    NoToken {
        /// Where it was looked for.
        what: String,
        /// What to do.
        hint: String,
    },
    /// No answer came.
    #[error("cannot reach {url}: {cause}")]
    Unreachable {
        /// The server's address.
        url: String,
        /// Why.
        cause: String,
    },
    /// Something answered that cannot prove to be the server.
    #[error("{url} is not trusted: {cause}")]
    Untrusted {
        /// The server's address.
        url: String,
        /// Why.
        cause: String,
    },
    /// The answer is none that Toolgate gives.
    #[error("{url} gave an answer that is not Toolgate's: {what}")]
    NotToolgate {
        /// The server's address.
        url: String,
        /// What was wrong with it.
        what: String,
    },
    /// The server refused, and said why.
    #[error("{}", .0.title)]
    Problem(Box<Problem>),
}

/// An error answer of the server (RFC 9457).
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
pub(super) struct Problem {
    /// The HTTP status.
    #[serde(default)]
    pub(super) status: u16,
    /// What kind of error it is, in words.
    #[serde(default)]
    pub(super) title: String,
    /// What happened this time.
    #[serde(default)]
    pub(super) detail: String,
    /// The stable code.
    #[serde(default)]
    pub(super) code: String,
    /// Under which id the server's log has it.
    #[serde(default)]
    pub(super) request_id: String,
    /// Which parts of the request are wrong.
    #[serde(default)]
    pub(super) errors: Vec<FieldError>,
}

/// What is wrong with one part of a request.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
pub(super) struct FieldError {
    /// A JSON pointer (RFC 6901) to the part.
    #[serde(default)]
    pub(super) pointer: String,
    /// What is wrong with it.
    #[serde(default)]
    pub(super) message: String,
}

impl CliError {
    /// A mistake on the command line.
    pub(super) fn usage(what: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::Usage { what: what.into(), hint: hint.into() }
    }

    /// How the process exits.
    pub(super) fn exit_code(&self) -> u8 {
        match self {
            Self::PipeClosed => 0,
            Self::Output(_) | Self::Runtime(_) => UNSUCCESSFUL,
            Self::Usage { .. } | Self::File { .. } | Self::NoToken { .. } => USAGE,
            Self::Unreachable { .. } | Self::Untrusted { .. } | Self::NotToolgate { .. } => UNREACHABLE,
            Self::Problem(problem) if problem.status >= 500 => UNREACHABLE,
            Self::Problem(_) => REFUSED,
        }
    }

    /// The whole text for a person, safe for a terminal; none where there is nothing to say.
    pub(super) fn report(&self) -> Option<String> {
        if matches!(self, Self::PipeClosed) {
            return None;
        }
        let mut text = format!("error: {}", visible::again(&self.to_string()));
        if let Self::Problem(problem) = self {
            problem.describe(&mut text);
        }
        if let Some(hint) = self.hint() {
            let _ = write!(text, "\n  hint: {}", visible::again(&hint));
        }
        Some(text)
    }

    fn hint(&self) -> Option<String> {
        match self {
            Self::Usage { hint, .. } | Self::NoToken { hint, .. } => Some(hint.clone()),
            Self::Unreachable { .. } => {
                Some("start a server with `toolgate serve`, or name another one with TOOLGATE_URL".into())
            }
            Self::Untrusted { .. } => Some(
                "if its certificate comes from an authority of your own, name that one's certificate (PEM) with SSL_CERT_FILE"
                    .into(),
            ),
            Self::NotToolgate { .. } => Some("check TOOLGATE_URL: something else may listen there".into()),
            Self::Problem(problem) => problem.hint().map(Into::into),
            Self::PipeClosed | Self::Output(_) | Self::Runtime(_) | Self::File { .. } => None,
        }
    }
}

impl Problem {
    fn describe(&self, text: &mut String) {
        if !self.detail.is_empty() && self.detail != self.title {
            for line in visible::lines_again(&self.detail).lines() {
                let _ = write!(text, "\n  {line}");
            }
        }
        for error in &self.errors {
            let pointer = if error.pointer.is_empty() { "(whole body)" } else { &error.pointer };
            let message = visible::again(&error.message);
            let _ = write!(text, "\n  {}: {message}", visible::one_line(pointer));
        }
        let _ = write!(text, "\n  status {}", self.status);
        if !self.code.is_empty() {
            let _ = write!(text, ", code {}", visible::one_line(&self.code));
        }
        if !self.request_id.is_empty() {
            let _ = write!(text, ", request id {}", visible::one_line(&self.request_id));
        }
    }

    fn hint(&self) -> Option<&'static str> {
        match self.status {
            401 => Some(
                "the token is not one of this server's: set TOOLGATE_TOKEN to the text of tokens/agent \
                 or tokens/operator in its data directory, or name that file with --token-file",
            ),
            403 if self.code == "operator_required" => Some(
                "this is an agent's token; decisions, grants and views of all sessions need an operator's: \
                 set TOOLGATE_TOKEN to the text of tokens/operator, or name that file with --token-file",
            ),
            403 if matches!(
                self.code.as_str(),
                "exceeds_max_mode" | "workspace_not_allowed" | "host_decides"
            ) =>
            {
                None
            }
            403 if self.code != "approval_required" => Some("this token may not do that"),
            404 => Some("it does not exist, or it belongs to another token: `toolgate sessions` lists yours"),
            429 => Some("wait a little and try again"),
            500.. => Some("the server's own log says more under this request id"),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_problem_is_told_whole_and_escaped() {
        let problem: Problem = serde_json::from_str(
            r#"{"type":"about:blank","title":"Bad\u001b[2J request","status":400,"detail":"line 1\nline\r 2",
                "code":"invalid_body","request_id":"req_1","errors":[{"pointer":"/a\u202e","message":"no"}]}"#,
        )
        .unwrap();
        let error = CliError::Problem(Box::new(problem));
        assert_eq!(
            error.report().unwrap(),
            "error: Bad\\u{1b}[2J request\n  line 1\n  line\\r 2\n  /a\\u{202e}: no\n  \
             status 400, code invalid_body, request id req_1"
        );
        assert_eq!(error.exit_code(), REFUSED);
    }

    #[test]
    fn exit_codes() {
        let problem = |status| CliError::Problem(Box::new(Problem { status, ..Problem::default() }));
        assert_eq!(problem(401).exit_code(), REFUSED);
        assert_eq!(problem(503).exit_code(), UNREACHABLE);
        assert_eq!(CliError::PipeClosed.exit_code(), 0);
        assert!(CliError::PipeClosed.report().is_none());
        assert!(problem(401).report().unwrap().contains("TOOLGATE_TOKEN"));
    }
}
