//! Databases and collections: making, listing and dropping them.

use brimline_bson::{Reader, Value, Writer};

use super::read::end_cursor;
use super::request::{documents_of, text};
use super::{Backend, CommandError, Request};
use crate::store::StoreError;

impl Backend {
    pub(super) fn create(&mut self, request: &Request<'_>) -> Result<(), CommandError> {
        let namespace = request.collection()?;
        if self.store.collection(namespace).is_some() {
            let message = format!("collection {namespace} already exists");
            return Err(CommandError::new(48, "NamespaceExists", message));
        }
        self.store.collection_mut(namespace);
        Ok(())
    }

    pub(super) fn drop(
        &mut self,
        request: &Request<'_>,
        writer: &mut Writer<'_>,
    ) -> Result<(), CommandError> {
        let namespace = request.collection()?;
        let is_synthetic = self.is_synthetic(namespace);
        if is_synthetic {
            self.synthetic_documents = 0;
        }
        if !self.store.drop_collection(namespace) && !is_synthetic {
            return Err(CommandError::namespace_not_found(namespace));
        }
        writer.int32("nIndexesWas", 1);
        writer.string("ns", namespace);
        Ok(())
    }

    pub(super) fn drop_database(&mut self, request: &Request<'_>, writer: &mut Writer<'_>) {
        self.store.drop_database(request.database);
        writer.string("dropped", request.database);
    }

    pub(super) fn list_databases(&self, writer: &mut Writer<'_>) {
        let databases = writer.begin_array("databases");
        for (index, name) in self.store.database_names().into_iter().enumerate() {
            let database = writer.begin_subdocument(&index.to_string());
            writer.string("name", name);
            writer.int64("sizeOnDisk", 0);
            writer.boolean("empty", false);
            writer.end_document(database);
        }
        writer.end_document(databases);
        writer.int64("totalSize", 0);
    }

    /// Understands the filters `{}`, `{name: text}` and `{name: {$regex: "^text…"}}`, of which the text alone counts.
    pub(super) fn list_collections(
        &self,
        request: &Request<'_>,
        writer: &mut Writer<'_>,
    ) -> Result<(), CommandError> {
        let wanted = wanted_name(request.document("filter")?)?;
        let names = self.store.collection_names(request.database);
        let cursor = writer.begin_subdocument("cursor");
        let batch = writer.begin_array("firstBatch");
        for (index, name) in names.filter(|&name| wanted.is(name)).enumerate() {
            let collection = writer.begin_subdocument(&index.to_string());
            writer.string("name", name);
            writer.string("type", "collection");
            let options = writer.begin_subdocument("options");
            writer.end_document(options);
            let info = writer.begin_subdocument("info");
            writer.boolean("readOnly", false);
            writer.end_document(info);
            write_id_index("idIndex", writer);
            writer.end_document(collection);
        }
        writer.end_document(batch);
        end_cursor(writer, cursor, 0, &format!("{}.$cmd.listCollections", request.database));
        Ok(())
    }

    pub(super) fn list_indexes(
        &self,
        request: &Request<'_>,
        writer: &mut Writer<'_>,
    ) -> Result<(), CommandError> {
        let namespace = request.collection()?;
        if self.store.collection(namespace).is_none() && !self.is_synthetic(namespace) {
            return Err(CommandError::namespace_not_found(namespace));
        }
        let cursor = writer.begin_subdocument("cursor");
        let batch = writer.begin_array("firstBatch");
        write_id_index("0", writer);
        writer.end_document(batch);
        end_cursor(writer, cursor, 0, namespace);
        Ok(())
    }

    /// Makes the collection. There is no index but that on `_id`, and the reply says so.
    pub(super) fn create_indexes(
        &mut self,
        request: &Request<'_>,
        writer: &mut Writer<'_>,
    ) -> Result<(), CommandError> {
        let namespace = request.collection()?;
        if documents_of(request.field("indexes")?)?.is_empty() {
            return Err(CommandError::bad_value("'indexes' must name an index"));
        }
        self.store.collection_mut(namespace);
        writer.int32("numIndexesBefore", 1);
        writer.int32("numIndexesAfter", 1);
        writer.string("note", "the scripted server has no index but that on _id");
        Ok(())
    }
}

/// What a filter asks of a collection's name.
enum Wanted<'a> {
    Any,
    Name(&'a str),
    Beginning(&'a str),
}

impl Wanted<'_> {
    fn is(&self, name: &str) -> bool {
        match self {
            Self::Any => true,
            Self::Name(wanted) => *wanted == name,
            Self::Beginning(wanted) => name.starts_with(wanted),
        }
    }
}

fn wanted_name(filter: &[u8]) -> Result<Wanted<'_>, CommandError> {
    let unsupported = || {
        StoreError::Unsupported("a filter on collections other than {name: text} or a beginning".to_owned())
    };
    let mut fields = Reader::new(filter)?;
    let mut wanted = Wanted::Any;
    while let Some(field) = fields.next_element()? {
        wanted = match (field.name, field.value) {
            (b"name", Value::String(name)) => Wanted::Name(text(name)?),
            (b"name", Value::Document(asked)) => match Reader::new(asked)?.next_element()? {
                Some(element) => match (element.name, element.value) {
                    (b"$regex", Value::String(pattern)) => {
                        let begins = text(pattern)?.strip_prefix('^').ok_or_else(unsupported)?;
                        let is_special = |each: char| !(each.is_alphanumeric() || each == '_');
                        Wanted::Beginning(begins.split(is_special).next().unwrap_or(begins))
                    }
                    _ => return Err(unsupported().into()),
                },
                None => return Err(unsupported().into()),
            },
            _ => return Err(unsupported().into()),
        };
    }
    Ok(wanted)
}

fn write_id_index(name: &str, writer: &mut Writer<'_>) {
    let index = writer.begin_subdocument(name);
    writer.int32("v", 2);
    let key = writer.begin_subdocument("key");
    writer.int32("_id", 1);
    writer.end_document(key);
    writer.string("name", "_id_");
    writer.end_document(index);
}
