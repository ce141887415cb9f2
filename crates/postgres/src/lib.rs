//! The protocol of PostgreSQL as a client speaks it ([`Connector`]): logins, TLS, statements that are prepared before the first
//! request, values as parameters, literals or rows of a COPY, and results that are drained without being kept.
//!
//! Source: <https://www.postgresql.org/docs/current/protocol.html>, version 3.0.
//!
//! Nothing here trusts a peer: every length is checked before it is used, and memory follows the bytes that arrived.

#![forbid(unsafe_code)]

mod codec;
mod error;
mod fields;
mod login;
mod message;
mod reply;
mod row;
mod text;

pub use brimline_net::protocol::{Protocol, Secrets};
pub use brimline_sql::settings::Settings;
pub use brimline_sql::statement::{Requests, StatementSpec, StatementStep};

/// A server of PostgreSQL, and what its connections send.
pub type Connector = brimline_sql::link::Connector<codec::Postgres>;
