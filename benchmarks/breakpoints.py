"""Owns the simulation of breakpoints: series whose break is known, and how often `grow`'s search finds it.

    python -m benchmarks.breakpoints [--series 200]

The same figures each time: all noise follows from a seed. 14 volumes in equal steps, a break past the sixth, a figure
that grows with the 0.05th power of the volume, and noise in proportion to it.
"""

import argparse
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from brimline.stats.segmented import Course, find_break

VOLUMES = tuple(40_000.0 * step for step in range(1, 15))
BREAK_AT = 250_000.0
POWER = 0.05
TOLERANCE = 0.15
_RISES: dict[Course, Callable[[float], float]] = {
    Course.LINEAR: lambda relative: relative - 1,
    Course.LOGARITHMIC: np.log,
    Course.SATURATING: lambda relative: 1 - 1 / relative,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """A kind of series. `course` None: there is no break. `noise` is a standard deviation, relative to the figure."""

    name: str
    course: Course | None = None
    factor: float = 0.6
    noise: float = 0.02
    autocorrelation: float = 0.0
    heavy_tails: bool = False


KINDS = (
    Kind(name="no break, noise 2 %"),
    Kind(name="no break, noise 5 %", noise=0.05),
    Kind(name="no break, noise 5 %, heavy tails", noise=0.05, heavy_tails=True),
    Kind(name="no break, noise 2 %, autocorrelation 0.3", autocorrelation=0.3),
    Kind(name="no break, noise 2 %, autocorrelation 0.5", autocorrelation=0.5),
    Kind(name="no break, noise 5 %, autocorrelation 0.5", noise=0.05, autocorrelation=0.5),
    Kind(name="linear", course=Course.LINEAR),
    Kind(name="logarithmic", course=Course.LOGARITHMIC),
    Kind(name="saturating", course=Course.SATURATING),
    Kind(name="saturating, noise 5 %", course=Course.SATURATING, noise=0.05),
    Kind(name="saturating, heavy tails", course=Course.SATURATING, heavy_tails=True),
    Kind(name="saturating, autocorrelation 0.5", course=Course.SATURATING, autocorrelation=0.5),
    Kind(name="saturating, a cliff of 1000", course=Course.SATURATING, factor=1000.0),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """Of all series the share in which a break was found; of those found, where it lies."""

    found: float
    in_interval: float | None
    within_tolerance: float | None


def outcome(kind: Kind, series_count: int) -> Outcome:
    """What the search makes of so many series of a kind."""
    breaks = [
        find_break(VOLUMES, values, unit="records", seed=number).found
        for number, values in enumerate(series(kind, series_count))
    ]
    places = [each.position for each in breaks if each is not None]
    known = kind.course is not None and bool(places)
    return Outcome(
        found=len(places) / series_count,
        in_interval=float(np.mean([each.low <= BREAK_AT <= each.high for each in places])) if known else None,
        within_tolerance=(
            float(np.mean([abs(each.value / BREAK_AT - 1) <= TOLERANCE for each in places])) if known else None
        ),
    )


def series(kind: Kind, count: int) -> Iterator[list[float]]:
    """So many series of a kind, the same each time."""
    rng = np.random.default_rng(11)
    relative = np.array(VOLUMES) / VOLUMES[0]
    beyond = [0.0 if kind.course is None else _RISES[kind.course](max(each / BREAK_AT, 1.0)) for each in VOLUMES]
    course = 40.0 * relative**POWER * (1 + kind.factor * np.array(beyond))
    for _ in range(count):
        yield list(course * np.exp(kind.noise * _noise(kind, rng)))


def _noise(kind: Kind, rng: np.random.Generator) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """One draw per volume, of variance 1, each like the one before it as much as the autocorrelation says."""
    draws = rng.standard_t(3, len(VOLUMES)) / np.sqrt(3) if kind.heavy_tails else rng.normal(size=len(VOLUMES))
    left = np.sqrt(1 - kind.autocorrelation**2)
    for index in range(1, len(draws)):
        draws[index] = kind.autocorrelation * draws[index - 1] + left * draws[index]
    return draws


def main() -> int:
    """Prints a line for each kind."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--series", type=int, default=200)
    arguments = parser.parse_args()
    sys.stdout.write(f"{arguments.series} series each: found, interval holds the place, place within 15 %\n")
    for kind in KINDS:
        result = outcome(kind, arguments.series)
        shares = (result.found, result.in_interval, result.within_tolerance)
        sys.stdout.write(f"{kind.name:42} " + " ".join("     –" if x is None else f"{x:6.1%}" for x in shares) + "\n")
        sys.stdout.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
