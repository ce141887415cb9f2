"""Each slip in a person's own workload: line, path, what is wrong, and one hint."""

# ruff: noqa: E501 - a slip a line

import re
from pathlib import Path

import pytest

from brimline.errors import SpecError
from brimline.spec import load_spec
from brimline.spec.own.expressions import BUILT_IN

COLLECTIONS = """collections:
  orders: {records: 1k, fields: {total: double}}
  stock: {records: 10}
  legacy: existing
"""
VALUES = """values:
  customer: {key_of: stock}
  amount: {kind: int, max: 5}
  day: {kind: date, from: "2024-01-01", to: "2024-02-01"}
  pair: {sample: orders, fields: [_id, total]}
  sku: {csv: skus.csv}
"""


def refusal(tmp_path: Path, text: str) -> tuple[str, str | None]:
    """What is said of a spec, without the directory, and the hint."""
    (tmp_path / "skus.csv").write_text("sku,price\na,1\nb,2\n", encoding="utf-8")
    file = tmp_path / "own.yaml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(SpecError) as raised:
        load_spec(file)
    error = raised.value
    assert error.line is not None, "the line is known"
    return error.message.replace(f"{tmp_path}/", ""), error.hint


STEPS = [
    *((f"{{find: {{collection: orders}}, save: {{{name}: a}}}}", f"save.{name}: ${name} is built in", f"my_{name}") for name in BUILT_IN),
    ("{command: {command: {ping: 1}}}", "command.command: is no command", "stands directly under it: command: {ping: 1}"),
    ("{fnd: {collection: orders}}", 'fnd: "fnd" is no kind of step', 'did you mean "find"'),
    ("{findOne: {collection: orders}}", 'findOne: "findOne" is no kind of step', 'write "find" with limit: 1'),
    ("{stpes: []}", "stpes: unknown key", 'did you mean "steps"'),
    ("{load: closed, connections: 1}", "steps: is missing", "add steps, or one of find, aggregate"),
    ("{find: {collection: orders}, delete: {collection: orders}}", "delete: is a second step beside find", "write steps"),
    ("{steps: []}", "steps: must be a list of steps", "write it like [{find: {collection: orders}}]"),
    ("{steps: [{find: {collection: orders}, count: {}}]}", "steps[0].count: is a second step beside find", "begin each"),
    ("{steps: [{think_time: 5ms}]}", "steps: ends with a think_time", "a pause stands before a step"),
    ("{steps: [{think_time: 5}, {find: {collection: orders}}]}", "steps[0].think_time: must be a duration", "think_time: 20ms"),
    ("{find: {collection: ordres}}", 'find.collection: "ordres" is none of the collections', 'did you mean "orders"'),
    ("{find: {filter: {}}}", "find.collection: is missing", "add collection"),
    ("{find: orders}", 'find: must be a mapping, not "orders"', "write it like {collection: orders}"),
    ("{find: {collection: $customer}}", 'find.collection: "$customer" is none of the collections', "known: orders"),
    ("{find: {collection: orders, flter: {}}}", "find.flter: unknown key", 'did you mean "filter"'),
    ("{find: {collection: orders, save: {a: b}}}", "find.save: belongs to the step, not into find", "write it beside find"),
    ("{find: {collection: orders, limit: $customer}}", "find.limit: takes a number, and this is text", "write limit: 20"),
    ("{find: {collection: orders, limit: -1}}", "find.limit: must be a whole number from 0 on", "write limit: 20"),
    ("{find: {collection: orders, filter: 5}}", "find.filter: takes a document, and this is an int", "write filter: {"),
    ("{find: {collection: orders, filter: $amount}}", "find.filter: takes a document, and this is an int", "write filter"),
    ("{find: {collection: orders, batch_size: $amount}}", "find.batch_size: is the same for every operation", "write batch_size: 100"),
    ("{find: {collection: orders, filter: {a: {$gtee: 5}}}}", 'find.filter.a.$gtee: "$gtee" is no operator of a filter', 'did you mean "$gte"'),
    ("{find: {collection: orders, max_time: 2}}", "find.max_time: must be a duration", "write max_time: 20ms"),
    ("{find: {collection: orders, filter: {a: $cusotmer}}}", 'find.filter.a: "$cusotmer" is no value', 'did you mean "$customer"; a field path or literal text is written "$$cusotmer"'),
    ("{find: {collection: orders, filter: {a: $xyz}}}", 'find.filter.a: "$xyz" is no value', 'a field path or literal text is written "$$xyz"'),
    ("{find: {collection: orders, filter: {a: $sku.pricee}}}", 'find.filter.a: "$sku.pricee": the rows have no field pricee', 'did you mean "price"'),
    ("{find: {collection: orders, filter: {a: $pair.city}}}", 'find.filter.a: "$pair.city": the rows have no field city', "known: _id, total"),
    ("{find: {collection: orders, filter: {a: $amount.x}}}", "find.filter.a: $amount is an int, which has no fields", "write $amount"),
    ("{find: {collection: orders, filter: {a: $now.x}}}", "find.filter.a: $now has no fields", "write $now"),
    ("{find: {collection: orders, filter: {a: {$date: tomorrow}}}}", "find.filter.a.$date: is no Extended JSON", "write {$date:"),
    ("{find: {collection: orders, filter: {a: {$date: $now}}}}", "find.filter.a.$date: $date makes a constant and takes no value", "write $now"),
    ("{find: {collection: orders, filter: {a: {$oid: xyz}}}}", "find.filter.a.$oid: is no Extended JSON", "write {$oid:"),
    ("{find: {collection: orders, filter: {a: {kind: int, max: 5}}}}", "find.filter.a: would be sent as a document, and looks like a value", 'write {$value: {kind: "int", …}}'),
    ("{find: {collection: orders, filter: {a: {$value: {kind: int, mxa: 5}}}}}", "find.filter.a.$value.mxa: unknown key", 'did you mean "max"'),
    ("{find: {collection: orders, filter: {a: {$value: {kind: itn}}}}}", 'find.filter.a.$value: "itn" is no known kind', 'did you mean "int"'),
    ("{find: {collection: orders, filter: {a: 99999999999999999999}}}", "find.filter.a: 99999999999999999999 is no 64-bit integer", "numberDecimal"),
    ("{aggregate: {collection: orders}}", "aggregate.pipeline: is missing", "add pipeline"),
    ("{aggregate: {collection: orders, pipeline: [{$group: {_id: $total}}]}}", 'aggregate.pipeline[0].$group._id: "$total" is no value', 'a field path or literal text is written "$$total"'),
    ("{aggregate: {collection: orders, pipeline: [{$project: {a: $$ROOT}}]}}", 'aggregate.pipeline[0].$project.a: "$$ROOT" would be sent as "$ROOT"', 'write "$$$ROOT"'),
    ("{aggregate: {collection: orders, pipeline: [{$mtch: {}}]}}", 'aggregate.pipeline[0].$mtch: "$mtch" is no stage', 'did you mean "$match"'),
    ("{aggregate: {collection: orders, pipeline: [{$group: {_id: 1, n: {$summ: 1}}}]}}", 'aggregate.pipeline[0].$group.n.$summ: "$summ" is no accumulator', 'did you mean "$sum"'),
    ("{aggregate: {collection: orders, pipeline: [{a: 1}]}}", "aggregate.pipeline[0]: is no stage", "a stage has one key"),
    ("{aggregate: {collection: orders, pipeline: $customer}}", "aggregate.pipeline: takes a list of stages, and this is text", "write ["),
    ("{insert: {collection: orders}}", "insert.document: is missing", "add document or documents"),
    ("{insert: {collection: orders, document: {}, documents: [{}]}}", "insert.documents: has no place beside document", "leave one"),
    ("{insert: {collection: orders, documents: {}}}", "insert.documents: must be a list of documents", "write documents: ["),
    ("{insert: {collection: orders, document: {}, count: 0}}", "insert.count: must be a whole number from 1 to 100000", "write count: 10"),
    ("{insert: {collection: orders, document: {$set: {a: 1}}}}", "insert.document.$set: \"$set\" can't begin a field's name", "write the document's fields"),
    ("{insert: {collection: orders, document: $amount}}", "insert.document: takes a document, and this is an int", "write document"),
    ("{insert: {collection: orders, document: {a: {$value: {kind: array, length: 20, of: {kind: binary, length: 1MiB}}}}}}", "insert: is at least", "make it shorter"),
    ("{insert: {collection: orders, count: 4, document: {a: {$value: {kind: string, length: 15MiB}}}}}", "insert: is at least", "insert fewer or shorter documents"),
    ("{update: {collection: orders, filter: {}}}", "update.update: is missing", "add update"),
    ("{update: {collection: orders, filter: {}, update: {a: 1}}}", 'update.update.a: "a" is no operator', "write {$set: {…}}"),
    ("{update: {collection: orders, filter: {}, update: {$st: {a: 1}}}}", 'update.update.$st: "$st" is no operator of an update', 'did you mean "$set"'),
    ("{update: {collection: orders, filter: {}, update: {$icn: {a: 1}}}}", 'update.update.$icn: "$icn" is no operator of an update', 'did you mean "$inc"'),
    ("{update: {collection: orders, filter: {}, update: {$set: {a: 1}}, many: 1}}", "update.many: must be true or false, not 1", "write many: true"),
    ("{replace: {collection: orders, filter: {}, replacement: {$set: {a: 1}}}}", 'replace.replacement.$set: "$set" is an operator', "write update"),
    ("{find_and_modify: {collection: orders, filter: {}}}", "find_and_modify.update: is missing", "add update or replacement or remove"),
    ("{bulk_write: {collection: orders, requests: [{find: {}}]}}", 'bulk_write.requests[0].find: "find" is no request', "known: insert"),
    ("{bulk_write: {collection: orders, requests: [{update: {filter: {}}}]}}", "bulk_write.requests[0].update.update: is missing", "add update"),
    ("{command: {ping: 1, $db: admin}}", "command.$db: is added by brimline", "write database beside command"),
    ("{command: {getMore: 1}}", "command.getMore: brimline sends getMore itself", "leave it out"),
    ("{transaction: []}", "transaction: must be a list of steps", "write it like"),
    ("{transaction: [{transaction: [{find: {collection: orders}}]}]}", "transaction[0].transaction: is a transaction inside a transaction", "let one follow the other"),
    ("{transaction: [{count: {collection: orders}}]}", "transaction[0].count: the server has no count in a transaction", "write aggregate"),
    ("{transaction: [{find: {collection: orders, read_concern: local}}]}", "transaction[0].find.read_concern: belongs to the transaction", "write transaction: {steps"),
    ("{steps: [{find: {collection: orders, filter: {a: $city}}}, {find: {collection: orders}, save: {city: city}}]}", "steps[0].find.filter.a: $city is used before it is saved", "move the step"),
    ("{find: {collection: orders}, save: {customer: a}}", "save.customer: $customer is one of the values already", "save it under another name"),
    ("{find: {collection: orders}, save: {city: $a}}", 'save.city: "$a" begins with $', "write a"),
    ("{find: {collection: orders}, expect: {documnets: 1}}", "expect.documnets: unknown key", 'did you mean "documents"'),
    ("{delete: {collection: orders, filter: {}}, expect: {documents: 1}}", "expect.documents: unknown key", "known: n, deleted, fields"),
    ("{find: {collection: orders}, expect: {documents: {min: 3, max: 1}}}", "expect.documents: min is above max", "exchange them"),
    ("{share: 50%, load: closed, find: {collection: orders}}", "load: has no place beside share", "leave one of them out"),
    ("{connections: 2, find: {collection: orders}}", "connections are those of a load of its own", "add load"),
    ("{load: {kind: constnat, rate: 1/s}, find: {collection: orders}}", 'load: "constnat" is no known kind', 'did you mean "constant"'),
    ("{load: {kind: constant, raet: 1/s}, find: {collection: orders}}", "load.raet: unknown key", 'did you mean "rate"'),
    ("{share: lots, find: {collection: orders}}", 'share: must be a fraction such as 0.2, but is "lots"', "write it like"),
    ("7", "must be an operation, not 7", "write {share: 50%"),
]  # fmt: skip


