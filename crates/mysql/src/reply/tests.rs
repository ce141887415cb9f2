//! Replies of known content, cut anywhere, and bytes that are none.

use proptest::prelude::*;

use super::*;
use crate::fields::{append_integer, append_text};
use crate::packet;

/// One result of a reply.
#[derive(Clone, Debug)]
enum Outcome {
    Ok { affected: u64 },
    Rows { columns: usize, rows: Vec<Vec<u8>> },
    Error,
}

/// Packets numbered as a server does.
struct Server {
    agreed: Agreed,
    number: u8,
    out: Vec<u8>,
}

impl Server {
    fn packet(&mut self, payload: &[u8]) {
        let filled = packet::append(self.number, &mut self.out, |out| {
            out.extend_from_slice(payload);
            Ok(())
        });
        self.number = filled.unwrap();
    }

    fn ok(&mut self, head: u8, affected: u64, status: u16) {
        let mut payload = vec![head];
        append_integer(affected, &mut payload);
        payload.push(0);
        payload.extend_from_slice(&status.to_le_bytes());
        payload.extend_from_slice(&[0, 0]);
        self.packet(&payload);
    }

    fn end(&mut self, status: u16) {
        let [low, high] = status.to_le_bytes();
        self.packet(&[END, 0, 0, low, high]);
    }

    fn definition(&mut self, name: &str, kind: u8) {
        let mut payload = Vec::new();
        for text in ["def", "shop", "t", "t", name, name] {
            append_text(text.as_bytes(), &mut payload);
        }
        if self.agreed.has_formats {
            append_text(b"\x01\x04json", &mut payload);
        }
        payload.extend_from_slice(&[12, 45, 0, 0, 0, 0, 1, kind, 0, 0, 0, 0, 0]);
        self.packet(&payload);
    }

    fn reply(&mut self, outcomes: &[Outcome]) {
        for (index, outcome) in outcomes.iter().enumerate() {
            let status = if index + 1 < outcomes.len() { MORE_RESULTS } else { 0 };
            match outcome {
                Outcome::Ok { affected } => self.ok(OK, *affected, status),
                Outcome::Error => self.packet(b"\xff\x7a\x04#42S02no table"),
                Outcome::Rows { columns, rows } => {
                    let mut count = Vec::new();
                    append_integer(*columns as u64, &mut count);
                    self.packet(&count);
                    for column in 0..*columns {
                        self.definition(&format!("c{column}"), 253);
                    }
                    if !self.agreed.ends_with_ok {
                        self.end(status);
                    }
                    for row in rows {
                        self.packet(row);
                    }
                    if self.agreed.ends_with_ok {
                        self.ok(END, rows.len() as u64, status);
                    } else {
                        self.end(status);
                    }
                }
            }
        }
    }
}

/// Feeds `bytes` in pieces of these lengths, again from the first; the reply, and how much of it was taken.
fn fed(reply: &mut Reply, bytes: &[u8], pieces: &[usize]) -> Result<(usize, bool), Lost> {
    let (mut taken, mut arrived) = (0, 0);
    let mut pieces = pieces.iter().copied().cycle();
    loop {
        arrived = (arrived + pieces.next().unwrap_or(1)).min(bytes.len());
        let fed = reply.feed(&bytes[taken..arrived])?;
        taken += fed.taken;
        assert!(taken <= arrived, "more is taken than there is");
        if fed.is_done || arrived == bytes.len() {
            return Ok((taken, fed.is_done));
        }
        assert!(fed.needs > 0);
    }
}

