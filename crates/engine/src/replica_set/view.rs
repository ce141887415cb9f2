//! Owns what workers and discovery share: the servers as they are known, and the doubts about them.

use std::sync::atomic::{
    AtomicU64,
    Ordering::{Acquire, Release},
};
use std::sync::{Condvar, Mutex, PoisonError};

use brimline_wire::endpoint::Endpoint;

use crate::shared::lock;

/// Where operations go.
#[derive(Clone, Debug, Default)]
pub struct Servers {
    /// The primary; `None` while there is none.
    pub primary: Option<Endpoint>,
    /// Where reads go that don't go to the primary for being reads; may be empty.
    pub readers: Vec<Endpoint>,
}

impl Servers {
    fn is_same(&self, other: &Self) -> bool {
        let names = |servers: &Self| {
            let readers: Vec<String> =
                servers.readers.iter().map(|reader| reader.name().to_owned()).collect();
            (servers.primary.as_ref().map(|primary| primary.name().to_owned()), readers)
        };
        names(self) == names(other)
    }
}

/// The replica set as it is known.
#[derive(Debug)]
pub struct View {
    /// Counts the changes, so that workers see without a lock that there was none.
    version: AtomicU64,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug)]
struct State {
    servers: Servers,
    /// How often somebody doubted.
    doubts: u64,
    is_over: bool,
}

impl View {
    /// A set of which this is known.
    pub fn new(servers: Servers) -> Self {
        let state = State { servers, doubts: 0, is_over: false };
        Self { version: AtomicU64::new(0), state: Mutex::new(state), changed: Condvar::new() }
    }

    /// A number that changes whenever the servers do.
    #[inline]
    pub fn version(&self) -> u64 {
        self.version.load(Acquire)
    }

    /// The servers, and the version that they are of.
    pub fn servers(&self) -> (u64, Servers) {
        let state = lock(&self.state);
        (self.version(), state.servers.clone())
    }

    /// Something broke that may mean that the servers have changed.
    pub fn doubt(&self) {
        lock(&self.state).doubts += 1;
        self.changed.notify_all();
    }

    /// The primary of `version` says that it is none any more.
    pub fn stepped_down(&self, version: u64) {
        let mut state = lock(&self.state);
        if self.version() == version && state.servers.primary.take().is_some() {
            self.version.store(version + 1, Release);
        }
        state.doubts += 1;
        drop(state);
        self.changed.notify_all();
    }

    /// The run is over: nobody asks any more.
    pub fn close(&self) {
        lock(&self.state).is_over = true;
        self.changed.notify_all();
    }

    /// Whether the run is over.
    pub(super) fn is_closed(&self) -> bool {
        lock(&self.state).is_over
    }

    /// Waits for a doubt that came after the first `settled`; how many there are then. `None`: the run is over.
    pub(super) fn wait_for_doubt(&self, settled: u64) -> Option<u64> {
        let mut state = lock(&self.state);
        while state.doubts <= settled && !state.is_over {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        (!state.is_over).then_some(state.doubts)
    }

    /// What the members say now.
    pub(super) fn publish(&self, servers: Servers) {
        let mut state = lock(&self.state);
        if !state.servers.is_same(&servers) {
            state.servers = servers;
            self.version.store(self.version() + 1, Release);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;

    use super::*;

    fn servers(port: Option<u16>) -> Servers {
        let primary = port.map(|port| Endpoint::from(SocketAddr::from(([127, 0, 0, 1], port))));
        Servers { primary, readers: Vec::new() }
    }

    #[test]
    fn only_the_primary_of_now_can_step_down() {
        let view = View::new(servers(Some(1)));
        view.stepped_down(0);
        assert!(view.servers().1.primary.is_none());
        view.publish(servers(Some(2)));
        let (version, _) = view.servers();
        view.stepped_down(0);
        assert_eq!(view.version(), version, "late news of the old primary");
        assert!(view.servers().1.primary.is_some());
    }

    #[test]
    fn what_stays_the_same_is_no_change() {
        let view = View::new(servers(Some(1)));
        view.publish(servers(Some(1)));
        assert_eq!(view.version(), 0);
        view.publish(servers(None));
        assert_eq!(view.version(), 1);
    }

    #[test]
    fn a_doubt_that_comes_while_members_are_asked_is_not_lost() {
        let view = View::new(servers(Some(1)));
        view.doubt();
        let settled = view.wait_for_doubt(0).unwrap();
        view.doubt();
        assert_eq!(view.wait_for_doubt(settled), Some(2));
        view.close();
        assert_eq!(view.wait_for_doubt(2), None);
    }
}
