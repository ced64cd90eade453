//! Reads a shell text to its last word, or says what in it is not understood.
//!
//! What is read is what bash 5.2 does with `bash -c` (its manual, chapters 2 and 3): lists, pipelines, groups,
//! subshells, `if` and `while`, redirections, quoted here-documents. Whatever can make a word mean something
//! else when it runs than when it is read is not understood.

use brush_parser::ast::{
    AndOr, AndOrList, AssignmentName, AssignmentValue, Command, CommandPrefixOrSuffixItem as Item,
    CompoundCommand, CompoundList, ElseClause, IoFileRedirectKind as Kind, IoFileRedirectTarget as Target,
    IoHereDocument, IoRedirect, Pipeline, PipelineTimed, SeparatorOperator, SimpleCommand,
};

use super::directories::{After, Directories};
use super::script::{FileUse, Leaf, NotUnderstood, Script};
use super::{bounds, brush, carried, redirections, second, word};
use crate::permission::subject::Access;

/// Most commands of a text that is understood.
const MAX_LEAVES: usize = 256;
/// Deepest nesting of groups and conditions.
const MAX_DEPTH: usize = 16;

/// Reads the text. `depth`: how many texts it lies within (`sh -c 'sh -c …'`); `fed`: what runs it is given something to read.
pub(super) fn script(text: &str, depth: usize, fed: bool) -> Result<Script, NotUnderstood> {
    bounds::text(text)?;
    let program = brush::program(text)?;
    let mut reading = Reading { script: Script::default(), atoms: Vec::new(), depth: 0, fed };
    let mut directories = Directories::here();
    for list in &program.complete_commands {
        directories = reading.list(list, &directories)?.either()?;
    }
    let alike = reading.compare(text);
    let mut script = reading.script;
    if script.leaves.is_empty() {
        return Err(alike.err().unwrap_or(NotUnderstood("no command is in it")));
    }
    // Where the parsers differ these tell more, if they have something to say.
    carried::check_meaning(&script)?;
    carried::follow(&mut script, depth)?;
    match alike {
        Ok(()) => Ok(script),
        Err(differs) => Err(carried::sets_up_the_shell(&script).unwrap_or(differs)),
    }
}

/// The words of the text when it is one command, all of them literal, whatever that runs in turn; none for any other text.
pub(super) fn one_literal(text: &str) -> Option<Vec<String>> {
    bounds::text(text).ok()?;
    let program = brush::program(text).ok()?;
    let mut reading = Reading { script: Script::default(), atoms: Vec::new(), depth: 0, fed: false };
    for list in &program.complete_commands {
        reading.list(list, &Directories::here()).ok()?;
    }
    reading.compare(text).ok()?;
    let only = reading.script.only()?;
    only.assigned.is_empty().then(|| only.words.clone())
}

/// The text that `cat <<'E' … E` prints, when a text is just that.
pub(super) fn quoted_document(text: &str) -> Result<String, NotUnderstood> {
    const OTHER: NotUnderstood = NotUnderstood("the output of a command becomes part of it");
    let program = brush::program(text).map_err(|_| OTHER)?;
    let [CompoundList(items)] = program.complete_commands.as_slice() else { return Err(OTHER) };
    let [item] = items.as_slice() else { return Err(OTHER) };
    let (AndOrList { first, additional }, SeparatorOperator::Sequence) = (&item.0, &item.1) else {
        return Err(OTHER);
    };
    let [Command::Simple(simple)] = first.seq.as_slice() else { return Err(OTHER) };
    let plain = additional.is_empty() && !first.bang && first.timed.is_none() && simple.prefix.is_none();
    let is_cat = simple.word_or_name.as_ref().is_some_and(|name| name.value == "cat");
    match simple.suffix.as_ref().map(|suffix| suffix.0.as_slice()) {
        Some([Item::IoRedirect(IoRedirect::HereDocument(None, document))])
            if plain && is_cat && !document.requires_expansion =>
        {
            delimiter(document)?;
            Ok(document.doc.value.clone())
        }
        _ => Err(OTHER),
    }
}

