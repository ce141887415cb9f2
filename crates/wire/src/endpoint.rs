//! Owns where connections are made to and how: the one place where the engine, the importer and single queries get theirs.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use crate::access::{Access, Standing};
use crate::connection::Connection;
use crate::handshake::Handshake;
use brimline_net::address::resolve;

/// A server's address, and what opens it.
#[derive(Clone, Debug)]
pub struct Endpoint {
    address: SocketAddr,
    /// As it was given.
    name: String,
    /// Its part that the certificate must be for.
    host: String,
    access: Arc<Access>,
}

impl Endpoint {
    /// The endpoint at `text`, `host:port`, an IPv6 host in brackets.
    ///
    /// # Errors
    /// When the name has no address. The message names it.
    pub fn resolve(text: &str, access: &Arc<Access>) -> Result<Self, String> {
        let address = resolve(text)?;
        let host = text.rsplit_once(':').map_or(text, |(host, _)| host);
        let host = host.trim_start_matches('[').trim_end_matches(']').to_owned();
        Ok(Self { address, name: text.to_owned(), host, access: Arc::clone(access) })
    }

    /// `host:port` as it was given.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The same server, opened by `access`.
    #[must_use]
    pub fn opened_by(&self, access: &Arc<Access>) -> Self {
        Self { access: Arc::clone(access), ..self.clone() }
    }

    /// Where it is.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Its name or address, as it was given, without brackets.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// What opens it.
    pub fn access(&self) -> &Arc<Access> {
        &self.access
    }

    /// Starts connecting and returns at once; the handshake makes the connection ready for commands.
    ///
    /// # Errors
    /// When the system has no socket or no route, or when the login was refused before: it is not sent again.
    pub fn connect(&self) -> io::Result<(Connection, Handshake)> {
        if let Standing::Refused(reason) = self.access.standing() {
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, reason));
        }
        let mut connection = Connection::open(self.address)?;
        if let Some(tls) = self.access.tls() {
            connection.secure(tls.session(&self.host).map_err(io::Error::other)?);
        }
        Ok((connection, Handshake::new(Arc::clone(&self.access))))
    }
}

/// An address that needs no more than a plain connection.
impl From<SocketAddr> for Endpoint {
    fn from(address: SocketAddr) -> Self {
        let (name, host) = (address.to_string(), address.ip().to_string());
        Self { address, name, host, access: Arc::default() }
    }
}
