"""Owns what several kinds of tests share: one real server, the command line, and a clean environment."""

import gc
import os
import signal
import subprocess
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import wraps
from importlib import import_module
from pathlib import Path

import psutil
import pytest
from hypothesis import HealthCheck, settings
from pymongo.errors import ConnectionFailure

from brimline.servers import Deployment, bundled, control_client, deployment
from brimline.servers.distrust import ControlClient
from brimline.stats import quantile_interval
from brimline.stats.quantile_interval import Buckets
from tests.support import side_by_side, starved, suite
from tests.support.command_line import CommandLine
from tests.support.labs import processes_below
from tests.support.replica_set import Member, replica_set
from tests.support.secured_mongod import SecuredServer, secured_mongod
from tests.support.server import emptied, required_mongod, with_test_commands
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
    """One real mongod for all tests that leave it as they found it, or drop what they need gone.

    It has fail points, by which a test makes commands of its own take longer.
    """
    binary, directory = required_mongod(), tmp_path_factory.mktemp("mongod")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(import_module("brimline.servers.bundled"), "server_command", with_test_commands)
        server = bundled(binary=binary, directory=directory, cache_gb=0.25)
        deployment = server.__enter__()
    try:
        with _shared("mongod", "mongod", deployment.pid):
            yield deployment
    finally:
        server.__exit__(None, None, None)


@pytest.fixture(scope="session")
def _set_of_one(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Member]:
    with (
        replica_set(required_mongod(), tmp_path_factory.mktemp("set")) as (member,),
        _shared("_set_of_one", "replica set", member.process.pid),
    ):
        yield member


@pytest.fixture(scope="module")
def member(_set_of_one: Member) -> Iterator[Member]:
    """The one member of a replica set for all tests; what a file of tests left there is taken away."""
    yield _set_of_one
    with suppress(ConnectionFailure), control_client(_set_of_one.address) as client:
        emptied(client)


@pytest.fixture(scope="session")
def _with_access_control(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SecuredServer]:
    with (
        secured_mongod(required_mongod(), tmp_path_factory.mktemp("secured")) as server,
        _shared("_with_access_control", "mongod with access control", server.pid),
    ):
        yield server


@pytest.fixture(scope="module")
def secured(_with_access_control: SecuredServer) -> Iterator[SecuredServer]:
    """One mongod with access control, likewise; users and roles that a file of tests made are taken away."""
    yield _with_access_control
    with suppress(ConnectionFailure), _with_access_control.client() as client:
        emptied(client)
        _with_access_control.only_the_administrator(client)


@pytest.fixture(scope="session")
def mariadb(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SqlServer]:
    """One MariaDB for all tests; each has databases of its own."""
    directory = tmp_path_factory.mktemp("mariadb")
    with shared_server("mariadb", directory) as server, _shared("mariadb", "MariaDB", server.pid):
        yield server


@pytest.fixture(scope="session")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SqlServer]:
    """One PostgreSQL, likewise."""
    directory = tmp_path_factory.mktemp("postgres")
    with shared_server("postgres", directory) as server, _shared("postgres", "PostgreSQL", server.pid):
        yield server


@pytest.fixture(params=SYSTEMS)
def sql_server(request: pytest.FixtureRequest) -> SqlServer:
    """Each of them."""
    server: SqlServer = request.getfixturevalue(request.param)
    return server


_SHARED: dict[str, tuple[str, psutil.Process]] = {}
"""The servers that tests share, once a test has asked for them: by fixture, what each is."""


@contextmanager
def _shared(fixture: str, what: str, pid: int | None) -> Iterator[None]:
    if pid is not None:  # None: a server that isn't ours
        _SHARED[fixture] = what, psutil.Process(pid)
    try:
        yield
    finally:
        _SHARED.pop(fixture, None)


@pytest.fixture(autouse=True)
def _the_shared_servers_live(request: pytest.FixtureRequest) -> Iterator[None]:
    """Names the cause where a server of the tests is gone, not a refused connection in each test that follows."""
    _check_shared(request, "before")
    yield
    _check_shared(request, "after")


def _check_shared(request: pytest.FixtureRequest, when: str) -> None:
    for fixture in _SHARED.keys() & set(request.fixturenames):
        what, process = _SHARED[fixture]
        if not process.is_running() or process.status() == psutil.STATUS_ZOMBIE:
            pytest.fail(f"the {what} that tests share (process {process.pid}) was gone {when} this test")


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
