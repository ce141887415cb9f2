"""Each slip in a workload of HTTP requests: line, path, what is wrong, and one hint."""

from pathlib import Path

import pytest

from brimline.errors import SpecError
from brimline.spec import load_spec
from brimline.spec.pairing import mismatch

WORKLOAD = """protocol: http
{head}
values:
  id: {{kind: int, max: 5}}
  customer: {{kind: string, length: 5}}
  pair: {{jsonl: rows.jsonl}}
operations:
  it: {step}
"""


def refusal(tmp_path: Path, text: str) -> tuple[str, str | None]:
    """What is said of a workload, without the directory and the line, and the hint."""
    (tmp_path / "rows.jsonl").write_text('{"a": 1}\n', encoding="utf-8")
    file = tmp_path / "w.yaml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(SpecError) as raised:
        load_spec(file)
    line = raised.value.line
    assert line is not None, "the line is known"
    return raised.value.message.removeprefix(f"{file}:{line}: "), raised.value.hint


REQUESTS = [
    ("{gte: /orders}", 'gte: "gte" is no kind of step', 'did you mean "get"'),
    ("{fetch: /orders}", 'fetch: "fetch" is no kind of step', 'write "get"'),
    (
        "{find: {collection: orders}}",
        "find: is a command of MongoDB's, and the steps of this workload are requests of HTTP",
        "kinds of steps: get, post, put, patch, delete, head, options, request",
    ),
    (
        '{sql: "SELECT 1"}',
        "sql: is an SQL statement, and the steps of this workload are requests of HTTP",
        "kinds of steps: get, post, put, patch, delete, head, options, request",
    ),
    ("{get: {}}", "get.path: is missing", "add path"),
    ("{get: 5}", "get: must be a mapping, not 5", "write it like {path: /orders/$id}"),
    ("{get: orders}", 'get: "orders" doesn\'t begin with /', "write path: /orders"),
    (
        "{get: http://h/orders}",
        'get: "http://h/orders" names a host',
        "the host is that of --uri or target.uri; write the path alone, such as /orders",
    ),
    ('{get: ""}', 'get: must be a path, not ""', "write path: /orders/$id"),
    ("{get: /a#b}", 'get: "/a#b" has a #, which is never sent', "leave it out, or write %23"),
    ("{get: /a%zz}", 'get: "/a%zz" has a % without two digits behind it', "write %25 for the sign itself"),
    ('{get: "/a\\n"}', "get: holds a control character", "leave it out"),
    ("{get: /$idd}", 'get: "$idd" is no value', 'did you mean "$id"; a field path or literal text is written "$$idd"'),
    (
        "{get: /$id.json}",
        'get: "/$id.json": $id.json: $id is an int, which has no fields',
        "write ${id}.json where .json is text",
    ),
    ("{get: /a$}", 'get: "/a$" has a $ that names no value', "write $$ for a dollar"),
    ('{get: "/a${}"}', 'get: "/a${}" has a ${} that names no value', "write $$ for a dollar"),
    ("{get: /a/$1}", 'get: "/a/$1" has a $ that names no value', "write $$ for a dollar"),
    ("{get: $$x}", 'get: "$$x" doesn\'t begin with /', "write path: /$$x"),
    ("{get: {path: /a, qery: {}}}", "get.qery: unknown key", 'did you mean "query"'),
    (
        "{get: {path: /a, query: [a]}}",
        "get.query: must be a mapping, not a list",
        "write it like {limit: 20, city: $city}",
    ),
    (
        "{get: {path: /a, query: {a: null}}}",
        "get.query.a: must be a value, not nothing",
        "write city: $city, or leave it out",
    ),
    (
        "{get: {path: /a, query: {a: {b: 1}}}}",
        "get.query.a: must be a value, not a mapping",
        "write city: $city, or leave it out",
    ),
    (
        "{get: {path: /a, query: {a: [1, [2]]}}}",
        "get.query.a[1]: must be a value, not a list",
        "write city: $city, or leave it out",
    ),
    (
        "{get: {path: /a, json: {a: 1}}}",
        "get.json: has no place in get, which sends no body",
        "leave json out, or write request: {method: GET, path: …, json: …}",
    ),
    ("{get: {path: /a, method: PUT}}", "get.method: get is the method", "leave it out, or write request: {method: …}"),
    (
        "{delete: {path: /a, body: x}}",
        "delete.body: has no place in delete, which sends no body",
        "leave body out, or write request: {method: DELETE, path: …, body: …}",
    ),
    ("{post: {path: /a, json: {a: 1}, form: {a: 1}}}", "post.form: has no place beside json", "leave one of them out"),
    (
        "{post: {path: /a, json: {a: $idd}}}",
        'post.json.a: "$idd" is no value',
        'did you mean "$id"; a field path or literal text is written "$$idd"',
    ),
    (
        '{post: {path: /a, json: {a: "no $id here"}}}',
        'post.json.a: "no $id here" would be sent with $id as text',
        'write {$value: {concat: ["no ", $id]}}',
    ),
    (
        "{post: {path: /a, json: {a: {kind: int, max: 5}}}}",
        "post.json.a: would be sent as a document, and looks like a value",
        'write {$value: {kind: "int", …}}; a document begins with another field',
    ),
    ("{post: {path: /a, form: 5}}", "post.form: must be a mapping, not 5", "write it like {name: $name}"),
    ("{post: {path: /a, form: {a: [1]}}}", "post.form.a: must be a value, not a list", "write name: $name"),
    ("{post: {path: /a, body: {a: 1}}}", "post.body: must be text, not a mapping", 'write body: "…"'),
    (
        '{post: {path: /a, body: "costs 5$"}}',
        'post.body: "costs 5$" has a $ that names no value',
        "write $$ for a dollar",
    ),
    ("{request: {path: /a}}", "request.method: is missing", "add method"),
    ('{request: {method: "A B", path: /a}}', 'request.method: "A B" is no method', "write a word such as PROPFIND"),
    (
        "{request: {method: CONNECT, path: /a}}",
        "request.method: CONNECT asks a proxy for a tunnel, and has no reply",
        "leave it out",
    ),
    ("{request: {method: 5, path: /a}}", "request.method: 5 is no method", "write a word such as PROPFIND"),
    ("{get: {path: /a, headers: 5}}", "get.headers: must be a mapping, not 5", "write it like {accept: text/html}"),
    (
        '{get: {path: /a, headers: {"a b": x}}}',
        'get.headers.a b: "a b" can\'t name a header',
        "take letters, digits and -",
    ),
    (
        "{get: {path: /a, headers: {host: x}}}",
        "get.headers.host: is added by brimline",
        "the address of the target says it",
    ),
    (
        "{get: {path: /a, headers: {Content-Length: 5}}}",
        "get.headers.Content-Length: is added by brimline",
        "it follows from the body",
    ),
    (
        "{get: {path: /a, headers: {connection: close}}}",
        "get.headers.connection: is added by brimline",
        "write http: {keep_alive: false} at the top",
    ),
    (
        "{get: {path: /a, headers: {accept: null}}}",
        "get.headers.accept: must be text, not nothing",
        'write accept: "…"',
    ),
    ("{get: {path: /a, headers: {accept: [a]}}}", "get.headers.accept: must be text, not a list", 'write accept: "…"'),
    (
        '{get: {path: /a, headers: {accept: "a\\r\\nb: c"}}}',
        "get.headers.accept: holds a line end, and a header is one line",
        "leave it out",
    ),
    (
        "{get: {path: /a, headers: {accept: 订单}}}",
        'get.headers.accept: "订单" has signs that no header may have',
        "write them percent-encoded",
    ),
    (
        '{get: {path: /a, headers: {Authorization: "Bearer abc"}}}',
        "get.headers.Authorization: is a secret, which would be stored with each run",
        "write http: {headers: {Authorization: {env: NAME}}}, or http: {bearer: {env: NAME}}",
    ),
    (
        "{get: {path: /a, headers: {x-api-key: abc}}}",
        "get.headers.x-api-key: is a secret, which would be stored with each run",
        "write http: {headers: {x-api-key: {env: NAME}}}, or http: {bearer: {env: NAME}}",
    ),
    (
        "{get: {path: /a, headers: {accept: a, Accept: b}}}",
        "get.headers: has a header twice, as small and capital letters mean the same",
        "leave one of them out",
    ),
    (
        "{get: {path: /a, save: {a: json.b}}}",
        "get.save: belongs to the step, not into get",
        "write it beside get: {get: {…}, save: …}",
    ),
    (
        "{get: /a, expect: 200}",
        "expect: must be a mapping, not 200",
        "write it like {status: 200, json: {state: open}}",
    ),
    (
        "{get: /a, expect: {status: ok}}",
        'expect.status: must be a status from 100 to 599, not "ok"',
        "write status: 200, or 2xx",
    ),
    (
        "{get: /a, expect: {status: 99}}",
        "expect.status: must be a status from 100 to 599, not 99",
        "write status: 200, or 2xx",
    ),
    ("{get: /a, expect: {status: []}}", "expect.status: says nothing", "write status: 200, or [200, 404]"),
    (
        "{get: /a, expect: {status: [200, 600]}}",
        "expect.status[1]: must be a status from 100 to 599, not 600",
        "write status: 200, or 2xx",
    ),
    (
        "{get: /a, expect: {status: {min: 300, max: 200}}}",
        "expect.status: has no status within its bounds",
        "write {min: 200, max: 299}",
    ),
    ("{get: /a, expect: {status: {}}}", "expect.status: has no status within its bounds", "write {min: 200, max: 299}"),
    ("{get: /a, expect: {stauts: 200}}", "expect.stauts: unknown key", 'did you mean "status"'),
    ("{get: /a, expect: {documents: 1}}", "expect.documents: unknown key", "known: status, headers, json, text"),
    ("{get: /a, expect: {json: 5}}", "expect.json: must be a mapping, not 5", "write it like {state: open}"),
    (
        "{get: /a, expect: {json: {$a: 5}}}",
        'expect.json.$a: "$a" begins with $, and a path of a reply doesn\'t',
        "write a",
    ),
    (
        '{get: /a, expect: {json: {a: {matches: "("}}}}',
        "expect.json.a.matches: is no regular expression: missing ), unterminated subpattern",
        "write \\ before a sign that stands for itself",
    ),
    (
        "{get: /a, expect: {json: {a: {contains: 5}}}}",
        "expect.json.a.contains: must be text, not 5",
        "write {contains: open}",
    ),
    (
        "{get: /a, expect: {json: {a..b: 5}}}",
        'expect.json.a..b: must be a path such as address.city, not "a..b"',
        "write save: {id: json.id}",
    ),
    (
        "{get: /a, expect: {headers: [a]}}",
        "expect.headers: must be a mapping, not a list",
        "write it like {content-type: {contains: json}}",
    ),
    (
        '{get: /a, expect: {text: {matches: "(?=a)"}}}',
        "expect.text.matches: \"(?=a)\" has look-around, which the engine's regular expressions don't have",
        "take the part of it that works without",
    ),
    (
        '{get: /a, expect: {text: {matches: "(a)\\\\1"}}}',
        "expect.text.matches: \"(a)\\1\" has a back-reference, which the engine's regular expressions don't have",
        "take the part of it that works without",
    ),
    (
        '{get: /a, expect: {text: {matches: "(?<!a)b"}}}',
        "expect.text.matches: \"(?<!a)b\" has look-around, which the engine's regular expressions don't have",
        "take the part of it that works without",
    ),
    (
        '{get: /a, expect: {text: {matches: "a++"}}}',
        "expect.text.matches: \"a++\" has a possessive quantifier, which the engine's regular expressions don't have",
        "leave the second + out",
    ),
    (
        '{get: /a, expect: {text: {matches: "(?>a)"}}}',
        "expect.text.matches: \"(?>a)\" has an atomic group, which the engine's regular expressions don't have",
        "take the part of it that works without",
    ),
    (
        '{get: /a, expect: {text: {matches: "[a"}}}',
        'expect.text.matches: "[a" has a [ that isn\'t closed',
        "write \\[ for the sign itself",
    ),
    (
        '{get: /a, expect: {text: {matches: "[[:alpha:]]"}}}',
        "expect.text.matches: \"[[:alpha:]]\" has [:alpha:], which the engine's regular expressions don't have",
        "write the characters, such as a-z",
    ),
    (
        '{get: /a, expect: {text: {matches: "{\\"id\\""}}}',
        'expect.text.matches: "{"id"" has a { that says no number',
        "write \\{ for the sign itself, {2} or {2,5} for how often",
    ),
    (
        '{get: /a, expect: {text: {matches: "\\\\q"}}}',
        "expect.text.matches: \"\\q\" has \\q, which the engine's regular expressions don't have",
        "write the sign itself, or [ ] with those that are meant",
    ),
    (
        '{get: /a, expect: {text: {matches: "a{2000}"}}}',
        'expect.text.matches: "a{2000}" repeats more than 1000 times',
        "write + or *",
    ),
    (
        '{get: /a, expect: {text: {matches: "[a&&b]"}}}',
        'expect.text.matches: "[a&&b]" has && in a class',
        "write it once, or \\&",
    ),
    (
        '{get: /a, expect: {text: {matches: "a(?i)b"}}}',
        'expect.text.matches: "a(?i)b" has flags in the middle',
        "begin it with (?i)",
    ),
    (
        '{get: /a, expect: {text: {matches: "*a"}}}',
        "expect.text.matches: is no regular expression: nothing to repeat",
        "write \\ before a sign that stands for itself",
    ),
    (
        '{get: /a, expect: {text: {matches: "a**"}}}',
        'expect.text.matches: "a**" repeats what is repeated',
        "put ( ) around the inner part",
    ),
    (
        '{get: /a, expect: {text: {matches: "[z-a]"}}}',
        "expect.text.matches: is no regular expression: bad character range z-a",
        "write \\ before a sign that stands for itself",
    ),
    (
        '{get: /a, expect: {text: {matches: ""}}}',
        'expect.text.matches: must be a regular expression, not ""',
        "write it as text: 'id=([0-9]+)'",
    ),
    (
        '{get: /a, expect: {text: {matches: "(?P=a)"}}}',
        "expect.text.matches: \"(?P=a)\" has a back-reference, which the engine's regular expressions don't have",
        "take the part of it that works without",
    ),
    ("{get: /a, save: 5}", "save: must be a mapping, not 5", "write it like {id: json.id}"),
    ("{get: /a, save: {a: id}}", 'save.a: "id" is no place in a reply', "write json.id, headers.NAME, text or status"),
    (
        "{get: /a, save: {a: headers}}",
        'save.a: "headers" is no place in a reply',
        "write json.headers, headers.NAME, text or status",
    ),
    ("{get: /a, save: {a: text.b}}", "save.a: text has no fields", "write text, or {text: 'id=([0-9]+)'}"),
    ("{get: /a, save: {a: status.b}}", "save.a: status has no fields", "write status, or {text: 'id=([0-9]+)'}"),
    ("{get: /a, save: {a: 5}}", "save.a: must be a path such as address.city, not 5", "write save: {id: json.id}"),
    (
        "{get: /a, save: {a: {}}}",
        "save.a.json: is missing",
        "write {json: id}, {headers: etag} or {text: 'id=([0-9]+)'}",
    ),
    ('{get: /a, save: {a: {json: a, text: "(b)"}}}', "save.a.text: has no place beside json", "leave one of them out"),
    (
        '{get: /a, save: {a: {text: "id=.*"}}}',
        'save.a.text: "id=.*" has no group',
        'put ( ) around what is kept: name="t" value="(.*?)"',
    ),
    (
        '{get: /a, save: {a: {text: "id=(.*", default: 1}}}',
        "save.a.text: is no regular expression: missing ), unterminated subpattern",
        "write \\ before a sign that stands for itself",
    ),
    (
        '{get: /a, save: {a: {json: a, pattern: "b"}}}',
        'save.a.pattern: "b" has no group',
        'put ( ) around what is kept: name="t" value="(.*?)"',
    ),
    (
        "{get: /a, save: {a: {json: a, default: $id}}}",
        "save.a.default: what is missing is replaced with a constant",
        "write the constant itself",
    ),
    ("{get: /a, save: {a: {jsn: a}}}", "save.a.jsn: unknown key", 'did you mean "json"'),
    ("{get: /a, save: {a: {headers: 5}}}", "save.a.headers: must name a header, not 5", "write {headers: etag}"),
    (
        "{get: /a, save: {a: {status: 200}}}",
        "save.a.status: is a number that stands alone",
        "write save: {code: status}",
    ),
    (
        '{get: /a, save: {a: {text: "(a)", pattern: "(b)"}}}',
        "save.a.pattern: has no place beside text, which is one",
        "leave one of them out",
    ),
    ("{get: /a, save: {id: json.id}}", "save.id: $id is one of the values already", "save it under another name"),
    ("{get: /a, save: {now: json.id}}", "save.now: $now is built in", "save it under another name: my_now"),
    (
        "{get: /a, save: {1a: json.id}}",
        'save.1a: "1a" can\'t name a value',
        "take letters, digits and _, a letter first",
    ),
    (
        '{get: /a, save: {"a b": json.id}}',
        'save.a b: "a b" can\'t name a value',
        "take letters, digits and _, a letter first",
    ),
    ("{head: /a, expect: {json: {a: 1}}}", "expect.json: is of a body, and head brings none", "write get"),
    ("{head: /a, expect: {text: a}}", "expect.text: is of a body, and head brings none", "write get"),
    ("{head: /a, save: {a: json.b}}", "save.a: is of a body, and head brings none", "write get"),
    ("{get: /a, post: /b}", "post: is a second step beside get", "write steps: [{…}, {…}] for several"),
    (
        "{steps: [{transaction: [{get: /a}]}]}",
        'steps[0].transaction: "transaction" is no kind of step',
        "HTTP has none: leave it out, its steps follow each other",
    ),
    (
        "{steps: [{get: /$a}, {get: /b, save: {a: json.a}}]}",
        "steps[0].get: $a is used before it is saved",
        "move the step that saves it before this one",
    ),
    (
        '{steps: [{get: /a, name: " "}]}',
        'steps[0].name: " " can\'t name a step',
        "take text of at most 80 characters on one line",
    ),
    (
        "{steps: [{get: /a, name: x}, {get: /b, name: x}]}",
        'steps[1].name: there are two steps called "x"',
        "give each its own name",
    ),
    ("{steps: [{get: /a, thnik_time: 5ms}]}", "steps[0].thnik_time: unknown key", 'did you mean "think_time"'),
    (
        "{steps: [{think_time: 5ms}]}",
        "steps: ends with a think_time",
        "a pause stands before a step; that of a load is load.think_time",
    ),
    ("{steps: []}", "steps: must be a list of steps", "write it like [{get: {path: /orders/$id}}]"),
    (
        "{share: 1, http: {get: /a}, expect: {status: 200}}",
        "expect: has no place beside forms",
        "write it in each form: {mongodb: {find: {…}, expect: …}, sql: {sql: …, expect: …}}",
    ),
    (
        "{http: 5}",
        "http: must be a step, not 5",
        "write http: {get: {path: /orders/$id}}, or http: {steps: [{get: {path: /orders/$id}}]}",
    ),
    (
        "{http: {find: {collection: a}}}",
        "http.find: is a command of MongoDB's, and the steps of this workload are requests of HTTP",
        "kinds of steps: get, post, put, patch, delete, head, options, request",
    ),
    ("{mongodb: {find: {collection: a}}}", "operations.it: has no form for protocol: http", "add http: …"),
]


