//! Owns the columns of a CSV file: names and types that follow from the data spec.

use brimline_datagen::{DocumentSpec, FieldSpec, NumberKind, Scalar, ValueSpec};

/// A column: a path into the document, and the type that mongoimport reads it as.
pub struct Column {
    pub path: String,
    pub type_name: &'static str,
}

impl Column {
    /// The column as `--columnsHaveTypes` wants it in a header.
    pub fn typed(&self) -> String {
        format!("{}.{}", self.path, self.type_name)
    }
}

const STRING: &str = "string()";
const BINARY: &str = "binary(base64)";
const DATE: &str = "date(2006-01-02T15:04:05.000Z)";
/// What has several types is read as what it looks like.
const ANY: &str = "auto()";

/// The columns of the documents of `data`: the key, then every field; those of documents within documents by their path.
pub fn columns(data: &DocumentSpec) -> Vec<Column> {
    let mut columns = vec![Column { path: "_id".to_owned(), type_name: STRING }];
    match &data.template {
        Some(fields) => append_columns(fields, "", &mut columns),
        None => {
            columns.extend((0..data.field_count).map(|number| Column {
                path: format!("{}{number}", data.field_name_prefix),
                type_name: BINARY,
            }));
        }
    }
    columns
}

fn append_columns(fields: &[FieldSpec], parent: &str, columns: &mut Vec<Column>) {
    for field in fields {
        let path = format!("{parent}{}", field.name);
        match &field.value {
            ValueSpec::Document { fields } if !fields.is_empty() => {
                append_columns(fields, &format!("{path}."), columns);
            }
            ValueSpec::Point { .. } => {
                columns.push(Column { path: format!("{path}.type"), type_name: STRING });
                columns.push(Column { path: format!("{path}.coordinates"), type_name: ANY });
            }
            value => columns.push(Column { path, type_name: type_name(value) }),
        }
    }
}

fn type_name(value: &ValueSpec) -> &'static str {
    match value {
        ValueSpec::Int { .. } => "int32()",
        ValueSpec::Long { .. } | ValueSpec::Sequence { .. } => "int64()",
        ValueSpec::Double { .. } => "double()",
        ValueSpec::Decimal { .. } => "decimal()",
        ValueSpec::Normal { number, .. } => match number {
            NumberKind::Int => "int32()",
            NumberKind::Long => "int64()",
            NumberKind::Double => "double()",
        },
        ValueSpec::Boolean { .. } => "boolean()",
        ValueSpec::Date { .. } | ValueSpec::Clock { .. } => DATE,
        // mongoimport has no type for an object id.
        ValueSpec::String { .. }
        | ValueSpec::Text { .. }
        | ValueSpec::KeyOf { .. }
        | ValueSpec::Fake { .. }
        | ValueSpec::ObjectId => STRING,
        ValueSpec::Binary { .. } | ValueSpec::Uuid => BINARY,
        ValueSpec::Constant { value } => scalar_type_name(value),
        ValueSpec::Choice { values } => {
            let mut names = values.iter().map(|(value, _)| scalar_type_name(value));
            let first = names.next().unwrap_or(ANY);
            if names.all(|name| name == first) { first } else { ANY }
        }
        ValueSpec::Document { .. } | ValueSpec::Array { .. } | ValueSpec::Point { .. } => ANY,
    }
}

fn scalar_type_name(value: &Scalar) -> &'static str {
    match value {
        Scalar::Null => ANY,
        Scalar::Boolean(_) => "boolean()",
        Scalar::Integer(value) if i32::try_from(*value).is_ok() => "int32()",
        Scalar::Integer(_) => "int64()",
        Scalar::Double(_) => "double()",
        Scalar::Text(_) => STRING,
    }
}
