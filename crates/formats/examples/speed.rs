//! Prints what splitting and converting one row of about 280 bytes costs on this machine, in nanoseconds and GB/s.
//!
//! `cargo run --release -p brimline-formats --example speed [NAME]`, where a name such as `TSV` measures that one only

#![expect(clippy::print_stdout, reason = "an example's output")]
#![expect(clippy::disallowed_methods, reason = "an example that measures time reads the clock")]

use std::error::Error;
use std::fmt::Write;
use std::io::Cursor;
use std::time::{Duration, Instant};

use brimline_formats::{Columns, Documents, Format, FormatOptions, ParseGrace, open};

const ROWS: u64 = 200_000;
const REPEATS: usize = 5;
const FIELDS: &str = "_id,count,created,text,price";
const TYPED_FIELDS: &str =
    "_id.int64(),count.int32(),created.date(2006-01-02 15:04:05),text.string(),price.double()";

fn main() -> Result<(), Box<dyn Error>> {
    let text = "the quick brown fox jumps over the lazy dog ".repeat(5);
    let rows = |row: &dyn Fn(&mut String, u64) -> std::fmt::Result| -> Result<String, std::fmt::Error> {
        let mut input = String::new();
        for index in 0..ROWS {
            row(&mut input, index)?;
        }
        Ok(input)
    };
    let date = |index: u64| format!("2020-{:02}-{:02} 03:04:05", index % 12 + 1, index % 28 + 1);
    let price = |index: u64| (index % 100_000) as f64 / 7.0;
    let csv = rows(&|out, i| {
        writeln!(out, "{},{},{},{text},{}", i + 30_000_000_000, i % 50_000, date(i), price(i))
    })?;
    let quoted = rows(&|out, i| {
        writeln!(out, "{},{},\"{}\",\"{text}\",{}", i + 30_000_000_000, i % 50_000, date(i), price(i))
    })?;
    let json = rows(&|out, i| {
        let (id, count) = (i + 30_000_000_000, i % 50_000);
        let (date, price) = (date(i), price(i));
        writeln!(out, r#"{{"_id":{id},"count":{count},"created":"{date}","text":"{text}","price":{price}}}"#)
    })?;
    let array = format!("[{}]", json.trim_end().replace('\n', ",\n"));
    measure("CSV", &options(Format::Csv, FIELDS), &csv)?;
    measure("CSV, quoted", &options(Format::Csv, FIELDS), &quoted)?;
    let typed = FormatOptions { columns_have_types: true, ..options(Format::Csv, TYPED_FIELDS) };
    measure("CSV with column types", &typed, &csv)?;
    measure("TSV", &options(Format::Tsv, FIELDS), &csv.replace(',', "\t"))?;
    let mut documents = options(Format::Json, FIELDS);
    documents.columns = None;
    measure("JSON lines", &documents, &json)?;
    documents.json_array = true;
    measure("JSON array", &documents, &array)
}

fn options(format: Format, fields: &str) -> FormatOptions {
    FormatOptions {
        format,
        columns: Some(Columns::Fields(fields.to_owned())),
        columns_have_types: false,
        parse_grace: ParseGrace::Stop,
        ignore_blanks: false,
        use_array_index_fields: false,
        json_array: false,
        legacy: false,
        generated_ids: None,
    }
}

/// The quickest of some repetitions, splitting and converting apart.
fn measure(name: &str, options: &FormatOptions, input: &str) -> Result<(), Box<dyn Error>> {
    if std::env::args().nth(1).is_some_and(|wanted| wanted != name) {
        return Ok(());
    }
    let mut best = [Duration::MAX; 2];
    for _ in 0..REPEATS {
        let mut spent = [Duration::ZERO; 2];
        let mut documents = Documents::default();
        let mut opened = open(options, Box::new(Cursor::new(input.to_owned().into_bytes())))?;
        let mut buffer = Vec::new();
        let mut rows = 0;
        loop {
            let begin = Instant::now();
            let Some(stretch) = opened.splitter.next_stretch(buffer)? else { break };
            spent[0] += begin.elapsed();
            let begin = Instant::now();
            documents.clear();
            opened.convert.convert(&stretch, &mut documents);
            spent[1] += begin.elapsed();
            rows += documents.rows.len() as u64;
            buffer = stretch.bytes;
        }
        assert_eq!(rows, ROWS, "{name}: {:?}", documents.stop);
        best = [best[0].min(spent[0]), best[1].min(spent[1])];
    }
    let per_row = |spent: Duration| spent.as_nanos() as f64 / ROWS as f64;
    println!(
        "{name:24} {:4} bytes/row   split {:6.1} ns   convert {:6.1} ns   {:5.2} GB/s",
        input.len() as u64 / ROWS,
        per_row(best[0]),
        per_row(best[1]),
        input.len() as f64 / (best[0] + best[1]).as_nanos() as f64,
    );
    Ok(())
}
