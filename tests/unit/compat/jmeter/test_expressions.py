from pathlib import Path
from typing import Any

import pytest

from brimline.compat.jmeter.expressions import Call, Part, Variable, parts_of
from tests.support.jmx import group, plan_text, sampler
from tests.unit.compat.jmeter.translating import keys_of, requests, translated, workload


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("", []),
        ("plain $5 {x}", ["plain $5 {x}"]),
        ("/a/${id}/b", ["/a/", Variable("id"), "/b"]),
        ("${ id }", [Variable("id")]),
        ("${open", ["${open"]),
        ("a${__UUID}b", ["a", Call("__UUID", (), "${__UUID}"), "b"]),
        ("${__UUID()}", [Call("__UUID", (), "${__UUID()}")]),
        ("${__Random( 1 , ${max}, v)}", [Call("__Random", ("1", "${max}", "v"), "${__Random( 1 , ${max}, v)}")]),
        (r"${__P(a,x\,y)}", [Call("__P", ("a", "x,y"), r"${__P(a,x\,y)}")]),
        ("${__P(a,)}", [Call("__P", ("a", ""), "${__P(a,)}")]),
        (r"\${a} ${b}", ["${a} ", Variable("b")]),
        ("${a${b}}", [Variable("a${b}")]),
    ],
)  # fmt: skip
def test_text_is_taken_apart_as_jmeter_does(text: str, parts: list[Part]) -> None:
    assert parts_of(text) == parts


@pytest.mark.parametrize(
    ("call", "name", "form"),
    [
        ("${__Random(1,6)}", "random", {"kind": "int", "min": 1, "max": 6}),
        ("${__Random(-5,5000000000)}", "random", {"kind": "long", "min": -5, "max": 5_000_000_000}),
        ("${__RandomString(8,abca)}", "RandomString", {"kind": "string", "length": 8, "alphabet": "abc"}),
        ("${__RandomString(4)}", "RandomString", {"kind": "string", "length": 4, "alphabet": "alphanumeric"}),
        ("${__time}", "time", {"long": "$now"}),
        ("${__time(/1000)}", "time", {"long": {"divide": [
            {"long": {"date_trunc": {"date": "$now", "unit": "second"}}}, 1000]}}),
        ("${__time(yyyyMMdd)}", "time", {"concat": [
            {"substring": {"of": {"text": "$now"}, "start": start, "length": length}}
            for start, length in ((0, 4), (5, 2), (8, 2))]}),
        ("${__time(HH:mm'h')}", "time", {"concat": [
            {"substring": {"of": {"text": "$now"}, "start": 11, "length": 2}}, ":",
            {"substring": {"of": {"text": "$now"}, "start": 14, "length": 2}}, "h"]}),
        ("${__timeShift(,,-P1DT2H)}", "timeShift", {"long": {"date_add": {"date": "$now", "by": "-93600s"}}}),
        ("${__threadNum}", "threadNum", {"add": ["$worker", 1]}),
        ("${__counter(FALSE)}", "counter", {"add": ["$index", 1]}),
        ("${__changeCase(${user},UPPER)}", "changeCase", {"upper": {"text": "$user"}}),
        ("${__intSum(2,${user},sum)}", "sum", {"add": [2, {"long": "$user"}]}),
        ("${__RandomFromMultipleVars(a|user)}", "RandomFromMultipleVars", {"one_of": ["5", "$user"]}),
    ],
)  # fmt: skip
def test_functions_are_values_of_the_workload(tmp_path: Path, call: str, name: str, form: Any) -> None:
    variables = {"a": "5", "user": "${__Random(1,2)}"}
    keys = workload(tmp_path, plan_text(group(sampler(path="/x", arguments=[("q", call)])), variables=variables))
    values = {each.lower(): value for each, value in keys["values"].items()}
    assert values[name.lower()] == form
    (request,) = requests(keys)
    assert request["get"]["query"]["q"].lower() == f"${name.lower()}"


def test_a_uuid_is_one_of_version_4(tmp_path: Path) -> None:
    keys = workload(tmp_path, plan_text(group(sampler(path="/${__UUID}"))))
    parts = keys["values"]["uuid"]["parts"]
    lengths = [len(each) if isinstance(each, str) else each["length"] for each in parts]
    assert sum(lengths) == 36
    assert parts[3] == "-4"


@pytest.mark.parametrize(
    ("written", "sent"),
    [
        ("${__P(page,7)}", "7"),
        ("${__P(page)}", "1"),
        ("${__property(page)}", "page"),
        ("${__property(page,,8)}", "8"),
        ("${__P(given,7)}", "from-j"),
        ("${__urlencode(a b)}", "a+b"),
        ("${__changeCase(aBc,LOWER)}", "abc"),
        ("${__eval(${a})}", "5"),
        ("${host}:${a}", "h5:5"),
        ("a$b", "a$$b"),
        ("${none}", "$${none}"),
        ("${__groovy(1+1)}", "$${__groovy(1+1)}"),
    ],
)
def test_what_is_known_beforehand_is_written_as_it_is(tmp_path: Path, written: str, sent: str) -> None:
    variables = {"a": "5", "host": "h${a}"}
    plan = plan_text(group(sampler(path="/x", arguments=[("q", written)])), variables=variables)
    (request,) = requests(workload(tmp_path, plan, given="from-j"))
    assert request["get"]["query"] == {"q": sent}


def test_what_has_no_counterpart_is_listed(tmp_path: Path) -> None:
    arguments = [
        ("a", "${none}"),
        ("b", "${__groovy(vars.get('x'))}"),
        ("c", "${__time(EEEE)}"),
        ("d", "${__Random(a,b)}"),
    ]
    found = translated(tmp_path, plan_text(group(sampler(arguments=arguments))))
    assert [each.partition("): ")[2].partition(", and")[0] for each in found.not_taken] == [
        "${none} is defined nowhere",
        "${__groovy(vars.get('x'))} has no counterpart",
        "${__time(EEEE)} has no counterpart",
        "${__Random(a,b)} has no counterpart",
    ]


def test_each_call_draws_for_itself_and_a_variable_is_drawn_once(tmp_path: Path) -> None:
    arguments = [("a", "${__Random(1,9)}"), ("b", "${__Random(1,9)}"), ("c", "${lot}"), ("d", "${lot}")]
    keys = workload(tmp_path, plan_text(group(sampler(arguments=arguments)), variables={"lot": "${__Random(1,9)}"}))
    assert requests(keys)[0]["get"]["query"] == {"a": "$random", "b": "$random_2", "c": "$lot", "d": "$lot"}
    assert keys["values"]["lot"] == "$random_3"


def test_a_reference_is_told_from_what_follows_it(tmp_path: Path) -> None:
    variables = {"n": "${__Random(1,9)}"}
    paths = ("/${n}x", "/${n}.html", "/${n}/x", "/${n}-1", "/x${n}${n}")
    sent_there = group(*(sampler(str(number), path) for number, path in enumerate(paths)))
    found = translated(tmp_path, plan_text(sent_there, variables=variables))
    sent = [each["get"]["path"] for each in requests(keys_of(found))]
    assert sent == ["/${n}x", "/${n}.html", "/$n/x", "/$n-1", "/x$n$n"]
