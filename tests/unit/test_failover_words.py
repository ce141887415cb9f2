"""What `brimline failover` says of words that make no sense, before anything is started."""

from types import SimpleNamespace
from typing import cast

import pytest

from brimline.api.failover import _fault_plan, surroundings
from brimline.api.options import Options
from brimline.api.workload import load_workload
from brimline.api.workplace import Workplace
from brimline.experiments.failover.order import FailoverSettings
from brimline.plan import NullTarget
from brimline.units import NS_PER_S
from tests.support.command_line import CommandLine

URI = "mongodb://127.0.0.1:1"


@pytest.mark.parametrize(
    ("words", "told", "hint"),
    [
        (("--uri", URI), "does nothing to servers that are somebody's", "--fault step-down"),
        (("--fault", "step-down", "--at", "secondary"), "befalls the primary and no other", "leave --at out"),
        (("--fault", "kil"), 'there is no fault "kil"', "kill, stop, pause"),
        (("--fault", "true"), 'there is no fault "true"', "with its path: /bin/true"),
        (("--fault", "kill:9"), "takes nothing behind its name", "--fault kill"),
        (("--fault", "kill", "--undo", "ssh db1 start"), "undoes the fault kill itself", "leave --undo out"),
        (("--undo", "ssh db1 start"), "no effect without --fault", "--fault"),
        (("--slo", "p50=3s"), "must be a limit of a failover", "outage=10s"),
        (("--slo", "outage=soon"), "--slo outage", "lost=0"),
        (("--before", "1s"), "2 s of the run", "failover --help"),
        (("--after", "soon"), "--after", "--after 20s"),
        (("--repeats", "0"), "1 to 1000 times", "failover --help"),
        (("--ledger", "many"), "many", "failover --help"),
        (("--fault", "full-disk:1MB"), "no room to begin", "full-disk:2GB"),
        (("--hold", "1e9h"), "a day each at most", "--help"),
        (("--vary", "fault=kill,kil"), "must be one of kill, stop", "of a failover"),
        (("--vary", "loops=1,2"), "has no meaning for failover", "something else"),
        (("--precision", "5%"), "no effect without --vary", "factor"),
    ],
)
def test_words_without_sense_are_one_clear_error(
    brimline_cli: CommandLine, words: tuple[str, ...], told: str, hint: str
) -> None:
    ended = brimline_cli.run("failover", "ycsb-a", *words)
    assert ended.exit_code == 2
    assert told in ended.stderr and hint in ended.stderr, ended.stderr


def test_a_fault_is_of_a_failover_alone(brimline_cli: CommandLine) -> None:
    for verb in ("run", "capacity"):
        ended = brimline_cli.run(verb, "ycsb-a", "--vary", "fault=kill,stop")
        assert ended.exit_code == 2 and "there is no fault in it" in ended.stderr, ended.stderr


def test_servers_of_its_own_are_a_set_of_three_with_a_line_where_the_fault_needs_one() -> None:
    loaded = load_workload("ycsb-a")
    plain, parted = (surroundings(loaded, [fault], Options()) for fault in ("kill", "partition"))
    assert (plain.topology, plain.network, plain.disk_bytes) == ("replica-set-3", None, None)
    assert (parted.topology, parted.network) == ("replica-set-3", "all:0ms")
    asked = surroundings(loaded, ["kill", "slow-network"], Options(topology="replica-set-5", network="5ms"))
    assert (asked.topology, asked.network) == ("replica-set-5", "5ms")
    varied = surroundings(loaded, ["isolate"], Options(), varied=("topology", "network"))
    assert (varied.topology, varied.network) == (None, None)
    there = Options(uri=URI)
    assert surroundings(loaded, ["partition"], there) is there


@pytest.mark.parametrize("executor", [None, object()])
def test_several_workers_have_no_log_of_operations_and_shorter_intervals(executor: object) -> None:
    """Each worker would hold a part of a log, so that a cluster refuses one."""
    place = SimpleNamespace(
        spec=load_workload("ycsb-a").spec, target=NullTarget(), context=SimpleNamespace(executor=executor)
    )
    plan = _fault_plan(cast("Workplace", place), FailoverSettings(fault="kill", rate_ops_per_s=100.0))
    logged = executor is None
    assert (plan.operation_log, plan.interval_ns) == (logged, NS_PER_S // (4 if logged else 10))
