//! The templates of single commands.

use brimline_datagen::Documents;
use brimline_wire::session::SessionPlace;
use brimline_wire::template::{Template, TemplateBuilder};

use crate::terms::{CURSOR_BYTES, ReadTerms, WriteTerms, append_read_terms, append_write_concern, finish};

/// A template, and where the session is in it when it has one.
pub(super) type Placed = (Template, Option<SessionPlace>);

/// What of a document a read returns.
#[derive(Clone, Copy)]
pub(super) enum Returned<'d> {
    /// All of it, and the command says nothing of it.
    Whole,
    /// One field, which the slot names.
    OneField,
    /// These fields, each by its name.
    Named(&'d Documents),
}

impl Returned<'_> {
    pub(super) fn of(read_all_fields: bool) -> Self {
        if read_all_fields { Self::Whole } else { Self::OneField }
    }
}

pub(super) fn find_template(
    database: &str,
    collection: &str,
    returned: Returned<'_>,
    terms: ReadTerms<'_>,
) -> Placed {
    let mut builder = TemplateBuilder::new();
    builder.fixed(|writer| writer.string("find", collection));
    let session = terms.session.append(&mut builder);
    append_find(&mut builder, returned, terms);
    (finish(builder, database), session)
}

/// What a find of one document says besides its collection.
pub(super) fn append_find(builder: &mut TemplateBuilder, returned: Returned<'_>, terms: ReadTerms<'_>) {
    builder.begin_subdocument("filter");
    builder.slot();
    builder.end();
    builder.fixed(|writer| {
        writer.int32("limit", 1);
        writer.boolean("singleBatch", true);
    });
    append_projection(builder, returned);
    append_read_terms(builder, terms);
}

pub(super) fn scan_template(
    database: &str,
    collection: &str,
    returned: Returned<'_>,
    terms: ReadTerms<'_>,
) -> Placed {
    let mut builder = TemplateBuilder::new();
    builder.fixed(|writer| writer.string("find", collection));
    let session = terms.session.append(&mut builder);
    builder.begin_subdocument("filter");
    builder.begin_subdocument("_id");
    builder.slot();
    builder.end();
    builder.end();
    builder.begin_subdocument("sort");
    builder.fixed(|writer| writer.int32("_id", 1));
    builder.end();
    builder.slot();
    append_projection(&mut builder, returned);
    append_read_terms(&mut builder, terms);
    (finish(builder, database), session)
}

/// The second is where its cursor is.
pub(super) fn get_more_template(database: &str, collection: &str, terms: ReadTerms<'_>) -> (Placed, usize) {
    let mut builder = TemplateBuilder::new();
    builder.fixed(|writer| writer.int64("getMore", 0));
    let cursor = builder.fixed_position() - CURSOR_BYTES;
    builder.fixed(|writer| writer.string("collection", collection));
    let session = terms.session.append(&mut builder);
    ((finish(builder, database), session), cursor)
}

pub(super) fn update_template(database: &str, collection: &str, terms: WriteTerms<'_>) -> Placed {
    let mut builder = TemplateBuilder::new();
    builder.fixed(|writer| writer.string("update", collection));
    let session = terms.session.append(&mut builder);
    append_update(&mut builder);
    append_write_concern(&mut builder, terms.concern);
    (finish(builder, database), session)
}

/// The statement of an update of one document.
pub(super) fn append_update(builder: &mut TemplateBuilder) {
    builder.begin_array("updates");
    builder.begin_subdocument("0");
    builder.begin_subdocument("q");
    builder.slot();
    builder.end();
    builder.begin_subdocument("u");
    builder.begin_subdocument("$set");
    builder.slot();
    builder.end();
    builder.end();
    builder.end();
    builder.end();
}

pub(super) fn insert_template(
    database: &str,
    collection: &str,
    upserts: bool,
    ordered: bool,
    terms: WriteTerms<'_>,
) -> Placed {
    let mut builder = TemplateBuilder::new();
    builder.fixed(|writer| {
        writer.string(if upserts { "update" } else { "insert" }, collection);
        writer.boolean("ordered", ordered);
    });
    let session = terms.session.append(&mut builder);
    append_write_concern(&mut builder, terms.concern);
    (finish(builder, database), session)
}

fn append_projection(builder: &mut TemplateBuilder, returned: Returned<'_>) {
    if matches!(returned, Returned::Whole) {
        return;
    }
    builder.begin_subdocument("projection");
    match returned {
        Returned::Named(documents) => builder.fixed(|writer| {
            for field in 0..documents.field_count() {
                writer.int32(documents.field_name(field), 1);
            }
        }),
        _ => builder.slot(),
    };
    builder.end();
}
