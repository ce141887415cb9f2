"""Where values stand in the texts of a request, and how the texts around them are written."""

import json
from pathlib import Path
from typing import Any

import pytest

from brimline.plan import http_target, resolve
from brimline.plan.operations import OperationsWork
from brimline.spec import load_spec


def request_of(tmp_path: Path, step: dict[str, Any], http: dict[str, Any] | None = None) -> dict[str, Any]:
    values = {
        "protocol": "http",
        "http": http or {},
        "values": {"id": {"kind": "int"}, "name": {"kind": "string"}, "row": {"jsonl": "rows.jsonl"}},
        "operations": {"it": step},
    }
    (tmp_path / "rows.jsonl").write_text('{"sku": "a", "html": 1}\n', encoding="utf-8")
    file = tmp_path / "w.yaml"
    file.write_text(json.dumps(values, ensure_ascii=False), encoding="utf-8")
    spec = load_spec(file).spec
    work = resolve(spec, target=http_target(spec, address="h:1", authority="h")).work
    assert isinstance(work, OperationsWork)
    request: dict[str, Any] = work.operations[0].steps[0].model_dump(mode="json")["request"]
    return request


def written(pieces: list[dict[str, Any]]) -> str:
    """Pieces as text, each value as <how it is written>."""
    return "".join(each["text"] if "text" in each else f"<{each['as']}>" for each in pieces)


@pytest.mark.parametrize(
    ("path", "target"),
    [
        ("/a/$id", "/a/<url>"),
        ("/$id/$name", "/<url>/<url>"),
        ("/${id}x", "/<url>x"),
        ("/$row.sku/b", "/<url>/b"),
        ("/${row.sku}.html", "/<url>.html"),
        ("/$row.html", "/<url>"),
        ("/a$$b", "/a$b"),
        ("/a$$id", "/a$id"),
        ("/$$$id", "/$<url>"),
        ("/a b/订", "/a%20b/%E8%AE%A2"),
        ("/a%20b", "/a%20b"),
        ("/a?b=c d&e=$id", "/a?b=c%20d&e=<url>"),
        ("/a?b=/?", "/a?b=/?"),
        ("/$id?x=$id", "/<url>?x=<url>"),
        ("/a;v=1/(b)!*'", "/a;v=1/(b)!*'"),
        ('/<>"{}|\\^`', "/%3C%3E%22%7B%7D%7C%5C%5E%60"),
    ],
)
def test_paths(tmp_path: Path, path: str, target: str) -> None:
    assert written(request_of(tmp_path, {"get": path})["target"]) == target


@pytest.mark.parametrize(
    ("path", "query", "target"),
    [
        ("/a", {"b": "c d", "e": "$id"}, "/a?b=c%20d&e=<url>"),
        ("/a?b=1", {"c": True, "d": 2.5}, "/a?b=1&c=true&d=2.5"),
        ("/a", {"b": [1, "x$id"]}, "/a?b=1&b=x<url>"),
        ("/a", {"b&=": "&=+/?#"}, "/a?b%26%3D=%26%3D%2B%2F%3F%23"),
        ("/a", {"b": "$$5"}, "/a?b=%245"),
        ("/a", {}, "/a"),
        ("/a", {"b": ""}, "/a?b="),
    ],
)
def test_queries(tmp_path: Path, path: str, query: dict[str, Any], target: str) -> None:
    assert written(request_of(tmp_path, {"get": {"path": path, "query": query}})["target"]) == target


@pytest.mark.parametrize(
    ("body", "text", "kind"),
    [
        ({"form": {"a": "b c", "d": "$id&"}}, "a=b+c&d=<form>%26", "application/x-www-form-urlencoded"),
        ({"form": {}}, "", "application/x-www-form-urlencoded"),
        ({"body": "a=$id; costs $$5; ${name}s"}, "a=<text>; costs $5; <text>s", "text/plain; charset=utf-8"),
        ({"body": "订单"}, "订单", "text/plain; charset=utf-8"),
        ({"json": {"a": "$id", "b": [1, None, True, 2.5, "订"]}}, '{"a":<json>,"b":[1,null,true,2.5,"订"]}', "application/json"),  # noqa: E501
        ({"json": "$row"}, "<json>", "application/json"),
        ({"json": []}, "[]", "application/json"),
        ({"json": {"a": "$$id", 'q"': 'x"\n'}}, '{"a":"$id","q\\"":"x\\"\\n"}', "application/json"),
        ({"json": {"a": {"$oid": "65a1b2c3d4e5f6a7b8c9d0e1"}}}, '<json>', "application/json"),
        ({"json": {"a": {"$value": {"concat": ["o-", "$id"]}}}}, '{"a":<json>}', "application/json"),
        ({"json": {"n": 5000000000}}, '{"n":5000000000}', "application/json"),
    ],
)  # fmt: skip
def test_bodies(tmp_path: Path, body: dict[str, Any], text: str, kind: str) -> None:
    request = request_of(tmp_path, {"post": {"path": "/", **body}})
    assert written(request["body"]) == text
    assert {each["name"]: written(each["value"]) for each in request["headers"]} == {"content-type": kind}


def test_headers_of_a_step_stand_in_place_of_those_of_all(tmp_path: Path) -> None:
    http = {"headers": {"Accept": "a/b", "X-Run": "run-$run", "content-type": "x/y"}}
    headers = {"ACCEPT": "c/d; q=0.5", "cookie": "a=$name; b=$$", "X-N": 5, "authorization": "Bearer $name"}
    made = request_of(tmp_path, {"post": {"path": "/", "headers": headers, "body": "x"}}, http)["headers"]
    assert {each["name"]: written(each["value"]) for each in made} == {
        "accept": "c/d; q=0.5",
        "cookie": "a=<cookie>; b=$",
        "x-n": "5",
        "x-run": "run-<text>",
        "authorization": "Bearer <text>",
        "content-type": "x/y",
    }
