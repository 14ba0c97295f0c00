//! A certificate and its key, which whoever opens the desk to others brings along.

use super::private;
use crate::error::{Error, Result};
use restive_tables::show;
use std::path::Path;
use std::sync::Arc;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring::default_provider;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

/// What TLS is spoken with.
pub(crate) type Tls = tokio_rustls::TlsAcceptor;

/// Reads both, as PEM.
pub(crate) fn read(certificate: &Path, key: &Path) -> Result<Tls> {
    let refused = |path: &Path, expected: &str| {
        Error::Refused(format!("{}: found none, expected {expected} as PEM", show::path(path)))
    };
    let bytes = std::fs::read(certificate).map_err(Error::io(show::path(certificate), "read"))?;
    let chain: Vec<CertificateDer<'static>> = CertificateDer::pem_slice_iter(&bytes)
        .collect::<std::result::Result<_, _>>()
        .map_err(|_| refused(certificate, "certificates"))?;
    if chain.is_empty() {
        return Err(refused(certificate, "certificates"));
    }
    let private =
        PrivateKeyDer::from_pem_slice(&private::read(key)?).map_err(|_| refused(key, "a private key"))?;
    let config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()
        .and_then(|config| config.with_no_client_auth().with_single_cert(chain, private))
        .map_err(|error| Error::Refused(format!("{}: {error}", show::path(certificate))))?;
    Ok(Arc::new(config).into())
}
