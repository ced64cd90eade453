//! What http_request and WebFetch may reach, and within which bounds.

use std::fmt;
use std::net::IpAddr;
use std::path::PathBuf;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::domain::web::{Host, HostError, WebUrl};

/// The longest that a call may take, in milliseconds.
pub const TIMEOUT_MS_MAX: u64 = 300_000;
/// The most bytes of text that `network.max_bytes_limit` can allow: they are recorded with the call.
pub const BODY_BYTES_MAX: u64 = 8 * 1024 * 1024;

/// What http_request and WebFetch may reach. Read for each call: a change holds for the next one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct NetworkConfig {
    /// The proxy that every request goes through; none where it is left out. The environment's proxy
    /// variables are ignored.
    pub proxy: Option<ProxyConfig>,
    /// Absolute paths of PEM files with CA certificates that are trusted besides the system's.
    pub ca_files: Vec<PathBuf>,
    /// Private hosts that may be reached: `host`, `host:port`, `IP`, `IP:port`, `[IPv6]:port` or a network
    /// such as `10.1.0.0/16`. A name may lead to any private address; metadata services of clouds need their
    /// own address here; Toolgate's own listener is never reached.
    pub allowed_private_hosts: Vec<PrivateHost>,
    /// The time of a call that names none, in milliseconds, 1 to 300000.
    pub timeout_ms: u64,
    /// The bytes of a text that are read when the call names none, 1 to `max_bytes_limit`.
    pub max_bytes: u64,
    /// The most bytes of a text that a call may ask for, 1 to 8388608 (8 MiB). Counted once decompressed. Other
    /// bodies are kept up to `limits.artifact_bytes`.
    pub max_bytes_limit: u64,
    /// Requests at once over all sessions, 1 to 1024; further ones wait within their own time.
    pub concurrent: usize,
    /// The `User-Agent` header of requests that set none.
    pub user_agent: String,
}

impl Default for NetworkConfig {
    fn default() -> Self {
        Self {
            proxy: None,
            ca_files: Vec::new(),
            allowed_private_hosts: Vec::new(),
            timeout_ms: 30_000,
            max_bytes: 256 * 1024,
            max_bytes_limit: 1024 * 1024,
            concurrent: 32,
            user_agent: "toolgate".to_owned(),
        }
    }
}

/// A proxy. Its password stands in a file or a variable, never here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProxyConfig {
    /// Such as `http://proxy.example:3128`; `https://` encrypts the way to the proxy.
    pub url: ProxyUrl,
    /// The user name, where the proxy asks for one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub username: Option<String>,
    /// An absolute path of a file that holds the password; read for each call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub password_file: Option<PathBuf>,
    /// An environment variable that holds the password; not named `TOOLGATE_…`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub password_env: Option<String>,
}

impl ProxyConfig {
    /// Takes out what helps to log in.
    pub(super) fn redact(&mut self) {
        if self.username.is_some() {
            self.username = Some("(redacted)".to_owned());
        }
    }
}

/// The URL of a proxy: http or https, a host, perhaps a port, and nothing else.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
pub struct ProxyUrl(WebUrl);

impl ProxyUrl {
    /// The URL.
    pub fn url(&self) -> &WebUrl {
        &self.0
    }
}

impl TryFrom<String> for ProxyUrl {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        // Never with the text in it: it may hold a password.
        let url = WebUrl::parse(&text).map_err(|error| match error {
            HostError::UserInfo => {
                "the password does not belong into the URL: use username and password_file or password_env"
                    .to_owned()
            }
            other => format!("{other}; a proxy is such as http://proxy.example:3128"),
        })?;
        let bare = matches!(url.url().path(), "" | "/") && url.url().query().is_none();
        if bare { Ok(Self(url)) } else { Err("a proxy's URL has no path and no query".to_owned()) }
    }
}

impl From<ProxyUrl> for String {
    fn from(url: ProxyUrl) -> Self {
        url.0.to_string()
    }
}

