//! What a command loses before it runs: capabilities, the ways to gain them back, and the floor's rights.

use std::io;
use std::os::fd::BorrowedFd;

use rustix::thread::{
    CapabilitySet, CapabilitySets, capability_is_in_bounding_set, clear_ambient_capability_set,
    remove_capability_from_bounding_set, set_capabilities, set_no_new_privs,
};

use super::confine;

/// Confines the calling process, which must be single-threaded: capabilities go, new privileges are barred,
/// foreign resource limits are out of reach, and with a Landlock ruleset its rights are those of the ruleset.
///
/// There is no way back: call it between fork and exec only.
pub fn confine_self(ruleset: Option<BorrowedFd<'_>>) -> io::Result<()> {
    set_no_new_privs(true)?;
    drop_capabilities()?;
    confine::refuse_foreign_limits()?;
    match ruleset {
        Some(ruleset) => confine::landlock_restrict_self(ruleset),
        None => Ok(()),
    }
}

fn drop_capabilities() -> io::Result<()> {
    // The bounding set first: shrinking it needs a capability that goes with the others.
    for bit in 0..u64::BITS {
        let capability = CapabilitySet::from_bits_retain(1 << bit);
        match capability_is_in_bounding_set(capability) {
            Ok(true) => match remove_capability_from_bounding_set(capability) {
                Ok(()) => {}
                // Without CAP_SETPCAP the set stays; no-new-privileges and the user id keep it out of reach,
                // unless the user is root, to whom exec would hand it.
                Err(rustix::io::Errno::PERM) if !rustix::process::geteuid().is_root() => break,
                Err(error) => return Err(error.into()),
            },
            Ok(false) => {}
            // Past the last capability that this kernel knows.
            Err(_) => break,
        }
    }
    clear_ambient_capability_set()?;
    let none = CapabilitySet::empty();
    set_capabilities(None, CapabilitySets { effective: none, permitted: none, inheritable: none })?;
    Ok(())
}
