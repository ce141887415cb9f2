"""A node from which nothing comes any more is lost, whatever the reason, and nobody waits for it without an end."""

from typing import Any

import pytest

from brimline.execution.cluster.access import PortableAccess
from brimline.execution.cluster.link import ANSWER_WITHIN_S, NodeLost
from brimline.execution.cluster.processes import ProcessLink
from brimline.execution.cluster.shared_run import GIVE_UP_S, SharedRun
from brimline.execution.cluster.shares import share_orders
from brimline.servers import Access
from tests.support.run_sets import plan

STOPPED = ("sh", "-c", 'kill -STOP $$; exec "$@"', "sh")
WITHIN_S = 0.05


class _Broken:
    def call(self, name: str, *_: Any, within_s: float = ANSWER_WITHIN_S) -> Any:
        raise ValueError("an answer that can't be read")

    def close(self) -> None: ...


def test_whatever_goes_wrong_with_a_node_is_its_loss() -> None:
    told: list[str] = []
    run = SharedRun(
        share_orders(plan(), 1, identity=None),
        [(_Broken(), {"host": "there", "pid": 1, "cpu_cores": 1, "python": "3"})],
        access=PortableAccess.of(Access()),
        held=False,
        on_lost=told.append,
    )
    summary = run.join()
    reason = "ValueError: an answer that can't be read"
    assert (summary["ended_by"], summary["nodes"][0]["lost"]) == ("worker_lost", reason)
    assert told == [summary["message"]] == [f"node 0 (there) was lost: {reason}"]


def test_with_a_silent_node_a_run_is_over_within_ten_seconds() -> None:
    assert ANSWER_WITHIN_S + GIVE_UP_S < 10.0


def test_a_node_that_is_stopped_is_lost_also_while_it_is_sent_more_than_it_takes() -> None:
    link = ProcessLink(STOPPED)
    try:
        with pytest.raises(NodeLost, match=r"no answer within 0\.05 s"):
            link.call("start", bytes(10_000_000), within_s=WITHIN_S)
    finally:
        link.close()
    assert link._process.returncode == -9, "it does not hear that it is to end"
