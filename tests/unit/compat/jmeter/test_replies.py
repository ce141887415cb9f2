from pathlib import Path
from typing import Any

import pytest

from brimline.compat.jmeter.assertions import status_ranges
from brimline.compat.jmeter.json_paths import dotted_jmes, dotted_path
from brimline.compat.jmeter.patterns import with_one_group
from tests.support.jmx import controller, element, group, plan_text, sampler
from tests.unit.compat.jmeter.translating import keys_of, requests, translated

MATCHES, CONTAINS, NOT, EQUALS, SUBSTRING, OR = 1, 2, 4, 8, 16, 32


def response(kind: int, *wanted: str, field: str = "response_data", **more: Any) -> str:
    properties = {
        "Asserion.test_strings": list(wanted),
        "Assertion.test_field": f"Assertion.{field}",
        "Assertion.test_type": kind,
        **{f"Assertion.{name}": value for name, value in more.items()},
    }
    return element("ResponseAssertion", "check", properties)


def expected(directory: Path, *assertions: str) -> tuple[Any, list[str]]:
    """What the one request expects, and what is not taken over."""
    found = translated(directory, plan_text(group(sampler("A", "/", *assertions))))
    return requests(keys_of(found))[0].get("expect"), [each.partition("): ")[2] for each in found.not_taken]


@pytest.mark.parametrize(
    ("kind", "wanted", "status"),
    [
        (EQUALS, ["200"], 200),
        (SUBSTRING, ["20"], [*range(200, 210), 220, 320]),
        (MATCHES, ["2.."], {"min": 200, "max": 299}),
        (MATCHES, [r"2\d\d|304"], ["2xx", 304]),
        (CONTAINS, ["^(200|204)$"], [200, 204]),
        (NOT | EQUALS, ["200"], {"min": 201, "max": 399}),
        (OR | EQUALS, ["201", "200"], {"min": 200, "max": 201}),
        (EQUALS, ["404"], 404),
    ],
)  # fmt: skip
def test_a_status_that_is_asked_for(tmp_path: Path, kind: int, wanted: list[str], status: Any) -> None:
    assert expected(tmp_path, response(kind, *wanted, field="response_code")) == ({"status": status}, [])


def test_a_status_that_is_ignored_otherwise(tmp_path: Path) -> None:
    any_of = response(MATCHES, "[2-5]..", field="response_code", assume_success=True)
    assert expected(tmp_path, any_of) == ({"status": {"min": 200, "max": 599}}, [])
    two = (response(MATCHES, "2..", field="response_code"), response(NOT | EQUALS, "204", field="response_code"))
    assert expected(tmp_path, *two)[0]["status"] == [*range(200, 204), *range(205, 300)]


@pytest.mark.parametrize(
    ("kind", "wanted", "text"),
    [
        (SUBSTRING, ["a.b"], {"contains": "a.b"}),
        (CONTAINS, ["id=[0-9]+"], {"matches": "id=[0-9]+"}),
        (MATCHES, ["{.*}"], {"matches": r"\A(?:\{.*\})\z"}),
        (EQUALS, ["a.b"], {"matches": r"\Aa\.b\z"}),
        (SUBSTRING, ["a", "b"], {"matches": "(?s)(?:a).*(?:b)|(?:b).*(?:a)"}),
        (SUBSTRING | OR, ["a", "b+"], {"matches": r"(?:a)|(?:b\+)"}),
    ],
)
def test_a_text_that_is_asked_for(tmp_path: Path, kind: int, wanted: list[str], text: Any) -> None:
    if wanted == ["{.*}"]:
        wanted = [r"\{.*\}"]
    assert expected(tmp_path, response(kind, *wanted)) == ({"text": text}, [])


@pytest.mark.parametrize(
    ("assertion", "said"),
    [
        (response(NOT | SUBSTRING, "error"), "it says what must not be in the reply"),
        (response(CONTAINS, "a(?=b)"), "its pattern has what there is none of"),
        (response(CONTAINS, "x", field="response_headers"), "it looks at response headers"),
        (response(CONTAINS, "${none}"), "what it compares with is not known beforehand"),
        (response(CONTAINS, "a", scope="children"), "it looks at something else than the reply"),
        (response(SUBSTRING, "a", "b", "c"), "a third thing that the body must say"),
        (response(CONTAINS), "what it compares with is not known beforehand"),
        (response(CONTAINS, "(", field="response_code"), "its pattern is none"),
    ],
)
def test_what_can_not_be_expected_is_listed(tmp_path: Path, assertion: str, said: str) -> None:
    (remark,) = expected(tmp_path, assertion)[1]
    assert remark.startswith(said)


