//! A real server. By hand: `BRIMLINE_TEST_POSTGRES=127.0.0.1:5432 BRIMLINE_TEST_CA=ca.pem
//! cargo test -p brimline-postgres real -- --ignored`. It has a database `shop` of the user `u`. By `pg_hba.conf` `u` logs in by
//! SCRAM, `md5user` by md5, `clearuser` in clear and `tlsonly` over TLS alone, all with the password `mysecret`.

use brimline_net::link::{Looks, LostKind, Part};
use brimline_postgres::{Connector, Settings, StatementStep};
use brimline_sql::settings::{Bulk, Column, ColumnType, Form};
use brimline_sql::statement::{Mode, StatementSpec};

use crate::support::{Client, connector_of, real_logins, real_refusals, settings, step};

fn address() -> String {
    std::env::var("BRIMLINE_TEST_POSTGRES").expect("BRIMLINE_TEST_POSTGRES has host:port of a server")
}

fn connector(settings: Settings, steps: &[StatementStep]) -> Connector {
    connector_of(settings, "u", "mysecret", steps)
}

const VALUES: &str = "SELECT 1 AS i, 5000000000 AS l, 1.50 AS d, 2.5::float8 AS f, 'é' AS t, NULL AS n, true AS ok, \
    TIMESTAMP '2024-02-29 12:00:00.125' AS at, TIMESTAMPTZ '2024-02-29 13:00:00.125+01' AS tz, DATE '2024-02-29' AS day, \
    '\\x00ff'::bytea AS b, '{\"a\":[1]}'::jsonb AS j, INTERVAL '1 day' AS span";

#[test]
#[ignore = "needs a real server"]
fn logins_and_what_refuses_them() {
    let good = [("u", false), ("u", true), ("md5user", false), ("clearuser", true), ("tlsonly", true)];
    let bad = [
        ("u", "wrong"),
        ("md5user", "wrong"),
        ("clearuser", "mysecret"),
        ("tlsonly", "mysecret"),
        ("nobody", "x"),
    ];
    real_logins::<Connector>(&address(), &good, &bad);
}

