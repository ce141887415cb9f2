//! One query whose cursor is drained.

use brimline_engine::query::{Command, QueryError};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::access::{Access, endpoint};
use crate::{TargetError, wait_time};

pyo3::create_exception!(
    _native,
    CommandError,
    PyRuntimeError,
    "The server refuses: (code, code_name, message)."
);

/// A command under way; dropping it ends it.
#[pyclass(module = "brimline._native")]
pub struct Query(brimline_engine::query::Query);

#[pymethods]
impl Query {
    #[new]
    #[pyo3(signature = (address, command, database, collection, access = None))]
    fn new(
        address: &str,
        command: &[u8],
        database: &str,
        collection: &str,
        access: Option<&Access>,
    ) -> PyResult<Self> {
        let command = Command {
            body: command.to_vec(),
            database: database.to_owned(),
            collection: collection.to_owned(),
        };
        brimline_engine::query::Query::start(&endpoint(address, access)?, command)
            .map(Self)
            .map_err(|error| raised(&error))
    }

    fn advance(&mut self, py: Python<'_>, timeout_s: f64) -> PyResult<bool> {
        let turn_ns = wait_time(timeout_s).as_nanos() as u64;
        let query = &mut self.0;
        py.detach(|| query.advance(turn_ns)).map_err(|error| raised(&error))
    }

    fn drained<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let drained = self.0.drained();
        let row = PyDict::new(py);
        row.set_item("batches", drained.batches)?;
        row.set_item("documents", drained.documents)?;
        row.set_item("bytes", drained.bytes)?;
        row.set_item("first_reply_ns", drained.first_reply_ns)?;
        row.set_item("elapsed_ns", drained.elapsed_ns)?;
        row.set_item("client_cpu_ns", drained.client_cpu_ns)?;
        Ok(row)
    }

    fn answer<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, self.0.answer())
    }
}

fn raised(error: &QueryError) -> PyErr {
    match error {
        QueryError::Refused { code, code_name, message } => {
            CommandError::new_err((*code, code_name.clone(), message.clone()))
        }
        QueryError::Lost(reason) => TargetError::new_err(reason.clone()),
    }
}
