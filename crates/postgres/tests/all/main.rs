//! The protocol against scripted peers, and by hand against a real server.

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod exchange;
mod real;
#[path = "../../../sql/tests/support/mod.rs"]
mod support;
