//! The known commands: what each line of them reads, when every word of it is listed.

mod archives;
mod find;
mod line;
mod proxies;
mod special;
mod table;

pub(in crate::permission) use proxies::Proxy;

pub(super) use line::{Known, Line, Operands, PLAIN};

use std::path::PathBuf;

use crate::permission::subject::Access;

/// What is known about one command.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct KnownUse {
    /// Paths among its operands; relative ones count from the working directory. A symlink among them is followed.
    pub operands: Vec<Operand>,
    /// It descends into directories: a file that a rule hides may lie beneath an operand. Symlinks beneath are not
    /// followed.
    pub recursive: bool,
    /// Where an operand is a directory it follows the symlinks in it: then it is not known what it reads.
    pub files_only: bool,
    /// It descends into directories among its operands and follows the symlinks there, or has another program do so:
    /// harmless where there are none.
    pub follows_beneath: bool,
    /// Beneath its operands it looks through these symlinks for what lies there, but not into it: harmless where none of
    /// them leads out of the workspace.
    pub targets: Targets,
    /// Paths that git may look for in the working tree, too, counted from its top: what stands behind the colon of `HEAD:x`.
    pub in_tree: Vec<String>,
    /// The directory that it goes to before anything else (`git -C`), counted from where it starts; operands count
    /// from there.
    pub within: PathBuf,
    /// The program is often a proxy that stands for another one, which a file in the directory or above may choose.
    pub(crate) proxy: Option<Proxy>,
}

impl KnownUse {
    /// Whether it changes nothing that its words name.
    pub(crate) fn only_reads(&self) -> bool {
        self.operands.iter().all(|operand| operand.access == Access::Read)
    }
}

/// Which symlinks beneath its operands a command looks through, if only for what lies there.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Targets {
    /// Those of so many levels of names.
    pub levels: usize,
    /// Names that are passed over, with what lies beneath them.
    pub passed_over: Vec<String>,
}

/// A path operand of a known command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Operand {
    /// As the command gets it.
    pub path: String,
    /// What the command does with it.
    pub access: Access,
}

/// What is known about the command, when every flag and operand of it is known to be harmless.
pub(crate) fn known_use(words: &[String]) -> Option<KnownUse> {
    let (program, arguments) = words.split_first()?;
    if let [only] = arguments
        && only == "--version"
        && table::VERSIONED.has(program.as_str())
    {
        return Some(KnownUse::default());
    }
    if let [only] = arguments
        && only == "--help"
        && table::HELPFUL.has(program.as_str())
    {
        return Some(KnownUse::default());
    }
    if let Some(proxy) = proxies::asked_for_its_version(program, arguments) {
        return Some(KnownUse { proxy: Some(proxy), ..KnownUse::default() });
    }
    // `echo` prints what it does not know, options too.
    if program == "echo" {
        return Some(KnownUse::default());
    }
    if let Some(known) = special::of(program, arguments).or_else(|| archives::of(program, arguments)) {
        return Some(known);
    }
    table::entry(program)?.read(arguments)
}

/// Programs that a known one starts by their names: gzip 1.12 and grep 3.8, whose other names are scripts; tar 1.34, "Creating
/// and Reading Compressed Archives".
pub(in crate::permission) fn starts(program: &str) -> &'static [&'static str] {
    match program {
        "zcat" | "gunzip" => &["gzip"],
        "tar" => &["gzip", "compress", "bzip2", "lzip", "lzma", "lzop", "xz", "zstd"],
        "egrep" | "fgrep" => &["grep"],
        _ => &[],
    }
}

/// Whether a known command of this program obeys no file in its user's home but protected ones.
pub(in crate::permission) fn reads_no_home(program: &str) -> bool {
    table::READING_NO_HOME.has(program)
}

/// Whether the table speaks of this program at all: then only what it lists is harmless.
pub(crate) fn is_listed(program: &str) -> bool {
    // `env` and the builtins that evaluate are carriers first.
    let carries =
        matches!(program, "env" | "command" | "set" | "test" | "[" | "printf" | "awk" | "gawk" | "mawk");
    !carries && (special::is_listed(program) || table::entry(program).is_some())
}

#[cfg(test)]
mod tests;
