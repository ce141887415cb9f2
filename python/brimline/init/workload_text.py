"""Owns the whole text of a workload that is written, and the proof that the reader of specs takes it."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from brimline.errors import SpecError
from brimline.init.collection_entry import collection_entry, field_context
from brimline.init.live_collection import LiveCollection
from brimline.init.named_values import NamedValues
from brimline.init.operations import Operations
from brimline.init.references import Reference
from brimline.init.step_writer import StepWriter
from brimline.init.yaml_text import Noted, noted, yaml_text
from brimline.spec.document import TEXT_BYTES_MAX

_RATE_DIGITS = 2
_RATE_DEFAULT = 500.0
_BESIDE = "_brimline"
_DATABASE_LENGTH_MAX = 40
_NAME = re.compile(r"[^A-Za-z0-9._-]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """What a workload is written from. `loaded`: brimline is to load such collections; else the live ones are used.

    `existing` are the collections that are used as they are.
    """

    database: str
    live: Sequence[LiveCollection] = ()
    references: Sequence[Reference] = ()
    existing: Sequence[str] = ()
    loaded: bool = True
    with_values: bool = False
    told: Sequence[str] = field(default_factory=tuple)

    def writer(self) -> StepWriter:
        """What writes steps on these collections."""
        live = {each.name: each for each in self.live}
        values = NamedValues(
            loaded=frozenset(live) if self.loaded else frozenset(),
            counts={name: each.count for name, each in live.items()},
        )
        return StepWriter(
            values=values,
            live=live,
            contexts={
                name: field_context(each, self.references if self.loaded else (), with_values=self.with_values)
                for name, each in live.items()
            },
            references={(each.collection, each.path): each.target for each in self.references},
        )


def workload_text(source: Source, operations: Operations, values: NamedValues) -> str:
    """The text. Raises SpecError where it can't be made small enough for a spec."""
    kept = dict(operations.operations)
    while True:
        text = yaml_text(_keys(source, operations, kept, values), header=_header(source, operations))
        if len(text.encode()) <= TEXT_BYTES_MAX:
            return text
        if len(kept) <= 1:
            raise SpecError(
                f"the workload would be larger than {TEXT_BYTES_MAX // 1024} KiB, which is what a spec may have",
                hint="name fewer collections, or give --existing, which writes no fields",
            )
        kept = dict(list(kept.items())[: max(1, len(kept) // 2)])
        kept = _whole_shares(kept)


def _keys(source: Source, operations: Operations, kept: Mapping[str, Any], values: NamedValues) -> dict[str, Any]:
    collections: dict[str, Any] = {}
    for live in source.live:
        entry = collection_entry(live, source.references, with_values=source.with_values)
        collections[live.name] = entry if source.loaded else noted("existing", above=entry.above[:1])
    collections |= {name: "existing" for name in source.existing if name not in collections}
    keys: dict[str, Any] = {
        "name": _NAME.sub("-", source.database).strip("-.")[:40] or "workload",
        "database": _database(source),
        "collections": collections,
    }
    if definitions := values.definitions():
        keys["values"] = definitions
    keys["operations"] = kept
    keys["load"] = _load(operations.rate_ops_per_s)
    keys["slo"] = noted({"response_p99": "50ms"}, beside="guess: write what you promise")
    return keys


def _load(seen_ops_per_s: float | None) -> Any:
    """A rate, so that there is a response time to promise."""
    rate = _RATE_DEFAULT if seen_ops_per_s is None else float(f"{seen_ops_per_s:.{_RATE_DIGITS}g}")
    why = "nothing shows the rate of all operations" if seen_ops_per_s is None else "the rate that was seen"
    return noted({"kind": "constant", "rate": f"{rate:g}/s"}, beside=f"guess: {why}")


def _database(source: Source) -> Any:
    """The live database where it is used as it is; else another, so that loading never meets live data."""
    if not source.loaded:
        return source.database
    name = f"{source.database[: _DATABASE_LENGTH_MAX - len(_BESIDE)]}{_BESIDE}"
    return noted(name, beside=f"not {source.database}, so that loading never meets the live data")


def _whole_shares(operations: Mapping[str, Any]) -> dict[str, Any]:
    """Fewer operations with their shares as weights, which need not add up to a whole."""
    found = {}
    for name, each in operations.items():
        share = each.value.get("share")
        weight = max(1, round(float(str(share).removesuffix("%")) * 100)) if share is not None else 1
        found[name] = Noted({**each.value, "share": weight}, each.beside, each.above)
    return found


def _header(source: Source, operations: Operations) -> list[str]:
    values = (
        "Names of fields and collections are the live ones. Values of the data are in it, as --with-values asked."
        if source.with_values
        else "Names of fields and collections are the live ones. No value of the data is in it; ranges are rounded."
    )
    lines = [
        "A workload written by brimline init. Lines with guess: say what could not be seen; read them first.",
        *([values] if source.live else []),
        *source.told,
        *operations.notes,
    ]
    if operations.not_taken:
        lines += ["", "Not taken over:", *(f"- {each}" for each in operations.not_taken)]
    return lines
