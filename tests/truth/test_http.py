"""Runs of HTTP requests against a scripted service that does what it was told, on real time."""

from pathlib import Path
from typing import Any

import pytest

import brimline
from brimline.execution import execute
from brimline.plan import http_target, resolve
from brimline.record import RunRecord
from brimline.spec import load_spec
from tests.support.scripted_server import ScriptedService, scripted_service
from tests.support.simulation import context

MS = 1_000_000
WORKLOAD = """
name: orders
protocol: http
values:
  id: {kind: int, min: 1, max: 1000}
operations:
  look: {share: 90%, get: {path: /orders/$id}, expect: {json: {ok: true}}}
  create:
    share: 10%
    steps:
      - post: {path: /orders, json: {id: $id}}
        save: {new: json.request}
      - get: {path: /orders/$new}
"""
READS = """
name: reads
protocol: http
operations: {look: {share: 1, get: {path: /orders/1}}}
"""


def _run(service: ScriptedService, directory: Path, text: str = READS, **overrides: Any) -> Any:
    file = directory / "workload.yaml"
    file.write_text(text, encoding="utf-8")
    return brimline.run(
        str(file),
        overrides={"warmup": "0s", "connections": 10, **overrides},
        options=brimline.Options(uri=service.uri, runs_dir=directory),
    )


def _execute(service: ScriptedService, directory: Path, text: str = READS, **overrides: Any) -> RunRecord:
    """The run alone, without what surrounds it."""
    file = directory / "workload.yaml"
    file.write_text(text, encoding="utf-8")
    spec = load_spec(file, overrides={"warmup": "0s", "connections": 10, **overrides}).spec
    target = http_target(spec, address=service.address, authority=service.address)
    return execute(resolve(spec, target=target), directory=directory / "run", title="http", context=context())


def test_a_stall_shows_in_response_time_and_not_in_service_time(tmp_path: Path) -> None:
    """A stall of 0.2 s each 2 s: a tenth of all requests are due in it, the slowest hundredth waits 0.18 s or more."""
    stall = {"at_ns": 0, "length_ns": 200 * MS, "every_ns": 2000 * MS}
    load = {"kind": "constant", "rate": 600}
    with scripted_service({"service": {"kind": "fixed", "ns": MS // 5}, "stalls": [stall]}) as service:
        observation = _run(service, tmp_path, load=load, duration="2s", connections=5).observation
    assert observation.response is not None and observation.service is not None
    assert observation.response.count == 1200
    assert 140 * MS < observation.response.p99_ns < 400 * MS
    # Only the five in flight when it began are slow to the server: 0.4 % of 1200.
    assert observation.service.p99_ns < 100 * MS


def test_a_closed_loop_has_the_rate_that_the_service_can_do(tmp_path: Path) -> None:
    """A gate of 500/s, and more in flight than it needs."""
    with scripted_service({"capacity_ops_per_s": 500}) as service:
        observation = _run(service, tmp_path, warmup="500ms", duration="1500ms").observation
    assert observation.throughput_ops_per_s == pytest.approx(500, rel=0.03)


def test_the_service_counts_what_was_sent(tmp_path: Path) -> None:
    """And what came before it: a first contact, and each step once."""
    with scripted_service({}) as service:
        record = _run(service, tmp_path, WORKLOAD, operation_count=5000).record
        counts = service.counts()
    summary = record.summary
    assert (summary["sent"], summary["ok"], summary["failed"]) == (5000, 5000, 0)
    creates = summary["operations"]["create"]["sent"]
    assert 400 < creates < 600
    answered = {name: row["answered"] for name, row in summary["command_names"].items()}
    assert answered == {"GET": 5000, "POST": creates}
    assert counts["methods"] == {"GET": 1 + 2 + 5000, "POST": 1 + creates}


def test_exactly_the_scripted_failures_are_counted_by_status(tmp_path: Path) -> None:
    faults = [
        {"when": {"share": 0.02}, "kind": {"error": {"code": 500, "name": "no id left"}}},
        {"when": {"share": 0.02}, "kind": "no_document"},
    ]
    with scripted_service({"faults": faults}) as service:
        summary = _execute(service, tmp_path, operation_count=5000).summary
        counts = service.counts()
    assert summary is not None
    found = {(row["outcome"], row["code"], row["label"]): row["count"] for row in summary["errors"]}
    assert found == {
        ("http_5xx", 500, "500 Internal Server Error"): counts["faults"][0],
        ("http_4xx", 404, "404 Not Found"): counts["faults"][1],
    }
    assert all(60 < count < 140 for count in counts["faults"]), "2 % of 5000, give or take four standard deviations"


@pytest.mark.parametrize(
    ("kind", "outcome"),
    [("close", "connection_lost"), ("garbage", "bad_reply"), ("wrong_length", "bad_reply"), ("silence", "timeout")],
)
def test_one_broken_reply_is_one_failure(kind: str, outcome: str, tmp_path: Path) -> None:
    """Of a POST: what is safe is sent again where a connection that was used before is closed without a reply."""
    posts = "name: posts\nprotocol: http\noperations: {create: {share: 1, post: {path: /orders, json: {id: 1}}}}\n"
    fault = {"when": {"at_request": 100}, "kind": kind}
    with scripted_service({"faults": [fault]}) as service:
        summary = _execute(service, tmp_path, posts, operation_count=1000, operation_timeout="500ms").summary
    assert summary is not None
    (error,) = summary["errors"]
    assert (error["outcome"], error["count"], error["code"]) == (outcome, 1, 0)
    assert (summary["sent"], summary["ok"], summary["failed"], summary["unfinished"]) == (1000, 999, 1, 0)


@pytest.mark.parametrize("http", [{"chunked": True, "body_bytes": 20_000}, {"body_bytes": 300_000}, {"status": 204}])
@pytest.mark.parametrize("settings", ["{}", "{keep_alive: false}", "{connect: on_demand}"])
def test_replies_of_any_form_are_taken(http: dict[str, Any], settings: str, tmp_path: Path) -> None:
    with scripted_service({"http": http}) as service:
        summary = _execute(service, tmp_path, f"{READS}http: {settings}\n", operation_count=200).summary
        counts = service.counts()
    assert summary is not None
    assert (summary["ok"], counts["requests"]) == (200, 200)
    made = counts["connections_created"]
    assert 200 <= made < 220 if "keep_alive" in settings else made < 20
