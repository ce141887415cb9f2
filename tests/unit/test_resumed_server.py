"""Where an experiment that is gone on with finds its server: the stored address, unless it held a secret."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from brimline.api.import_data import open_import, resume_import
from brimline.api.options import URI_VARIABLE, Options
from brimline.api.resume import Resumption, as_begun, on_its_server, require_same_server, resumption, way_on
from brimline.api.vary import is_design, keep_or_remove
from brimline.errors import AnotherServer, RecordError, UsageError
from brimline.execution.import_inputs import find_inputs
from brimline.record import ExperimentWriter, create_run_directory
from brimline.record.data_import import KIND, ImportState, ImportWriter
from brimline.record.layout import ENVIRONMENT_FILE, EXPERIMENT_FILE
from brimline.spec.import_settings import ImportSettings

SPEC = "name: orders\ndata: {records: 1000}\noperations: {read: 1.0}\n"
ELSEWHERE = "mongodb://db1.example:27017/?replicaSet=rs0"


def _resumed(directory: Path, kind: str = "capacity") -> Resumption:
    return resumption(directory, kinds=(kind,))


def _written(
    directory: Path, environment: dict[str, Any], spec: str = SPEC, *, kind: str = "capacity", **settings: Any
) -> Resumption:
    """An experiment that was interrupted; a design knows its server by its first trial alone."""
    made: dict[str, Any] = {"kind": kind, "name": "orders", "settings": settings, "plan_hash": "00000000"}
    of_design = kind == "vary"
    with ExperimentWriter(directory, spec_text=spec, environment={} if of_design else environment, **made) as writer:
        if of_design:
            trial = writer.begin_trial({}, stage="run", label="1")
            (trial / ENVIRONMENT_FILE).write_text(json.dumps(environment))
        writer.seal(ended_by="interrupt")
    return _resumed(directory, kind)


@pytest.fixture(autouse=True)
def _no_address_beside(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(URI_VARIABLE, raising=False)


KINDS = ("ab", "capacity", "failover", "frontier", "growth", "interfere", "scan", "soak", "sweep", "vary")


@pytest.mark.parametrize("kind", KINDS)
def test_the_server_that_was_given_is_found_again(tmp_path: Path, kind: str) -> None:
    found = _written(tmp_path / "a", {"uri": ELSEWHERE, "server": {"started_by_brimline": False}}, kind=kind)
    assert on_its_server(found, Options()).uri == ELSEWHERE
    assert on_its_server(found, Options(uri="mongodb://there:1")).uri == "mongodb://there:1"
    own = f"{SPEC}target: {{uri: 'mongodb://db2.example:27017'}}\n"
    found = _written(tmp_path / "b", {"uri": ELSEWHERE, "server": {"started_by_brimline": False}}, own, kind=kind)
    assert on_its_server(found, Options()).uri is None, "the workload names it"


@pytest.mark.parametrize("kind", KINDS)
def test_what_was_said_of_data_and_workers_is_kept_unless_it_is_said_anew(tmp_path: Path, kind: str) -> None:
    workers = {"count": 4, "hosts": ["vm"] * 4, "where": "local:2", "per_node": 2}
    found = _written(tmp_path / "a", {"data": "as-is", "workers": workers}, kind=kind)
    kept = as_begun(found, Options())
    assert (kept.data, kept.workers, kept.workers_per_node) == ("as-is", "local:2", 2)
    anew = as_begun(found, Options(data="load", workers="local:1"))
    assert (anew.data, anew.workers, anew.workers_per_node) == ("load", "local:1", 1)
    of_one_client = as_begun(_written(tmp_path / "b", {}, kind=kind), Options())
    assert (of_one_client.data, of_one_client.workers) == (None, None)


@pytest.mark.parametrize("kind", KINDS)
def test_what_was_stored_without_its_secrets_has_to_be_given(
    tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No server is started for it, and what is to be given is said; given by the variable it is enough."""
    stored = {"uri": "mongodb://***@db1:27017/?replicaSet=rs0", "server": {"started_by_brimline": False}}
    found = _written(tmp_path / "x", stored, kind=kind)
    with pytest.raises(UsageError, match="a record holds no user and no password") as refused:
        on_its_server(found, Options())
    again = f"--resume {tmp_path / 'x'} --uri ADDRESS"
    assert f'--resume {tmp_path / "x"} --uri "$URI" goes on' in way_on("sweep", tmp_path / "x")
    assert "measured on mongodb://***@db1:27017/?replicaSet=rs0" in refused.value.message
    assert again in str(refused.value.hint)
    assert on_its_server(found, Options(uri="mongodb://u:p@db1:27017")).uri == "mongodb://u:p@db1:27017"
    assert on_its_server(found, Options(null=True)).uri is None
    monkeypatch.setenv(URI_VARIABLE, "mongodb://u:p@db1:27017")
    assert on_its_server(found, Options()).uri is None


@pytest.mark.parametrize("kind", ["capacity", "vary"])
@pytest.mark.parametrize(
    "environment",
    [{"uri": "mongodb://127.0.0.1:40123", "server": {"started_by_brimline": True}}, {"uri": ELSEWHERE}, {}],
    ids=["brimline's own", "unknown whose", "nothing stored"],
)
def test_what_is_not_known_whole_is_not_guessed(tmp_path: Path, environment: dict[str, Any], kind: str) -> None:
    assert on_its_server(_written(tmp_path / "experiment", environment, kind=kind), Options()).uri is None


