"""A design whose cells are searches, killed at ten moments and gone on with each time: the same cells, and none twice.

Its twin with processes is `test_an_experiment_that_is_killed_ten_times_has_its_cells_once[nested]`.
"""

import random
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

import pytest

from brimline.api.options import Options
from brimline.api.vary import resumed_vary, vary
from brimline.record import ExperimentWriter, read_experiment

KILLS = 10
SWEEP = {"connections_max": 2, "repeats": 2, "warmup_s": 0.0, "duration_s": 0.01}


class Killed(BaseException):
    """The process is gone: nothing that stands behind this runs."""


def _conducted(runs: Path) -> Path:
    options = Options(null=True, runs_dir=runs)
    begun = sorted(runs.glob("*-vary-*"))
    if begun:
        return resumed_vary(begun[0], options).directory
    factors, once = ["records=100,200"], {"blocks": 1, "blocks_max": 1}
    return vary("ycsb-c", factors=factors, measure="sweep", said=SWEEP, settings=once, options=options).directory


def _cells(directory: Path) -> list[tuple[Any, list[Any]]]:
    """What was asked for, of the design and within each of its cells; servers differ from try to try."""
    return [
        ({**cell.probe, "server": None}, [trial.probe for trial in read_experiment(cell.directory).trials])
        for cell in read_experiment(directory).trials
    ]


def test_a_search_within_a_design_has_the_same_cells_and_none_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = _cells(_conducted(tmp_path / "whole"))
    assert [len(inner) for _, inner in whole] == [4, 4]
    rng, kills, within = random.Random(3), 0, 0

    def fragile(written: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(written)
        def wrapped(writer: ExperimentWriter, *words: Any, **named: Any) -> Any:
            nonlocal within
            for do in (lambda: None, lambda: written(writer, *words, **named)):
                made = do()
                if kills < KILLS and rng.random() < 0.25:
                    within += "trials" in writer.directory.parts
                    raise Killed
            return made

        return wrapped

    for name in ("begin_trial", "end_trial", "seal"):
        monkeypatch.setattr(ExperimentWriter, name, fragile(getattr(ExperimentWriter, name)))
    while True:
        try:
            survived = _cells(_conducted(tmp_path / "killed"))
        except Killed:
            kills += 1
        else:
            break
    assert kills == KILLS and 0 < within < KILLS, "both the design and its searches were killed"
    assert survived == whole
