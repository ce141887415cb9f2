//! JSON with the order of its names kept, and BSON as canonical Extended JSON of that kind.

use std::fmt;

use bson::RawBsonRef;
use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};

/// A JSON value; in the recorded cases every number is an integer.
#[derive(Clone, Debug)]
pub enum Json {
    Null,
    Boolean(bool),
    Number(i64),
    Text(String),
    Array(Vec<Json>),
    Object(Vec<(String, Json)>),
}

impl Json {
    pub fn member(&self, name: &str) -> Option<&Json> {
        match self {
            Self::Object(members) => members.iter().find(|(key, _)| key == name).map(|(_, value)| value),
            _ => None,
        }
    }

    pub fn text(&self) -> Option<&str> {
        if let Self::Text(text) = self { Some(text) } else { None }
    }

    pub fn elements(&self) -> &[Json] {
        if let Self::Array(elements) = self { elements } else { &[] }
    }

    /// Without an `_id` that is an object id.
    pub fn without_object_id(mut self) -> Self {
        if let Self::Object(members) = &mut self {
            members.retain(|(name, value)| name != "_id" || value.member("$oid").is_none());
        }
        self
    }
}

impl PartialEq for Json {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Null, Self::Null) => true,
            (Self::Boolean(one), Self::Boolean(other)) => one == other,
            (Self::Number(one), Self::Number(other)) => one == other,
            (Self::Text(one), Self::Text(other)) => one == other,
            (Self::Array(one), Self::Array(other)) => one == other,
            (Self::Object(one), Self::Object(other)) => match (one.as_slice(), other.as_slice()) {
                ([(one_name, one)], [(other_name, other)]) if one_name == "$numberDouble" => {
                    one_name == other_name && same_double(one, other)
                }
                _ => one == other,
            },
            _ => false,
        }
    }
}

fn same_double(one: &Json, other: &Json) -> bool {
    let number = |json: &Json| json.text().and_then(|text| text.parse::<f64>().ok());
    match (number(one), number(other)) {
        (Some(one), Some(other)) => one.to_bits() == other.to_bits() || one.is_nan() && other.is_nan(),
        _ => false,
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(JsonVisitor)
    }
}

struct JsonVisitor;

impl<'de> Visitor<'de> for JsonVisitor {
    type Value = Json;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Json, E> {
        Ok(Json::Boolean(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Json, E> {
        Ok(Json::Number(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Json, E> {
        Ok(Json::Number(value as i64))
    }

    fn visit_str<E>(self, value: &str) -> Result<Json, E> {
        Ok(Json::Text(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Json, A::Error> {
        let mut elements = Vec::new();
        while let Some(element) = access.next_element()? {
            elements.push(element);
        }
        Ok(Json::Array(elements))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Json, A::Error> {
        let mut members = Vec::new();
        while let Some(member) = access.next_entry()? {
            members.push(member);
        }
        Ok(Json::Object(members))
    }
}

/// A document as canonical Extended JSON.
pub fn canonical(document: &[u8]) -> Json {
    let document = bson::RawDocument::from_bytes(document).expect("valid BSON");
    let member = |element: bson::error::Result<(_, RawBsonRef<'_>)>| {
        let (name, value): (&bson::raw::CStr, _) = element.expect("valid BSON");
        (name.as_str().to_owned(), canonical_value(value))
    };
    Json::Object(document.iter().map(member).collect())
}

fn canonical_value(value: RawBsonRef<'_>) -> Json {
    let text = |text: String| Json::Text(text);
    let object = |name: &str, value: Json| Json::Object(vec![(name.to_owned(), value)]);
    match value {
        RawBsonRef::Double(value) => object("$numberDouble", text(value.to_string())),
        RawBsonRef::String(value) => text(value.to_owned()),
        RawBsonRef::Document(document) => canonical(document.as_bytes()),
        RawBsonRef::Array(array) => {
            Json::Array(array.into_iter().map(|value| canonical_value(value.expect("valid BSON"))).collect())
        }
        RawBsonRef::Boolean(value) => Json::Boolean(value),
        RawBsonRef::Null => Json::Null,
        RawBsonRef::Int32(value) => object("$numberInt", text(value.to_string())),
        RawBsonRef::Int64(value) => object("$numberLong", text(value.to_string())),
        RawBsonRef::ObjectId(id) => object("$oid", text(id.to_hex())),
        RawBsonRef::Decimal128(value) => object("$numberDecimal", text(value.to_string())),
        RawBsonRef::DateTime(date) => {
            object("$date", object("$numberLong", text(date.timestamp_millis().to_string())))
        }
        RawBsonRef::Binary(binary) => {
            use base64::Engine;
            let base64 = base64::engine::general_purpose::STANDARD.encode(binary.bytes);
            let subtype = format!("{:02x}", u8::from(binary.subtype));
            let parts = vec![("base64".to_owned(), text(base64)), ("subType".to_owned(), text(subtype))];
            object("$binary", Json::Object(parts))
        }
        RawBsonRef::RegularExpression(regex) => {
            let parts = vec![
                ("pattern".to_owned(), text(regex.pattern.as_str().to_owned())),
                ("options".to_owned(), text(regex.options.as_str().to_owned())),
            ];
            object("$regularExpression", Json::Object(parts))
        }
        other => panic!("{other:?} is compared as bytes"),
    }
}
