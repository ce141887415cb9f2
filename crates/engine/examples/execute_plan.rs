//! Executes the plan on standard input and prints what came of it in one line: the engine without Python, for profilers.
//!
//! `cargo run --release -p brimline-engine --example execute_plan < plan.json`
//!
//! A plan with a log of operations needs an empty file for it as the only argument.

use std::env;
use std::error::Error;
use std::io::{self, Read, Write};
use std::path::PathBuf;
use std::time::Duration;

use brimline_engine::plan::Plan;
use brimline_engine::{Run, Stage, Surroundings};

fn main() -> Result<(), Box<dyn Error>> {
    let mut text = String::new();
    io::stdin().read_to_string(&mut text)?;
    let plan: Plan = serde_json::from_str(&text)?;
    let log_path = env::args_os().nth(1).map(PathBuf::from);
    let run = Run::start_with(plan, Surroundings { log_path, ..Surroundings::default() })?;
    while run.poll(Duration::from_secs(1)).stage != Stage::Finished {
        drop(run.take_intervals());
    }
    let summary = run.join()?;
    let sum = |of: fn(&brimline_engine::totals::Totals) -> u64| summary.kinds.iter().map(of).sum::<u64>();
    let (sent, ok, failed) =
        (sum(|totals| totals.sent), sum(|totals| totals.ok), sum(|totals| totals.failed));
    writeln!(io::stdout(), "{{\"sent\": {sent}, \"ok\": {ok}, \"failed\": {failed}}}")?;
    Ok(())
}
