//! Hosts of URLs and the `domain:` patterns that are held against them.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use reqwest::Url;
use thiserror::Error;

/// The host of a URL in its one canonical form: an IDNA-encoded lower-case name without a trailing dot, or an
/// address.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Host {
    /// A domain name.
    Name(String),
    /// A literal address, in whatever notation the URL had it.
    Address(IpAddr),
}

/// Why a URL has no host that a rule could be held against.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum HostError {
    /// White space, a control character or a backslash: parsers disagree about such a URL.
    #[error("the URL contains {0:?} at byte {1}: percent-encode it")]
    Character(char, usize),
    /// Not a URL.
    #[error("not a URL: {0}")]
    Syntax(String),
    /// Neither http nor https.
    #[error("the scheme {0:?} is not http or https")]
    Scheme(String),
    /// `user:password@` before the host.
    #[error("a URL with a user name or password in it is not accepted")]
    UserInfo,
    /// No host, or an empty one.
    #[error("the URL has no host")]
    Missing,
}

impl Host {
    /// The host that a client connects to for `url`.
    pub fn of_url(url: &str) -> Result<Self, HostError> {
        if let Some((at, bad)) =
            url.char_indices().find(|(_, c)| c.is_control() || c.is_whitespace() || *c == '\\')
        {
            return Err(HostError::Character(bad, at));
        }
        let parsed = Url::parse(url).map_err(|e| HostError::Syntax(e.to_string()))?;
        if !matches!(parsed.scheme(), "http" | "https") {
            return Err(HostError::Scheme(parsed.scheme().to_owned()));
        }
        let authority = url.split_once("://").map_or("", |(_, rest)| rest);
        let authority = authority.split(['/', '?', '#']).next().unwrap_or_default();
        if authority.contains('@') || !parsed.username().is_empty() || parsed.password().is_some() {
            return Err(HostError::UserInfo);
        }
        Self::canonical(parsed.host_str().ok_or(HostError::Missing)?)
    }

    fn canonical(host: &str) -> Result<Self, HostError> {
        if let Some(v6) = host.strip_prefix('[').and_then(|h| h.strip_suffix(']')) {
            let address: Ipv6Addr = v6.parse().map_err(|_| HostError::Missing)?;
            return Ok(Self::Address(IpAddr::V6(address)));
        }
        if let Ok(address) = host.parse::<Ipv4Addr>() {
            return Ok(Self::Address(IpAddr::V4(address)));
        }
        let name = host.strip_suffix('.').unwrap_or(host).to_ascii_lowercase();
        if name.is_empty() || name.split('.').any(str::is_empty) {
            return Err(HostError::Missing);
        }
        Ok(Self::Name(name))
    }
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => f.write_str(name),
            Self::Address(address) => write!(f, "{address}"),
        }
    }
}

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
            Some(address) => Host::Address(IpAddr::V6(address)),
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
}

fn is_beneath(name: &str, parent: &str) -> bool {
    name.strip_suffix(parent).is_some_and(|front| front.ends_with('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_what_a_client_would_connect_to() {
        for (url, host) in [
            ("https://Docs.RS/x", "docs.rs"),
            ("https://docs.rs./x", "docs.rs"),
            ("http://b\u{fc}cher.example/", "xn--bcher-kva.example"),
            ("http://trusted.io.evil.tld", "trusted.io.evil.tld"),
            ("http://2130706433/", "127.0.0.1"),
            ("http://0x7f.1/", "127.0.0.1"),
            ("http://[::FFFF:1.2.3.4]/", "::ffff:1.2.3.4"),
        ] {
            assert_eq!(Host::of_url(url).map(|h| h.to_string()), Ok(host.to_owned()), "{url}");
        }
    }

    #[test]
    fn a_url_that_parsers_disagree_about_has_no_host() {
        for url in [
            "http://trusted.io@evil.tld/",
            "http://@evil.tld/",
            "http://trusted.io\0.evil.tld/",
            "http://trusted.io\\.evil.tld/",
            "http://trusted.io\t.evil.tld/",
            " http://trusted.io/",
            "ftp://trusted.io/",
            "file:///etc/passwd",
            "http://",
            "trusted.io",
        ] {
            assert!(Host::of_url(url).is_err(), "{url:?}");
        }
    }

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
            ("*", "x.y", false, true),
        ] {
            let parsed = HostPattern::parse(pattern).unwrap();
            assert_eq!(parsed.matches(&host(name), exact), want, "{pattern} {name}");
        }
        for bad in ["", "a/b", "a b", "a@b", "x:80", "a*b", "*.", "a..b", "*.10.0.0.1"] {
            assert!(HostPattern::parse(bad).is_err(), "{bad:?}");
        }
    }
}
