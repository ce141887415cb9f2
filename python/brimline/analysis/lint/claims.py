"""Owns what a report claims, as far as it can be recomputed. Whatever a report doesn't say is None."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from brimline.analysis.lint.figure import Figure


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """One line of a report: one run, or one row of a table.

    Times in ns, rates per second, sizes in bytes, shares of 1. `samples` are operations that ended, failed ones
    included; `threads` are workers of a closed loop without pauses, None for any other load. `percentiles_ns` maps
    quantiles (0.99) to times. `percentile_samples` is how many samples they were computed from. `parts` names the
    results that this one sums up. `counted` is what the server counted, by name of the claim that it should equal.
    """

    name: str
    work: str = ""  # "read" or "write"
    samples: Figure | None = None
    duration_s: Figure | None = None
    throughput_per_s: Figure | None = None
    time_per_operation_ns: Figure | None = None
    threads: Figure | None = None
    loops: Figure | None = None
    planned: Figure | None = None
    error_count: Figure | None = None
    error_share: Figure | None = None
    mean_ns: Figure | None = None
    min_ns: Figure | None = None
    max_ns: Figure | None = None
    percentiles_ns: Mapping[float, Figure] = field(default_factory=dict)
    percentile_samples: Figure | None = None
    documents: Figure | None = None
    document_bytes: Figure | None = None
    volume_bytes: Figure | None = None
    documents_per_s: Figure | None = None
    bytes_per_s: Figure | None = None
    counted: Mapping[str, Figure] = field(default_factory=dict)
    parts: Sequence[str] = ()
    runs: int | None = None
    is_limit: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Ratio:
    """Result `of` is `value` times result `to` in `figure`, or in words (`said`) as good as the same."""

    name: str
    of: str
    to: str
    figure: str
    value: Figure | None = None
    said: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """A load that held (`good`) and the next one that did not (`bad`), in the same unit, whatever it is.

    `repeats` are limits that other runs of the same search found. `series` are loads with the time seen at each,
    ascending by load, past the limit.
    """

    name: str
    good: Figure
    bad: Figure
    repeats: Sequence[Figure] = ()
    series: Sequence[tuple[Figure, Figure]] = ()
    runs: int | None = None


RepeatedUnit: TypeAlias = Literal["", "ns", "share"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Repeated:
    """Figures that should be the same: the same run on two days, or one figure in two places (`exact`).

    `unit` is how they are written: "" for a number, "ns" for a time, "share" for a percentage.
    """

    name: str
    values: Sequence[Figure]
    exact: bool = False
    unit: RepeatedUnit = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Conclusion:
    """A sentence of the report and the results that it is about."""

    text: str
    about: Sequence[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Claims:
    """Everything a report says that can be held against itself."""

    results: Sequence[Result] = ()
    ratios: Sequence[Ratio] = ()
    limits: Sequence[Limit] = ()
    repeated: Sequence[Repeated] = ()
    conclusions: Sequence[Conclusion] = ()

    def result(self, name: str) -> Result | None:
        """The result of this name."""
        return next((each for each in self.results if each.name == name), None)
