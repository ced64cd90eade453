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
    /// A literal address, in whatever notation the URL had it; IPv4 in an IPv6 form (RFC 4291, section 2.5.5.2) is
    /// IPv4, as it is to the kernel.
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

    /// The host that a program connects to which is given `text` for it, an IPv6 address without brackets. None where
    /// the text does not say it as it stands: a shell puts something in its place, or nobody knows how it is read.
    pub fn of_peer(text: &str) -> Option<Self> {
        // A zone (RFC 4007, section 11.2) chooses the interface, not the address.
        if let Ok(v6) = text.split('%').next().unwrap_or_default().parse::<Ipv6Addr>() {
            return Some(Self::Address(IpAddr::V6(v6).to_canonical()));
        }
        let plain = |c: char| c.is_alphanumeric() || matches!(c, '.' | '-' | '_');
        text.chars().all(plain).then(|| Self::of_url(&format!("http://{text}/")).ok()).flatten()
    }

    fn canonical(host: &str) -> Result<Self, HostError> {
        if let Some(v6) = host.strip_prefix('[').and_then(|h| h.strip_suffix(']')) {
            let address: Ipv6Addr = v6.parse().map_err(|_| HostError::Missing)?;
            return Ok(Self::Address(IpAddr::V6(address).to_canonical()));
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

/// Every address that a connection to this one may end at: itself, and the IPv4 address within it that a translator or
/// a tunnel goes on to. Nobody listens at the unspecified address: connected to, it is this machine.
pub fn ends_at(address: IpAddr) -> Vec<IpAddr> {
    let address = address.to_canonical();
    let mut ends = vec![address];
    let IpAddr::V6(v6) = address else {
        ends.extend(address.is_unspecified().then_some(IpAddr::V4(Ipv4Addr::LOCALHOST)));
        return ends;
    };
    if v6.is_unspecified() {
        ends.extend([IpAddr::V6(Ipv6Addr::LOCALHOST), IpAddr::V4(Ipv4Addr::LOCALHOST)]);
        return ends;
    }
    if v6.is_loopback() {
        return ends;
    }
    let at = |high: u16, low: u16| u32::from(high) << 16 | u32::from(low);
    let segments = v6.segments();
    let [.., high, low] = segments;
    let last = at(high, low);
    let bits = match segments {
        // Compatible (RFC 4291, section 2.5.5.1), translated (RFC 2765), NAT64 (RFC 6052; RFC 8215 for local prefixes,
        // of which the longest is the usual), ISATAP (RFC 5214, section 6.1).
        [0, 0, 0, 0, 0 | 0xffff, 0, ..] | [0x64, 0xff9b, 0 | 1, ..] | [_, _, _, _, 0 | 0x200, 0x5efe, ..] => {
            last
        }
        // 6to4 (RFC 3056).
        [0x2002, high, low, ..] => at(high, low),
        // Teredo (RFC 4380, section 4): the client, inverted.
        [0x2001, 0, ..] => !last,
        _ => return ends,
    };
    ends.push(IpAddr::V4(Ipv4Addr::from_bits(bits)));
    ends
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
            ("http://[::FFFF:1.2.3.4]/", "1.2.3.4"),
        ] {
            assert_eq!(Host::of_url(url).map(|h| h.to_string()), Ok(host.to_owned()), "{url}");
        }
    }

    #[test]
    fn a_peer_is_an_address_without_brackets_or_a_name_that_is_told() {
        for (text, host) in [
            ("Docs.RS.", Some("docs.rs")),
            ("127.1", Some("127.0.0.1")),
            ("0", Some("0.0.0.0")),
            ("::1", Some("::1")),
            ("0:0:0:0:0:0:0:1", Some("::1")),
            ("::ffff:127.0.0.1", Some("127.0.0.1")),
            ("fe80::1%eth0", Some("fe80::1")),
            ("", None),
            ("$h", None),
            ("a$h", None),
            ("{a,b}", None),
            ("[::1]", None),
            ("a@b", None),
            ("1.2.3.4.5", None),
        ] {
            assert_eq!(Host::of_peer(text).map(|h| h.to_string()).as_deref(), host, "{text}");
        }
    }

    #[test]
    fn an_address_ends_where_what_is_within_it_leads() {
        for (address, ends) in [
            ("192.0.2.1", "192.0.2.1"),
            ("::ffff:192.0.2.1", "192.0.2.1"),
            ("::192.0.2.1", "::c000:201 192.0.2.1"),
            ("::ffff:0:192.0.2.1", "::ffff:0:c000:201 192.0.2.1"),
            ("64:ff9b::192.0.2.1", "64:ff9b::c000:201 192.0.2.1"),
            ("64:ff9b:1::192.0.2.1", "64:ff9b:1::c000:201 192.0.2.1"),
            ("2002:c000:201::7", "2002:c000:201::7 192.0.2.1"),
            ("2001:0:808:808::3fff:fdfe", "2001:0:808:808::3fff:fdfe 192.0.2.1"),
            ("2a00::5efe:192.0.2.1", "2a00::5efe:c000:201 192.0.2.1"),
            ("2a00::1", "2a00::1"),
            ("::1", "::1"),
            ("::", ":: ::1 127.0.0.1"),
            ("0.0.0.0", "0.0.0.0 127.0.0.1"),
        ] {
            let found: Vec<String> =
                ends_at(address.parse().unwrap()).iter().map(IpAddr::to_string).collect();
            assert_eq!(found.join(" "), ends, "{address}");
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
