//! The circuit breaker for removing what nobody means to remove, with all that is in it (`rm -r`, `find -delete`, `mv`
//! elsewhere): the root, the home, the workspace, and what they lie in.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use globset::GlobBuilder;

use super::commands::copies;
use super::lexical;
use super::shell::scan::{Role, Segment};
use super::subject::{OnDisk, Place};
use crate::domain::visible;

/// Most `cd` targets that are followed.
const MAX_DIRECTORIES: usize = 8;
/// Characters of a target that are shown.
const SHOWN: usize = 200;

/// What a command would remove, when one of the segments is such a command and its target is precious, or cannot
/// be told.
pub(crate) fn removed(
    segments: &[Segment],
    place: &Place,
    roots: &[PathBuf],
    on_disk: &OnDisk,
) -> Option<String> {
    let runs = || segments.iter().filter(|s| s.role() == Role::Runs && !s.repeats());
    if !runs().any(|s| s.words().any(|word| is(word, "rm") || is(word, "find") || is(word, "mv"))) {
        return None;
    }
    let directories = directories(segments, place);
    let precious = |path: &Path| {
        let bases = || [Some(place.workspace.as_path()), place.home.as_deref()].into_iter().flatten();
        let mut bases = bases().chain(roots.iter().map(PathBuf::as_path));
        match pattern(path) {
            None => bases.any(|base| base.starts_with(path)),
            Some(glob) => bases.flat_map(Path::ancestors).any(|above| glob.is_match(above)),
        }
    };
    let leads_there = |target: &str| {
        let written: Vec<PathBuf> = directories
            .iter()
            .map(|directory| Place { cwd: directory.clone(), ..place.clone() }.word_target(target))
            .collect();
        on_disk.leads.iter().any(|word| written.contains(&word.written) && precious(&word.path))
            // Of a pattern it is not kept which of them it stands for.
            || pattern(Path::new(target)).is_some() && on_disk.may_lead.iter().any(|word| precious(&word.path))
    };
    // Too many to follow, or through the links of whichever process asks.
    let lost = directories.len() > MAX_DIRECTORIES || directories.iter().any(|at| at.starts_with("/proc"));
    let fed = |segment: &&Segment| segment.words().any(|w| matches!(w, "xargs" | "parallel"));
    let removes = runs().filter_map(|s| Some((recursive_targets(s)?, fed(&s))));
    // A substitution tears a command apart: where its `find` starts is not told then.
    let alone = |s: &Segment| s.words().next().is_some_and(|word| is(word, "find")) && s.words().count() == 1;
    if runs().any(alone) && runs().any(|s| s.words().any(|word| word == "-delete")) {
        return Some("what is not told".to_owned());
    }
    let bases = [Some(&place.workspace), place.home.as_ref()].into_iter().flatten().chain(roots);
    let known: Vec<String> = bases.map(|base| base.display().to_string().to_lowercase()).collect();
    let others =
        runs().flat_map(|s| [emptied_by_find(s, &known), moved_away(s)]).flatten().map(|t| (t, false));
    removes.chain(others).find_map(|(targets, fed)| {
        if targets.is_empty() || lost || fed {
            return Some("what is not told".to_owned());
        }
        targets
            .into_iter()
            .find(|t| is_precious(t, place, &directories, &precious) || leads_there(t))
            .map(|t| visible::clipped(t, SHOWN))
    })
}

/// What the path stands for when the shell takes it for a pattern of names.
fn pattern(path: &Path) -> Option<globset::GlobMatcher> {
    let text = lexical::without_ranges(path.to_str()?);
    let chooses = text.contains('{') && text.contains(',');
    if !chooses && !text.contains(['*', '?', '[']) {
        return None;
    }
    GlobBuilder::new(&text).literal_separator(true).build().ok().map(|glob| glob.compile_matcher())
}