def json_assertion(path: str, **more: Any) -> str:
    return element("JSONPathAssertion", "json", {"JSON_PATH": path, **more})


@pytest.mark.parametrize(
    ("more", "expect", "save"),
    [
        ({"JSONVALIDATION": True, "EXPECTED_VALUE": "open"}, {"json": {"a.0.b": "open"}}, None),
        ({"JSONVALIDATION": True, "EXPECTED_VALUE": "5"}, {"json": {"a.0.b": 5}}, None),
        ({"JSONVALIDATION": True, "EXPECTED_VALUE": "o.*"}, {"json": {"a.0.b": {"matches": r"\A(?:o.*)\z"}}}, None),
        ({"JSONVALIDATION": True, "EXPECTED_VALUE": "o.*", "ISREGEX": False}, {"json": {"a.0.b": "o.*"}}, None),
        ({"JSONVALIDATION": True, "EXPECTED_VALUE": "true"}, {"json": {"a.0.b": True}}, None),
        ({"JSONVALIDATION": True, "EXPECTED_VALUE": r"\d+"}, None, {"has_a_0_b": "json.a.0.b"}),
        ({"JSONVALIDATION": True, "EXPECTED_VALUE": ".*"}, None, {"has_a_0_b": "json.a.0.b"}),
        ({}, None, {"has_a_0_b": "json.a.0.b"}),
    ],
)
def test_json_that_is_asked_for(tmp_path: Path, more: dict[str, Any], expect: Any, save: Any) -> None:
    found = translated(tmp_path, plan_text(group(sampler("A", "/", json_assertion("$.a[0].b", **more)))))
    (request,) = requests(keys_of(found))
    assert (request.get("expect"), request.get("save")) == (expect, save)


def test_json_is_compared_with_what_is_known_beforehand(tmp_path: Path) -> None:
    for is_regex in (True, False):
        assertion = json_assertion("$.a", JSONVALIDATION=True, ISREGEX=is_regex, EXPECTED_VALUE="${__Random(1,2)}")
        expect, lost = expected(tmp_path, assertion)
        assert expect is None
        assert lost[0].startswith("its pattern is not known beforehand")


@pytest.mark.parametrize(
    ("path", "dotted"),
    [
        ("$.id", "id"), ("$['id']", "id"), ('$["a"].b-c', "a.b-c"), ("$.items[12].id", "items.12.id"), ("$", ""),
        ("$..id", None), ("$.a[*]", None), ("$.a[?(@.b)]", None), ("$.a[-1]", None), ("$.a[0:2]", None), ("id", None),
        ("$.a.length()", None), ("$['a.b']", None),
    ],
)  # fmt: skip
def test_a_path_leads_to_one_place(path: str, dotted: str | None) -> None:
    assert dotted_path(path) == dotted


def test_a_path_of_jmespath() -> None:
    assert [dotted_jmes(each) for each in ("a.b[0]", "a[*].b", "length(a)")] == ["a.b.0", None, None]


def regular(regex: str, **more: Any) -> str:
    properties = {"refname": "x", "regex": regex, "template": "$1$", "match_number": "1", **more}
    return element("RegexExtractor", "x", {f"RegexExtractor.{name}": value for name, value in properties.items()})


def json_extractor(names: str, paths: str, **more: str) -> str:
    properties = {"referenceNames": names, "jsonPathExprs": paths, **more}
    return element("JSONPostProcessor", "j", {f"JSONPostProcessor.{name}": each for name, each in properties.items()})


def jmes_extractor(name: str, path: str) -> str:
    return element("JMESPathExtractor", "j", {"JMESExtractor.referenceName": name, "JMESExtractor.jmesPathExpr": path})


def between(left: str, right: str) -> str:
    properties = {"refname": "x", "lboundary": left, "rboundary": right}
    return element("BoundaryExtractor", "b", {f"BoundaryExtractor.{name}": each for name, each in properties.items()})


def saved(directory: Path, *extractors: str) -> tuple[Any, list[str], list[str]]:
    found = translated(directory, plan_text(group(sampler("A", "/", *extractors))))
    said = [[each.partition("): ")[2] for each in lines] for lines in (found.not_taken, found.changed)]
    return requests(keys_of(found))[0].get("save"), *said


