//! Puts the server together: the only room that names every concrete type.

mod check;
mod derive;
mod greeting;
mod open_files;
mod places;
mod program_pages;
mod reload;
mod telemetry;
mod tokens;

use std::ffi::OsString;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::config::{self, AuthMode, Capacity, Config, LimitsConfig, LoadedConfig, Overrides, ReloadHandle};
use crate::domain::clock::{SharedClock, SystemClock, Timestamp};
use crate::domain::identity::{Ids, RandomIds};
use crate::executor::{BuiltinToolExecutor, RoutingExecutor};
use crate::http::{self, ApiState, Facts, Listening, ServeLimits};
use crate::permission::{
    ApprovalProxy, Gate, HostProxy, HostSecret, InForce, PolicyChecker, Revision, StoreDesk,
};
use crate::process::{Launcher, LauncherOptions};
use crate::sandbox::FloorStatus;
use crate::session::{Parts, Sessions};
use crate::store::Store;
use crate::store::sqlite::{AuditBounds, SqliteOptions, SqliteStore};
use crate::telemetry::{LogControl, Metrics};
use crate::tools::OwnListener;
pub use check::{CheckedConfig, check_config, load_config};
use derive::{Derived, Surroundings};
use places::Places;
use reload::Reloader;

/// The server leaves so long after it was told to, whatever hangs.
const LEAVES_WITHIN: Duration = Duration::from_secs(9);

/// How long threads that block have to end, after everything else.
const BLOCKED_FOR: Duration = Duration::from_millis(300);

/// What the command line says.
#[derive(Debug, Clone, Default)]
pub struct ServeOptions {
    /// `--listen`.
    pub listen: Option<String>,
    /// `--data-dir`.
    pub data_dir: Option<PathBuf>,
    /// `--workspace-root`, any number of times.
    pub workspace_roots: Vec<PathBuf>,
    /// `--config`.
    pub config: Option<PathBuf>,
}

/// Why the server does not start; the text says what to do.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct StartError(String);

impl StartError {
    fn from_display(what: &str, error: impl std::fmt::Display) -> Self {
        Self(format!("{what}: {error}"))
    }
}

/// Runs the server until it is told to end.
pub fn serve(options: &ServeOptions) -> ExitCode {
    let environment = environment();
    let (loaded, overrides) = match load(options, &environment) {
        Ok(loaded) => loaded,
        Err(error) => return refuse(&error),
    };
    let metrics = metrics();
    let telemetry = match telemetry::start(&loaded.config.telemetry, &environment, &metrics) {
        Ok(telemetry) => telemetry,
        Err(error) => return refuse(&error),
    };
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return refuse(&StartError::from_display("the runtime could not start", error)),
    };
    let log = telemetry.log_control();
    let ended = runtime.block_on(run((&loaded, overrides), environment, metrics, log));
    // All is written by now. What still blocks a thread, such as the lookup of a name, is not waited for.
    runtime.shutdown_timeout(BLOCKED_FOR);
    // Sends and writes what waits, before the last word.
    drop(telemetry);
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => refuse(&error),
    }
}

fn load(
    options: &ServeOptions,
    environment: &[(OsString, OsString)],
) -> Result<(LoadedConfig, Overrides), StartError> {
    let (path, overrides) = layers(options, environment)?;
    let loaded = config::load(path.as_deref(), &overrides).map_err(|error| StartError(error.to_string()))?;
    Ok((loaded, overrides))
}

#[expect(clippy::print_stderr, reason = "a server that does not start says why, whatever the log is set to")]
fn refuse(error: &StartError) -> ExitCode {
    eprintln!("toolgate: {error}");
    ExitCode::FAILURE
}