@pytest.mark.parametrize(("step", "message", "hint"), STEPS)
def test_a_slip_in_an_operation(tmp_path: Path, step: str, message: str, hint: str) -> None:
    fine = "{share: 50%, find: {collection: orders}}" if "share: 5" in step else "{find: {collection: orders}}"
    said, advice = refusal(tmp_path, f"{COLLECTIONS}{VALUES}operations:\n  fine: {fine}\n  it:\n    {step}\n")
    assert re.sub(r"^own\.yaml:1[34]: operations\.it(\.|: )", "", said).startswith(message), said
    assert advice is not None
    assert hint in advice


VALUE_SLIPS = [
    ("{knd: int}", 'x.knd: "knd" begins no value', 'did you mean "kind"'),
    ("{city: Beijing}", 'x.city: "city" begins no value', "a document is written {document: {city: …}}"),
    ("{}", "x: says nothing", "write a value"),
    ("{kind: int, mni: 5}", "x.mni: unknown key", 'did you mean "min"'),
    ("{kind: int, min: 9, max: 5}", "x: min is above max", "exchange them"),
    ("{key_of: ordres}", 'x.key_of: "ordres" is none of the collections', 'did you mean "orders"'),
    ("{key_of: legacy}", 'x.key_of: "legacy" is existing, so that its keys', "take rows that exist: {sample: legacy"),
    ("{key_of: orders, keys: zipfan}", 'x.keys: "zipfan" is no known kind', 'did you mean "zipfian"'),
    ("{key_of: orders, keys: latest}", "x.keys: latest is about records that the run inserts", "write {latest_key_of: orders"),
    ("{new_record_of: legacy}", 'x.new_record_of: "legacy" is existing', "sample: legacy"),
    ("{sample: orders, feilds: [a]}", "x.feilds: unknown key", 'did you mean "fields"'),
    ("{sample: orders, fields: a}", "x.fields: must be a list of fields", "write fields: [_id, city]"),
    ("{sample: orders, order: radnom}", 'x.order: "radnom" is no known value', 'did you mean "random"'),
    ("{sample: orders, at_end: stop}", "x.at_end: rows drawn at random have no end", "leave at_end out, or add order: in_turn"),
    (
        "{csv: skus.csv, scope: worker, at_end: stop}",
        "x.scope: rows that each connection takes for itself begin again at their end",
        "leave scope out, or at_end: stop",
    ),
    ("{csv: missing.csv}", "x.csv: can't read missing.csv: No such file or directory", "relative to the workload's file"),
    ("{csv: skus.csv, column: pirce}", 'x.column: the rows have no column "pirce"', 'did you mean "price"'),
    ("{csv: skus.csv, types: {sku: int}}", 'x.csv: skus.csv:2: sku is "a", which its type can\'t read', "mend the cell"),
    ("{csv: skus.csv, types: {price: flaot}}", 'x.types.price: "flaot" is no known value', "known: text, int"),
    ("{csv: skus.csv, types: {prcie: int}}", 'x.types.prcie: skus.csv has no column "prcie"', 'did you mean "price"'),
    ("{csv: empty.csv}", "x.csv: empty.csv is empty", "its first line names the columns"),
    ("{csv: header.csv}", "x.csv: header.csv has no rows", "a row is drawn from it"),
    ("{csv: ragged.csv}", "x.csv: ragged.csv:3: has 3 cells, and the header 2", "give each row as many"),
    ("{csv: twice.csv}", 'x.csv: twice.csv:1: the column "a" is there twice', "give each its own name"),
    ("{csv: latin.csv}", "x.csv: latin.csv is not UTF-8 text", "save it as UTF-8"),
    ("{jsonl: bad.jsonl}", "x.jsonl: bad.jsonl:2: is no JSON", "write one document a line"),
    ("{jsonl: list.jsonl}", "x.jsonl: list.jsonl:1: is no document", "write one document a line"),
    ("{one_of: []}", "x.one_of: must be a list with a value", "write one_of"),
    ("{one_of: [{value: a, weight: -1}]}", "x.one_of[0].weight: must be a number from 0 on", "write weight: 3"),
    ("{one_of: [{value: a, weight: 0}]}", "x.one_of: needs a weight above 0", "write weight: 1"),
    ("{add: [1, text]}", "x.add[1]: add takes a number, and this is text", "give a number"),
    ("{divide: [1, 0]}", "x.divide[1]: can't divide by 0", "give another number"),
    ("{subtract: [1]}", "x.subtract: must be a list of 2 values", "write subtract: [$a, 2]"),
    ("{lower: 5}", "x.lower: lower takes text, and this is an int", "give text"),
    ("{round: [1.5, many]}", "x.round[1]: must be 0 to 15 places", "write round: [$x, 2]"),
    ("{date_add: {date: $now, by: 7}}", "x.date_add.by: 7 has no unit", 'write "7s"'),
    ("{date_add: {date: $now, by: 999999999999d}}", 'x.date_add.by: "999999999999d" leads out of the years 1 to 9999', "take fewer days"),
    ("{date_add: {date: $now, by: -9999999d}}", 'x.date_add.by: "-9999999d" leads out of the years 1 to 9999', "take fewer days"),
    ("{date_add: {date: $now, by: 3000000d}}", "x.date_add.by: leads out of the years 1 to 9999", "take fewer days"),
    ("{date_add: {date: {$date: \"9999-12-31\"}, by: 1d}}", "x.date_add.by: leads out of the years 1 to 9999", "take fewer days"),
    ("{date_add: {date: {$date: \"9999-12-31\"}, by: {$numberLong: -900000000000000}}}", "x.date_add.by: leads out of the years 1 to 9999", "take fewer days"),
    ("{list: [{$numberLong: 18446744073709551616}]}", "x.list[0].$numberLong: is no Extended JSON", "write {$numberLong: 5}"),
    ("{list: [{$numberLong: 1.5}]}", "x.list[0].$numberLong: is no Extended JSON: is no whole number", "write {$numberLong: 5}"),
    ("{list: [{$numberDecimal: x}]}", "x.list[0].$numberDecimal: is no Extended JSON: is no decimal", "write {$numberDecimal:"),
    ('{list: [{$regularExpression: {pattern: "a\\0b", options: ""}}]}', "x.list[0].$regularExpression: is no Extended JSON: Invalid document", "write {$regularExpression:"),
    ("{list: [{$numberInt: 5}]}", "x.list[0].$numberInt: is no Extended JSON", 'write {$numberInt: "5"}'),
    ("{list: [{$date: 253402300800000}]}", "x.list[0].$date: is no Extended JSON: is not within the years 1 to 9999", "write {$date:"),
    ("{list: [{$date: {$numberLong: \"-99999999999999\"}}]}", "x.list[0].$date: is no Extended JSON: is not within the years 1 to 9999", "write {$date:"),
    ("{list: [{$date: \"9999-12-31T23:59:59-01:00\"}]}", "x.list[0].$date: is no Extended JSON: must be a date", "write {$date:"),
    ("{date_add: {date: 5, by: 7d}}", "x.date_add.date: date_add takes a date, and this is an int", "give a date"),
    ("{date_trunc: {date: $now, unit: dya}}", 'x.date_trunc.unit: "dya" is no known value', 'did you mean "day"'),
    ("{date_add: {date: $now, by: 1, unit: fortnight}}", 'x.date_add.unit: "fortnight" is no known value', "known: year"),
    ("{date_ceil: {date: 5, unit: day}}", "x.date_ceil.date: date_ceil takes a date, and this is an int", "give a date"),
    ("{date_part: {date: $now, part: huor}}", 'x.date_part.part: "huor" is no known value', 'did you mean "hour"'),
    ("{date_part: {date: $now}}", "x.date_part.part: is missing", "add part"),
    ("{abs: text}", "x.abs: abs takes a number, and this is text", "give a number"),
    ("{abs: {$numberDecimal: \"-1\"}}", "x.abs: abs can't calculate with a decimal", "give an int"),
    ("{trim: 5}", "x.trim: trim takes text, and this is an int", "give text"),
    ("{between: [1]}", "x.between: must be a list of 2 values", "write between: [$a, 2]"),
    ("{between: [1, text]}", "x.between[1]: nothing is between text and another", "give two numbers"),
    ("{between: [1, .inf]}", "x.between[1]: must be finite, but is inf", "write a number"),
    ("{between: [.nan, 1]}", "x.between[0]: must be finite, but is nan", "write a number"),
    ("{between: [5, 1.5]}", "x.between: begins at 5 and ends at 1.5", "exchange them"),
    ("{one_of: [{value: 1, weight: .inf}, 2]}", "x.one_of: has a weight for some of its values only", "write each as"),
    ("{between: [1, $now]}", "x.between: nothing is between a date and a number", "give two numbers, or two dates"),
    ("{ngrams: {of: 5}}", "x.ngrams.of: ngrams takes text, and this is an int", "give text"),
    ("{ngrams: {of: $run, min: 0}}", "x.ngrams.min: must be a number from 1 on, not 0", "write min: 3"),
    ("{ngrams: {of: $run, min: 5, max: 4}}", "x.ngrams.min: is above max", "exchange them"),
    ("{join: {of: text}}", "x.join.of: join takes a list, and this is text", "give a list"),
    ("{join: {of: [a], by: 5}}", "x.join.by: by takes text, and this is an int", "give text"),
    ("{element: {of: text, at: 0}}", "x.element.of: element takes a list, and this is text", "of text there is substring"),
    ("{element: {of: [1], at: first}}", "x.element.at: at takes a number, and this is text", "give a number"),
    ("{element: {of: [1]}}", "x.element.at: is missing", "add at"),
    ("{repeat: {of: 1}}", "x.repeat.count: is missing", "add count"),
    ("{repeat: {of: 1, count: 2.5}}", "x.repeat.count: must be a whole number up to 1000, not 2.5", "give at most 1000"),
    ("{repeat: {of: 1, count: {kind: int, min: -5, max: 5}}}", "x.repeat.count: reaches -5", "write min: 0"),
    ("{min: [x, 1]}", "x.min[0]: min can't take text", "give numbers, or dates"),
    ("{max: [$now, 1]}", "x.max: max takes no date beside a number", "give numbers, or dates"),
    ("{int: {document: {a: 1}}}", "x.int: int can't take a document", "give a number, text"),
    ("{text: {list: [1]}}", "x.text: text can't take a list", "give a number, text"),
    ("{abs: null}", "x.abs: abs takes a number, and this is null", "give a number"),
    ("{repeat: {of: 1, count: 1001}}", "x.repeat.count: must be a whole number up to 1000, not 1001", "give at most 1000"),
    ("{repeat: {of: 1, count: $worker}}", "x.repeat.max: is missing, as the count varies", "add max: 1000"),
    ("{repeat: {of: 1, count: 9, max: 5}}", "x.repeat.max: is below the count, which reaches 9", "write max: 9"),
    ("{repeat: {of: 1, count: many}}", "x.repeat.count: count takes a number, and this is text", "give a number"),
    ("{repeat: {of: 1, key: 5, count: 2}}", "x.repeat.key: key takes text, and this is an int", "give text"),
    ("{repeat: {of: {new_key_of: orders}, count: 2}}", "x.repeat.of: takes new records, or rows in turn", "name the value"),
    ("{repeat: {of: {csv: skus.csv, column: sku}, count: 2}}", "x.repeat.of: takes new records, or rows in turn", "order: random"),
    ("{map: {over: 5, as: each, of: $each}}", "x.map.over: map takes a list, and this is an int", "give a list"),
    ("{map: {over: [1], as: now, of: 1}}", "x.map.as: $now is a value already", "one_now"),
    ("{map: {over: [1], as: a b, of: 1}}", 'x.map.as: "a b" can\'t name an element', "take letters"),
    ("{map: {over: [1], as: each, of: $eahc}}", 'x.map.of: "$eahc" is no value', 'did you mean "$each"'),
    ("{kind: decimal, min: 5, max: 1}", "x: min is above max", "exchange them"),
    ("{kind: decimal, min: 0.001, max: 1}", "x: min has more than 2 decimals", "raise decimals or round it"),
    ("{kind: decimal, min: abc}", 'x.min: is no decimal number: "abc"', "write it like"),
    ("{kind: decimal, max: 1e18}", "x: max has more than 64 bits without its point", "take fewer decimals"),
    ("{kind: normal, standard_deviation: -1}", "x: standard_deviation is below 0", "give 0 or more"),
    ("{kind: normal, type: int, decimals: 2}", "x: decimals are of doubles, and type is int", "leave decimals out"),
    ("{concat: [{list: [1]}]}", "x.concat[0]: a list can't be put together", "give text"),
    ("{multiply: [$x, 2]}", "x.multiply[0]: is defined in a circle: $x → $x", "let one of them"),
    ("{multiply: [$y, 2]}", "x.multiply[0]: \"$y\" is no value", "$$y"),
    ("{text: $city}", "x.text: $city is saved by a step, and a named value is drawn before", "write it where it is used"),
]  # fmt: skip


