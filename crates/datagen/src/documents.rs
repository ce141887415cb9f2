//! The documents of records and the values of updates, as BSON bytes.

use brimline_bson::Writer;

use crate::key::{KeyElement, Keys};
use crate::rng::RngStream;
use crate::sink::{BsonSink, ElementName};
use crate::template::Template;
use crate::{DocumentSpec, LengthChooser, OpRng, Sink, SpecError, Values, derived, stream, value};

/// Fields drawn to estimate the size of a document.
const ESTIMATE_DRAWS: u64 = 4096;
/// Documents of a template that are made to estimate their size.
const ESTIMATE_DOCUMENTS: u64 = 256;

/// What stands between a field's name and its value.
const LENGTH_BYTES: usize = 4;
const SUBTYPE_BYTES: usize = 1;

/// A field's name, its element as far as it is always the same, and where its fresh values come from.
#[derive(Clone, Debug)]
struct Field {
    name: String,
    own_name: ElementName,
    /// Up to the value; where all values have one length, with a blank value.
    element: Box<[u8]>,
    /// Bytes of `element` before the value.
    head_bytes: usize,
    updates: RngStream,
}

impl Field {
    fn new(name: String, length: &LengthChooser, updates: RngStream) -> Self {
        let mut element = Vec::new();
        let length = length.constant().unwrap_or(0) as usize;
        Writer::new(&mut element).binary(&name, &vec![0; length]);
        let own_name = ElementName::new(&name);
        Self { name, own_name, head_bytes: element.len() - length, element: element.into(), updates }
    }
}

/// Makes keys, documents and field values as YCSB does, whose binding stores a string `_id` and binary fields of subtype 0, or
/// documents from a template behind such a key. Every result is a function of the seed and the index, and no call allocates
/// beyond `out`.
///
/// Records are named by their absolute index, which starts at `insert_start`.
#[derive(Clone, Debug)]
pub struct Documents {
    seed: u64,
    records: RngStream,
    keys: Keys,
    id: KeyElement,
    id_name: ElementName,
    fields: Vec<Field>,
    /// The elements of all fields, where all values have one length: copied at once and filled.
    blank_fields: Option<Box<[u8]>>,
    field_length: LengthChooser,
    /// What fields hold when they hold no random bytes. Boxed: few do.
    special: Option<Box<Special>>,
}

/// Other values than random bytes.
#[derive(Clone, Debug)]
enum Special {
    /// Replaces `fields`, of which there are none then.
    Template(Template),
    /// Follow from key and field.
    Derived,
}

impl Documents {
    /// Prepares the data of `spec`.
    ///
    /// # Errors
    /// As [`DocumentSpec::validate`].
    pub fn new(spec: &DocumentSpec, seed: u64) -> Result<Self, SpecError> {
        spec.validate()?;
        let field_length = LengthChooser::new(&spec.field_length)?;
        let field = |number: u32| {
            let updates = RngStream::new(seed, stream::UPDATE + u64::from(number));
            Field::new(format!("{}{number}", spec.field_name_prefix), &field_length, updates)
        };
        let template = spec.template.as_deref().map(|fields| Template::new(fields, seed)).transpose();
        let template = template.map_err(|error| error.within("template"))?;
        let field_count = if template.is_some() { 0 } else { spec.field_count };
        let fields: Vec<Field> = (0..field_count).map(field).collect();
        let keys = Keys::new(spec.insert_order, &spec.key_prefix, spec.zero_padding);
        Ok(Self {
            seed,
            records: RngStream::new(seed, stream::DOCUMENT),
            id: keys.element("_id"),
            id_name: ElementName::new("_id"),
            keys,
            blank_fields: field_length.constant().map(|_| blank(&fields)),
            fields,
            field_length,
            special: match (template, spec.values) {
                (Some(template), _) => Some(Box::new(Special::Template(template))),
                (None, Values::Derived) => Some(Box::new(Special::Derived)),
                (None, Values::Random) => None,
            },
        })
    }

