//! Owns what became of every stretch, in the order of the input: which may be sent, how far everything is settled, and why
//! the import ends. Pure but for the file of rejected records.

use std::collections::VecDeque;
use std::io;

use crate::checkpoint::{Checkpoint, Firsts, Misfits, Place};
use crate::rejects::{Reject, RejectsFile};
use crate::{Counts, Ending};

/// What became of a stretch.
#[derive(Debug, Default)]
pub struct Outcome {
    /// Its records.
    pub counts: Counts,
    /// Those that did not come in.
    pub rejects: Vec<Reject>,
    /// Where those begin that are told of.
    pub firsts: Firsts,
    /// Cells of those that were sent that do not fit their column's type, by column.
    pub misfits: Misfits,
}

/// Adds `more` to `to`.
fn add_misfits(to: &mut Misfits, more: &Misfits) {
    for (column, count) in more {
        *to.entry(column.clone()).or_default() += count;
    }
}

/// The stretches that are under way, and the sum of those before.
pub struct Ledger {
    open: VecDeque<Entry>,
    /// Number of the first of them.
    first: u64,
    /// Every stretch before it is converted.
    converted_until: u64,
    /// No stretch beyond it may be sent.
    last_allowed: u64,
    settled: Checkpoint,
    /// Everything acknowledged, whether or not all before it is.
    acknowledged: Counts,
    /// Where what is told of it begins.
    firsts: Firsts,
    /// The cells in it that do not fit their column's type.
    misfits: Misfits,
    /// Of stretches that were broken off.
    leftovers: Vec<Reject>,
    rejects: RejectsFile,
    ending: Option<(u64, Ending)>,
    /// Documents wait to be sent.
    is_held: bool,
    /// There were documents to send.
    is_ready: bool,
}

struct Entry {
    end: Place,
    is_converted: bool,
    outcome: Option<Outcome>,
}

impl Ledger {
    /// Goes on after `settled`.
    pub fn new(settled: Checkpoint, rejects: RejectsFile) -> Self {
        Self {
            open: VecDeque::new(),
            first: 0,
            converted_until: 0,
            last_allowed: u64::MAX,
            acknowledged: settled.counts,
            firsts: settled.firsts,
            misfits: settled.misfits.clone(),
            settled,
            leftovers: Vec::new(),
            rejects,
            ending: None,
            is_held: false,
            is_ready: false,
        }
    }

    /// The next stretch ends at `end`; returns its number.
    pub fn register(&mut self, end: Place) -> u64 {
        self.open.push_back(Entry { end, is_converted: false, outcome: None });
        self.next_number() - 1
    }

    /// The number of the next stretch.
    pub fn next_number(&self) -> u64 {
        self.first + self.open.len() as u64
    }

    /// The stretch is converted.
    pub fn converted(&mut self, number: u64) {
        if let Some(entry) = self.entry(number) {
            entry.is_converted = true;
        }
        while self.entry(self.converted_until).is_some_and(|entry| entry.is_converted) {
            self.converted_until += 1;
        }
    }

    /// Whether the stretch may be sent: every one before it was converted and none of them ends the input. `None`: not known yet.
    pub fn may_be_sent(&self, number: u64) -> Option<bool> {
        if number > self.last_allowed {
            return Some(false);
        }
        (self.converted_until >= number).then_some(true)
    }

    /// From here on nothing is sent before [`Ledger::release`].
    pub fn hold(&mut self) {
        self.is_held = true;
    }

    /// What is ready is sent.
    pub fn release(&mut self) {
        self.is_held = false;
    }

    /// Whether documents would have to wait.
    pub fn is_held(&self) -> bool {
        self.is_held
    }

    /// There are documents to send. Returns whether that is new.
    pub fn note_documents(&mut self) -> bool {
        !std::mem::replace(&mut self.is_ready, true)
    }

    /// Whether there are documents to send.
    pub fn is_ready(&self) -> bool {
        self.is_ready
    }

    /// The stretch is settled.
    ///
    /// # Errors
    /// When the file of rejected records can't be written.
    pub fn settle(&mut self, number: u64, outcome: Outcome) -> io::Result<()> {
        self.acknowledge(&outcome);
        if let Some(entry) = self.entry(number) {
            entry.outcome = Some(outcome);
        }
        while let Some(Entry { end, outcome: outcome @ Some(_), .. }) = self.open.front_mut() {
            let (end, outcome) = (*end, outcome.take().unwrap_or_default());
            self.open.pop_front();
            self.first += 1;
            self.settled.counts += outcome.counts;
            self.settled.firsts += outcome.firsts;
            add_misfits(&mut self.settled.misfits, &outcome.misfits);
            self.settled.place = end;
            outcome.rejects.iter().try_for_each(|reject| self.rejects.append(reject))?;
            self.settled.rejected_bytes = self.rejects.length();
        }
        Ok(())
    }

