"""Owns the table of measures: what a design can cross, each imported when it is asked for."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol, cast

from brimline.api.workplace import Workplace
from brimline.errors import UsageError
from brimline.experiments.measure import Measure
from brimline.experiments.vary.order import RUN
from brimline.spec import Spec


class MeasureIn(Protocol):
    """Makes a measure in a place that is up."""

    def __call__(self, place: Workplace, settings: Any, *, directory: Path, resume: bool) -> Path:
        """Writes its record into `directory`, or goes on with the one there. Raises BrimlineError."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasureInPlace:
    """A measure with its effects.

    `settings` makes its settings from a workload and from what was said to it, as JSON has it; raises UsageError.
    `estimate_s`: about how long it takes with these, without server starts and loading.
    `words`: what of that a factor can say. `on_data`: it is measured on data that is loaded before.
    """

    measure: Measure
    measure_in: MeasureIn
    settings: Callable[[Spec, Mapping[str, Any]], Any]
    estimate_s: Callable[[Spec, Any], float]
    words: frozenset[str] = field(default_factory=frozenset)
    on_data: bool = True


_MODULES = {
    "load": "brimline.api.measured_load",
    **{name: f"brimline.api.{name}" for name in ("capacity", "grow", "interfere", "scan", "sweep")},
}
"""Where the constant `MEASURE` is, by verb."""


def measure_named(name: str) -> MeasureInPlace | None:
    """The measure of this verb; None for a run. Raises UsageError for one that isn't there."""
    if name in ("", RUN):
        return None
    if name not in _MODULES:
        raise UsageError(f"there is no measure {name}", hint=f"there are {', '.join(_MODULES)}")
    return cast(MeasureInPlace, import_module(_MODULES[name]).MEASURE)
