//! What one worker records: counts and histograms per operation kind, cut into intervals. Each worker has its own, so
//! that nothing is shared while recording; the collector merges what is cut.

use brimline_datagen::Verified;

use crate::breakdown::{Breakdown, Part};
use crate::clock::Nanos;
use crate::finished::{Ending, Finished, Phase};
use crate::histogram::{IntervalHistogram, clear, merge, new_interval_histogram, record};
use crate::kinds::OperationKind;
use crate::operation_log::{Logger, Row};
use crate::target::ReplyTimes;

/// Counts of one kind of operation in one phase and interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Operations sent in the interval.
    pub sent: u64,
    /// Operations that were due while every connection of the worker was busy.
    pub held_back: u64,
    /// Finished well.
    pub ok: u64,
    /// Finished without a document.
    pub miss: u64,
    /// Failed.
    pub failed: u64,
    /// Documents returned or written.
    pub documents: u64,
    /// Bytes sent by finished operations.
    pub bytes_out: u64,
    /// Bytes received by finished operations.
    pub bytes_in: u64,
    /// Sum of done − sent over finished operations.
    pub in_flight_ns: u64,
}

impl Counts {
    /// Whether nothing was sent or finished.
    pub fn is_empty(&self) -> bool {
        self.sent == 0 && self.finished() == 0
    }

    /// How many operations finished, whatever way.
    pub fn finished(&self) -> u64 {
        self.ok + self.miss + self.failed
    }

    /// Adds what another worker counted in the same interval.
    fn merge(&mut self, other: &Self) {
        self.sent += other.sent;
        self.held_back += other.held_back;
        self.ok += other.ok;
        self.miss += other.miss;
        self.failed += other.failed;
        self.documents += other.documents;
        self.bytes_out += other.bytes_out;
        self.bytes_in += other.bytes_in;
        self.in_flight_ns += other.in_flight_ns;
    }
}

/// Counts and times of one kind of operation in one phase and interval.
pub struct Tally {
    /// How many, and how much.
    pub counts: Counts,
    /// done − sent.
    pub service: IntervalHistogram,
    /// done − due; stays empty in a closed loop.
    pub response: IntervalHistogram,
    /// sent − due, of sent operations; stays empty in a closed loop.
    pub lag: IntervalHistogram,
    /// What these times consist of, where there is more to say.
    pub breakdown: Breakdown,
}

impl Tally {
    fn new() -> Self {
        Self {
            counts: Counts::default(),
            service: new_interval_histogram(),
            response: new_interval_histogram(),
            lag: new_interval_histogram(),
            breakdown: Breakdown::default(),
        }
    }

    /// Adds what another worker recorded in the same interval.
    pub fn merge(&mut self, other: &Self) {
        self.counts.merge(&other.counts);
        merge(&mut self.service, &other.service);
        merge(&mut self.response, &other.response);
        merge(&mut self.lag, &other.lag);
        self.breakdown.merge(&other.breakdown);
    }

    fn clear(&mut self) {
        self.counts = Counts::default();
        for histogram in [&mut self.service, &mut self.response, &mut self.lag] {
            clear(histogram);
        }
        self.breakdown.clear();
    }
}

/// Tallies by row, made when first needed.
type Rows = Vec<Option<Box<Tally>>>;

/// The tallies of one interval, by phase: those of kinds by row, those of single steps by their place among all steps of the plan.
#[derive(Default)]
pub struct Tallies {
    kinds: [Rows; Phase::OFFERING.len()],
    steps: [Rows; Phase::OFFERING.len()],
}

/// Once per phase and kind: kept apart, so that finding one that is there is a few instructions.
#[cold]
#[inline(never)]
fn new_tally(rows: &mut Rows, row: usize) -> &mut Tally {
    if rows.len() <= row {
        rows.resize_with(row + 1, || None);
    }
    rows[row].get_or_insert_with(|| Box::new(Tally::new()))
}

#[inline]
fn tally(rows: &mut Rows, row: usize) -> &mut Tally {
    // Asked twice, because a reference that may be handed back can't be followed by a change.
    if matches!(rows.get(row), Some(Some(_))) {
        return rows[row].as_mut().unwrap_or_else(|| unreachable!("it is there"));
    }
    new_tally(rows, row)
}

fn non_empty(rows: &[Rows; Phase::OFFERING.len()]) -> impl Iterator<Item = (Phase, usize, &Tally)> {
    Phase::OFFERING.into_iter().flat_map(move |phase| {
        rows[phase as usize].iter().enumerate().filter_map(move |(row, tally)| {
            let tally = tally.as_deref()?;
            (!tally.counts.is_empty()).then_some((phase, row, tally))
        })
    })
}

impl Tallies {
    #[inline]
    fn of(&mut self, phase: Phase, kind: OperationKind) -> &mut Tally {
        debug_assert!(phase != Phase::Drain, "no operation is due in the drain");
        tally(&mut self.kinds[phase as usize], kind.row())
    }

    /// The tallies that hold anything, with their phase and kind.
    pub fn non_empty(&self) -> impl Iterator<Item = (Phase, OperationKind, &Tally)> {
        non_empty(&self.kinds).map(|(phase, row, tally)| (phase, OperationKind::of_row(row), tally))
    }

    /// Those of steps, with their phase and the place of the step among all steps of the plan.
    pub fn steps(&self) -> impl Iterator<Item = (Phase, usize, &Tally)> {
        non_empty(&self.steps)
    }

