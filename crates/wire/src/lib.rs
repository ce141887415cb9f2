//! The wire protocol of `mongod` and `mongos`, as far as a load generator needs it: requests that are mostly pre-encoded ([`template`]),
//! replies that are scanned once without allocating ([`reply`]), the handshake ([`hello`]) one non-blocking socket
//! per connection ([`connection`]), and waiting for many of them ([`wait`]). It knows sockets and bytes, no workloads and no time.
//!
//! Source: `OP_MSG` specification, <https://github.com/mongodb/specifications/blob/master/source/message/OP_MSG.md>.
//!
//! Nothing here trusts a peer: every length is checked before it is used, nesting costs no stack, and memory follows the
//! bytes that arrived, never the bytes that were announced.

#![forbid(unsafe_code)]

pub mod address;
mod arrival;
pub mod connection;
pub mod frame;
pub mod hello;
mod incoming;
pub mod op_msg;
pub mod reply;
pub mod template;
pub mod wait;
