"""Figures for Prometheus and OpenTelemetry: names, text, counts, and that nobody who measures waits for them."""

import http.client
import re
import socket
import threading
from contextlib import closing
from pathlib import Path
from typing import Any, ClassVar

import pytest

import brimline
from brimline import _native
from brimline.errors import UsageError
from brimline.execution import Silence, SoFar, Tick
from brimline.execution.telemetry import Telemetry, at_work, telemetry_beside
from brimline.execution.telemetry import sink as sinks
from brimline.execution.telemetry.exposition import page, prometheus_name
from brimline.execution.telemetry.metrics import BOUNDS_S, Figures, Metric, Times
from tests.unit.report.report_samples import simulated_plan

MS = 1_000_000
PLAN = simulated_plan(rate_ops_per_s=500.0, duration_s=2.0)


def packed(*times_ns: int) -> str:
    histogram = _native.Histogram()
    for each in times_ns:
        histogram.record(each)
    return histogram.encode()


def samples(*, ok: int = 3, failed: int = 1, times_ns: tuple[int, ...] = (MS, 3 * MS, 3 * MS, 700 * MS)) -> Any:
    row = {
        "phase": "measure", "start_ns": 0, "end_ns": 10**9, "operation": "read", "sent": ok + failed, "ok": ok,
        "miss": 0, "failed": failed, "held_back": 0, "documents": 7, "bytes_out": 100, "bytes_in": 2000,
        "in_flight_ns": 5, "service": packed(*times_ns), "response": None, "lag": None, "breakdown": {},
    }  # fmt: skip
    interval = {"phase": "measure", "start_ns": 0, "end_ns": 10**9, "in_flight": 2, "connections_up": 4, "backlog": 9}
    return {"operations": [row], "intervals": [interval]}


def figures() -> Figures:
    told = Figures(version="1.2.3")
    told.begin("run", PLAN)
    told.add(samples())
    return told


def by_name(metrics: Any) -> dict[str, Metric]:
    return {each.name: each for each in metrics}


def values(text: str) -> dict[str, float]:
    return {line.rpartition(" ")[0]: float(line.rpartition(" ")[2]) for line in text.splitlines() if line[0] != "#"}


def test_times_lie_in_the_buckets_that_they_are_of() -> None:
    times = Times()
    times.add(packed(MS, 3 * MS, 3 * MS, 700 * MS, 60_000 * MS))
    upper = dict(zip((*BOUNDS_S, float("inf")), times.counts, strict=True))
    # A millisecond's bucket of the engine reaches a little beyond 1 ms.
    assert (upper[0.001] + upper[0.002], upper[0.005], upper[1.0], upper[float("inf")]) == (1, 2, 1, 1)
    assert times.count == 5 and times.sum_s == pytest.approx(60.707, rel=0.01)
    assert (times.min_s, times.max_s) == (pytest.approx(0.001, rel=0.01), pytest.approx(60, rel=0.01))


def test_counts_grow_over_intervals_and_runs() -> None:
    told = figures()
    told.begin("probe 2", PLAN)
    told.add(samples(ok=2, failed=0, times_ns=(MS, MS)))
    metrics = by_name(told.metrics())
    assert metrics["brimline.runs"].points == {(): 2}
    (sent,) = metrics["brimline.operations.sent"].points.values()
    assert sent == 6
    outcomes = {
        dict(labels)["brimline.outcome"]: value for labels, value in metrics["brimline.operations"].points.items()
    }
    assert outcomes == {"ok": 5, "miss": 0, "failed": 1}
    (times,) = metrics["db.client.operation.duration"].points.values()
    assert isinstance(times, Times) and times.count == 6
    (labels,) = metrics["db.client.operation.duration"].points
    assert dict(labels) == {
        "db.system.name": "mongodb",
        "db.namespace": PLAN.namespace.database,
        "db.operation.name": "read",
        "brimline.phase": "measure",
    }
    assert metrics["brimline.backlog"].points == {(): 9}


def test_what_a_search_finds_is_told_with_its_interval() -> None:
    told = figures()
    told.so_far(SoFar(unit="ops/s", figure=1500.0, low=1400.0, high=1600.0))
    told.tick(Tick(stage="running", elapsed_s=1.5, finished=4, failed=1, documents=7, in_flight=2, rate_ops_per_s=3.0))
    metrics = by_name(told.metrics())
    unit = (("brimline.unit", "ops/s"),)
    assert [metrics[f"brimline.search.{name}"].points for name in ("figure", "low", "high")] == [
        {unit: 1500}, {unit: 1400}, {unit: 1600}
    ]  # fmt: skip
    assert metrics["brimline.run.elapsed"].points == {(): 1.5} and metrics["brimline.in_flight"].points == {(): 2}


