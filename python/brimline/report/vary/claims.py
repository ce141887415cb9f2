"""Owns what the report of a factor sweep claims: each run's figures must fit each other, and means their runs."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from brimline.analysis.lint import Claims, Figure, Repeated
from brimline.experiments.vary.conclusion import at_text
from brimline.experiments.vary.order import RunOutcome
from brimline.report.own_claims import probe_claims
from brimline.report.view import Report
from brimline.wording import message

_ROUNDING = 1e-9
"""What arithmetic in another order changes."""


def vary_claims(report: Report) -> Claims:
    """Claims read back from the finished report: of every run, of every mean and of every change."""
    claims = probe_claims(report)
    return replace(claims, repeated=[*claims.repeated, *_means(report.data), *_changes(report.data)])


def _means(data: Mapping[str, Any]) -> Iterator[Repeated]:
    """Each mean throughput against the runs that count."""
    for cell in data["combinations"]:
        rates = [
            run["throughput_ops_per_s"]
            for run in data["probes"]
            if run["levels"] == cell["levels"] and run["result"] == RunOutcome.COUNTS.value
        ]
        if rates and cell.get("throughput_ops_per_s") is not None:
            values = [_rounded(cell["throughput_ops_per_s"]), _rounded(sum(rates) / len(rates))]
            name = message("mean of {levels}", levels=at_text(cell["levels"]))
            yield Repeated(name=name, values=values, exact=True)


def _changes(data: Mapping[str, Any]) -> Iterator[Repeated]:
    """Each change against the two figures that it is the ratio of."""
    for each in (
        *data["differences"],
        *data["differences_within"],
        *data["differences_of_costs"],
        *data["load_differences"],
    ):
        if each["change_share"] is not None:
            values = [_rounded(1 + each["change_share"]), _rounded(each["b"] / each["a"])]
            name = message("change with {level}", level=at_text({each["factor"]: each["level"]}))
            yield Repeated(name=name, values=values, exact=True)


def _rounded(value: float) -> Figure:
    return Figure(value, abs(value) * _ROUNDING)
