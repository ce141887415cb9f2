//! Owns what the threads of an import share.

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use brimline_engine::clock::Clock;
use brimline_engine::standstill::Standstill;
use brimline_formats::Documents;
use brimline_wire::endpoint::Endpoint;

use crate::checkpoint::{self, Checkpoint, Firsts, Misfits, Place};
use crate::command::Commands;
use crate::ledger::{Ledger, Outcome};
use crate::meter::Meter;
use crate::plan::ImportPlan;
use crate::queue::Queue;
use crate::{Counts, Ending, statement};

/// How far the announcement of what may be sent runs ahead, so that it is written now and then only.
const LEASE_BYTES: u64 = 64 << 20;
/// As many as a command takes by default.
const FIRST_DOCUMENTS_MAX: usize = 1000;

/// What the threads share.
pub struct Shared {
    /// What is to be done.
    pub plan: ImportPlan,
    /// Where to: one server, or those among which documents are shared out.
    pub endpoints: Vec<Endpoint>,
    /// The commands.
    pub commands: Commands,
    /// The time.
    pub clock: Clock,
    /// Stretches on their way.
    pub queue: Queue,
    /// Figures over time.
    pub meter: Meter,
    /// Bytes taken from the inputs, as they lie on the disk.
    pub input_bytes_taken: Arc<AtomicU64>,
    /// When the importer itself did not run.
    pub standstills: Mutex<Vec<Standstill>>,
    /// Nothing more is read.
    pub is_stopping: Arc<AtomicBool>,
    /// Nothing is waited for any more.
    pub is_abandoned: AtomicBool,
    ledger: Mutex<Ledger>,
    ledger_changed: Condvar,
    note: Mutex<Note>,
    /// Of an import that is held.
    first: Mutex<Vec<Vec<u8>>>,
}

/// What the checkpoint says.
struct Note {
    durable: Checkpoint,
    lease: Place,
}

impl Shared {
    /// Everything but the threads.
    pub fn new(plan: ImportPlan, endpoints: Vec<Endpoint>, ledger: Ledger, from: &Checkpoint) -> Self {
        let clock = Clock::start();
        Self {
            commands: Commands::new(&plan),
            queue: Queue::new(plan.workers),
            plan,
            endpoints,
            clock,
            meter: Meter::new(clock),
            input_bytes_taken: Arc::default(),
            standstills: Mutex::default(),
            is_stopping: Arc::default(),
            is_abandoned: AtomicBool::new(false),
            ledger: Mutex::new(ledger),
            ledger_changed: Condvar::new(),
            note: Mutex::new(Note { durable: from.clone(), lease: from.in_doubt_until.max(from.place) }),
            first: Mutex::default(),
        }
    }

    /// The next stretch ends at `end`; returns its number.
    pub fn register(&self, end: Place) -> u64 {
        self.ledger().register(end)
    }

