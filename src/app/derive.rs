//! What follows from a config: rules compiled, tokens found, its own files apart; or all that is wrong.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::config::reach::way_to;
use crate::config::{self, AuthMode, ConfigError, ConfigProblem, KnownToken, LoadedConfig};
use crate::domain::schema::ToolSchema;
use crate::executor::BuiltinToolExecutor;
use crate::permission::policy::Policy;
use crate::permission::{self, OwnPlaces};
use crate::sandbox;

/// What a config is held against: the same for each config while the server runs.
#[derive(Clone)]
pub(super) struct Surroundings {
    /// The data directory.
    pub(super) data_dir: Option<PathBuf>,
    /// Roots of workspaces, resolved.
    pub(super) roots: Vec<PathBuf>,
    /// Paths that commands need, the roots among them.
    pub(super) needed: Vec<PathBuf>,
    /// The tools that rules may name.
    pub(super) tools: Arc<[String]>,
    /// Whether tokens are asked for, which no reload changes.
    pub(super) auth_mode: AuthMode,
    /// The server's own tokens.
    pub(super) own_tokens: Vec<KnownToken>,
    /// Where tokens may be kept; none where they are not to be looked for.
    pub(super) environment: Option<Arc<[(OsString, OsString)]>>,
}

/// What follows from a config.
#[derive(Debug)]
pub(super) struct Derived {
    /// Its rules.
    pub(super) policy: Arc<Policy>,
    /// Everyone who may call.
    pub(super) tokens: Vec<KnownToken>,
    /// What is hidden for the sake of the server's own files.
    pub(super) covered: Vec<PathBuf>,
}

/// The names of the built-in tools.
pub(super) fn tool_names() -> Arc<[String]> {
    BuiltinToolExecutor::tool_schemas().iter().map(ToolSchema::name).map(str::to_owned).collect()
}

/// The files that a config is read from: its own, and those that hold secrets.
pub(super) fn own_files(loaded: &LoadedConfig) -> Vec<PathBuf> {
    loaded.path.iter().chain(loaded.config.secret_files()).cloned().collect()
}

impl Surroundings {
    /// Derives all of it, or says all that is wrong.
    pub(super) fn derive(&self, loaded: &LoadedConfig) -> Result<Derived, ConfigError> {
        let mut problems = self.misplaced(loaded);
        let covered = sandbox::cover(&own_files(loaded), &self.needed);
        let policy = self.policy(loaded, &covered).map_err(|found| problems.extend(found));
        let tokens = self.tokens(loaded).map_err(|found| problems.extend(found));
        match (policy, tokens) {
            (Ok(policy), Ok(tokens)) if problems.is_empty() => {
                Ok(Derived { policy: Arc::new(policy), tokens, covered })
            }
            _ => Err(loaded.invalid(problems)),
        }
    }

    fn policy(&self, loaded: &LoadedConfig, covered: &[PathBuf]) -> Result<Policy, Vec<ConfigProblem>> {
        let own_paths = self.data_dir.iter().chain(covered).cloned().collect();
        let own = OwnPlaces { own_paths, roots: self.roots.clone() };
        let names: Vec<&str> = self.tools.iter().map(String::as_str).collect();
        permission::compile(&loaded.config.permissions, &own, &names).map_err(|problems| {
            problems.into_iter().map(|problem| loaded.problem(&problem.key, problem.message)).collect()
        })
    }

    fn tokens(&self, loaded: &LoadedConfig) -> Result<Vec<KnownToken>, Vec<ConfigProblem>> {
        match (&self.environment, self.auth_mode) {
            (Some(environment), AuthMode::Tokens) => {
                config::known_tokens(loaded, &self.own_tokens, environment)
            }
            _ => Ok(Vec::new()),
        }
    }

    /// Own files where an agent could put others in their place, or that the floor could not hide.
    fn misplaced(&self, loaded: &LoadedConfig) -> Vec<ConfigProblem> {
        let tokens = loaded.config.auth.tokens.iter().enumerate().filter_map(|(index, token)| {
            token.file.as_deref().map(|file| (format!("auth.tokens[{index}].file"), file))
        });
        let proxy = loaded.config.network.proxy.as_ref().and_then(|proxy| proxy.password_file.as_deref());
        let proxy = proxy.map(|file| ("network.proxy.password_file".to_owned(), file));
        let host = loaded.config.approvals.forward_to.iter().flat_map(|host| {
            let files = [("token_file", &host.token_file), ("ca_file", &host.ca_file)];
            files.into_iter().filter_map(|(name, file)| {
                file.as_deref().map(|file| (format!("approvals.forward_to.{name}"), file))
            })
        });
        let own = loaded.path.as_deref().map(|file| (String::new(), file));
        let own = own.into_iter().chain(tokens).chain(proxy).chain(host);
        own.filter_map(|(key, file)| self.why_misplaced(file).map(|why| loaded.problem(&key, why))).collect()
    }

    fn why_misplaced(&self, file: &Path) -> Option<String> {
        let shown = file.display();
        if !file.is_absolute() {
            return Some(format!("{shown} is relative: give the whole path"));
        }
        let hops = way_to(file);
        if let Some(root) = self.roots.iter().find(|root| hops.iter().any(|hop| hop.path().starts_with(root)))
        {
            return Some(format!(
                "the way to {shown} leads through the workspace root {}, where agents write: keep them apart",
                root.display()
            ));
        }
        let real = hops.last().map(config::reach::Hop::path).unwrap_or_default();
        let system = ["/dev", "/proc", "/sys"].iter().find(|system| real.starts_with(system));
        system.map(|system| format!("{shown} lies beneath {system}, which cannot be hidden from commands"))
    }
}
