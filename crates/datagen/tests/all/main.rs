//! All tests of the crate that need no process of their own, in one program: it is linked once.

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod chooser_specs;
mod choosers;
mod documents;
mod expressions;
mod lengths;
mod permutation;
mod rich_templates;
mod rng;
mod statistics;
mod templates;
