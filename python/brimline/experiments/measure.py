"""Owns what a design knows of what it crosses: a measure, which is made once in a place that is up, and its figures."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from brimline.stats.estimate import Estimate
from brimline.units import format_number
from brimline.wording import message


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One figure that a measure ended with, by its stored `key`, in `unit` (`ops/s`, `ns`, `bytes`, `share` …).

    `low` to `high` is its 95 % interval. An end is None where that side is not known; both are, where the measure was
    made once and says nothing of how it varies.
    """

    key: str
    value: float
    unit: str
    label: str
    higher_is_better: bool
    low: float | None = None
    high: float | None = None

    @property
    def text(self) -> str:
        """`Sustained load 9 400 ops/s`, with its interval where it has one."""
        low, high, known = (
            self.low,
            self.high,
            message("{value} {unit}", value=format_number(self.value), unit=self.unit),
        )
        if low is not None and high is not None:
            known = Estimate(value=self.value, low=low, high=high, unit=self.unit).text
        elif low is not None or high is not None:
            known = message("at least {value}" if high is None else "at most {value}", value=known)
        return message("{label} {figure}", label=self.label, figure=known)


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """What can be crossed with factors; one for each kind, in `experiments/<kind>/figures.py`.

    `name` is its verb, `kind` what its records say they are. `figures` reads those of a record anew, in the order in
    which they are shown, none where it proves nothing; it raises RecordError. `main` is the key of the one that a
    design is about. `estimate_s`: how long it takes with its settings, without server starts and loading.
    `meaningless`: factors that it doesn't know, each with the reason as a clause. `has_interval`: one record has
    figures with intervals, so that a design need not repeat it.
    """

    name: str
    kind: str
    main: str
    figures: Callable[[Path], Mapping[str, Figure]]
    estimate_s: Callable[[Any], float]
    meaningless: Mapping[str, str] = field(default_factory=dict)
    has_interval: bool = True

    def refuses(self, factor: str) -> str | None:
        """Why a factor has no meaning for it: `a scan asks one query at a time`; None where it has one."""
        return self.meaningless.get(factor)
