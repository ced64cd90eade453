//! Read: a page of a text file, with line numbers, or an image.

use std::fmt::Write as _;
use std::io::{self, Read as _};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::arguments::read_arguments;
use super::blocking::{self, GivenUp, Patience, failure, given_up};
use super::judged;
use super::picture;
use super::search::bytes_said;
use super::suggest::missing_file;
use super::text::EDITABLE_BYTES;
use super::{GuideExample, Tool, ToolCtx, ToolGuide};
use crate::domain::outcome::ToolOutcome;
use crate::domain::result::{ToolError, ToolResult};
use crate::domain::schema::ToolMutability;
use crate::domain::visible;
use crate::permission::{Hidden, PermittedCall, Touch};
use crate::workspace::{
    ContentHash, Encoding, FileKind, HashingReader, LineCount, Located, Page, PageBound, PageError,
    PageLimits, TextError, Workspace, WorkspaceError, media_type, name_of_type, read_page,
};

/// How long a page may take; a long way to a late line is what takes time.
const READ_TIME: Duration = Duration::from_secs(30);
/// Files of at most so many bytes are read on the async thread where the page cache has them.
const CACHED_BYTES: usize = 64 * 1024;
/// How many bytes at a file's beginning tell an image.
const SAMPLE_BYTES: usize = 8 * 1024;
/// How wide line numbers are at least.
const NUMBER_WIDTH: usize = 6;
/// Most lines of a page.
const PAGE_LINES: usize = 2000;

/// The tool.
#[derive(Debug, Clone, Copy, Default)]
pub struct Read;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    file_path: String,
    offset: Option<u64>,
    limit: Option<u64>,
}

#[async_trait]
impl Tool for Read {
    fn name(&self) -> &'static str {
        "Read"
    }

    fn description(&self) -> &'static str {
        "Reads a file. Of a text file it shows the lines with their numbers (a number, a tab, the line). Without a range a \
         long file shows its first page (at most 2000 lines, 2000 characters a line, 256 KiB) and says how to go \
         on; offset and limit choose lines. UTF-8 and UTF-16 are read. Images (PNG, JPEG, GIF, WebP) are shown as \
         images, large ones as a smaller copy. Other binary files, folders, pipes and devices are refused. A file \
         must be read before Write or Edit may change it."
    }

    fn parameters(&self) -> Value {
        json!({
            "type": "object",
            "properties": {
                "file_path": {"type": "string", "minLength": 1,
                    "description": "The file, absolute or relative to the working directory"},
                "offset": {"type": "integer", "minimum": 1,
                    "description": "The first line to show, counted from 1"},
                "limit": {"type": "integer", "minimum": 1, "maximum": PAGE_LINES,
                    "description": "How many lines to show"},
            },
            "required": ["file_path"],
            "additionalProperties": false,
        })
    }

    fn mutability(&self) -> ToolMutability {
        ToolMutability::ReadOnly
    }

    fn legacy_names(&self) -> &[&'static str] {
        &["read_file", "view_file"]
    }

    fn parameter_aliases(&self) -> &[(&'static str, &'static str)] {
        &[("path", "file_path"), ("filename", "file_path"), ("start_line", "offset")]
    }

    fn touches(&self, arguments: &Value) -> Vec<Touch> {
        vec![Touch::Read(arguments["file_path"].as_str().unwrap_or_default().to_owned())]
    }

    async fn invoke(&self, call: PermittedCall, ctx: ToolCtx) -> Result<ToolOutcome, ToolError> {
        let arguments: Arguments = read_arguments(call.arguments())?;
        let range = Range::of(&arguments)?;
        let scope = Arc::clone(ctx.require_scope()?);
        let (located, workspace) = judged::place(&call)?;
        let (shown, hidden) = (visible::one_line(&arguments.file_path), call.hidden());
        let cancel = scope.cancel.clone();
        // A small file that is in memory is read here: the way to another thread would cost more.
        let cached = workspace.read_cached(&located, CACHED_BYTES);
        let is_cached = cached.is_some();
        let read = move |patience: &Patience| {
            let reading =
                Reading { workspace: &workspace, located: &located, hidden: &hidden, shown: &shown };
            let seen = match cached {
                Some(content) => reading.seen_of(content, &range, patience)?,
                None => reading.seen(&range, patience)?,
            };
            let (to_show, hash) = match seen {
                Seen::Image(content) => {
                    let hash = ContentHash::of(&content);
                    (Shows::Image(content, shown), Some(hash))
                }
                Seen::Page(page, hash) => (Shows::Text(render(&page, &range, &shown)?), hash),
            };
            if let Some(hash) = hash {
                scope.reads.note(&located.real, hash);
            }
            Ok(to_show)
        };
        let to_show = if is_cached {
            read(&Patience::new(cancel.clone(), READ_TIME))?
        } else {
            blocking::run(&cancel, READ_TIME, read).await?
        };
        let result = match to_show {
            Shows::Text(result) => result,
            Shows::Image(content, shown) => show_image(&cancel, content, shown).await?,
        };
        Ok(ToolOutcome::Completed(result))
    }
}

