"""Owns which runners a test is made with: each of the catalogue, and one that isn't ready here is skipped by name."""

from collections.abc import Collection

import pytest

from brimline.runners import CATALOGUE, clients_for
from brimline.spec.own.step_kind import ProtocolName

TWINS = ("java-reactive", "pymongo-async")
"""Runners that read an address, and count a pool and its end, by the same classes as the blocking one beside them."""


def ready(protocol: ProtocolName) -> list[str]:
    """Those that speak to servers of `protocol` and can be started here."""
    return [name for name in clients_for(protocol) if CATALOGUE[name].missing() is None]


def each_client(*protocols: ProtocolName, long: Collection[str] = ()) -> pytest.MarkDecorator:
    """Has a test made with each `client` that speaks to servers of one of `protocols`, those of `long` in `make
    test-all`.
    """
    names = dict.fromkeys(name for protocol in protocols for name in clients_for(protocol))
    return pytest.mark.parametrize("client", [_case(name, is_long=name in long) for name in names])


def _case(name: str, *, is_long: bool) -> object:
    missing = CATALOGUE[name].missing()
    skipped = pytest.mark.skipif(missing is not None, reason=f"the client {name} is not ready: {missing}")
    return pytest.param(name, marks=[skipped, pytest.mark.long] if is_long else [skipped])
