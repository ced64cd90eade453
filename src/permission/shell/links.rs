//! Which programs leave what a path means as it is.

use super::super::commands::kind::{self, ProgramKind};

/// Programs that make, change or remove files and directories, but no links, and that move nothing.
const PLAIN: &[&str] =
    &["mkdir", "touch", "rmdir", "rm", "chmod", "echo", "printf", "true", "false", "test", "["];
/// Programs that run code of the workspace and also put links there by themselves. What else runs such code could
/// read whatever a link could lead to, without one.
const CHECKS_OUT: &[&str] = &["git", "gh", "hg", "jj", "svn"];

/// Whether the command makes no symbolic link and moves none.
pub(super) fn makes_none(words: &[String]) -> bool {
    let Some(program) = words.first() else { return true };
    match kind::kind(program) {
        ProgramKind::Interpreter => true,
        ProgramKind::RunsWorkspace => !CHECKS_OUT.contains(&program.rsplit('/').next().unwrap_or(program)),
        _ => PLAIN.contains(&program.as_str()),
    }
}
