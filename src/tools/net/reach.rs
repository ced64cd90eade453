//! Whether a request may connect to an address: public ones, and private ones that the config names.

use std::net::{IpAddr, SocketAddr};

use super::address::{self, Kind};
use super::error::NetError;
use super::own::OwnListener;
use crate::config::PrivateHost;
use crate::domain::web::{Host, WebUrl};

/// What may be reached while one request runs.
pub(super) struct Reach<'a> {
    pub(super) allowed: &'a [PrivateHost],
    pub(super) own: &'a OwnListener,
}

impl Reach<'_> {
    /// Whether a request for `url` may connect to this address of its host.
    pub(super) fn check(&self, url: &WebUrl, address: IpAddr) -> Result<(), NetError> {
        let (address, port) = (address::canonical(address), url.port());
        if self.own.is_at(SocketAddr::new(address, port)) {
            return Err(NetError::Own(format!("{}:{port}", url.host())));
        }
        let host = || url.host().to_string();
        match address::kind(address) {
            Kind::Public => Ok(()),
            Kind::Metadata if self.names(&Host::Address(address), port) => Ok(()),
            Kind::Metadata => Err(NetError::Metadata { host: host(), address }),
            Kind::Special(_) if self.admits(url, address) => Ok(()),
            Kind::Special(kind) => Err(NetError::Private { host: host(), address, kind }),
        }
    }

    fn names(&self, host: &Host, port: u16) -> bool {
        self.allowed.iter().any(|entry| entry.names(host, port))
    }

    fn admits(&self, url: &WebUrl, address: IpAddr) -> bool {
        self.names(url.host(), url.port())
            || self.names(&Host::Address(address), url.port())
            || self.allowed.iter().any(|entry| entry.contains(address))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(allowed: &[&str], url: &str, address: Option<&str>) -> &'static str {
        let allowed: Vec<PrivateHost> = allowed.iter().map(|entry| entry.parse().unwrap()).collect();
        let own = OwnListener::default();
        own.set("127.0.0.1:8765".parse().unwrap());
        let url = WebUrl::parse(url).unwrap();
        let address = match (address, url.host()) {
            (Some(address), _) => address.parse().unwrap(),
            (None, Host::Address(address)) => *address,
            (None, Host::Name(_)) => panic!("where is it?"),
        };
        match (Reach { allowed: &allowed, own: &own }).check(&url, address) {
            Ok(()) => "reached",
            Err(NetError::Own(_)) => "own",
            Err(NetError::Metadata { .. }) => "metadata",
            Err(NetError::Private { .. }) => "private",
            Err(error) => panic!("{error}"),
        }
    }

    #[test]
    fn h1_spellings_of_private_addresses() {
        for (url, is) in [
            ("http://[::ffff:169.254.169.254]/", "metadata"),
            ("http://2852039166/", "metadata"),
            ("http://[64:ff9b::a9fe:a9fe]/", "metadata"),
            ("http://0xa9fea9fe/", "metadata"),
            ("http://0251.0376.0251.0376/", "metadata"),
            ("http://0x7f.1/", "private"),
            ("http://2130706433/", "private"),
            ("http://017700000001/", "private"),
            ("http://127.1/", "private"),
            ("http://0/", "private"),
            ("http://\u{ff11}27.0.0.1/", "private"),
            ("http://[::]/", "private"),
            ("http://[::1]/", "private"),
            ("http://[::127.0.0.1]/", "private"),
            ("http://[fd00::1]/", "private"),
            ("http://1.1.1.1/", "reached"),
            ("http://[::ffff:1.1.1.1]/", "reached"),
        ] {
            assert_eq!(verdict(&[], url, None), is, "{url}");
        }
    }

    #[test]
    fn private_hosts_are_reached_where_the_config_names_them() {
        for (allowed, url, address, is) in [
            (&["intra.example"][..], "http://intra.example/", "10.0.0.1", "reached"),
            (&["intra.example"], "http://intra.example./", "::ffff:10.0.0.1", "reached"),
            (&["intra.example"], "http://a.intra.example/", "10.0.0.1", "private"),
            (&["intra.example:8080"], "http://intra.example/", "10.0.0.1", "private"),
            (&["10.0.0.0/8"], "http://any.example/", "10.0.0.1", "reached"),
            (&["10.0.0.0/8"], "http://any.example/", "::ffff:10.0.0.1", "reached"),
            (&["10.0.0.0/8"], "http://any.example/", "64:ff9b::a00:1", "private"),
            (&["10.0.0.0/8"], "http://any.example/", "11.0.0.1", "reached"),
            (&["10.0.0.1:81"], "http://any.example/", "10.0.0.1", "private"),
            (&["10.0.0.1:81"], "http://any.example:81/", "10.0.0.1", "reached"),
            // A name that someone else may point anywhere, or a wide network, is no way to credentials.
            (&["intra.example", "169.254.0.0/16"], "http://intra.example/", "169.254.169.254", "metadata"),
            (&["169.254.169.254"], "http://intra.example/", "169.254.169.254", "reached"),
            // Nor is anything a way to the server itself.
            (&["127.0.0.1", "127.0.0.0/8", "a.example"], "http://a.example:8765/", "127.0.0.1", "own"),
            (&["127.0.0.1:8765", "0.0.0.0/0"], "http://127.0.0.1:8765/", "127.0.0.1", "own"),
            (&["0.0.0.0"], "http://0.0.0.0:8765/", "0.0.0.0", "own"),
        ] {
            assert_eq!(verdict(allowed, url, Some(address)), is, "{allowed:?} {url} {address}");
        }
    }
}