    /// Appends the key of `record` as text.
    #[inline]
    pub fn write_key(&self, record: u64, out: &mut Vec<u8>) {
        self.keys.append(record, out);
    }

    /// Prepares keys that are string elements called `name`: `_id` in a filter, `$gte` in a range.
    pub fn key_element(&self, name: &str) -> KeyElement {
        self.keys.element(name)
    }

    /// Appends the key of `record` as `element`, which must come from [`Self::key_element`].
    #[inline]
    pub fn append_key(&self, element: &KeyElement, record: u64, out: &mut Vec<u8>) {
        self.keys.append_element(element, record, out);
    }

    /// Appends the whole document of `record`.
    pub fn append_document(&self, record: u64, out: &mut Vec<u8>) {
        let mut rng = self.records.at(record);
        let document = Writer::new(out).begin_document();
        self.append_key(&self.id, record, out);
        match (self.special.as_deref(), &self.blank_fields) {
            (Some(Special::Template(template)), _) => template.put(record, &mut rng, &mut BsonSink(out)),
            (Some(Special::Derived), _) => {
                self.fields.iter().for_each(|field| self.append_derived_field(field, record, out));
            }
            (None, Some(blank)) => self.fill_blank(blank, &mut rng, out),
            (None, None) => self.fields.iter().for_each(|field| self.append_value(field, &mut rng, out)),
        }
        Writer::new(out).end_document(document);
    }

    /// Puts the values of the document of `record`, the key first: the same as [`Self::append_document`] appends.
    pub fn put_document<S: Sink>(&self, record: u64, sink: &mut S) {
        let mut rng = self.records.at(record);
        sink.string(self.id_name.borrow(), |out| self.write_key(record, out));
        match self.special.as_deref() {
            Some(Special::Template(template)) => return template.put(record, &mut rng, sink),
            Some(Special::Derived) => return self.put_derived(record, sink),
            None => {}
        }
        for field in &self.fields {
            let length = self.field_length.draw(&mut rng);
            sink.binary(field.own_name.borrow(), length, |bytes| value::fill(bytes, &mut rng));
        }
    }

    /// Appends `field` of `record` with the fresh value that operation `operation` gives it. Where a template's value follows
    /// from an index, that of the operation is taken; a derived value is the one that it had.
    ///
    /// # Panics
    /// When `field` is not below the number of fields.
    #[inline]
    pub fn append_field(&self, field: u32, record: u64, operation: u64, out: &mut Vec<u8>) {
        if let Some(special) = &self.special {
            return self.append_special_field(special, field, record, operation, out);
        }
        let field = &self.fields[field as usize];
        self.append_value(field, &mut field.updates.at(operation), out);
    }

    #[inline(never)] // so that it stays out of the usual path
    fn append_special_field(
        &self,
        special: &Special,
        field: u32,
        record: u64,
        operation: u64,
        out: &mut Vec<u8>,
    ) {
        match special {
            Special::Template(template) => {
                let mut rng = OpRng::new(self.seed, stream::UPDATE + u64::from(field), operation);
                template.put_field(field, operation, &mut rng, &mut BsonSink(out));
            }
            Special::Derived => self.append_derived_field(&self.fields[field as usize], record, out),
        }
    }

    fn append_derived_field(&self, field: &Field, record: u64, out: &mut Vec<u8>) {
        out.extend_from_slice(&field.element[..field.head_bytes]);
        self.append_derived(record, &field.name, self.derived_length(), out);
    }

    fn put_derived<S: Sink>(&self, record: u64, sink: &mut S) {
        let mut derived = Vec::new();
        for field in &self.fields {
            derived.clear();
            self.append_derived(record, &field.name, self.derived_length(), &mut derived);
            let length = derived.len() as u32;
            sink.binary(field.own_name.borrow(), length, |bytes| bytes.copy_from_slice(&derived));
        }
    }

