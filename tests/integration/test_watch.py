"""`brimline watch` beside a server on another host: what of that host's was full is named, and its absence is said.

The other host is a network of its own on this machine.
"""

import os
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from subprocess import Popen
from typing import Any

import pytest

import brimline
from brimline.analysis.bottleneck import Bottleneck, BottleneckKind, Evidence, Fullness, bottleneck
from brimline.analysis.finding import Standing
from brimline.analysis.observation import observe
from brimline.execution import DataPolicy, Silence, Tick
from tests.support.command_line import CommandLine
from tests.support.cpu_quota import cpu_quota
from tests.support.other_host import WATCH_PORT, OtherHost, busy_disk
from tests.support.waiting import eventually

pytestmark = [pytest.mark.mongod, pytest.mark.alone]

TOKEN = "of-the-other-host"
RECORDS = 1000
TRIES = 3


@pytest.fixture(scope="module")
def directory() -> Iterator[Path]:
    """On a disk, and not in memory."""
    with tempfile.TemporaryDirectory(dir="/var/tmp") as directory:
        yield Path(directory)


@pytest.fixture(scope="module")
def host() -> Iterator[OtherHost]:
    with OtherHost.joined() as host:
        yield host


@pytest.fixture(scope="module")
def server(host: OtherHost, directory: Path) -> Popen[bytes]:
    return host.start_mongod(directory / "db")


@pytest.fixture(scope="module")
def watch(host: OtherHost, server: Popen[bytes]) -> Popen[bytes]:
    return host.start_watch(token=TOKEN)


Run = Callable[..., brimline.RunResult]


@pytest.fixture
def run(host: OtherHost, watch: Popen[bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.setenv("BRIMLINE_WATCH_TOKEN", TOKEN)

    def run(
        *, watched: bool = True, at: int = WATCH_PORT, progress: Any = None, **overrides: Any
    ) -> brimline.RunResult:
        chosen = {"data.records": RECORDS, "warmup": "300ms", "duration": "2s", "interval": "250ms"}
        options = brimline.Options(
            uri=host.uri,
            data=DataPolicy.LOAD,
            runs_dir=tmp_path,
            progress=progress or Silence(),
            host_metrics=f"{host.address}:{at}" if watched else None,
        )
        return brimline.run("ycsb-c", overrides={**chosen, **overrides}, options=options)

    return run


def named(run: Callable[[], brimline.RunResult], kind: BottleneckKind) -> Bottleneck:
    """Other programs of this machine may fill it: then it is enough that what was provoked was seen to be full."""
    for _ in range(TRIES):
        found = bottleneck(run().observation)
        if found.kind is kind or (found.kind is BottleneckKind.HOST and seen(found, kind).full):
            return found
    assert found.kind is BottleneckKind.HOST, (found.kind, found.evidence)
    pytest.skip(f"other programs filled the machine in {TRIES} of {TRIES} runs: {found.text}")


def seen(found: Bottleneck, kind: BottleneckKind) -> Evidence:
    (evidence,) = [each for each in found.candidates if each.kind is kind]
    return evidence


@pytest.mark.long
@pytest.mark.slow("runs with and without the host's figures")
def test_a_server_elsewhere_with_part_of_a_cpu(server: Popen[bytes], run: Run) -> None:
    """Its quick twins are the busy disk below, and `test_a_server_with_part_of_a_cpu` of `test_bottlenecks.py`."""
    with cpu_quota(server.pid, cpus=0.3) as limited:
        if not limited:
            pytest.skip("no control group can be made here")
        found = named(lambda: run(connections=16), BottleneckKind.SERVER_CPU)
        unseen = bottleneck(run(connections=16, watched=False).observation)
    assert "of 0.3 CPUs" in seen(found, BottleneckKind.SERVER_CPU).text
    assert unseen.kind is not BottleneckKind.SERVER_CPU


@pytest.mark.slow("runs with and without the host's figures")
def test_a_server_elsewhere_whose_disk_is_busy(directory: Path, run: Run) -> None:
    with busy_disk(directory):
        first = [run(connections=1)]
        if (first[0].record.server_facts["monitor"]["host"]).get("disk") is None:
            pytest.skip("the disk below /var/tmp can't be told")
        found = named(lambda: first.pop() if first else run(connections=1), BottleneckKind.DISK)
        unseen = bottleneck(run(connections=1, watched=False).observation)
    assert seen(found, BottleneckKind.DISK).standing is Fullness.FULL
    assert seen(unseen, BottleneckKind.DISK).standing is Fullness.UNKNOWN


def test_the_hosts_figures_are_those_that_are_read_here_as_well(run: Run, server: Popen[bytes]) -> None:
    """One kernel: what comes over the network is what /proc says here, and it is known that the host is shared."""
    ticks = os.sysconf("SC_CLK_TCK")
    before_ticks = _cpu_ticks(server.pid)
    record = run(connections=4).record
    used_ns = (_cpu_ticks(server.pid) - before_ticks) * 1_000_000_000 // ticks
    rows = [row for row in record.server if row["host_busy_ns"] is not None]
    assert len(rows) >= 2 and {row["shared_host"] for row in rows} == {1}
    grown_ns = int(rows[-1]["server_cpu_ns"] or 0) - int(rows[0]["server_cpu_ns"] or 0)
    assert 0 < grown_ns <= used_ns
    host = record.server_facts["monitor"]["host"]
    assert host["source"] == "watch" and host["gaps"] == [] and host["clock_error_ns"] < 100_000_000
    (finding,) = [each for each in observe(record).findings if each.name == "host_watched"]
    assert finding.verdict is Standing.PASS
    absent = {name for each in record.server_facts["monitor"]["absent"] for name in each["metrics"]}
    assert not absent & {"host_busy_ns", "server_cpu_ns", "host_network_bytes_in"}


def _cpu_ticks(pid: int) -> int:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])


