"""Looks at a server on a clock of the test: one that comes late says so, and none is over a rest of an interval."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest

from brimline.compat.mongostat import watching


@dataclass
class Clock:
    """Sleeps longer than asked where `late_s` says so, by the number of the sleep."""

    late_s: dict[int, float]
    now_s: float = 100.0
    sleeps: list[float] = field(default_factory=list)

    def sleep(self, length_s: float) -> None:
        self.now_s += length_s + self.late_s.get(len(self.sleeps), 0.0)
        self.sleeps.append(length_s)


@pytest.mark.parametrize(
    ("late_s", "lengths", "told"),
    [
        ({}, [0.5, 0.5, 0.5, 0.5], []),
        (
            {1: 1.5},
            [0.5, 2.0, 0.5, 0.5],
            ["brimline itself did not run for 1.50 s: the next line is over that time as well"],
        ),
        ({1: 0.1}, [0.5, 0.6, 0.4, 0.5], []),
    ],
)
def test_a_look_that_comes_late(
    monkeypatch: pytest.MonkeyPatch, late_s: dict[int, float], lengths: list[float], told: list[str]
) -> None:
    clock, said = Clock(late_s), list[str]()

    @contextmanager
    def reached(*_: object, **__: object) -> Iterator[tuple[Any, Any]]:
        client = SimpleNamespace(admin=SimpleNamespace(command=lambda _name: {}))
        yield client, SimpleNamespace(address="h:1")

    monkeypatch.setattr(watching, "reached", reached)
    monkeypatch.setattr(watching, "_now_s", lambda: clock.now_s)
    monkeypatch.setattr(watching.time, "sleep", clock.sleep)
    seen = list(watching.intervals("mongodb://h:1", password=None, interval_s=0.5, rows=4, notice=said.append))
    assert [round(each.elapsed_s, 6) for each in seen] == lengths
    assert said == told
