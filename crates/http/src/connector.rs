//! Where connections begin.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use brimline_net::link;
use brimline_net::protocol::{Protocol, Secrets, Step, StepError};

use crate::link::Link;
use crate::request::Requests;
use crate::server::Server;
use crate::spec::{ConnectTime, RequestSpec, Settings};

/// A server that speaks HTTP.
pub struct Connector(Arc<Server>);

impl Protocol for Connector {
    type Settings = Settings;
    type Request = RequestSpec;
    type Requests = Requests;

    fn compile(steps: &[Step<RequestSpec>]) -> Result<Requests, StepError> {
        Requests::new(steps.iter().map(|step| &step.request))
    }

    fn new(settings: Settings, secrets: Secrets, requests: Requests) -> Result<Self, String> {
        Server::new(settings, secrets, requests).map(|server| Self(Arc::new(server)))
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
        let mut link = Link::new(Arc::clone(&self.0));
        // A connection for one request only is made for that.
        if self.0.settings.keep_alive && self.0.settings.connect == ConnectTime::Before {
            link::Link::open(&mut link)?;
        }
        Ok(Box::new(link))
    }
}
