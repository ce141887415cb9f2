//! Owns the reading thread: opens one input after the other, splits it into stretches and hands them to the workers.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use brimline_formats::{FormatOptions, InputError, NamesNotUtf8, Position};

use crate::checkpoint::{Checkpoint, Firsts, Place};
use crate::ledger::Outcome;
use crate::plan::InputPlan;
use crate::queue::Task;
use crate::shared::Shared;
use crate::{Counts, Ending, input};

/// Reads every input from where `from` left off, to the end or to what ends the import.
pub fn read(shared: &Shared, from: &Checkpoint) {
    for (number, plan) in shared.plan.inputs.iter().enumerate().skip(from.place.input) {
        let is_behind = shared.plan.until.is_some_and(|until| !Place::of_input(number).is_before(until));
        if is_behind || shared.is_stopping.load(Ordering::Relaxed) {
            break;
        }
        let begin = (number == from.place.input && from.place.offset > 0).then_some(from.place.position());
        if let Err(error) = read_input(shared, number, plan, begin, from) {
            // Of an import that ends, a wait for a pipe was broken off.
            if !shared.is_stopping.load(Ordering::Relaxed) {
                shared.end_at(shared.next_number(), Ending::of_input(number, &error));
            }
            break;
        }
    }
    shared.queue.close();
}

/// Counts the names of a header line that are not UTF-8, as settled at `end`, where the line ends: an import that goes on behind
/// it doesn't count them again. Returns whether reading goes on.
fn count_names(shared: &Shared, end: Place, names: NamesNotUtf8) -> bool {
    if !shared.announce(end) {
        return false;
    }
    let counts = Counts { not_utf8: names.texts.into(), ..Counts::default() };
    let first_not_utf8 = Some(Place::new(end.input, names.at));
    let firsts = Firsts { first_not_utf8, ..Firsts::default() };
    shared.settle_header(end, Outcome { counts, firsts, ..Outcome::default() });
    true
}

fn read_input(
    shared: &Shared,
    number: usize,
    plan: &InputPlan,
    begin: Option<Position>,
    from: &Checkpoint,
) -> Result<(), InputError> {
    let source = input::open(plan, &shared.input_bytes_taken, &shared.is_stopping)
        .map_err(|error| input::unopened(&error))?;
    let ids = Some(shared.plan.object_ids.of_input(number));
    let options = FormatOptions { generated_ids: ids, ..shared.plan.format.clone() };
    let mut opened = brimline_formats::open(&options, source)?;
    if let Some(begin) = begin {
        opened.splitter.skip_to(begin)?;
    } else if let Some(names) = opened.names_not_utf8
        && !count_names(shared, Place::new(number, opened.splitter.position()), names)
    {
        return Ok(());
    }
    while !shared.is_stopping.load(Ordering::Relaxed) {
        let Some(mut stretch) = opened.splitter.next_stretch(shared.queue.buffer())? else {
            return Ok(());
        };
        if let Some(until) = shared.plan.until.filter(|until| until.input == number) {
            if stretch.start.offset >= until.offset {
                return Ok(());
            }
            stretch.end_at(until.position());
        }
        let (start, end) = (Place::new(number, stretch.start), Place::new(number, stretch.end));
        if !shared.announce(end) {
            return Ok(());
        }
        let task = Task {
            number: shared.register(end),
            input: number,
            stretch,
            convert: Arc::clone(&opened.convert),
            in_doubt: start.is_before(from.in_doubt_until),
        };
        if !shared.queue.push(task) {
            return Ok(());
        }
    }
    Ok(())
}
