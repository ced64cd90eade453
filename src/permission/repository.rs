//! What the programs of a command would find from where they start, upwards: repositories of git and whether their
//! settings are plain, files that choose a toolchain.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::ffi::OsStr;
use std::io::Read as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use super::commands::git;
use super::commands::read_only::{Proxy, reads_no_home, starts};
use super::lexical;
use super::shell::{CommandAnalysis, Leaf};
use super::shims;
use crate::workspace::{FileKind, Located, Workspace};

/// The longest `HEAD`, in bytes: git reads 255 of it.
const MAX_HEAD: u64 = 255;
/// The longest settings that are looked at, in bytes.
const MAX_SETTINGS: u64 = 256 * 1024;
/// The longest manifest of a project that is looked at, in bytes.
const MAX_MANIFEST: u64 = 256 * 1024;
/// The longest index that is looked at, in bytes: some 300,000 files.
const MAX_INDEX: u64 = 32 * 1024 * 1024;

/// The most files and directories of a repository that are looked at; git packs loose objects from 6,700 on.
const MAX_ENTRIES: usize = 30_000;
/// The most directories of an index that are looked at.
const MAX_DIRECTORIES: usize = 20_000;

/// Whether each repository that a git of the text would find from where it may start is plain. `false` too where no
/// git is in it.
pub(super) fn all_plain(analysis: &CommandAnalysis, workspace: &Workspace, directory: &Path) -> bool {
    let mut any = false;
    for leaf in analysis.reads_by_git() {
        let of_trees = leaf.words.iter().any(|word| word == "worktree");
        for start in leaf.git_directories() {
            any = true;
            let found = workspace.locate(directory, &directory.join(start));
            let plain = |start: &Path| is_plain(workspace, start, of_trees).unwrap_or(false);
            if !found.is_ok_and(|start| start.inside && plain(&start.real)) {
                return false;
            }
        }
    }
    any
}

/// Where the working trees begin that the gits of the text find: what `safe.directory` has to name for a git whose user is
/// not their owner.
pub(crate) fn working_trees(
    analysis: &CommandAnalysis,
    workspace: &Workspace,
    directory: &Path,
) -> BTreeSet<PathBuf> {
    let starts = analysis.reads_by_git().flat_map(Leaf::git_directories);
    let found = starts.filter_map(|start| workspace.locate(directory, &directory.join(start)).ok());
    found.filter_map(|start| nearest(workspace, &start.real)).map(|(tree, _)| tree).collect()
}

/// Where git may take the attributes of files from in these working trees.
pub(crate) fn attributes(workspace: &Workspace, trees: &BTreeSet<PathBuf>) -> git::Attributes {
    let unborn =
        trees.iter().map(|tree| tree.join(".git")).find(|git| !has_commit(workspace, git).unwrap_or(true));
    let bytes = |git: PathBuf| {
        let settings = String::from_utf8(read(workspace, &git, "config", MAX_SETTINGS)?).ok()?;
        git::object_name_bytes(&settings)
    };
    unborn.map_or(git::Attributes::OfHead, |git| git::Attributes::None(bytes(git).unwrap_or_default()))
}

/// Whether the repository's branch has a commit, for all that is told by names. `None`: something cannot be read.
fn has_commit(workspace: &Workspace, git: &Path) -> Option<bool> {
    const MAX_PACKED: u64 = 16 * 1024 * 1024;
    let head = String::from_utf8(read(workspace, git, "HEAD", MAX_HEAD)?).ok()?;
    let Some(branch) = head.strip_prefix("ref:").map(str::trim_ascii) else { return Some(true) };
    if !is_missing(workspace, git, branch) {
        return Some(true);
    }
    // What tables say is not read: without any commit's attributes git goes on, without a commit it would not.
    if !is_missing(workspace, git, "reftable") {
        return Some(false);
    }
    let packed = read(workspace, git, "packed-refs", MAX_PACKED)?;
    let is_branch =
        |line: &[u8]| line.strip_suffix(branch.as_bytes()).is_some_and(|rest| rest.ends_with(b" "));
    Some(packed.split(|byte| *byte == b'\n').any(is_branch))
}

