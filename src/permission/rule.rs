//! The grammar of one permission rule: `Tool`, `Tool(spec)`, `mcp__server__tool`, `*`.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

use super::command_pattern::CommandPattern;
use super::host::HostPattern;
use super::path_pattern::PathPattern;

/// Tools whose rules speak of commands.
const COMMAND_TOOLS: [&str; 3] = ["Bash", "BashInput", "Terminal"];
/// Tools whose rules speak of paths.
const PATH_TOOLS: [&str; 9] =
    ["Read", "Edit", "Write", "ApplyPatch", "NotebookEdit", "ListDir", "FileInfo", "Glob", "Grep"];
/// Tools whose rules speak of hosts.
const HOST_TOOLS: [&str; 2] = ["WebFetch", "http_request"];
/// Longest rule, in bytes.
const MAX_BYTES: usize = 8 * 1024;

/// One rule, as it was written and as it is understood.
#[derive(Debug, Clone)]
pub struct Rule {
    text: String,
    pub(crate) tool: ToolPattern,
    pub(crate) spec: Spec,
}

/// Which tools a rule names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ToolPattern {
    /// `*`.
    Any,
    /// Every name that starts like this (`mcp__server__*`); the flag says that it stays within one server.
    Beginning(String, bool),
    /// This very name.
    Exact(String),
}

/// What stands between the parentheses of a rule.
#[derive(Debug, Clone)]
pub(crate) enum Spec {
    /// No parentheses: the tool outright.
    Absent,
    /// A command.
    Command(CommandPattern),
    /// A path.
    Path(PathPattern),
    /// A host.
    Domain(HostPattern),
    /// The tool is not known to take any: never matches.
    Unknown,
}

/// The two path rules that guard by what is done, not by which tool does it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Guard {
    /// `Read(…)`.
    Read,
    /// `Edit(…)` and `Write(…)`.
    Edit,
}

/// Why a rule does not parse; `at` counts bytes from its beginning.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum RuleError {
    /// Nothing there.
    #[error("an empty rule")]
    Empty,
    /// Longer than a rule may be.
    #[error("the rule is longer than {MAX_BYTES} bytes")]
    TooLong,
    /// A control character anywhere in the rule.
    #[error("a control character at byte {at}")]
    Control {
        /// Where.
        at: usize,
    },
    /// A character that no tool's name has.
    #[error("{found:?} at byte {at} cannot be part of a tool's name")]
    Name {
        /// Where.
        at: usize,
        /// What.
        found: char,
    },
    /// A star elsewhere than at the end of an MCP name.
    #[error("`*` at byte {at}: a tool's name takes it only as `*` alone or at the end of `mcp__server__…`")]
    Star {
        /// Where.
        at: usize,
    },
    /// `Tool(spec` without the end.
    #[error("the rule has `(` at byte {at} but does not end in `)`")]
    Unclosed {
        /// Where the parenthesis opens.
        at: usize,
    },
    /// `Tool()`.
    #[error("nothing between the parentheses at byte {at}: leave them out to name the whole tool")]
    EmptySpec {
        /// Where the parenthesis opens.
        at: usize,
    },
    /// The tool exists, but its rules take no parentheses.
    #[error("rules for {tool} take nothing in parentheses")]
    NoSpec {
        /// The tool.
        tool: String,
    },
    /// The path pattern is wrong.
    #[error("the path pattern at byte {at}: {why}")]
    Path {
        /// Where it begins.
        at: usize,
        /// What is wrong.
        why: String,
    },
    /// The domain is wrong.
    #[error("the domain at byte {at}: {why}")]
    Domain {
        /// Where it begins.
        at: usize,
        /// What is wrong.
        why: String,
    },
}

