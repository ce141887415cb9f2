"""Each slip in a workload of SQL statements: line, path, what is wrong, and one hint."""

from pathlib import Path

import pytest

from brimline.errors import SpecError
from brimline.spec import load_spec

WORKLOAD = """protocol: sql
database: shop
collections: {{orders: {{records: 10, fields: {{total: double}}}}}}
values:
  id: {{kind: int, max: 5}}
  customer: {{kind: string, length: 5}}
operations:
  it: {step}
"""


def refusal(tmp_path: Path, text: str) -> tuple[str, str | None]:
    """What is said of a workload, without the directory and the line, and the hint."""
    file = tmp_path / "w.yaml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(SpecError) as raised:
        load_spec(file)
    line = raised.value.line
    assert line is not None, "the line is known"
    return raised.value.message.removeprefix(f"{file}:{line}: "), raised.value.hint


STATEMENTS = [
    ("{sql: 5}", "sql: must be a mapping, not 5", 'write it like "SELECT * FROM orders WHERE id = $id"'),
    ('{sql: ""}', 'sql: must be a statement, not ""', 'write sql: "SELECT * FROM orders WHERE id = $id"'),
    ('{sql: "  "}', 'sql: must be a statement, not "  "', 'write sql: "SELECT * FROM orders WHERE id = $id"'),
    ('{sql: "-- nothing"}', "sql: says nothing", 'write sql: "SELECT …"'),
    ('{sql: ";"}', "sql: says nothing", 'write sql: "SELECT …"'),
    ('{sql: "SELECT 1; SELECT 2"}', "sql: is more than one statement", "write one step for each, or a transaction"),
    (
        '{sql: "SELECT $idd"}',
        'sql: "$idd" is no value',
        'did you mean "$id"; a field path or literal text is written "$$idd"',
    ),
    (
        '{sql: "SELECT $id.x"}',
        'sql: "$id.x": $id.x: $id is an int, which has no fields',
        "write ${id}.x where .x is text",
    ),
    ('{sql: "SELECT $1"}', "sql: has $1, and parameters have names here", "write $name"),
    ('{sql: "SELECT $"}', "sql: has a $ that names no value", "write $name, or $$name for a name that begins with $"),
    ('{sql: "SELECT $$"}', "sql: has $$, which begins no name", "write $body$ … $body$ around a text"),
    ('{sql: "SELECT ${}"}', "sql: has a ${} that names no value", "write ${name}"),
    (
        '{sql: "SELECT ?"}',
        "sql: has a ?, which is a parameter without a name",
        "write $name for a value; for an operator of PostgreSQL write sql: {postgres: …}",
    ),
    ('{sql: "SELECT \'a"}', "sql: has a ' that isn't closed", "add ', or write '' for the sign itself"),
    ('{sql: "SELECT \\"a"}', "sql: has a \" that isn't closed", 'add ", or write "" for the sign itself'),
    ('{sql: "SELECT `a"}', "sql: has a ` that isn't closed", "add `, or write `` for the sign itself"),
    ('{sql: "SELECT /* a"}', "sql: has a comment that isn't closed", "add */"),
    (
        "{sql: \"SELECT 'it\\\\'s', $id, '$id'\"}",
        "sql: has a ' that isn't closed",
        "add ', or write '' for the sign itself",
    ),
    (
        '{sql: "BEGIN"}',
        "sql: begin belongs to a transaction",
        "write transaction: [{sql: …}, …], which begins and commits",
    ),
    (
        '{sql: "START TRANSACTION"}',
        "sql: begin belongs to a transaction",
        "write transaction: [{sql: …}, …], which begins and commits",
    ),
    (
        '{sql: "COMMIT"}',
        "sql: commit belongs to a transaction",
        "write transaction: [{sql: …}, …], which begins and commits",
    ),
    (
        '{sql: "ROLLBACK"}',
        "sql: rollback belongs to a transaction",
        "write transaction: [{sql: …}, …], which begins and commits",
    ),
    ('{sql: "(1)"}', 'sql: "(" begins no statement', 'write sql: "SELECT …"'),
    ("{sql: {}}", "sql.statement: is missing", 'add statement: "SELECT * FROM orders WHERE id = $id"'),
    ('{sql: {statment: "SELECT 1"}}', "sql.statment: unknown key", 'did you mean "statement"'),
    (
        "{sql: {statement: 5}}",
        "sql.statement: must be a statement, not 5",
        'write statement: "SELECT * FROM orders WHERE id = $id"',
    ),
    (
        '{sql: {statement: "SELECT 1", mysql: "SELECT 1"}}',
        "sql.mysql: has no place beside statement",
        "leave one of them out",
    ),
    (
        "{sql: {mysql: 5}}",
        "sql.mysql: must be a statement, not 5",
        'write mysql: "SELECT * FROM orders WHERE id = $id"',
    ),
    (
        '{sql: {postgres: ""}}',
        'sql.postgres: must be a statement, not ""',
        'write postgres: "SELECT * FROM orders WHERE id = $id"',
    ),
    ('{sql: {oracle: "SELECT 1"}}', "sql.oracle: unknown key", "known: statement, mysql, postgres, rows, row, count"),
    (
        '{sql: {statement: "SELECT 1", row: [1]}}',
        "sql.statement: must end with VALUES, as the rows follow it",
        'write statement: "INSERT INTO orders (id, customer) VALUES"',
    ),
    (
        '{sql: {statement: "INSERT INTO a VALUES", row: 5}}',
        "sql.row: must be a list of values, not 5",
        "write [$id, $customer]",
    ),
    (
        '{sql: {statement: "INSERT INTO a VALUES", row: []}}',
        "sql.row: must be a list of values, not a list",
        "write [$id, $customer]",
    ),
    (
        '{sql: {statement: "INSERT INTO a VALUES", row: [$idd]}}',
        'sql.row[0]: "$idd" is no value',
        'did you mean "$id"; a field path or literal text is written "$$idd"',
    ),
    (
        '{sql: {statement: "INSERT INTO a VALUES", row: [1], rows: [[1]]}}',
        "sql.rows: has no place beside row",
        "leave one of them out",
    ),
    (
        '{sql: {statement: "INSERT INTO a VALUES", rows: []}}',
        "sql.rows: must be a list of rows",
        "write rows: [[$id, $customer], […]]",
    ),
    (
        '{sql: {statement: "INSERT INTO a VALUES", rows: [1]}}',
        "sql.rows[0]: must be a list of values, not 1",
        "write [$id, $customer]",
    ),
    (
        '{sql: {statement: "INSERT INTO a VALUES", rows: [[1], [1, 2]]}}',
        "sql.rows[1]: has 2 values, and the first row 1",
        "give each row as many",
    ),
    (
        '{sql: {statement: "INSERT INTO a VALUES", rows: [[1]], count: 5}}',
        "sql.count: says how often a row is made",
        "write row in place of rows",
    ),
    (
        '{sql: {statement: "INSERT INTO a VALUES", row: [1], count: 0}}',
        "sql.count: must be a whole number from 1 to 100000, not 0",
        "write count: 10",
    ),
    (
        '{sql: {statement: "INSERT INTO a VALUES", row: [1], count: $id}}',
        'sql.count: must be a whole number from 1 to 100000, not "$id"',
        "write count: 10",
    ),
    ('{sql: {statement: "INSERT INTO a VALUES", count: 5}}', "sql.row: is missing", "add row: [$id, $customer]"),
    (
        '{sql: {statement: "INSERT INTO a SELECT $id VALUES", row: [1]}}',
        "sql.statement: has a parameter beside rows",
        "write it into the rows",
    ),
    (
        '{sql: {statement: "SELECT 1", expect: {rows: 1}}}',
        "sql.expect: belongs to the step, not into sql",
        "write it beside sql: {sql: {…}, expect: …}",
    ),
    ('{sql: "SELECT 1", expect: {row: 1}}', "expect.row: unknown key", 'did you mean "rows"'),
    (
        '{sql: "SELECT 1", expect: {rows: -1}}',
        "expect.rows: must be a number from 0 on, not -1",
        "write 1, or {min: 1}",
    ),
    ('{sql: "SELECT 1", expect: {rows: {min: 2, max: 1}}}', "expect.rows: min is above max", "exchange them"),
    ('{sql: "SELECT 1", expect: {rows: {}}}', "expect.rows: says nothing", "write {min: 1}"),
    ('{sql: "SELECT 1", expect: {documents: 1}}', "expect.documents: unknown key", "known: rows, affected, fields"),
    (
        '{sql: "SELECT 1", expect: {affected: x}}',
        'expect.affected: must be a number from 0 on, not "x"',
        "write 1, or {min: 1}",
    ),
    (
        '{sql: "SELECT 1", expect: {fields: {a: {matches: "("}}}}',
        "expect.fields.a.matches: is no regular expression: missing ), unterminated subpattern",
        "write \\ before a sign that stands for itself",
    ),
    (
        '{sql: "SELECT 1", expect: {fields: 5}}',
        "expect.fields: must be a mapping, not 5",
        "write it like {state: open}",
    ),
    ('{sql: "SELECT 1", save: {a: $id}}', 'save.a: "$id" begins with $, and a path of a reply doesn\'t', "write id"),
    (
        '{sql: "SELECT 1", save: {a: {path: x, from: reply}}}',
        'save.a.path: "x" is nothing that a reply says',
        "write affected, or n for how many rows came",
    ),
    (
        '{sql: "SELECT 1", save: {a: {path: x, from: document}}}',
        'save.a.from: "document" is no known value',
        "values: row, reply",
    ),
    (
        '{sql: "SELECT 1", save: {a: {path: x, pattern: "b"}}}',
        'save.a.pattern: "b" has no group',
        'put ( ) around what is kept: name="t" value="(.*?)"',
    ),
    ('{sql: "SELECT 1", save: {a: {pth: x}}}', "save.a.pth: unknown key", 'did you mean "path"'),
    ('{sql: "SELECT 1", save: {id: x}}', "save.id: $id is one of the values already", "save it under another name"),
    ('{select: "SELECT 1"}', 'select: "select" is no kind of step', 'write "sql"'),
    (
        "{find: {collection: orders}}",
        "find: is a command of MongoDB's, and the steps of this workload are SQL statements",
        "kinds of steps: sql, transaction",
    ),
    (
        "{get: /a}",
        "get: is a request of HTTP, and the steps of this workload are SQL statements",
        "kinds of steps: sql, transaction",
    ),
    ("{begin: true}", 'begin: "begin" is no kind of step', 'write "transaction" with the steps between them'),
    (
        "{steps: [{transaction: []}]}",
        "steps[0].transaction: must be a list of steps",
        'write it like [{sql: "SELECT * FROM orders WHERE id = $id"}]',
    ),
    (
        "{steps: [{transaction: 5}]}",
        "steps[0].transaction: must be a list of steps",
        'write it like [{sql: "SELECT * FROM orders WHERE id = $id"}]',
    ),
    ("{steps: [{transaction: {stps: []}}]}", "steps[0].transaction.stps: unknown key", 'did you mean "steps"'),
    (
        '{steps: [{transaction: {steps: [{sql: "SELECT 1"}], read_concern: majority}}]}',
        "steps[0].transaction.read_concern: unknown key",
        "none is known",
    ),
    (
        '{steps: [{transaction: [{transaction: [{sql: "SELECT 1"}]}]}]}',
        "steps[0].transaction[0].transaction: is a transaction inside a transaction",
        "let one follow the other",
    ),
    (
        '{steps: [{transaction: [{sql: "SELECT 1"}], expect: {rows: 1}}]}',
        "steps[0].expect: has no place beside transaction",
        "write expect at one of its steps",
    ),
    (
        '{steps: [{sql: "SELECT $a"}, {sql: "SELECT 1", save: {a: x}}]}',
        "steps[0].sql: $a is used before it is saved",
        "move the step that saves it before this one",
    ),
    ('{sql: "SELECT 1", think_time: 5}', "think_time: must be a duration, not 5", "write think_time: 20ms"),
]


@pytest.mark.parametrize(("step", "message", "hint"), STATEMENTS)
def test_a_slip_in_a_statement(tmp_path: Path, step: str, message: str, hint: str) -> None:
    said, told = refusal(tmp_path, WORKLOAD.format(step=step))
    assert (said.removeprefix("operations.it."), told) == (message, hint)
