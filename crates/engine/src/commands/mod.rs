//! The commands that operations are made of: encoded once as templates, filled per operation.

mod templates;
mod transaction;

use std::sync::Arc;

use brimline_bson::Writer;
use brimline_datagen::{Documents, KeyElement, Verified};
use brimline_wire::session::Session;

use self::templates::{Returned, find_template, insert_template, scan_template, update_template};
use self::transaction::Transaction;
use crate::command::{Command, Part};
use crate::message::Message;
use crate::operation::Operation;
use crate::own::Own;
use crate::plan::error::PlanError;
use crate::plan::{Plan, Work};
use crate::terms::terms;

/// The templates of a plan, and the documents that go into them.
pub struct Commands {
    documents: Documents,
    /// The key in a filter for one document.
    id: KeyElement,
    /// The key in a range, its lower end.
    id_from: KeyElement,
    find: Message,
    /// Of reads that name the fields they return, which differ in what follows the session. Boxed: most plans have none.
    find_by_name: Option<Box<Message>>,
    scan: Message,
    get_more: Message,
    update: Message,
    insert: Message,
    /// Boxed: most plans have none.
    transaction: Option<Box<Transaction>>,
    own: Option<Arc<Own>>,
    read_all_fields: bool,
    write_all_fields: bool,
    upserts: bool,
    field_count: u32,
    /// From one record of a batch to the next: a batch goes to one server.
    record_step: usize,
}

impl Commands {
    /// The commands of `plan`.
    ///
    /// # Errors
    /// When the description of the documents is out of range.
    pub fn new(plan: &Plan, own: Option<Arc<Own>>) -> Result<Self, PlanError> {
        let documents =
            Documents::new(&plan.data, plan.seed).map_err(|error| PlanError::inside("data", &error))?;
        let (read_all_fields, write_all_fields, ordered) = match plan.work {
            Work::Mix { read_all_fields, write_all_fields, insert_batch_size, .. } => {
                (read_all_fields, write_all_fields, insert_batch_size == 1)
            }
            Work::Load { ordered, .. } => (true, true, ordered),
            Work::Operations(_) => (true, true, true),
        };
        let names_read_fields = matches!(plan.work, Work::Mix { name_read_fields: true, .. });
        let returned = Returned::of(read_all_fields);
        let (reads, writes) = terms(plan);
        let namespace = &plan.namespace;
        let upserts = plan.upserts();
        Ok(Self {
            id: documents.key_element("_id"),
            id_from: documents.key_element("$gte"),
            find: find_template(namespace, returned, &reads),
            find_by_name: names_read_fields
                .then(|| Box::new(find_template(namespace, Returned::Named(&documents), &reads))),
            documents,
            scan: scan_template(namespace, returned, &reads),
            get_more: Message::get_more(&namespace.database, &namespace.collection, None, &reads),
            update: update_template(namespace, &writes),
            insert: insert_template(namespace, upserts, ordered, &writes),
            transaction: (plan.has_transactions() && plan.own().is_none())
                .then(|| Box::new(Transaction::new(namespace, returned, &reads, &writes))),
            own,
            read_all_fields,
            write_all_fields,
            upserts,
            field_count: plan.data.field_count,
            record_step: plan.server_count() as usize,
        })
    }

    /// The command that an operation goes on with when all that its transaction did is void.
    pub fn begins_with(&self, command: Command, operation: &Operation) -> Command {
        match command {
            Command::Step(step, _) => {
                let own = self.own();
                Command::Step(own.step(own.step(step.number).begins_at()).reference(), Part::Main)
            }
            _ => self.first(operation),
        }
    }

    /// The documents of the plan.
    pub fn documents(&self) -> &Documents {
        &self.documents
    }

    /// Those of the person's own, where the plan has such.
    #[inline]
    pub fn own(&self) -> &Own {
        self.own.as_deref().unwrap_or_else(|| unreachable!("only a plan with own operations has their steps"))
    }

    /// Whether the plan has operations of the person's own.
    #[inline]
    pub fn has_own(&self) -> bool {
        self.own.is_some()
    }

    /// The command that an operation starts with.
    #[inline]
    pub fn first(&self, operation: &Operation) -> Command {
        if let Some(place) = operation.kind.place() {
            return Command::Step(self.own().first_step(place).reference(), Part::Main);
        }
        match operation.kind.first(operation.statements) {
            Command::Insert if self.upserts => Command::Upsert,
            command => command,
        }
    }

    /// Compares what a read of `record` brought, or nothing, with what it must have brought.
    pub fn verify(&self, record: u64, document: Option<&[u8]>) -> Verified {
        let fields = if self.read_all_fields { self.field_count } else { 1 };
        document.map_or(Verified::Absent, |document| self.documents.verify(record, document, fields))
    }

