//! The log of every finished operation, for plans that ask for it: workers fill chunks of rows, a thread of its own writes
//! them down. A disk that is slow or full holds up nobody: what finds no room is counted as lost.

mod reader;
mod row;
mod times;
mod writer;

pub use reader::{Counts, Reader, count};
pub use row::{ROW_BYTES, Row};
pub use times::{Time, TimePart, Times, Wanted};
pub use writer::{LogTotals, Logger};
pub(crate) use writer::{Pool, header, open, write_down};
