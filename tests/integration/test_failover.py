"""A primary that steps down or is killed during a run: the run goes on by itself, and nothing acknowledged is missing.

By `brimline failover`, with inserts, updates, reads and transactions. Its records are looked at as those of runs, too.

The monitor goes on with the run: its rows are those of the primary of the time.
"""

import json
import math
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pymongo
import pytest

import brimline
from benchmarks.failover import strike
from brimline.analysis.followed import server_changes
from brimline.analysis.observation import observe
from brimline.analysis.server_window import ServerWindow
from brimline.record import RunRecord, read_record
from brimline.record.model import ServerRow
from brimline.report import render_json, run_report
from brimline.report.run.server_series import rate
from brimline.servers.lab.state import Lab
from brimline.units import NS_PER_MS, NS_PER_S
from tests.support.server import required_mongod

pytestmark = pytest.mark.mongod
RATE_MAX_PER_S = 20_000
"""Far more inserts than the run sends in any second, also those that waited for the end of an outage."""
SETTLED_NS = 2 * NS_PER_S
"""How long after an outage the monitor may still look for the server that the engine has found."""


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """With access control and TLS, where certificates can be made."""
    required_mongod()
    secured = shutil.which("openssl") is not None
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        with brimline.lab(replica_set=3, small=True, election_timeout_ms=1000, auth=secured, tls=secured) as started:
            yield started


@pytest.mark.slow("a run as long as an election may take, with the set whole again after it")
@pytest.mark.parametrize(
    ("fault", "ledger_per_s"),
    [("step-down", 0.0), pytest.param("kill", 100.0, marks=pytest.mark.other_client)],
    ids=["step-down", "kill, ledger"],
)
def test_a_run_goes_on_when_the_primary_is_lost(lab: Lab, fault: str, ledger_per_s: float, tmp_path: Path) -> None:
    """Without a ledger the servers' counters agree with what the run sent."""
    after_s = 8.0 if fault == "kill" else 5.0  # who was killed comes back, and catches up
    result = strike(
        lab, fault, tmp_path, rate_per_s=60, before_s=2.0, hold_s=2.0, after_s=after_s, ledger_per_s=ledger_per_s
    )
    assert result.error is None
    (trial,) = result.trials
    assert trial.figures is not None and trial.facts is not None
    assert trial.figures.gap.ended and trial.figures.gap.length_ns > 20 * NS_PER_MS
    assert trial.facts.whole_unix_ns is not None
    assert any("PRIMARY" in each.text for each in trial.facts.said)
    assert (trial.settled is not None) == (ledger_per_s > 0)
    if trial.settled is not None:
        counts = trial.settled.counts()
        assert counts["acknowledged"] > 200
        assert (counts["missing"], counts["twice"], counts["strange"]) == (0, 0, 0)
    record = read_record(result.experiment.trials[0].directory)
    check_inserts(record, lab)
    check_report(record)
    check_watching(record, deaths=int(fault == "kill"))


def check_inserts(record: RunRecord, lab: Lab) -> None:
    """The run's own inserts are taken away after it, so that what is left are the documents of its load."""
    assert record.summary is not None and record.summary["inserts"]["inserted"] > 100
    (uri,) = lab.uri_file.read_text().split()
    with pymongo.MongoClient[Any](uri) as client:
        assert client.ycsb.usertable.count_documents({}) == 1000
        assert "brimline_ledger" not in client.ycsb.list_collection_names()


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


def check_watching(record: RunRecord, *, deaths: int) -> None:
    """Rows go on at the server that the engine went on with, and nobody subtracts one server's counters from another's.

    A step-down may give the office back to the same member; then there is nothing to change to.
    """
    assert record.summary is not None
    rows = [row for row in record.server if row["server"] and not row["gap"]]
    outages = record.summary["outages"]
    for outage, next_from_ns in zip(outages, [*(each["from_ns"] for each in outages[1:]), math.inf], strict=True):
        assert outage["to_ns"] is not None
        settled_ns = outage["to_ns"] + SETTLED_NS
        watched = {row["server"] for row in rows if settled_ns < _at_ns(row) < next_from_ns}
        assert watched <= {outage["primary"]}
    assert _at_ns(rows[-1]) > record.summary["elapsed_ns"] - 3 * NS_PER_S
    changes = server_changes(record.server)
    assert len(changes) >= max(1, deaths)
    # On a busy machine a member may be the primary for so short that it has no row but the first look at it.
    assert {change.later for change in changes} <= {row["server"] for row in record.server}
    # All members run on this machine, so what a row says of the process must be its own server's.
    without = [row for row in rows if row["server_cpu_ns"] is None or row["monitor_server_cpu_ns"] is None]
    assert without == []
    charted = rate(ServerWindow(record.server), "insert")
    assert all(value is None or 0 <= value < RATE_MAX_PER_S for _, value in charted)
    assert [each for each in observe(record).findings if each.name == "followed"]


def _at_ns(row: ServerRow) -> int:
    at_ns = row["at_ns"]
    assert isinstance(at_ns, int)
    return at_ns