/// Whether no file in the directories of the text's proxies, nor above them, chooses what they stand for, and the text
/// makes none.
pub(super) fn no_toolchain_chosen(
    analysis: &CommandAnalysis,
    workspace: &Workspace,
    directory: &Path,
) -> bool {
    let is_none = |(start, proxy): (&PathBuf, Proxy)| none_chooses(workspace, directory, start, proxy);
    analysis.changes_nothing() && analysis.proxies_in().all(|proxy| is_none(proxy).unwrap_or(false))
}

/// The known commands of the text, by their numbers, of which files of the workspace may choose what they do, or the text may
/// make such a file: whose program may be a shim, as `PATH` finds it, or obey settings in a home that the workspace holds.
/// What a command runs counts as its own.
pub(super) fn chosen(
    analysis: &CommandAnalysis,
    workspace: &Workspace,
    directory: &Path,
    path: &OsStr,
    home: Option<&Path>,
) -> HashSet<usize> {
    let Some(script) = analysis.understood() else { return HashSet::new() };
    let leaves = script.leaves();
    let home_is_inside =
        home.is_some_and(|home| workspace.locate(directory, home).map_or(true, |home| home.inside));
    // Only they run for what they are: of the others a rule or a grant speaks.
    let is_known = |leaf: &Leaf| leaf.carried || leaf.known().is_some() || leaf.git().is_some();
    let names = leaves.iter().filter(|leaf| is_known(leaf)).flat_map(started_by);
    let shims = shims::among(names, path);
    let changes = !analysis.changes_nothing();
    let mut seen: HashMap<(&PathBuf, Proxy), bool> = HashMap::new();
    let mut chosen = HashSet::new();
    for (number, leaf) in leaves.iter().enumerate().filter(|(_, leaf)| is_known(leaf)) {
        let proxies: Vec<Proxy> = started_by(leaf).filter_map(|name| shims.get(name).copied()).collect();
        let obeys_home = home_is_inside && (!proxies.is_empty() || obeys_home(leaf));
        let mut chooses = |start, proxy| {
            *seen
                .entry((start, proxy))
                .or_insert_with(|| !none_chooses(workspace, directory, start, proxy).unwrap_or(false))
        };
        let mut may_be_chosen = |proxy| changes || leaf.directories.iter().any(|start| chooses(start, proxy));
        if !obeys_home && !proxies.into_iter().any(&mut may_be_chosen) {
            continue;
        }
        let runners = leaves.iter().enumerate().filter(|(_, other)| script.runs(other, leaf));
        chosen.extend(runners.map(|(number, _)| number).chain([number]));
    }
    chosen
}

/// Whether the program of a known command may read settings in its user's home that are not protected.
fn obeys_home(leaf: &Leaf) -> bool {
    leaf.inner().first().is_none_or(|program| !reads_no_home(program))
}

/// The program of the command, and those that it starts by their names.
fn started_by(leaf: &Leaf) -> impl Iterator<Item = &str> {
    let program = leaf.words.first().map(String::as_str);
    program.into_iter().chain(program.map(starts).into_iter().flatten().copied())
}

/// Whether no file in the directory, nor above it, chooses what the proxy stands for, and the directory lies in the
/// workspace. `None`: something cannot be read.
fn none_chooses(workspace: &Workspace, directory: &Path, start: &Path, proxy: Proxy) -> Option<bool> {
    let spelt = lexical::normal(directory, &directory.join(start));
    let start = workspace.locate(directory, &directory.join(start)).ok()?;
    // Some go upwards from where the shell says that it is, which is a path through links.
    if start.real != spelt {
        return Some(false);
    }
    for above in start.real.ancestors() {
        for name in proxy.files() {
            let found = entry(workspace, above, name)?;
            if found.kind.is_some() || found.real != above.join(name) {
                return Some(false);
            }
        }
        if let Some(name) = proxy.manifest() {
            let manifest = String::from_utf8(read(workspace, above, name, MAX_MANIFEST)?).ok()?;
            if proxy.is_chosen_by(&manifest) {
                return Some(false);
            }
        }
    }
    Some(start.inside)
}