/// A delimiter that everyone reads alike: letters and digits, as they are or in quotes; and no line that only begins so,
/// which ends the document all the same where bash 5.2 reads it within `$(…)` and a `)` is in that line.
fn delimiter(document: &IoHereDocument) -> Result<(), NotUnderstood> {
    let raw = document.here_end.value.as_str();
    let inner = ['\'', '"']
        .iter()
        .find_map(|quote| raw.strip_prefix(*quote).and_then(|rest| rest.strip_suffix(*quote)))
        .unwrap_or(raw);
    let plain = !inner.is_empty() && inner.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if !plain {
        return Err(NotUnderstood("a here-document in it has an odd delimiter"));
    }
    let begins = |line: &str| line.trim_start_matches('\t').starts_with(inner);
    if document.doc.value.lines().any(begins) {
        return Err(NotUnderstood("a line in a here-document begins as its end does"));
    }
    Ok(())
}

struct Reading {
    script: Script,
    /// Every word with whether it begins a command, to be held against another reading.
    atoms: Vec<(bool, String)>,
    depth: usize,
    /// What is read now gets input from elsewhere in the text.
    fed: bool,
}

impl Reading {
    fn compare(&self, text: &str) -> Result<(), NotUnderstood> {
        let agree = second::atoms(text).is_some_and(|second| {
            second.len() == self.atoms.len()
                && second
                    .iter()
                    .zip(&self.atoms)
                    .all(|(a, (starts, raw))| a.starts == *starts && a.raw == raw)
        });
        if agree { Ok(()) } else { Err(NotUnderstood("two parsers do not read it alike")) }
    }

    fn atom(&mut self, starts: bool, raw: &str) {
        self.atoms.push((starts, raw.to_owned()));
    }

    fn list(&mut self, list: &CompoundList, from: &Directories) -> Result<After, NotUnderstood> {
        let mut after = After::unchanged(from);
        for (index, item) in list.0.iter().enumerate() {
            let here = if index == 0 { from.clone() } else { after.either()? };
            let ran = self.and_or(&item.0, &here)?;
            after = match item.1 {
                SeparatorOperator::Async => After::unchanged(&here),
                SeparatorOperator::Sequence => ran,
            };
        }
        Ok(after)
    }

    fn and_or(&mut self, list: &AndOrList, from: &Directories) -> Result<After, NotUnderstood> {
        let mut after = self.pipeline(&list.first, from)?;
        for next in &list.additional {
            after = match next {
                AndOr::And(pipeline) => {
                    let ran = self.pipeline(pipeline, &after.succeeded)?;
                    After { succeeded: ran.succeeded, failed: after.failed.or(&ran.failed)? }
                }
                AndOr::Or(pipeline) => {
                    let ran = self.pipeline(pipeline, &after.failed)?;
                    After { succeeded: after.succeeded.or(&ran.succeeded)?, failed: ran.failed }
                }
            };
        }
        Ok(after)
    }

