//! The workspace's files that a command names and may run: an approval is bound to what is in them.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::implied_files;
use crate::domain::result::ToolError;
use crate::permission::{Preview, Scope, shell};
use crate::tools::blocking::{self, GivenUp, Patience, failure, given_up};
use crate::workspace::{ContentHash, FileKind, HashingReader, Workspace};

/// So many words of a command are looked at; with more it is bound to its own text alone beyond them.
const WORDS_MAX: usize = 256;
/// So many of the directories that it names are looked into.
const DIRECTORIES_MAX: usize = 16;
/// So many bytes of a file are hashed; a longer one counts by its place, size and time of change.
const HASHED_BYTES_MAX: u64 = 16 * 1024 * 1024;
/// How deep quoted words are taken apart in their turn.
const DEPTH_MAX: usize = 3;
/// How long all of that may take.
const TIME_MAX: Duration = Duration::from_secs(10);

/// The files that the command names, with their content now. Every word counts, whatever it is to
/// its program, from the directory that it begins in and from each that it names: a file too many
/// costs a second question, one too few runs what nobody saw.
pub(super) async fn preview(
    command: &str,
    workdir: Option<&str>,
    scope: &Scope,
) -> Result<Preview, ToolError> {
    if !shell::analyse(command).may_run_files() {
        return Ok(Preview::default());
    }
    let mut words = Vec::new();
    split(command, 0, &mut words);
    let implied = implied_files::of(&words);
    words.extend(implied);
    let workspace = Arc::clone(&scope.workspace);
    let start = match workdir {
        None => scope.directory.clone(),
        Some(workdir) => workspace.resolve(&scope.directory, workdir).map_err(|error| failure(&error))?.real,
    };
    blocking::run(&scope.cancel, TIME_MAX, move |patience| {
        let files = named(&workspace, &start, &words, patience)
            .map_err(|why| given_up(why, "Name fewer files in one command."))?;
        let files = files.into_iter().map(|(path, hash)| (path, Some(hash))).collect();
        Ok(Preview { diff: None, files })
    })
    .await
}

fn named(
    workspace: &Workspace,
    start: &Path,
    words: &[String],
    patience: &Patience,
) -> Result<BTreeMap<PathBuf, ContentHash>, GivenUp> {
    let mut files = BTreeMap::new();
    let mut directories = vec![start.to_path_buf()];
    let mut next = 0;
    while let Some(directory) = directories.get(next).cloned() {
        next += 1;
        for word in words {
            patience.check()?;
            let Ok(located) = workspace.resolve(&directory, word) else { continue };
            match located.kind {
                Some(FileKind::File) if located.inside && !files.contains_key(&located.real) => {
                    // A file that cannot be read now is bound by its being there.
                    let hash = workspace.open_read(&located).ok().and_then(|file| content(file).ok());
                    files.insert(located.real, hash.unwrap_or_else(|| ContentHash::of(b"unreadable")));
                }
                Some(FileKind::Directory)
                    if located.inside
                        && directories.len() < DIRECTORIES_MAX
                        && !directories.contains(&located.real) =>
                {
                    directories.push(located.real);
                }
                _ => {}
            }
        }
    }
    Ok(files)
}

fn content(file: File) -> io::Result<ContentHash> {
    let meta = file.metadata()?;
    let hash = HashingReader::new(file).finish(HASHED_BYTES_MAX)?;
    Ok(hash.unwrap_or_else(|| {
        let stamp = (meta.ino(), meta.size(), meta.ctime(), meta.ctime_nsec());
        ContentHash::of(format!("{stamp:?}").as_bytes())
    }))
}

/// Takes a command apart into what may be names of files: at blanks and operators outside of
/// quotes, behind `=`, and once more within what was quoted.
fn split(command: &str, depth: usize, words: &mut Vec<String>) {
    let mut word = String::new();
    let (mut quote, mut quoted) = (None, false);
    let mut chars = command.chars();
    loop {
        let c = chars.next();
        match (c, quote) {
            (Some(c), Some(open)) if c == open => quote = None,
            (Some('\\'), None | Some('"')) => word.extend(chars.next()),
            (Some(c @ ('\'' | '"')), None) => (quote, quoted) = (Some(c), true),
            (Some(c), None) if c.is_whitespace() || ";|&()<>`{}$,".contains(c) => {
                add(&mut word, &mut quoted, depth, words);
            }
            (Some(c), _) => word.push(c),
            (None, _) => {
                add(&mut word, &mut quoted, depth, words);
                return;
            }
        }
    }
}

fn add(word: &mut String, quoted: &mut bool, depth: usize, words: &mut Vec<String>) {
    let word = std::mem::take(word);
    let was_quoted = std::mem::take(quoted);
    if word.is_empty() || words.len() >= WORDS_MAX {
        return;
    }
    if was_quoted && depth < DEPTH_MAX {
        split(&word, depth + 1, words);
    }
    let value = word.split_once('=').map(|(_, value)| value.to_owned());
    for word in [Some(word), value].into_iter().flatten() {
        if !word.is_empty() && !words.contains(&word) {
            words.push(word);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_may_be_files() {
        for (command, named) in [
            ("sh ./run.sh", vec!["./run.sh"]),
            ("cd sub&&./run.sh>out", vec!["sub", "./run.sh", "out"]),
            ("sh -c 'sh ./a.sh; b'", vec!["./a.sh", "b"]),
            ("python 'my file.py'", vec!["my file.py"]),
            ("make -f my\\ file CONFIG=x.mk", vec!["my file", "x.mk"]),
            ("bash -c \"bash -c './deep.sh 1'\"", vec!["./deep.sh"]),
            ("x `./a` $(./b) {./c,./d}", vec!["./a", "./b", "./c", "./d"]),
        ] {
            let mut words = Vec::new();
            split(command, 0, &mut words);
            for name in named {
                assert!(words.iter().any(|word| word == name), "{command}: {words:?}");
            }
        }
    }
}
