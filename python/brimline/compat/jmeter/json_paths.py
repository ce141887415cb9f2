"""Owns JSONPath as far as it leads to one place: names and positions, into the dotted path of a workload."""

import re
from typing import Final

_PART: Final = re.compile(r"\.([\w-]+)|\['([^'\].]+)'\]|\[\"([^\"\].]+)\"\]|\[(\d+)\]")


def dotted_path(path: str) -> str | None:
    """`$.items[0].id` is `items.0.id`; None where it may lead to several places, or is a filter."""
    path = path.strip()
    if not path.startswith("$"):
        return None
    parts: list[str] = []
    at = 1
    while at < len(path):
        found = _PART.match(path, at)
        if found is None:
            return None
        parts.append(next(each for each in found.groups() if each is not None))
        at = found.end()
    return ".".join(parts)


def dotted_jmes(path: str) -> str | None:
    """Likewise of a JMESPath: `items[0].id`."""
    return dotted_path(f"$.{path.strip()}") if re.match(r"[A-Za-z_]", path.strip()) else None