/// Whether the nearest `.git` from the directory upwards lies in the workspace, is a repository by itself, and has only
/// plain settings. `follows`: git looks into the files that it tracks, through symlinks too. `None`: something in it cannot be read.
fn is_plain(workspace: &Workspace, start: &Path, of_trees: bool) -> Option<bool> {
    // What lies in a `.git` (those of submodules and other working trees) git may take for a repository.
    if start.components().any(|part| part.as_os_str() == ".git") {
        return Some(false);
    }
    // What git finds further up is none of the workspace's.
    let Some((tree, found)) = nearest(workspace, start) else { return Some(false) };
    let git = tree.join(".git");
    if found.kind != Some(FileKind::Directory) || found.real != git {
        return Some(false);
    }
    // Where git finds no repository in it, it goes on upwards to another one.
    let head = String::from_utf8(read(workspace, &git, "HEAD", MAX_HEAD)?).ok()?;
    let by_itself = git::head_is_valid(&head)
        && [("objects", "pack"), ("refs", "heads")].iter().all(|name| is_directory(workspace, &git, *name))
        && ["commondir", "objects/info/alternates", "objects/info/http-alternates"]
            .iter()
            .all(|name| is_missing(workspace, &git, name));
    if !by_itself || !has_no_links(workspace, &git) || !names_nothing_elsewhere(workspace, &git, of_trees)? {
        return Some(false);
    }
    let settings = String::from_utf8(read(workspace, &git, "config", MAX_SETTINGS)?).ok()?;
    let of_worktree = String::from_utf8(read(workspace, &git, "config.worktree", MAX_SETTINGS)?).ok()?;
    if !git::config_is_plain(&settings) || !git::config_is_plain(&of_worktree) {
        return Some(false);
    }
    let index = read(workspace, &git, "index", MAX_INDEX)?;
    let hash = git::object_name_bytes(&settings)?;
    if index.is_empty() {
        return Some(true);
    }
    let directories = git::directories_of(&index, hash)?;
    let stays = |name: &PathBuf| leads_nowhere_else(workspace, &tree, name);
    if directories.len() > MAX_DIRECTORIES || !directories.iter().all(stays) {
        return Some(false);
    }
    // Where a directory has taken the place of a file, git asks what a repository in it would say.
    let mut are_files = true;
    git::names_of(&index, hash, &mut |name| {
        let found = tree.join(OsStr::from_bytes(name)).symlink_metadata();
        are_files &= !found.is_ok_and(|found| found.is_dir());
    })?;
    Some(are_files)
}

/// Whether the files of a repository without links that name others by paths name none elsewhere.
fn names_nothing_elsewhere(workspace: &Workspace, git: &Path, of_trees: bool) -> Option<bool> {
    const MAX_LIST: u64 = 64 * 1024;
    const MAX_WORKTREES: usize = 1_000;
    let packs = git.join("objects/pack");
    let multi = entry(workspace, &packs, "multi-pack-index")?;
    if multi.kind.is_some() {
        let mut bytes = Vec::new();
        workspace.open_read(&multi).ok()?.take(git::MAX_MULTI_PACK).read_to_end(&mut bytes).ok()?;
        if !git::packs_lie_beside(&bytes)? {
            return Some(false);
        }
    }
    let tables = |of: &Path| {
        let list = read(workspace, &of.join("reftable"), "tables.list", MAX_LIST);
        list.is_some_and(|list| git::tables_lie_beside(&list))
    };
    let mut plain = is_missing(workspace, &packs, "multi-pack-index.d") && tables(git);
    let worktrees = match std::fs::read_dir(git.join("worktrees")) {
        Ok(worktrees) => worktrees,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Some(plain),
        Err(_) => return None,
    };
    for (number, worktree) in worktrees.enumerate() {
        let worktree = worktree.ok()?.path();
        // So git writes it; where else it leads, git finds references.
        let common = read(workspace, &worktree, "commondir", MAX_HEAD)?;
        plain &= number < MAX_WORKTREES && common.trim_ascii_end() == b"../.." && tables(&worktree);
        if of_trees {
            let gitdir = String::from_utf8(read(workspace, &worktree, "gitdir", MAX_LIST)?).ok()?;
            // From where git counts one that is not absolute goes by its version.
            let gitdir = Path::new(gitdir.trim_end());
            plain &=
                gitdir.is_absolute() && workspace.locate(&worktree, gitdir).is_ok_and(|tree| tree.inside);
        }
    }
    Some(plain)
}

/// The first directory from this one upwards, within the workspace, that has a `.git` of any kind, and what that is.
fn nearest(workspace: &Workspace, start: &Path) -> Option<(PathBuf, Located)> {
    for above in start.ancestors().take_while(|above| above.starts_with(workspace.root())) {
        let found = entry(workspace, above, ".git")?;
        if found.kind.is_some() {
            return Some((above.to_owned(), found));
        }
    }
    None
}

