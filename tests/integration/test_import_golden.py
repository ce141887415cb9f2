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
REFUSED = {0: {0}, 1: {2, 4, 5}}
"""brimline's exit codes by mongoimport's: it says more than that something failed."""


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
    with pymongo.MongoClient[dict[str, Any]](uri) as client:
        collection = client["g"]["c"]
        case.prepare_collection(collection)
        stdin = case.arguments.get("stdin")
        with _standard_input(tmp_path / stdin if stdin else Path(os.devnull)), pytest.raises(SystemExit) as ended:
            main(["import", *case.options, "--uri", uri, "--db", "g", "--collection", "c", "--json"])
        printed = capsys.readouterr()
        shown = f"{printed.err}\n{printed.out}"
        documents = case.documents_in(collection)
        exit_code = ended.value.code
        outcomes = [each for each in case.outcomes if documents == case.comparable(each["expected"])]
        assert exit_code in REFUSED[case.exit_code], shown
        assert outcomes, f"{documents}\n{shown}"
        if raw := case.result.get("raw_bson_hex"):
            assert {comparable_bytes(each) for each in raw} <= raw_documents(collection)
    if printed.out.strip() and outcomes[0]["imported"] is not None:
        counts = json.loads(printed.out)["counts"]
        done = counts["inserted"] + counts["updated"] + counts["deleted"]
        assert done == outcomes[0]["imported"], shown


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
