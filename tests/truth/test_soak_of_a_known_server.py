"""Soaks of a scripted server on a virtual clock: what it does over hours is known, and is what is found."""

import gc
import json
import subprocess
import sys
import tracemalloc
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from importlib import resources
from pathlib import Path
from typing import Any

import pytest

from brimline.analysis.objective import LatencyObjective
from brimline.analysis.observation import Observation, observe
from brimline.api.options import Options
from brimline.api.reopen import open_result
from brimline.api.soak import MEASURE, SoakResult, soak_in, soak_result
from brimline.api.workload import load_workload
from brimline.api.workplace import Workplace, workplace
from brimline.errors import UsageError
from brimline.experiments.soak.order import SoakSettings
from brimline.record import RunRecord, read_experiment
from brimline.record.pieces import lines_of
from tests.support.command_line import CommandLine
from tests.support.repetitions import repetitions
from tests.support.simulation import target

MS, S = 1_000_000, 1_000_000_000
HOUR_S = 3600.0
SERVER = {"service": {"kind": "exponential", "mean_ns": 2 * MS}}


@contextmanager
def place_of(script: Mapping[str, Any], directory: Path, *, rate: float, seed: int = 1) -> Iterator[Workplace]:
    """Where soaks of reads at a rate are made."""
    loaded = load_workload("ycsb-c", overrides={"data.records": 1000, "seed": seed,
                                                "load": {"kind": "constant", "rate": rate}})  # fmt: skip
    with workplace(loaded, Options(null=True, runs_dir=directory)) as place:
        yield replace(place, target=target({**script, "seed": seed}))


def soaked(script: Mapping[str, Any], directory: Path, *, hours: float, rate: float, seed: int = 1) -> SoakResult:
    """A whole soak, as `brimline soak` makes it."""
    with place_of(script, directory, rate=rate, seed=seed) as place:
        return soak_result(read_experiment(soak_in(place, SoakSettings(duration_s=hours * HOUR_S))))


def found(result: SoakResult) -> dict[str, float]:
    """What drifts, by its share in an hour."""
    return {each.series.key: each.share_per_hour or 0.0 for each in result.findings.drifts if each.found}


def test_a_leak_of_one_per_cent_an_hour_is_found(tmp_path: Path) -> None:
    result = soaked({**SERVER, "service_growth_per_hour": 0.01}, tmp_path, hours=1, rate=300)
    assert result.error is None
    mean = next(each for each in result.findings.drifts if each.series.key == "response_mean")
    assert mean.found and mean.is_worse
    assert mean.low <= 0.01 * 2 * MS <= mean.high, "per hour"
    assert "drifts" in result.report.verdict.sentence and "in an hour" in result.report.verdict.sentence
    assert "throughput" not in found(result)


def test_what_a_soak_that_proves_nothing_saw_is_no_answer(tmp_path: Path) -> None:
    """The generator stood still: that is the sentence, and not that nothing drifts, nor that something does."""
    for growth, said in ((0.0, "Nothing drifts"), (100.0, "Response time, mean drifts")):
        server = {**SERVER, "service_growth_per_hour": growth}
        result = soaked(server, tmp_path / str(growth), hours=0.02, rate=50)
        seen = result.report.verdict.sentence
        assert seen.startswith(said)
        _stand_still(result.findings.observed.record.directory)
        stood = soak_result(read_experiment(result.directory)).report.verdict
        assert stood.caption == "No figure: the soak proves nothing"
        assert stood.sentence.startswith("The generator itself did not run for 20.0 s from 20.0 s on")
        assert "Nothing drifts" not in stood.sentence
        assert stood.sentence.endswith(f"Seen, and not to be used: {seen}.") is bool(growth)


def test_a_design_of_soaks_excuses_what_the_verb_excuses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the generator's own lateness spoils depends on the objective of the workload."""
    result = soaked(SERVER, tmp_path, hours=0.02, rate=50)
    asked = []

    def seen(record: RunRecord, *, objectives: Sequence[LatencyObjective] = (), **others: Any) -> Observation:
        asked.append([(each.quantile, each.limit_ns) for each in objectives])
        return observe(record, objectives=objectives, **others)

    for module in ("brimline.api.soak", "brimline.experiments.soak.figures"):
        monkeypatch.setattr(sys.modules[module], "observe", seen)
    assert soak_result(read_experiment(result.directory)).judgement is not None
    assert "throughput" in MEASURE.measure.figures(result.directory)
    assert len(asked) == 2 and asked[0] == asked[1] != []


def test_a_level_server_does_not_drift(tmp_path: Path) -> None:
    result = soaked(SERVER, tmp_path, hours=0.2, rate=50)
    assert found(result) == {}
    assert not any(each.changes for each in result.findings.drifts)
    assert result.findings.stalls.periodic == ()


