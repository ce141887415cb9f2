//! The writer and the reader against the official `bson` crate, on documents of every type that both write.

use brimline_bson::{ElementType, OpenDocument, Reader, Value, Writer};
use bson::oid::ObjectId;
use bson::spec::BinarySubtype;
use bson::{Binary, Bson, DateTime, Decimal128, Document, Timestamp};
use proptest::collection::vec;
use proptest::prelude::*;

/// Values that [`Writer`] has a method for.
fn writable(depth: u32) -> BoxedStrategy<Bson> {
    let leaf = prop_oneof![
        any::<f64>().prop_filter("NaN differs from itself", |value| !value.is_nan()).prop_map(Bson::Double),
        "\\PC{0,20}".prop_map(Bson::String),
        vec(any::<u8>(), 0..40)
            .prop_map(|bytes| Bson::Binary(Binary { subtype: BinarySubtype::Generic, bytes })),
        any::<bool>().prop_map(Bson::Boolean),
        any::<i64>().prop_map(|ms| Bson::DateTime(DateTime::from_millis(ms))),
        Just(Bson::Null),
        any::<i32>().prop_map(Bson::Int32),
        any::<i64>().prop_map(Bson::Int64),
        any::<[u8; 12]>().prop_map(|bytes| Bson::ObjectId(ObjectId::from_bytes(bytes))),
    ];
    leaf.prop_recursive(depth, 40, 6, |inner| {
        prop_oneof![
            document_of(inner.clone()).prop_map(Bson::Document),
            vec(inner, 0..6).prop_map(Bson::Array),
        ]
    })
    .boxed()
}

/// Also values that are only ever read.
fn readable() -> impl Strategy<Value = Bson> {
    prop_oneof![
        4 => writable(4),
        1 => any::<[u8; 16]>().prop_map(|bytes| Bson::Decimal128(Decimal128::from_bytes(bytes))),
        1 => any::<(u32, u32)>().prop_map(|(time, increment)| Bson::Timestamp(Timestamp { time, increment })),
        1 => Just(Bson::MaxKey),
        1 => Just(Bson::Undefined),
        1 => "[a-z ]{0,12}".prop_map(Bson::JavaScriptCode),
    ]
}

fn document_of(value: impl Strategy<Value = Bson>) -> impl Strategy<Value = Document> {
    vec(("[^\\x00]{0,12}", value), 0..6).prop_map(|elements| elements.into_iter().collect())
}

fn write_elements(writer: &mut Writer<'_>, document: &Document) {
    for (name, value) in document {
        write_value(writer, name, value);
    }
}

fn write_value(writer: &mut Writer<'_>, name: &str, value: &Bson) {
    let end = |writer: &mut Writer<'_>, document: OpenDocument| writer.end_document(document);
    match value {
        Bson::Double(value) => writer.double(name, *value),
        Bson::String(value) => writer.string(name, value),
        Bson::Binary(value) => writer.binary(name, &value.bytes),
        Bson::Boolean(value) => writer.boolean(name, *value),
        Bson::DateTime(value) => writer.date_time(name, value.timestamp_millis()),
        Bson::Null => writer.null(name),
        Bson::Int32(value) => writer.int32(name, *value),
        Bson::Int64(value) => writer.int64(name, *value),
        Bson::ObjectId(value) => writer.object_id(name, value.bytes()),
        Bson::Document(value) => {
            let document = writer.begin_subdocument(name);
            write_elements(writer, value);
            end(writer, document);
        }
        Bson::Array(values) => {
            let array = writer.begin_array(name);
            for (index, value) in values.iter().enumerate() {
                write_value(writer, &index.to_string(), value);
            }
            end(writer, array);
        }
        other => panic!("the writer has no method for {other:?}"),
    }
}

