"""Owns the question whether there is a mongod to test with."""

import os

import pytest

from brimline.errors import UsageError
from brimline.servers import ServerBinary, find_mongod

OPT_OUT = "WITHOUT_MONGOD"


def required_mongod() -> ServerBinary:
    """The mongod that tests use. Without one they fail, so that nobody takes their absence for success."""
    try:
        return find_mongod()
    except UsageError as error:
        if os.environ.get(OPT_OUT):
            pytest.skip(f"{error.message} ({OPT_OUT} is set)")
        pytest.fail(f"{error.message}; set {OPT_OUT}=1 to do without these tests")
