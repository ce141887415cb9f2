//! Documents: what was written is what is read, and is counted as mongod counts it. The expected replies and counters
//! are those of mongod 6.0.5.

use std::io::Write;

use crate::common::{Client, documents, message};
use brimline_testserver::{Data, Opcounters, Script, Server};
use bson::{Document, doc};

fn start() -> (Server, Client) {
    let server = Server::start(Script::default()).unwrap();
    let client = Client::connect(server.address());
    (server, client)
}

fn insert(client: &mut Client, documents: Vec<Document>) -> Document {
    client.ok(doc! {"insert": "c", "documents": documents})
}

fn find(client: &mut Client, filter: Document) -> Vec<Document> {
    client.batch(doc! {"find": "c", "filter": filter})
}

fn ids(documents: &[Document]) -> Vec<i32> {
    documents.iter().map(|document| document.get_i32("_id").unwrap()).collect()
}

fn range(ids: std::ops::Range<i32>) -> Vec<i32> {
    ids.collect()
}

#[test]
fn documents_are_found_again_byte_for_byte() {
    let (_server, mut client) = start();
    let document = doc! {
        "_id": "user1", "double": 1.5, "array": [1, {"a": null}], "date": bson::DateTime::from_millis(5),
        "binary": bson::Binary { subtype: bson::spec::BinarySubtype::Generic, bytes: vec![1, 2] },
    };
    assert_eq!(insert(&mut client, vec![document.clone()]), doc! {"n": 1, "ok": 1.0});
    assert_eq!(find(&mut client, doc! {"_id": "user1"}), [document]);
    assert!(find(&mut client, doc! {"_id": "user2"}).is_empty());
    assert!(client.batch(doc! {"find": "other", "filter": {"_id": "user1"}}).is_empty());
}

#[test]
fn a_document_sequence_is_an_array_sent_apart() {
    let (_server, mut client) = start();
    let body = doc! {"insert": "c", "$db": "db"};
    let sent = [doc! {"_id": 2}, doc! {"_id": 1}];
    client.socket.write_all(&message(1000, 0, &body, Some(("documents", &sent)))).unwrap();
    assert_eq!(client.receive(), (1000, doc! {"n": 2, "ok": 1.0}));
    assert_eq!(ids(&find(&mut client, doc! {})), [1, 2]);
}

#[test]
fn a_document_without_an_id_gets_one() {
    let (_server, mut client) = start();
    insert(&mut client, vec![doc! {"a": 1}, doc! {"a": 1}]);
    let found = find(&mut client, doc! {});
    assert_eq!(found.len(), 2);
    assert_ne!(found[0].get_object_id("_id").unwrap(), found[1].get_object_id("_id").unwrap());
}

#[test]
fn a_duplicate_id_is_a_write_error_and_stops_an_ordered_insert() {
    let (server, mut client) = start();
    insert(&mut client, vec![doc! {"_id": 1}]);
    let three = vec![doc! {"_id": 2}, doc! {"_id": 1}, doc! {"_id": 3}];
    let reply = insert(&mut client, three.clone());
    assert_eq!(reply.get_i32("n").ok(), Some(1));
    let error = reply.get_array("writeErrors").unwrap()[0].as_document().unwrap();
    assert_eq!((error.get_i32("index").ok(), error.get_i32("code").ok()), (Some(1), Some(11000)));
    assert_eq!(error.get_document("keyValue").ok(), Some(&doc! {"_id": 1}));
    let reply = client.ok(doc! {"insert": "c", "documents": three, "ordered": false});
    assert_eq!(reply.get_i32("n").ok(), Some(1));
    assert_eq!(reply.get_array("writeErrors").unwrap().len(), 2);
    assert_eq!(ids(&find(&mut client, doc! {})), [1, 2, 3]);
    assert_eq!(server.counts().opcounters.insert, 1 + 2 + 3, "what was attempted");
}

#[test]
fn ranges_and_limits_select_in_the_order_of_ids() {
    let (_server, mut client) = start();
    insert(&mut client, (0..10).rev().map(|id| doc! {"_id": id}).collect());
    insert(&mut client, vec![doc! {"_id": "text"}]);
    let cases = [
        (doc! {"$gte": 7}, vec![7, 8, 9]),
        (doc! {"$gt": 7.0}, vec![8, 9]),
        (doc! {"$lt": 2}, vec![0, 1]),
        (doc! {"$lte": 2_i64}, vec![0, 1, 2]),
        (doc! {"$gt": 2, "$lt": 5}, vec![3, 4]),
        (doc! {"$gte": 4, "$lte": 4}, vec![4]),
        (doc! {"$gt": 4, "$lte": 4}, vec![]),
        (doc! {"$gt": 4, "$lt": 4}, vec![]),
        (doc! {"$gte": 5, "$lt": 3}, vec![]),
        (doc! {"$eq": 6}, vec![6]),
    ];
    for (condition, expected) in cases {
        assert_eq!(ids(&find(&mut client, doc! {"_id": condition.clone()})), expected, "{condition}");
    }
    let scan = doc! {"find": "c", "filter": {"_id": {"$gte": 3}}, "limit": 4, "sort": {"_id": 1}};
    assert_eq!(ids(&client.batch(scan)), [3, 4, 5, 6]);
}

