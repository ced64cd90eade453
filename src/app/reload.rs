//! Keeps what is in force as the files say: watches them, loads them again, and swaps all of it at once.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio::signal::unix::Signal;
use tokio::sync::mpsc;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::derive::{Derived, Surroundings, own_files};
use crate::config::{
    self, Config, ConfigError, FileWatch, KnownToken, LoadedConfig, Overrides, ReloadRequest, Reloaded,
};
use crate::domain::clock::SharedClock;
use crate::domain::event::AgentEvent;
use crate::permission::{InForce, Problem, Revision};
use crate::process::Launcher;
use crate::store::{Store, StoreError};
use crate::telemetry::Metrics;
use crate::telemetry::metrics::Reload;

/// How long a file may be away before that is a problem: who replaces one may remove it first.
const GONE_AFTER: Duration = Duration::from_secs(2);
/// How often a file that is away is looked for, at first and once it is a problem.
const LOOKS_SOON: Duration = Duration::from_millis(100);
const LOOKS_LATER: Duration = Duration::from_secs(1);
/// How often and after what pause an event is written that the store was too busy for.
const TELLS: usize = 5;
const TELLS_AGAIN: Duration = Duration::from_millis(200);

/// What the reloader works with.
pub(super) struct Parts {
    /// The cell that it swaps.
    pub(super) in_force: Arc<InForce>,
    /// What configs are held against.
    pub(super) surroundings: Surroundings,
    /// What lies over the file.
    pub(super) overrides: Overrides,
    /// Where events go.
    pub(super) store: Arc<dyn Store>,
    /// The time.
    pub(super) clock: SharedClock,
    /// Hides the files from commands.
    pub(super) launcher: Launcher,
    /// Makes bounds that live outside of the cell follow it.
    pub(super) follow: Box<dyn Fn(&Config) + Send + Sync>,
    /// Counts what comes of loads.
    pub(super) metrics: Metrics,
    /// Who asks for a load.
    pub(super) requests: mpsc::Receiver<ReloadRequest>,
    /// SIGHUP asks, too.
    pub(super) hangup: Signal,
}

/// Owns the config while the server runs.
pub(super) struct Reloader {
    parts: Parts,
    /// What the server started with: keys that need a restart stay as they are here.
    started: Arc<Config>,
    last: Last,
    watch: FileWatch,
    files: Vec<PathBuf>,
    polling: bool,
    /// Since when a file has been away.
    gone_since: Option<Instant>,
}

/// What was last put in force, as it was loaded.
#[derive(PartialEq)]
struct Last {
    config: Config,
    tokens: Vec<KnownToken>,
    covered: Vec<PathBuf>,
}

/// A config that was loaded, and what follows from it.
type Loading = Result<(LoadedConfig, Derived), ConfigError>;

impl Reloader {
    /// Begins with what the server started with; the files are watched from now on.
    pub(super) fn new(parts: Parts, loaded: &LoadedConfig, derived: Derived) -> Self {
        let last = Last { config: loaded.config.clone(), tokens: derived.tokens, covered: derived.covered };
        let started = Arc::new(loaded.config.clone());
        let files = own_files(loaded);
        Self { parts, started, last, watch: FileWatch::default(), files, polling: false, gone_since: None }
    }

    /// Serves until it is cancelled.
    pub(super) async fn run(mut self, cancel: CancellationToken) {
        // What changed since the start was read is found by the first look.
        let mut looked = self.look().await;
        loop {
            self.noticed(looked).await;
            let soon = self.looks_soon();
            tokio::select! {
                () = cancel.cancelled() => return,
                Some(request) = self.parts.requests.recv() => {
                    self.asked(request).await;
                    looked = None;
                }
                Some(()) = self.parts.hangup.recv() => {
                    let loading = self.load().await;
                    let _ = self.take(loading).await;
                    looked = None;
                }
                () = self.watch.changed(soon) => looked = self.look().await,
            }
        }
    }

    fn looks_soon(&self) -> Option<Duration> {
        let away = self.gone_since?.elapsed();
        Some(if away < GONE_AFTER { LOOKS_SOON } else { LOOKS_LATER })
    }

    /// Loads for everyone who asks by now.
    async fn asked(&mut self, first: ReloadRequest) {
        let mut waiting = vec![first];
        while let Ok(request) = self.parts.requests.try_recv() {
            waiting.push(request);
        }
        let loading = self.load().await;
        let outcome = self.take(loading).await;
        for request in waiting {
            // Who has gone away needs no answer.
            let _ = request.send(outcome.clone());
        }
    }

    /// What the files say now, where there are files.
    async fn look(&mut self) -> Option<Loading> {
        if self.files.is_empty() { None } else { Some(self.load().await) }
    }

    /// Takes what a look found. A file that is away for a moment is none of it.
    async fn noticed(&mut self, looked: Option<Loading>) {
        let Some(loading) = looked else { return };
        if loading.is_err() && self.files.iter().any(|file| !file.exists()) {
            let since = *self.gone_since.get_or_insert_with(Instant::now);
            if since.elapsed() < GONE_AFTER {
                return;
            }
        } else {
            self.gone_since = None;
        }
        // What is wrong is told by then.
        let _ = self.take(loading).await;
    }

