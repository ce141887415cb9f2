"""Owns what the report of an SLO frontier claims: its capacities in every place that shows them, and its probes."""

from collections.abc import Iterator
from dataclasses import replace

from brimline.analysis.lint import Claims, Figure, Repeated
from brimline.report.own_claims import probe_claims
from brimline.report.printed import printed_figure, table_cells
from brimline.report.view import Report
from brimline.wording import message


def frontier_claims(report: Report) -> Claims:
    """Each limit's capacity as headline, cell and JSON value."""
    claims = probe_claims(report)
    return replace(claims, repeated=[*claims.repeated, *_headline(report), *_capacities(report)])


def _headline(report: Report) -> Iterator[Repeated]:
    """The large figure is that of the loosest limit that has one."""
    printed = printed_figure(report.verdict.figure)
    known = [point for point in report.data["points"] if point["limit"] is not None]
    if printed is not None and known:
        loosest = max(known, key=lambda point: point["limit_ns"])
        yield Repeated(name="headline", values=[printed, Figure(loosest["limit"])], exact=True)


def _capacities(report: Report) -> Iterator[Repeated]:
    for point, cells in zip(report.data["points"], table_cells(report, "frontier"), strict=True):
        printed = printed_figure(cells["Capacity"].text)
        if printed is not None:
            name = message("capacity at {limit}", limit=point["objective"])
            yield Repeated(name=name, values=[printed, Figure(point["limit"])], exact=True)