#[test]
fn what_the_store_does_not_understand_is_refused_rather_than_ignored() {
    let (_server, mut client) = start();
    for refused in [
        doc! {"find": "c", "filter": {"name": 1}},
        doc! {"find": "c", "filter": {"_id": {"$in": [1]}}},
        doc! {"find": "c", "sort": {"_id": -1}},
        doc! {"find": "c", "skip": 1},
        doc! {"find": "c", "limit": -1},
        doc! {"find": "c", "projection": {"a": 1, "b": 0}},
        doc! {"aggregate": "c", "pipeline": [{"$sort": {"_id": 1}}], "cursor": {}},
        doc! {"aggregate": "c", "pipeline": [{"$group": {"_id": "$a", "n": {"$sum": 1}}}], "cursor": {}},
    ] {
        assert_eq!(client.code(refused.clone()), 2, "{refused}");
    }
}

#[test]
fn a_cursor_hands_out_the_rest_in_batches() {
    let (server, mut client) = start();
    insert(&mut client, (0..250).map(|id| doc! {"_id": id}).collect());
    let cursor_id = |reply: &Document| reply.get_document("cursor").unwrap().get_i64("id").unwrap();
    let first = client.ok(doc! {"find": "c"});
    assert_eq!(ids(&documents(&first, "firstBatch")), range(0..101));
    let id = cursor_id(&first);
    let next = client.ok(doc! {"getMore": id, "collection": "c", "batchSize": 100});
    assert_eq!(ids(&documents(&next, "nextBatch")), range(101..201));
    assert_eq!(cursor_id(&next), id);
    let last = client.ok(doc! {"getMore": id, "collection": "c"});
    assert_eq!(ids(&documents(&last, "nextBatch")), range(201..250));
    assert_eq!(cursor_id(&last), 0);
    assert_eq!(client.code(doc! {"getMore": id, "collection": "c"}), 43);
    assert_eq!(server.counts().opcounters.getmore, 3);

    let limited = client.ok(doc! {"find": "c", "limit": 30, "batchSize": 20});
    let rest = client.ok(doc! {"getMore": cursor_id(&limited), "collection": "c", "batchSize": 20});
    assert_eq!(ids(&documents(&rest, "nextBatch")), range(20..30));
    assert_eq!(cursor_id(&rest), 0);

    let id = cursor_id(&client.ok(doc! {"find": "c"}));
    let killed = client.ok(doc! {"killCursors": "c", "cursors": [id, 99_i64]});
    assert_eq!(killed.get_array("cursorsKilled").unwrap(), &vec![bson::Bson::Int64(id)]);
    assert_eq!(client.code(doc! {"getMore": id, "collection": "c"}), 43);
}

#[test]
fn a_cursor_is_left_open_only_where_mongod_leaves_one() {
    let (_server, mut client) = start();
    insert(&mut client, (0..6).map(|id| doc! {"_id": id}).collect());
    let mut is_open = |find| client.ok(find).get_document("cursor").unwrap().get_i64("id").ok() != Some(0);
    assert!(is_open(doc! {"find": "c", "batchSize": 6}), "a full batch is not looked behind");
    assert!(!is_open(doc! {"find": "c", "batchSize": 7}));
    assert!(!is_open(doc! {"find": "c", "batchSize": 2, "limit": 2}));
    assert!(!is_open(doc! {"find": "c", "batchSize": 1, "filter": {"_id": 1}}));
    assert!(!is_open(doc! {"find": "c", "batchSize": 2, "singleBatch": true}));
}

#[test]
fn projections_choose_fields() {
    let (_server, mut client) = start();
    insert(&mut client, vec![doc! {"_id": 1, "a": 2, "b": 3}]);
    let mut project =
        |projection: Document| client.batch(doc! {"find": "c", "projection": projection}).remove(0);
    assert_eq!(project(doc! {"b": 1}), doc! {"_id": 1, "b": 3});
    assert_eq!(project(doc! {"b": true, "_id": 0}), doc! {"b": 3});
    assert_eq!(project(doc! {"_id": 1}), doc! {"_id": 1});
    assert_eq!(project(doc! {"a": 0}), doc! {"_id": 1, "b": 3});
    assert_eq!(project(doc! {"_id": 0}), doc! {"a": 2, "b": 3});
    assert_eq!(project(doc! {}), doc! {"_id": 1, "a": 2, "b": 3});
}