def test_the_page_is_as_prometheus_reads_it() -> None:
    text = page(figures().metrics())
    name, label = r"[a-zA-Z_:][a-zA-Z0-9_:]*", r'[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\["\\n])*"'
    sample = re.compile(rf"({name})(\{{{label}(?:,{label})*\}})? (\d+(\.\d+)?(e[+-]?\d+)?)")
    comment = re.compile(rf"# (HELP {name} .+|TYPE {name} (counter|gauge|histogram))")
    typed: dict[str, str] = {}
    for line in text.splitlines():
        if line.startswith("#"):
            assert comment.fullmatch(line), line
            if line.startswith("# TYPE"):
                _, _, of, kind = line.split()
                assert of not in typed
                typed[of] = kind
        else:
            found = sample.fullmatch(line)
            assert found is not None, line
            of = re.sub(r"_(bucket|sum|count)$", "", found[1]) if found[1] not in typed else found[1]
            assert of in typed, line
    assert typed["db_client_operation_duration_seconds"] == "histogram"
    assert typed["brimline_io_received_bytes_total"] == "counter"
    of_times = [line for line in text.splitlines() if line.startswith("db_client_operation_duration_seconds_bucket")]
    grown = [int(line.rpartition(" ")[2]) for line in of_times]
    assert grown == sorted(grown) and grown[-1] == 4 and 'le="+Inf"' in of_times[-1]


@pytest.mark.parametrize(
    ("metric", "name"),
    [
        (Metric("db.client.operation.duration", "times", "s", "", {}), "db_client_operation_duration_seconds"),
        (Metric("brimline.io.sent", "counter", "By", "", {}), "brimline_io_sent_bytes_total"),
        (Metric("brimline.rate", "gauge", "{operation}/s", "", {}), "brimline_rate_operations_per_second"),
        (Metric("brimline.backlog", "gauge", "{operation}", "", {}), "brimline_backlog"),
    ],
)
def test_names_are_made_as_opentelemetry_says(metric: Metric, name: str) -> None:
    assert prometheus_name(metric) == name


def test_what_comes_from_outside_cannot_break_a_line() -> None:
    labels = (("brimline.run", 'a"b\\c\nd'),)
    text = page([Metric("m", "gauge", "1", "one\ntwo", {labels: 1})])
    assert text == '# HELP m one\\ntwo\n# TYPE m gauge\nm{brimline_run="a\\"b\\\\c\\nd"} 1\n'


def test_without_a_wish_nobody_listens() -> None:
    silence = Silence()
    assert telemetry_beside(silence, prometheus=None, otlp=None) is silence
    with at_work(silence):
        pass


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ({"prometheus": "9464"}, "is no address to listen at"),
        ({"prometheus": "127.0.0.1:x"}, "is no address to listen at"),
        ({"otlp": "127.0.0.1:4318"}, "is no address of a collector"),
        ({"otlp": "http://user:secret@host:4318"}, "has a user or a password in it"),
    ],
)
def test_what_is_no_address_is_refused_and_no_secret_is_repeated(words: dict[str, str], said: str) -> None:
    with pytest.raises(UsageError) as refused:
        brimline.Options(**words)  # type: ignore[arg-type]
    assert said in refused.value.message and "secret" not in f"{refused.value.message}{refused.value.hint}"


def test_a_port_that_is_taken_is_told_before_anything_is_measured(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        at = f"127.0.0.1:{taken.getsockname()[1]}"
        options = brimline.Options(prometheus=at, null=True, runs_dir=tmp_path)
        with pytest.raises(UsageError, match=f"nothing can listen at {at}"):
            brimline.run("ycsb-c", options=options)
    assert list(tmp_path.iterdir()) == []


class Reading(Silence):
    """Reads the page while the run goes on."""

    def __init__(self, port: int) -> None:
        self.port, self.pages = port, list[str]()

    def tick(self, tick: Tick) -> None:
        if tick.stage == "running":
            with closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=5)) as connection:
                connection.request("GET", "/metrics")
                response = connection.getresponse()
                assert response.status == 200 and "version=0.0.4" in (response.getheader("Content-Type") or "")
                self.pages.append(response.read().decode())


