//! The clock of work: how much work a server that stalls and slows down has done by a moment. Queueing on this clock and
//! converting at both ends makes a stall exact for the gate, the servers and the queue at once.

use std::collections::VecDeque;

use crate::script::Stall;

/// Converts between time and work, both in ns from the first request. Work runs like time, except in stalls.
#[derive(Clone, Debug)]
pub struct WorkClock {
    stalls: Vec<Stall>,
    /// Adjacent pieces of constant speed, never empty. They reach as far as has been asked for; the past is forgotten.
    pieces: VecDeque<Piece>,
}

/// From its start to the start of the next piece, work runs at one speed.
#[derive(Clone, Copy, Debug)]
struct Piece {
    start_ns: u64,
    start_work_ns: f64,
    /// Time that a unit of work takes; infinite in a stall without work.
    slowdown: f64,
}

impl Piece {
    fn work_at(&self, time_ns: u64) -> f64 {
        self.start_work_ns + (time_ns - self.start_ns) as f64 / self.slowdown
    }
}

impl WorkClock {
    /// A clock at time 0 and work 0.
    pub fn new(stalls: &[Stall]) -> Self {
        let first = Piece { start_ns: 0, start_work_ns: 0.0, slowdown: slowdown_at(stalls, 0) };
        Self { stalls: stalls.to_vec(), pieces: VecDeque::from([first]) }
    }

    /// Work done by `now_ns`. Times must not decrease from call to call; what is before them is forgotten.
    pub fn advance(&mut self, now_ns: u64) -> f64 {
        loop {
            match self.piece_after(0) {
                Some(next) if next.start_ns <= now_ns => self.pieces.pop_front(),
                _ => return self.pieces[0].work_at(now_ns),
            };
        }
    }

    /// When `work_ns` is done, not before `now_ns`, the latest time given to `advance`. What needs no work is done at
    /// once, but not while the server stands still.
    pub fn time_of(&mut self, work_ns: f64, now_ns: u64) -> u64 {
        if work_ns <= self.pieces[0].work_at(now_ns) {
            return self.working_from(now_ns);
        }
        let mut index = 0;
        while let Some(next) = self.piece_after(index)
            && next.start_work_ns < work_ns
        {
            index += 1;
        }
        let piece = self.pieces[index];
        let done_ns = piece.start_ns as f64 + (work_ns - piece.start_work_ns) * piece.slowdown;
        (done_ns.round() as u64).max(now_ns)
    }

    /// The first time, not before `now_ns`, at which the server does not stand still.
    fn working_from(&mut self, now_ns: u64) -> u64 {
        let mut index = 0;
        while self.pieces[index].slowdown.is_infinite() && self.piece_after(index).is_some() {
            index += 1;
        }
        self.pieces[index].start_ns.max(now_ns)
    }

    /// The piece after piece `index`, laid out if it is not there yet; `None` after the last stall.
    fn piece_after(&mut self, index: usize) -> Option<Piece> {
        if index + 1 == self.pieces.len() {
            let last = self.pieces[index];
            let start_ns = self.stalls.iter().filter_map(|stall| next_change(stall, last.start_ns)).min()?;
            self.pieces.push_back(Piece {
                start_ns,
                start_work_ns: last.work_at(start_ns),
                slowdown: slowdown_at(&self.stalls, start_ns),
            });
        }
        Some(self.pieces[index + 1])
    }
}

/// Where `time_ns` is in the stall's period, `None` before its first beginning.
fn phase_ns(stall: &Stall, time_ns: u64) -> Option<u64> {
    let since_first = time_ns.checked_sub(stall.at_ns)?;
    Some(stall.every_ns.map_or(since_first, |every_ns| since_first % every_ns))
}

fn slowdown_at(stalls: &[Stall], time_ns: u64) -> f64 {
    stalls
        .iter()
        .filter(|stall| phase_ns(stall, time_ns).is_some_and(|phase| phase < stall.length_ns))
        .map(|stall| stall.slowdown.unwrap_or(f64::INFINITY))
        .fold(1.0, f64::max)
}

/// When the stall next begins or ends, strictly after `time_ns`.
fn next_change(stall: &Stall, time_ns: u64) -> Option<u64> {
    let Some(phase) = phase_ns(stall, time_ns) else {
        return Some(stall.at_ns);
    };
    if phase < stall.length_ns {
        return Some(time_ns + (stall.length_ns - phase));
    }
    stall.every_ns.map(|every_ns| time_ns + (every_ns - phase))
}
