"""Owns commands as servers tell of them, and what `init` makes of a few."""

from collections.abc import Iterable, Mapping
from typing import Any

from brimline.init.command_groups import CommandGroups
from brimline.init.observed import Observations, Observed

AT_S = 1_700_000_000.0


def find(filter_: Mapping[str, Any], *, collection: str = "orders", at_s: float = AT_S, **options: Any) -> Observed:
    """A find as the engine of `init` has it."""
    return Observed(
        database="shop",
        collection=collection,
        kind="find",
        at_s=at_s,
        body={"find": collection, "filter": filter_, **options},
    )


def update(filter_: Mapping[str, Any], change: Any, **options: Any) -> Observed:
    """One statement of an update."""
    return Observed(
        database="shop", collection="orders", kind="update", at_s=AT_S, body={"q": filter_, "u": change, **options}
    )


def aggregate(*pipeline: Mapping[str, Any]) -> Observed:
    """An aggregate."""
    body = {"aggregate": "orders", "pipeline": list(pipeline)}
    return Observed(database="shop", collection="orders", kind="aggregate", at_s=AT_S, body=body)


def grouped(commands: Iterable[Observed], *, only_slow: bool = False) -> tuple[CommandGroups, Observations]:
    """The commands by shape, and the source that told of them."""
    groups = CommandGroups()
    observations = Observations(source="a test", only_slow=only_slow, take=groups.add)
    for each in commands:
        observations.add(each)
    return groups, observations
