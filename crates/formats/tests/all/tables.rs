//! CSV and TSV beyond what was recorded of mongoimport.

use crate::support::{Read, options, read_all};
use brimline_formats::{Columns, Format, FormatOptions, GeneratedIds, ParseGrace, Rejection};
use bson::{Document, doc};

fn csv() -> FormatOptions {
    FormatOptions { columns: Some(Columns::Headerline), ..options(Format::Csv) }
}

fn tsv() -> FormatOptions {
    FormatOptions { columns: Some(Columns::Headerline), ..options(Format::Tsv) }
}

fn read(options: &FormatOptions, text: &str) -> Read {
    read_all(options, text.as_bytes().to_vec())
}

fn documents(options: &FormatOptions, text: &str) -> Vec<Document> {
    let read = read(options, text);
    assert_eq!(read.stop, None, "{text}");
    read.documents()
}

#[test]
fn sub_documents_without_a_field_are_not_there() {
    let options = FormatOptions { ignore_blanks: true, ..csv() };
    let text = "_id,a.b,a.c.d,e\n1,,,x\n2,,y,\n3\n";
    let expected = [doc! {"_id": 1, "e": "x"}, doc! {"_id": 2, "a": {"c": {"d": "y"}}}, doc! {"_id": 3}];
    assert_eq!(documents(&options, text), expected);
}

#[test]
fn arrays_have_no_gaps() {
    let options = FormatOptions { ignore_blanks: true, use_array_index_fields: true, ..csv() };
    let text = "a.0.x,a.0.y,a.1.x,b\n1,2,3,4\n1,,,4\n,,,4\n,,3,4\n";
    let read = read(&options, text);
    let expected =
        [doc! {"a": [{"x": 1, "y": 2}, {"x": 3}], "b": 4}, doc! {"a": [{"x": 1}], "b": 4}, doc! {"b": 4}];
    assert_eq!(read.documents(), expected);
    assert_eq!(read.stop.map(|stop| stop.line), Some(5));
}

#[test]
fn a_column_that_is_apart_from_its_document_is_brought_to_it() {
    let text = "a.x,b,a.y\n1,2,3\n1,2\n";
    assert_eq!(documents(&csv(), text), [doc! {"a": {"x": 1, "y": 3}, "b": 2}, doc! {"a": {"x": 1}, "b": 2}]);
}

#[test]
fn cells_without_a_column_are_named_by_their_place() {
    assert_eq!(documents(&csv(), "a\n1,x,2\n"), [doc! {"a": 1, "field1": "x", "field2": 2}]);
    let clash = read(&csv(), "field1\n1\n1,2\n");
    assert_eq!((clash.rows.len(), clash.stop.map(|stop| stop.line)), (1, Some(3)));
}

#[test]
fn a_row_with_an_unfit_value_is_rejected_apart() {
    let options = FormatOptions { columns_have_types: true, parse_grace: ParseGrace::SkipRow, ..csv() };
    let read = read(&options, "_id.int32(),v.date(2006-01-02)\n1,2020-01-01\n2,\"x\ny\"\n3,2020-01-02\n");
    assert_eq!(read.rows.iter().map(|row| row.line).collect::<Vec<_>>(), [2, 5]);
    let [rejected] = read.rejected.as_slice() else { panic!("{:?}", read.rejected) };
    assert_eq!((rejected.line, rejected.offset, rejected.rejection), (3, 44, Rejection::SkipRow));
    assert_eq!(rejected.reason, "column \"v\": \"x\\ny\" is no date");
    assert_eq!(rejected.text, b"2,\"x\ny\"\n");
}

#[test]
fn an_id_is_generated_where_the_row_has_none() {
    let ids = Some(GeneratedIds { prefix: [7; 7] });
    let options = FormatOptions { generated_ids: ids, ignore_blanks: true, ..csv() };
    let read = read(&options, "v,_id\n1,5\n2,\n");
    let id = bson::oid::ObjectId::from_bytes([7, 7, 7, 7, 7, 7, 7, 0, 0, 0, 0, 10]);
    assert_eq!(read.documents(), [doc! {"v": 1, "_id": 5}, doc! {"_id": id, "v": 2}]);
    assert_eq!(read.rows.iter().map(|row| row.has_own_id).collect::<Vec<_>>(), [true, false]);
}

#[test]
fn what_can_not_be_read_is_said_before_the_first_row() {
    let no_names = FormatOptions { columns: None, ..csv() };
    for (options, bytes, reason) in [
        (csv(), b"".to_vec(), "empty"),
        (csv(), b"\n\r\n".to_vec(), "empty"),
        (csv(), b"\xff\xfea\0,\0".to_vec(), "UTF-16"),
        (csv(), b"a,\"b\n1,2\n".to_vec(), "header line"),
        (no_names, b"1,2\n".to_vec(), "no names"),
        (csv(), b"{\"a\": 1, \"b\": 2}\n{\"a\": 3}\n".to_vec(), "--type json"),
        (tsv(), b"{\"a\": 1}\n{\"a\": 2}\n".to_vec(), "--type json"),
        (tsv(), b"[\r\n  {\"a\": 1}\r\n]\n".to_vec(), "--type json"),
    ] {
        let stop = read_all(&options, bytes).stop.unwrap_or_else(|| panic!("no error about {reason}"));
        assert!(stop.reason.contains(reason), "{stop}");
    }
}

#[test]
fn options_are_plain_json() {
    let text =
        r#"{"format": "csv", "columns": {"fields": "a,b"}, "parse_grace": "skipRow", "ignore_blanks": true}"#;
    let options: FormatOptions = serde_json::from_str(text).unwrap();
    assert_eq!(options.columns, Some(Columns::Fields("a,b".to_owned())));
    assert_eq!(options.parse_grace, ParseGrace::SkipRow);
    for bad in
        [r#"{"format": "xml"}"#, r#"{"format": "csv", "parse_grace": "x"}"#, r#"{"format": "csv", "x": 1}"#]
    {
        assert!(serde_json::from_str::<FormatOptions>(bad).is_err(), "{bad}");
    }
}

#[test]
fn a_value_that_stops_names_the_way_on() {
    let columns = Some(Columns::Fields("v.int32()".to_owned()));
    let options = FormatOptions { columns, columns_have_types: true, ..options(Format::Csv) };
    let reason = read_all(&options, b"1\nx\n".to_vec()).stop.unwrap().reason;
    assert!(reason.contains("\"x\" is no int32; --parseGrace"), "{reason}");
    let skips = FormatOptions { parse_grace: ParseGrace::SkipRow, ..options };
    let read = read_all(&skips, b"1\nx\n".to_vec());
    assert_eq!((read.stop, read.rejected[0].reason.contains("--parseGrace")), (None, false));
}

#[test]
fn rows_with_more_or_fewer_cells_than_there_are_columns_are_told_by_line() {
    let told = read(&csv(), "a,b,c\n1,2,3\n1,2\n\n\"x\ny\",2,3,4\n1,2,3\n,\n1,2,\n");
    assert_eq!((told.stop, told.rows.len(), told.ragged), (None, 6, vec![3, 5, 8]));
    let named = FormatOptions { columns: Some(Columns::Fields("a,b".to_owned())), ..options(Format::Tsv) };
    let told = read(&named, "1\t2\n1\n1\t2\t\n");
    assert_eq!((told.stop, told.ragged), (None, vec![2, 3]));
}
