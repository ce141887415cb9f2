"""brimline import beside the recorded behaviour of the real mongoimport, case by case, on one server."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pymongo
import pytest

from brimline.cli.app import main
from brimline.servers import bundled
from tests.support.mongoimport_golden import Case, cases, comparable_bytes, raw_documents
from tests.support.server import required_mongod

CASES = cases()
EXIT_CODES = {0: {0}, 1: {2, 4, 5}}
"""brimline's exit codes by mongoimport's: they say more than that something failed."""
OVERSIZED = "only the document that is too large is rejected"
DIFFERENT: dict[str, tuple[str, list[int], int]] = {
    "json-garbage-middle-maintainorder": ("documents before the error are imported", [1, 2], 2),
    "jsonarray-trailing-comma-maintainorder": ("documents before the error are imported", [1, 2], 2),
    "oversize-csv": (OVERSIZED, [2], 1),
    "oversize-in-the-middle": (OVERSIZED, [1, 3], 2),
    "oversize-in-the-middle-stoponerror": (f"{OVERSIZED}, and nothing after it is read", [1], 1),
}
"""Where brimline does something else on purpose: why, the _ids in the collection then, the documents imported."""
COUNTED_OTHERWISE = {"mode-merge-csv-blanks": 2}
"""Documents that brimline counts as imported: one that has nothing to merge has met its document all the same."""


@pytest.fixture(scope="module")
def uri() -> Iterator[str]:
    with bundled(binary=required_mongod(), cache_gb=0.25) as deployment:
        yield f"mongodb://{deployment.address}"


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
    assert ended.value.code in EXIT_CODES[case.recorded["exit_code"]], shown
    if case.name in DIFFERENT:
        _, ids, imported = DIFFERENT[case.name]
        assert [dict(each)["_id"] for each in documents] == ids, shown
    else:
        outcomes = [each for each in case.outcomes if documents == case.comparable(each["documents"])]
        assert outcomes, f"{documents}\n{shown}"
        imported = COUNTED_OTHERWISE.get(case.name, outcomes[0]["imported"])
    assert {comparable_bytes(each) for each in case.recorded.get("raw_bson_hex", [])} <= raw
    if printed.out.strip() and imported is not None:
        counts = json.loads(printed.out)["counts"]
        assert counts["inserted"] + counts["updated"] + counts["deleted"] == imported, shown


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
