//! All tests of the crate that need no process of their own, in one program: it is linked once.

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod binary;
mod common;
mod http;
mod model;
mod mysql;
mod script;
mod server_protocol;
mod server_script;
mod server_store;
#[path = "../../../sql/tests/support/mod.rs"]
mod support;
