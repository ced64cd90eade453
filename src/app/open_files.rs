//! Open files: as many as the system gives, since each connection is one.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Files that are open whatever clients do: the store, its readers, workspaces, the spawner.
const BESIDE_CONNECTIONS: u64 = 512;

/// Raises the soft bound of this process to its hard one, and says where that is too low for the
/// connections it should take. Commands keep the bound that the server was started with (programs that
/// use select(2) need a low one): call this once the spawner, from which they descend, has started.
pub(super) fn raise(connections: usize) {
    let now = getrlimit(Resource::Nofile);
    if let Err(error) = setrlimit(Resource::Nofile, Rlimit { current: now.maximum, maximum: now.maximum }) {
        tracing::warn!(%error, "the bound on open files could not be raised");
    }
    // Each call that runs a command has a few more than its connection.
    let wanted = u64::try_from(connections).unwrap_or(u64::MAX).saturating_mul(2);
    let wanted = wanted.saturating_add(BESIDE_CONNECTIONS);
    if let Some(allowed) = getrlimit(Resource::Nofile).current.filter(|allowed| *allowed < wanted) {
        tracing::warn!(
            allowed,
            wanted,
            "few files may be open: some connections will wait; raise `ulimit -n`, or lower limits.connections"
        );
    }
}
