//! White space around cells and dates, against answers of Go, whose rules are mongoimport's: `unicode.IsSpace` and `time.Parse`.

use brimline_formats::{Columns, Format, FormatOptions};
use bson::Bson;

use crate::support::{options, read_all};

const WHITE_SPACE: &str = include_str!("../recorded/white_space.tsv");
const DATES: &str = include_str!("../recorded/dates.tsv");

/// The rows of a file; its first line says what the columns are.
fn rows<const N: usize>(file: &str) -> impl Iterator<Item = [&str; N]> {
    file.lines().skip(1).map(|line| {
        let columns: Vec<_> = line.split('\t').collect();
        columns.try_into().unwrap_or_else(|_| panic!("not {N} columns: {line}"))
    })
}

fn text_of(code_points: &str) -> String {
    let character = |code: &str| char::from_u32(u32::from_str_radix(code, 16).unwrap()).unwrap();
    code_points.split(' ').map(character).collect()
}

/// The only document of a table of one row; `None` where it is not read.
fn table(columns: Columns, columns_have_types: bool, text: &str) -> Option<bson::Document> {
    let columns = Some(columns);
    let options = FormatOptions { columns, columns_have_types, ..options(Format::Csv) };
    let read = read_all(&options, text.as_bytes().to_vec());
    if read.stop.is_some() { None } else { read.documents().pop() }
}

#[test]
fn white_space_around_cells_and_names_is_go_s() {
    for [cell, answer] in rows(WHITE_SPACE) {
        let (cell, answer) = (text_of(cell), text_of(answer));
        let document = table(Columns::Headerline, false, &format!("b,{cell}\n{cell},{cell}\n")).unwrap();
        assert_eq!(document.get_str(&answer).ok(), Some(answer.as_str()), "{cell:?}");
        assert_eq!(document.get_str("b").ok(), Some(answer.as_str()), "{cell:?}");
    }
}

#[test]
fn white_space_around_quoted_cells_and_names_is_go_s() {
    for [cell, answer] in rows(WHITE_SPACE) {
        let (cell, answer) = (text_of(cell), text_of(answer));
        let (before, after) = cell.split_once(&answer).unwrap();
        let quoted = format!("{before}\"{cell}\"{after}");
        let document = table(Columns::Headerline, false, &format!("{quoted},b\n1,{quoted}\n")).unwrap();
        assert_eq!(document.get_i32(&cell).ok(), Some(1), "{quoted:?}");
        assert_eq!(document.get_str("b").ok(), Some(cell.as_str()), "{quoted:?}");
    }
}

#[test]
fn dates_are_go_s() {
    for [layout, text, answer] in rows(DATES) {
        let document = match layout {
            "v1" | "v2" => {
                let options = FormatOptions { legacy: layout == "v1", ..options(Format::Json) };
                let read = read_all(&options, format!("{{\"d\":{{\"$date\":\"{text}\"}}}}").into_bytes());
                if read.stop.is_some() { None } else { read.documents().pop() }
            }
            _ => table(Columns::Fields(format!("d.date({layout})")), true, &format!("\"{text}\"\n")),
        };
        let date = document.map(|document| document.get("d").cloned());
        let answer = answer.parse().ok();
        let expected = answer.map(|unix_ms| Some(Bson::DateTime(bson::DateTime::from_millis(unix_ms))));
        assert_eq!(date, expected, "{layout}: {text}");
    }
}
