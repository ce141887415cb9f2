"""Owns what several kinds of tests share: one real server, the command line, and a clean environment."""

import gc
import os
import signal
import subprocess
from collections.abc import Generator, Iterator, Sequence
from functools import wraps
from pathlib import Path

import psutil
import pytest
from hypothesis import HealthCheck, settings

from brimline.servers import Deployment, bundled, deployment
from brimline.servers.distrust import ControlClient
from brimline.stats import quantile_interval
from brimline.stats.quantile_interval import Buckets
from tests.support import side_by_side, starved, suite
from tests.support.command_line import CommandLine
from tests.support.labs import processes_below
from tests.support.server import required_mongod
from tests.support.sql_servers import SYSTEMS, SqlServer, shared_server
from tests.support.suite import pytest_runtest_call, pytest_runtest_makereport  # noqa: F401 (hooks)
from tests.support.sweeper import swept

# A busy machine may take its time over any example, and to draw one: a worker that computes steps back for all others.
settings.register_profile("tests", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("tests")


def pytest_configure(config: pytest.Config) -> None:
    # Below `nohup` every command would be told to outlive its terminal, as brimline does then.
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    suite.keep_files_in_memory(config)
    suite.register(config)
    # A twenty-fifth of all that the tests compute was to look for circles after every 700 objects.
    gc.set_threshold(50_000, 20, 20)
    config.pluginmanager.register(starved)
    config.pluginmanager.register(side_by_side)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Half a million objects that stay: to look them through for garbage is a quarter of what their making takes."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.fixture(scope="session", autouse=True)
def _no_settings_of_whoever_runs_the_tests() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.startswith("BRIMLINE_")]:
            patch.delenv(name)
        yield


@pytest.fixture(scope="session", autouse=True)
def _the_same_batches_are_resampled_once() -> Iterator[None]:
    """Reports of a few records are written some thousand times: an eighth of their tests' time was to resample them."""
    resample, known = quantile_interval._batch_bounds, dict[int, tuple[list[int], list[int]]]()

    @wraps(resample)
    def once(
        batches: Sequence[Buckets], beside: Buckets, quantiles: Sequence[float], *, seed: int
    ) -> tuple[list[int], list[int]]:
        key = hash((*map(tuple, batches), None, *beside, *quantiles, seed))
        if key not in known:
            known[key] = resample(batches, beside, quantiles, seed=seed)
        return known[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(quantile_interval, "_batch_bounds", once)
        yield


@pytest.fixture(scope="session", autouse=True)
def _nothing_is_left_running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Whatever became of the tests: no process that was started on their files outlives them."""
    directory = tmp_path_factory.getbasetemp()
    with swept(directory):
        yield
        left = processes_below(directory)
        for process in left:
            process.kill()
        for each in gc.get_objects():
            if type(each) is subprocess.Popen:
                each.poll()  # servers of labs outlive who started them: Python would warn of each
    assert not left, f"left running: {left}"


@pytest.fixture(scope="session")
def mongod(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployment]:
    """One real mongod for all tests that leave it as they found it, or drop what they need gone."""
    binary = required_mongod()
    with bundled(binary=binary, directory=tmp_path_factory.mktemp("mongod"), cache_gb=0.25) as deployment:
        _shared.append(deployment)
        yield deployment
        _shared.clear()


@pytest.fixture(scope="session")
def mariadb(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SqlServer]:
    """One MariaDB for all tests; each has databases of its own."""
    with shared_server("mariadb", tmp_path_factory.mktemp("mariadb")) as server:
        yield server


@pytest.fixture(scope="session")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SqlServer]:
    """One PostgreSQL, likewise."""
    with shared_server("postgres", tmp_path_factory.mktemp("postgres")) as server:
        yield server


@pytest.fixture(params=SYSTEMS)
def sql_server(request: pytest.FixtureRequest) -> SqlServer:
    """Each of them."""
    server: SqlServer = request.getfixturevalue(request.param)
    return server


_shared: list[Deployment] = []
"""The server of `mongod`, once a test has asked for it."""


@pytest.fixture(autouse=True)
def _the_shared_server_lives(request: pytest.FixtureRequest) -> Iterator[None]:
    """Names the cause where the tests' own server is gone, not a refused connection in each test that follows."""
    if "mongod" not in request.fixturenames:
        yield
        return
    _check_shared("before")
    yield
    _check_shared("after")


def _check_shared(when: str) -> None:
    for each in _shared:
        if each.pid is not None and not psutil.pid_exists(each.pid):
            pytest.fail(f"the mongod that tests share (process {each.pid}, {each.address}) was gone {when} this test")


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Control connections wait a tenth of a second for a server, in tests that have none."""
    waits = {"serverSelectionTimeoutMS": 100, "connectTimeoutMS": 100}
    monkeypatch.setattr(deployment, "ControlClient", lambda uri, **options: ControlClient(uri, **{**options, **waits}))


@pytest.fixture
def brimline_cli(tmp_path: Path) -> Iterator[CommandLine]:
    """The command line in a directory and a cache of its own; what it leaves running is ended."""
    with CommandLine.below(tmp_path) as command_line:
        yield command_line
