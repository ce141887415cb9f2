//! A scripted server whose answers are known in advance: service time, capacity, stalls and faults are stated in a
//! [`Script`], played by a pure [`ServiceModel`], and served over a protocol by [`Server`]: mongod's, HTTP, or MySQL's.

#![forbid(unsafe_code)]

mod clock;
mod commands;
mod counts;
mod http;
mod model;
mod mysql;
mod random;
mod script;
mod server;
mod store;
mod work_clock;

pub use counts::{Counts, Opcounters};
pub use model::{Admission, Fate, ServiceModel};
pub use script::{Data, Fault, FaultKind, HttpReplies, Script, ScriptError, ServiceTime, Stall, When};
pub use server::{Protocol, Server};
