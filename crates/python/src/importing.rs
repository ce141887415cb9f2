//! A started import.

use brimline_importer::{Check, ImportError, Interval, Split, plan::ImportPlan};
use pyo3::exceptions::{PyMemoryError, PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};

use crate::access::Access;
use crate::{histogram, wait_time};

/// Handle of an import.
#[pyclass(module = "brimline._native", frozen)]
pub struct Import(brimline_importer::Import);

/// Starts an import and returns at once.
#[pyfunction]
#[pyo3(signature = (plan_json, access = None, held = false))]
pub fn start_import(plan_json: &str, access: Option<&Access>, held: bool) -> PyResult<Import> {
    let plan: ImportPlan =
        serde_json::from_str(plan_json).map_err(|error| PyValueError::new_err(error.to_string()))?;
    let import = brimline_importer::Import::start(plan, &Access::of(access), held);
    import.map(Import).map_err(|error| match error {
        ImportError::Resources(message) => PyMemoryError::new_err(message),
        error => PyOSError::new_err(error.to_string()),
    })
}

/// What would end an import of these inputs before its first record.
#[pyfunction]
pub fn check_import(py: Python<'_>, check_json: &str) -> PyResult<Option<String>> {
    let check: Check =
        serde_json::from_str(check_json).map_err(|error| PyValueError::new_err(error.to_string()))?;
    let ending = py.detach(|| check.run());
    ending
        .map(|ending| serde_json::to_string(&ending))
        .transpose()
        .map_err(|error| PyRuntimeError::new_err(error.to_string()))
}

/// The borders at which these inputs can be divided, as JSON.
#[pyfunction]
pub fn split_import(py: Python<'_>, split_json: &str) -> PyResult<String> {
    let split: Split =
        serde_json::from_str(split_json).map_err(|error| PyValueError::new_err(error.to_string()))?;
    let borders = py.detach(|| split.borders());
    serde_json::to_string(&borders).map_err(|error| PyRuntimeError::new_err(error.to_string()))
}

#[pymethods]
impl Import {
    fn poll(&self, py: Python<'_>, timeout_s: f64) -> PyResult<String> {
        let progress = py.detach(|| self.0.poll(wait_time(timeout_s)));
        serde_json::to_string(&progress).map_err(|error| PyRuntimeError::new_err(error.to_string()))
    }

    fn await_documents(&self, py: Python<'_>, timeout_s: f64) -> bool {
        py.detach(|| self.0.await_documents(wait_time(timeout_s)))
    }

    fn first_documents<'py>(&self, py: Python<'py>) -> Vec<Bound<'py, PyBytes>> {
        self.0.first_documents().iter().map(|document| PyBytes::new(py, document)).collect()
    }

    fn release(&self) {
        self.0.release();
    }

    fn take_intervals<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let rows = PyList::empty(py);
        for interval in self.0.take_intervals() {
            rows.append(row(py, &interval)?)?;
        }
        Ok(rows)
    }

    fn stop(&self) {
        self.0.stop();
    }

    fn abort(&self) {
        self.0.abort();
    }

    fn join(&self, py: Python<'_>) -> PyResult<String> {
        let summary = py.detach(|| self.0.join());
        serde_json::to_string(&summary).map_err(|error| PyRuntimeError::new_err(error.to_string()))
    }
}

fn row<'py>(py: Python<'py>, interval: &Interval) -> PyResult<Bound<'py, PyDict>> {
    let row = PyDict::new(py);
    row.set_item("start_ns", interval.start_ns)?;
    row.set_item("end_ns", interval.end_ns)?;
    row.set_item("documents", interval.documents)?;
    row.set_item("refused", interval.refused)?;
    row.set_item("commands", interval.commands)?;
    row.set_item("input_bytes", interval.input_bytes)?;
    row.set_item("bytes_out", interval.bytes_out)?;
    row.set_item("process_cpu_ns", interval.process_cpu_ns)?;
    let service =
        if interval.service.is_empty() { None } else { Some(histogram::encode(&interval.service)?) };
    row.set_item("service", service)?;
    Ok(row)
}
