//! Redirections as the person sees them who decides about a command.

use brush_parser::ast::{IoFileRedirectKind as Kind, IoFileRedirectTarget as Target, IoRedirect};

use super::script::quoted;
use super::word;

/// A redirection of a text that is understood: its file, or how much is fed. None for copies of descriptors, which
/// reach nothing outside.
pub(super) fn shown(redirect: &IoRedirect) -> Option<String> {
    let value = |raw: &str| word::literal(raw).map_or_else(|_| quoted(raw), |word| quoted(&word.value));
    let descriptor = |number: &Option<i32>| number.map(|number| number.to_string()).unwrap_or_default();
    match redirect {
        IoRedirect::File(number, kind, Target::Filename(target)) => {
            let operator = match kind {
                Kind::Read => "<",
                Kind::Write => ">",
                Kind::Append => ">>",
                Kind::ReadAndWrite => "<>",
                Kind::Clobber => ">|",
                Kind::DuplicateInput | Kind::DuplicateOutput => return None,
            };
            Some(format!("{}{operator} {}", descriptor(number), value(&target.value)))
        }
        IoRedirect::File(..) => None,
        IoRedirect::OutputAndError(target, append) => {
            Some(format!("{} {}", if *append { "&>>" } else { "&>" }, value(&target.value)))
        }
        IoRedirect::HereString(number, data) => {
            Some(format!("{}<<< {}", descriptor(number), value(&data.value)))
        }
        IoRedirect::HereDocument(number, document) => {
            let lines = document.doc.value.lines().count();
            let lines = if lines == 1 { "1 line".to_owned() } else { format!("{lines} lines") };
            Some(format!("{}<<{} ({lines})", descriptor(number), document.here_end.value))
        }
    }
}
