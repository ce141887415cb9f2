"""Owns labs of an order service on a database: `examples/order-service` under a guardian of its own."""

import http.client
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

from brimline.errors import UsageError
from brimline.servers.deployment import COMMAND_TIMEOUT_S, split_address
from brimline.servers.lab import access
from brimline.servers.lab.fleet import Fleet
from brimline.servers.lab.recipe import Made, Recipe
from brimline.servers.lab.spec import LabSpec, ServiceSpec
from brimline.servers.lab.state import Lab, LabServer
from brimline.servers.lab.wish import Wish
from brimline.servers.launch import Manner

DIRECTORY_VARIABLE = "BRIMLINE_ORDER_SERVICE"
"""Where the service is, for a brimline that is not run from its repository."""

_IN_REPOSITORY = Path(__file__).parents[4] / "examples" / "order-service"
_PROGRAM = "serve.py"
_NEEDED = "import asyncmy, asyncpg, fastapi, uvicorn"
_IMPORT_DEADLINE_S = 60.0
_DATABASE_FILE = "database-uri"


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderServiceRecipe(Recipe):
    """The service at `directory`, on what `database` makes."""

    database: Recipe
    service: ServiceSpec
    directory: Path

    @property
    def described(self) -> str:
        """The service and its database."""
        return f"an order service on {self.database.described}"

    @property
    def version(self) -> str:
        """That of the database."""
        return self.database.version

    def check(self, spec: LabSpec) -> None:
        """The service has one database."""
        if spec.topology == "client-routed shards":
            raise UsageError("the order service has one database", hint="leave --client-routed out")
        self.database.check(spec)

    def make(self, fleet: Fleet) -> Made:
        """The database first: the service ends where it can't be reached."""
        made = self.database.make(fleet)
        access.private_file(fleet.lab.secret / _DATABASE_FILE, made.uris_with_password[0])
        (server,) = fleet.start([ServiceWish(role="service", service=self.service, directory=self.directory)])
        fleet.await_answer(server, answers)
        uri = f"http://{server.address}"
        facts = {
            **made.facts,
            "database_uri": made.uris[0],
            "workers": self.service.workers,
            "id_generator": self.service.id_generator,
        }
        return replace(made, uris=(uri,), uris_with_password=(uri,), facts=facts)


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceWish(Wish):
    """The service's supervisor, which starts its workers."""

    service: ServiceSpec
    directory: Path

    @property
    def program(self) -> Path:
        """The service's."""
        return self.directory / _PROGRAM

    def start(self, lab: Lab, directory: Path, port: int) -> tuple[list[str], Manner]:
        """On SIGTERM the supervisor ends its workers."""
        command = [
            *(sys.executable, str(self.program), "--database-file", str(lab.secret / _DATABASE_FILE)),
            *("--port", str(port), "--directory", str(directory / "data")),
            *("--workers", str(self.service.workers), "--id-generator", self.service.id_generator),
        ]
        return command, Manner(end_signal=signal.SIGTERM)


def find_order_service(*, environ: Mapping[str, str] = os.environ) -> Path:
    """Where the service is. Raises UsageError where it isn't, or what it needs is not installed."""
    named = environ.get(DIRECTORY_VARIABLE)
    directory = Path(named).absolute() if named else _IN_REPOSITORY
    if not (directory / _PROGRAM).is_file():
        raise UsageError(
            f"there is no order service in {directory}",
            hint=f"it is in examples/order-service of brimline's repository: name that by {DIRECTORY_VARIABLE}",
        )
    done = subprocess.run(  # noqa: S603 (this Python, no shell)
        [sys.executable, "-c", _NEEDED], capture_output=True, timeout=_IMPORT_DEADLINE_S
    )
    if done.returncode != 0:
        raise UsageError(
            "the order service needs FastAPI, uvicorn and the databases' drivers, and not all of them are installed",
            hint="make order-service, or pip install 'brimline[order-service]'",
        )
    return directory


def answers(server: LabServer) -> bool:
    """Whether the service and its database answer."""
    host, port = split_address(server.address)
    with closing(http.client.HTTPConnection(host, port, timeout=COMMAND_TIMEOUT_S)) as connection:
        try:
            connection.request("GET", "/health")
            return connection.getresponse().status == http.client.OK
        except (http.client.HTTPException, OSError):
            return False
