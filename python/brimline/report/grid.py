"""Owns the figures of an experiment as one grid: a row for each level or combination, every metric that any row has."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from brimline.analysis.metrics import Known, Metric

Scale = Literal["category", "log2", "linear"]


@dataclass(frozen=True, slots=True, kw_only=True)
class GridAxis:
    """What rows differ by. `name` stands in JSON and CSV, `label` in tables, `title` at the axis of a chart."""

    name: str
    scale: Scale = "category"
    label: str = ""
    title: str = ""

    @property
    def heading(self) -> str:
        """What its column is called."""
        return self.label or self.name


@dataclass(frozen=True, slots=True, kw_only=True)
class GridRow:
    """The levels, one for each axis, and the figures by metric key; what isn't known is absent."""

    levels: tuple[str, ...]
    figures: Mapping[str, Known]


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """All figures of an experiment. `metrics` are those that it has, in the order of tables.

    `id` and `title` name it among several of one report.
    """

    axes: tuple[GridAxis, ...]
    rows: Sequence[GridRow]
    metrics: tuple[Metric, ...]
    id: str = "figures"
    title: str = "Figures"
    caption: str = ""

    @property
    def known(self) -> tuple[Metric, ...]:
        """The metrics that any row has a figure of."""
        keys = {key for row in self.rows for key in row.figures}
        return tuple(each for each in self.metrics if each.key in keys)

    @property
    def operations(self) -> tuple[str, ...]:
        """The operations that have figures of their own."""
        return tuple(dict.fromkeys(each.operation for each in self.known if each.operation is not None))

    def levels_of(self, place: int) -> tuple[str, ...]:
        """The levels of an axis: in the order in which rows have them, numbers ascending."""
        seen = tuple(dict.fromkeys(row.levels[place] for row in self.rows))
        return seen if self.axes[place].scale == "category" else tuple(sorted(seen, key=float))
