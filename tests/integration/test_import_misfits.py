"""Cells that do not fit their column's type are counted by column, shown with the import, and added up on resume."""

import json
from pathlib import Path
from typing import Any

import pymongo
import pytest

from tests.support.command_line import CommandLine
from tests.support.importing import SLOWLY, kill_behind_a_checkpoint, start
from tests.support.server import slow

ROWS = 15_000
COLUMNS = ("--columnsHaveTypes", "--fields", "k.int32(),price.double(),when.int32()")
TABLE = "1,2.5,3\n2,free,later\n3,?,\n4,1,1\n"


@pytest.mark.parametrize(
    ("grace", "said", "stored"),
    [
        ("skipField", "3 cells did not fit their column's type and were left out: price 2, when 1", {"k": 2}),
        (
            "autoCast",
            "3 cells did not fit their column's type and were stored as what they look like: price 2, when 1",
            {"k": 2, "price": "free", "when": "later"},
        ),
    ],
)
def test_cells_that_do_not_fit_are_told_in_every_form(
    here: CommandLine, uri: str, grace: str, said: str, stored: dict[str, Any]
) -> None:
    Path("t.csv").write_text(TABLE)
    at = ("import", "t.csv", "--type", "csv", *COLUMNS, "--parseGrace", grace, "--ignoreBlanks")
    outcome = here.run(*at, "--uri", uri, "-d", "misfits", "-c", grace)
    assert outcome.exit_code == 0, outcome.stderr
    plain = " ".join(outcome.stdout.split())
    assert "3 cells aside" in plain
    assert ("Cells left out 3" if grace == "skipField" else "Cells of another type 3") in plain
    with pymongo.MongoClient[dict[str, Any]](uri) as client:
        assert client["misfits"][grace].find_one({"k": 2}, {"_id": 0}) == stored
    as_text = ("report", "latest", "--format", "md", "-o", "-")
    assert said in " ".join(here.run(*as_text).stdout.split())
    assert "3 个单元格与列类型不符" in here.run(*as_text, "--lang", "zh").stdout
    document = here.run("show", "latest", "--json").json()
    assert document["cells_not_of_their_type"] == {"price": 2, "when": 1}
    assert {each["name"]: each["result"] for each in document["checks"]}["cells"] == "warn"


def test_rows_that_are_left_out_or_stop_are_no_cells(here: CommandLine, uri: str) -> None:
    Path("t.csv").write_text(TABLE)
    at = ("import", "t.csv", "--type", "csv", *COLUMNS, "--ignoreBlanks", "--uri", uri, "-d", "misfits", "--json")
    document = here.run(*at, "-c", "rows", "--parseGrace", "skipRow").json()
    assert (document["counts"]["rejected"], document["cells_not_of_their_type"]) == (2, {})
    document = here.run(*at, "-c", "stopped").json()
    assert (document["counts"]["inserted"], document["cells_not_of_their_type"]) == (1, {})


def test_rows_with_more_or_fewer_cells_are_told_in_every_form(here: CommandLine, uri: str) -> None:
    """A decimal comma makes two cells of one: the row shifts, and mongoimport says nothing."""
    Path("r.csv").write_text("n,fee,note\n1,5,a\n2,1,50,ok\n3,7\n4,8,\n")
    outcome = here.run("import", "r.csv", "--headerline", "--uri", uri, "-d", "misfits", "-c", "ragged")
    assert outcome.exit_code == 0, outcome.stderr
    said = "2 rows have more or fewer cells than there are columns; the first is in line 3"
    assert said in " ".join(outcome.stdout.split())
    with pymongo.MongoClient[dict[str, Any]](uri) as client:
        found = list(client["misfits"]["ragged"].find({"n": {"$in": [2, 3]}}, {"_id": 0}).sort("n"))
    assert found == [{"n": 2, "fee": 1, "note": 50, "field3": "ok"}, {"n": 3, "fee": 7}]
    as_text = ("report", "latest", "--format", "md", "-o", "-")
    assert said in " ".join(here.run(*as_text).stdout.split())
    assert "2 行的单元格数多于或少于列数" in here.run(*as_text, "--lang", "zh").stdout
    document = here.run("show", "latest", "--json").json()
    assert (document["counts"]["ragged"], document["first_ragged"]) == (2, {"input": 0, "offset": 17, "line": 3})


@pytest.mark.slow("an import is killed behind a checkpoint, and goes on")
def test_cells_before_and_after_a_kill_are_added_up(brimline_cli: CommandLine, uri: str) -> None:
    path = brimline_cli.directory / "t.csv"
    path.write_text("".join(f"{row},{'free' if row % 3 == 0 else 1},1{row:500}\n" for row in range(ROWS)))
    at = (path, "--type", "csv", *COLUMNS, "--parseGrace", "skipField", "--uri", uri, "-d", "m", "-c", "c")
    with slow(uri, "insert"):
        running = start(brimline_cli, 1, *at, *SLOWLY)
        kill_behind_a_checkpoint(brimline_cli, running, after_s=0.0)
        running = start(brimline_cli, 2, "--resume", "latest", "--uri", uri)
    outcome = running.end()
    assert outcome.exit_code == 0, outcome.stderr
    document = outcome.json()
    assert (document["attempts"], document["counts"]["inserted"]) == (2, ROWS)
    assert document["cells_not_of_their_type"] == {"price": ROWS // 3, "when": ROWS}
    kept = json.loads(next(brimline_cli.runs.glob("*/record.json")).read_text())
    assert kept["misfits"] == {"price": ROWS // 3, "when": ROWS}
