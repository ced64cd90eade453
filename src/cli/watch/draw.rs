//! Draws a view on a terminal of any size, and says what of it was really to be seen.

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Clear, Paragraph};

use crate::cli::color::Tone;

use super::card::Stand;
use super::pending::{MORE_OF_MORE, NAME_MAX, Row, RowKind};
use super::state::Drawn;
use super::view::{ApprovalView, CallLine, HELP, OutputView, View};
use super::wrap::wrap;

/// Columns of the names beside an approval's rows.
const NAME_WIDTH: usize = NAME_MAX + 1;
/// Fewer rows than this show too little of an approval to decide on it.
const APPROVAL_ROWS_MIN: u16 = 3;
/// Fewer columns of text, too, or the title does not say how many a key decides (` waits for you: 1 of 4 · ALL 3 the same `).
const APPROVAL_COLUMNS_MIN: usize = 32;

/// Draws; keeps what is dear to compute.
#[derive(Debug)]
pub(super) struct Painter {
    colors: bool,
    wrapped: Option<Wrapped>,
}

/// The rows of an approval, broken for a width.
#[derive(Debug)]
struct Wrapped {
    generation: u64,
    width: usize,
    pieces: Vec<Piece>,
}

/// A part of a row.
#[derive(Debug, Clone)]
struct Piece {
    row: usize,
    begins: bool,
    text: String,
}

impl Painter {
    /// With or without colours.
    pub(super) fn new(colors: bool) -> Self {
        Self { colors, wrapped: None }
    }

    /// Draws the view.
    pub(super) fn draw(&mut self, frame: &mut Frame<'_>, view: &View<'_>) -> Drawn {
        let bottom = u16::try_from(view.bottom.len()).unwrap_or(1);
        let approval = self.approval_height(frame.area(), view);
        let calls = calls_height(frame.area().height, approval, view);
        let areas = Layout::vertical([
            Constraint::Length(1),
            Constraint::Length(approval),
            Constraint::Length(calls),
            Constraint::Fill(1),
            Constraint::Length(bottom),
        ])
        .split(frame.area());
        let mut drawn = Drawn { page: usize::from(areas[3].height.saturating_sub(2)), ..Drawn::default() };
        frame.render_widget(self.header(&view.header), areas[0]);
        if let Some(approval) = &view.approval {
            self.approval(frame, areas[1], approval, &mut drawn);
        }
        self.calls(frame, areas[2], &view.calls);
        match &view.output {
            Some(output) => self.output(frame, areas[3], output),
            None => frame.render_widget(Line::styled("no calls yet", self.tone(Tone::Quiet)), areas[3]),
        }
        let lines: Vec<Line<'_>> =
            view.bottom.iter().map(|(tone, text)| Line::styled(text.as_str(), self.tone(*tone))).collect();
        frame.render_widget(Paragraph::new(lines), areas[4]);
        if view.help {
            self.help(frame);
            drawn.approval = None;
        }
        drawn
    }

    /// What decides comes first: it gets what it needs, up to most of the screen.
    fn approval_height(&mut self, screen: Rect, view: &View<'_>) -> u16 {
        let Some(approval) = &view.approval else { return 0 };
        let rows = self.wrapped(approval, rows_width(screen.width.saturating_sub(2))).len();
        let needed = u16::try_from(rows).unwrap_or(u16::MAX).saturating_add(2);
        let most = if screen.height < 20 { screen.height.saturating_sub(3) } else { screen.height * 3 / 5 };
        needed.min(most)
    }

