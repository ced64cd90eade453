//! Reads a command line by an entry of a table: only what is listed, long options in full.

use super::{KnownUse, Operand, Targets};
use crate::permission::commands::programs::has;
use crate::permission::subject::Access;

/// The file that is always empty, outside of every workspace.
pub(super) const NOTHING: &str = "/dev/null";

/// What the operands of a command are.
#[derive(Clone, Copy)]
pub(in crate::permission::commands) enum Operands {
    /// There are none.
    None,
    /// Text that is only printed or compared.
    Text,
    /// At most this many paths to read.
    Paths(usize),
    /// Paths, and the working directory when there is none.
    PathsOrHere,
    /// A pattern, unless `-e` gave one, then paths; `true`: the working directory when there is none.
    Pattern(bool),
    /// What the function finds among them, when they are harmless.
    Read(for<'l, 'w> fn(&'l Line<'w>) -> Option<Vec<&'w str>>),
}

/// What is harmless of one command.
#[derive(Clone, Copy)]
pub(in crate::permission::commands) struct Known {
    pub(in crate::permission::commands) names: &'static [&'static str],
    /// Letters of short options without a value.
    pub(in crate::permission::commands) flags: &'static str,
    /// Letters of short options that need a value. Never one whose value is optional: what the table takes for the
    /// value would be an option to the program.
    pub(in crate::permission::commands) values: &'static str,
    /// Letters of short options behind which a value may be attached.
    pub(in crate::permission::commands) attached: &'static str,
    /// Long options without a value, or with one only behind `=`; white space between them.
    pub(in crate::permission::commands) long: &'static [&'static str],
    /// Long options that need a value, behind `=` or as the next word.
    pub(in crate::permission::commands) long_values: &'static [&'static str],
    /// `-20` is a count.
    pub(in crate::permission::commands) numeric: bool,
    /// What follows the first operand is operands.
    pub(in crate::permission::commands) stops: bool,
    /// Values of short options are never attached.
    pub(in crate::permission::commands) apart: bool,
    /// Short options are not put together, and one dash does for long ones.
    pub(in crate::permission::commands) alone: bool,
    /// The program does not split its words as getopt(3) does: an option that needs a value is none behind other letters, and
    /// what looks like an option may be one where its value is due. Such words are not known.
    pub(in crate::permission::commands) own_way: bool,
    /// The letter that makes it descend, as `--recursive` does; `*`: it always does.
    pub(in crate::permission::commands) recursive: Option<char>,
    /// It descends into directories among its operands and follows symlinks there.
    pub(in crate::permission::commands) files_only: bool,
    /// Of which symlinks beneath its operands it tells what lies where they lead.
    pub(in crate::permission::commands) targets: fn(&Line<'_>) -> Targets,
    /// Whether an option's value is harmless.
    pub(in crate::permission::commands) takes: fn(&str, &str) -> bool,
    pub(in crate::permission::commands) operands: Operands,
}

/// An entry without options, for paths.
pub(in crate::permission::commands) const PLAIN: Known = Known {
    names: &[],
    flags: "",
    values: "",
    attached: "",
    long: &[],
    long_values: &[],
    numeric: false,
    stops: false,
    apart: false,
    alone: false,
    own_way: false,
    recursive: None,
    files_only: false,
    targets: |_| Targets { levels: 0, passed_over: Vec::new() },
    takes: |_, _| true,
    operands: Operands::Paths(usize::MAX),
};

/// What a command line says, once its options are read.
#[derive(Default)]
pub(in crate::permission::commands) struct Line<'w> {
    pub(in crate::permission::commands) operands: Vec<&'w str>,
    pub(in crate::permission::commands) letters: String,
    pub(in crate::permission::commands) long: Vec<&'w str>,
    /// Option and value, an option by its letter or its long name.
    pub(in crate::permission::commands) values: Vec<(&'w str, &'w str)>,
}

impl<'w> Line<'w> {
    /// The values that were given to one of these options.
    pub(in crate::permission::commands) fn of<'l>(
        &'l self,
        names: &'static [&'static str],
    ) -> impl Iterator<Item = &'w str> + 'l {
        self.values.iter().filter(|(name, _)| names.contains(name)).map(|(_, value)| *value)
    }
}

impl Known {
    /// What the command does, when all its options and operands are harmless.
    pub(in crate::permission::commands) fn read(&self, arguments: &[String]) -> Option<KnownUse> {
        self.read_line(&self.options(arguments)?)
    }

