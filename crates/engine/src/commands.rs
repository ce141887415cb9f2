//! The commands that operations are made of: encoded once as templates, filled per operation.

use brimline_bson::Writer;
use brimline_datagen::{Documents, KeyElement};
use brimline_wire::session::{Session, SessionPlace};
use brimline_wire::template::{Template, TemplateBuilder};

use crate::operation::{Operation, OperationKind};
use crate::plan::{Acknowledgement, Plan, PlanError, Reads, TargetPlan, Work, WriteConcern};

/// One command of an operation. Most operations are one command; a read-modify-write is two, and a scan whose documents
/// don't fit one reply goes on with `getMore`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    /// `find` of one document by key.
    Find,
    /// `find` of documents in key order.
    Scan,
    /// `getMore` of a scan, with its cursor.
    GetMore(i64),
    /// `update` of one document by key.
    Update,
    /// `insert` of one or several documents.
    Insert,
}

impl Command {
    /// The command that an operation of this kind starts with.
    pub fn first(kind: OperationKind) -> Self {
        match kind {
            OperationKind::Read | OperationKind::ReadModifyWrite => Self::Find,
            OperationKind::Scan => Self::Scan,
            OperationKind::Update => Self::Update,
            OperationKind::Insert | OperationKind::Load => Self::Insert,
        }
    }

    /// Whether it goes where reads go.
    pub fn is_read(self) -> bool {
        matches!(self, Self::Find | Self::Scan | Self::GetMore(_))
    }

    /// Whether it writes.
    #[inline]
    pub fn is_write(self) -> bool {
        matches!(self, Self::Update | Self::Insert)
    }

    /// The counter of `serverStatus.opcounters` that this command moves.
    pub fn opcounter(self) -> Opcounter {
        match self {
            Self::Find | Self::Scan => Opcounter::Query,
            Self::GetMore(_) => Opcounter::Getmore,
            Self::Update => Opcounter::Update,
            Self::Insert => Opcounter::Insert,
        }
    }
}

/// Counters of `serverStatus.opcounters` that brimline's operations move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are MongoDB's")]
pub enum Opcounter {
    Query,
    Insert,
    Update,
    Getmore,
}

impl Opcounter {
    /// All of them, in the order of their discriminants.
    pub const ALL: [Self; 4] = [Self::Query, Self::Insert, Self::Update, Self::Getmore];

    /// The counter's name in `serverStatus`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Query => "query",
            Self::Insert => "insert",
            Self::Update => "update",
            Self::Getmore => "getmore",
        }
    }
}

/// The templates of a plan, and the documents that go into them.
pub struct Commands {
    documents: Documents,
    /// The key in a filter for one document.
    id: KeyElement,
    /// The key in a range, its lower end.
    id_from: KeyElement,
    find: Template,
    scan: Template,
    get_more: Template,
    update: Template,
    insert: Template,
    /// Where the session is in both writes, when they have one.
    sessions: Option<Sessions>,
    read_all_fields: bool,
    write_all_fields: bool,
    field_count: u32,
    /// From one record of a batch to the next: a batch goes to one server.
    record_step: usize,
}

#[derive(Clone, Copy)]
struct Sessions {
    update: SessionPlace,
    insert: SessionPlace,
}

