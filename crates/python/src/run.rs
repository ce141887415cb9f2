//! A started run.

use std::path::PathBuf;

use brimline_engine::RunError;
use pyo3::exceptions::{PyMemoryError, PyRuntimeError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::access::Access;
use crate::{TargetError, convert, parse, plan_error, wait_time};

/// Handle of a run.
#[pyclass(module = "brimline._native", frozen)]
pub struct Run(brimline_engine::Run);

/// Starts a run and returns at once.
#[pyfunction]
#[pyo3(signature = (plan_json, access = None, log_path = None, held = false))]
#[expect(clippy::needless_pass_by_value, reason = "Python hands over values")]
pub fn start(
    plan_json: &str,
    access: Option<&Access>,
    log_path: Option<PathBuf>,
    held: bool,
) -> PyResult<Run> {
    let begin = if held { brimline_engine::Run::start_held } else { brimline_engine::Run::start_with };
    let run = begin(parse(plan_json)?, Access::of(access), log_path.as_deref());
    run.map(Run).map_err(run_error)
}

#[pymethods]
impl Run {
    fn poll<'py>(&self, py: Python<'py>, timeout_s: f64) -> PyResult<Bound<'py, PyDict>> {
        let progress = py.detach(|| self.0.poll(wait_time(timeout_s)));
        convert::progress(py, &progress)
    }

    fn take_samples<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let intervals = py.detach(|| self.0.take_intervals());
        convert::samples(py, &intervals)
    }

    fn release(&self) {
        self.0.release();
    }

    fn stop(&self) {
        self.0.stop();
    }

    fn abort(&self) {
        self.0.abort();
    }

    fn join<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        match py.detach(|| self.0.join()) {
            Ok(summary) => convert::summary(py, &summary),
            Err(error) => Err(run_error(error)),
        }
    }
}

fn run_error(error: RunError) -> PyErr {
    match error {
        RunError::Plan(error) => plan_error(&error),
        RunError::Target(message) => TargetError::new_err(message),
        RunError::Resources(message) => PyMemoryError::new_err(message),
        RunError::Internal(_) => PyRuntimeError::new_err(error.to_string()),
    }
}
