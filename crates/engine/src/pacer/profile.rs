//! How the offered rate runs over time: pieces on which it is level or changes evenly.

use crate::clock::{NANOS_PER_S, Nanos};
use crate::plan::pacer::Stage;

/// An offered rate over time, and its integral: how many operations are offered before an instant. What the last piece
/// ends with is held for ever.
#[derive(Clone, Debug)]
pub struct Profile {
    pieces: Vec<Piece>,
}

/// One piece. Times in nanoseconds, rates in operations per second, both as floats: 2⁵³ ns are 104 days.
#[derive(Clone, Copy, Debug)]
struct Piece {
    start_ns: f64,
    length_ns: f64,
    rate: f64,
    end_rate: f64,
    /// Operations offered before this piece.
    offered: f64,
}

const SECOND: f64 = NANOS_PER_S as f64;

impl Profile {
    /// The same rate for ever.
    pub fn constant(rate_ops_per_s: f64) -> Self {
        Self { pieces: vec![Piece::level(0.0, rate_ops_per_s, 0.0)] }
    }

    /// One stage after the other.
    pub fn new(stages: &[Stage]) -> Self {
        let mut pieces = Vec::with_capacity(stages.len() + 1);
        let mut held = Piece::level(0.0, 0.0, 0.0);
        for stage in stages {
            let piece = Piece {
                length_ns: stage.duration_ns as f64,
                rate: stage.from_ops_per_s,
                end_rate: stage.to_ops_per_s,
                ..held
            };
            pieces.push(piece);
            held = Piece::level(
                piece.start_ns + piece.length_ns,
                piece.end_rate,
                piece.offered + piece.offered_within(piece.length_ns),
            );
        }
        pieces.push(held);
        Self { pieces }
    }

    /// The offered rate at `at`, in operations per second.
    pub fn rate_ops_per_s(&self, at: Nanos) -> f64 {
        let (piece, elapsed_ns) = self.piece_at(at as f64);
        piece.rate_after(elapsed_ns)
    }

    /// How many operations are offered before `at`; a whole number and a part of the next.
    pub fn offered_before(&self, at: Nanos) -> f64 {
        let (piece, elapsed_ns) = self.piece_at(at as f64);
        piece.offered + piece.offered_within(elapsed_ns)
    }

    /// The instant from which more than `position` operations have been offered; `None` when there is none.
    #[inline]
    pub fn instant_of(&self, position: f64) -> Option<Nanos> {
        let last = self.pieces.partition_point(|piece| piece.offered <= position).saturating_sub(1);
        self.pieces[last].instant_of(position).map(|at| at as Nanos)
    }

    fn piece_at(&self, at: f64) -> (&Piece, f64) {
        let last = self.pieces.partition_point(|piece| piece.start_ns <= at).saturating_sub(1);
        let piece = &self.pieces[last];
        (piece, at - piece.start_ns)
    }
}

impl Piece {
    fn level(start_ns: f64, rate: f64, offered: f64) -> Self {
        Self { start_ns, length_ns: f64::INFINITY, rate, end_rate: rate, offered }
    }

    fn rate_after(&self, elapsed_ns: f64) -> f64 {
        self.rate + self.slope() * elapsed_ns
    }

    fn offered_within(&self, elapsed_ns: f64) -> f64 {
        (self.rate + self.slope() * elapsed_ns / 2.0) * elapsed_ns / SECOND
    }

    /// Change of the rate per nanosecond; 0 where it is level, which the last piece always is.
    fn slope(&self) -> f64 {
        if self.rate.to_bits() == self.end_rate.to_bits() {
            0.0
        } else {
            (self.end_rate - self.rate) / self.length_ns
        }
    }

    /// Solves `offered + offered_within(t) = position`, in the form that loses no digits where the slope is small.
    #[inline]
    fn instant_of(&self, position: f64) -> Option<f64> {
        let missing = (position - self.offered) * SECOND;
        let slope = self.slope();
        let elapsed_ns = if slope == 0.0 {
            missing / self.rate
        } else {
            let root = (self.rate * self.rate + 2.0 * slope * missing).max(0.0).sqrt();
            if missing == 0.0 { 0.0 } else { 2.0 * missing / (self.rate + root) }
        };
        // Without a rate: nothing is ever due (a division by 0).
        elapsed_ns.is_finite().then(|| self.start_ns + elapsed_ns.min(self.length_ns))
    }
}
