//! A started run.

use std::path::PathBuf;
use std::sync::Arc;

use brimline_engine::{RunError, Surroundings};
use pyo3::exceptions::{PyMemoryError, PyRuntimeError};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyDict};

use crate::access::Access;
use crate::{TargetError, convert, parse, plan_error, wait_time};

/// Handle of a run.
#[pyclass(module = "brimline._native", frozen)]
pub struct Run(brimline_engine::Run);

/// Starts a run and returns at once.
#[pyfunction]
#[pyo3(signature = (plan_json, access = None, log_path = None, held = false, tables = Vec::new(), identity = None, runner = Vec::new()))]
#[expect(clippy::needless_pass_by_value, reason = "Python hands over values")]
pub fn start(
    plan_json: &str,
    access: Option<&Access>,
    log_path: Option<PathBuf>,
    held: bool,
    tables: Vec<PyBackedBytes>,
    identity: Option<[u8; 12]>,
    runner: Vec<String>,
) -> PyResult<Run> {
    let tables = tables.iter().map(|content| Arc::from(&content[..])).collect();
    let surroundings = Surroundings {
        access: Access::of(access),
        log_path,
        tables,
        identity,
        runner,
        is_held: held,
        protocols: &[],
    };
    let run = brimline_engine::Run::start_with(parse(plan_json)?, surroundings);
    run.map(Run).map_err(run_error)
}

/// For each of a person's own operations its steps' commands as BSON, as its first operation would send them.
#[pyfunction]
#[pyo3(signature = (plan_json, tables = Vec::new()))]
#[expect(clippy::needless_pass_by_value, reason = "Python hands over values")]
pub fn example_commands<'py>(
    py: Python<'py>,
    plan_json: &str,
    tables: Vec<PyBackedBytes>,
) -> PyResult<Vec<Vec<Bound<'py, PyBytes>>>> {
    let tables = tables.iter().map(|content| Arc::from(&content[..])).collect();
    let examples =
        brimline_engine::own::examples(&parse(plan_json)?, &tables).map_err(|error| plan_error(&error))?;
    let bytes = |steps: Vec<Vec<u8>>| steps.iter().map(|command| PyBytes::new(py, command)).collect();
    Ok(examples.into_iter().map(bytes).collect())
}

#[pymethods]
impl Run {
    fn poll<'py>(&self, py: Python<'py>, timeout_s: f64) -> PyResult<Bound<'py, PyDict>> {
        let progress = py.detach(|| self.0.poll(wait_time(timeout_s)));
        convert::progress(py, &progress)
    }

    fn take_samples<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let intervals = py.detach(|| self.0.take_intervals());
        let names = convert::RunNames { operations: self.0.own_names(), steps: self.0.step_names() };
        convert::samples(py, &intervals, names)
    }

    #[pyo3(signature = (at_ns = None))]
    fn release(&self, at_ns: Option<u64>) {
        match at_ns {
            Some(at_ns) => self.0.release_at(at_ns),
            None => self.0.release(),
        }
    }

    fn note_settled(&self, inserts: u64) {
        self.0.note_settled(inserts);
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
