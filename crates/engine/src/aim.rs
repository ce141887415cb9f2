//! How early a wait has to aim so that it ends on time: timers wake a thread late, by some microseconds on bare metal and
//! by some tens of them on a virtual machine.

use crate::clock::Nanos;

/// Never aims earlier than this: what is later is no lateness of timers but a busy machine, and looking at the clock
/// meanwhile would only make it busier.
const EARLY_NS_MAX: Nanos = 50_000;
/// One wake-up in four is later than the aim, because the steps are as one to three (Robbins and Monro 1951).
const STEP_EARLIER_NS: Nanos = 300;
const STEP_LATER_NS: Nanos = 100;

/// Follows the lateness of wake-ups: aims earlier by what three of four of them don't exceed.
#[derive(Clone, Copy, Debug, Default)]
pub struct Aim {
    early_ns: Nanos,
}

impl Aim {
    /// How much before its end a wait is to wake up.
    pub fn early_ns(self) -> Nanos {
        self.early_ns
    }

    /// Learns from a wake-up that came so much later than asked for.
    pub fn learn(&mut self, late_ns: Nanos) {
        self.early_ns = if late_ns > self.early_ns {
            (self.early_ns + STEP_EARLIER_NS).min(EARLY_NS_MAX)
        } else {
            self.early_ns.saturating_sub(STEP_LATER_NS)
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_aim_finds_the_third_quartile_of_lateness() {
        let mut aim = Aim::default();
        for wakeup in 0..100_000_u64 {
            // Every lateness from 10 to 30 µs equally often: a stride that is prime to the number of values.
            aim.learn(10_000 + wakeup * 7_919 % 20_000);
        }
        assert!((24_000..=26_000).contains(&aim.early_ns()), "{} ns", aim.early_ns());
    }

    #[test]
    fn a_busy_machine_does_not_make_it_look_at_the_clock_for_long() {
        let mut aim = Aim::default();
        for _ in 0..10_000 {
            aim.learn(3_000_000);
        }
        assert_eq!(aim.early_ns(), EARLY_NS_MAX);
    }
}
