"""The notebook of the examples: its cells one after the other, as a notebook would run them."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import brimline
from brimline.errors import UsageError

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    names: dict[str, Any] = {}
    notebook = json.loads((EXAMPLES / "first-run.ipynb").read_text(encoding="utf-8"))
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(EXAMPLES)
        patch.setenv("BRIMLINE_RUNS_DIR", str(tmp_path_factory.mktemp("runs")))
        for cell in notebook["cells"]:
            if cell["cell_type"] == "code":
                exec("".join(cell["source"]), names)
    return names


def test_p99_over_time_is_a_column_with_a_row_for_each_interval(ran: dict[str, Any]) -> None:
    p99 = ran["p99_over_time"]
    assert len(p99) >= 4 and p99.index.is_monotonic_increasing and (p99 > 0).all()


def test_a_result_prints_as_five_lines_also_when_opened_by_its_directory_alone(ran: dict[str, Any]) -> None:
    for each in (ran["result"], brimline.open_result(str(ran["result"].directory))):
        lines = repr(each).splitlines()
        assert len(lines) == 5 and max(map(len, lines)) < 400
        assert lines[0].startswith("RunResult: ") and lines[4].endswith("report.html")


def test_paths_may_be_text(tmp_path: Path) -> None:
    options = brimline.Options(runs_dir=str(tmp_path), mongod=str(tmp_path / "mongod"))
    assert (options.runs_dir, options.mongod) == (tmp_path, tmp_path / "mongod")


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("runs_dir", 5),
        ("mongod", 1.5),
        ("uri", 27017),
        ("cache_gb", "1"),
        ("drop", "yes"),
        ("null", 1),
        ("data", 3),
    ],
)
def test_a_wrong_type_is_refused_by_name(name: str, given: Any) -> None:
    with pytest.raises(UsageError, match=f"^{name} is .*, not {type(given).__name__}"):
        brimline.Options(**{name: given})


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: brimline.run(5), "workload is a path, not int"),
        (lambda: brimline.run("ycsb-c", load={"rate": "5/s"}), "load is of LoadOptions, not dict"),
        (lambda: brimline.run("ycsb-c", objective="10ms"), "objective is of ObjectiveOptions, not str"),
        (lambda: brimline.run("ycsb-c", overrides=["data.records"]), "overrides is a dictionary, not list"),
        (lambda: brimline.run("ycsb-c", options={"uri": "x"}), "options is of Options, not dict"),
        (lambda: brimline.capacity("ycsb-c", preset="fast"), "preset is one of"),
        (lambda: brimline.capacity("ycsb-c", loops="2"), "loops is a number, not str"),
        (lambda: brimline.sweep("ycsb-c", settings={}), "settings is of SweepSettings, not dict"),
        (lambda: brimline.vary("ycsb-c", factors="connections=1,2"), "factors is a list of texts, not str"),
        (lambda: brimline.compare("first", "second"), "a is a list of texts, not str"),
        (lambda: brimline.trend("runs"), "records is a list of texts, not str"),
        (lambda: brimline.open_result(5), "name_or_path is a path, not int"),
        (lambda: brimline.scan("ycsb-c", restarts=1), "restarts is True or False, not int"),
    ],
)
def test_a_functions_parameter_of_a_wrong_type_is_refused_by_name(call: Callable[[], object], said: str) -> None:
    with pytest.raises(UsageError, match=f"^{said}"):
        call()