@pytest.mark.parametrize(("form", "message", "hint"), VALUE_SLIPS)
def test_a_slip_in_a_value(tmp_path: Path, form: str, message: str, hint: str) -> None:
    for name, content in (
        ("empty.csv", b""),
        ("header.csv", b"a,b\n"),
        ("ragged.csv", b"a,b\n1,2\n1,2,3\n"),
        ("twice.csv", b"a,a\n1,2\n"),
        ("latin.csv", b"a\n\xe9\n"),
        ("bad.jsonl", b'{"a": 1}\n{a\n'),
        ("list.jsonl", b"[1]\n"),
    ):
        (tmp_path / name).write_bytes(content)
    text = f"{COLLECTIONS}values:\n  x:\n    {form}\n"
    text += "operations:\n  it: {find: {collection: orders}, save: {city: city}}\n"
    said, advice = refusal(tmp_path, text)
    assert re.sub(r"^own\.yaml:[67]: values\.", "", said).startswith(message), said
    assert advice is not None
    assert hint in advice


def test_a_lone_surrogate_has_its_line(tmp_path: Path) -> None:
    said, advice = refusal(
        tmp_path, COLLECTIONS + 'operations:\n  it: {find: {collection: orders, comment: "\\ud800"}}'
    )
    assert said == "own.yaml:6: operations.it.find.comment: holds a character that can't be stored"
    assert advice == "write text without lone surrogates"


