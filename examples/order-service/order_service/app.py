"""Owns what the service answers."""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse

from order_service.ids import ClockMovedBackwardsError, Ids, OnePerMillisecond, Snowflake, wall_clock_ms
from order_service.orders import NewOrder, Store
from order_service.stores import opened
from order_service.worker import WorkerNumber

_PREFIX = "ORDER_SERVICE_"
_ID_MAX = 2**63


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What the workers of the service are told, by the environment: uvicorn starts them as processes of their own.

    `database_file` holds the address of the database, password and all; `directory` is where worker numbers are kept.
    """

    database_file: str
    directory: str
    id_generator: str
    pool: int

    def to_environment(self) -> None:
        """Tells those that are started from now on."""
        for name in ("database_file", "directory", "id_generator", "pool"):
            os.environ[_PREFIX + name.upper()] = str(getattr(self, name))

    @classmethod
    def of_environment(cls) -> "Settings":
        """What was told."""
        told = {name: os.environ[_PREFIX + name.upper()] for name in ("database_file", "directory", "id_generator")}
        return cls(**told, pool=int(os.environ[_PREFIX + "POOL"]))


@dataclass(slots=True)
class Worker:
    """What one process of the service has."""

    store: Store
    ids: Ids
    number: WorkerNumber


def create_app() -> FastAPI:
    """The application of one worker."""
    app = FastAPI(title="order service", lifespan=_lifespan, docs_url=None, redoc_url=None)
    app.add_api_route("/health", _health, methods=["GET"], response_class=JSONResponse)
    app.add_api_route("/orders", _post_order, methods=["POST"], response_class=JSONResponse, status_code=201)
    app.add_api_route("/orders/{order_id}", _get_order, methods=["GET"], response_class=JSONResponse)
    app.add_api_route("/orders/{order_id}", _put_order, methods=["PUT"], response_class=JSONResponse)
    app.add_exception_handler(ClockMovedBackwardsError, _clock_moved)
    return app


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    settings = Settings.of_environment()
    number = WorkerNumber(Path(settings.directory))
    store = await opened(Path(settings.database_file).read_text(encoding="utf-8").strip(), pool=settings.pool)
    app.state.worker = Worker(store=store, ids=_ids(settings, number), number=number)
    try:
        yield
    finally:
        await store.close()


def _ids(settings: Settings, number: WorkerNumber) -> Ids:
    if settings.id_generator == "field-report":
        return OnePerMillisecond(number.number)
    return Snowflake(number.number, not_before_ms=number.reserved_until_ms, reserve=number.reserve)


async def _health(request: Request) -> JSONResponse:
    worker: Worker = request.app.state.worker
    await worker.store.ping()
    return JSONResponse({"status": "ok", "worker": worker.number.number})


async def _post_order(request: Request, order: NewOrder) -> JSONResponse:
    worker: Worker = request.app.state.worker
    order_id = worker.ids.next()
    await worker.store.put({"id": order_id, "created_ms": wall_clock_ms(), **order.model_dump()})
    # As text: a number of 63 bits is not what a client in JavaScript reads.
    return JSONResponse({"id": str(order_id)}, status_code=201, headers={"location": f"/orders/{order_id}"})


async def _put_order(request: Request, order_id: str, order: NewOrder) -> JSONResponse:
    """Makes an order that another service has already, under the id that it has there; the time is this service's."""
    worker: Worker = request.app.state.worker
    if not _is_id(order_id):
        return _no_id(order_id)
    told = order.model_dump()
    found = await worker.store.get(int(order_id))
    if found is None:
        await worker.store.put({"id": int(order_id), "created_ms": wall_clock_ms(), **told})
    elif {key: found.get(key) for key in told} != told:
        return _error(409, f"there is another order {order_id} already")
    return JSONResponse({"id": order_id}, status_code=201 if found is None else 200)


async def _get_order(request: Request, order_id: str) -> JSONResponse:
    worker: Worker = request.app.state.worker
    if not _is_id(order_id):
        return _no_id(order_id)
    found = await worker.store.get(int(order_id))
    return _error(404, f"there is no order {order_id}") if found is None else JSONResponse({**found, "id": order_id})


def _is_id(order_id: str) -> bool:
    return order_id.isascii() and order_id.isdigit() and int(order_id) < _ID_MAX


def _no_id(order_id: str) -> JSONResponse:
    return _error(400, f'an order\'s id is a whole number, not "{order_id[:64]}"')


async def _clock_moved(_: Request, error: Exception) -> JSONResponse:
    return _error(500, str(error))


def _error(status: int, message: str) -> JSONResponse:
    body: dict[str, Any] = {"error": message}
    return JSONResponse(body, status_code=status)
