"""Charts of a factor sweep: throughput and latency, or what was measured, over the levels of one factor."""

from collections.abc import Iterator

from brimline.experiments.vary.conclusion import VaryConclusion
from brimline.experiments.vary.factor_kinds import WORKLOAD
from brimline.experiments.vary.factors import Factor
from brimline.experiments.vary.order import VarySettings
from brimline.report.grid import Grid
from brimline.report.grid_charts import axis_chart
from brimline.report.view import Chart
from brimline.wording import message


def factor_charts(conclusion: VaryConclusion, settings: VarySettings, factor: Factor, grid: Grid) -> Iterator[Chart]:
    """One of what the design is about, of runs one of latency too; none where no run counts, or of the workload."""
    if factor.name == WORKLOAD:
        return
    main, *others = conclusion.metrics
    template = "Throughput by {factor}" if main.key == "throughput" else "{metric} by {factor}"
    titles = {
        "throughput": ([main], message(template, factor=factor.name, metric=main.label)),
        "latency": ([] if settings.is_nested else others, message("Latency by {factor}", factor=factor.name)),
    }
    place = settings.factors.index(factor)
    for name, (metrics, title) in titles.items():
        chart = axis_chart(grid, place, metrics, id=f"{factor.name}-{name}", title=title) if metrics else None
        if chart is not None:
            yield chart