#[test]
fn updates_set_replace_and_upsert() {
    let (_server, mut client) = start();
    insert(&mut client, vec![doc! {"_id": 1, "a": 1, "b": 1}, doc! {"_id": 2}]);
    let mut update = |statement: Document| client.ok(doc! {"update": "c", "updates": [statement]});
    let set = doc! {"q": {"_id": 1}, "u": {"$set": {"a": "new", "c": 3}}};
    assert_eq!(update(set.clone()), doc! {"n": 1, "nModified": 1, "ok": 1.0});
    assert_eq!(update(set), doc! {"n": 1, "nModified": 0, "ok": 1.0}, "nothing left to change");
    assert_eq!(
        update(doc! {"q": {"_id": 9}, "u": {"$set": {"a": 1}}}),
        doc! {"n": 0, "nModified": 0, "ok": 1.0}
    );
    assert_eq!(update(doc! {"q": {"_id": 2}, "u": {"x": 1}}), doc! {"n": 1, "nModified": 1, "ok": 1.0});
    assert_eq!(
        update(doc! {"q": {"_id": 3}, "u": {"$set": {"a": 1}}, "upsert": true}),
        doc! {"n": 1, "upserted": [{"index": 0, "_id": 3}], "nModified": 0, "ok": 1.0}
    );
    assert_eq!(
        update(doc! {"q": {"_id": {"$gte": 2}}, "u": {"$set": {"m": 1}}, "multi": true}),
        doc! {"n": 2, "nModified": 2, "ok": 1.0}
    );
    assert_eq!(
        find(&mut client, doc! {}),
        [
            doc! {"_id": 1, "a": "new", "b": 1, "c": 3},
            doc! {"_id": 2, "x": 1, "m": 1},
            doc! {"_id": 3, "a": 1, "m": 1},
        ]
    );
}

#[test]
fn an_update_that_fails_is_a_write_error_of_its_statement() {
    let (server, mut client) = start();
    insert(&mut client, vec![doc! {"_id": 1}]);
    let good = doc! {"q": {"_id": 1}, "u": {"$set": {"a": 1}}};
    for (bad, code) in [
        (doc! {"q": {"_id": 1}, "u": {"_id": 2}}, 66),
        (doc! {"q": {"_id": 1}, "u": {"$inc": {"a": 1}}}, 2),
        (doc! {"q": {"_id": 1}, "u": {"$set": {"a.b": 1}}}, 2),
        (doc! {"q": {"_id": 1}, "u": {"a": 1}, "multi": true}, 9),
    ] {
        let reply = client.ok(doc! {"update": "c", "updates": [bad.clone(), good.clone()]});
        let errors = reply.get_array("writeErrors").unwrap();
        assert_eq!(errors[0].as_document().unwrap().get_i32("code").ok(), Some(code), "{bad}");
        assert_eq!(reply.get_i32("n").ok(), Some(0), "an ordered command stops");
    }
    assert_eq!(server.counts().opcounters.update, 4, "the second statements were not attempted");
}

#[test]
fn deletes_and_counts() {
    let (server, mut client) = start();
    insert(&mut client, (0..10).map(|id| doc! {"_id": id}).collect());
    let statements = [
        doc! {"q": {"_id": {"$gte": 5}}, "limit": 1},
        doc! {"q": {"_id": {"$gte": 8}}, "limit": 0},
        doc! {"q": {"_id": 99}, "limit": 1},
    ];
    let reply = client.ok(doc! {"delete": "c", "deletes": &statements[..]});
    assert_eq!(reply, doc! {"n": 3, "ok": 1.0});
    assert_eq!(client.ok(doc! {"count": "c"}).get_i32("n").ok(), Some(7));
    assert_eq!(client.ok(doc! {"count": "c", "query": {"_id": {"$lt": 3}}}).get_i32("n").ok(), Some(3));
    let group = doc! {"$group": {"_id": 1, "n": {"$sum": 1}}};
    let counted = |filter: Document| {
        doc! {"aggregate": "c", "pipeline": [{"$match": filter}, group.clone()], "cursor": {}}
    };
    assert_eq!(client.batch(counted(doc! {})), [doc! {"_id": 1, "n": 7}]);
    assert_eq!(client.batch(counted(doc! {"_id": {"$gte": 6}})), [doc! {"_id": 1, "n": 2}]);
    assert!(client.batch(counted(doc! {"_id": 99})).is_empty());
    let count = doc! {"aggregate": "c", "pipeline": [{"$count": "all"}], "cursor": {}};
    assert_eq!(client.batch(count), [doc! {"all": 7}]);
    assert_eq!(server.counts().opcounters.delete, 3);
}

