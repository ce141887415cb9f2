//! The part of a plan that holds operations of the person's own: collections, tables, values, operations of steps, and loads beside
//! the plan's own one.

use brimline_datagen::DocumentSpec;
use brimline_datagen::expression::ExpressionSpec;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::plan::pacer::{PacerPlan, ThinkTime};

/// Operations of the person's own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OwnWork {
    /// Collections whose documents follow from the seed.
    pub collections: Vec<CollectionPlan>,
    /// Rows that values are taken from; what they hold is given beside the plan.
    #[serde(default)]
    pub tables: Vec<TablePlan>,
    /// Named values; each refers to earlier ones only.
    #[serde(default)]
    pub values: Vec<NamedValue>,
    /// Names of what replies bring for later steps.
    #[serde(default)]
    pub saved: Vec<String>,
    /// The operations, each recorded under its name.
    pub operations: Vec<OwnOperation>,
    /// Loads beside the plan's own one.
    #[serde(default)]
    pub loads: Vec<OwnLoad>,
}

/// A collection whose documents follow from the seed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CollectionPlan {
    /// What the plan calls it.
    pub name: String,
    /// Its database.
    pub database: String,
    /// Its name there.
    pub collection: String,
    /// Keys and documents.
    pub data: DocumentSpec,
    /// Whether the server keeps it as a time series, of which it updates buckets where documents are inserted.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub time_series: bool,
}

/// Rows that values are taken from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TablePlan {
    /// What the plan calls it.
    pub name: String,
    /// Its columns, in the order of each row.
    pub columns: Vec<String>,
    /// How many rows it has.
    pub row_count: u64,
    /// Of its content.
    pub sha256: String,
    /// Which row an operation takes.
    pub order: RowOrder,
    /// What follows the last row, where rows are taken in turn.
    pub at_end: AtEnd,
    /// Who takes rows in turn.
    pub scope: RowScope,
}

/// Which row an operation takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RowOrder {
    /// Any, each equally often.
    Random,
    /// One after the other.
    InTurn,
}

/// What follows the last row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AtEnd {
    /// The first.
    Again,
    /// The end of the run, as if it were planned.
    Stop,
    /// The end of the run, as an error.
    Error,
}

/// Who takes rows in turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RowScope {
    /// All operations together: each row is taken once before one is taken twice.
    Shared,
    /// Each connection for itself.
    Worker,
}

/// A value that steps name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NamedValue {
    /// Its name.
    pub name: String,
    /// How it is made.
    pub value: ExpressionSpec,
}

/// An operation: steps that are timed as a whole.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OwnOperation {
    /// What it is recorded under.
    pub name: String,
    /// Its share of the plan's load, relative to the others; 0 where it has a load of its own.
    pub weight: f64,
    /// What it does, in order.
    pub steps: Vec<OwnStep>,
}

/// One command of an operation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OwnStep {
    /// What it is recorded under, in its operation.
    pub name: String,
    /// The server's name of the command.
    pub command: String,
    /// Where it runs.
    pub database: String,
    /// The collection it is about; `None` of one that is about none.
    #[serde(default)]
    pub collection: Option<String>,
    /// Where it goes, which concern it carries, and how it may be sent again.
    pub access: StepAccess,
    /// The command: a document whose first field is the command's name with a constant. Of a step with a request: the list of what
    /// its slots hold.
    pub body: ExpressionSpec,
    /// The request of another protocol than MongoDB's, as that protocol's crate describes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<Value>,
    /// Documents of an insert, statements of an update or a delete; else 1.
    pub statements: u32,
    /// The counter of `serverStatus.opcounters` that it moves.
    pub counter: StepCounter,
    /// Whether a write may be sent once more under the number that it had: it changes one document, or inserts.
    #[serde(default)]
    pub retryable: bool,
    /// Documents in each further reply of its cursor.
    #[serde(default)]
    pub batch_size: Option<u32>,
    /// Whether its reply has a cursor, which is followed to its end.
    #[serde(default)]
    pub cursor: bool,
    /// Its place in a transaction.
    #[serde(default)]
    pub transaction: Option<TransactionPlace>,
    /// Pause before it.
    #[serde(default)]
    pub think_time: Option<ThinkTime>,
    /// What its reply must say.
    #[serde(default)]
    pub expect: Vec<Expectation>,
    /// What of its reply later steps use.
    #[serde(default)]
    pub save: Vec<Save>,
}

