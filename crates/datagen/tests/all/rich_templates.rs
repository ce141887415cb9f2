//! Generators of keys, texts as people have them, points and ids.

use std::collections::HashSet;

use brimline_datagen::{ChooserSpec, Documents, FakeKind, FieldSpec, InsertOrder, Language, ValueSpec};
use bson::Bson;

use crate::statistics::{Z_MAX, chi_square_z};
use crate::templates::{field, parsed, spec, text, values};

pub fn key_of(record_count: u64, keys: ChooserSpec) -> ValueSpec {
    ValueSpec::KeyOf {
        record_count,
        insert_start: 50,
        key_prefix: "c".into(),
        insert_order: InsertOrder::Ordered,
        zero_padding: 3,
        keys,
    }
}

fn fake(what: FakeKind, language: Language) -> ValueSpec {
    ValueSpec::Fake { what, language }
}

pub fn rich_kinds() -> Vec<FieldSpec> {
    vec![
        field("key", key_of(5, ChooserSpec::Uniform)),
        field("point", ValueSpec::Point { min: [113.5, 29.9], max: [115.1, 31.4] }),
        field("uuid", ValueSpec::Uuid),
        field("id", ValueSpec::ObjectId),
        field("name", fake(FakeKind::Name, Language::Zh)),
        field("address", fake(FakeKind::Address, Language::En)),
        field(
            "text",
            ValueSpec::Text {
                parts: vec![
                    key_of(5, ChooserSpec::Sequential),
                    ValueSpec::Constant { value: text("/") },
                    fake(FakeKind::FirstName, Language::En),
                ],
            },
        ),
    ]
}

#[test]
fn keys_points_and_ids_are_what_they_say() {
    let documents = Documents::new(&spec(rich_kinds()), 1).unwrap();
    let mut seen = HashSet::new();
    for record in 0..500 {
        let document = parsed(&documents, record);
        let key = document.get_str("key").unwrap();
        assert!((50..55).any(|record| key == format!("c{record:03}")), "{key}");
        let point = document.get_document("point").unwrap();
        assert_eq!((point.get_str("type").unwrap(), point.len()), ("Point", 2));
        let place = point.get_array("coordinates").unwrap();
        let (longitude, latitude) = (place[0].as_f64().unwrap(), place[1].as_f64().unwrap());
        assert!((113.5..115.1).contains(&longitude) && (29.9..31.4).contains(&latitude) && place.len() == 2);
        let Some(Bson::Binary(uuid)) = document.get("uuid") else { panic!("a UUID") };
        assert_eq!((u8::from(uuid.subtype), uuid.bytes.len()), (4, 16));
        assert_eq!((uuid.bytes[6] >> 4, uuid.bytes[8] >> 6), (4, 2), "version 4 of variant 1");
        assert!(seen.insert(uuid.bytes.clone()));
        assert!(seen.insert(document.get_object_id("id").unwrap().bytes().to_vec()));
        let (key, name) = document.get_str("text").unwrap().split_once('/').unwrap();
        assert_eq!(key, format!("c{:03}", 50 + record % 5));
        assert!(!name.is_empty());
    }
}

#[test]
fn every_fake_text_is_within_its_bound_and_of_its_language() {
    for what in FakeKind::ALL {
        for language in [Language::En, Language::Zh] {
            let mut different = HashSet::new();
            for value in values(fake(what, language), 3_000) {
                let text = value.as_str().unwrap();
                assert!(!text.is_empty() && text.len() <= what.bytes_max() as usize, "{what:?} {text}");
                assert_eq!(text.trim(), text);
                let is_latin = matches!(
                    what,
                    FakeKind::UserName | FakeKind::Email | FakeKind::Phone | FakeKind::Postcode
                );
                match language {
                    Language::En => {
                        assert!(text.chars().all(|character| (character as u32) < 0x250), "{text}");
                    }
                    Language::Zh if is_latin => assert!(text.is_ascii(), "{text}"),
                    Language::Zh if what == FakeKind::Address => assert!(!text.contains(' '), "{text}"),
                    Language::Zh => assert!(
                        text.chars().all(|character| !character.is_ascii_alphabetic() && character != ' '),
                        "{what:?} {text}"
                    ),
                }
                if what == FakeKind::Email {
                    let (user, domain) = text.split_once('@').unwrap();
                    assert!(domain.starts_with("example.") && !user.is_empty(), "{text}");
                    assert!(
                        user.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'.')),
                        "{text}"
                    );
                }
                different.insert(text.to_owned());
            }
            assert!(different.len() > 20, "{what:?} {language:?} {}", different.len());
        }
    }
}

/// As [`documents_never_change`]: a newer list of names would make old data sets incomparable.
#[test]
fn fake_texts_never_change() {
    let fields = FakeKind::ALL.iter().flat_map(|&what| {
        [(Language::En, "en"), (Language::Zh, "zh")]
            .map(|(language, name)| field(&format!("{what:?} {name}"), fake(what, language)))
    });
    let documents = Documents::new(&spec(fields.chain(rich_kinds()).collect()), 42).unwrap();
    let mut bytes = Vec::new();
    (0..50).for_each(|record| documents.append_document(record, &mut bytes));
    let hash = bytes.iter().fold(0xCBF2_9CE4_8422_2325_u64, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3)
    });
    assert_eq!(hash, FAKE_DOCUMENTS);
}

const FAKE_DOCUMENTS: u64 = 675_185_065_706_645_321;

#[test]
fn keys_of_a_collection_follow_their_law() {
    let mut counts = [0; 4];
    for value in values(key_of(4, ChooserSpec::Zipfian { theta: 1.0 }), 20_000) {
        counts[value.as_str().unwrap()[1..].parse::<usize>().unwrap() - 50] += 1;
    }
    counts.sort_unstable_by(|a, b| b.cmp(a));
    let harmonic = 25.0 / 12.0;
    let z = chi_square_z(&counts, &[1.0 / harmonic, 0.5 / harmonic, 1.0 / 3.0 / harmonic, 0.25 / harmonic]);
    assert!(z.abs() < Z_MAX, "{counts:?} {z}");
}
