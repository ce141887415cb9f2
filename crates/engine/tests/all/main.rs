//! All tests of the crate that need no process of their own, in one program: it is linked once.

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod attempts;
mod bulk_load;
mod common;
mod failover;
mod insert_batches;
mod links;
mod load_models;
mod new_protocol;
mod operation_log;
mod own_operations;
mod query;
mod same_operations;
mod sessions;
mod shards;
mod transactions;
mod truth;
mod wire;
