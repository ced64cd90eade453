//! `find` that neither writes nor reads other files, but for what programs with nothing but names of files to go by read of
//! what it finds.
//!
//! Source: findutils 4.9, find(1).

use super::special::reads;
use super::{KnownUse, Operand, known_use};
use crate::permission::commands::names::Names;

/// Programs that read every file that they are given by name, and write none; each behind `-exec` has to be a known
/// command besides.
static READERS: Names = Names::of(&[
    "cat head tail wc nl stat file ls grep egrep fgrep sed md5sum sha1sum sha256sum sha512sum cksum",
]);

/// What joins tests, and tests and options without a value.
static ALONE: Names = Names::of(&[
    "-o -or , -a -and -empty -prune -true -false -xdev -mount -depth -d -daystart -nouser -nogroup -noleaf -warn -nowarn",
    "-ignore_readdir_race -noignore_readdir_race",
]);
/// Tests and options with a value that is only compared.
static VALUED: Names = Names::of(&[
    "-name -iname -path -ipath -wholename -regex -iregex -regextype -maxdepth -mindepth -size -mtime -mmin -ctime -cmin",
    "-atime -amin -perm -user -group -links -inum -lname -ilname -fstype -uid -gid -used",
]);

/// Options, which are no tests: where one stands behind `!`, it depends on the version what that turns around (of 4.9,
/// `! -daystart -type f` means `! -type f`).
static OPTIONS: Names = Names::of(&[
    "-xdev -mount -depth -d -daystart -noleaf -warn -nowarn -ignore_readdir_race -noignore_readdir_race -regextype",
    "-maxdepth -mindepth",
]);

/// What is said of the files of one alternative (`-o`) so far, outside of brackets.
#[derive(Default)]
struct Branch {
    /// Something is done with what got here.
    acts: bool,
    /// Before that, no symlink got here.
    no_links: bool,
    /// Before that, nothing but regular files got here.
    files: bool,
}

pub(super) fn read(arguments: &[String]) -> Option<KnownUse> {
    let arguments = arguments.strip_prefix(&["-P".to_owned()]).unwrap_or(arguments);
    let is_path = |w: &&String| !w.starts_with('-') && !matches!(w.as_str(), "(" | ")" | "!" | ",");
    let paths: Vec<&String> = arguments.iter().take_while(is_path).collect();
    let mut words = &arguments[paths.len()..];
    let mut references = Vec::new();
    let mut known = KnownUse { recursive: true, ..KnownUse::default() };
    let (mut branch, mut depth, mut negated) = (Branch::default(), 0_usize, false);
    let mut looks_through = false;
    while let Some((word, mut rest)) = words.split_first() {
        let mut value = || {
            let (value, behind) = rest.split_first()?;
            rest = behind;
            Some(value)
        };
        let inverse = std::mem::take(&mut negated);
        match word.as_str() {
            "(" => depth += 1,
            ")" => depth = depth.checked_sub(1)?,
            "!" | "-not" => negated = !inverse,
            "-o" | "-or" | "," if depth == 0 => {
                if looks_through && !branch.no_links {
                    return None;
                }
                (branch, looks_through) = (Branch::default(), false);
            }
            word if inverse && OPTIONS.has(word) => return None,
            word if ALONE.has(word) => {}
            "-print" | "-print0" | "-ls" | "-quit" => branch.acts = true,
            // Of a symlink they tell whether something lies where it leads.
            "-readable" | "-writable" | "-executable" => looks_through = true,
            "-type" => {
                let kinds = value()?;
                if depth == 0 && !inverse && !branch.acts {
                    branch.no_links |= !kinds.contains('l');
                    branch.files |= kinds == "f";
                }
            }
            "-printf" => {
                looks_through |= tells_of_targets(value()?);
                branch.acts = true;
            }
            word if VALUED.has(word) => {
                value()?;
            }
            // A time can name the file of a time zone.
            "-newermt" | "-newerct" | "-newerat" | "-newerBt" => {
                value().filter(|time| !time.contains("TZ="))?;
            }
            // They look at the times or the number of another file.
            "-newer" | "-anewer" | "-cnewer" | "-samefile" => references.push(value()?),
            "-exec" if depth == 0 => {
                let (more, behind) = executed(rest)?;
                rest = behind;
                known.operands.extend(more);
                known.follows_beneath |= !branch.files;
                branch.acts = true;
            }
            _ => return None,
        }
        words = rest;
    }
    if looks_through && !branch.no_links {
        return None;
    }
    let here = ".".to_owned();
    let paths = if paths.is_empty() { vec![&here] } else { paths };
    known.operands.extend(reads(paths.into_iter().chain(references)).operands);
    Some(known)
}

/// The paths that a command behind `-exec` reads besides what is found, and the words behind its end. What is found begins
/// with a start of the search, so none of it is an option.
fn executed(words: &[String]) -> Option<(Vec<Operand>, &[String])> {
    const FOUND: &str = "{}";
    let ends = |at: &usize| words[*at] == ";" || (words[*at] == "+" && *at > 0 && words[*at - 1] == FOUND);
    let end = (0..words.len()).find(ends)?;
    let command = &words[..end];
    let known = known_use(command)?;
    let is_found = |operand: &Operand| operand.path == FOUND;
    let once = command.iter().filter(|word| word.contains(FOUND)).count() == 1;
    let plain = once
        && READERS.has(&command[0])
        && known.operands.iter().any(is_found)
        && known.only_reads()
        && !known.recursive;
    plain.then(|| {
        (known.operands.into_iter().filter(|operand| !is_found(operand)).collect(), &words[end + 1..])
    })
}

/// Whether a format of `-printf` has `%Y`, what a symlink leads to.
fn tells_of_targets(format: &str) -> bool {
    let mut rest = format;
    while let Some((_, behind)) = rest.split_once('%') {
        let behind = behind.trim_start_matches(|c: char| c.is_ascii_digit() || "-+ #.".contains(c));
        let mut directive = behind.chars();
        match directive.next() {
            Some('Y') => return true,
            // A part of a time follows, which can be a year.
            Some('A' | 'B' | 'C' | 'T') => {
                directive.next();
            }
            _ => {}
        }
        rest = directive.as_str();
    }
    false
}