    /// Tells that a stretch is converted, and waits until it is known whether it may be sent, and the import is let go where it has
    /// documents.
    pub fn may_be_sent(&self, number: u64, documents: &Documents) -> bool {
        let mut ledger = self.ledger();
        ledger.converted(number);
        self.ledger_changed.notify_all();
        loop {
            if self.is_abandoned.load(Ordering::Relaxed) {
                return false;
            }
            let answer = ledger.may_be_sent(number);
            if answer == Some(true) && !documents.rows.is_empty() && ledger.is_held() {
                if ledger.note_documents() {
                    let rows = documents.iter().zip(&documents.rows).take(FIRST_DOCUMENTS_MAX);
                    *self.first() =
                        rows.map(|(document, row)| statement::as_read(document, row.has_own_id)).collect();
                    self.ledger_changed.notify_all();
                }
            } else if let Some(answer) = answer {
                return answer;
            }
            ledger = self.ledger_changed.wait(ledger).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Documents that wait, as they were read: some of those that come first.
    pub fn first_documents(&self) -> Vec<Vec<u8>> {
        self.first().clone()
    }

    /// Documents wait for [`Shared::release`].
    pub fn hold(&self) {
        self.ledger().hold();
    }

    /// Whether documents wait.
    pub fn is_held(&self) -> bool {
        self.ledger().is_held()
    }

    /// Lets documents go that wait.
    pub fn release(&self) {
        self.ledger().release();
        self.ledger_changed.notify_all();
    }

    /// Whether there are documents to send; waits for them at most `timeout`.
    #[expect(clippy::disallowed_methods, reason = "who looks on from outside needs no grain")]
    pub fn await_documents(&self, timeout: Duration) -> bool {
        let is_waiting = |ledger: &mut Ledger| !ledger.is_ready() && ledger.ending().is_none();
        let waited = self.ledger_changed.wait_timeout_while(self.ledger(), timeout, is_waiting);
        waited.unwrap_or_else(PoisonError::into_inner).0.is_ready()
    }

    /// What comes before the first record, and is nothing to be sent, ends at `end` and is counted with it.
    pub fn settle_header(&self, end: Place, outcome: Outcome) {
        let number = self.register(end);
        self.ledger().converted(number);
        self.ledger_changed.notify_all();
        self.settle(number, outcome);
    }

    /// Whether a stretch that is being sent may be sent on.
    pub fn goes_on(&self, number: u64) -> bool {
        !self.is_abandoned.load(Ordering::Relaxed) && self.ledger().may_be_sent(number) != Some(false)
    }

    /// A stretch is settled.
    pub fn settle(&self, number: u64, outcome: Outcome) {
        let settled = self.ledger().settle(number, outcome);
        if let Err(error) = settled {
            self.cannot_write(&self.plan.rejected_file, &error);
        }
    }

    /// A stretch was broken off.
    pub fn break_off(&self, outcome: Outcome) {
        self.ledger().break_off(outcome);
    }

    /// The import ends at a stretch; what comes before it in the input is still sent.
    pub fn end_at(&self, number: u64, ending: Ending) {
        self.is_stopping.store(true, Ordering::Relaxed);
        self.ledger().end(number, ending);
        self.ledger_changed.notify_all();
    }

    /// The import ends at once.
    pub fn abandon(&self, ending: Option<Ending>) {
        self.is_stopping.store(true, Ordering::Relaxed);
        self.is_abandoned.store(true, Ordering::Relaxed);
        let mut ledger = self.ledger();
        if let Some(ending) = ending {
            ledger.end(0, ending);
        }
        drop(ledger);
        self.ledger_changed.notify_all();
        self.queue.abandon();
    }

    /// The number of the next stretch.
    pub fn next_number(&self) -> u64 {
        self.ledger().next_number()
    }

    /// Why the import ends early, if it does.
    pub fn ending(&self) -> Option<Ending> {
        self.ledger().ending().cloned()
    }

    /// Everything that was acknowledged.
    pub fn acknowledged(&self) -> Counts {
        self.ledger().acknowledged()
    }

    /// Cells that do not fit their column's type, by column, of everything that was acknowledged.
    pub fn misfits(&self) -> Misfits {
        self.ledger().misfits().clone()
    }

    /// Where what is told of begins, of everything that was acknowledged.
    pub fn firsts(&self) -> Firsts {
        self.ledger().firsts()
    }

    /// How far everything is settled; `None` when the file of rejected records can't be written.
    pub fn settled(&self) -> Option<Checkpoint> {
        let settled = self.ledger().settled();
        settled.map_err(|error| self.cannot_write(&self.plan.rejected_file, &error)).ok()
    }

    /// Writes what was rejected beyond the settled part.
    pub fn write_leftovers(&self) {
        let written = self.ledger().write_leftovers();
        if let Err(error) = written {
            self.cannot_write(&self.plan.rejected_file, &error);
        }
    }

    /// Sees to it that the checkpoint says that records up to `end` may have been sent. Returns whether it does.
    pub fn announce(&self, end: Place) -> bool {
        let mut note = self.note();
        if !note.lease.is_before(end) {
            return true;
        }
        note.lease = Place { offset: end.offset.saturating_add(LEASE_BYTES), ..end };
        self.write(&note)
    }

    /// Everything before `durable` would survive the server's death now: writes it down.
    pub fn note_durable(&self, durable: Checkpoint) -> bool {
        let mut note = self.note();
        note.durable = durable;
        self.write(&note)
    }

    /// The checkpoint as it lies on the disk.
    pub fn checkpoint(&self) -> Checkpoint {
        let note = self.note();
        Checkpoint { in_doubt_until: note.lease, ..note.durable.clone() }
    }

    fn write(&self, note: &Note) -> bool {
        let Some(path) = &self.plan.checkpoint_file else { return true };
        let written =
            checkpoint::write(path, &Checkpoint { in_doubt_until: note.lease, ..note.durable.clone() });
        if let Err(error) = &written {
            self.cannot_write(path, error);
        }
        written.is_ok()
    }

    fn cannot_write(&self, path: &Path, error: &std::io::Error) {
        self.abandon(Some(Ending::Unwritable { reason: format!("{}: {error}", path.display()) }));
    }

    fn ledger(&self) -> MutexGuard<'_, Ledger> {
        self.ledger.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn first(&self) -> MutexGuard<'_, Vec<Vec<u8>>> {
        self.first.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn note(&self) -> MutexGuard<'_, Note> {
        self.note.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
