"""A generator that did not run: found on its own clock, named, and what it spoils is not taken for the server's."""

from pathlib import Path

import pytest

from brimline.analysis.finding import Finding, Standing
from brimline.analysis.observation import observe
from brimline.execution import execute
from brimline.plan import resolve
from brimline.plan.model import PlannedStandstill, SimulatedTarget
from brimline.record import RunRecord
from tests.support.simulation import GENERATOR_NS, context, read_only

MS, S = 1_000_000, 1_000_000_000
SCRIPT = {"service": {"kind": "fixed", "ns": MS}, "servers": 100}


def _stopped(directory: Path, *standstills: tuple[int, int], **overrides: object) -> RunRecord:
    named = {name.replace("__", "."): value for name, value in overrides.items()}
    target = SimulatedTarget(
        script=SCRIPT,
        generator_ns=GENERATOR_NS,
        standstills=tuple(PlannedStandstill(at_ns=at_ns, length_ns=length_ns) for at_ns, length_ns in standstills),
    )
    plan = resolve(read_only(**{"warmup": "1s", "duration": "9s", "connections": 8, **named}), target=target)
    return execute(plan, directory=directory / "run", title="simulated", context=context())


def _finding(record: RunRecord) -> Finding | None:
    return next((each for each in observe(record).findings if each.name == "standstills"), None)


def test_a_closed_loop_that_was_stopped_proves_nothing(tmp_path: Path) -> None:
    record = _stopped(tmp_path, (4 * S, 1500 * MS))
    assert record.summary is not None
    (found,) = record.summary["standstills"]
    assert 1_480 * MS <= found["still_ns"] <= 1_500 * MS
    assert 3_980 * MS <= found["from_ns"] <= 4_001 * MS
    finding = _finding(record)
    assert finding is not None
    assert finding.verdict is Standing.FAIL
    assert finding.evidence.startswith("the generator itself did not run for 1.48 s from 4.00 s on, 16.5 %")
    assert not observe(record).valid


def test_an_open_loop_that_was_stopped_says_so(tmp_path: Path) -> None:
    load = {"kind": "constant", "rate": "500/s"}
    finding = _finding(_stopped(tmp_path, (4 * S, 1500 * MS), load=load))
    assert finding is not None
    assert finding.verdict is Standing.FAIL


def test_what_is_too_short_to_spoil_the_figures_is_named(tmp_path: Path) -> None:
    record = _stopped(tmp_path, (4 * S, 60 * MS), (6 * S, 90 * MS + 110 * MS))
    assert record.summary is not None
    assert len(record.summary["standstills"]) == 1
    record = _stopped(tmp_path / "short", (4 * S, 125 * MS), duration="29s")
    finding = _finding(record)
    assert finding is not None
    assert finding.verdict is Standing.WARN
    assert "what was slowest then is not the server's doing" in finding.evidence


@pytest.mark.parametrize("at_s", [0.2, 0.5])
def test_in_the_warm_up_it_spoils_nothing(tmp_path: Path, at_s: float) -> None:
    finding = _finding(_stopped(tmp_path, (round(at_s * S), 300 * MS)))
    assert finding is not None
    assert finding.verdict is Standing.WARN
    assert finding.evidence.endswith(", outside of the measured window")


def test_a_generator_that_always_ran_says_nothing(tmp_path: Path) -> None:
    record = _stopped(tmp_path)
    assert record.summary is not None
    assert "standstills" not in record.summary
    assert _finding(record) is None


def test_a_server_that_stalls_is_no_standstill(tmp_path: Path) -> None:
    script = {**SCRIPT, "stalls": [{"at_ns": 4 * S, "length_ns": 1500 * MS}]}
    target = SimulatedTarget(script=script, generator_ns=GENERATOR_NS)
    plan = resolve(read_only(warmup="1s", duration="9s", connections=8), target=target)
    assert _finding(execute(plan, directory=tmp_path / "run", title="simulated", context=context())) is None
