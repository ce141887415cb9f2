//! Owns an import from its start to its summary: the threads, and what is seen of them from outside.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::{JoinHandle, Scope};
use std::time::Duration;

use brimline_engine::clock::{Nanos, unix_now_ns};
use brimline_engine::proof::prove;
use brimline_engine::standstill::Standstill;
use brimline_engine::target::Destination;
use brimline_wire::access::Access;
use brimline_wire::endpoint::Endpoint;
use serde::Serialize;
use thiserror::Error;

use crate::checkpoint::{Checkpoint, Firsts, Misfits};
use crate::doubt::Claims;
use crate::keeper::{self, Watch};
use crate::ledger::Ledger;
use crate::meter::Interval;
use crate::plan::ImportPlan;
use crate::rejects::RejectsFile;
use crate::session::SessionError;
use crate::shared::Shared;
use crate::{Counts, Ending, input, reader, worker};

/// Why an import can't begin.
#[derive(Debug, Error)]
pub enum ImportError {
    /// The address.
    #[error("{0}")]
    Address(String),
    /// A file of the record.
    #[error("{0}")]
    Unwritable(String),
    /// The system gives no thread.
    #[error("{0}")]
    Resources(String),
}

/// An import that goes on in threads of its own. Dropping it abandons it.
pub struct Import {
    shared: Arc<Shared>,
    over: Arc<Over>,
    director: Mutex<Option<JoinHandle<()>>>,
    started_unix_ns: u64,
}

#[derive(Default)]
struct Over {
    ending: Mutex<Option<Ending>>,
    changed: Condvar,
}

/// How far an import is.
#[derive(Clone, Debug, Serialize)]
pub struct Progress {
    /// Whether it has ended.
    pub is_over: bool,
    /// Time since its start.
    pub elapsed_ns: Nanos,
    /// What was acknowledged, with what earlier processes had settled.
    pub counts: Counts,
    /// Bytes taken from the inputs since the start, as they lie on the disk.
    pub input_bytes: u64,
    /// Time within which 99 of 100 commands were answered; 0 before the first.
    pub service_p99_ns: Nanos,
    /// What is settled and would survive the server's death now.
    pub checkpoint: Checkpoint,
}

/// How an import ended.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    /// Why.
    pub ending: Ending,
    /// When it began, by the wall clock.
    pub started_unix_ns: u64,
    /// How long it took.
    pub elapsed_ns: Nanos,
    /// What was acknowledged, with what earlier processes had settled.
    pub counts: Counts,
    /// When the importer itself did not run, in the order of time.
    pub standstills: Vec<Standstill>,
    /// Where those begin that came in and are told of.
    #[serde(flatten)]
    pub firsts: Firsts,
    /// Cells that do not fit their column's type, by column, of records that were sent.
    pub misfits: Misfits,
    /// The checkpoint that it left: what is settled and would survive the server's death.
    pub checkpoint: Checkpoint,
}

impl Import {
    /// Starts threads and returns at once. `access` opens the server and is no part of the plan. Where it `is_held`, no document is
    /// sent before [`Import::release`]: what has to be changed at the server first is changed only when the input can be read.
    ///
    /// # Errors
    /// When the address names no host, or the file of rejected records can't be opened.
    pub fn start(plan: ImportPlan, access: &Arc<Access>, is_held: bool) -> Result<Self, ImportError> {
        let addresses = std::iter::once(&plan.address).chain(&plan.shards);
        let endpoints = addresses.map(|address| Endpoint::resolve(address, access));
        let endpoints = endpoints.collect::<Result<Vec<_>, _>>().map_err(ImportError::Address)?;
        let from = plan.resume.clone().unwrap_or_else(Checkpoint::at_the_start);
        let rejects = RejectsFile::open(&plan.rejected_file, from.rejected_bytes)
            .map_err(|error| ImportError::Unwritable(format!("{}: {error}", plan.rejected_file.display())))?;
        let shared = Arc::new(Shared::new(plan, endpoints, Ledger::new(from.clone(), rejects), &from));
        if is_held {
            shared.hold();
        }
        let over = Arc::new(Over::default());
        let director = {
            let (shared, over) = (Arc::clone(&shared), Arc::clone(&over));
            let thread = std::thread::Builder::new().spawn(move || {
                let directed = catch_unwind(AssertUnwindSafe(|| {
                    input::explained(&shared.plan.inputs, direct(&shared, &from))
                }));
                let panicked = |_| Ending::Broken { reason: "a thread panicked".to_owned() };
                *over.ending.lock().unwrap_or_else(PoisonError::into_inner) =
                    Some(directed.unwrap_or_else(panicked));
                over.changed.notify_all();
            });
            thread.map_err(|error| ImportError::Resources(format!("no thread can be started: {error}")))?
        };
        Ok(Self { shared, over, director: Mutex::new(Some(director)), started_unix_ns: unix_now_ns() })
    }

