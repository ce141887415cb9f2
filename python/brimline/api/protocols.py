"""Owns which verbs make sense on which targets, and the one error where they don't."""

import os
from typing import Final

from brimline.api.options import URI_VARIABLE, Options, named_uri
from brimline.errors import UsageError
from brimline.spec.own.protocols import STEPS
from brimline.spec.own.step_kind import ProtocolName
from brimline.spec.target import protocol_of_uri

MONGODB: Final[tuple[ProtocolName, ...]] = ("mongodb",)
DATABASES: Final[tuple[ProtocolName, ...]] = ("mongodb", "sql")


def require_protocol(verb: str, uri: str | None, *, of: tuple[ProtocolName, ...] = MONGODB) -> None:
    """Raises UsageError where `verb` has no meaning on the target at `uri`; None: one of brimline's own, a MongoDB."""
    protocol = "mongodb" if uri is None else protocol_of_uri(uri)
    if uri is not None and protocol not in of:
        scheme = uri.partition("://")[0]
        raise UsageError(
            f"{verb} has no meaning on {STEPS[protocol].target}, and {scheme}:// is the address of one",
            hint=f"give the address of {' or '.join(STEPS[each].target for each in of)}",
        )


def require_own_mongodb(verb: str, options: Options) -> None:
    """Raises UsageError where an SQL database is to be started for a verb that is about MongoDB."""
    if options.mariadb or options.postgres:
        raise UsageError(
            f"{verb} has no meaning on {STEPS['sql'].target}",
            hint=f"leave {'--mariadb' if options.mariadb else '--postgres'} out",
        )


def require_mongodb(verb: str, in_spec: str | None, options: Options) -> None:
    """Both, for a verb that takes the options of servers."""
    require_own_mongodb(verb, options)
    require_protocol(verb, named_uri(options.uri, in_spec, os.environ.get(URI_VARIABLE)))
