//! Calls written as a rule is (`Bash(cargo test; rm x)`): the examples in a config file, and what is explained.

use std::path::Path;

use thiserror::Error;

use super::host::{Host, HostError};
use super::policy::{Circumstances, Policy};
use super::shell::{self, CommandAnalysis, PathUse};
use super::subject::{Access, Class, OnDisk, PathOf, Place, Subject, SubjectPath};
use super::verdict::{Decision, Verdict};
use crate::domain::session::PermissionMode;
use crate::workspace::FileKind;

/// Tools that touch nothing but the session.
pub(super) const SESSION_TOOLS: [&str; 6] =
    ["AskUser", "TodoWrite", "Sleep", "ExitPlanMode", "request_permissions", "BashOutput"];

/// Why the text of a call cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ExampleError {
    /// Not `Tool` or `Tool(…)`.
    #[error("a call is written as `Tool` or `Tool(what)`")]
    Shape,
    /// The tool is judged by something that is not there.
    #[error("{0} needs {1} in parentheses")]
    Missing(String, &'static str),
    /// The URL is wrong.
    #[error(transparent)]
    Host(#[from] HostError),
    /// It can be said on paper only.
    #[error("a call written like this cannot be judged in a session: {0}")]
    OnPaperOnly(&'static str),
}

/// An example in a config file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleTest {
    /// The call.
    pub call: String,
    /// What has to come out.
    pub is: Expected,
}

/// What an example says of its call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expected {
    /// It runs.
    Allow,
    /// A person decides.
    Ask,
    /// It does not run.
    Deny,
}

/// An example that its own rules break.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum TestFailure {
    /// The call cannot be read.
    #[error("tests[{index}]: `{call}`: {why}")]
    Unreadable {
        /// Which one, from 0.
        index: usize,
        /// The call.
        call: String,
        /// What is wrong.
        why: ExampleError,
    },
    /// Something else comes out.
    #[error("tests[{index}]: `{call}` is {got}, not what the test says: {why}")]
    Differs {
        /// Which one, from 0.
        index: usize,
        /// The call.
        call: String,
        /// What comes out.
        got: Decision,
        /// Why.
        why: String,
    },
}

/// The tool, and what stands in parentheses behind it.
pub(super) fn parts(text: &str) -> Result<(&str, Option<&str>), ExampleError> {
    let (tool, inner) = match text.split_once('(') {
        Some((tool, rest)) => (tool, Some(rest.strip_suffix(')').ok_or(ExampleError::Shape)?)),
        None => (text, None),
    };
    let is_name = !tool.is_empty() && !tool.contains(|c: char| c.is_whitespace() || c.is_control());
    if is_name { Ok((tool, inner)) } else { Err(ExampleError::Shape) }
}

/// Makes the call that `text` describes, as if no symlink existed.
pub fn subject<'t>(text: &'t str, place: &Place) -> Result<Subject<'t>, ExampleError> {
    let (tool, inner) = parts(text)?;
    let needs = |what| inner.ok_or_else(|| ExampleError::Missing(tool.to_owned(), what));
    let mut subject = Subject {
        tool,
        other_names: &[],
        class: Class::Foreign,
        paths: Vec::new(),
        command: None,
        hosts: Vec::new(),
        place: place.clone(),
        on_disk: OnDisk::on_paper(),
    };
    match tool {
        "Bash" => {
            let analysis = shell::analyse(needs("a command")?);
            (subject.paths, subject.on_disk) = paths_of(&analysis, place);
            subject.class = Class::Run;
            subject.command = Some(analysis);
        }
        "BashInput" | "Terminal" => {
            subject.class = Class::Run;
            subject.command = inner.map(shell::analyse_input);
        }
        "KillShell" => subject.class = Class::Run,
        "WebFetch" | "http_request" => {
            let url = needs("a URL")?;
            let url = url.strip_prefix("domain:").map_or(url.to_owned(), |host| format!("https://{host}/"));
            subject.class = Class::Network;
            subject.hosts.push(Host::of_url(&url)?);
        }
        "Read" | "Grep" | "Glob" | "ListDir" | "FileInfo" => {
            subject.paths.push(path(inner.unwrap_or("."), Access::Read, place));
            subject.class = if subject.paths[0].inside { Class::ReadInside } else { Class::Outside };
        }
        "Edit" | "Write" | "ApplyPatch" | "NotebookEdit" => {
            subject.paths.push(path(needs("a path")?, Access::Edit, place));
            subject.class = if subject.paths[0].inside { Class::EditInside } else { Class::Outside };
        }
        _ if SESSION_TOOLS.contains(&tool) => subject.class = Class::SessionOnly,
        _ => {}
    }
    Ok(subject)
}

/// The file of that name, as if it were there.
pub(super) fn path(text: &str, access: Access, place: &Place) -> SubjectPath {
    let real = place.resolve_word(text);
    let inside = real.starts_with(&place.workspace);
    let kind = Some(FileKind::File);
    SubjectPath { inside, requested: real.clone(), real, access, of: PathOf::Call, kind }
}

/// The paths that a command names, as if no symlink existed but those that it makes itself.
pub(super) fn paths_of(command: &CommandAnalysis, place: &Place) -> (Vec<SubjectPath>, OnDisk) {
    let paths: Vec<SubjectPath> = command.path_uses(false).iter().map(|used| named(used, place)).collect();
    (
        paths,
        OnDisk {
            paths_stay: command.paths_stay(),
            no_toolchain_chosen: command.changes_nothing(),
            ..OnDisk::on_paper()
        },
    )
}

fn named(used: &PathUse, place: &Place) -> SubjectPath {
    let real = place.resolve(&used.path);
    let inside = real.starts_with(&place.workspace);
    SubjectPath { inside, requested: real.clone(), real, access: used.access, of: used.of, kind: None }
}

impl Policy {
    /// Holds the rules against the examples that stand beside them, in a session of `mode` with someone there
    /// and every program confined.
    pub fn check_tests(&self, tests: &[RuleTest], mode: PermissionMode) -> Result<(), Vec<TestFailure>> {
        let place = Place {
            workspace: "/workspace".into(),
            home: Some("/home/user".into()),
            cwd: "/workspace".into(),
        };
        let circumstances =
            Circumstances { mode, bypass: false, someone_there: true, confined: true, grants: &[] };
        let failures: Vec<TestFailure> = tests
            .iter()
            .enumerate()
            .filter_map(|(index, test)| {
                let call = test.call.clone();
                match subject(&test.call, &place) {
                    Err(why) => Some(TestFailure::Unreadable { index, call, why }),
                    Ok(subject) => {
                        let Verdict { decision: got, reason } = self.judge(&subject, &circumstances);
                        (!test.is.fits(got)).then_some(TestFailure::Differs {
                            index,
                            call,
                            got,
                            why: reason.text,
                        })
                    }
                }
            })
            .collect();
        if failures.is_empty() { Ok(()) } else { Err(failures) }
    }
}

impl Expected {
    fn fits(self, decision: Decision) -> bool {
        matches!(
            (self, decision),
            (Self::Allow, Decision::Allow) | (Self::Ask, Decision::Ask { .. }) | (Self::Deny, Decision::Deny)
        )
    }
}

/// A place for explanations that concern no live session: the workspace is also the working directory.
pub fn place_in(workspace: &Path, home: Option<&Path>) -> Place {
    Place { workspace: workspace.to_owned(), home: home.map(Path::to_owned), cwd: workspace.to_owned() }
}
