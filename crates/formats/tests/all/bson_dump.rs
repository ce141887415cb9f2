//! BSON dumps: documents back to back.

use std::io::Cursor;

use crate::support::{options, read_all};
use brimline_formats::{DOCUMENT_BYTES_MAX, Format, GeneratedIds, RECORD_BYTES_MAX, Rejection, open};
use bson::doc;

fn dump(documents: &[bson::Document]) -> Vec<u8> {
    documents.iter().flat_map(|document| document.to_vec().expect("can be encoded")).collect()
}

#[test]
fn documents_come_out_as_they_went_in() {
    let documents: Vec<_> =
        (0..20_000).map(|i| doc! {"_id": i, "text": "x".repeat(i as usize % 90)}).collect();
    let read = read_all(&options(Format::Bson), dump(&documents));
    assert_eq!(read.documents(), documents);
    assert_eq!(read.rows[7].line, 8);
    assert!(read.stretches > 1, "more than one stretch must be read to test where they meet");
    assert_eq!(read.stop, None);
}

#[test]
fn an_object_id_is_generated_from_the_place_in_the_input() {
    let mut options = options(Format::Bson);
    options.generated_ids = Some(GeneratedIds { prefix: [1, 2, 3, 4, 5, 6, 7] });
    let documents = [doc! {"a": 1}, doc! {"b": 1, "_id": 5}, doc! {}];
    let read = read_all(&options, dump(&documents));
    let id = |last| bson::oid::ObjectId::from_bytes([1, 2, 3, 4, 5, 6, 7, 0, 0, 0, 0, last]);
    let expected = [doc! {"_id": id(0), "a": 1}, doc! {"b": 1, "_id": 5}, doc! {"_id": id(33)}];
    assert_eq!(read.documents(), expected);
    assert_eq!(read.rows.iter().map(|row| row.has_own_id).collect::<Vec<_>>(), [false, true, false]);
}

#[test]
fn a_dump_that_breaks_off_stops_after_the_last_whole_document() {
    let mut bytes = dump(&[doc! {"_id": 1}, doc! {"_id": 2}]);
    bytes.pop();
    let read = read_all(&options(Format::Bson), bytes);
    assert_eq!(read.documents(), [doc! {"_id": 1}]);
    let stop = read.stop.unwrap();
    assert_eq!((stop.line, stop.offset), (2, 14));
    assert!(stop.reason.contains("not a BSON document"), "{}", stop.reason);
}

#[test]
fn a_length_that_no_document_has_stops() {
    for head in [[0, 0, 0, 0], [4, 0, 0, 0], [0xff; 4]] {
        let mut bytes = dump(&[doc! {"_id": 1}]);
        bytes.extend_from_slice(&head);
        bytes.extend_from_slice(&[0; 20]);
        let read = read_all(&options(Format::Bson), bytes);
        assert_eq!(read.documents(), [doc! {"_id": 1}]);
        assert_eq!(read.stop.unwrap().line, 2);
    }
}

#[test]
fn documents_that_no_server_stores_are_rejected_and_reading_goes_on() {
    let limit = doc! {"_id": 1, "pad": "x".repeat(DOCUMENT_BYTES_MAX - 24)};
    let above = doc! {"_id": 2, "pad": "x".repeat(DOCUMENT_BYTES_MAX - 23)};
    let far_above = doc! {"_id": 3, "pad": "x".repeat(RECORD_BYTES_MAX)};
    let bytes = dump(&[limit, above, far_above, doc! {"_id": 4}]);
    let read = read_all(&options(Format::Bson), bytes);
    let ids: Vec<_> = read.documents().iter().map(|document| document.get_i32("_id").unwrap()).collect();
    assert_eq!(ids, [1, 4]);
    assert_eq!(read.rejected.iter().map(|rejected| rejected.line).collect::<Vec<_>>(), [2, 3]);
    assert!(read.rejected.iter().all(|rejected| rejected.rejection == Rejection::TooLarge));
    assert!(read.rejected.iter().all(|rejected| rejected.text.len() == 64 * 1024));
}

#[test]
fn reading_goes_on_at_the_end_of_any_stretch() {
    let bytes = dump(&(0..40_000).map(|i| doc! {"_id": i}).collect::<Vec<_>>());
    let open = || open(&options(Format::Bson), Box::new(Cursor::new(bytes.clone()))).unwrap();
    let mut first = open().splitter;
    let stretch = first.next_stretch(Vec::new()).unwrap().unwrap();
    assert_eq!(first.position(), stretch.end);
    let mut second = open().splitter;
    second.skip_to(stretch.end).unwrap();
    assert_eq!(second.next_stretch(Vec::new()), first.next_stretch(Vec::new()));
}
