//! The operations of a plan, prepared: their steps, what they take, and what their values are made of.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

use brimline_datagen::expression::{
    CollectionData, ExpressionSpec, ObjectIdSpace, RunIdentity, TableSpec, Uses, World, WorldSpec,
};
use brimline_wire::session::Session;

use super::plan::{AtEnd, OwnOperation, OwnWork, RowOrder, RowScope, TablePlan};
use super::steps::Step;
use crate::clock::wall_now_ms;
use crate::plan::Plan;
use crate::plan::error::PlanError;

/// What a run is told from others by: when it began, in seconds since 1970, and random bytes. Its object ids begin with six of these.
pub type Identity = [u8; SECONDS_BYTES + RUN_BYTES];

const SECONDS_BYTES: usize = 4;
/// Random bytes that tell a run from others.
const RUN_BYTES: usize = 8;

/// The operations of a plan, prepared.
pub struct Own {
    world: World,
    steps: Vec<Step>,
    operations: Vec<Prepared>,
    pub(super) tables: Vec<Table>,
    pub(super) collections: Vec<Collection>,
    /// The collection whose newest record is asked for.
    pub(super) newest_of: Option<usize>,
    pub(super) saved_count: usize,
    run: RunIdentity,
}

/// One operation: where its steps are, and how far each counter moves with it.
struct Prepared {
    first: u16,
    uses: Vec<(usize, u64)>,
}

/// How the rows of a table are taken.
pub(super) struct Table {
    pub(super) row_count: u64,
    /// Whether no row follows another.
    is_random: bool,
    at_end: AtEnd,
    /// Whether each connection counts for itself.
    pub(super) by_worker: bool,
}

pub(super) struct Collection {
    pub(super) first_new_record: u64,
}

/// The rows that go with a plan, beside it: the content of each of its tables, in order.
pub type Tables = Vec<Arc<[u8]>>;

impl Own {
    /// The operations of `plan`; none of a plan without such. `told` is what the run is told from others by, where that is decided
    /// elsewhere.
    ///
    /// # Errors
    /// When a part of it can't be prepared, or the tables aren't those of the plan.
    pub fn new(plan: &Plan, tables: &Tables, told: Option<Identity>) -> Result<Option<Self>, PlanError> {
        let Some(work) = plan.own() else { return Ok(None) };
        if tables.len() != work.tables.len() {
            let message =
                format!("the plan has {} tables, and {} were given", work.tables.len(), tables.len());
            return Err(PlanError::new("work.tables", message));
        }
        let world = world(plan, work, tables)?;
        let run = identity(told).map_err(|error| PlanError::new("work", error.to_string()))?;
        let mut own = Self {
            world,
            steps: Vec::new(),
            operations: Vec::new(),
            tables: work.tables.iter().map(Table::new).collect(),
            collections: work
                .collections
                .iter()
                .map(|each| Collection { first_new_record: each.data.insert_start + each.data.record_count })
                .collect(),
            newest_of: None,
            saved_count: work.saved.len(),
            run,
        };
        for (place, table) in work.tables.iter().enumerate() {
            own.tables[place].validate(place, table)?;
        }
        for (number, operation) in work.operations.iter().enumerate() {
            own.add(plan, number, operation)?;
        }
        own.require_one_load_each(work)?;
        Ok(Some(own))
    }

    fn add(&mut self, plan: &Plan, number: usize, operation: &OwnOperation) -> Result<(), PlanError> {
        let first = self.steps.len() as u16;
        let mut uses: BTreeMap<usize, u64> = BTreeMap::new();
        for (place, step) in operation.steps.iter().enumerate() {
            let path = format!("work.operations.{number}.steps.{place}");
            let prepared = Step::new(plan, &self.world, number, (self.steps.len(), place), step, &path)?;
            self.note_uses(prepared.uses(), &mut uses, &path)?;
            self.steps.push(prepared);
        }
        self.operations.push(Prepared { first, uses: uses.into_iter().collect() });
        Ok(())
    }

    /// What is taken in turn is counted by each load for itself, so that only one may take it.
    fn require_one_load_each(&self, work: &OwnWork) -> Result<(), PlanError> {
        let mut loads: BTreeMap<usize, usize> = BTreeMap::new();
        for (place, operation) in self.operations.iter().enumerate() {
            let beside = work.loads.iter().position(|load| load.operations.contains(&(place as u32)));
            let load = beside.map_or(0, |beside| beside + 1);
            for &(counter, _) in &operation.uses {
                let is_random =
                    self.tables.get(counter).is_some_and(|table| table.is_random || table.by_worker);
                if !is_random && *loads.entry(counter).or_insert(load) != load {
                    let path = format!("work.operations.{place}");
                    let what =
                        "rows in turn, or new records, that an operation of another load takes as well";
                    return Err(PlanError::new(&path, format!("takes {what}")));
                }
            }
        }
        Ok(())
    }

