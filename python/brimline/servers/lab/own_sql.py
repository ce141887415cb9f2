"""Owns a MariaDB or PostgreSQL of brimline's own, for the length of one measurement."""

import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from brimline.servers.lab.lifecycle import bring_up
from brimline.servers.lab.spec import NAME_DEFAULT, LabSpec
from brimline.servers.lab.sql import SqlRecipe
from brimline.servers.lab.state import Lab
from brimline.servers.sql_programs import SqlSystem, find_sql_program


@contextmanager
def own_sql(
    system: SqlSystem,
    *,
    cache_gb: float,
    cpu_share: float | None = None,
    say: Callable[[str], None] = lambda _: None,
    meanwhile: Callable[[], None] = lambda: None,
) -> Iterator[Lab]:
    """A fresh server for the length of the `with` block: `uris[0]` is how it is reached, `password_file` is its user's.

    Raises UsageError, TargetError, and what `meanwhile` does.
    """
    spec = LabSpec(
        name=f"{NAME_DEFAULT}-{secrets.token_hex(4)}", system=system, auth=True, cache_gb=cache_gb, cpu_share=cpu_share
    )
    recipe = SqlRecipe(program=find_sql_program(system))
    raised = bring_up(spec, recipe=recipe, outlives=False, say=say, meanwhile=meanwhile)
    try:
        yield raised.lab
    finally:
        raised.take_down()
