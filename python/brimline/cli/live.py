"""Owns how long work looks on a terminal while it goes on: one screen that is drawn anew in its place.

It is drawn when there is news, by who brings it: no thread runs beside the load. The cursor stays visible, so that no
end of the process leaves a terminal without one.
"""

import os
from collections import deque
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from rich.console import Console, Group
from rich.live import Live

from brimline.cli.progress import RunShare, TerminalProgress
from brimline.cli.screen import HEIGHT_MIN, OPERATIONS_SHOWN, OUTCOMES_SHOWN, WIDTH_MIN, Screen
from brimline.execution import ProgressSink, Recent, SoFar, Tick, latest_by_operation, recent
from brimline.plan import Plan
from brimline.plan.model import LoadWork, OperationsWork
from brimline.plan.pacing import offered_mean, short_load
from brimline.record.model import Samples
from brimline.report.language import said_in_digits
from brimline.units import NS_PER_S, format_duration, format_percentage, format_rate
from brimline.wording import joined, message

_OTHER_LINES = 13
"""Lines of the screen besides those of operations."""
_RECENT_MAX = 200
"""Intervals that are kept: more than a line has columns."""


def progress_on(console: Console, *, language: str = "en") -> ProgressSink:
    """The screen where there is a terminal that can show it, else plain lines.

    `NO_COLOR` asks for plain ones, and so do a dumb terminal, a small one, and one without the characters.
    """
    rows_and_columns = console.height >= HEIGHT_MIN and console.width >= WIDTH_MIN
    can_draw = console.is_terminal and not console.is_dumb_terminal and console.encoding.lower().startswith("utf")
    if can_draw and rows_and_columns and not os.environ.get("NO_COLOR"):
        return LiveProgress(console, language=language)
    return TerminalProgress(console, language=language)


def progress_console(**settings: Any) -> Console:
    """Standard error, on which progress is said; `settings` as rich takes them."""
    return _Console(stderr=True, highlight=False, **settings)


class _Console(Console):
    def show_cursor(self, show: bool = True) -> bool:  # noqa: ARG002 - rich's signature
        """Leaves it as it is."""
        return False


