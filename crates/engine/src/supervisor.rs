//! The workers of a run: starts them together, merges what they record, and sums up.

use std::fs::File;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, Scope, ScopedJoinHandle};

use crate::clock::{Clock, unix_now_ns};
use crate::collector::Collector;
use crate::commands::Commands;
use crate::load::{Load, Places, Post, posts};
use crate::mission::{Mission, Sink, WorkerInterval};
use crate::operation_log::{self, LogTotals, Logger, Pool};
use crate::pacer::Pacer;
use crate::packed::Packer;
use crate::plan::Plan;
use crate::plan::target::TargetPlan;
use crate::recorder::Tallies;
use crate::run_error::{RunError, panic_message};
use crate::shared::{Start, StartLine};
use crate::spares::Spares;
use crate::state::{Shared, Stage};
use crate::summary::{Begun, Summary, summarise};
use crate::target::Target;
use crate::totals::WorkerSummary;
use crate::worker::Worker;

/// What workers tell the director.
enum Message {
    Connected,
    Refused(String),
    Interval(usize, WorkerInterval),
    Finished(usize, Box<Result<WorkerSummary, String>>),
}

/// Sends a worker's intervals to the director and gets empty tallies back.
struct ToDirector<'r> {
    worker: usize,
    messages: Sender<Message>,
    spares: &'r Spares,
    logger: Option<Logger>,
}

impl Sink for ToDirector<'_> {
    fn take(&mut self, interval: WorkerInterval) -> Tallies {
        // The director outlives its workers; should it have panicked, there is nobody to record for.
        drop(self.messages.send(Message::Interval(self.worker, interval)));
        self.spares.take()
    }

    fn logger(&mut self) -> Option<Logger> {
        self.logger.take()
    }
}

/// Runs the workers of all loads on targets that `make_target` makes for the first of their connections and so many, and sums up.
pub fn supervise<T: Target>(
    plan: &Plan,
    loads: &[Load],
    commands: &Commands,
    shared: &Shared,
    make_target: impl Fn(usize, usize) -> std::io::Result<T> + Sync,
) -> Result<Summary, RunError> {
    let posts = posts(loads);
    let thread_count = posts.len();
    let pacers: Vec<Pacer> = loads.iter().map(|load| Pacer::new(&load.plan)).collect();
    let workers_of = |load: usize| {
        let first = posts.iter().position(|post| post.load == load).unwrap_or(0);
        let count = posts.iter().filter(|post| post.load == load).count();
        &shared.workers[first..first + count]
    };
    let missions: Vec<Mission<'_>> = loads
        .iter()
        .zip(&pacers)
        .enumerate()
        .map(|(number, (load, pacer))| {
            Mission::new(number, load, pacer, commands, &shared.control, workers_of(number))
        })
        .collect();
    let main_count = workers_of(0).len();
    let start_line = StartLine::default();
    let spares = Spares::new(thread_count);
    let crew = Crew {
        posts: &posts,
        missions: &missions,
        start_line: &start_line,
        spares: &spares,
        make_target: &make_target,
    };
    let (sender, messages) = channel();
    thread::scope(|scope| {
        let log = shared.log.as_ref().map(|file| LogThread::start(scope, file, thread_count)).transpose()?;
        // Whatever keeps a run from taking place, those who wait at the start line must go home, or the scope would wait for them.
        let cancelled = |reason| {
            shared.control.abort();
            start_line.release(Start::Cancelled);
            reason
        };
        crew.start(scope, &sender, log.as_ref()).map_err(cancelled)?;
        drop(sender);
        let started = await_connections(&messages, thread_count);
        let clock = if started.is_ok() { shared.await_start() } else { Clock::start() };
        let started_unix_ns = unix_now_ns();
        started.map_err(cancelled)?;
        let virtual_clock = matches!(plan.target, TargetPlan::Simulated { .. });
        shared.update(|status| {
            status.stage = Stage::Running;
            status.clock = (!virtual_clock).then_some(clock);
        });
        let writer = log.map(|log| log.begin(started_unix_ns));
        start_line.release(Start::Go(clock));
        let totals = collect(&messages, thread_count, main_count, &spares, shared)?;
        let log = writer.map(|writer| join_writer(writer, totals.log_lost)).transpose()?;
        let begun = Begun { started_unix_ns, virtual_clock, thread_count: thread_count as u32 };
        Ok(summarise(totals, &shared.control, plan, commands, begun, log))
    })
}

/// The thread that writes the log of operations down, and the way to it.
struct LogThread<'s> {
    rows: Sender<Vec<u8>>,
    pool: Arc<Pool>,
    writer: ScopedJoinHandle<'s, LogTotals>,
}

impl<'s> LogThread<'s> {
    fn start(scope: &'s Scope<'s, '_>, file: &'s File, worker_count: usize) -> Result<Self, RunError> {
        let (rows, chunks) = channel();
        let pool = Arc::new(Pool::new(worker_count));
        let writing = Arc::clone(&pool);
        thread::Builder::new()
            .name("brimline-log".to_owned())
            .spawn_scoped(scope, move || operation_log::write_down(file, &chunks, &writing))
            .map(|writer| Self { rows, pool, writer })
            .map_err(|error| RunError::no_thread("the log of operations", &error))
    }

    fn logger(&self) -> Logger {
        Logger::new(&self.pool, self.rows.clone())
    }

    /// Writes the header; to be called before any worker begins, so that it comes first. From then on only workers write.
    fn begin(self, started_unix_ns: u64) -> ScopedJoinHandle<'s, LogTotals> {
        // Only a thread that panicked takes nothing; see `join_writer`.
        drop(self.rows.send(operation_log::header(started_unix_ns)));
        self.writer
    }
}

