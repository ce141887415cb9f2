"""Owns the table of figures that are drawn from the tables of a page: which page, which file, and what draws it."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from tools.reference.drivers_figure import drivers_figure
from tools.reference.searches_figure import searches_figure


@dataclass(frozen=True, slots=True)
class PageFigure:
    """`draw` makes the SVG of the text of `page`. Both are paths from the root of the sources."""

    page: str
    file: str
    draw: Callable[[str], str]


FIGURES = (
    PageFigure("docs/concepts/capacity-search.md", "docs/images/searches.svg", searches_figure),
    PageFigure("docs/guides/drivers.md", "docs/images/drivers.svg", partial(drivers_figure, chinese=False)),
    PageFigure("docs/guides/drivers.zh.md", "docs/images/drivers.zh.svg", partial(drivers_figure, chinese=True)),
)
"""Every figure."""
