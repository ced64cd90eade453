//! A call in one line, for the person who decides on it.

use std::borrow::Cow;

use serde_json::Value;

use super::call::{ResolvedCall, Touch};
use crate::domain::about;
use crate::domain::visible;
use crate::domain::web::WebUrl;

/// The longest line, in characters.
const DISPLAY_MAX: usize = 4_000;

/// The command or what is asked for where there is such a thing, else name and arguments, with what the call acts on
/// before all else.
pub(super) fn display(call: &ResolvedCall) -> String {
    if let Some(petition) = call.petition() {
        return visible::clipped(&petition.display(), DISPLAY_MAX);
    }
    let command = call.touches.iter().find_map(|touch| match touch {
        Touch::Run { command, .. } => Some(command.as_str()),
        _ => None,
    });
    if let Some(command) = command {
        return visible::clipped(command, DISPLAY_MAX);
    }
    let arguments = about::json(&with_real_host(call));
    let shown = visible::json(&format!("{}{arguments}", named_within(call)));
    visible::clipped_again(&format!("{} {shown}", visible::one_line(&call.tool_name)), DISPLAY_MAX)
}

/// The arguments; a URL whose host is another one than it looks like (an alphabet that looks like another one, an
/// address in disguise) as it is connected to.
fn with_real_host(call: &ResolvedCall) -> Cow<'_, Value> {
    let arguments = Cow::Borrowed(&*call.arguments);
    let written = call.touches.iter().find_map(|touch| match touch {
        Touch::Network(url) => Some(url),
        _ => None,
    });
    let Some(written) = written.filter(|url| call.arguments["url"] == url.as_str()) else { return arguments };
    let Ok(read) = WebUrl::parse(written) else { return arguments };
    let host = read.url().host_str().unwrap_or_default();
    let authority = written.split_once("://").map_or("", |(_, rest)| rest);
    if authority.get(..host.len()).is_some_and(|begins| begins.eq_ignore_ascii_case(host)) {
        return arguments;
    }
    let mut connected = arguments.into_owned();
    connected["url"] = Value::from(read.url().as_str());
    Cow::Owned(connected)
}

/// The files that are named only within an argument (a patch), as JSON.
fn named_within(call: &ResolvedCall) -> String {
    let is_argument = |path: &str| {
        let fields = call.arguments.as_object().into_iter().flatten();
        fields.into_iter().any(|(_, value)| value == path)
    };
    let within = call.touches.iter().filter_map(|touch| match touch {
        Touch::Edit(path) if !is_argument(path) => Some(format!("{} ", Value::from(path.as_str()))),
        _ => None,
    });
    within.collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;

    use super::*;
    use crate::domain::schema::ToolMutability;

    fn shown(tool: &str, arguments: Value, touches: Vec<Touch>) -> String {
        display(&ResolvedCall {
            tool_call_id: "c".to_owned(),
            tool_name: tool.to_owned(),
            other_names: Vec::new(),
            arguments: Arc::new(arguments),
            mutability: ToolMutability::Mutating,
            concurrency_safe: false,
            touches,
            repair: None,
        })
    }

    #[test]
    fn what_it_acts_on_comes_first() {
        let long = "x\n".repeat(5_000);
        let edit = |path: &str| Touch::Edit(path.to_owned());
        let write = shown("Write", json!({"content": long, "file_path": "ci.yml"}), vec![edit("ci.yml")]);
        assert!(write.starts_with(r#"Write {"file_path":"ci.yml","content":"x\nx\n"#), "{write}");
        let touches = vec![edit("a"), edit(".github/b\u{202e}")];
        let patch = shown("ApplyPatch", json!({"patch": long}), touches);
        assert!(patch.starts_with(r#"ApplyPatch "a" ".github/b\u{202e}" {"patch":"x\nx"#), "{patch}");
        assert!(patch.chars().count() < DISPLAY_MAX + 40, "{patch}");
    }

    #[test]
    fn a_host_is_shown_as_it_is_connected_to() {
        for (url, shows) in [
            ("https://exаmple.com/é", "https://xn--exmple-4nf.com/%C3%A9"),
            ("http://0x7f.1/", "http://127.0.0.1/"),
            ("https://Example.com/é", "https://Example.com/é"),
            ("https://a.com.evil.tld", "https://a.com.evil.tld"),
            ("no url", "no url"),
        ] {
            let text = shown("WebFetch", json!({"url": url}), vec![Touch::Network(url.to_owned())]);
            assert_eq!(text, format!("WebFetch {{\"url\":\"{shows}\"}}"));
        }
    }

    #[test]
    fn other_calls_look_otherwise() {
        let run = |command: &str| Touch::Run { command: command.to_owned(), directory: None };
        let bash = |command: &str| shown("Bash", json!({"command": command}), vec![run(command)]);
        assert_eq!(bash("touch a\nb"), "touch a\\nb");
        assert_eq!(bash("touch a\\nb"), "touch a\\\\nb");
        let foreign = |text: &str| shown("mcp__a__b", json!({"t": text}), vec![Touch::Foreign]);
        assert_eq!(foreign("a\n\u{200b}"), r#"mcp__a__b {"t":"a\n\u{200b}"}"#);
        assert_eq!(foreign("a\\n\\u{200b}"), r#"mcp__a__b {"t":"a\\n\\u{200b}"}"#);
    }
}