fn outcomes() -> impl Strategy<Value = Vec<Outcome>> {
    let row = (1..40_usize, any::<u8>()).prop_map(|(length, byte)| {
        // The first byte of a binary row, which text may have as well.
        let mut row = vec![byte % 250; length];
        row[0] = 0;
        row
    });
    let rows = (1..5_usize, prop::collection::vec(row, 0..20))
        .prop_map(|(columns, rows)| Outcome::Rows { columns, rows });
    let outcome =
        prop_oneof![3 => rows, 1 => any::<u32>().prop_map(|n| Outcome::Ok { affected: u64::from(n) })];
    (prop::collection::vec(outcome, 1..4), any::<bool>()).prop_map(|(mut outcomes, fails)| {
        if fails {
            outcomes.push(Outcome::Error);
        }
        outcomes
    })
}

proptest! {
    #[test]
    fn a_reply_is_the_same_however_it_is_cut(
        outcomes in outcomes(),
        pieces in prop::collection::vec(1..60_usize, 1..10),
        (ends_with_ok, has_formats, keeps_first, is_binary) in any::<(bool, bool, bool, bool)>(),
    ) {
        let agreed = Agreed { ends_with_ok, has_formats };
        let mut server = Server { agreed, number: 1, out: Vec::new() };
        server.reply(&outcomes);
        let mut reply = Reply::new(agreed);
        reply.begin(if is_binary { Form::Binary } else { Form::Text }, 1, keeps_first);
        prop_assert_eq!(fed(&mut reply, &server.out, &pieces).unwrap(), (server.out.len(), true));
        let rows = |outcome: &Outcome| if let Outcome::Rows { rows, .. } = outcome { rows.len() } else { 0 };
        prop_assert_eq!(reply.rows, outcomes.iter().map(rows).sum::<usize>() as u64);
        let affected = |outcome: &Outcome| if let Outcome::Ok { affected } = outcome { *affected } else { 0 };
        prop_assert_eq!(reply.affected, outcomes.iter().map(affected).sum::<u64>());
        let fails = matches!(outcomes.last(), Some(Outcome::Error));
        prop_assert_eq!(reply.refusal.as_ref().map(|refusal| refusal.code), fails.then_some(1146));
        let first = match &outcomes[0] {
            Outcome::Rows { rows, .. } if keeps_first => rows.first().cloned().unwrap_or_default(),
            _ => Vec::new(),
        };
        prop_assert_eq!(&reply.first, &first);
    }

    #[test]
    fn any_bytes_end_in_a_reply_or_an_error(
        bytes in prop_oneof![
            prop::collection::vec(any::<u8>(), 0..300),
            // Packets that are well framed, of any content.
            prop::collection::vec(prop::collection::vec(prop_oneof![Just(0), Just(0xfe), Just(0xff), Just(1), any::<u8>()], 0..30), 0..20)
                .prop_map(|payloads| {
                    let mut server = Server { agreed: Agreed::default(), number: 1, out: Vec::new() };
                    for payload in &payloads {
                        server.packet(payload);
                    }
                    server.out
                }),
        ],
        form in prop_oneof![Just(Form::Text), Just(Form::Binary), Just(Form::Prepared)],
        (ends_with_ok, has_formats) in any::<(bool, bool)>(),
        pieces in prop::collection::vec(1..60_usize, 1..4),
    ) {
        let mut reply = Reply::new(Agreed { ends_with_ok, has_formats });
        reply.begin(form, 1, true);
        let _ = fed(&mut reply, &bytes, &pieces);
        prop_assert!(reply.first.len() <= bytes.len());
        let mut view = Vec::new();
        brimline_sql::view::append_view(&mut view, 0, 0, Some(|row: &mut brimline_sql::view::Row<'_>| {
            crate::row::write_text(&reply.columns, &reply.first, row);
            crate::row::write_binary(&reply.columns, &reply.first, row);
        }));
        prop_assert!(bson::Document::from_reader(view.as_slice()).is_ok());
    }

    #[test]
    fn any_row_makes_a_document(row in prop::collection::vec(any::<u8>(), 0..80), kinds in prop::collection::vec(any::<u8>(), 1..8)) {
        let mut server = Server { agreed: Agreed::default(), number: 1, out: Vec::new() };
        server.packet(&[kinds.len() as u8]);
        for kind in &kinds {
            // Half of them kinds that there are.
            server.definition("c", if kind % 2 == 0 { kind / 2 % 17 } else { 239 + kind / 2 % 17 });
        }
        server.end(0);
        let mut reply = Reply::default();
        reply.begin(Form::Text, 1, true);
        reply.feed(&server.out).unwrap();
        for is_binary in [true, false] {
            let mut view = Vec::new();
            brimline_sql::view::append_view(&mut view, 0, 0, Some(|out: &mut brimline_sql::view::Row<'_>| {
                if is_binary {
                    crate::row::write_binary(&reply.columns, &row, out);
                } else {
                    crate::row::write_text(&reply.columns, &row, out);
                }
            }));
            prop_assert!(bson::Document::from_reader(view.as_slice()).is_ok());
        }
    }
}