/// Hands each file that the nearest repository from the directory upwards tracks to `each`. None where it is not known which
/// those are; where there is no repository, there are none.
pub(super) fn tracked(workspace: &Workspace, start: &Path, each: &mut dyn FnMut(PathBuf)) -> Option<()> {
    for directory in start.ancestors() {
        let found = entry(workspace, directory, ".git")?;
        match found.kind {
            None => continue,
            Some(FileKind::Directory) => {}
            Some(_) => return None,
        }
        let settings = String::from_utf8(read(workspace, &found.real, "config", MAX_SETTINGS)?).ok()?;
        let hash = git::object_name_bytes(&settings)?;
        let index = read(workspace, &found.real, "index", MAX_INDEX)?;
        if index.is_empty() {
            return Some(());
        }
        let mut name = |name: &[u8]| each(directory.join(OsStr::from_bytes(name)));
        return git::names_of(&index, hash, &mut name);
    }
    Some(())
}

/// Whether nothing in the repository is a symlink, through which git would read (and print) what lies elsewhere: what
/// lies in `hooks` too git takes for a reference that is called so. Hooks that are scripts of the workspace are no
/// references, whatever they say.
fn has_no_links(workspace: &Workspace, git: &Path) -> bool {
    let hooks = git.join("hooks");
    let is_script = |path: &Path| {
        let found = workspace.locate(&hooks, path).ok().filter(|found| found.inside);
        let mut begin = [0; 2];
        let mut file = found.and_then(|found| workspace.open_read(&found).ok());
        file.as_mut().is_some_and(|file| file.read_exact(&mut begin).is_ok()) && begin == *b"#!"
    };
    let mut left = MAX_ENTRIES;
    let mut open = vec![git.to_owned()];
    while let Some(directory) = open.pop() {
        let Ok(entries) = std::fs::read_dir(&directory) else { return false };
        for entry in entries {
            let Some(kind) = entry.ok().and_then(|entry| Some((entry.file_type().ok()?, entry.path())))
            else {
                return false;
            };
            match kind {
                (kind, path) if kind.is_symlink() && !(directory == hooks && is_script(&path)) => {
                    return false;
                }
                (kind, path) if kind.is_dir() => open.push(path),
                _ => {}
            }
            left -= 1;
            if left == 0 {
                return false;
            }
        }
    }
    true
}

/// Whether a directory of the repository is one by itself and can be entered, which looking for `within` tells.
fn is_directory(workspace: &Workspace, git: &Path, (name, within): (&str, &str)) -> bool {
    let path = git.join(name);
    entry(workspace, git, name)
        .is_some_and(|found| found.kind == Some(FileKind::Directory) && found.real == path)
        && entry(workspace, &path, within).is_some_and(|found| found.real == path.join(within))
}

fn is_missing(workspace: &Workspace, git: &Path, name: &str) -> bool {
    entry(workspace, git, name).is_some_and(|found| found.kind.is_none() && found.real == git.join(name))
}

/// Whether no symlink is on the way to a directory of the working tree.
fn leads_nowhere_else(workspace: &Workspace, tree: &Path, name: &Path) -> bool {
    let path = tree.join(name);
    // Without the slash that an empty name leaves behind.
    let path: PathBuf = path.components().collect();
    workspace.locate(tree, &path).is_ok_and(|found| found.real == path)
}

fn entry(workspace: &Workspace, directory: &Path, name: &str) -> Option<Located> {
    workspace.locate(directory, &directory.join(name)).ok()
}

/// The content of a file in a directory (a repository, say), none where there is no such file. `None`: it is no regular file, a
/// symlink leads to it, or it is longer than `most`.
fn read(workspace: &Workspace, directory: &Path, name: &str, most: u64) -> Option<Vec<u8>> {
    let found = entry(workspace, directory, name)?;
    if found.kind.is_none() && found.real == directory.join(name) {
        return Some(Vec::new());
    }
    if found.real != directory.join(name) {
        return None;
    }
    let mut content = Vec::new();
    let read = workspace.open_read(&found).ok()?.take(most + 1).read_to_end(&mut content).ok()?;
    (u64::try_from(read).ok()? <= most).then_some(content)
}
