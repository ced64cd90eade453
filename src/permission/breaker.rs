//! The circuit breaker for `rm -r` of what nobody means to remove: the root, the home, the workspace, and what
//! they lie in.

use std::path::{Path, PathBuf};

use super::lexical;
use super::shell::scan::{Role, Segment};
use super::subject::Place;
use crate::domain::visible;

/// Most `cd` targets that are followed.
const MAX_DIRECTORIES: usize = 8;
/// Characters of a target that are shown.
const SHOWN: usize = 200;

/// What `rm -r` would remove, when one of the segments is such a command and its target is precious, or cannot
/// be told.
pub(crate) fn removed(segments: &[Segment], place: &Place, roots: &[PathBuf]) -> Option<String> {
    let runs = || segments.iter().filter(|s| s.role() == Role::Runs);
    if !runs().any(|s| s.words().any(is_rm)) {
        return None;
    }
    let directories = directories(segments, place);
    let precious = |path: &Path| {
        place.workspace.starts_with(path)
            || place.home.as_deref().is_some_and(|home| home.starts_with(path))
            || roots.iter().any(|root| root.starts_with(path))
    };
    runs().filter_map(recursive_targets).find_map(|targets| {
        if targets.is_empty() {
            return Some("what is not told".to_owned());
        }
        targets
            .into_iter()
            .find(|t| is_precious(t, place, &directories, &precious))
            .map(|t| visible::clipped(t, SHOWN))
    })
}

/// Where a command may be when it gets to its later parts: where it starts, and what each `cd` in it names. Dots
/// are left in.
pub(crate) fn directories(segments: &[Segment], place: &Place) -> Vec<PathBuf> {
    let mut directories = vec![place.cwd.clone()];
    for segment in segments.iter().filter(|s| s.role() == Role::Runs) {
        let moves = |word: &&str| matches!(*word, "cd" | "pushd");
        let mut words = segment.words().skip_while(|w| !moves(w)).skip(1).filter(|w| !w.starts_with('-'));
        if let Some(target) = words.next().filter(|_| directories.len() <= MAX_DIRECTORIES) {
            // Each one counts from where the one before it led.
            let from = directories.last().unwrap_or(&place.cwd).clone();
            let here = Place { cwd: from, ..place.clone() };
            directories.push(here.word_target(target));
        }
    }
    directories
}

fn is_rm(word: &str) -> bool {
    word.rsplit('/').next() == Some("rm")
}

/// The operands of an `rm` with a recursive flag.
fn recursive_targets(segment: &Segment) -> Option<Vec<&str>> {
    let mut recursive = false;
    let mut options = true;
    let mut targets = Vec::new();
    segment.starts().find(|at| is_rm(segment.text()[*at..].split(' ').next().unwrap_or_default()))?;
    for word in segment.words().skip_while(|w| !is_rm(w)).skip(1) {
        if options && word == "--" {
            options = false;
        } else if options && word.starts_with("--") {
            recursive |= word.len() > 2 && "--recursive".starts_with(word);
        } else if let Some(cluster) = word.strip_prefix('-').filter(|c| options && !c.is_empty()) {
            recursive |= cluster.contains(['r', 'R']);
        } else {
            targets.push(word);
        }
    }
    recursive.then_some(targets)
}

fn is_precious(word: &str, place: &Place, directories: &[PathBuf], precious: &dyn Fn(&Path) -> bool) -> bool {
    let word = word.trim_matches(['"', '\'', '\\']);
    let wild = |part: &&str| part.contains(['*', '?', '[']) && !part.contains(|c: char| c.is_alphanumeric());
    if wild(&word) && !word.contains('/') {
        return true;
    }
    // What lies in a directory is as precious as the directory.
    let parts: Vec<&str> = word.split('/').collect();
    let fixed = parts.iter().position(wild).map_or(word.to_owned(), |at| parts[..at].join("/") + "/");
    let known = ["$HOME", "${HOME}", "$PWD", "${PWD}"]
        .iter()
        .any(|v| fixed.strip_prefix(v).is_some_and(|rest| rest.is_empty() || rest.starts_with('/')));
    if fixed.starts_with('$') && !known {
        return true;
    }
    if fixed.starts_with('~') && fixed.len() > 1 && !fixed.starts_with("~/") && !fixed[1..].contains('/') {
        return true;
    }
    if known || fixed.starts_with(['~', '/']) {
        return precious(&place.resolve_word(&fixed));
    }
    directories.iter().any(|d| precious(&lexical::normal(d, Path::new(&fixed))))
}

#[cfg(test)]
mod tests {
    use super::super::shell::scan::scan;
    use super::*;

    fn fires(command: &str) -> bool {
        let place =
            Place { workspace: "/w/ws".into(), home: Some("/home/u".into()), cwd: "/w/ws/sub".into() };
        removed(&scan(command), &place, &["/srv/other".into()]).is_some()
    }

    #[test]
    fn every_spelling_of_a_precious_target_fires() {
        for command in [
            "rm -rf /",
            "rm -fr /",
            "rm -R /",
            "rm --recursive /",
            "rm --rec --force /",
            "rm -f -r /",
            "rm / -rf",
            "rm -rf -- /",
            "rm -rf //",
            "rm -rf /.",
            "rm -rf /*",
            "rm -rf /../",
            "rm -rf ~",
            "rm -rf ~/",
            "rm -rf ~/*",
            "rm -rf ~root",
            "rm -rf $HOME",
            "rm -rf \"$HOME\"",
            "rm -rf ${HOME}/",
            "rm -rf $HOME/*",
            "rm -rf *",
            "rm -rf .*",
            "rm -rf ..",
            "rm -rf ../",
            "rm -rf ./..",
            "rm -rf ../*",
            "rm -rf /w/ws",
            "rm -rf /w/ws/",
            "rm -rf /w/./ws/sub/..",
            "rm -rf /w",
            "rm -rf /home",
            "rm -rf /srv/other",
            "rm -rf a b /",
            "/bin/rm -rf /",
            "r\\m -rf /",
            "sudo rm -rf /",
            "sh -c 'rm -rf /'",
            "cd / && rm -rf *",
            "cd .. && cd .. && rm -rf ws",
            "true; rm -rf $UNSET/",
            "rm -rf {/,x}",
            "xargs rm -rf",
            "rm -rf $(pwd)",
            "rm -rf `pwd`",
            "rm -rf \"/\"",
            "rm -rf '/'",
        ] {
            assert!(fires(command), "{command}");
        }
    }

    #[test]
    fn ordinary_removals_do_not() {
        for command in [
            "rm -rf target",
            "rm -rf ./target/",
            "rm -rf target/*",
            "rm -rf *.o",
            "rm x",
            "rm -f /w/ws",
            "rm -rf /w/ws/sub/x",
            "rm -rf /tmp/x",
            "rm -rf ~/x",
            "rmdir /",
            "ls -r /",
            "echo rm; ls -R /",
        ] {
            assert!(!fires(command), "{command}");
        }
    }
}