impl Commands {
    /// The commands of `plan`.
    ///
    /// # Errors
    /// When the description of the documents is out of range.
    pub fn new(plan: &Plan) -> Result<Self, PlanError> {
        let documents =
            Documents::new(&plan.data, plan.seed).map_err(|error| PlanError::inside("data", &error))?;
        let (read_all_fields, write_all_fields, ordered) = match plan.work {
            Work::Mix { read_all_fields, write_all_fields, .. } => (read_all_fields, write_all_fields, true),
            Work::Load { ordered, .. } => (true, true, ordered),
        };
        let (terms, write_terms) = match &plan.target {
            TargetPlan::Wire { reads, read_concern, write_concern, retry_writes, .. } => {
                let terms = ReadTerms { reads: reads.as_ref(), concern: read_concern.as_deref() };
                (terms, WriteTerms { concern: write_concern.as_ref(), has_session: *retry_writes })
            }
            TargetPlan::Driver { read_concern, write_concern, .. } => {
                let terms = ReadTerms { reads: None, concern: read_concern.as_deref() };
                (terms, WriteTerms { concern: write_concern.as_ref(), has_session: false })
            }
            TargetPlan::Null {} | TargetPlan::Simulated { .. } => {
                (ReadTerms::default(), WriteTerms::default())
            }
        };
        let database = plan.namespace.database.as_str();
        let collection = plan.namespace.collection.as_str();
        let (update, update_session) = update_template(database, collection, write_terms);
        let (insert, insert_session) = insert_template(database, collection, ordered, write_terms);
        Ok(Self {
            id: documents.key_element("_id"),
            id_from: documents.key_element("$gte"),
            documents,
            find: find_template(database, collection, read_all_fields, terms),
            scan: scan_template(database, collection, read_all_fields, terms),
            get_more: get_more_template(database, collection),
            update,
            insert,
            sessions: update_session.zip(insert_session).map(|(update, insert)| Sessions { update, insert }),
            read_all_fields,
            write_all_fields,
            field_count: plan.data.field_count,
            record_step: plan.server_count() as usize,
        })
    }

    /// The documents of the plan.
    pub fn documents(&self) -> &Documents {
        &self.documents
    }

    /// Appends the OP_MSG of `command` of `operation` on `record`.
    pub fn render(
        &self,
        command: Command,
        operation: &Operation,
        record: u64,
        request_id: i32,
        out: &mut Vec<u8>,
    ) {
        match command {
            Command::Find => self.find.render(request_id, out, |slot, writer| match slot {
                0 => self.documents.append_key(&self.id, record, writer.buffer()),
                _ => self.project(operation, writer),
            }),
            Command::Scan => self.scan.render(request_id, out, |slot, writer| match slot {
                0 => self.documents.append_key(&self.id_from, record, writer.buffer()),
                1 => {
                    writer.int32("limit", operation.documents as i32);
                    writer.int32("batchSize", operation.documents as i32);
                }
                _ => self.project(operation, writer),
            }),
            Command::GetMore(cursor) => {
                self.get_more.render(request_id, out, |_, writer| writer.int64("getMore", cursor));
            }
            Command::Update => self.update.render(request_id, out, |slot, writer| match slot {
                0 => self.documents.append_key(&self.id, record, writer.buffer()),
                _ => self.assign(operation, writer),
            }),
            Command::Insert => self.insert.render_with_documents(
                request_id,
                out,
                |_, _| (),
                "documents",
                |out| {
                    for record in (record..).step_by(self.record_step).take(operation.documents as usize) {
                        self.documents.append_document(record, out);
                    }
                },
            ),
        }
    }

    /// Writes `session` into the request of a write.
    pub fn stamp(&self, command: Command, session: &Session, request: &mut [u8]) {
        let Some(places) = &self.sessions else { return };
        match command {
            Command::Update => places.update.stamp(session, request),
            Command::Insert => places.insert.stamp(session, request),
            Command::Find | Command::Scan | Command::GetMore(_) => {}
        }
    }

    /// Names the field that a partial read returns.
    fn project(&self, operation: &Operation, writer: &mut Writer<'_>) {
        debug_assert!(!self.read_all_fields, "only a partial read has a slot for its projection");
        writer.int32(self.documents.field_name(operation.field), 1);
    }

    /// New values for the fields that an update sets.
    fn assign(&self, operation: &Operation, writer: &mut Writer<'_>) {
        let fields =
            if self.write_all_fields { 0..self.field_count } else { operation.field..operation.field + 1 };
        for field in fields {
            self.documents.append_field(field, operation.index, writer.buffer());
        }
    }
}

/// What reads say about where they go and what they may see.
#[derive(Clone, Copy, Default)]
struct ReadTerms<'p> {
    reads: Option<&'p Reads>,
    concern: Option<&'p str>,
}

/// What writes say about themselves.
#[derive(Clone, Copy, Default)]
struct WriteTerms<'p> {
    concern: Option<&'p WriteConcern>,
    has_session: bool,
}

