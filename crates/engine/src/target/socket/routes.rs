//! Where requests go: to which servers connections are made, and which of them takes which request.

use brimline_wire::endpoint::Endpoint;

use super::{Destination, Followed};
use crate::replica_set::Servers;

/// Where requests go. Each connection has a socket to one server of each group: connection *i* to server *i* modulo their number.
#[derive(Clone, Debug)]
pub struct Routes {
    pub(super) groups: Vec<Vec<Destination>>,
    pub(super) choice: Choice,
    /// The replica set that they belong to, when it is followed.
    pub(super) set: Option<Followed>,
}

/// What decides the group that a request goes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Choice {
    /// There is one.
    None,
    /// The first takes writes, the second reads.
    Kind,
    /// The number of the record, modulo their number.
    Record(u64),
}

impl Routes {
    /// All requests to these servers, at least one.
    pub fn to(servers: Vec<Destination>) -> Self {
        Self { groups: vec![servers], choice: Choice::None, set: None }
    }

    /// Writes to some servers and reads to others, at least one each.
    pub fn by_kind(writes: Vec<Destination>, reads: Vec<Destination>) -> Self {
        Self { groups: vec![writes, reads], choice: Choice::Kind, set: None }
    }

    /// Record *i* to server *i* modulo their number, at least one.
    pub fn by_record(servers: impl Iterator<Item = Destination>) -> Self {
        let groups: Vec<_> = servers.map(|server| vec![server]).collect();
        let choice = Choice::Record(groups.len() as u64);
        Self { groups, choice, set: None }
    }

    /// The same, but sockets follow the replica set that these servers belong to.
    #[must_use]
    pub fn following(self, set: Followed) -> Self {
        Self { set: Some(set), ..self }
    }

    /// The servers, when there are several and any of them takes any request: the routers of a cluster.
    pub(super) fn routers(&self) -> &[Destination] {
        match self.groups.as_slice() {
            [alike] if alike.len() > 1 && self.set.is_none() => alike,
            _ => &[],
        }
    }

    /// What is known of that replica set to begin with: the first server takes its writes, a second group its reads.
    pub fn servers(&self) -> Servers {
        let group = |number: usize| {
            let group = self.groups.get(number).map(Vec::as_slice).unwrap_or_default();
            group.iter().filter_map(Destination::mongo).cloned()
        };
        Servers { primary: group(0).next(), readers: group(1).collect::<Vec<Endpoint>>() }
    }
}