    fn note_uses(
        &mut self,
        uses: &Uses,
        counters: &mut BTreeMap<usize, u64>,
        path: &str,
    ) -> Result<(), PlanError> {
        let tables = uses.tables.iter().map(|&table| table as usize);
        let collections = uses.new_records.iter().map(|&collection| self.tables.len() + collection as usize);
        for counter in tables.chain(collections) {
            let amount = counters.entry(counter).or_insert(0);
            *amount = (*amount).max(u64::from(uses.items.max(1)));
        }
        for &collection in &uses.newest {
            if self.newest_of.is_some_and(|other| other != collection as usize) {
                return Err(PlanError::new(
                    path,
                    "the newest record can be asked for of one collection only",
                ));
            }
            self.newest_of = Some(collection as usize);
        }
        Ok(())
    }

    /// A step by its number.
    #[inline]
    pub fn step(&self, number: u16) -> &Step {
        &self.steps[usize::from(number)]
    }

    /// How many operations there are.
    pub fn operation_count(&self) -> usize {
        self.operations.len()
    }

    /// All steps.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// The first step of an operation.
    #[inline]
    pub fn first_step(&self, operation: u8) -> &Step {
        self.step(self.operations[usize::from(operation)].first)
    }

    /// How many counters there are: of rows taken in turn, then of new records.
    pub fn counter_count(&self) -> usize {
        self.tables.len() + self.collections.len()
    }

    /// The counters that an operation moves, and how far.
    pub fn uses(&self, operation: u8) -> &[(usize, u64)] {
        &self.operations[usize::from(operation)].uses
    }

    /// The counter of the collection whose newest record is asked for.
    pub fn newest_counter(&self) -> Option<usize> {
        self.newest_of.map(|collection| self.tables.len() + collection)
    }

    /// Whether an operation does more than send one command that has one reply.
    pub fn awaits_replies(&self) -> bool {
        self.newest_of.is_some()
            || self.steps.len() > self.operations.len()
            || self.steps.iter().any(Step::has_cursor)
    }

    /// Whether some table ends.
    pub fn has_ends(&self) -> bool {
        self.tables.iter().any(|table| table.at_end != AtEnd::Again)
    }

    /// What follows when an operation would take a row behind the last one of a table.
    pub fn end_of_rows(&self, operation: u8, counters: &[u64]) -> Option<AtEnd> {
        self.uses(operation).iter().find_map(|&(counter, amount)| {
            let table = self.tables.get(counter)?;
            let is_behind = !table.is_random && counters[counter] + amount > table.row_count;
            (is_behind && table.at_end != AtEnd::Again).then_some(table.at_end)
        })
    }

    /// What values of this run are known by.
    pub fn run(&self) -> &RunIdentity {
        &self.run
    }

    /// What values are made of.
    pub fn world(&self) -> &World {
        &self.world
    }
}

impl Table {
    fn new(plan: &TablePlan) -> Self {
        let is_random = plan.order == RowOrder::Random;
        Self {
            row_count: plan.row_count,
            is_random,
            at_end: if is_random { AtEnd::Again } else { plan.at_end },
            by_worker: !is_random && plan.scope == RowScope::Worker,
        }
    }

    fn validate(&self, place: usize, plan: &TablePlan) -> Result<(), PlanError> {
        let path = format!("work.tables.{place}");
        if self.row_count == 0 {
            return Err(PlanError::new(&path, format!("`{}` has no row", plan.name)));
        }
        if self.by_worker && self.at_end != AtEnd::Again {
            return Err(PlanError::new(
                &path,
                "rows that each connection takes for itself begin again at their end",
            ));
        }
        Ok(())
    }
}

fn world(plan: &Plan, work: &OwnWork, tables: &Tables) -> Result<World, PlanError> {
    let collections: Vec<CollectionData<'_>> =
        work.collections.iter().map(|each| CollectionData { name: &each.name, data: &each.data }).collect();
    let specs: Vec<TableSpec<'_>> = work
        .tables
        .iter()
        .zip(tables)
        .map(|(table, content)| TableSpec {
            name: &table.name,
            columns: &table.columns,
            row_count: table.row_count,
            is_random: table.order == RowOrder::Random,
            content: Arc::clone(content),
        })
        .collect();
    let values: Vec<(&str, &ExpressionSpec)> =
        work.values.iter().map(|value| (value.name.as_str(), &value.value)).collect();
    let spec = WorldSpec {
        seed: plan.seed,
        collections: &collections,
        tables: &specs,
        values: &values,
        saved_count: work.saved.len() as u32,
        object_ids: ObjectIdSpace::of(
            work.loads.len() as u32 + 1,
            work.steps().map(|(_, step)| &step.body).chain(work.values.iter().map(|value| &value.value)),
        ),
    };
    World::new(&spec).map_err(|error| PlanError::inside("work", &error))
}

/// What this run is told from others by: as it was told, or made anew.
fn identity(told: Option<Identity>) -> io::Result<RunIdentity> {
    let mut random = [0; RUN_BYTES];
    let seconds = if let Some(told) = told {
        random.copy_from_slice(&told[SECONDS_BYTES..]);
        u32::from_be_bytes([told[0], told[1], told[2], told[3]])
    } else {
        random.copy_from_slice(&Session::start()?.id()[..RUN_BYTES]);
        (wall_now_ms() / 1_000) as u32
    };
    Ok(RunIdentity::new(seconds, random))
}
