"""Owns what is said of a factor sweep over clients: which driver each is, and what it takes more than the first."""

from collections.abc import Iterator, Sequence

from brimline.experiments.vary.conclusion import VaryConclusion, cost_metrics
from brimline.experiments.vary.factor_kinds import CLIENT, CONNECTIONS
from brimline.experiments.vary.order import VarySettings, VaryTrial
from brimline.report.grid import Grid
from brimline.report.grid_charts import axis_chart
from brimline.report.run.driver_facts import driver_texts
from brimline.report.vary.tables import differences_table
from brimline.report.view import Block, Cell, Chart, Column, Table
from brimline.units import UNKNOWN_TEXT
from brimline.wording import Verbatim, message


def client_blocks(
    settings: VarySettings, trials: Sequence[VaryTrial], conclusion: VaryConclusion, grid: Grid
) -> list[Block]:
    """The drivers with their versions, charts of what each takes, and the differences; nothing of one client alone."""
    if all(factor.name != CLIENT for factor in settings.factors):
        return []
    costs = differences_table(
        conclusion.costs,
        caption="Each client against the first; put wire first, and that is what a driver adds. Means over all "
        "combinations of the other factors. Connections are counted, and not judged.",
    )
    charts = [] if settings.is_nested or settings.listed else _charts(settings, grid)
    return [_versions(settings, trials), *charts, *([] if costs is None else [costs])]


def _versions(settings: VarySettings, trials: Sequence[VaryTrial]) -> Table:
    """A row for each client, and one more where it had another version in later runs."""
    return Table(
        columns=[
            Column(label=CLIENT, numeric=False, leading=True),
            Column(label="Driver", numeric=False),
            Column(label="Runtime", numeric=False),
        ],
        rows=[
            [
                Cell(text=Verbatim(client)),
                Cell(text=driver or (message("brimline's own client") if client == "wire" else UNKNOWN_TEXT)),
                Cell(text=runtime or UNKNOWN_TEXT),
            ]
            for client, driver, runtime in _clients(settings, trials)
        ],
        caption="As each driver's process said.",
    )


def _clients(settings: VarySettings, trials: Sequence[VaryTrial]) -> Iterator[tuple[str, str, str]]:
    levels = next(factor.levels for factor in settings.factors if factor.name == CLIENT)
    for client in levels:
        own = [trial for trial in trials if settings.named(trial.probe.levels)[CLIENT] == client]
        said = dict.fromkeys(driver_texts(driver) for trial in own for driver in trial.drivers)
        for driver, runtime in said or [("", "")]:
            yield client, driver, runtime


def _charts(settings: VarySettings, grid: Grid) -> Iterator[Chart]:
    """Over the connections where they are varied, else over the clients; of connections those that the server has."""
    names = [factor.name for factor in settings.factors]
    place = names.index(CONNECTIONS if CONNECTIONS in names else CLIENT)
    metrics = cost_metrics(grid.known)
    counted = any(each.key == "server_connections" for each in metrics)
    for metric in metrics:
        if metric.key == "server_cpu" or (metric.key == "connections" and counted):
            continue
        title = message("{metric} by {factor}", metric=metric.label, factor=names[place])
        chart = axis_chart(grid, place, [metric], id=f"client-{names[place]}-{metric.key}", title=title)
        if chart is not None:
            yield chart
