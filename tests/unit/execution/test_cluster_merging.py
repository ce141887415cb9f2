"""What nodes measured becomes one run: interval by interval, exactly, and of a thousand nodes in time."""

import pickle
import time
import tracemalloc
from collections.abc import Sequence
from random import Random

import pytest

from brimline import _native
from brimline.execution.cluster.merging import SampleMerger
from brimline.execution.cluster.node import node_rows
from brimline.execution.cluster.shares import taking_part
from brimline.execution.cluster.totals import SeenOfNode, merged_outages, merged_standstills, merged_summary
from brimline.execution.cluster.where import read_where
from brimline.plan import Plan, Share, resolve
from brimline.record.conservation import RowTotals, imbalances
from brimline.record.model import IntervalRow, Outage, SampleRow, Samples, Standstill, StepSampleRow, Summary
from tests.support.run_sets import plan as plan_of_closed_loop
from tests.support.simulation import read_only, target

S = 1_000_000_000
NODES, VALUES = 1_000, 2_000


def _histogram(*values_ns: int) -> str:
    histogram = _native.Histogram()
    for value in values_ns:
        histogram.record(value)
    return histogram.encode()


def _samples(spans: Sequence[tuple[int, int]], *values_ns: int, phase: str = "measure") -> Samples:
    """Intervals with an operation for each value in each."""
    operations = [
        SampleRow(
            phase="measure",
            start_ns=start,
            end_ns=end,
            operation="read",
            sent=len(values_ns),
            ok=len(values_ns),
            miss=0,
            failed=0,
            held_back=0,
            documents=len(values_ns),
            bytes_out=10,
            bytes_in=20,
            in_flight_ns=sum(values_ns),
            service=_histogram(*values_ns),
            response=None,
            lag=None,
            breakdown={"miss_service": _histogram(values_ns[0])},
        )
        for start, end in spans
    ]
    intervals = [
        IntervalRow(
            phase=phase,
            start_ns=start,
            end_ns=end,
            in_flight=1,
            connections_up=2,
            backlog=0,
            workers_active=2,
            engine_cpu_ns=5,
            busiest_thread_cpu_ns=values_ns[0],
            process_cpu_ns=7,
        )
        for start, end in spans
    ]
    samples = Samples(operations=operations, intervals=intervals)
    samples["nodes"] = node_rows(samples)
    return samples


def test_an_interval_is_handed_on_when_all_nodes_that_go_on_have_delivered_theirs() -> None:
    merger = SampleMerger(2)
    merger.add(0, _samples([(0, S), (S, 2 * S)], 100, 200))
    assert merger.take()["intervals"] == []
    merger.add(1, _samples([(0, S)], 300))
    (interval,) = (first := merger.take())["intervals"]
    assert (interval["start_ns"], interval["end_ns"], interval["connections_up"]) == (0, S, 4)
    assert interval["busiest_thread_cpu_ns"] == 300
    (row,) = first["operations"]
    assert (row["sent"], row["in_flight_ns"]) == (3, 600)
    assert row["service"] is not None and row["response"] is None
    assert [count for _, count in _native.Histogram.decode(row["service"]).buckets()] == [1, 1, 1]
    assert _native.Histogram.decode(row["breakdown"]["miss_service"]).count() == 2
    assert [(each["node"], each["sent"], each["service_p99_ns"]) for each in first["nodes"]] == [
        (0, 2, 200),
        (1, 1, 300),
    ]
    merger.finish(1)
    assert [each["start_ns"] for each in merger.take()["intervals"]] == [S]


