//! A config file looked at without a server: what it comes to, and all that is wrong with it.

use std::path::PathBuf;

use super::derive::{self, Surroundings};
use super::{ServeOptions, environment, layers};
use crate::config::{self, ConfigError, LoadedConfig};
use crate::domain::event::ConfigFault;

/// What was found.
#[derive(Debug, Default)]
pub struct CheckedConfig {
    /// What is wrong, in the order of lines; none where a server takes the file.
    pub problems: Vec<ConfigFault>,
    /// What is valid, but most likely not meant.
    pub warnings: Vec<String>,
}

/// The config that a server would start with: the file (or what `TOOLGATE_CONFIG` names) under the
/// environment.
pub fn load_config(file: Option<PathBuf>) -> Result<LoadedConfig, ConfigError> {
    let (path, overrides) = sources(file)?;
    config::load(path.as_deref(), &overrides)
}

/// Says all that a server would refuse. Where `secrets` are not to be looked for, neither files nor variables
/// that hold tokens need to be there.
pub fn check_config(file: Option<PathBuf>, secrets: bool) -> CheckedConfig {
    match check(file, secrets) {
        Ok(checked) => checked,
        Err(error) => CheckedConfig { problems: error.faults(), warnings: Vec::new() },
    }
}

fn check(file: Option<PathBuf>, secrets: bool) -> Result<CheckedConfig, ConfigError> {
    let (path, overrides) = sources(file)?;
    let (loaded, mut problems) = config::load_all(path.as_deref(), &overrides)?;
    let environment = environment();
    let home = environment.iter().find(|(name, _)| name == "HOME").map(|(_, home)| PathBuf::from(home));
    let resolved = |path: &PathBuf| path.canonicalize().unwrap_or_else(|_| path.clone());
    let roots: Vec<PathBuf> = loaded.config.workspace_roots.iter().map(resolved).collect();
    let surroundings = Surroundings {
        data_dir: loaded.config.data_dir.clone(),
        needed: roots.iter().cloned().chain(home).collect(),
        roots,
        tools: derive::tool_names(),
        auth_mode: loaded.config.auth.mode,
        own_tokens: Vec::new(),
        environment: secrets.then(|| environment.into()),
    };
    let mut warnings = Vec::new();
    match surroundings.derive(&loaded) {
        Ok(derived) => warnings.extend(derived.policy.warnings().iter().map(|warning| {
            let said = loaded.problem(&warning.source, format!("{}: {}", warning.rule, warning.text));
            loaded.invalid(vec![said]).to_string()
        })),
        Err(ConfigError::Invalid { problems: more, .. }) => problems.extend(more),
        Err(unreadable) => return Err(unreadable),
    }
    problems.sort_by_key(|problem| problem.line);
    Ok(CheckedConfig { problems: loaded.invalid(problems).faults(), warnings })
}

fn sources(file: Option<PathBuf>) -> Result<(Option<PathBuf>, config::Overrides), ConfigError> {
    let options = ServeOptions { config: file.clone(), ..ServeOptions::default() };
    layers(&options, &environment()).map_err(|error| ConfigError::Unreadable {
        path: file.unwrap_or_default(),
        reason: error.to_string(),
    })
}
