//! Owns getting at the bytes of an input, decompressed, and counting how many were taken from it.

use std::fs::File;
use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use flate2::read::MultiGzDecoder;

use crate::plan::InputPlan;

const COMPRESSED_BUFFER_BYTES: usize = 256 * 1024;

/// Opens `input` at its beginning; `taken` counts the bytes as they lie on the disk.
pub fn open(input: &InputPlan, taken: &Arc<AtomicU64>) -> io::Result<Box<dyn Read + Send>> {
    let source: Box<dyn Read + Send> = match &input.path {
        Some(path) => Box::new(File::open(path)?),
        None => Box::new(io::stdin()),
    };
    let counted = Counted { source, taken: Arc::clone(taken) };
    if !input.gzip {
        return Ok(Box::new(counted));
    }
    let buffered = io::BufReader::with_capacity(COMPRESSED_BUFFER_BYTES, counted);
    Ok(Box::new(MultiGzDecoder::new(buffered)))
}

struct Counted {
    source: Box<dyn Read + Send>,
    taken: Arc<AtomicU64>,
}

impl Read for Counted {
    fn read(&mut self, space: &mut [u8]) -> io::Result<usize> {
        let bytes = self.source.read(space)?;
        self.taken.fetch_add(bytes as u64, Ordering::Relaxed);
        Ok(bytes)
    }
}