def test_an_interval_lasts_as_long_as_one_of_the_nodes_is_at_work_in_the_earliest_phase() -> None:
    merger = SampleMerger(2)
    merger.add(0, _samples([(0, S // 2)], 100, phase="drain"))
    merger.add(1, _samples([(0, S)], 100))
    (interval,) = (merged := merger.take())["intervals"]
    assert (interval["phase"], interval["end_ns"]) == ("measure", S)
    assert [(row["start_ns"], row["end_ns"]) for row in merged["operations"]] == [(0, S)]


def test_sums_of_histograms_are_exact() -> None:
    values = [[1, 2_047, 10**6], [1, 3 * 10**9], [3_600 * S]]
    merged = _native.Histogram.decode(_native.merge_histograms([_histogram(*each) for each in values]))
    alone = _native.Histogram.decode(_histogram(*[value for each in values for value in each]))
    assert merged.buckets() == alone.buckets()
    with pytest.raises(ValueError):
        _native.merge_histograms(["no histogram"])


def _summary(**changes: object) -> Summary:
    seen = SeenOfNode()
    seen.add(_samples([(0, S)], 100, 200))
    whole = seen.summary("", started_unix_ns=1)
    return {**whole, "ended_by": "completed", "operations_hash": "8" + 15 * "0", **changes}  # type: ignore[typeddict-item]


def test_totals_add_up_and_the_end_that_explains_the_others_is_the_runs() -> None:
    late = {"operation": "read", "outcome": "timeout", "code": 0, "label": "", "count": 2, "example": "late"}
    shards = [{"commands": {"query": 1}}, {"commands": {"query": 4}, "step_documents": {"look": {"find": 3}}}]
    errors = [{**late, "outcome": "server_error", "code": 112, "count": 1}, late]
    merged = merged_summary(
        [
            _summary(
                commands={"query": 2}, connects={"count": 1, "mean_ns": 10, "max_ns": 10}, errors=errors, shards=shards
            ),
            _summary(
                commands={"query": 3}, connects={"count": 3, "mean_ns": 20, "max_ns": 40}, errors=errors, shards=shards
            ),
            _summary(ended_by="target_lost", message="gone", elapsed_ns=5 * S),
        ]
    )
    assert (merged["ended_by"], merged["message"], merged["elapsed_ns"]) == ("target_lost", "gone", 5 * S)
    assert (merged["sent"], merged["operations"]["read"]["ok"]) == (6, 6)
    assert merged["commands"] == {"query": 5}
    assert [each["commands"]["query"] for each in merged["shards"]] == [2, 8]
    assert merged["shards"][1]["step_documents"] == {"look": {"find": 6}}
    assert merged["connects"] == {"count": 4, "mean_ns": 17, "max_ns": 40}
    assert [(row["code"], row["count"]) for row in merged["errors"]] == [(0, 4), (112, 2)], "the most frequent first"
    assert merged["operations_hash"] == "8" + 15 * "0", "three halves of 2^64 are one half"


def test_what_happened_at_the_same_time_on_several_nodes_happened_once() -> None:
    outage = Outage(from_ns=1, to_ns=5, failed=1, retried=0, primary="a")
    (joined,) = merged_outages([outage, {**outage, "from_ns": 3, "to_ns": 9, "primary": "b"}])
    assert joined == {"from_ns": 1, "to_ns": 9, "failed": 2, "retried": 0, "primary": "b"}
    assert merged_outages([{**outage, "to_ns": None}, {**outage, "from_ns": 7}])[0]["to_ns"] is None
    assert len(merged_outages([outage, {**outage, "from_ns": 6, "to_ns": 7}])) == 2
    still = Standstill(from_ns=1, to_ns=5, still_ns=4)
    assert merged_standstills([still, {**still, "to_ns": 8, "still_ns": 7}]) == [{**still, "to_ns": 8, "still_ns": 7}]
    of_both = merged_standstills([{**still, "node": 0}, {**still, "node": 1}])
    assert [*merged_standstills([{**still, "node": 1}]), *of_both] == [{**still, "node": 1}, still]


def test_a_lost_node_is_known_by_its_rows() -> None:
    seen = SeenOfNode()
    samples = _samples([(0, S)], 100, 200)
    row = samples["operations"][0]
    seen.add({**samples, "operations": [{**row, "sent": 5, "failed": 1}]})
    summary = seen.summary("gone", started_unix_ns=1)
    assert (summary["due"], summary["sent"], summary["unfinished"]) == (5, 5, 2)
    assert [(each["outcome"], each["count"]) for each in summary["errors"]] == [("unknown", 1)]


def test_the_steps_of_a_lost_node_are_known_by_their_rows() -> None:
    """What its rows hold is in the totals of the run, and so the counts are conserved."""
    samples = _samples([(0, S)], 100, 200)
    step = StepSampleRow(
        phase="measure", start_ns=0, end_ns=S, operation="read", step="find", sent=3, ok=2, miss=0, failed=1,
        documents=2, bytes_out=1, bytes_in=1, service=_histogram(5),
    )  # fmt: skip
    samples["steps"] = [step, {**step, "step": "update", "failed": 0}]
    seen, rows = SeenOfNode(), RowTotals()
    for _ in range(2):
        seen.add(samples)
        for row in samples["operations"]:
            rows.add(row)
        for each in samples["steps"]:
            rows.add_step(each)
    summary = seen.summary("gone", started_unix_ns=1)
    assert summary["steps"]["read"]["find"] == {"sent": 6, "ok": 4, "miss": 0, "failed": 2}
    assert imbalances(summary, rows) == []
    assert merged_summary([summary, summary])["steps"]["read"]["update"]["sent"] == 12


def _of_an_open_loop() -> Samples:
    """An interval as docs/concepts/scale.md counts on it: eight histograms of some 1.2 kB each, of two operations."""
    rng = Random(1)
    samples = _samples([(0, S)], 100)
    rows: list[SampleRow] = []
    for operation in ("read", "update"):
        service, response, lag, missed = (
            _histogram(*(round(rng.lognormvariate(13.5, 0.5)) for _ in range(VALUES))) for _ in range(4)
        )
        rows.append(
            {
                **samples["operations"][0],
                "operation": operation,
                "service": service,
                "response": response,
                "lag": lag,
                "breakdown": {"miss_service": missed},
            }
        )
    return {**samples, "operations": rows}


def _merged(sent: bytes) -> Samples:
    """Of each node, what came from it: with texts of its own."""
    merger = SampleMerger(NODES)
    for node in range(NODES):
        merger.add(node, pickle.loads(sent))
    return merger.take()


def test_a_thousand_nodes_are_merged_in_time_and_in_little_memory() -> None:
    """Bounds of the page: an interval of a second must not take one. The texts are 10 MB of the memory."""
    sent = pickle.dumps(_of_an_open_loop())
    begun = time.thread_time()  # of this thread alone, whatever is at work beside it
    merged = _merged(sent)
    took_s = time.thread_time() - begun
    (interval,) = merged["intervals"]
    assert interval["connections_up"] == 2 * NODES and len(merged["nodes"]) == NODES
    for row in merged["operations"]:
        for text in (row["service"], row["response"], row["lag"], row["breakdown"]["miss_service"]):
            assert text is not None and _native.Histogram.decode(text).count() == NODES * VALUES
    tracemalloc.start()
    _merged(sent)
    peak_bytes = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert 9_000 < len(sent) < 12_000, f"{len(sent)} bytes of each node"
    assert peak_bytes < 20_000_000, f"{peak_bytes / 1e6:.1f} MB"
    assert took_s < 1.0, f"{took_s:.2f} s"


def test_as_many_nodes_take_part_as_have_something_to_do() -> None:
    open_loop = resolve(read_only(load={"kind": "constant", "rate": 100}, connections=3), target=target({}))
    assert [taking_part(open_loop, count) for count in (1, 2, 3, 8)] == [1, 2, 3, 3]
    threads = resolve(read_only(load={"kind": "tlr", "threads": 12, "loops": 2, "ramp_up": "1s"}), target=target({}))
    assert [taking_part(threads, count) for count in (1, 4, 5, 8)] == [1, 4, 4, 6]


def test_a_share_is_part_of_a_plan_only_where_there_is_one() -> None:
    plan: Plan = plan_of_closed_loop()
    assert "share" not in plan.canonical_json()
    shared = plan.model_copy(update={"share": Share(node=1, nodes=2)})
    assert Plan.from_json(_native.validate_plan(shared.canonical_json())) == shared


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ray", (True, None, None)),
        ("ray:4", (True, None, 4)),
        ("ray://head:10001", (True, "ray://head:10001", None)),
        ("ray://10.0.0.1:10001/2", (True, "ray://10.0.0.1:10001", 2)),
        ("local:3", (False, None, 3)),
    ],
)
def test_where_workers_are(text: str, expected: tuple[bool, str | None, int | None]) -> None:
    where = read_where(text)
    assert (where.is_ray, where.address, where.count) == expected


def test_processes_of_this_machine_are_so_many_on_each_of_so_many_nodes() -> None:
    assert [read_where("local:2", per_node).processes for per_node in (1, 3)] == [2, 6]
    with pytest.raises(ValueError, match="on a node"):
        read_where("local:2", 0)


@pytest.mark.parametrize("text", ["", "ray:0", "local", "local:0", "ray://head", "dask:2", "local:20000", "ray:x"])
def test_what_names_no_workers_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        read_where(text)
