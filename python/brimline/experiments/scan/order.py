"""Owns what a scan does next: which scenario, its first touch, its explanation, its repetitions. Pure."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from brimline.analysis.scan_figures import Execution
from brimline.experiments.cost import StageCost, TimeEstimate
from brimline.spec.scans import (
    EVERY_DOCUMENT,
    REPETITIONS_MIN,
    RangeSpec,
    ScansSpec,
    ScenarioSpec,
    count_of,
    extended_json,
)
from brimline.stats.line import mean_bounds
from brimline.units import NS_PER_S, count_text
from brimline.wording import message

SCAN_KIND = "scan"
_DECADE = 10
_WIDTH_START = 1000
_ASSUMED_RESTART_S, _ASSUMED_QUERY_S, _ASSUMED_ENTRIES_PER_S = 2.5, 0.3, 1e6
"""Of a server on data that is there, of a query without its entries, and of what it looks at."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScanSettings:
    """How queries are measured. `restarts`: a server of brimline's own is started again before each first touch."""

    restarts: bool = True


class Step(StrEnum):
    """What is done for a scenario, in this order."""

    FIRST = "first"
    EXPLAIN = "explain"
    STEADY = "steady"


@dataclass(frozen=True, slots=True, kw_only=True)
class ScanProbe:
    """One scenario of the spec by its number from 0, and of a range one width."""

    scenario: int
    name: str
    width: int | None = None

    @property
    def label(self) -> str:
        """For people and for directories."""
        return self.name if self.width is None else f"{self.name} {count_text(self.width)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class RangeBounds:
    """The first value of a range, and the first one after it; None: to the end."""

    low: Any
    high: Any | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ScanMade:
    """A query that was measured, or begun and cut short. `took_s`: by the wall clock; None where it isn't known."""

    probe: ScanProbe
    ended: bool = True
    took_s: float | None = None


class Scan:
    """Asks for one scenario after the other; pure. The widths of a range are asked for together, and take turns."""

    def __init__(self, asked: Sequence[ScanProbe]) -> None:
        self._asked = asked

    def next_probe(self, trials: Sequence[ScanMade]) -> tuple[ScanProbe, ...] | None:
        """What of the next scenario is not measured yet; None when all is, or something was cut short."""
        made = {trial.probe for trial in trials}
        left = [probe for probe in self._asked if probe not in made]
        if not left or not all(trial.ended for trial in trials):
            return None
        return tuple(probe for probe in left if probe.scenario == left[0].scenario)


def probes(scans: ScansSpec, *, entry_count: int) -> list[ScanProbe]:
    """Everything that is asked, in the order of the spec."""
    asked: list[ScanProbe] = []
    for number, scenario in enumerate(scans.scenarios):
        if scenario.range is None:
            asked.append(ScanProbe(scenario=number, name=scenario.name))
            continue
        asked += [
            ScanProbe(scenario=number, name=scenario.name, width=width)
            for width in widths(scenario.range, entry_count=entry_count)
        ]
    return asked


def widths(range_: RangeSpec, *, entry_count: int) -> list[int]:
    """The widths of a range: those of the spec, else powers of ten from 1 000 and all entries there are."""
    if range_.widths is not None:
        return [count_of(width, entry_count=entry_count) for width in range_.widths]
    decades = []
    width = _WIDTH_START
    while width < entry_count:
        decades.append(width)
        width *= _DECADE
    return [*decades, entry_count]


def starts(sizes: Sequence[int], *, entry_count: int) -> list[int]:
    """Where each range begins: one behind the other where they fit, so that none touches what another one has."""
    if sum(sizes) > entry_count:
        return [0] * len(sizes)
    behind = [0]
    for size in sizes[:-1]:
        behind.append(behind[-1] + size)
    return behind


def next_step(executions: Sequence[Execution], *, explained: bool, scans: ScansSpec) -> Step | None:
    """What comes next for a scenario; None when it has been measured well enough, or for as long as it may take."""
    if not any(each.touch == "first" for each in executions):
        return Step.FIRST
    if not explained:
        return Step.EXPLAIN
    steady = [float(each.elapsed_ns) for each in executions if each.touch == "steady"]
    return None if enough(steady, scans) else Step.STEADY