    /// The same for a line that was read before.
    pub(in crate::permission::commands) fn read_line(&self, line: &Line<'_>) -> Option<KnownUse> {
        if !line.values.iter().all(|(option, value)| (self.takes)(option, value)) {
            return None;
        }
        let recursive = match self.recursive {
            Some('*') => true,
            Some(letter) => line.letters.contains(letter) || line.long.contains(&"recursive"),
            None => false,
        };
        let operands = self.paths(line, recursive)?;
        // Not every program takes `-` for its standard input: to the others it is a file.
        let operands = operands
            .into_iter()
            .filter(|p| *p != NOTHING)
            .map(|p| Operand { path: p.to_owned(), access: Access::Read })
            .collect();
        let (files_only, targets) = (self.files_only, (self.targets)(line));
        Some(KnownUse { operands, recursive, files_only, targets, ..KnownUse::default() })
    }

    /// Reads the options, when all of them are listed.
    pub(in crate::permission::commands) fn options<'w>(&self, arguments: &'w [String]) -> Option<Line<'w>> {
        let mut line = Line::default();
        let mut words = arguments.iter().map(String::as_str);
        while let Some(word) = words.next() {
            if word == "--" {
                line.operands.extend(words.by_ref());
            } else if let Some(long) = word.strip_prefix("--") {
                let (name, value) =
                    long.split_once('=').map_or((long, None), |(name, value)| (name, Some(value)));
                if has(self.long_values, name) {
                    let value = value.or_else(|| self.next_value(&mut words))?;
                    line.values.push((name, value));
                } else if has(self.long, name) {
                    line.long.push(name);
                    line.values.extend(value.map(|value| (name, value)));
                } else {
                    return None;
                }
            } else if let Some(cluster) = word.strip_prefix('-').filter(|c| !c.is_empty()) {
                if self.numeric && cluster.bytes().all(|b| b.is_ascii_digit()) {
                    continue;
                }
                if self.alone && has(self.long, cluster) {
                    line.long.push(cluster);
                    continue;
                }
                let valued = self.cluster(cluster, &mut line)?;
                if !valued.is_empty() {
                    line.values.push((valued, self.next_value(&mut words)?));
                }
            } else {
                line.operands.push(word);
                if self.stops {
                    line.operands.extend(words.by_ref());
                }
            }
        }
        Some(line)
    }

    /// The word that is the value of the option before it.
    fn next_value<'w>(&self, words: &mut impl Iterator<Item = &'w str>) -> Option<&'w str> {
        words.next().filter(|value| !(self.own_way && value.starts_with('-')))
    }

    /// Reads `-abc`; its last letter, when that takes the next word as its value, else nothing.
    fn cluster<'w>(&self, cluster: &'w str, line: &mut Line<'w>) -> Option<&'w str> {
        for (at, letter) in cluster.char_indices() {
            let end = at + letter.len_utf8();
            if self.values.contains(letter) {
                if self.own_way && at > 0 {
                    return None;
                }
                let (option, value) = (&cluster[at..end], &cluster[end..]);
                if value.is_empty() {
                    return Some(option);
                }
                line.values.push((option, value));
                return (!self.apart).then_some("");
            }
            if self.attached.contains(letter) {
                line.values.push((&cluster[at..end], &cluster[end..]));
                return Some("");
            }
            if !self.flags.contains(letter) || (self.alone && end < cluster.len()) {
                return None;
            }
            line.letters.push(letter);
        }
        Some("")
    }

    fn paths<'w>(&self, line: &Line<'w>, recursive: bool) -> Option<Vec<&'w str>> {
        let all = line.operands.as_slice();
        match self.operands {
            Operands::None => all.is_empty().then(Vec::new),
            Operands::Text => Some(Vec::new()),
            Operands::Paths(most) => (all.len() <= most).then(|| all.to_vec()),
            Operands::PathsOrHere => Some(if all.is_empty() { vec!["."] } else { all.to_vec() }),
            Operands::Pattern(here) => {
                let given = line.of(&["e", "regexp"]).next().is_some();
                let paths = if given { all } else { all.get(1..)? };
                let here = paths.is_empty() && (here || recursive);
                Some(if here { vec!["."] } else { paths.to_vec() })
            }
            Operands::Read(read) => read(line),
        }
    }
}
