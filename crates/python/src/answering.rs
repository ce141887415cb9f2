//! A server in this process that answers at once: what the generator can send and receive shows beside it.

use std::sync::{Mutex, PoisonError};

use brimline_testserver::{Data, Script, Server};
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;

/// Listens on the loopback and answers from a thread of its own, until it is stopped or dropped.
#[pyclass(module = "brimline._native", frozen)]
pub struct AnsweringServer {
    address: String,
    running: Mutex<Option<Server>>,
}

#[pymethods]
impl AnsweringServer {
    /// Every key that is asked for exists, as a document of that size.
    #[new]
    fn new(document_bytes: u32) -> PyResult<Self> {
        let script = Script { data: Data::Synthetic { document_bytes }, ..Script::default() };
        script.validate().map_err(|error| PyValueError::new_err(error.to_string()))?;
        let server = Server::start(script).map_err(|error| PyOSError::new_err(error.to_string()))?;
        Ok(Self { address: server.address().to_string(), running: Mutex::new(Some(server)) })
    }

    #[getter]
    fn address(&self) -> &str {
        &self.address
    }

    fn stop(&self, py: Python<'_>) -> PyResult<()> {
        let running = self.running.lock().unwrap_or_else(PoisonError::into_inner).take();
        py.detach(|| running.map_or(Ok(()), Server::stop))
            .map_err(|error| PyOSError::new_err(error.to_string()))
    }
}
