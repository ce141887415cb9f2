//! Owns what every peer is told on its command line; see `../README.md` for the meaning of each.

use std::collections::HashMap;
use std::error::Error;
use std::time::Duration;

/// What a run consists of.
pub enum Workload {
    Read,
    ReadAndUpdate,
    Load,
}

pub struct Arguments {
    pub uri: String,
    pub database: String,
    pub collection: String,
    pub workload: Workload,
    pub records: usize,
    pub threads: u64,
    pub batch: usize,
    pub warmup: Duration,
    pub measured: Duration,
    pub seed: u64,
}

impl Arguments {
    /// Reads pairs of `--name value`.
    ///
    /// # Errors
    /// One is missing, or is not what it has to be.
    pub fn parse(words: impl Iterator<Item = String>) -> Result<Self, Box<dyn Error>> {
        let words: Vec<String> = words.collect();
        let given: HashMap<&str, &str> =
            words.chunks_exact(2).map(|pair| (pair[0].as_str(), pair[1].as_str())).collect();
        let text = |name: &str| given.get(name).copied().ok_or_else(|| format!("{name} is missing"));
        Ok(Self {
            uri: text("--uri")?.to_owned(),
            database: text("--database")?.to_owned(),
            collection: text("--collection")?.to_owned(),
            workload: match text("--workload")? {
                "a" => Workload::ReadAndUpdate,
                "c" => Workload::Read,
                "load" => Workload::Load,
                other => return Err(format!("{other} is no workload").into()),
            },
            records: text("--records")?.parse()?,
            threads: text("--threads")?.parse()?,
            batch: text("--batch")?.parse()?,
            warmup: Duration::from_secs_f64(text("--warmup-s")?.parse()?),
            measured: Duration::from_secs_f64(text("--measured-s")?.parse()?),
            seed: text("--seed")?.parse()?,
        })
    }
}
