//! How long a closed loop may leave its sockets alone. Being woken by every reply costs a generator most of its CPU time, and
//! the server the waking, which is dear on virtual machines. A generator that looks now and then spares both; replies are timed by
//! when they arrived, so that none seems slower for it. But the next operation goes out later, which a server that has no other
//! work would show as lower throughput. So both ways are tried in turn, and rests are made only while more is answered with them.

use crate::clock::{NANOS_PER_S, Nanos};
use crate::target::ConnectionIndex;

/// Part of an operation's time that its connection may rest afterwards, so that most connections have a request under way.
const PART_OF_CYCLE: f64 = 4.0;
/// Longest rest. More would save little: the wake-ups are few by then.
const REST_NS_MAX: f64 = 350_000.0;
/// A rest shorter than this saves no wake-up; once rests are made, replies come faster, and half of it still pays.
const REST_NS_MIN: f64 = 50_000.0;
/// Operations over which the mean time from one to the next is taken, about.
const MEMORY_CYCLES: f64 = 256.0;

/// Follows how fast the connections go round, and says when to look for replies.
#[derive(Debug)]
pub struct Rhythm {
    /// When each connection last sent.
    sent_at: Vec<Nanos>,
    cycle_mean_ns: f64,
    trial: Trial,
}

impl Rhythm {
    /// The rhythm of `connections` connections that send as soon as they have their reply.
    pub fn new(connections: usize) -> Self {
        Self { sent_at: vec![Nanos::MAX; connections], cycle_mean_ns: 0.0, trial: Trial::default() }
    }

    /// A connection sends at `now`.
    #[inline]
    pub fn sent(&mut self, connection: ConnectionIndex, now: Nanos) {
        let before = std::mem::replace(&mut self.sent_at[connection], now);
        let cycle_ns = now.saturating_sub(before);
        if cycle_ns > 0 {
            self.cycle_mean_ns += (cycle_ns as f64 - self.cycle_mean_ns) / MEMORY_CYCLES;
            self.trial.cycle(before, cycle_ns);
        }
    }

    /// When to look next, after a look that ended at `now`; `None`: as soon as there is something to be seen.
    pub fn next_look(&mut self, now: Nanos) -> Option<Nanos> {
        let rest_ns = (self.cycle_mean_ns / PART_OF_CYCLE).min(REST_NS_MAX);
        let least_ns = if self.trial.way == Way::Rest { REST_NS_MIN / 2.0 } else { REST_NS_MIN };
        if rest_ns < least_ns {
            self.trial = Trial { start: now, ..Trial::default() };
        } else {
            self.trial.go_on(now, self.cycle_mean_ns as Nanos);
        }
        match self.trial.way {
            Way::Follow => None,
            Way::Rest => Some(now + rest_ns as Nanos),
        }
    }
}

/// What to do between looks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Way {
    /// Follow each reply at once.
    #[default]
    Follow,
    /// Leave the sockets alone for a while.
    Rest,
}

/// An epoch, in which one way is gone, is so long at least, and so many mean cycles.
const EPOCH_NS: Nanos = NANOS_PER_S / 50;
const EPOCH_CYCLES: Nanos = 24;
/// It ends after so long in any case.
const EPOCH_NS_MAX: Nanos = NANOS_PER_S / 2;
/// An epoch with fewer whole cycles of connections is not compared.
const SAMPLE_MIN: u32 = 64;
/// Comparisons of neighbouring epochs before one way is preferred.
const PAIRS_FIRST: u32 = 6;
/// Comparisons that count, about: what was preferred long ago may be wrong now.
const PAIRS_REMEMBERED: u32 = 12;
/// Rests are made only for at least so much more throughput (logarithm of the ratio): what doesn't help is left alone.
const GAIN_MIN: f64 = 0.01;
/// Epochs of the preferred way between two of the other, where both are much the same.
const EPOCHS_BETWEEN_MIN: u32 = 40;
/// Where they are not, so many more that trying the worse way costs no more than this part of the throughput.
const TRYING_COST_MAX: f64 = 0.002;

/// Compares both ways by the mean cycle in neighbouring epochs. Throughput is connections ÷ mean cycle, and the cycles of an epoch
/// vary less than a count of replies, which come in bursts.
#[derive(Debug, Default)]
struct Trial {
    way: Way,
    start: Nanos,
    /// Of cycles that began in this epoch.
    cycles_ns: Nanos,
    cycles: u32,
    /// Way and mean cycle of the epoch before, when it had enough of them.
    before: Option<(Way, f64)>,
    /// Mean logarithm of the throughput with rests ÷ the throughput without.
    gain: f64,
    pairs: u32,
    epochs_of_way: u32,
}

impl Trial {
    #[inline]
    fn cycle(&mut self, began: Nanos, length_ns: Nanos) {
        if began >= self.start {
            self.cycles_ns += length_ns;
            self.cycles += 1;
        }
    }

    fn go_on(&mut self, now: Nanos, cycle_mean_ns: Nanos) {
        let length_ns = (EPOCH_CYCLES * cycle_mean_ns).clamp(EPOCH_NS, EPOCH_NS_MAX);
        if now.saturating_sub(self.start) < length_ns {
            return;
        }
        self.compare();
        let next = self.next_way();
        self.epochs_of_way = if next == self.way { self.epochs_of_way + 1 } else { 0 };
        (self.way, self.start, self.cycles_ns, self.cycles) = (next, now, 0, 0);
    }

