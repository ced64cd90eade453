//! Names that a program makes of one that it is given and an ending: backups, and what is packed or unpacked.

use super::super::lexical::file_name;
use super::kind::{self, base_name};

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
    /// It is put in front of the path, or of the name in it.
    Before,
}

/// Programs, the letter of their option, and how its long name begins: cp(1), mv(1), ln(1), install(1) (`-S`), rsync(1),
/// patch(1) (`-z`, `-B`, `-Y`), gzip(1), xz(1), sed(1).
const BY_OPTION: &[(&[&str], Option<char>, &str, Makes)] = &[
    (&["cp", "mv", "ln", "install"], Some('S'), "suffix", Makes::Added),
    (&["rsync"], None, "suffix", Makes::Added),
    (&["patch"], Some('z'), "suffix", Makes::Added),
    (&["patch"], Some('B'), "prefix", Makes::Before),
    (&["patch"], Some('Y'), "basename-prefix", Makes::Before),
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

/// The programs of the table.
pub(super) fn programs() -> impl Iterator<Item = &'static str> {
    BY_OPTION.iter().flat_map(|row| row.0.iter().copied())
}

/// What is taken from the end of a name when it is unpacked, and what comes in its place; in whatever case. gzip.c 1.12
/// (`get_suffix`), pigz(1), bzip2(1), xz(1), lzip(1), lzop(1), lz4(1), zstd(1), brotli(1), compress(1), gpg(1).
const PACKED: &[(&str, &str)] = &[
    (".gz", ""),
    (".z", ""),
    ("-gz", ""),
    ("-z", ""),
    ("_z", ""),
    (".zz", ""),
    (".zip", ""),
    (".tgz", ".tar"),
    (".taz", ".tar"),
    (".bz2", ""),
    (".bz", ""),
    (".tbz2", ".tar"),
    (".tbz", ".tar"),
    (".xz", ""),
    (".txz", ".tar"),
    (".lzma", ""),
    (".tlz", ".tar"),
    (".lz", ""),
    (".lzo", ""),
    (".tzo", ".tar"),
    (".lz4", ""),
    (".tlz4", ".tar"),
    (".zst", ""),
    (".tzst", ".tar"),
    (".br", ""),
    (".gpg", ""),
    (".pgp", ""),
    (".asc", ""),
    (".sig", ""),
    (".sign", ""),
];

/// What a file may be called once it is unpacked.
fn unpacked(name: &str) -> Option<String> {
    PACKED.iter().find_map(|(ending, instead)| {
        let (stem, end) = name.split_at_checked(name.len().checked_sub(ending.len())?)?;
        end.eq_ignore_ascii_case(ending).then(|| format!("{stem}{instead}"))
    })
}

/// The names that the command makes of its words by an ending that one of them gives, or that its program knows.
pub(super) fn made(words: &[&str]) -> Vec<String> {
    let mut names = Vec::new();
    if kind::unpacks(words.iter().copied()) {
        let stems: Vec<String> = words.iter().filter_map(|word| unpacked(word)).take(MAX).collect();
        // zstd(1): they may be written to another directory.
        let into = words.iter().enumerate().filter_map(|(at, word)| {
            let option = word.strip_prefix("--output-dir")?;
            option.split_once('=').map(|(_, value)| value).or(words.get(at + 1).copied())
        });
        for into in into.take(8) {
            let bases = stems.iter().map(|stem| file_name(stem));
            names.extend(bases.map(|base| format!("{into}/{base}")));
        }
        names.extend(stems);
    }
    for (at, program) in words.iter().enumerate() {
        let program = base_name(program);
        let mut rows = BY_OPTION.iter().filter(|row| row.0.contains(&program)).peekable();
        if rows.peek().is_none() {
            continue;
        }
        let rest = &words[at + 1..];
        let operands = Operands::of(rest);
        // The last one counts.
        for (number, word) in rest.iter().enumerate().rev() {
            if names.len() >= MAX {
                break;
            }
            for (_, letter, long, makes) in rows.clone() {
                if let Some(ending) = value(word, rest.get(number + 1).copied(), *letter, long, *makes) {
                    operands.by_ending(ending, *makes, &mut names);
                }
            }
        }
        // What other programs among the words would make of them is theirs to be looked at as commands of their own.
        break;
    }
    names
}

/// The operands of a command, which are walked once for all the endings that it is given.
struct Operands<'w> {
    first: Vec<&'w str>,
    last: Option<&'w str>,
}

impl<'w> Operands<'w> {
    fn of(words: &[&'w str]) -> Self {
        let all = || words.iter().copied().filter(|word| !word.starts_with('-'));
        Self { first: all().take(MAX).collect(), last: all().next_back() }
    }

    /// Adds what an ending makes of them.
    fn by_ending(&self, ending: &str, makes: Makes, names: &mut Vec<String>) {
        let room = MAX.saturating_sub(names.len());
        names.extend(self.first.iter().flat_map(|operand| joined(operand, ending, makes)).take(room));
        // In the directory that a copy goes to.
        let into = self.last.filter(|_| makes == Makes::Added).map(|into| into.trim_end_matches('/'));
        let files = self.first.iter().map(|operand| file_name(operand.trim_end_matches('/')));
        let copies = files.filter_map(|file| into.map(|into| format!("{into}/{file}{ending}")));
        names.extend(copies.take(MAX.saturating_sub(names.len())));
    }
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
        Makes::Before => {
            let (directory, file) = operand.rfind('/').map_or(("", operand), |at| operand.split_at(at + 1));
            vec![format!("{ending}{operand}"), format!("{directory}{ending}{file}")]
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
            ("patch -b -B depl oy.yml p.diff", "deploy.yml"),
            ("patch -b --prefix=conf/ prod.yml p.diff", "conf/prod.yml"),
            ("patch -b -Y depl a/oy.yml p.diff", "a/deploy.yml"),
            ("patch -b --basename-pre depl oy.yml p.diff", "deploy.yml"),
            ("gunzip .bashrc-gz", ".bashrc"),
            ("gunzip .bashrc_z", ".bashrc"),
            ("gzip -d a/.bashrc.GZ", "a/.bashrc"),
            ("pigz -d x.TGZ", "x.tar"),
            ("bunzip2 .bashrc.bz", ".bashrc"),
            ("nice unxz .bashrc.lzma", ".bashrc"),
            ("zstd -qd --output-dir-flat .cargo g/config.toml.zst", ".cargo/config.toml"),
            ("zstd -qd --output-dir-flat=.cargo g/config.toml.zst", ".cargo/config.toml"),
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
            let names = made(&command.split(' ').collect::<Vec<_>>());
            assert!(names.iter().any(|name| name == want), "{command}: {names:?}");
        }
        for command in ["cp a b", "sed -i s/a/b/ f", "gzip -9 f", "ls -S", "cat -S x y"] {
            assert_eq!(made(&command.split(' ').collect::<Vec<_>>()), [""; 0], "{command}");
        }
    }
}
