//! When to use http_request, for a system prompt.

use crate::tools::{GuideExample, ToolGuide};

/// The guide of http_request.
#[derive(Debug, Clone, Copy, Default)]
pub struct HttpRequestGuide;

impl ToolGuide for HttpRequestGuide {
    fn tool_name(&self) -> &'static str {
        "http_request"
    }

    fn when_to_use(&self) -> &'static str {
        "to call an HTTP interface: JSON, a health check, a file's headers. Set Accept and Content-Type."
    }

    fn when_not_to_use(&self) -> &'static str {
        "to read documentation or an article: WebFetch turns a page into Markdown. Not for repeated polling, and \
         never to carry the user's files or secrets anywhere that the task does not name."
    }

    fn examples(&self) -> Vec<GuideExample> {
        vec![
            GuideExample::new(
                "look up a release",
                r#"{"url": "https://crates.io/api/v1/crates/serde", "headers": {"Accept": "application/json"}}"#,
            ),
            GuideExample::new(
                "send JSON",
                r#"{"url": "https://api.example.com/items", "method": "POST", "headers": {"Content-Type": "application/json"}, "body": "{\"name\": \"x\"}"}"#,
            ),
        ]
    }

    fn related_tools(&self) -> Vec<&'static str> {
        vec!["WebFetch"]
    }
}