    /// The stretch was broken off: `outcome` says what is known, and the stretch stays unsettled.
    pub fn break_off(&mut self, outcome: Outcome) {
        self.acknowledge(&outcome);
        self.leftovers.extend(outcome.rejects);
    }

    /// The import ends at the stretch numbered `number`. What ends it earlier in the input is the reason, whichever is seen first.
    pub fn end(&mut self, number: u64, ending: Ending) {
        self.last_allowed = self.last_allowed.min(number);
        if self.ending.as_ref().is_none_or(|(earlier, _)| number < *earlier) {
            self.ending = Some((number, ending));
        }
    }

    /// Why it ends, when something ends it before the last input does.
    pub fn ending(&self) -> Option<&Ending> {
        self.ending.as_ref().map(|(_, ending)| ending)
    }

    /// How far everything is settled. What was rejected so far is in the kernel's hands.
    ///
    /// # Errors
    /// When the file of rejected records can't be written.
    pub fn settled(&mut self) -> io::Result<Checkpoint> {
        self.rejects.flush()?;
        Ok(self.settled.clone())
    }

    /// Everything that was acknowledged.
    pub fn acknowledged(&self) -> Counts {
        self.acknowledged
    }

    /// Where what is told of begins, of everything that was acknowledged.
    pub fn firsts(&self) -> Firsts {
        self.firsts
    }

    /// Cells that do not fit their column's type, by column, of everything that was acknowledged.
    pub fn misfits(&self) -> &Misfits {
        &self.misfits
    }

    fn acknowledge(&mut self, outcome: &Outcome) {
        self.acknowledged += outcome.counts;
        add_misfits(&mut self.misfits, &outcome.misfits);
        self.firsts += outcome.firsts;
    }

    /// Writes what was rejected beyond the settled part, in the order of the input.
    ///
    /// # Errors
    /// When the file can't be written.
    pub fn write_leftovers(&mut self) -> io::Result<()> {
        let outcomes = self.open.iter_mut().filter_map(|entry| entry.outcome.take());
        let mut rejects: Vec<Reject> = outcomes.flat_map(|outcome| outcome.rejects).collect();
        rejects.append(&mut self.leftovers);
        rejects.sort_by_key(|reject| (reject.input, reject.offset));
        rejects.iter().try_for_each(|reject| self.rejects.append(reject))?;
        self.rejects.flush()
    }