    /// Waits for the end, at most `timeout`, and says how far it is.
    #[expect(clippy::disallowed_methods, reason = "who looks on from outside needs no grain")]
    pub fn poll(&self, timeout: Duration) -> Progress {
        let ending = self.over.ending.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.over.changed.wait_timeout_while(ending, timeout, |ending| ending.is_none());
        let is_over = waited.unwrap_or_else(PoisonError::into_inner).0.is_some();
        Progress {
            is_over,
            elapsed_ns: self.shared.clock.now(),
            counts: self.shared.acknowledged(),
            input_bytes: self.shared.input_bytes_taken.load(Ordering::Relaxed),
            service_p99_ns: self.shared.meter.p99_ns(),
            checkpoint: self.shared.checkpoint(),
        }
    }

    /// Whether the server is reached and there are documents to send; waits for them at most `timeout`.
    pub fn await_documents(&self, timeout: Duration) -> bool {
        self.shared.await_documents(timeout)
    }

    /// Of an import that is held and has documents to send: those that come first, as they were read.
    pub fn first_documents(&self) -> Vec<Vec<u8>> {
        self.shared.first_documents()
    }

    /// Lets an import go that was held.
    pub fn release(&self) {
        self.shared.release();
    }

    /// The intervals that ended since the last call.
    pub fn take_intervals(&self) -> Vec<Interval> {
        self.shared.meter.take()
    }

    /// Reads nothing more, and settles what is read, of which nothing is sent while it is held.
    pub fn stop(&self) {
        if self.shared.is_held() {
            return self.abort();
        }
        self.shared.end_at(u64::MAX, Ending::Stopped);
    }

    /// Drops every connection at once.
    pub fn abort(&self) {
        self.shared.abandon(Some(Ending::Stopped));
    }

    /// Waits for the end.
    pub fn join(&self) -> Summary {
        if let Some(director) = self.director.lock().unwrap_or_else(PoisonError::into_inner).take() {
            // It hands on panics as an ending.
            let _ = director.join();
        }
        let ending = self.over.ending.lock().unwrap_or_else(PoisonError::into_inner).clone();
        Summary {
            ending: ending.unwrap_or_else(|| Ending::Broken { reason: "it has not ended".to_owned() }),
            started_unix_ns: self.started_unix_ns,
            elapsed_ns: self.shared.clock.now(),
            counts: self.shared.acknowledged(),
            standstills: std::mem::take(
                &mut self.shared.standstills.lock().unwrap_or_else(PoisonError::into_inner),
            ),
            firsts: self.shared.firsts(),
            misfits: self.shared.misfits(),
            checkpoint: self.shared.checkpoint(),
        }
    }
}

impl Drop for Import {
    fn drop(&mut self) {
        self.shared.abandon(None);
    }
}

struct Watching<'w>(&'w Watch);

impl Drop for Watching<'_> {
    fn drop(&mut self) {
        self.0.end();
    }
}

/// Starts a thread for `what`. Without it the import ends at once: the others would wait for it.
fn start<'scope>(
    shared: &Shared,
    threads: &'scope Scope<'scope, '_>,
    what: &str,
    work: impl FnOnce() + Send + 'scope,
) {
    if let Err(error) = std::thread::Builder::new().spawn_scoped(threads, work) {
        let reason = format!("no thread for {what} can be started: {error}");
        shared.abandon(Some(Ending::OutOfResources { reason }));
    }
}

/// Runs the threads to their end, writes the last checkpoint and says why it ended.
fn direct(shared: &Shared, from: &Checkpoint) -> Ending {
    let is_wanted = || !shared.is_abandoned.load(Ordering::Relaxed);
    for endpoint in &shared.endpoints {
        let server = Destination::Mongo(endpoint.clone());
        if let Err(reason) = prove(&server, shared.plan.reply_timeout_ns, is_wanted) {
            return shared.ending().unwrap_or(Ending::ServerLost { reason });
        }
    }
    let (watch, claims) = (Watch::default(), Claims::default());
    std::thread::scope(|threads| {
        // However the workers end, who watches must, or the scope would wait for them.
        let _over = Watching(&watch);
        start(shared, threads, "the checkpoint", || keeper::keep(shared, &watch));
        start(shared, threads, "the clocks", || keeper::watch_clocks(shared, &watch));
        std::thread::scope(|threads| {
            start(shared, threads, "the inputs", || reader::read(shared, from));
            for _ in 0..shared.plan.workers {
                start(shared, threads, "a connection", || worker::work(shared, &claims));
            }
        });
    });
    let ending = shared.ending().unwrap_or(Ending::Completed);
    let is_lost = matches!(
        ending,
        Ending::ServerLost { .. }
            | Ending::Unwritable { .. }
            | Ending::OutOfResources { .. }
            | Ending::Broken { .. }
    );
    if is_lost {
        return ending;
    }
    match keeper::conclude(shared, ending == Ending::Completed) {
        // Who drops everything doesn't wait for the server: the checkpoint stays the last one, what came after it is in doubt.
        Ok(()) | Err(SessionError::Abandoned) => {}
        Err(error) => return Ending::ServerLost { reason: error.to_string() },
    }
    shared.write_leftovers();
    shared.ending().unwrap_or(ending)
}
