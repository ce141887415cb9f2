//! Owns making rows: the values of a document straight into its text.

use std::ops::Range;

use brimline_datagen::{Documents, RECORD_INDEX_MAX};
use brimline_formats::write::csv;

use crate::columns::{Column, columns};
use crate::csv_row::CsvRow;
use crate::json_row::JsonRow;
use crate::{Format, Header, Job, JobError};

/// Bytes of a stretch, about: large enough that threads rarely meet, small enough for a processor's cache.
const STRETCH_BYTES: u64 = 512 * 1024;
/// Rows that are made to know how large they are.
const SAMPLE_ROWS: u64 = 1000;

/// Makes rows of a job. Each thread has its own.
pub struct Maker {
    documents: Documents,
    format: Format,
}

impl Maker {
    pub fn new(job: &Job) -> Result<Self, JobError> {
        job.validate()?;
        let documents = Documents::new(&job.data, job.seed)
            .map_err(|error| JobError { path: format!("data.{}", error.path), message: error.message })?;
        Ok(Self { documents, format: job.format })
    }

    /// Appends the rows of these records.
    pub fn append(&self, records: Range<u64>, out: &mut Vec<u8>) {
        for record in records {
            match self.format {
                Format::Csv { .. } => CsvRow { out }.line(|row| self.documents.put_document(record, row)),
                Format::Json { canonical } => {
                    JsonRow { out, canonical }.line(|row| self.documents.put_document(record, row));
                }
                Format::Bson {} => self.documents.append_document(record, out),
            }
        }
    }
}

/// What a job's output begins with.
pub fn header(job: &Job) -> Vec<u8> {
    let mut line = Vec::new();
    let cells: Vec<String> = match job.format {
        Format::Csv { header: Header::Names } => {
            columns(&job.data).into_iter().map(|column| column.path).collect()
        }
        Format::Csv { header: Header::Types } => columns(&job.data).iter().map(Column::typed).collect(),
        Format::Csv { header: Header::None } | Format::Json { .. } | Format::Bson {} => return line,
    };
    csv::append_header(cells.iter().map(String::as_str), &mut line);
    line
}

/// Mean size of a row in the job's format, from the first rows.
///
/// # Errors
/// When the job is out of bounds.
pub fn sample_bytes_per_row(job: &Job) -> Result<f64, JobError> {
    let maker = Maker::new(job)?;
    let mut rows = Vec::new();
    let first = job.data.insert_start;
    let document_bytes = maker.documents.document_bytes_estimate().max(1);
    let count = SAMPLE_ROWS.min(STRETCH_BYTES / document_bytes).min(RECORD_INDEX_MAX - first).max(1);
    maker.append(first..first + count, &mut rows);
    Ok(rows.len() as f64 / count as f64)
}

/// Rows of a stretch.
pub fn rows_per_stretch(bytes_per_row: f64) -> u64 {
    (STRETCH_BYTES as f64 / bytes_per_row.max(1.0)).max(1.0) as u64
}