    fn header(&self, parts: &[(Tone, String)]) -> Line<'static> {
        let mut spans = Vec::new();
        for (index, (tone, text)) in parts.iter().enumerate() {
            if index > 0 {
                spans.push(Span::raw("  "));
            }
            spans.push(Span::styled(text.clone(), self.tone(*tone)));
        }
        Line::from(spans)
    }

    fn approval(
        &mut self,
        frame: &mut Frame<'_>,
        area: Rect,
        approval: &ApprovalView<'_>,
        drawn: &mut Drawn,
    ) {
        let keys = self.tone(if approval.ready { Tone::Strong } else { Tone::Quiet });
        let block = Block::bordered()
            .border_style(self.tone(Tone::Attention))
            .title(Line::styled(format!(" waits for you: {} ", approval.title), self.tone(Tone::Strong)))
            .title_bottom(Line::styled(format!(" {} ", approval.keys), keys));
        let inner = block.inner(area);
        frame.render_widget(block, area);
        let width = rows_width(inner.width);
        let wrapped = self.wrapped(approval, width);
        let (height, total) = (usize::from(inner.height), wrapped.len());
        drawn.scroll_max = total.saturating_sub(height);
        drawn.page = height;
        let first = approval.scroll.min(drawn.scroll_max);
        let pieces: Vec<Piece> = wrapped.iter().skip(first).take(height).cloned().collect();
        let lines = pieces.into_iter().map(|Piece { row, begins, text }| {
            let row = &approval.rows[row];
            let name = if begins { row.name.as_str() } else { MORE_OF_MORE };
            let name = Span::styled(format!("{name:<NAME_WIDTH$}"), self.tone(Tone::Quiet));
            Line::from(vec![name, Span::styled(text, self.row(row.kind))])
        });
        frame.render_widget(Paragraph::new(lines.collect::<Vec<_>>()), inner);
        // What is not there to be read does not count as shown.
        if inner.height >= APPROVAL_ROWS_MIN.min(u16::try_from(total).unwrap_or(u16::MAX))
            && width >= APPROVAL_COLUMNS_MIN
        {
            drawn.approval = Some((approval.generation, first + height >= total));
        }
    }

    fn wrapped(&mut self, approval: &ApprovalView<'_>, width: usize) -> &[Piece] {
        let generation = approval.generation;
        let fits = |made: &Wrapped| made.generation == generation && made.width == width;
        let made = self.wrapped.take().filter(fits);
        let made =
            made.unwrap_or_else(|| Wrapped { generation, width, pieces: pieces(approval.rows, width) });
        &self.wrapped.insert(made).pieces
    }

    fn calls(&self, frame: &mut Frame<'_>, area: Rect, calls: &[CallLine]) {
        let block = Block::bordered().border_style(self.tone(Tone::Quiet)).title(" calls ");
        let inner = block.inner(area);
        frame.render_widget(block, area);
        let height = usize::from(inner.height);
        let selected = calls.iter().position(|call| call.selected).unwrap_or(0);
        let first = (selected + 1).saturating_sub(height.max(1));
        let lines = calls.iter().skip(first).take(height).map(|call| self.call(call));
        frame.render_widget(Paragraph::new(lines.collect::<Vec<_>>()), inner);
    }

    fn call<'a>(&self, call: &'a CallLine) -> Line<'a> {
        let tone = match call.stand {
            Stand::Running => Tone::Strong,
            Stand::Approval | Stand::Answer => Tone::Attention,
            Stand::Done => Tone::Good,
            Stand::Failed | Stand::Denied | Stand::Interrupted => Tone::Bad,
            Stand::Background | Stand::Cancelled => Tone::Quiet,
        };
        Line::from(vec![
            Span::raw(if call.selected { "> " } else { "  " }),
            Span::styled(format!("{:<11}", call.stand.word()), self.tone(tone)),
            Span::raw(format!("{:>7}  ", call.elapsed)),
            Span::raw(call.name.as_str()),
            Span::raw("  "),
            Span::styled(call.summary.as_str(), self.tone(Tone::Quiet)),
        ])
    }

    fn output(&self, frame: &mut Frame<'_>, area: Rect, output: &OutputView<'_>) {
        let block =
            Block::bordered().border_style(self.tone(Tone::Quiet)).title(format!(" {} ", output.title));
        let inner = block.inner(area);
        frame.render_widget(block, area);
        let height = usize::from(inner.height);
        let lines = output.card.output(height, output.back);
        let rows: Vec<&str> = lines.iter().flat_map(|line| wrap(line, usize::from(inner.width))).collect();
        let last = rows[rows.len().saturating_sub(height)..].iter().map(|row| Line::raw(*row));
        frame.render_widget(Paragraph::new(last.collect::<Vec<_>>()), inner);
    }

    fn help(&self, frame: &mut Frame<'_>) {
        let area = frame.area();
        let height = u16::try_from(HELP.len() + 2).unwrap_or(12).min(area.height);
        let width = 90.min(area.width);
        let area = Rect {
            x: area.x + (area.width - width) / 2,
            y: area.y + (area.height - height) / 2,
            width,
            height,
        };
        frame.render_widget(Clear, area);
        let lines: Vec<Line<'_>> = HELP.iter().map(|line| Line::raw(*line)).collect();
        let block = Block::bordered().border_style(self.tone(Tone::Strong)).title(" keys ");
        frame.render_widget(Paragraph::new(lines).block(block), area);
    }

    fn row(&self, kind: RowKind) -> Style {
        match kind {
            RowKind::Content => self.tone(Tone::Strong),
            RowKind::Fact => Style::new(),
            RowKind::Added => self.tone(Tone::Good),
            RowKind::Removed => self.tone(Tone::Bad),
            RowKind::Hunk => self.tone(Tone::Quiet),
        }
    }

    fn tone(&self, tone: Tone) -> Style {
        if tone == Tone::Strong {
            return Style::new().add_modifier(Modifier::BOLD);
        }
        if !self.colors {
            return Style::new();
        }
        Style::new().fg(match tone {
            Tone::Good => Color::Green,
            Tone::Bad => Color::Red,
            Tone::Attention => Color::Yellow,
            Tone::Quiet | Tone::Strong => Color::DarkGray,
        })
    }
}

/// Columns for the texts of an approval's rows.
fn rows_width(inner: u16) -> usize {
    usize::from(inner).saturating_sub(NAME_WIDTH)
}

fn pieces(rows: &[Row], width: usize) -> Vec<Piece> {
    let pieces = rows.iter().enumerate().flat_map(|(row, shown)| {
        let texts = wrap(&shown.text, width).into_iter().enumerate();
        texts.map(move |(index, text)| Piece { row, begins: index == 0, text: text.to_owned() })
    });
    pieces.collect()
}

fn calls_height(screen: u16, approval: u16, view: &View<'_>) -> u16 {
    let left = screen.saturating_sub(approval + 2);
    let needed = u16::try_from(view.calls.len()).unwrap_or(u16::MAX).saturating_add(2);
    if left < 6 { left } else { needed.min(left * 2 / 5).max(3) }
}

#[cfg(test)]
#[path = "draw_tests.rs"]
mod tests;
