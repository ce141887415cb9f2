//! The kinds of operations: one table of those that every plan knows, and whatever depends on a kind asks it.

use crate::breakdown::Part;
use crate::command::{Command, Place, Statements};

/// What there is to know of a kind.
#[derive(Debug)]
pub struct Kind {
    /// Its name in plans, records and reports.
    pub name: &'static str,
    /// Whether plans say how many of the operations it is.
    pub in_plans: InPlans,
    /// What it begins with; what it draws follows from that.
    pub first: First,
    /// What follows once the first, a find or an update, brought a document.
    pub second: Second,
    /// What the times of the first and of the second are called; `None`: they aren't recorded apart.
    pub parts: [Option<Part>; 2],
}

/// Whether plans say how many of the operations are of a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InPlans {
    /// Each says it.
    Always,
    /// Those say it that have any: the others are as they were before there was the kind.
    IfAny,
    /// No mix has it.
    Never,
}

/// What an operation begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum First {
    /// A read by key.
    Find,
    /// An update by key.
    Update,
    /// An insert of new records.
    Insert,
    /// A read of documents in the order of their keys.
    Scan,
    /// The first statement of a transaction.
    Statement,
    /// A step of an operation of the person's own.
    Step,
}

/// What an operation goes on with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Second {
    /// It doesn't.
    Nothing,
    /// A read of the same record.
    Find,
    /// An update of the same record.
    Update,
    /// The commit, after its statements.
    Commit,
}

/// Every kind that all plans know, by the number that it has in a log of operations.
pub const KINDS: &[Kind] = &[
    Kind { name: "read", ..Kind::of(First::Find) },
    Kind { name: "update", ..Kind::of(First::Update) },
    Kind { name: "insert", ..Kind::of(First::Insert) },
    Kind { name: "scan", ..Kind::of(First::Scan) },
    Kind {
        name: "read_modify_write",
        second: Second::Update,
        parts: [Some(Part::Read), Some(Part::Update)],
        ..Kind::of(First::Find)
    },
    Kind { name: "load", in_plans: InPlans::Never, ..Kind::of(First::Insert) },
    Kind {
        name: "transaction",
        in_plans: InPlans::IfAny,
        second: Second::Commit,
        parts: [None, Some(Part::Commit)],
        ..Kind::of(First::Statement)
    },
    // What the tests add: a row is all that it takes.
    #[cfg(test)]
    Kind {
        name: "update_read",
        in_plans: InPlans::IfAny,
        second: Second::Find,
        parts: [Some(Part::Update), Some(Part::Read)],
        ..Kind::of(First::Update)
    },
];

impl Kind {
    /// One command.
    const fn of(first: First) -> Self {
        Self { name: "", in_plans: InPlans::Always, first, second: Second::Nothing, parts: [None, None] }
    }
}

/// A kind of operations, which is recorded apart: one of [`KINDS`], or an operation of the person's own.
/// It carries what every operation is asked on its way: that costs a comparison, where the table would cost a look. Its size
/// makes a copy of it one move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(align(4))]
pub struct OperationKind {
    row: u8,
    first: First,
    second: Second,
}

impl OperationKind {
    /// How many kinds every plan knows.
    pub const COUNT: usize = KINDS.len();
    /// Inserts one batch of the records to be loaded.
    pub const LOAD: Self = Self::of_row(5);

    /// Those that every plan knows, in the order of their rows.
    pub fn all() -> impl Iterator<Item = Self> {
        (0..Self::COUNT).map(Self::of_row)
    }

    /// The kind of this name that every plan knows.
    pub fn named(name: &str) -> Option<Self> {
        Self::all().find(|kind| kind.known_name() == name)
    }

    /// What the plan says under `place` in its list of operations.
    pub const fn own(place: u8) -> Self {
        Self { row: Self::COUNT as u8 + place, first: First::Step, second: Second::Nothing }
    }