fn assert_same_elements(bytes: &[u8], document: &Document) {
    let mut elements = Reader::new(bytes).unwrap();
    for (name, expected) in document {
        let element = elements.next_element().unwrap().expect("an element is missing");
        assert_eq!(element.name, name.as_bytes());
        assert_same_value(element.value, expected);
    }
    assert_eq!(elements.next_element().unwrap(), None);
}

fn assert_same_value(value: Value<'_>, expected: &Bson) {
    match (value, expected) {
        (Value::Double(value), Bson::Double(expected)) => assert_eq!(value.to_bits(), expected.to_bits()),
        (Value::String(value), Bson::String(expected)) => assert_eq!(value, expected.as_bytes()),
        (Value::Binary(value, 0), Bson::Binary(expected)) => assert_eq!(value, expected.bytes),
        (Value::Boolean(value), Bson::Boolean(expected)) => assert_eq!(value, *expected),
        (Value::DateTime(value), Bson::DateTime(expected)) => assert_eq!(value, expected.timestamp_millis()),
        (Value::Int32(value), Bson::Int32(expected)) => assert_eq!(value, *expected),
        (Value::Int64(value), Bson::Int64(expected)) => assert_eq!(value, *expected),
        (Value::Document(value), Bson::Document(expected)) => assert_same_elements(value, expected),
        (Value::Array(value), Bson::Array(expected)) => {
            let indexed =
                expected.iter().enumerate().map(|(index, value)| (index.to_string(), value.clone()));
            assert_same_elements(value, &indexed.collect());
        }
        (Value::Other(ElementType::ObjectId, value), Bson::ObjectId(expected)) => {
            assert_eq!(value, expected.bytes());
        }
        (Value::Other(ElementType::Decimal128, value), Bson::Decimal128(expected)) => {
            assert_eq!(value, expected.bytes());
        }
        (Value::Other(ElementType::Timestamp, value), Bson::Timestamp(expected)) => {
            assert_eq!(value[..4], expected.increment.to_le_bytes());
            assert_eq!(value[4..], expected.time.to_le_bytes());
        }
        (Value::Other(ElementType::Code, value), Bson::JavaScriptCode(expected)) => {
            assert_eq!(&value[4..value.len() - 1], expected.as_bytes());
        }
        (Value::Null, Bson::Null)
        | (Value::Other(ElementType::MaxKey, []), Bson::MaxKey)
        | (Value::Other(ElementType::Undefined, []), Bson::Undefined) => {}
        (value, expected) => panic!("read {value:?} where {expected:?} was written"),
    }
}

/// Walks everything that can be reached and ignores what is wrong.
fn walk(bytes: &[u8], depth: u32) {
    let Ok(mut elements) = Reader::new(bytes) else {
        return;
    };
    while let Ok(Some(element)) = elements.next_element() {
        if let Value::Document(inner) | Value::Array(inner) = element.value
            && depth > 0
        {
            walk(inner, depth - 1);
        }
    }
}

proptest! {
    #[test]
    fn the_writer_writes_what_the_official_crate_writes(document in document_of(writable(4))) {
        let mut bytes = Vec::new();
        let mut writer = Writer::new(&mut bytes);
        let open = writer.begin_document();
        write_elements(&mut writer, &document);
        writer.end_document(open);
        prop_assert_eq!(bytes, document.to_vec().unwrap());
    }

    #[test]
    fn the_reader_reads_what_the_official_crate_writes(document in document_of(readable())) {
        assert_same_elements(&document.to_vec().unwrap(), &document);
    }

    #[test]
    fn the_reader_survives_any_bytes(bytes in vec(any::<u8>(), 0..200)) {
        walk(&bytes, 100);
    }

    #[test]
    fn the_reader_survives_damage(
        document in document_of(readable()),
        flips in vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
        kept in any::<prop::sample::Index>(),
    ) {
        let mut bytes = document.to_vec().unwrap();
        for (index, byte) in flips {
            let at = index.index(bytes.len());
            bytes[at] = byte;
        }
        walk(&bytes, 100);
        walk(&bytes[..kept.index(bytes.len())], 100);
    }
}
