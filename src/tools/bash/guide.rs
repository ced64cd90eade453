//! When to use Bash, for a system prompt.

use crate::tools::{GuideExample, ToolGuide};

/// The guide of Bash.
#[derive(Debug, Clone, Copy, Default)]
pub struct BashGuide;

impl ToolGuide for BashGuide {
    fn tool_name(&self) -> &'static str {
        "Bash"
    }

    fn when_to_use(&self) -> &'static str {
        "to run programs: builds, tests, version control, package managers, scripts. Join steps that depend on \
         each other with &&. Give a longer timeout to what takes long."
    }

    fn when_not_to_use(&self) -> &'static str {
        "to read, search or change files: Read, Grep, Glob, Edit and Write check what they touch and give results \
         that are easier to use. Not for programs that wait for input, and not for servers that should go on after \
         the call."
    }

    fn examples(&self) -> Vec<GuideExample> {
        vec![
            GuideExample::new(
                "run the tests",
                r#"{"command": "cargo test", "timeout": 600000, "description": "Run all tests"}"#,
            ),
            GuideExample::new(
                "see what changed in a folder",
                r#"{"command": "git diff --stat", "workdir": "app"}"#,
            ),
        ]
    }

    fn related_tools(&self) -> Vec<&'static str> {
        vec!["Read", "Grep", "Glob", "Edit", "Write"]
    }
}
