"""Owns how far the speed of the machine, which changes meanwhile, has a say in how long queries and imports took.

Beside each batch a control is measured, which knows nothing of the volume. Where both went up and down together among
batches of the same volume, the machine did it, and the batch is put right by its control. Where they did not, the
control is noise, and to divide by it would only add that: on a quiet machine it hid breakpoints that were plain.
An import is made once at a volume. How far it follows its control is seen among neighbours: what the volume does comes
slowly, and has little part in how two of them differ.
"""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from math import log
from statistics import fmean, median

from brimline.analysis.growth.figures import LoadFigures, QueryFigures

DEGREES_MIN = 6
"""Differences between batches of a volume, or imports, below which it isn't known how far they follow controls."""
IMPORT_TIME_MIN_S = 1.0
"""Time of importing that a rate rests on: in a tenth of it another program's burst is all that shows."""


def at_typical_speed(volumes: Sequence[Sequence[QueryFigures]]) -> list[list[float]]:
    """Time per query of each batch of each volume in ns, as it would be at the machine's typical speed."""
    share = speed_share(volumes)
    controls = [batch.control_ns for batches in volumes for batch in batches if batch.control_ns]
    typical_ns = median(controls) if controls else 1.0
    return [
        [batch.time_ns * (typical_ns / (batch.control_ns or typical_ns)) ** share for batch in batches]
        for batches in volumes
    ]


def import_course(steps: Sequence[tuple[int, LoadFigures]]) -> list[tuple[int, float]]:
    """Records and documents/s at the machine's typical speed, over stretches of at least `IMPORT_TIME_MIN_S`.

    `steps` are the records after each step, ascending, with its load. A stretch is as many steps as it takes, what is
    left at the end belongs to the last, and its records are those after it. None where all together are shorter.
    """
    known = [(records, load) for records, load in steps if load.documents_per_s > 0]
    share = import_speed_share([load for _, load in known])
    controls = [load.control_ns for _, load in known if load.control_ns]
    typical_ns = median(controls) if controls else 1.0
    found: list[tuple[int, float, float]] = []
    documents = elapsed_s = adjusted_s = 0.0
    for records, load in known:
        documents += load.documents
        elapsed_s += load.elapsed_s
        adjusted_s += load.elapsed_s * (typical_ns / (load.control_ns or typical_ns)) ** share
        if elapsed_s >= IMPORT_TIME_MIN_S:
            found.append((records, documents, adjusted_s))
            documents = elapsed_s = adjusted_s = 0.0
    if documents and found:
        _, before, before_s = found.pop()
        found.append((known[-1][0], before + documents, before_s + adjusted_s))
    return [(records, count / time_s) for records, count, time_s in found]


def import_speed_share(loads: Sequence[LoadFigures]) -> float:
    """From 0 to 1: how much longer an import takes when its control does; the slope of what neighbours differ by."""
    logs = [
        (log(each.control_ns), -log(each.documents_per_s)) if each.control_ns and each.documents_per_s else None
        for each in loads
    ]
    pairs = [(b[0] - a[0], b[1] - a[1]) for a, b in pairwise(logs) if a is not None and b is not None]
    return _share(pairs, degrees=len(pairs))


def speed_share(volumes: Sequence[Sequence[QueryFigures]]) -> float:
    """From 0 to 1: how much longer a query takes when the control takes longer, both as logarithms.

    The slope of the batches' times over their controls', both about the means of their volume, so that what the volume
    does has no part in it. A control that is mostly noise has a slope near 0 (attenuation; Fuller 1987, "Measurement
    error models", 1.1). 0 as well where there are too few batches to tell.
    """
    pairs = [pair for batches in volumes for pair in _about_their_means(batches)]
    return _share(pairs, degrees=len(pairs) - sum(len(batches) > 1 for batches in volumes))


def _share(pairs: Iterable[tuple[float, float]], *, degrees: int) -> float:
    """The slope of the second over the first, both without a constant."""
    pairs = list(pairs)
    squares = sum(control * control for control, _ in pairs)
    if degrees < DEGREES_MIN or not squares:
        return 0.0
    return min(max(sum(control * time for control, time in pairs) / squares, 0.0), 1.0)


def _about_their_means(batches: Sequence[QueryFigures]) -> list[tuple[float, float]]:
    """Logarithms of control and time of the batches of one volume that have a control, less their means."""
    logs = [(log(each.control_ns), log(each.time_ns)) for each in batches if each.control_ns and each.time_ns]
    if len(logs) < 2:
        return []
    means = [fmean(values) for values in zip(*logs, strict=True)]
    return [(control - means[0], time - means[1]) for control, time in logs]