    fn pipeline(&mut self, pipeline: &Pipeline, from: &Directories) -> Result<After, NotUnderstood> {
        let mut timed = false;
        match &pipeline.timed {
            None => {}
            // `time` alone, `time -- x`, `time !` and so on are read in more than one way.
            Some(_) if pipeline.bang || pipeline.seq.len() != 1 => {
                return Err(NotUnderstood("`time` stands before more than one command"));
            }
            Some(PipelineTimed::Timed(_)) => {
                self.atom(true, "time");
                timed = true;
            }
            Some(PipelineTimed::TimedWithPosixOutput(_)) => {
                self.atom(true, "time");
                self.atom(false, "-p");
                timed = true;
            }
        }
        let after = match pipeline.seq.as_slice() {
            [Command::Simple(only)] if timed => {
                let name = self.atoms.len();
                let after = self.simple(only, from)?;
                // To the other parser `time` is the name of the command.
                if let Some(atom) = self.atoms.get_mut(name) {
                    atom.0 = false;
                }
                after
            }
            _ if timed => return Err(NotUnderstood("`time` stands before more than one command")),
            [only] => self.command(only, from)?,
            several => {
                let outer = self.fed;
                for (number, command) in several.iter().enumerate() {
                    self.fed = outer || number > 0;
                    self.command(command, from)?;
                }
                self.fed = outer;
                After::unchanged(from)
            }
        };
        Ok(if pipeline.bang { After { succeeded: after.failed, failed: after.succeeded } } else { after })
    }

