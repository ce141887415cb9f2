//! Owns where connections are made to, and with what.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use brimline_net::link;
use brimline_sql::settings::{Form, Secrets, Settings};
use brimline_sql::statement::Requests;
use brimline_sql::target::Target;

use crate::link::Link;

/// A server of MySQL or MariaDB, and what its connections send.
#[derive(Clone, Debug)]
pub struct Connector(Arc<Target>);

impl Connector {
    /// The server at the settings' address.
    ///
    /// # Errors
    /// When the address names no host, or the settings can't be met.
    pub fn new(settings: Settings, secrets: Secrets, requests: Requests) -> Result<Self, String> {
        if settings.bulk.as_ref().is_some_and(|bulk| bulk.form == Form::Copy) {
            return Err("COPY is PostgreSQL's; MySQL takes rows".to_owned());
        }
        Target::new(settings, secrets, requests).map(Self)
    }

    /// What the server has said of itself, such as `10.11.6-MariaDB`; `None` before the first connection.
    pub fn server(&self) -> Option<String> {
        self.0.server()
    }
}

impl link::Connector for Connector {
    fn name(&self) -> &str {
        &self.0.settings.address
    }

    fn address(&self) -> SocketAddr {
        self.0.address()
    }

    fn connect(&self) -> io::Result<Box<dyn link::Link>> {
        self.0.may_connect()?;
        Ok(Box::new(Link::new(Arc::clone(&self.0))?))
    }
}
