//! Grep: lines that match a regular expression, searched in process.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use ignore::overrides::{Override, OverrideBuilder};
use ignore::types::{Types, TypesBuilder};
use serde::Deserialize;
use serde_json::{Value, json};

use super::arguments::read_arguments;
use super::blocking::{self, Patience, failure, given_up};
use super::judged;
use super::search::{
    Batch, FileSearch, Found, Looks, Mode, Pattern, SearchError, Skipped, Walk, counted, shown_path, together,
};
use super::suggest::missing_file;
use super::{GuideExample, Tool, ToolCtx, ToolGuide};
use crate::domain::outcome::ToolOutcome;
use crate::domain::result::{ToolError, ToolResult};
use crate::domain::schema::ToolMutability;
use crate::domain::visible;
use crate::permission::{Hidden, PermittedCall, Touch};
use crate::workspace::{FileKind, Located, Workspace};

/// How long a search may take.
const GREP_TIME: Duration = Duration::from_secs(20);
/// How many lines are shown when the call does not say.
const HEAD_LIMIT_DEFAULT: usize = 250;
/// How many lines may be asked for.
const HEAD_LIMIT_MAX: usize = 10_000;
/// How many lines around a match may be asked for.
const CONTEXT_MAX: usize = 100;

/// The tool.
#[derive(Debug, Clone, Copy, Default)]
pub struct Grep;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    pattern: String,
    path: Option<String>,
    glob: Option<String>,
    r#type: Option<String>,
    #[serde(default)]
    output_mode: OutputMode,
    #[serde(rename = "-A")]
    after: Option<usize>,
    #[serde(rename = "-B")]
    before: Option<usize>,
    #[serde(rename = "-C")]
    around: Option<usize>,
    #[serde(rename = "-n")]
    numbers: Option<bool>,
    #[serde(rename = "-i", default)]
    ignore_case: bool,
    #[serde(default)]
    multiline: bool,
    head_limit: Option<usize>,
    #[serde(default)]
    offset: usize,
    #[serde(default)]
    include_ignored: bool,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum OutputMode {
    #[default]
    FilesWithMatches,
    Content,
    Count,
}

#[async_trait]
impl Tool for Grep {
    fn name(&self) -> &'static str {
        "Grep"
    }

    fn description(&self) -> &'static str {
        "Searches the content of files for a regular expression (Rust syntax: no look-around, no back \
         references; escape literal braces). output_mode: files_with_matches (paths, the default), content \
         (lines as path:number:line, with -A, -B, -C lines around them) or count (path:count). glob and type \
         choose files. Files are searched in order of path; what .gitignore names, .git and binary files are left \
         out, but a file named by path is always searched and include_ignored searches all. At most head_limit \
         lines (250) from offset on are shown; the totals are of everything."
    }

    fn parameters(&self) -> Value {
        let lines = |what: &str| {
            json!({"type": "integer", "minimum": 0, "maximum": CONTEXT_MAX,
                "description": format!("Lines to show {what} each match (content mode)")})
        };
        json!({
            "type": "object",
            "properties": {
                "pattern": {"type": "string", "minLength": 1, "description": "The regular expression"},
                "path": {"type": "string", "minLength": 1,
                    "description": "The file or folder to search; the working directory if left out"},
                "glob": {"type": "string", "minLength": 1,
                    "description": "Only files like this, e.g. `*.js` or `src/**/*.{ts,tsx}`; `!*.min.js` leaves out"},
                "type": {"type": "string", "minLength": 1,
                    "description": "Only files of this type, e.g. rust, py, js, go"},
                "output_mode": {"type": "string", "enum": ["files_with_matches", "content", "count"],
                    "default": "files_with_matches"},
                "-A": lines("after"),
                "-B": lines("before"),
                "-C": lines("before and after"),
                "-n": {"type": "boolean", "default": true, "description": "Line numbers (content mode)"},
                "-i": {"type": "boolean", "default": false, "description": "Ignore case"},
                "multiline": {"type": "boolean", "default": false,
                    "description": "The pattern may span lines, and `.` matches line ends"},
                "head_limit": {"type": "integer", "minimum": 1, "maximum": HEAD_LIMIT_MAX,
                    "description": "How many lines of the answer to show (250)"},
                "offset": {"type": "integer", "minimum": 0, "default": 0,
                    "description": "How many lines of the answer to pass over first"},
                "include_ignored": {"type": "boolean", "default": false,
                    "description": "Also search what .gitignore names"},
            },
            "required": ["pattern"],
            "additionalProperties": false,
        })
    }

    fn mutability(&self) -> ToolMutability {
        ToolMutability::ReadOnly
    }

    fn legacy_names(&self) -> &[&'static str] {
        &["search_files", "grep_search"]
    }

    fn parameter_aliases(&self) -> &[(&'static str, &'static str)] {
        &[
            ("query", "pattern"),
            ("regex", "pattern"),
            ("directory", "path"),
            ("include", "glob"),
            ("context", "-C"),
            ("ignore_case", "-i"),
            ("case_insensitive", "-i"),
            ("mode", "output_mode"),
            ("limit", "head_limit"),
        ]
    }

    fn touches(&self, arguments: &Value) -> Vec<Touch> {
        vec![Touch::Read(arguments["path"].as_str().unwrap_or(".").to_owned())]
    }

    async fn invoke(&self, call: PermittedCall, ctx: ToolCtx) -> Result<ToolOutcome, ToolError> {
        let arguments: Arguments = read_arguments(call.arguments())?;
        let scope = Arc::clone(ctx.require_scope()?);
        let (top, workspace) = judged::place(&call)?;
        let directory = call.directory().unwrap_or(workspace.root()).to_path_buf();
        let hidden = call.hidden();
        let result = blocking::run_reading(&scope.cancel, GREP_TIME, move |patience| {
            let job = Job {
                // Some patterns take long to be made ready, too.
                files: arguments.search()?,
                filter: Filter::of(&arguments, &top)?,
                hidden,
                include_ignored: arguments.include_ignored,
                workspace,
                top,
                shown: visible::one_line(arguments.path.as_deref().unwrap_or("The working directory")),
                directory,
            };
            let (found, skipped) = job.run(patience)?;
            Ok(render(&found, &skipped, &arguments))
        })
        .await?;
        Ok(ToolOutcome::Completed(result))
    }
}

