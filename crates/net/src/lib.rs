//! Connections of whatever protocol: one non-blocking socket each ([`stream`]), plain or over TLS ([`tls`]), when bytes arrived,
//! waiting for many of them ([`wait`]), and what a protocol has to say so that operations can be sent over it ([`link`], [`protocol`]).
//! It knows bytes, no protocol, no workload and no time.
//!
//! Memory follows the bytes that arrived, never the bytes that were announced.

#![forbid(unsafe_code)]

pub mod address;
mod arrival;
mod incoming;
pub mod link;
mod outcome;
pub mod protocol;
pub mod stream;
pub mod tls;
pub mod wait;
