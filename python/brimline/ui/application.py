"""Owns which page is at which address, behind the guard."""

from collections.abc import Callable
from functools import wraps

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from brimline.errors import BrimlineError, UsageError
from brimline.ui.guard import Guard
from brimline.ui.pages import Pages

_Endpoint = Callable[[Request], Response]


def application(pages: Pages) -> Guard:
    """The pages as an ASGI application that only their visitor reaches."""

    def told(endpoint: _Endpoint) -> _Endpoint:
        @wraps(endpoint)
        def answered(request: Request) -> Response:
            try:
                return endpoint(request)
            except BrimlineError as error:
                return pages.failed(request, error)

        return answered

    def read(path: str, endpoint: _Endpoint) -> Route:
        return Route(path, told(endpoint), methods=["GET"])

    def written(path: str, endpoint: _Endpoint) -> Route:
        return Route(path, told(endpoint), methods=["POST"])

    def missing(request: Request, _: Exception) -> Response:
        return pages.failed(request, UsageError("there is no such page", hint="go back to the list"))

    routes = [
        read("/", pages.index),
        read("/rows", pages.rows),
        read("/running", pages.running),
        read("/records/{name}", pages.record),
        read("/records/{name}/report", pages.report),
        read("/compare", pages.compare),
        read("/compare/report", pages.comparison),
        read("/start", pages.verbs),
        read("/start/{verb}", pages.form),
        written("/start/{verb}", pages.start),
        read("/jobs/{number}", pages.job),
        read("/jobs/{number}/state", pages.job_state),
        written("/jobs/{number}/stop", pages.stop),
        read("/static/{name}", pages.static),
    ]
    handlers = {HTTPException: missing}
    return Guard(Starlette(routes=routes, exception_handlers=handlers), pages.access)
