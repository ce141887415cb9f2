"""Nothing that is placed on a run's clock follows the wall clock, which anybody may set while a run goes on."""

import re
import time
from pathlib import Path
from typing import Any, cast

import pytest

from brimline import _native
from brimline.execution.background import Background

PACKAGE = Path(__file__).parents[2] / "python" / "brimline"
HOUR_NS = 3_600_000_000_000
ASKED = {
    "dataset/trial.py": "it is compared with clocks of other processes, and tells what is minutes old",
    "execution/cluster/cluster.py": "an ObjectId begins with it",
    "execution/import_data.py": "an ObjectId begins with it",
    "execution/put_back.py": "an ObjectId begins with it",
    "execution/telemetry/otlp.py": "who receives it compares it with clocks of its own",
    "execution/telemetry/sink.py": "who receives it compares it with clocks of its own",
    "monitor/host/exporter.py": "it is held against the clock of another host",
    "monitor/host/file.py": "it is held against the clock of another host",
    "monitor/host/sources.py": "it is held against the clock of another host",
    "servers/state.py": "it is held against the time of a file",
    "spec/own/calculations.py": "a value of the workload is a date",
}
"""Where it is asked for, and why that does no harm."""


def test_the_wall_clock_is_asked_for_where_its_being_set_does_no_harm() -> None:
    asking = {
        str(path.relative_to(PACKAGE))
        for path in PACKAGE.rglob("*.py")
        if re.search(r"\btime\.time(_ns)?\b(?!_)", path.read_text(encoding="utf-8"))
    }
    assert asking == set(ASKED)


class _Work(Background):
    kind = unit = "work"

    def _work(self) -> None:
        return


@pytest.mark.parametrize("set_by_ns", [HOUR_NS, -HOUR_NS])
def test_a_span_is_as_long_as_it_was_where_the_clock_is_set_in_it(
    set_by_ns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = _Work(cast(Any, None), cast(Any, None))
    with work._span():
        monkeypatch.setattr(time, "time_ns", lambda: time.monotonic_ns() + HOUR_NS * 500_000 + set_by_ns)
        work._advance(1)
    ((begin, end),), ((at, _),) = work._spans, work._progress
    assert begin <= at <= end < begin + HOUR_NS // 60


def test_a_records_instants_are_of_the_day() -> None:
    assert abs(_native.unix_now_ns() - time.time_ns()) < 10_000_000_000
