//! Owns when the members are asked, and what of their answers is made known: a primary at once, that there is none when all
//! have spoken.

use std::collections::BTreeSet;
use std::sync::Arc;

use brimline_net::wait::{sleep, which_are_ready};
use brimline_wire::access::Access;
use brimline_wire::endpoint::Endpoint;

use super::member::Member;
use super::selection::{Answer, Latest, readers};
use super::view::{Servers, View};
use crate::clock::{Clock, NANOS_PER_S, Nanos};
use crate::plan::target::{Reads, ReplicaSet};

/// How long members are waited for that don't speak, before there is no primary.
const ANSWER_NS: Nanos = NANOS_PER_S;
/// How long the others are waited for once a primary has answered: it may be one of an election that is over.
const LATE_NS: Nanos = NANOS_PER_S / 10;
/// How often it is looked whether the run is over.
const LOOK_UP_NS: Nanos = NANOS_PER_S / 100;
/// How long nobody is asked after a primary was found, at least and at most: as long as asking took, which is dear with TLS.
const REST_NS: (Nanos, Nanos) = (NANOS_PER_S / 100, NANOS_PER_S / 20);
/// Most addresses that are ever asked, whatever members name.
const MEMBERS_MAX: usize = 64;

/// Follows the set until the view is closed: asks whenever somebody doubts, and listens until there is a primary.
pub fn discover(set: &ReplicaSet, reads: Option<&Reads>, access: &Arc<Access>, view: &View) {
    let reads = reads.filter(|reads| !reads.addresses.is_empty());
    let mut discovery = Discovery {
        set,
        reads,
        access,
        view,
        members: Vec::new(),
        unknown: Unknown::default(),
        latest: Latest::default(),
        readers: view.servers().1.readers,
    };
    discovery.add(&set.members);
    let mut settled = 0;
    while let Some(doubts) = view.wait_for_doubt(settled) {
        let clock = Clock::start();
        if !discovery.listen(clock) {
            return;
        }
        settled = doubts;
        if sleep(clock.now().clamp(REST_NS.0, REST_NS.1)).is_err() {
            return;
        }
    }
}

struct Discovery<'a> {
    set: &'a ReplicaSet,
    reads: Option<&'a Reads>,
    access: &'a Arc<Access>,
    view: &'a View,
    /// Everybody who was ever named.
    members: Vec<Member>,
    unknown: Unknown,
    latest: Latest,
    readers: Vec<Endpoint>,
}

impl Discovery<'_> {
    /// Asks everybody, and listens to what they say as it changes, until what is known is whole. False: the run is over.
    fn listen(&mut self, clock: Clock) -> bool {
        let mut found_at = None;
        loop {
            let now = clock.now();
            self.members.iter_mut().for_each(|member| member.begin(now));
            let is_late = found_at.is_some_and(|at| now.saturating_sub(at) > LATE_NS);
            let have_spoken = is_late || self.members.iter().all(Member::has_spoken);
            let is_found = self.publish(have_spoken || now > ANSWER_NS);
            if is_found && have_spoken && (self.reads.is_none() || !self.readers.is_empty()) {
                self.members.iter_mut().for_each(Member::forget);
                self.unknown = Unknown::default();
                return true;
            }
            found_at = is_found.then_some(found_at.unwrap_or(now));
            if self.view.is_closed() || self.follow(clock).is_err() {
                return false;
            }
        }
    }

    /// Makes known what is; whether there is a primary. Unless `is_all`, readers stay who they were, and who has not spoken may
    /// still be the primary.
    fn publish(&mut self, is_all: bool) -> bool {
        let answers: Vec<Answer> = self.members.iter().filter_map(Member::answer).collect();
        let primary = self.latest.primary(&answers, &self.set.name);
        if is_all && let Some(reads) = self.reads {
            // Members are named as the workers know them, with the login that opens them.
            let readers = readers(&answers, primary, &self.set.name, reads);
            self.readers = readers.iter().map(|reader| reader.opened_by(self.access)).collect();
        }
        if primary.is_some() || is_all {
            self.view.publish(Servers {
                primary: primary.map(|primary| primary.endpoint.opened_by(self.access)),
                readers: self.readers.clone(),
            });
        }
        let hosts = primary.map(|primary| primary.hello.member.hosts.clone());
        self.add(&hosts.unwrap_or_default());
        primary.is_some()
    }

    /// Waits for what is next: an answer, a time to ask again, or a look whether the run is over.
    fn follow(&mut self, clock: Clock) -> std::io::Result<()> {
        let now = clock.now();
        let next = self.members.iter().map(Member::next_at).min().unwrap_or(Nanos::MAX);
        let timeout_ns = next.saturating_sub(now).min(LOOK_UP_NS);
        let watched: Vec<usize> =
            (0..self.members.len()).filter(|&each| self.members[each].socket().is_some()).collect();
        let sockets: Vec<_> = self.members.iter().filter_map(Member::socket).collect();
        let ready = which_are_ready(&sockets, timeout_ns)?;
        let now = clock.now();
        for (each, is_ready) in watched.into_iter().zip(ready) {
            if is_ready {
                self.members[each].advance(now);
            }
        }
        Ok(())
    }

    /// A name without an address is looked up again when it is named once the set was found.
    fn add(&mut self, names: &[String]) {
        for name in names {
            // As the control plane has it: a configuration may name hosts in capitals.
            let name = &name.to_ascii_lowercase();
            let is_known = self.members.iter().any(|member| member.name() == name);
            if self.members.len() >= MEMBERS_MAX || is_known {
                continue;
            }
            let access = self.access.without_login();
            if let Some(endpoint) = self.unknown.or(name, || Endpoint::resolve(name, &access)) {
                self.members.push(Member::new(endpoint));
            }
        }
    }
}

/// Names that were looked up and have no address. A look-up may take seconds, in which nobody listens.
#[derive(Default)]
struct Unknown(BTreeSet<String>);

impl Unknown {
    /// What `look_up` finds; nothing is looked up under a name that had no address.
    fn or<T, E>(&mut self, name: &str, look_up: impl FnOnce() -> Result<T, E>) -> Option<T> {
        if self.0.len() >= MEMBERS_MAX || self.0.contains(name) {
            return None;
        }
        let found = look_up().ok();
        if found.is_none() {
            self.0.insert(name.to_owned());
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::{MEMBERS_MAX, Unknown};

    #[test]
    fn a_name_without_an_address_is_looked_up_once() {
        let (mut unknown, mut looked_up) = (Unknown::default(), 0);
        let mut look = |name: &str, address: Result<u8, ()>| {
            unknown.or(name, || {
                looked_up += 1;
                address
            })
        };
        assert_eq!(look("a:1", Err(())), None);
        assert_eq!(look("a:1", Ok(1)), None);
        assert_eq!(look("b:1", Ok(2)), Some(2));
        assert_eq!(looked_up, 2);
    }

    #[test]
    fn no_more_names_are_looked_up_than_a_set_may_have() {
        let (mut unknown, mut looked_up) = (Unknown::default(), 0);
        for number in 0..2 * MEMBERS_MAX {
            let found: Option<u8> = unknown.or(&format!("h{number}:1"), || {
                looked_up += 1;
                Err(())
            });
            assert_eq!(found, None);
        }
        assert_eq!(looked_up, MEMBERS_MAX);
    }
}
