//! A real server. By hand: `BRIMLINE_TEST_MYSQL=127.0.0.1:3306 BRIMLINE_TEST_CA=ca.pem
//! cargo test -p brimline-mysql real -- --ignored`.
//! It has a database `shop` and `max_allowed_packet` of 1G;
//! the users `u` and `tlsonly` (REQUIRE SSL), both with the password `mysecret`, may write there.

use brimline_mysql::{Connector, Settings, StatementStep};
use brimline_net::link::{Looks, Part};
use brimline_sql::settings::{Bulk, Column, ColumnType, Form};
use brimline_sql::statement::{Mode, StatementSpec};

use crate::support::{Client, connector_of, real_logins, real_refusals, settings, step};

fn address() -> String {
    std::env::var("BRIMLINE_TEST_MYSQL").expect("BRIMLINE_TEST_MYSQL has host:port of a server")
}

fn connector(settings: Settings, steps: &[StatementStep]) -> Connector {
    connector_of(settings, "u", "mysecret", steps)
}

const VALUES: &str = "SELECT 1 AS i, 5000000000 AS l, 1.50 AS d, 2.5e0 AS f, 'é' AS t, NULL AS n, \
    CAST('2024-02-29 12:00:00.125' AS DATETIME(3)) AS at, DATE'2024-02-29' AS day, X'00ff' AS b, \
    CAST(18446744073709551615 AS UNSIGNED) AS big, CAST('-12:30:00' AS TIME) AS span";

#[test]
#[ignore = "needs a real server"]
fn logins_and_what_refuses_them() {
    let good = [("u", false), ("u", true), ("tlsonly", true)];
    let bad = [("u", "wrong"), ("tlsonly", "mysecret"), ("nobody", "")];
    real_logins::<Connector>(&address(), &good, &bad);
}

#[test]
#[ignore = "needs a real server"]
fn values_go_out_and_come_back() {
    let table = "CREATE TABLE v (id INT PRIMARY KEY, l BIGINT, d DECIMAL(10,2), f DOUBLE, t TEXT, at DATETIME(3), b BLOB, j JSON, ok BOOL)";
    let mut settings = settings(&address(), "shop");
    settings.setup = vec!["DROP TABLE IF EXISTS v".to_owned(), table.to_owned()];
    let steps = [
        step("text", VALUES, Mode::Text, 0),
        step("prepared", VALUES, Mode::Prepared, 0),
        step("insert", "INSERT INTO v VALUES (?,?,?,?,?,?,?,?,?)", Mode::Prepared, 9),
        step("select", "SELECT * FROM v WHERE id = ?", Mode::Prepared, 1),
        step("rows", "INSERT INTO v (id, t, b) VALUES", Mode::Rows, 1),
        step("count", "SELECT COUNT(*) AS n FROM v", Mode::Prepared, 0),
        step("update", "UPDATE v SET l = ? WHERE id > ?", Mode::Prepared, 2),
        step("slash", "SET sql_mode = 'NO_BACKSLASH_ESCAPES'", Mode::Text, 0),
        step("endless", "SELECT seq, REPEAT('x', 1000) FROM seq_1_to_100000", Mode::Prepared, 0),
        step("long", "SELECT REPEAT('x', 40000000) AS x", Mode::Text, 0),
        step("bad", "INSERT INTO v (id) VALUES (?)", Mode::Prepared, 1),
    ];
    let mut client = Client::connect(&connector(settings, &steps)).unwrap();
    let [text, prepared] = [client.look(0, bson::bson!([])), client.look(1, bson::bson!([]))];
    println!("{text}\n{prepared}");
    assert_eq!(text, prepared);
    let row = text.get_array("rows").unwrap()[0].as_document().unwrap();
    let at = bson::DateTime::parse_rfc3339_str("2024-02-29T12:00:00.125Z").unwrap();
    assert_eq!((row.get_i32("i").unwrap(), row.get_i64("l").unwrap()), (1, 5_000_000_000));
    assert_eq!((row.get_str("t").unwrap(), row.get_datetime("at").unwrap()), ("é", &at));
    assert_eq!(row.get_str("span").unwrap(), "-12:30:00");

    let decimal: bson::Decimal128 = "9.99".parse().unwrap();
    let bytes = bson::Binary { subtype: bson::spec::BinarySubtype::Generic, bytes: vec![0, 255] };
    let values =
        bson::bson!([1, 5_000_000_000_i64, decimal, 2.5, "it's \\ é", at, bytes.clone(), {"a": [1]}, true]);
    assert_eq!(client.ask(2, values.clone()).unwrap().affected, 1);
    let view = client.look(3, bson::bson!([1]));
    let expected = bson::doc! { "id": 1, "l": 5_000_000_000_i64, "d": decimal, "f": 2.5, "t": "it's \\ é", "at": at, "b": bytes, "j": {"a": [1]}, "ok": 1 };
    assert_eq!(view, bson::doc! { "rows": [expected], "affected": 0_i64, "n": 1_i64 });

    let duplicate = client.ask(2, values).unwrap().refusal.unwrap();
    assert_eq!((duplicate.code, duplicate.label.as_str()), (1062, "23000"));
    for (first, mode) in [(10, true), (20, false)] {
        if !mode {
            client.ask(7, bson::bson!([])).unwrap();
        }
        let bytes = bson::Binary { subtype: bson::spec::BinarySubtype::Generic, bytes: vec![39, 92, 0] };
        let rows = bson::bson!([[[first, "a'b\\c\n", bytes.clone()], [first + 1, null, null]]]);
        assert_eq!(client.ask(4, rows).unwrap().affected, 2);
        let view = client.look(3, bson::bson!([first]));
        let row = view.get_array("rows").unwrap()[0].as_document().unwrap();
        assert_eq!(row.get_str("t").unwrap(), "a'b\\c\n");
        assert_eq!(row.get("b"), Some(&bson::Bson::Binary(bytes)));
    }
    assert_eq!(client.look(5, bson::bson!([])).get_array("rows").unwrap()[0], bson::bson!({"n": 5_i64}));
    assert_eq!(client.ask(6, bson::bson!([1, 5])).unwrap().affected, 4);
    assert_eq!(client.ask(6, bson::bson!([1, 5])).unwrap().affected, 4, "rows that match count");
    let endless = client.ask(8, bson::bson!([])).unwrap();
    assert_eq!(endless.rows, 100_000);
    assert!(endless.bytes > 100_000_000);
    let long = client.look(9, bson::bson!([]));
    assert_eq!(
        long.get_array("rows").unwrap()[0].as_document().unwrap().get_str("x").unwrap().len(),
        40_000_000
    );
    // A request of several packets, whose reply goes on with their numbers.
    // The mode is not strict any more, so that the text is cut.
    let giant = bson::bson!([[[30, "x".repeat(40_000_000), null]]]);
    assert_eq!(client.ask(4, giant).unwrap().affected, 1);
    assert!(client.ask(10, bson::bson!([])).is_err());
    assert_eq!(client.ask(10, bson::bson!([99])).unwrap().affected, 1);
}

