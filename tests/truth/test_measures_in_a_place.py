"""A measure conducted in a place that is up, into a directory that is given: as a cell of a larger experiment."""

from dataclasses import replace
from pathlib import Path

import pytest

from brimline.api.capacity import capacity_in, frontier_in
from brimline.api.options import Options
from brimline.api.reopen import open_result
from brimline.api.sweep import sweep_in
from brimline.api.workload import load_workload
from brimline.api.workplace import Workplace, workplace
from brimline.experiments.capacity.frontier import FrontierSettings
from brimline.experiments.settings import SweepSettings, quick
from brimline.record import ExperimentWriter, read_experiment

SWEEP = SweepSettings(connections_max=2, warmup_s=0.0, duration_s=0.05)
SEARCH = replace(
    quick(), sweep=replace(SWEEP, connections_max=1), calibrate_s=0.05, window_s=0.05, warmup_s=0.0, windows_max=3
)


def _sweep(place: Workplace, directory: Path, *, resume: bool = False) -> Path:
    return sweep_in(place, SWEEP, directory=directory, resume=resume)


def _capacity(place: Workplace, directory: Path, *, resume: bool = False) -> Path:
    return capacity_in(place, SEARCH, directory=directory, resume=resume)


def _frontier(place: Workplace, directory: Path, *, resume: bool = False) -> Path:
    settings = FrontierSettings(search=replace(SEARCH, windows_max=2), limits_ns=(1_000_000, 2_000_000))
    return frontier_in(place, settings, directory=directory, resume=resume)


@pytest.mark.parametrize("measure", [_sweep, _capacity, _frontier])
def test_a_cell_is_a_whole_record_in_the_experiment_around_it(tmp_path: Path, measure: object) -> None:
    made = {"kind": "vary", "name": "cells", "settings": {}, "spec_text": "", "environment": {}, "plan_hash": ""}
    loaded = load_workload("ycsb-c")
    with (
        ExperimentWriter(tmp_path / "design", **made) as writer,  # type: ignore[arg-type]
        workplace(loaded, Options(null=True, runs_dir=tmp_path / "runs")) as place,
    ):
        cell = writer.begin_trial({"levels": ["1"]}, stage="cell", label="1")
        assert measure(place, cell) == cell  # type: ignore[operator]
        writer.end_trial(cell, took_s=1.0)
    entry = read_experiment(tmp_path / "design").trials[0]
    assert (entry.directory, entry.probe, entry.took_s) == (cell, {"levels": ["1"]}, 1.0)
    assert open_result(cell).directory == cell
    assert read_experiment(cell).ended_by == "completed"
    assert not (tmp_path / "runs").exists()


def test_a_cell_that_did_not_end_is_gone_on_with_where_it_is(tmp_path: Path) -> None:
    made = {"kind": "vary", "name": "cells", "settings": {}, "spec_text": "", "environment": {}, "plan_hash": ""}
    loaded = load_workload("ycsb-c")
    with workplace(loaded, Options(null=True, runs_dir=tmp_path / "runs")) as place:
        with ExperimentWriter(tmp_path / "design", **made) as writer:  # type: ignore[arg-type]
            cell = writer.begin_trial({"levels": ["1"]}, stage="cell", label="1")
            _sweep(place, cell)
            state = (cell / "experiment.json").read_text()
            (cell / "experiment.json").write_text(state.replace('"ended_by": "completed"', '"ended_by": null'))
        with ExperimentWriter.reopen(tmp_path / "design", settings={}) as writer:
            left = read_experiment(writer.directory).trials
            assert [each.directory for each in left] == [cell]
            before = [each.directory for each in read_experiment(cell).trials]
            _sweep(place, cell, resume=True)
            assert [each.directory for each in read_experiment(cell).trials] == before
            assert writer.begin_trial({}, stage="cell", label="2").name.startswith("02-")
    assert read_experiment(cell).ended_by == "completed"
