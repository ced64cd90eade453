//! Toolgate's own listener, which no request may reach, however it is spelt.

use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::sync::{Arc, OnceLock};

use super::address;

/// Where the server itself listens: told once it does. A token that came into an agent's hands, or an
/// `auth.mode` of `none`, must not make a tool call an operator.
#[derive(Debug, Clone, Default)]
pub struct OwnListener(Arc<OnceLock<SocketAddr>>);

impl OwnListener {
    /// Tells where the server listens. The first one stands.
    pub fn set(&self, listens_at: SocketAddr) {
        let _ = self.0.set(listens_at);
    }

    /// Whether a connection to there would come to the listener: its port on this machine, by whichever of the
    /// machine's addresses.
    pub(super) fn is_at(&self, destination: SocketAddr) -> bool {
        let Some(own) = self.0.get() else { return false };
        let ip = address::canonical(destination.ip());
        destination.port() == own.port()
            && (ip == address::canonical(own.ip()) || ip.is_loopback() || ip.is_unspecified() || is_local(ip))
    }
}

/// Whether the address is one of this machine's: only such can be bound.
fn is_local(ip: IpAddr) -> bool {
    UdpSocket::bind((ip, 0)).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn p21_every_way_to_the_own_port_on_this_machine() {
        let own = OwnListener::default();
        assert!(!own.is_at("127.0.0.1:8765".parse().unwrap()), "nobody listens yet");
        own.set("127.0.0.1:8765".parse().unwrap());
        for at in [
            "127.0.0.1:8765",
            "127.9.9.9:8765",
            "0.0.0.0:8765",
            "[::]:8765",
            "[::1]:8765",
            "[::ffff:127.0.0.1]:8765",
        ] {
            assert!(own.is_at(at.parse().unwrap()), "{at}");
        }
        for at in ["127.0.0.1:8766", "192.0.2.1:8765"] {
            assert!(!own.is_at(at.parse().unwrap()), "{at}");
        }
        // The address that this machine would send from; no packet is sent for it.
        let socket = UdpSocket::bind("0.0.0.0:0").unwrap();
        if socket.connect("192.0.2.1:9").is_ok() {
            let here = socket.local_addr().unwrap().ip();
            assert!(own.is_at((here, 8765).into()), "{here}");
        }
    }
}
