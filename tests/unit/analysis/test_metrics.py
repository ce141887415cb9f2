"""The table of figures: kinds of metric by operation, and how people name them."""

from dataclasses import replace

import numpy as np
import pytest

from brimline.analysis.compared_run import compared_run, load_kind
from brimline.analysis.comparison import compare_runs
from brimline.analysis.metric_names import check_names, chosen, metric_key, unknown_metric
from brimline.analysis.metrics import all_metrics, closed_kind, figures_over, kind_of_all, metrics_among, run_figures
from brimline.analysis.observation import observe
from brimline.errors import UsageError
from brimline.plan import WireTarget, resolve
from brimline.spec import load_spec
from brimline.stats.batch_means import ratio_interval

from .records import MS, S, operation_row, run_record

OPERATIONS = ("read", "update")


def observed(*, reads: int = 800, updates: int = 200):
    rows = [
        operation_row(second, operation=name, sent=count, ok=count, bytes_out=100 * count, bytes_in=1000 * count)
        for second in range(1, 11)
        for name, count in (("read", reads), ("update", updates))
    ]
    server = [
        {"at_ns": at * S, "connections": 9 + at, "resident_bytes": at * 1_000_000, "server_cpu_ns": at * S // 2}
        for at in (2, 6, 11)
    ]
    return observe(run_record(rate=None, operations=rows, server=server))


def test_each_operation_has_its_own_figures() -> None:
    figures = run_figures(observed(), "closed loop")
    assert figures["read.throughput"].value == pytest.approx(800)
    assert figures["update.throughput"].value == pytest.approx(200)
    assert figures["received"].value == pytest.approx(1_000_000)
    assert figures["update.sent"].value == pytest.approx(20_000)
    assert figures["read.errors"].value == 0.0


def test_connections_memory_and_cpu_are_the_windows() -> None:
    figures = run_figures(observed(), "closed loop")
    assert figures["server_connections"].value == 20  # the most that the monitor saw
    assert figures["memory"].value == 11_000_000
    assert figures["server_cpu"].value == pytest.approx(0.5 * S / 1000)


def test_what_a_driver_took_stands_beside_its_figures() -> None:
    """Of its process: memory, collections of garbage, and the pool; brimline's own client has none for itself."""
    record = run_record(rate=None, operations=[operation_row(second, ok=1000) for second in range(1, 11)])
    assert record.summary is not None
    finished = sum(record.summary[name] for name in ("ok", "miss", "failed"))
    told = {"collections_ns": 2_000 * finished, "pool_taken": 50, "pool_waited_ns": 50 * MS}
    silent = {"client": "go", "workers": 8}
    one = {**silent, "memory_peak_bytes": 30_000_000, **told}

    def figures(*runners: dict[str, object]) -> dict[str, float]:
        said = replace(record, summary={**record.summary, "runners": list(runners)}) if runners else record
        return {name: known.value for name, known in run_figures(observe(said), "closed loop").items()}

    names = ("driver_memory", "driver_collection", "pool_wait")
    assert [figures(one)[name] for name in names] == [30_000_000, 2_000, MS]
    assert [figures(one, one)[name] for name in names] == [60_000_000, 4_000, MS], "each load has a process"
    for none in (figures(), figures(silent), figures(one, silent)):
        assert not set(names) & set(none), "one that doesn't say it has no figure"


def pooled_record():
    """40 workers share 8 connections: each operation waits for 4 ms and takes 1 ms."""
    spec = load_spec("ycsb-c", overrides={"connections": 40, "max_pool_size": 8}).spec
    waited = [operation_row(second, held_back=1000) for second in range(1, 11)]
    times = {"service": [(MS, 10_000)], "response": [(5 * MS, 10_000)], "lag": [(4 * MS, 10_000)]}
    plan = resolve(spec, target=WireTarget(address="h:1", write_concern=None))
    return run_record(rate=None, plan=plan, operations=waited, latencies=times)


def test_a_worker_that_waits_for_a_connection_waits_in_its_figures() -> None:
    kind = load_kind(pooled_record())
    assert kind == "pooled closed loop"
    figures = run_figures(observe(pooled_record()), kind)
    assert figures["read.mean"].value == pytest.approx(5 * MS, rel=0.01)
    names = {each.key: each.document_key for each in all_metrics(kind, ["read"])}
    assert names["read.mean"] == "read.response_mean_ns"


def test_closed_loops_stand_beside_pooled_ones() -> None:
    alone, pooled = run_record(rate=None), pooled_record()
    assert kind_of_all(["closed loop", "pooled closed loop"]) == "pooled closed loop"
    assert kind_of_all(["closed loop", "closed loop"]) == kind_of_all([]) == "closed loop"
    assert kind_of_all(["open loop", "pooled closed loop"]) == "open loop"
    assert closed_kind([observe(alone)]) == "closed loop"
    assert closed_kind([observe(alone), observe(pooled)]) == "pooled closed loop"
    assert "read.mean" in run_figures(observe(alone), "pooled closed loop")
    compared = compare_runs([compared_run(alone)], [compared_run(pooled)])
    assert (compared.kind, compared.clock) == ("pooled closed loop", "response")
    median = next(each for each in compared.changes if each.metric.key == "p50")
    assert median.b == pytest.approx(5 * median.a, rel=0.01)


def test_repeats_have_the_figures_that_all_of_them_have() -> None:
    few, more = observed(), observed(reads=1000)
    over = figures_over([few, more], "closed loop")
    assert over["read.throughput"].value == pytest.approx(900)
    low, high = over["read.throughput"].low, over["read.throughput"].high
    assert low is not None and high is not None and low < 800 and high > 1000
    assert figures_over([few], "closed loop") == run_figures(few, "closed loop")
    assert figures_over([], "closed loop") == {}


def test_a_metric_is_called_as_people_say_it_or_as_it_stands_in_json() -> None:
    for metric in all_metrics("closed loop", OPERATIONS):
        assert metric_key(metric.key) == metric_key(metric.document_key) == metric.key
    assert metric_key("update.service_p99_ns") == metric_key("update.p99_ns") == "update.p99"
    assert metric_key("read.p99.9") == "read.p99.9"
    assert metric_key("nonsense") is None
    known = all_metrics("open loop", OPERATIONS)
    assert [each.document_key for each in chosen(["update.p95", "read.mean", "connections", "update.p95"], known)] == [
        "update.response_p95_ns",
        "read.response_mean_ns",
        "client_connections",
    ]


def test_the_operations_are_read_from_the_keys_of_figures() -> None:
    found = metrics_among([{"throughput": 1.0, "my step.p99.9": 2.0}, {"read.mean": 1.0}], "closed loop")
    assert {each.operation for each in found} == {None, "my step", "read"}


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("updte.p99", "update.p99"),
        ("update.p98", "update.p99"),
        ("scan.mean", "read.mean"),
        ("conections", "connections"),
        ("read.connections", "connections"),
    ],
)
def test_an_unknown_figure_is_one_error_with_those_that_are_near(name: str, near: str) -> None:
    with pytest.raises(UsageError) as caught:
        check_names([name], OPERATIONS)
    assert name in caught.value.message
    assert caught.value.hint is not None
    told, _, every = caught.value.hint.partition("there are ")
    assert near in (told or every)
    with pytest.raises(UsageError):
        chosen([name], all_metrics("closed loop", OPERATIONS))


