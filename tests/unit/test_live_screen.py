"""The live screen, fed with figures that are known: what stands on it, in place, on a terminal of any width."""

import io
import re
from collections.abc import Sequence
from typing import Any

import pytest
from rich.cells import cell_len
from rich.console import Console

from brimline import _native
from brimline.cli.live import LiveProgress, progress_console, progress_on
from brimline.cli.progress import TerminalProgress
from brimline.cli.screen import sparkline
from brimline.execution import Outcome, Recent, SoFar, Tick, recent
from brimline.experiments.cost import capacity_time
from brimline.experiments.runner import describe_probe
from brimline.experiments.settings import quick
from brimline.experiments.trial import Probe
from brimline.plan import NullTarget, Plan, resolve
from brimline.record.model import IntervalRow, SampleRow, Samples
from brimline.units import NS_PER_MS, NS_PER_S
from tests.support.own_work import own_plan, step
from tests.support.simulation import read_only
from tests.support.terminal import Screen


def test_a_sparkline_has_its_heights_from_0_and_a_blank_where_nothing_is_known() -> None:
    assert sparkline([0.0, 0.5, None, 1.0]) == "▁▅ █"
    assert sparkline([0.0, 0.0]) == "▁▁" and sparkline([]) == ""


def histogram(*values_ns: int) -> str:
    made = _native.Histogram()
    for value in values_ns:
        made.record(value)
    return made.encode()


def row(operation: str, start_s: float, end_s: float, *, ok: int, failed: int, times: Sequence[int]) -> SampleRow:
    text = histogram(*times) if times else None
    return {
        "phase": "measure",
        "start_ns": round(start_s * NS_PER_S),
        "end_ns": round(end_s * NS_PER_S),
        "operation": operation,
        "sent": ok + failed,
        "ok": ok,
        "miss": 0,
        "failed": failed,
        "held_back": 0,
        "documents": 2 * ok,
        "bytes_out": 0,
        "bytes_in": 0,
        "in_flight_ns": 0,
        "service": None,
        "response": text,
        "lag": None,
        "breakdown": {},
    }


def samples(*rows: SampleRow) -> Samples:
    return {"operations": list(rows), "intervals": []}


def test_an_interval_has_all_operations_together() -> None:
    read = row("read", 1.0, 1.5, ok=90, failed=0, times=[NS_PER_MS] * 90)
    update = row("update", 1.0, 1.5, ok=5, failed=5, times=[10 * NS_PER_MS] * 10)
    later = row("read", 1.5, 2.0, ok=0, failed=0, times=[])
    first, second = recent(samples(read, later, update), closed_loop=False)
    assert (first.end_s, first.answered_per_s, first.documents_per_s, first.failed_share) == (1.5, 190.0, 380.0, 0.05)
    assert first.p50_ns == pytest.approx(NS_PER_MS, rel=0.001)
    assert first.p99_ns == pytest.approx(10 * NS_PER_MS, rel=0.001)
    assert second == Recent(
        end_s=2.0, answered_per_s=0.0, documents_per_s=0.0, failed_share=0.0, p50_ns=None, p99_ns=None
    )
    drain: IntervalRow = {
        "phase": "drain",
        "start_ns": later["start_ns"],
        "end_ns": later["end_ns"],
        "in_flight": 0,
        "connections_up": 0,
        "backlog": 0,
        "workers_active": 0,
        "engine_cpu_ns": 0,
        "busiest_thread_cpu_ns": 0,
        "process_cpu_ns": 0,
    }
    assert recent({"operations": [read, later, update], "intervals": [drain]}, closed_loop=False) == [first]
    assert recent(samples(read), closed_loop=True)[0].p99_ns is None, "service times weren't recorded"


def tick(elapsed_s: float, stage: str = "running") -> Tick:
    return Tick(stage=stage, elapsed_s=elapsed_s, finished=0, failed=0, documents=0, in_flight=0, rate_ops_per_s=0.0)


class Watched:
    """A screen that is being shown."""

    def __init__(self, columns: int, height: int = 40, *, language: str = "en") -> None:
        self.columns = columns
        self._file = io.StringIO()
        console = progress_console(
            file=self._file, force_terminal=True, width=columns, height=height, _environ={"TERM": "xterm"}
        )
        self.progress = LiveProgress(console, language=language)

    @property
    def screen(self) -> Screen:
        screen = Screen(self.columns)
        screen.write(self._file.getvalue().replace("\n", "\r\n"))
        return screen

    @property
    def text(self) -> str:
        return "\n".join(self.screen.lines)


@pytest.fixture
def plan() -> Plan:
    load = {"kind": "constant", "rate": "1000/s"}
    return resolve(read_only(load=load, warmup="2s", duration="8s"), target=NullTarget())


