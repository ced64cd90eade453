//! Small accidents to a text: parts that vanish, come twice, change places, or come from another text.

use crate::corpus::shape;
use crate::random::Random;

/// What is put between the characters of a text.
const PIECES: &[&str] = &[
    "'",
    "\"",
    "`",
    "$",
    "\\",
    "\n",
    "\r",
    " ",
    "\t",
    ";",
    "&",
    "|",
    "<",
    ">",
    "(",
    ")",
    "{",
    "}",
    "[",
    "]",
    "#",
    "!",
    "=",
    "*",
    "?",
    "~",
    "^",
    "%",
    "@",
    "-",
    "\\\n",
    "$(",
    "${",
    "$((",
    "))",
    "<(",
    "<<E\n",
    "\nE\n",
    "<<-'E'",
    "<<<",
    "&&",
    "||",
    ";;",
    "|&",
    "&>",
    ">&",
    "2>",
    "$'",
    "$\"",
    "'\\''",
    "[[ ",
    " ]]",
    "if ",
    "then ",
    "fi",
    "do ",
    "done",
    "case ",
    " in ",
    "esac",
    "p1",
    "rm",
    "rm x",
    "eval ",
    "x=",
    "\u{0}",
    "\u{b}",
    "\u{a0}",
    "\u{200b}",
    "\u{202e}",
    "\u{feff}",
    "\u{85}",
    "\u{2028}",
    "é",
    "\u{1b}",
    "\u{7f}",
    "coproc ",
    "time ",
    "function ",
    "() ",
    "{a,b}",
    "{1..2}",
    "!(",
    "\\'",
    "#'",
    " #",
    "\\#",
];

/// The text after one to four accidents.
pub(crate) fn mutated(text: &str, random: &mut Random) -> String {
    let mut chars: Vec<char> = text.chars().collect();
    for _ in 0..=random.below(4) {
        let (at, end) = stretch(chars.len(), random);
        match random.below(7) {
            0 | 1 => insert(&mut chars, at, random.pick(PIECES)),
            2 => drop(chars.drain(at..end)),
            3 => {
                let again: Vec<char> = chars[at..end].to_vec();
                chars.splice(end..end, again);
            }
            4 => chars[at..end].reverse(),
            5 if at < chars.len() => chars[at] = random.pick(PIECES).chars().next().unwrap_or(' '),
            _ => {
                let other: Vec<char> = shape(random).chars().collect();
                let (from, to) = stretch(other.len(), random);
                let long = random.chance(50);
                let part = if long { &other[from..] } else { &other[from..to] };
                chars.splice(at..at, part.iter().copied());
            }
        }
    }
    chars.truncate(4000);
    chars.into_iter().collect()
}

fn stretch(length: usize, random: &mut Random) -> (usize, usize) {
    let at = random.below(length + 1);
    let long = if random.chance(80) { 4 } else { length + 1 };
    (at, (at + 1 + random.below(long)).min(length))
}

fn insert(chars: &mut Vec<char>, at: usize, piece: &str) {
    chars.splice(at..at, piece.chars());
}