/// Where a command may be when it gets to its later parts: where it starts, what each `cd` in it names, and where an
/// option (`env -C`, `sudo -D`) makes a program start. Dots are left in.
pub(crate) fn directories(segments: &[Segment], place: &Place) -> Vec<PathBuf> {
    let mut directories = vec![place.cwd.clone()];
    let mut from = place.cwd.clone();
    for segment in segments.iter().filter(|s| s.role() == Role::Runs) {
        let moves = |word: &&str| matches!(*word, "cd" | "pushd");
        let mut words = segment.words().skip_while(|w| !moves(w)).peekable();
        let mut started = started_in(segment).peekable();
        if started.peek().is_none() && words.peek().is_none() {
            continue;
        }
        let here = Place { cwd: from.clone(), ..place.clone() };
        let room = MAX_DIRECTORIES.saturating_sub(directories.len());
        directories.extend(started.take(room).map(|target| here.word_target(target)));
        let moving = words.next().is_some() && directories.len() <= MAX_DIRECTORIES;
        // Without a word of where to, it is the home.
        let target = words.find(|w| !w.starts_with('-')).or_else(|| place.home.as_ref().map(|_| "~"));
        if let Some(target) = target.filter(|_| moving) {
            // Each one counts from where the one before it led.
            from = here.word_target(target);
            directories.push(from.clone());
        }
    }
    directories
}

/// Directories that options of the segment name to start a program in.
fn started_in(segment: &Segment) -> impl Iterator<Item = &str> {
    let mut before = "";
    segment.words().filter_map(move |word| {
        let option = std::mem::replace(&mut before, word);
        match word.strip_prefix("--chdir=") {
            Some(directory) => Some(directory),
            None if matches!(option, "-C" | "-D" | "--chdir") => Some(word),
            // Attached, or shortened.
            None => {
                word.strip_prefix("-C").or_else(|| word.strip_prefix("-D")).filter(|d| !d.is_empty()).or_else(
                    || {
                        let (name, directory) = word.strip_prefix("--")?.split_once('=')?;
                        (!name.is_empty() && "chdir".starts_with(name)).then_some(directory)
                    },
                )
            }
        }
    })
}

fn is(word: &str, program: &str) -> bool {
    lexical::file_name(word) == program
}

/// The words behind the program, where the segment may run it.
fn arguments<'s>(segment: &'s Segment, program: &'s str) -> Option<impl Iterator<Item = &'s str>> {
    segment.text().contains(program).then_some(())?;
    segment
        .starts()
        .find(|at| is(lexical::between_blanks(&segment.text()[*at..]).next().unwrap_or_default(), program))?;
    Some(segment.words().skip_while(move |w| !is(w, program)).skip(1))
}

/// The operands of an `rm` with a recursive flag. A variable may stand for one.
fn recursive_targets(segment: &Segment) -> Option<Vec<&str>> {
    let (mut recursive, mut perhaps) = (false, false);
    let mut options = true;
    let mut targets = Vec::new();
    for word in arguments(segment, "rm")? {
        if options && word == "--" {
            options = false;
        } else if options && word.starts_with("--") {
            recursive |= word.len() > 2 && "--recursive".starts_with(word);
        } else if let Some(cluster) = word.strip_prefix('-').filter(|c| options && !c.is_empty()) {
            recursive |= cluster.contains(['r', 'R']);
        } else {
            perhaps |= options && word.starts_with('$');
            targets.push(word);
        }
    }
    if perhaps && !recursive {
        // Then what it removes is not told either: only what stands there whole counts.
        targets.retain(|target| !target.contains('$'));
        return (!targets.is_empty()).then_some(targets);
    }
    // A name with blanks in it is several words here.
    targets.extend(segment.spaced());
    recursive.then_some(targets)
}

/// Where a `find -delete` starts that spares nothing by its name, age or size. `known`: no test for paths spares those.
fn emptied_by_find<'s>(segment: &'s Segment, known: &[String]) -> Option<Vec<&'s str>> {
    let words: Vec<&str> = arguments(segment, "find")?.collect();
    if !deletes_unspared(&words, known) {
        return None;
    }
    let begins = |word: &&&str| !word.starts_with(['-', '(', '!', '\\']) || word.len() == 1 && **word == "-";
    let options = words.iter().take_while(|word| matches!(**word, "-H" | "-L" | "-P")).count();
    let starts: Vec<&str> = words[options..].iter().take_while(begins).copied().collect();
    Some(if starts.is_empty() { vec!["."] } else { starts })
}

