"""Owns the load as a design crosses it: apart from the verb, whose load has the memory to itself."""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from brimline.api.kinds import MeasureInPlace
from brimline.api.wanted import wanted_data
from brimline.api.workplace import Workplace
from brimline.errors import UsageError
from brimline.execution import keeper
from brimline.experiments.cost import TimeEstimate
from brimline.experiments.growth.cost import ASSUMED_LOAD_BYTES_PER_S
from brimline.experiments.load_figures import LOAD
from brimline.plan import NullTarget
from brimline.spec import Spec


def load_in(place: Workplace, settings: None, *, directory: Path, resume: bool = False) -> Path:
    """Loads the one collection of a workload in a place that is up, whatever of it is there. Raises BrimlineError."""
    del settings, resume  # nothing is said to it, and one that was cut short begins anew
    reports = keeper(place.context).load(
        place.wanted, make_directory=lambda _plan: directory, drop=place.options.drop, going_on=()
    )
    shortfall = next((report.shortfall for report in reports if report.shortfall is not None), None)
    if shortfall is not None:
        raise shortfall
    return directory


def _one_collection(spec: Spec, _said: Mapping[str, Any]) -> None:
    if len(wanted_data(spec, target=NullTarget())) != 1:
        raise UsageError("a design loads one collection", hint="choose a workload with one, that has a shape")


def _estimate(spec: Spec, _settings: None) -> TimeEstimate:
    data_bytes = spec.data.records * spec.data.document_bytes_max
    return TimeEstimate(typical_s=data_bytes / ASSUMED_LOAD_BYTES_PER_S, max_s=math.inf)


MEASURE = MeasureInPlace(
    measure=LOAD,
    made_in=load_in,
    settings=_one_collection,
    estimate=_estimate,
    on_data=False,
)
"""A load as a design crosses it; nothing is said to it."""