    fn entry(&mut self, number: u64) -> Option<&mut Entry> {
        let index = number.checked_sub(self.first)?;
        self.open.get_mut(index as usize)
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    fn ledger(name: &str) -> (Ledger, PathBuf) {
        let path = std::env::temp_dir().join(format!("brimline-ledger-{}-{name}", std::process::id()));
        let _ = std::fs::remove_file(&path);
        let rejects = RejectsFile::open(&path, 0).expect("the file can be made");
        (Ledger::new(Checkpoint::at_the_start(), rejects), path)
    }

    fn place(offset: u64) -> Place {
        Place { input: 0, offset, line: offset }
    }

    fn outcome(inserted: u64, rejected_at: Option<u64>) -> Outcome {
        let rejected = u64::from(rejected_at.is_some());
        let counts = Counts { read: inserted + rejected, inserted, rejected, ..Counts::default() };
        let reject = |offset| Reject {
            input: 0,
            line: offset,
            offset,
            code: 0,
            reason: String::new(),
            text: b"x".to_vec(),
        };
        Outcome { counts, rejects: rejected_at.map(reject).into_iter().collect(), ..Outcome::default() }
    }

    #[test]
    fn what_is_settled_is_a_prefix_of_the_input_however_answers_come() {
        let (mut ledger, path) = ledger("prefix");
        let numbers = [10, 20, 30].map(|end| ledger.register(place(end)));
        assert_eq!(numbers, [0, 1, 2]);
        ledger.settle(2, outcome(3, Some(25))).expect("the file takes it");
        assert_eq!(ledger.settled().expect("flushed").place, Checkpoint::at_the_start().place);
        assert_eq!(ledger.acknowledged().inserted, 3);
        ledger.settle(0, outcome(1, Some(5))).expect("the file takes it");
        assert_eq!(ledger.settled().expect("flushed").place, place(10));
        ledger.settle(1, outcome(2, None)).expect("the file takes it");
        let settled = ledger.settled().expect("flushed");
        assert_eq!((settled.place, settled.counts.inserted, settled.counts.read), (place(30), 6, 8));
        let text = std::fs::read_to_string(&path).expect("the file is there");
        assert_eq!(settled.rejected_bytes, text.len() as u64);
        let first = text.find("\"offset\":5,").expect("the first");
        assert!(
            first < text.find("\"offset\":25,").expect("the second"),
            "not in the order of the input: {text}"
        );
        std::fs::remove_file(path).expect("it can be removed");
    }

    #[test]
    fn the_first_that_is_told_of_is_the_first_of_the_input_before_and_after_an_interruption() {
        let (mut ledger, path) = ledger("utf8");
        let _ = [10, 20, 30].map(|end| ledger.register(place(end)));
        let at_both = |at| Firsts { first_not_utf8: Some(place(at)), first_ragged: Some(place(at)) };
        let told = |checkpoint: &Checkpoint| {
            (checkpoint.counts.not_utf8, checkpoint.counts.ragged, checkpoint.firsts)
        };
        let damaged = |at| Outcome {
            counts: Counts { not_utf8: 2, ragged: 1, ..Counts::default() },
            firsts: at_both(at),
            ..Outcome::default()
        };
        ledger.settle(2, damaged(27)).expect("the file takes it");
        let settled = ledger.settled().expect("flushed");
        assert_eq!(told(&settled), (0, 0, Firsts::default()));
        assert_eq!(ledger.firsts(), at_both(27));
        ledger.settle(0, damaged(4)).expect("the file takes it");
        let settled = ledger.settled().expect("flushed");
        assert_eq!(told(&settled), (2, 1, at_both(4)));
        let mut goes_on = Ledger::new(settled, RejectsFile::open(&path, 0).expect("it is there"));
        goes_on.register(place(20));
        goes_on.settle(0, damaged(15)).expect("the file takes it");
        let settled = goes_on.settled().expect("flushed");
        assert_eq!(told(&settled), (4, 2, at_both(4)));
        let counts = goes_on.acknowledged();
        assert_eq!((counts.not_utf8, counts.ragged, goes_on.firsts()), (4, 2, at_both(4)));
        std::fs::remove_file(path).expect("it can be removed");
    }

    #[test]
    fn cells_that_do_not_fit_are_added_up_by_column_before_and_after_an_interruption() {
        let (mut ledger, path) = ledger("misfits");
        let _ = [10, 20].map(|end| ledger.register(place(end)));
        let misfitting = |counts: &[(&str, u64)]| Outcome {
            misfits: counts.iter().map(|&(column, count)| (column.to_owned(), count)).collect(),
            ..Outcome::default()
        };
        ledger.settle(1, misfitting(&[("price", 7)])).expect("the file takes it");
        assert_eq!(ledger.settled().expect("flushed").misfits, Misfits::new(), "the first is not settled");
        assert_eq!(ledger.misfits()["price"], 7);
        let mut goes_on = Ledger::new(
            {
                ledger.settle(0, misfitting(&[("price", 1), ("when", 2)])).expect("the file takes it");
                ledger.settled().expect("flushed")
            },
            RejectsFile::open(&path, 0).expect("it is there"),
        );
        goes_on.register(place(30));
        goes_on.settle(0, misfitting(&[("when", 3)])).expect("the file takes it");
        let sum = Misfits::from([("price".to_owned(), 8), ("when".to_owned(), 5)]);
        let settled = goes_on.settled().expect("flushed").misfits;
        assert_eq!((goes_on.misfits(), &settled), (&sum, &sum));
        std::fs::remove_file(path).expect("it can be removed");
    }

    #[test]
    fn a_stretch_is_sent_when_all_before_it_are_converted_and_none_of_them_ends_the_input() {
        let (mut ledger, path) = ledger("order");
        let _ = [10, 20, 30].map(|end| ledger.register(place(end)));
        ledger.converted(1);
        assert_eq!(ledger.may_be_sent(1), None, "the first is still being converted");
        ledger.end(1, Ending::Stopped);
        ledger.converted(2);
        assert_eq!(ledger.may_be_sent(2), Some(false));
        ledger.converted(0);
        assert_eq!((ledger.may_be_sent(0), ledger.may_be_sent(1)), (Some(true), Some(true)));
        std::fs::remove_file(path).expect("it can be removed");
    }

    #[test]
    fn documents_wait_until_the_import_is_let_go() {
        let (mut ledger, path) = ledger("held");
        ledger.hold();
        assert_eq!((ledger.is_held(), ledger.is_ready()), (true, false));
        assert!(ledger.note_documents(), "the first");
        assert!(!ledger.note_documents(), "they are known already");
        assert_eq!((ledger.is_held(), ledger.is_ready()), (true, true));
        ledger.release();
        assert!(!ledger.is_held());
        std::fs::remove_file(path).expect("it can be removed");
    }

    #[test]
    fn the_reason_is_what_comes_first_in_the_input_not_what_was_seen_first() {
        let (mut ledger, path) = ledger("reason");
        let lost = Ending::ServerLost { reason: "gone".to_owned() };
        ledger.end(7, lost.clone());
        ledger.end(9, Ending::Stopped);
        assert_eq!(ledger.ending(), Some(&lost));
        ledger.end(3, Ending::Stopped);
        assert_eq!(ledger.ending(), Some(&Ending::Stopped));
        std::fs::remove_file(path).expect("it can be removed");
    }
}