WHOLE = [
    ("values: {a: {text: $b}, b: {text: $c}, c: {text: $a}}\noperations: {it: {find: {collection: orders}}}", "values.c.text: is defined in a circle: $a → $b → $c → $a", "let one"),
    ("values: {now: 5}\noperations: {it: {find: {collection: orders}}}", "values.now: $now is built in", "choose another name"),
    ("values: {a b: 5}\noperations: {it: {find: {collection: orders}}}", 'values.a b: "a b" can\'t name a value', "take letters"),
    ("operations: {read: {find: {collection: orders}}}", "operations.read: read is one of brimline's own operations", "choose another name, such as my_read"),
    ("operations: {read: 0.5, update: 0.5}", "operations.read: must be an operation with steps", "write read: {share: 50%"),
    ("operations: [read, update]", "operations: must be operations by name, not a list", "write operations: {look: {share: 50%"),
    ("operations: read", 'operations: must be operations by name, not "read"', "write operations: {look: {share: 50%"),
    ("operations: {a=b: {find: {collection: orders}}}", 'operations.a=b: "a=b" can\'t name an operation', "take at most 80"),
    ("operations: {}", "operations: ", ""),
    ("operations: {a: {share: 50%, find: {collection: orders}}, b: {share: 0.5, find: {collection: orders}}}", "operations: mix percentages and plain numbers", "write all shares the same way"),
    ("operations: {a: {share: 0, find: {collection: orders}}}", "operations: have shares that add up to 0", "give at least one"),
    ("operations: {a: {share: 0.5, find: {collection: orders}}, b: {share: 0.4, find: {collection: orders}}}", "operations: have shares that add up to 0.9", "fractions must add up to 1"),
    ("operations: {a: {share: 0.5, find: {collection: orders}}, b: {find: {collection: orders}}}", "operations.b: has no share, while others have one", "add share, or load"),
    ("operations: {" + ", ".join(f"o{n}: {{find: {{collection: orders}}}}" for n in range(65)) + "}", "operations: are 65, and a workload has at most 64", "make them fewer"),
    ("operations: {a: {find: {collection: orders}, save: {city: c}}, b: {find: {collection: orders, filter: {c: $city}}}}", "operations.b.find.filter.c: $city is saved by a, not by this operation", "save city in an earlier step"),
    ("operations: {a: {load: closed, find: {collection: orders}}}\nload: {kind: constant, rate: 5/s}", "load: each operation has a load of its own", "leave load out"),
    ("operations: {a: {find: {collection: orders}}}\nkeys: uniform", "keys: says nothing about operations of your own", "leave keys out"),
    ("operations: {a: {find: {collection: orders}}}\nread_all_fields: false", "read_all_fields: says nothing", "leave read_all_fields out"),
    ("operations: {a: {find: {collection: orders}}}\ndata: {records: 5}", "data.records: has no place beside collections", "write it in the collection"),
    (
        "operations: {a: {share: 1, find: {collection: orders}}, b: {share: 0, find: {collection: orders}}}\nslo: {b: {response_p99: 5ms}}",
        "slo.b is about an operation that the workload doesn't have",
        "give operations.b a share",
    ),
    ("scans: {scenarios: [{name: all of it, filter: all}]}", "operations: is missing", "add operations"),
    ("operations: {aa: {find: {collection: orders}}}\nslo: {ab: {response_p99: 5ms}}", "slo.ab: is no operation of the workload", "known: aa"),
    ("operations: {a: {find: {collection: orders}}}\nslo: {a: {response_p9: 5ms}}", "slo.a.response_p9: unknown key", "response_p99"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("path", "value", "message", "hint"),
    [
        ("data.records", "5k", "data.records: has no place beside collections", "write it in the collection"),
        ("keys", "uniform", "keys: says nothing about operations of your own", "leave keys out"),
        ("operation_log", True, "operation_log: has no rows for operations of your own", "leave operation_log out"),
        ("operations.read", 1, "operations.read: read is one of brimline's own operations", "choose another name"),
    ],
)
def test_what_a_command_line_says_of_keys_has_no_meaning(
    tmp_path: Path, path: str, value: object, message: str, hint: str
) -> None:
    file = tmp_path / "own.yaml"
    file.write_text(f"{COLLECTIONS}operations: {{it: {{find: {{collection: orders}}}}}}", encoding="utf-8")
    assert load_spec(file, overrides={"connections": 4, "duration": "5s"}).spec.connections == 4
    with pytest.raises(SpecError, match=re.escape(message)) as raised:
        load_spec(file, overrides={path: value})
    assert hint in (raised.value.hint or "")


@pytest.mark.parametrize(("text", "message", "hint"), WHOLE)
def test_a_slip_in_the_whole(tmp_path: Path, text: str, message: str, hint: str) -> None:
    said, advice = refusal(tmp_path, COLLECTIONS + text)
    assert said.partition(": ")[2].startswith(message), said
    assert hint in (advice or "")


COLLECTION_SLIPS = [
    ("{record: 5}", "orders.record: unknown key", 'did you mean "records"'),
    ("{}", "orders.records: is missing", "records"),
    ("exsiting", 'orders: must be a shape or existing, not "exsiting"', "write {records: 100k} or existing"),
    ("{records: 5, database: x}", "orders.database: has no place in a collection", "write database at the top"),
    ("{records: 5, collection: x}", "orders.collection: has no place in a collection", "the collection is called"),
    ("{records: 5, fields: {a: itn}}", 'orders.fields.a: "itn" is no known kind', 'did you mean "int"'),
    ("{records: 5, indexes: [{a: 2}]}", 'orders.indexes[0].keys: "a" can\'t be 2 in an index', "write 1, -1, hashed"),
    ("{records: 5, indexes: [{a: 1}, {a: 1}]}", 'orders.indexes[1]: there are two indexes called "a_1"', "leave one of them out"),
    ("{records: 5, indexes: [{keys: {a: 1}, uniqeu: true}]}", "orders.indexes[0].uniqeu: unknown option", 'did you mean "unique"'),
    ("{records: 5, options: {vaildator: {}}}", "orders.options.vaildator: unknown option", 'did you mean "validator"'),
    ("{records: 5, options: {validator: {a: $now}}}", "orders.options.validator: a collection is created once", "write the constant"),
    ("{records: 5, shard_key: {a: -1}}", 'orders.shard_key: "a" can\'t be -1 in a shard key', "write 1 or hashed"),
]  # fmt: skip


@pytest.mark.parametrize(("shape", "message", "hint"), COLLECTION_SLIPS)
def test_a_slip_in_a_collection(tmp_path: Path, shape: str, message: str, hint: str) -> None:
    text = f"collections:\n  other: {{records: 5}}\n  orders:\n    {shape}\noperations: {{it: {{find: {{collection: other}}}}}}"
    said, advice = refusal(tmp_path, text)
    assert re.sub(r"^own\.yaml:[34]: collections\.", "", said).startswith(message), said
    assert hint in (advice or "")


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("data: {records: 5}\noperations: {a: {find: {collection: orders}}}", "data: is of a workload whose", "write collections"),
        ("operations: {a: {find: {collection: orders}}}", "collections: is missing", "add collections"),
        ("data: {records: 5}\noperations: {read: 1}\nvalues: {a: 5}", "values: belongs to a workload with collections", "add collections"),
        ("data: {records: 5}\noperations: {read: 1}\ndatabase: x", "database: belongs to a workload with collections", "write data.database"),
        ("data: {records: 5}\noperations: {read: 1}\nslo: {raed: {response_p99: 5ms}}", "slo.raed: unknown key", 'did you mean "read"'),
    ],
)  # fmt: skip
def test_what_belongs_together(tmp_path: Path, text: str, message: str, hint: str) -> None:
    said, advice = refusal(tmp_path, text)
    assert said.partition(": ")[2].startswith(message), said
    assert hint in (advice or "")


