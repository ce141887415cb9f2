//! Open loops: operations are due at instants that don't depend on the target.

use brimline_datagen::OpRng;

use super::profile::Profile;
use crate::clock::Nanos;
use crate::plan::pacer::Arrivals;

/// Random stream of the gaps between Poisson arrivals.
const STREAM_ARRIVAL: u64 = 0x6172_7269;

/// A rate over time, and how arrivals are spread around it.
///
/// Operation *i* is due when the profile has offered its *position*: *i* where arrivals are even, the sum of *i* + 1 draws
/// from the unit exponential distribution where they are a Poisson process (time change, Çinlar 1975).
#[derive(Clone, Debug)]
pub struct Open {
    profile: Profile,
    arrivals: Arrivals,
    seed: u64,
}

impl Open {
    /// Arrivals along `profile`.
    pub fn new(profile: Profile, arrivals: Arrivals, seed: u64) -> Self {
        Self { profile, arrivals, seed }
    }

    /// The rate over time.
    pub fn profile(&self) -> &Profile {
        &self.profile
    }

    /// A walk along the due times, from the first operation.
    pub fn walk(&self) -> Walk<'_> {
        let mut walk = Walk { open: self, index: 0, position: 0.0, due: None };
        walk.position = walk.gap(0);
        walk.due = self.profile.instant_of(walk.position);
        walk
    }
}

/// Computes due times of ascending indices. The sum of a Poisson process' gaps has no short cut, so whoever asks for due
/// times keeps a walk of its own; the sums are the same on every shard, because each adds all gaps in the same order.
#[derive(Clone, Debug)]
pub struct Walk<'p> {
    open: &'p Open,
    index: u64,
    position: f64,
    due: Option<Nanos>,
}

impl Walk<'_> {
    /// When operation `index` is due; `None`: never. Indices must not descend.
    #[inline]
    pub fn due(&mut self, index: u64) -> Option<Nanos> {
        if index != self.index {
            self.go_to(index);
        }
        self.due
    }

    /// How many operations are due before `end`: the smallest index that is not. Ends must not descend.
    pub fn due_before(&mut self, end: Nanos) -> u64 {
        // Even arrivals are counted in one step, give or take one for rounding.
        if self.open.arrivals == Arrivals::Even {
            let estimate = self.open.profile.offered_before(end).floor() as u64;
            self.go_to(self.index.max(estimate.saturating_sub(1)));
        }
        while self.due.is_some_and(|due| due < end) {
            self.go_to(self.index + 1);
        }
        self.index
    }

    fn go_to(&mut self, index: u64) {
        debug_assert!(index >= self.index, "a walk goes forward");
        match self.open.arrivals {
            Arrivals::Even => self.position = index as f64,
            Arrivals::Poisson => {
                for next in self.index + 1..=index {
                    self.position += self.gap(next);
                }
            }
        }
        self.index = index;
        self.due = self.open.profile.instant_of(self.position);
    }

    /// What operation `index` adds to the position; an even first arrival is at 0.
    fn gap(&self, index: u64) -> f64 {
        match self.open.arrivals {
            Arrivals::Even => 0.0,
            Arrivals::Poisson => exponential(&mut OpRng::new(self.open.seed, STREAM_ARRIVAL, index)),
        }
    }
}

