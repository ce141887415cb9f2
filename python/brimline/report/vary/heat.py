"""Owns the heat map of a design over two factors: what it is about at each combination, the worse the darker."""

from brimline.experiments.vary.conclusion import VaryConclusion
from brimline.experiments.vary.order import VarySettings
from brimline.report import figures
from brimline.report.comparison.figures import metric_text
from brimline.report.view import Chart
from brimline.wording import Verbatim, joined, message

_CELL_PX = 64
_PALE, _DARK = (250, 238, 236), (214, 120, 110)
"""Red, green and blue of the best and of the worst combination; text can be read on both."""


def heat_map(conclusion: VaryConclusion, settings: VarySettings) -> Chart | None:
    """The map, the first factor downwards; None of other than two factors, or where fewer than two are known."""
    main = conclusion.main
    known = [(cell.levels, cell.main.value) for cell in conclusion.cells if cell.main is not None]
    if len(settings.factors) != 2 or len(known) < 2:
        return None
    down, across = settings.factors
    values = [value for _, value in known]
    low, high = min(values), max(values)
    texts = [metric_text(main, value) for value in values]
    badness = [(value - low) / (high - low) if high > low else 0.0 for value in values]
    if main.higher_is_better:
        badness = [1 - each for each in badness]
    marks = [
        {
            "type": "scatter",
            "mode": "markers+text",
            "x": [levels[1]],
            "y": [levels[0]],
            "text": [text],
            "textfont": {"size": 12, "color": figures.INK},
            "marker": {"symbol": "square", "size": _CELL_PX - 4, "color": _shade(each)},
            "hovertemplate": "%{y}, %{x}: %{text}<extra></extra>",
            "cliponaxis": False,
            "name": main.label,
        }
        for (levels, _), text, each in zip(known, texts, badness, strict=True)
    ]
    layout = figures.layout(
        xaxis=figures.axis(across.name, type="category", categoryorder="array", categoryarray=list(across.levels)),
        yaxis=figures.axis(down.name, type="category", categoryorder="array", categoryarray=list(down.levels)[::-1]),
    )
    return Chart(
        id="heat-map",
        title=message("{metric} at each combination", metric=main.label),
        caption="The darker, the worse; the table has the intervals.",
        summary=joined(
            "; ",
            (
                message("{levels}: {value}", levels=joined(", ", map(Verbatim, levels)), value=text)
                for (levels, _), text in zip(known, texts, strict=True)
            ),
        ),
        figure={"data": marks, "layout": layout},
        height_px=100 + (_CELL_PX + 8) * len(down.levels),
    )


def _shade(badness: float) -> str:
    """From the best combination, 0, to the worst, 1."""
    mixed = (round(pale + (dark - pale) * badness) for pale, dark in zip(_PALE, _DARK, strict=True))
    return "rgb({},{},{})".format(*mixed)
