//! Where the paths of a command lead on the disk.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Component, Path, PathBuf};

use globset::GlobBuilder;

use super::beneath;
use super::checker::PermissionRequest;
use super::commands::{carriers, git, kind};
use super::copies;
use super::lexical;
use super::narrowing::Narrowing;
use super::policy::{self, Policy};
use super::repository;
use super::scope::Scope;
use super::shell::scan;
use super::shell::{CommandAnalysis, WordPath};
use super::subject::{OnDisk, PathOf, Place, SubjectPath};
use crate::workspace::{FileKind, Located, Workspace, WorkspaceError};

/// Most paths of one command that are looked up; where there are more, it is not known where they lead.
const MAX_WORDS: usize = 1024;
/// Most programs of one command that are looked up by their paths.
const MAX_LINKED: usize = 1024;
/// Most names that are held against the patterns of one command.
const MAX_NAMES: usize = 20_000;
/// The longest name of a file that Linux takes, in bytes.
const MAX_NAME_BYTES: usize = 255;

/// Resolves an understood command's operands, and every word that may be a path.
pub(super) fn of_command(
    analysis: &CommandAnalysis,
    request: &PermissionRequest<'_>,
    place: &Place,
    policy: &Policy,
) -> (Vec<SubjectPath>, OnDisk) {
    let (Some(scope), Some(directory)) = (request.scope, request.directory) else {
        return (Vec::new(), OnDisk::default());
    };
    let mut operands = Vec::new();
    let mut on_disk = OnDisk::on_paper();
    look_around(analysis, scope, directory, place, &mut on_disk);
    let mut used = analysis.path_uses(on_disk.plain_repositories);
    if on_disk.plain_repositories {
        let trees = repository::working_trees(analysis, &scope.workspace, directory);
        used.extend(analysis.uses_in_trees(&trees));
    }
    on_disk.operands_located = used.len() <= MAX_WORDS;
    on_disk.paths_stay = analysis.paths_stay();
    for operand in used.into_iter().take(MAX_WORDS) {
        // The kernel takes a long path where the way to it is not counted, so a failure proves nothing.
        let Ok(located) = scope.workspace.locate(directory, &operand.path) else {
            on_disk.operands_located = false;
            continue;
        };
        if located.through_process || is_of_whoever_asks(&located.requested) {
            on_disk.operands_located = false;
        }
        if operand.file_only && located.kind == Some(FileKind::Directory) {
            on_disk.operands_located = false;
        }
        // Bash counts the `..` of a later `cd` from how a directory was named, the kernel from where it is.
        if operand.enters && located.real != place.resolve(&operand.path) {
            on_disk.paths_stay = false;
            on_disk.enters_plainly = false;
        }
        operands.push(SubjectPath {
            requested: located.requested,
            real: located.real,
            access: operand.access,
            inside: located.inside,
            of: operand.of,
            kind: located.kind,
        });
    }
    let of_followers = operands.iter().filter(|path| analysis.follows_beneath(path.of));
    if !beneath::has_no_links(of_followers.map(|path| path.real.as_path())) {
        on_disk.operands_located = false;
    }
    let of_tellers =
        operands.iter().filter_map(|path| Some((path.real.as_path(), analysis.targets(path.of)?)));
    if !beneath::no_link_leads_out(of_tellers, &scope.workspace) {
        on_disk.operands_located = false;
    }
    // What another command of the text puts there first cannot be seen yet. (A redirection is judged by itself.)
    let rules: Vec<Narrowing<'_>> = policy.narrowing(request.flags.bypass).collect();
    let only_readers = analysis.runs_only_readers(on_disk.plain_repositories);
    for rules in &rules {
        if !rules.guards_reads() || only_readers && nothing_hidden(analysis, &operands, *rules, place) {
            on_disk.nothing_hidden.note(rules.hold);
        }
    }
    locate_words(analysis, &scope.workspace, directory, place, &mut on_disk);
    locate_open_ended(analysis, &scope.workspace, directory, place, &mut on_disk);
    copies::locate(analysis, &scope.workspace, place, &rules, &mut on_disk);
    for rules in &rules {
        if nothing_denied(analysis, *rules, place, &on_disk) {
            on_disk.nothing_denied.note(rules.hold);
        }
    }
    programs_behind_links(analysis, directory, &mut on_disk);
    scripts_behind_links(analysis, directory, &mut on_disk);
    locate_tracked(analysis, &scope.workspace, directory, place, &rules, &mut on_disk);
    (operands, on_disk)
}

