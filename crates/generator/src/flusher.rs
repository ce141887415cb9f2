//! Owns the thread that has the disk take what is written while more is being made; the kernel alone would wait for much more.

use std::fs::File;
use std::io;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::{self, JoinHandle};

/// Writes a file's pages to its disk whenever it is woken. Dropping it leaves the rest to the kernel.
pub struct Flusher {
    wake: SyncSender<()>,
    thread: JoinHandle<io::Result<()>>,
}

impl Flusher {
    /// Begins with what `file` has by now.
    ///
    /// # Errors
    /// When the system gives no thread.
    pub fn start(file: File) -> io::Result<Self> {
        let (wake, woken) = sync_channel(1);
        let thread = thread::Builder::new().spawn(move || {
            file.sync_data()?;
            woken.iter().try_for_each(|()| file.sync_data())
        })?;
        Ok(Self { wake, thread })
    }

    /// There is more. A flusher that is still at work has it with its next turn; one that failed says so at the end.
    pub fn wake(&self) {
        _ = self.wake.try_send(());
    }

    /// Waits for the turn that is under way.
    ///
    /// # Errors
    /// The disk's: the system tells it once, to whoever asks first.
    pub fn end(self) -> io::Result<()> {
        drop(self.wake);
        self.thread.join().unwrap_or_else(|_| Err(io::Error::other("the thread that flushes panicked")))
    }
}
