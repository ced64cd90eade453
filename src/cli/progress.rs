//! Shows that something is still going on: a line on stderr, only to a person, only after a second.

use std::io::{IsTerminal as _, Write as _};
use std::time::Duration;

use crate::domain::visible;

use super::rows::Columns;

/// What happens faster than this needs no line.
const PATIENCE: Duration = Duration::from_secs(1);
/// The line must not wrap: it could not be wiped then.
const LABEL_MAX: usize = 60;

/// Runs the future; while it takes longer than a second, a line says what is waited for.
pub(super) async fn while_waiting<T>(label: &str, future: impl Future<Output = T>) -> T {
    if !std::io::stderr().is_terminal() {
        return future.await;
    }
    let label = visible::clipped(label, LABEL_MAX);
    let mut ticks = tokio::time::interval(PATIENCE);
    ticks.tick().await;
    let mut seconds = 0_u64;
    tokio::pin!(future);
    let output = loop {
        tokio::select! {
            output = &mut future => break output,
            _ = ticks.tick() => {
                seconds += PATIENCE.as_secs();
                let line = Columns::of(&std::io::stderr()).clipped(&format!("{label} … {seconds} s"));
                draw(&format!("\r\u{1b}[K{line}"));
            }
        }
    };
    if seconds > 0 {
        draw("\r\u{1b}[K");
    }
    output
}

fn draw(text: &str) {
    let mut stderr = std::io::stderr();
    let _ = stderr.write_all(text.as_bytes()).and_then(|()| stderr.flush());
}
