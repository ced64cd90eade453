//! What the paths of a settings file count from, and the same paths as our rules write them.

use std::path::{Component, Path, PathBuf};

use super::rule::{Kind, List, Note};
use crate::permission::escape_path;

/// Where a settings file lies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Anchors {
    /// What `/path` counts from: the file's directory, or what `--base` names. Absolute.
    pub(super) base: PathBuf,
    /// The folder of the project, which `..` and further directories count from. Absolute.
    pub(super) project: PathBuf,
}

/// A path pattern in our language; several where it may mean several things.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) patterns: Vec<String>,
    pub(super) note: Option<Note>,
}

impl Anchors {
    /// For a file (absolute); `base` is what the user says that `/path` counts from.
    pub(super) fn of(file: &Path, base: Option<PathBuf>) -> Self {
        let directory = file.parent().unwrap_or(Path::new("/")).to_path_buf();
        let project = match (directory.file_name(), directory.parent()) {
            (Some(name), Some(parent)) if name == ".claude" => parent.to_path_buf(),
            _ => directory.clone(),
        };
        match base {
            Some(base) => Self { project: base.clone(), base },
            None => Self { base: directory, project },
        }
    }

    /// A pattern as our rules write it; or why it cannot be said.
    pub(super) fn carry(&self, spec: &str, list: List) -> Result<Found, String> {
        if spec.starts_with('!') {
            return Err("a pattern that takes back another one: write the opposite rule".to_owned());
        }
        let mut note = None;
        let mut patterns = if let Some(rest) = spec.strip_prefix("//") {
            vec![format!("/{}", rest.trim_start_matches('/'))]
        } else if let Some(rest) = spec.strip_prefix('/') {
            let mut patterns = vec![beneath(&self.base, rest)?];
            let why = if list != List::Allow && self.project != self.base {
                // Which of the two it is depends on the program's version: held back is both.
                patterns.push(beneath(&self.project, rest)?);
                "a path with one `/` counts from the settings file's folder there, in later versions from the \
                 project's: both are named"
            } else if self.project == self.base {
                "a path with one `/` counts from the settings file's folder there, and is absolute here"
            } else {
                "a path with one `/` counts from the settings file's folder there, and is absolute here; if it is \
                 meant from the project's folder, say so with --base"
            };
            note = Some(Note { kind: Kind::Translated, why: why.to_owned() });
            patterns
        } else if climbs(spec) {
            let why = "a path with `..` is counted from the project's folder, and is absolute here";
            note = Some(Note { kind: Kind::Translated, why: why.to_owned() });
            vec![self.climbed(spec)?]
        } else {
            vec![spec.to_owned()]
        };
        if patterns.iter().any(|pattern| pattern.split('/').any(|part| part == "..")) {
            return Err("a `..` within a pattern matches no path here".to_owned());
        }
        let literal: Vec<String> = patterns.iter().filter_map(|pattern| without_braces(pattern)).collect();
        if !literal.is_empty() {
            // There braces are letters like any other.
            let why = if list == List::Allow {
                patterns = literal;
                "braces mean themselves there; write a rule for each choice if that was meant"
            } else {
                patterns.extend(literal);
                "braces mean themselves there; here a choice too"
            };
            note = Some(Note { kind: Kind::Different, why: why.to_owned() });
        }
        Ok(Found { patterns, note })
    }

    fn climbed(&self, spec: &str) -> Result<String, String> {
        let mut from = self.project.clone();
        let mut rest = spec;
        loop {
            rest = rest.trim_start_matches('/');
            if let Some(after) = rest.strip_prefix("./") {
                rest = after;
            } else if rest == ".." {
                from.pop();
                rest = "";
            } else if let Some(after) = rest.strip_prefix("../") {
                from.pop();
                rest = after;
            } else {
                return beneath(&from, rest);
            }
        }
    }

    /// A directory as a pattern: absolute, or beneath the home; none for one that cannot be written.
    pub(super) fn directory(&self, path: &Path) -> Option<String> {
        if path.as_os_str().is_empty() {
            return None;
        }
        if let Ok(rest) = path.strip_prefix("~") {
            let rest = rest.to_str()?;
            return Some(format!("~/{}", escape_path(rest)));
        }
        let mut absolute = PathBuf::from("/");
        for part in self.project.join(path).components() {
            match part {
                Component::Normal(name) => absolute.push(name),
                Component::ParentDir => drop(absolute.pop()),
                Component::RootDir | Component::CurDir | Component::Prefix(_) => {}
            }
        }
        // The root as a directory to work in is everything: not what anyone should carry over unseen.
        (absolute != Path::new("/")).then(|| absolute.to_str().map(escape_path)).flatten()
    }
}

/// `..` before anything else.
fn climbs(spec: &str) -> bool {
    let spec = spec.trim_start_matches("./");
    spec == ".." || spec.starts_with("../")
}

fn beneath(directory: &Path, rest: &str) -> Result<String, String> {
    let text = directory.to_str().ok_or("the folder's path is not valid UTF-8")?;
    if text.contains(char::is_control) {
        return Err("the folder's path has control characters".to_owned());
    }
    Ok(format!("{}/{rest}", escape_path(text).trim_end_matches('/')))
}

/// The pattern with its braces escaped, where it has any.
fn without_braces(pattern: &str) -> Option<String> {
    let mut out = String::with_capacity(pattern.len() + 4);
    let (mut escaped, mut found) = (false, false);
    for c in pattern.chars() {
        if matches!(c, '{' | '}') && !escaped {
            out.push('\\');
            found = true;
        }
        escaped = c == '\\' && !escaped;
        out.push(c);
    }
    found.then_some(out)
}