/// A private host or network that may be reached.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
pub struct PrivateHost {
    text: String,
    target: Target,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Target {
    Host(Host, Option<u16>),
    Network(IpAddr, u8),
}

impl PrivateHost {
    /// Whether it names this host and port itself.
    pub fn names(&self, host: &Host, port: u16) -> bool {
        match &self.target {
            Target::Host(named, of_port) => named == host && of_port.is_none_or(|of_port| of_port == port),
            Target::Network(..) => false,
        }
    }

    /// Whether it is a network that the address lies in.
    pub fn contains(&self, address: IpAddr) -> bool {
        match self.target {
            Target::Network(base, prefix) => {
                base.is_ipv4() == address.is_ipv4() && beginning(base, prefix) == beginning(address, prefix)
            }
            Target::Host(..) => false,
        }
    }
}

/// The address as a number of so many bits.
fn bits(address: IpAddr) -> (u128, u32) {
    match address {
        IpAddr::V4(v4) => (u128::from(v4.to_bits()), 32),
        IpAddr::V6(v6) => (v6.to_bits(), 128),
    }
}

/// Its first bits; none where it has fewer.
fn beginning(address: IpAddr, prefix: u8) -> Option<u128> {
    let (bits, length) = bits(address);
    let rest = length.checked_sub(u32::from(prefix))?;
    // A shift by the whole width leaves nothing.
    Some(bits.checked_shr(rest).unwrap_or(0))
}

impl FromStr for PrivateHost {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = |why: &str| {
            format!("{text:?} {why}; give a host, host:port, an IP address, or a network such as 10.1.0.0/16")
        };
        let target = if let Some((base, prefix)) = text.split_once('/') {
            let base: IpAddr = base.parse().map_err(|_| wrong("is no network"))?;
            let prefix: u8 = prefix.parse().map_err(|_| wrong("has no prefix length"))?;
            let (number, length) = bits(base);
            let rest = length.checked_sub(u32::from(prefix)).ok_or_else(|| wrong("has too long a prefix"))?;
            if number != 0 && number.trailing_zeros() < rest {
                return Err(wrong("has bits beyond its prefix"));
            }
            Target::Network(base, prefix)
        } else {
            let authority = match text.parse::<IpAddr>() {
                Ok(IpAddr::V6(v6)) => format!("[{v6}]"),
                _ => text.to_owned(),
            };
            if authority.contains(['?', '#', '*', '@']) {
                return Err(wrong("is no host"));
            }
            let url = WebUrl::parse(&format!("http://{authority}/")).map_err(|_| wrong("is no host"))?;
            let port = authority.rsplit_once(':').filter(|(_, port)| !port.contains(']'));
            let port = port.map(|(_, port)| port.parse::<u16>());
            let port = port.transpose().map_err(|_| wrong("has no valid port"))?;
            Target::Host(url.host().clone(), port)
        };
        Ok(Self { text: text.to_owned(), target })
    }
}

