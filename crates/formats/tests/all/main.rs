//! All tests of the crate that need no process of their own, in one program: it is linked once.

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod bson_dump;
mod compressed;
mod golden;
mod json;
mod long_records;
mod not_utf8;
mod recorded;
mod robust;
mod support;
mod tables;
mod write;
