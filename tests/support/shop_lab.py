"""Owns the question whether the order service can be started here."""

import pytest

from brimline.errors import UsageError
from brimline.servers.lab.order_service import find_order_service
from brimline.servers.lab.spec import System
from brimline.servers.sql_programs import PRODUCTS, find_sql_program
from tests.support.server import required_mongod


def require_order_service(system: System) -> None:
    """Skips where the service or its database is missing, by the target of make that brings it."""
    try:
        find_order_service()
    except UsageError as error:
        pytest.skip(f"{error.message}: make order-service")
    if system == "mongodb":
        required_mongod()
        return
    try:
        find_sql_program(system)
    except UsageError:
        pytest.skip(f"no {PRODUCTS[system]} here: make {system}")
