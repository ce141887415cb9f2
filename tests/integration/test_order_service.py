"""The order service of the examples, on each database: it answers, its ids are unique, and it goes with its lab."""

import json
import shutil
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from http.client import HTTPConnection
from itertools import pairwise
from pathlib import Path
from typing import Any, Self

import psutil
import pytest

from brimline.servers.lab.spec import System
from tests.support.command_line import CommandLine
from tests.support.labs import left_behind, processes_below
from tests.support.repetitions import repetitions
from tests.support.shop_lab import require_order_service
from tests.support.waiting import eventually

pytestmark = pytest.mark.slow("a database and a service of several processes come up")
SERVICE = Path(__file__).parents[2] / "examples" / "order-service"
_ORDER = {"customer": "customer-1", "items": [{"sku": "sku-1", "n": 2, "price_cents": 995}], "note": "soon"}
_BRIEFLY = ("--connections", "8", "--warmup", "0s", "--json", "-q")
_WORKER_BITS, _SEQUENCE_BITS = 10, 12


@pytest.fixture(params=["mongodb", "postgres", *repetitions("mariadb")])
def system(request: pytest.FixtureRequest) -> System:
    require_order_service(request.param)
    found: System = request.param
    return found


@pytest.fixture
def cache(cli: CommandLine) -> Path:
    return cli.directory / "cache"


def _up(cli: CommandLine, system: System, *words: str) -> dict[str, Any]:
    outcome = cli.run("lab", "up", "shop", "--order-service", system, "--small", *words, "--json")
    assert outcome.exit_code == 0, outcome.stderr
    return dict(outcome.json())


def _connection(uri: str) -> HTTPConnection:
    return HTTPConnection(uri.removeprefix("http://"), timeout=30)


def _asked(connection: HTTPConnection, method: str, path: str, body: Any = None) -> tuple[int, Any]:
    headers = {} if body is None else {"content-type": "application/json"}
    connection.request(method, path, None if body is None else json.dumps(body), headers)
    reply = connection.getresponse()
    return reply.status, json.loads(reply.read())


def _made(uri: str, count: int) -> list[tuple[int, Any]]:
    connection = _connection(uri)
    try:
        return [_asked(connection, "POST", "/orders", _ORDER) for _ in range(count)]
    finally:
        connection.close()


def test_orders_are_made_and_read_and_their_ids_are_unique_over_workers(
    cli: CommandLine, cache: Path, tmp_path: Path, system: System
) -> None:
    outcome = cli.run("lab", "up", "shop", "--order-service", system, "--small", "--workers", "2")
    assert outcome.exit_code == 0, outcome.stderr
    uri = outcome.stdout.splitlines()[-1]
    assert uri.startswith("http://127.0.0.1:")
    assert cli.run("lab", "uri", "shop").stdout == f"{uri}\n"
    document = cli.run("lab", "status", "shop", "--json").json()
    assert (document["workers"], document["id_generator"], document["servers_up"]) == (2, "snowflake", 2)
    connection = _connection(uri)
    status, answer = _asked(connection, "POST", "/orders", _ORDER)
    assert status == 201
    status, order = _asked(connection, "GET", f"/orders/{answer['id']}")
    assert status == 200
    assert {key: order[key] for key in ("id", *_ORDER)} == {"id": answer["id"], **_ORDER}
    assert _asked(connection, "GET", "/orders/77")[0] == 404
    assert _asked(connection, "GET", "/orders/id") == (400, {"error": 'an order\'s id is a whole number, not "id"'})
    assert _asked(connection, "POST", "/orders", {"customer": "nobody"})[0] == 422
    assert [_asked(connection, "PUT", "/orders/77", _ORDER)[0] for _ in range(2)] == [201, 200]
    assert _asked(connection, "PUT", "/orders/77", {**_ORDER, "customer": "another"})[0] == 409
    assert _asked(connection, "GET", "/orders/77")[1]["customer"] == _ORDER["customer"]
    assert _asked(connection, "PUT", "/orders/id", _ORDER)[0] == 400
    connection.close()
    with ThreadPoolExecutor(8) as clients:
        answers = [each for some in clients.map(lambda _: _made(uri, 20), range(8)) for each in some]
    assert {status for status, _ in answers} == {201}
    ids = [int(answer["id"]) for _, answer in answers]
    assert len(set(ids)) == len(ids)
    assert {(each >> _SEQUENCE_BITS) % 2**_WORKER_BITS for each in ids} <= {0, 1}
    shutil.copy(SERVICE / "mixed.yaml", tmp_path)
    _seeded(uri, tmp_path / "ids.csv")
    mixed = cli.run("run", str(tmp_path / "mixed.yaml"), "--uri", uri, *_BRIEFLY, "--operations", "60").json()
    assert mixed["errors"] == []
    assert cli.run("lab", "down", "shop").exit_code == 0
    assert left_behind(cache) == []