/// What the files say that a command's programs find from where they start.
fn look_around(
    analysis: &CommandAnalysis,
    scope: &Scope,
    directory: &Path,
    place: &Place,
    on_disk: &mut OnDisk,
) {
    on_disk.plain_repositories = repository::all_plain(analysis, &scope.workspace, directory);
    on_disk.no_toolchain_chosen = repository::no_toolchain_chosen(analysis, &scope.workspace, directory);
    // Without a launcher nothing is run.
    if let Some(launcher) = &scope.launcher {
        let path = launcher.search_path();
        on_disk.chosen =
            repository::chosen(analysis, &scope.workspace, directory, &path, place.home.as_deref());
    }
}

/// Finds out where every word leads that may be a path, and what patterns of names stand for.
fn locate_words(
    analysis: &CommandAnalysis,
    workspace: &Workspace,
    directory: &Path,
    place: &Place,
    on_disk: &mut OnDisk,
) {
    let words = analysis.word_paths(place);
    let distinct: HashSet<&PathBuf> = words.iter().map(|word| &word.written).collect();
    if distinct.len() > MAX_WORDS {
        on_disk.words_located = false;
    }
    let patterns = analysis.understood().is_none();
    if patterns
        && matching_is_untold(analysis.text())
        && words.iter().any(|w| is_pattern(w.written.as_os_str()))
    {
        on_disk.words_located = false;
    }
    let mut names = MAX_NAMES;
    for word in words.iter().take(MAX_WORDS) {
        if patterns && is_pattern(word.written.as_os_str()) {
            let Ok(paths) = expanded(&word.written, &mut names) else {
                on_disk.words_located = false;
                continue;
            };
            if on_disk.may_lead.len() + paths.len() > MAX_WORDS {
                on_disk.words_located = false;
                continue;
            }
            for written in paths {
                let word = WordPath { path: place.resolve(&written), written, ..word.clone() };
                match lead(workspace, directory, &word) {
                    Ok(lead) => on_disk.may_lead.extend(lead),
                    Err(Lost) => on_disk.words_located = false,
                }
                on_disk.may_lead.push(word);
            }
            continue;
        }
        match lead(workspace, directory, word) {
            Ok(lead) => on_disk.leads.extend(lead),
            Err(Lost) => on_disk.words_located = false,
        }
    }
}

/// Finds out where the names lead that a program makes of a beginning (`split`), where something is called so already.
fn locate_open_ended(
    analysis: &CommandAnalysis,
    workspace: &Workspace,
    directory: &Path,
    place: &Place,
    on_disk: &mut OnDisk,
) {
    let Some(made) = analysis.open_ended() else {
        on_disk.words_located = false;
        return;
    };
    let mut left = MAX_NAMES;
    for (start, made) in
        analysis.starts(place).iter().flat_map(|start| made.iter().map(move |made| (start, made)))
    {
        let Some(within) = made.directory() else {
            on_disk.words_located = false;
            continue;
        };
        let within = Place { cwd: start.clone(), ..place.clone() }.word_target(within);
        let entries = match std::fs::read_dir(&within) {
            Ok(entries) => entries,
            Err(error) if matches!(error.kind(), ErrorKind::NotADirectory | ErrorKind::NotFound) => continue,
            Err(_) => {
                on_disk.words_located = false;
                continue;
            }
        };
        for entry in entries {
            left = left.saturating_sub(1);
            let Ok(entry) = entry else {
                on_disk.words_located = false;
                continue;
            };
            let name = entry.file_name();
            if left == 0 || on_disk.may_lead.len() > MAX_WORDS {
                on_disk.words_located = false;
                return;
            }
            if name.to_str().is_some_and(|name| !made.may_be(name)) {
                continue;
            }
            let written = within.join(name);
            let word = WordPath {
                path: place.resolve(&written),
                written,
                may_edit: true,
                descends: false,
                directory: false,
                sweeps: false,
            };
            match lead(workspace, directory, &word) {
                Ok(lead) => on_disk.may_lead.extend(lead),
                Err(Lost) => on_disk.words_located = false,
            }
            on_disk.may_lead.push(word);
        }
    }
}

