//! Owns what the answers of members amount to: which is the primary, and which fit the read preference. Pure.
//!
//! Sources: the drivers' server discovery and monitoring specification (a primary of an earlier election is none any more) and
//! their server selection specification.

use brimline_wire::endpoint::Endpoint;
use brimline_wire::hello::Hello;

use crate::plan::target::Reads;

/// From this wire version on (6.0) elections decide before configurations.
const ELECTION_FIRST_WIRE_VERSION: i32 = 17;
/// How old the news of a server may be, by which the specification raises the estimate of its staleness.
const HEARTBEAT_MS: i64 = 10_000;

/// A member that has answered.
pub struct Answer {
    /// Where.
    pub endpoint: Endpoint,
    /// What.
    pub hello: Hello,
}

/// The latest election and configuration that any primary has named.
#[derive(Clone, Copy, Debug, Default)]
pub struct Latest {
    election_id: [u8; 12],
    set_version: i64,
}

impl Latest {
    /// The primary among `answers`. One of an election that is over may not know it yet, and doesn't count.
    pub fn primary<'a>(&mut self, answers: &'a [Answer], set_name: &str) -> Option<&'a Answer> {
        let mut found = None;
        for answer in answers {
            let hello = &answer.hello;
            if hello.is_writable_primary
                && hello.set_name.as_deref() == Some(set_name)
                && self.is_current(hello)
            {
                found = Some(answer);
            }
        }
        found
    }

    /// Whether no later election is known; notes this one.
    fn is_current(&mut self, hello: &Hello) -> bool {
        let (Some(election_id), Some(set_version)) = (hello.member.election_id, hello.member.set_version)
        else {
            return true;
        };
        let elections_first = hello.wire_version_max >= ELECTION_FIRST_WIRE_VERSION;
        let is_earlier = if elections_first {
            (election_id, set_version) < (self.election_id, self.set_version)
        } else {
            (set_version, election_id) < (self.set_version, self.election_id)
        };
        if !is_earlier {
            *self = Self { election_id, set_version };
        }
        !is_earlier
    }
}

/// The members that take reads of this preference, by name; as when the run began, see `selection.py`.
pub fn readers(answers: &[Answer], primary: Option<&Answer>, set_name: &str, reads: &Reads) -> Vec<Endpoint> {
    let of_set = |answer: &&Answer| answer.hello.set_name.as_deref() == Some(set_name);
    let mut members: Vec<&Answer> = answers
        .iter()
        .filter(of_set)
        .filter(|answer| answer.hello.is_secondary && !answer.hello.member.is_hidden)
        .filter(|answer| is_fresh(answer, primary, reads))
        .collect();
    if reads.mode == "nearest" {
        members.extend(primary);
    }
    let untagged = [std::collections::BTreeMap::new()];
    let tag_sets = if reads.tag_sets.is_empty() { &untagged[..] } else { &reads.tag_sets[..] };
    for tags in tag_sets {
        let has = |answer: &&&Answer, name: &str, value: &str| {
            answer.hello.member.tags.iter().any(|tag| (tag.0.as_str(), tag.1.as_str()) == (name, value))
        };
        let fits = |answer: &&&Answer| tags.iter().all(|(name, value)| has(answer, name, value));
        let mut fitting: Vec<Endpoint> =
            members.iter().filter(fits).map(|answer| answer.endpoint.clone()).collect();
        if !fitting.is_empty() {
            fitting.sort_by(|one, other| one.name().cmp(other.name()));
            return fitting;
        }
    }
    let may_use_primary = matches!(reads.mode.as_str(), "secondaryPreferred" | "primaryPreferred");
    primary.filter(|_| may_use_primary).map(|primary| primary.endpoint.clone()).into_iter().collect()
}

