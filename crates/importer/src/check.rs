//! Owns the look at inputs before anything is done: whether each can be opened, and its first record can be used.

use std::fs;
use std::io::Read;
use std::sync::Arc;

use brimline_formats::{Documents, FormatOptions, InputError};
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
    /// What ends an import before its first record: the first input that can't be opened, is compressed, or has a header or a
    /// first record that can't be used. Only files are looked at: what is taken from a pipe is gone.
    pub fn run(&self) -> Option<Ending> {
        self.inputs.iter().enumerate().find_map(|(number, plan)| {
            let is_file =
                plan.path.as_ref().is_some_and(|path| fs::metadata(path).is_ok_and(|it| it.is_file()));
            if !is_file {
                return None;
            }
            let opened = input::open(plan, &Arc::default(), &Arc::default())
                .map_err(|error| input::unopened(&error))
                .and_then(|source| first_record(&self.format, source));
            opened.err().map(|error| Ending::of_input(number, &error))
        })
    }
}

/// Reads the first record, if there is one.
fn first_record(format: &FormatOptions, source: Box<dyn Read + Send>) -> Result<(), InputError> {
    let mut opened = brimline_formats::open(format, source)?;
    let Some(stretch) = opened.splitter.next_stretch(Vec::new())? else { return Ok(()) };
    let mut documents = Documents::default();
    opened.convert.convert(&stretch, &mut documents);
    let is_first = documents.rows.is_empty() && documents.rejected.is_empty() && documents.nulls == 0;
    documents.stop.filter(|_| is_first).map_or(Ok(()), Err)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is said of a file with `text`, and on which line.
    fn checked(name: &str, text: &str, format: &str) -> Option<u64> {
        let path = std::env::temp_dir().join(format!("brimline-check-{name}-{}", std::process::id()));
        fs::write(&path, text).expect("it can be written");
        let check =
            serde_json::json!({"inputs": [{"path": path, "gzip": false}], "format": {"format": format}});
        let check: Check = serde_json::from_value(check).expect("a sound check");
        let ending = check.run();
        fs::remove_file(path).expect("it can be removed");
        ending.map(|ending| match ending {
            Ending::Input { line, .. } => line,
            other => panic!("{other:?}"),
        })
    }

    #[test]
    fn a_first_record_that_can_not_be_read_ends_an_import_and_a_later_one_not_yet() {
        let pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 1\n";
        for format in ["json", "bson"] {
            assert_eq!(checked(format, pointer, format), Some(1));
        }
        assert_eq!(checked("later", "{\"a\": 1}\n{\"a\": }\n", "json"), None);
        assert_eq!(checked("blank", "\n\n{\"a\": }\n", "json"), Some(3));
        assert_eq!(checked("empty", "", "json"), None);
    }
}
