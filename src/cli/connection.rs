//! Which server to speak to, and with which token.

use std::env::VarError;
use std::path::{Path, PathBuf};

use clap::Args;
use reqwest::Url;

use super::error::CliError;

/// The longest token file that is read, in bytes.
const TOKEN_FILE_MAX: u64 = 4096;

/// The options that every client command shares.
#[derive(Debug, Clone, Args)]
pub(super) struct ConnectionArgs {
    /// The server's address
    #[arg(
        long,
        env = "TOOLGATE_URL",
        hide_env_values = true,
        value_name = "URL",
        default_value = "http://127.0.0.1:8765"
    )]
    url: String,
    /// A file that holds the token; without it TOOLGATE_TOKEN is taken, else the data directory's
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// Where a server on this machine keeps its tokens [default: $XDG_STATE_HOME/toolgate]
    #[arg(long, env = "TOOLGATE_DATA_DIR", hide_env_values = true, value_name = "DIR")]
    data_dir: Option<PathBuf>,
}

/// As what a command acts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// Makes calls and watches its own sessions.
    Agent,
    /// Decides, and sees all sessions.
    Operator,
    /// Looks and ends: as the operator where its token is at hand, else as the agent.
    Either,
}

impl Role {
    /// The names of the token files to look for, the better one first.
    fn files(self) -> &'static [&'static str] {
        match self {
            Self::Agent => &["agent"],
            Self::Operator => &["operator"],
            Self::Either => &["operator", "agent"],
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Agent => "agent",
            Self::Operator => "operator",
            Self::Either => "agent or operator",
        }
    }
}

/// A server's address and the token to present there.
#[derive(Clone)]
pub(super) struct Connection {
    /// The base of all addresses; its path ends with a slash.
    pub(super) base: Url,
    /// The bearer token.
    pub(super) token: String,
}

impl std::fmt::Debug for Connection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Connection").field("base", &self.base.as_str()).finish_non_exhaustive()
    }
}

impl ConnectionArgs {
    /// The connection for a role, from the options, the environment and the token files.
    pub(super) fn resolve(&self, role: Role) -> Result<Connection, CliError> {
        let base = parse_base(&self.url)?;
        if let Some(file) = &self.token_file {
            let token = read_token(file).map_err(|cause| CliError::NoToken {
                what: format!("no token: {} {cause}", file.display()),
                hint: "--token-file names a file that holds a token and nothing else".into(),
            })?;
            return Ok(Connection { base, token });
        }
        let token = match token_from_environment(std::env::var("TOOLGATE_TOKEN"))? {
            Some(token) => token,
            None => self.token_from_data_dir(&base, role)?,
        };
        Ok(Connection { base, token })
    }

    /// The address alone, for what needs no token.
    pub(super) fn base(&self) -> Result<Url, CliError> {
        parse_base(&self.url)
    }

    fn token_from_data_dir(&self, base: &Url, wanted: Role) -> Result<String, CliError> {
        let role = wanted.name();
        if !is_loopback(base) {
            return Err(CliError::NoToken {
                what: format!("no token for {base}"),
                hint: format!(
                    "set TOOLGATE_TOKEN to the {role} token of that server, or name a file with \
                     --token-file; this machine's own token files are not sent to another one"
                ),
            });
        }
        let dir = match &self.data_dir {
            Some(dir) => dir.clone(),
            None => default_data_dir(std::env::var("XDG_STATE_HOME").ok(), std::env::var("HOME").ok())
                .ok_or_else(|| CliError::NoToken {
                    what: "no token, and no home directory to look for one".into(),
                    hint: format!("set TOOLGATE_TOKEN, or name the server's --data-dir ({role} token)"),
                })?,
        };
        let files = wanted.files().iter().map(|name| dir.join("tokens").join(name));
        let mut failed = None;
        for file in files {
            match read_token(&file) {
                Ok(token) => return Ok(token),
                Err(cause) => failed = Some((file, cause)),
            }
        }
        let (file, cause) = failed.unwrap_or_default();
        Err(CliError::NoToken {
            what: format!("no {role} token: {} {cause}", file.display()),
            hint: "set TOOLGATE_TOKEN, or name the server's --data-dir; \
                   the server makes its tokens on its first start"
                .into(),
        })
    }

    #[cfg(test)]
    pub(super) fn at(url: &str, data_dir: &Path) -> Self {
        Self { url: url.into(), token_file: None, data_dir: Some(data_dir.to_owned()) }
    }
}

fn token_from_environment(value: Result<String, VarError>) -> Result<Option<String>, CliError> {
    let token = match value {
        Err(VarError::NotPresent) => return Ok(None),
        Err(VarError::NotUnicode(_)) => String::from("\u{fffd}"),
        Ok(token) => token.trim().to_owned(),
    };
    if token.is_empty() {
        return Ok(None);
    }
    if is_token(&token) {
        return Ok(Some(token));
    }
    Err(CliError::usage(
        "TOOLGATE_TOKEN is not a token",
        "a token is one word of visible ASCII; it is not shown here",
    ))
}

fn is_token(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_graphic())
}