SAVES = """collections:
  orders: {records: 1k, fields: {total: double, to: {kind: document, fields: {city: {kind: int}}}}}
  items: {records: 1k, fields: {sku: string}}
  legacy: existing
operations:
  it: {steps: [STEP, {find: {collection: orders, filter: {total: $x}}}]}
  other: {update: {collection: orders, filter: {}, update: {$set: {"paid.at": $now}}}}
"""


def test_what_no_document_has_can_t_be_saved(tmp_path: Path) -> None:
    step = "{find: {collection: orders}, save: {x: totl.a}}"
    said, advice = refusal(tmp_path, SAVES.replace("STEP", step))
    assert (
        said
        == 'own.yaml:6: operations.it.steps[0].save.x: "totl.a" is nowhere in the documents of orders, and no step writes it'
    )
    assert advice == 'did you mean "total"'
    inside = "{transaction: [{find_and_modify: {collection: orders, filter: {}, remove: true}, save: {x: totl}}]}"
    said, _ = refusal(tmp_path, SAVES.replace("STEP", inside))
    assert said.startswith("own.yaml:6: operations.it.steps[0].transaction[0].save.x: ")
    for step in (
        "{find: {collection: orders}, save: {x: to.city}}",
        "{find: {collection: orders}, save: {x: _id}}",
        "{find: {collection: orders}, save: {x: paid.at}}",
        "{find: {collection: orders, projection: {twice: {$add: [$$total, $$total]}}}, save: {x: twice}}",
        "{find: {collection: orders}, save: {x: {path: totl, default: 1}}}",
        "{find: {collection: legacy}, save: {x: totl}}",
        "{aggregate: {collection: orders, pipeline: []}, save: {x: totl}}",
        *(
            f"{written}, {{find: {{collection: orders}}, save: {{x: {field}}}}}"
            for written, field in (
                ('{update: {collection: orders, filter: {}, update: {$set: {"order-id": 5}}}}', "order-id"),
                ('{update: {collection: orders, filter: {}, update: {$set: {"order id.a": 5}}}}', "order id"),
                ("{insert: {collection: orders, document: {new_record_of: items}}}", "sku"),
                ("{aggregate: {collection: items, pipeline: [{$merge: orders}]}}", "sku"),
                ("{aggregate: {collection: items, pipeline: [{$sortByCount: $$sku}, {$merge: orders}]}}", "count"),
            )
        ),
    ):
        (tmp_path / "own.yaml").write_text(SAVES.replace("STEP", step), encoding="utf-8")
        load_spec(tmp_path / "own.yaml")
