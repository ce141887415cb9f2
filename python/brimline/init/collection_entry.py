"""Owns how a live collection becomes an entry of `collections`: its records, fields, indexes, options, shard key."""

from collections.abc import Mapping, Sequence, Set
from typing import Any

from brimline.init.constants import fitting, holds_values, literal
from brimline.init.field_generators import FieldContext, document_fields, unnamed_fields
from brimline.init.live_collection import LiveCollection
from brimline.init.references import Reference
from brimline.init.yaml_text import Noted, noted
from brimline.units import counted, format_bytes, format_count

_INDEX_OPTIONS = (
    "unique", "sparse", "partialFilterExpression", "collation", "hidden", "weights", "default_language",
    "language_override", "wildcardProjection", "bits", "min", "max",
)  # fmt: skip
_CREATE_OPTIONS = (
    "capped", "size", "max", "validator", "validationLevel", "validationAction", "collation", "timeseries",
    "clusteredIndex",
)  # fmt: skip
_DEFAULTS = {"validationLevel": "strict", "validationAction": "error"}
_NO_FIELDS = {"filler": noted({"kind": "constant", "value": None}, beside="no field of the documents has a generator")}
_GEO = frozenset({"2dsphere", "2dsphere_bucket"})


def collection_entry(live: LiveCollection, references: Sequence[Reference], *, with_values: bool) -> Noted:
    """What `collections` says of it."""
    context = field_context(live, references, with_values=with_values)
    entry: dict[str, Any] = {"records": live.count}
    entry["fields"] = document_fields(live.shape, context) or noted(_NO_FIELDS, above=_named(live))
    if indexes := [index_entry(each, with_values=with_values) for each in live.stored.indexes]:
        entry["indexes"] = indexes
    if options := _options(live.stored.options, text_paths={"_id", *context.references}, with_values=with_values):
        entry["options"] = options
    if live.shard_key is not None and dict(live.shard_key) != {"_id": "hashed"}:
        entry["shard_key"] = dict(live.shard_key)
    kind = live.id_shape.main_type
    return Noted(entry, above=(
        f"{counted(live.count, 'document')} of {format_bytes(live.document_bytes)} on average, "
        f"{format_count(live.sampled)} of them looked at; _id is {kind} there, here a text: the key of a record",
    ))  # fmt: skip


def _named(live: LiveCollection) -> list[str]:
    left_out = unnamed_fields(live.shape)
    return [left_out] if left_out else []


def field_context(live: LiveCollection, references: Sequence[Reference], *, with_values: bool) -> FieldContext:
    """What decides about the generators of its fields."""
    return FieldContext(
        with_values=with_values,
        unique_paths=frozenset(_unique_path(live, index) for index in live.stored.indexes if index.get("unique")),
        point_paths=frozenset(
            path for index in live.stored.indexes for path, kind in index["key"].items() if kind in _GEO
        ),
        references={each.path: reference_value(each) for each in references if each.collection == live.name},
    )


def reference_value(reference: Reference) -> Any:
    """`key_of` the other collection, with what is known of its popularity."""
    law = reference.popularity
    value = {"key_of": reference.target, "keys": {"kind": "uniform"} if law is None else law.keys}
    popularity = "its popularity is not known" if law is None else law.words
    found = f"{100 * reference.found:.0f} % of its values are keys there"
    return noted(value, beside=f"guess: refers to {reference.target}, {found}; {popularity}")


def _unique_path(live: LiveCollection, index: Mapping[str, Any]) -> str:
    """The field that is made unique for a unique index: of several, the one with most values."""

    def values(path: str) -> float:
        shape = live.at(path)
        if shape is None or shape.main_type in ("array", "document", "null", "boolean"):
            return -1.0
        return float("inf") if shape.many else float(len(shape.distinct))

    return str(max(index["key"], key=values))


def index_entry(index: Mapping[str, Any], *, with_values: bool) -> Any:
    """An index: its keys alone, or keys and options."""
    keys = _keys(index)
    options = {name: index[name] for name in _INDEX_OPTIONS if name in index and index[name] not in (False, None)}
    if "weights" in options and set(options["weights"].values()) == {1}:
        del options["weights"]
    if options.get("default_language") == "english":
        del options["default_language"]
    if options.get("language_override") == "language":
        del options["language_override"]
    notes = []
    partial = options.get("partialFilterExpression")
    if partial is not None and not with_values and holds_values(partial):
        del options["partialFilterExpression"]
        notes.append("partial in the live collection: its filter names values and is left out")
    if "expireAfterSeconds" in index:
        notes.append(
            f"a TTL of {index['expireAfterSeconds']} s is left out: the server would delete what is loaded; "
            "add expireAfterSeconds to have it"
        )
    options = {name: literal(value) for name, value in options.items()}
    value = {"keys": keys, **options} if options or "keys" in keys else keys
    return noted(value, beside="; ".join(notes))


def _keys(index: Mapping[str, Any]) -> dict[str, Any]:
    """The fields in order; those of a text index under their own names."""
    keys: dict[str, Any] = {}
    for name, kind in index["key"].items():
        if name == "_fts":
            keys |= dict.fromkeys(index.get("weights", {}), "text")
        elif name != "_ftsx":
            keys[name] = int(kind) if isinstance(kind, float) and kind.is_integer() else kind
    return keys


def _options(options: Mapping[str, Any], *, text_paths: Set[str], with_values: bool) -> Any:
    kept = {name: options[name] for name in _CREATE_OPTIONS if name in options}
    notes: list[str] = []
    if "validator" in kept:
        kept["validator"], left = fitting(kept["validator"], text_paths=text_paths, with_values=with_values)
        if left:
            said = ", ".join(left)
            notes.append(f"left out of the validator, as it names values or made-up documents need not meet it: {said}")
        if not kept["validator"]:
            del kept["validator"]
    if "timeseries" in kept and "granularity" in kept["timeseries"]:
        series = kept["timeseries"]
        kept["timeseries"] = {
            name: series[name] for name in ("timeField", "metaField", "granularity") if name in series
        }
    if "clusteredIndex" in kept:
        kept["clusteredIndex"] = {"key": {"_id": 1}, "unique": True}
    if kept.get("capped"):
        notes.append("a capped collection keeps no more than fits: records may have to be fewer")
    if "expireAfterSeconds" in options:
        notes.append(f"expireAfterSeconds: {options['expireAfterSeconds']} is left out: it would delete what is loaded")
    value = {name: literal(each) for name, each in kept.items() if _DEFAULTS.get(name) != each}
    return noted(value, above=notes) if value or notes else None