/// Finds out whether a rule speaks of a tracked file whose changes a git of the text throws away.
fn locate_tracked(
    analysis: &CommandAnalysis,
    workspace: &Workspace,
    directory: &Path,
    place: &Place,
    rules: &[Narrowing<'_>],
    on_disk: &mut OnDisk,
) {
    let Some(script) = analysis.understood().filter(|_| rules.iter().any(|rules| rules.guards_paths()))
    else {
        return;
    };
    let mut starts: HashSet<PathBuf> = HashSet::new();
    for leaf in script.leaves() {
        match git::pathspec::discards(&leaf.words) {
            None => {}
            Some(true) => starts.extend(leaf.directories.iter().map(|from| directory.join(from))),
            Some(false) => on_disk.words_located = false,
        }
    }
    let mut left = MAX_NAMES;
    for start in starts {
        let mut guarded = vec![None; rules.len()];
        let mut hold = |path: PathBuf| {
            left = left.saturating_sub(1);
            for (guarded, rules) in guarded.iter_mut().zip(rules) {
                if guarded.is_none() && left > 0 && rules.guards(&path, place) {
                    *guarded = Some(path.clone());
                }
            }
        };
        let known = workspace
            .locate(directory, &start)
            .is_ok_and(|start| repository::tracked(workspace, &start.real, &mut hold).is_some());
        on_disk.words_located &= known && left > 0;
        on_disk.may_lead.extend(guarded.into_iter().flatten().map(|path| WordPath {
            written: path.clone(),
            path,
            may_edit: true,
            descends: false,
            directory: false,
            sweeps: false,
        }));
    }
}

/// Whether every command that descends is known, and nothing that a rule hides lies beneath its operands.
fn nothing_hidden(
    analysis: &CommandAnalysis,
    operands: &[SubjectPath],
    rules: Narrowing<'_>,
    place: &Place,
) -> bool {
    let Some(numbers) = analysis.descending() else { return false };
    let of = |number: usize| operands.iter().filter(move |path| path.of == PathOf::Leaf(number));
    numbers.iter().all(|number| of(*number).next().is_some())
        && beneath::is_clear(
            numbers.iter().flat_map(|n| of(*n)).map(|path| path.real.as_path()),
            rules,
            place,
        )
}

/// Whether one command of the text at most may change files, and nothing that a rule speaks of lies beneath the directories
/// that it is given.
fn nothing_denied(analysis: &CommandAnalysis, rules: Narrowing<'_>, place: &Place, on_disk: &OnDisk) -> bool {
    if !rules.guards_paths() || !analysis.changes_by_one(on_disk.plain_repositories) {
        return false;
    }
    let words = policy::words_of(analysis, place, on_disk);
    beneath::holds_nothing_denied(rules.directories_that_may_hold(&words, place), rules, place)
}

/// Looks up what programs that are named by a path lead to: rules speak of those by their names.
fn programs_behind_links(analysis: &CommandAnalysis, directory: &Path, on_disk: &mut OnDisk) {
    for (number, (word, rest, sure, directories)) in analysis.programs_by_path().enumerate() {
        if number == MAX_LINKED {
            let text = || format!("it names more than {MAX_LINKED} programs by their paths");
            on_disk.hidden_carrier.get_or_insert_with(text);
            break;
        }
        let own = lexical::file_name(word);
        let names: HashSet<String> =
            directories.iter().flat_map(|from| names_behind(&directory.join(from).join(word))).collect();
        for name in names.iter().filter(|name| *name != own) {
            on_disk.linked.push(scan::renamed(name, rest, sure));
            if carriers::runs_what_it_gets(name) && kind::base_name(name) != kind::base_name(own) {
                let text = || format!("`{word}` leads to `{name}`, which runs what it is given");
                on_disk.hidden_carrier.get_or_insert_with(text);
            }
        }
    }
}

/// Notes the commands with the files that their scripts are, where links lead to them: rules speak of those.
fn scripts_behind_links(analysis: &CommandAnalysis, directory: &Path, on_disk: &mut OnDisk) {
    let starts = analysis.may_be_scripts().flat_map(|(words, at, sure, directories)| {
        directories.iter().map(move |from| (words, at, sure, directory.join(from)))
    });
    for (number, (words, at, sure, from)) in starts.enumerate() {
        if number == MAX_LINKED {
            let text = || format!("it names more than {MAX_LINKED} words that may be scripts");
            on_disk.hidden_carrier.get_or_insert_with(text);
            break;
        }
        let path = from.join(&words[at]);
        let Ok(real) = path.canonicalize() else { continue };
        if let Some(real) = real.to_str().filter(|_| real != lexical::normal(directory, &path)) {
            on_disk.linked.push(scan::called(words, at, real, sure));
        }
    }
}

/// The names of what a link leads to, step by step.
fn names_behind(path: &Path) -> Vec<String> {
    const MAX_STEPS: usize = 16;
    let mut names = Vec::new();
    let mut at = path.to_path_buf();
    for _ in 0..MAX_STEPS {
        let Ok(target) = std::fs::read_link(&at) else { break };
        at = at.parent().map_or_else(|| target.clone(), |parent| parent.join(&target));
        names.extend(at.file_name().and_then(OsStr::to_str).map(str::to_owned));
    }
    names
}

/// Whether the shell takes the name for a pattern of names.
pub(super) fn is_pattern(name: &OsStr) -> bool {
    name.as_bytes().iter().any(|byte| matches!(byte, b'*' | b'?' | b'[' | b'{'))
}

/// Whether a pattern may stand for more than it looks like, by what the text may have set: bash's manual, "The Shopt
/// Builtin", "Invoking Bash" and "Bash Variables". Pieces of these words are enough, since quotes may stand between them.
fn matching_is_untold(text: &str) -> bool {
    let options = ["glob", "shopt", "BASHOPTS", "SHELLOPTS", "GLOBIGNORE", "GLOBSORT", "BASH_ENV"];
    // `-O extglob`, `+O`, and the patterns of extglob.
    let given = ["-O", "+O", "@(", "+(", "!(", "?(", "*("];
    options.iter().chain(&given).any(|piece| text.contains(piece))
}

/// The paths that a pattern of names stands for. At most `left` names are looked at, for all patterns together.
fn expanded(pattern: &Path, left: &mut usize) -> Result<Vec<PathBuf>, Lost> {
    let mut paths = vec![PathBuf::from("/")];
    for part in pattern.components() {
        // Nothing lies beneath what is not there, and a word may have as many parts as a text has room for.
        if paths.is_empty() {
            break;
        }
        if !is_pattern(part.as_os_str()) {
            push_to_all(&mut paths, part.as_os_str());
            continue;
        }
        let text = lexical::without_ranges(part.as_os_str().to_str().ok_or(Lost)?);
        let Ok(glob) = GlobBuilder::new(&text).build() else {
            // The shell takes an unfinished bracket as it is, and goes on beyond a slash in braces.
            if text.contains('{') {
                return Err(Lost);
            }
            push_to_all(&mut paths, part.as_os_str());
            continue;
        };
        let (matcher, dotted) = (glob.compile_matcher(), text.starts_with(['.', '{']));
        let mut found = Vec::new();
        for path in &paths {
            let Ok(entries) = std::fs::read_dir(path) else { continue };
            for entry in entries.flatten() {
                *left = left.checked_sub(1).ok_or(Lost)?;
                let name = entry.file_name();
                if (dotted || !name.as_bytes().starts_with(b".")) && matcher.is_match(&name) {
                    found.push(path.join(name));
                }
            }
        }
        if found.len() > MAX_WORDS {
            return Err(Lost);
        }
        paths = found;
    }
    Ok(paths)
}

fn push_to_all(paths: &mut [PathBuf], part: &OsStr) {
    for path in paths {
        path.push(part);
    }
}

/// It is not known where a word leads.
pub(super) struct Lost;

/// Where the word leads, when it says more than its spelling.
fn lead(workspace: &Workspace, directory: &Path, word: &WordPath) -> Result<Option<WordPath>, Lost> {
    if is_of_whoever_asks(&word.path) {
        return Err(Lost);
    }
    let Some(located) = find(workspace, directory, &word.written)? else { return Ok(None) };
    let is_directory = located.kind == Some(FileKind::Directory);
    if located.real == word.path && is_directory == word.directory {
        return Ok(None);
    }
    let path = located.real;
    Ok(Some(WordPath { path, directory: is_directory, ..word.clone() }))
}

/// Where a path that is spelt so leads; none where no program finds anything there.
pub(super) fn find(workspace: &Workspace, directory: &Path, written: &Path) -> Result<Option<Located>, Lost> {
    if is_of_whoever_asks(written) {
        return Err(Lost);
    }
    // Without `.` and doubled slashes, which change nothing but the length.
    let short: PathBuf = written.components().filter(|c| *c != Component::CurDir).collect();
    let located = match workspace.locate(directory, &short) {
        Ok(located) => located,
        Err(error) if is_no_path(&error, &short) => return Ok(None),
        Err(_) => return Err(Lost),
    };
    if located.through_process && !is_own_stream(&located.requested) || is_of_whoever_asks(&located.real) {
        return Err(Lost);
    }
    Ok(Some(located))
}

/// Whether the path leads through the links of a process (proc(5)): to the command they say something else than to us.
fn is_of_whoever_asks(path: &Path) -> bool {
    let links = ["cwd", "root", "fd", "exe", "map_files", "task"];
    path.strip_prefix("/proc").is_ok_and(|within| {
        within.components().skip(1).any(|part| links.iter().any(|link| part.as_os_str() == *link))
    })
}

/// Whether the path is one of the streams that every process has from the start: what is there was given to it.
fn is_own_stream(path: &Path) -> bool {
    ["stdin", "stdout", "stderr", "fd/0", "fd/1", "fd/2"]
        .iter()
        .any(|name| path == Path::new("/dev").join(name))
}

/// Whether the kernel, too, finds nothing there.
fn is_no_path(error: &WorkspaceError, path: &Path) -> bool {
    match error {
        WorkspaceError::PathTooLong => {
            path.components().any(|c| c.as_os_str().as_bytes().len() > MAX_NAME_BYTES)
        }
        WorkspaceError::NulInPath
        | WorkspaceError::EmptyPath
        | WorkspaceError::SymlinkLoop { .. }
        | WorkspaceError::NotADirectory { .. } => true,
        _ => false,
    }
}
