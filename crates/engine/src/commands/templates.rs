//! The templates of single commands.

use brimline_datagen::Documents;
use brimline_wire::template::TemplateBuilder;

use crate::message::Message;
use crate::plan::Namespace;
use crate::terms::Terms;

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

/// A find of one document.
pub(super) fn find_template(namespace: &Namespace, returned: Returned<'_>, terms: &Terms<'_>) -> Message {
    template("find", namespace, terms, |builder| {
        builder.begin_subdocument("filter");
        builder.slot();
        builder.end();
        builder.fixed(|writer| {
            writer.int32("limit", 1);
            writer.boolean("singleBatch", true);
        });
        append_projection(builder, returned);
    })
}

/// A find of documents from a key on, in the order of their keys.
pub(super) fn scan_template(namespace: &Namespace, returned: Returned<'_>, terms: &Terms<'_>) -> Message {
    template("find", namespace, terms, |builder| {
        builder.begin_subdocument("filter");
        builder.begin_subdocument("_id");
        builder.slot();
        builder.end();
        builder.end();
        builder.begin_subdocument("sort");
        builder.fixed(|writer| writer.int32("_id", 1));
        builder.end();
        builder.slot();
        append_projection(builder, returned);
    })
}

/// An update of one document.
pub(super) fn update_template(namespace: &Namespace, terms: &Terms<'_>) -> Message {
    template("update", namespace, terms, |builder| {
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
    })
}

/// An insert of the documents that follow it.
pub(super) fn insert_template(
    namespace: &Namespace,
    upserts: bool,
    ordered: bool,
    terms: &Terms<'_>,
) -> Message {
    template(if upserts { "update" } else { "insert" }, namespace, terms, |builder| {
        builder.fixed(|writer| writer.boolean("ordered", ordered));
    })
}

fn template(
    name: &str,
    namespace: &Namespace,
    terms: &Terms<'_>,
    body: impl FnOnce(&mut TemplateBuilder),
) -> Message {
    Message::new(&namespace.database, terms, |writer| writer.string(name, &namespace.collection), body)
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