#[test]
#[ignore = "needs a real server"]
fn values_go_out_and_come_back() {
    let table = "CREATE TABLE v (id INT PRIMARY KEY, l BIGINT, d NUMERIC(10,2), f FLOAT8, t TEXT, at TIMESTAMPTZ, b BYTEA, j JSONB, ok BOOL)";
    let mut settings = settings(&address(), "shop");
    settings.setup = vec!["DROP TABLE IF EXISTS v".to_owned(), table.to_owned()];
    let steps = [
        step("text", VALUES, Mode::Text, 0),
        step("prepared", VALUES, Mode::Prepared, 0),
        step("insert", "INSERT INTO v VALUES ($1,$2,$3,$4,$5,$6,$7,$8,$9)", Mode::Prepared, 9),
        step("select", "SELECT * FROM v WHERE id = $1", Mode::Prepared, 1),
        step("rows", "INSERT INTO v (id, t, b, at, j, ok, f) VALUES", Mode::Rows, 1),
        step("count", "SELECT COUNT(*) AS n FROM v", Mode::Prepared, 0),
        step("update", "UPDATE v SET l = $1 WHERE id > $2", Mode::Prepared, 2),
        step("slash", "SET standard_conforming_strings = off", Mode::Text, 0),
        step(
            "endless",
            "SELECT n, REPEAT('x', 1000) FROM generate_series(1, 100000) AS n",
            Mode::Prepared,
            0,
        ),
        step("long", "SELECT REPEAT('x', 40000000) AS x", Mode::Text, 0),
        step("bad", "INSERT INTO v (id) VALUES ($1)", Mode::Prepared, 1),
        step("notice", "DO $$ BEGIN RAISE NOTICE 'hear'; END $$", Mode::Text, 0),
        step(
            "two",
            "SELECT 1 AS a; UPDATE v SET l = 0 WHERE id = 1; SELECT 2 AS b UNION SELECT 3",
            Mode::Text,
            0,
        ),
    ];
    let mut client = Client::connect(&connector(settings, &steps)).unwrap();
    let [text, prepared] = [client.look(0, bson::bson!([])), client.look(1, bson::bson!([]))];
    println!("{text}\n{prepared}");
    assert_eq!(text, prepared);
    let bytes =
        |bytes: &[u8]| bson::Binary { subtype: bson::spec::BinarySubtype::Generic, bytes: bytes.to_vec() };
    let decimal = |text: &str| text.parse::<bson::Decimal128>().unwrap();
    let at = bson::DateTime::parse_rfc3339_str("2024-02-29T12:00:00.125Z").unwrap();
    let day = bson::DateTime::parse_rfc3339_str("2024-02-29T00:00:00Z").unwrap();
    let row = bson::doc! { "i": 1, "l": 5_000_000_000_i64, "d": decimal("1.50"), "f": 2.5, "t": "é", "n": null, "ok": true,
    "at": at, "tz": at, "day": day, "b": bytes(&[0, 255]), "j": {"a": [1]}, "span": "1 day" };
    assert_eq!(text, bson::doc! { "rows": [row], "affected": 0_i64, "n": 1_i64 });

    let values = bson::bson!([1, 5_000_000_000_i64, decimal("9.99"), 2.5, "it's \\ é", at, bytes(&[0, 255]), {"a": [1]}, true]);
    assert_eq!(client.ask(2, values.clone()).unwrap().affected, 1);
    let view = client.look(3, bson::bson!([1]));
    let expected = bson::doc! { "id": 1, "l": 5_000_000_000_i64, "d": decimal("9.99"), "f": 2.5, "t": "it's \\ é", "at": at,
    "b": bytes(&[0, 255]), "j": {"a": [1]}, "ok": true };
    assert_eq!(view, bson::doc! { "rows": [expected], "affected": 0_i64, "n": 1_i64 });

    let duplicate = client.ask(2, values).unwrap().refusal.unwrap();
    assert_eq!((duplicate.code, duplicate.label.as_str()), (23_505, "23505"));
    println!("{}", duplicate.message);
    for (first, is_standard) in [(10, true), (20, false)] {
        if !is_standard {
            client.ask(7, bson::bson!([])).unwrap();
        }
        let rows = bson::bson!([[
            [first, "a'b\\c\n", bytes(&[39, 92, 0]), at, {"q": "'\\"}, true, f64::INFINITY],
            [first + 1, null, null, null, null, null, -1.5]
        ]]);
        assert_eq!(client.ask(4, rows).unwrap().affected, 2);
        let view = client.look(3, bson::bson!([first]));
        let row = view.get_array("rows").unwrap()[0].as_document().unwrap();
        assert_eq!(row.get_str("t").unwrap(), "a'b\\c\n");
        assert_eq!(row.get("b"), Some(&bson::Bson::Binary(bytes(&[39, 92, 0]))));
        assert_eq!(row.get("j"), Some(&bson::bson!({"q": "'\\"})));
        assert!(row.get_f64("f").unwrap().is_infinite());
    }
    assert_eq!(client.look(5, bson::bson!([])).get_array("rows").unwrap()[0], bson::bson!({"n": 5_i64}));
    assert_eq!(client.ask(6, bson::bson!([1, 5])).unwrap().affected, 4);
    let endless = client.ask(8, bson::bson!([])).unwrap();
    assert_eq!(endless.rows, 100_000);
    assert!(endless.bytes > 100_000_000);
    let long = client.look(9, bson::bson!([]));
    assert_eq!(
        long.get_array("rows").unwrap()[0].as_document().unwrap().get_str("x").unwrap().len(),
        40_000_000
    );
    assert!(client.ask(10, bson::bson!([])).is_err());
    assert!(client.ask(4, bson::bson!([[[1, "a\u{0}b", null, null, null, null, null]]])).is_err());
    let wrong = client.ask(10, bson::bson!(["x"])).unwrap().refusal.unwrap();
    assert_eq!((wrong.code, wrong.label.as_str()), (0, "22P02"));
    assert_eq!(client.ask(10, bson::bson!([99])).unwrap().affected, 1);
    assert_eq!(client.ask(11, bson::bson!([])).unwrap().refusal, None);
    let two = client.look(12, bson::bson!([]));
    assert_eq!(two, bson::doc! { "rows": [{"a": 1}], "affected": 1_i64, "n": 3_i64 });
}