class Killing(Silence):
    """Ends a program as soon as the run has sent something for a moment."""

    def __init__(self, process: Popen[bytes]) -> None:
        self._process = process

    def tick(self, tick: Tick) -> None:
        if tick.stage == "running" and tick.elapsed_s > 1.2 and self._process.poll() is None:
            self._process.send_signal(signal.SIGKILL)
            self._process.wait()


@pytest.mark.slow("a watch of its own is started, and a run goes on without it")
def test_a_watch_that_dies_during_the_run_leaves_a_silence_that_is_told(run: Run, host: OtherHost) -> None:
    """The run goes on, and nothing is said of the host from then on."""
    port = WATCH_PORT + 1
    another = host.start_watch(token=TOKEN, port=port)
    record = run(connections=1, at=port, progress=Killing(another)).record
    assert record.complete and another.poll() is not None
    known = [row["host_busy_ns"] is not None for row in record.server]
    assert any(known) and not any(known[-2:])
    (finding,) = [each for each in observe(record).findings if each.name == "host_watched"]
    assert finding.verdict is Standing.UNKNOWN
    assert f"at {host.address}:{port} told nothing for" in finding.evidence
    reasons = ("the connection broke", "connection reset by peer", "connection refused")
    assert any(reason in finding.evidence for reason in reasons), finding.evidence


def test_words_on_the_command_line(host: OtherHost, watch: Popen[bytes], brimline_cli: CommandLine) -> None:
    words = ("run", "ycsb-c", "--uri", host.uri, "--records", "1000", "--host-metrics")
    wrong = brimline_cli.run(*words, f"{host.address}:{WATCH_PORT}", environment={"BRIMLINE_WATCH_TOKEN": "wrong"})
    wrong.check_error(5, "does not accept the token", "BRIMLINE_WATCH_TOKEN")
    nobody = brimline_cli.run(*words, f"{host.address}:1")
    nobody.check_error(5, "connection refused", "brimline watch")
    other = brimline_cli.run(*words, f"{host.address}:27017")
    other.check_error(5, "host watcher", "brimline watch")
    file = brimline_cli.run(*words, "no-such-file")
    file.check_error(2, "no-such-file can't be read")


SERVICE = """
name: pages
protocol: http
operations:
  page: {get: /}
connections: 2
duration: 2s
warmup: 250ms
interval: 250ms
"""


@pytest.mark.slow("a service is started on the other host")
def test_a_service_elsewhere_has_a_host_though_it_says_nothing_of_itself(
    host: OtherHost, watch: Popen[bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BRIMLINE_WATCH_TOKEN", TOKEN)
    host.start(sys.executable, "-m", "http.server", "8080", "--bind", host.address, "--directory", tmp_path)
    assert eventually(lambda: host.answers(8080)), "the service did not start"
    (tmp_path / "pages.yaml").write_text(SERVICE)
    options = brimline.Options(
        uri=f"http://{host.address}:8080", host_metrics=f"{host.address}:{WATCH_PORT}", runs_dir=tmp_path / "runs"
    )
    record = brimline.run(tmp_path / "pages.yaml", options=options).record
    grown = [int(row["server_cpu_ns"] or 0) for row in record.server if not row["gap"]]
    assert len(grown) >= 3 and grown == sorted(grown) and grown[-1] > grown[0]
    limit = bottleneck(observe(record))
    assert seen(limit, BottleneckKind.SERVER_CPU).standing is not Fullness.UNKNOWN
