"""What the levels of a design say to an import, and what its columns are called."""

from dataclasses import asdict
from pathlib import Path

import pytest

from brimline.api.import_data import ImportJob
from brimline.api.measured_import import MEASURE
from brimline.errors import UsageError
from brimline.execution.import_collection import Namespace
from brimline.execution.import_inputs import column_names, find_inputs
from brimline.experiments.vary.cost import rest_text, vary_cost_text
from brimline.experiments.vary.factor_kinds import KINDS
from brimline.spec import load_spec
from brimline.spec.import_settings import ImportSettings, WriteConcernSettings
from tests.unit.experiments.vary_simulator import settings_of

TABLE = ImportSettings(type="csv", headerline=True)
SPEC = load_spec("bulk-rows").spec


def job(here: Path, settings: ImportSettings = TABLE, text: str = "_id,a,b\n1,2,3\n") -> ImportJob:
    (here / "rows.csv").write_text(text)
    inputs = find_inputs([str(here / "rows.csv")], gzip=False, collection=None)
    return ImportJob(namespace=Namespace("d", "c"), settings=settings, inputs=inputs, drop=False)


def test_levels_change_what_they_name_and_nothing_else(tmp_path: Path) -> None:
    wanted = job(tmp_path)
    said = {"job": asdict(wanted), "connections": 7, "batch_size": 10, "write_concern": "2", "journal": True}
    cell = MEASURE.settings(SPEC, said)
    assert cell.index is None
    assert cell.job.inputs == wanted.inputs
    assert (cell.job.settings.workers, cell.job.settings.batch_size) == (7, 10)
    assert cell.job.settings.write_concern == WriteConcernSettings(w=2, journal=True)
    assert MEASURE.settings(SPEC, {"job": asdict(wanted)}).job == wanted
    assert MEASURE.data_bytes(SPEC, cell) == 14


@pytest.mark.parametrize(
    ("level", "fields"), [("none", ()), ("single", ("a",)), ("compound", ("a", "b")), ("b+a", ("b", "a"))]
)
def test_an_index_is_over_columns_of_the_file(level: str, fields: tuple[str, ...], tmp_path: Path) -> None:
    assert MEASURE.settings(SPEC, {"job": asdict(job(tmp_path)), "indexes": level}).index == fields


def test_an_index_over_no_column_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match='no field "z"'):
        MEASURE.settings(SPEC, {"job": asdict(job(tmp_path)), "indexes": "z"})


@pytest.mark.parametrize(
    ("settings", "text", "names"),
    [
        (TABLE, '\ufeff_id,a,"b,c"\n', ["a", "b,c"]),
        (ImportSettings(type="tsv", headerline=True), "a\tb\n", ["a", "b"]),
        (ImportSettings(type="csv", fields="a,b"), "1,2\n", ["a", "b"]),
        (ImportSettings(type="csv", field_file_text="a\nb\n"), "1,2\n", ["a", "b"]),
        (
            ImportSettings(type="csv", headerline=True, columns_have_types=True),
            "a.b.int32(),at.date(2006-01-02)\n",
            ["a.b", "at"],
        ),
        (ImportSettings(type="json"), "{}", []),
    ],
)
def test_columns_are_called_as_the_import_calls_them(
    settings: ImportSettings, text: str, names: list[str], tmp_path: Path
) -> None:
    assert column_names(job(tmp_path, text=text).inputs[0], settings) == names


def test_its_factors_are_those_of_surroundings() -> None:
    known = {name for name in KINDS if MEASURE.measure.refuses(name) is None}
    assert {"topology", "batch-size", "connections", "indexes", "write-concern", "cache-gb"} <= known
    assert not {"records", "rate", "keys", "workload", "client", "protocol"} & known


def test_how_long_it_takes_is_not_said_before_it_is_known() -> None:
    settings = settings_of("connections=1,8", measure="import", cell_s=0.0, blocks=2, blocks_max=4)
    said = str(vary_cost_text(settings, own_server=True))
    assert said == "estimate: 4 times import (2 combinations), at most 8; how long one takes shows with the first"
    assert str(rest_text(settings, 2.0)).startswith("estimate: about 6.00 s more, 3 times as long as the first")


def test_the_most_that_a_design_takes_is_the_most_of_each_measure() -> None:
    settings = settings_of(
        "connections=1,8", measure="capacity", cell_s=240.0, cell_most_s=420.0, blocks=1, blocks_max=2
    )
    said = str(vary_cost_text(settings, own_server=False))
    assert said.startswith("estimate: about 8 min to 16 min, 2 to 4 times capacity of about 4 min")
    assert "at most 28 min, without server starts, loading and what is around each run" in said
    assert "further blocks until each is known within 5 %; exactly 1: --repeats-max 1" in said
    exact = settings_of("connections=1,8", blocks=2, blocks_max=2)
    assert "further blocks" not in vary_cost_text(exact, own_server=False)


def test_the_estimate_of_a_design_is_from_its_fewest_runs_to_its_most() -> None:
    """Of 8 and 80 runs of 4 s it was told "about 32 s, at most 5 min 20 s", and 80 took 7 min 42 s."""
    settings = settings_of("nodes=1,2", "connections=1,8,16,32", warmup_s=1.0, duration_s=3.0, blocks=1, blocks_max=10)
    assert vary_cost_text(settings, own_server=False) == (
        "estimate: about 44.0 s to 7 min 20 s, 8 to 80 runs (8 combinations, 1 to 10 blocks); of that 1.50 s around "
        "each run, without server starts and loading; further blocks until each is known within 5 %; exactly 1: "
        "--repeats-max 1"
    )