    fn command(&mut self, command: &Command, from: &Directories) -> Result<After, NotUnderstood> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(NotUnderstood("it is nested more than 16 deep"));
        }
        let after = match command {
            Command::Simple(simple) => self.simple(simple, from)?,
            Command::Compound(compound, redirects) => {
                let first = self.script.leaves.len();
                let outer = self.fed;
                self.fed |= redirects.iter().flat_map(|list| &list.0).any(feeds);
                let after = self.compound(compound, from)?;
                self.fed = outer;
                for redirect in redirects.iter().flat_map(|list| &list.0) {
                    self.redirect(redirect, from)?;
                    // Whatever runs within reads or writes there.
                    for leaf in self.script.leaves.iter_mut().skip(first) {
                        leaf.redirections.extend(redirections::shown(redirect));
                    }
                }
                after
            }
            Command::Function(_) => return Err(NotUnderstood("a function is defined in it")),
            Command::ExtendedTest(..) => return Err(NotUnderstood("`[[ … ]]` is in it")),
        };
        self.depth -= 1;
        Ok(after)
    }

    fn compound(&mut self, compound: &CompoundCommand, from: &Directories) -> Result<After, NotUnderstood> {
        Err(NotUnderstood(match compound {
            CompoundCommand::BraceGroup(group) => return self.list(&group.list, from),
            CompoundCommand::Subshell(group) => {
                self.list(&group.list, from)?;
                return Ok(After::unchanged(from));
            }
            CompoundCommand::IfClause(clause) => {
                let condition = self.list(&clause.condition, from)?;
                let then = self.list(&clause.then, &condition.succeeded)?;
                let elses = clause.elses.as_deref().unwrap_or_default();
                return self.elses(elses, then, condition.failed);
            }
            CompoundCommand::WhileClause(clause) | CompoundCommand::UntilClause(clause) => {
                let condition = self.list(&clause.0, from)?.either()?;
                let body = self.list(&clause.1.list, &condition)?.either()?;
                if condition != *from || body != *from {
                    return Err(NotUnderstood("a loop in it changes its directory"));
                }
                return Ok(After::unchanged(from));
            }
            CompoundCommand::Arithmetic(_) => "arithmetic is in it",
            CompoundCommand::ArithmeticForClause(_) | CompoundCommand::ForClause(_) => {
                "a `for` loop is in it"
            }
            CompoundCommand::CaseClause(_) => "a `case` is in it",
            CompoundCommand::Coprocess(_) => "a coprocess is in it",
        }))
    }

    /// `elif` and `else`: one of the branches has run, or none.
    fn elses(
        &mut self,
        elses: &[ElseClause],
        then: After,
        mut from: Directories,
    ) -> Result<After, NotUnderstood> {
        let mut after = then;
        for clause in elses {
            if let Some(condition) = &clause.condition {
                let condition = self.list(condition, &from)?;
                let body = self.list(&clause.body, &condition.succeeded)?;
                after = after.or(&body)?;
                from = condition.failed;
            } else {
                let body = self.list(&clause.body, &from)?;
                return after.or(&body);
            }
        }
        after.or(&After::unchanged(&from))
    }

    fn simple(&mut self, simple: &SimpleCommand, from: &Directories) -> Result<After, NotUnderstood> {
        let mut leaf = Leaf { directories: from.paths(), fed: self.fed, ..Leaf::default() };
        let (mut cats, mut has_status) = (0, false);
        for item in simple.prefix.iter().flat_map(|prefix| &prefix.0) {
            match item {
                Item::AssignmentWord(assignment, raw) => {
                    self.atom(false, &raw.value);
                    let (AssignmentName::VariableName(name), AssignmentValue::Scalar(value), false) =
                        (&assignment.name, &assignment.value, assignment.append)
                    else {
                        return Err(NotUnderstood("a variable is set in it"));
                    };
                    let value = word::literal(&value.value)?;
                    if value.runs_cat || !carried::is_harmless_variable(name, &value.value) {
                        return Err(NotUnderstood("a variable is set in it"));
                    }
                    leaf.assigned.push(format!("{name}={}", value.value));
                }
                Item::IoRedirect(redirect) => {
                    leaf.fed |= feeds(redirect);
                    self.redirect(redirect, from)?;
                    leaf.redirections.extend(redirections::shown(redirect));
                }
                Item::Word(_) | Item::ProcessSubstitution(..) => {
                    return Err(NotUnderstood("it is no complete shell text"));
                }
            }
        }
        match &simple.word_or_name {
            Some(name) => {
                self.atom(true, &name.value);
                leaf.words.push(program(&name.value)?);
            }
            None if !leaf.assigned.is_empty() => return Err(NotUnderstood("a variable is set in it")),
            None => {}
        }
        for item in simple.suffix.iter().flat_map(|suffix| &suffix.0) {
            match item {
                Item::IoRedirect(redirect) => {
                    leaf.fed |= feeds(redirect);
                    self.redirect(redirect, from)?;
                    leaf.redirections.extend(redirections::shown(redirect));
                }
                Item::Word(raw) | Item::AssignmentWord(_, raw) => {
                    self.atom(false, &raw.value);
                    let status = leaf.words.first().is_some_and(|name| word::may_have_status(name));
                    let literal = if status { word::printed(&raw.value) } else { word::literal(&raw.value) }?;
                    cats += usize::from(literal.runs_cat);
                    has_status |= literal.has_status;
                    leaf.words.push(literal.value);
                }
                Item::ProcessSubstitution(..) => {
                    return Err(NotUnderstood("a command takes the place of a file in it"));
                }
            }
        }
        if has_status && !word::status_is_no_matter(&leaf.words) {
            return Err(word::EXPANDS);
        }
        for _ in 0..cats {
            let words = vec!["cat".to_owned()];
            self.leaf(Leaf { words, directories: from.paths(), ..Leaf::default() })?;
        }
        let after = match leaf.words.as_slice() {
            [name, rest @ ..] if name == "cd" => After { succeeded: from.moved(rest)?, failed: from.clone() },
            _ => After::unchanged(from),
        };
        if leaf.words.is_empty() {
            self.script.redirections.append(&mut leaf.redirections);
        } else {
            self.leaf(leaf)?;
        }
        Ok(after)
    }

    fn leaf(&mut self, leaf: Leaf) -> Result<(), NotUnderstood> {
        if self.script.leaves.len() >= MAX_LEAVES {
            return Err(NotUnderstood("it has more than 256 commands"));
        }
        self.script.leaves.push(leaf);
        Ok(())
    }

    fn redirect(&mut self, redirect: &IoRedirect, from: &Directories) -> Result<(), NotUnderstood> {
        let (descriptor, raw, access) = match redirect {
            IoRedirect::OutputAndError(target, _) => (None, &target.value, Access::Edit),
            IoRedirect::HereString(descriptor, data) => {
                self.atom(false, &data.value);
                word::literal(&data.value)?;
                return usual(*descriptor);
            }
            IoRedirect::HereDocument(descriptor, document) => {
                delimiter(document)?;
                if document.requires_expansion && document.doc.value.contains(['$', '`', '\\']) {
                    return Err(NotUnderstood("something is expanded in a here-document"));
                }
                return usual(*descriptor);
            }
            IoRedirect::File(descriptor, kind, target) => match (kind, target) {
                // `|&`: the parser's own way of saying it, with no words in the text.
                (Kind::DuplicateOutput, Target::Fd(1)) if *descriptor == Some(2) => return Ok(()),
                (Kind::DuplicateInput | Kind::DuplicateOutput, Target::Duplicate(other)) => {
                    if other.value == "-" {
                        return usual(*descriptor);
                    }
                    self.atom(false, &other.value);
                    let number = other.value.len() == 1 && other.value.bytes().all(|b| b.is_ascii_digit());
                    if !number {
                        return Err(NotUnderstood("a descriptor is copied in an unusual way"));
                    }
                    return usual(*descriptor);
                }
                (Kind::Read, Target::Filename(word)) => (*descriptor, &word.value, Access::Read),
                (Kind::Write | Kind::Append | Kind::Clobber | Kind::ReadAndWrite, Target::Filename(word)) => {
                    (*descriptor, &word.value, Access::Edit)
                }
                _ => return Err(NotUnderstood("a command takes the place of a file in it")),
            },
        };
        usual(descriptor)?;
        self.atom(false, raw);
        let path = word::literal(raw)?;
        if path.runs_cat || path.value.is_empty() {
            return Err(NotUnderstood("a redirection in it cannot be read"));
        }
        match path.value.as_str() {
            "/dev/null" => {}
            "/dev/stdout" | "/dev/stderr" if access == Access::Edit => {}
            // Bash makes connections and copies of descriptors out of some of them.
            device if device.starts_with("/dev/") => {
                return Err(NotUnderstood("a device takes the place of a file in it"));
            }
            _ => self.script.files.push(FileUse { path: path.value, access, directories: from.paths() }),
        }
        Ok(())
    }
}

