"""Owns the figures of a load, as a design needs them."""

from collections.abc import Mapping
from pathlib import Path

from brimline.analysis.compared_run import compared_run, metrics
from brimline.analysis.data_size import size_on_disk_bytes
from brimline.analysis.figure import Figure
from brimline.experiments.measure import Measure
from brimline.record import read_record

_SHOWN = ("throughput", "mean", "p95", "p99", "client_cpu", "server_cpu")


def _figures(directory: Path) -> Mapping[str, Figure]:
    """Documents per second and times of insert commands; a load varies as runs do, so that none has an interval."""
    record = read_record(directory)
    run = compared_run(record)
    found = [] if run.problems else [
        Figure(key=each.key, value=run.figures[each.key], unit=each.unit, label=each.label,
               higher_is_better=each.higher_is_better)
        for each in metrics("load")
        if each.key in _SHOWN and each.key in run.figures
    ]  # fmt: skip
    size_bytes = size_on_disk_bytes(record)
    if found and size_bytes is not None:
        found.append(Figure(key="size", value=float(size_bytes), unit="bytes", label="Size on disk",
                            higher_is_better=False))  # fmt: skip
    return {figure.key: figure for figure in found}


LOAD = Measure(
    name="load",
    kind="load",
    figures=_figures,
    meaningless=dict.fromkeys(
        ("rate", "tlr-threads", "loops", "ramp-up", "keys"), "a load inserts its records as fast as it can"
    ),
    has_interval=False,
)
