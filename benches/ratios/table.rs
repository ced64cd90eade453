//! What a suite measured, and the table that all of it is printed as.

/// One pair: what Toolgate took, and what it is held against.
pub(crate) struct Row {
    /// What was measured.
    pub(crate) what: String,
    /// Toolgate's figure, with its unit.
    pub(crate) ours: String,
    /// What it is held against, with its unit.
    pub(crate) against: String,
    /// Ours by theirs.
    pub(crate) ratio: Option<f64>,
    /// What it ought to be.
    pub(crate) aim: &'static str,
}

impl Row {
    /// Durations of one thing, in seconds; lower is better.
    pub(crate) fn durations(
        what: impl Into<String>,
        ours: f64,
        against: (&str, f64),
        aim: &'static str,
    ) -> Self {
        let (name, theirs) = against;
        Self {
            what: what.into(),
            ours: duration(ours),
            against: format!("{name}: {}", duration(theirs)),
            ratio: Some(ours / theirs),
            aim,
        }
    }

    /// Things a second; higher is better.
    pub(crate) fn rates(what: impl Into<String>, ours: f64, against: (&str, f64), aim: &'static str) -> Self {
        let (name, theirs) = against;
        Self {
            what: what.into(),
            ours: format!("{ours:.0}/s"),
            against: format!("{name}: {theirs:.0}/s"),
            ratio: Some(ours / theirs),
            aim,
        }
    }

    /// A figure that is held against nothing.
    pub(crate) fn fact(what: impl Into<String>, ours: impl Into<String>, aim: &'static str) -> Self {
        Self { what: what.into(), ours: ours.into(), against: "–".to_owned(), ratio: None, aim }
    }
}

/// Prints a row at once, so that one who waits sees how far it is.
pub(crate) fn print(row: &Row) {
    let ratio = row.ratio.map_or_else(|| "–".to_owned(), |ratio| format!("{ratio:.2}"));
    println!("| {} | {} | {} | {ratio} | {} |", row.what, row.ours, row.against, row.aim);
}

/// The head of the table.
pub(crate) fn head() {
    println!("| what | Toolgate | against | ratio | aim |\n|---|---|---|---|---|");
}

/// Seconds, for people.
pub(crate) fn duration(seconds: f64) -> String {
    match seconds {
        seconds if seconds < 1e-3 => format!("{:.0} µs", seconds * 1e6),
        seconds if seconds < 1.0 => format!("{:.2} ms", seconds * 1e3),
        seconds => format!("{seconds:.2} s"),
    }
}

/// The middle one.
pub(crate) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
