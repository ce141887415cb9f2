"""What a workload of HTTP requests says is what a service receives, to the letter, with the values in their places."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

import pytest

from brimline import _native
from brimline.plan import Plan, TargetPlan, http_target, load_plans, resolve, sql_target
from brimline.plan.operations import OperationsWork
from brimline.spec import Spec, load_spec

SHOPS = Path(__file__).parent
SQL_TARGETS = tuple(sql_target(kind=kind, address="h:1", database="shop") for kind in ("mysql", "postgres"))


def shop(name: str, **overrides: object) -> Spec:
    return load_spec(SHOPS / f"{name}_shop.yaml", overrides=overrides).spec


@pytest.mark.parametrize("target", SQL_TARGETS, ids=lambda target: target.kind)
@pytest.mark.parametrize("workload", ["sql_shop", *(f"ycsb-{letter}" for letter in "abcdef")])
def test_the_engine_understands_statements(workload: str, target: TargetPlan) -> None:
    spec = shop("sql") if workload == "sql_shop" else load_spec(workload).spec
    for plan in (resolve(spec, target=target), *load_plans(spec, target=target)):
        assert json.loads(_native.validate_plan(plan.canonical_json())) == json.loads(plan.canonical_json())
        assert Plan.from_json(plan.canonical_json()).canonical_json() == plan.canonical_json()


class Service(ThreadingHTTPServer):
    """Answers as the shop's workload expects, and keeps what it was asked."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Answer)
        self.asked: list[dict[str, Any]] = []


