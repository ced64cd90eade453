//! What a command runs besides its own program: argument words, shell text, and what its words do not tell.
//!
//! For deny and ask, so in doubt it is too much: an option that is not known makes every later word the possible
//! start of a command.

mod builtins;
mod by_form;
mod by_option;
mod from_input;
mod git;
mod interpreters;
mod options;
mod remote;
pub(super) mod sed;
mod shells;
mod subcommands;
mod table;
mod transparent;
mod variables;

pub(in crate::permission::commands) use by_form::of_subcommand;
pub(in crate::permission::commands) use by_option::{long_name, runs_something};
pub(crate) use interpreters::is_plain_module;
pub(in crate::permission::commands) use subcommands::{run_by_subcommand, runs_swallowed};
pub(crate) use transparent::transparent;
pub(crate) use variables::is_harmless_variable;

use super::super::lexical::file_name;
use super::builtins::{self as bash, Does};
use super::{kind, programs, read_only};

/// Words of a guessed command that are looked at. Keeps guesses linear in the text.
const MAX_GUESSED_WORDS: usize = 32;

/// What a command runs besides its own program.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Carried {
    /// Argument words that it runs as a program.
    pub commands: Vec<CarriedCommand>,
    /// Shell text that it evaluates.
    pub scripts: Vec<String>,
    /// Those of the scripts that a shell would run which stands among words that are guessed at.
    pub guessed_scripts: Vec<String>,
    /// The directory in which it runs them, when that is another one; counted from its own.
    pub directory: Option<String>,
    /// It runs something, or makes later words mean something, that its words do not tell.
    pub untold: bool,
    /// A command might begin at every word: hold each against rules. The commands here are not all then.
    pub guessed: bool,
    /// The commands are all that its arguments can run: no word is one that is not among them.
    pub exact: bool,
}

/// Words that are run as a program, its name first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CarriedCommand {
    pub words: Vec<String>,
    /// Words follow, or stand in place of some, that the text does not tell.
    pub open: bool,
}

/// What the command (the words that the program gets, its name first, all literal) runs besides its own program.
/// It speaks of one level: ask again of the commands that come back, unless they are guessed. Each of those is
/// shorter than what was asked about. Linear in the length of the words.
pub(crate) fn carried(words: &[String]) -> Carried {
    let mut out = Carried::default();
    if look(words, &mut out) == Told::Anything {
        out.guess_anew(words.get(1..).unwrap_or_default());
    }
    out
}

/// Whether a program's arguments were understood.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Told {
    /// All that it carries was added.
    All,
    /// Any argument may be the start of a command.
    Anything,
}

/// Adds what the command carries, but for guesses.
fn look(words: &[String], out: &mut Carried) -> Told {
    let Some(program) = words.first() else { return Told::All };
    let name = file_name(program);
    for name in spellings(name) {
        let told = builtins::look(name, words, out)
            .or_else(|| shells::look(name, words, out))
            .or_else(|| from_input::look(name, words, out))
            .or_else(|| remote::look(name, words, out))
            .or_else(|| interpreters::look(name, words, out))
            .or_else(|| git::look(name, words, out))
            .or_else(|| table::look(name, words, out))
            .or_else(|| subcommands::look(name, words, out));
        if let Some(told) = told {
            if told == Told::Anything {
                out.untold = true;
            }
            return told;
        }
    }
    for name in spellings(name) {
        by_option::look(name, words, out);
    }
    if keeps_to_itself(program) { Told::All } else { Told::Anything }
}

/// Whether one of the words may be a program that takes from its input what it runs: a shell or another interpreter, what
/// runs the lines that it gets, a build tool, a console. It may stand behind `=` and between commas and blanks, too.
pub(crate) fn may_obey_input(words: &[String]) -> bool {
    let obeys = |word: &str| {
        let mut alone = Carried { guessed: true, ..Carried::default() };
        look(&[word.to_owned()], &mut alone);
        alone.untold
    };
    let pieces = words.iter().flat_map(|word| {
        let parted = word.contains(['=', ',', ' ']).then(|| word.split(['=', ',', ' ']));
        std::iter::once(word.as_str()).chain(parted.into_iter().flatten())
    });
    pieces.filter(|piece| !piece.is_empty()).any(|word| {
        let name = kind::base_name(word);
        runs_what_it_gets(word)
            || programs::RUNS_WORKSPACE.has(name)
            || subcommands::SHELLS.has(word)
            || obeys(word)
    })
}

