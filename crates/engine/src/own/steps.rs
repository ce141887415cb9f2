//! The commands of steps: encoded once as far as they are always the same, completed with values for each operation.

use std::borrow::Cow;

use brimline_bson::{ElementType, Reader, Writer};
use brimline_datagen::expression::{
    Draw, ElementName, Expression, ExpressionField, ExpressionSpec, Misfit, Uses, World,
};
use brimline_net::link::Looks as ReplyLooks;
use brimline_wire::session::Session;

use super::plan::{OwnStep, StepAccess, StepCounter, TransactionPlace};
use super::replies::Checks;
use super::routing::key_of_step;
use crate::command::{Opcounter, Part, StepRef};
use crate::kinds::OperationKind;
use crate::message::Message;
use crate::plan::Plan;
use crate::plan::error::PlanError;
use crate::plan::pacer::ThinkTime;
use crate::terms::{Membership, Terms, by_majority, terms};

/// Fields of a command that say what the engine says otherwise.
const READ_CONCERN: &str = "readConcern";
const WRITE_CONCERN: &str = "writeConcern";
const READ_PREFERENCE: &str = "$readPreference";
/// Under which the slots of a request are written.
const VALUES: &str = "v";

/// A step, ready to be sent.
pub struct Step {
    reference: StepRef,
    operation: OperationKind,
    command: String,
    name: String,
    is_alone: bool,
    is_last: bool,
    /// The first step of its transaction.
    begins_at: u16,
    has_cursor: bool,
    wording: Wording,
    think_time: Option<ThinkTime>,
    checks: Option<Box<Checks>>,
    uses: Uses,
    /// Of client-routed shards: the key of the record that says which of them it is for.
    key: Option<Expression>,
}

/// How a step is said.
enum Wording {
    Command(Box<CommandWording>),
    /// As a request of another protocol.
    Request(Box<RequestWording>),
}

/// How a step is said as a request of another protocol.
struct RequestWording {
    /// The list of what its slots hold.
    values: Element,
    /// What of its reply is looked at.
    looks: ReplyLooks,
}

/// How a step is said as a command of MongoDB's.
struct CommandWording {
    main: Message,
    /// What differs between operations, all of it in the one slot.
    changing: Vec<Element>,
    /// Of a step whose reply has a cursor: the further command.
    get_more: Option<Message>,
    /// Of a commit: the same once more.
    again: Option<Message>,
    /// Of a step within a transaction: what ends it.
    abort: Option<Message>,
}

/// An element that a step puts into its command.
type Element = (ElementName, Expression);

impl Step {
    /// Prepares step `place` of operation `operation`, which has `number` among all of the plan.
    pub(super) fn new(
        plan: &Plan,
        world: &World,
        operation: usize,
        (number, place): (usize, usize),
        step: &OwnStep,
        path: &str,
    ) -> Result<Self, PlanError> {
        let steps = plan.own().map(|own| own.operations[operation].steps.as_slice()).unwrap_or_default();
        let begins_back = steps[..=place]
            .iter()
            .rev()
            .position(|step| step.transaction == Some(TransactionPlace::Begin))
            .filter(|_| step.transaction.is_some())
            .unwrap_or(0);
        let draws_as = format!("{operation}.{place}");
        let checks = Checks::new(world, step, &draws_as, path)?.map(Box::new);
        let mut key = None;
        let (wording, uses) = if step.request.is_some() {
            let values = world
                .prepare(&draws_as, &step.body)
                .map_err(|error| PlanError::inside(&format!("{path}.body"), &error))?;
            let looks = checks.as_ref().map(|checks| checks.looks()).unwrap_or_default();
            let uses = values.uses().clone();
            let values = (ElementName::new(VALUES), values);
            (Wording::Request(Box::new(RequestWording { values, looks })), uses)
        } else {
            let body = Body::new(world, step, &draws_as, path)?;
            if let Some(work) = plan.own().filter(|_| plan.server_count() > 1) {
                let fields = fields(&step.body).unwrap_or_default();
                key = Some(key_of_step(world, work, step, &fields, (&draws_as, path))?);
            }
            let uses = body.uses.clone();
            (Wording::Command(Box::new(CommandWording::new(plan, step, body))), uses)
        };
        let mut uses = uses;
        checks.iter().flat_map(|checks| checks.uses()).for_each(|taken| uses.add(taken));
        let is_commit = step.transaction == Some(TransactionPlace::Commit);
        let repeats = step.access == StepAccess::Read || step.retryable;
        Ok(Self {
            reference: StepRef {
                number: number as u16,
                access: step.access,
                may_repeat: repeats && step.transaction.is_none(),
                opcounter: if is_commit { Opcounter::Commit } else { opcounter(step.counter) },
                transaction: step.transaction,
                statements: step.statements,
            },
            operation: OperationKind::own(operation as u8),
            command: step.command.clone(),
            name: step.name.clone(),
            is_alone: steps.len() == 1,
            is_last: place + 1 == steps.len(),
            begins_at: (number - begins_back) as u16,
            think_time: step.think_time.filter(|_| place > 0),
            has_cursor: step.cursor && step.request.is_none(),
            wording,
            checks,
            uses,
            key,
        })
    }

