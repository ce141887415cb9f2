//! The wire protocol of `mongod` and `mongos`, as far as a load generator needs it: requests that are mostly pre-encoded ([`template`]),
//! replies that are scanned once without allocating ([`reply`]), one connection of whole messages ([`connection`]), compressed or
//! not ([`compression`]), what comes before its first command ([`endpoint`], [`handshake`], [`hello`], [`scram`]), and the numbers
//! under which a write may be sent again ([`session`]). It knows sockets and bytes, no workloads and no time.
//!
//! Source: `OP_MSG` specification, <https://github.com/mongodb/specifications/blob/master/source/message/OP_MSG.md>.
//!
//! Nothing here trusts a peer: every length is checked before it is used, nesting costs no stack, and memory follows the
//! bytes that arrived, never the bytes that were announced.

#![forbid(unsafe_code)]

pub mod access;
pub mod compression;
pub mod connection;
mod connection_error;
pub mod endpoint;
pub mod frame;
pub mod handshake;
pub mod hello;
pub mod op_msg;
pub mod reply;
pub mod scram;
pub mod session;
pub mod template;
