//! Web servers on loopback, a resolver that says what a test wants, and a certificate authority of its own.

use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, RwLock};

use async_trait::async_trait;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;
use tokio::task::JoinHandle;
use tokio_rustls::TlsAcceptor;

use super::{Outbound, OwnListener};
use crate::config::{Config, NetworkConfig};
use crate::tools::ToolConfig;
use crate::tools::net::resolve::Resolver;

/// What a server does about a request.
pub(in crate::tools) enum Reply {
    /// Answers and closes.
    Whole(Vec<u8>),
    /// Writes the first, then the second for ever.
    Endless(Vec<u8>, Vec<u8>),
    /// Writes this and then nothing more, with the connection open.
    Silent(Vec<u8>),
    /// Opens a tunnel, as a proxy does.
    Tunnel(SocketAddr),
}

type Handler = Arc<dyn Fn(&str) -> Reply + Send + Sync>;

/// A server on a free port of loopback; it ends when this is dropped.
pub(in crate::tools) struct Server {
    pub(in crate::tools) address: SocketAddr,
    seen: Arc<Mutex<Vec<String>>>,
    /// Told at each request.
    pub(in crate::tools) asked: Arc<Notify>,
    task: JoinHandle<()>,
}

impl Server {
    pub(in crate::tools) async fn start(handler: impl Fn(&str) -> Reply + Send + Sync + 'static) -> Self {
        Self::listen(None, Arc::new(handler)).await
    }

    /// One that answers every request alike.
    pub(in crate::tools) async fn answering(reply: impl Into<Vec<u8>>) -> Self {
        let reply = reply.into();
        Self::start(move |_| Reply::Whole(reply.clone())).await
    }

    /// One that speaks TLS with a certificate of the authority for these names.
    pub(in crate::tools) async fn encrypted(
        authority: &CertifiedIssuer<'static, KeyPair>,
        names: &[&str],
        handler: impl Fn(&str) -> Reply + Send + Sync + 'static,
    ) -> Self {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let key = KeyPair::generate().unwrap();
        let certificate = CertificateParams::new(names).unwrap().signed_by(&key, authority).unwrap();
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let key = rustls::pki_types::PrivateKeyDer::try_from(key.serialize_der()).unwrap();
        let config = rustls::ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![certificate.der().clone()], key)
            .unwrap();
        Self::listen(Some(TlsAcceptor::from(Arc::new(config))), Arc::new(handler)).await
    }

    async fn listen(tls: Option<TlsAcceptor>, handler: Handler) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (seen, asked) = (Arc::new(Mutex::new(Vec::new())), Arc::new(Notify::new()));
        let (log, told) = (Arc::clone(&seen), Arc::clone(&asked));
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (tls, handler, log, told) =
                    (tls.clone(), Arc::clone(&handler), Arc::clone(&log), Arc::clone(&told));
                tokio::spawn(async move {
                    match tls {
                        None => converse(stream, &handler, &log, &told).await,
                        Some(tls) => match tls.accept(stream).await {
                            Ok(stream) => converse(stream, &handler, &log, &told).await,
                            Err(error) => Err(error),
                        },
                    }
                });
            }
        });
        Self { address, seen, asked, task }
    }

    pub(in crate::tools) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// The requests so far, each as it came, in lower case.
    pub(in crate::tools) fn requests(&self) -> Vec<String> {
        self.seen.lock().unwrap().clone()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn converse(
    mut stream: impl AsyncRead + AsyncWrite + Unpin,
    handler: &Handler,
    log: &Mutex<Vec<String>>,
    told: &Notify,
) -> io::Result<()> {
    let request = read_request(&mut stream).await?;
    log.lock().unwrap().push(request.to_ascii_lowercase());
    told.notify_one();
    match handler(&request) {
        Reply::Whole(reply) => {
            stream.write_all(&reply).await?;
            stream.shutdown().await
        }
        Reply::Endless(first, again) => {
            stream.write_all(&first).await?;
            loop {
                stream.write_all(&again).await?;
            }
        }
        Reply::Silent(first) => {
            stream.write_all(&first).await?;
            stream.flush().await?;
            // Until the client goes.
            while stream.read(&mut [0; 64]).await? > 0 {}
            Ok(())
        }
        Reply::Tunnel(to) => {
            let mut target = TcpStream::connect(to).await?;
            stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await?;
            tokio::io::copy_bidirectional(&mut stream, &mut target).await.map(|_| ())
        }
    }
}

/// Head and body of one request.
async fn read_request(stream: &mut (impl AsyncRead + Unpin)) -> io::Result<String> {
    let mut bytes = Vec::new();
    loop {
        let mut buffer = [0; 4096];
        let length = stream.read(&mut buffer).await?;
        if length == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        bytes.extend_from_slice(&buffer[..length]);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let head = head.to_ascii_lowercase();
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
            if body.len() >= length.map_or(0, |length| length.parse().unwrap()) {
                return Ok(text);
            }
        }
    }
}

/// An answer with a body of known length.
pub(in crate::tools) fn answer(status: &str, headers: &str, body: impl AsRef<[u8]>) -> Vec<u8> {
    let body = body.as_ref();
    let mut bytes =
        format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\n{headers}\r\n", body.len()).into_bytes();
    bytes.extend_from_slice(body);
    bytes
}

/// A certificate authority that nobody else knows.
pub(in crate::tools) fn authority() -> CertifiedIssuer<'static, KeyPair> {
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap()
}

/// Names with their answers: each is given once, the last one for ever.
#[derive(Default)]
pub(in crate::tools) struct Names(Mutex<HashMap<String, Vec<Vec<IpAddr>>>>);

impl Names {
    pub(in crate::tools) fn with(self, name: &str, answers: &[&str]) -> Self {
        let parse =
            |answer: &&str| answer.split_whitespace().map(|address| address.parse().unwrap()).collect();
        self.0.lock().unwrap().insert(name.to_owned(), answers.iter().rev().map(parse).collect());
        self
    }
}

#[async_trait]
impl Resolver for Names {
    async fn lookup(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        let mut names = self.0.lock().unwrap();
        let answers = names.get_mut(name).ok_or(io::ErrorKind::NotFound)?;
        Ok(if answers.len() > 1 { answers.pop().unwrap() } else { answers[0].clone() })
    }
}

/// A way out with its live config.
pub(in crate::tools) struct Way {
    pub(in crate::tools) outbound: Arc<Outbound>,
    pub(in crate::tools) config: Arc<RwLock<Config>>,
    pub(in crate::tools) own: OwnListener,
}

impl Way {
    /// One that may reach loopback.
    pub(in crate::tools) fn local() -> Self {
        Self::new(&["127.0.0.1"], Names::default())
    }

    pub(in crate::tools) fn new(allowed: &[&str], names: Names) -> Self {
        let config: Arc<RwLock<Config>> = Arc::default();
        let own = OwnListener::default();
        let outbound =
            Outbound::resolving_by(ToolConfig::new(Arc::clone(&config)), own.clone(), Arc::new(names));
        let way = Self { outbound: Arc::new(outbound), config, own };
        let allowed = allowed.iter().map(|host| host.parse().unwrap()).collect();
        way.change(|network| network.allowed_private_hosts = allowed);
        way
    }

    /// Changes the config in force.
    pub(in crate::tools) fn change(&self, change: impl FnOnce(&mut NetworkConfig)) {
        change(&mut self.config.write().unwrap().network);
    }
}