async fn run(
    (loaded, overrides): (&LoadedConfig, Overrides),
    environment: Vec<(OsString, OsString)>,
    metrics: Metrics,
    log: LogControl,
) -> Result<(), StartError> {
    let config = &loaded.config;
    let address = address(config)?;
    let places = Places::prepare(config, loaded.path.as_deref(), &environment)?;
    refuse_open_doors(config, address.ip(), None)?;
    let clock: SharedClock = Arc::new(SystemClock);
    let ids: Arc<dyn Ids> = Arc::new(RandomIds);
    let made = tokens::prepare(&places.data_dir, &*ids)?;
    let surroundings = surroundings(config, &places, &made, &environment)?;
    let derived = surroundings.derive(loaded).map_err(|error| StartError(error.to_string()))?;
    let launcher = launch(loaded, &places, environment, &metrics).await?;
    open_files::raise(config.limits.connections);
    let floor = launcher.floor().clone();
    refuse_open_doors(config, address.ip(), Some(&floor))?;
    let closing = open_store(config, &places, &clock, &metrics)?;
    let store: Arc<dyn Store> = closing.clone();
    let in_force = Arc::new(InForce::new(first_revision(loaded, &derived, clock.now())));
    let bounds = Bounds::new(&config.limits);
    let host = host(config, &surroundings, &clock)?;
    let (sessions, own_listener) =
        sessions(&in_force, &bounds.running, &places, &store, (&clock, &ids), &launcher, &metrics, host);
    sessions.recover().await.map_err(|error| {
        StartError::from_display("the calls of the run before could not be taken up", error)
    })?;
    let listening = listen(address).await?;
    own_listener.set(listening.address);
    // Whoever reads the greeting may end the server, or ask for a reload, from then on.
    let (signals, hangup) = (EndSignals::catch()?, catch(SignalKind::hangup())?);
    let (reloads, requests) = ReloadHandle::new();
    let parts = reload::Parts {
        in_force: Arc::clone(&in_force),
        surroundings,
        overrides,
        store: Arc::clone(&store),
        clock,
        launcher: launcher.clone(),
        follow: bounds.follower(Arc::clone(&closing), log),
        metrics: metrics.clone(),
        requests,
        hangup,
    };
    let stop = CancellationToken::new();
    let reloading = tokio::spawn(Reloader::new(parts, loaded, derived).run(stop.clone()));
    let address = listening.address;
    let facts = Arc::new(facts(floor.clone(), address.ip(), &bounds));
    let state = ApiState {
        sessions: sessions.clone(),
        store,
        in_force: Arc::clone(&in_force),
        reloads,
        facts: Arc::clone(&facts),
        metrics: metrics.clone(),
    };
    let serve_limits = ServeLimits { connections: bounds.connections, head_timeout: head_timeout(&in_force) };
    let abort = CancellationToken::new();
    let router = http::router(state);
    let serving = http::serve(listening.counting(metrics), router, serve_limits, stop.clone(), abort.clone());
    let serving = tokio::spawn(serving);
    program_pages::give_back();
    greeting::print(address, &places, &made, &floor);
    tracing::info!(%address, version = env!("CARGO_PKG_VERSION"), "listening");
    signals.come().await;
    tracing::info!("shutting down");
    let grace = Duration::from_millis(in_force.now().config.server.shutdown_grace_ms);
    stop.cancel();
    let leaving = leave(reloading, &sessions, grace, &launcher, &facts, serving);
    if tokio::time::timeout(LEAVES_WITHIN, leaving).await.is_err() {
        tracing::warn!("connections were still open and are closed now");
        abort.cancel();
    }
    closing.close().await;
    Ok(())
}

async fn listen(address: SocketAddr) -> Result<Listening, StartError> {
    let bound = Listening::bind(address).await;
    bound.map_err(|error| StartError::from_display(&format!("cannot listen on {address}"), error))
}

fn facts(floor: FloorStatus, ip: IpAddr, bounds: &Bounds) -> Facts {
    Facts {
        floor,
        own_hosts: own_hosts(ip),
        closing: CancellationToken::new(),
        streams: bounds.streams.clone(),
        requests: bounds.requests.clone(),
    }
}

/// Ends everything in order, once nothing new is taken.
async fn leave(
    reloading: JoinHandle<()>,
    sessions: &Sessions,
    grace: Duration,
    launcher: &Launcher,
    facts: &Facts,
    serving: JoinHandle<()>,
) {
    sessions.shut_down(grace).await;
    let _ = reloading.await;
    launcher.stop().await;
    facts.closing.cancel();
    let _ = serving.await;
}

fn open_store(
    config: &Config,
    places: &Places,
    clock: &SharedClock,
    metrics: &Metrics,
) -> Result<Arc<SqliteStore>, StartError> {
    let options = SqliteOptions {
        events_per_session: config.events.kept_per_session,
        audit: audit_bounds(config),
        grants_hold: Duration::from_secs(config.approvals.grants_expire_after_s),
        metrics: metrics.clone(),
        ..SqliteOptions::default()
    };
    SqliteStore::open(&places.data_dir, Arc::clone(clock), &options)
        .map(Arc::new)
        .map_err(|error| StartError::from_display("the store could not be opened", error))
}

fn audit_bounds(config: &Config) -> AuditBounds {
    AuditBounds { days: config.audit.keep_days, rows: config.audit.max_rows }
}

fn address(config: &Config) -> Result<SocketAddr, StartError> {
    let listen = &config.server.listen;
    listen.parse().map_err(|error| StartError::from_display("server.listen is no address", error))
}

