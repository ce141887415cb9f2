//! The thread that runs a plan: starts the workers together, merges what they record, and sums up.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, ScopedJoinHandle};

use brimline_wire::access::Access;
use brimline_wire::endpoint::Endpoint;

use crate::clock::{Clock, unix_now_ns};
use crate::collector::Collector;
use crate::commands::Commands;
use crate::load::{Load, Post, posts};
use crate::mission::{Mission, Places, Sink, WorkerInterval};
use crate::operation_log::{self, LogTotals, Logger, Pool};
use crate::outage;
use crate::own::Own;
use crate::own::steps::Step;
use crate::pacer::Pacer;
use crate::packed::Packer;
use crate::plan::{Plan, Reads, ReplicaSet, TargetPlan};
use crate::poller::Ending;
use crate::proof::prove;
use crate::recorder::Tallies;
use crate::replica_set::{View, discover};
use crate::run::{EndedBy, RunError, RunnerProcess, Shared, Stage, StepSummary, Summary, panic_message};
use crate::shared::{Start, StartLine, lock};
use crate::spares::Spares;
use crate::standstill;
#[cfg(feature = "driver")]
use crate::target::DriverTarget;
use crate::target::linked::connector;
use crate::target::runner::Opening;
use crate::target::{
    Destination, Followed, NullTarget, Routes, RunnerTarget, SimulatedTarget, SocketTarget, Target,
};
use crate::totals::{StepTotals, WorkerSummary};
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

/// Runs all workers and merges what they record. Returns when the last of them is done.
pub fn direct(
    plan: &Plan,
    loads: &[Load],
    commands: &Commands,
    shared: &Shared,
    access: &Arc<Access>,
    runner: &[String],
) -> Result<Summary, RunError> {
    let outcome = match &plan.target {
        TargetPlan::Wire { replica_set, reads, .. } => {
            let followed = replica_set.as_ref().map(|set| (set, reads.as_ref()));
            reach(plan, access, shared).map_err(RunError::Target).and_then(|routes| {
                following(routes, followed, access, |routes| {
                    let target = |first, connections| SocketTarget::new(routes, first, connections);
                    supervise(plan, loads, commands, shared, target)
                })
            })
        }
        TargetPlan::Http(_) | TargetPlan::Mysql(_) | TargetPlan::Postgres(_) => link(plan, access, shared)
            .and_then(|routes| {
                let target = |first, connections| SocketTarget::new(&routes, first, connections);
                supervise(plan, loads, commands, shared, target)
            }),
        #[cfg(feature = "driver")]
        TargetPlan::Driver { address, .. } => {
            reach_one(address, plan, access, shared).map_err(RunError::Target).and_then(|endpoint| {
                let target = |_, connections| DriverTarget::new(&endpoint, plan, connections);
                supervise(plan, loads, commands, shared, target)
            })
        }
        #[cfg(not(feature = "driver"))]
        TargetPlan::Driver { .. } => {
            Err(RunError::Internal("a build without the driver took its plan".to_owned()))
        }
        TargetPlan::Runner(settings) => supervise(plan, loads, commands, shared, |_, places| {
            let opening = Opening::new(settings, plan, access).map_err(std::io::Error::other)?;
            let target = RunnerTarget::new(runner, opening, plan, places)?;
            lock(&shared.runners).push(RunnerProcess { id: target.process_id(), cpu_ns: 0 });
            Ok(target)
        }),
        TargetPlan::Null { beside_server } => {
            let ending = Ending::of_generator(*beside_server);
            supervise(plan, loads, commands, shared, |_, connections| NullTarget::new(connections, ending))
        }
        TargetPlan::Simulated { script, generator_ns, standstills } => {
            supervise(plan, loads, commands, shared, |_, connections| {
                Ok(SimulatedTarget::new(script, *generator_ns, standstills, connections))
            })
        }
    };
    shared.update(|status| status.stage = Stage::Finished);
    outcome
}

