"""A server that takes fewer connections than a sweep or a search would have: what it does with fewer is the answer."""

import time
from dataclasses import replace
from pathlib import Path

import pytest

from brimline import Options
from brimline.api.capacity import capacity
from brimline.errors import TargetError
from brimline.experiments.settings import SweepSettings, quick
from brimline.experiments.trial import fewer_connections
from brimline.monitor.opcounters import read_opcounters
from brimline.report.view import Report, Table
from brimline.servers import Deployment
from brimline.servers.deployment import CONNECT_TIMEOUT_S, control_client
from brimline.servers.distrust import TURNED_AWAY
from tests.support.command_line import CommandLine
from tests.support.lies import Lie, Sending
from tests.support.lying_server import lying_server
from tests.support.objectives import p99_within
from tests.support.own_mongod import OwnMongod

pytestmark = pytest.mark.mongod

SPEC = "data: {records: 100}\noperations: {read: 1}\nconnect_timeout: 1s\n"
SLOW_MS = 20
"""Of each read, so that more connections always answer more."""


@pytest.mark.long
@pytest.mark.slow("a sweep, another look at its last level, and a search, on one server")
def test_a_level_without_all_its_connections_is_no_end(brimline_cli: CommandLine, tmp_path: Path) -> None:
    """Quick twins, of the state machines: `test_a_level_without_all_its_connections_ends_a_sweep_…` and
    `test_a_search_goes_on_with_fewer_connections_where_some_could_not_be_had`.

    Beside other tests the server frees its connections late, and has none left for who asks for its counts.
    """
    spec = brimline_cli.directory / "few.yaml"
    spec.write_text(SPEC)
    with OwnMongod.running(tmp_path / "db", more=("--maxConns", "24")) as server, server.slow("find", each_ms=SLOW_MS):
        at = ("--uri", server.uri, "--data", "load", "--json")
        swept = brimline_cli.run("sweep", spec, *at, "--connections-max", "32", "--duration", "200ms", "--warmup", "0s")
        (directory,) = brimline_cli.record_directories(kind="sweep-")
        again = brimline_cli.run("sweep", "--resume", directory, *at)
        crossed = brimline_cli.run(
            *("sweep", spec, *at, "--vary", "connections=2,32", "--vary", "records=100,30k"),
            *("--repeats", "1", "--duration", "200ms", "--warmup", "0s"),
        )
        searched = capacity(
            spec,
            settings=replace(
                quick(p99_within(1_000_000_000)),
                sweep=SweepSettings(connections_max=8, warmup_s=0.0, duration_s=0.2),
                calibrate_s=0.1,
                warmup_s=0.0,
                window_s=0.3,
                window_factor_max=1.0,
                connections_min=32,
                budget_s=2.0,
                budget_elapses=False,
            ),
            options=Options(uri=server.uri, data="load", runs_dir=tmp_path),
        )
    for outcome in (swept, again):
        assert outcome.exit_code == 4
        document = outcome.json()
        assert document["sweep_ended_by"] == "connections_not_had"
        assert [level["connections"] for level in document["levels"]] == [1, 2, 4, 8, 16]
        last = document["probes"][-1]
        assert (last["result"], last["connections"]) == ("could_not_be_had", 32)
        assert "of 32 connections" in document["text"] and "of 32 connections" in last["reasons"][0]
        assert "goes on with it" not in document["hint"] and "--resume" in document["hint"]
    assert len(list((directory / "dropped").iterdir())) == 1, "the level is tried once more"

    assert crossed.exit_code == 4 and "could not be had" in crossed.json()["error"]
    design = crossed.json()
    lacking, measured = ({tuple(each["levels"].values()) for each in design[name]} for name in ("cells", "probes"))
    assert lacking == {("32", "100"), ("32", "30k")} and measured == {("2", "100"), ("2", "30k")}

    fewer_each = [load["fewer_connections"] for load in design["load_runs"]]
    assert fewer_each and all(fewer is not None and 1 < fewer < 24 for fewer in fewer_each)
    assert design["load_differences"] == [], "who had fewer is compared with nobody"

    searches = [trial for trial in searched.trials if trial.probe.stage in ("search", "verify")]
    assert searches[0].failed and searches[0].probe.connections == 32
    fewer = fewer_connections(searches[0].connections_up or 0)
    assert 8 < fewer < 24
    assert searches[1:] and {trial.probe.connections for trial in searches[1:]} == {fewer}
    assert not any(trial.failed for trial in searches[1:])
    assert searched.conclusion.kind.exit_code != 5
    facts = {fact.label: fact.value for fact in searched.report.verdict.facts}
    assert f"of 32 connections; no probe after it asked for more than {fewer} connections" in facts["Not tried"]
    assert "could not be had" in _results(searched.report)


def test_a_server_that_has_no_connection_left_is_asked_again(mongod: Deployment) -> None:
    """It closes each further one at once, until the run before has given its own back."""
    TURNED_AWAY.take_s()
    with lying_server(mongod.address, _full(for_s=0.5)) as address, control_client(address) as client:
        assert read_opcounters(client) is not None
    assert 0.3 < TURNED_AWAY.take_s() < CONNECT_TIMEOUT_S
    with (
        lying_server(mongod.address, _full(for_s=60)) as address,
        control_client(address, connect_timeout_s=1.0) as client,
        pytest.raises(TargetError, match="closes each further connection") as caught,
    ):
        read_opcounters(client)
    assert "limit of connections" in str(caught.value.hint)
    assert 0.5 < TURNED_AWAY.take_s() < CONNECT_TIMEOUT_S, "no wait without end"


def _full(*, for_s: float) -> Lie:
    """Has room for the connection that looks whether it is there, and for no other before that time is over."""
    until_s: list[float] = []

    def spoil(_random: object, _request: bytes, reply: bytes) -> Sending:
        until_s.append(time.monotonic() + for_s)
        return Sending(reply) if time.monotonic() >= until_s[0] else Sending(b"", then="close")

    return Lie("full", spoil, command="hello", first=1, always=True)


def _results(report: Report) -> list[str]:
    """The column of the table of probes that says how each ended."""
    (table,) = (
        block for each in report.sections if each.id == "probes" for block in each.blocks if isinstance(block, Table)
    )
    at = [column.label for column in table.columns].index("Result")
    return [row[at].text for row in table.rows]