@pytest.mark.parametrize(("step", "message", "hint"), REQUESTS)
def test_a_slip_in_a_request(tmp_path: Path, step: str, message: str, hint: str) -> None:
    said, told = refusal(tmp_path, WORKLOAD.format(head="name: x", step=step))
    assert (said.removeprefix("operations.it."), told) == (message, hint)


HEADS = [
    ("http: {headers: {accept: [a]}}", "http.headers.accept: must be text, not a list", 'write accept: "…"'),
    ("http: {headers: 5}", "http.headers: must be headers by name, not 5", "write it like {accept: application/json}"),
    ('http: {headers: {"a b": x}}', 'http.headers.a b: "a b" can\'t name a header', "take letters, digits and -"),
    ("http: {headers: {host: x}}", "http.headers.host: is added by brimline", "the address of the target says it"),
    (
        "http: {headers: {accept: a, ACCEPT: b}}",
        "http.headers.accept: is there twice, as small and capital letters mean the same",
        "leave one out",
    ),
    (
        'http: {headers: {authorization: "Bearer abc"}}',
        "http.headers.authorization: is a secret, which would be stored with each run",
        "write http: {headers: {authorization: {env: NAME}}}, or http: {bearer: {env: NAME}}",
    ),
    (
        "http: {headers: {x-token: abc}}",
        "http.headers.x-token: is a secret, which would be stored with each run",
        "write http: {headers: {x-token: {env: NAME}}}, or http: {bearer: {env: NAME}}",
    ),
    (
        "http: {headers: {x-token: {evn: A}}}",
        "http.headers.x-token: must be text or {env: NAME}, not a mapping",
        "write {env: NAME}",
    ),
    (
        'http: {headers: {x-token: {env: "A B"}}}',
        'http.headers.x-token.env: "A B" can\'t name a variable',
        "take letters, digits and _",
    ),
    (
        "http: {headers: {accept: $idd}}",
        'http.headers.accept: "$idd" is no value',
        'did you mean "$id"; a field path or literal text is written "$$idd"',
    ),
    (
        "http: {bearer: abc}",
        "http.bearer: is a secret, which would be stored with each run",
        "write {env: NAME}, and export NAME=…",
    ),
    ('http: {bearer: {env: "1A"}}', 'http.bearer: "1A" can\'t name a variable', "take letters, digits and _"),
    ("http: {bearer: {}}", "http.bearer.env: is missing", "add env"),
    (
        "http: {basic: {username: u, password: p}}",
        "http.basic.password: is a secret, which would be stored with each run",
        "write {env: NAME}, and export NAME=…",
    ),
    (
        'http: {basic: {username: "u:v", password: {env: P}}}',
        "http.basic: username is empty or has a :, which ends the user's name",
        "take another one",
    ),
    ("http: {basic: {username: u}}", "http.basic.password: is missing", "add password"),
    (
        "http: {bearer: {env: A}, basic: {username: u, password: {env: P}}}",
        "http.basic: is a second authorization",
        "leave one of them out",
    ),
    (
        "http: {bearer: {env: A}, headers: {Authorization: {env: B}}}",
        "http.bearer: is a second authorization",
        "leave one of them out",
    ),
    (
        "http: {keep_alive: 5}",
        "http.keep_alive: must be true or false, not 5",
        "write keep_alive: true or keep_alive: false",
    ),
    ("http: {keepalive: true}", "http.keepalive: unknown key", 'did you mean "keep_alive"'),
    (
        "http: {follow_redirects: -1}",
        "http.follow_redirects: must be in 0 to 20, but is -1",
        "write a whole number from 0 to 20",
    ),
    (
        "http: {follow_redirects: 50}",
        "http.follow_redirects: must be in 0 to 20, but is 50",
        "write a whole number from 0 to 20",
    ),
    ("http: {connect: later}", 'http.connect: "later" is no known value', "values: before, on_demand"),
    (
        "http: {cookies: {a: b}}",
        "http.cookies: must be true or false, not a mapping",
        "write cookies: true or cookies: false",
    ),
    (
        "http: 5",
        "http: must be a mapping, not 5",
        "known keys: headers, keep_alive, connect, follow_redirects, cookies, bearer, basic",
    ),
    (
        "database: shop\ndata: {records: 5}",
        "data: is of a workload whose operations are shares",
        "write collections: {orders: {records: 100k}} in place of data",
    ),
    ("keys: uniform", "keys: says nothing about operations of your own", "leave keys out"),
    (
        "tables: {orders: {child: [a]}}",
        "tables: is about an SQL database",
        "leave tables out",
    ),
    (
        "target: {uri: mongodb://h}",
        "target.uri: the workload has protocol: http, and mongodb:// is the address of a MongoDB server",
        "give an address such as http://HOST:PORT, or another workload",
    ),
    (
        "target: {uri: mysql://h/d}",
        "target.uri: the workload has protocol: http, and mysql:// is the address of an SQL database",
        "give an address such as http://HOST:PORT, or another workload",
    ),
    (
        "collections: {orders: {records: 5}}\nkeys: uniform",
        "keys: says nothing about operations of your own",
        "leave keys out",
    ),
    (
        "operation_log: true",
        "operation_log: has no rows for operations of your own",
        "leave operation_log out; each step has its histograms",
    ),
]


@pytest.mark.parametrize(("head", "message", "hint"), HEADS)
def test_a_slip_beside_requests(tmp_path: Path, head: str, message: str, hint: str) -> None:
    assert refusal(tmp_path, WORKLOAD.format(head=head, step="{get: /a}")) == (message, hint)


@pytest.mark.parametrize("uri", ["ftp://u:secret@host/", "jdbc:mysql://host/db", "//u:secret@host"])
def test_an_address_of_no_known_kind_is_not_called_a_mongodb(tmp_path: Path, uri: str) -> None:
    path = tmp_path / "w.yaml"
    path.write_text("name: w\nprotocol: http\noperations: {it: {get: /a}}\n")

    problem = mismatch(uri, ("http",), load_spec(path).spec.operations, "http")

    assert problem is not None
    assert problem.message == "the workload has protocol: http, and the address is not of a kind that brimline knows"
