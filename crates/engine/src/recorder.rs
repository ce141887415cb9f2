//! What one worker records: counts and histograms per operation kind, cut into intervals. Each worker has its own, so
//! that nothing is shared while recording; the collector merges what is cut.

use hdrhistogram::Histogram;

use crate::breakdown::{Breakdown, Part};
use crate::clock::Nanos;
use crate::operation::OperationKind;

/// Longest time a histogram tells apart; longer ones count as this.
pub const TIME_NS_MAX: Nanos = 3_600_000_000_000;
/// Significant decimal digits of histograms.
pub const HISTOGRAM_DIGITS: u8 = 3;

/// Part of a run that an operation belongs to, by when it was due.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// Before the measured window.
    Warmup,
    /// The measured window.
    Measure,
    /// After it: nothing is due any more, operations in flight come to their end.
    Drain,
}

impl Phase {
    /// The phases in which operations are due.
    pub const OFFERING: [Self; 2] = [Self::Warmup, Self::Measure];

    /// The phase's name in records.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Warmup => "warmup",
            Self::Measure => "measure",
            Self::Drain => "drain",
        }
    }
}

/// How an operation ended, as far as counting goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// Done what it should.
    Ok,
    /// Answered without an error, but found no document.
    Miss,
    /// Failed; the error tally says how.
    Failed,
}

/// A finished operation. The recorder is the only place that subtracts instants.
#[derive(Clone, Copy, Debug)]
pub struct Finished {
    /// When it was due; `None` in a closed loop.
    pub due: Option<Nanos>,
    /// When its first byte was handed to the kernel.
    pub sent: Nanos,
    /// When its last reply was whole.
    pub done: Nanos,
    /// How it ended.
    pub ending: Ending,
    /// Documents returned or written.
    pub documents: u64,
    /// Bytes sent.
    pub bytes_out: u64,
    /// Bytes received.
    pub bytes_in: u64,
    /// The second step of an operation in two, once it was taken.
    pub second: Option<SecondStep>,
}

/// Where an operation in two steps went from the first to the second.
#[derive(Clone, Copy, Debug)]
pub struct SecondStep {
    /// When the reply to the first was whole.
    pub first_done: Nanos,
    /// When the second was sent.
    pub sent: Nanos,
}

/// Histogram of times in nanoseconds. It grows with the largest time seen, never with the number of operations.
pub type TimeHistogram = Histogram<u64>;

/// An empty histogram.
pub fn new_histogram() -> TimeHistogram {
    // The digits are within hdrhistogram's 0 to 5, its only condition.
    Histogram::new(HISTOGRAM_DIGITS).unwrap_or_else(|_| unreachable!("three digits are valid"))
}

/// Counts and times of one kind of operation in one phase and interval.
pub struct Tally {
    /// Operations sent in the interval.
    pub sent: u64,
    /// Operations that were due while every connection was busy.
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
    /// done − sent.
    pub service: TimeHistogram,
    /// done − due; stays empty in a closed loop.
    pub response: TimeHistogram,
    /// sent − due, of sent operations; stays empty in a closed loop.
    pub lag: TimeHistogram,
    /// What these times consist of, where there is more to say.
    pub breakdown: Breakdown,
}

impl Tally {
    fn new() -> Self {
        Self {
            sent: 0,
            held_back: 0,
            ok: 0,
            miss: 0,
            failed: 0,
            documents: 0,
            bytes_out: 0,
            bytes_in: 0,
            in_flight_ns: 0,
            service: new_histogram(),
            response: new_histogram(),
            lag: new_histogram(),
            breakdown: Breakdown::default(),
        }
    }

    /// Whether nothing was sent or finished.
    pub fn is_empty(&self) -> bool {
        self.sent == 0 && self.finished() == 0
    }

    /// How many operations finished, whatever way.
    pub fn finished(&self) -> u64 {
        self.ok + self.miss + self.failed
    }

    /// Adds what another worker recorded in the same interval.
    pub fn merge(&mut self, other: &Self) {
        self.sent += other.sent;
        self.held_back += other.held_back;
        self.ok += other.ok;
        self.miss += other.miss;
        self.failed += other.failed;
        self.documents += other.documents;
        self.bytes_out += other.bytes_out;
        self.bytes_in += other.bytes_in;
        self.in_flight_ns += other.in_flight_ns;
        for (mine, theirs) in [
            (&mut self.service, &other.service),
            (&mut self.response, &other.response),
            (&mut self.lag, &other.lag),
        ] {
            mine.add(theirs).unwrap_or_else(|_| unreachable!("a histogram that grows takes any value"));
        }
        self.breakdown.merge(&other.breakdown);
    }

