"""brimline import beside the recorded behaviour of the real mongoimport, case by case, on one server."""

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pymongo
import pytest

from brimline.cli.app import main
from tests.support.mongoimport_golden import Case, cases, comparable_bytes, raw_documents

CASES = cases()
EXIT_CODES = {0: {0}, 1: {2, 4, 5}}
"""brimline's exit codes by mongoimport's: they say more than that something failed."""
RECORDED = 241
UNCOUNTED = (None, None)
"""What mongoimport counted where it printed no counts: with --quiet, and where it refused its command line."""
BEFORE_THE_ERROR = "documents before the error are imported"
OVERSIZED = "only the document that is too large is rejected"
SKIPPED = "rows that skipRow leaves out count as rejected"


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """What brimline does otherwise on purpose: `ids` in the collection, None where the documents are the same.

    `fails`: it ends with an error.
    """

    why: str
    ids: Sequence[int] | None = None
    imported: int
    rejected: int = 0
    fails: bool = False


DIFFERENT = {
    "drop-empty-file": Difference(
        why="an input without a document costs no collection", ids=[1, 2, 3], imported=0, fails=True
    ),
    "drop-parse-error": Difference(
        why="a first record that can't be read costs no collection", ids=[1, 2, 3], imported=0
    ),
    "json-garbage-middle-maintainorder": Difference(why=BEFORE_THE_ERROR, ids=[1, 2], imported=2),
    "jsonarray-trailing-comma-maintainorder": Difference(why=BEFORE_THE_ERROR, ids=[1, 2], imported=2),
    "mode-merge-csv-blanks": Difference(why="a merge that has nothing to merge counts as updated", imported=2),
    "oversize-csv": Difference(why=OVERSIZED, ids=[2], imported=1, rejected=1),
    "oversize-in-the-middle": Difference(why=OVERSIZED, ids=[1, 3], imported=2, rejected=1),
    "oversize-in-the-middle-stoponerror": Difference(why=OVERSIZED, ids=[1], imported=1, rejected=1),
    "types-grace-skiprow": Difference(why=SKIPPED, imported=2, rejected=5),
    "types-skiprow-nothing-left": Difference(why=SKIPPED, imported=0, rejected=2),
}
"""Every case with other documents or other counts than mongoimport has; `docs/import.md` says why."""


def test_every_case_that_was_recorded_is_here() -> None:
    names = {case.name for case in CASES}
    assert len(CASES) == len(names) == RECORDED
    assert names >= DIFFERENT.keys()


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_case_of_mongoimport(
    case: Case, uri: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    case.prepare(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("BRIMLINE_RUNS_DIR", str(tmp_path / "runs"))
    stdin = case.recorded.get("stdin")
    with pymongo.MongoClient[dict[str, Any]](uri) as client:
        collection = client["g"]["c"]
        case.prepare_collection(collection)
        with _standard_input(tmp_path / stdin if stdin else Path(os.devnull)), pytest.raises(SystemExit) as ended:
            main(["import", *case.options, "--uri", uri, "--db", "g", "--collection", "c", "--json"])
        documents = case.documents_in(collection)
        raw = raw_documents(collection)
    printed = capsys.readouterr()
    shown = f"{printed.err}\n{printed.out}"
    difference = DIFFERENT.get(case.name)
    ended_with = 1 if difference is not None and difference.fails else case.recorded["exit_code"]
    assert ended.value.code in EXIT_CODES[ended_with], shown
    if difference is not None and difference.ids is not None:
        assert [dict(each)["_id"] for each in documents] == difference.ids, shown
        outcomes: list[Mapping[str, Any]] = []
    else:
        outcomes = [each for each in case.outcomes if documents == case.comparable(each["documents"])]
        assert outcomes, f"{documents}\n{shown}"
    assert {comparable_bytes(each) for each in case.recorded.get("raw_bson_hex", [])} <= raw
    recorded = {(each["imported"], each["failed"]) for each in outcomes}
    expected = recorded if difference is None else {(difference.imported, difference.rejected)}
    assert (difference is None) or not recorded & expected, "it is no difference any more"
    counted = _counted(printed.out)
    if counted is None:
        assert expected <= {(0, 0), UNCOUNTED}, shown
    else:
        assert counted in expected or (expected == {UNCOUNTED} and counted == (len(documents), 0)), shown


def _counted(printed: str) -> tuple[int, int] | None:
    """Documents imported and records rejected, by brimline; None where it ended before it counted."""
    counts = json.loads(printed).get("counts")
    if counts is None:
        return None
    return counts["inserted"] + counts["updated"] + counts["deleted"], counts["rejected"]


@contextmanager
def _standard_input(path: Path) -> Iterator[None]:
    """The engine reads descriptor 0, whatever Python has put there."""
    kept = os.dup(0)
    with path.open("rb") as file:
        os.dup2(file.fileno(), 0)
    try:
        yield
    finally:
        os.dup2(kept, 0)
        os.close(kept)
