//! The protocol against scripted peers, and by hand against a real server.

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

#[path = "../../../sql/tests/support/counting.rs"]
mod counting;
mod exchange;
mod real;
#[path = "../../../sql/tests/support/mod.rs"]
mod support;