/// Tests and operators up to a place in an expression of find's, as far as they stand within the same parentheses.
#[derive(Default)]
struct Tests {
    /// One of those that have to hold for what comes next spares something.
    spares: bool,
    /// An alternative before does not.
    open: bool,
    negated: bool,
}

/// Whether a `-delete` of the expression is reached for what no test spares (find(1), "OPERATORS").
fn deletes_unspared(words: &[&str], known: &[String]) -> bool {
    let mut within = vec![Tests::default()];
    let mut negated = false;
    let mut words = words.iter().copied().peekable();
    while let Some(word) = words.next() {
        let bare = word.trim_matches(['\\', '\'', '"']);
        if bare == "-delete" && !within.iter().any(|tests| tests.spares) {
            return true;
        }
        let Some(tests) = within.last_mut() else { return true };
        match bare {
            "(" => {
                within.push(Tests { negated, ..Tests::default() });
                negated = false;
            }
            ")" => {
                let Some(inner) = within.pop() else { return true };
                let spares = inner.spares && !inner.open && !inner.negated;
                // More are closed than were opened: it is not told what belongs together.
                let Some(tests) = within.last_mut() else { return true };
                tests.spares |= spares;
            }
            "-o" | "-or" => {
                tests.open |= !tests.spares;
                tests.spares = false;
            }
            // What stands before has no say in what follows.
            "," => (tests.spares, tests.open) = (false, false),
            "!" | "-not" => negated = true,
            _ if word.starts_with('-') => {
                let spares = spares(word, words.peek().copied(), known);
                tests.spares |= spares == Some(true) && !negated;
                negated = false;
                if spares.is_some() && word != "-empty" {
                    words.next();
                }
            }
            _ => {}
        }
    }
    false
}

/// Whether the test leaves most files alone; none for what tells them apart in no such way.
fn spares(test: &str, value: Option<&str>, known: &[String]) -> Option<bool> {
    const BY_AGE: &[&str] =
        &["newer", "mtime", "mmin", "atime", "amin", "ctime", "cmin", "used", "anewer", "cnewer"];
    let test = test.trim_start_matches('-').trim_start_matches('i');
    // What stands in brackets may be any letter.
    let value = value.map(outside_brackets).unwrap_or_default();
    match test {
        "empty" => Some(true),
        "name" | "size" => Some(value.contains(char::is_alphanumeric)),
        // All that lies in a directory matches by the name of that.
        "path" | "wholename" | "regex" => {
            let mut names = value.split(|c: char| !c.is_alphanumeric()).filter(|name| !name.is_empty());
            let lower = |name: &str| name.to_lowercase();
            Some(names.any(|name| !known.iter().any(|path| path.contains(&lower(name)))))
        }
        _ if BY_AGE.iter().any(|age| test.starts_with(age)) => Some(value.contains(char::is_alphanumeric)),
        _ => None,
    }
}

/// What an `mv` takes from where it is.
fn moved_away(segment: &Segment) -> Option<Vec<&str>> {
    let words: Vec<String> =
        std::iter::once("mv").chain(arguments(segment, "mv")?).map(str::to_owned).collect();
    let sources: HashSet<String> = copies::of(&words)?.sources.into_iter().collect();
    let mut operands: Vec<&str> = arguments(segment, "mv")?.filter(|word| sources.contains(*word)).collect();
    // A pattern or a variable stands for many things that are moved all day: only what is named counts.
    let of_known = |operand: &str| {
        let known = ["$HOME", "${HOME}", "$PWD", "${PWD}"].iter().find_map(|name| operand.strip_prefix(name));
        known.is_some_and(|rest| {
            (rest.is_empty() || rest.starts_with('/')) && !rest.contains(['$', '`', '*', '?', '['])
        })
    };
    operands.retain(|operand| {
        !operand.contains(['*', '?', '[', '$', '`']) || of_known(operand.trim_matches(['"', '\'']))
    });
    (!operands.is_empty()).then_some(operands)
}

/// Whether the pattern may stand for about any name.
fn is_wild(part: &str) -> bool {
    part.contains(['*', '?', '[']) && !outside_brackets(part).contains(char::is_alphanumeric)
}

