//! Closed loops: each connection is a user with one operation in flight, which sends its next one some time after the
//! reply. The offered load follows the target: a slow target is asked less.

use brimline_datagen::OpRng;

use super::open::exponential;
use crate::clock::Nanos;
use crate::plan::pacer::{ThinkLaw, ThinkTime};

/// Random stream of think times.
const STREAM_THINK: u64 = 0x7468_696e;

/// When the users of a closed loop begin, pause and leave.
#[derive(Clone, Copy, Debug)]
pub struct Closed {
    think: Option<ThinkTime>,
    seed: u64,
    start: Start,
    follows_replies: bool,
}

/// When users begin, and how much each does.
#[derive(Clone, Copy, Debug)]
enum Start {
    /// All at once; each goes on until the run ends.
    AllAtOnce,
    /// Evenly over the ramp-up, as in JMeter; each performs `loops` operations and leaves.
    Staggered { users: u64, loops: u64, ramp_up_ns: Nanos },
}

impl Closed {
    /// Users that pause for `think` after each reply.
    pub fn new(think: Option<ThinkTime>, seed: u64) -> Self {
        Self { think, seed, start: Start::AllAtOnce, follows_replies: false }
    }

    /// The same users, each of which gets its next operation as soon as its reply can be seen, if `follows_replies`.
    #[must_use]
    pub fn following_replies(self, follows_replies: bool) -> Self {
        Self { follows_replies, ..self }
    }

    /// T-L-R: `users` users start evenly over `ramp_up_ns`; each performs `loops` operations one after another.
    pub fn staggered(users: u64, loops: u64, ramp_up_ns: Nanos) -> Self {
        let start = Start::Staggered { users, loops, ramp_up_ns };
        Self { think: None, seed: 0, start, follows_replies: true }
    }

    /// When user `user` of the run sends its first operation: user *k* of *T* at *k* · R / *T*.
    pub fn begins_at(&self, user: u64) -> Nanos {
        match self.start {
            Start::AllAtOnce => 0,
            Start::Staggered { users, ramp_up_ns, .. } => {
                (u128::from(user) * u128::from(ramp_up_ns) / u128::from(users)) as Nanos
            }
        }
    }

    /// How many operations each user performs; `None`: as many as there are.
    pub fn loops(&self) -> Option<u64> {
        match self.start {
            Start::AllAtOnce => None,
            Start::Staggered { loops, .. } => Some(loops),
        }
    }

    /// Whether users pause after replies.
    pub fn thinks(&self) -> bool {
        self.think.is_some()
    }

    /// Whether replies may be left alone for a moment, so as to take several at once. Not where each thread stands for one
    /// that doesn't (T-L-R), or where the number of connections is what is sought.
    pub fn may_rest(&self) -> bool {
        !self.thinks() && !self.follows_replies
    }

    /// How long a user pauses after operation `index`.
    #[inline]
    pub fn think_ns(&self, index: u64) -> Nanos {
        match self.think {
            None => 0,
            Some(ThinkTime { mean_ns, law: ThinkLaw::Constant }) => mean_ns,
            Some(ThinkTime { mean_ns, law: ThinkLaw::Exponential }) => {
                (mean_ns as f64 * exponential(&mut OpRng::new(self.seed, STREAM_THINK, index))) as Nanos
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Mean and standard deviation are the same in an exponential distribution, and exp(−1) of it is above them: within four
    /// standard errors of 100 000 draws, 1.3 %, 3.6 % of the variance, and 0.0061.
    #[test]
    fn times_to_think_are_exponential() {
        let mean_ns = 45_000_000;
        let pacer = Closed::new(Some(ThinkTime { mean_ns, law: ThinkLaw::Exponential }), 7);
        let draws: Vec<f64> =
            (0..100_000).map(|index| pacer.think_ns(index) as f64 / mean_ns as f64).collect();
        let count = draws.len() as f64;
        let mean = draws.iter().sum::<f64>() / count;
        let variance = draws.iter().map(|draw| (draw - mean).powi(2)).sum::<f64>() / count;
        let above = draws.iter().filter(|&&draw| draw > 1.0).count() as f64 / count;
        assert!((mean - 1.0).abs() < 0.013 && (variance - 1.0).abs() < 0.036, "{mean} {variance}");
        assert!((above - (-1.0f64).exp()).abs() < 0.0061, "{above}");
    }
}
