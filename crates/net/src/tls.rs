//! Owns TLS on a connection that never blocks: which certificates are believed, and the passage of bytes between a request,
//! rustls and the socket. The handshake needs no calls of its own: it happens as requests go out and replies come in.

use std::fmt;
use std::io::{self, ErrorKind, IoSlice, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::io::Errno;
use rustix::net::{SendAncillaryBuffer, SendFlags};
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::{
    AlertDescription, CertificateError, ClientConfig, ClientConnection, DigitallySignedStruct,
    PeerIncompatible, RootCertStore, SignatureScheme,
};
use thiserror::Error;

use crate::outcome::{SendState, StreamError};

/// What is asked of TLS.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TlsSettings {
    /// PEM file of the authorities that are believed; `None`: the system's.
    pub ca_file: Option<PathBuf>,
    /// PEM file of the client's certificate, those between it and the authority, and its key.
    pub certificate_key_file: Option<PathBuf>,
    /// Whether a certificate may be for another host.
    pub allow_invalid_hostnames: bool,
    /// Whether anything passes for a certificate.
    pub allow_invalid_certificates: bool,
}

/// How connections of a process are secured.
#[derive(Clone)]
pub struct Tls {
    config: Arc<ClientConfig>,
    settings: TlsSettings,
}

/// Why TLS can't be prepared.
#[derive(Debug, Error)]
pub enum TlsError {
    /// A file.
    #[error("{}: {reason}", path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// The system's store of authorities.
    #[error("the system has no certificates of authorities: {0}")]
    NoAuthorities(String),
    /// A certificate or key that can't be used, or a host that can't stand in a certificate.
    #[error("{0}")]
    Unusable(String),
}

impl Tls {
    /// Reads the files that `settings` name.
    ///
    /// # Errors
    /// When a file can't be read, holds none of what is expected, or its key doesn't fit its certificate.
    pub fn new(settings: &TlsSettings) -> Result<Self, TlsError> {
        let provider = Arc::new(ring::default_provider());
        let unusable = |error: rustls::Error| TlsError::Unusable(error.to_string());
        let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .map_err(unusable)?
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(Judge::new(settings, &provider)?));
        let mut config = match &settings.certificate_key_file {
            None => builder.with_no_client_auth(),
            Some(path) => {
                let (certificates, key) = identity(path)?;
                builder.with_client_auth_cert(certificates, key).map_err(|error| file_error(path, error))?
            }
        };
        // A connection lives as long as a run; sessions that could be taken up again would only be kept.
        config.resumption = rustls::client::Resumption::disabled();
        Ok(Self { config: Arc::new(config), settings: settings.clone() })
    }

    /// What was asked.
    pub fn settings(&self) -> &TlsSettings {
        &self.settings
    }

    /// TLS for one connection to `host`.
    ///
    /// # Errors
    /// When `host` can't stand in a certificate.
    pub fn session(&self, host: &str) -> Result<Session, TlsError> {
        let name = ServerName::try_from(host.to_owned())
            .map_err(|_| TlsError::Unusable(format!("{host} can't be the name in a certificate")))?;
        let tls = ClientConnection::new(Arc::clone(&self.config), name)
            .map_err(|error| TlsError::Unusable(error.to_string()))?;
        Ok(Session { tls })
    }
}

impl fmt::Debug for Tls {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Tls")
    }
}

fn identity(path: &Path) -> Result<(Vec<CertificateDer<'static>>, PrivateKeyDer<'static>), TlsError> {
    let certificates = certificates(path)?;
    let key = PrivateKeyDer::from_pem_file(path)
        .map_err(|_| file_error(path, "holds no private key that is not encrypted"))?;
    Ok((certificates, key))
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let found: Result<Vec<_>, _> = CertificateDer::pem_file_iter(path).and_then(Iterator::collect);
    let found = found.map_err(|error| match error {
        rustls::pki_types::pem::Error::Io(error) => file_error(path, error),
        error => file_error(path, error),
    })?;
    if found.is_empty() { Err(file_error(path, "holds no certificate in PEM form")) } else { Ok(found) }
}

