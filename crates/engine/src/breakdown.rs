//! What the times of one kind of operation consist of: those of failures and misses apart from the rest, its two
//! commands where these have names, a scan's time per document, the parts of a request behind a link, and the
//! lag of operations that waited for a connection.
//! Each histogram is made when first needed: most runs need none.

use brimline_datagen::Verified;

use crate::clock::Nanos;
use crate::finished::Ending;
use crate::histogram::{IntervalHistogram, clear, merge, new_interval_histogram, record};
use crate::target::ReplyTimes;

/// The part of an operation that a time belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// All of it; kept for misses and failures only, as the rest follows by subtraction.
    Whole,
    /// A read before or after an update.
    Read,
    /// That update.
    Update,
    /// The commit of a transaction.
    Commit,
}

const PARTS: [(Part, &str); 4] =
    [(Part::Whole, ""), (Part::Read, "read_"), (Part::Update, "update_"), (Part::Commit, "commit_")];

impl Part {
    /// What tables call it; nothing of the whole.
    pub fn name(self) -> &'static str {
        PARTS[self as usize].1.trim_end_matches('_')
    }
}

const ENDINGS: [(Ending, &str); 3] = [(Ending::Ok, "ok"), (Ending::Miss, "miss"), (Ending::Failed, "failed")];
const CLOCKS: [&str; 2] = ["service", "response"];
const SERVICE: usize = 0;
const RESPONSE: usize = 1;

type Slot = Option<Box<IntervalHistogram>>;

const OTHERS: [&str; 10] = [
    "service_per_document",
    "held_back_lag",
    "verify_matching",
    "verify_different",
    "verify_absent",
    "connect",
    "redirect",
    "redirect_left",
    "first_byte",
    "transfer",
];
const PER_DOCUMENT: usize = 0;
const HELD_BACK: usize = 1;
/// Those of verifying, in the order of [`Verified::ALL`].
const VERIFY: usize = 2;
const CONNECT: usize = 5;
const REDIRECT: usize = 6;
const REDIRECT_LEFT: usize = 7;
const FIRST_BYTE: usize = 8;
const TRANSFER: usize = 9;

/// Histograms by part, ending and clock, of a scan's time per document, and of the lag of what waited for a connection.
#[derive(Default)]
pub struct Breakdown {
    times: [[[Slot; CLOCKS.len()]; ENDINGS.len()]; PARTS.len()],
    others: [Slot; OTHERS.len()],
}

impl Breakdown {
    /// Records a part that began at `sent` and ended at `done`; `due` is the operation's, `None` in a closed loop.
    pub fn part(&mut self, part: Part, ending: Ending, due: Option<Nanos>, sent: Nanos, done: Nanos) {
        let clocks = &mut self.times[part as usize][ending as usize];
        add(&mut clocks[SERVICE], done.saturating_sub(sent));
        if let Some(due) = due {
            add(&mut clocks[RESPONSE], done.saturating_sub(due));
        }
    }

    /// Records the time per document of a scan that returned `documents`; nothing without any.
    pub fn per_document(&mut self, service_ns: Nanos, documents: u64) {
        if let Some(share) = service_ns.checked_div(documents) {
            add(&mut self.others[PER_DOCUMENT], share);
        }
    }

    /// Records the lag of an operation that was due while every connection of the worker was busy.
    pub fn held_back(&mut self, lag_ns: Nanos) {
        add(&mut self.others[HELD_BACK], lag_ns);
    }

    /// Records how long it took to compare what a read brought.
    pub fn verified(&mut self, verified: Verified, took_ns: Nanos) {
        add(&mut self.others[VERIFY + verified as usize], took_ns);
    }

    /// Records the parts of a request behind a link that was sent at `sent` and whose reply was whole at `done`: the time that its sockets
    /// took to make where it waited for that, the time of each redirect that was followed (of several their mean, so often), the
    /// time from then to the first byte, from there to the last, and both together of a redirect that is left.
    pub fn request(&mut self, times: ReplyTimes, sent: Nanos, done: Nanos) {
        let mut before_ns = times.connect_ns.unwrap_or(0);
        if let Some(connect_ns) = times.connect_ns {
            add(&mut self.others[CONNECT], connect_ns);
        }
        if let Some(redirects) = times.redirects {
            let redirects_ns = redirects.done.saturating_sub(sent + redirects.connect_ns);
            for _ in 0..redirects.count {
                add(&mut self.others[REDIRECT], redirects_ns / u64::from(redirects.count));
            }
            before_ns += redirects_ns;
        }
        let first_byte = times.first_byte.clamp(sent, done.max(sent));
        add(&mut self.others[FIRST_BYTE], (first_byte - sent).saturating_sub(before_ns));
        add(&mut self.others[TRANSFER], done.saturating_sub(first_byte));
        if times.leads_elsewhere {
            add(&mut self.others[REDIRECT_LEFT], done.saturating_sub(sent + before_ns));
        }
    }

