"""Owns an experiment as a comparison needs it: its figures with their intervals, and how it was asked."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any

from brimline.analysis.compared_run import ComparedRun, Metric
from brimline.analysis.configured import Settings, environment_settings, flat, run_settings, short_hash
from brimline.analysis.figure import Figure
from brimline.errors import RecordError
from brimline.experiments.stored import stored_slo
from brimline.record import ExperimentRecord
from brimline.record.layout import PLAN_FILE, TARGET_LOST
from brimline.record.listing import named_time, record_entry
from brimline.record.reader import read_plan
from brimline.units import NS_PER_S

_SEARCH = "search"
_OF_PROBE = ("connections", "in_flight_max", "threads", "pacer.", "warmup_ns", "duration_ns", "operation_count", "seed")
"""Settings of a plan that each probe has its own of."""
_NO_SETTING = frozenset({"seed", "goal", "budget_elapses", "spec"})
COMPLETED = "completed"


def compared_search(
    experiment: ExperimentRecord, figures: Mapping[str, Figure], *, deciding: Sequence[str]
) -> ComparedRun:
    """What a comparison takes from an experiment whose `figures` are known.

    What is named in `deciding`, or is a variant of it (`NAME_…`, `NAME.…`), has a say in the verdict.
    """
    asked: Settings = {(_SEARCH, name): value for name, value in _asked(experiment)}
    plan_hash = short_hash(json.dumps([experiment.plan_hash, *sorted((*key, str(asked[key])) for key in asked)]))
    return ComparedRun(
        name=experiment.directory.name,
        directory=experiment.directory,
        title=experiment.name,
        plan_hash=plan_hash,
        settings={**asked, **_common_plan(experiment), **environment_settings(experiment.environment)},
        environment=experiment.environment,
        kind=experiment.kind,
        metrics=tuple(_metric(each, decides=_decides(each.key, deciding)) for each in figures.values()),
        started_ns=_started_ns(experiment),
        figures={key: each.value for key, each in figures.items()},
        ends={key: (each.low, each.high) for key, each in figures.items() if (each.low, each.high) != (None, None)},
        distribution=(),
        problems=_problems(experiment, figures),
        broken=experiment.ended_by == TARGET_LOST,
        ended_by=experiment.ended_by,
    )


def _decides(key: str, deciding: Sequence[str]) -> bool:
    return any(part == name or part.startswith(f"{name}_") for part in key.split(".") for name in deciding)


def _metric(figure: Figure, *, decides: bool) -> Metric:
    return Metric(
        key=figure.key,
        label=figure.label,
        unit=figure.unit,
        higher_is_better=figure.higher_is_better,
        decides=decides,
        absolute=figure.unit == "share",
    )


def _problems(experiment: ExperimentRecord, figures: Mapping[str, Figure]) -> tuple[str, ...]:
    if experiment.ended_by != COMPLETED:
        return (f"it did not come to its end ({experiment.ended_by.replace('_', ' ')})",)
    return () if figures else ("it found no figure",)


def _asked(experiment: ExperimentRecord) -> Iterator[tuple[str, Any]]:
    """How the experiment was asked; its objective in words."""
    settings = dict(experiment.settings)
    search = settings.pop("search", settings)
    if search.get("slo"):
        with suppress(RecordError):
            slo = stored_slo(search["slo"])
            search = {name: value for name, value in search.items() if name != "slo"} | {"objective": slo.short_text}
            settings.pop("slo", None)
    yield from ((name, value) for name, value in flat({**settings, **search}) if name not in _NO_SETTING)


def _common_plan(experiment: ExperimentRecord) -> Settings:
    """What the plans of all its runs have in common, but for what each probe has its own of; not of its calibration."""
    found: list[Settings] = []
    for entry in experiment.trials:
        if (entry.directory / PLAN_FILE).exists():
            plan = read_plan(entry.directory / PLAN_FILE)
            if plan.target.kind != "null":
                found.append(run_settings(plan, {}))
    if not found:
        return {}
    first, *rest = found
    return {
        key: value
        for key, value in first.items()
        if key[0] == "plan"
        and not key[1].startswith(_OF_PROBE)
        and all(key in other and other[key] == value for other in rest)
    }


def _started_ns(experiment: ExperimentRecord) -> int | None:
    """By its name; of one that is a trial itself by its first run."""
    begun: datetime | None = named_time(experiment.directory)
    first = record_entry(experiment.trials[0].directory) if experiment.trials and begun is None else None
    begun = first.started_at if first is not None else begun
    return None if begun is None else round(begun.timestamp() * NS_PER_S)
