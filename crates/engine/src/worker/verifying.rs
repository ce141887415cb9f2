//! How a worker compares what reads by key bring with what it must be, once the operation is over and timed.

use brimline_datagen::Verified;

use super::Worker;
use crate::flight::InFlight;
use crate::mission::Sink;
use crate::target::{ConnectionIndex, Target};

impl<T: Target, S: Sink> Worker<'_, T, S> {
    /// Compares the document that the operation on `connection` has read; without a connection it has read none.
    #[inline(never)] // most runs verify nothing
    pub(super) fn verify(&mut self, flight: &InFlight, connection: Option<ConnectionIndex>) {
        let InFlight { operation, record, due, sent, .. } = *flight;
        if !operation.kind.reads_by_key() {
            return;
        }
        let begun = self.target.now();
        let document = connection.and_then(|connection| self.target.take_document(connection));
        let verified: Verified = self.mission.commands.verify(record, document);
        let took_ns = self.target.now().saturating_sub(begun);
        let phase = self.mission.intervals.offering_phase(due.unwrap_or(sent));
        self.recorder.verified(phase, operation.kind, verified, took_ns);
        self.summary.verified[verified as usize] += 1;
    }
}
