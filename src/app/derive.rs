//! What follows from a config: rules compiled, tokens found, its own places apart; or all that is wrong.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

use crate::config::{self, AuthMode, Config, ConfigError, KnownToken, LoadedConfig};
use crate::domain::schema::ToolSchema;
use crate::executor::BuiltinToolExecutor;
use crate::permission::policy::Policy;
use crate::permission::{self, OwnPlaces};

/// What a config is held against: the same for each config while the server runs.
#[derive(Clone)]
pub(super) struct Surroundings {
    /// The data directory.
    pub(super) data_dir: Option<PathBuf>,
    /// Roots of workspaces, resolved.
    pub(super) roots: Vec<PathBuf>,
    /// The server's own tokens.
    pub(super) own_tokens: Vec<KnownToken>,
    /// Where tokens may be kept.
    pub(super) environment: Arc<[(OsString, OsString)]>,
}

/// What follows from a config.
pub(super) struct Derived {
    /// Its rules.
    pub(super) policy: Policy,
    /// Everyone who may call.
    pub(super) tokens: Vec<KnownToken>,
}

impl Surroundings {
    /// Derives all of it, or says all that is wrong.
    pub(super) fn derive(&self, loaded: &LoadedConfig) -> Result<Derived, ConfigError> {
        let mut problems = Vec::new();
        let policy = self.policy(loaded).map_err(|found| problems.extend(found));
        let tokens = self.tokens(loaded, &loaded.config).map_err(|found| problems.extend(found));
        match (policy, tokens) {
            (Ok(policy), Ok(tokens)) if problems.is_empty() => Ok(Derived { policy, tokens }),
            _ => Err(loaded.invalid(problems)),
        }
    }

    fn policy(&self, loaded: &LoadedConfig) -> Result<Policy, Vec<config::ConfigProblem>> {
        let files = loaded.path.iter().chain(loaded.config.secret_files());
        let real = |path: &PathBuf| path.canonicalize().unwrap_or_else(|_| path.clone());
        let own_paths = self.data_dir.iter().cloned().chain(files.map(real)).collect();
        let own = OwnPlaces { own_paths, roots: self.roots.clone() };
        let tools = BuiltinToolExecutor::tool_schemas();
        let names: Vec<&str> = tools.iter().map(ToolSchema::name).collect();
        permission::compile(&loaded.config.permissions, &own, &names).map_err(|problems| {
            problems.into_iter().map(|problem| loaded.problem(&problem.key, problem.message)).collect()
        })
    }

    fn tokens(
        &self,
        loaded: &LoadedConfig,
        config: &Config,
    ) -> Result<Vec<KnownToken>, Vec<config::ConfigProblem>> {
        match config.auth.mode {
            AuthMode::None => Ok(Vec::new()),
            AuthMode::Tokens => config::known_tokens(loaded, &self.own_tokens, &self.environment),
        }
    }
}
