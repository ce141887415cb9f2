//! Owns tables: rows that belong together, as BSON documents one behind another.

use std::sync::Arc;

use brimline_bson::{ElementType, Reader, split_document};

use super::path::RawValue;
use crate::rng::RngStream;
use crate::{SpecError, stream};

/// Rows of a file or of a collection.
#[derive(Clone, Debug)]
pub struct TableSpec<'a> {
    /// Its name, from which its random rows follow.
    pub name: &'a str,
    /// Names of its columns, by which places of cells are meant.
    pub columns: &'a [String],
    /// How many rows there are.
    pub row_count: u64,
    /// Whether each operation takes a random row; else it takes the one that it is given.
    pub is_random: bool,
    /// The rows, as in a `.bson` file.
    pub content: Arc<[u8]>,
}

/// A table whose bytes are known to be rows.
#[derive(Clone, Debug)]
pub struct Table {
    content: Arc<[u8]>,
    /// Where each row begins.
    offsets: Box<[u32]>,
    columns: Box<[Box<str>]>,
    random: Option<RngStream>,
    row_bytes_max: u64,
}

impl Table {
    pub fn new(spec: &TableSpec<'_>, seed: u64) -> Result<Self, SpecError> {
        if u32::try_from(spec.content.len()).is_err() {
            let message = format!("must have less than 4 GiB, got {} bytes", spec.content.len());
            return Err(SpecError::new("content", message));
        }
        let mut offsets = Vec::new();
        let mut row_bytes_max = 0;
        let mut rest: &[u8] = &spec.content;
        while !rest.is_empty() {
            let refused =
                |error: String| SpecError::new("content", format!("row {}: {error}", offsets.len()));
            let (row, others) = split_document(rest).map_err(|error| refused(error.to_string()))?;
            let mut elements = Reader::new(row).map_err(|error| refused(error.to_string()))?;
            while elements.next_raw().map_err(|error| refused(error.to_string()))?.is_some() {}
            offsets.push((spec.content.len() - rest.len()) as u32);
            row_bytes_max = row_bytes_max.max(row.len() as u64);
            rest = others;
        }
        if offsets.len() as u64 != spec.row_count || offsets.is_empty() {
            let message =
                format!("must be that of the content, which has {}, got {}", offsets.len(), spec.row_count);
            return Err(SpecError::new("row_count", message));
        }
        Ok(Self {
            content: Arc::clone(&spec.content),
            offsets: offsets.into(),
            columns: spec.columns.iter().map(|name| name.as_str().into()).collect(),
            random: spec.is_random.then(|| RngStream::new(seed, stream::named(stream::TABLE, spec.name))),
            row_bytes_max,
        })
    }

    /// The row of item `item` of operation `index`; `first` is the one that it is given.
    #[inline]
    pub fn row(&self, first: u64, index: u64, item: u32) -> RawValue<'_> {
        let count = self.offsets.len() as u64;
        let number = match self.random {
            Some(random) => random.at_item(index, item).below(count),
            None => (first + u64::from(item.saturating_sub(1))) % count,
        };
        let start = self.offsets[number as usize] as usize;
        let end = self.offsets.get(number as usize + 1).map_or(self.content.len(), |&end| end as usize);
        (ElementType::Document as u8, &self.content[start..end])
    }

    /// Whether each operation takes a random row.
    pub fn is_random(&self) -> bool {
        self.random.is_some()
    }

    /// The name of a column.
    pub fn column(&self, place: u32) -> Option<&str> {
        self.columns.get(place as usize).map(AsRef::as_ref)
    }

    /// The longest row.
    pub fn row_bytes_max(&self) -> u64 {
        self.row_bytes_max
    }
}
