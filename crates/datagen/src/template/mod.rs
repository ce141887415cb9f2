//! Documents from templates: each field has a typed generator, and a value is a function of (seed, index).

mod characters;
mod fake;
mod generator;
mod spec;

pub use spec::{
    ALPHABET_CHARACTERS_MAX, CHOICES_MAX, DECIMALS_MAX, DEPTH_MAX, FieldSpec, NumberKind, Scalar,
    TEMPLATE_FIELDS_MAX, ValueSpec,
};
pub(crate) use spec::{fields_bytes_max, validate_fields};

pub use fake::{FakeKind, Language};
pub(crate) use generator::Generator;

use crate::sink::ElementName;
use crate::{OpRng, Sink, SpecError};

/// The fields of a document, prepared.
#[derive(Clone, Debug)]
pub(crate) struct Template {
    fields: Vec<Field>,
}

/// A field: its name, and its values.
#[derive(Clone, Debug)]
struct Field {
    text: Box<str>,
    name: ElementName,
    generator: Generator,
}

impl Template {
    /// Prepares `fields`, which must be valid.
    pub(crate) fn new(fields: &[FieldSpec], seed: u64) -> Result<Self, SpecError> {
        let field = |field: &FieldSpec| {
            let generator = Generator::new(&field.value, seed).map_err(|error| error.within(&field.name))?;
            Ok(Field { text: field.name.as_str().into(), name: ElementName::new(&field.name), generator })
        };
        Ok(Self { fields: fields.iter().map(field).collect::<Result<_, _>>()? })
    }

    /// Puts all fields.
    pub(crate) fn put<S: Sink>(&self, index: u64, rng: &mut OpRng, sink: &mut S) {
        for field in &self.fields {
            field.generator.put(field.name.borrow(), index, rng, sink);
        }
    }

    /// Puts one field.
    pub(crate) fn put_field<S: Sink>(&self, field: u32, index: u64, rng: &mut OpRng, sink: &mut S) {
        let field = &self.fields[field as usize];
        field.generator.put(field.name.borrow(), index, rng, sink);
    }

    pub(crate) fn field_name(&self, field: u32) -> &str {
        &self.fields[field as usize].text
    }

    pub(crate) fn field_count(&self) -> u32 {
        self.fields.len() as u32
    }
}