def test_a_stall_every_minute_is_found_with_its_period(tmp_path: Path) -> None:
    stalls = {"stalls": [{"at_ns": 7 * S, "length_ns": S // 2, "every_ns": 60 * S}]}
    result = soaked({**SERVER, **stalls}, tmp_path, hours=0.25, rate=50)
    (period,) = result.findings.stalls.periodic
    assert period.low_s <= 60 <= period.high_s and period.high_s - period.low_s < 1
    assert period.count >= 13 and abs(period.slowest_ns - S / 2) < 0.1 * S
    assert found(result) == {}
    opened = open_result(result.directory)
    assert opened.report.data["stalls_periodic"][0]["period_s"] == pytest.approx(60, abs=0.1)


@pytest.mark.parametrize(
    ("ended_by", "told"), [(None, "killed"), *repetitions(("interrupt", "interrupt"), ("error", "error"))]
)
def test_a_soak_that_was_cut_short_goes_on_with_what_is_left(tmp_path: Path, ended_by: str | None, told: str) -> None:
    with place_of(SERVER, tmp_path, rate=50) as place:
        directory = soak_in(place, SoakSettings(duration_s=20.0))
    # As if twice as long had been asked for, and something had ended it half-way.
    asked = SoakSettings(duration_s=40.0, warmup_s=1.0)
    _change(directory / "experiment.json", settings=asdict(asked) | {"seed": 1}, ended_by=ended_by)
    _change(directory / "trials" / "01-part-1" / "record.json", ended_by=ended_by, summary=None)
    (first,) = soak_result(read_experiment(directory)).report.data["parts"]
    assert first["measured_s"] == pytest.approx(20, abs=0.5) and first["ended_by"] == told
    for _ in range(2):  # the second time nothing is left to do
        with place_of(SERVER, tmp_path, rate=50) as place:
            assert soak_in(place, asked, directory=directory, resume=True) == directory
    result = soak_result(read_experiment(directory))
    parts = result.report.data["parts"]
    assert [each["ended_by"] for each in parts] == [told, "completed"]
    assert sum(each["measured_s"] for each in parts) == pytest.approx(40, abs=0.5)
    assert result.findings.span_s == pytest.approx(40, abs=0.5)
    assert result.error is None and not (directory / "dropped").exists()


def _stand_still(directory: Path) -> None:
    """As if the process had been stopped for 20 s of the run in `directory`."""
    summary = json.loads((directory / "record.json").read_text())["summary"]
    still = {"from_ns": 20 * S, "to_ns": 40 * S, "still_ns": 20 * S}
    _change(directory / "record.json", summary={**summary, "standstills": [still]})


def _change(path: Path, **values: Any) -> None:
    path.write_text(json.dumps({**json.loads(path.read_text()), **values}))


def test_without_a_rate_a_closed_loop_tells_it(tmp_path: Path) -> None:
    loaded = load_workload("ycsb-c", overrides={"data.records": 1000, "connections": 2})
    with workplace(loaded, Options(null=True, runs_dir=tmp_path)) as place:
        there = replace(place, target=target({"service": {"kind": "fixed", "ns": 2 * MS}}))
        result = soak_result(read_experiment(soak_in(there, SoakSettings(duration_s=30.0))))
    level, part = result.report.data["parts"]
    assert level["throughput_ops_per_s"] == pytest.approx(1000, rel=0.01), "2 connections, 2 ms"
    assert part["rate_ops_per_s"] == 500
    assert "closed loop" in "".join(block.text for section in result.report.sections if section.id == "parts"
                                    for block in section.blocks if block.kind == "text")  # fmt: skip


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("ycsb-c", "--duration", "0s"), "1 s to 30 days"),
        (("ycsb-c", "--duration", "forever"), "duration"),
        (("ycsb-c", "--rate", "-1"), "rate"),
        (("ramped.yaml",), "a soak needs a rate that stays"),
        (("--resume", "nowhere"), "nowhere"),
    ],
)
def test_what_cant_be_soaked_is_one_clear_error(
    brimline_cli: CommandLine, tmp_path: Path, words: tuple[str, ...], said: str
) -> None:
    shipped = (resources.files("brimline") / "spec" / "workloads" / "ycsb-c.yaml").read_text()
    ramp = "load: {kind: ramp, from: 0/s, to: 10/s, over: 5s}"
    (brimline_cli.directory / "ramped.yaml").write_text(shipped.replace("load: closed", ramp))
    outcome = brimline_cli.run("soak", *words, "--null", "--runs-dir", str(tmp_path / "runs"))
    assert outcome.exit_code == 2 and said in outcome.stderr, outcome.stderr
    assert outcome.stderr.count("error:") == 1


def test_a_record_that_wont_fit_is_refused_before_anything_is_sent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("brimline.execution.log_room.free_below", lambda _directory: 1_000_000)
    with place_of(SERVER, tmp_path, rate=50) as place, pytest.raises(UsageError, match="the record of 1 h"):
        soak_in(place, SoakSettings(duration_s=HOUR_S))
    with place_of(SERVER, tmp_path, rate=50) as place:
        soak_in(place, SoakSettings(duration_s=10.0))


