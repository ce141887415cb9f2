"""Owns the choice of a store by the address of its database."""

from collections.abc import Awaitable, Callable
from importlib import import_module

from order_service.orders import Store

_MODULES = {
    "mongodb": "mongodb",
    "mongodb+srv": "mongodb",
    "mariadb": "mariadb",
    "mysql": "mariadb",
    "postgresql": "postgres",
    "postgres": "postgres",
}


async def opened(uri: str, *, pool: int) -> Store:
    """The store behind `uri`, with `pool` connections; its table or collection is there afterwards.

    Raises ValueError for an address of another kind, and what the database's driver raises.
    """
    scheme = uri.partition("://")[0]
    if scheme not in _MODULES:
        raise ValueError(f"no store is behind {scheme}://; there are {', '.join(_MODULES)}")
    module = import_module(f"order_service.stores.{_MODULES[scheme]}")  # its driver alone is imported
    opened_by: Callable[..., Awaitable[Store]] = module.opened
    return await opened_by(uri, pool=pool)