    fn clear(&mut self) {
        let mut histograms = [&mut self.service, &mut self.response, &mut self.lag];
        histograms
            .iter_mut()
            .filter(|histogram| !histogram.is_empty())
            .for_each(|histogram| histogram.reset());
        self.breakdown.clear();
        self.sent = 0;
        self.held_back = 0;
        self.ok = 0;
        self.miss = 0;
        self.failed = 0;
        self.documents = 0;
        self.bytes_out = 0;
        self.bytes_in = 0;
        self.in_flight_ns = 0;
    }
}

/// The tallies of one interval: by phase and kind, made when first needed.
#[derive(Default)]
pub struct Tallies {
    tallies: [[Option<Box<Tally>>; OperationKind::COUNT]; Phase::OFFERING.len()],
}

impl Tallies {
    fn of(&mut self, phase: Phase, kind: OperationKind) -> &mut Tally {
        debug_assert!(phase != Phase::Drain, "no operation is due in the drain");
        self.tallies[phase as usize][kind as usize].get_or_insert_with(|| Box::new(Tally::new()))
    }

    /// The tallies that hold anything, with their phase and kind.
    pub fn non_empty(&self) -> impl Iterator<Item = (Phase, OperationKind, &Tally)> {
        Phase::OFFERING.into_iter().flat_map(move |phase| {
            OperationKind::ALL.into_iter().filter_map(move |kind| {
                let tally = self.tallies[phase as usize][kind as usize].as_deref()?;
                (!tally.is_empty()).then_some((phase, kind, tally))
            })
        })
    }

    /// Adds the tallies of another worker.
    pub fn merge(&mut self, other: &Self) {
        for (phase, kind, tally) in other.non_empty() {
            self.of(phase, kind).merge(tally);
        }
    }

    /// Empties all tallies and keeps their memory.
    pub fn clear(&mut self) {
        self.tallies.iter_mut().flatten().flatten().for_each(|tally| tally.clear());
    }
}

/// Records the operations of one worker.
#[derive(Default)]
pub struct Recorder {
    current: Tallies,
}

impl Recorder {
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
        tally.sent += 1;
        tally.held_back += u64::from(held_back);
        if let Some(due) = due {
            record(&mut tally.lag, sent.saturating_sub(due));
            if held_back {
                tally.breakdown.held_back(sent.saturating_sub(due));
            }
        }
    }

    /// Records that an operation finished.
    #[inline]
    pub fn finished(&mut self, phase: Phase, kind: OperationKind, finished: &Finished) {
        let tally = self.current.of(phase, kind);
        let service_ns = finished.done.saturating_sub(finished.sent);
        match finished.ending {
            Ending::Ok => tally.ok += 1,
            Ending::Miss => tally.miss += 1,
            Ending::Failed => tally.failed += 1,
        }
        tally.documents += finished.documents;
        tally.bytes_out += finished.bytes_out;
        tally.bytes_in += finished.bytes_in;
        tally.in_flight_ns += service_ns;
        record(&mut tally.service, service_ns);
        if let Some(due) = finished.due {
            record(&mut tally.response, finished.done.saturating_sub(due));
        }
        break_down(&mut tally.breakdown, kind, finished);
    }

    /// Hands out what was recorded since the last cut and goes on with `empty`.
    pub fn cut(&mut self, empty: Tallies) -> Tallies {
        std::mem::replace(&mut self.current, empty)
    }
}

fn break_down(breakdown: &mut Breakdown, kind: OperationKind, finished: &Finished) {
    let Finished { due, sent, done, ending, documents, .. } = *finished;
    if ending != Ending::Ok {
        breakdown.part(Part::Whole, ending, due, sent, done);
    }
    match (kind, finished.second) {
        (OperationKind::Scan, _) => breakdown.per_document(done.saturating_sub(sent), documents),
        (OperationKind::ReadModifyWrite, None) => breakdown.part(Part::Read, ending, due, sent, done),
        (OperationKind::ReadModifyWrite, Some(second)) => {
            breakdown.part(Part::Read, Ending::Ok, due, sent, second.first_done);
            breakdown.part(Part::Update, ending, due, second.sent, done);
        }
        _ => {}
    }
}

/// Adds a time to a histogram; what is longer than it tells apart counts as the longest.
pub fn record(histogram: &mut TimeHistogram, time_ns: Nanos) {
    histogram
        .record(time_ns.min(TIME_NS_MAX))
        .unwrap_or_else(|_| unreachable!("a histogram that grows takes any value"));
}