fn find_template(database: &str, collection: &str, read_all_fields: bool, terms: ReadTerms<'_>) -> Template {
    let mut builder = TemplateBuilder::new();
    builder.fixed(|writer| writer.string("find", collection));
    builder.begin_subdocument("filter");
    builder.slot();
    builder.end();
    builder.fixed(|writer| {
        writer.int32("limit", 1);
        writer.boolean("singleBatch", true);
    });
    append_projection(&mut builder, read_all_fields);
    append_read_terms(&mut builder, terms);
    finish(builder, database)
}

fn scan_template(database: &str, collection: &str, read_all_fields: bool, terms: ReadTerms<'_>) -> Template {
    let mut builder = TemplateBuilder::new();
    builder.fixed(|writer| writer.string("find", collection));
    builder.begin_subdocument("filter");
    builder.begin_subdocument("_id");
    builder.slot();
    builder.end();
    builder.end();
    builder.begin_subdocument("sort");
    builder.fixed(|writer| writer.int32("_id", 1));
    builder.end();
    builder.slot();
    append_projection(&mut builder, read_all_fields);
    append_read_terms(&mut builder, terms);
    finish(builder, database)
}

fn get_more_template(database: &str, collection: &str) -> Template {
    let mut builder = TemplateBuilder::new();
    builder.slot();
    builder.fixed(|writer| writer.string("collection", collection));
    finish(builder, database)
}

fn update_template(
    database: &str,
    collection: &str,
    terms: WriteTerms<'_>,
) -> (Template, Option<SessionPlace>) {
    let mut builder = TemplateBuilder::new();
    builder.fixed(|writer| writer.string("update", collection));
    let session = terms.has_session.then(|| SessionPlace::append(&mut builder));
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
    append_write_concern(&mut builder, terms.concern);
    (finish(builder, database), session)
}

fn insert_template(
    database: &str,
    collection: &str,
    ordered: bool,
    terms: WriteTerms<'_>,
) -> (Template, Option<SessionPlace>) {
    let mut builder = TemplateBuilder::new();
    builder.fixed(|writer| {
        writer.string("insert", collection);
        writer.boolean("ordered", ordered);
    });
    let session = terms.has_session.then(|| SessionPlace::append(&mut builder));
    append_write_concern(&mut builder, terms.concern);
    (finish(builder, database), session)
}

fn append_projection(builder: &mut TemplateBuilder, read_all_fields: bool) {
    if !read_all_fields {
        builder.begin_subdocument("projection");
        builder.slot();
        builder.end();
    }
}

fn append_read_terms(builder: &mut TemplateBuilder, terms: ReadTerms<'_>) {
    if let Some(level) = terms.concern {
        builder.begin_subdocument("readConcern");
        builder.fixed(|writer| writer.string("level", level));
        builder.end();
    }
    if let Some(reads) = terms.reads {
        builder.begin_subdocument("$readPreference");
        builder.fixed(|writer| write_preference(writer, reads));
        builder.end();
    }
}

fn write_preference(writer: &mut Writer<'_>, reads: &Reads) {
    writer.string("mode", &reads.mode);
    if !reads.tag_sets.is_empty() {
        let sets = writer.begin_array("tags");
        for (index, tags) in reads.tag_sets.iter().enumerate() {
            let set = writer.begin_subdocument(&index.to_string());
            for (name, value) in tags {
                writer.string(name, value);
            }
            writer.end_document(set);
        }
        writer.end_document(sets);
    }
    if let Some(seconds) = reads.max_staleness_s {
        writer.int32("maxStalenessSeconds", seconds as i32);
    }
}

fn append_write_concern(builder: &mut TemplateBuilder, write_concern: Option<&WriteConcern>) {
    let Some(WriteConcern { w, journal, timeout_ms }) = write_concern else {
        return;
    };
    builder.begin_subdocument("writeConcern");
    builder.fixed(|writer| {
        match w {
            Acknowledgement::Members(members) => writer.int32("w", *members as i32),
            Acknowledgement::Tag(tag) => writer.string("w", tag),
        }
        if let Some(journal) = journal {
            writer.boolean("j", *journal);
        }
        if let Some(timeout_ms) = timeout_ms {
            writer.int32("wtimeout", *timeout_ms as i32);
        }
    });
    builder.end();
}

fn finish(mut builder: TemplateBuilder, database: &str) -> Template {
    builder.fixed(|writer| writer.string("$db", database));
    builder.finish(0)
}