impl Arguments {
    fn search(&self) -> Result<FileSearch, ToolError> {
        let mode = match self.output_mode {
            OutputMode::FilesWithMatches => Mode::Files,
            OutputMode::Content => Mode::Content { numbers: self.numbers.unwrap_or(true) },
            OutputMode::Count => Mode::Count,
        };
        let around = |own: Option<usize>| match mode {
            Mode::Content { .. } => own.or(self.around).unwrap_or(0).min(CONTEXT_MAX),
            _ => 0,
        };
        let pattern = Pattern {
            regex: self.pattern.clone(),
            ignore_case: self.ignore_case,
            multiline: self.multiline,
            before: around(self.before),
            after: around(self.after),
        };
        FileSearch::new(&pattern, mode, self.offset, self.head_limit())
            .map_err(|error| ToolError::InvalidArguments(format!("pattern: {error}")))
    }

    fn head_limit(&self) -> usize {
        self.head_limit.unwrap_or(HEAD_LIMIT_DEFAULT).clamp(1, HEAD_LIMIT_MAX)
    }
}

/// Which files of a folder are searched.
struct Filter {
    globs: Override,
    types: Types,
}

impl Filter {
    fn of(arguments: &Arguments, top: &Located) -> Result<Self, ToolError> {
        let refuse = |field: &str, error: &ignore::Error| {
            ToolError::InvalidArguments(format!("{field}: {}", visible::one_line(&error.to_string())))
        };
        let mut globs = OverrideBuilder::new(&top.real);
        if let Some(glob) = &arguments.glob {
            globs.add(glob).map_err(|error| refuse("glob", &error))?;
        }
        let mut types = TypesBuilder::new();
        types.add_defaults();
        if let Some(name) = &arguments.r#type {
            types.select(name);
        }
        Ok(Self {
            globs: globs.build().map_err(|error| refuse("glob", &error))?,
            types: types.build().map_err(|error| refuse("type", &error))?,
        })
    }

    fn takes(&self, place: &Located) -> bool {
        !self.globs.matched(&place.real, false).is_ignore()
            && !self.types.matched(&place.real, false).is_ignore()
    }
}

struct Job {
    files: FileSearch,
    filter: Filter,
    hidden: Hidden,
    include_ignored: bool,
    workspace: Arc<Workspace>,
    top: Located,
    /// What to search, as the call names it.
    shown: String,
    directory: PathBuf,
}

impl Job {
    fn run(mut self, patience: &Patience) -> Result<(Found, Skipped), ToolError> {
        let mut skipped = Skipped::default();
        let searched = match self.top.kind {
            None => {
                return Err(missing_file(&self.workspace, &self.top, &self.hidden, &self.shown));
            }
            Some(FileKind::Directory) => self.folder(patience, &mut skipped),
            Some(FileKind::File) => {
                let shown = shown_path(&self.top.requested, &self.directory);
                let opened = self.workspace.open_read(&self.top);
                self.files.file(opened, &|| shown.clone(), patience, &mut skipped)
            }
            Some(kind) => {
                return Err(ToolError::Execution(format!(
                    "{} is {kind}: it cannot be searched.",
                    self.shown
                )));
            }
        };
        match searched {
            Ok(()) => Ok((self.files.into_found(), skipped)),
            Err(SearchError::GivenUp(why)) => Err(given_up(
                why,
                "This is not \"no matches\": search a smaller folder, or fewer files by glob.",
            )),
            Err(SearchError::Workspace(error)) => Err(failure(&error)),
        }
    }

