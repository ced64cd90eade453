//! Layers the configuration: defaults, the file, `TOOLGATE_…` variables, flags; and checks it.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::bounds::BOUNDS;
use super::problem::{ConfigError, ConfigProblem};
use super::typed::typed;
use super::{Config, file, keys, source, telemetry};
use crate::domain::arguments::parse_unambiguous;

/// Variables that are the command line client's, not the server's.
const CLIENT_VARIABLES: &[&str] = &["TOOLGATE_URL", "TOOLGATE_TOKEN", "TOOLGATE_CONFIG"];
/// The largest config file, in bytes.
const FILE_MAX: u64 = 4 * 1024 * 1024;

/// What comes over the file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Overrides {
    /// The environment's `TOOLGATE_…` variables; others are ignored.
    pub variables: Vec<(String, String)>,
    /// `--listen`.
    pub listen: Option<String>,
    /// `--data-dir`.
    pub data_dir: Option<PathBuf>,
    /// `--workspace-root`, any number of times.
    pub workspace_roots: Vec<PathBuf>,
}

/// A config that is in order in itself.
#[derive(Debug, Clone, PartialEq)]
pub struct LoadedConfig {
    /// The values.
    pub config: Config,
    /// The file's text, to find lines by; empty where there is no file.
    pub text: String,
    /// The file.
    pub path: Option<PathBuf>,
    /// Where each key's value comes from; the defaults' keys are left out.
    pub layers: BTreeMap<String, Layer>,
}

/// Where a value comes from, when not from the defaults.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Layer {
    /// The file.
    File,
    /// This environment variable.
    Variable(String),
    /// This flag.
    Flag(&'static str),
}

impl LoadedConfig {
    /// An error about a key of this config, with its line, or with what lies over the file there.
    pub fn problem(&self, key: &str, message: impl Into<String>) -> ConfigProblem {
        let of_list = key.split('[').next().unwrap_or(key);
        let (line, from) = match self.layers.get(of_list) {
            Some(Layer::Variable(name)) => (None, format!(" (from the environment variable {name})")),
            Some(Layer::Flag(flag)) => (None, format!(" (from {flag})")),
            Some(Layer::File) | None if self.text.is_empty() => (None, String::new()),
            Some(Layer::File) | None => (source::locate(&self.text, key), String::new()),
        };
        ConfigProblem { line, key: key.to_owned(), message: message.into() + &from }
    }

    /// The error that these problems are.
    pub fn invalid(&self, problems: Vec<ConfigProblem>) -> ConfigError {
        ConfigError::Invalid { path: self.path.clone(), problems }
    }
}

/// Loads a config: the file, where one is given, under the overrides. All that is wrong is told.
pub fn load(path: Option<&Path>, overrides: &Overrides) -> Result<LoadedConfig, ConfigError> {
    let (loaded, problems) = load_all(path, overrides)?;
    if problems.is_empty() { Ok(loaded) } else { Err(loaded.invalid(problems)) }
}

/// The same, with what is good of a file in which something is wrong; an error only where nothing can be read.
pub fn load_all(
    path: Option<&Path>,
    overrides: &Overrides,
) -> Result<(LoadedConfig, Vec<ConfigProblem>), ConfigError> {
    let text = path.map(read).transpose()?.unwrap_or_default();
    let path = path.map(Path::to_path_buf);
    let parsed = if path.is_none() { Ok(Value::Object(Map::new())) } else { source::parse(&text) };
    let mut value =
        parsed.map_err(|problem| ConfigError::Invalid { path: path.clone(), problems: vec![problem] })?;
    let (_, mut problems) = typed(&mut value, Some(&text));
    let mut layers: BTreeMap<String, Layer> =
        keys::leaves(&value).into_keys().map(|key| (key, Layer::File)).collect();
    apply_variables(&mut value, &overrides.variables, &mut layers, &mut problems);
    let (mut config, rest) = typed(&mut value, Some(&text));
    problems.extend(rest);
    apply_flags(&mut config, overrides, &mut layers);
    let loaded = LoadedConfig { config, text, path, layers };
    problems.extend(check(&loaded));
    Ok((loaded, problems))
}

fn read(path: &Path) -> Result<String, ConfigError> {
    let unreadable = |reason| ConfigError::Unreadable { path: path.to_path_buf(), reason };
    file::read(path, FILE_MAX).map_err(unreadable)
}