class LiveProgress:
    """The screen: begun with the first run, in place until nothing more is measured."""

    def __init__(self, console: Console, *, language: str = "en") -> None:
        self._console, self._say = console, said_in_digits(language)
        self._live: Live | None = None
        self._screen = Screen(
            title="", state="", unit="ops/s", offered="", clock="", recent=(), so_far=None, outcomes=(), say=self._say
        )
        self._recent: deque[Recent | None] = deque(maxlen=_RECENT_MAX)
        self._outcomes: deque[str] = deque(maxlen=OUTCOMES_SHOWN)
        self._plan: Plan | None = None
        self._apart: frozenset[str] = frozenset()
        self._share = RunShare()
        self._elapsed_s = 0.0

    def step(self, text: str) -> None:
        """Something short begins: said on the screen where it is there, else on a line of its own."""
        if self._live is None:
            self._console.print(f"{self._say(text)} …", style="dim", markup=False)
        else:
            self._screen = replace(self._screen, title=message("{text} …", text=text), state="")
            self._draw()

    @property
    def is_live(self) -> bool:
        """Whether there is a screen, on which the next step takes the place of the last."""
        return self._live is not None

    def note(self, text: str) -> None:
        """Something to be remembered: it stays above the screen."""
        self._console.print(self._say(text), markup=False, soft_wrap=True)

    def warning(self, text: str) -> None:
        """Something that has to be known."""
        self.note(text)

    def begin(self, title: str, plan: Plan) -> None:
        """A run begins."""
        self._plan, self._share, self._elapsed_s = plan, RunShare.of(plan), 0.0
        if self._recent:
            self._recent.append(None)
        rate = offered_mean(plan, start_ns=0, end_ns=NS_PER_S)
        self._screen = replace(
            self._screen,
            title=title,
            state="connecting",
            unit="documents/s" if isinstance(plan.work, LoadWork) else "ops/s",
            offered=short_load(plan) if rate is None else format_rate(rate, digits=4),
            clock="service" if rate is None and not plan.is_pooled else "response",
            operations=[(name, None) for name in _names(plan)],
            operations_max=max(min(OPERATIONS_SHOWN, self._console.height - _OTHER_LINES), 0),
        )
        self._apart = _apart(plan)
        if self._live is None:
            self._live = Live(console=self._console, auto_refresh=False, transient=True, redirect_stdout=False)
            self._live.start()
        self._draw()

    def tick(self, tick: Tick) -> None:
        """The run goes on."""
        self._elapsed_s = tick.elapsed_s
        self._screen = replace(self._screen, state=self._state(tick), offered=self._offered(tick))
        self._draw()

    def samples(self, samples: Samples) -> None:
        """Intervals of the run are complete."""
        closed_loop = self._screen.clock == "service"
        self._recent.extend(recent(samples, closed_loop=closed_loop, apart=self._apart))
        if self._screen.operations:
            latest = latest_by_operation(samples, closed_loop=closed_loop)
            seen = [(name, latest.get(name, before)) for name, before in self._screen.operations]
            self._screen = replace(self._screen, operations=seen)

    def end(self) -> None:
        """The run is over; the screen stays for the next."""

    def outcome(self, text: str) -> None:
        """What a run of an experiment showed."""
        self._outcomes.append(text)
        self._draw()

    def so_far(self, tell: Callable[[], SoFar]) -> None:
        """What all runs show until now."""
        self._screen = replace(self._screen, so_far=tell())
        self._draw()

    def over(self) -> None:
        """Nothing more is measured: the screen goes."""
        if self._live is not None:
            self._live.stop()
        self._live = None

    def _draw(self) -> None:
        if self._live is not None:
            shown = replace(self._screen, recent=list(self._recent), outcomes=tuple(self._outcomes))
            self._live.update(Group(*shown.lines(self._console.width)), refresh=True)

    def _state(self, tick: Tick) -> str:
        if tick.stage in ("connecting", "ready"):
            return "connecting"
        share = self._share.of_tick(tick)
        return joined(", ", [format_percentage(share, digits=2), self._left(tick, share)])

    def _left(self, tick: Tick, share: float) -> str:
        """Of the whole experiment where that is known, else of the run."""
        known = self._screen.so_far
        if known is None or known.left_s is None:
            return message("{time} left", time=_seconds(tick.elapsed_s * (1 / share - 1))) if share > 0 else ""
        if known.left_s > tick.elapsed_s or known.left_max_s is None:
            return message("about {time} left", time=_seconds(max(known.left_s - tick.elapsed_s, 0.0)))
        return message("at most {time} left", time=_seconds(max(known.left_max_s - tick.elapsed_s, 0.0)))

    def _offered(self, tick: Tick) -> str:
        if self._plan is None or self._plan.is_pooled or self._screen.clock == "service":
            return self._screen.offered
        now_ns = round(tick.elapsed_s * NS_PER_S)
        rate = offered_mean(self._plan, start_ns=max(now_ns - NS_PER_S, 0), end_ns=max(now_ns, 1))
        return "" if rate is None else format_rate(rate, digits=4)


def _names(plan: Plan) -> list[str]:
    """The operations that have names of their author's, those with the largest shares first; none of other work."""
    work = plan.work
    if not isinstance(work, OperationsWork) or len(work.operations) == 1:
        return []
    return [each.name for each in sorted(work.operations, key=lambda each: -each.weight)]


def _apart(plan: Plan) -> frozenset[str]:
    """The operations with loads of their own."""
    work = plan.work
    places = [place for load in work.loads for place in load.operations] if isinstance(work, OperationsWork) else []
    return frozenset(work.operations[place].name for place in places if isinstance(work, OperationsWork))


def _seconds(seconds: float) -> str:
    return format_duration(round(seconds) * NS_PER_S, digits=2) if round(seconds) else "0 s"
