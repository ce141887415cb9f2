//! Replies of known content, cut anywhere, and bytes that are none.

use proptest::prelude::*;

use super::*;
use crate::message::append;

/// A part of a reply.
#[derive(Clone, Debug)]
enum Piece {
    Rows(Vec<Vec<u8>>),
    Changed(u32),
    Error,
    Notice,
    Parameter(bool),
    Copied(u32),
}

fn message(letter: u8, body: &[u8], out: &mut Vec<u8>) {
    append::<String>(letter, out, |out| {
        out.extend_from_slice(body);
        Ok(())
    })
    .unwrap();
}

/// Two columns, of which the first is a number.
const COLUMNS: &[u8] =
    b"\0\x02n\0\0\0\0\0\0\0\0\0\0\x17\0\x04\xff\xff\xff\xff\0\0t\0\0\0\0\0\0\0\0\0\0\x19\xff\xff\xff\xff\xff\xff\0\0";

fn reply(pieces: &[Piece]) -> Vec<u8> {
    let mut out = Vec::new();
    for piece in pieces {
        match piece {
            Piece::Rows(rows) => {
                message(b'T', COLUMNS, &mut out);
                for row in rows {
                    message(b'D', row, &mut out);
                }
                message(b'C', format!("SELECT {}\0", rows.len()).as_bytes(), &mut out);
            }
            Piece::Changed(count) => message(b'C', format!("INSERT 0 {count}\0").as_bytes(), &mut out),
            Piece::Copied(count) => {
                message(b'H', b"\0\0\0", &mut out);
                (0..*count).for_each(|_| message(b'd', b"1\t2\n", &mut out));
                message(b'c', b"", &mut out);
                message(b'C', format!("COPY {count}\0").as_bytes(), &mut out);
            }
            Piece::Error => message(b'E', b"SERROR\0C40001\0Mno\0\0", &mut out),
            Piece::Notice => message(b'N', b"SNOTICE\0Mhear\0\0", &mut out),
            Piece::Parameter(is_on) => {
                let value = if *is_on { "on" } else { "off" };
                message(b'S', format!("standard_conforming_strings\0{value}\0").as_bytes(), &mut out);
            }
        }
    }
    message(b'Z', b"I", &mut out);
    out
}

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

fn pieces() -> impl Strategy<Value = Vec<Piece>> {
    let row = prop::collection::vec(any::<u8>(), 0..40);
    let piece = prop_oneof![
        3 => prop::collection::vec(row, 0..20).prop_map(Piece::Rows),
        1 => any::<u32>().prop_map(Piece::Changed),
        1 => (0..9_u32).prop_map(Piece::Copied),
        1 => Just(Piece::Error),
        1 => Just(Piece::Notice),
        1 => any::<bool>().prop_map(Piece::Parameter),
    ];
    prop::collection::vec(piece, 0..6)
}

proptest! {
    #[test]
    fn a_reply_is_the_same_however_it_is_cut(
        pieces in pieces(),
        cuts in prop::collection::vec(1..60_usize, 1..10),
        keeps_first: bool,
    ) {
        let bytes = reply(&pieces);
        let mut reply = Reply::default();
        reply.begin(keeps_first, false);
        prop_assert_eq!(fed(&mut reply, &bytes, &cuts).unwrap(), (bytes.len(), true));
        let (mut rows, mut affected) = (0, 0);
        for piece in &pieces {
            match piece {
                Piece::Rows(found) => rows += found.len() as u64,
                Piece::Changed(count) => affected += u64::from(*count),
                Piece::Copied(count) => (rows, affected) = (rows + u64::from(*count), affected + u64::from(*count)),
                _ => {}
            }
        }
        prop_assert_eq!((reply.rows, reply.affected), (rows, affected));
        let fails = pieces.iter().any(|piece| matches!(piece, Piece::Error));
        prop_assert_eq!(reply.refusal.is_some(), fails);
        let first = pieces.iter().find(|piece| matches!(piece, Piece::Rows(_) | Piece::Changed(_) | Piece::Copied(_)));
        let first = match first {
            Some(Piece::Rows(rows)) if keeps_first => rows.first().cloned().unwrap_or_default(),
            _ => Vec::new(),
        };
        prop_assert_eq!(&reply.first, &first);
        let last = pieces.iter().rev().find_map(|piece| if let Piece::Parameter(is_on) = piece { Some(!is_on) } else { None });
        prop_assert_eq!(reply.session.backslash_escapes, last.unwrap_or(false));
    }

    #[test]
    fn any_bytes_end_in_a_reply_or_an_error(
        bytes in prop_oneof![
            prop::collection::vec(any::<u8>(), 0..300),
            prop::collection::vec((prop::sample::select(b"TDCEZSNtGHdcK1".to_vec()), prop::collection::vec(any::<u8>(), 0..30)), 0..20)
                .prop_map(|messages| {
                    let mut out = Vec::new();
                    for (letter, body) in &messages {
                        message(*letter, body, &mut out);
                    }
                    out
                }),
        ],
        cuts in prop::collection::vec(1..60_usize, 1..4),
    ) {
        let mut reply = Reply::default();
        reply.begin(true, false);
        let _ = fed(&mut reply, &bytes, &cuts);
        prop_assert!(reply.first.len() <= bytes.len());
    }

    #[test]
    fn any_row_makes_a_document(
        row in prop::collection::vec(any::<u8>(), 0..80),
        oids in prop::collection::vec(prop::sample::select(vec![16_u32, 17, 20, 21, 23, 25, 114, 700, 1082, 1114, 1700]), 1..6),
    ) {
        let mut body = (oids.len() as u16).to_be_bytes().to_vec();
        for oid in &oids {
            body.extend_from_slice(b"c\0\0\0\0\0\0\0");
            body.extend_from_slice(&oid.to_be_bytes());
            body.extend_from_slice(&[0; 8]);
        }
        let mut columns = Vec::new();
        prop_assert!(read_columns(&body, &mut columns).is_some());
        let row = [&(oids.len() as u16).to_be_bytes(), row.as_slice()].concat();
        let mut view = Vec::new();
        let write = |out: &mut brimline_sql::view::Row<'_>| crate::row::write(&columns, &row, out);
        brimline_sql::view::append_view(&mut view, 0, 0, Some(write));
        prop_assert!(bson::Document::from_reader(view.as_slice()).is_ok());
    }
}

#[test]
fn lies_are_found() {
    let told = |bytes: &[u8]| {
        let mut reply = Reply::default();
        reply.begin(true, false);
        reply.feed(bytes).map(|fed| fed.is_done).map_err(|lost| lost.message)
    };
    for (bytes, words) in [
        (b"D\0\0\0\x03".as_slice(), "impossible length"),
        (b"D\xff\xff\xff\xff", "impossible length"),
        (b"C\x02\0\0\0", "16 MiB"),
        (b"T\0\0\0\x06\0\x01", "cut"),
        (b"t\0\0\0\x04", "cut"),
        (b"G\0\0\0\x04", "COPY"),
        (b"R\0\0\0\x08\0\0\0\0", "'R'"),
        (b"E\0\0\0\x05C", "cut"),
    ] {
        assert!(told(bytes).is_err_and(|message| message.contains(words)), "{bytes:?}");
    }
    assert_eq!(told(b"D\x3f\xff\xff\xffabc"), Ok(false));
}
