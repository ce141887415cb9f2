"""Owns the `values` of a workload that is written: keys, rows that exist, new records, each defined once."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from brimline.init.popularity import Popularity
from brimline.init.words import name_word
from brimline.init.yaml_text import noted

_ROWS_DEFAULT = 10_000
_ROWS_MIN = 100
_FEW_FIELDS = 8
_OTHER = -1


@dataclass(slots=True)
class NamedValues:
    """The values that operations name. `loaded`: collections whose records are known, so that their keys are.

    `counts` are those of the live collections, where they are known.
    """

    loaded: frozenset[str]
    counts: Mapping[str, int] = field(default_factory=dict)
    laws: dict[str, Popularity] = field(default_factory=dict)
    _keys: dict[str, str] = field(default_factory=dict)
    _new: dict[str, str] = field(default_factory=dict)
    _rows: dict[tuple[str, str, int], tuple[str, dict[str, None]]] = field(default_factory=dict)
    _taken: set[str] = field(default_factory=set)

    def key_of(self, collection: str) -> str:
        """`$name` of a key of a loaded collection."""
        if collection not in self._keys:
            self._keys[collection] = self._name(f"key_of_{name_word(collection)}")
        return f"${self._keys[collection]}"

    def keys_form(self, collection: str) -> dict[str, Any]:
        """The form of a key with its law, in place."""
        law = self.laws.get(collection)
        return {"key_of": collection, "keys": {"kind": "uniform"} if law is None else law.keys}

    def new_record(self, collection: str) -> str:
        """`$name` of the next record of a loaded collection."""
        if collection not in self._new:
            self._new[collection] = self._name(f"new_{name_word(collection)}")
        return f"${self._new[collection]}"

    def known(self, collection: str, path: str, *, column: str = "", row: int = 0, group: str = "") -> str:
        """`$name.path` of a row that exists; all of one `row` of a `group` belong together in an operation.

        `column` is the field that is sampled for it, where that is not the path itself.
        """
        key = (collection, group, row)
        if key not in self._rows:
            wanted = (
                f"{'other' if row == _OTHER else 'known'}_{name_word(collection)}{group and f'_{name_word(group)}'}"
            )
            self._rows[key] = (self._name(f"{wanted}_{row + 1}" if row > 0 else wanted), {})
        name, fields = self._rows[key]
        fields[column or path] = None
        return f"${name}.{path}"

    def other(self, collection: str, path: str) -> str:
        """`$name.path` of a row that exists and that nothing else of the operation is about."""
        return self.known(collection, path, row=_OTHER)

    def definitions(self) -> dict[str, Any]:
        """All of them, as `values` has them."""
        found: dict[str, Any] = {}
        for collection, name in self._keys.items():
            law = self.laws.get(collection)
            said = "guess: popularity isn't known" if law is None else f"guess: {law.words}"
            found[name] = noted(self.keys_form(collection), beside=said)
        for (collection, _, _), (name, fields) in self._rows.items():
            most = _ROWS_DEFAULT if len(fields) <= _FEW_FIELDS else _ROWS_DEFAULT // 10
            rows = min(max(self.counts.get(collection, most), _ROWS_MIN), most)
            form = {"sample": collection, "fields": _without_inner(list(fields)), "count": rows}
            found[name] = noted(form, beside="rows that exist when the run begins")
        for collection, name in self._new.items():
            found[name] = {"new_record_of": collection}
        return found

    def _name(self, wanted: str) -> str:
        name, number = wanted, 1
        while name in self._taken:
            number += 1
            name = f"{wanted}_{number}"
        self._taken.add(name)
        return name


def _without_inner(paths: Sequence[str]) -> list[str]:
    """Paths without those below another, which a projection can't have beside it."""
    return [path for path in paths if not any(path.startswith(f"{other}.") for other in paths)]