fn file_error(path: &Path, reason: impl fmt::Display) -> TlsError {
    TlsError::File { path: path.to_owned(), reason: reason.to_string() }
}

fn authorities(settings: &TlsSettings) -> Result<RootCertStore, TlsError> {
    let mut store = RootCertStore::empty();
    if let Some(path) = &settings.ca_file {
        for certificate in certificates(path)? {
            store.add(certificate).map_err(|error| file_error(path, error))?;
        }
        return Ok(store);
    }
    let found = rustls_native_certs::load_native_certs();
    store.add_parsable_certificates(found.certs);
    if store.is_empty() {
        let reasons: Vec<String> = found.errors.iter().map(ToString::to_string).collect();
        return Err(TlsError::NoAuthorities(reasons.join("; ")));
    }
    Ok(store)
}

/// Decides whether a server is believed.
#[derive(Debug)]
struct Judge {
    /// `None`: every certificate passes.
    strict: Option<Arc<WebPkiServerVerifier>>,
    allow_invalid_hostnames: bool,
    provider: Arc<CryptoProvider>,
}

impl Judge {
    fn new(settings: &TlsSettings, provider: &Arc<CryptoProvider>) -> Result<Self, TlsError> {
        let strict = if settings.allow_invalid_certificates {
            None
        } else {
            let store = Arc::new(authorities(settings)?);
            let verifier = WebPkiServerVerifier::builder_with_provider(store, Arc::clone(provider)).build();
            Some(verifier.map_err(|error| TlsError::Unusable(error.to_string()))?)
        };
        let allow_invalid_hostnames = settings.allow_invalid_hostnames;
        Ok(Self { strict, allow_invalid_hostnames, provider: Arc::clone(provider) })
    }
}

impl ServerCertVerifier for Judge {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let Some(strict) = &self.strict else {
            return Ok(ServerCertVerified::assertion());
        };
        match strict.verify_server_cert(certificate, intermediates, name, ocsp_response, now) {
            // The name is looked at last: all else is in order.
            Err(rustls::Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) if self.allow_invalid_hostnames => Ok(ServerCertVerified::assertion()),
            verdict => verdict,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signature, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signature, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

/// TLS of one connection.
#[derive(Debug)]
pub struct Session {
    tls: ClientConnection,
}

impl Session {
    /// Sends `outgoing` from `sent` on as far as the socket takes it.
    pub(crate) fn send(
        &mut self,
        stream: &TcpStream,
        outgoing: &[u8],
        sent: &mut usize,
    ) -> Result<SendState, StreamError> {
        loop {
            if self.flush(stream)? == SendState::Blocked {
                return Ok(SendState::Blocked);
            }
            if *sent == outgoing.len() {
                return Ok(SendState::Done);
            }
            // Until the handshake is done rustls keeps what is written, and sends it when the server's part has come.
            let taken = self.tls.writer().write(&outgoing[*sent..])?;
            *sent += taken;
            if taken == 0 {
                return Ok(SendState::Blocked);
            }
        }
    }

    /// Whether its handshake is still under way.
    pub(crate) fn is_handshaking(&self) -> bool {
        self.tls.is_handshaking()
    }

    /// Sends what rustls has made.
    fn flush(&mut self, stream: &TcpStream) -> io::Result<SendState> {
        while self.tls.wants_write() {
            match self.tls.write_tls(&mut Sender(stream)) {
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(SendState::Blocked),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(SendState::Done)
    }

    /// What reads plain bytes of `source`, the socket, whose other end is `stream`.
    pub(crate) fn reader<'a, R: Read>(
        &'a mut self,
        stream: &'a TcpStream,
        source: &'a mut R,
    ) -> Reader<'a, R> {
        Reader { session: self, stream, source: Short { source, is_drained: false } }
    }
}

/// Plain bytes of a connection. A read that gives less than was asked for has emptied the socket, as `Incoming` supposes.
pub(crate) struct Reader<'a, R> {
    session: &'a mut Session,
    stream: &'a TcpStream,
    source: Short<'a, R>,
}

impl<R: Read> Read for Reader<'_, R> {
    fn read(&mut self, space: &mut [u8]) -> io::Result<usize> {
        let mut filled = 0;
        while filled < space.len() {
            match self.session.tls.reader().read(&mut space[filled..]) {
                Ok(0) => break,
                Ok(bytes) => {
                    filled += bytes;
                    continue;
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                // The peer closed without saying so in TLS, as servers that are killed do.
                Err(error) if error.kind() == ErrorKind::UnexpectedEof => break,
                Err(error) => return Err(error),
            }
            match self.session.tls.read_tls(&mut self.source) {
                Ok(0) if self.session.tls.is_handshaking() => return Err(io::Error::other(NO_TLS)),
                Ok(0) => break,
                Ok(_) => self.digest()?,
                Err(error) if error.kind() == ErrorKind::WouldBlock && filled > 0 => break,
                Err(error) => return Err(error),
            }
        }
        Ok(filled)
    }
}

const NO_TLS: &str = "the server closed the connection during the TLS handshake: it may have no TLS";

impl<R: Read> Reader<'_, R> {
    /// Decrypts what has come, and answers what the protocol wants answered. What it can't take is `InvalidData`.
    fn digest(&mut self) -> io::Result<()> {
        let outcome = self.session.tls.process_new_packets();
        // A socket that is full takes the rest with the next request.
        let flushed = self.session.flush(self.stream);
        match outcome {
            Err(error) => Err(io::Error::new(ErrorKind::InvalidData, words(&error))),
            Ok(_) => flushed.map(|_| ()),
        }
    }
}