/// Whether a redirection gives a command something to read: then its words do not say all that it goes by.
fn feeds(redirect: &IoRedirect) -> bool {
    match redirect {
        IoRedirect::File(_, Kind::Read | Kind::ReadAndWrite, Target::Filename(word)) => {
            word.value != "/dev/null"
        }
        // `0>&3` is `<&3`.
        IoRedirect::File(descriptor, Kind::DuplicateOutput, _) => *descriptor == Some(0),
        IoRedirect::HereDocument(..)
        | IoRedirect::HereString(..)
        | IoRedirect::File(_, Kind::Read | Kind::ReadAndWrite | Kind::DuplicateInput, _) => true,
        IoRedirect::OutputAndError(..) | IoRedirect::File(..) => false,
    }
}

/// A descriptor that no one else holds: bash keeps some of its own above 9.
fn usual(descriptor: Option<i32>) -> Result<(), NotUnderstood> {
    if descriptor.is_none_or(|number| (0..=9).contains(&number)) {
        Ok(())
    } else {
        Err(NotUnderstood("a descriptor is copied in an unusual way"))
    }
}

/// The name of a program or builtin, which has to be written as it is: `r\m` and `"rm"` are literal, but
/// nobody who means well writes them. No program's name begins with a dash: behind `time` such a word is an option
/// that both parsers take for a command.
fn program(raw: &str) -> Result<String, NotUnderstood> {
    let plain =
        raw.bytes().all(|b| b.is_ascii_graphic()) && !raw.contains(['=', '%', '^', '!', '\'', '"', '\\']);
    if !plain || raw.is_empty() || raw.starts_with('-') {
        return Err(NotUnderstood("the name of a command in it is not written plainly"));
    }
    word::literal(raw).map(|literal| literal.value)
}