impl Rule {
    /// Reads one rule.
    pub fn parse(text: &str) -> Result<Self, RuleError> {
        if text.is_empty() {
            return Err(RuleError::Empty);
        }
        if text.len() > MAX_BYTES {
            return Err(RuleError::TooLong);
        }
        if let Some((at, _)) = text.char_indices().find(|(_, c)| c.is_control()) {
            return Err(RuleError::Control { at });
        }
        let open = text.find('(');
        let name = open.map_or(text, |at| &text[..at]);
        let tool = ToolPattern::parse(name)?;
        let spec = match open {
            None => Spec::Absent,
            Some(at) => {
                let inner = text[at + 1..].strip_suffix(')').ok_or(RuleError::Unclosed { at })?;
                if inner.trim().is_empty() {
                    return Err(RuleError::EmptySpec { at });
                }
                Spec::parse(name, inner, at)?
            }
        };
        Ok(Self { text: text.to_owned(), tool, spec })
    }

    /// The rule as it was written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// What the rule guards beyond the tool that it names.
    pub(crate) fn guard(&self) -> Option<Guard> {
        match &self.tool {
            ToolPattern::Exact(name) if name == "Read" => Some(Guard::Read),
            ToolPattern::Exact(name) if name == "Edit" || name == "Write" => Some(Guard::Edit),
            _ => None,
        }
    }

    /// Whether the rule is about commands that Bash runs.
    pub(crate) fn is_for_bash(&self) -> bool {
        self.tool.covers("Bash")
    }

    /// Whether the rule speaks of single commands.
    pub(crate) fn is_command(&self) -> bool {
        matches!(self.spec, Spec::Command(_))
    }

    /// Whether the rule may stand only where it narrows (deny, ask, always_ask).
    pub(crate) fn only_narrows(&self) -> bool {
        matches!(self.tool, ToolPattern::Any | ToolPattern::Beginning(_, false))
    }

    /// The rule about a host as an offer spells it: with what is connected to.
    pub(crate) fn spelt_out(&self) -> Option<String> {
        let (Spec::Domain(pattern), Some((tool, _))) = (&self.spec, self.text.split_once('(')) else {
            return None;
        };
        Some(format!("{tool}(domain:{pattern})"))
    }

    /// Whether the rule about a host is written so that it may be read as one about another.
    fn misleads(&self, pattern: &HostPattern) -> bool {
        let written = self.text.split_once("(domain:").and_then(|(_, inner)| inner.strip_suffix(')'));
        written.is_some_and(|written| !pattern.reads_as(written))
    }

