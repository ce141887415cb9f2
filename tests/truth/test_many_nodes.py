"""Several nodes measure what one measures: the same operations, the same times bucket by bucket, on a virtual clock."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from brimline.execution import execute
from brimline.execution.cluster.cluster import Cluster
from brimline.execution.cluster.link import ANSWER_WITHIN_S, Link
from brimline.plan import NullTarget, Plan, SimulatedTarget, resolve
from brimline.plan.targets import PlannedStandstill
from brimline.record import RunRecord
from tests.support.nodes import HereLink, performed, ray_link
from tests.support.simulation import GENERATOR_NS, context, read_only

MS, S = 1_000_000, 1_000_000_000
RATE = 2003
OFFERED = {"load": {"kind": "constant", "rate": RATE}, "connections": 64, "warmup": "1s", "duration": "3s"}
STALLS = [{"at_ns": 100 * MS, "length_ns": 20 * MS, "every_ns": 73_123_456}]
"""Those who ask meanwhile wait for the end, so that responses take from 1 to 21 ms; there are connections for them."""
STANDSTILLS = [PlannedStandstill(at_ns=at_ns, length_ns=MS * 2 // 5) for at_ns in range(50 * MS, 4 * S, 19_531_111)]
"""Shorter than the time between two operations, so that one is late, if any, and by a time of its own."""
BUCKETS_MIN = 20


def _plan() -> Plan:
    """Each request takes its millisecond, whoever else asks, so that what is measured can't depend on who asks."""
    script = {"service": {"kind": "fixed", "ns": MS}, "stalls": STALLS}
    simulated = SimulatedTarget(script=script, generator_ns=GENERATOR_NS, standstills=tuple(STANDSTILLS))
    return resolve(read_only(**OFFERED), target=simulated)


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> RunRecord:
    return execute(_plan(), directory=tmp_path_factory.mktemp("alone") / "run", title="alone", context=context())


class StalledTogether(HereLink):
    """A node whose server stalls when those of the others do. A script begins with the first request that its server
    gets, and that of node *j* is operation *j*."""

    def call(self, name: str, *arguments: Any, within_s: float = ANSWER_WITHIN_S) -> Any:
        if name == "start":
            (order,) = arguments
            assert isinstance(order.plan.target, SimulatedTarget)
            first_due_ns = order.plan.share.node * S // RATE
            stalls = [{**stall, "at_ns": stall["at_ns"] - first_due_ns} for stall in STALLS]
            script = {**order.plan.target.script, "stalls": stalls}
            here = order.plan.model_copy(update={"target": order.plan.target.model_copy(update={"script": script})})
            arguments = (replace(order, plan=here, plan_hash=here.hash8()),)
        return super().call(name, *arguments, within_s=within_s)


@pytest.mark.parametrize("count", [1, 2, 4])
def test_nodes_send_and_measure_what_one_does(alone: RunRecord, tmp_path: Path, count: int) -> None:
    together = performed(_plan(), tmp_path / "run", [StalledTogether() for _ in range(count)])
    assert together.summary is not None and alone.summary is not None
    assert (together.ended_by, together.imbalances) == ("completed", ())
    assert together.summary["operations_hash"] == alone.summary["operations_hash"]
    assert together.summary["operations"] == alone.summary["operations"]
    assert together.histograms.keys() == alone.histograms.keys()
    for key, histogram in together.histograms.items():
        buckets = histogram.buckets()
        assert buckets == alone.histograms[key].buckets(), key
        assert len(buckets) > BUCKETS_MIN, key
    assert [(row["start_ns"], row["end_ns"]) for row in together.intervals][:4] == [
        (row["start_ns"], row["end_ns"]) for row in alone.intervals
    ][:4]
    assert [(row["phase"], row["sent"], row["ok"]) for row in together.operations][:4] == [
        (row["phase"], row["sent"], row["ok"]) for row in alone.operations
    ][:4]
    assert sorted({row["node"] for row in together.nodes}) == list(range(count))
    assert sum(row["sent"] for row in together.nodes) == together.summary["sent"]


def test_a_clock_that_is_wrong_by_seconds_is_found_and_corrected(tmp_path: Path) -> None:
    """In real time: nodes that were not told the truth about their clocks would send nothing, or all at once."""
    plan = _plan().model_copy(update={"target": NullTarget(), "warmup_ns": 0, "duration_ns": 500_000_000})
    wrong_ns = (0, 5_000_000_000, -5_000_000_000)
    record = performed(plan, tmp_path / "run", [HereLink(ahead_ns=ahead_ns) for ahead_ns in wrong_ns])
    assert record.summary is not None and record.summary["ended_by"] == "completed"
    for node, ahead_ns in zip(record.summary["nodes"], wrong_ns, strict=True):
        assert abs(node["clock"]["ahead_ns"] - ahead_ns) <= node["clock"]["error_ns"]
        assert node["late_ns"] < 2_000_000_000, "on a busy machine it may hear of the start a little late"
        assert node["due"] in (333, 334)
    assert record.summary["due"] == 1002  # 2003/s for half a second, to the operation


@pytest.mark.parametrize(
    ("link", "words"),
    [(lambda node: node, "it is lost for a test"), (ray_link, "its actor is gone (ActorError)")],
    ids=["node", "actor of Ray"],
)
def test_a_node_that_is_lost_leaves_what_the_others_measured(
    link: Callable[[HereLink], Link], words: str, tmp_path: Path
) -> None:
    plan = _plan().model_copy(update={"target": NullTarget(), "warmup_ns": 0, "interval_ns": 100_000_000})
    links = [link(HereLink()), link(HereLink(lost_after=40))]
    cluster = Cluster(links)
    assert cluster.described.startswith("2 workers on ")
    record = performed(plan, tmp_path / "run", links)
    assert record.ended_by == "worker_lost"
    assert "node 1" in record.message and words in record.message
    assert record.imbalances == ()
    assert record.summary is not None
    kept, lost = record.summary["nodes"]
    assert kept["lost"] is None and kept["sent"] > 0 and lost["lost"] == words


def test_a_node_that_hears_late_of_the_start_says_so(tmp_path: Path) -> None:
    plan = _plan().model_copy(update={"target": NullTarget(), "warmup_ns": 0, "duration_ns": 300_000_000})
    record = performed(plan, tmp_path / "run", [HereLink(), HereLink(late_s=2.0)])
    assert record.summary is not None
    on_time, late = record.summary["nodes"]
    assert on_time["late_ns"] < late["late_ns"] and late["late_ns"] > 1_000_000_000