fn surroundings(
    config: &Config,
    places: &Places,
    made: &tokens::MadeTokens,
    environment: &[(OsString, OsString)],
) -> Result<Surroundings, StartError> {
    Ok(Surroundings {
        data_dir: Some(places.data_dir.clone()),
        roots: places.roots.clone(),
        needed: places.needed(),
        tools: derive::tool_names(),
        auth_mode: config.auth.mode,
        own_tokens: tokens::known(made)?,
        environment: Some(environment.into()),
    })
}

/// What the server starts with.
fn first_revision(loaded: &LoadedConfig, derived: &Derived, now: Timestamp) -> Revision {
    for warning in derived.policy.warnings() {
        let line = loaded.problem(&warning.source, "").line;
        tracing::warn!(key = %warning.source, line, rule = %warning.rule, "{}", warning.text);
    }
    Revision {
        number: 1,
        loaded_at: now,
        source: loaded.path.clone(),
        config: Arc::new(loaded.config.clone()),
        policy: Arc::clone(&derived.policy),
        tokens: derived.tokens.clone().into(),
        restart_needed: Vec::new(),
        rules: OnceLock::new(),
    }
}

/// Bounds on what goes on at once; they follow the config.
struct Bounds {
    connections: Capacity,
    requests: Capacity,
    streams: Capacity,
    running: Capacity,
}

impl Bounds {
    fn new(limits: &LimitsConfig) -> Self {
        Self {
            connections: Capacity::new(limits.connections),
            requests: Capacity::new(limits.requests),
            streams: Capacity::new(limits.streams),
            running: Capacity::new(limits.running_calls),
        }
    }

    /// What makes these, the store and the log go by another config.
    fn follower(&self, store: Arc<SqliteStore>, log: LogControl) -> Box<dyn Fn(&Config) + Send + Sync> {
        let (connections, requests) = (self.connections.clone(), self.requests.clone());
        let (streams, running) = (self.streams.clone(), self.running.clone());
        Box::new(move |config| {
            connections.resize(config.limits.connections);
            requests.resize(config.limits.requests);
            streams.resize(config.limits.streams);
            running.resize(config.limits.running_calls);
            store.keep_events(config.events.kept_per_session);
            store.keep_audit(audit_bounds(config));
            log.set_level(config.telemetry.log_level);
        })
    }
}

/// Numbers by the names of the built-in tools.
fn metrics() -> Metrics {
    let tools = BuiltinToolExecutor::tool_schemas();
    let names: Vec<&str> = tools.iter().map(crate::domain::schema::ToolSchema::name).collect();
    Metrics::new(&names)
}

/// The environment, read once.
#[expect(
    clippy::disallowed_methods,
    reason = "this is the one place that reads it whole; commands get a list"
)]
fn environment() -> Vec<(OsString, OsString)> {
    std::env::vars_os().collect()
}

/// The config file, absolute, and what lies over it.
fn layers(
    options: &ServeOptions,
    environment: &[(OsString, OsString)],
) -> Result<(Option<PathBuf>, Overrides), StartError> {
    let variables = environment
        .iter()
        .filter_map(|(name, value)| Some((name.to_str()?.to_owned(), value.to_str()?.to_owned())));
    let variables: Vec<(String, String)> =
        variables.filter(|(name, _)| name.starts_with("TOOLGATE_")).collect();
    let from_environment = variables.iter().find(|(name, _)| name == "TOOLGATE_CONFIG");
    let path = options.config.clone().or_else(|| from_environment.map(|(_, value)| PathBuf::from(value)));
    let path = path
        .map(std::path::absolute)
        .transpose()
        .map_err(|error| StartError::from_display("the config file's path", error))?;
    let overrides = Overrides {
        variables,
        listen: options.listen.clone(),
        data_dir: options.data_dir.clone(),
        workspace_roots: options.workspace_roots.clone(),
    };
    Ok((path, overrides))
}

/// Refuses a listener that others reach while nothing keeps them, or commands, out.
fn refuse_open_doors(config: &Config, ip: IpAddr, floor: Option<&FloorStatus>) -> Result<(), StartError> {
    if ip.is_loopback() {
        return Ok(());
    }
    if config.auth.mode == AuthMode::None {
        return Err(StartError(format!(
            "auth.mode is none, which is for loopback alone, but server.listen is {ip}: \
             set auth.mode to tokens, or listen on 127.0.0.1"
        )));
    }
    let missing = floor.and_then(|floor| floor.reason_if_missing.as_ref());
    match missing {
        Some(reason) if !config.sandbox.accept_missing_floor => Err(StartError(format!(
            "there is no floor under commands ({reason}), so they could read this server's tokens, \
             and server.listen is {ip}: install bubblewrap or use a kernel with Landlock, \
             listen on 127.0.0.1, or set sandbox.accept_missing_floor to true"
        ))),
        _ => Ok(()),
    }
}

