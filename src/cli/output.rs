//! Writes to the terminal: every outside text escaped, a closed pipe ends quietly.

use std::fmt::Write as _;
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::domain::visible;

use super::color::Paint;
use super::error::CliError;
use super::rows::{Columns, Fit, MORE};

/// How often a command that waits for events looks whether anybody still reads.
const READER_CHECK: Duration = Duration::from_secs(1);

/// Where a command's result goes.
pub(super) struct Output {
    writer: Box<dyn Write>,
    is_stdout: bool,
    paint: Paint,
}

impl std::fmt::Debug for Output {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Output").finish_non_exhaustive()
    }
}

impl Output {
    /// The process's standard output.
    pub(super) fn stdout(paint: Paint) -> Self {
        Self { writer: Box::new(io::stdout()), is_stdout: true, paint }
    }

    #[cfg(test)]
    pub(super) fn to(writer: impl Write + 'static) -> Self {
        Self { writer: Box::new(writer), is_stdout: false, paint: Paint::default() }
    }

    /// The colours for what goes here.
    pub(super) fn paint(&self) -> Paint {
        self.paint
    }

    /// How wide it is now.
    pub(super) fn columns(&self) -> Columns {
        if self.is_stdout { Columns::of(&io::stdout()) } else { Columns::default() }
    }

    /// One line; whatever is in it stays on it, or in rows that are marked as going on.
    pub(super) fn line(&mut self, text: &str) -> Result<(), CliError> {
        self.prepared(&format!("{}\n", visible::again(text)))
    }

    /// Text of several lines, as it comes: no line break is added, since the next part may go on with the last of them.
    /// All of it is from outside; no line of this program's stands beneath another of it.
    pub(super) fn text(&mut self, text: &str) -> Result<(), CliError> {
        self.write(&visible::lines_again(text))
    }

    /// Text of several lines among which this program's own stand: on a terminal each is marked.
    pub(super) fn quoted(&mut self, text: &str) -> Result<(), CliError> {
        if !self.columns().are_some() || text.is_empty() {
            return self.text(text);
        }
        let shown = visible::lines_again(text);
        let lines = shown.strip_suffix('\n').unwrap_or(&shown).split('\n');
        let mut marked = String::with_capacity(shown.len() + shown.len() / 8);
        for line in lines {
            let _ = writeln!(marked, "{MORE}{line}");
        }
        self.prepared(&marked)
    }

    /// Lines whose outside parts are escaped already: a second time would fold their own columns. Letters that a terminal
    /// would draw in another order are escaped here.
    pub(super) fn prepared(&mut self, text: &str) -> Result<(), CliError> {
        self.rows(text, MORE)
    }

    /// The same, with this before each row that goes on from the one above.
    pub(super) fn rows(&mut self, text: &str, more: &str) -> Result<(), CliError> {
        self.write(&self.columns().broken(&visible::left_to_right(text), more))
    }

    /// A row of a list, escaped already: its columns, and what it is about.
    pub(super) fn listed(&mut self, head: &str, last: &str, fit: Fit) -> Result<(), CliError> {
        let (head, last) = (visible::left_to_right(head), visible::left_to_right(last));
        self.write(&format!("{}\n", self.columns().listed(&head, &last, fit)))
    }

    /// A document of this program's own, for programs and files above all: with nothing from outside.
    pub(super) fn own(&mut self, text: &str) -> Result<(), CliError> {
        self.write(text)
    }

    /// JSON text on a line of its own, escaped further where a terminal could take it for more
    /// than text. The value stays the same.
    pub(super) fn json(&mut self, json: &str) -> Result<(), CliError> {
        self.write(&format!("{}\n", terminal_safe_json(json)))
    }

    /// Ends once nobody reads any more: a command that has nothing to write would not notice.
    pub(super) async fn reader_is_gone(&self) {
        if !self.is_stdout {
            return std::future::pending().await;
        }
        let mut ticks = tokio::time::interval(READER_CHECK);
        loop {
            ticks.tick().await;
            if is_closed(io::stdout()) {
                return;
            }
        }
    }

    fn write(&mut self, text: &str) -> Result<(), CliError> {
        let written = self.writer.write_all(text.as_bytes()).and_then(|()| self.writer.flush());
        written.map_err(|error| match error.kind() {
            io::ErrorKind::BrokenPipe => CliError::PipeClosed,
            _ => CliError::Output(error),
        })
    }
}

