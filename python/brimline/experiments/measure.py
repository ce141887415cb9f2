"""Owns what a design knows of what it crosses: a measure, which is made once in a place that is up."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from brimline.analysis.figure import Figure

BLOCKS_DEFAULT = 3
"""How often a combination is measured at least, where one figure has no interval of its own."""
BLOCKS_MAX_DEFAULT = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """What can be crossed with factors; one for each kind, in `experiments/<kind>/figures.py`.

    `name` is its verb, `kind` what its records say they are. `figures` reads those of a record anew, in the order in
    which they are shown, the one that a design is about first, none where it proves nothing; it raises RecordError.
    `meaningless`: factors that it doesn't know, each with the reason as a clause. `has_interval`: one record has
    figures with intervals, so that a design need not repeat it.
    """

    name: str
    kind: str
    figures: Callable[[Path], Mapping[str, Figure]]
    meaningless: Mapping[str, str] = field(default_factory=dict)
    has_interval: bool = True

    def refuses(self, factor: str) -> str | None:
        """Why a factor has no meaning for it: `a scan asks one query at a time`; None where it has one."""
        return self.meaningless.get(factor)
