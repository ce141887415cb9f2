//! The engine's histogram, so that analysis and report quantify with the implementation that recorded.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use brimline_engine::histogram::{TIME_NS_MAX, TimeHistogram, new_histogram};
use hdrhistogram::serialization::{Serializer, V2DeflateSerializer};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;

use crate::histogram_text;

/// A histogram of nanoseconds.
#[pyclass(module = "brimline._native")]
pub struct Histogram {
    counted: TimeHistogram,
    /// What was decoded and is not counted yet, ascending: most of it goes straight into another one.
    decoded: Vec<(u64, u64)>,
}

impl Histogram {
    fn of(counted: TimeHistogram) -> Self {
        Self { counted, decoded: Vec::new() }
    }

    fn whole(&mut self) -> PyResult<&TimeHistogram> {
        let decoded = std::mem::take(&mut self.decoded);
        self.count_all(&decoded)?;
        Ok(&self.counted)
    }

    /// From the highest down: the range grows once.
    fn count_all(&mut self, ascending: &[(u64, u64)]) -> PyResult<()> {
        ascending
            .iter()
            .rev()
            .try_for_each(|&(value_ns, count)| self.counted.record_n(value_ns, count))
            .map_err(|error| invalid(&error))
    }
}

/// The sum of histograms, each as Base64.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "Python hands over values")]
pub fn merge_histograms(py: Python<'_>, texts: Vec<PyBackedStr>) -> PyResult<String> {
    py.detach(|| {
        let mut sum = Histogram::new();
        for text in &texts {
            sum.count_all(&Histogram::decode(text)?.decoded)?;
        }
        encode(&sum.counted)
    })
}

#[pymethods]
impl Histogram {
    #[new]
    fn new() -> Self {
        Self::of(new_histogram())
    }

    #[staticmethod]
    fn decode(text: &str) -> PyResult<Self> {
        let bytes = STANDARD.decode(text).map_err(|error| invalid(&error))?;
        let decoded = histogram_text::counts(&bytes).map_err(|problem| invalid(&problem))?;
        if decoded.last().is_some_and(|&(value, _)| value > TIME_NS_MAX) {
            return Err(invalid(&"its values are out of range"));
        }
        Ok(Self { counted: new_histogram(), decoded })
    }

    fn encode(&mut self) -> PyResult<String> {
        encode(self.whole()?)
    }

    fn merge(&mut self, other: &Self) -> PyResult<()> {
        self.whole()?;
        self.counted.add(&other.counted).map_err(|error| invalid(&error))?;
        self.count_all(&other.decoded)
    }

    #[pyo3(signature = (value_ns, count = 1))]
    fn record(&mut self, value_ns: u64, count: u64) -> PyResult<()> {
        self.whole()?;
        self.counted.record_n(value_ns.min(TIME_NS_MAX), count).map_err(|error| invalid(&error))
    }

    fn quantile(&mut self, quantile: f64) -> PyResult<u64> {
        if !(0.0..=1.0).contains(&quantile) {
            return Err(PyValueError::new_err(format!("a quantile is in [0, 1], got: {quantile}")));
        }
        Ok(self.whole()?.value_at_quantile(quantile))
    }

    fn count(&mut self) -> PyResult<u64> {
        Ok(self.whole()?.len())
    }

    fn count_above(&mut self, value_ns: u64) -> PyResult<u64> {
        let whole = self.whole()?;
        let limit = whole.highest_equivalent(value_ns);
        Ok(whole
            .iter_recorded()
            .filter(|step| step.value_iterated_to() > limit)
            .map(|step| step.count_at_value())
            .sum())
    }

    fn mean(&mut self) -> PyResult<f64> {
        Ok(self.whole()?.mean())
    }

    fn stddev(&mut self) -> PyResult<f64> {
        Ok(self.whole()?.stdev())
    }

    fn min(&mut self) -> PyResult<u64> {
        let whole = self.whole()?;
        Ok(if whole.is_empty() { 0 } else { whole.min() })
    }

    fn max(&mut self) -> PyResult<u64> {
        Ok(self.whole()?.max())
    }

    fn buckets(&mut self) -> PyResult<Vec<(u64, u64)>> {
        let whole = self.whole()?;
        Ok(whole
            .iter_recorded()
            .map(|step| (whole.highest_equivalent(step.value_iterated_to()), step.count_at_value()))
            .collect())
    }
}

/// Base64 of the V2 encoding with deflate, `HdrHistogram`'s interchange format.
pub fn encode(histogram: &TimeHistogram) -> PyResult<String> {
    let mut bytes = Vec::new();
    V2DeflateSerializer::new().serialize(histogram, &mut bytes).map_err(|error| invalid(&error))?;
    Ok(STANDARD.encode(bytes))
}

fn invalid(error: &dyn std::fmt::Display) -> PyErr {
    PyValueError::new_err(format!("histogram: {error}"))
}
