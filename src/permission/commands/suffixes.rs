//! Names that a program makes of one that it is given and an ending: backups, and what is packed or unpacked.

use super::kind::base_name;

/// Most names that are made for one command.
const MAX: usize = 256;

/// What an option's value does to the name of an operand.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Makes {
    /// It is put behind it.
    Added,
    /// It is put behind it, or taken from it: gzip tries both.
    AddedOrTaken,
    /// A `*` in it is the name, and a `/` leads to another directory (GNU sed's `-i`).
    BySed,
}

/// Programs, the letter of their option, and how its long name begins: cp(1), mv(1), ln(1), install(1) (`-S`), rsync(1),
/// patch(1) (`-z`), gzip(1), xz(1), sed(1).
const BY_OPTION: &[(&[&str], Option<char>, &str, Makes)] = &[
    (&["cp", "mv", "ln", "install"], Some('S'), "suffix", Makes::Added),
    (&["rsync"], None, "suffix", Makes::Added),
    (&["patch"], Some('z'), "suffix", Makes::Added),
    (
        &[
            "gzip", "gunzip", "zcat", "pigz", "unpigz", "xz", "unxz", "xzcat", "lzma", "unlzma", "lzcat",
            "lzop",
        ],
        Some('S'),
        "suffix",
        Makes::AddedOrTaken,
    ),
    (&["brotli"], Some('S'), "suffix", Makes::AddedOrTaken),
    (&["sed", "gsed"], Some('i'), "in-place", Makes::BySed),
];

/// The names that the command makes of its words by an ending that one of them gives.
pub(in crate::permission) fn made<'w>(words: impl Iterator<Item = &'w str>) -> Vec<String> {
    let words: Vec<&str> = words.collect();
    let mut names = Vec::new();
    for (at, program) in words.iter().enumerate() {
        let program = base_name(program);
        let Some((_, letter, long, makes)) = BY_OPTION.iter().find(|row| row.0.contains(&program)) else {
            continue;
        };
        let rest = &words[at + 1..];
        for (number, word) in rest.iter().enumerate() {
            let Some(ending) = value(word, rest.get(number + 1).copied(), *letter, long, *makes) else {
                continue;
            };
            let room = MAX.saturating_sub(names.len());
            names.extend(operands(rest).flat_map(|operand| joined(operand, ending, *makes)).take(room));
            // In the directory that a copy goes to.
            let into = operands(rest).last().filter(|_| *makes == Makes::Added);
            let files = operands(rest).filter_map(|operand| operand.trim_end_matches('/').rsplit('/').next());
            let copies = files
                .filter_map(|file| into.map(|into| format!("{}/{file}{ending}", into.trim_end_matches('/'))));
            names.extend(copies.take(MAX.saturating_sub(names.len())));
        }
        // What other programs among the words would make of them is theirs to be looked at as commands of their own.
        break;
    }
    names
}

fn operands<'w>(words: &[&'w str]) -> impl Iterator<Item = &'w str> {
    words.iter().copied().filter(|word| !word.starts_with('-'))
}

/// The ending that the word gives.
fn value<'w>(
    word: &'w str,
    next: Option<&'w str>,
    letter: Option<char>,
    long: &str,
    makes: Makes,
) -> Option<&'w str> {
    if let Some(option) = word.strip_prefix("--") {
        let (name, value) =
            option.split_once('=').map_or((option, None), |(name, value)| (name, Some(value)));
        let named = name.len() >= 2 && long.starts_with(name);
        // An ending for sed stands behind its option only.
        return value.or_else(|| next.filter(|_| makes != Makes::BySed)).filter(|_| named);
    }
    let cluster = word.strip_prefix('-')?;
    let behind = &cluster[cluster.find(letter?)? + 1..];
    if behind.is_empty() { next.filter(|_| makes != Makes::BySed) } else { Some(behind) }
}

fn joined(operand: &str, ending: &str, makes: Makes) -> Vec<String> {
    let added = format!("{operand}{ending}");
    match makes {
        Makes::AddedOrTaken => {
            std::iter::once(added).chain(operand.strip_suffix(ending).map(str::to_owned)).collect()
        }
        Makes::BySed if ending.contains('*') => {
            let (directory, file) =
                operand.rsplit_once('/').map_or(("", operand), |(before, file)| (before, file));
            let name = ending.replace('*', file);
            // From the working directory where it has a slash, else beside the file.
            let beside = if directory.is_empty() { name.clone() } else { format!("{directory}/{name}") };
            vec![name, beside]
        }
        Makes::Added | Makes::BySed => vec![added],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_made_of_operands_and_endings() {
        for (command, want) in [
            ("cp -b -S .yml a.txt conf/deploy", "conf/deploy.yml"),
            ("cp -bS.yml a.txt conf/deploy", "conf/deploy.yml"),
            ("mv -b --suffix .yml a.txt conf/deploy", "conf/deploy.yml"),
            ("ln -b --suf=.yml a conf", "conf/a.yml"),
            ("sudo install -b -S rc a.txt .bash", ".bashrc"),
            ("rsync -b --suffix=rc a .bash", ".bashrc"),
            ("patch -b -z rc .bash x.diff", ".bashrc"),
            ("gzip -dcf -S nv .e", ".env"),
            ("zcat -f -S nv .e", ".env"),
            ("gunzip -S .c .bashrc.c", ".bashrc"),
            ("xz -dS .c deploy.yml.c", "deploy.yml"),
            ("sed -i.yml s/X/Y/ deploy", "deploy.yml"),
            ("sed -irc s/hi/ho/ .bash", ".bashrc"),
            ("sed --in-place=.yml s/X/Y/ deploy", "deploy.yml"),
            ("sed -ilock*/x s/L/L/ ed", "locked/x"),
            ("sed -ilocked/* s/L/L/ sub/x", "locked/x"),
        ] {
            let names = made(command.split(' '));
            assert!(names.iter().any(|name| name == want), "{command}: {names:?}");
        }
        for command in ["cp a b", "sed -i s/a/b/ f", "gzip -9 f", "ls -S", "cat -S x y"] {
            assert_eq!(made(command.split(' ')), [""; 0], "{command}");
        }
    }
}
