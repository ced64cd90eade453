//! Words that mean a path which the text does not tell: by a variable, a substitution, the home of another user.

use super::super::commands::names::Names;
use super::scan::{Role, Segment, is_assignment};

/// Programs and words of the shell that open no file which they are given by name.
static OPEN_NOTHING: Names = Names::of(&[
    "echo printf true false : test [ [[ exit return break continue shift kill wait sleep basename dirname seq expr",
    "export declare local readonly unset let read for in case select esac fi done date trap set",
]);
/// Words of the shell before which a command is still to come.
static BEFORE: Names = Names::of(&["if then elif else while until do ! { time time -p --"]);

/// Whether a word of the segment may be a path and does not tell which.
pub(super) fn has_untold_path(segment: &Segment) -> bool {
    if segment.role() != Role::Runs {
        return segment.words().any(is_untold);
    }
    let mut words = segment.words().skip_while(|word| BEFORE.has(word) || is_assignment(word));
    match words.next() {
        Some(program) if OPEN_NOTHING.has(program) => false,
        Some(_) => words.any(is_untold),
        None => false,
    }
}

fn is_untold(word: &str) -> bool {
    let known = ["$HOME", "${HOME}", "$PWD", "${PWD}"]
        .iter()
        .find_map(|name| word.strip_prefix(name).filter(|rest| rest.is_empty() || rest.starts_with('/')));
    let rest = known.unwrap_or(word);
    let of_another = word.starts_with('~') && word != "~" && !word.starts_with("~/");
    // What `$1` stands for stands elsewhere in the text, whole. (The brace is that of `awk '{print $1}'`.)
    let numbered = rest.strip_prefix('$').map(|name| name.trim_end_matches(['}', ')', ',', ';', '"']));
    let positional =
        numbered.is_some_and(|name| name.len() == 1 && name.starts_with(|c: char| c.is_ascii_digit()));
    let named = |c: char| c.is_ascii_alphanumeric() || "_{(@*!-".contains(c);
    let expands = rest.match_indices('$').any(|(at, _)| rest[at + 1..].starts_with(named));
    of_another || rest.contains('`') || (expands && !positional)
}

#[cfg(test)]
mod tests {
    use super::super::analyse;

    #[test]
    fn a_path_is_told_by_its_own_words_alone() {
        for (text, untold) in [
            ("D=secrets; cat $D/key", true),
            ("cat \"${x:-secrets}\"/key", true),
            ("cat \"${HOME:?}\"/.ssh/id", true),
            ("cat $x'secrets'/key", true),
            ("for f in *; do cat $f; done", true),
            ("if true; then cat \"$f\"; fi", true),
            ("cat ~root/.ssh/id", true),
            ("cat ~+/key", true),
            ("cd ~root && cat .ssh/id", true),
            ("x > $f", true),
            ("cat < \"$f\"; true", true),
            ("set -- secrets; cat $1/key", true),
            ("cat $HOME/a$b", true),
            ("for i in 1 2 3; do echo $i; done", false),
            ("cat $HOME/.netrc; true", false),
            ("cat ~/a; x=1", false),
            ("grep 'a$' f; x=$y", false),
            ("awk '{print $1}' f; x=1", false),
            ("A=$b; export C=$d", false),
            ("cat $1", false),
            ("cat a b", false),
        ] {
            let analysis = analyse(text);
            assert_eq!(analysis.has_untold_paths(), untold, "{text}: {:?}", analysis.segments());
        }
    }
}
