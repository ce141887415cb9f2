//! Files into a collection: inputs are read and split by one thread, converted and sent by several, each over a connection
//! of its own; what was acknowledged is counted in the order of the input and written down, so that an import that was cut
//! short goes on without doubling a row.
//!
//! ```text
//! reader ──stretches──▶ workers: convert · wait for all before · send · settle ──outcomes──▶ ledger ──▶ checkpoint
//! ```
//!
//! Conservation, at any checkpoint and at the end: records read = inserted + updated + deleted + unmatched + rejected + nulls.
//! What was sent and not acknowledged counts nowhere: it is in doubt, and looked for by `_id` when the import goes on.

#![forbid(unsafe_code)]

mod batches;
mod check;
mod checkpoint;
mod command;
mod counts;
mod doubt;
mod ending;
mod gzip;
mod import;
mod input;
mod keeper;
mod ledger;
mod meter;
pub mod plan;
mod queue;
mod reader;
mod rejects;
mod routing;
mod session;
mod shared;
mod split;
mod statement;
mod work;
mod worker;

pub use check::Check;
pub use checkpoint::{Checkpoint, Place};
pub use counts::Counts;
pub use ending::Ending;
pub use import::{Import, ImportError, Progress, Summary};
pub use meter::Interval;
pub use split::{Borders, Split};
