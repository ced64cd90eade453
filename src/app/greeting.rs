//! What a start prints: the address, where the tokens are, and a first call to paste.

use std::io::{IsTerminal as _, Write as _};
use std::net::SocketAddr;
use std::path::Path;

use super::places::Places;
use super::tokens::{Made, MadeTokens};
use crate::sandbox::FloorStatus;

/// Prints the greeting; its first line is for programs, the rest for people. A closed standard
/// output is no reason not to serve.
pub(super) fn print(address: SocketAddr, places: &Places, tokens: &MadeTokens, floor: &FloorStatus) {
    let mut out = std::io::stdout().lock();
    let terminal = out.is_terminal();
    let _ = out.write_all(text(address, places, tokens, floor, terminal).as_bytes());
    let _ = out.flush();
}

fn text(
    address: SocketAddr,
    places: &Places,
    tokens: &MadeTokens,
    floor: &FloorStatus,
    terminal: bool,
) -> String {
    let url = format!("http://{address}");
    let token = |made: &Made| {
        let path = made.path.display().to_string();
        if terminal && made.fresh { format!("{path}  ({})", made.token) } else { path }
    };
    let floor = match &floor.reason_if_missing {
        None => format!("{:?}", floor.kind).to_lowercase(),
        Some(reason) => format!("MISSING: {reason}"),
    };
    let root = places.roots.first().map(|root| root.display().to_string()).unwrap_or_default();
    let mut text = format!(
        "listening on {url}\n\n\
         tokens      agent     {}\n\
        \x20           operator  {}\n\
         workspaces  {root}\n\
         floor       {floor}\n\n",
        token(&tokens.agent),
        token(&tokens.operator),
    );
    let (agent, operator) = (quoted(&tokens.agent.path), quoted(&tokens.operator.path));
    // Every address at once is none that a client can name in its Host header.
    let reached = match address {
        SocketAddr::V4(address) if address.ip().is_unspecified() => {
            format!("http://127.0.0.1:{}", address.port())
        }
        SocketAddr::V6(address) if address.ip().is_unspecified() => {
            format!("http://[::1]:{}", address.port())
        }
        _ => url,
    };
    text.push_str(
        &FIRST_CALL.replace("@URL@", &reached).replace("@AGENT@", &agent).replace("@OPERATOR@", &operator),
    );
    text
}

/// A path as one word of a shell.
fn quoted(path: &Path) -> String {
    format!("'{}'", path.display().to_string().replace('\'', "'\\''"))
}

/// Commands to paste; `@…@` are filled in.
const FIRST_CALL: &str = r#"A first call, to paste in another terminal. It waits for approval:

  AGENT=$(cat @AGENT@); OPERATOR=$(cat @OPERATOR@)
  api() { curl -sSN -H "Authorization: Bearer $1" -H 'Content-Type: application/json' "@URL@$2" "${@:3}"; echo; }
  api $AGENT /v1/sessions -d '{"session_id": "first"}'
  api $AGENT /v1/sessions/first/calls -d '{"id": "call_1", "type": "function", "function": {"name": "Bash", "arguments": "{\"command\": \"date > now; cat now\"}"}}'

Its approval, and its result:

  APPROVAL=$(api $OPERATOR '/v1/approvals?status=pending' | grep -o 'apr_[0-9a-f]*' | tail -n 1)
  api $OPERATOR /v1/approvals/$APPROVAL/decision -d '{"decision": "allow"}'
  api $AGENT '/v1/sessions/first/calls/call_1?wait_ms=10000'

Everything that happens in the session, as it happens:

  api $AGENT /v1/sessions/first/events

"#;