class _Answer(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Service

    def _answer(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        parts = urlsplit(self.path)
        self.server.asked.append(
            {
                "method": self.command,
                "path": unquote(parts.path),
                "query": parse_qsl(parts.query),
                "headers": {name.lower(): value for name, value in self.headers.items()},
                "body": body.decode(),
            }
        )
        last = unquote(parts.path).rpartition("/")[2].removesuffix(".json")
        number = int(last) if last.isdecimal() else None
        text = json.dumps({"id": "n/1", "state": "open", "seen": last, "number": number}).encode()
        self.send_response(201 if self.command == "POST" else 200)
        self.send_header("Content-Type", "application/json")
        self.send_header("ETag", '"7"')
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    do_GET = do_POST = do_PUT = _answer  # noqa: N815 - as http.server calls them

    def log_message(self, *_: object) -> None:
        """Says nothing."""


@contextmanager
def service() -> Iterator[Service]:
    with Service() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


def run(spec: Spec, server: Service, base: str) -> dict[str, Any]:
    address = f"127.0.0.1:{server.server_port}"
    plan = resolve(spec, target=http_target(spec, address=address, authority=address, base=base))
    assert isinstance(plan.work, OperationsWork)
    headers = [] if spec.http is None else spec.http.secret_headers({"SHOP_KEY": "k1", "SHOP_TOKEN": "t1"})
    access = _native.Access(headers=headers)
    running = _native.start(plan.canonical_json(), access, None, False, plan.work.table_contents())
    while running.poll(1)["stage"] != "finished":
        pass
    return dict(running.join())


def test_a_service_receives_what_the_workload_says() -> None:
    counts = {"operation_count": 40, "warmup": "0s", "connections": 2, "load": "closed"}
    with service() as server:
        summary = run(shop("http", **counts), server, "/v1")
    assert (summary["ok"], summary["failed"]) == (40, 0), summary
    by_method = {
        method: [each for each in server.asked if each["method"] == method] for method in ("GET", "POST", "PUT")
    }
    orders = [each for each in by_method["GET"] if each["path"].startswith("/v1/orders/")]
    skus = {line.split(",")[0] for line in (SHOPS / "own_skus.csv").read_text(encoding="utf-8").splitlines()[1:]}
    assert {each["path"] for each in orders} <= {f"/v1/orders/{sku}" for sku in skus}
    tags = {tuple(each["query"]) for each in orders}
    assert tags <= {(("full", "true"), ("tags", "a b"), ("tags", sku)) for sku in ("a", "b")}
    headers = orders[0]["headers"]
    assert (headers["accept"], headers["x-key"], headers["authorization"]) == ("application/json", "k1", "Bearer t1")
    assert headers["x-client"].startswith("run-")

    posted = by_method["POST"][0]
    assert (posted["path"], posted["query"]) == ("/v1/orders", [("source", "load")])
    body = json.loads(posted["body"])
    assert posted["headers"]["content-type"] == "application/json"
    assert (body["at"], body["items"][0]["n"]) == ("2024-01-01T00:00:00.000Z", 2)
    assert len(body["customer"]) == 8

    put = by_method["PUT"][0]
    assert put["path"] == "/v1/orders/n/1", "a saved value stands in a path as one part of it"
    assert put["headers"]["if-match"] == '"7"'
    assert put["headers"]["cookie"] == "t=none", "what no reply had has its default"
    assert dict(parse_qsl(put["body"])) == {"state": "paid", "by": body["customer"]}
    chinese = [each for each in by_method["GET"] if each["path"].startswith("/v1/客户/")]
    assert chinese[0]["path"] == f"/v1/客户/{body['customer']}.json"
    assert len(by_method["POST"]) == len(by_method["PUT"]) == len(chinese) > 0
    counted = {method: each["answered"] for method, each in summary["command_names"].items()}
    assert counted == {method: len(each) for method, each in by_method.items()}


@pytest.mark.parametrize(
    ("expect", "is_met"),
    [
        ({"status": 200}, True),
        ({"status": "2xx"}, True),
        ({"status": [201, 404]}, False),
        ({"headers": {"ETAG": '"7"', "content-type": {"contains": "json"}}}, True),
        ({"headers": {"etag": "8"}}, False),
        ({"json": {"state": "open", "id": {"matches": "^n/[0-9]$"}}}, True),
        ({"json": {"state": "closed"}}, False),
        ({"json": {"id": {"contains": "m"}}}, False),
        ({"json": {"seen": "$n", "number": "$n"}}, True),
        ({"json": {"id": "$n"}}, False),
        ({"json": {"other": "$n"}}, False),
        ({"headers": {"etag": "$n"}}, False),
        ({"text": {"contains": '"id"'}}, True),
        ({"text": {"matches": r"\{\"id\": *\"n/\d\""}}, True),
        ({"text": {"matches": "^id$"}}, False),
    ],
)
def test_replies_are_judged_as_expected(tmp_path: Path, expect: dict[str, Any], is_met: bool) -> None:
    file = tmp_path / "w.yaml"
    values = {
        "protocol": "http",
        "operation_count": 3,
        "warmup": "0s",
        "connections": 1,
        "values": {"n": {"kind": "int", "min": 1}},
        "operations": {"it": {"get": "/$n", "expect": expect}},
    }
    file.write_text(json.dumps(values), encoding="utf-8")
    with service() as server:
        summary = run(load_spec(file).spec, server, "")
    assert (summary["ok"], summary["failed"]) == ((3, 0) if is_met else (0, 3)), summary


PATTERNS = (
    r"\d+\.\d{2}|a{2,}b{1,3}?", r"[^\]\[\\]", "[a-]", "(?:a|b)(?P<name>c)(?<other>d)", "(?i)abc", "(?s:.)", r"\bw\b",
    r"\A^a$\z", r"\x41\u4e2d", r"\{\"id\":(\d+)", "}]", "订单号：(\\d+)", "a||b", r"\/\-\#\ \!\&\~\%\@\`\'\,\;\:\=",
    "(?x) a b", "(?ims)a", "a{1000}", r"[\d\-\w]", "(a*)*", "()",
)  # fmt: skip


def test_the_engine_takes_every_regular_expression_that_a_workload_takes(tmp_path: Path) -> None:
    file = tmp_path / "w.yaml"
    steps = [{"get": "/", "expect": {"text": {"matches": pattern}}} for pattern in PATTERNS]
    values = {"protocol": "http", "operation_count": 1, "warmup": "0s", "operations": {"it": {"steps": steps}}}
    file.write_text(json.dumps(values), encoding="utf-8")
    with service() as server:
        assert run(load_spec(file).spec, server, "")["sent"] == 1