    fn folder(&mut self, patience: &Patience, skipped: &mut Skipped) -> Result<(), SearchError> {
        let walk = Walk {
            workspace: &self.workspace,
            hidden: &self.hidden,
            patience,
            include_ignored: self.include_ignored,
        };
        let chosen = Chosen { walk: &walk, filter: &self.filter, directory: &self.directory };
        // What comes behind the page is only counted.
        let counting = AtomicBool::new(false);
        let recipe = self.files.recipe().clone();
        let files = &mut self.files;
        let looker = || {
            let mut part = recipe.for_parts();
            let counting = &counting;
            let look = move |batch: &Batch, skipped: &mut Skipped| {
                part.take_part(counting.load(Ordering::Relaxed));
                chosen.search(&mut part, batch, skipped)?;
                Ok(part.take_part(false))
            };
            Box::new(look) as Looks<'_, _>
        };
        let left_out = together(&walk, &self.top, &looker, &mut |batch, part, mut left_out| {
            if !files.absorb(part) {
                left_out = Skipped::default();
                chosen.search(files, batch, &mut left_out)?;
            }
            counting.store(files.page_is_full(), Ordering::Relaxed);
            skipped.add(left_out);
            Ok(())
        })?;
        skipped.add(left_out);
        Ok(())
    }
}

/// Which files of a walk are searched, and how they are named.
#[derive(Clone, Copy)]
struct Chosen<'a> {
    walk: &'a Walk<'a>,
    filter: &'a Filter,
    directory: &'a Path,
}

impl Chosen<'_> {
    fn search(
        &self,
        files: &mut FileSearch,
        batch: &Batch,
        skipped: &mut Skipped,
    ) -> Result<(), SearchError> {
        for run in batch {
            self.walk.sift(run, skipped, &mut |seen, skipped| {
                if !self.filter.takes(&seen.place) {
                    return Ok(());
                }
                if seen.place.kind == Some(FileKind::Symlink) {
                    skipped.links += 1;
                    return Ok(());
                }
                let shown = || shown_path(&seen.place.requested, self.directory);
                files.file(seen.folder.open_read(seen.name), &shown, self.walk.patience, skipped)
            })?;
        }
        Ok(())
    }
}

fn render(found: &Found, skipped: &Skipped, arguments: &Arguments) -> ToolResult {
    let mut text = String::new();
    for line in found.page() {
        text.push_str(line);
        text.push('\n');
    }
    let total = match arguments.output_mode {
        OutputMode::FilesWithMatches => format!("{} with a match", counted(found.files, "file")),
        _ => format!("{} in {}", counted(found.matches, "matching line"), counted(found.files, "file")),
    };
    let shown = found.page().len();
    let next = arguments.offset + shown;
    if found.files == 0 {
        text.push_str("No matches.");
    } else if shown == 0 && !found.cut_by_bytes() {
        let _ = write!(text, "[{total}; offset {} is past the end.]", arguments.offset);
    } else if next < found.total_lines() {
        let first = arguments.offset + 1;
        let why = if found.cut_by_bytes() { " (the page is full at 256 KiB)" } else { "" };
        let _ = write!(
            text,
            "\n[{total}. Lines {first} to {next} of {} are shown{why}; go on with offset {next}.]",
            found.total_lines()
        );
    } else {
        let _ = write!(text, "\n[{total}.]");
    }
    text.push_str(&skipped.notice());
    let mut details = json!({"files": found.files, "total_lines": found.total_lines(), "shown_lines": shown});
    if arguments.output_mode != OutputMode::FilesWithMatches {
        details["matches"] = found.matches.into();
    }
    ToolResult::ok(text).with_details(details)
}

impl ToolGuide for Grep {
    fn tool_name(&self) -> &'static str {
        "Grep"
    }

    fn when_to_use(&self) -> &'static str {
        "to find where something is written in files"
    }

    fn when_not_to_use(&self) -> &'static str {
        "to find files by name (Glob), or to see a whole file (Read)"
    }

    fn examples(&self) -> Vec<GuideExample> {
        vec![
            GuideExample::new("Which files use a function", r#"{"pattern":"parse_config\\(","type":"rust"}"#),
            GuideExample::new(
                "The lines, with what surrounds them",
                r#"{"pattern":"TODO","output_mode":"content","-C":2,"path":"src"}"#,
            ),
        ]
    }

    fn related_tools(&self) -> Vec<&str> {
        vec!["Glob", "Read"]
    }
}

#[cfg(test)]
#[path = "grep_tests.rs"]
mod tests;
