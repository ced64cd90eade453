//! Forms in which programs for archives only tell what is in one. Each counts as it stands here, and no other: the same
//! programs run what their options say, connect to other machines, and write.

use super::super::super::lexical::file_name;
use super::{KnownUse, special};

/// Whether the program is one of those that [`of`] reads.
pub(super) fn of(program: &str, arguments: &[String]) -> Option<KnownUse> {
    match program {
        "tar" => lists_tar(arguments),
        "unzip" => lists_zip(arguments),
        "zcat" => unpacks(arguments),
        "gunzip" => behind_letters(arguments, &["-c", "-l", "-t", "-lv"]),
        "gzip" => behind_letters(arguments, &["-dc", "-cd", "-l", "-t", "-lv"]),
        _ => None,
    }
}

/// tar 1.34 manual, 4.2.5: `tar tf a.tar`, `tar -tvzf a.tgz src/x`. Names of members stand behind the archive, and any word
/// with a dash is an option wherever it stands; 6.1: a colon is another machine.
fn lists_tar(arguments: &[String]) -> Option<KnownUse> {
    let [letters, archive, members @ ..] = arguments else { return None };
    let told = letters.strip_prefix('-').unwrap_or(letters).strip_suffix('f')?;
    // What it is compressed with, it finds out by itself, too.
    let plain = told.chars().all(|letter| matches!(letter, 't' | 'v' | 'z' | 'j' | 'J'))
        && told.chars().filter(|letter| *letter == 't').count() == 1;
    let is_file = !archive.is_empty() && !archive.starts_with('-') && !archive.contains(':');
    let are_names = members.iter().all(|member| !member.starts_with('-'));
    (plain && is_file && are_names).then(|| special::reads([archive]))
}

/// unzip(1) 6.0: `unzip -l a.zip`. It takes the archive for a pattern of names, and where none is called so looks for one
/// with an ending.
fn lists_zip(arguments: &[String]) -> Option<KnownUse> {
    let [option, archive, members @ ..] = arguments else { return None };
    let is_file = !archive.starts_with('-') && !archive.contains(['*', '?', '[', '\\']);
    let are_names = members.iter().all(|member| !member.starts_with('-'));
    let tells = matches!(option.as_str(), "-l" | "-v" | "-t" | "-Z" | "-Z1" | "-lv" | "-lq" | "-tq" | "-lqq");
    (tells && is_file && !archive.is_empty() && are_names).then(|| {
        let others = [format!("{archive}.zip"), format!("{archive}.ZIP")];
        special::reads(std::iter::once(archive).chain(&others))
    })
}

/// gzip(1) 1.12: what is in files to the standard output, or how large it is. One whose name has no ending of its own is
/// looked for with several.
fn behind_letters(arguments: &[String], letters: &[&str]) -> Option<KnownUse> {
    let (option, files) = arguments.split_first()?;
    letters.contains(&option.as_str()).then_some(())?;
    unpacks(files)
}

fn unpacks(files: &[String]) -> Option<KnownUse> {
    // An ending that is all of the name counts as none (gzip.c, `get_suffix`).
    let ended = |file: &String| {
        let name = file_name(file);
        [".gz", ".tgz"].iter().any(|end| name.strip_suffix(end).is_some_and(|stem| !stem.is_empty()))
    };
    let plain = files.iter().all(|file| !file.starts_with('-') && ended(file));
    // Where it is BSD's, `zcat a.gz` reads `a.gz.Z`.
    let others: Vec<String> = files.iter().map(|file| format!("{file}.Z")).collect();
    (plain && !files.is_empty()).then(|| special::reads(files.iter().chain(&others)))
}