/// The servers of the plan; the login was proved by one connection to the first of them.
fn reach(plan: &Plan, access: &Arc<Access>, shared: &Shared) -> Result<Routes, String> {
    let TargetPlan::Wire { address, routers, shards, reads, .. } = &plan.target else {
        return Err("only a server has an address".to_owned());
    };
    let at = |address: &String| Endpoint::resolve(address, access).map(Destination::Mongo);
    let writes: Vec<Destination> =
        std::iter::once(address).chain(routers).map(at).collect::<Result<_, _>>()?;
    let reads: Vec<Destination> =
        reads.iter().flat_map(|reads| &reads.addresses).map(at).collect::<Result<_, _>>()?;
    prove(&writes[0], plan.connect_timeout_ns, || !shared.control.stopped())?;
    if !shards.is_empty() {
        let further: Vec<Destination> = shards.iter().map(at).collect::<Result<_, _>>()?;
        return Ok(Routes::by_record(writes.into_iter().chain(further)));
    }
    Ok(if reads.is_empty() { Routes::to(writes) } else { Routes::by_kind(writes, reads) })
}

/// The server behind links of the plan, likewise; what it refuses to prepare is told here.
fn link(plan: &Plan, access: &Arc<Access>, shared: &Shared) -> Result<Routes, RunError> {
    let connector = connector(plan, access)?
        .ok_or_else(|| RunError::Internal("only other protocols have links".to_owned()))?;
    let server = Destination::Linked(connector);
    prove(&server, plan.connect_timeout_ns, || !shared.control.stopped()).map_err(RunError::Target)?;
    Ok(Routes::to(vec![server]))
}

/// The one server of a plan for the driver, likewise.
#[cfg(feature = "driver")]
fn reach_one(address: &str, plan: &Plan, access: &Arc<Access>, shared: &Shared) -> Result<Endpoint, String> {
    let endpoint = Endpoint::resolve(address, access)?;
    prove(&Destination::Mongo(endpoint.clone()), plan.connect_timeout_ns, || !shared.control.stopped())?;
    Ok(endpoint)
}

/// Does `work` while a thread of its own follows the replica set, where there is one.
fn following<R>(
    routes: Routes,
    followed: Option<(&ReplicaSet, Option<&Reads>)>,
    access: &Arc<Access>,
    work: impl FnOnce(&Routes) -> Result<R, RunError>,
) -> Result<R, RunError> {
    let Some((set, reads)) = followed else { return work(&routes) };
    let view = Arc::new(View::new(routes.servers()));
    let routes = routes.following(Followed { view: Arc::clone(&view), name: set.name.clone() });
    thread::scope(|scope| {
        thread::Builder::new()
            .name("brimline-discovery".to_owned())
            .spawn_scoped(scope, || discover(set, reads, access, &view))
            .map_err(|error| RunError::no_thread("watching the replica set", &error))?;
        // However the work ends, the thread must, or the scope would wait for it.
        let _closing = Closing(&view);
        work(&routes)
    })
}

struct Closing<'v>(&'v View);

impl Drop for Closing<'_> {
    fn drop(&mut self) {
        self.0.close();
    }
}