/// Puts `TOOLGATE_SECTION__KEY=value` at `section.key`. The value is JSON where it can be read as
/// that, else a string.
fn apply_variables(
    value: &mut Value,
    variables: &[(String, String)],
    layers: &mut BTreeMap<String, Layer>,
    problems: &mut Vec<ConfigProblem>,
) {
    for (name, text) in variables {
        let Some(rest) = name.strip_prefix("TOOLGATE_") else { continue };
        if CLIENT_VARIABLES.contains(&name.as_str()) {
            continue;
        }
        let key = rest.to_ascii_lowercase().replace("__", ".");
        let parsed = parse_unambiguous(text).unwrap_or_else(|_| Value::String(text.clone()));
        let mut trial = value.clone();
        keys::put(&mut trial, &key, parsed);
        let whole = trial.clone();
        let (_, wrong) = typed(&mut trial, None);
        if wrong.is_empty() {
            *value = whole;
            layers.insert(key, Layer::Variable(name.clone()));
        }
        problems.extend(wrong.into_iter().map(|problem| ConfigProblem {
            line: None,
            key: format!("environment variable {name}"),
            message: problem.message,
        }));
    }
}

fn apply_flags(config: &mut Config, overrides: &Overrides, layers: &mut BTreeMap<String, Layer>) {
    let mut from = |key: &str, flag| drop(layers.insert(key.to_owned(), Layer::Flag(flag)));
    if let Some(listen) = &overrides.listen {
        config.server.listen.clone_from(listen);
        from("server.listen", "--listen");
    }
    if let Some(data_dir) = &overrides.data_dir {
        config.data_dir = Some(data_dir.clone());
        from("data_dir", "--data-dir");
    }
    if !overrides.workspace_roots.is_empty() {
        config.workspace_roots.clone_from(&overrides.workspace_roots);
        from("workspace_roots", "--workspace-root");
    }
}

/// What the types cannot say.
fn check(loaded: &LoadedConfig) -> Vec<ConfigProblem> {
    let config = &loaded.config;
    let mut problems = Vec::new();
    let mut wrong = |key: &str, message: String| problems.push(loaded.problem(key, message));
    if config.server.listen.parse::<SocketAddr>().is_err() {
        let listen = &config.server.listen;
        wrong(
            "server.listen",
            format!("{listen:?} is no address and port such as 127.0.0.1:8765 or [::1]:0"),
        );
    }
    let keys = keys::of(config);
    for (key, least, most) in BOUNDS {
        let value = keys.get(*key).and_then(Value::as_u64);
        if let Some(value) = value.filter(|value| value < least || value > most) {
            wrong(key, format!("{value} is out of bounds: {least} to {most}"));
        }
    }
    if !config.permissions.max_mode.admits(config.permissions.mode) {
        wrong(
            "permissions.mode",
            "sessions would begin in a mode wider than permissions.max_mode".to_owned(),
        );
    }
    for (index, name) in config.bash.pass_environment.iter().enumerate() {
        if name.starts_with("TOOLGATE_") || name.is_empty() || name.contains(['=', '\0']) {
            let message = format!("{name:?} cannot be passed to commands");
            wrong(&format!("bash.pass_environment[{index}]"), message);
        } else if super::server::changes_the_shell(name) {
            let message = format!(
                "{name} changes what a command means to bash, so that it runs otherwise than it was judged"
            );
            wrong(&format!("bash.pass_environment[{index}]"), message);
        }
    }
    check_tokens(config, &mut wrong);
    config.network.check(&config.bash.pass_environment, &mut wrong);
    if let Some(host) = &config.approvals.forward_to {
        host.check(&config.bash.pass_environment, &mut wrong);
    }
    telemetry::check(&config.telemetry, &mut wrong);
    problems
}