    /// Appends the derived value of a field called `field` in the document of `record`.
    pub(crate) fn append_derived(&self, record: u64, field: &str, length: usize, out: &mut Vec<u8>) {
        derived::append(|out| self.write_key(record, out), field, length, out);
    }

    /// How long every derived value is.
    pub(crate) fn derived_length(&self) -> usize {
        self.field_length.constant().unwrap_or(0) as usize
    }

    fn template(&self) -> Option<&Template> {
        match self.special.as_deref() {
            Some(Special::Template(template)) => Some(template),
            _ => None,
        }
    }

    /// The name of `field`.
    ///
    /// # Panics
    /// When `field` is not below the number of fields.
    pub fn field_name(&self, field: u32) -> &str {
        match self.template() {
            Some(template) => template.field_name(field),
            None => &self.fields[field as usize].name,
        }
    }

    /// Number of fields beside the key; those of documents within the document aren't counted.
    pub fn field_count(&self) -> u32 {
        self.template().map_or(self.fields.len() as u32, Template::field_count)
    }

    /// Mean size of a document in bytes, exact within a few percent where lengths vary.
    pub fn document_bytes_estimate(&self) -> u64 {
        let mut document = Vec::new();
        if self.template().is_some() {
            (0..ESTIMATE_DOCUMENTS).for_each(|record| self.append_document(record, &mut document));
            return document.len() as u64 / ESTIMATE_DOCUMENTS;
        }
        let open = Writer::new(&mut document).begin_document();
        self.append_key(&self.id, 0, &mut document);
        let mut writer = Writer::new(&mut document);
        for field in &self.fields {
            writer.binary(&field.name, &[]);
        }
        writer.end_document(open);
        let values = self.mean_field_length() * f64::from(self.field_count());
        document.len() as u64 + values.round() as u64
    }

    fn mean_field_length(&self) -> f64 {
        let mut rng = OpRng::new(self.seed, stream::ESTIMATE, 0);
        let total: u64 = (0..ESTIMATE_DRAWS).map(|_| u64::from(self.field_length.draw(&mut rng))).sum();
        total as f64 / ESTIMATE_DRAWS as f64
    }

    /// Appends all fields, each with a value of the one length there is.
    fn fill_blank(&self, blank: &[u8], rng: &mut OpRng, out: &mut Vec<u8>) {
        let start = out.len();
        out.extend_from_slice(blank);
        let mut rest = &mut out[start..];
        for field in &self.fields {
            let (element, others) = rest.split_at_mut(field.element.len());
            value::fill(&mut element[field.head_bytes..], rng);
            rest = others;
        }
    }

    #[inline]
    fn append_value(&self, field: &Field, rng: &mut OpRng, out: &mut Vec<u8>) {
        if self.field_length.constant().is_none() {
            return self.append_value_of_any_length(field, rng, out);
        }
        let value_at = out.len() + field.head_bytes;
        out.extend_from_slice(&field.element);
        value::fill(&mut out[value_at..], rng);
    }

    #[inline(never)] // so that drawing lengths stays out of the usual path
    fn append_value_of_any_length(&self, field: &Field, rng: &mut OpRng, out: &mut Vec<u8>) {
        let length = self.field_length.draw(rng);
        out.extend_from_slice(&field.element);
        let value_at = out.len();
        set_length(out, length);
        out.resize(value_at + length as usize, 0);
        value::fill(&mut out[value_at..], rng);
    }
}

/// The elements of all fields, one after another.
fn blank(fields: &[Field]) -> Box<[u8]> {
    fields.iter().flat_map(|field| &field.element).copied().collect()
}

/// Sets the length of a binary value; `head` ends where the value begins.
fn set_length(head: &mut [u8], length: u32) {
    let length_at = head.len() - SUBTYPE_BYTES - LENGTH_BYTES;
    head[length_at..length_at + LENGTH_BYTES].copy_from_slice(&length.to_le_bytes());
}
