//! Tables: of data as rows between bars, of layout as the blocks that they hold.

use super::{Block, Markdown, is_block};

/// The most columns of a table; further cells join the last one.
const COLUMNS_MAX: usize = 64;

/// An open table.
#[derive(Default)]
pub(super) struct Table {
    /// It has header cells, and so is one of data, not of layout.
    data: bool,
    rows: usize,
    cells: Vec<String>,
    cell_open: bool,
    /// Tables inside the open cell.
    nested: usize,
}

impl Markdown {
    fn table(&mut self) -> Option<&mut Table> {
        self.blocks.iter_mut().rev().find_map(|block| match block {
            Block::Table(table) => Some(table),
            _ => None,
        })
    }

    /// Whether a cell of data is open: then all is one line.
    pub(super) fn in_cell(&self) -> bool {
        matches!(self.blocks.iter().rev().find(|block| matches!(block, Block::Table(_))),
            Some(Block::Table(table)) if table.cell_open)
    }

    /// What a start tag means in a cell of data; `false` for what means the same everywhere.
    pub(super) fn start_in_cell(&mut self, name: &str) -> bool {
        match name {
            "table" => {
                if let Some(table) = self.table() {
                    table.nested += 1;
                }
            }
            "tr" | "td" | "th" | "thead" if self.table().is_some_and(|table| table.nested == 0) => {
                return false;
            }
            "pre" | "br" | "hr" | "tr" | "td" | "th" | "thead" => {}
            _ if is_block(name) => {}
            _ => return false,
        }
        self.space();
        true
    }

    pub(super) fn start_in_table(&mut self, name: &str) {
        self.end_cell();
        match name {
            "thead" => {
                if let Some(table) = self.table() {
                    table.data = true;
                }
            }
            "tr" => self.end_row(),
            _ => {
                let written = !self.line.trim().is_empty();
                let Some(table) = self.table() else { return };
                table.data |= name == "th" && !written;
                if table.data && !written {
                    table.cell_open = true;
                    self.line.clear();
                } else if written {
                    self.line.truncate(self.line.trim_end().len());
                    self.line.push_str(" | ");
                }
            }
        }
    }

    pub(super) fn end_in_table(&mut self, name: &str) {
        if let Some(table) = self.table()
            && table.nested > 0
        {
            if name == "table" {
                table.nested -= 1;
            }
            self.space();
            return;
        }
        match name {
            "td" | "th" => self.end_cell(),
            "tr" => self.end_row(),
            _ => {
                self.end_row();
                self.flush();
                if let Some(at) = self.blocks.iter().rposition(|block| matches!(block, Block::Table(_))) {
                    self.blocks.truncate(at);
                    self.blank = true;
                }
            }
        }
    }

    fn end_cell(&mut self) {
        if !self.in_cell() {
            return;
        }
        for mut mark in std::mem::take(&mut self.marks).into_iter().rev() {
            super::mark::put(&mut self.line, &mut mark);
        }
        let cell = std::mem::take(&mut self.line).trim().replace('\n', " ").replace('|', "\\|");
        let Some(table) = self.table() else { return };
        table.cell_open = false;
        if table.cells.len() < COLUMNS_MAX {
            table.cells.push(cell);
        } else if let Some(last) = table.cells.last_mut() {
            last.push(' ');
            last.push_str(&cell);
        }
    }

    /// Writes the row: of data between bars, with a line under the first one; of a layout as it is.
    fn end_row(&mut self) {
        self.end_cell();
        let Some(table) = self.table() else { return };
        let cells = std::mem::take(&mut table.cells);
        let later = table.rows > 0;
        if cells.iter().all(String::is_empty) {
            // Only a row that has written something makes the next one a later row.
            if !self.line.trim().is_empty() {
                self.blank &= !later;
                if let Some(table) = self.table() {
                    table.rows += 1;
                }
                self.flush();
            }
            return;
        }
        table.rows += 1;
        let first_of_data = !later;
        self.blank &= !later;
        self.write(&format!("| {} |", cells.join(" | ")));
        if first_of_data {
            self.blank = false;
            self.write(&format!("|{}", "---|".repeat(cells.len())));
        }
    }
}