fn supervise<T: Target>(
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
    let (sender, messages) = channel();
    thread::scope(|scope| {
        let log = shared.log.as_ref().map(|file| {
            let (rows, chunks) = channel();
            let pool = Arc::new(Pool::new(thread_count));
            let writing = Arc::clone(&pool);
            thread::Builder::new()
                .name("brimline-log".to_owned())
                .spawn_scoped(scope, move || operation_log::write_down(file, &chunks, &writing))
                .map(|writer| (rows, pool, writer))
                .map_err(|error| RunError::no_thread("the log of operations", &error))
        });
        let log = log.transpose()?;
        for (worker, &Post { load, shard, places }) in posts.iter().enumerate() {
            let logger = log.as_ref().map(|(rows, pool, _)| Logger::new(pool, rows.clone()));
            let sink = ToDirector { worker, messages: sender.clone(), spares: &spares, logger };
            let messages = sender.clone();
            let (mission, start_line, make_target) = (&missions[load], &start_line, &make_target);
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
                shared.control.abort();
                start_line.release(Start::Cancelled);
                return Err(RunError::no_thread(&format!("worker {} of {thread_count}", worker + 1), &error));
            }
        }
        drop(sender);
        let started = await_connections(&messages, thread_count);
        let clock = if started.is_ok() { shared.await_start() } else { Clock::start() };
        let started_unix_ns = unix_now_ns();
        if let Err(reason) = started {
            shared.control.abort();
            start_line.release(Start::Cancelled);
            return Err(reason);
        }
        let virtual_clock = matches!(plan.target, TargetPlan::Simulated { .. });
        shared.update(|status| {
            status.stage = Stage::Running;
            status.clock = (!virtual_clock).then_some(clock);
        });
        let writer = log.map(|(rows, _, writer)| {
            // Before any worker begins, so that it comes first. Only a thread that panicked takes nothing; see below.
            drop(rows.send(operation_log::header(started_unix_ns)));
            writer
        });
        start_line.release(Start::Go(clock));
        let totals = collect(&messages, thread_count, main_count, &spares, shared)?;
        let log = writer.map(|writer| join_writer(writer, totals.log_lost)).transpose()?;
        let begun = Begun { started_unix_ns, virtual_clock, thread_count: thread_count as u32 };
        Ok(summarise(totals, shared, plan, commands, begun, log))
    })
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

/// How a run began.
#[derive(Clone, Copy)]
struct Begun {
    started_unix_ns: u64,
    virtual_clock: bool,
    thread_count: u32,
}

fn summarise(
    totals: WorkerSummary,
    shared: &Shared,
    plan: &Plan,
    commands: &Commands,
    begun: Begun,
    operation_log: Option<LogTotals>,
) -> Summary {
    let Begun { started_unix_ns, virtual_clock, thread_count } = begun;
    let control = &shared.control;
    let ended_by = match (control.loss(), control.dry()) {
        (Some(reason), _) => EndedBy::TargetLost(reason),
        (None, Some(reason)) => EndedBy::RanDry(reason),
        (None, None) if control.aborted() => EndedBy::Aborted,
        (None, None) if control.stopped() => EndedBy::Stopped,
        (None, None) => EndedBy::Completed,
    };
    Summary {
        ended_by,
        started_unix_ns,
        elapsed_ns: totals.elapsed_ns,
        close_ns: totals.close_ns,
        due: totals.due,
        attempted_again: totals.attempted_again,
        overdue: totals.overdue,
        oldest_overdue_ns: totals.oldest_overdue_ns,
        oldest_unfinished_ns: totals.oldest_unfinished_ns,
        kinds: totals.kinds,
        own_names: plan.own_names(),
        steps: if commands.has_own() { step_summaries(commands.own(), &totals.steps) } else { Vec::new() },
        documents: totals.documents,
        run_identity: commands.has_own().then(|| object_id_head(commands.own())),
        inserts: totals.inserts,
        verified: totals.verified,
        document_failures: totals.document_failures.into_counts(),
        commands: totals.commands,
        commands_uncertain: totals.commands_uncertain,
        digest: totals.digest,
        failures: totals.failures.into_counts(),
        outages: outage::merged(totals.outages),
        standstills: standstill::merged(totals.standstills),
        connects: totals.connects,
        looks: totals.looks,
        runners: totals.runners,
        unsettled_sessions: totals.unsettled_sessions,
        operation_log,
        threads: thread_count,
        virtual_clock,
    }
}

fn step_summaries(own: &Own, totals: &[StepTotals]) -> Vec<StepSummary> {
    let summary = |(step, totals): (&Step, &StepTotals)| StepSummary {
        operation: step.operation(),
        name: step.name().to_owned(),
        command: step.command().to_owned(),
        is_alone: step.is_alone(),
        totals: *totals,
    };
    own.steps().iter().zip(totals).map(summary).collect()
}

/// What the object ids of the run begin with, in hex.
fn object_id_head(own: &Own) -> String {
    let head = own.run().object_id_head().iter().fold(0_u64, |head, &byte| head << 8 | u64::from(byte));
    format!("{head:012x}")
}
