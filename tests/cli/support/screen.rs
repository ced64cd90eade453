//! A model of a terminal's screen: enough for what a full-screen program sends, strict about the rest.

/// What stands where, and what was sent beside text.
#[derive(Debug)]
pub(crate) struct Screen {
    width: usize,
    cells: Vec<Vec<char>>,
    row: usize,
    column: usize,
    /// Sequences that have no business here.
    pub(crate) strange: Vec<String>,
    /// The alternate screen is on.
    pub(crate) alternate: bool,
    /// The cursor is to be seen.
    pub(crate) cursor: bool,
    rest: Vec<u8>,
}

impl Screen {
    pub(crate) fn new(width: usize, height: usize) -> Self {
        Self {
            width,
            cells: vec![vec![' '; width]; height],
            row: 0,
            column: 0,
            strange: Vec::new(),
            alternate: false,
            cursor: true,
            rest: Vec::new(),
        }
    }

    pub(crate) fn resize(&mut self, width: usize, height: usize) {
        self.width = width;
        self.cells.resize(height, Vec::new());
        self.cells.iter_mut().for_each(|line| line.resize(width, ' '));
    }

    pub(crate) fn text(&self) -> String {
        let lines = self.cells.iter().map(|line| line.iter().collect::<String>().trim_end().to_owned());
        lines.collect::<Vec<_>>().join("\n")
    }

    /// Takes what the program sent; what is cut off waits for its rest.
    pub(crate) fn feed(&mut self, bytes: &[u8]) {
        self.rest.extend_from_slice(bytes);
        let valid = match std::str::from_utf8(&self.rest) {
            Ok(text) => text.len(),
            Err(error) => error.valid_up_to(),
        };
        let text = String::from_utf8(self.rest.drain(..valid).collect()).unwrap();
        let mut left = text.as_str();
        while let Some(c) = left.chars().next() {
            let used = if c == '\u{1b}' { self.sequence(left) } else { Some(self.plain(c)) };
            let Some(used) = used else { break };
            left = &left[used..];
        }
        let left = left.as_bytes().to_vec();
        self.rest.splice(..0, left);
    }

    fn plain(&mut self, c: char) -> usize {
        match c {
            '\r' => self.column = 0,
            '\n' => self.row = (self.row + 1).min(self.cells.len() - 1),
            c if c.is_control() || matches!(c, '\u{202e}' | '\u{200b}') => {
                self.strange.push(format!("{c:?}"));
            }
            c => {
                // As terminals do it: not with the last column's character, but with the one after it.
                if self.column >= self.width {
                    (self.row, self.column) = ((self.row + 1).min(self.cells.len() - 1), 0);
                }
                if let Some(cell) = self.cells.get_mut(self.row).and_then(|line| line.get_mut(self.column)) {
                    *cell = c;
                }
                self.column += 1;
            }
        }
        c.len_utf8()
    }

    /// A control sequence at the beginning of the text; none where it is not whole yet.
    fn sequence(&mut self, text: &str) -> Option<usize> {
        let body = match text[1..].chars().next()? {
            '[' => &text[2..],
            other => {
                self.strange.push(format!("ESC {other:?}"));
                return Some(1 + other.len_utf8());
            }
        };
        let end = body.find(|c: char| ('@'..='~').contains(&c))?;
        let (parameters, last) = (&body[..end], &body[end..=end]);
        let number = |index: usize| -> usize {
            parameters.split(';').nth(index).and_then(|text| text.parse().ok()).unwrap_or(1)
        };
        match (parameters, last) {
            (_, "H") => (self.row, self.column) = (number(0) - 1, number(1) - 1),
            ("", "K") => {
                if let Some(line) = self.cells.get_mut(self.row) {
                    line.iter_mut().skip(self.column).for_each(|cell| *cell = ' ');
                }
            }
            ("2", "J") => self.cells.iter_mut().for_each(|line| line.fill(' ')),
            ("?1049", "h") => self.alternate = true,
            ("?1049", "l") => self.alternate = false,
            ("?25", "h") => self.cursor = true,
            ("?25", "l") => self.cursor = false,
            ("?2004", "h" | "l") => {}
            (style, "m") if style.bytes().all(|b| b.is_ascii_digit() || b == b';') => {}
            (_, _) => self.strange.push(format!("CSI {parameters:?} {last}")),
        }
        Some(2 + end + 1)
    }
}
