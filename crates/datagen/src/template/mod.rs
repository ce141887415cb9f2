//! Documents from templates: each field has a typed generator, and a value is a function of (seed, index).

mod characters;
mod generator;
mod spec;

pub use spec::{
    ALPHABET_CHARACTERS_MAX, CHOICES_MAX, DECIMALS_MAX, DEPTH_MAX, FieldSpec, Scalar, TEMPLATE_FIELDS_MAX,
    ValueSpec,
};
pub(crate) use spec::{fields_bytes_max, validate_fields};

use generator::Generator;

use crate::{OpRng, SpecError};

/// The fields of a document, prepared.
#[derive(Clone, Debug)]
pub(crate) struct Template {
    fields: Vec<Field>,
}

/// A field: its element up to the value, and its values.
#[derive(Clone, Debug)]
struct Field {
    name: Box<str>,
    generator: Generator,
}

impl Template {
    /// Prepares `fields`, which must be valid.
    pub(crate) fn new(fields: &[FieldSpec]) -> Result<Self, SpecError> {
        let field = |field: &FieldSpec| {
            let generator = Generator::new(&field.value).map_err(|error| error.within(&field.name))?;
            Ok(Field { name: field.name.as_str().into(), generator })
        };
        Ok(Self { fields: fields.iter().map(field).collect::<Result<_, _>>()? })
    }

    /// Appends all fields as elements.
    pub(crate) fn append(&self, index: u64, rng: &mut OpRng, out: &mut Vec<u8>) {
        for field in &self.fields {
            field.generator.append_element(&field.name, index, rng, out);
        }
    }

    /// Appends one field as an element.
    pub(crate) fn append_field(&self, field: u32, index: u64, rng: &mut OpRng, out: &mut Vec<u8>) {
        let field = &self.fields[field as usize];
        field.generator.append_element(&field.name, index, rng, out);
    }

    pub(crate) fn field_name(&self, field: u32) -> &str {
        &self.fields[field as usize].name
    }

    pub(crate) fn field_count(&self) -> u32 {
        self.fields.len() as u32
    }
}