@pytest.mark.parametrize("columns", [40, 80, 120])
def test_the_screen_of_a_search(columns: int, plan: Plan) -> None:
    watched = Watched(columns)
    progress = watched.progress
    progress.note("estimate: about 60 s")
    probes: list[tuple[float, Outcome]] = [(900.0, "met"), (1_100.0, "missed"), (1_000.0, "unsettled")]
    known = SoFar(unit="ops/s", figure=990.0, low=950.0, high=1_050.0, probes=probes, left_s=42.0, left_max_s=99.0)
    for number in range(1, 6):
        progress.so_far(lambda: known)
        progress.begin(f"bisect: 1 000 ops/s offered, probe {number}", plan)
        progress.samples(samples(row("read", 0.0, 1.0, ok=990, failed=10, times=[NS_PER_MS] * 100)))
        progress.tick(tick(5.0))
        progress.end()
        progress.outcome(f"bisect: outcome {number}")
        lines = watched.screen.lines
        assert len([line for line in lines if line.startswith("answered")]) == 1, "in place"
        assert all(len(line) <= columns for line in lines)
    text = watched.text
    assert watched.screen.lines[0] == "estimate: about 60 s"
    for said in ("50 %, about 37 s left", "990 ops/s", "response p99", "1.00 ms", "1 %", "990.0 ops/s, 95 %"):
        assert said in text, text
    assert ("1 000 ops/s" in text) and ("outcome 5" in text) and ("outcome 3" not in text)
    (marks,) = [line for line in watched.screen.lines if line.startswith("probes")]
    assert marks.split() == ["probes", "●", "◇", "×"] and len(marks) == columns
    if columns >= 80:
        assert "● met  × missed  ◇ unsettled  ops/s" in text and "950.0–1 050" in text
        assert any(line.strip().startswith("├") and "┼" in line and line.endswith("┤") for line in watched.screen.lines)
    progress.over()
    assert watched.screen.lines[0] == "estimate: about 60 s" and not any(watched.screen.lines[1:]), "it is gone"
    assert watched.screen.cursor_shown


def own(names: Sequence[str], **changes: Any) -> Plan:
    return own_plan({name: [step("find")] for name in names}, **changes)


@pytest.mark.parametrize(("columns", "height"), [(40, 16), (80, 24), (120, 40)])
def test_operations_with_names_of_their_own_have_a_line_each(columns: int, height: int) -> None:
    names = ["latest_orders", "订单查询", "a_report_whose_name_goes_on_and_on_for_longer_than_the_screen_is_wide_" * 2]
    watched = Watched(columns, height)
    watched.progress.begin("run", own(names))
    rows = [row(name, 0.0, 1.0, ok=90, failed=10, times=[5 * NS_PER_MS] * 100) for name in names[:2]]
    watched.progress.samples(samples(*rows))
    watched.progress.tick(tick(1.0))
    lines = watched.screen.lines
    assert all(cell_len(line.rstrip()) <= columns for line in lines) and len([line for line in lines if line]) <= height
    of = {name: next(line for line in lines if line.startswith(name)) for name in names[:2]}
    assert all("90.0 ops/s" in line and "p99 5.0" in line for line in of.values())
    assert columns < 80 or all("10 % failed" in line for line in of.values())
    long = next(line for line in lines if line.startswith("a_report"))
    assert "…" in long and long.endswith("—"), "cut, and not at work yet"
    watched.progress.over()


@pytest.mark.parametrize(("height", "shown"), [(16, 3), (24, 8), (40, 8)])
def test_of_many_operations_those_with_the_largest_shares_are_shown(height: int, shown: int) -> None:
    names = [f"operation_{number}" for number in range(64)]
    watched = Watched(80, height)
    watched.progress.begin("run", own(names, weights={"operation_63": 9.0}))
    lines = [line for line in watched.screen.lines if line.startswith(("operation_", "and "))]
    assert len(lines) == shown and lines[0].startswith("operation_63")
    assert lines[-1] == f"and {64 - shown + 1} more operations"
    watched.progress.over()


def test_what_has_a_load_apart_is_no_part_of_the_answered_rate() -> None:
    load = {"operations": [1], "pacer": {"kind": "constant", "rate_ops_per_s": 5.0}, "connections": 1}
    watched = Watched(80)
    watched.progress.begin("run", own(["find", "report"], weights={"report": 0.0}, loads=[load]))
    find = row("find", 0.0, 1.0, ok=100, failed=0, times=[NS_PER_MS] * 100)
    report = row("report", 0.0, 1.0, ok=5, failed=0, times=[900 * NS_PER_MS] * 5)
    watched.progress.samples(samples(find, report))
    watched.progress.tick(tick(1.0))
    assert re.search(r"^answered +100 ops/s", watched.text, re.MULTILINE)
    assert re.search(r"^response p99 +1.00 ms", watched.text, re.MULTILINE)
    assert re.search(r"^report +5.00 ops/s +p99 90", watched.text, re.MULTILINE)
    watched.progress.over()


