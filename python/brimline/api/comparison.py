"""Owns the verb `compare`: records that are there, B against A."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from brimline.analysis.comparison import MARGIN, Comparison, compare_runs
from brimline.analysis.gate import GateCase
from brimline.analysis.gate import gate as gate_cases
from brimline.api.compared import Named, named, of_one_kind, read_all
from brimline.api.gating import gate_error
from brimline.api.options import default_runs_directory, typed
from brimline.api.results import Reported
from brimline.errors import BrimlineError, UsageError
from brimline.report import Report
from brimline.report.comparison.view import comparison_report


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ComparisonResult(Reported):
    """A comparison of records. `cases` are those of the gate, empty without one."""

    report: Report
    comparison: Comparison
    cases: tuple[GateCase, ...] = ()

    @property
    def error(self) -> BrimlineError | None:
        """The gate's answer where it isn't a pass; None without a gate."""
        return gate_error(self.cases)


@typed
def compare(
    a: Sequence[str | Path],
    b: Sequence[str | Path],
    *,
    margin: float = MARGIN,
    gate: Mapping[str, float] | None = None,
    runs_dir: str | Path | None = None,
) -> ComparisonResult:
    """Compares the records named by `b` with those named by `a`: runs, searches, imports, results of other tools.

    Each name is a record, a directory of records, or an arm of an A/B comparison (`DIRECTORY:A`). `gate`: by metric
    key, the share by which it may become worse; "" stands for what decides.

    Raises UsageError where there is nothing that can be compared, InvalidRun where no run of a side counts, and
    RecordError.
    """
    where = default_runs_directory() if runs_dir is None else Path(runs_dir)
    sides = of_one_kind(*([each for name in names for each in named(name, runs_dir=where)] for names in (a, b)))
    _check_apart(*sides)
    comparison = compare_runs(*map(read_all, sides), margin=margin)
    cases = gate_cases(comparison, gate or {})
    return ComparisonResult(report=comparison_report(comparison, cases), comparison=comparison, cases=cases)


def _check_apart(a: Sequence[Named], b: Sequence[Named]) -> None:
    """A record that counts twice would make the spread look smaller than it is. Raises UsageError."""
    places = [each.directory.resolve() for each in (*a, *b)]
    twice = next((place for place in places if places.count(place) > 1), None)
    if twice is not None:
        raise UsageError(f"{twice.name} is named more than once", hint="name each record once, on one side")
