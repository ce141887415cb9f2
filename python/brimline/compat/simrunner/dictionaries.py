"""Owns dictionaries of a template: lists of values, in the configuration, in files, or in a collection."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bson import json_util

from brimline.compat.simrunner.nodes import Constant, Form, Node, in_step
from brimline.init.left_out import LeftOut
from brimline.init.words import name_word
from brimline.units import counted

_INLINE_MAX = 200
_ENTRIES_MAX = 1_000_000
_UNIQUE_MAX = 10_000
COLUMN = "value"


@dataclass(frozen=True, slots=True)
class Dictionary:
    """`form` draws an entry. `instead` does so in `fields`. `file` is the text of a JSON-lines file that it needs."""

    form: Mapping[str, Any]
    instead: Node | None = None
    file: tuple[str, str] | None = None


class Dictionaries:
    """Reads the dictionaries of a template. `directory` is that of the configuration, `stem` begins names of files."""

    def __init__(self, directory: Path, stem: str | None, left: LeftOut) -> None:
        self._directory = directory
        self._stem = stem
        self._left = left

    def read(
        self, name: str, given: Any, path: str, *, collections: Mapping[tuple[str, str], str], database: str
    ) -> Dictionary | None:
        """A dictionary; None where it can't be had, which is said. `collections`: names by database and collection."""
        if isinstance(given, list):
            return self._of_entries(name, given, path)
        if not isinstance(given, Mapping):
            self._left.lose(path, "is no dictionary")
            return None
        match given.get("type", "text"):
            case "text" | "json" as kind:
                entries = self._entries_of_file(given, kind, path)
                return None if entries is None else self._of_entries(name, entries, path)
            case "collection":
                return self._of_collection(given, path, collections, database)
            case "templateUnique":
                return self._unique(name, given, path)
            case other:
                self._left.lose(path, f"dictionaries of the type {other}")
                return None

    def _of_entries(self, name: str, entries: list[Any], path: str) -> Dictionary | None:
        if not entries:
            self._left.lose(path, "is empty")
            return None
        scalars = all(each is None or isinstance(each, str | int | float) for each in entries)
        if len(entries) <= _INLINE_MAX or self._stem is None:
            if len(entries) > _INLINE_MAX:
                self._left.change(
                    path,
                    f"the first {_INLINE_MAX} of {counted(len(entries), 'entry', 'entries')}; all with a file to write",
                )
            kept = entries[:_INLINE_MAX]
            if scalars:
                form = {"kind": "choice", "of": kept}
                return Dictionary(form, Form(form))
            return Dictionary({"one_of": [in_step(Constant(each)) for each in kept]})
        file = f"{self._stem}-{name_word(name)}.jsonl"
        lines = [
            json_util.dumps({COLUMN: each}, json_options=json_util.RELAXED_JSON_OPTIONS)
            for each in entries[:_ENTRIES_MAX]
        ]
        instead = Form({"kind": "choice", "of": entries[:_INLINE_MAX]}) if scalars else None
        form = {"jsonl": file, "column": COLUMN, "order": "random"}
        return Dictionary(form, instead, (file, "\n".join(lines) + "\n"))

    def _entries_of_file(self, given: Mapping[str, Any], kind: str, path: str) -> list[Any] | None:
        """The entries of a file; None where it can't be read, which is said."""
        file = self._directory / str(given.get("file", ""))
        try:
            text = file.read_text("utf-8")
            if kind == "text":
                return text.splitlines()
            found = json_util.loads(text)["data"]
            if isinstance(found, list):
                return found
        except (OSError, UnicodeDecodeError, json.JSONDecodeError, KeyError, TypeError, ValueError):
            pass
        self._left.lose(path, f"the file {file.name} can't be read as a dictionary; here a word")
        return None

    def _of_collection(
        self, given: Mapping[str, Any], path: str, collections: Mapping[tuple[str, str], str], database: str
    ) -> Dictionary | None:
        named = (str(given.get("db") or database), str(given.get("collection", "")))
        if named not in collections:
            self._left.lose(path, f"values of the collection {'.'.join(named)}, which no template of this database has")
            return None
        if given.get("query"):
            self._left.lose(f"{path}.query", "rows are sampled from all documents")
        attribute = given.get("attribute")
        form: dict[str, Any] = {"sample": collections[named]}
        if isinstance(attribute, str):
            form["field"] = attribute
        form["count"] = min(int(given.get("limit") or 10_000), 100_000)
        return Dictionary(form)

    def _unique(self, name: str, given: Mapping[str, Any], path: str) -> Dictionary | None:
        """Different values of an expression: of whole numbers evenly spaced ones, of others a few made up."""
        size = min(int(given.get("size", 1000)), _UNIQUE_MAX)
        template = given.get("template")
        bounds: Any = next(iter(template.values()), {}) if isinstance(template, Mapping) else {}
        low = bounds.get("min", 0) if isinstance(bounds, Mapping) else 0
        high = bounds.get("max", 2**31 - 1) if isinstance(bounds, Mapping) else 2**31 - 1
        if not isinstance(low, int) or not isinstance(high, int) or high - low < size:
            low, high = 0, size
        self._left.change(path, f"{size} numbers, evenly spaced from {low} to {high}")
        return self._of_entries(name, [low + number * (high - low) // size for number in range(size)], path)
