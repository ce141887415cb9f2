//! Owns the look at inputs before anything is done: whether each can be opened, and its first record can be used.

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
    /// They are to replace what is there, so that there has to be a document in one of them.
    #[serde(default)]
    pub replaces: bool,
}

impl Check {
    /// What ends an import before its first record: the first input that can't be opened, is compressed, or has a header or a
    /// first record that can't be used; of inputs that are to replace what is there, that none of them holds a document. Only files
    /// are looked at: what is taken from a pipe is gone.
    pub fn run(&self) -> Option<Ending> {
        let mut may_have_documents = !self.replaces;
        for (number, plan) in self.inputs.iter().enumerate() {
            if !plan.is_file() {
                may_have_documents = true;
                continue;
            }
            let looked_at = input::open(plan, &Arc::default(), &Arc::default())
                .map_err(|error| input::unopened(&error))
                .and_then(|source| self.has_document(source));
            match looked_at {
                Ok(has_document) => may_have_documents |= has_document,
                Err(error) => return Some(input::explained(&self.inputs, Ending::of_input(number, &error))),
            }
        }
        let reason = match self.inputs.len() {
            1 => "there is no document in it",
            _ => "there is no document in it, nor in the others",
        };
        let none = InputError { line: 0, offset: 0, reason: reason.to_owned() };
        (!may_have_documents).then(|| Ending::of_input(0, &none))
    }

    /// Reads the first record, if there is one. Says whether there is a document; whether there is one behind records that become
    /// none is looked for only where that matters.
    fn has_document(&self, source: Box<dyn Read + Send>) -> Result<bool, InputError> {
        let mut opened = brimline_formats::open(&self.format, source)?;
        let mut documents = Documents::default();
        let mut is_first = true;
        while let Some(stretch) = opened.splitter.next_stretch(Vec::new())? {
            documents.clear();
            opened.convert.convert(&stretch, &mut documents);
            is_first &= documents.rejected.is_empty() && documents.nulls == 0;
            if !documents.rows.is_empty() {
                return Ok(true);
            }
            match documents.stop.take() {
                Some(error) if is_first || self.replaces => return Err(error),
                _ if !self.replaces => break,
                _ => {}
            }
        }
        Ok(false)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// What is said of a file with `text`, and on which line.
    fn checked(name: &str, text: &str, format: &str) -> Option<u64> {
        looked_at(name, text, format, false)
    }

    fn looked_at(name: &str, text: &str, format: &str, replaces: bool) -> Option<u64> {
        let path = std::env::temp_dir().join(format!("brimline-check-{name}-{}", std::process::id()));
        fs::write(&path, text).expect("it can be written");
        let columns = matches!(format, "csv" | "tsv").then_some("headerline");
        let check = serde_json::json!({
            "inputs": [{"path": path, "gzip": false}],
            "format": {"format": format, "columns": columns},
            "replaces": replaces,
        });
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

    #[test]
    fn inputs_without_a_document_are_no_error_unless_they_are_to_replace_something() {
        let nulls = "null\n".repeat(100_000);
        let cases = [
            ("nothing", "", "json", 0),
            ("space", " \n\t\n", "json", 0),
            ("nulls", nulls.as_str(), "json", 0),
            ("dump", "", "bson", 0),
            ("header", "a,b\r\n\r\n\n", "csv", 0),
            ("header-tsv", "a\tb\r\n", "tsv", 0),
            ("null-and-bad", "null\n{\"a\": }\n", "json", 2),
        ];
        for (name, text, format, line) in cases {
            assert_eq!(looked_at(name, text, format, false), None, "{name}");
            assert_eq!(looked_at(name, text, format, true), Some(line), "{name}");
        }
        let one = nulls + "{}\n";
        for (name, text, format) in [("one", one.as_str(), "json"), ("row", "a\n\n1\n", "csv")] {
            assert_eq!(looked_at(name, text, format, true), None, "{name}");
        }
    }
}
