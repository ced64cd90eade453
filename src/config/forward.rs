//! The host that this server forwards its approvals to: where it is, as whom, and how long it is waited for.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::domain::web::{Host, HostError, WebUrl};
use crate::domain::worker::is_worker_name;

/// A host with people: what would ask here is asked there. Whatever goes wrong on the way denies.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ForwardConfig {
    /// The host's address, such as `https://gate.example`; a path in it comes before `/v1`.
    pub url: HostUrl,
    /// An absolute path of a file that holds this worker's token of the host; read for each request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token_file: Option<PathBuf>,
    /// An environment variable that holds it; not named `TOOLGATE_…`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token_env: Option<String>,
    /// What this server calls itself there: 1 to 64 of `A-Z a-z 0-9 . _ -`.
    pub name: String,
    /// An absolute path of a PEM file with CA certificates that are trusted besides the system's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ca_file: Option<PathBuf>,
    /// How long connecting, and an answer that need not wait, may take, in milliseconds, 100 to 60000.
    #[serde(default = "timeout_ms")]
    pub timeout_ms: u64,
    /// How long the host may be out of reach before an ask is denied, in seconds, 1 to 86400.
    #[serde(default = "retry_for_s")]
    pub retry_for_s: u64,
    /// Send token and asks by plain http to other than loopback.
    #[serde(default)]
    pub accept_plain_http: bool,
    /// This server's own operators may allow, too, and may widen modes. Else only the host allows.
    #[serde(default)]
    pub local_decisions: bool,
}

fn timeout_ms() -> u64 {
    10_000
}

fn retry_for_s() -> u64 {
    300
}

/// The URL of a host: http or https, a host, perhaps a port and a path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
pub struct HostUrl(WebUrl);

impl HostUrl {
    /// The URL.
    pub fn url(&self) -> &WebUrl {
        &self.0
    }

    fn is_loopback(&self) -> bool {
        match self.0.host() {
            Host::Name(name) => name == "localhost",
            Host::Address(address) => address.is_loopback(),
        }
    }
}

impl TryFrom<String> for HostUrl {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        // Never with the text in it: it may hold a token.
        let url = WebUrl::parse(&text).map_err(|error| match error {
            HostError::UserInfo => {
                "the token does not belong into the URL: use token_file or token_env".to_owned()
            }
            other => format!("{other}; a host is such as https://gate.example"),
        })?;
        let bare = url.url().query().is_none() && url.url().fragment().is_none();
        if bare { Ok(Self(url)) } else { Err("a host's URL has no query and no fragment".to_owned()) }
    }
}

impl From<HostUrl> for String {
    fn from(url: HostUrl) -> Self {
        url.0.to_string()
    }
}

impl ForwardConfig {
    /// What the types cannot say, each with its key.
    pub(super) fn check(&self, passed_on: &[String], wrong: &mut impl FnMut(&str, String)) {
        let key = "approvals.forward_to";
        if self.token_file.is_some() == self.token_env.is_some() {
            wrong(key, "give exactly one of token_file and token_env".to_owned());
        }
        if !is_worker_name(&self.name) {
            wrong(&format!("{key}.name"), "a name has 1 to 64 of A-Z a-z 0-9 . _ -".to_owned());
        }
        for (name, path) in [("token_file", &self.token_file), ("ca_file", &self.ca_file)] {
            if path.as_ref().is_some_and(|path| !path.is_absolute()) {
                wrong(&format!("{key}.{name}"), "the path is not absolute".to_owned());
            }
        }
        if let Some(name) = &self.token_env {
            let key = format!("{key}.token_env");
            if name.is_empty() || name.contains(['=', '\0']) {
                wrong(&key, format!("{name:?} is no variable"));
            }
            if name.starts_with("TOOLGATE_") {
                wrong(&key, "TOOLGATE_… variables are the configuration's own".to_owned());
            }
            if passed_on.contains(name) {
                wrong(&key, format!("bash.pass_environment hands {name} to commands"));
            }
        }
        if !self.url.0.is_https() && !self.url.is_loopback() && !self.accept_plain_http {
            wrong(
                &format!("{key}.url"),
                "plain http would show the token on the way: use https, or set accept_plain_http to true"
                    .to_owned(),
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn problems(change: &[(&str, Value)]) -> Vec<String> {
        let mut text =
            json!({"url": "https://gate.example", "token_file": "/etc/worker-token", "name": "build-1"});
        for (name, value) in change {
            text[*name] = value.clone();
        }
        let mut found = Vec::new();
        match serde_json::from_value::<ForwardConfig>(text) {
            Ok(config) => config.check(&["HANDED_ON".to_owned()], &mut |key, _| found.push(key.to_owned())),
            Err(error) => found.push(error.to_string()),
        }
        found
    }

    #[test]
    fn a_host_has_one_token_and_no_open_way() {
        assert!(problems(&[]).is_empty());
        for url in ["http://127.0.0.1:8765", "http://localhost:1/prefix/", "http://[::1]:1"] {
            assert!(problems(&[("url", json!(url))]).is_empty(), "{url}");
        }
        let plain = json!("http://10.0.0.1:8765");
        assert_eq!(problems(&[("url", plain.clone())]), ["approvals.forward_to.url"]);
        assert!(problems(&[("url", plain), ("accept_plain_http", json!(true))]).is_empty());
        assert_eq!(problems(&[("url", json!("http://localhost.evil"))]), ["approvals.forward_to.url"]);
        for (change, key) in [
            (("token_env", json!("GATE")), "approvals.forward_to"),
            (("token_file", Value::Null), "approvals.forward_to"),
            (("token_file", json!("token")), "approvals.forward_to.token_file"),
            (("ca_file", json!("ca.pem")), "approvals.forward_to.ca_file"),
            (("name", json!("")), "approvals.forward_to.name"),
            (("name", json!("a\u{1b}b")), "approvals.forward_to.name"),
        ] {
            assert_eq!(problems(std::slice::from_ref(&change)), [key], "{change:?}");
        }
        for name in ["HANDED_ON", "TOOLGATE_X", "", "a=b"] {
            let found = problems(&[("token_file", Value::Null), ("token_env", json!(name))]);
            assert_eq!(found, ["approvals.forward_to.token_env"], "{name}");
        }
    }

    #[test]
    fn what_is_wrong_with_a_url_is_said_without_it() {
        for bad in [
            "gate.example",
            "ftp://gate.example",
            "https://user:hunter2@gate.example",
            "https://g/?hunter2",
            "https://g/#hunter2",
        ] {
            let found = problems(&[("url", json!(bad))]);
            assert!(found.len() == 1 && !found[0].contains("hunter2"), "{found:?}");
        }
    }
}
