"""Where the parameters of a statement are, whatever stands around them; what it is called, and what it is about."""

import pytest

from brimline.spec.own.problems import Problem
from brimline.spec.own.sql_text import DIALECTS, Dialect, Statement, read_statement
from brimline.spec.own.templates import Reference


def _read(text: str, dialect: Dialect) -> Statement:
    return read_statement(text, (), (dialect,))[dialect]


def _names(text: str, dialect: Dialect) -> list[str]:
    return [part.text for part in _read(text, dialect).parts if isinstance(part, Reference)]


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("SELECT $a, $b", ["$a", "$b"]),
        ("SELECT $a+$a", ["$a", "$a"]),
        ("SELECT ${a}b", ["$a"]),
        ("SELECT $row.sku", ["$row.sku"]),
        ("SELECT $a.", ["$a"]),
        ("SELECT $订单", ["$订单"]),
        ("SELECT '$a', $b", ["$b"]),
        ("SELECT 'it''s $a', $b", ["$b"]),
        ('SELECT "$a", $b', ["$b"]),
        ("SELECT `$a`, $b", ["$b"]),
        ("SELECT 1 -- $a\n, $b", ["$b"]),
        ("SELECT 1 /* $a */, $b", ["$b"]),
        ("SELECT a$b, $c", ["$c"]),
        ("SELECT $body$ '$a' $body$, $b", ["$b"]),
        ("SELECT $tag$a, $b", ["$tag", "$a", "$b"]),
        ("SELECT '$a' '$b'", []),
        ("SELECT x'$a'", []),
        ("SELECT ''", []),
        ("SELECT '', $a, ''", ["$a"]),
        ("SELECT 5.$a", ["$a"]),
        ("SELECT 1;", []),
        ("SELECT $a ; -- end", ["$a"]),
    ],
)
def test_a_name_is_a_parameter_where_it_is_no_text(dialect: Dialect, text: str, names: list[str]) -> None:
    assert _names(text, dialect) == names


@pytest.mark.parametrize(
    ("text", "mariadb", "postgresql"),
    [
        (r"SELECT 'a\' $b', $c", ["$c"], None),
        (r"SELECT E'a\' $b', $c", ["$c"], ["$c"]),
        (r"SELECT 'a\', $c", None, ["$c"]),
        ("SELECT 1 # $a\n, $b", ["$b"], ["$a", "$b"]),
        ("SELECT 5--1, $b", ["$b"], []),
        ("SELECT /* /* */ $a */ $b", ["$a", "$b"], ["$b"]),
        (r'SELECT "a\" $b", $c', ["$c"], None),
        ("SELECT ? , $c", None, ["$c"]),
    ],
)
def test_what_the_databases_read_in_different_ways(
    text: str, mariadb: list[str] | None, postgresql: list[str] | None
) -> None:
    for dialect, names in (("mysql", mariadb), ("postgres", postgresql)):
        if names is None:
            with pytest.raises(Problem):
                _read(text, dialect)  # type: ignore[arg-type]
        else:
            assert _names(text, dialect) == names  # type: ignore[arg-type]
    if mariadb != postgresql:
        with pytest.raises(Problem):
            read_statement(text, (), DIALECTS)


@pytest.mark.parametrize(
    ("text", "mariadb", "postgresql"),
    [
        ("SELECT $a, '$b', $c", "SELECT ?, '$b', ?", "SELECT $1, '$b', $2"),
        ("SELECT $$a", "SELECT $a", "SELECT $a"),
        ("  SELECT 1 ; ", "  SELECT 1", "  SELECT 1"),
        ("SELECT /*+ hint */ $a -- end", "SELECT /*+ hint */ ?", "SELECT /*+ hint */ $1"),
        ("SELECT $a::text", "SELECT ?::text", "SELECT $1::text"),
    ],
)
def test_parameters_are_written_as_the_dialect_has_them(text: str, mariadb: str, postgresql: str) -> None:
    assert [_read(text, dialect).text(dialect) for dialect in DIALECTS] == [mariadb, postgresql]


@pytest.mark.parametrize(
    ("text", "verb", "table"),
    [
        ("select 1", "select", ""),
        ("SELECT * FROM orders o JOIN b", "select", "orders"),
        ('SELECT * FROM "or/ders"', "select", "or ders"),
        ("(SELECT 1) UNION (SELECT 2)", "select", ""),
        ("-- why\nINSERT IGNORE INTO `orders` VALUES (1)", "insert", "orders"),
        ("UPDATE ONLY orders SET a = 1", "update", "orders"),
        ("DELETE FROM orders", "delete", "orders"),
        ("REPLACE INTO orders VALUES (1)", "replace", "orders"),
        ("WITH a AS (SELECT 1 FROM x) SELECT * FROM a", "select", "x"),
        ("WITH a AS (DELETE FROM x RETURNING *) INSERT INTO y SELECT * FROM a", "insert", "x"),
        ("CALL place(1)", "call", "place"),
        ("START TRANSACTION", "begin", ""),
        ("END", "commit", ""),
        ("TRUNCATE TABLE orders", "truncate", "orders"),
        ("CREATE TABLE IF NOT EXISTS orders (a INT)", "create", "orders"),
        ("EXPLAIN SELECT * FROM orders", "explain", "orders"),
        ("COPY orders FROM STDIN", "copy", "STDIN"),
    ],
)
def test_a_statement_is_called_what_the_server_counts(text: str, verb: str, table: str) -> None:
    statement = _read(text, "postgres")
    assert (statement.verb, statement.table) == (verb, table)


@pytest.mark.parametrize(
    ("text", "locks"),
    [
        ("SELECT 1 FROM a FOR UPDATE", True),
        ("SELECT 1 FROM a FOR SHARE NOWAIT", True),
        ("SELECT 1 FROM a FOR UPDATE SKIP LOCKED", True),
        ("SELECT 1 FROM a", False),
        ("SELECT 'for update'", False),
    ],
)
def test_a_select_that_locks_writes(text: str, locks: bool) -> None:
    assert _read(text, "mysql").locks is locks


def test_a_statement_of_a_megabyte_is_refused() -> None:
    with pytest.raises(Problem, match="is longer than"):
        _read("SELECT '" + "a" * 1_000_000 + "'", "mysql")


@pytest.mark.parametrize(
    ("text", "has_more"),
    [
        ("WITH x AS (DELETE FROM t RETURNING *) SELECT * FROM x", True),
        ("WITH x AS MATERIALIZED (INSERT INTO t VALUES (1) RETURNING a) SELECT a FROM x", True),
        ("SELECT * INTO other FROM t", True),
        ("SELECT a FROM t INTO OUTFILE '/tmp/a'", True),
        ("EXPLAIN ANALYZE DELETE FROM t", True),
        ("SELECT 1 /*! INTO OUTFILE 'a' */", True),
        ("SELECT * FROM t WHERE a = 'delete' -- into", False),
        ("SELECT REPLACE(a, 'x', 'y'), INSERT(a, 1, 2, 'x'), t.update FROM t", False),
        ("WITH x AS (SELECT 1) SELECT * FROM x", False),
    ],
)
def test_what_reads_and_writes_as_well(text: str, has_more: bool) -> None:
    assert _read(text, "mysql").has_more is has_more
