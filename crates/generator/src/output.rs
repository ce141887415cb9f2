//! Owns where rows go: a file of its own, or standard output.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::fd::AsFd;

use crate::Job;
use crate::flusher::Flusher;

/// What is written before the disk is asked to take it: enough to keep it busy, little enough that it begins early.
const FLUSH_BYTES: u64 = 32 << 20;

/// Takes whole stretches of rows; knows how many bytes of whole stretches there are.
pub struct Output {
    file: File,
    is_own: bool,
    whole_bytes: u64,
    /// Of `whole_bytes`, what the flusher was told of.
    flushed_bytes: u64,
    /// Begins with the first `FLUSH_BYTES` of a file.
    flusher: Option<Flusher>,
}

impl Output {
    /// Opens the file of `job`, or standard output.
    pub fn open(job: &Job) -> io::Result<Self> {
        let file = match &job.path {
            Some(path) => {
                let mut options = OpenOptions::new();
                options.write(true).truncate(job.overwrite).create(job.overwrite).create_new(!job.overwrite);
                options.open(path)?
            }
            // The descriptor itself: the standard stream would look for line ends and copy what is behind the last.
            None => File::from(io::stdout().as_fd().try_clone_to_owned()?),
        };
        let is_own = job.path.is_some() && file.metadata()?.is_file();
        Ok(Self { file, is_own, whole_bytes: 0, flushed_bytes: 0, flusher: None })
    }

    /// Bytes that were written as whole stretches.
    pub fn whole_bytes(&self) -> u64 {
        self.whole_bytes
    }

    /// Writes all of `bytes`.
    pub fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all(bytes)?;
        self.whole_bytes += bytes.len() as u64;
        if self.is_own && self.whole_bytes - self.flushed_bytes >= FLUSH_BYTES {
            self.flushed_bytes = self.whole_bytes;
            match &mut self.flusher {
                Some(flusher) => flusher.wake(),
                None => self.flusher = Some(Flusher::start(self.file.try_clone()?)?),
            }
        }
        Ok(())
    }

    /// Has the disk take everything, so that an error of the disk is seen here. A pipe has nothing to wait for.
    pub fn sync(&mut self) -> io::Result<()> {
        if let Some(flusher) = self.flusher.take() {
            flusher.end()?;
        }
        if self.is_own { self.file.sync_data() } else { Ok(()) }
    }

    /// Cuts off the part of a stretch that was written before an error, so that the file ends with a whole row.
    pub fn cut(&self) -> io::Result<()> {
        if self.is_own { self.file.set_len(self.whole_bytes) } else { Ok(()) }
    }
}