/// The workers of a run, and what all of them are started with.
struct Crew<'r, M> {
    posts: &'r [Post],
    missions: &'r [Mission<'r>],
    start_line: &'r StartLine,
    spares: &'r Spares,
    make_target: &'r M,
}

impl<'r, M> Crew<'r, M> {
    /// A thread for each. They connect and wait at the start line.
    fn start<'s, T: Target>(
        &self,
        scope: &'s Scope<'s, 'r>,
        sender: &Sender<Message>,
        log: Option<&LogThread<'s>>,
    ) -> Result<(), RunError>
    where
        M: Fn(usize, usize) -> std::io::Result<T> + Sync,
    {
        let Self { posts, missions, start_line, spares, make_target } = *self;
        for (worker, &Post { load, shard, places }) in posts.iter().enumerate() {
            let logger = log.map(LogThread::logger);
            let sink = ToDirector { worker, messages: sender.clone(), spares, logger };
            let messages = sender.clone();
            let mission = &missions[load];
            let spawned =
                thread::Builder::new().name(format!("brimline-{worker}")).spawn_scoped(scope, move || {
                    // A thread that panicked says so as well: others wait for its word.
                    let outcome = catch_unwind(AssertUnwindSafe(|| {
                        let target = make_target(places.first, places.connections);
                        work(mission, shard, target, places, sink, start_line, &messages)
                    }));
                    let outcome = outcome.unwrap_or_else(|panic| Err(panic_message(panic.as_ref())));
                    drop(messages.send(Message::Finished(worker, Box::new(outcome))));
                });
            if let Err(error) = spawned {
                let which = format!("worker {} of {}", worker + 1, posts.len());
                return Err(RunError::no_thread(&which, &error));
            }
        }
        Ok(())
    }
}

/// The life of one worker thread.
fn work<T: Target>(
    mission: &Mission<'_>,
    worker: usize,
    target: std::io::Result<T>,
    places: Places,
    sink: ToDirector<'_>,
    start_line: &StartLine,
    messages: &Sender<Message>,
) -> Result<WorkerSummary, String> {
    let report = |message| drop(messages.send(message));
    let target = target.map_err(|error| {
        report(Message::Refused(error.to_string()));
        error.to_string()
    })?;
    let worker = Worker::new(mission, worker as u64, target, places, sink);
    let mut worker = worker.map_err(|error| {
        report(Message::Refused(error.to_string()));
        error.to_string()
    })?;
    match worker.connect() {
        Ok(()) => report(Message::Connected),
        Err(reason) => {
            report(Message::Refused(reason.clone()));
            return Err(reason);
        }
    }
    match start_line.wait() {
        Start::Go(clock) => worker.run(clock).map_err(|error| error.to_string()),
        Start::Cancelled => Err("cancelled".to_owned()),
    }
}

fn await_connections(messages: &Receiver<Message>, worker_count: usize) -> Result<(), RunError> {
    for _ in 0..worker_count {
        match messages.recv() {
            Ok(Message::Connected) => {}
            Ok(Message::Refused(reason)) => return Err(RunError::Target(reason)),
            Ok(Message::Finished(_, outcome)) => {
                let reason = outcome.err().unwrap_or_default();
                return Err(RunError::Internal(format!("a worker ended before it was connected: {reason}")));
            }
            Ok(Message::Interval(..)) | Err(_) => {
                return Err(RunError::Internal("a worker ended before it was connected".to_owned()));
            }
        }
    }
    Ok(())
}

/// Merges intervals until all workers are done.
fn collect(
    messages: &Receiver<Message>,
    worker_count: usize,
    main_count: usize,
    spares: &Spares,
    shared: &Shared,
) -> Result<WorkerSummary, RunError> {
    let mut main_left = main_count;
    let mut collector = Collector::new(worker_count, shared.cpu_ns());
    let mut packer = Packer::default();
    let mut totals = None;
    let mut failure = None;
    while let Ok(message) = messages.recv() {
        match message {
            Message::Interval(worker, part) => {
                if let Some(tallies) = collector.add(worker, part) {
                    spares.give(tallies);
                }
            }
            Message::Finished(worker, outcome) => {
                collector.finish(worker);
                if worker < main_count {
                    main_left -= 1;
                }
                if main_left == 0 {
                    shared.control.end_main();
                }
                match *outcome {
                    Ok(summary) => match &mut totals {
                        None => totals = Some(summary),
                        Some(totals) => totals.merge(summary),
                    },
                    Err(reason) => {
                        shared.control.abort();
                        failure.get_or_insert(RunError::Internal(reason));
                    }
                }
            }
            Message::Connected | Message::Refused(_) => {}
        }
        while let Some(interval) = collector.next_complete(|| shared.cpu_ns()) {
            let (interval, tallies) = interval.pack(&mut packer);
            spares.give(tallies);
            shared.update(|status| {
                status.merged_until_ns = interval.end_ns;
                status.intervals.push(interval);
            });
        }
    }
    failure.map_or_else(|| Ok(totals.unwrap_or_default()), Err)
}

/// What became of the log, once no worker writes to it any more.
fn join_writer(writer: ScopedJoinHandle<'_, LogTotals>, lost: u64) -> Result<LogTotals, RunError> {
    let written =
        writer.join().map_err(|_| RunError::Internal("the log of operations panicked".to_owned()))?;
    Ok(LogTotals { lost: written.lost + lost, ..written })
}
