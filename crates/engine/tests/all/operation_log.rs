//! The log of operations against what the same run counted: one row for each that finished, with the times the histograms
//! hold.

use std::fs::{File, OpenOptions};
use std::path::{Path, PathBuf};
use std::time::Duration;

use brimline_datagen::ChooserSpec;
use brimline_engine::finished::{Ending, Phase};
use brimline_engine::kinds::OperationKind;
use brimline_engine::operation_log::{Counts, ROW_BYTES, Reader, Row, TimePart, Times, Wanted, count};
use brimline_engine::plan::Plan;
use brimline_engine::{Run, RunError, Stage, Summary, Surroundings};
use brimline_testserver::{Script, ServiceTime};

use crate::common::{MS, Outcome, S, Shares, constant, kind, merge, mix, plan, simulated};

const EVERYTHING: Shares<'static> =
    &[("read", 0.3), ("update", 0.2), ("insert", 0.1), ("scan", 0.1), ("read_modify_write", 0.2)];

struct Logged {
    path: PathBuf,
    outcome: Outcome,
}

impl Drop for Logged {
    fn drop(&mut self) {
        drop(std::fs::remove_file(&self.path));
    }
}

fn run(name: &str, plan: Plan) -> Logged {
    let path = std::env::temp_dir().join(format!("brimline-{}-{name}.log", std::process::id()));
    drop(File::create(&path).expect("a place for temporary files"));
    let plan = Plan { operation_log: true, ..plan };
    let surroundings = Surroundings { log_path: Some(path.clone()), ..Surroundings::default() };
    let run = Run::start_with(plan, surroundings).expect("a sound plan");
    let mut intervals = Vec::new();
    loop {
        let stage = run.poll(Duration::from_secs(1)).stage;
        intervals.extend(run.take_intervals());
        if stage == Stage::Finished {
            break;
        }
    }
    let summary = run.join().expect("the target is there");
    Logged { path, outcome: merge(summary, intervals) }
}

fn mixed() -> Plan {
    Plan {
        target: simulated(Script { service: ServiceTime::Fixed { ns: MS }, ..Script::default() }),
        work: mix(EVERYTHING, ChooserSpec::Uniform {}),
        pacer: constant(2_000.0),
        warmup_ns: S / 2,
        ..plan()
    }
}

fn counted(summary: &Summary) -> Counts {
    let mut counts = Counts::default();
    for (counted, totals) in counts.iter_mut().zip(&summary.kinds) {
        *counted = [totals.ok, totals.miss, totals.failed];
    }
    counts
}

fn rows(path: &Path) -> Vec<Row> {
    Reader::open(path).expect("a log").collect::<Result<_, _>>().expect("whole rows")
}

fn times(path: &Path, part: TimePart, kind: OperationKind, from_due: bool) -> Vec<(u64, u64)> {
    let wanted = vec![Wanted { kind, part, ending: Ending::Ok, from_due }];
    let times = Times::new(Reader::open(path).expect("a log"), wanted);
    times.map(|time| time.expect("a whole row")).map(|time| (time.end, time.length_ns)).collect()
}

#[test]
fn there_is_one_row_for_each_operation_that_finished() {
    let logged = run("mixed", mixed());
    let summary = &logged.outcome.summary;
    assert_eq!(count(&logged.path).unwrap(), counted(summary));
    let finished = counted(summary).iter().flatten().sum::<u64>();
    assert_eq!(finished, 3_000, "2 000 a second for one second and a half");
    let log = summary.operation_log.as_ref().unwrap();
    assert_eq!((log.written, log.lost, &log.error), (finished, 0, &None));
    let warmup = rows(&logged.path).iter().filter(|row| row.phase == Phase::Warmup).count();
    assert_eq!(warmup, 1_000);
}

#[test]
fn rows_hold_the_times_of_the_histograms() {
    let logged = run("times", mixed());
    let rows = rows(&logged.path);
    let sum = |of: fn(&Row) -> u64| rows.iter().map(of).sum::<u64>();
    let service = sum(|row| row.done - row.sent);
    let counted: u64 = logged
        .outcome
        .intervals
        .iter()
        .flat_map(|interval| &interval.tallies.kinds)
        .map(|(_, _, tally)| tally.counts.in_flight_ns)
        .sum();
    assert_eq!(service, counted);
    assert!(rows.iter().all(|row| row.due.is_some_and(|due| due <= row.sent)));
    let documents: u64 = sum(|row| u64::from(row.documents));
    let tallies = logged.outcome.intervals.iter().flat_map(|interval| &interval.tallies.kinds);
    assert_eq!(documents, tallies.map(|(_, _, tally)| tally.counts.documents).sum::<u64>());
    for row in &rows {
        assert_eq!(row.second.is_some(), row.kind == kind("read_modify_write"));
    }
}

#[test]
fn the_parts_of_a_read_modify_write_make_the_whole() {
    let logged = run("parts", mixed());
    let of = |part, from_due| {
        times(&logged.path, part, kind("read_modify_write"), from_due)
            .iter()
            .map(|(_, length)| length)
            .sum::<u64>()
    };
    let (whole, read, update) =
        (of(TimePart::Whole, false), of(TimePart::First, false), of(TimePart::Second, false));
    let between: u64 = rows(&logged.path)
        .iter()
        .filter_map(|row| row.second)
        .map(|second| second.sent - second.first_done)
        .sum();
    assert!(read > 0 && update > 0);
    assert_eq!(whole, read + update + between);
    assert_eq!(
        of(TimePart::Second, true),
        of(TimePart::Whole, true),
        "both begin when the operation was due"
    );
}

/// Two threads write their rows in turns; the second interval's come after all of the first's.
#[test]
fn times_come_in_the_order_of_their_ends() {
    let two =
        Plan { threads: 2, duration_ns: None, operation_count: Some(50_000), interval_ns: 50 * MS, ..plan() };
    let logged = run("order", two);
    let times = times(&logged.path, TimePart::Whole, kind("read"), false);
    assert_eq!(times.len(), 50_000);
    assert!(times.is_sorted_by_key(|(end, _)| *end));
    assert_eq!(count(&logged.path).unwrap(), counted(&logged.outcome.summary));
}

#[test]
fn a_file_that_ends_within_a_row_loses_only_that() {
    let logged = run("torn", mixed());
    let file = OpenOptions::new().write(true).open(&logged.path).unwrap();
    file.set_len((ROW_BYTES * 11 + 20) as u64).unwrap();
    assert_eq!(rows(&logged.path).len(), 10);
    file.set_len(20).unwrap();
    assert_eq!(rows(&logged.path).len(), 0);
}

#[test]
fn a_plan_that_wants_a_log_needs_a_file_for_it() {
    let wanted = Plan { operation_log: true, ..plan() };
    let Some(RunError::Plan(error)) = Run::start(wanted).err() else { panic!("there is no file") };
    assert_eq!(error.path, "operation_log");
}
