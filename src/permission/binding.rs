//! What an approval is bound to: a digest of everything that an allow covers.

use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use super::call::{Preview, ResolvedCall};
use super::checker::JudgedPath;
use super::shell::WordPath;
use super::subject::{Access, Subject};
use crate::domain::digest::Digest;

/// Everything that an allow covers; whatever of it changes, the allow no longer fits. `bound` is what the checker says:
/// whether the call has to be confirmed in every session, and where its command leads.
pub(super) fn digest(
    call: &ResolvedCall,
    paths: &[JudgedPath],
    preview: &Preview,
    directory: &Path,
    sandbox: &str,
    (forced, leads): (bool, Option<&Digest>),
) -> Digest {
    let arguments = call.argument_text();
    let mut fields: Vec<&[u8]> = vec![
        call.tool_name.as_bytes(),
        arguments.as_bytes(),
        directory.as_os_str().as_bytes(),
        sandbox.as_bytes(),
        if forced { b"forced" } else { b"asks" },
        leads.map_or(&[], |leads| leads.as_str().as_bytes()),
    ];
    for path in paths {
        fields.push(if path.edits { b"edit" } else { b"read" });
        fields.push(path.located.real.as_os_str().as_bytes());
    }
    for (path, hash) in &preview.files {
        fields.push(path.as_os_str().as_bytes());
        fields.push(hash.as_ref().map_or(&[], |hash| hash.as_bytes().as_slice()));
    }
    Digest::of_fields(fields)
}

/// Where the paths of a command lead: its operands, redirections and directories, whatever of its words leads somewhere
/// else than it is spelt, and what it puts into directories. None for a call that runs no command.
pub(super) fn leads(subject: &Subject<'_>) -> Option<Digest> {
    subject.command.as_ref()?;
    let (place, on_disk) = (&subject.place, &subject.on_disk);
    let operands = subject.paths.iter().map(|path| {
        let access: &[u8] = if path.access == Access::Edit { b"edit" } else { b"read" };
        (access, path.requested.as_path(), path.real.as_path())
    });
    // A word that means what it says is told by the command's text.
    let led = |word: &&WordPath| word.path != place.resolve(&word.written);
    let words = on_disk.leads.iter().chain(&on_disk.may_lead).filter(led).chain(&on_disk.copied);
    let words = words.map(|word| (b"word".as_slice(), word.written.as_path(), word.path.as_path()));
    let mut found: Vec<_> = operands.chain(words).collect();
    // Patterns of names are read in the order of a directory, which may change.
    found.sort_unstable();
    found.dedup();
    let programs = on_disk.linked.iter().map(|segment| segment.text().as_bytes());
    let mut programs: Vec<&[u8]> = programs.collect();
    programs.sort_unstable();
    let known = [on_disk.operands_located, on_disk.words_located, on_disk.copies_untold].map(u8::from);
    let fields = found.iter().flat_map(|(what, written, real)| [*what, bytes(written), bytes(real)]);
    Some(Digest::of_fields(std::iter::once(known.as_slice()).chain(programs).chain(fields)))
}

fn bytes(path: &Path) -> &[u8] {
    path.as_os_str().as_bytes()
}