    /// The kind of a row.
    pub const fn of_row(row: usize) -> Self {
        if row >= Self::COUNT {
            return Self::own((row - Self::COUNT) as u8);
        }
        Self { row: row as u8, first: KINDS[row].first, second: KINDS[row].second }
    }

    /// Its place among the rows of counts: those that every plan knows, then the plan's own.
    #[inline]
    pub const fn row(self) -> usize {
        self.row as usize
    }

    /// The place of an operation of the person's own in the plan's list.
    #[inline]
    pub const fn place(self) -> Option<u8> {
        match self.first {
            First::Step => Some(self.row - Self::COUNT as u8),
            _ => None,
        }
    }

    /// Its name; none of an operation of the person's own.
    pub fn known_name(self) -> &'static str {
        KINDS.get(self.row()).map_or("", |kind| kind.name)
    }

    /// Its name in plans, records and reports; `own` are the names of the plan's own operations.
    pub fn name(self, own: &[String]) -> &str {
        match self.place() {
            Some(place) => own.get(usize::from(place)).map_or("", String::as_str),
            None => self.known_name(),
        }
    }

    /// What the times of its first command and of its second are called, where they are recorded apart.
    pub fn parts(self) -> [Option<Part>; 2] {
        KINDS.get(self.row()).map_or([None, None], |kind| kind.parts)
    }

    /// What such an operation begins with.
    #[inline]
    pub const fn begins(self) -> First {
        self.first
    }

    /// The command that such an operation begins with, before it is known how a plan inserts.
    #[inline]
    pub fn first(self, statements: Statements) -> Command {
        match self.first {
            First::Find => Command::Find,
            First::Update => Command::Update,
            First::Insert => Command::Insert,
            First::Scan => Command::Scan,
            First::Statement => Command::Statement(Place::first(statements)),
            First::Step => unreachable!("the plan knows the steps of an own operation"),
        }
    }

    /// What follows once its first command brought a document. Of a transaction: what ends it.
    #[inline]
    pub const fn second(self) -> Option<Command> {
        match self.second {
            Second::Nothing => None,
            Second::Find => Some(Command::Find),
            Second::Update => Some(Command::Update),
            Second::Commit => Some(Command::Commit),
        }
    }

    /// Whether each of them reads a document by its key.
    pub fn reads_by_key(self) -> bool {
        self.first == First::Find || self.second == Second::Find
    }

    /// Whether such a read is all that it is.
    pub fn only_reads_by_key(self) -> bool {
        self.first == First::Find && !self.has_second()
    }

    /// Whether it inserts new records.
    #[inline]
    pub fn inserts(self) -> bool {
        self.first == First::Insert
    }

    /// Whether it reads documents in the order of their keys.
    #[inline]
    pub fn scans(self) -> bool {
        self.first == First::Scan
    }

    /// Whether it is all or nothing.
    #[inline]
    pub fn is_transaction(self) -> bool {
        self.first == First::Statement
    }

    /// Whether it goes on with another command.
    #[inline]
    pub fn has_second(self) -> bool {
        self.second != Second::Nothing
    }

    /// Whether it may take several commands.
    #[inline]
    pub fn goes_on(self) -> bool {
        self.has_second() || self.scans()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde_json::json;

    use super::*;
    use crate::Run;
    use crate::operation::OWN_OPERATIONS_MAX;
    use crate::plan::Plan;
    use crate::preview::preview;

    #[test]
    fn each_kind_has_a_name_of_its_own() {
        for kind in OperationKind::all() {
            assert_eq!(OperationKind::named(kind.known_name()), Some(kind));
        }
        assert_eq!(OperationKind::LOAD.known_name(), "load");
        assert_eq!((OperationKind::named(""), OperationKind::named("reed")), (None, None));
    }

    #[test]
    fn what_is_the_users_own_comes_behind_the_table() {
        let names = ["first".to_owned(), "second".to_owned()];
        for place in 0..OWN_OPERATIONS_MAX as u8 {
            let kind = OperationKind::own(place);
            assert_eq!((kind.place(), kind.row()), (Some(place), OperationKind::COUNT + usize::from(place)));
            assert_eq!(OperationKind::of_row(kind.row()), kind);
            assert!(kind.known_name().is_empty() && !kind.goes_on());
        }
        assert_eq!(OperationKind::own(1).name(&names), "second");
        assert!(OperationKind::all().all(|kind| kind.place().is_none() && !kind.name(&names).is_empty()));
    }

    /// Of a kind that the tests add: each update is followed by a read of the same record.
    fn plan_of_updates_and_reads() -> Plan {
        let plan = json!({
            "version": 1,
            "name": "a new kind",
            "seed": 1,
            "target": {
                "kind": "simulated",
                "script": {"service": {"kind": "fixed", "ns": 1_000_000}},
                "generator_ns": 1_000,
            },
            "namespace": {"database": "ycsb", "collection": "usertable"},
            "data": {
                "record_count": 100,
                "insert_start": 0,
                "field_count": 2,
                "field_length": {"kind": "constant", "length": 10},
                "field_name_prefix": "field",
                "key_prefix": "user",
                "insert_order": "hashed",
                "zero_padding": 1,
            },
            "work": {
                "kind": "mix",
                "proportions": {
                    "read": 0.0, "update": 0.0, "insert": 0.0, "scan": 0.0, "read_modify_write": 0.0, "update_read": 1.0,
                },
                "keys": {"kind": "uniform"},
                "scan_length": {"kind": "constant", "length": 1},
                "read_all_fields": true,
                "write_all_fields": true,
            },
            "pacer": {"kind": "constant", "rate_ops_per_s": 100.0},
            "connections": 4,
            "threads": 1,
            "warmup_ns": 0,
            "duration_ns": null,
            "operation_count": 200,
            "interval_ns": 10_000_000_000_u64,
            "drain_timeout_ns": 1_000_000_000,
            "operation_timeout_ns": 1_000_000_000,
            "connect_timeout_ns": 1_000_000_000,
        });
        serde_json::from_value(plan).unwrap()
    }

    /// It is drawn, sent, counted and timed by what its row says.
    #[test]
    fn a_new_kind_is_a_row_of_the_table() {
        let plan = plan_of_updates_and_reads();
        assert_eq!(serde_json::to_value(&plan).unwrap()["work"]["proportions"]["update_read"], 1.0);
        for previewed in preview(&plan, 10).unwrap() {
            let commands: Vec<_> = previewed.messages.iter().map(|message| &message[26..32]).collect();
            assert_eq!(commands, [b"update", &b"find\0\x0a"[..]]);
        }
        let run = Run::start(plan).unwrap();
        let summary = run.join().unwrap();
        let kind = OperationKind::named("update_read").unwrap();
        let totals = summary.kinds[kind.row()];
        assert_eq!((totals.sent, totals.ok), (200, 200));
        let [query, _, update, ..] = summary.commands;
        assert_eq!((query, update), (200, 200));
        let (mut documents, mut took_ns) = (0, 0);
        let mut times = BTreeMap::new();
        // The last operation ends after the offer, in an interval of its own.
        for (_, recorded, tally) in run.take_intervals().iter().flat_map(|interval| &interval.tallies.kinds) {
            assert_eq!(*recorded, kind);
            documents += tally.counts.documents;
            for (name, part) in &tally.breakdown {
                *times.entry(name.clone()).or_insert(0) += part.unpack().len();
            }
            took_ns += tally.counts.in_flight_ns;
        }
        assert_eq!((documents, took_ns / 1_000_000 / 200), (400, 2), "two commands of a millisecond");
        let names = ["read_ok_response", "read_ok_service", "update_ok_response", "update_ok_service"];
        assert_eq!(times, names.map(|name| (name.to_owned(), 200)).into());
    }
}
