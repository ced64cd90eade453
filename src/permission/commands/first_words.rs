//! Where the subcommand of a program may stand, whose options are not known.

use super::programs::has;

/// Options of package managers in front of a subcommand whose value is the next word: pnpm.io/cli, yarnpkg.com/cli,
/// docs.npmjs.com, bun.sh/docs/cli.
const WITH_VALUE: &[(&str, &str)] = &[
    ("pnpm", "--filter -F --filter-prod -C --dir --prefix --workspace-concurrency --reporter --loglevel"),
    ("yarn", "--cwd"),
    ("npm", "--prefix -C -w --workspace --loglevel"),
    ("bun", "--cwd --filter -F"),
];

/// Whether the word behind the option of the program is its value for sure.
pub(in crate::permission) fn is_with_value(program: &str, option: &str) -> bool {
    option.starts_with('-')
        && WITH_VALUE.iter().any(|(name, options)| *name == program && has(&[options], option))
}

/// Places of the words that may be the first operand behind the program's name: an option may have a value or none.
pub(super) fn places<W: AsRef<str>>(words: &[W]) -> Vec<usize> {
    let mut found = Vec::new();
    for at in (1..words.len()).filter(|at| !words[*at].as_ref().starts_with('-')) {
        found.push(at);
        let before = words[at - 1].as_ref();
        if at == 1 || !before.starts_with('-') || before.contains('=') {
            break;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_may_have_values_or_none() {
        for (command, want) in [
            ("p", &[][..]),
            ("p a b", &[1]),
            ("p -x a b c", &[2, 3]),
            ("p --x=y a b", &[2]),
            ("p -x -y a b c", &[3, 4]),
            ("p -x a -y b c d", &[2, 4, 5]),
            ("p a -x b", &[1]),
        ] {
            let words: Vec<String> = command.split(' ').map(str::to_owned).collect();
            assert_eq!(places(&words), want, "{command}");
        }
    }
}