fn check_tokens(config: &Config, wrong: &mut impl FnMut(&str, String)) {
    for (index, token) in config.auth.tokens.iter().enumerate() {
        let key = format!("auth.tokens[{index}]");
        let sources = [token.sha256.is_some(), token.file.is_some(), token.env.is_some()];
        if sources.iter().filter(|given| **given).count() != 1 {
            wrong(&key, "give exactly one of sha256, file and env".to_owned());
        }
        let letters = |name: &str| name.bytes().all(|b| b.is_ascii_alphanumeric() || b"._-".contains(&b));
        if token.name.is_empty() || token.name.len() > 64 || !letters(&token.name) {
            wrong(&format!("{key}.name"), "a name has 1 to 64 of A-Z a-z 0-9 . _ -".to_owned());
        }
        if matches!(token.name.as_str(), "agent" | "operator" | "server") {
            wrong(&format!("{key}.name"), format!("{:?} is the server's own", token.name));
        }
        if config.auth.tokens[..index].iter().any(|earlier| earlier.name == token.name) {
            wrong(&format!("{key}.name"), format!("{:?} is there twice", token.name));
        }
        let hex = |text: &String| text.len() == 64 && text.bytes().all(|b| b.is_ascii_hexdigit());
        if token.sha256.as_ref().is_some_and(|text| !hex(text)) {
            wrong(&format!("{key}.sha256"), "64 hexadecimal digits, as sha256sum prints them".to_owned());
        }
        if token.env.as_ref().is_some_and(|name| name.starts_with("TOOLGATE_")) {
            wrong(&format!("{key}.env"), "TOOLGATE_… variables are the configuration's own".to_owned());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load_text(text: &str, variables: &[(&str, &str)]) -> Result<Config, String> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        let variables = variables.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect();
        let overrides = Overrides { variables, ..Overrides::default() };
        load(Some(file.path()), &overrides).map(|loaded| loaded.config).map_err(|error| error.to_string())
    }

    #[test]
    fn comments_and_layers() {
        let text = "{\n // where\n \"server\": {\"listen\": \"127.0.0.1:1\",},\n}";
        assert_eq!(load_text(text, &[]).unwrap().server.listen, "127.0.0.1:1");
        let over = load_text(text, &[("TOOLGATE_SERVER__LISTEN", "127.0.0.1:2"), ("TOOLGATE_URL", "x")]);
        assert_eq!(over.unwrap().server.listen, "127.0.0.1:2");
        let list = load_text("{}", &[("TOOLGATE_PERMISSIONS__DENY", r#"["Bash"]"#)]).unwrap();
        assert_eq!(list.permissions.deny, ["Bash"]);
    }

    #[test]
    fn errors_have_line_and_key() {
        for (text, variables, parts) in [
            ("{\n\n\"server\": {\"listen\": 7}}", &[][..], &["line 3", "server.listen"][..]),
            ("{\n\"server\":\n{\"lisen\": \"x\"}}", &[], &["line 3", "lisen"]),
            (
                "{\n\"events\": {\n\"heartbeat_ms\": 1}}",
                &[],
                &["line 3", "events.heartbeat_ms", "1000 to 60000"],
            ),
            ("{\n\"bash\": {}\n\"events\": {}}", &[], &["line 2", "comma"]),
            (
                "{\"permissions\": {\"deny\": [\"A\"],\n\"deny\": []}}",
                &[],
                &["line 2", "permissions.deny", "twice"],
            ),
            ("{}", &[("TOOLGATE_SERVR__LISTEN", "x")], &["TOOLGATE_SERVR__LISTEN", "servr"]),
            ("{}", &[("TOOLGATE_PERMISSIONS", r#"{"deny":["A"],"deny":[]}"#)], &["TOOLGATE_PERMISSIONS"]),
            (
                "{\"auth\": {\"tokens\": [\n{\"name\": \"a b\", \"role\": \"agent\"}]}}",
                &[],
                &["line 2", "auth.tokens[0]", "exactly one"],
            ),
            (
                "{\"network\": {\"allowed_private_hosts\": [\"10.0.0.0/8\",\n\"10.0.0.1/8\"]}}",
                &[],
                &["line 2", "network.allowed_private_hosts[1]", "beyond its prefix"],
            ),
            (
                "{\"network\": {\n\"proxy\": {\"url\": \"http://p:1\", \"username\": \"u\"}}}",
                &[],
                &["line 2", "network.proxy", "password_file"],
            ),
            (
                "{\"network\": {\"max_bytes_limit\": 10,\n\"max_bytes\": 11}}",
                &[],
                &["line 2", "network.max_bytes", "1 to 10"],
            ),
        ] {
            let error = load_text(text, variables).unwrap_err();
            for part in parts {
                assert!(error.contains(part), "{part} in {error}");
            }
        }
    }
}
