//! Owns asking the members: all at once, each on a connection of its own, without a login, in bounded time.

use std::collections::BTreeMap;
use std::sync::Arc;

use brimline_net::wait::{is_ready, sleep};
use brimline_wire::access::Access;
use brimline_wire::connection::Connection;
use brimline_wire::endpoint::Endpoint;
use brimline_wire::handshake::{Handshake, Step};
use brimline_wire::hello::Hello;
use rustix::event::PollFlags;

use super::selection::{Answer, Latest, readers};
use super::view::{Servers, View};
use crate::clock::{Clock, NANOS_PER_S, Nanos};
use crate::plan::{Reads, ReplicaSet};

/// How long members are waited for when they are asked.
const ANSWER_NS: Nanos = NANOS_PER_S;
/// How long the others are waited for once a primary has answered: it may be one of an election that is over.
const LATE_NS: Nanos = NANOS_PER_S / 10;
/// How long nobody is asked after the members were.
const REST_NS: Nanos = NANOS_PER_S / 20;
/// How often a member that has not answered yet is looked after.
const LOOK_UP_NS: Nanos = NANOS_PER_S / 500;
/// Most addresses that are ever asked, whatever members name.
const MEMBERS_MAX: usize = 64;

/// Follows the set until the view is closed: asks whenever somebody doubts, and on until there is a primary.
pub fn discover(set: &ReplicaSet, reads: Option<&Reads>, access: &Arc<Access>, view: &View) {
    let anonymous = access.without_login();
    let reads = reads.filter(|reads| !reads.addresses.is_empty());
    let mut members = Members::default();
    members.add(&set.members, access);
    let mut latest = Latest::default();
    let mut settled = 0;
    while let Some(doubts) = view.wait_for_doubt(settled) {
        let answers = ask(members.by_name.values(), &anonymous, || view.is_closed());
        let primary = latest.primary(&answers, &set.name);
        if let Some(primary) = primary {
            members.add(&primary.hello.member.hosts, access);
        }
        let readers = reads.map_or_else(Vec::new, |reads| readers(&answers, primary, &set.name, reads));
        let is_whole = primary.is_some() && (reads.is_none() || !readers.is_empty());
        // Members are named as the workers know them, with the login that opens them.
        view.publish(Servers {
            primary: primary.map(|primary| primary.endpoint.opened_by(access)),
            readers: readers.iter().map(|reader| reader.opened_by(access)).collect(),
        });
        if is_whole {
            settled = doubts;
        }
        if sleep(REST_NS).is_err() {
            return;
        }
    }
}

/// Everybody who was ever named.
#[derive(Default)]
struct Members {
    by_name: BTreeMap<String, Endpoint>,
}

impl Members {
    /// A name without an address is tried again when it is named again.
    fn add(&mut self, names: &[String], access: &Arc<Access>) {
        for name in names {
            // As the control plane has it: a configuration may name hosts in capitals.
            let name = &name.to_ascii_lowercase();
            if self.by_name.len() >= MEMBERS_MAX || self.by_name.contains_key(name) {
                continue;
            }
            if let Ok(endpoint) = Endpoint::resolve(name, access) {
                self.by_name.insert(name.clone(), endpoint);
            }
        }
    }
}

/// A member that is being asked.
struct Question {
    endpoint: Endpoint,
    connection: Connection,
    handshake: Handshake,
    awaited: PollFlags,
}

/// The answers of those who answer in time.
fn ask<'a>(
    members: impl Iterator<Item = &'a Endpoint>,
    access: &Arc<Access>,
    is_over: impl Fn() -> bool,
) -> Vec<Answer> {
    let clock = Clock::start();
    let mut waiting: Vec<Question> = members
        .filter_map(|endpoint| {
            let endpoint = endpoint.opened_by(access);
            let (connection, handshake) = endpoint.connect().ok()?;
            Some(Question { endpoint, connection, handshake, awaited: PollFlags::OUT })
        })
        .collect();
    let mut answers = Vec::new();
    let mut deadline = ANSWER_NS;
    while !waiting.is_empty() && clock.now() < deadline && !is_over() {
        let share_ns = LOOK_UP_NS / waiting.len() as Nanos;
        waiting.retain_mut(|question| match question.follow(share_ns) {
            Progress::Waits => true,
            Progress::Silent => false,
            Progress::Answered(hello) => {
                if hello.is_writable_primary {
                    deadline = deadline.min(clock.now() + LATE_NS);
                }
                answers.push(Answer { endpoint: question.endpoint.clone(), hello: *hello });
                false
            }
        });
    }
    answers
}

enum Progress {
    Waits,
    /// It doesn't answer, or not so that it can be understood.
    Silent,
    Answered(Box<Hello>),
}

impl Question {
    fn follow(&mut self, wait_ns: Nanos) -> Progress {
        match is_ready(&self.connection, self.awaited, wait_ns) {
            Ok(false) => return Progress::Waits,
            Ok(true) => {}
            Err(_) => return Progress::Silent,
        }
        match self.handshake.advance(&mut self.connection) {
            Ok(Step::AwaitsRoom) => self.awaited = PollFlags::OUT,
            Ok(Step::AwaitsReply) => self.awaited = PollFlags::IN,
            Ok(Step::Done(hello)) => return Progress::Answered(hello),
            Err(_) => return Progress::Silent,
        }
        Progress::Waits
    }
}