/// Whether the other end of a pipe is closed (poll(2): an error on the writing end).
fn is_closed(file: impl AsFd) -> bool {
    let mut files = [PollFd::new(&file, PollFlags::empty())];
    let ready = poll(&mut files, Some(&Timespec { tv_sec: 0, tv_nsec: 0 }));
    ready.is_ok_and(|ready| ready > 0) && files[0].revents().contains(PollFlags::ERR)
}

/// Tells a person something beside the result. The text must be escaped already; that it cannot
/// be written is nothing to stop for.
pub(super) fn complain(text: &str) {
    let stderr = io::stderr();
    let text = Columns::of(&stderr).broken(&visible::left_to_right(text), MORE);
    let _ = writeln!(&stderr, "{text}");
}

/// The same for text that is not escaped yet; line breaks stay.
pub(super) fn note(text: &str) {
    complain(&visible::lines_again(text));
}

/// Valid JSON on one line. JSON itself escapes only C0 inside strings: DEL, C1 (a terminal's
/// 8-bit CSI is one of them) and bidirectional characters may stand there raw, so they are
/// written as `\u` escapes; blanks between tokens become plain ones.
fn terminal_safe_json(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        if matches!(c, ' '..='~') {
            out.push(c);
        } else if matches!(c, '\n' | '\r' | '\t') {
            out.push(' ');
        } else if visible::is_hidden(c) {
            let mut units = [0_u16; 2];
            for unit in c.encode_utf16(&mut units) {
                let _ = write!(out, "\\u{unit:04x}");
            }
        } else {
            out.push(c);
        }
    }
    out
}

#[cfg(test)]
pub(super) mod capture {
    //! An output whose text a test can read.

    use std::io::{self, Write};
    use std::sync::{Arc, Mutex};

    /// What was written so far.
    #[derive(Debug, Clone, Default)]
    pub(in crate::cli) struct Captured(Arc<Mutex<Vec<u8>>>);

    impl Captured {
        pub(in crate::cli) fn output(&self) -> super::Output {
            super::Output::to(self.clone())
        }

        pub(in crate::cli) fn text(&self) -> String {
            String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
        }
    }

    impl Write for Captured {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::capture::Captured;
    use super::*;

    #[test]
    fn nothing_reaches_the_terminal_raw() {
        let captured = Captured::default();
        let mut output = captured.output();
        output.line("a\u{1b}[2J\rb\n\u{202e}").unwrap();
        output.text("x\ty\n\u{1b}]0;t\u{7}\r").unwrap();
        assert_eq!(captured.text(), "a\\u{1b}[2J\\rb\\n\\u{202e}\nx\ty\n\\u{1b}]0;t\\u{7}\\r");
    }

    #[test]
    fn rows_are_drawn_in_the_order_that_they_have() {
        let captured = Captured::default();
        let mut output = captured.output();
        output.line("mv א ב").unwrap();
        output.listed("א ", "ב", Fit::Clip).unwrap();
        output.text("א\n").unwrap();
        assert_eq!(captured.text(), "mv \\u{5d0} \\u{5d1}\n\\u{5d0} \\u{5d1}\nא\n");
    }

    #[test]
    fn json_stays_the_same_value_and_shows_nothing_raw() {
        let value = serde_json::json!({"a": "\u{1b}\u{9b}31m\u{7f}\u{202e}\u{e0001}é漢\r\n", "b": [1, 2.5]});
        let text = serde_json::to_string_pretty(&value).unwrap();
        let safe = terminal_safe_json(&text);
        assert_eq!(serde_json::from_str::<serde_json::Value>(&safe).unwrap(), value);
        assert!(!safe.chars().any(char::is_control), "{safe}");
        assert!(safe.contains("\\u009b") && safe.contains("\\u202e") && safe.contains("é漢"), "{safe}");
        assert!(safe.contains("\\udb40\\udc01"), "{safe}");
    }

    #[test]
    fn a_closed_pipe_is_noticed_without_writing() {
        let (reader, writer) = io::pipe().unwrap();
        assert!(!is_closed(&writer));
        drop(reader);
        assert!(is_closed(&writer));
    }

    #[test]
    fn a_closed_pipe_is_not_an_error_to_show() {
        struct Closed;
        impl Write for Closed {
            fn write(&mut self, _: &[u8]) -> io::Result<usize> {
                Err(io::ErrorKind::BrokenPipe.into())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        assert!(matches!(Output::to(Closed).line("x"), Err(CliError::PipeClosed)));
    }
}