    /// The histograms that hold anything, by name: `miss_service`, `read_ok_response`, `service_per_document`.
    pub fn non_empty(&self) -> impl Iterator<Item = (String, &IntervalHistogram)> {
        let names = PARTS.iter().flat_map(|(_, part)| {
            ENDINGS.iter().flat_map(move |(_, ending)| {
                CLOCKS.iter().map(move |clock| format!("{part}{ending}_{clock}"))
            })
        });
        names.chain(OTHERS.map(str::to_owned)).zip(self.slots()).filter_map(|(name, slot)| {
            Some((name, slot.as_deref().filter(|histogram| !histogram.is_empty())?))
        })
    }

    /// Adds what another worker recorded.
    pub fn merge(&mut self, other: &Self) {
        for (mine, theirs) in self.slots_mut().zip(other.slots()) {
            if let Some(theirs) = theirs {
                merge(mine.get_or_insert_with(|| Box::new(new_interval_histogram())), theirs);
            }
        }
    }

    /// Empties all histograms and keeps their memory.
    pub fn clear(&mut self) {
        self.slots_mut().flatten().for_each(|histogram| clear(histogram));
    }

    fn slots(&self) -> impl Iterator<Item = &Slot> {
        self.times.iter().flatten().flatten().chain(&self.others)
    }

    fn slots_mut(&mut self) -> impl Iterator<Item = &mut Slot> {
        self.times.iter_mut().flatten().flatten().chain(&mut self.others)
    }
}

fn add(slot: &mut Slot, time_ns: Nanos) {
    record(slot.get_or_insert_with(|| Box::new(new_interval_histogram())), time_ns);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::Redirects;

    fn held(breakdown: &Breakdown) -> Vec<(String, u64, u64)> {
        breakdown.non_empty().map(|(name, times)| (name, times.len(), times.max())).collect()
    }

    #[test]
    fn indices_are_those_of_the_names() {
        for (index, (part, _)) in PARTS.into_iter().enumerate() {
            assert_eq!(part as usize, index);
        }
        for (index, (ending, _)) in ENDINGS.into_iter().enumerate() {
            assert_eq!(ending as usize, index);
        }
    }

    #[test]
    fn verifying_has_its_own_names() {
        for (index, verified) in Verified::ALL.into_iter().enumerate() {
            assert_eq!(OTHERS[VERIFY + index], format!("verify_{}", verified.name()));
            assert_eq!(verified as usize, index);
        }
    }

    #[test]
    fn each_time_is_found_under_its_name() {
        let mut breakdown = Breakdown::default();
        assert!(held(&breakdown).is_empty());
        breakdown.part(Part::Whole, Ending::Miss, Some(100), 300, 1300);
        breakdown.part(Part::Update, Ending::Failed, None, 10, 30);
        breakdown.per_document(900, 0);
        breakdown.per_document(900, 9);
        breakdown.held_back(70);
        let expected = [
            ("miss_service", 1000),
            ("miss_response", 1200),
            ("update_failed_service", 20),
            ("service_per_document", 100),
            ("held_back_lag", 70),
        ];
        assert_eq!(held(&breakdown), expected.map(|(name, max)| (name.to_owned(), 1, max)));
    }

    /// Two redirects by 700, 100 of which went into sockets; the last request waited for another one for 50.
    #[test]
    fn the_parts_of_a_request_add_up() {
        let mut breakdown = Breakdown::default();
        let redirects = Some(Redirects { count: 2, done: 1700, connect_ns: 100 });
        let times = ReplyTimes { connect_ns: Some(150), redirects, leads_elsewhere: true, first_byte: 1950 };
        breakdown.request(times, 1000, 2000);
        let expected = [
            ("connect", 1, 150),
            ("redirect", 2, 300),
            ("redirect_left", 1, 250),
            ("first_byte", 1, 200),
            ("transfer", 1, 50),
        ];
        assert_eq!(held(&breakdown), expected.map(|(name, count, max)| (name.to_owned(), count, max)));
    }

    #[test]
    fn merging_adds_and_clearing_empties() {
        let mut one = Breakdown::default();
        let mut other = Breakdown::default();
        one.part(Part::Read, Ending::Ok, None, 0, 5);
        other.part(Part::Read, Ending::Ok, None, 0, 7);
        other.per_document(8, 2);
        one.merge(&other);
        assert_eq!(
            held(&one),
            [("read_ok_service".to_owned(), 2, 7), ("service_per_document".to_owned(), 1, 4)]
        );
        one.clear();
        assert!(held(&one).is_empty());
    }
}
