//! What is wrong with a config: file, line, key and words, without the values of keys.

use std::fmt;
use std::path::{Path, PathBuf};

use crate::domain::event::ConfigFault;

/// What is wrong with one key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigProblem {
    /// The line in the file, from 1, where the key is in the file.
    pub line: Option<usize>,
    /// The key, such as `permissions.deny[2]`; empty for the text as a whole.
    pub key: String,
    /// What is wrong and what would be right.
    pub message: String,
}

/// Why a config cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// The file cannot be read.
    #[error("the config file {} cannot be read: {reason}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// Keys are wrong.
    #[error("{}", Problems(path.as_deref(), problems))]
    Invalid {
        /// The file.
        path: Option<PathBuf>,
        /// What is wrong, at least one.
        problems: Vec<ConfigProblem>,
    },
}

struct Problems<'a>(Option<&'a Path>, &'a [ConfigProblem]);

impl fmt::Display for Problems<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.1.iter().enumerate() {
            if index > 0 {
                f.write_str("\n")?;
            }
            fault(self.0, problem).fmt(f)?;
        }
        Ok(())
    }
}

fn fault(path: Option<&Path>, problem: &ConfigProblem) -> ConfigFault {
    ConfigFault {
        file: path.map(|path| path.display().to_string()),
        line: problem.line.and_then(|line| u64::try_from(line).ok()),
        key: problem.key.clone(),
        message: problem.message.clone(),
    }
}

impl ConfigError {
    /// Each fault by itself, as events and answers say it.
    pub fn faults(&self) -> Vec<ConfigFault> {
        match self {
            Self::Unreadable { path, reason } => vec![ConfigFault {
                file: Some(path.display().to_string()),
                line: None,
                key: String::new(),
                message: format!("the file cannot be read: {reason}"),
            }],
            Self::Invalid { path, problems } => {
                problems.iter().map(|problem| fault(path.as_deref(), problem)).collect()
            }
        }
    }
}