#[test]
fn collections_are_made_listed_and_dropped() {
    let (_server, mut client) = start();
    client.ok(doc! {"create": "a"});
    assert_eq!(client.code(doc! {"create": "a"}), 48);
    insert(&mut client, vec![doc! {}]);
    client.ok(doc! {"createIndexes": "d", "indexes": [{"key": {"x": 1}, "name": "x_1"}]});
    let names = |found: Vec<Document>| -> Vec<String> {
        found.iter().map(|document| document.get_str("name").unwrap().to_owned()).collect()
    };
    assert_eq!(names(client.batch(doc! {"listCollections": 1})), ["a", "c", "d"]);
    assert_eq!(names(client.batch(doc! {"listCollections": 1, "filter": {"name": "d"}})), ["d"]);
    let beginning = doc! {"listCollections": 1, "filter": {"name": {"$regex": "^c[a-z]*$"}}};
    assert_eq!(names(client.batch(beginning)), ["c"]);
    assert_eq!(names(client.batch(doc! {"listIndexes": "c"})), ["_id_"]);
    assert_eq!(client.code(doc! {"listIndexes": "missing"}), 26);
    client.ok(doc! {"drop": "a"});
    assert_eq!(client.code(doc! {"drop": "a"}), 26);
    let databases = client.ok(doc! {"listDatabases": 1});
    assert_eq!(databases.get_array("databases").unwrap().len(), 1);
    client.ok(doc! {"dropDatabase": 1});
    assert!(client.batch(doc! {"listCollections": 1}).is_empty());
}

#[test]
fn opcounters_count_what_mongod_counts() {
    let (server, mut client) = start();
    insert(&mut client, vec![doc! {"_id": 1}, doc! {"_id": 2}]);
    find(&mut client, doc! {});
    client.code(doc! {"find": "c", "filter": {"x": 1}});
    client.ok(doc! {"update": "c", "updates": [
        {"q": {"_id": 1}, "u": {"$set": {"a": 1}}}, {"q": {"_id": 9}, "u": {"$set": {"a": 1}}},
    ]});
    client.ok(doc! {"delete": "c", "deletes": [{"q": {"_id": 1}, "limit": 1}]});
    client.ok(doc! {"count": "c"});
    client.ping();
    client.code(doc! {"frobnicate": 1});
    let expected = Opcounters { insert: 2, query: 2, update: 2, delete: 1, getmore: 0, command: 2 };
    assert_eq!(server.counts().opcounters, expected);
    let status = client.ok(doc! {"serverStatus": 1});
    let reported = doc! {
        "insert": 2_i64, "query": 2_i64, "update": 2_i64, "delete": 1_i64, "getmore": 0_i64, "command": 3_i64,
    };
    assert_eq!(status.get_document("opcounters").ok(), Some(&reported));
}

#[test]
fn synthetic_data_has_every_key_and_keeps_nothing() {
    let script = Script {
        data: Data::Synthetic { document_bytes: 1000 },
        namespace: Some("db.c".to_owned()),
        ..Script::default()
    };
    let server = Server::start(script).unwrap();
    let mut client = Client::connect(server.address());
    let found = find(&mut client, doc! {"_id": "anything"});
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].to_vec().unwrap().len(), 1000);
    assert_eq!(client.batch(doc! {"find": "c", "filter": {"_id": {"$gte": 1}}, "limit": 17}).len(), 17);
    let update = doc! {"update": "c", "updates": [{"q": {"_id": "x"}, "u": {"$set": {"a": 1}}}]};
    assert_eq!(client.ok(update), doc! {"n": 1, "nModified": 1, "ok": 1.0});
    assert_eq!(insert(&mut client, vec![doc! {"_id": 1}, doc! {"_id": 1}]).get_i32("n").ok(), Some(2));
    assert_eq!(client.ok(doc! {"count": "c"}).get_i32("n").ok(), Some(2), "what was inserted");
    client.ok(doc! {"drop": "c"});
    assert_eq!(client.ok(doc! {"count": "c"}).get_i32("n").ok(), Some(0));
    assert!(client.batch(doc! {"find": "manifest"}).is_empty(), "another collection is a real one");
}