fn read_token(file: &Path) -> Result<String, String> {
    use std::io::Read as _;
    let told = |error: std::io::Error| format!("cannot be read ({error})");
    let opened = std::fs::File::open(file).map_err(told)?;
    if !opened.metadata().map_err(told)?.is_file() {
        return Err("is not a file".into());
    }
    let mut text = String::new();
    opened.take(TOKEN_FILE_MAX).read_to_string(&mut text).map_err(told)?;
    let token = text.trim();
    if is_token(token) { Ok(token.to_owned()) } else { Err("does not hold a token".into()) }
}

/// `$XDG_STATE_HOME/toolgate`, else `~/.local/state/toolgate` (XDG Base Directory: a relative
/// path there is to be ignored).
pub(super) fn default_data_dir(state_home: Option<String>, home: Option<String>) -> Option<PathBuf> {
    let absolute = |text: Option<String>| text.map(PathBuf::from).filter(|path| path.is_absolute());
    absolute(state_home)
        .or_else(|| absolute(home).map(|home| home.join(".local/state")))
        .map(|state| state.join("toolgate"))
}

fn parse_base(text: &str) -> Result<Url, CliError> {
    let form = "the form is http://HOST:PORT, for instance http://127.0.0.1:8765";
    let mut url =
        Url::parse(text).map_err(|error| CliError::usage(format!("{text} is not a URL: {error}"), form))?;
    if !matches!(url.scheme(), "http" | "https") || !url.has_host() {
        return Err(CliError::usage(format!("{text} is not an http:// or https:// address"), form));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(CliError::usage(
            "the address carries a name or password",
            "put the token in TOOLGATE_TOKEN, not in the address",
        ));
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err(CliError::usage(format!("{text} has a query or fragment"), form));
    }
    if !url.path().ends_with('/') {
        let path = format!("{}/", url.path());
        url.set_path(&path);
    }
    Ok(url)
}

fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let host = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(result: Result<impl std::fmt::Debug, CliError>) -> String {
        result.unwrap_err().report().unwrap()
    }

    #[test]
    fn addresses() {
        assert_eq!(parse_base("http://127.0.0.1:8765").unwrap().as_str(), "http://127.0.0.1:8765/");
        assert_eq!(parse_base("http://gate/prefix").unwrap().as_str(), "http://gate/prefix/");
        assert_eq!(parse_base("https://gate").unwrap().as_str(), "https://gate/");
        for bad in
            ["", "gate", "ftp://gate/", "http://u:p@gate/", "http://gate/?q", "http://gate/#f", "unix:/x"]
        {
            assert_eq!(parse_base(bad).unwrap_err().exit_code(), super::super::error::USAGE, "{bad}");
        }
        let told = report(parse_base("http://user:hunter2@gate/"));
        assert!(!told.contains("hunter2"), "{told}");
    }

    #[test]
    fn token_files_are_for_this_machine_alone() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("tokens")).unwrap();
        std::fs::write(dir.path().join("tokens/agent"), "tg_secret\n").unwrap();
        let token = |url: &str, role| {
            ConnectionArgs::at(url, dir.path()).token_from_data_dir(&parse_base(url).unwrap(), role)
        };
        for here in ["http://127.0.0.1:1", "http://localhost:1", "http://[::1]:1"] {
            assert_eq!(token(here, Role::Agent).unwrap(), "tg_secret", "{here}");
        }
        for there in ["http://10.0.0.1:1", "http://localhost.evil:1", "http://127.0.0.1.evil:1"] {
            assert!(token(there, Role::Agent).is_err(), "{there}");
        }
        assert_eq!(token("http://127.0.0.1:1", Role::Either).unwrap(), "tg_secret");
        let told = report(token("http://127.0.0.1:1", Role::Operator));
        assert!(told.contains("tokens/operator") && told.contains("TOOLGATE_TOKEN"), "{told}");
        std::fs::write(dir.path().join("tokens/operator"), "tg_other\n").unwrap();
        assert_eq!(token("http://127.0.0.1:1", Role::Either).unwrap(), "tg_other");
    }

    #[test]
    fn tokens_are_one_word_and_never_shown() {
        assert_eq!(token_from_environment(Err(VarError::NotPresent)).unwrap(), None);
        assert_eq!(token_from_environment(Ok("  ".into())).unwrap(), None);
        assert_eq!(token_from_environment(Ok("abc\n".into())).unwrap().as_deref(), Some("abc"));
        assert!(!report(token_from_environment(Ok("hush\r\nX-Evil: 1".into()))).contains("hush"));
        let connection = Connection { base: parse_base("http://a").unwrap(), token: "hush".into() };
        assert!(!format!("{connection:?}").contains("hush"));
    }

    #[test]
    fn the_data_directory_follows_xdg() {
        let dir = |state: Option<&str>, home: Option<&str>| {
            default_data_dir(state.map(Into::into), home.map(Into::into))
        };
        assert_eq!(dir(Some("/s"), Some("/h")), Some("/s/toolgate".into()));
        assert_eq!(dir(Some("relative"), Some("/h")), Some("/h/.local/state/toolgate".into()));
        assert_eq!(dir(None, None), None);
    }
}