    /// Appends the documents of a batch of a load as a BSON array, for a request behind a link.
    pub fn append_batch(&self, operation: &Operation, record: u64, out: &mut Vec<u8>) {
        let mut writer = Writer::new(out);
        let open = writer.begin_document();
        for record in self.records(operation, record) {
            // Places in an array say nothing that their order doesn't.
            writer.document_with("", |out| self.documents.append_document(record, out));
        }
        writer.end_document(open);
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
            Command::Find => {
                self.find_of(operation).template.render(request_id, out, |slot, writer| match slot {
                    0 => self.documents.append_key(&self.id, record, writer.buffer()),
                    _ => self.project(operation, writer),
                });
            }
            Command::Scan => self.scan.template.render(request_id, out, |slot, writer| match slot {
                0 => self.documents.append_key(&self.id_from, record, writer.buffer()),
                1 => {
                    writer.int32("limit", operation.documents as i32);
                    writer.int32("batchSize", operation.documents as i32);
                }
                _ => self.project(operation, writer),
            }),
            Command::GetMore(cursor) => self.get_more.render(request_id, cursor, out, |_, _| ()),
            Command::Update => self.update.template.render(request_id, out, |slot, writer| match slot {
                0 => self.documents.append_key(&self.id, record, writer.buffer()),
                _ => self.assign(operation, record, writer),
            }),
            Command::Insert => self.insert.template.render_with_documents(
                request_id,
                out,
                |_, _| (),
                "documents",
                |out| {
                    self.records(operation, record)
                        .for_each(|record| self.documents.append_document(record, out));
                },
            ),
            Command::Upsert => self.insert.template.render_with_documents(
                request_id,
                out,
                |_, _| (),
                "updates",
                |out| {
                    self.records(operation, record)
                        .for_each(|record| self.append_upsert(operation, record, out));
                },
            ),
            Command::Statement(place) => {
                let template = &self.transaction().statement(place).template;
                template.render(request_id, out, |slot, writer| match slot {
                    0 => self.documents.append_key(&self.id, record, writer.buffer()),
                    _ if place.is_read() => self.project(operation, writer),
                    _ => self.assign(operation, record, writer),
                });
            }
            Command::Commit | Command::CommitAgain => {
                self.transaction().message(command).render(request_id, 0, out, |_, _| ());
            }
            Command::Step(..) => unreachable!("a step is completed from what its connection keeps"),
        }
    }

    /// The records of a batch that begins with `record`.
    fn records(&self, operation: &Operation, record: u64) -> impl Iterator<Item = u64> {
        (record..).step_by(self.record_step).take(operation.documents as usize)
    }

    /// A statement that has the document of `record` in the place of what is there: one alone replaces it, those of a batch set
    /// all its fields, as YCSB's binding does.
    fn append_upsert(&self, operation: &Operation, record: u64, out: &mut Vec<u8>) {
        let mut writer = Writer::new(out);
        let statement = writer.begin_document();
        let filter = writer.begin_subdocument("q");
        self.documents.append_key(&self.id, record, writer.buffer());
        writer.end_document(filter);
        if operation.documents == 1 {
            writer.document_with("u", |out| self.documents.append_document(record, out));
        } else {
            let update = writer.begin_subdocument("u");
            writer.document_with("$set", |out| self.documents.append_document(record, out));
            writer.end_document(update);
        }
        writer.boolean("upsert", true);
        writer.end_document(statement);
    }

    fn find_of(&self, operation: &Operation) -> &Message {
        match &self.find_by_name {
            Some(by_name) if operation.kind.only_reads_by_key() => by_name,
            _ => &self.find,
        }
    }

    fn transaction(&self) -> &Transaction {
        self.transaction
            .as_deref()
            .unwrap_or_else(|| unreachable!("only a plan with transactions has their commands"))
    }

    /// Writes `session` into a request, where the plan's commands have room for it.
    #[expect(
        clippy::inline_always,
        reason = "out of line it costs every operation some dozens of instructions"
    )]
    #[inline(always)]
    pub fn stamp(&self, command: Command, session: &Session, request: &mut [u8]) {
        let message = match command {
            Command::Find => &self.find,
            Command::Update => &self.update,
            Command::Insert | Command::Upsert => &self.insert,
            Command::Scan => &self.scan,
            Command::GetMore(_) => &self.get_more,
            Command::Statement(_) | Command::Commit | Command::CommitAgain => {
                self.transaction().message(command)
            }
            Command::Step(step, part) => {
                return self.own().step(step.number).stamp(part, session, request);
            }
        };
        message.stamp(session, request);
    }

    /// Names the field that a partial read returns.
    fn project(&self, operation: &Operation, writer: &mut Writer<'_>) {
        debug_assert!(!self.read_all_fields, "only a partial read has a slot for its projection");
        writer.int32(self.documents.field_name(operation.field), 1);
    }

    /// New values for the fields that an update sets.
    #[inline]
    fn assign(&self, operation: &Operation, record: u64, writer: &mut Writer<'_>) {
        let fields =
            if self.write_all_fields { 0..self.field_count } else { operation.field..operation.field + 1 };
        for field in fields {
            self.documents.append_field(field, record, operation.index, writer.buffer());
        }
    }
}
