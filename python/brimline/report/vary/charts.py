"""Charts of a factor sweep: throughput and latency, or what was measured, over the levels of one factor."""

from collections.abc import Iterator

from brimline.experiments.vary.conclusion import VaryConclusion
from brimline.experiments.vary.factor_kinds import WORKLOAD
from brimline.experiments.vary.factors import Factor
from brimline.experiments.vary.order import THROUGHPUT, VarySettings
from brimline.report.grid import Grid
from brimline.report.grid_charts import axis_chart
from brimline.report.view import Chart
from brimline.wording import message


def factor_charts(conclusion: VaryConclusion, settings: VarySettings, factor: Factor, grid: Grid) -> Iterator[Chart]:
    """One of what the design is about, of runs one of latency; at a given rate they are one.

    None where no run counts, or of the workload.
    """
    if factor.name == WORKLOAD:
        return
    main = conclusion.main
    template = "Throughput by {factor}" if main.key == THROUGHPUT else "{metric} by {factor}"
    latencies = [] if settings.is_nested else [each for each in conclusion.metrics if each.key != THROUGHPUT]
    titles = {
        "throughput": ([] if main in latencies else [main], message(template, factor=factor.name, metric=main.label)),
        "latency": (latencies, message("Latency by {factor}", factor=factor.name)),
    }
    place = settings.factors.index(factor)
    for name, (metrics, title) in titles.items():
        chart = axis_chart(grid, place, metrics, id=f"{factor.name}-{name}", title=title) if metrics else None
        if chart is not None:
            yield chart
