//! Child processes: started by a small helper, each beneath a keeper that ends its whole tree.
//!
//! ```text
//! server ── spawner (this binary again, single-threaded, so that forking is cheap and safe)
//!              └── keeper, one a command: adopts every orphan of the tree (PR_SET_CHILD_SUBREAPER)
//!                     └── the command, under the floor
//! ```
//!
//! A tree is gone when the keeper's `waitpid` says that it has no child left: `setsid` and double forks
//! cannot leave it. When the server dies, however it dies, the keepers' control sockets close and they kill.

mod ansi;
pub mod artifact;
mod child;
mod command;
pub mod environment;
mod keeper;
mod kernel;
mod launcher;
pub mod output;
pub mod spawner;
mod tree;
mod wire;

pub use self::command::{CommandSpec, Direct, Ended, Exit, Left, Limit, Limits, RunningCommand, Tree};
pub use self::launcher::{LaunchError, Launcher, LauncherOptions};
pub use self::wire::StartStep;