/// A draw from the exponential distribution of mean 1.
pub fn exponential(rng: &mut OpRng) -> f64 {
    -(1.0 - rng.next_f64()).ln()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::clock::NANOS_PER_S;
    use crate::plan::pacer::Stage;

    const HOUR: Nanos = 3600 * NANOS_PER_S;

    fn constant(rate: f64, arrivals: Arrivals) -> Open {
        Open::new(Profile::constant(rate), arrivals, 7)
    }

    fn due_times(open: &Open, count: u64) -> Vec<Nanos> {
        let mut walk = open.walk();
        (0..count).map_while(|index| walk.due(index)).collect()
    }

    /// How arrivals are spread, and stages of 10 ms to 2 s, some of them pauses: at up to 10⁹/s when even; at up to 5 000/s
    /// when Poisson, whose arrivals must all be drawn. One load in four is a constant rate.
    fn loads() -> impl Strategy<Value = (Arrivals, Vec<Stage>)> {
        let staged = |rate_max| prop_oneof![3 => stages(rate_max), 1 => level(rate_max)];
        prop_oneof![
            staged(5e3).prop_map(|stages| (Arrivals::Poisson, stages)),
            prop_oneof![staged(5e3), staged(1e9)].prop_map(|stages| (Arrivals::Even, stages)),
        ]
    }

    /// Rates of every size, from 0.5/s.
    fn sizes(rate_max: f64) -> impl Strategy<Value = f64> + Clone {
        (0.5f64.ln()..=rate_max.ln()).prop_map(move |size| size.exp().min(rate_max))
    }

    /// The one stage that a constant rate is; see [`profile`].
    fn level(rate_max: f64) -> impl Strategy<Value = Vec<Stage>> {
        sizes(rate_max).prop_map(|rate| {
            vec![Stage { from_ops_per_s: rate, to_ops_per_s: rate, duration_ns: NANOS_PER_S }]
        })
    }

    /// The profile of such stages; of a single level one, as the plan of a constant rate makes it.
    fn profile(stages: &[Stage]) -> Profile {
        match stages {
            [only] if only.from_ops_per_s.to_bits() == only.to_ops_per_s.to_bits() => {
                Profile::constant(only.from_ops_per_s)
            }
            _ => Profile::new(stages),
        }
    }

    fn stages(rate_max: f64) -> impl Strategy<Value = Vec<Stage>> {
        let rate = prop_oneof![1 => Just(0.0), 1 => Just(rate_max), 3 => sizes(rate_max)];
        let duration_ns = prop_oneof![Just(10_000_000u64), 10_000_000u64..2_000_000_000];
        let stage = (rate.clone(), rate, any::<bool>(), duration_ns);
        let stage = stage.prop_map(|(from, to, level, duration_ns)| Stage {
            from_ops_per_s: from,
            to_ops_per_s: if level { from } else { to },
            duration_ns,
        });
        prop::collection::vec(stage, 1..6)
    }

    /// What stages offer before `end`, and their rate then: trapezoids, that of the stage `end` is in cut off there, and what
    /// the last one ends with.
    fn area_and_rate(stages: &[Stage], end: Nanos) -> (f64, f64) {
        let (mut area, mut left_ns) = (0.0, end);
        let in_s = |ns: Nanos| ns as f64 / NANOS_PER_S as f64;
        for stage in stages {
            let Stage { from_ops_per_s: from, to_ops_per_s: to, duration_ns } = *stage;
            let inside_ns = left_ns.min(duration_ns);
            let rate = from + (to - from) * (inside_ns as f64 / duration_ns as f64);
            area += f64::midpoint(from, rate) * in_s(inside_ns);
            if left_ns < duration_ns {
                return (area, rate);
            }
            left_ns -= duration_ns;
        }
        let held = stages.last().map_or(0.0, |stage| stage.to_ops_per_s);
        (area + held * in_s(left_ns), held)
    }

    #[test]
    fn even_operations_are_evenly_spaced_from_zero() {
        let open = constant(1000.0, Arrivals::Even);
        let mut walk = open.walk();
        assert_eq!([walk.due(0), walk.due(1), walk.due(3_600_000)], [Some(0), Some(1_000_000), Some(HOUR)]);
    }

    #[test]
    fn an_end_on_a_due_time_excludes_it() {
        let open = constant(1000.0, Arrivals::Even);
        let mut walk = open.walk();
        assert_eq!(
            [walk.due_before(0), walk.due_before(1), walk.due_before(10 * NANOS_PER_S)],
            [0, 1, 10_000]
        );
    }

    /// From 0 to 100/s in 10 s: n operations have been offered after √(n / 5) s, 500 at the end; then 100/s are held.
    #[test]
    fn a_ramp_offers_the_area_below_it_and_then_holds() {
        let ramp = Stage { from_ops_per_s: 0.0, to_ops_per_s: 100.0, duration_ns: 10 * NANOS_PER_S };
        let open = Open::new(Profile::new(&[ramp]), Arrivals::Even, 1);
        let mut walk = open.walk();
        assert_eq!([walk.due(0), walk.due(5), walk.due(20)], [0, 1, 2].map(|s| Some(s * NANOS_PER_S)));
        assert_eq!(walk.due(500), Some(10 * NANOS_PER_S));
        assert_eq!(walk.due(600), Some(11 * NANOS_PER_S));
        assert!((open.profile().rate_ops_per_s(2_500_000_000) - 25.0).abs() < 1e-9);
    }

    #[test]
    fn nothing_is_due_in_a_pause_nor_after_the_rate_has_ended() {
        let level = |rate: f64| Stage { from_ops_per_s: rate, to_ops_per_s: rate, duration_ns: NANOS_PER_S };
        let open =
            Open::new(Profile::new(&[level(2.0), level(0.0), level(1.0), level(0.0)]), Arrivals::Even, 1);
        let s = NANOS_PER_S;
        assert_eq!(due_times(&open, 9), [0, s / 2, 2 * s]);
        assert_eq!(open.walk().due_before(HOUR), 3);
    }

    /// Counts in a second at 100/s have mean and variance 100, gaps the mean 10 ms and its square as variance.
    #[test]
    fn poisson_arrivals_have_the_counts_and_gaps_of_a_poisson_process() {
        let open = constant(100.0, Arrivals::Poisson);
        let due = due_times(&open, 200_000);
        let gaps: Vec<f64> = due.windows(2).map(|pair| (pair[1] - pair[0]) as f64 / 1e7).collect();
        let mut counts = vec![0.0; (due[due.len() - 1] / NANOS_PER_S) as usize];
        for at in &due {
            if let Some(count) = counts.get_mut((at / NANOS_PER_S) as usize) {
                *count += 1.0;
            }
        }
        let moments = |values: &[f64]| {
            let mean = values.iter().sum::<f64>() / values.len() as f64;
            let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
            (mean, squares / values.len() as f64)
        };
        let ((gap_mean, gap_variance), (count_mean, count_variance)) = (moments(&gaps), moments(&counts));
        // Four standard errors: 0.9 % and 2 % of the gaps, 0.9 % and 13 % of the counts.
        assert!(
            (gap_mean - 1.0).abs() < 0.01 && (gap_variance - 1.0).abs() < 0.03,
            "{gap_mean} {gap_variance}"
        );
        assert!((count_mean / 100.0 - 1.0).abs() < 0.01, "{count_mean}");
        assert!((count_variance / 100.0 - 1.0).abs() < 0.13, "{count_variance}");
    }

    proptest! {
        /// The last counted operation is due before the end, the next is not; and counting again counts the same.
        #[test]
        fn due_before_counts_exactly(
            (arrivals, stages) in loads(), ends in prop::collection::vec(0u64..9_000_000_000, 1..4),
        ) {
            let open = Open::new(profile(&stages), arrivals, 3);
            let mut ends = ends;
            ends.sort_unstable();
            let mut counting = open.walk();
            for end in ends {
                let count = counting.due_before(end);
                prop_assert_eq!(counting.due_before(end), count);
                let mut walk = open.walk();
                prop_assert!(count == 0 || walk.due(count - 1).is_some_and(|due| due < end));
                prop_assert!(walk.due(count).is_none_or(|due| due >= end));
            }
        }

        /// Due times never descend, and as many are due as the rate integrates to: within 1 when even, within six standard
        /// deviations when Poisson.
        #[test]
        fn the_rate_is_offered_at_any_time((arrivals, stages) in loads(), end in 0u64..12_000_000_000) {
            let open = Open::new(profile(&stages), arrivals, 11);
            let count = open.walk().due_before(end);
            let mut walk = open.walk();
            let first = if arrivals == Arrivals::Even { count.saturating_sub(1_000) } else { 0 };
            prop_assert!((first..count).map(|index| walk.due(index)).is_sorted());
            let (area, rate) = area_and_rate(&stages, end);
            // Floats carry positions and instants to a few parts in 2⁵³: four in 10⁵ of an operation after 12 s at 10⁹/s.
            let rate_max = stages.iter().map(|stage| stage.from_ops_per_s.max(stage.to_ops_per_s)).fold(0.0, f64::max);
            let rounding = 16.0 * f64::EPSILON * rate_max * (end as f64 / NANOS_PER_S as f64);
            let chance = if arrivals == Arrivals::Poisson { 6.0 * area.sqrt() + 5.0 } else { 0.0 };
            prop_assert!((count as f64 - area).abs() <= 1.0 + rounding + chance, "{} due, {} offered", count, area);
            let told = open.profile().rate_ops_per_s(end);
            prop_assert!((told - rate).abs() <= 1e-9 * rate_max, "{} told, {} meant", told, rate);
        }

        /// Shards of any number offer each operation once, at the instant at which one shard would.
        #[test]
        fn shards_offer_what_one_would((arrivals, stages) in loads(), shards in 1u64..9) {
            let open = Open::new(profile(&stages), arrivals, 5);
            let mut offered: Vec<(u64, Option<Nanos>)> = (0..shards)
                .flat_map(|shard| {
                    let mut walk = open.walk();
                    (shard..200).step_by(shards as usize).map(|index| (index, walk.due(index))).collect::<Vec<_>>()
                })
                .collect();
            offered.sort_unstable();
            let mut walk = open.walk();
            let alone: Vec<(u64, Option<Nanos>)> = (0..200).map(|index| (index, walk.due(index))).collect();
            prop_assert_eq!(offered, alone);
        }
    }
}
