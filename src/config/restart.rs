//! The keys that take effect only at a start, and the config as it is while some of them wait for one.

use serde_json::Value;

use super::Config;
use super::keys::{self, at};

/// Each key that a running server cannot change. Everything else is live.
pub const RESTART_KEYS: &[&str] = &[
    // Where state lies and workspaces may lie is what the floor was laid around.
    "data_dir",
    "workspace_roots",
    // A socket is bound once; what guards it was checked then.
    "server.listen",
    "auth.mode",
    // Calls wait at the one who was asked.
    "approvals.forward_to",
    // Commands that run keep the floor that they were started on.
    "sandbox.floor",
    "sandbox.accept_missing_floor",
    // The log and traces are set up before anything can go wrong.
    "telemetry.log_format",
    "telemetry.otlp_endpoint",
    "telemetry.service_name",
    "telemetry.trace_ratio",
];

/// A loaded config over the one that the server started with: what is in force, and which keys wait for a
/// restart.
pub fn merge(started: &Config, loaded: &Config) -> (Config, Vec<String>) {
    let (Ok(old), Ok(mut new)) = (serde_json::to_value(started), serde_json::to_value(loaded)) else {
        return (loaded.clone(), Vec::new());
    };
    let mut waiting = Vec::new();
    for key in RESTART_KEYS {
        let running = at(&old, key).cloned();
        if at(&new, key) != running.as_ref() {
            waiting.push((*key).to_owned());
            keys::put(&mut new, key, running.unwrap_or(Value::Null));
        }
    }
    match serde_json::from_value(new) {
        Ok(config) => (config, waiting),
        // Both were configs: a mix of whole keys is one, too.
        Err(_) => (started.clone(), waiting),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_needs_a_restart_waits_and_the_rest_is_in_force() {
        let started = Config::default();
        let mut loaded = Config::default();
        loaded.server.listen = "127.0.0.1:1".to_owned();
        loaded.data_dir = Some("/d".into());
        loaded.limits.requests = 7;
        let (config, waiting) = merge(&started, &loaded);
        assert_eq!(waiting, ["data_dir", "server.listen"]);
        assert_eq!(config, Config { limits: loaded.limits.clone(), ..Config::default() });
        assert_eq!(merge(&loaded, &loaded), (loaded.clone(), Vec::new()));
        assert_eq!(merge(&loaded, &started).0.data_dir, loaded.data_dir);
    }

    #[test]
    fn every_restart_key_is_a_key() {
        let keys = keys::of(&Config::default());
        for key in RESTART_KEYS {
            assert!(keys.contains_key(*key), "{key}");
        }
    }
}
