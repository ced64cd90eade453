//! A server behind TLS, as a proxy in front of it gives.

use std::sync::Arc;

use tokio::net::{TcpListener, TcpStream};

use crate::support::{Run, TestServer};

/// An authority of the test's own, and a listener with a certificate of it that passes on to the server.
async fn encrypted(server: &TestServer) -> (String, String) {
    let mut params = rcgen::CertificateParams::new(Vec::<String>::new()).unwrap();
    params.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    let authority = rcgen::CertifiedIssuer::self_signed(params, rcgen::KeyPair::generate().unwrap()).unwrap();
    let key = rcgen::KeyPair::generate().unwrap();
    let names = vec!["localhost".to_owned()];
    let certificate = rcgen::CertificateParams::new(names).unwrap().signed_by(&key, &authority).unwrap();
    let key = rustls::pki_types::PrivateKeyDer::try_from(key.serialize_der()).unwrap();
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.der().clone()], key)
        .unwrap();
    let acceptor = tokio_rustls::TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("https://localhost:{}", listener.local_addr().unwrap().port());
    let target = server.url.strip_prefix("http://").unwrap().trim_end_matches('/').to_owned();
    tokio::spawn(async move {
        while let Ok((near, _)) = listener.accept().await {
            let (acceptor, target) = (acceptor.clone(), target.clone());
            tokio::spawn(async move {
                let Ok(mut near) = acceptor.accept(near).await else { return };
                let mut far = TcpStream::connect(target).await.unwrap();
                let _ = tokio::io::copy_bidirectional(&mut near, &mut far).await;
            });
        }
    });
    (url, server.file("authority.pem", &authority.pem()))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_behind_tls_is_reached_where_its_certificate_is_trusted() {
    let server = TestServer::start();
    let (url, authority) = encrypted(&server).await;
    let run = |words: &[&str], trusted: bool| {
        let mut command = server.command(words);
        command.env("TOOLGATE_URL", &url).env_remove("SSL_CERT_FILE").env_remove("SSL_CERT_DIR");
        if trusted {
            command.env("SSL_CERT_FILE", &authority);
        }
        Run::of(&command.output().unwrap())
    };
    run(&["info"], true).expect(0).shows(&["https://localhost:"]);
    run(&["call", "Write", r#"{"file_path": "a", "content": "b"}"#], true).expect(4);
    run(&["approvals"], true).expect(0).shows(&["Write"]);
    for words in [&["info"][..], &["approvals"], &["events"], &["watch"]] {
        let refused = run(words, false).expect(5);
        refused.says(&["https://localhost:", "is not trusted", "SSL_CERT_FILE"]);
        assert!(refused.out.is_empty(), "{refused:#?}");
    }
}
