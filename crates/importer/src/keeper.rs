//! Owns the thread that looks after the others: it ends intervals, and moves the checkpoint along once what is settled is in
//! the server's journal.

use std::sync::atomic::AtomicBool;
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

use brimline_engine::clock::{Nanos, suspended_ns, thread_cpu_ns};
use brimline_engine::standstill::{Reading, StandstillLog};

use crate::command;
use crate::session::{Session, SessionError};
use crate::shared::Shared;

/// How often the checkpoint moves along.
const CHECKPOINT_EVERY_NS: Nanos = 500_000_000;
const TICK: Duration = Duration::from_millis(100);

/// Whether the workers are still at it; told to the keeper, who waits on it.
#[derive(Default)]
pub struct Watch {
    is_over: Mutex<bool>,
    changed: Condvar,
}

impl Watch {
    /// The workers have ended.
    pub fn end(&self) {
        *self.is_over.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.changed.notify_all();
    }

    /// Waits a little. Returns whether the workers have ended.
    #[expect(clippy::disallowed_methods, reason = "what is looked after ten times a second needs no grain")]
    fn wait(&self) -> bool {
        let is_over = self.is_over.lock().unwrap_or_else(PoisonError::into_inner);
        if *is_over {
            return true;
        }
        let waited = self.changed.wait_timeout(is_over, TICK);
        *waited.unwrap_or_else(PoisonError::into_inner).0
    }
}

/// Looks after the import until the workers have ended.
pub fn keep(shared: &Shared, watch: &Watch) {
    let mut sessions = Vec::new();
    let (mut noted_at, mut cut_at) = (shared.clock.now(), shared.clock.now());
    while !watch.wait() {
        let now = shared.clock.now();
        if now - cut_at >= shared.plan.interval_ns {
            shared.meter.cut();
            // Late by up to a tick, but never later and later: intervals of several importers stay side by side.
            cut_at = now - (now - cut_at) % shared.plan.interval_ns;
        }
        if now - noted_at >= CHECKPOINT_EVERY_NS {
            // A server that is lost is the workers' to report.
            let _ = move_along(shared, &mut sessions, &shared.is_abandoned, false);
            noted_at = shared.clock.now();
        }
    }
    shared.meter.cut();
}

/// Looks at the clocks until the workers have ended, in a thread that does nothing else: no server and no disk holds it up.
pub fn watch_clocks(shared: &Shared, watch: &Watch) {
    let reading = || (thread_cpu_ns(), suspended_ns());
    let (cpu_ns, suspended_ns) = reading();
    let begun = Reading { now: shared.clock.now(), cpu_ns, suspended_ns };
    let mut standstills = StandstillLog::new(TICK.as_nanos() as Nanos, begun);
    while !watch.wait() {
        standstills.look(shared.clock.now(), reading);
    }
    standstills.look(shared.clock.now(), reading);
    *shared.standstills.lock().unwrap_or_else(PoisonError::into_inner) = standstills.finish();
}

/// The last checkpoint, after the workers have ended.
pub fn conclude(shared: &Shared, is_finished: bool) -> Result<(), SessionError> {
    move_along(shared, &mut Vec::new(), &shared.is_abandoned, is_finished)
}

/// Asks the servers to have everything in their journals that is settled by now, and writes that down.
fn move_along<'a>(
    shared: &'a Shared,
    sessions: &mut Vec<Session<'a>>,
    abandoned: &'a AtomicBool,
    is_finished: bool,
) -> Result<(), SessionError> {
    let Some(mut settled) = shared.settled() else {
        return Ok(());
    };
    let noted = shared.checkpoint();
    let is_new = settled.place != noted.place || settled.counts != noted.counts;
    if is_new {
        if sessions.is_empty() {
            *sessions = Session::open_all(&shared.endpoints, shared.plan.reply_timeout_ns, abandoned)?;
        }
        let confirmed = sessions.iter_mut().try_for_each(|session| barrier(shared, session));
        confirmed.inspect_err(|_| sessions.clear())?;
    }
    settled.finished = is_finished;
    if is_new || is_finished {
        shared.note_durable(settled);
    }
    Ok(())
}

/// Waits until everything that was acknowledged is in the server's journal.
fn barrier(shared: &Shared, session: &mut Session<'_>) -> Result<(), SessionError> {
    let mut request = Vec::new();
    let request_id = session.next_request_id();
    shared.commands.barrier(&mut request, request_id);
    session.send(&mut request)?;
    let answer = session.receive(command::answer)?.map_err(SessionError::BadReply)?;
    match answer.failure.or(answer.write_concern_error) {
        Some(error) if error.is_of_leaving() => Err(SessionError::Leaving(error.message)),
        Some(error) => Err(SessionError::Unconfirmed(error.message)),
        None => Ok(()),
    }
}
