"""Whether `-target` was reached, on a server that takes 2 ms: 8 connections do 4000 a second."""

from dataclasses import replace
from pathlib import Path

import pytest

from brimline.compat.ycsb import missed_target
from brimline.plan.model import ConstantPacer
from tests.support.ycsb_runs import STEADY, Run


@pytest.mark.parametrize(
    ("properties", "said"),
    [
        (
            ("target=10000000", "operationcount=20000"),
            "a target of 10 000 000 ops/s was asked for, 4 000 ops/s (0.04 %) were reached",
        ),
        (
            ("target=4100", "operationcount=20000"),
            "a target of 4 100 ops/s was asked for, 4 000 ops/s (97.6 %) were reached",
        ),
        (("target=4020", "operationcount=20000"), ""),  # 99.5 %
        (("target=2000", "operationcount=20000"), ""),
        (("target=10000000", "operationcount=8"), ""),  # all at once: as many as may be in flight
        (("operationcount=20000",), ""),  # a closed loop has no target
    ],
)
def test_a_target_is_reached_from_99_percent_on(tmp_path: Path, properties: tuple[str, ...], said: str) -> None:
    run = Run(tmp_path, "threadcount=8", *properties, script=STEADY)
    assert missed_target(run.record, run.output) == said


def test_a_load_is_told_in_documents(tmp_path: Path) -> None:
    """4000 commands a second of 8 documents each, where 5000 were asked for."""
    properties = ("threadcount=8", "batchsize=8", "recordcount=400000", "target=40000")
    run = Run(tmp_path, *properties, phase="load", script=STEADY)
    paced = run.record.plan.model_copy(update={"pacer": ConstantPacer(rate_ops_per_s=5000.0)})
    assert missed_target(replace(run.record, plan=paced), run.output) == (
        "a target of 40 000 ops/s was asked for, 32 000 ops/s (80 %) were reached"
    )