#[test]
#[ignore = "needs a real server"]
fn loads_transactions_and_copies() {
    let mut settings = settings(&address(), "shop");
    settings.setup = vec![
        "DROP TABLE IF EXISTS \"load it\"".to_owned(),
        "CREATE TABLE \"load it\" (id BIGINT PRIMARY KEY, name TEXT, doc JSONB)".to_owned(),
    ];
    let column = |name: &str, path: Option<&str>, column_type| Column {
        name: name.to_owned(),
        path: path.map(|path| vec![path.to_owned()]),
        column_type,
    };
    let bulk = |form| Bulk {
        table: "load it".to_owned(),
        columns: vec![
            column("id", Some("_id"), ColumnType::Bigint),
            column("name", Some("name"), ColumnType::Text),
            column("doc", None, ColumnType::Json),
        ],
        form,
    };
    let of_two = StatementSpec {
        text: None,
        texts: vec!["SELECT 'a', $1".to_owned(), "SELECT 'b' AS x, $1 AS y".to_owned()],
        mode: Mode::Prepared,
    };
    let steps = [
        step("begin", "BEGIN", Mode::Text, 0),
        step("insert", "INSERT INTO \"load it\" (id) VALUES ($1)", Mode::Prepared, 1),
        step("count", "SELECT COUNT(*) AS n FROM \"load it\"", Mode::Text, 0),
        StatementStep { name: "two".to_owned(), request: of_two, slots: 2 },
        step("out", "COPY \"load it\" TO STDOUT", Mode::Text, 0),
        step("in", "COPY \"load it\" FROM STDIN", Mode::Text, 0),
        step("kill", "SELECT pg_terminate_backend(pg_backend_pid())", Mode::Text, 0),
    ];
    let none = Looks::default();
    for (form, first) in [(Form::Copy, 1), (Form::Rows, 11)] {
        settings.bulk = Some(bulk(form));
        let mut client = Client::connect(&connector(settings.clone(), &steps)).unwrap();
        let documents =
            bson::bson!([{"_id": first, "name": "O'Hare\t\\"}, {"_id": first + 1, "a": [{"b": "c\\'\n"}]}]);
        assert_eq!(client.ask_part(Part::Bulk, 0, documents.clone(), none).unwrap().affected, 2);
        let again = client.ask_part(Part::Bulk, 0, documents, none).unwrap().refusal.unwrap();
        assert_eq!(again.code, 23_505);
        let n = |client: &mut Client| client.look(2, bson::bson!([])).get_array("rows").unwrap()[0].clone();
        assert_eq!(n(&mut client), bson::bson!({"n": 2_i64}));
        client.ask(0, bson::bson!([])).unwrap();
        assert_eq!(client.ask(1, bson::bson!([99])).unwrap().affected, 1);
        assert!(client.ask(1, bson::bson!([99])).unwrap().refusal.is_some());
        // The transaction is void until it is rolled back.
        assert_eq!(client.ask(2, bson::bson!([])).unwrap().refusal.unwrap().label, "25P02");
        client.ask_part(Part::Rollback, 0, bson::bson!([]), none).unwrap();
        assert_eq!(n(&mut client), bson::bson!({"n": 2_i64}));
        let view = client.look(3, bson::bson!([1, "z"]));
        assert_eq!(view.get_array("rows").unwrap()[0], bson::bson!({"x": "b", "y": "z"}));
        assert_eq!(client.ask(4, bson::bson!([])).unwrap().rows, 2);
    }
    let mut client = Client::connect(&connector(settings.clone(), &steps)).unwrap();
    println!("{}", client.ask(6, bson::bson!([])).unwrap_err().message);
    let mut client = Client::connect(&connector(settings.clone(), &steps)).unwrap();
    assert_eq!(client.ask(5, bson::bson!([])).unwrap_err().kind, LostKind::BadReply);
    drop(client);
    settings.bulk = Some(Bulk { table: "nowhere".to_owned(), ..bulk(Form::Copy) });
    let mut client = Client::connect(&connector(settings, &steps)).unwrap();
    for _ in 0..2 {
        let missing =
            client.ask_part(Part::Bulk, 0, bson::bson!([{"_id": 1}]), none).unwrap().refusal.unwrap();
        assert_eq!(missing.label, "42P01");
    }
}

#[test]
#[ignore = "needs a real server"]
fn a_statement_that_does_not_parse_is_refused_before_the_run() {
    let bad = vec![
        (
            step("place.insert", "INSERT INTO nowhere VALUES ($1)", Mode::Prepared, 1),
            "step place.insert is refused",
        ),
        (step("latest", "SELECT 1 + $1", Mode::Prepared, 2), "takes 1 values, and the step gives it 2"),
        (step("odd", "SELEC 1", Mode::Prepared, 0), "syntax error"),
    ];
    real_refusals::<Connector>(&address(), bad);
}
