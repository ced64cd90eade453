//! Whether a command colours what it prints, and the few colours that there are.

use std::io::IsTerminal as _;

use clap::ValueEnum;

/// What `--color` says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(super) enum ColorChoice {
    /// On a terminal, unless NO_COLOR is set or the terminal is a dumb one
    #[default]
    Auto,
    /// Everywhere, into pipes and files too
    Always,
    /// Nowhere
    Never,
}

impl ColorChoice {
    /// The paint for standard output.
    pub(super) fn for_stdout(self) -> Paint {
        let variable = |name| std::env::var_os(name).unwrap_or_default();
        let plain = !variable("NO_COLOR").is_empty() || variable("TERM") == "dumb";
        self.paint(std::io::stdout().is_terminal(), plain)
    }

    /// `plain`: the environment asks for no colours (<https://no-color.org>).
    fn paint(self, on_terminal: bool, plain: bool) -> Paint {
        Paint(match self {
            Self::Auto => on_terminal && !plain,
            Self::Always => true,
            Self::Never => false,
        })
    }
}

/// What a text says, beside its words: colour never says anything alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tone {
    /// It went well, it may run, it was added.
    Good,
    /// It went wrong, it may not run, it was removed.
    Bad,
    /// Someone has to look.
    Attention,
    /// What matters less.
    Quiet,
    /// What matters most.
    Strong,
}

/// Puts colours around texts, or leaves them as they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Paint(bool);

impl Paint {
    /// Whether there are colours.
    pub(super) fn is_on(self) -> bool {
        self.0
    }

    /// The text in its tone. It must be escaped already.
    pub(super) fn tone(self, tone: Tone, text: &str) -> String {
        if !self.0 {
            return text.to_owned();
        }
        let code = match tone {
            Tone::Good => "32",
            Tone::Bad => "31",
            Tone::Attention => "33",
            Tone::Quiet => "2",
            Tone::Strong => "1",
        };
        format!("\u{1b}[{code}m{text}\u{1b}[0m")
    }

    /// A line of a unified diff.
    pub(super) fn diff_line(self, line: &str) -> String {
        match line.as_bytes().first() {
            Some(b'+') => self.tone(Tone::Good, line),
            Some(b'-') => self.tone(Tone::Bad, line),
            Some(b'@') => self.tone(Tone::Quiet, line),
            _ => line.to_owned(),
        }
    }

    /// The status of a call, approval or session, or a verdict.
    pub(super) fn status(self, word: &str, shown: &str) -> String {
        let tone = match word {
            "completed" | "allowed" | "active" | "allow" => Tone::Good,
            "failed" | "denied" | "interrupted" | "deny" => Tone::Bad,
            "pending" | "ask" | "awaiting_approval" | "awaiting_answer" | "awaiting_result" => {
                Tone::Attention
            }
            "ended" | "cancelled" | "expired" | "superseded" => Tone::Quiet,
            _ => return shown.to_owned(),
        };
        self.tone(tone, shown)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn when_there_are_colours() {
        for (choice, on_terminal, plain, on) in [
            (ColorChoice::Auto, true, false, true),
            (ColorChoice::Auto, true, true, false),
            (ColorChoice::Auto, false, false, false),
            (ColorChoice::Always, false, true, true),
            (ColorChoice::Never, true, false, false),
        ] {
            assert_eq!(choice.paint(on_terminal, plain).is_on(), on, "{choice:?} {on_terminal} {plain}");
        }
    }

    #[test]
    fn a_tone_ends_with_its_text() {
        assert_eq!(Paint(true).diff_line("+a"), "\u{1b}[32m+a\u{1b}[0m");
        assert_eq!(Paint(true).diff_line(" a"), " a");
        assert_eq!(Paint(false).status("denied", "denied    "), "denied    ");
    }
}
