//! The `domain:` patterns that are held against the hosts of URLs.

use std::fmt;
use std::net::{IpAddr, Ipv6Addr};

use crate::domain::web::ends_at;
pub use crate::domain::web::{Host, HostError};

/// What stands behind `domain:` in a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum HostPattern {
    /// `domain:*`.
    Any,
    /// `domain:name`: the name and every name beneath it.
    Within(String),
    /// `domain:*.name`: only names beneath it.
    Beneath(String),
    /// `domain:192.0.2.1`.
    Address(IpAddr),
}

impl HostPattern {
    /// Reads the text behind `domain:`.
    pub(crate) fn parse(text: &str) -> Result<Self, HostError> {
        if text == "*" {
            return Ok(Self::Any);
        }
        let (beneath, name) = match text.strip_prefix("*.") {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        if let Some((at, bad)) = name.char_indices().find(|(_, c)| matches!(c, '/' | '?' | '#' | '@' | '*')) {
            return Err(HostError::Character(bad, at));
        }
        // A colon is a port, unless it is part of an IPv6 address.
        let v6 = name.trim_start_matches('[').trim_end_matches(']').parse::<Ipv6Addr>().ok();
        let host = match v6 {
            Some(address) => Host::Address(IpAddr::V6(address).to_canonical()),
            None if name.contains(':') => {
                return Err(HostError::Character(':', name.find(':').unwrap_or_default()));
            }
            None => Host::of_url(&format!("http://{name}/"))?,
        };
        match host {
            Host::Name(name) if beneath => Ok(Self::Beneath(name)),
            Host::Name(name) => Ok(Self::Within(name)),
            Host::Address(_) if beneath => Err(HostError::Missing),
            Host::Address(address) => Ok(Self::Address(address)),
        }
    }

    /// Whether the pattern covers `host`; `exact` leaves out names beneath the one that is named.
    pub(crate) fn matches(&self, host: &Host, exact: bool) -> bool {
        match (self, host) {
            (Self::Any, _) => true,
            (Self::Within(want), Host::Name(name)) => name == want || (!exact && is_beneath(name, want)),
            (Self::Beneath(want), Host::Name(name)) => is_beneath(name, want),
            (Self::Address(want), Host::Address(address)) => want == address,
            _ => false,
        }
    }

    /// Whether a connection to `host` may end at what the pattern names: for what holds back.
    pub(crate) fn is_reached_by(&self, host: &Host) -> bool {
        match (self, host) {
            (Self::Address(want), Host::Address(address)) => {
                let ends = ends_at(*address);
                ends_at(*want).iter().any(|want| ends.contains(want))
            }
            _ => self.matches(host, false),
        }
    }

    /// Whether `text`, behind `domain:`, reads as what it stands for: but for letters of the other case, brackets and
    /// a dot at the end.
    pub(crate) fn reads_as(&self, text: &str) -> bool {
        let text = text.strip_suffix('.').unwrap_or(text);
        let text = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap_or(text);
        self.to_string().eq_ignore_ascii_case(text)
    }
}

/// As it is connected to.
impl fmt::Display for HostPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Any => f.write_str("*"),
            Self::Within(name) => f.write_str(name),
            Self::Beneath(name) => write!(f, "*.{name}"),
            Self::Address(address) => write!(f, "{address}"),
        }
    }
}

fn is_beneath(name: &str, parent: &str) -> bool {
    name.strip_suffix(parent).is_some_and(|front| front.ends_with('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn domains_compare_at_a_dot() {
        let host = |name: &str| Host::Name(name.to_owned());
        for (pattern, name, exact, want) in [
            ("docs.rs", "docs.rs", false, true),
            ("docs.rs", "a.docs.rs", false, true),
            ("docs.rs", "a.docs.rs", true, false),
            ("docs.rs", "evildocs.rs", false, false),
            ("docs.rs", "docs.rs.evil.tld", false, false),
            ("*.docs.rs", "docs.rs", false, false),
            ("*.docs.rs", "a.docs.rs", false, true),
            ("DOCS.rs.", "docs.rs", false, true),
            ("b\u{fc}cher.example", "xn--bcher-kva.example", false, true),
            ("*.B\u{dc}CHER.example", "a.xn--bcher-kva.example", false, true),
            ("*", "x.y", false, true),
        ] {
            let parsed = HostPattern::parse(pattern).unwrap();
            assert_eq!(parsed.matches(&host(name), exact), want, "{pattern} {name}");
        }
        for (pattern, address, narrow, wide) in [
            ("192.0.2.1", "192.0.2.1", true, true),
            ("192.0.2.1", "::ffff:192.0.2.1", true, true),
            ("::ffff:192.0.2.1", "192.0.2.1", true, true),
            ("192.0.2.1", "64:ff9b::192.0.2.1", false, true),
            ("192.0.2.1", "2002:c000:201::", false, true),
            ("64:ff9b::192.0.2.1", "192.0.2.1", false, true),
            ("127.0.0.1", "0.0.0.0", false, true),
            ("192.0.2.1", "64:ff9b::192.0.2.2", false, false),
            ("::1", "127.0.0.1", false, false),
        ] {
            let (parsed, host) = (HostPattern::parse(pattern).unwrap(), Host::of_peer(address).unwrap());
            assert_eq!(
                (parsed.matches(&host, true), parsed.is_reached_by(&host)),
                (narrow, wide),
                "{pattern} {address}"
            );
        }
        for bad in ["", "a/b", "a b", "a@b", "x:80", "a*b", "*.", "a..b", "*.10.0.0.1"] {
            assert!(HostPattern::parse(bad).is_err(), "{bad:?}");
        }
    }
}
