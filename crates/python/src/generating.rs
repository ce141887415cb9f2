//! A started generation of files.

use brimline_generator::{Ended, Job, JobError};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::{PlanError, wait_time};

/// Handle of a generation.
#[pyclass(module = "brimline._native", frozen)]
pub struct Generation(brimline_generator::Generation);

/// Starts writing and returns at once.
#[pyfunction]
pub fn start_generation(job_json: &str) -> PyResult<Generation> {
    let generation = brimline_generator::Generation::start(parse(job_json)?);
    generation.map(Generation).map_err(|error| job_error(&error))
}

/// Mean size of a row in the job's format.
#[pyfunction]
pub fn sample_bytes_per_row(job_json: &str) -> PyResult<f64> {
    brimline_generator::sample_bytes_per_row(&parse(job_json)?).map_err(|error| job_error(&error))
}

#[pymethods]
impl Generation {
    fn poll<'py>(&self, py: Python<'py>, timeout_s: f64) -> PyResult<Bound<'py, PyDict>> {
        let progress = py.detach(|| self.0.poll(wait_time(timeout_s)));
        let row = PyDict::new(py);
        row.set_item("rows", progress.rows)?;
        row.set_item("bytes", progress.bytes)?;
        row.set_item("is_finished", progress.is_finished)?;
        Ok(row)
    }

    fn stop(&self) {
        self.0.stop();
    }

    fn join<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let outcome = py.detach(|| self.0.join());
        let (ended_by, os_error, message) = match outcome.ended {
            Ended::Completed => ("completed", None, String::new()),
            Ended::Stopped => ("stopped", None, String::new()),
            Ended::Failed { os_error, message } => ("failed", os_error, message),
        };
        let row = PyDict::new(py);
        row.set_item("ended_by", ended_by)?;
        row.set_item("os_error", os_error)?;
        row.set_item("message", message)?;
        row.set_item("rows", outcome.rows)?;
        row.set_item("bytes", outcome.bytes)?;
        Ok(row)
    }
}

fn parse(job_json: &str) -> PyResult<Job> {
    serde_json::from_str(job_json).map_err(|error| PyValueError::new_err(format!("job: {error}")))
}

fn job_error(error: &JobError) -> PyErr {
    PlanError::new_err((error.path.clone(), error.message.clone()))
}
