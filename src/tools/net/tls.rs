//! Which certificates https trusts: the system's, and those of `network.ca_files`.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::{ClientConfig, RootCertStore};

use super::error::NetError;

/// How connections are encrypted.
pub(super) struct Tls {
    pub(super) config: ClientConfig,
    /// Why https cannot work; plain http does all the same.
    pub(super) missing: Option<String>,
}

/// What was loaded last, with the files that it was loaded for.
#[derive(Default)]
pub(super) struct TlsCache(Mutex<Option<(Vec<PathBuf>, Arc<Tls>)>>);

impl TlsCache {
    /// The certificates for these files: loaded when the config names others than the last time. What failed is
    /// tried again.
    pub(super) async fn get(&self, ca_files: &[PathBuf]) -> Result<Arc<Tls>, NetError> {
        if let Some((files, tls)) = &*self.0.lock().unwrap_or_else(PoisonError::into_inner)
            && files == ca_files
        {
            return Ok(Arc::clone(tls));
        }
        let files = ca_files.to_vec();
        let loading = tokio::task::spawn_blocking(move || load(&files));
        let tls = loading.await.map_err(|error| NetError::Setup(format!("loading certificates: {error}")))?;
        let tls = Arc::new(tls?);
        if tls.missing.is_none() {
            let kept = Some((ca_files.to_vec(), Arc::clone(&tls)));
            *self.0.lock().unwrap_or_else(PoisonError::into_inner) = kept;
        }
        Ok(tls)
    }
}

fn load(ca_files: &[PathBuf]) -> Result<Tls, NetError> {
    let native = rustls_native_certs::load_native_certs();
    of_certificates(native.certs, ca_files)
}

fn of_certificates(system: Vec<CertificateDer<'static>>, ca_files: &[PathBuf]) -> Result<Tls, NetError> {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(system);
    let mut missing = None;
    for path in ca_files {
        if let Err(reason) = add_file(&mut roots, path) {
            missing = Some(format!("https does not work: network.ca_files: {}: {reason}", path.display()));
        }
    }
    if roots.is_empty() && missing.is_none() {
        missing = Some(
            "https does not work: this machine has no CA certificates; install its ca-certificates package, or \
             name a file in network.ca_files. http works"
                .to_owned(),
        );
    }
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| NetError::Setup(error.to_string()))?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(Tls { config, missing })
}

fn add_file(roots: &mut RootCertStore, path: &PathBuf) -> Result<(), String> {
    let certificates = CertificateDer::pem_file_iter(path).map_err(|error| error.to_string())?;
    let mut any = false;
    for certificate in certificates {
        roots.add(certificate.map_err(|error| error.to_string())?).map_err(|error| error.to_string())?;
        any = true;
    }
    if any { Ok(()) } else { Err("there is no certificate in it".to_owned()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_certificates_only_https_is_lost() {
        let tls = of_certificates(Vec::new(), &[]).unwrap();
        assert!(tls.missing.unwrap().contains("ca-certificates"));
        let empty = tempfile::NamedTempFile::new().unwrap();
        for path in [PathBuf::from("/nowhere/ca.pem"), empty.path().to_path_buf()] {
            let tls = of_certificates(Vec::new(), std::slice::from_ref(&path)).unwrap();
            assert!(tls.missing.unwrap().contains(path.to_str().unwrap()));
        }
    }

    #[tokio::test]
    async fn certificates_are_loaded_once_for_each_list_of_files() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("ca.pem");
        std::fs::write(&file, super::super::testing::authority().pem()).unwrap();
        let cache = TlsCache::default();
        let files = [file];
        let first = cache.get(&files).await.unwrap();
        assert!(Arc::ptr_eq(&first, &cache.get(&files).await.unwrap()));
        let other = cache.get(&[]).await.unwrap();
        assert!(!Arc::ptr_eq(&first, &other));
    }
}