/// The pattern without what it has in brackets.
fn outside_brackets(pattern: &str) -> String {
    let mut outside = String::new();
    let mut rest = pattern;
    while let Some((before, behind)) = rest.split_once('[') {
        outside.push_str(before);
        rest = behind.split_once(']').map_or("", |(_, after)| after);
    }
    outside.push_str(rest);
    outside
}

fn is_precious(word: &str, place: &Place, directories: &[PathBuf], precious: &dyn Fn(&Path) -> bool) -> bool {
    let word = word.trim_matches(['"', '\'', '\\']);
    // Where it leads depends on the process that asks; `{}` is what find, fd and xargs put there.
    if word.contains("/proc/") || word.contains("{}") {
        return true;
    }
    let wild = |part: &&str| is_wild(part);
    if wild(&word) && !word.contains('/') {
        return true;
    }
    // What lies in a directory is as precious as the directory.
    let parts: Vec<&str> = word.split('/').collect();
    // Nor can what a variable stands for be told, which may be nothing.
    let untold = |(at, part): (usize, &&str)| is_wild(part) || at > 0 && part.starts_with(['$', '`']);
    let fixed =
        parts.iter().enumerate().position(untold).map_or(word.to_owned(), |at| parts[..at].join("/") + "/");
    let known = ["$HOME", "${HOME}", "$PWD", "${PWD}"]
        .iter()
        .any(|v| fixed.strip_prefix(v).is_some_and(|rest| rest.is_empty() || rest.starts_with('/')));
    if fixed.starts_with('$') && !known {
        return true;
    }
    // Of another user, or with a `+`: the home itself.
    if fixed.starts_with('~')
        && !fixed.starts_with("~/")
        && !fixed.trim_end_matches('/')[1..].is_empty()
        && !fixed.trim_end_matches('/').contains('/')
    {
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
        removed(&scan(command), &place, &["/srv/other".into()], &OnDisk::default()).is_some()
    }

    #[test]
    fn every_spelling_of_a_precious_target_fires() {
        for command in [
            "rm -rf /",
            "cd ..; cd ..; rm -rf ws",
            "cd ..; foo \"cd ..; cd ..\"; rm -rf ws",
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
            "rm -rf '/w/ws'",
            "rm -rf /w/w\"\"s",
            "rm -rf -- ..",
            "rm -dr /",
            "rm '-rf' /",
            "rm --no-preserve-root -r /",
            "rm -rf \"$PWD\"/..",
            "rm -rf ${HOME:?}",
            "rm -rf ~+",
            "rm -rf ~root/",
            "rm -rf /w*",
            "rm -rf /w/w?",
            "rm -rf /w/[w]s/",
            "rm -rf /w/w*/*",
            "rm -rf ../../w*",
            "rm -rf /h*/u",
            "rm -rf /srv/*r",
            "rm -rf {/w/ws,x}",
            "rm -rf ../../{w..w}s",
            "rm -rf ../../w{s,x}",
            "rm -rf /hom{e,x}",
            "find ../../w{x,s} -delete",
            "mv ../../w{x,s} /tmp/x",
            "mv $PWD/.. /tmp/x",
            "mv \"$HOME\" /tmp/x",
            "rm -rf /{a..z}*",
            "mv ../../{v..x}s /tmp/x",
            "find /w/{w..w}s -delete",
            "rm -rf /w/{ws,x}",
            "command rm -rf /",
            "find . -exec rm -rf / \\;",
            "eval 'rm -rf ..'",
            "echo . | xargs rm -rf",
            "pushd / && rm -rf w",
            "env -C / rm -rf w",
            "env --chdir=../.. rm -rf ws",
            "sudo -D / rm -rf home",
            "cd a && env -C ../../.. rm -rf ws",
            "cd; rm -rf ../../w/ws",
            "cd && rm -rf .",
            "cd --; rm -rf ../u",
            "rm -rf [a-z]*",
            "rm -rf ./../[!x]*",
            "rm -rf $HOME/$X",
            "rm -rf ~/$X",
            "rm -rf /$X/",
            "rm -rf /w/ws/$X",
            "rm -rf \"/w/ws/${X}\"",
            "F=-rf; rm $F /",
            "find / -delete",
            "find ~ -delete",
            "find .. -delete",
            "find -L /w/ws -mindepth 1 -delete",
            "find /w/ws -type f -delete",
            "cd .. && find . -delete",
            "cd ..; find -delete",
            "find .. ! -name x -delete",
            "find .. -not -name x -delete",
            "find .. -name '*' -delete",
            "find .. -name x -o -delete",
            "sudo find / -xdev -delete",
            "find $(pwd) -delete",
            "find `pwd` -delete",
            "find \"$(pwd)\" -mindepth 1 -delete",
            "mv /w/ws /tmp/x",
            "mv .. /tmp/x",
            "mv -t /tmp a ~",
            "mv -ft ../../tmp /w/ws",
            "mv -ft../../tmp ..",
            "mv --t=../../tmp /w/ws",
            "mv --t ../../tmp /w/ws",
            "mv --tar ../../tmp ..",
            "mv -vt DIR \"$PWD\"/..",
            "mv -bS .x .. /tmp/x",
            "mv -- -t ../../ws x",
            "rm -rf ../../@(ws)",
            "rm -rf ../../+(w|s)",
            "rm -rf ../../w!(x)",
            "rm -rf ../../?(ws)",
            "rm -rf !(x)",
            "bash -O extglob -c 'rm -rf ../../@(ws)'",
            "find . -execdir rm -rf {} +; cd ..",
            "find .. -execdir rm -rf ./{} +",
            "cd ..; find . \\( -name x -o -true \\) -delete",
            "cd ..; find . \\( -true -o -name x \\) -delete",
            "cd ..; find . ! \\( -name x \\) -delete",
            "cd ..; find . \\( -name x , -true \\) -delete",
            "cd ..; find . -name x , -delete",
            "cd ..; find . \\( ! -name x \\) -delete",
            "cd ..; find . -name x -delete -o -delete",
            "cd ..; find . -name '[a-z]*' -delete",
            "cd ..; find . -name -o -o -delete",
            "find .. -path '*ws*' -delete",
            "find .. -ipath '*WS*' -delete",
            "find .. -wholename '../*' -delete",
            "find .. -regex '.*[a-z].*' -delete",
            "find .. -perm -0 -delete",
            "sudo mv -f /home /tmp/x",
            "cd ../.. && mv ws x",
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
            "rm -rf /w/ws/s*",
            "rm -rf /w/x*",
            "rm -rf w*",
            "rm -rf ~root/x",
            "env -C / rm -rf x",
            "make -C / all; rm -rf x",
            "rm x",
            "rm -f /w/ws",
            "rm -rf /w/ws/sub/x",
            "rm -rf /tmp/x",
            "rm -rf ~/x",
            "rmdir /",
            "ls -r /",
            "echo rm; ls -R /",
            "rm -rf src/$X",
            "rm $F x",
            "rm \"$TMPFILE\"",
            "rm -rf [a-z]x*",
            "rm -rf {1..9}",
            "rm -rf out{1..9}",
            "mv {a..c} target",
            "mv $HOME/x $PWD/y /tmp",
            "rm -rf out{1,2}",
            "find .. -name '*.pyc' -delete",
            "find .. -type f -name '*.o' -delete",
            "find .. \\( -name '*.pyc' -o -name '*.pyo' \\) -delete",
            "find .. \\( -name '*.pyc' -o -type d -empty \\) -delete",
            "find .. -type f \\( ! -path '*/x/*' -name '*.o' \\) -delete",
            "find .. -name x \\( -type f -delete \\)",
            "find .. -path '*/__pycache__/*' -delete",
            "find .. -name '*.o' -delete -o -name '*.d' -delete",
            "find .. -name '[a-z]*.pyc' -delete",
            "mv -t .. a b",
            "mv -ft.. a",
            "mv --t=.. a",
            "mv --target-directory .. a",
            "find . -name x -exec rm {} +",
            "find .. -empty -delete",
            "find .. -mtime +7 -delete",
            "find target -delete",
            "find / -name x",
            "mv a b",
            "mv a ..",
            "mv ../x /tmp",
            "mv *.rs ..",
            "ls | xargs mv -t y",
            "git mv a b",
        ] {
            assert!(!fires(command), "{command}");
        }
    }
}
