"""Owns reading one record of any kind as a comparison needs it."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from brimline.analysis.compared_imports import compared_import, compared_imported
from brimline.analysis.compared_run import ComparedRun, compared_run
from brimline.analysis.figure import Figure
from brimline.experiments.capacity.figures import CAPACITY, SUSTAINED
from brimline.experiments.compared import compared_search
from brimline.experiments.failover.figures import BACK, OUTAGE, failover_figures
from brimline.experiments.failover.order import FAILOVER_KIND
from brimline.experiments.growth.figures import IMPORT_RATE, QUERY_TIME, growth_figures
from brimline.experiments.growth.stored import GROWTH_KIND
from brimline.experiments.scan.figures import TIME, scan_figures
from brimline.experiments.scan.order import SCAN_KIND
from brimline.experiments.sweep_figures import HIGHEST, SWEEP
from brimline.record import read_experiment, read_record
from brimline.record.data_import import read_import
from brimline.record.imported_files import read_imported
from brimline.record.listing import readable_entry

_FIGURES: Mapping[str, tuple[Callable[[Path], Mapping[str, Figure]], tuple[str, ...]]] = {
    "capacity": (CAPACITY.figures, (SUSTAINED,)),
    "frontier": (CAPACITY.figures, (SUSTAINED,)),
    "sweep": (SWEEP.figures, (HIGHEST,)),
    FAILOVER_KIND: (failover_figures, (OUTAGE, BACK)),
    GROWTH_KIND: (growth_figures, (IMPORT_RATE, QUERY_TIME)),
    SCAN_KIND: (scan_figures, (TIME,)),
}
"""By kind of experiment: what reads its figures, and which of them decide."""


def kind_of(directory: Path) -> str:
    """What `brimline list` calls the record in a directory. Raises RecordError."""
    return readable_entry(directory).kind


def read_compared(directory: Path) -> ComparedRun:
    """The record in a directory, with its figures. Raises RecordError."""
    kind = kind_of(directory)
    if kind == "imported":
        return compared_imported(read_imported(directory))
    if kind == "import":
        return compared_import(read_import(directory))
    if kind not in _FIGURES:
        return compared_run(read_record(directory))
    experiment = read_experiment(directory)
    read, main = _FIGURES[kind]
    figures = read(directory)
    if kind == "frontier":
        figures = _by_limit(figures, max(experiment.settings.get("limits_ns", (0,))), main[0])
    return compared_search(experiment, figures, deciding=main)


def _by_limit(figures: Mapping[str, Figure], loosest_ns: int, main: str) -> dict[str, Figure]:
    """The points of a frontier, each by its own limit, so that no two limits are compared."""
    first = f"{main}_{loosest_ns}_ns"
    return {
        (first if key == main else key): replace(each, key=first) if key == main else each
        for key, each in figures.items()
    }
