//! Owns the look at inputs before anything is done: whether each can be opened, and what it begins with can be used.

use std::fs;
use std::sync::Arc;

use brimline_formats::FormatOptions;
use serde::Deserialize;

use crate::plan::InputPlan;
use crate::{Ending, input};

/// Inputs, and how they are read.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Check {
    /// What would be read.
    pub inputs: Vec<InputPlan>,
    /// How.
    pub format: FormatOptions,
}

impl Check {
    /// What ends an import before its first record: the first input that can't be opened, is compressed, or has a header that
    /// can't be used. Only files are looked at: what is taken from a pipe is gone.
    pub fn run(&self) -> Option<Ending> {
        self.inputs.iter().enumerate().find_map(|(number, plan)| {
            let is_file =
                plan.path.as_ref().is_some_and(|path| fs::metadata(path).is_ok_and(|it| it.is_file()));
            if !is_file {
                return None;
            }
            let opened = input::open(plan, &Arc::default(), &Arc::default())
                .map_err(|error| input::unopened(&error))
                .and_then(|source| brimline_formats::open(&self.format, source));
            opened.err().map(|error| Ending::of_input(number, &error))
        })
    }
}
