//! The protocol of MySQL and MariaDB as a client speaks it ([`Connector`]): logins, TLS, statements that are prepared before the
//! first request, values as parameters or literals, and results that are drained without being kept.
//!
//! Sources: <https://dev.mysql.com/doc/dev/mysql-server/latest/PAGE_PROTOCOL.html>,
//! <https://mariadb.com/kb/en/clientserver-protocol/>.
//!
//! Nothing here trusts a peer: every length is checked before it is used, and memory follows the bytes that arrived.

#![forbid(unsafe_code)]

mod codec;
mod error;
mod fields;
mod literals;
mod login;
mod packet;
mod parameters;
mod reply;
mod row;
mod rsa;

pub use brimline_net::protocol::{Protocol, Secrets};
pub use brimline_sql::settings::Settings;
pub use brimline_sql::statement::{Requests, StatementSpec, StatementStep};

/// A server of MySQL or MariaDB, and what its connections send.
pub type Connector = brimline_sql::link::Connector<codec::Mysql>;
