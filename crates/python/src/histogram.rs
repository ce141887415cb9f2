//! The engine's histogram, so that analysis and report quantify with the implementation that recorded.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use brimline_engine::recorder::{TIME_NS_MAX, TimeHistogram, new_histogram};
use hdrhistogram::serialization::{Deserializer, Serializer, V2DeflateSerializer};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// A histogram of nanoseconds.
#[pyclass(module = "brimline._native")]
pub struct Histogram(TimeHistogram);

#[pymethods]
impl Histogram {
    #[new]
    fn new() -> Self {
        Self(new_histogram())
    }

    #[staticmethod]
    fn decode(text: &str) -> PyResult<Self> {
        let bytes = STANDARD.decode(text).map_err(|error| invalid(&error))?;
        let decoded: TimeHistogram =
            Deserializer::new().deserialize(&mut bytes.as_slice()).map_err(|error| invalid(&error))?;
        // A decoded histogram has a fixed range; adding it to one that grows gives one that can be merged into.
        let mut histogram = new_histogram();
        histogram.add(&decoded).map_err(|error| invalid(&error))?;
        Ok(Self(histogram))
    }

    fn encode(&self) -> PyResult<String> {
        encode(&self.0)
    }

    fn merge(&mut self, other: &Self) -> PyResult<()> {
        self.0.add(&other.0).map_err(|error| invalid(&error))
    }

    #[pyo3(signature = (value_ns, count = 1))]
    fn record(&mut self, value_ns: u64, count: u64) -> PyResult<()> {
        self.0.record_n(value_ns.min(TIME_NS_MAX), count).map_err(|error| invalid(&error))
    }

    fn quantile(&self, quantile: f64) -> PyResult<u64> {
        if !(0.0..=1.0).contains(&quantile) {
            return Err(PyValueError::new_err(format!("a quantile is in [0, 1], got: {quantile}")));
        }
        Ok(self.0.value_at_quantile(quantile))
    }

    fn count(&self) -> u64 {
        self.0.len()
    }

    fn count_above(&self, value_ns: u64) -> u64 {
        let limit = self.0.highest_equivalent(value_ns);
        self.0
            .iter_recorded()
            .filter(|step| step.value_iterated_to() > limit)
            .map(|step| step.count_at_value())
            .sum()
    }

    fn mean(&self) -> f64 {
        self.0.mean()
    }

    fn stddev(&self) -> f64 {
        self.0.stdev()
    }

    fn min(&self) -> u64 {
        if self.0.is_empty() { 0 } else { self.0.min() }
    }

    fn max(&self) -> u64 {
        self.0.max()
    }

    fn buckets(&self) -> Vec<(u64, u64)> {
        self.0
            .iter_recorded()
            .map(|step| (self.0.highest_equivalent(step.value_iterated_to()), step.count_at_value()))
            .collect()
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
