//! Guides: when to use a tool and when not, for a system prompt.

use std::fmt::Write as _;

/// How to use one tool well.
pub trait ToolGuide: Send + Sync {
    /// The tool's exact name.
    fn tool_name(&self) -> &str;
    /// When it is the right one.
    fn when_to_use(&self) -> &str;
    /// When another one is.
    fn when_not_to_use(&self) -> &str;
    /// Calls that show it.
    fn examples(&self) -> Vec<GuideExample>;
    /// Tools that belong with it.
    fn related_tools(&self) -> Vec<&str>;
}

/// One example in a guide.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GuideExample {
    /// What is wanted.
    pub scenario: String,
    /// The arguments, as JSON text.
    pub arguments: String,
}

impl GuideExample {
    /// An example from its two parts.
    pub fn new(scenario: impl Into<String>, arguments: impl Into<String>) -> Self {
        Self { scenario: scenario.into(), arguments: arguments.into() }
    }
}

/// What goes into the guide section of a prompt.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct GuideBuildContext {
    /// Only of these tools; none means all that are registered.
    pub tools: Option<Vec<String>>,
    /// Leaves examples out.
    pub brief: bool,
    /// Text to begin with.
    pub preamble: Option<String>,
}

impl GuideBuildContext {
    /// Whether a tool belongs in.
    pub fn includes(&self, tool_name: &str) -> bool {
        self.tools.as_ref().is_none_or(|tools| tools.iter().any(|tool| tool == tool_name))
    }
}

/// Guides as one Markdown text, in the order given; empty when none is wanted.
pub(crate) fn render_guides<'a>(
    guides: impl Iterator<Item = &'a dyn ToolGuide>,
    context: &GuideBuildContext,
) -> String {
    let wanted = guides.filter(|guide| context.includes(guide.tool_name()));
    let texts: Vec<String> = wanted.map(|guide| render(guide, context.brief)).collect();
    if texts.is_empty() {
        return String::new();
    }
    let preamble = context.preamble.as_deref().unwrap_or("## How to use the tools");
    format!("{preamble}\n\n{}", texts.join("\n"))
}

/// One tool's guide as Markdown.
fn render(guide: &dyn ToolGuide, brief: bool) -> String {
    let mut text = format!(
        "### {}\n\nUse it: {}\n\nUse something else: {}\n",
        guide.tool_name(),
        guide.when_to_use(),
        guide.when_not_to_use()
    );
    if !brief {
        for example in guide.examples() {
            let _ = write!(text, "\n- {}: `{}`", example.scenario, example.arguments);
        }
        text.push('\n');
    }
    let related = guide.related_tools();
    if !related.is_empty() {
        let _ = writeln!(text, "\nSee also: {}", related.join(", "));
    }
    text
}
