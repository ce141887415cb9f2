//! Owns dividing inputs among several importers: borders between records, about equally far apart.

use std::fs;
use std::sync::Arc;

use brimline_formats::{FormatOptions, InputError, STRETCH_BYTES};
use serde::{Deserialize, Serialize};

use crate::checkpoint::Place;
use crate::input;
use crate::plan::InputPlan;

/// How many times more borders are looked at than there are parts, so that parts are about equally long.
const BORDERS_PER_PART: u64 = 64;

/// Inputs, how they are read, and among how many they are divided.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Split {
    /// What would be read. All are files.
    pub inputs: Vec<InputPlan>,
    /// How.
    pub format: FormatOptions,
    /// Most parts.
    pub parts: usize,
}

/// How inputs can be divided.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Borders {
    /// Where parts end but for the last, in the order of the inputs: fewer than were asked for where there are too few records.
    pub borders: Vec<Place>,
    /// Of each input how many bytes come before its first record: without them nothing says what the others mean.
    pub heads: Vec<u64>,
    /// Bytes that were read, decompressed.
    pub read_bytes: u64,
}

impl Split {
    /// Divides the inputs. Every byte is read, because only what comes before a place tells whether a record ends there. An input
    /// that can't be read or followed further belongs to the part that is the last before it: who imports that says what is wrong.
    pub fn borders(&self) -> Borders {
        let sizes = self.inputs.iter().filter_map(|plan| fs::metadata(plan.path.as_ref()?).ok());
        let size_bytes: u64 = sizes.map(|metadata| metadata.len()).sum();
        let step_bytes = size_bytes / (self.parts as u64 * BORDERS_PER_PART).max(1);
        let stretch_bytes = step_bytes.clamp(1, STRETCH_BYTES as u64) as usize;
        let (mut found, mut seen) = (Borders::default(), Vec::new());
        for (number, plan) in self.inputs.iter().enumerate() {
            if self.note_borders(number, plan, stretch_bytes, &mut seen, &mut found).is_err() {
                break;
            }
        }
        found.borders = chosen(&seen, found.read_bytes, self.parts);
        found
    }

    /// Notes each border between records of one input, behind how many bytes of all inputs it lies.
    fn note_borders(
        &self,
        number: usize,
        plan: &InputPlan,
        stretch_bytes: usize,
        seen: &mut Vec<(u64, Place)>,
        found: &mut Borders,
    ) -> Result<(), InputError> {
        let source =
            input::open(plan, &Arc::default(), &Arc::default()).map_err(|error| input::unopened(&error))?;
        let mut opened = brimline_formats::open_in(stretch_bytes, &self.format, source)?;
        let before = found.read_bytes;
        found.heads.push(opened.splitter.position().offset);
        if number > 0 {
            seen.push((before, Place::of_input(number)));
        }
        let mut buffer = Vec::new();
        while let Some(stretch) = opened.splitter.next_stretch(std::mem::take(&mut buffer))? {
            found.read_bytes = before + stretch.end.offset;
            if !stretch.ends_input {
                seen.push((found.read_bytes, Place::new(number, stretch.end)));
            }
            buffer = stretch.bytes;
        }
        Ok(())
    }
}

/// Of the borders that were seen, those nearest to equal parts, each once.
fn chosen(seen: &[(u64, Place)], size_bytes: u64, parts: usize) -> Vec<Place> {
    let mut borders = Vec::new();
    let mut from = 0;
    for part in 1..parts {
        let goal = (u128::from(size_bytes) * part as u128 / parts as u128) as u64;
        let found = from + seen[from..].partition_point(|&(at, _)| at < goal);
        let Some(&(_, border)) = seen.get(found) else { break };
        borders.push(border);
        from = found + 1;
    }
    borders
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(places: &[u64]) -> Vec<(u64, Place)> {
        places.iter().map(|&at| (at, Place { input: 0, offset: at, line: at })).collect()
    }

    fn offsets(places: &[u64], size_bytes: u64, parts: usize) -> Vec<u64> {
        chosen(&seen(places), size_bytes, parts).iter().map(|place| place.offset).collect()
    }

    #[test]
    fn parts_are_about_equally_long_and_none_is_empty() {
        assert_eq!(offsets(&[10, 20, 30, 40, 50, 60, 70], 80, 4), [20, 40, 60]);
        assert_eq!(offsets(&[70, 75], 80, 4), [70, 75], "no border before most of it");
        assert_eq!(offsets(&[1, 2], 80, 4), [0; 0], "none behind the goal");
        assert_eq!(offsets(&[], 80, 4), [0; 0]);
        assert_eq!(offsets(&[10, 20], 30, 1), [0; 0]);
    }
}