    /// Watches the files, then reads them. Files that the config names anew are watched before they are read.
    async fn load(&mut self) -> Loading {
        let (surroundings, overrides) = (self.parts.surroundings.clone(), self.parts.overrides.clone());
        let path = self.parts.in_force.now().source.clone();
        let (mut watch, files) = (std::mem::take(&mut self.watch), self.files.clone());
        let work = tokio::task::spawn_blocking(move || {
            watch.arm(&files);
            let loading = config::load(path.as_deref(), &overrides);
            let files = loading.as_ref().map_or(files, own_files);
            let polling = watch.arm(&files).map(str::to_owned);
            let loading = loading.and_then(|loaded| {
                let derived = surroundings.derive(&loaded)?;
                Ok((loaded, derived))
            });
            (watch, files, polling, loading)
        });
        match work.await {
            Ok((watch, files, polling, loading)) => {
                (self.watch, self.files) = (watch, files);
                self.say_polling(polling.as_deref());
                loading
            }
            // A panic in there: the fault is ours, and the config stays as it is.
            Err(error) => {
                let path = self.parts.in_force.now().source.clone().unwrap_or_default();
                Err(ConfigError::Unreadable { path, reason: error.to_string() })
            }
        }
    }

    fn say_polling(&mut self, reason: Option<&str>) {
        match reason {
            Some(reason) if !self.polling => {
                tracing::warn!(%reason, "the config's folders cannot be watched; its files are read every two seconds");
            }
            None if self.polling => tracing::info!("the config's folders are watched again"),
            _ => {}
        }
        self.polling = reason.is_some();
    }

    /// Puts in force what was loaded, or says why it is not.
    async fn take(&mut self, loading: Loading) -> Result<Reloaded, ConfigError> {
        let applied = match loading {
            Ok((loaded, derived)) => self.apply(&loaded, derived),
            Err(error) => Err(error),
        };
        match applied {
            Ok((reloaded, events)) => {
                let outcome = if events.is_empty() { Reload::Unchanged } else { Reload::Applied };
                self.parts.metrics.config().reloaded(outcome);
                self.tell(events).await;
                Ok(reloaded)
            }
            Err(error) => {
                self.parts.metrics.config().reloaded(Reload::Refused);
                self.complain(&error).await;
                Err(error)
            }
        }
    }

    /// Swaps, where there is anything new; what is then to be told.
    fn apply(
        &mut self,
        loaded: &LoadedConfig,
        derived: Derived,
    ) -> Result<(Reloaded, Vec<AgentEvent>), ConfigError> {
        let status = self.parts.in_force.status();
        let now = &status.revision;
        let Derived { policy, tokens, covered } = derived;
        let next = Last { config: loaded.config.clone(), tokens, covered };
        let (in_force, restart_needed) = config::merge(&self.started, &next.config);
        let mut keys = config::changed(&now.config, &in_force);
        if next.tokens != self.last.tokens && !keys.iter().any(|key| key == "auth.tokens") {
            keys.push("auth.tokens".to_owned());
        }
        let is_news = !keys.is_empty() || restart_needed != now.restart_needed;
        let number = now.number + u64::from(is_news);
        if is_news || next != self.last {
            // Hidden first: a command that is judged by the new revision runs on a floor for it.
            self.parts
                .launcher
                .protect(self.files.clone())
                .map_err(|error| loaded.invalid(vec![loaded.problem("auth.tokens", error.to_string())]))?;
            for warning in policy.warnings().iter().filter(|_| is_news) {
                let line = loaded.problem(&warning.source, "").line;
                tracing::warn!(key = %warning.source, line, rule = %warning.rule, "{}", warning.text);
            }
            let revision = Revision {
                number,
                loaded_at: if is_news { self.parts.clock.now() } else { now.loaded_at },
                source: loaded.path.clone(),
                config: Arc::new(in_force),
                policy,
                tokens: next.tokens.clone().into(),
                restart_needed: restart_needed.clone(),
                rules: std::sync::OnceLock::new(),
            };
            (self.parts.follow)(&revision.config);
            self.parts.in_force.replace(Arc::new(revision));
            self.last = next;
        }
        let mut events = Vec::new();
        if is_news {
            tracing::info!(revision = number, ?keys, ?restart_needed, "the config has changed");
            let restart_needed = restart_needed.clone();
            events.push(AgentEvent::ConfigChanged { revision: number, keys: keys.clone(), restart_needed });
        }
        if status.problem.is_some() {
            self.parts.in_force.complain(None);
            tracing::info!(revision = number, "the config is good again");
            events.push(AgentEvent::ConfigRecovered { revision: number });
        }
        Ok((Reloaded { revision: number, keys, restart_needed }, events))
    }

    /// Says once what is wrong; what is in force stays.
    async fn complain(&mut self, error: &ConfigError) {
        let status = self.parts.in_force.status();
        if status.problem.is_some_and(|problem| problem.error == *error) {
            return;
        }
        let problem = Problem { error: error.clone(), since: self.parts.clock.now() };
        self.parts.in_force.complain(Some(Arc::new(problem)));
        let revision = status.revision.number;
        tracing::error!(revision, "the config is not used, and the last good one stays in force:\n{error}");
        self.tell(vec![AgentEvent::ConfigInvalid { error: error.to_string(), errors: error.faults() }]).await;
    }

    /// Writes to the log of all sessions.
    async fn tell(&self, events: Vec<AgentEvent>) {
        if events.is_empty() {
            return;
        }
        for _ in 0..TELLS {
            match self.parts.store.append(None, events.clone()).await {
                Ok(_) => return,
                Err(StoreError::Busy) => tokio::time::sleep(TELLS_AGAIN).await,
                Err(error) => {
                    tracing::error!(%error, "a change of the config could not be recorded");
                    return;
                }
            }
        }
        tracing::error!("a change of the config could not be recorded: the store is busy");
    }
}