/// The lines asked for.
struct Range {
    first: u64,
    limit: Option<usize>,
}

impl Range {
    fn of(arguments: &Arguments) -> Result<Self, ToolError> {
        let first = arguments.offset.unwrap_or(1);
        if first == 0 {
            return Err(ToolError::InvalidArguments("offset counts lines from 1".to_owned()));
        }
        let limit = match arguments.limit.map(usize::try_from) {
            None => None,
            Some(Ok(limit)) if (1..=PAGE_LINES).contains(&limit) => Some(limit),
            Some(_) => {
                let text =
                    format!("limit must be from 1 to {PAGE_LINES} lines; read longer ranges page by page");
                return Err(ToolError::InvalidArguments(text));
            }
        };
        Ok(Self { first, limit })
    }
}

/// What a file is found to be.
enum Seen {
    /// Text; with the hash of the very content it is from when that is small enough to be changed.
    Page(Page, Option<ContentHash>),
    /// An image, whole.
    Image(Vec<u8>),
}

/// What there is to show.
enum Shows {
    Text(ToolResult),
    /// An image that is still to be decoded, and its name.
    Image(Vec<u8>, String),
}

struct Reading<'a> {
    workspace: &'a Workspace,
    located: &'a Located,
    hidden: &'a Hidden,
    shown: &'a str,
}

impl Reading<'_> {
    fn seen(&self, range: &Range, patience: &Patience) -> Result<Seen, ToolError> {
        let file = self.workspace.open_read(self.located).map_err(|error| self.refused(&error))?;
        let size = file.metadata().map_or(0, |metadata| metadata.len());
        let mut head = Vec::new();
        let sampled = patience.reader(&file).take(SAMPLE_BYTES as u64).read_to_end(&mut head);
        sampled.map_err(|error| self.unreadable(&error.into(), size))?;
        if picture::format_of_binary(&head).is_some() {
            let content = self.workspace.read_whole(self.located, picture::FILE_BYTES_MAX);
            return content.map(Seen::Image).map_err(|error| failure(&error));
        }
        self.page_of(head.as_slice().chain(file), size, range, patience)
    }

    fn seen_of(&self, content: Vec<u8>, range: &Range, patience: &Patience) -> Result<Seen, ToolError> {
        let head = &content[..content.len().min(SAMPLE_BYTES)];
        if picture::format_of_binary(head).is_some() {
            return Ok(Seen::Image(content));
        }
        self.page_of(content.as_slice(), content.len() as u64, range, patience)
    }

    fn page_of(
        &self,
        content: impl io::Read,
        size: u64,
        range: &Range,
        patience: &Patience,
    ) -> Result<Seen, ToolError> {
        let mut reader = HashingReader::new(patience.reader(content));
        let limits = PageLimits { lines: range.limit.unwrap_or(PAGE_LINES), ..PageLimits::default() };
        let page = read_page(&mut reader, range.first, &limits);
        patience.check().map_err(|why| given_up(why, "Ask for a line nearer to the beginning."))?;
        let page = page.map_err(|error| self.unreadable(&error, size))?;
        // A larger one cannot be changed, so nobody needs its hash. One that cannot be read to its end is shown
        // as far as it was read, and may not be changed either.
        let hash = if size <= EDITABLE_BYTES { reader.finish(EDITABLE_BYTES).unwrap_or(None) } else { None };
        Ok(Seen::Page(page, hash))
    }

    fn refused(&self, error: &WorkspaceError) -> ToolError {
        match error {
            WorkspaceError::NotFound { .. } => {
                missing_file(self.workspace, self.located, self.hidden, self.shown)
            }
            WorkspaceError::NotAFile { kind: FileKind::Directory, .. } => ToolError::Execution(format!(
                "{} is a directory. See what is in it with ListDir.",
                self.shown
            )),
            WorkspaceError::NotAFile { kind, .. } => {
                ToolError::Execution(format!("{} is {kind}; only regular files are read.", self.shown))
            }
            other => failure(other),
        }
    }

    fn unreadable(&self, error: &PageError, size: u64) -> ToolError {
        let shown = self.shown;
        ToolError::Execution(match error {
            PageError::Text(TextError::Binary { kind }) => {
                let kind = kind.unwrap_or("type unknown");
                format!("{shown} is a binary file, {kind}, of {size} bytes: it cannot be read as text.")
            }
            other => format!("{shown} cannot be read: {}", visible::one_line(&other.to_string())),
        })
    }
}