async fn launch(
    loaded: &LoadedConfig,
    places: &Places,
    environment: Vec<(OsString, OsString)>,
    metrics: &Metrics,
) -> Result<Launcher, StartError> {
    let options = LauncherOptions {
        program: PathBuf::from("/proc/self/exe"),
        floor: loaded.config.sandbox.floor,
        hidden: vec![places.data_dir.clone()],
        files: derive::own_files(loaded),
        needed: places.needed(),
        read_only: vec![places.binary.clone()],
        allowed: Vec::new(),
        environment,
        never_in_path: places.roots.clone(),
        metrics: metrics.clone(),
    };
    Launcher::start(options)
        .await
        .map_err(|error| StartError::from_display("programs cannot be started", error))
}

/// The host that decides in the place of people here.
fn host(
    config: &Config,
    surroundings: &Surroundings,
    clock: &SharedClock,
) -> Result<Option<Arc<dyn ApprovalProxy>>, StartError> {
    let Some(forward) = &config.approvals.forward_to else { return Ok(None) };
    let wrong = |reason: String| StartError(format!("approvals.forward_to: {reason}"));
    let environment = surroundings.environment.as_deref().unwrap_or_default();
    let secret = match (&forward.token_file, &forward.token_env) {
        (Some(file), _) => {
            // Read for each request, too; a start without it is a mistake.
            config::read_secret(file).map_err(wrong)?;
            HostSecret::File(file.clone())
        }
        (None, name) => {
            let name = name.as_deref().unwrap_or_default();
            HostSecret::Value(config::secret_of(name, environment).map_err(wrong)?)
        }
    };
    let host = HostProxy::new(forward, secret, Arc::clone(clock)).map_err(wrong)?;
    Ok(Some(Arc::new(host)))
}

fn sessions(
    in_force: &Arc<InForce>,
    running: &Capacity,
    places: &Places,
    store: &Arc<dyn Store>,
    (clock, ids): (&SharedClock, &Arc<dyn Ids>),
    launcher: &Launcher,
    metrics: &Metrics,
    host: Option<Arc<dyn ApprovalProxy>>,
) -> (Sessions, OwnListener) {
    let confined = launcher.floor().reason_if_missing.is_none();
    let grants = Some(Arc::clone(store));
    let checker = PolicyChecker::new(Arc::clone(in_force), grants, places.home.clone(), confined)
        .counting(metrics.clone());
    let desk = StoreDesk::new(Arc::clone(store), Arc::clone(clock), Arc::clone(ids));
    let checker = Arc::new(checker);
    let gate = Gate::new(checker.clone()).with_desk(Arc::new(desk.clone()));
    let builtin = BuiltinToolExecutor::new_with_permissions(checker).behind(gate);
    let own_listener = builtin.own_listener();
    let sessions = Sessions::new(Parts {
        store: Arc::clone(store),
        in_force: Arc::clone(in_force),
        running: running.clone(),
        clock: Arc::clone(clock),
        ids: Arc::clone(ids),
        executor: Arc::new(RoutingExecutor::new(Arc::new(builtin))),
        desk,
        host,
        launcher: Some(launcher.clone()),
        folder: places.data_dir.join("sessions"),
        roots: places.roots.clone(),
    });
    (sessions, own_listener)
}

fn head_timeout(in_force: &Arc<InForce>) -> Arc<dyn Fn() -> Duration + Send + Sync> {
    let in_force = Arc::clone(in_force);
    Arc::new(move || Duration::from_millis(in_force.now().config.limits.head_timeout_ms))
}

/// What a `Host` header may say without being configured: the loopback names, and the address.
fn own_hosts(ip: IpAddr) -> Vec<String> {
    let mut hosts: Vec<String> = ["localhost", "127.0.0.1", "[::1]"].map(str::to_owned).into();
    if !ip.is_unspecified() {
        hosts.push(match ip {
            IpAddr::V4(ip) => ip.to_string(),
            IpAddr::V6(ip) => format!("[{ip}]"),
        });
    }
    hosts
}

fn catch(kind: SignalKind) -> Result<Signal, StartError> {
    signal(kind).map_err(|error| StartError::from_display("signals", error))
}

/// The signals that end the server, caught from here on.
struct EndSignals {
    terminate: Signal,
    interrupt: Signal,
}

impl EndSignals {
    fn catch() -> Result<Self, StartError> {
        Ok(Self { terminate: catch(SignalKind::terminate())?, interrupt: catch(SignalKind::interrupt())? })
    }

    async fn come(mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}
