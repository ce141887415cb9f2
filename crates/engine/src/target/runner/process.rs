//! Owns a runner's process: its start, the pipes to and from it, what it writes to standard error, its CPU time, and its end. A
//! runner and what it starts are one process group, and end together.

use std::env;
use std::fs;
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use rustix::io::ioctl_fionbio;
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitId, WaitIdOptions, kill_process_group, pidfd_open, waitid,
};

use crate::clock::Nanos;
use crate::shared::lock;

/// Bytes kept of what a runner writes to standard error: its end.
const ERROR_BYTES_MAX: usize = 4_096;
/// The most that is read at once.
const CHUNK_BYTES: usize = 64 << 10;
/// How long the last words of a runner that ends are waited for.
const LAST_WORDS_WITHIN: Duration = Duration::from_millis(200);
/// How long the end of a runner is waited for that closed its output. The kernel closes a program's pipes first, and on a busy
/// machine says later how it ended.
const STATUS_WITHIN: Duration = Duration::from_secs(1);
/// How often it is looked for.
const STATUS_EVERY: Duration = Duration::from_millis(2);
/// Length of the kernel's tick in which it tells the CPU time of other processes.
const TICK_NS: Nanos = 10_000_000;

/// How brimline's own variables begin, passwords among them. A runner has no need of any.
const OWN_VARIABLES: &[u8] = b"BRIMLINE_";

/// A runner that was started. Dropping it ends it, and what it started.
pub struct Process {
    child: Child,
    /// Is readable from its end on; `None` on Linux before 5.3.
    end: Option<OwnedFd>,
    to: ChildStdin,
    from: ChildStdout,
    errors: Arc<Mutex<Vec<u8>>>,
    /// Hangs up when nothing more is written to standard error.
    silence: Receiver<()>,
    outgoing: Vec<u8>,
    outgoing_from: usize,
    /// What arrived and was not taken yet.
    pub arrived: Vec<u8>,
}

