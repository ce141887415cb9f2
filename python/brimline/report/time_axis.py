"""Owns the time axis that all charts of a run share: the same span, the same hatching of what doesn't count."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from brimline.report import figures
from brimline.report.series import TimeBucket
from brimline.report.view import Key


@dataclass(frozen=True, slots=True)
class TimeSpan:
    """From the run's start to `end_s`; `uncounted` are the spans before and after the measured window."""

    end_s: float
    uncounted: tuple[tuple[float, float], ...]

    def axis(self, **more: Any) -> dict[str, Any]:
        """The axis below a chart."""
        return figures.axis("time since the start of the run, s", range=[0, self.end_s], **more)

    def hatching(self, yaxis: str) -> list[dict[str, Any]]:
        """What covers the uncounted spans; `yaxis` is an `overlay`."""
        return [figures.hatch(start, end, yaxis=yaxis) for start, end in self.uncounted]

    @property
    def keys(self) -> list[Key]:
        """The legend of the hatching."""
        return [Key(name="not counted", color=figures.HATCH, mark="hatch")] if self.uncounted else []


def time_span(buckets: Sequence[TimeBucket]) -> TimeSpan:
    """The span of a run that has buckets."""
    end_s = buckets[-1].end_s
    counted = [bucket for bucket in buckets if bucket.phase == "measure"]
    if not counted:
        return TimeSpan(end_s, ((buckets[0].start_s, end_s),))
    spans = ((buckets[0].start_s, counted[0].start_s), (counted[-1].end_s, end_s))
    return TimeSpan(end_s, tuple((start, end) for start, end in spans if end > start))


def overlay(of: str) -> dict[str, Any]:
    """An invisible axis from 0 to 1 over another one, for bands that fill the whole height."""
    return {"overlaying": of, "range": [0, 1], "visible": False, "fixedrange": True}
