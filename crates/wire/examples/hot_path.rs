//! Renders a find by key and scans its reply as often as the first argument says (default 1 000 000), for counting
//! instructions: run it under `valgrind --tool=callgrind` with two counts and divide the difference.

use std::hint::black_box;

use brimline_bson::Writer;
use brimline_wire::op_msg;
use brimline_wire::reply;
use brimline_wire::template::{Template, TemplateBuilder};

fn main() {
    let count: i32 = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(1_000_000);
    let find = find_by_key();
    let reply = find_reply();
    let mut out = Vec::new();
    for request_id in 0..count {
        out.clear();
        find.render(request_id, &mut out, |_, writer| {
            writer.string("_id", black_box("user6284781860667377211"));
        });
        black_box(&out);
        let scanned = reply::scan(black_box(&reply)).map(|reply| (reply.ok, reply.documents));
        assert_eq!(black_box(scanned), Ok((true, 1)));
    }
}

fn find_by_key() -> Template {
    TemplateBuilder::new()
        .fixed(|writer| writer.string("find", "usertable"))
        .begin_subdocument("filter")
        .slot()
        .end()
        .fixed(|writer| {
            writer.int32("limit", 1);
            writer.boolean("singleBatch", true);
            writer.string("$db", "ycsb");
        })
        .finish(0)
}

/// A standalone server's answer: one YCSB document of ten fields of 100 bytes.
fn find_reply() -> Vec<u8> {
    let mut message = Vec::new();
    op_msg::reply(&mut message, 1, 0, |writer| {
        let cursor = writer.begin_subdocument("cursor");
        let batch = writer.begin_array("firstBatch");
        let document = writer.begin_subdocument("0");
        write_record(writer);
        writer.end_document(document);
        writer.end_document(batch);
        writer.int64("id", 0);
        writer.string("ns", "ycsb.usertable");
        writer.end_document(cursor);
        writer.double("ok", 1.0);
    });
    message
}

fn write_record(writer: &mut Writer<'_>) {
    writer.string("_id", "user6284781860667377211");
    for field in 0..10 {
        writer.binary(&format!("field{field}"), &[b'x'; 100]);
    }
}
