"""Owns operations that are proposed where nothing shows which there are: by the indexes of each collection."""

from typing import Any

from brimline.init.constants import step_document
from brimline.init.index_finds import find_by_index
from brimline.init.live_collection import LiveCollection
from brimline.init.operations import OPERATIONS_MAX, Operations
from brimline.init.step_writer import StepWriter
from brimline.init.words import can_name_field, operation_name
from brimline.init.yaml_text import Noted

_READ_WEIGHT, _WRITE_WEIGHT = 4, 1


def proposed_operations(writer: StepWriter) -> Operations:
    """A find by each index's fields and by `_id`, an insert, and an update by `_id`; all of them guesses."""
    found: dict[str, Any] = {}
    taken: set[str] = set()
    without: list[str] = []
    for live in writer.live.values():
        for parts, step, weight, why in _of_collection(live, writer, without):
            if len(found) < OPERATIONS_MAX:
                found[operation_name(parts, taken)] = Noted({"share": weight, **step}, above=[f"guess: {why}"])
    return Operations(
        operations=found,
        notes=[
            "guess: all operations are proposed from the indexes; nothing showed which there really are.",
            *without,
        ],
    )


def _of_collection(
    live: LiveCollection, writer: StepWriter, without: list[str]
) -> list[tuple[list[str], dict[str, Any], int, str]]:
    """Parts of a name, step, weight and reason of each; `without` gets the indexes for which no find is proposed."""
    name = live.name
    by_id = {"_id": writer.existing(name, "_id")}
    is_series = "timeseries" in live.stored.options
    found: list[tuple[list[str], dict[str, Any], int, str]] = []
    if not is_series:
        step = {"find": {"collection": name, "filter": by_id, "limit": 1}}
        found.append((["find", name, "by_id"], step, _READ_WEIGHT, "a read by key"))
    for index in live.stored.indexes:
        proposed = find_by_index(live, index, writer)
        if isinstance(proposed, str):
            without.append(f"No find is proposed for the index {index['name']} of {name}: {proposed}.")
        else:
            found.append(
                (
                    ["find", name, "by", *proposed["filter"]],
                    {"find": proposed},
                    _READ_WEIGHT,
                    f"the index {index['name']} is for it",
                )
            )
    found.append(
        (
            ["insert", name],
            {"insert": {"collection": name, "document": writer.new_document(name)}},
            _WRITE_WEIGHT,
            "new documents come",
        )
    )
    if not is_series and not live.stored.options.get("capped") and (change := _change(live, writer)) is not None:
        step = {"update": {"collection": name, "filter": by_id, "update": {"$set": change}}}
        found.append((["update", name, "by_id"], step, _WRITE_WEIGHT, "documents change"))
    return found


def _change(live: LiveCollection, writer: StepWriter) -> dict[str, Any] | None:
    """A new value for the first scalar field that no index has."""
    indexed = {path for index in live.stored.indexes for path in index["key"]}
    for name, shape in live.shape.fields.items():
        usable = shape.main_type in ("int", "long", "double", "text", "boolean", "date") and can_name_field(name)
        if not usable or name == "_id" or name in indexed:
            continue
        if (made := writer.new_value(live.name, name)) is not None:
            return step_document({name: made})
    return None
