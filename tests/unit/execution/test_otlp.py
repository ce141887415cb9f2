"""OpenTelemetry metrics of a run: a collector of the test's own decodes what arrives and holds it to the record."""

import gzip
import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

import brimline
from brimline.execution import Silence
from brimline.execution.telemetry import Telemetry, otlp
from brimline.execution.telemetry.metrics import BOUNDS_S
from tests.unit.report.report_samples import simulated_plan

service = pytest.importorskip(
    "opentelemetry.proto.collector.metrics.v1.metrics_service_pb2", reason="make telemetry installs what sends metrics"
)
pytest.importorskip("opentelemetry.sdk.metrics", reason="make telemetry installs what sends metrics")


class Collector:
    """Keeps what it is sent; `status` is its answer."""

    def __init__(self, status: int = 200) -> None:
        self.requests: list[Any] = []
        self.headers: list[Mapping[str, str]] = []
        self.paths: set[str] = set()
        self.status = status

    @contextmanager
    def at_work(self) -> Iterator[str]:
        """Its address."""
        collector = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                if self.headers.get("Content-Encoding") == "gzip":
                    body = gzip.decompress(body)
                collector.paths.add(self.path)
                collector.headers.append(dict(self.headers))
                collector.requests.append(service.ExportMetricsServiceRequest.FromString(body))
                self.send_response(collector.status)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_: Any) -> None: ...

        with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
            thread = threading.Thread(target=server.serve_forever, args=(0.01,))
            thread.start()
            try:
                yield f"http://127.0.0.1:{server.server_address[1]}"
            finally:
                server.shutdown()
                thread.join()

    def metrics(self) -> dict[str, Any]:
        """The last that was sent, by name."""
        (resource,) = self.requests[-1].resource_metrics
        (scope,) = resource.scope_metrics
        return {each.name: each for each in scope.metrics}


def attributes(point: Any) -> dict[str, str]:
    return {each.key: each.value.string_value for each in point.attributes}


def measured(url: str, directory: Path, progress: Any = None) -> brimline.RunResult:
    overrides = {"duration": "1s", "warmup": "200ms", "interval": "100ms", "load": {"kind": "constant", "rate": 2000}}
    options = brimline.Options(otlp=url, null=True, runs_dir=directory, progress=progress or Silence())
    return brimline.run("ycsb-b", overrides=overrides, options=options)


def test_what_arrives_is_what_the_record_has(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "api-key=of-the-collector")
    collector = Collector()
    with collector.at_work() as url:
        record = measured(url, tmp_path).record
    assert collector.paths == {"/v1/metrics"} and collector.headers[-1]["api-key"] == "of-the-collector"
    metrics, rows = collector.metrics(), record.operations
    sent = metrics["brimline.operations.sent"]
    assert sent.sum.is_monotonic and sent.sum.aggregation_temporality == 2 and sent.unit == "{operation}"
    for outcome in ("ok", "miss", "failed"):
        points = [
            each
            for each in metrics["brimline.operations"].sum.data_points
            if attributes(each)["brimline.outcome"] == outcome
        ]
        assert sum(each.as_int for each in points) == sum(row[outcome] for row in rows)  # type: ignore[literal-required]
    duration = metrics["db.client.operation.duration"]
    assert duration.unit == "s" and duration.histogram.aggregation_temporality == 2
    for operation in ("read", "update"):
        points = [each for each in duration.histogram.data_points if attributes(each)["db.operation.name"] == operation]
        ended = sum(row["ok"] + row["miss"] + row["failed"] for row in rows if row["operation"] == operation)
        assert sum(each.count for each in points) == ended == sum(sum(each.bucket_counts) for each in points)
        assert all(list(each.explicit_bounds) == list(BOUNDS_S) for each in points)
        assert all(0 < each.min <= each.sum / each.count <= each.max for each in points)
        assert all(0 < each.start_time_unix_nano < each.time_unix_nano for each in points)
    (resource,) = collector.requests[-1].resource_metrics
    of = {each.key: each.value.string_value for each in resource.resource.attributes}
    assert of["service.name"] == "brimline" and of["service.version"]
    (info,) = metrics["brimline.run.info"].gauge.data_points
    assert attributes(info)["brimline.plan_hash"] == record.plan.hash8()
    text = "".join(path.read_text(errors="replace") for path in record.directory.iterdir())
    assert "of-the-collector" not in text


def test_what_is_counted_has_one_beginning_over_the_places_of_a_command() -> None:
    collector = Collector()
    with collector.at_work() as url:
        told = Telemetry(Silence(), prometheus=None, otlp=f"{url}/v1/metrics")
        for _ in range(2):
            with told.at_work():
                told.begin("run", simulated_plan(rate_ops_per_s=500.0, duration_s=2.0))
    runs = [
        metric.sum.data_points[0]
        for request in collector.requests
        for metric in request.resource_metrics[0].scope_metrics[0].metrics
        if metric.name == "brimline.runs"
    ]
    assert [each.as_int for each in runs] == [1, 2]
    assert runs[0].start_time_unix_nano == runs[1].start_time_unix_nano


class Warned(Silence):
    def __init__(self) -> None:
        self.warnings: list[str] = []

    def warning(self, text: str) -> None:
        self.warnings.append(text)


def nobody() -> str:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        return f"http://127.0.0.1:{closed.getsockname()[1]}"


@pytest.mark.parametrize("trouble", ["refuses", "is not there"])
def test_a_collector_that_takes_nothing_is_told_once_and_costs_no_figure(
    trouble: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(otlp, "WITHIN_S", 0.2)
    warned = Warned()
    with Collector(status=400).at_work() as url:
        record = measured(url if trouble == "refuses" else nobody(), tmp_path, warned).record
    assert record.complete and sum(row["ok"] + row["miss"] for row in record.operations) > 1000
    (said,) = warned.warnings
    assert "did not take figures" in said and "the run goes on" in said
