//! Executes a plan: paces operations, sends them, records what comes back.
//!
//! A [`Run`] is one plan on threads of its own. Each [worker](worker) thread owns a shard of the operations, a share of
//! the connections and a [recorder]; the workers share no lock while they work. Time is read in [`clock`] only, and
//! [targets](target) time their replies on a clock of their own, so that a simulated target makes whole runs exact.

#![forbid(unsafe_code)]

mod aim;
mod arrivals;
pub mod breakdown;
pub mod clock;
pub mod clock_probe;
mod collector;
pub mod command;
pub mod commands;
pub mod connects;
mod director;
pub mod failure;
pub mod failure_tally;
pub mod finished;
mod flight;
pub mod histogram;
mod intervals;
pub mod kinds;
mod load;
pub mod looks;
mod message;
pub mod mission;
pub mod operation;
pub mod operation_log;
pub mod outage;
pub mod own;
mod pace;
pub mod pacer;
pub mod packed;
mod perseverance;
pub mod plan;
mod poller;
mod pool;
pub mod preview;
pub mod proof;
pub mod query;
pub mod recorder;
mod replica_set;
mod rhythm;
mod run;
mod run_error;
mod shared;
mod slots;
mod spares;
pub mod standstill;
mod state;
mod summary;
mod supervisor;
pub mod target;
mod terms;
pub mod totals;
mod users;
mod validate;
pub mod worker;
pub mod workload;

pub use brimline_datagen::Verified;
pub use collector::Interval;
pub use run::{Run, Surroundings};
pub use run_error::RunError;
pub use state::{Progress, Stage};
pub use summary::{EndedBy, StepSummary, Summary};
