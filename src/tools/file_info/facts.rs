//! What is known of a path, found out without opening anything but regular files and folders.

use std::fs::File;
use std::io::Read;

use serde_json::{Map, Value, json};

use crate::domain::clock::Timestamp;
use crate::domain::result::ToolError;
use crate::permission::Hidden;
use crate::tools::blocking::{Patience, failure, given_up};
use crate::tools::picture;
use crate::tools::search::{bytes_said, counted, shown_name};
use crate::tools::suggest::missing_file;
use crate::tools::text::EDITABLE_BYTES;
use crate::workspace::{
    ContentHash, FileFacts, FileKind, LineEnding, Located, TextError, TextFile, Workspace, is_binary_sample,
    media_type, name_of_type,
};

/// The most names of a folder that are counted.
const NAMES_MAX: usize = 10_000;
/// How many bytes at a file's beginning tell its type.
const SAMPLE_BYTES: u64 = 8 * 1024;
/// How far the size of an image is looked for.
const IMAGE_HEAD_BYTES: u64 = 256 * 1024;

/// A path and what surrounds it.
pub(super) struct Subject<'a> {
    pub(super) workspace: &'a Workspace,
    pub(super) located: &'a Located,
    /// The symlink that the path is, if it is one.
    pub(super) link: Option<Located>,
    pub(super) hidden: &'a Hidden,
    /// What the session last saw of the file.
    pub(super) seen: Option<ContentHash>,
    pub(super) shown: &'a str,
}

/// What is known.
#[derive(Debug, Default)]
pub(super) struct Facts {
    pub(super) kind: String,
    /// For the model: what, and its value.
    pub(super) lines: Vec<(&'static str, String)>,
    /// For programs.
    pub(super) details: Map<String, Value>,
}

impl Facts {
    fn say(&mut self, what: &'static str, value: impl Into<String>) {
        self.lines.push((what, value.into()));
    }

    fn tell(&mut self, key: &str, value: impl Into<Value>) {
        self.details.insert(key.to_owned(), value.into());
    }
}

impl Subject<'_> {
    /// Everything that is known.
    pub(super) fn facts(&self, patience: &Patience) -> Result<Facts, ToolError> {
        let mut facts = Facts::default();
        self.link_facts(&mut facts);
        let Some(kind) = self.located.kind else {
            if self.link.is_none() {
                return Err(missing_file(self.workspace, self.located, self.hidden, self.shown));
            }
            "a symbolic link that leads to nothing".clone_into(&mut facts.kind);
            facts.tell("kind", "symlink");
            return Ok(facts);
        };
        let known = self.workspace.facts(self.located).map_err(|error| failure(&error))?;
        facts.kind = known.kind.to_string();
        if kind != known.kind {
            return Err(ToolError::Execution(format!("{} changed while it was looked at.", self.shown)));
        }
        facts.tell("kind", kind_name(known.kind));
        match known.kind {
            FileKind::File => self.file(&known, &mut facts, patience)?,
            FileKind::Directory => self.folder(&mut facts)?,
            _ => {}
        }
        common(&known, &mut facts);
        Ok(facts)
    }

    fn link_facts(&self, facts: &mut Facts) {
        let Some(link) = &self.link else { return };
        let target = self.workspace.link_target(link).map(|target| shown_name(&target)).unwrap_or_default();
        facts.say("symbolic link to", target.clone());
        facts.tell("link_target", target);
    }

    fn folder(&self, facts: &mut Facts) -> Result<(), ToolError> {
        let listing = self.workspace.list(self.located, NAMES_MAX).map_err(|error| failure(&error))?;
        let seen = |name: &std::ffi::OsString| {
            let place = self.located.entry(name, FileKind::Unknown);
            !self.hidden.hides(&place.requested) && !self.hidden.hides(&place.real)
        };
        let count = listing.entries.iter().filter(|entry| seen(&entry.name)).count();
        let than = if listing.cut { "at least " } else { "" };
        facts.say("entries", format!("{than}{count}"));
        facts.tell("entries", count);
        Ok(())
    }

    fn file(&self, known: &FileFacts, facts: &mut Facts, patience: &Patience) -> Result<(), ToolError> {
        facts.say("size", format!("{} ({} bytes)", bytes_said(known.size), known.size));
        facts.tell("size", known.size);
        let file = self.workspace.open_read(self.located).map_err(|error| failure(&error))?;
        let head = self.read(&file, IMAGE_HEAD_BYTES, patience)?;
        let sample = &head[..head.len().min(usize::try_from(SAMPLE_BYTES).unwrap_or(usize::MAX))];
        if known.size > EDITABLE_BYTES {
            type_of_large(sample, facts);
            facts.say("lines", "not counted: the file is too large to be changed, and can be read in pages");
        } else {
            let mut content = head.clone();
            content.extend(self.read(&file, EDITABLE_BYTES + 1 - head.len() as u64, patience)?);
            self.content(&content, facts);
        }
        if let Some((width, height)) = picture::dimensions(&head) {
            facts.say("dimensions", format!("{width} x {height} pixels"));
            facts.tell("width", width);
            facts.tell("height", height);
        }
        Ok(())
    }