def test_any_operation_is_taken_where_those_of_the_workload_are_not_known() -> None:
    check_names(["anything.p99", "p99.9", "memory"])
    with pytest.raises(UsageError):
        check_names(["p98"])


def test_the_interval_of_a_mean_holds_it_where_values_hang_together_in_time() -> None:
    """Each batch shares a disturbance: an interval from single values would be many times too narrow."""
    rng, held, runs = np.random.default_rng(1), 0, 300
    for _ in range(runs):
        counts = rng.integers(50, 150, size=30)
        shared = rng.normal(0, 0.2, size=30)
        sums = [float(each) for each in counts * (1.0 + shared) + rng.normal(0, 0.1, size=30) * counts**0.5]
        found = ratio_interval(sums, [int(each) for each in counts], unit="ns")
        assert found is not None
        held += found.low <= 1.0 <= found.high
    assert 0.90 <= held / runs <= 0.98


def test_a_mean_of_few_batches_has_no_interval() -> None:
    assert ratio_interval([MS] * 4, [1] * 4, unit="ns") is None
    assert ratio_interval([], [], unit="ns") is None
    equal = ratio_interval([10.0] * 8, [5] * 8, unit="ns")
    assert equal is not None and equal.low == equal.value == equal.high == 2.0


def test_what_is_known_is_told_with_an_example_that_is_known() -> None:
    of_growth = unknown_metric("query_time", ["import_rate", "query_time.4"])
    assert of_growth.hint == "did you mean query_time.4? there are import_rate, query_time.4"
    of_runs = unknown_metric("mode", [each.key for each in all_metrics("closed loop", ["read"])])
    assert (of_runs.hint or "").endswith("sent; of one operation as in read.throughput")


@pytest.mark.parametrize(("name", "near"), [("read.p99.99999", "read.p99.99"), ("p99.99999", "p99.99")])
def test_the_point_of_a_quantile_parts_no_operation_from_its_figure(name: str, near: str) -> None:
    hint = unknown_metric(name, [each.key for each in all_metrics("closed loop", ["read"])]).hint or ""
    near_ones = hint.partition("?")[0]
    assert near in near_ones and "p99.p99" not in near_ones