/// Whether the program runs none of its arguments, but for what tables of carriers say.
fn keeps_to_itself(program: &str) -> bool {
    let name = file_name(program);
    // Of a file of the workspace nothing is known, whatever its name is.
    kind::is_system(program)
        && (programs::RUN_NO_ARGUMENT.has(name)
            || programs::INERT.has(name)
            || read_only::is_listed(name)
            || programs::RUNS_WORKSPACE.has(kind::base_name(name)))
}

/// Whether the command runs none of the words that may follow it, options too.
fn takes_any_words(words: &[String]) -> bool {
    let Some(program) = words.first() else { return true };
    let name = file_name(program);
    let by_option = by_option::names(name) || by_option::names(kind::base_name(name));
    let carries = runs_arguments(name) || matches!(name, "find" | "sed" | "gsed");
    (keeps_to_itself(program) && !carries && !by_option) || only_operands_follow(name, words)
}

/// `sort --`, `sed -i s/a/b/ --`: no option can follow, nor sed's script.
fn only_operands_follow(name: &str, words: &[String]) -> bool {
    let Some(end) = words.iter().position(|word| word == "--") else { return false };
    let before = &words[1..end];
    match name {
        "sort" | "rg" => true,
        "sed" => before.iter().any(|w| !w.starts_with('-')) && !before.iter().any(|w| w.contains("-l")),
        _ => false,
    }
}

/// Whether the program runs what it is given, or a text on its command line.
pub(crate) fn runs_what_it_gets(program: &str) -> bool {
    let name = file_name(program);
    runs_arguments(name) || runs_text(name)
}

impl Carried {
    /// Adds a command; no words are none.
    fn command(&mut self, words: &[String]) {
        self.add(words, false);
    }

    /// Adds a command that more words follow than the text tells.
    fn open(&mut self, words: &[String]) {
        self.add(words, true);
        // What can run its arguments gets some that are not told.
        self.untold |= !words.is_empty() && !takes_any_words(words);
    }

    fn add(&mut self, words: &[String], open: bool) {
        if !words.is_empty() {
            self.commands.push(CarriedCommand { words: words.to_vec(), open });
        }
    }

    /// Adds shell text; blank text is none.
    fn script(&mut self, text: impl Into<String>) {
        let text = text.into();
        if !text.trim().is_empty() {
            self.scripts.push(text);
        }
    }

    /// Adds what quotes in the code of another language hold: it may be handed to a shell there.
    fn code(&mut self, text: &str) {
        self.untold = true;
        for quote in ['\'', '"', '`'] {
            for part in text.split(quote).skip(1).step_by(2) {
                self.script(part);
            }
        }
    }

    /// Adds the texts that a command might run which begins at one of these words. Within a guess there is nothing to
    /// add: these words are among those looked at.
    fn guess(&mut self, words: &[String]) {
        if !self.guessed {
            self.guess_anew(words);
        }
    }

    fn guess_anew(&mut self, words: &[String]) {
        self.guessed = true;
        for at in 0..words.len() {
            let begun = &words[at..words.len().min(at + MAX_GUESSED_WORDS)];
            if begun[0].contains(|c: char| c.is_whitespace() || ";|&<>()$`".contains(c)) {
                self.script(begun[0].as_str());
            }
            let name = file_name(&begun[0]);
            if runs_arguments(name) || runs_text(name) {
                let mut inner = Self { guessed: true, ..Self::default() };
                look(begun, &mut inner);
                if runs_text(name) {
                    self.untold |= inner.untold && begun.len() > 1;
                    self.guessed_scripts.extend(inner.scripts.iter().cloned());
                }
                self.scripts.extend(inner.scripts);
            }
        }
    }
}

/// The name of a program as it is spelt, and as tables have it where that is another one.
fn spellings(name: &str) -> impl Iterator<Item = &str> {
    let base = kind::base_name(name);
    std::iter::once(name).chain((base != name).then_some(base))
}

/// Whether the program is one that a text on its command line tells what to do, wherever it stands.
fn runs_text(name: &str) -> bool {
    kind::is_interpreter(name) || matches!(name, "env" | "awk" | "gawk" | "mawk" | "nawk" | "sed" | "gsed")
}

/// Whether the program is one of those that can run what it is given.
fn runs_arguments(name: &str) -> bool {
    spellings(name).any(|name| {
        programs::CARRIERS.has(name)
            || bash::does(name).is_some_and(Does::carries)
            || programs::INTERPRETERS.has(name)
            || table::names(name)
            || subcommands::names(name)
            || name == "git"
    })
}

#[cfg(test)]
mod tests;
