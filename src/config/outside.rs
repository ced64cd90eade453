//! JSON files of other programs: read as strictly as our own, with the place of whatever is wrong.

use std::path::Path;

use jsonc_parser::{CollectOptions, parse_to_ast};
use serde_json::Value;

use super::{file, source};

/// The largest file that is read, in bytes.
const FILE_MAX: u64 = 4 * 1024 * 1024;

/// A file's content, where each key knows its line.
#[derive(Debug, Clone, PartialEq)]
pub struct OutsideFile {
    /// The text.
    pub text: String,
    /// The value.
    pub value: Value,
}

/// Why a file gives no value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OutsideError {
    /// It cannot be read.
    #[error("cannot be read: {0}")]
    Unreadable(String),
    /// It is no JSON (comments and a comma at the end are no error), or has a key twice.
    #[error("{}{message}", place(*line, *column))]
    Broken {
        /// From 1.
        line: Option<usize>,
        /// From 1, in characters.
        column: Option<usize>,
        /// What is wrong.
        message: String,
    },
}

fn place(line: Option<usize>, column: Option<usize>) -> String {
    [line, column].into_iter().flatten().fold(String::new(), |place, number| format!("{place}{number}:"))
        + if line.is_some() { " " } else { "" }
}

impl OutsideFile {
    /// Reads a file.
    pub fn read(path: &Path) -> Result<Self, OutsideError> {
        Self::parse(file::read(path, FILE_MAX).map_err(OutsideError::Unreadable)?)
    }

    /// Reads a text.
    pub fn parse(text: String) -> Result<Self, OutsideError> {
        match source::parse(&text) {
            Ok(value) => Ok(Self { text, value }),
            Err(problem) => {
                let broken = parse_to_ast(&text, &CollectOptions::default(), &source::options()).err();
                let message = match problem.key.as_str() {
                    "" => problem.message,
                    key => format!("{key}: {}", problem.message),
                };
                let column = broken.map(|error| error.column_display());
                Err(OutsideError::Broken { line: problem.line, column, message })
            }
        }
    }

    /// The line of a key such as `permissions.deny[2]`, from 1.
    pub fn line(&self, key: &str) -> Option<usize> {
        source::locate(&self.text, key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_is_told_with_line_and_column() {
        for (text, place) in [
            ("{\n  \"a\": [1,,]\n}", "2:11: "),
            ("{\n  \"a\": 1\n  \"b\": 2\n}", "2:9: "),
            ("{\"a\": ", "1:"),
            ("{\n\"a\": 1,\n\"a\": 2}", "3: a: this key is there twice"),
        ] {
            let error = OutsideFile::parse(text.to_owned()).unwrap_err().to_string();
            assert!(error.starts_with(place), "{text:?}: {error}");
        }
        let read = OutsideFile::parse("{ // why\n \"a\": [1,\n 2,] }".to_owned()).unwrap();
        assert_eq!((read.line("a[1]"), read.value["a"][1].as_u64()), (Some(3), Some(2)));
    }
}
