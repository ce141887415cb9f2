//! Owns the note from which an import goes on: how far everything is settled and durable, and how far records may have been
//! sent. It is replaced whole, so that whoever reads it after any kind of end finds the old one or the new one.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::ops::AddAssign;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use brimline_formats::Position;
use serde::{Deserialize, Serialize};

use crate::Counts;

/// Version of the file's format.
const FORMAT_VERSION: u32 = 1;

/// Numbers of cells by the name of their column.
pub type Misfits = BTreeMap<String, u64>;

/// A place between two records of the inputs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Place {
    /// Number of the input, from 0.
    pub input: usize,
    /// Bytes of the decompressed input before it.
    pub offset: u64,
    /// Line that begins or goes on here.
    pub line: u64,
}

impl Place {
    /// `position` in the input numbered `input`.
    pub fn new(input: usize, position: Position) -> Self {
        Self { input, offset: position.offset, line: position.line }
    }

    /// Where the input numbered `input` begins.
    pub fn of_input(input: usize) -> Self {
        Self::new(input, Position::START)
    }

    /// Where it is in its input.
    pub fn position(self) -> Position {
        Position { offset: self.offset, line: self.line }
    }

    /// The earlier of two places, where there are any.
    pub fn first(one: Option<Self>, other: Option<Self>) -> Option<Self> {
        one.into_iter().chain(other).min()
    }

    /// Whether it comes before `other`.
    pub fn is_before(self, other: Self) -> bool {
        (self.input, self.offset) < (other.input, other.offset)
    }
}

/// Where the first record begins of those that came in and are told of all the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Firsts {
    /// With text that is not UTF-8; it may be a header line.
    pub first_not_utf8: Option<Place>,
    /// With more or fewer cells than its table has columns.
    pub first_ragged: Option<Place>,
}

impl AddAssign for Firsts {
    fn add_assign(&mut self, other: Self) {
        self.first_not_utf8 = Place::first(self.first_not_utf8, other.first_not_utf8);
        self.first_ragged = Place::first(self.first_ragged, other.first_ragged);
    }
}

/// How far an import came.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checkpoint {
    /// Version of the format.
    pub format_version: u32,
    /// Every record before it is settled, and what came in survives the server's death.
    pub place: Place,
    /// No record from here on was sent.
    pub in_doubt_until: Place,
    /// What became of the records before `place`.
    pub counts: Counts,
    /// Where what is told of them begins.
    #[serde(flatten)]
    pub firsts: Firsts,
    /// Cells that do not fit their column's type, by column.
    #[serde(default)]
    pub misfits: Misfits,
    /// Length of the file of rejected records at `place`.
    pub rejected_bytes: u64,
    /// Whether `place` is the end of the last input.
    pub finished: bool,
}

impl Checkpoint {
    /// Nothing is done.
    pub fn at_the_start() -> Self {
        let start = Place::of_input(0);
        Self {
            format_version: FORMAT_VERSION,
            place: start,
            in_doubt_until: start,
            counts: Counts::default(),
            firsts: Firsts::default(),
            misfits: Misfits::new(),
            rejected_bytes: 0,
            finished: false,
        }
    }
}

/// Replaces the file at `path`; on the disk when it returns.
pub fn write(path: &Path, checkpoint: &Checkpoint) -> io::Result<()> {
    let temporary = temporary_beside(path);
    let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&temporary)?;
    file.write_all(serde_json::to_string(checkpoint)?.as_bytes())?;
    file.write_all(b"\n")?;
    file.sync_data()?;
    fs::rename(&temporary, path)
}

fn temporary_beside(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".tmp");
    path.with_file_name(name)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_checkpoint_reads_back_as_it_was_written() {
        let path = std::env::temp_dir().join(format!("brimline-checkpoint-{}", std::process::id()));
        let place = Place { input: 2, offset: 7, line: 3 };
        let counts = Counts { read: 9, inserted: 8, rejected: 1, ..Counts::default() };
        let checkpoint = Checkpoint { place, counts, rejected_bytes: 5, ..Checkpoint::at_the_start() };
        write(&path, &checkpoint).expect("it can be written");
        let mode = fs::metadata(&path).expect("it is there").permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "for its owner alone");
        let text = fs::read_to_string(&path).expect("it is there");
        assert_eq!(serde_json::from_str::<Checkpoint>(&text).expect("a checkpoint"), checkpoint);
        fs::remove_file(path).expect("it can be removed");
    }

    #[test]
    fn a_checkpoint_of_before_texts_were_looked_at_is_gone_on_with() {
        let mut old = serde_json::to_value(Checkpoint::at_the_start()).expect("it can be written");
        for name in ["first_not_utf8", "first_ragged", "misfits"] {
            old.as_object_mut().expect("an object").remove(name).expect("it is told");
        }
        for name in ["not_utf8", "ragged"] {
            old["counts"].as_object_mut().expect("an object").remove(name).expect("it is counted");
        }
        assert_eq!(
            serde_json::from_value::<Checkpoint>(old).expect("a checkpoint"),
            Checkpoint::at_the_start()
        );
    }

    #[test]
    fn places_follow_inputs_before_offsets() {
        let place = |input, offset| Place { input, offset, line: 1 };
        assert!(place(0, 9).is_before(place(1, 0)));
        assert!(place(1, 0).is_before(place(1, 1)));
        assert!(!place(1, 1).is_before(place(1, 1)));
    }
}