    /// What the engine has to know of it wherever its operation goes.
    #[inline]
    pub fn reference(&self) -> StepRef {
        self.reference
    }

    /// Whether it looks for documents, of which it may find none.
    pub fn looks(&self) -> bool {
        const LOOKING: [&str; 6] = ["find", "update", "delete", "findAndModify", "count", "select"];
        LOOKING.contains(&self.command.as_str())
            && !self.checks.as_ref().is_some_and(|checks| checks.counts_documents())
    }

    /// The operation that it belongs to.
    pub fn operation(&self) -> OperationKind {
        self.operation
    }

    /// What it is recorded under.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The server's name of its command.
    pub fn command(&self) -> &str {
        &self.command
    }

    /// Whether it is all that its operation does.
    pub fn is_alone(&self) -> bool {
        self.is_alone
    }

    /// The number of the step after it; none after the last.
    pub fn next(&self) -> Option<u16> {
        (!self.is_last).then_some(self.reference.number + 1)
    }

    /// The step that its transaction begins with.
    pub fn begins_at(&self) -> u16 {
        self.begins_at
    }

    /// The pause before it.
    pub fn think_time(&self) -> Option<ThinkTime> {
        self.think_time
    }

    /// What its reply must say, and what of it is kept.
    pub fn checks(&self) -> Option<&Checks> {
        self.checks.as_deref()
    }

    /// Whether its reply has a cursor.
    pub fn has_cursor(&self) -> bool {
        self.has_cursor
    }

    /// Whether its reply has to be kept for a look at its fields.
    pub fn looks_into_replies(&self) -> bool {
        self.checks.as_ref().is_some_and(|checks| checks.looks_into_reply())
    }

    /// The record that says which of several servers it is for; 0 where there is only one.
    #[inline]
    pub fn record(&self, world: &World, draw: &Draw<'_>) -> u64 {
        self.key.as_ref().map_or(0, |key| world.record(key, draw))
    }

    pub(super) fn uses(&self) -> &Uses {
        &self.uses
    }

    /// What of its reply is looked at, where it is a request of another protocol.
    #[inline]
    pub fn request_looks(&self) -> Option<ReplyLooks> {
        match &self.wording {
            Wording::Command(_) => None,
            Wording::Request(request) => Some(request.looks),
        }
    }

    /// Writes what the slots of its request hold into `scratch`, and gives them as a BSON array.
    ///
    /// # Errors
    /// When a value can't be made.
    pub fn values<'s>(
        &self,
        world: &World,
        draw: &mut Draw<'_>,
        scratch: &'s mut Vec<u8>,
    ) -> Result<&'s [u8], Misfit> {
        scratch.clear();
        if let Wording::Request(request) = &self.wording {
            let (name, values) = &request.values;
            world.put(values, name, draw, scratch)?;
        }
        // Before the array are its type, its name and the end of that.
        Ok(scratch.get(VALUES.len() + 2..).unwrap_or_default())
    }

    /// Appends one of its messages; `cursor` is that of its next batch.
    ///
    /// # Errors
    /// When a value is of a type that its place can't have; what was appended is no request then.
    pub fn render(
        &self,
        (part, cursor): (Part, i64),
        world: &World,
        draw: &mut Draw<'_>,
        request_id: i32,
        out: &mut Vec<u8>,
    ) -> Result<(), Misfit> {
        let Wording::Command(wording) = &self.wording else { return Ok(()) };
        let mut outcome = Ok(());
        if let Some(message) = wording.message(part) {
            message.render(request_id, cursor, out, |_, writer| {
                for (name, value) in &wording.changing {
                    if outcome.is_ok() {
                        outcome = world.put(value, name, draw, writer.buffer());
                    }
                }
            });
        }
        outcome
    }

    /// Writes `session` into one of its messages.
    pub fn stamp(&self, part: Part, session: &Session, request: &mut [u8]) {
        let Wording::Command(wording) = &self.wording else { return };
        if let Some(message) = wording.message(part) {
            message.stamp(session, request);
        }
    }
}

impl CommandWording {
    fn new(plan: &Plan, step: &OwnStep, body: Body) -> Self {
        let terms = terms_of(plan, step);
        let again = Terms { write_concern: Some(&by_majority(terms.write_concern)), ..terms };
        let is_commit = step.transaction == Some(TransactionPlace::Commit);
        let collection = step.collection.as_deref().unwrap_or("$cmd.aggregate");
        let get_more = || Message::get_more(&step.database, collection, step.batch_size, &terms);
        Self {
            main: body.message(step, terms),
            again: is_commit.then(|| body.message(step, again)),
            abort: step.transaction.map(|_| Message::abort()),
            get_more: step.cursor.then(get_more),
            changing: body.changing,
        }
    }