    /// Adds the tallies of another worker.
    pub fn merge(&mut self, other: &Self) {
        for (phase, kind, tally) in other.non_empty() {
            self.of(phase, kind).merge(tally);
        }
        for (phase, step, theirs) in other.steps() {
            tally(&mut self.steps[phase as usize], step).merge(theirs);
        }
    }

    /// Empties all tallies and keeps their memory.
    pub fn clear(&mut self) {
        let all = self.kinds.iter_mut().chain(&mut self.steps);
        all.flatten().flatten().for_each(|tally| tally.clear());
    }
}

/// Records the operations of one worker.
#[derive(Default)]
pub struct Recorder {
    current: Tallies,
    /// Of a plan that wants every operation logged.
    log: Option<Logger>,
}

impl Recorder {
    /// A recorder that logs every finished operation as well, where there is a logger.
    pub fn logging(log: Option<Logger>) -> Self {
        Self { log, ..Self::default() }
    }

    /// Records that an operation was sent. `due` is `None` in a closed loop.
    #[inline]
    pub fn sent(
        &mut self,
        phase: Phase,
        kind: OperationKind,
        due: Option<Nanos>,
        sent: Nanos,
        held_back: bool,
    ) {
        let tally = self.current.of(phase, kind);
        tally.counts.sent += 1;
        tally.counts.held_back += u64::from(held_back);
        if let Some(due) = due {
            record(&mut tally.lag, sent.saturating_sub(due));
            if held_back {
                tally.breakdown.held_back(sent.saturating_sub(due));
            }
        }
    }

    /// Records by how much an operation was late that [`sent`](Self::sent) was told nothing of.
    pub fn lagged(&mut self, phase: Phase, kind: OperationKind, lag_ns: Nanos) {
        record(&mut self.current.of(phase, kind).lag, lag_ns);
    }

    /// Records that an operation finished.
    #[inline]
    pub fn finished(&mut self, phase: Phase, kind: OperationKind, finished: &Finished) {
        let tally = self.current.of(phase, kind);
        let service_ns = count(&mut tally.counts, finished);
        record(&mut tally.service, service_ns);
        if let Some(due) = finished.due {
            record(&mut tally.response, finished.done.saturating_sub(due));
        }
        if finished.ending != Ending::Ok || kind.goes_on() {
            break_down(&mut tally.breakdown, kind, finished);
        }
        if let Some(log) = &mut self.log {
            write_row(log, phase, kind, finished);
        }
    }

    /// Records that a step of an operation of several finished: its times and its counts alone.
    pub fn step(&mut self, phase: Phase, step: usize, finished: &Finished) {
        let tally = tally(&mut self.current.steps[phase as usize], step);
        tally.counts.sent += 1;
        let service_ns = count(&mut tally.counts, finished);
        record(&mut tally.service, service_ns);
    }

    /// Records how long it took to compare what a read brought with what it must be.
    pub fn verified(&mut self, phase: Phase, kind: OperationKind, verified: Verified, took_ns: Nanos) {
        self.current.of(phase, kind).breakdown.verified(verified, took_ns);
    }

    /// Records the parts of a request behind a link.
    pub fn request(
        &mut self,
        phase: Phase,
        kind: OperationKind,
        times: ReplyTimes,
        sent: Nanos,
        done: Nanos,
    ) {
        self.current.of(phase, kind).breakdown.request(times, sent, done);
    }

    /// Hands out what was recorded since the last cut and goes on with `empty`.
    pub fn cut(&mut self, empty: Tallies) -> Tallies {
        if let Some(log) = &mut self.log {
            log.cut();
        }
        std::mem::replace(&mut self.current, empty)
    }

    /// Hands out the last rows of the log, and says how many found no room.
    pub fn finish_log(&mut self) -> u64 {
        self.log.take().map_or(0, Logger::finish)
    }
}

/// Counts what finished, and hands out its service time.
#[inline]
fn count(counts: &mut Counts, finished: &Finished) -> Nanos {
    let service_ns = finished.done.saturating_sub(finished.sent);
    match finished.ending {
        Ending::Ok => counts.ok += 1,
        Ending::Miss => counts.miss += 1,
        Ending::Failed => counts.failed += 1,
    }
    counts.documents += finished.documents;
    counts.bytes_out += finished.bytes_out;
    counts.bytes_in += finished.bytes_in;
    counts.in_flight_ns += service_ns;
    service_ns
}

/// Kept out of line: most runs have no log.
#[inline(never)]
fn write_row(log: &mut Logger, phase: Phase, kind: OperationKind, finished: &Finished) {
    log.add(&Row::new(phase, kind, finished));
}

/// Kept out of line: most operations have neither failed nor parts.
#[inline(never)]
fn break_down(breakdown: &mut Breakdown, kind: OperationKind, finished: &Finished) {
    let Finished { due, sent, done, ending, documents, .. } = *finished;
    if ending != Ending::Ok {
        breakdown.part(Part::Whole, ending, due, sent, done);
    }
    if kind.scans() {
        breakdown.per_document(done.saturating_sub(sent), documents);
    }
    let [first, last] = kind.parts();
    if let Some(part) = first {
        let (ending, done) = finished.second.map_or((ending, done), |second| (Ending::Ok, second.first_done));
        breakdown.part(part, ending, due, sent, done);
    }
    if let (Some(part), Some(second)) = (last, finished.second) {
        breakdown.part(part, ending, due, second.sent, done);
    }
}
