//! What was inserted: collections of documents in memory, ordered by `_id`. No index but that one, nothing on disk.

mod elements;
mod key;
mod projection;
mod range;
mod update;

use std::collections::BTreeMap;

pub use elements::{Elements, EncodedElement, is_document};
pub use key::{Key, encode as order_key};
pub use projection::Projection;
pub use range::KeyRange;
pub use update::Update;

use brimline_bson::ReadError;
use thiserror::Error;

/// Documents by the order key of their `_id`.
pub type Collection = BTreeMap<Key, Box<[u8]>>;

/// Why a statement is refused.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum StoreError {
    /// Bytes that are no BSON.
    #[error(transparent)]
    Document(#[from] ReadError),
    /// A valid wish that this store does not fulfil.
    #[error("the scripted server does not support {0}")]
    Unsupported(String),
    /// An update that would change a document's `_id`.
    #[error("the immutable field '_id' can't be altered")]
    ImmutableId,
}

/// Collections by `database.collection`.
#[derive(Debug, Default)]
pub struct Store {
    collections: BTreeMap<String, Collection>,
}

impl Store {
    /// The collection, if it exists.
    pub fn collection(&self, namespace: &str) -> Option<&Collection> {
        self.collections.get(namespace)
    }

    /// The collection, made if it does not exist.
    pub fn collection_mut(&mut self, namespace: &str) -> &mut Collection {
        if !self.collections.contains_key(namespace) {
            self.collections.insert(namespace.to_owned(), Collection::new());
        }
        self.collections.get_mut(namespace).unwrap_or_else(|| unreachable!("the collection was just made"))
    }

    /// The documents in `range`, in order; none of a collection that does not exist.
    pub fn documents<'a>(
        &'a self,
        namespace: &str,
        range: &KeyRange,
    ) -> impl Iterator<Item = (&'a Key, &'a [u8])> + use<'a> {
        let found = self
            .collection(namespace)
            .and_then(|documents| Some(documents.range::<[u8], _>(range.bounds()?)));
        found.into_iter().flatten().map(|(key, document)| (key, &**document))
    }

    /// Removes the collection; false when there was none.
    pub fn drop_collection(&mut self, namespace: &str) -> bool {
        self.collections.remove(namespace).is_some()
    }

    /// Removes every collection of a database.
    pub fn drop_database(&mut self, database: &str) {
        self.collections.retain(|namespace, _| split_namespace(namespace).0 != database);
    }

    /// Names of a database's collections, in order.
    pub fn collection_names<'a>(&'a self, database: &'a str) -> impl Iterator<Item = &'a str> {
        self.collections
            .keys()
            .map(|namespace| split_namespace(namespace))
            .filter_map(move |(of, name)| (of == database).then_some(name))
    }

    /// Names of the databases that hold a collection, in order.
    pub fn database_names(&self) -> Vec<&str> {
        let mut names: Vec<_> =
            self.collections.keys().map(|namespace| split_namespace(namespace).0).collect();
        names.dedup();
        names
    }
}

/// Database and collection; the collection's name may itself have dots.
fn split_namespace(namespace: &str) -> (&str, &str) {
    namespace.split_once('.').unwrap_or((namespace, ""))
}