def enough(times_ns: Sequence[float], scans: ScansSpec) -> bool:
    """Whether the mean is known well enough, or there is no more time for it."""
    if len(times_ns) < REPETITIONS_MIN:
        return False
    if len(times_ns) >= scans.repetitions or sum(times_ns) >= scans.time_per_scenario_ns:
        return True
    bounds = mean_bounds(times_ns)
    return bounds.high is not None and bounds.high - bounds.value <= scans.precision * bounds.value


def scan_command(
    scenario: ScenarioSpec, *, collection: str, bounds: RangeBounds | None, timeout_ns: int
) -> dict[str, Any]:
    """The `find` or `aggregate` of a scenario, its name first."""
    condition = _condition(scenario, bounds)
    if scenario.pipeline is not None:
        stages = [extended_json(stage) for stage in scenario.pipeline]
        if condition:
            stages = [{"$match": condition}, *stages]
        command: dict[str, Any] = {"aggregate": collection, "pipeline": stages, "cursor": {}}
    else:
        command = {"find": collection, "filter": condition}
        for name in ("sort", "projection"):
            if (value := getattr(scenario, name)) is not None:
                command[name] = extended_json(value)
        if scenario.limit is not None:
            command["limit"] = scenario.limit
    if scenario.hint is not None:
        command["hint"] = {"$natural": 1} if scenario.hint == "$natural" else scenario.hint
    return {**command, "maxTimeMS": max(timeout_ns // 1_000_000, 1)}


def explain_command(command: Mapping[str, Any]) -> dict[str, Any]:
    """`explain` of a command with what its execution counts."""
    timeout = command["maxTimeMS"]
    inner = {name: value for name, value in command.items() if name != "maxTimeMS"}
    return {"explain": inner, "verbosity": "executionStats", "maxTimeMS": timeout}


def scan_time(asked: Sequence[ScanProbe], scans: ScansSpec, *, restarts: bool) -> TimeEstimate:
    """Each query is asked until its mean is known, which nobody knows beforehand; how long repetitions may take is."""
    query_s = max(scans.time_per_scenario_ns, NS_PER_S) / NS_PER_S
    times = message(
        "each after a restart of the server, once, once explained and {least} to {most} times more"
        if restarts
        else "each once, once explained and {least} to {most} times more",
        least=REPETITIONS_MIN,
        most=scans.repetitions,
    )
    longer = message("longer where {least} of a query take longer", least=REPETITIONS_MIN)
    return TimeEstimate(
        typical_s=math.nan,
        max_s=len(asked) * query_s,
        stages=(StageCost("scan", len(asked), query_s),),
        further=(times, longer),
    )


def assumed_time(scans: ScansSpec, records: int, settings: ScanSettings) -> TimeEstimate:
    """About what a scan takes before anything is known of the server: queries that look at each entry they may."""
    restarts_s = _ASSUMED_RESTART_S if settings.restarts else 0.0
    limit_s = scans.time_per_scenario_ns / NS_PER_S
    found = (
        min(records, each.width or records) / _ASSUMED_ENTRIES_PER_S for each in probes(scans, entry_count=records)
    )
    typical_s = math.fsum(
        restarts_s
        + _ASSUMED_QUERY_S
        + 2 * once_s
        + min(max(limit_s, REPETITIONS_MIN * once_s), scans.repetitions * once_s)
        for once_s in found
    )  # once cold, once explained, and then repeated
    return TimeEstimate(typical_s=typical_s, max_s=math.inf)


def _condition(scenario: ScenarioSpec, bounds: RangeBounds | None) -> dict[str, Any]:
    given = {} if scenario.filter in (None, EVERY_DOCUMENT) else dict(extended_json(scenario.filter))
    if bounds is None or scenario.range is None:
        return given
    limits = {"$gte": bounds.low} if bounds.high is None else {"$gte": bounds.low, "$lt": bounds.high}
    return {scenario.range.field: limits, **given}