impl TryFrom<String> for PrivateHost {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<PrivateHost> for String {
    fn from(host: PrivateHost) -> Self {
        host.text
    }
}

impl fmt::Display for PrivateHost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl NetworkConfig {
    /// What the types cannot say, each with its key.
    pub(super) fn check(&self, passed_on: &[String], wrong: &mut impl FnMut(&str, String)) {
        let (limit, bytes) = (self.max_bytes_limit.clamp(1, BODY_BYTES_MAX), self.max_bytes);
        if bytes > limit && bytes <= BODY_BYTES_MAX {
            wrong("network.max_bytes", format!("{bytes} is out of bounds: 1 to {limit}"));
        }
        let visible = |c: char| c.is_ascii_graphic() || c == ' ';
        if self.user_agent.len() > 256 || !self.user_agent.chars().all(visible) {
            wrong("network.user_agent", "at most 256 visible ASCII characters".to_owned());
        }
        for (index, path) in self.ca_files.iter().enumerate() {
            if !path.is_absolute() {
                wrong(&format!("network.ca_files[{index}]"), format!("{} is not absolute", path.display()));
            }
        }
        if let Some(proxy) = &self.proxy {
            proxy.check(passed_on, wrong);
        }
    }
}

impl ProxyConfig {
    fn check(&self, passed_on: &[String], wrong: &mut impl FnMut(&str, String)) {
        let passwords = usize::from(self.password_file.is_some()) + usize::from(self.password_env.is_some());
        match (&self.username, passwords) {
            (None, 0) | (Some(_), 1) => {}
            _ => wrong(
                "network.proxy",
                "give username together with one of password_file and password_env, or none of them"
                    .to_owned(),
            ),
        }
        if self.username.as_ref().is_some_and(|name| name.is_empty() || name.contains(':')) {
            wrong("network.proxy.username", "a user name is not empty and has no colon".to_owned());
        }
        if self.password_file.as_ref().is_some_and(|path| !path.is_absolute()) {
            wrong("network.proxy.password_file", "the path is not absolute".to_owned());
        }
        if let Some(name) = &self.password_env {
            let key = "network.proxy.password_env";
            if name.is_empty() || name.contains(['=', '\0']) {
                wrong(key, format!("{name:?} is no variable"));
            }
            if name.starts_with("TOOLGATE_") {
                wrong(key, "TOOLGATE_… variables are the configuration's own".to_owned());
            }
            if passed_on.contains(name) {
                wrong(key, format!("bash.pass_environment hands {name} to commands"));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn private_hosts_name_hosts_ports_and_networks() {
        let address = |text: &str| text.parse::<IpAddr>().unwrap();
        let host = |text: &str| WebUrl::parse(&format!("http://{text}/")).unwrap().host().clone();
        for (entry, target, port, named) in [
            ("intra.example", "intra.example", 80, true),
            ("Intra.Example.", "intra.example", 8080, true),
            ("intra.example", "a.intra.example", 80, false),
            ("intra.example:8080", "intra.example", 8080, true),
            ("intra.example:8080", "intra.example", 80, false),
            ("intra.example:80", "intra.example", 80, true),
            ("127.0.0.1", "127.0.0.1", 1, true),
            ("127.0.0.1:9", "127.0.0.1", 1, false),
            ("0x7f.1", "127.0.0.1", 1, true),
            ("::1", "[::1]", 1, true),
            ("[::1]:9", "[::1]", 9, true),
            ("[::1]:9", "[::1]", 1, false),
            ("10.0.0.0/8", "10.0.0.1", 1, false),
        ] {
            let entry: PrivateHost = entry.parse().unwrap();
            assert_eq!(entry.names(&host(target), port), named, "{entry} {target}:{port}");
        }
        for (entry, target, inside) in [
            ("10.0.0.0/8", "10.255.0.1", true),
            ("10.0.0.0/8", "11.0.0.1", false),
            ("10.0.0.0/8", "::a00:1", false),
            ("0.0.0.0/0", "10.0.0.1", true),
            ("0.0.0.0/0", "fd00::1", false),
            ("127.0.0.1/32", "127.0.0.1", true),
            ("fd00::/8", "fdff::1", true),
            ("fd00::/8", "fe80::1", false),
            ("::/0", "fd00::1", true),
            ("127.0.0.1", "127.0.0.1", false),
        ] {
            assert_eq!(
                entry.parse::<PrivateHost>().unwrap().contains(address(target)),
                inside,
                "{entry} {target}"
            );
        }
        for bad in [
            "",
            "a b",
            "10.0.0.1/8",
            "10.0.0.0/33",
            "10.0.0.0/",
            "a/8",
            "x@y",
            "*.a.example",
            "a:b",
            "http://a",
            "a:99999",
            "a?b",
            "fd00::1/8",
        ] {
            assert!(bad.parse::<PrivateHost>().is_err(), "{bad:?}");
        }
    }

    #[test]
    fn a_proxy_has_no_password_in_its_url() {
        assert!(ProxyUrl::try_from("http://p.example:3128".to_owned()).is_ok());
        for bad in
            ["http://u:hunter2@p.example", "socks5://p.example", "http://p.example/x", "p.example:3128"]
        {
            let said = ProxyUrl::try_from(bad.to_owned()).unwrap_err();
            assert!(!said.contains("hunter2"), "{said}");
        }
    }
}