    fn read(&self, file: &File, limit: u64, patience: &Patience) -> Result<Vec<u8>, ToolError> {
        let mut bytes = Vec::new();
        let read = patience.reader(file).take(limit).read_to_end(&mut bytes);
        patience.check().map_err(|why| given_up(why, "The file is slow to read."))?;
        let shown = self.shown;
        read.map_err(|error| ToolError::Execution(format!("{shown} cannot be read: {error}")))?;
        Ok(bytes)
    }

    fn content(&self, content: &[u8], facts: &mut Facts) {
        match TextFile::decode(content) {
            Ok(text) => text_facts(&text, facts),
            Err(error) => {
                if let TextError::Undecodable { .. } = error {
                    facts.say("text", format!("no: {error}"));
                }
                type_of_binary(content, facts);
            }
        }
        let (said, told) = match self.seen {
            None => ("no", "no"),
            Some(seen) if seen == ContentHash::of(content) => ("yes, and unchanged since", "unchanged"),
            Some(_) => ("yes, but it has changed since: read it again before you change it", "changed"),
        };
        facts.say("read in this session", said);
        facts.tell("read", told);
    }
}

fn text_facts(text: &TextFile, facts: &mut Facts) {
    let lines = text.text.lines().count();
    let ending = match text.line_ending {
        LineEnding::Lf => "LF",
        LineEnding::CrLf => "CR LF",
        LineEnding::Mixed => "mixed, LF and CR LF",
    };
    let unended = !text.text.is_empty() && !text.text.ends_with('\n');
    let last = if unended { ", the last one without a line end" } else { "" };
    let mark = if text.bom { " with a byte order mark" } else { "" };
    facts.say("type", "text/plain");
    facts.say("encoding", format!("{}{mark}", text.encoding));
    facts.say("lines", format!("{}{last}", counted(lines as u64, "line")));
    facts.say("line ends", ending);
    facts.tell("media_type", "text/plain");
    facts.tell("encoding", text.encoding.to_string());
    facts.tell("bom", text.bom);
    facts.tell("lines", lines);
    facts.tell("line_ending", ending);
    facts.tell("final_newline", !unended);
}

fn type_of_binary(content: &[u8], facts: &mut Facts) {
    let media = media_type(content).unwrap_or("application/octet-stream");
    let name = name_of_type(content).unwrap_or("binary, type unknown");
    facts.say("type", format!("{media} ({name})"));
    facts.tell("media_type", media);
}

fn type_of_large(sample: &[u8], facts: &mut Facts) {
    if is_binary_sample(sample) {
        type_of_binary(sample, facts);
    } else {
        facts.say("type", "text/plain, by its beginning");
        facts.tell("media_type", "text/plain");
    }
}

/// What every kind of file has.
fn common(known: &FileFacts, facts: &mut Facts) {
    facts.say("mode", format!("{:04o} ({})", known.mode, permissions(known.mode)));
    facts.tell("mode", format!("{:04o}", known.mode));
    let (seconds, nanoseconds) = known.modified;
    if let Ok(time) = Timestamp::new(seconds, i32::try_from(nanoseconds).unwrap_or(0)) {
        facts.say("last changed", time.to_string());
        facts.tell("modified", json!(time));
    }
    if known.links > 1 && known.kind != FileKind::Directory {
        facts.say("hard links", format!("{} (other names show the same content)", known.links));
    }
    facts.tell("hard_links", known.links);
}

fn kind_name(kind: FileKind) -> &'static str {
    match kind {
        FileKind::File => "file",
        FileKind::Directory => "directory",
        FileKind::Fifo => "fifo",
        FileKind::Socket => "socket",
        FileKind::Device => "device",
        FileKind::Symlink => "symlink",
        FileKind::Unknown => "unknown",
    }
}

/// The mode as `ls -l` writes it: `rwxr-xr-x`.
fn permissions(mode: u32) -> String {
    let special = [(0o4000, 0o100, 's', 'S'), (0o2000, 0o010, 's', 'S'), (0o1000, 0o001, 't', 'T')];
    let mut text = String::with_capacity(9);
    for (shift, (bit, execute, with, without)) in [6, 3, 0].into_iter().zip(special) {
        let of_three = mode >> shift;
        text.push(if of_three & 4 == 0 { '-' } else { 'r' });
        text.push(if of_three & 2 == 0 { '-' } else { 'w' });
        text.push(match (mode & bit != 0, mode & execute != 0) {
            (true, true) => with,
            (true, false) => without,
            (false, true) => 'x',
            (false, false) => '-',
        });
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes_as_ls_writes_them() {
        for (mode, text) in [
            (0o644, "rw-r--r--"),
            (0o755, "rwxr-xr-x"),
            (0o4755, "rwsr-xr-x"),
            (0o2640, "rw-r-S---"),
            (0o1777, "rwxrwxrwt"),
            (0, "---------"),
        ] {
            assert_eq!(permissions(mode), text);
        }
    }
}