def test_the_field_reports_generator_answers_500_under_load(cli: CommandLine, tmp_path: Path) -> None:
    require_order_service("mongodb")
    uri = _up(cli, "mongodb", "--workers", "1", "--id-generator", "field-report")["uri"]
    with ThreadPoolExecutor(16) as clients:
        answers = [each for some in clients.map(lambda _: _made(uri, 30), range(16)) for each in some]
    failed = [answer["error"] for status, answer in answers if status == 500]
    made = [int(answer["id"]) for status, answer in answers if status == 201]
    assert len(failed) + len(made) == len(answers)
    assert failed
    assert all(error.startswith("clock moved backwards") for error in failed)
    times = sorted(each >> (_WORKER_BITS + _SEQUENCE_BITS) for each in made)
    assert all(before < after for before, after in pairwise(times)), "one id a millisecond"
    told = ("--uri", uri, *_BRIEFLY)
    writing = cli.run("run", str(SERVICE / "write.yaml"), *told, "--operations", "400").json()
    (error,) = writing["errors"]
    assert (error["code"], error["label"], error["operation"]) == (500, "500 Internal Server Error", "post_order")
    assert "clock moved backwards" in error["example"]
    shutil.copy(SERVICE / "read.yaml", tmp_path)
    ids = _seeded(uri, tmp_path / "ids.csv", "--header-as-row")
    assert ids[:2] == ["id", "id"]
    assert len(set(ids)) == 41
    reading = cli.run("run", str(tmp_path / "read.yaml"), *told, "--operations", "82").json()
    (error,) = reading["errors"]
    assert (error["code"], error["count"]) == (400, 2), "the header row, once each time the ids are gone through"


def _seeded(uri: str, file: Path, *words: str) -> list[str]:
    program = [sys.executable, str(SERVICE / "seed.py"), uri, "--orders", "40", "--file", str(file), *words]
    subprocess.run(program, check=True, capture_output=True)
    return file.read_text().splitlines()


@dataclass(frozen=True)
class _Processes:
    """Those of a service with two workers."""

    guardian: psutil.Process
    supervisor: psutil.Process
    workers: list[psutil.Process]

    @classmethod
    def of(cls, document: dict[str, Any]) -> Self:
        service = next(each for each in document["servers"] if each["role"] == "service")
        supervisor = psutil.Process(service["pid"])
        guardian, workers = supervisor.parent(), supervisor.children(recursive=True)
        assert guardian is not None
        assert len(workers) >= 2
        return cls(guardian, supervisor, workers)

    def have_gone(self) -> bool:
        every = (self.guardian, self.supervisor, *self.workers)
        return eventually(lambda: not any(map(_runs, every)))


def test_a_service_is_started_again_at_its_address_and_goes_with_its_guardian(cli: CommandLine, cache: Path) -> None:
    require_order_service("mongodb")
    uri = _up(cli, "mongodb", "--workers", "2")["uri"]
    assert cli.run("lab", "stop", "shop", "2").exit_code == 0
    stopped = cli.run("lab", "status", "shop")
    assert (stopped.exit_code, "1 of 2 up: " in stopped.stdout) == (5, True)
    assert cli.run("lab", "start", "shop").exit_code == 0
    connection = _connection(uri)
    status, health = _asked(connection, "GET", "/health")
    assert (status, health["status"]) == (200, "ok") and health["worker"] in (0, 1)
    connection.close()
    processes = _Processes.of(cli.run("lab", "status", "shop", "--json").json())
    processes.guardian.kill()
    _check_gone(cli, cache, processes)


def test_a_service_outlives_a_worker_and_goes_with_its_supervisor(cli: CommandLine, cache: Path) -> None:
    require_order_service("mongodb")
    processes = _Processes.of(_up(cli, "mongodb", "--workers", "2"))
    processes.workers[-1].kill()
    assert eventually(lambda: cli.run("lab", "status", "shop").exit_code == 0), "the supervisor starts another one"
    processes.supervisor.kill()
    _check_gone(cli, cache, processes)


def _check_gone(cli: CommandLine, cache: Path, processes: _Processes) -> None:
    """The service has ended with all of its processes, and the lab leaves nothing."""
    assert processes.have_gone()
    assert cli.run("lab", "status", "shop").exit_code == 5
    assert cli.run("lab", "down", "shop").exit_code == 0
    assert left_behind(cache) == []


def _runs(process: psutil.Process) -> bool:
    return process.is_running() and process.status() != psutil.STATUS_ZOMBIE


def test_a_command_that_is_killed_while_the_service_comes_up_leaves_nothing(cli: CommandLine, cache: Path) -> None:
    require_order_service("mongodb")
    running = cli.start("lab", "up", "shop", "--order-service", "mongodb", "--small")
    assert eventually(lambda: any("serve.py" in word for each in processes_below(cache) for word in each.cmdline()))
    running.send(signal.SIGKILL)
    running.end()
    cli.run("lab", "list")
    assert eventually(lambda: left_behind(cache) == []), left_behind(cache)


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (("--workers", "2"), "--workers is of an order service"),
        (("--order-service", "postgres", "--mariadb"), "several databases"),
        (("--order-service", "mariadb", "--replica-set", "3"), "--replica-set is of MongoDB"),
        (("--order-service", "mongodb", "--workers", "0"), "0 workers"),
    ],
)
def test_what_contradicts_is_refused(cli: CommandLine, words: tuple[str, ...], error: str) -> None:
    cli.run("lab", "up", *words).check_error(2, error)


def test_without_the_service_or_what_it_needs_it_is_said_how_to_get_it(
    cli: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    outcome = cli.run("lab", "up", "--order-service", "mongodb", environment={"BRIMLINE_ORDER_SERVICE": str(tmp_path)})
    outcome.check_error(2, "there is no order service", "BRIMLINE_ORDER_SERVICE")
    monkeypatch.setattr("brimline.servers.lab.order_service._NEEDED", "import no_such_module")
    cli.run("lab", "up", "--order-service", "mongodb").check_error(2, "FastAPI, uvicorn", "make order-service")
