//! What is in force: config, compiled rules and known tokens as one value that is swapped as a whole.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use tokio::sync::watch;

use super::policy::Policy;
use crate::config::{Config, ConfigError, KnownToken};
use crate::domain::clock::Timestamp;
use crate::domain::digest::Digest;

/// One revision of what is in force. It never changes: a change is another revision, so whoever
/// holds one sees config, rules and tokens that belong together.
#[derive(Debug)]
pub struct Revision {
    /// Counts from 1 since the server started.
    pub number: u64,
    /// When it was put in force.
    pub loaded_at: Timestamp,
    /// The file that it was read from, as it was named; none where there is no file.
    pub source: Option<PathBuf>,
    /// The config in force. Keys that wait for a restart have their old values here.
    pub config: Arc<Config>,
    /// The rules of this config, compiled.
    pub policy: Arc<Policy>,
    /// Whoever may call: the server's own tokens and those of this config.
    pub tokens: Arc<[KnownToken]>,
    /// Keys that the file has changed, but that need a restart to take effect.
    pub restart_needed: Vec<String>,
    /// The digest of the rules, once it was asked for.
    pub rules: OnceLock<Digest>,
}

impl Revision {
    /// The first revision over a config and its rules, read from nowhere: for library users and tests.
    pub fn of(config: Config, policy: Policy) -> Self {
        Self {
            number: 1,
            loaded_at: Timestamp::UNIX_EPOCH,
            source: None,
            config: Arc::new(config),
            policy: Arc::new(policy),
            tokens: Arc::default(),
            restart_needed: Vec::new(),
            rules: OnceLock::new(),
        }
    }

    /// The digest of the config's section `permissions`: equal where the rules are.
    pub fn rules(&self) -> &Digest {
        self.rules.get_or_init(|| {
            let text = serde_json::to_vec(&self.config.permissions).unwrap_or_default();
            Digest::of(&text)
        })
    }
}

/// Why what is in the file is not in force.
#[derive(Debug, Clone)]
pub struct Problem {
    /// What is wrong, with file, line and key.
    pub error: ConfigError,
    /// When it was found.
    pub since: Timestamp,
}

/// What is in force, and what keeps the file from being so. Cheap to clone.
#[derive(Debug, Clone)]
pub struct ConfigStatus {
    /// The revision in force.
    pub revision: Arc<Revision>,
    /// Why the file is not; none where it is.
    pub problem: Option<Arc<Problem>>,
}

/// The one cell that is swapped. A request or call takes one snapshot of it and stays with that.
#[derive(Debug)]
pub struct InForce(watch::Sender<ConfigStatus>);

impl InForce {
    /// Begins with a revision.
    pub fn new(revision: Revision) -> Self {
        Self(watch::Sender::new(ConfigStatus { revision: Arc::new(revision), problem: None }))
    }

    /// The revision in force now.
    pub fn now(&self) -> Arc<Revision> {
        Arc::clone(&self.0.borrow().revision)
    }

    /// The same, with what is wrong with the file.
    pub fn status(&self) -> ConfigStatus {
        self.0.borrow().clone()
    }

    /// Hears of each later change, or of the last of several.
    pub fn follow(&self) -> watch::Receiver<ConfigStatus> {
        self.0.subscribe()
    }

    /// Puts another revision in force, for everyone who takes a snapshot from now on.
    pub fn replace(&self, revision: Arc<Revision>) {
        self.0.send_replace(ConfigStatus { revision, problem: None });
    }

    /// Says what is wrong with the file, or that nothing is any more; the revision stays.
    pub fn complain(&self, problem: Option<Arc<Problem>>) {
        self.0.send_modify(|status| status.problem = problem);
    }
}
