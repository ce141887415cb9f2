"""Where an experiment that is gone on with finds its server: the stored address, unless it held a secret."""

from pathlib import Path
from typing import Any

import pytest

from brimline.api.resume import resumption
from brimline.api.vary import keep_or_remove
from brimline.errors import UsageError
from brimline.record import ExperimentWriter

SPEC = "name: orders\ndata: {records: 1000}\noperations: {read: 1.0}\n"
ELSEWHERE = "mongodb://db1.example:27017/?replicaSet=rs0"


def _address(directory: Path, environment: dict[str, Any], spec: str = SPEC) -> str | None:
    made = {"kind": "capacity", "name": "orders", "settings": {}, "plan_hash": "00000000"}
    with ExperimentWriter(directory, spec_text=spec, environment=environment, **made) as writer:
        writer.seal(ended_by="interrupt")
    uri = resumption(directory, kinds=("capacity",)).loaded.spec.target.uri
    return None if uri is None else uri.get_secret_value()


def test_the_server_that_was_given_is_found_again(tmp_path: Path) -> None:
    environment = {"uri": ELSEWHERE, "server": {"started_by_brimline": False}}
    assert _address(tmp_path / "a", environment) == ELSEWHERE
    own = f"{SPEC}target: {{uri: 'mongodb://db2.example:27017'}}\n"
    assert _address(tmp_path / "b", environment, own) == "mongodb://db2.example:27017"


@pytest.mark.parametrize(
    "environment",
    [
        {"uri": "mongodb://***@db1.example:27017/", "server": {"started_by_brimline": False}},
        {"uri": "mongodb://127.0.0.1:40123", "server": {"started_by_brimline": True}},
        {"uri": ELSEWHERE},
        {},
    ],
    ids=["a secret was left out", "brimline's own", "unknown whose", "nothing stored"],
)
def test_what_is_not_known_whole_is_not_guessed(tmp_path: Path, environment: dict[str, Any]) -> None:
    assert _address(tmp_path / "experiment", environment) is None


@pytest.mark.parametrize("begun", [False, True])
def test_a_design_that_can_not_go_on_is_not_taken_away(tmp_path: Path, begun: bool) -> None:
    """One that failed before its first run leaves nothing behind, but what was begun before stays."""
    made = {"kind": "vary", "name": "orders", "settings": {}, "plan_hash": "00000000"}
    with ExperimentWriter(tmp_path / "design", spec_text=SPEC, environment={}, **made) as writer:  # type: ignore[arg-type]
        writer.seal(ended_by="error")
    keep_or_remove(tmp_path / "design", UsageError("the collection is empty"), begun=begun)
    assert (tmp_path / "design").exists() is begun
