//! Owns getting at the bytes of an input, decompressed, and counting how many were taken from it.

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, ErrorKind, Read};
use std::os::fd::AsFd;
use std::os::unix::fs::OpenOptionsExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use brimline_engine::clock::Nanos;
use brimline_formats::{InputError, Position};
use brimline_net::wait::is_ready;
use rustix::event::PollFlags;
use rustix::fs::OFlags;

use crate::Ending;
use crate::gzip::Gzip;
use crate::plan::InputPlan;

const GZIP: [u8; 2] = [0x1f, 0x8b];
const COMPRESSED_BUFFER_BYTES: usize = 256 * 1024;
/// How often a wait for a pipe looks whether it is still wanted.
const LOOK_UP_NS: Nanos = 50_000_000;

/// Opens `input` at its beginning; `taken` counts the bytes as they lie on the disk. Where a pipe has none, `is_stopping` ends the wait.
pub fn open(
    input: &InputPlan,
    taken: &Arc<AtomicU64>,
    is_stopping: &Arc<AtomicBool>,
) -> io::Result<Box<dyn Read + Send>> {
    let file = match &input.path {
        // Without this a pipe is not open before somebody writes to it.
        Some(path) => {
            OpenOptions::new().read(true).custom_flags(OFlags::NONBLOCK.bits() as i32).open(path)?
        }
        // The descriptor itself: what the standard stream has read ahead can't be seen by a wait.
        None => File::from(io::stdin().as_fd().try_clone_to_owned()?),
    };
    let source = Source { file, taken: Arc::clone(taken), is_stopping: Arc::clone(is_stopping) };
    if !input.gzip {
        return Ok(Box::new(source));
    }
    let mut buffered = io::BufReader::with_capacity(COMPRESSED_BUFFER_BYTES, source);
    let begin = buffered.fill_buf()?;
    if begin.is_empty() {
        return Err(io::Error::other("it is empty, and compressed with gzip even nothing has a header"));
    }
    if !begin.starts_with(&GZIP[..begin.len().min(GZIP.len())]) {
        return Err(io::Error::other("it is not compressed with gzip, as --gzip or its name says"));
    }
    Ok(Box::new(Gzip::new(buffered)))
}

/// Of an input that can't be opened.
pub fn unopened(error: &io::Error) -> InputError {
    InputError { line: 0, offset: 0, reason: format!("it can't be opened: {error}") }
}

/// How much of a file is decompressed again to find out whether it is damaged: some seconds of work.
const AGAIN_BYTES: u64 = 2 << 30;

/// `ending` as it is, but for a compressed file that is damaged: what was decompressed of that may be anything, and its text is
/// not to be blamed. A pipe can't be read again.
pub fn explained(inputs: &[InputPlan], ending: Ending) -> Ending {
    let Ending::Input { input, line, offset, reason } = ending else { return ending };
    let damage = inputs.get(input).filter(|plan| plan.gzip && plan.is_file()).and_then(damage_of);
    let reason = match damage {
        Some(damage) if damage != reason => format!("{damage}; as it was read, {reason}"),
        _ => reason,
    };
    Ending::Input { input, line, offset, reason }
}

fn damage_of(plan: &InputPlan) -> Option<String> {
    let source = open(plan, &Arc::default(), &Arc::default()).ok()?;
    let error = io::copy(&mut source.take(AGAIN_BYTES), &mut io::sink()).err()?;
    Some(InputError::of_source(&error, Position::START).reason)
}

struct Source {
    file: File,
    taken: Arc<AtomicU64>,
    is_stopping: Arc<AtomicBool>,
}

impl Read for Source {
    fn read(&mut self, space: &mut [u8]) -> io::Result<usize> {
        loop {
            while !is_ready(&self.file, PollFlags::IN, LOOK_UP_NS)? {
                if self.is_stopping.load(Ordering::Relaxed) {
                    return Err(io::Error::other("nobody waits for it any more"));
                }
            }
            match self.file.read(space) {
                // Somebody else took it.
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                read => {
                    self.taken.fetch_add(*read.as_ref().unwrap_or(&0) as u64, Ordering::Relaxed);
                    return read;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::thread;

    use brimline_net::wait::sleep;

    use super::*;

    fn pipe() -> (Source, File, Arc<AtomicBool>) {
        let (reader, writer) = io::pipe().expect("a pipe");
        let is_stopping = Arc::new(AtomicBool::new(false));
        let file = File::from(std::os::fd::OwnedFd::from(reader));
        let writer = File::from(std::os::fd::OwnedFd::from(writer));
        let source = Source { file, taken: Arc::default(), is_stopping: Arc::clone(&is_stopping) };
        (source, writer, is_stopping)
    }

    #[test]
    fn a_pipe_in_which_nothing_comes_is_waited_for_until_the_import_stops() {
        let (mut source, mut writer, is_stopping) = pipe();
        writer.write_all(b"abc").expect("a pipe takes it");
        let mut space = [0; 8];
        assert_eq!(source.read(&mut space).expect("it is there"), 3);
        let waits = thread::spawn(move || source.read(&mut [0; 8]).map_err(|error| error.kind()));
        sleep(20_000_000).expect("it can wait");
        assert!(!waits.is_finished());
        is_stopping.store(true, Ordering::Relaxed);
        assert_eq!(waits.join().expect("no panic"), Err(ErrorKind::Other));
        drop(writer);
    }

    #[test]
    fn a_pipe_that_was_closed_has_ended() {
        let (mut source, writer, _) = pipe();
        drop(writer);
        assert_eq!(source.read(&mut [0; 8]).expect("an end is no error"), 0);
    }
}
