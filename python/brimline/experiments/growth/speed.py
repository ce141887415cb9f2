"""Owns how far the speed of the machine, which changes meanwhile, has a say in how long queries took.

Beside each batch a control is measured, which knows nothing of the volume. Where both went up and down together among
batches of the same volume, the machine did it, and the batch is put right by its control. Where they did not, the
control is noise, and to divide by it would only add that: on a quiet machine it hid breakpoints that were plain.
"""

from collections.abc import Sequence
from math import log
from statistics import fmean, median

from brimline.experiments.growth.figures import QueryFigures

DEGREES_MIN = 6
"""Differences between batches of a volume below which nothing is known of how far they follow their controls."""


def at_typical_speed(volumes: Sequence[Sequence[QueryFigures]]) -> list[list[float]]:
    """Time per query of each batch of each volume in ns, as it would be at the machine's typical speed."""
    share = speed_share(volumes)
    controls = [batch.control_ns for batches in volumes for batch in batches if batch.control_ns]
    typical_ns = median(controls) if controls else 1.0
    return [
        [batch.time_ns * (typical_ns / (batch.control_ns or typical_ns)) ** share for batch in batches]
        for batches in volumes
    ]


def speed_share(volumes: Sequence[Sequence[QueryFigures]]) -> float:
    """From 0 to 1: how much longer a query takes when the control takes longer, both as logarithms.

    The slope of the batches' times over their controls', both about the means of their volume, so that what the volume
    does has no part in it. A control that is mostly noise has a slope near 0 (attenuation; Fuller 1987, "Measurement
    error models", 1.1). 0 as well where there are too few batches to tell.
    """
    pairs = [pair for batches in volumes for pair in _about_their_means(batches)]
    degrees = len(pairs) - sum(len(batches) > 1 for batches in volumes)
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
