//! Logs of operations: counted, as rows of text, and as times of chosen operations.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::PathBuf;

use brimline_engine::clock::Nanos;
use brimline_engine::finished::Ending;
use brimline_engine::kinds::OperationKind;
use brimline_engine::operation_log::{Reader, Row, TimePart, Times, Wanted, count};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Bytes of text that are handed out at once, about.
const TEXT_BYTES: usize = 1 << 20;
const NS_PER_US: Nanos = 1_000;
const NS_PER_MS: Nanos = 1_000_000;
const ENDINGS: [(Ending, &str); 3] = [(Ending::Ok, "ok"), (Ending::Miss, "miss"), (Ending::Failed, "failed")];
const COLUMNS: &str =
    "operation,phase,ending,documents,due_ns,sent_ns,first_done_ns,second_sent_ns,done_ns\n";

/// Rows of a log by operation and ending.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "Python hands over values")]
pub fn count_operations(py: Python<'_>, path: PathBuf) -> PyResult<Bound<'_, PyDict>> {
    let counts = py.detach(|| count(&path))?;
    let rows = PyDict::new(py);
    for (kind, of_kind) in OperationKind::all().zip(counts) {
        if of_kind.iter().any(|&count| count > 0) {
            let row = PyDict::new(py);
            for ((_, name), count) in ENDINGS.into_iter().zip(of_kind) {
                row.set_item(name, count)?;
            }
            rows.set_item(kind.known_name(), row)?;
        }
    }
    Ok(rows)
}

/// The rows of a log as CSV.
#[pyclass(module = "brimline._native")]
pub struct OperationRows {
    rows: Reader,
    has_begun: bool,
}

#[pymethods]
impl OperationRows {
    #[new]
    #[expect(clippy::needless_pass_by_value, reason = "as above")]
    fn new(path: PathBuf) -> PyResult<Self> {
        Ok(Self { rows: Reader::open(&path)?, has_begun: false })
    }

    fn next_text(&mut self, py: Python<'_>) -> PyResult<String> {
        py.detach(|| {
            let mut text = String::new();
            if !std::mem::replace(&mut self.has_begun, true) {
                text.push_str(COLUMNS);
            }
            while text.len() < TEXT_BYTES {
                let Some(row) = self.rows.next().transpose()? else { break };
                add_row(&mut text, &row);
            }
            Ok(text)
        })
    }
}

fn add_row(text: &mut String, row: &Row) {
    let Row { kind, phase, documents, sent, done, .. } = row;
    let (_, ending) = ENDINGS[row.ending as usize];
    let instant = |instant: Option<Nanos>| instant.map(|instant| instant.to_string()).unwrap_or_default();
    let due = instant(row.due);
    let first_done = instant(row.second.map(|second| second.first_done));
    let second_sent = instant(row.second.map(|second| second.sent));
    // Writing to a String does not fail.
    let _ = writeln!(
        text,
        "{},{},{ending},{documents},{due},{sent},{first_done},{second_sent},{done}",
        kind.known_name(),
        phase.name()
    );
}

/// Times of chosen operations of a log, in whole microseconds, as lines of text and by how often each is there.
#[pyclass(module = "brimline._native")]
pub struct OperationTimes {
    times: Times,
    label: String,
    counts_us: BTreeMap<u64, u64>,
}

#[pymethods]
impl OperationTimes {
    #[new]
    #[expect(clippy::needless_pass_by_value, reason = "as above")]
    fn new(path: PathBuf, wanted: Vec<(String, String, String, String)>, label: String) -> PyResult<Self> {
        let wanted = wanted.iter().map(read_wanted).collect::<PyResult<Vec<_>>>()?;
        let times = Times::new(Reader::open(&path)?, wanted);
        Ok(Self { times, label, counts_us: BTreeMap::new() })
    }

    fn next_text(&mut self, py: Python<'_>) -> PyResult<String> {
        py.detach(|| {
            let mut text = String::new();
            while text.len() < TEXT_BYTES {
                let Some(time) = self.times.next().transpose()? else { break };
                let end_ms = (self.times.started_unix_ns() + time.end) / NS_PER_MS;
                let length_us = time.length_ns / NS_PER_US;
                *self.counts_us.entry(length_us).or_default() += 1;
                // Writing to a String does not fail.
                let _ = writeln!(text, "{},{end_ms},{length_us}", self.label);
            }
            Ok(text)
        })
    }

    fn counts_us(&self) -> Vec<(u64, u64)> {
        self.counts_us.iter().map(|(&value, &count)| (value, count)).collect()
    }
}

fn read_wanted((kind, part, ending, clock): &(String, String, String, String)) -> PyResult<Wanted> {
    let unknown = |word: &str| PyValueError::new_err(format!("no operation, part, ending or clock: {word}"));
    let kind = OperationKind::named(kind).ok_or_else(|| unknown(kind))?;
    let part = match part.as_str() {
        "whole" => TimePart::Whole,
        "per_document" => TimePart::PerDocument,
        name => {
            let [is_first, is_second] = kind.parts().map(|part| part.is_some_and(|part| part.name() == name));
            match (is_first, is_second) {
                (true, _) => TimePart::First,
                (_, true) => TimePart::Second,
                _ => return Err(unknown(name)),
            }
        }
    };
    let (ending, _) = ENDINGS.into_iter().find(|(_, name)| name == ending).ok_or_else(|| unknown(ending))?;
    let from_due = match clock.as_str() {
        "response" => true,
        "service" => false,
        _ => return Err(unknown(clock)),
    };
    Ok(Wanted { kind, part, ending, from_due })
}
