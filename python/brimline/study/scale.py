"""Owns how large a study is: values that differ by scale, and the fraction of the full size.

At scale 1 a study has the size of the report that it repeats. At a fraction between, volumes and durations are that
fraction of it, but never below what CI takes; what can't be scaled has a value for in between (`auto`), or stays full.
"""

import math
from dataclasses import dataclass
from typing import Any, TypeAlias

from pydantic import Field

from brimline.errors import UsageError
from brimline.spec.base import Part
from brimline.units import count_text, duration_text, parse_count, parse_duration

_Plain: TypeAlias = str | int | float | bool


class Scaled(Part):
    """A value at the full size, in CI and, where a fraction of the full one has no meaning, in between."""

    full: _Plain | list[_Plain]
    """At scale 1."""
    ci: _Plain | list[_Plain]
    """In CI, and the least at any scale."""
    auto: _Plain | list[_Plain] | None = Field(default=None)
    """At any scale in between."""
    between: _Plain | None = Field(default=None)
    """What is scaled in between in place of `full`, as steps that are to be fewer there."""

    @property
    def is_scaled(self) -> bool:
        """Whether it follows the fraction of the full size in between."""
        return self.auto is None and self.full != _between(self.ci, self.full, 1e-9)

    def at(self, scale: "Scale") -> _Plain | list[_Plain]:
        """The value at a scale."""
        if scale.is_ci:
            return self.ci
        if scale.fraction >= 1:
            return self.full
        if self.auto is not None:
            return self.auto
        found: _Plain = _between(self.ci, self.full if self.between is None else self.between, scale.fraction)
        return found


@dataclass(frozen=True, slots=True)
class Scale:
    """`fraction` of the full size; `is_ci`: as small as it goes."""

    fraction: float
    is_ci: bool = False

    @property
    def text(self) -> str:
        """As `--scale` has it."""
        return "ci" if self.is_ci else f"{self.fraction:.6g}"


CI = Scale(0.0, is_ci=True)
AUTO = "auto"


def parse_scale(text: str) -> Scale | None:
    """`ci`, a fraction up to 1, or None for `auto`. Raises UsageError."""
    if text == AUTO:
        return None
    if text == "ci":
        return CI
    try:
        fraction = float(text)
    except ValueError:
        fraction = math.nan
    if not 0 < fraction <= 1:
        raise UsageError(f"--scale: {text} is no scale", hint="give auto, ci, 1, or a fraction such as 0.01")
    return Scale(fraction)


def valued(value: Any, scale: Scale) -> Any:
    """A value of an option at a scale."""
    return value.at(scale) if isinstance(value, Scaled) else value


def _between(least: Any, full: Any, fraction: float) -> Any:
    """`fraction` of `full`, not below `least`, to two digits; `full` where it is neither number nor duration."""
    for parse, text in ((parse_count, count_text), (parse_duration, duration_text)):
        try:
            low, high = (parse(str(each)) for each in (least, full))
        except ValueError:
            continue
        return least if high * fraction <= low else text(_rounded(high * fraction, down_to=low))
    return full


def _rounded(value: float, *, down_to: int) -> int:
    step: int = 10 ** max(0, math.floor(math.log10(value)) - 1)
    return max(down_to, int(math.floor(value / step) * step))