def test_before_the_estimate_the_screen_says_what_is_known(plan: Plan) -> None:
    watched = Watched(80)
    watched.progress.begin("sweep", plan)
    watched.progress.so_far(lambda: SoFar(unit="ops/s"))
    assert "not known yet" in watched.text
    watched.progress.so_far(lambda: SoFar(unit="ops/s", low=900.0, probes=[(900.0, "met")]))
    assert "at least 900.0 ops/s" in watched.text
    watched.progress.so_far(lambda: SoFar(unit="ops/s", high=900.0, probes=[(900.0, "missed")]))
    assert "below 900.0 ops/s" in watched.text
    watched.progress.so_far(lambda: SoFar(unit="connections", probes=[(1.0, "measured"), (8.0, "measured")]))
    assert "estimate" not in watched.text and watched.text.count("●") == 2
    assert re.search(r"^ +1 +connections +8$", watched.text, re.MULTILINE)
    watched.progress.over()


def test_the_time_left_is_the_longest_when_the_usual_one_is_over(plan: Plan) -> None:
    watched = Watched(80)
    watched.progress.so_far(lambda: SoFar(unit="ops/s", left_s=3.0, left_max_s=30.0))
    watched.progress.begin("verify", plan)
    watched.progress.tick(tick(0.0, "connecting"))
    assert "connecting" in watched.text
    watched.progress.tick(tick(4.0))
    assert "40 %, at most 26 s left" in watched.text
    watched.progress.over()
    watched.progress.over()


def test_a_step_between_two_runs_is_said_in_place(plan: Plan) -> None:
    watched = Watched(80)
    watched.progress.step("starting [mongod]")
    watched.progress.begin("step 1", plan)
    watched.progress.step("waiting for a checkpoint")
    watched.progress.step("warming up")
    assert watched.screen.lines[:2] == ["starting [mongod] …", "warming up …"]
    assert "checkpoint" not in watched.text and "step 1" not in watched.text
    watched.progress.over()


def terminal(*, width: int = 80, height: int = 24, term: str = "xterm", is_terminal: bool = True) -> Console:
    return Console(file=io.StringIO(), width=width, height=height, force_terminal=is_terminal, _environ={"TERM": term})


def test_only_a_terminal_that_can_show_it_has_the_screen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert isinstance(progress_on(terminal()), LiveProgress)
    for other in (terminal(width=20), terminal(height=10), terminal(term="dumb"), terminal(is_terminal=False)):
        assert isinstance(progress_on(other), TerminalProgress)
    monkeypatch.setenv("NO_COLOR", "1")
    assert isinstance(progress_on(terminal()), TerminalProgress)


@pytest.mark.parametrize("columns", [40, 80, 120])
def test_the_screen_speaks_chinese(columns: int) -> None:
    watched = Watched(columns, language="zh")
    progress = watched.progress
    progress.note(capacity_time(quick()).text)
    progress.step("looking for the data")
    progress.so_far(lambda: SoFar(unit="ops/s", low=12_000.0, probes=[(12_000.0, "met")], left_s=42.0, left_max_s=99.0))
    load = {"kind": "constant", "rate": "12000/s"}
    plan = resolve(read_only(load=load, warmup="2s", duration="8s"), target=NullTarget())
    probe = Probe(stage="search", label="a", target="server", connections=64, rate_ops_per_s=12_000.0, warmup_s=2.0,
                  duration_s=8.0)  # fmt: skip
    for outcome in ("met", "missed", "unsettled"):
        known: Outcome = outcome  # type: ignore[assignment]
        loads = SoFar(unit="ops/s", figure=12_340.0, low=9_500.0, high=13_050.0, left_s=42.0, left_max_s=99.0,
                      probes=[(9_900.0, "met"), (12_000.0, known)])  # fmt: skip
        progress.so_far(lambda loads=loads: loads)  # type: ignore[misc]
        progress.begin(describe_probe(probe), plan)
        assert "正在连接" in watched.text
        progress.samples(samples(row("read", 0.0, 1.0, ok=11_990, failed=10, times=[NS_PER_MS] * 100)))
        progress.tick(tick(5.0))
        found = set(re.findall(r"[A-Za-z]{2,}", watched.text)) - {"ms"}
        assert not found, (found, watched.text)
        lines = watched.screen.lines
        begin = next(index for index, line in enumerate(lines) if line.startswith("搜索"))
        assert all(cell_len(line) <= columns for line in lines[begin:])
    for said in ("搜索：施加 12 000", "约还需 37 s", "已应答", "响应时间 p99", "估计", "12 340 次/秒，95%"):
        assert said in watched.text, watched.text
    assert columns < 80 or "区间 9500–13 050" in watched.text
    progress.over()