fn is_fresh(answer: &Answer, primary: Option<&Answer>, reads: &Reads) -> bool {
    let written = |answer: &Answer| answer.hello.member.last_write_unix_ms;
    let (Some(bound_s), Some(primary), Some(own)) =
        (reads.max_staleness_s, primary.and_then(written), written(answer))
    else {
        return true;
    };
    primary - own + HEARTBEAT_MS <= i64::from(bound_s) * 1_000
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;

    use brimline_bson::Writer;
    use brimline_wire::{hello, op_msg};

    use super::*;

    fn answer(port: u16, of_primary: bool, election: Option<(u8, i64)>, tag: &str) -> Answer {
        let mut message = Vec::new();
        op_msg::request(&mut message, 1, |writer: &mut Writer<'_>| {
            writer.double("ok", 1.0);
            writer.string("setName", "s");
            writer.boolean("isWritablePrimary", of_primary);
            writer.boolean("secondary", !of_primary);
            writer.int32("maxWireVersion", 17);
            let tags = writer.begin_subdocument("tags");
            writer.string("dc", tag);
            writer.end_document(tags);
            if let Some((number, set_version)) = election {
                writer.object_id("electionId", [number; 12]);
                writer.int64("setVersion", set_version);
            }
        });
        let endpoint = Endpoint::from(SocketAddr::from(([127, 0, 0, 1], port)));
        Answer { endpoint, hello: hello::parse(&message).unwrap() }
    }

    fn port(found: Option<&Answer>) -> Option<u16> {
        found.map(|answer| answer.endpoint.address().port())
    }

    #[test]
    fn a_primary_of_an_earlier_election_is_none() {
        let mut latest = Latest::default();
        let old = answer(1, true, Some((1, 9)), "");
        let new = answer(2, true, Some((2, 1)), "");
        assert_eq!(port(latest.primary(&[answer(3, false, None, "")], "s")), None);
        assert_eq!(port(latest.primary(&[old], "s")), Some(1));
        let both = [new, answer(1, true, Some((1, 9)), "")];
        assert_eq!(port(latest.primary(&both, "s")), Some(2), "elections come before configurations");
        assert_eq!(port(latest.primary(&both[1..], "s")), None, "it does not know yet that it is none");
        assert_eq!(port(latest.primary(&[answer(4, true, None, "")], "s")), Some(4), "one that says nothing");
        assert_eq!(port(latest.primary(&both, "other")), None);
    }

    /// The drivers' list, see the file.
    #[test]
    fn elections_are_told_apart_as_the_specification_has_it() {
        let list: serde_json::Value =
            serde_json::from_str(include_str!("../../../../tests/specifications/elections.json")).unwrap();
        let cases = list["cases"].as_array().unwrap();
        assert!(cases.len() >= 8);
        for case in cases {
            let wire_version = i32::try_from(case["wire_version"].as_i64().unwrap()).unwrap();
            let mut latest = Latest::default();
            for (number, look) in case["looks"].as_array().unwrap().iter().enumerate() {
                let told = |kind: &str, of_primary: bool| -> Vec<Answer> {
                    let members = look[kind].as_array().map_or(&[][..], Vec::as_slice);
                    members.iter().map(|member| told_by(member, of_primary, wire_version)).collect()
                };
                let mut answers = told("primaries", true);
                answers.extend(told("secondaries", false));
                let taken = look["taken"].as_str().map(|name| u16::from(name.as_bytes()[0]));
                let found = port(latest.primary(&answers, "s"));
                assert_eq!(found, taken, "{}, look {}", case["case"], number + 1);
            }
        }
    }

    /// The answer of the server `[name, electionId, setVersion]`; its port is the letter of its name.
    fn told_by(member: &serde_json::Value, of_primary: bool, wire_version: i32) -> Answer {
        let number = u8::try_from(member[1].as_u64().unwrap()).unwrap();
        let election = Some((number, member[2].as_i64().unwrap()));
        let port = u16::from(member[0].as_str().unwrap().as_bytes()[0]);
        let mut answer = answer(port, of_primary, election, "");
        answer.hello.wire_version_max = wire_version;
        answer
    }

    #[test]
    fn reads_go_to_members_that_fit_as_they_are_now() {
        let answers =
            [answer(1, true, None, "east"), answer(3, false, None, "east"), answer(2, false, None, "west")];
        let primary = Some(&answers[0]);
        let of = |mode: &str, tags: &[&str], primary: Option<&Answer>| {
            let tag = |value: &&str| [("dc".to_owned(), (*value).to_owned())].into();
            let tag_sets = tags.iter().map(tag).collect();
            let reads =
                Reads { addresses: Vec::new(), mode: mode.to_owned(), tag_sets, max_staleness_s: None };
            let found = readers(&answers, primary, "s", &reads);
            found.iter().map(|reader| reader.address().port()).collect::<Vec<_>>()
        };
        assert_eq!(of("secondary", &[], primary), [2, 3]);
        assert_eq!(of("nearest", &[], primary), [1, 2, 3]);
        assert_eq!(of("secondary", &["moon", "west"], primary), [2]);
        assert_eq!(of("secondary", &["moon"], primary), [0_u16; 0]);
        assert_eq!(of("secondaryPreferred", &["moon"], primary), [1]);
        assert_eq!(of("secondaryPreferred", &["moon"], None), [0_u16; 0]);
    }
}
