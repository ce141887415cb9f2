"""A whole search on the virtual clock, watched: the screen narrows down to the capacity that is known."""

import io
import os
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from brimline.api.search_settings import settings_for
from brimline.cli.live import LiveProgress, progress_console
from brimline.execution import SoFar
from brimline.experiments.capacity.search import Capacity
from brimline.experiments.runner import run_trials
from brimline.record import ExperimentWriter
from tests.support.simulation import context, read_only, target
from tests.support.terminal import Screen

S = 1_000_000_000
SERVER = {"service": {"kind": "lognormal", "mean_ns": S // 1000, "sigma": 0.5}, "servers": 1, "seed": 3}
"""Of one server that takes 1 ms on average: below 1 000 operations a second."""


class Noted(LiveProgress):
    """The screen, and what stood on it after each probe."""

    def __init__(self, file: io.StringIO) -> None:
        console = progress_console(file=file, force_terminal=True, width=80, height=40, _environ={"TERM": "xterm"})
        super().__init__(console)
        self.file, self.screen = file, Screen(80)
        self.known: list[SoFar] = []
        self.screens: list[list[str]] = []

    def so_far(self, tell: Callable[[], SoFar]) -> None:
        self.known.append(tell())
        super().so_far(tell)

    def end(self) -> None:
        self.screen.write(self.file.getvalue().replace("\n", "\r\n"))
        self.file.seek(0)
        self.file.truncate()
        self.screens.append(self.screen.lines)
        super().end()


def test_a_search_is_seen_as_it_narrows_down(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fsync", lambda _descriptor: None)
    spec = read_only()
    settings, watched = settings_for(spec, "quick"), Noted(io.StringIO())
    with ExperimentWriter(
        tmp_path / "search", kind="capacity", name="known", settings={}, spec_text="", environment={}
    ) as writer:
        trials = run_trials(
            Capacity(settings, 1),
            spec=spec,
            target=target(SERVER),
            writer=writer,
            context=replace(context(), progress=watched),
            slo=settings.slo,
        )
    estimates = [each for each in watched.known if each.figure is not None]
    first, last = estimates[0], estimates[-1]
    assert first.low is not None and first.high is not None and last.low is not None and last.high is not None
    assert last.high / last.low < first.high / first.low, "it narrows"
    assert last.figure is not None and 500 < last.figure < 1_000
    assert {outcome for _, outcome in last.probes} >= {"met", "missed"}
    assert len(watched.screens) == len(trials)
    shown = "\n".join(watched.screens[-1])
    assert re.search(r"^response p99 +\S+ \S+ +[▁▂▃▄▅▆▇█]", shown, re.MULTILINE), shown
    assert re.search(r"^estimate +\S+ ops/s, 95 % interval ", shown, re.MULTILINE), shown
    assert re.search(r"^probes +.*●.*×", shown, re.MULTILINE), shown
    left = [each.left_s for each in watched.known if each.left_s is not None]
    assert left == sorted(left, reverse=True)
    watched.over()