def test_a_design_over_servers_names_them_itself(tmp_path: Path) -> None:
    stored = {"uri": ELSEWHERE, "server": {"started_by_brimline": False}}
    factors = [{"name": "server", "levels": [ELSEWHERE, "mongodb://db2:1"]}]
    assert on_its_server(_written(tmp_path / "x", stored, kind="vary", factors=factors), Options()).uri is None


@pytest.mark.parametrize("begun", [False, True])
def test_a_design_that_can_not_go_on_is_not_taken_away(tmp_path: Path, begun: bool) -> None:
    """One that failed before its first run leaves nothing behind, but what was begun before stays."""
    made = {"kind": "vary", "name": "orders", "settings": {}, "plan_hash": "00000000"}
    with ExperimentWriter(tmp_path / "design", spec_text=SPEC, environment={}, **made) as writer:  # type: ignore[arg-type]
        writer.seal(ended_by="error")
    keep_or_remove(tmp_path / "design", UsageError("the collection is empty"), begun=begun)
    assert (tmp_path / "design").exists() is begun


def test_a_set_with_another_primary_is_no_other_server_and_says_who_must_be_primary() -> None:
    def of(me: str, *, name: str = "rs0", started: bool = False) -> dict[str, Any]:
        hello = {"setName": name, "me": me, "hosts": ["db1:27017", "db2:27017"]}
        return {"server": {"hello": hello, "started_by_brimline": started}}

    require_same_server(Path("runs/x"), of("db1:27017"), of("db1:27017"))
    require_same_server(Path("runs/x"), of("db1:27017", started=True), of("db2:27017", started=True))
    with pytest.raises(AnotherServer, match="the primary of rs0 is db2:27017 now, and was db1:27017") as refused:
        require_same_server(Path("runs/x"), of("db1:27017"), of("db2:27017"))
    assert "make db1:27017 primary again" in str(refused.value.hint)
    for other in (of("db3:27017"), of("db2:27017", name="rs1")):
        with pytest.raises(AnotherServer, match="this is not the server"):
            require_same_server(Path("runs/x"), other, of("db2:27017"))


def _import_of(runs: Path, environment: dict[str, Any]) -> Path:
    """The record of an import that was interrupted before its first row."""
    rows = runs / "rows.csv"
    rows.write_text("a\n1\n")
    state = ImportState(
        name="test.rows",
        namespace="test.rows",
        settings=ImportSettings(type="csv", headerline=True).to_document(),
        inputs=find_inputs([str(rows)], gzip=False, collection="rows"),
        object_ids={"unix_s": 1, "number": 2},
        count_before=0,
        drop=False,
        is_prepared=False,
    )
    directory = create_run_directory(runs / "runs", name=state.name, plan_hash="00000000", kind=KIND)
    with ImportWriter(directory, state, environment) as writer:
        ended = replace(state, ended_by="interrupt", ending={"kind": "stopped"}, message="stopped")
        writer.save(ended, sealed=True)
    return directory


@pytest.mark.parametrize("uri", [None, ELSEWHERE], ids=["the one of the record", "another"])
def test_an_import_whose_server_is_gone_is_not_gone_on_with(tmp_path: Path, uri: str | None) -> None:
    own = {"uri": "mongodb://127.0.0.1:40123", "server": {"started_by_brimline": True}}
    with pytest.raises(UsageError, match="its server was brimline's own") as refused:
        resume_import(_import_of(tmp_path, own), options=Options(uri=uri))
    assert "import anew" in str(refused.value.hint)


def test_what_leads_on_from_an_import_is_what_can_be_done(tmp_path: Path) -> None:
    for is_own, word in ((True, "import anew"), (False, "--resume")):
        runs = tmp_path / str(is_own)
        runs.mkdir()
        directory = _import_of(runs, {"uri": ELSEWHERE, "server": {"started_by_brimline": is_own}})
        error = open_import(directory).error
        assert error is not None and word in str(error.hint)


@pytest.mark.parametrize(("stored", "name"), [(SPEC, "orders"), (SPEC.partition("\n")[2], "of the file")])
def test_a_stored_workload_without_a_name_has_that_of_its_experiment(tmp_path: Path, stored: str, name: str) -> None:
    """An older brimline stored a file as it was, whose name was that of the file."""
    made: dict[str, Any] = {"kind": "capacity", "name": "of the file", "settings": {}, "plan_hash": "00000000"}
    with ExperimentWriter(tmp_path / "experiment", spec_text=stored, environment={}, **made) as writer:
        writer.seal(ended_by="interrupt")
    assert resumption(tmp_path / "experiment", kinds=("capacity",)).loaded.spec.name == name


def test_another_version_goes_on_with_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is sent and how it is judged may differ, though the plan is the same."""
    _written(tmp_path / "experiment", {})
    monkeypatch.setattr("brimline.api.resume.brimline_version", lambda: "9.9.9")
    with pytest.raises(UsageError, match=r"brimline 0\.\S+ measured .*experiment, and this is 9\.9\.9") as refused:
        resumption(tmp_path / "experiment", kinds=("capacity",))
    assert "begin anew" in refused.value.hint


@pytest.mark.parametrize("settings", [None, [1], "x"])
def test_settings_that_are_none_are_damage(tmp_path: Path, settings: object) -> None:
    (tmp_path / EXPERIMENT_FILE).write_text(json.dumps({"format_version": 1, "kind": "vary", "settings": settings}))
    with pytest.raises(RecordError, match="is damaged"):
        is_design(tmp_path, "run")
