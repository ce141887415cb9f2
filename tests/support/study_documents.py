"""What two documents of the same study have in common."""

from typing import Any

from brimline.report.view import Chart, Report, Table


def shape(report: Report) -> list[Any]:
    """A document without what two makings of it differ in: times and measured figures."""
    found: list[Any] = []
    for section in report.sections:
        found.append(str(section.title))
        for block in section.blocks:
            if isinstance(block, Table):
                found.append((str(block.title), block.headings, [str(row[0].text) for row in block.rows]))
            elif isinstance(block, Chart):
                found.append((block.id, len(block.figure["data"])))
    return found
