"""A primary that steps down or is killed during a run: the run goes on by itself, and nothing acknowledged is lost."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

import brimline
from benchmarks.failover import Blow, run_under_blows
from brimline.analysis.observation import observe
from brimline.record import RunRecord
from brimline.report import render_json, run_report
from brimline.servers.lab.state import Lab
from tests.support.server import required_mongod

pytestmark = pytest.mark.mongod


@pytest.fixture
def lab(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    required_mongod()
    secured = bool(request.param)
    if secured and shutil.which("openssl") is None:
        pytest.skip("there is no openssl command here to make certificates with")
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        with brimline.lab(replica_set=3, small=True, election_timeout_ms=1000, auth=secured, tls=secured) as started:
            yield started


@pytest.mark.parametrize(
    ("lab", "blows"),
    [(False, ("step-down", "step-down")), (True, ("step-down", "kill"))],
    ids=["step-downs", "secured, with a kill"],
    indirect=["lab"],
)
def test_a_run_goes_on_when_the_primary_is_lost(lab: Lab, blows: tuple[Blow, ...], tmp_path: Path) -> None:
    record, wrong = run_under_blows(lab, blows, directory=tmp_path / "run", seed=7)
    assert wrong == []
    check_report(record)


def check_report(record: RunRecord) -> None:
    """Outages are told: as a check, with what became of operations, and where writes went."""
    assert record.summary is not None
    totals = record.summary["operations"].values()
    assert sum(each["sent"] for each in totals) == record.summary["ok"] + record.summary["failed"]
    observation = observe(record)
    (finding,) = [each for each in observation.findings if each.name == "outages"]
    assert finding.verdict == "warn"
    document = json.loads(render_json(run_report(record, observation)))
    target = record.plan.target
    assert target.kind == "wire" and target.replica_set is not None
    for outage in document["outages"]:
        assert outage["to_ns"] > outage["from_ns"]
        assert outage["primary"] in target.replica_set.members
    classes = {row["outcome"] for row in record.summary["errors"]}
    assert classes <= {"server_error", "write_concern_error", "connection_lost", "bad_reply", "server_selection"}