def test_the_page_of_a_run_has_the_counts_of_its_record(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    reading = Reading(port)
    options = brimline.Options(prometheus=f"127.0.0.1:{port}", null=True, runs_dir=tmp_path, progress=reading)
    overrides = {"duration": "1s", "warmup": "200ms", "interval": "100ms", "load": {"kind": "constant", "rate": 2000}}
    record = brimline.run("ycsb-b", overrides=overrides, options=options).record
    assert isinstance(options.progress, Telemetry)
    live, final = values(reading.pages[-1]), values(options.progress.text())
    for outcome in ("ok", "miss", "failed"):
        of = [value for name, value in final.items() if "brimline_operations_total" in name and f'"{outcome}"' in name]
        assert sum(of) == sum(row[outcome] for row in record.operations)  # type: ignore[literal-required]
    timed = sum(value for name, value in final.items() if name.startswith("db_client_operation_duration_seconds_count"))
    assert timed == sum(row["ok"] + row["miss"] + row["failed"] for row in record.operations)
    assert 0 < sum(value for name, value in live.items() if "sent_total" in name) <= timed + 1000
    assert final["brimline_telemetry_lost_intervals_total"] == 0
    with pytest.raises(OSError):
        socket.create_connection(("127.0.0.1", port), timeout=1)


def test_who_measures_waits_for_nobody_and_what_is_lost_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """The thread that adds up stands still: news are put aside up to a bound, and those beyond it are counted."""
    monkeypatch.setattr(sinks, "QUEUE_MAX", 5)
    held = threading.Event()
    told = Telemetry(Silence(), prometheus=None, otlp=None)
    with told.at_work():
        told._tell(lambda _: held.wait(5) and None)
        for _ in range(100):
            told.samples(samples())
        held.set()
    lost = values(told.text())["brimline_telemetry_lost_intervals_total"]
    sent = sum(value for name, value in values(told.text()).items() if "operations_sent_total" in name)
    assert 90 <= lost < 100 and sent == (100 - lost) * 4


def test_what_waits_at_the_end_is_added_up_as_well() -> None:
    told = Telemetry(Silence(), prometheus=None, otlp=None)
    told._users = 1
    told.begin("run", PLAN)
    for _ in range(3):
        told.samples(samples())
    told._stopped.set()
    told._add_up(None)
    assert sum(value for name, value in values(told.text()).items() if "operations_sent_total" in name) == 12


class NeverTakes:
    """A collector that takes nothing, asked until `end` is set."""

    def __init__(self, end: threading.Event) -> None:
        self.end, self.asked, self.closed = end, 0, False

    def send(self, metrics: Any) -> str:
        self.asked += 1
        if self.asked == 3:
            self.end.set()
        return "no room"

    def close(self) -> None:
        self.closed = True


def test_a_trouble_that_lasts_is_told_once() -> None:
    class Warned(Silence):
        said: ClassVar[list[str]] = []

        def warning(self, text: str) -> None:
            self.said.append(text)

    told = Telemetry(Warned(), prometheus=None, otlp=None, send_every_s=0.0)
    collector = NeverTakes(told._stopped)
    told._add_up(collector)  # type: ignore[arg-type]
    assert collector.asked >= 3 and collector.closed
    (said,) = Warned.said
    assert "no room" in said and "the run goes on" in said


def test_what_cannot_be_read_is_counted_and_ends_nothing() -> None:
    told = Telemetry(Silence(), prometheus=None, otlp=None)
    with told.at_work():
        told.samples({"operations": [{"phase": "measure"}], "intervals": [{}]})  # type: ignore[typeddict-item]
        told.samples(samples())
    told.samples(samples())  # nothing is at work, so that nothing is lost
    found = values(told.text())
    assert found["brimline_telemetry_lost_intervals_total"] == 1
    assert sum(value for name, value in found.items() if "operations_sent_total" in name) == 4


def test_figures_go_on_over_the_places_of_one_command() -> None:
    told = Telemetry(Silence(), prometheus=("127.0.0.1", 0), otlp=None)
    for _ in range(2):
        with told.at_work(), told.at_work():
            told.begin("run", PLAN)
            told.samples(samples())
    assert values(told.text())["brimline_runs_total"] == 2
    told.samples(samples())  # nothing is at work: nobody adds it up
    assert told._news.empty()


def test_only_the_page_is_there(tmp_path: Path) -> None:
    from brimline.execution.telemetry.page import Page

    served = Page("127.0.0.1", 0, lambda: "x 1\n")
    served.start()
    try:
        for method, path, status in (("GET", "/", 404), ("GET", "/metrics?a=b", 200), ("POST", "/metrics", 501)):
            with closing(http.client.HTTPConnection("127.0.0.1", served.server_address[1], timeout=5)) as connection:
                connection.request(method, path)
                assert connection.getresponse().status == status
    finally:
        served.stop()


def test_without_the_library_the_error_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(__import__("sys").modules, "opentelemetry.sdk.metrics", None)
    options = brimline.Options(otlp="http://127.0.0.1:1", null=True, runs_dir=tmp_path)
    with pytest.raises(UsageError, match="which is not installed") as refused:
        brimline.run("ycsb-c", options=options)
    assert "make telemetry" in (refused.value.hint or "")
    assert list(tmp_path.iterdir()) == []
