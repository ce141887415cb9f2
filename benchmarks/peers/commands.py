"""Owns what the profiler saw, in words: pure. Two clients do the same work where their words are equal."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

_OF_CLIENT = "clientSupplied"
_ORDERED_BY_DEFAULT = True
_CONCERN_KEYS = ("j", "level", "w")
_ALSO = "; also "
_ORDER_OF_ONE = re.compile(r"^(insert of 1), (?:ordered|unordered|order not noted)")


def commands_seen(noted: Iterable[Mapping[str, Any]], *, batched: bool = False) -> dict[str, str]:
    """For each of find, update and insert that occurred, its shape; the most frequent one first.

    Inserts of a load that is `batched` are a kind of their own. `noted` are documents of system.profile. Looking for a
    key that isn't there (a client's first contact) is left out. Concerns that a client asked for are part of the shape
    of a find and an insert; mongod notes none for updates. So is of a find whether it is in a session, which costs the
    server some of its time; of updates and large inserts that isn't noted.
    """
    shapes: dict[str, Counter[str]] = {}
    for each in noted:
        if (shape := _shape(each)) is not None:
            kind, words = shape
            if batched:
                kind = f"{kind}, batched"
            shapes.setdefault(kind, Counter())[words] += 1
    return {kind: _ALSO.join(words for words, _ in counts.most_common()) for kind, counts in sorted(shapes.items())}


def differences(seen: Mapping[str, Mapping[str, str]], *, reference: str) -> dict[str, list[str]]:
    """For each client the kinds of command whose shape is not that of `reference`.

    One document is inserted the same, ordered or not: its order is no difference.
    """
    wanted = seen.get(reference, {})
    return {
        client: [kind for kind, words in kinds.items() if kind in wanted and _work(words) != _work(wanted[kind])]
        for client, kinds in seen.items()
    }


def _work(words: str) -> list[str]:
    """The shapes without the order of inserts that have no second document."""
    return list(dict.fromkeys(_ORDER_OF_ONE.sub(r"\1", shape) for shape in words.split(_ALSO)))


def _shape(noted: Mapping[str, Any]) -> tuple[str, str] | None:
    command = noted.get("command", {})
    match noted.get("op"):
        case "query":
            if command.get("filter") == {"_id": ""}:
                return None
            return "find", _find(noted, command)
        case "update":
            return "update", _update(noted, command)
        case "insert":
            return "insert", _insert(noted, command)
    return None


def _insert(noted: Mapping[str, Any], command: Mapping[str, Any]) -> str:
    # Documents are no part of what is noted, or are cut off; how many went in is there always.
    if "insert" not in command:
        order = "order not noted"
    else:
        order = "ordered" if command.get("ordered", _ORDERED_BY_DEFAULT) else "unordered"
    return ", ".join([f"insert of {noted.get('ninserted', 0)}", order, *_concern(noted, "writeConcern")])


def _find(noted: Mapping[str, Any], command: Mapping[str, Any]) -> str:
    parts = [f"find by {_keys(command.get('filter', {}))}"]
    parts.append(f"limit {command['limit']}" if "limit" in command else "no limit")
    if command.get("projection"):
        parts.append(f"projection of {len(command['projection'])} fields")
    parts += _concern(noted, "readConcern")
    parts.append("in a session" if "lsid" in command else "in no session")
    parts.append(f"{noted.get('nreturned', 0)} returned")
    parts.append(str(noted.get("planSummary", "no plan")))
    return ", ".join(parts)


def _update(noted: Mapping[str, Any], command: Mapping[str, Any]) -> str:
    changes = command.get("u", {})
    what = ", ".join(f"{operator} of {len(fields)} field" for operator, fields in changes.items())
    parts = [f"update by {_keys(command.get('q', {}))}", what, f"{noted.get('nMatched', 0)} matched"]
    parts += [option for option in ("multi", "upsert") if command.get(option)]
    parts.append(str(noted.get("planSummary", "no plan")))
    return ", ".join(parts)


def _concern(noted: Mapping[str, Any], name: str) -> list[str]:
    """The concern that the client asked for, where it asked for one: what the server supplies is no client's."""
    concern = noted.get(name, {})
    if concern.get("provenance", _OF_CLIENT) != _OF_CLIENT:
        return []
    said = [f"{key} {value}" for key, value in sorted(concern.items()) if key in _CONCERN_KEYS and value is not None]
    return [f"{name} {' '.join(said)}"] if said else []


def _keys(condition: Mapping[str, Any]) -> str:
    return " and ".join(condition) or "nothing"
