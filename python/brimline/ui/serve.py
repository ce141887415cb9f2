"""Owns that the page is served: its socket, and its end."""

import socket
from collections.abc import Callable, Sequence
from dataclasses import replace

import uvicorn

from brimline.errors import UsageError
from brimline.ui.application import application
from brimline.ui.forms import VerbForm
from brimline.ui.guard import Access
from brimline.ui.jobs import Jobs
from brimline.ui.pages import Pages
from brimline.ui.shelf import Shelf

_CONNECTIONS_MAX = 64
"""Somebody with a few windows has fewer."""


def serve(
    shelf: Shelf,
    access: Access,
    *,
    forms: Sequence[VerbForm],
    language: str,
    opened: Callable[[Access], None],
) -> None:
    """Serves until a signal ends it, and then what was started. `opened` is told the access with its port.

    Raises UsageError.
    """
    with listening(access) as listener:
        jobs = Jobs(shelf.directory)
        bound = bound_access(access, listener)
        settings = uvicorn.Config(
            application(Pages(shelf, bound, forms, jobs, language)),
            log_level="warning",
            access_log=False,
            server_header=False,
            loop="asyncio",
            http="h11",
            ws="none",
            lifespan="off",
            limit_concurrency=_CONNECTIONS_MAX,
            timeout_graceful_shutdown=2,
        )
        opened(bound)
        try:
            uvicorn.Server(settings).run(sockets=[listener])
        finally:
            jobs.close()


def bound_access(access: Access, listener: socket.socket) -> Access:
    """The access with the address and port that are listened on; a name that was given stays one of this machine's."""
    address, port = listener.getsockname()[:2]
    names = (*access.names, access.address) if access.address not in ("", address) else access.names
    return replace(access, address=address, port=port, names=names)


def listening(access: Access) -> socket.socket:
    """A socket at the address. Raises UsageError where that can't be listened on."""
    family = socket.AF_INET6 if ":" in access.address else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((access.address, access.port))
    except (OSError, OverflowError, UnicodeError) as error:
        listener.close()
        reason = getattr(error, "strerror", None) or str(error)
        raise UsageError(
            f"can't listen on {access.address}, port {access.port}: {reason.lower()}",
            hint="give an address of this machine with --listen, or another port with --port; 0 is any that is free",
        ) from None
    return listener