    fn compare(&mut self) {
        let mean_ns = (self.cycles >= SAMPLE_MIN).then(|| self.cycles_ns as f64 / f64::from(self.cycles));
        let before = self.before.take();
        self.before = mean_ns.map(|mean_ns| (self.way, mean_ns));
        let (Some((way, earlier_ns)), Some(mean_ns)) = (before, mean_ns) else { return };
        if way == self.way {
            return;
        }
        let gain = if self.way == Way::Rest { earlier_ns / mean_ns } else { mean_ns / earlier_ns }.ln();
        self.pairs += 1;
        self.gain += (gain - self.gain) / f64::from(self.pairs.min(PAIRS_REMEMBERED));
    }

    fn next_way(&self) -> Way {
        let other = if self.way == Way::Rest { Way::Follow } else { Way::Rest };
        if self.pairs < PAIRS_FIRST {
            return other;
        }
        let preferred = if self.gain >= GAIN_MIN { Way::Rest } else { Way::Follow };
        if self.way == preferred && self.epochs_of_way >= self.epochs_between() { other } else { preferred }
    }

    fn epochs_between(&self) -> u32 {
        EPOCHS_BETWEEN_MIN.max((self.gain.abs() / TRYING_COST_MAX) as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A server that answers one request after the other, `gap_ns` apart while each reply is followed at once and `rest_gap_ns` when
    /// not, none in less than `least_ns`. Returns the share of ten seconds spent resting and the last rest.
    fn resting(connections: usize, gap_ns: f64, rest_gap_ns: f64, least_ns: f64) -> (f64, Nanos) {
        let mut rhythm = Rhythm::new(connections);
        let mut done = vec![0.0; connections];
        let (mut now, mut free_at, mut pause, mut rested, mut last) = (0, 0.0, 0, 0, 0);
        while now < 10 * NANOS_PER_S {
            let next = done.iter().copied().fold(f64::MAX, f64::min) as Nanos + 1;
            now = (now + pause).max(next);
            rested += pause;
            // Noise of 20 % from request to request, the same in every run.
            let noise = 0.8 + 0.4 * ((now / 1_000 * 7_919 % 1_000) as f64 / 1_000.0);
            for (connection, done) in done.iter_mut().enumerate().filter(|(_, done)| **done <= now as f64) {
                rhythm.sent(connection, now);
                free_at =
                    f64::max(free_at, now as f64) + noise * if pause > 0 { rest_gap_ns } else { gap_ns };
                *done = f64::max(free_at, now as f64 + least_ns * noise);
            }
            pause = rhythm.next_look(now).map_or(0, |look| look - now);
            last = if pause > 0 { pause } else { last };
        }
        (rested as f64 / now as f64, last)
    }

    #[test]
    fn rests_that_help_a_busy_server_are_made() {
        let (share, rest_ns) = resting(32, 64_000.0, 38_000.0, 0.0);
        assert!(share > 0.6, "{share}");
        let wanted = 32.0 * 38_000.0 / PART_OF_CYCLE;
        assert!((rest_ns as f64 / wanted - 1.0).abs() < 0.2, "{rest_ns} ns");
    }

    #[test]
    fn rests_that_leave_a_server_without_work_are_not() {
        for least_ns in [600_000.0, 2_000_000.0, 5_000_000.0] {
            let (share, _) = resting(16, 1_000.0, 1_000.0, least_ns);
            assert!(share < 0.06, "{share} with a service time of {least_ns} ns");
        }
    }

    #[test]
    fn few_connections_and_fast_servers_are_followed_at_once() {
        for (connections, gap_ns) in [(1, 48_000.0), (4, 25_000.0), (32, 5_000.0)] {
            let (_, rest_ns) = resting(connections, gap_ns, gap_ns, 0.0);
            assert_eq!(rest_ns, 0, "{connections} connections, {gap_ns} ns apart");
        }
    }

    #[test]
    fn the_worse_way_is_tried_the_seldomer_the_worse_it_is() {
        for (gain, epochs) in [(0.0, 40), (0.01, 40), (-0.07, 40), (0.3, 150), (-0.5, 250)] {
            let trial = Trial { gain, pairs: PAIRS_FIRST, ..Trial::default() };
            assert_eq!(trial.epochs_between(), epochs, "a gain of {gain}");
        }
    }

    #[test]
    fn what_pays_goes_on_although_replies_come_faster_for_it() {
        let (share, rest_ns) = resting(8, 64_000.0, 38_000.0, 0.0);
        let part_of_wanted = rest_ns as f64 / (8.0 * 38_000.0 / PART_OF_CYCLE);
        assert!(share > 0.3 && (0.412..1.151).contains(&part_of_wanted), "{share}, {rest_ns} ns");
    }

    #[test]
    fn rests_are_bounded_also_when_nothing_comes() {
        assert!(resting(1_000, 200_000.0, 190_000.0, 0.0).1 <= 350_000);
        let mut rhythm = Rhythm::new(1);
        for look in 1..10_000 {
            let now = look * 20_000_000;
            assert!(rhythm.next_look(now).is_none_or(|look| look <= now + 350_000));
        }
    }
}