/// What a step does to data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StepAccess {
    /// Reads.
    Read,
    /// Writes.
    Write,
    /// Anything; neither concern nor read preference is added.
    Command,
}

/// The counter of `serverStatus.opcounters` that a step moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names are MongoDB's")]
pub enum StepCounter {
    Query,
    Insert,
    Update,
    Delete,
    Command,
}

/// The place of a step in a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TransactionPlace {
    /// Begins it.
    Begin,
    /// Goes on with it.
    Inside,
    /// Commits it.
    Commit,
}

/// What a reply must say, else the operation has failed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expectation {
    /// What is looked at.
    pub what: Expected,
    /// Path of a field, from the top of the reply.
    #[serde(default)]
    pub path: Vec<String>,
    /// It is no less.
    #[serde(default)]
    pub min: Option<f64>,
    /// It is no more.
    #[serde(default)]
    pub max: Option<f64>,
    /// It is exactly this: type byte and value of a BSON element, in hex.
    #[serde(default)]
    pub equals: Option<String>,
    /// It is what this value of the operation is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<ExpressionSpec>,
    /// It is a text in which this regular expression is found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub matches: Option<String>,
    /// It is a text that contains this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contains: Option<String>,
}

/// What an expectation looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Expected {
    /// Documents that all replies of the step returned.
    Documents,
    /// Documents matched, inserted, deleted or counted: the reply's `n`.
    N,
    /// Documents changed: the reply's `nModified`.
    Modified,
    /// A field of the reply.
    Field,
}

/// What of a reply later steps use.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Save {
    /// Which of the plan's saved values.
    pub slot: u32,
    /// Where it is.
    pub path: Vec<String>,
    /// From what.
    pub from: SavedFrom,
    /// What it is where the reply lacks it, in hex as [`Expectation::equals`]; `None`: the operation has failed.
    #[serde(default)]
    pub default: Option<String>,
    /// Of a text that is there: what the first group of this regular expression takes of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pattern: Option<String>,
}

/// What a saved value is taken from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SavedFrom {
    /// The first document of the reply.
    Document,
    /// The reply itself.
    Reply,
}

/// A load beside the plan's own one, on the same clock, with connections of its own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OwnLoad {
    /// Places of its operations.
    pub operations: Vec<u32>,
    /// When they are due.
    pub pacer: PacerPlan,
    /// Its connections.
    pub connections: u32,
}

impl OwnStep {
    /// How many slots its request has.
    pub fn slot_count(&self) -> usize {
        match &self.body {
            ExpressionSpec::List { items } => items.len(),
            _ => 0,
        }
    }
}

impl OwnWork {
    /// The names of its operations.
    pub fn names(&self) -> Vec<String> {
        self.operations.iter().map(|operation| operation.name.clone()).collect()
    }

    /// All steps with their operations, in order; the place of a step in this list is its number.
    pub fn steps(&self) -> impl Iterator<Item = (&OwnOperation, &OwnStep)> {
        self.operations.iter().flat_map(|operation| operation.steps.iter().map(move |step| (operation, step)))
    }

    /// Whether any of its operations has a transaction.
    pub fn has_transactions(&self) -> bool {
        self.steps().any(|(_, step)| step.transaction.is_some())
    }

    /// Whether the plan's own load has operations, or all of them have loads of their own.
    pub fn has_main_load(&self) -> bool {
        self.operations.iter().any(|operation| operation.weight > 0.0)
    }
}