/// What went wrong, for people who know certificates but not rustls.
fn words(error: &rustls::Error) -> String {
    use CertificateError as Certificate;
    let certificate = match error {
        rustls::Error::InvalidCertificate(certificate) => certificate,
        rustls::Error::InvalidMessage(_) => return "what the server sends is not TLS".to_owned(),
        rustls::Error::AlertReceived(AlertDescription::ProtocolVersion)
        | rustls::Error::PeerIncompatible(
            PeerIncompatible::ServerDoesNotSupportTls12Or13
            | PeerIncompatible::ServerTlsVersionIsDisabledByOurConfig,
        ) => return "the server speaks TLS 1.0 or 1.1 only, which are not secure any more".to_owned(),
        rustls::Error::AlertReceived(alert) => {
            return format!("the server refuses the TLS connection: {alert:?}");
        }
        other => return format!("TLS: {other}"),
    };
    match certificate {
        Certificate::Expired | Certificate::ExpiredContext { .. } => {
            "the server's certificate has expired".to_owned()
        }
        Certificate::NotValidYet | Certificate::NotValidYetContext { .. } => {
            "the server's certificate is not valid yet".to_owned()
        }
        Certificate::UnknownIssuer => {
            "the server's certificate is not signed by an authority that is trusted here".to_owned()
        }
        Certificate::NotValidForName | Certificate::NotValidForNameContext { .. } => {
            "the server's certificate is for another host name".to_owned()
        }
        other => format!("the server's certificate can't be accepted: {other}"),
    }
}

/// The socket as rustls reads it: a read that gave less than was asked for is the last, because asking again would cost a
/// system call to hear "not now".
struct Short<'a, R> {
    source: &'a mut R,
    is_drained: bool,
}

impl<R: Read> Read for Short<'_, R> {
    fn read(&mut self, space: &mut [u8]) -> io::Result<usize> {
        if self.is_drained {
            return Err(ErrorKind::WouldBlock.into());
        }
        let bytes = self.source.read(space)?;
        self.is_drained = bytes < space.len() && bytes > 0;
        Ok(bytes)
    }
}

/// The socket as rustls writes it.
struct Sender<'a>(&'a TcpStream);

impl Write for Sender<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        rustix::net::send(self.0, bytes, SendFlags::NOSIGNAL).map_err(would_block)
    }

    fn write_vectored(&mut self, pieces: &[IoSlice<'_>]) -> io::Result<usize> {
        let mut nothing = SendAncillaryBuffer::default();
        rustix::net::sendmsg(self.0, pieces, &mut nothing, SendFlags::NOSIGNAL).map_err(would_block)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn would_block(error: Errno) -> io::Error {
    if error == Errno::AGAIN { ErrorKind::WouldBlock.into() } else { error.into() }
}