@pytest.mark.long
def test_of_a_hundred_level_servers_five_at_most_are_found_to_drift(tmp_path: Path) -> None:
    """Twins: `test_a_level_server_does_not_drift`, and on series of numbers `test_drift.py`."""
    wrong = []
    for seed in range(100):
        result = soaked(SERVER, tmp_path, hours=0.5, rate=200, seed=seed)
        drifting = found(result)
        changes = any(each.changes for each in result.findings.drifts)
        if drifting or changes or result.findings.stalls.periodic:
            wrong.append((seed, drifting, changes))
    assert len(wrong) <= 5, wrong


_PEAK = """
import sys
from pathlib import Path
from brimline.api.soak import soak_result
from brimline.record import read_experiment
from brimline.record.pieces import lines_of
soak_result(read_experiment(Path(sys.argv[1])))
print(next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM")))
"""


def _peak_mb(directory: Path) -> float:
    """The most memory of a process that analyses a soak and makes its report."""
    command = [sys.executable, "-c", _PEAK, str(directory)]
    return int(subprocess.run(command, capture_output=True, text=True, check=True).stdout) * 1024 / 1e6


def test_a_longer_soak_takes_no_more_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Twenty times as long, in as many intervals with as much in each, and in files that go on in pieces."""
    monkeypatch.setattr("brimline.experiments.soak.order.INTERVALS_MAX", 600)
    monkeypatch.setattr("brimline.record.pieces.PIECE_BYTES_MAX", 20_000)
    peaks, intervals = [], []
    for hours, rate in ((0.25, 4), (5.0, 0.2)):
        with place_of(SERVER, tmp_path / str(hours), rate=rate) as place:
            directory = soak_in(place, SoakSettings(duration_s=hours * HOUR_S))
        gc.collect()
        tracemalloc.start()
        soak_result(read_experiment(directory))
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        (part,) = (directory / "trials").iterdir()
        assert len(list(part.glob("intervals.*.csv.gz"))) >= 1
        intervals.append(sum(line.startswith("measure,") for line in lines_of(part / "intervals.csv")))
    assert intervals == pytest.approx([600, 600], abs=2)
    assert peaks[1] < 2 * peaks[0], peaks  # what is collected late is a part of a peak


@pytest.mark.long
def test_a_soak_of_a_month_takes_the_memory_of_one_of_an_hour(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It has as many intervals as one of a day, and its files go on in pieces.

    Twin: `test_a_longer_soak_takes_no_more_memory`; of the intervals,
    `test_a_soak_of_any_length_has_enough_intervals_and_no_more_than_a_day_of_seconds`.
    """
    monkeypatch.setattr("brimline.record.pieces.PIECE_BYTES_MAX", 4_000_000)
    peaks_mb = {}
    for hours, rate in ((1, 10), (720, 0.1)):
        with place_of(SERVER, tmp_path / str(hours), rate=rate) as place:
            directory = soak_in(place, SoakSettings(duration_s=hours * HOUR_S))
        peaks_mb[hours] = _peak_mb(directory)
    (part,) = (directory / "trials").iterdir()
    assert len(list(part.glob("intervals.*.csv.gz"))) >= 1
    assert len(list(part.glob("latency.*.hlog.gz"))) >= 3
    intervals = sum(line.startswith("measure,") for line in lines_of(part / "intervals.csv"))
    assert intervals == pytest.approx(86_400, rel=0.01)
    assert abs(peaks_mb[720] - peaks_mb[1]) < 20, peaks_mb


@pytest.mark.long
def test_of_leaking_servers_each_is_found(tmp_path: Path) -> None:
    """1 % an hour over two hours, which is 0.04 ms of 2. Twin: `test_a_leak_of_one_per_cent_an_hour_is_found`."""
    missed = []
    for seed in range(20):
        result = soaked({**SERVER, "service_growth_per_hour": 0.01}, tmp_path, hours=2, rate=300, seed=seed)
        mean = next(each for each in result.findings.drifts if each.series.key == "response_mean")
        if not (mean.found and mean.is_worse):
            missed.append((seed, mean.share_per_hour))
    assert missed == []


@pytest.mark.long
def test_of_servers_that_stall_each_is_found_with_its_period(tmp_path: Path) -> None:
    """Whenever in the minute it is. Twin: `test_a_stall_every_minute_is_found_with_its_period`."""
    wrong = []
    for seed in range(20):
        stalls = {"stalls": [{"at_ns": 3 * seed * S + S, "length_ns": S // 2, "every_ns": 60 * S}]}
        result = soaked({**SERVER, **stalls}, tmp_path, hours=0.25, rate=50, seed=seed)
        periods = [(each.low_s, each.high_s) for each in result.findings.stalls.periodic]
        if len(periods) != 1 or not periods[0][0] <= 60 <= periods[0][1]:
            wrong.append((seed, periods))
    assert wrong == []
