//! Puts each letter where it belongs, whatever a terminal thinks of the width of the one before it.
//!
//! Terminals and this program count the columns of some signs by different versions of Unicode. Where a row just goes on
//! behind such a sign, all that follows is shifted, its end is lost, and letters that stood there before stay.

use ratatui::backend::{Backend, ClearType, WindowSize};
use ratatui::buffer::{Buffer, Cell, CellDiffOption, CellWidth as _};
use ratatui::layout::{Position, Size};

/// A backend that says where what follows such a sign begins.
#[derive(Debug)]
pub(super) struct Exact<B>(pub(super) B);

/// Has rows with such signs drawn whole: a sign may have covered what stands beside it.
pub(super) fn redraw(buffer: &mut Buffer) {
    let width = usize::from(buffer.area.width).max(1);
    for row in buffer.content.chunks_mut(width) {
        if row.iter().any(|cell| !is_plain(cell)) {
            for cell in row {
                cell.set_diff_option(CellDiffOption::AlwaysUpdate);
            }
        }
    }
}

/// Whether all agree on its width: ASCII, and what frames are drawn with.
fn is_plain(cell: &Cell) -> bool {
    cell.symbol().chars().all(|c| c.is_ascii() || matches!(c, '\u{2500}'..='\u{257f}'))
}

impl<B: Backend> Backend for Exact<B> {
    type Error = B::Error;

    fn draw<'a, I>(&mut self, content: I) -> Result<(), Self::Error>
    where
        I: Iterator<Item = (u16, u16, &'a Cell)>,
    {
        let blank = Cell::new(" ");
        // Each call of the backend begins by saying where.
        let mut run = Vec::new();
        for (x, y, cell) in content {
            if is_plain(cell) {
                run.push((x, y, cell));
                continue;
            }
            // What it may leave of its columns is blank.
            run.extend((0..cell.symbol().cell_width()).map(|more| (x.saturating_add(more), y, &blank)));
            self.0.draw(run.drain(..))?;
            self.0.draw(std::iter::once((x, y, cell)))?;
        }
        self.0.draw(run.into_iter())
    }

    fn hide_cursor(&mut self) -> Result<(), Self::Error> {
        self.0.hide_cursor()
    }

    fn show_cursor(&mut self) -> Result<(), Self::Error> {
        self.0.show_cursor()
    }

    fn get_cursor_position(&mut self) -> Result<Position, Self::Error> {
        self.0.get_cursor_position()
    }

    fn set_cursor_position<P: Into<Position>>(&mut self, position: P) -> Result<(), Self::Error> {
        self.0.set_cursor_position(position)
    }

    fn clear(&mut self) -> Result<(), Self::Error> {
        self.0.clear()
    }

    fn clear_region(&mut self, kind: ClearType) -> Result<(), Self::Error> {
        self.0.clear_region(kind)
    }

    fn size(&self) -> Result<Size, Self::Error> {
        self.0.size()
    }

    fn window_size(&mut self) -> Result<WindowSize, Self::Error> {
        self.0.window_size()
    }

    fn flush(&mut self) -> Result<(), Self::Error> {
        self.0.flush()
    }
}

#[cfg(test)]
mod tests {
    use ratatui::Terminal;
    use ratatui::backend::CrosstermBackend;
    use ratatui::layout::Rect;
    use ratatui::{TerminalOptions, Viewport};

    use super::*;

    #[test]
    fn behind_a_sign_it_is_said_where_the_next_one_stands() {
        let mut sent = Vec::new();
        let options = TerminalOptions { viewport: Viewport::Fixed(Rect::new(0, 0, 8, 1)) };
        let backend = Exact(CrosstermBackend::new(&mut sent));
        let mut terminal = Terminal::with_options(backend, options).unwrap();
        for text in ["abX", "a漢X", "a漢Y"] {
            let draw = |frame: &mut ratatui::Frame<'_>| {
                frame.buffer_mut().set_string(0, 0, text, ratatui::style::Style::new());
                redraw(frame.buffer_mut());
            };
            terminal.draw(draw).unwrap();
        }
        drop(terminal);
        let sent = String::from_utf8(sent).unwrap();
        // Both of its columns are blank before it comes, and what follows has a place of its own.
        let plain: String = sent.split("\u{1b}[39m\u{1b}[49m\u{1b}[59m\u{1b}[0m").collect();
        assert!(plain.contains("\u{1b}[1;1Ha  \u{1b}[1;2H漢\u{1b}[1;4HX"), "{plain:?}");
        assert!(plain.contains("\u{1b}[1;2H漢\u{1b}[1;4HY    "), "{plain:?}");
    }
}
