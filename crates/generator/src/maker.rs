//! Owns making rows: a document from its index, then its text.

use std::ops::Range;

use brimline_datagen::{Documents, RECORD_INDEX_MAX};
use brimline_formats::write::{CsvWriter, RecordWriter};

use crate::columns::{Column, columns};
use crate::{Format, Header, Job, JobError};

/// Bytes of a stretch, about: large enough that threads rarely meet, small enough for a processor's cache.
const STRETCH_BYTES: u64 = 512 * 1024;
/// Rows that are made to know how large they are.
const SAMPLE_ROWS: u64 = 1000;

/// Makes rows of a job. Each thread has its own.
pub struct Maker {
    documents: Documents,
    writer: RecordWriter,
    document: Vec<u8>,
}

impl Maker {
    pub fn new(job: &Job) -> Result<Self, JobError> {
        job.validate()?;
        let documents = Documents::new(&job.data, job.seed)
            .map_err(|error| JobError { path: format!("data.{}", error.path), message: error.message })?;
        let writer = match job.format {
            Format::Csv { .. } => {
                CsvWriter::new(columns(&job.data).iter().map(|column| column.path.as_str())).into()
            }
            Format::Json { canonical } => RecordWriter::Json { canonical },
            Format::Bson {} => RecordWriter::Bson,
        };
        Ok(Self { documents, writer, document: Vec::new() })
    }

    /// Appends the rows of these records.
    pub fn append(&mut self, records: Range<u64>, out: &mut Vec<u8>) -> Result<(), String> {
        for record in records {
            if matches!(self.writer, RecordWriter::Bson) {
                self.documents.append_document(record, out);
                continue;
            }
            self.document.clear();
            self.documents.append_document(record, &mut self.document);
            self.writer.append(&self.document, out).map_err(|error| format!("record {record}: {error}"))?;
        }
        Ok(())
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
    CsvWriter::append_header(cells.iter().map(String::as_str), &mut line);
    line
}

/// Mean size of a row in the job's format, from the first rows.
///
/// # Errors
/// When the job is out of bounds.
pub fn sample_bytes_per_row(job: &Job) -> Result<f64, JobError> {
    let mut maker = Maker::new(job)?;
    let mut rows = Vec::new();
    let first = job.data.insert_start;
    let document_bytes = maker.documents.document_bytes_estimate().max(1);
    let count = SAMPLE_ROWS.min(STRETCH_BYTES / document_bytes).min(RECORD_INDEX_MAX - first).max(1);
    maker
        .append(first..first + count, &mut rows)
        .map_err(|message| JobError { path: "data".to_owned(), message })?;
    Ok(rows.len() as f64 / count as f64)
}

/// Rows of a stretch.
pub fn rows_per_stretch(bytes_per_row: f64) -> u64 {
    (STRETCH_BYTES as f64 / bytes_per_row.max(1.0)).max(1.0) as u64
}
