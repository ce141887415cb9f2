//! `brimline._native`: the engine as a Python module. Only conversion lives here: JSON and numbers in, rows out, the
//! interpreter lock released while waiting, errors mapped. Nothing starts at import.

mod access;
mod answering;
mod convert;
mod generating;
mod histogram;
mod histogram_text;
mod importing;
mod operation_log;
mod query;
mod run;

use std::time::Duration;

use brimline_engine::clock_probe;
use brimline_engine::plan::Plan;
use brimline_engine::preview;
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};

pyo3::create_exception!(_native, PlanError, PyValueError, "A plan the engine refuses: (path, message).");
pyo3::create_exception!(_native, TargetError, PyOSError, "The target can't be reached.");

#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("PlanError", module.py().get_type::<PlanError>())?;
    module.add("TargetError", module.py().get_type::<TargetError>())?;
    module.add_class::<access::Access>()?;
    module.add_class::<answering::AnsweringServer>()?;
    module.add_class::<histogram::Histogram>()?;
    module.add_class::<importing::Import>()?;
    module.add_class::<run::Run>()?;
    module.add_class::<query::Query>()?;
    module.add("CommandError", module.py().get_type::<query::CommandError>())?;
    module.add_function(wrap_pyfunction!(validate_plan, module)?)?;
    module.add_function(wrap_pyfunction!(preview_plan, module)?)?;
    module.add_function(wrap_pyfunction!(histogram::merge_histograms, module)?)?;
    module.add_function(wrap_pyfunction!(generate_documents, module)?)?;
    module.add_function(wrap_pyfunction!(generate_keys, module)?)?;
    module.add_function(wrap_pyfunction!(unix_now_ns, module)?)?;
    module.add_function(wrap_pyfunction!(probe_clock, module)?)?;
    module.add_function(wrap_pyfunction!(importing::check_import, module)?)?;
    module.add_function(wrap_pyfunction!(importing::split_import, module)?)?;
    module.add_function(wrap_pyfunction!(importing::start_import, module)?)?;
    module.add_class::<generating::Generation>()?;
    module.add_function(wrap_pyfunction!(generating::start_generation, module)?)?;
    module.add_function(wrap_pyfunction!(generating::sample_bytes_per_row, module)?)?;
    module.add_class::<operation_log::OperationTimes>()?;
    module.add_class::<operation_log::OperationRows>()?;
    module.add_function(wrap_pyfunction!(operation_log::count_operations, module)?)?;
    module.add_function(wrap_pyfunction!(run::example_commands, module)?)?;
    module.add_function(wrap_pyfunction!(run::start, module)?)
}

/// The plan as the engine understood it.
#[pyfunction]
fn validate_plan(plan_json: &str) -> PyResult<String> {
    let plan = parse(plan_json)?;
    plan.validate().map_err(|error| plan_error(&error))?;
    serde_json::to_string(&plan).map_err(|error| PyValueError::new_err(error.to_string()))
}

/// The first operations and their messages.
#[pyfunction(name = "preview")]
fn preview_plan<'py>(py: Python<'py>, plan_json: &str, count: u64) -> PyResult<Bound<'py, PyList>> {
    let operations = preview::preview(&parse(plan_json)?, count).map_err(|error| plan_error(&error))?;
    let rows = PyList::empty(py);
    for previewed in operations {
        let row = PyDict::new(py);
        row.set_item("index", previewed.operation.index)?;
        row.set_item("operation", previewed.operation.kind.known_name())?;
        row.set_item("record", previewed.record)?;
        let messages = previewed.messages.iter().map(|message| PyBytes::new(py, message));
        row.set_item("messages", PyList::new(py, messages)?)?;
        rows.append(row)?;
    }
    Ok(rows)
}

/// Records of the plan's data as BSON.
#[pyfunction]
fn generate_documents<'py>(
    py: Python<'py>,
    plan_json: &str,
    first: u64,
    count: u64,
) -> PyResult<Vec<Bound<'py, PyBytes>>> {
    let documents =
        preview::documents(&parse(plan_json)?, first, count).map_err(|error| plan_error(&error))?;
    Ok(documents.iter().map(|document| PyBytes::new(py, document)).collect())
}

/// Keys of records of the plan's data.
#[pyfunction]
fn generate_keys(plan_json: &str, first: u64, count: u64) -> PyResult<Vec<String>> {
    preview::keys(&parse(plan_json)?, first, count).map_err(|error| plan_error(&error))
}

/// When it is, as a record says it.
#[pyfunction]
fn unix_now_ns() -> u64 {
    brimline_engine::clock::unix_now_ns()
}

/// Reads the engine's clock many times in a row.
#[pyfunction]
fn probe_clock(py: Python<'_>, reads: u64) -> PyResult<Bound<'_, PyDict>> {
    let seen = py.detach(|| clock_probe::probe_clock(reads));
    let row = PyDict::new(py);
    row.set_item("reads", seen.reads)?;
    row.set_item("elapsed_ns", seen.elapsed_ns)?;
    row.set_item("steps_back", seen.steps_back)?;
    row.set_item("smallest_step_ns", seen.smallest_step_ns)?;
    row.set_item("largest_step_ns", seen.largest_step_ns)?;
    Ok(row)
}

/// Longest wait of a call, so that Ctrl-C is seen soon.
const WAIT_S_MAX: f64 = 60.0;

/// How long a call that was given `timeout_s` may wait.
fn wait_time(timeout_s: f64) -> Duration {
    Duration::try_from_secs_f64(timeout_s.clamp(0.0, WAIT_S_MAX)).unwrap_or_default()
}

fn parse(plan_json: &str) -> PyResult<Plan> {
    serde_json::from_str(plan_json)
        .map_err(|error| PlanError::new_err(("plan".to_owned(), error.to_string())))
}

fn plan_error(error: &brimline_engine::plan::error::PlanError) -> PyErr {
    PlanError::new_err((error.path.clone(), error.message.clone()))
}