@pytest.mark.parametrize(
    ("extractor", "save"),
    [
        (regular('id="(.+?)"'), {"x": {"text": 'id="(.+?)"'}}),
        (regular('(a|b)="(.+?)"', template="$2$"), {"x": {"text": '(?:a|b)="(.+?)"'}}),
        (regular("a(b)[(]", template="$0$"), {"x": {"text": "(a(?:b)[(])"}}),
        (regular("abc"), {"x": {"text": "(abc)"}}),
        (regular("a(b)", default="none"), {"x": {"text": "a(b)", "default": "none"}}),
        (regular("a(b)", default="$5"), {"x": {"text": "a(b)", "default": "$$5"}}),
        (regular("ETag: (.+)", useHeaders="true"), {"x": {"headers": "etag", "pattern": "(.+)"}}),
        (regular("Location: .*/([0-9]+)", useHeaders="true"), {"x": {"headers": "location", "pattern": ".*/([0-9]+)"}}),
        (between("id=[", "]"), {"x": {"text": r"(?s)id=\[(.*?)\]"}}),
        (json_extractor("x; y", "$.a[0].b;$.c", match_numbers="1;0", defaultValues="none;"),
         {"x": {"path": "json.a.0.b", "default": "none"}, "y": "json.c"}),
        (jmes_extractor("x", "a[0].b"), {"x": "json.a.0.b"}),
    ],
)  # fmt: skip
def test_what_is_kept_of_a_reply(tmp_path: Path, extractor: str, save: Any) -> None:
    assert saved(tmp_path, extractor) == (save, [], [])


@pytest.mark.parametrize(
    ("extractor", "said"),
    [
        (regular("a(b)", match_number="-1"), "it takes another match than the first"),
        (regular("a(b)", match_number="2"), "it takes another match than the first"),
        (regular("a(b)", template="$1$-$2$"), "its template is more than one group"),
        (regular("a(b)", template="$3$"), "its template names a group that the pattern doesn't have"),
        (regular("(?<=a)(b)"), "its pattern is not known beforehand"),
        (regular("(b)", useHeaders="URL"), "it looks at something else than body and headers"),
        (regular("(b)", useHeaders="true"), "its pattern does not begin with the name of one header"),
        (json_extractor("x", "$..id"), "the path of x may lead to several places"),
        (element("HtmlExtractor", "css", {}), "reads HTML by CSS"),
    ],
)  # fmt: skip
def test_what_can_not_be_kept_is_listed(tmp_path: Path, extractor: str, said: str) -> None:
    save, lost, _ = saved(tmp_path, extractor)
    assert save is None
    assert lost[0].startswith(said)


def test_a_random_match_is_the_first(tmp_path: Path) -> None:
    assert saved(tmp_path, regular("(b)", match_number="0"))[2] == ["takes the first match, and not one at random"]


def test_a_value_is_known_from_the_request_on_that_keeps_it(tmp_path: Path) -> None:
    """Before it the variable of the plan counts, or the text stands as it is."""
    keeps = sampler("B", "/b", regular("(b)"), regular("(c)", refname="y"))
    plan = plan_text(group(sampler("A", "/${x}/${y}"), keeps, sampler("C", "/${x}/${y}")), variables={"x": "first"})
    found = translated(tmp_path, plan)
    assert [each["get"]["path"] for each in requests(keys_of(found))] == ["/first/$${y}", "/b", "/$x/$y"]
    assert [each.partition("): ")[2].partition(",")[0] for each in found.not_taken] == [
        "${y} is kept by no request before it"
    ]


def test_an_extractor_beside_one_request_is_its_own_and_beside_several_is_listed(tmp_path: Path) -> None:
    inner = controller("GenericController", sampler("A"), regular("(b)"))
    found = translated(tmp_path, plan_text(group(inner, sampler("B"))))
    assert requests(keys_of(found))[0]["save"] == {"x": {"text": "(b)"}}
    found = translated(tmp_path, plan_text(group(sampler("A"), regular("(b)"), sampler("B"))))
    assert all("save" not in each for each in requests(keys_of(found)))
    assert [each.partition("): ")[2] for each in found.not_taken] == [
        "it looks at the replies of several requests; put it below one request"
    ]


def test_an_assertion_counts_for_all_in_its_scope(tmp_path: Path) -> None:
    inner = controller("GenericController", response(EQUALS, "201", field="response_code"), sampler("A"), sampler("B"))
    found = translated(tmp_path, plan_text(group(inner, sampler("C"))))
    assert [each.get("expect") for each in requests(keys_of(found))] == [{"status": 201}, {"status": 201}, None]


def test_ranges_and_groups() -> None:
    assert status_ranges([204, 200, 201, 302]) == [(200, 201), (204, 204), (302, 302)]
    assert with_one_group(r"\((a)[()](b)(?:c)", 2) == r"\((?:a)[()](b)(?:c)"
    assert with_one_group("a", 1) is None