#[test]
fn a_preparation_is_read_to_its_end() {
    for (ends_with_ok, parameters, columns) in
        [(true, 2, 3), (false, 2, 3), (false, 0, 1), (true, 0, 0), (false, 1, 0)]
    {
        let agreed = Agreed { ends_with_ok, has_formats: false };
        let mut server = Server { agreed, number: 1, out: Vec::new() };
        server.packet(&[0, 7, 0, 0, 0, columns, 0, parameters, 0, 0, 0, 0]);
        for count in [parameters, columns] {
            for _ in 0..count {
                server.definition("?", 253);
            }
            if count > 0 && !ends_with_ok {
                server.end(0);
            }
        }
        let mut reply = Reply::new(agreed);
        reply.begin(Form::Prepared, 1, false);
        assert_eq!(fed(&mut reply, &server.out, &[3]), Ok((server.out.len(), true)));
        assert_eq!(reply.prepared, (7, u16::from(parameters)));
    }
}

#[test]
fn a_row_of_several_packets_is_one() {
    let rows = vec![vec![0; 2 * PAYLOAD_BYTES_MAX + 5], vec![0; PAYLOAD_BYTES_MAX], vec![0; 3]];
    let agreed = Agreed { ends_with_ok: true, has_formats: false };
    let mut server = Server { agreed, number: 1, out: Vec::new() };
    server.reply(&[Outcome::Rows { columns: 1, rows: rows.clone() }]);
    for keeps_first in [false, true] {
        let mut reply = Reply::new(agreed);
        reply.begin(Form::Binary, 1, keeps_first);
        assert_eq!(fed(&mut reply, &server.out, &[1_000_000]), Ok((server.out.len(), true)));
        assert_eq!((reply.rows, reply.first.len()), (3, if keeps_first { rows[0].len() } else { 0 }));
    }
}

#[test]
fn lies_are_found() {
    let told = |bytes: &[u8]| {
        let mut reply = Reply::default();
        reply.begin(Form::Binary, 1, false);
        reply.feed(bytes).map(|fed| fed.is_done).map_err(|lost| lost.message)
    };
    for (bytes, words) in [
        (b"\x07\0\0\x02".as_slice(), "packet 2 arrived where 1 is next"),
        (b"\0\0\0\x01", "empty packet"),
        (b"\x01\0\0\x01\xfb", "file of this machine"),
        (b"\x03\0\0\x01\xfc\xff\xff\x01\0\0\x02\0", "cut"),
        (b"\x02\0\0\x01\x01\x01", "none"),
        (b"\x09\0\0\x01\xfe\xff\xff\xff\xff\xff\xff\xff\xff", "none"),
        (b"\x01\0\0\x01\0", "cut"),
        (b"\xff\xff\xff\x01", "16 MiB"),
    ] {
        let outcome = told(bytes);
        assert!(
            outcome.as_ref().is_err_and(|message| message.contains(words))
                || words == "cut" && outcome == Ok(false),
            "{bytes:?} {outcome:?}"
        );
    }
}
