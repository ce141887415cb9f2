//! The documents of records and the values of updates, as BSON bytes.

use brimline_bson::{ElementType, Writer};

use crate::key::Keys;
use crate::{DocumentSpec, LengthChooser, OpRng, SpecError, stream, value};

/// Fields drawn to estimate the size of a document.
const ESTIMATE_DRAWS: u64 = 4096;

/// Binary subtype of plain bytes.
const SUBTYPE_GENERIC: u8 = 0;

/// A field's name, and its element up to the value's length.
#[derive(Clone, Debug)]
struct Field {
    name: String,
    head: Box<[u8]>,
}

impl Field {
    fn new(name: String) -> Self {
        let mut head = vec![ElementType::Binary as u8];
        head.extend_from_slice(name.as_bytes());
        head.push(0);
        Self { name, head: head.into() }
    }
}

/// Makes keys, documents and field values as YCSB does, whose binding stores a string `_id` and binary fields of subtype 0. Every result is a function of the seed and the index, and no call allocates beyond `out`.
///
/// Records are named by their absolute index, which starts at `insert_start`.
#[derive(Clone, Debug)]
pub struct Documents {
    seed: u64,
    keys: Keys,
    fields: Vec<Field>,
    field_length: LengthChooser,
}

impl Documents {
    /// Prepares the data of `spec`.
    ///
    /// # Errors
    /// As [`DocumentSpec::validate`].
    pub fn new(spec: &DocumentSpec, seed: u64) -> Result<Self, SpecError> {
        spec.validate()?;
        let field = |number: u32| Field::new(format!("{}{number}", spec.field_name_prefix));
        Ok(Self {
            seed,
            keys: Keys::new(spec.insert_order, &spec.key_prefix, spec.zero_padding),
            fields: (0..spec.field_count).map(field).collect(),
            field_length: LengthChooser::new(&spec.field_length)?,
        })
    }

    /// Appends the key of `record` as text.
    #[inline]
    pub fn write_key(&self, record: u64, out: &mut Vec<u8>) {
        self.keys.append(record, out);
    }

    /// Appends the key of `record` as the string element `name`: `_id` in a filter, `$gte` in a range.
    #[inline]
    pub fn append_key(&self, name: &str, record: u64, writer: &mut Writer) {
        self.keys.append_element(name, record, writer);
    }

    /// Appends the whole document of `record`.
    pub fn append_document(&self, record: u64, out: &mut Vec<u8>) {
        let mut rng = OpRng::new(self.seed, stream::DOCUMENT, record);
        let mut writer = Writer::new(out);
        let document = writer.begin_document();
        self.append_key("_id", record, &mut writer);
        for field in &self.fields {
            self.append_value(field, &mut rng, &mut writer);
        }
        writer.end_document(document);
    }

    /// Appends `field` with the fresh value that operation `operation` gives it.
    ///
    /// # Panics
    /// When `field` is not below the number of fields.
    #[inline]
    pub fn append_field(&self, field: u32, operation: u64, writer: &mut Writer) {
        let mut rng = OpRng::new(self.seed, stream::UPDATE + u64::from(field), operation);
        self.append_value(&self.fields[field as usize], &mut rng, writer);
    }

    /// The name of `field`.
    ///
    /// # Panics
    /// When `field` is not below the number of fields.
    pub fn field_name(&self, field: u32) -> &str {
        &self.fields[field as usize].name
    }

    /// Number of fields beside the key.
    pub fn field_count(&self) -> u32 {
        self.fields.len() as u32
    }

    /// Mean size of a document in bytes, exact within a few percent where lengths vary.
    pub fn document_bytes_estimate(&self) -> u64 {
        let mut document = Vec::new();
        let mut writer = Writer::new(&mut document);
        let open = writer.begin_document();
        self.append_key("_id", 0, &mut writer);
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

    #[inline]
    fn append_value(&self, field: &Field, rng: &mut OpRng, writer: &mut Writer) {
        let length = self.field_length.draw(rng);
        let [a, b, c, d] = length.to_le_bytes();
        writer.encoded_elements(&field.head);
        writer.encoded_elements(&[a, b, c, d, SUBTYPE_GENERIC]);
        value::append(length as usize, rng, |bytes| writer.encoded_elements(bytes));
    }
}