fn render(page: &Page, range: &Range, shown: &str) -> Result<ToolResult, ToolError> {
    let (Some(first), Some(last)) = (page.lines.first(), page.lines.last()) else {
        return Ok(ToolResult::ok(nothing_to_show(page, range, shown)));
    };
    if let (Some(limit), Some(PageBound::Bytes)) = (range.limit, page.cut) {
        return Err(ToolError::Execution(format!(
            "The {limit} lines from {} on have more than 256 KiB, the bound of a page. From there, {} lines fit: \
             ask for limit {} and go on after them.",
            range.first,
            page.lines.len(),
            page.lines.len()
        )));
    }
    let shown_bytes: usize = page.lines.iter().map(|line| line.text.len() + NUMBER_WIDTH + 2).sum();
    let mut text = String::with_capacity(shown_bytes + 128);
    for line in &page.lines {
        push_number(&mut text, line.number);
        text.push('\t');
        text.push_str(page.text_of(line));
        match (line.omitted_chars, line.endless) {
            (0, _) => {}
            (more, endless) => {
                let than = if endless { "more than " } else { "" };
                let _ = write!(text, " [… {than}{more} more characters in this line]");
            }
        }
        text.push('\n');
    }
    let total = match page.total {
        LineCount::Exactly(total) => format!("{total}"),
        LineCount::AtLeast(total) => format!("more than {total}"),
    };
    if page.cut.is_some() {
        let _ = write!(
            text,
            "\n[Lines {} to {} of {total}. To go on, read with offset {}.]",
            first.number,
            last.number,
            last.number + 1
        );
    } else if page.lines.iter().any(|line| line.endless) {
        text.push_str(
            "\n[The last line is too long to be read to its end; what follows it was not looked at.]",
        );
    }
    if page.crlf {
        text.push_str("\n[Lines end in CR LF; Edit matches them with LF and keeps them.]");
    }
    if page.encoding != Encoding::Utf8 {
        let _ = write!(text, "\n[The file is {}; a change keeps that.]", page.encoding);
    }
    Ok(ToolResult::ok(text))
}

/// The image as a model can see it, decoded on a blocking thread.
async fn show_image(
    cancel: &CancellationToken,
    content: Vec<u8>,
    shown: String,
) -> Result<ToolResult, ToolError> {
    let turn = tokio::select! {
        turn = picture::DECODING.acquire() => turn.map_err(|error| ToolError::Internal(error.to_string()))?,
        () = cancel.cancelled() => return Err(given_up(GivenUp::Cancelled, "")),
    };
    blocking::run(cancel, READ_TIME, move |_| {
        // Held by the work itself: it may outlive the one who waits for it.
        let _turn = turn;
        let name = name_of_type(&content).unwrap_or("image");
        let picture = picture::prepare(&content).map_err(|error| {
            let size = content.len();
            ToolError::Execution(format!("{shown} looks like a {name} of {size} bytes, but {error}."))
        })?;
        let ((width, height), (shown_width, shown_height)) = (picture.original, picture.size);
        let mut text =
            format!("[{shown}: {name}, {width} x {height} pixels, {}.", bytes_said(content.len() as u64));
        if picture.is_copy {
            let bytes = bytes_said(picture.bytes as u64);
            let _ = write!(text, " Shown as a copy of {shown_width} x {shown_height} pixels, {bytes}.");
        }
        text.push(']');
        let details = json!({
            "media_type": media_type(&content), "width": width, "height": height, "bytes": content.len(),
            "shown": {
                "media_type": picture.image.media_type, "width": shown_width, "height": shown_height,
                "bytes": picture.bytes,
            },
        });
        Ok(ToolResult { images: vec![picture.image], ..ToolResult::ok(text) }.with_details(details))
    })
    .await
}

/// A line's number, right-aligned. Written by hand: a page has thousands, and formatting them was
/// most of the time that a read took.
fn push_number(text: &mut String, number: u64) {
    let mut digits = [b' '; 20];
    let mut at = digits.len();
    let mut rest = number;
    loop {
        at -= 1;
        digits[at] = b'0' + u8::try_from(rest % 10).unwrap_or(0);
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    let from = at.min(digits.len() - NUMBER_WIDTH);
    text.push_str(std::str::from_utf8(&digits[from..]).unwrap_or_default());
}

fn nothing_to_show(page: &Page, range: &Range, shown: &str) -> String {
    match page.total {
        LineCount::Exactly(0) => format!("[{shown} exists and is empty.]"),
        LineCount::Exactly(total) => {
            format!("[{shown} has {total} lines; offset {} is past its end.]", range.first)
        }
        LineCount::AtLeast(total) => {
            format!("[{shown} has at least {total} lines; line {} was not reached.]", range.first)
        }
    }
}

impl ToolGuide for Read {
    fn tool_name(&self) -> &'static str {
        "Read"
    }

    fn when_to_use(&self) -> &'static str {
        "to see a text file or an image, and before you change a file"
    }

    fn when_not_to_use(&self) -> &'static str {
        "to find where something is (Grep), or which files there are (Glob)"
    }

    fn examples(&self) -> Vec<GuideExample> {
        vec![
            GuideExample::new("A whole file", r#"{"file_path":"src/main.rs"}"#),
            GuideExample::new("Lines 200 to 249", r#"{"file_path":"src/main.rs","offset":200,"limit":50}"#),
        ]
    }

    fn related_tools(&self) -> Vec<&str> {
        vec!["Grep", "Glob", "Edit"]
    }
}

#[cfg(test)]
#[path = "read_tests.rs"]
mod tests;
