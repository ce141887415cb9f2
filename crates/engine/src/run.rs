//! A run from outside: start it, look at it, end it, and get its samples and its summary.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use brimline_wire::access::Access;

use crate::collector::Interval;
use crate::commands::Commands;
use crate::director::{Means, direct};
use crate::load::{Load, posts};
use crate::operation_log;
use crate::own::{Identity, Own, Tables};
use crate::plan::Plan;
use crate::plan::error::PlanError;
use crate::run_error::{RunError, panic_message};
use crate::shared::{WorkerProgress, lock};
use crate::state::{Progress, Shared};
use crate::summary::Summary;
use crate::target::linked::{Protocol, linking, statements};

/// What a run has besides its plan.
#[derive(Clone, Default)]
pub struct Surroundings {
    /// What opens the server; no part of the plan, so that nothing secret is stored with it.
    pub access: Arc<Access>,
    /// An empty file for the log of operations, where the plan wants one.
    pub log_path: Option<PathBuf>,
    /// Content of the tables that the plan's own operations take rows from.
    pub tables: Tables,
    /// What the run is told from others by, in its object ids and texts; `None`: it is made anew.
    pub identity: Option<Identity>,
    /// How the runner of the plan's client is started, the program first.
    pub runner: Vec<String>,
    /// Once all connections are made nothing is sent before [`Run::release`]: what has to be changed at the target first is
    /// changed only when nothing else is missing.
    pub is_held: bool,
    /// Protocols beside those of the engine's own table.
    pub protocols: &'static [Protocol],
}

/// A started run. Dropping it aborts it and waits for its threads.
pub struct Run {
    shared: Arc<Shared>,
    own_names: Arc<[String]>,
    step_names: Arc<[(String, String)]>,
    director: Mutex<Option<JoinHandle<Result<Summary, RunError>>>>,
}

impl Run {
    /// Starts `plan` on threads of its own and returns at once.
    ///
    /// # Errors
    /// When the plan can't be executed, or the system gives no thread. Trouble with the target shows in [`Run::join`].
    pub fn start(plan: Plan) -> Result<Self, RunError> {
        Self::start_with(plan, Surroundings::default())
    }

    /// The same in `surroundings`.
    ///
    /// # Errors
    /// As [`Run::start`].
    pub fn start_with(plan: Plan, surroundings: Surroundings) -> Result<Self, RunError> {
        let Surroundings { access, log_path, tables, identity, runner, is_held, protocols } = surroundings;
        plan.validate()?;
        let linking = linking(&plan, protocols)?;
        let statements = statements(&plan, protocols)?;
        let log = if plan.operation_log { Some(open_log(log_path.as_deref())?) } else { None };
        let own = Own::new(&plan, &tables, identity)?.map(Arc::new);
        let loads = Load::all_of(&plan, own.as_ref())?;
        let own_names: Arc<[String]> = plan.own_names().into();
        let step_names = plan.own().map_or_else(Vec::new, |work| {
            work.steps().map(|(operation, step)| (operation.name.clone(), step.name.clone())).collect()
        });
        let commands = Commands::new(&plan, own)?;
        let thread_count = posts(&loads).len();
        let workers = (0..thread_count).map(|_| WorkerProgress::default()).collect();
        let main_count = loads[0].plan.thread_count() as usize;
        let shared = Arc::new(Shared::new(workers, main_count, log, is_held));
        let director = {
            let shared = Arc::clone(&shared);
            thread::Builder::new()
                .name("brimline-director".to_owned())
                .spawn(move || {
                    let means = Means { access: &access, runner: &runner, linking, statements };
                    direct(&plan, &loads, &commands, &shared, means)
                })
                .map_err(|error| RunError::no_thread("the run", &error))?
        };
        Ok(Self { shared, own_names, step_names: step_names.into(), director: Mutex::new(Some(director)) })
    }

    /// Waits up to `timeout` for the end of an interval or of the run, or until it is held, and returns the latest state.
    pub fn poll(&self, timeout: Duration) -> Progress {
        self.shared.poll(timeout)
    }

    /// Names of the plan's own operations.
    pub fn own_names(&self) -> &[String] {
        &self.own_names
    }

    /// The operation and the name of each step of them.
    pub fn step_names(&self) -> &[(String, String)] {
        &self.step_names
    }

    /// Hands out the intervals that were completed since the last call.
    pub fn take_intervals(&self) -> Vec<Interval> {
        self.shared.take_intervals()
    }

    /// Lets a run go that was held.
    pub fn release(&self) {
        self.shared.update(|status| status.is_held = false);
    }

    /// Lets a run go that was held: its clock is zero when the system's monotonic clock says `monotonic_ns`. Where that has passed,
    /// the run begins late by as much, and what was due is made up for.
    pub fn release_at(&self, monotonic_ns: u64) {
        self.shared.update(|status| {
            status.start_at_ns = Some(monotonic_ns);
            status.is_held = false;
        });
    }

    /// How far the other nodes are that perform this plan: all their inserts with a smaller number are settled.
    pub fn note_settled(&self, inserts: u64) {
        self.shared.control.note_settled(inserts);
    }

    /// Nothing more is sent; operations in flight come to their end.
    pub fn stop(&self) {
        self.shared.control.stop();
        self.release();
    }

    /// Operations in flight are given up as well.
    pub fn abort(&self) {
        self.shared.control.abort();
        self.release();
    }

    /// Waits for the end.
    ///
    /// # Errors
    /// When the target could never be reached, or the engine failed. A second call fails as well.
    pub fn join(&self) -> Result<Summary, RunError> {
        let director = lock(&self.director)
            .take()
            .ok_or_else(|| RunError::Internal("the run was joined before".to_owned()))?;
        director.join().unwrap_or_else(|panic| Err(RunError::Internal(panic_message(panic.as_ref()))))
    }
}

fn open_log(path: Option<&Path>) -> Result<File, PlanError> {
    let refused = |reason: String| PlanError::new("operation_log", reason);
    let path = path.ok_or_else(|| refused("there is no file for it".to_owned()))?;
    operation_log::open(path).map_err(|error| refused(format!("can't write {}: {error}", path.display())))
}

impl Drop for Run {
    fn drop(&mut self) {
        self.abort();
        if let Some(director) = lock(&self.director).take() {
            // A panic of the director has nobody left to be reported to.
            drop(director.join());
        }
    }
}