    /// What is wrong with a rule that parses, given the names of all tools.
    pub(crate) fn doubts(&self, known_tools: &[&str], is_allow: bool) -> Option<String> {
        if let ToolPattern::Exact(name) = &self.tool
            && !name.starts_with("mcp__")
            && !known_tools.contains(&name.as_str())
        {
            let near = known_tools.iter().find(|k| k.eq_ignore_ascii_case(name));
            return Some(match near {
                Some(near) => format!("no tool is named {name}: did you mean {near}?"),
                None => format!("no tool is named {name}"),
            });
        }
        if let ToolPattern::Exact(name) = &self.tool
            && name.starts_with("mcp__")
            && name.ends_with("__")
        {
            return Some(format!("can never match: no tool is named so, all of a server's are `{name}*`"));
        }
        match &self.spec {
            Spec::Unknown => {
                Some("can never match: this tool's rules take nothing in parentheses".to_owned())
            }
            Spec::Path(path) if path.is_impossible() => {
                Some("can never match: paths are compared without `.`, `..` and doubled slashes".to_owned())
            }
            Spec::Command(_) if is_allow && !self.is_for_bash() => Some(
                "can never match: input to a running program is allowed outright or not at all".to_owned(),
            ),
            Spec::Command(pattern) if is_allow => pattern.never_allows(),
            Spec::Domain(pattern) if self.misleads(pattern) => self
                .spelt_out()
                .map(|spelt| format!("it stands for the host that is connected to: write `{spelt}`")),
            _ => None,
        }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl FromStr for Rule {
    type Err = RuleError;

    fn from_str(text: &str) -> Result<Self, RuleError> {
        Self::parse(text)
    }
}

impl PartialEq for Rule {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for Rule {}

impl ToolPattern {
    fn parse(name: &str) -> Result<Self, RuleError> {
        if name == "*" {
            return Ok(Self::Any);
        }
        if name.is_empty() {
            return Err(RuleError::Name { at: 0, found: '(' });
        }
        if let Some((at, found)) =
            name.char_indices().find(|(_, c)| c.is_whitespace() || matches!(c, ')' | ',' | '"' | '\''))
        {
            return Err(RuleError::Name { at, found });
        }
        let Some(rest) = name.strip_prefix("mcp__") else {
            return match name.find('*') {
                Some(at) => Err(RuleError::Star { at }),
                None => Ok(Self::Exact(name.to_owned())),
            };
        };
        match (name.find('*'), rest.split_once("__")) {
            (Some(at), _) if at + 1 < name.len() => Err(RuleError::Star { at }),
            (Some(_), Some((server, _))) if !server.contains('*') && !server.is_empty() => {
                Ok(Self::Beginning(name[..name.len() - 1].to_owned(), true))
            }
            (Some(_), None) if rest == "*" => Ok(Self::Beginning("mcp__".to_owned(), false)),
            (Some(at), _) => Err(RuleError::Star { at }),
            // `mcp__server`: all of its tools.
            (None, None) if !rest.is_empty() => Ok(Self::Beginning(format!("{name}__"), true)),
            (None, _) => Ok(Self::Exact(name.to_owned())),
        }
    }

    /// Whether the pattern names the tool `name`, compared byte for byte.
    pub(crate) fn covers(&self, name: &str) -> bool {
        match self {
            Self::Any => true,
            Self::Beginning(start, _) => name.starts_with(start.as_str()),
            Self::Exact(exact) => exact == name,
        }
    }
}

impl Spec {
    fn parse(tool: &str, inner: &str, at: usize) -> Result<Self, RuleError> {
        let begin = at + 1;
        if COMMAND_TOOLS.contains(&tool) {
            return CommandPattern::parse(inner).map(Self::Command).ok_or(RuleError::EmptySpec { at });
        }
        if PATH_TOOLS.contains(&tool) {
            return PathPattern::parse(inner)
                .map(Self::Path)
                .map_err(|e| RuleError::Path { at: begin, why: e.to_string() });
        }
        if HOST_TOOLS.contains(&tool) {
            let Some(domain) = inner.strip_prefix("domain:") else {
                let why = "expected `domain:` and a host".to_owned();
                return Err(RuleError::Domain { at: begin, why });
            };
            return HostPattern::parse(domain)
                .map(Self::Domain)
                .map_err(|e| RuleError::Domain { at: begin + "domain:".len(), why: e.to_string() });
        }
        if tool == "*" {
            return Err(RuleError::NoSpec { tool: tool.to_owned() });
        }
        Ok(Self::Unknown)
    }
}

#[cfg(test)]
#[path = "grammar_tests.rs"]
mod grammar_tests;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_parses_prints_as_it_was_written() {
        for text in [
            "Read",
            "Read(**/.env)",
            "Bash(curl *)",
            "Bash(ls:*)",
            "Bash(echo (x) y)",
            "mcp__github__delete_repo",
            "mcp__github__delete_*",
            "mcp__github__*",
            "mcp__github",
            "mcp__*",
            "*",
            "Edit(/etc/**)",
            "Edit(/a/b (copy).txt)",
            "WebFetch(domain:docs.rs)",
            "http_request(domain:*.example.com)",
            "Typo(x)",
        ] {
            assert_eq!(Rule::parse(text).map(|r| r.to_string()), Ok(text.to_owned()));
        }
    }

    #[test]
    fn what_does_not_parse_says_where() {
        use RuleError as E;
        for (text, want) in [
            ("", E::Empty),
            ("Bash(ls", E::Unclosed { at: 4 }),
            ("Bash(ls) x", E::Unclosed { at: 4 }),
            ("Bash()", E::EmptySpec { at: 4 }),
            ("Bash(:*)", E::EmptySpec { at: 4 }),
            ("Read ", E::Name { at: 4, found: ' ' }),
            (" Read", E::Name { at: 0, found: ' ' }),
            ("(x)", E::Name { at: 0, found: '(' }),
            ("Re*", E::Star { at: 2 }),
            ("mcp__a*__x", E::Star { at: 6 }),
            ("mcp__*__x", E::Star { at: 5 }),
            ("Bash(a\u{0}b)", E::Control { at: 6 }),
            ("*(x)", E::NoSpec { tool: "*".to_owned() }),
        ] {
            assert_eq!(Rule::parse(text).map(|r| r.to_string()), Err(want), "{text:?}");
        }
        assert!(matches!(Rule::parse("Read(!x)"), Err(E::Path { at: 5, .. })));
        assert!(matches!(Rule::parse("WebFetch(docs.rs)"), Err(E::Domain { at: 9, .. })));
        assert!(matches!(Rule::parse("WebFetch(domain:a@b)"), Err(E::Domain { at: 16, .. })));
        assert_eq!(Rule::parse(&"x".repeat(9000)), Err(E::TooLong));
    }

    #[test]
    fn names_are_compared_byte_for_byte() {
        let covers = |rule: &str, name: &str| Rule::parse(rule).unwrap().tool.covers(name);
        assert!(covers("Read", "Read"));
        for other in ["READ", "read", "Read ", "evil::Read", "Reader", "mcp__a__Read"] {
            assert!(!covers("Read", other), "{other}");
        }
        assert!(covers("mcp__git__*", "mcp__git__push"));
        assert!(!covers("mcp__git__*", "mcp__github__push"));
        assert!(covers("mcp__git", "mcp__git__push"));
        assert!(!covers("mcp__git", "mcp__github__push"));
    }

    #[test]
    fn doubts_name_what_can_never_match() {
        let doubts =
            |rule: &str, allow| Rule::parse(rule).unwrap().doubts(&["Bash", "Read", "TodoWrite"], allow);
        assert!(doubts("bash(ls)", false).unwrap().contains("did you mean Bash"));
        assert!(doubts("Nope", false).unwrap().contains("no tool"));
        assert!(doubts("TodoWrite(x)", false).unwrap().contains("never match"));
        assert!(doubts("Read(../x)", false).unwrap().contains("never match"));
        assert!(doubts("Bash(env *)", true).unwrap().contains("never match"));
        assert!(doubts("Terminal(ls)", true).is_some());
        assert_eq!(doubts("Bash(env *)", false), None);
        for (rule, part) in [
            ("Bash(bash -c *)", Some("never match")),
            ("Bash(python3 -c *)", Some("never match")),
            ("Bash(python3 -c 'p*')", None),
            ("Bash(node -e:*)", Some("never match")),
            ("Bash(cd x && make *)", Some("covers one command")),
            ("Bash(for f in a b; do touch x; done)", Some("asks all the same: a `for` loop")),
            ("Bash(echo $HOME)", Some("asks all the same: a variable")),
            ("Bash(python3 -c 'print(1)')", None),
            ("Bash(bash x.sh *)", None),
            ("Bash(python3 *)", None),
            ("Bash(python3 -m pytest *)", None),
            ("Bash(make *)", None),
            ("Bash(* --version)", None),
            ("Bash(cd x && make)", None),
            ("Bash(find . -name '*.py' | xargs wc -l)", None),
            ("Bash(find . -name '\\*.py' | xargs wc -l)", None),
        ] {
            let doubt = doubts(rule, true);
            assert_eq!(doubt.is_some(), part.is_some(), "{rule}: {doubt:?}");
            assert!(part.is_none_or(|part| doubt.unwrap().contains(part)), "{rule}");
            assert_eq!(doubts(rule, false), None, "{rule}");
        }
        assert_eq!(doubts("mcp__x__y", true), None);
    }

    proptest! {
        #[test]
        fn any_text_parses_or_fails_and_prints_back(text in "\\PC{0,40}") {
            if let Ok(rule) = Rule::parse(&text) {
                prop_assert_eq!(rule.to_string(), text.clone());
                prop_assert_eq!(Rule::parse(&text), Ok(rule));
            }
        }

        #[test]
        fn rules_round_trip(tool in "(Bash|Read|Edit|WebFetch|mcp__a__b)", spec in "[a-z*/ .:(){}-]{1,30}") {
            let text = format!("{tool}({spec})");
            if let Ok(rule) = Rule::parse(&text) {
                prop_assert_eq!(rule.to_string(), text);
            }
        }
    }
}
