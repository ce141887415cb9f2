"""Owns the figures of a growth experiment as a comparison and a design need them: import, queries, breakpoints."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from brimline.analysis.figure import Figure
from brimline.analysis.growth.breakpoints import Breakpoint
from brimline.experiments.growth.conclusion import GrowthConclusion, IndexSetGrowth, conclude
from brimline.experiments.growth.order import GrowthSettings
from brimline.experiments.growth.stored import stored_growth_trials
from brimline.experiments.stored import stored_settings
from brimline.plan.pacing import connections_text
from brimline.record import read_experiment
from brimline.stats.batch_means import mean_interval
from brimline.units import format_count
from brimline.wording import Verbatim, message

IMPORT_RATE, QUERY_TIME = "import_rate", "query_time"
"""A part of the keys of the figures that a comparison is about."""
_REPEATS_MIN = 3
"""Batches, or steps, from which their spread gives an interval."""


def growth_figures(directory: Path) -> Mapping[str, Figure]:
    """The figures by key; those of an index set begin with its name where there are several. Raises RecordError."""
    experiment = read_experiment(directory)
    return figures_of(conclude(stored_settings(GrowthSettings, experiment), stored_growth_trials(experiment)))


def figures_of(found: GrowthConclusion) -> Mapping[str, Figure]:
    """The same of what was concluded."""
    several = len(found.sets) > 1
    return {figure.key: figure for growth in found.sets for figure in _of_set(growth, several=several)}


def _of_set(growth: IndexSetGrowth, *, several: bool) -> Iterator[Figure]:
    if not growth.volumes:
        return
    before = f"{growth.indexes.value}." if several else ""
    of = message("{indexes}: ", indexes=Verbatim(growth.indexes.value)) if several else ""
    last = growth.volumes[-1]
    rates = [each.load.documents_per_s for each in growth.volumes if each.load.documents_per_s > 0]
    if rates:
        documents = sum(each.load.documents for each in growth.volumes)
        seconds = sum(each.load.elapsed_s for each in growth.volumes)
        yield _figure(f"{before}{IMPORT_RATE}", message("{of}Import rate", of=of), documents / seconds, rates,
                      unit="documents/s", higher_is_better=True)  # fmt: skip
    for connections in dict.fromkeys(each.connections for each in last.queries):
        times = [each.time_ns for each in last.batches(connections)]
        if times:
            label = message("{of}Time per query at {records} records over {connections}", of=of,
                            records=format_count(last.records), connections=connections_text(connections))  # fmt: skip
            yield _figure(f"{before}{QUERY_TIME}.{connections}", label, sum(times) / len(times), times, unit="ns",
                          higher_is_better=False)  # fmt: skip
    for each in growth.breaks:
        yield from _break(each, of=of, before=before)


def _figure(key: str, label: str, value: float, parts: Sequence[float], *, unit: str, higher_is_better: bool) -> Figure:
    """A mean with the interval that its parts give it, where there are enough."""
    low = high = None
    if len(parts) >= _REPEATS_MIN:
        spread = mean_interval(parts, unit=unit, independent=True)
        half = (spread.high - spread.low) / 2
        low, high = max(value - half, 0.0) or None, value + half
    return Figure(key=key, value=value, unit=unit, label=label, higher_is_better=higher_is_better, low=low, high=high)


def _break(each: Breakpoint, *, of: str, before: str) -> Iterator[Figure]:
    """Where it is; none that was found is one beyond what was looked at."""
    key = before + (f"query_break.{each.connections}" if each.connections else "import_break")
    label = message("{of}Breakpoint of {what}", of=of, what=each.name)
    found = each.result.found
    if found is not None:
        position = found.position
        yield Figure(key=key, value=position.value, unit="records", label=label, higher_is_better=True,
                     low=position.low, high=position.high)  # fmt: skip
    elif not each.result.too_few:
        last = float(each.result.volumes[-1])
        yield Figure(key=key, value=last, unit="records", label=label, higher_is_better=True, low=last)