#[test]
#[ignore = "needs a real server"]
fn loads_transactions_and_several_results() {
    let mut settings = settings(&address(), "shop");
    settings.setup = vec![
        "DROP TABLE IF EXISTS load_it".to_owned(),
        "CREATE TABLE load_it (id BIGINT PRIMARY KEY, name TEXT, doc JSON)".to_owned(),
        "CREATE OR REPLACE PROCEDURE twice() BEGIN SELECT 1 AS a; SELECT 2 AS b UNION SELECT 3; END"
            .to_owned(),
    ];
    let column = |name: &str, path: Option<&str>, column_type| Column {
        name: name.to_owned(),
        path: path.map(|path| vec![path.to_owned()]),
        column_type,
    };
    settings.bulk = Some(Bulk {
        table: "load_it".to_owned(),
        columns: vec![
            column("id", Some("_id"), ColumnType::Bigint),
            column("name", Some("name"), ColumnType::Text),
            column("doc", None, ColumnType::Json),
        ],
        form: Form::Rows,
    });
    let of_two = StatementSpec {
        text: None,
        texts: vec!["SELECT 'a', ?".to_owned(), "SELECT 'b' AS x, ? AS y".to_owned()],
        mode: Mode::Prepared,
    };
    let steps = [
        step("begin", "BEGIN", Mode::Text, 0),
        step("insert", "INSERT INTO load_it (id) VALUES (?)", Mode::Prepared, 1),
        step("commit", "COMMIT", Mode::Text, 0),
        step("call", "CALL twice()", Mode::Prepared, 0),
        step("call as text", "CALL twice()", Mode::Text, 0),
        StatementStep { name: "two".to_owned(), request: of_two, slots: 2 },
        step("count", "SELECT COUNT(*) AS n FROM load_it", Mode::Text, 0),
        step("kill", "KILL CONNECTION_ID()", Mode::Text, 0),
    ];
    let mut client = Client::connect(&connector(settings, &steps)).unwrap();
    let documents = bson::bson!([{"_id": 1, "name": "O'Hare"}, {"_id": 2, "a": [{"b": "c\\'"}]}]);
    assert_eq!(client.ask_part(Part::Bulk, 0, documents, Looks::default()).unwrap().affected, 2);
    client.ask(0, bson::bson!([])).unwrap();
    assert_eq!(client.ask(1, bson::bson!([3])).unwrap().affected, 1);
    client.ask_part(Part::Rollback, 0, bson::bson!([]), Looks::default()).unwrap();
    let n = |client: &mut Client| client.look(6, bson::bson!([])).get_array("rows").unwrap()[0].clone();
    assert_eq!(n(&mut client), bson::bson!({"n": 2_i64}));
    for call in [3, 4] {
        let view = client.look(call, bson::bson!([]));
        assert_eq!(
            (view.get_i64("n").unwrap(), &view.get_array("rows").unwrap()[0]),
            (3, &bson::bson!({"a": 1}))
        );
    }
    let view = client.look(5, bson::bson!([1, "z"]));
    assert_eq!(view.get_array("rows").unwrap()[0], bson::bson!({"x": "b", "y": "z"}));
    let end = client.ask(7, bson::bson!([])).unwrap().refusal;
    println!("{end:?}");
}

#[test]
#[ignore = "needs a real server"]
fn a_statement_that_does_not_parse_is_refused_before_the_run() {
    let bad = vec![
        (
            step("place.insert", "INSERT INTO nowhere VALUES (?)", Mode::Prepared, 1),
            "step place.insert is refused",
        ),
        (step("latest", "SELECT 1 + ?", Mode::Prepared, 2), "takes 1 values, and the step gives it 2"),
        (step("odd", "SELEC 1", Mode::Prepared, 0), "SQL syntax"),
    ];
    real_refusals::<Connector>(&address(), bad);
}
