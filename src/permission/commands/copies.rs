//! What programs that copy and move put into a directory: coreutils 9.1, cp(1), mv(1), install(1), ln(1); rsync(1).

use super::kind::base_name;

/// What one command puts where.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub(in crate::permission) struct Copy {
    /// As they are written.
    pub(in crate::permission) sources: Vec<String>,
    /// The last operand, or what `-t` names.
    pub(in crate::permission) target: String,
    /// The words say that the target is a directory.
    pub(in crate::permission) into: bool,
    /// The target is no directory to put things into (`-T`).
    pub(in crate::permission) onto: bool,
    /// What lies beneath a directory is copied too.
    pub(in crate::permission) recursive: bool,
    /// So is what links lead to.
    pub(in crate::permission) follows: bool,
    /// The directories on the way to a source are made too (`--parents`).
    pub(in crate::permission) parents: bool,
    /// A slash behind a source means what is in it (rsync).
    pub(in crate::permission) slash_merges: bool,
    /// Names that are left out.
    pub(in crate::permission) excluded: Vec<String>,
}

/// Long options with a value in the next word, and to how many letters they can be shortened.
const VALUED: &[(&str, usize)] = &[
    ("--target-directory", 3),
    ("--suffix", 4),
    ("--mode", 4),
    ("--owner", 4),
    ("--group", 4),
    ("--exclude", 4),
];

/// Most copies of one text that are looked at.
pub(in crate::permission) const MAX: usize = 64;

/// Whether the program copies or moves files, or puts links to them.
pub(in crate::permission) fn copies(program: &str) -> bool {
    matches!(base_name(program), "cp" | "mv" | "install" | "ln" | "rsync")
}

/// What the command copies or moves, if its program does that.
pub(in crate::permission) fn of(words: &[String]) -> Option<Copy> {
    let (program, arguments) = words.split_first()?;
    if !copies(program) {
        return None;
    }
    let name = base_name(program);
    let mut copy = Copy { slash_merges: name == "rsync", ..Copy::default() };
    let mut said = Said::default();
    let mut arguments = arguments.iter();
    while let Some(word) = arguments.next() {
        if word == "--" {
            copy.sources.extend(arguments.by_ref().cloned());
        } else if word.starts_with("--") {
            copy.long(name, word, &mut arguments, &mut said);
        } else if let Some(cluster) = word.strip_prefix('-').filter(|cluster| !cluster.is_empty()) {
            copy.short(name, cluster, &mut arguments, &mut said);
        } else {
            copy.sources.push(word.clone());
        }
    }
    if said.includes {
        copy.excluded.clear();
    }
    (copy.target, copy.into) = match said.target {
        Some(target) => (target, true),
        None if name == "ln" && copy.sources.len() == 1 => (".".to_owned(), true),
        None => {
            let target = copy.sources.pop()?;
            let into = copy.sources.len() > 1 || target.ends_with('/') || target.ends_with("/.");
            (target, into)
        }
    };
    Some(copy)
}

/// What options say beside their command.
#[derive(Default)]
struct Said {
    target: Option<String>,
    /// What is left out may be taken in again.
    includes: bool,
}

impl Copy {
    fn long(&mut self, name: &str, word: &str, rest: &mut std::slice::Iter<'_, String>, said: &mut Said) {
        let (option, mut value) = match word.split_once('=') {
            Some((option, value)) => (option, Some(value.to_owned())),
            None => (word, None),
        };
        let is = |long: &str, least: usize| option.len() >= least && long.starts_with(option);
        if value.is_none() && VALUED.iter().any(|(long, least)| is(long, *least)) {
            value = rest.next().cloned();
        }
        match value {
            Some(value) if name != "rsync" && is("--target-directory", 3) => said.target = Some(value),
            Some(value) if is("--exclude", 5) => self.excluded.push(value),
            _ => {}
        }
        said.includes |= is("--include", 5) || is("--filter", 4) || is("--include-from", 10);
        self.onto |= is("--no-target-directory", 6);
        self.recursive |= is("--recursive", 4) || is("--archive", 3);
        self.follows |= is("--dereference", 4) || is("--copy-links", 7);
        self.parents |= is("--parents", 4) || is("--relative", 5);
    }

    fn short(&mut self, name: &str, cluster: &str, rest: &mut std::slice::Iter<'_, String>, said: &mut Said) {
        let valued = match name {
            "rsync" => "eTBMf",
            "install" => "tSmog",
            _ => "tS",
        };
        let (flags, option) = match cluster.find(|letter| valued.contains(letter)) {
            Some(at) => (&cluster[..at], Some(&cluster[at..])),
            None => (cluster, None),
        };
        if let Some(option) = option {
            // The letters are all of one byte.
            let value = if option.len() > 1 { Some(option[1..].to_owned()) } else { rest.next().cloned() };
            said.includes |= option.starts_with('f');
            if option.starts_with('t') {
                said.target = value;
            }
        }
        let rsync = name == "rsync";
        self.onto |= !rsync && flags.contains('T');
        self.recursive |= match name {
            "cp" => flags.contains(['r', 'R', 'a']),
            _ => rsync && flags.contains(['r', 'a']),
        };
        self.follows |= flags.contains('L');
        self.parents |= rsync && flags.contains('R');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operands_and_options_are_told_apart() {
        for (command, sources, target, [into, onto, recursive]) in [
            ("cp a b", "a", "b", [false, false, false]),
            ("cp a b/", "a", "b/", [true, false, false]),
            ("cp a b c", "a b", "c", [true, false, false]),
            ("cp -t d a", "a", "d", [true, false, false]),
            ("cp -rtd a", "a", "d", [true, false, true]),
            ("cp --target=d a b", "a b", "d", [true, false, false]),
            ("cp --target-directory d a", "a", "d", [true, false, false]),
            ("mv --t d a", "a", "d", [true, false, false]),
            ("mv -ftd a", "a", "d", [true, false, false]),
            ("cp -rT g .", "g", ".", [false, true, true]),
            ("cp -a -- -x y", "-x", "y", [false, false, true]),
            ("/bin/mv -S .x a b", "a", "b", [false, false, false]),
            ("install -m 755 -o u a b", "a", "b", [false, false, false]),
            ("ln -s x/y", "x/y", ".", [true, false, false]),
            ("rsync -av -e ssh a/ b", "a/", "b", [false, false, true]),
            ("rsync -R a/b c", "a/b", "c", [false, false, false]),
        ] {
            let words: Vec<String> = command.split(' ').map(str::to_owned).collect();
            let copy = of(&words).unwrap();
            let told = (copy.sources.join(" "), copy.target.as_str(), [copy.into, copy.onto, copy.recursive]);
            assert_eq!(told, (sources.to_owned(), target, [into, onto, recursive]), "{command}");
        }
        let words = |command: &str| command.split(' ').map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(of(&words("rsync -a --exclude .git --exclude=x . d")).unwrap().excluded, [".git", "x"]);
        assert!(of(&words("rsync -a --include .git --exclude .git . d")).unwrap().excluded.is_empty());
        assert!(of(&words("cat a b")).is_none() && of(&words("cp")).is_none());
    }
}
