//! Where requests go: what all connections to a server share.

use std::io;
use std::net::SocketAddr;
use std::sync::{Mutex, PoisonError};

use brimline_net::address::resolve;
use brimline_net::protocol::Secrets;
use brimline_net::stream::Stream;
use brimline_net::tls::Tls;

use crate::authority::split_port;
use crate::cookies::Jar;
use crate::request::{Requests, Surroundings};
use crate::spec::Settings;

/// What all links to a server share.
pub(crate) struct Server {
    pub settings: Settings,
    address: SocketAddr,
    host: String,
    tls: Option<Tls>,
    pub requests: Requests,
    pub surroundings: Surroundings,
    /// Cookies of links that are gone: who comes next goes on with them, so that a client that lost its connection stays known.
    jars: Mutex<Vec<Jar>>,
}

impl Server {
    pub fn new(settings: Settings, secrets: Secrets, requests: Requests) -> Result<Self, String> {
        let address = resolve(settings.address.as_str())?;
        let host = split_port(&settings.authority, "").0;
        let host = host.trim_start_matches('[').trim_end_matches(']').to_owned();
        let tls = match (settings.tls, secrets.tls) {
            (false, _) => None,
            (true, Some(tls)) => Some(tls),
            (true, None) => {
                return Err("TLS is wanted, and it is not said which certificates are trusted".to_owned());
            }
        };
        if let Some(tls) = &tls {
            tls.session(&host).map_err(|error| error.to_string())?;
        }
        let surroundings = requests.surroundings(&settings, &secrets.headers)?;
        let jars = Mutex::default();
        Ok(Self { settings, address, host, tls, requests, surroundings, jars })
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Starts connecting.
    pub fn open(&self) -> io::Result<Stream> {
        let mut stream = Stream::open(self.address)?;
        if let Some(tls) = &self.tls {
            stream.secure(tls.session(&self.host).map_err(io::Error::other)?);
        }
        Ok(stream)
    }

    /// Cookies that a link left behind, or none.
    pub fn take_jar(&self) -> Jar {
        self.jars.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default()
    }

    /// Keeps the cookies of a link that goes.
    pub fn leave_jar(&self, jar: Jar) {
        if !jar.is_empty() {
            self.jars.lock().unwrap_or_else(PoisonError::into_inner).push(jar);
        }
    }
}
