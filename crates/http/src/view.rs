//! A reply as a BSON document, for what is expected of it and taken from it: `{status, headers, json, text}`.

use std::fmt;
use std::io::Read;

use brimline_bson::Writer;
use flate2::read::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};
use serde::de::{self, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};

use crate::reply::{Coding, KEPT_BYTES_MAX, Reply};

/// What of a reply is looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Parts {
    /// The headers.
    pub headers: bool,
    /// The body as JSON.
    pub json: bool,
    /// The body as text.
    pub text: bool,
}

impl Parts {
    /// Whether the body is looked into.
    pub fn has_body(self) -> bool {
        self.json || self.text
    }
}

/// Appends the view of a reply as one BSON document. A body that is no JSON, or longer than is kept, has no `json`; nothing that
/// can't be decoded has a `text`.
pub fn view(reply: &Reply, parts: Parts, out: &mut Vec<u8>) {
    let mut writer = Writer::new(out);
    let document = writer.begin_document();
    writer.int32("status", i32::from(reply.head().status));
    if parts.headers {
        write_headers(reply, &mut writer);
    }
    if parts.has_body() {
        let mut plain = Vec::new();
        let body = match reply.head().coding {
            Coding::Identity => Some(reply.body()),
            coding => decoded(reply.body(), coding, KEPT_BYTES_MAX, &mut plain).then_some(plain.as_slice()),
        };
        if let Some(body) = body {
            if parts.json && reply.has_whole_body() {
                write_json(body, &mut writer);
            }
            if parts.text {
                writer.string("text", &String::from_utf8_lossy(body));
            }
        }
    }
    writer.end_document(document);
}

/// Appends what `body` decodes to, at most `bytes_max`; whether it was all of it.
pub(crate) fn decoded(body: &[u8], coding: Coding, bytes_max: usize, out: &mut Vec<u8>) -> bool {
    let mut read = |decoder: &mut dyn Read| {
        let is_whole = decoder.take(bytes_max as u64 + 1).read_to_end(out).is_ok() && out.len() <= bytes_max;
        out.truncate(bytes_max);
        is_whole
    };
    match coding {
        Coding::Identity => read(&mut &*body),
        Coding::Gzip => read(&mut MultiGzDecoder::new(body)),
        Coding::Deflate if body.first().is_some_and(|first| first & 0x0f == 8) => {
            read(&mut ZlibDecoder::new(body))
        }
        Coding::Deflate => read(&mut DeflateDecoder::new(body)),
        Coding::Unknown => false,
    }
}

fn write_headers(reply: &Reply, writer: &mut Writer<'_>) {
    let mut headers: Vec<(String, String)> = Vec::new();
    reply.each_header(|name, value| {
        let (name, value) = (name.to_ascii_lowercase(), String::from_utf8_lossy(value));
        match headers.iter_mut().find(|(earlier, _)| *earlier == name) {
            Some((_, values)) => {
                values.push_str(", ");
                values.push_str(&value);
            }
            None => headers.push((name, value.into_owned())),
        }
    });
    let document = writer.begin_subdocument("headers");
    for (name, value) in &headers {
        writer.string(name, value);
    }
    writer.end_document(document);
}

/// Writes the element `json`, unless the body is none. `serde_json` refuses what is nested deeper than 128.
fn write_json(body: &[u8], writer: &mut Writer<'_>) {
    let start = writer.position();
    let mut deserializer = serde_json::Deserializer::from_slice(body);
    let json = Json { name: "json", writer };
    let is_json = json.deserialize(&mut deserializer).is_ok() && deserializer.end().is_ok();
    if !is_json {
        writer.buffer().truncate(start);
    }
}

/// Writes a JSON value as the element `name`.
struct Json<'w, 'o> {
    name: &'w str,
    writer: &'w mut Writer<'o>,
}

impl<'de> DeserializeSeed<'de> for Json<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Json<'_, '_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("JSON")
    }

    fn visit_unit<E: de::Error>(self) -> Result<(), E> {
        self.writer.null(self.name);
        Ok(())
    }

    fn visit_bool<E: de::Error>(self, value: bool) -> Result<(), E> {
        self.writer.boolean(self.name, value);
        Ok(())
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<(), E> {
        match i32::try_from(value) {
            Ok(value) => self.writer.int32(self.name, value),
            Err(_) => self.writer.int64(self.name, value),
        }
        Ok(())
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<(), E> {
        match i64::try_from(value) {
            Ok(value) => self.visit_i64(value),
            Err(_) => self.visit_f64(value as f64),
        }
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<(), E> {
        self.writer.double(self.name, value);
        Ok(())
    }

    fn visit_str<E: de::Error>(self, value: &str) -> Result<(), E> {
        self.writer.string(self.name, value);
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut values: A) -> Result<(), A::Error> {
        let array = self.writer.begin_array(self.name);
        let mut place = 0_usize;
        let mut name = String::new();
        loop {
            name.clear();
            // Writing to a String can't fail.
            let _ = fmt::Write::write_fmt(&mut name, format_args!("{place}"));
            if values.next_element_seed(Json { name: &name, writer: &mut *self.writer })?.is_none() {
                break;
            }
            place += 1;
        }
        self.writer.end_document(array);
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        let document = self.writer.begin_subdocument(self.name);
        while let Some(name) = members.next_key::<String>()? {
            // No name in BSON has a NUL.
            if name.contains('\0') {
                members.next_value::<de::IgnoredAny>()?;
                continue;
            }
            members.next_value_seed(Json { name: &name, writer: &mut *self.writer })?;
        }
        self.writer.end_document(document);
        Ok(())
    }
}
