//! The URL of a web request and its host, read once: gate, rules, config and client share this reading.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use reqwest::Url;
use thiserror::Error;

/// The longest URL that is taken, in bytes.
pub const URL_BYTES_MAX: usize = 8 * 1024;

/// An http or https URL without credentials, and its host in canonical form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WebUrl {
    url: Url,
    host: Host,
}

/// The host of a URL in its one canonical form: an IDNA-encoded lower-case name without a trailing dot, or an
/// address.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Host {
    /// A domain name.
    Name(String),
    /// A literal address, in whatever notation the URL had it.
    Address(IpAddr),
}

/// Why a text is no URL that is called, or names no host.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum HostError {
    /// White space, a control character or a backslash: parsers disagree about such a URL.
    #[error("the URL contains {0:?} at byte {1}: percent-encode it")]
    Character(char, usize),
    /// Longer than a URL may be.
    #[error("the URL has {0} bytes, at most {URL_BYTES_MAX} are taken")]
    TooLong(usize),
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

impl WebUrl {
    /// Reads a URL as browsers do (WHATWG URL Standard), and refuses what readers disagree about.
    pub fn parse(text: &str) -> Result<Self, HostError> {
        check_characters(text)?;
        let url = Url::parse(text).map_err(|error| HostError::Syntax(error.to_string()))?;
        // An empty user name (`http://@host/`) is gone from what was parsed.
        let authority = text.split_once("://").map_or("", |(_, rest)| rest);
        if authority.split(['/', '?', '#']).next().is_some_and(|authority| authority.contains('@')) {
            return Err(HostError::UserInfo);
        }
        Self::of_parsed(url)
    }

    /// The URL that a reference found at this one means (RFC 9110, section 10.2.2).
    pub fn join(&self, reference: &str) -> Result<Self, HostError> {
        check_characters(reference)?;
        let url = self.url.join(reference).map_err(|error| HostError::Syntax(error.to_string()))?;
        Self::of_parsed(url)
    }

    fn of_parsed(url: Url) -> Result<Self, HostError> {
        if !matches!(url.scheme(), "http" | "https") {
            return Err(HostError::Scheme(url.scheme().to_owned()));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(HostError::UserInfo);
        }
        if url.as_str().len() > URL_BYTES_MAX {
            return Err(HostError::TooLong(url.as_str().len()));
        }
        let host = Host::canonical(url.host_str().ok_or(HostError::Missing)?)?;
        Ok(Self { url, host })
    }

    /// What a client is given.
    pub fn url(&self) -> &Url {
        &self.url
    }

    /// The host that it connects to.
    pub fn host(&self) -> &Host {
        &self.host
    }

    /// The port that it connects to.
    pub fn port(&self) -> u16 {
        self.url.port_or_known_default().unwrap_or(0)
    }

    /// Whether the connection is encrypted.
    pub fn is_https(&self) -> bool {
        self.url.scheme() == "https"
    }

    /// Whether both have the same origin (RFC 6454): scheme, host and port.
    pub fn same_origin(&self, other: &Self) -> bool {
        self.host == other.host && self.port() == other.port() && self.is_https() == other.is_https()
    }
}

impl fmt::Display for WebUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.url.as_str())
    }
}

fn check_characters(text: &str) -> Result<(), HostError> {
    if text.len() > URL_BYTES_MAX {
        return Err(HostError::TooLong(text.len()));
    }
    match text.char_indices().find(|(_, c)| c.is_control() || c.is_whitespace() || *c == '\\') {
        Some((at, bad)) => Err(HostError::Character(bad, at)),
        None => Ok(()),
    }
}

impl Host {
    /// The host that a client connects to for `url`.
    pub fn of_url(url: &str) -> Result<Self, HostError> {
        WebUrl::parse(url).map(|url| url.host)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_what_a_client_would_connect_to() {
        for (url, host) in [
            ("https://Docs.RS/x", "docs.rs"),
            ("https://docs.rs./x", "docs.rs"),
            ("http://b\u{fc}cher.example/", "xn--bcher-kva.example"),
            ("http://xn--bcher-kva.example:8080/", "xn--bcher-kva.example"),
            ("http://%64ocs.rs/", "docs.rs"),
            ("http://\u{ff44}ocs.rs/", "docs.rs"),
            ("http://trusted.io.evil.tld", "trusted.io.evil.tld"),
            ("http://2130706433/", "127.0.0.1"),
            ("http://0x7f.1/", "127.0.0.1"),
            ("http://0177.0.0.1/", "127.0.0.1"),
            ("http://127.1./", "127.0.0.1"),
            ("http://[::FFFF:1.2.3.4]/", "::ffff:1.2.3.4"),
        ] {
            assert_eq!(Host::of_url(url).map(|h| h.to_string()), Ok(host.to_owned()), "{url}");
        }
    }

    #[test]
    fn p12_a_url_that_parsers_disagree_about_has_no_host() {
        for url in [
            "http://trusted.io@evil.tld/",
            "http://@evil.tld/",
            "http://trusted.io\0.evil.tld/",
            "http://trusted.io%00.evil.tld/",
            "http://trusted.io\\.evil.tld/",
            "http://trusted.io\t.evil.tld/",
            "http://trusted.io%2f.evil.tld/",
            " http://trusted.io/",
            "ftp://trusted.io/",
            "file:///etc/passwd",
            "http://",
            "trusted.io",
            "http://[fe80::1%25eth0]/",
            "http://1.2.3.4.5/",
            "http://trusted.io:99999/",
        ] {
            assert!(Host::of_url(url).is_err(), "{url:?}");
        }
        let long = format!("http://trusted.io/{}", "x".repeat(URL_BYTES_MAX));
        assert!(matches!(Host::of_url(&long), Err(HostError::TooLong(_))));
    }

    #[test]
    fn references_are_read_as_strictly() {
        let base = WebUrl::parse("http://a.example/b/c?d").unwrap();
        for (reference, url) in [
            ("e", "http://a.example/b/e"),
            ("/e", "http://a.example/e"),
            ("//b.example/e", "http://b.example/e"),
            ("https://a.example/", "https://a.example/"),
        ] {
            assert_eq!(base.join(reference).unwrap().to_string(), url);
        }
        for reference in
            ["http://u@a.example/", "//u:p@b.example", "file:///etc/passwd", "/\\b.example", "a\nb"]
        {
            assert!(base.join(reference).is_err(), "{reference:?}");
        }
    }

    #[test]
    fn origins() {
        let url = |text| WebUrl::parse(text).unwrap();
        for (one, other, same) in [
            ("http://a.example/x", "http://A.example.:80/y", true),
            ("https://a.example", "https://a.example:443", true),
            ("http://a.example", "https://a.example", false),
            ("http://a.example", "http://a.example:8080", false),
            ("http://a.example", "http://b.a.example", false),
        ] {
            assert_eq!(url(one).same_origin(&url(other)), same, "{one} {other}");
        }
    }
}