    fn message(&self, part: Part) -> Option<&Message> {
        match part {
            Part::Main => Some(&self.main),
            Part::Again => self.again.as_ref(),
            Part::More => self.get_more.as_ref(),
            Part::Abort => self.abort.as_ref(),
        }
    }
}

fn opcounter(counter: StepCounter) -> Opcounter {
    match counter {
        StepCounter::Query => Opcounter::Query,
        StepCounter::Insert => Opcounter::Insert,
        StepCounter::Update => Opcounter::Update,
        StepCounter::Delete => Opcounter::Delete,
        StepCounter::Command => Opcounter::Command,
    }
}

/// What the command of a step says besides its body.
fn terms_of<'p>(plan: &'p Plan, step: &OwnStep) -> Terms<'p> {
    let (reads, writes) = terms(plan);
    let (reads_alone, writes_alone) = match step.transaction {
        Some(_) => (false, false),
        None => (step.access == StepAccess::Read, step.access == StepAccess::Write),
    };
    let begins = step.transaction == Some(TransactionPlace::Begin);
    let commits = step.transaction == Some(TransactionPlace::Commit);
    Terms {
        preference: reads.preference.filter(|_| reads_alone),
        read_concern: reads.read_concern.filter(|_| reads_alone || begins),
        write_concern: writes.write_concern.filter(|_| writes_alone || commits),
        session: match step.transaction {
            Some(TransactionPlace::Begin) => Membership::Begins,
            Some(_) => Membership::Continues,
            None if step.retryable => writes.session,
            None => reads.session,
        },
    }
}

/// The fields of a command: those that are always the same, and the others.
struct Body {
    /// The first of them, which names the command.
    head: Vec<u8>,
    fixed: Vec<u8>,
    changing: Vec<Element>,
    uses: Uses,
    has: [bool; 3],
}

impl Body {
    /// `place` names the step, so that its values draw random numbers of their own.
    fn new(world: &World, step: &OwnStep, place_name: &str, path: &str) -> Result<Self, PlanError> {
        let path = format!("{path}.body");
        let fields = fields(&step.body).ok_or_else(|| PlanError::new(&path, "must be a document"))?;
        let mut body = Self {
            head: Vec::new(),
            fixed: Vec::new(),
            changing: Vec::new(),
            uses: Uses::default(),
            has: [false; 3],
        };
        for (place, field) in fields.iter().enumerate() {
            let refused = |error| PlanError::inside(&path, &error);
            let expression = world
                .prepare(&format!("{place_name}.{}", field.name), &field.value)
                .map_err(|error| refused(error.within(&field.name)))?;
            let name = ElementName::new(&field.name);
            body.uses.add(expression.uses());
            for (has, known) in body.has.iter_mut().zip([READ_CONCERN, WRITE_CONCERN, READ_PREFERENCE]) {
                *has |= field.name == known;
            }
            match expression.constant() {
                Some(_) => {
                    let out = if place == 0 { &mut body.head } else { &mut body.fixed };
                    world.put_constant(&expression, &name, out);
                }
                None if place == 0 => {
                    return Err(PlanError::new(&path, "must begin with the command's name and a constant"));
                }
                None => body.changing.push((name, expression)),
            }
        }
        if body.head.is_empty() {
            return Err(PlanError::new(&path, "must not be empty"));
        }
        Ok(body)
    }

    fn message(&self, step: &OwnStep, terms: Terms<'_>) -> Message {
        let [has_read_concern, has_write_concern, has_preference] = self.has;
        let terms = Terms {
            preference: terms.preference.filter(|_| !has_preference),
            read_concern: terms.read_concern.filter(|_| !has_read_concern),
            write_concern: terms.write_concern.filter(|_| !has_write_concern),
            session: terms.session,
        };
        let head = |writer: &mut Writer<'_>| writer.buffer().extend_from_slice(&self.head);
        Message::new(&step.database, &terms, head, |builder| {
            builder.fixed(|writer| writer.buffer().extend_from_slice(&self.fixed));
            if !self.changing.is_empty() {
                builder.slot();
            }
        })
    }
}

/// The fields of a document, also of one that is the same in every operation.
fn fields(body: &ExpressionSpec) -> Option<Cow<'_, [ExpressionField]>> {
    match body {
        ExpressionSpec::Document { fields } => Some(Cow::Borrowed(fields)),
        ExpressionSpec::Bson { hex } if hex.first() == Some(&(ElementType::Document as u8)) => {
            let mut elements = Reader::new(&hex[1..]).ok()?;
            let mut fields = Vec::new();
            while let Some(element) = elements.next_raw().ok()? {
                let name = str::from_utf8(element.name).ok()?.to_owned();
                let hex = [&[element.type_byte()], element.bytes()].concat();
                fields.push(ExpressionField { name, value: ExpressionSpec::Bson { hex } });
            }
            Some(Cow::Owned(fields))
        }
        _ => None,
    }
}