impl Process {
    /// Starts `command`, the program first.
    ///
    /// # Errors
    /// When there is no such program, or the system gives no process.
    pub fn start(command: &[String]) -> io::Result<Self> {
        let (program, arguments) =
            command.split_first().ok_or_else(|| io::Error::other("a runner without a program"))?;
        let mut start = Command::new(program);
        for (name, _) in env::vars_os().filter(|(name, _)| name.as_encoded_bytes().starts_with(OWN_VARIABLES))
        {
            start.env_remove(name);
        }
        let mut child = start
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            // Ctrl-C is the engine's affair.
            .process_group(0)
            .spawn()
            .map_err(|error| io::Error::new(error.kind(), format!("{program} can't be started: {error}")))?;
        let end = pidfd_open(Pid::from_child(&child), PidfdFlags::empty()).ok();
        let gone = || io::Error::other("a runner without pipes");
        let to = child.stdin.take().ok_or_else(gone)?;
        let from = child.stdout.take().ok_or_else(gone)?;
        let stderr = child.stderr.take().ok_or_else(gone)?;
        ioctl_fionbio(&to, true)?;
        ioctl_fionbio(&from, true)?;
        let errors = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&errors);
        let (talking, silence) = channel();
        thread::Builder::new()
            .name("brimline-runner".to_owned())
            .spawn(move || listen(stderr, &kept, talking))?;
        let (outgoing, arrived) = (Vec::new(), Vec::new());
        Ok(Self { child, end, to, from, errors, silence, outgoing, outgoing_from: 0, arrived })
    }

    /// Where frames to it are appended; [`Self::flush`] sends them.
    pub fn outgoing(&mut self) -> &mut Vec<u8> {
        &mut self.outgoing
    }

    /// The pipe that it is told by.
    pub fn to(&self) -> BorrowedFd<'_> {
        self.to.as_fd()
    }

    /// The pipe that it tells by.
    pub fn from(&self) -> BorrowedFd<'_> {
        self.from.as_fd()
    }

    /// What is readable from its end on, where the system has such a thing.
    pub fn end(&self) -> Option<BorrowedFd<'_>> {
        self.end.as_ref().map(AsFd::as_fd)
    }

    /// Sends what was appended, as far as the pipe takes it; whether it took all.
    ///
    /// # Errors
    /// When the runner reads no more.
    pub fn flush(&mut self) -> io::Result<bool> {
        while self.outgoing_from < self.outgoing.len() {
            match self.to.write(&self.outgoing[self.outgoing_from..]) {
                Ok(count) => self.outgoing_from += count,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(false),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        self.outgoing.clear();
        self.outgoing_from = 0;
        Ok(true)
    }

    /// Takes what it has told since; whether it may tell more.
    ///
    /// # Errors
    /// When the pipe can't be read.
    pub fn receive(&mut self) -> io::Result<bool> {
        loop {
            let filled = self.arrived.len();
            self.arrived.resize(filled + CHUNK_BYTES, 0);
            let outcome = self.from.read(&mut self.arrived[filled..]);
            self.arrived.truncate(filled + outcome.as_ref().copied().unwrap_or(0));
            match outcome {
                Ok(0) => return Ok(false),
                Ok(count) if count < CHUNK_BYTES => return Ok(true),
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(true),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// The line of what it wrote to standard error last that tells why it can't go on.
    #[expect(clippy::disallowed_methods, reason = "what a program says when it ends needs no grain")]
    pub fn last_words(&self) -> Option<String> {
        // An error either way: it hangs up, or it goes on talking.
        let _ = self.silence.recv_timeout(LAST_WORDS_WITHIN);
        let errors = lock(&self.errors);
        telling_line(&String::from_utf8_lossy(&errors)).map(str::to_owned)
    }

    /// How it ended; `None`: it hasn't, although that was waited for.
    #[expect(clippy::disallowed_methods, reason = "how a program ended needs no grain")]
    pub fn status(&self) -> Option<ExitStatus> {
        let begun = Instant::now();
        loop {
            let status = self.ended();
            if status.is_some() || begun.elapsed() > STATUS_WITHIN {
                return status;
            }
            thread::sleep(STATUS_EVERY);
        }
    }

    /// How it ended, if it has. Until it is dropped it stays a child of this process, so that nobody else has its number.
    fn ended(&self) -> Option<ExitStatus> {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        let status = waitid(WaitId::Pid(Pid::from_child(&self.child)), options).ok()??;
        // As wait(2) has it: the code in the second byte, the signal in the first.
        let raw = status.exit_status().map(|code| code << 8).or_else(|| status.terminating_signal());
        raw.map(ExitStatus::from_raw)
    }

    /// Its number.
    pub fn id(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Before it is waited for: then its number may be another's.
        let _ = kill_process_group(Pid::from_child(&self.child), Signal::KILL);
        // One that has left its group is waited for as well.
        let _ = self.child.kill();
        drop(self.child.wait());
    }
}

/// The last line of `text` that names an error, else the last one. Below the error a JVM and Node.js write where it came from, and
/// Go what its goroutines did.
fn telling_line(text: &str) -> Option<&str> {
    const NAMES: [&str; 4] = ["Error", "Exception", "panic: ", "error: "];
    let lines = || text.lines().rev().map(str::trim).filter(|line| !line.is_empty());
    let names_error = |line: &&str| !line.starts_with("at ") && NAMES.iter().any(|name| line.contains(name));
    lines().find(names_error).or_else(|| lines().next())
}

/// Keeps the end of what a runner writes to standard error.
fn listen(mut stderr: ChildStderr, kept: &Mutex<Vec<u8>>, talking: Sender<()>) {
    let mut chunk = [0; 1024];
    while let Ok(count @ 1..) = stderr.read(&mut chunk) {
        let mut kept = lock(kept);
        kept.extend_from_slice(&chunk[..count]);
        let excess = kept.len().saturating_sub(ERROR_BYTES_MAX);
        kept.drain(..excess);
    }
    drop(talking);
}

/// CPU time that process `id` has used so far, user and system, in ticks of the kernel's; `None` when it is gone.
pub fn cpu_ns(id: u32) -> Option<Nanos> {
    let status = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    // The program's name may hold spaces and parentheses: what follows the last one is regular.
    let mut fields = status.rsplit_once(')')?.1.split_ascii_whitespace().skip(11);
    let mut ticks = || fields.next()?.parse::<Nanos>().ok();
    Some((ticks()? + ticks()?) * TICK_NS)
}

#[cfg(test)]
mod tests {
    use super::telling_line;

    #[test]
    fn the_line_that_tells_is_the_error_and_not_where_it_came_from() {
        let cases = [
            ("", None),
            ("no such library\n\n", Some("no such library")),
            (
                "Traceback (most recent call last):\n  File \"x.py\"\nKeyError: 'uri'\n",
                Some("KeyError: 'uri'"),
            ),
            (
                "x.mjs:3\n  throw\n  ^\n\nError: no such thing\n    at f (x.mjs:3:1)\n\nNode.js v20.20.2\n",
                Some("Error: no such thing"),
            ),
            (
                "Exception in thread \"main\" a.B: c\n\tat x.Y(Y.java:1)\nCaused by: d.EException: f\n\tat x.NoException.z(Y.java:2)\n\t... 1 more\n",
                Some("Caused by: d.EException: f"),
            ),
            (
                "panic: no room\n\ngoroutine 1 [running]:\nmain.main()\n\t/x.go:4 +0x1d\n",
                Some("panic: no room"),
            ),
        ];
        for (text, told) in cases {
            assert_eq!(telling_line(text), told, "{text}");
        }
    }
}
