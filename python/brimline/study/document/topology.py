"""Owns the drawing of where it ran: the load generator, what is between, and the servers of each topology."""

import re
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from itertools import pairwise
from typing import Any

from brimline.report.view import Drawing
from brimline.study.document.made import Made
from brimline.study.spec import StudySpec

_BOX_WIDTH, _BOX_HEIGHT, _GAP, _COLUMN = 168, 46, 12, 220
_SHARDS_OF = re.compile(r"client-routed-(?P<shards>\d+)(?:x(?P<members>\d+))?")
_SET = re.compile(r"replica-set-(?P<members>\d+)")
_SHARDED = re.compile(r"sharded-(?P<shards>\d+)(?:x(?P<members>\d+))?")


def drawing(spec: StudySpec, made: Sequence[Made]) -> Drawing | None:
    """All topologies of a study, one below the other; None where nothing was measured."""
    names = list(dict.fromkeys(_names(spec, made)))
    if not names:
        return None
    parts, y = [], 8
    for name, columns in names:
        part, height = _topology(name, columns, y)
        parts.append(part)
        y += height + 26
    width = max(len(columns) for _, columns in names) * _COLUMN + _BOX_WIDTH + 2
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {y}" width="{width}" height="{y}" role="img" '
        'font-family="sans-serif" font-size="13">'
        '<defs><marker id="arrow" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" markerHeight="7" orient="auto">'
        '<path d="M0 0L10 5L0 10z" fill="#5f6b7a"/></marker></defs>' + "".join(parts) + "</svg>"
    )
    summary = "The load generator is on the left, its servers on the right."
    return Drawing(id="topology", title="Topology", summary=summary, svg=svg)


Columns = tuple[tuple[str, ...], ...]


def _names(spec: StudySpec, made: Sequence[Made]) -> Iterator[tuple[str, Columns]]:
    for each in made:
        if each.report is None:
            continue
        if each.experiment.server is not None:
            yield each.experiment.server, _of_lab(spec.servers[each.experiment.server])
        for topology in _topologies(each.entry.words):
            yield topology, _of_topology(topology)


def _topologies(words: Sequence[str]) -> list[str]:
    for option, value in pairwise(words):
        if option == "--topology":
            return [value]
        if option == "--vary" and value.startswith("topology="):
            return value.partition("=")[2].split(",")
    return ["standalone"] if "--uri" not in words else []


def _of_topology(name: str) -> Columns:
    if found := _SHARDS_OF.fullmatch(name):
        return (_servers(int(found["shards"]), int(found["members"] or 1)),)
    if found := _SHARDED.fullmatch(name):
        return ("mongos",), _servers(int(found["shards"]), int(found["members"] or 1))
    if found := _SET.fullmatch(name):
        return (_servers(1, int(found["members"])),)
    return (("mongod",),)


def _of_lab(words: Mapping[str, Any]) -> Columns:
    database = next((name for name in ("mariadb", "postgres") if words.get(name)), "mongod")
    if service := words.get("order-service"):
        return ("order service",), ("mongod" if service == "mongodb" else str(service),)
    if shards := words.get("client-routed"):
        return (_servers(int(shards), int(words.get("replica-set", 1))),)
    if members := words.get("replica-set"):
        return (_servers(1, int(members)),)
    return ((database,),)


def _servers(shards: int, members: int) -> tuple[str, ...]:
    if shards == 1:
        return tuple(f"member {member}" for member in range(1, members + 1))
    return tuple(
        f"shard {shard}" + (f", member {member}" if members > 1 else "")
        for shard in range(1, shards + 1)
        for member in range(1, members + 1)
    )


def _topology(name: str, columns: Columns, top: int) -> tuple[str, int]:
    height = 20 + max(len(each) for each in columns) * (_BOX_HEIGHT + _GAP)
    middle = top + 20 + (height - 20 - _GAP) // 2
    parts = [
        f'<text x="0" y="{top + 12}" font-weight="600" fill="#1f2933">{escape(name)}</text>',
        _box(0, middle - _BOX_HEIGHT // 2, "brimline", "#e5f3ec"),
    ]
    before = [(0, middle)]
    for number, column in enumerate(columns, start=1):
        tall = len(column) * (_BOX_HEIGHT + _GAP) - _GAP
        places = []
        for row, label in enumerate(column):
            y = middle - tall // 2 + row * (_BOX_HEIGHT + _GAP)
            parts.append(_box(number * _COLUMN, y, label, "#eef1f4"))
            places.append((number * _COLUMN, y + _BOX_HEIGHT // 2))
        parts += [_arrow(x + _BOX_WIDTH, y, to_x, to_y) for x, y in before for to_x, to_y in places]
        before = places
    return "".join(parts), height


def _box(x: int, y: int, label: str, fill: str) -> str:
    return (
        f'<rect x="{x + 1}" y="{y}" width="{_BOX_WIDTH - 2}" height="{_BOX_HEIGHT}" rx="6" '
        f'fill="{fill}" stroke="#9aa5b1"/>'
        f'<text x="{x + _BOX_WIDTH // 2}" y="{y + _BOX_HEIGHT // 2 + 5}" text-anchor="middle" fill="#1f2933">'
        f"{escape(label)}</text>"
    )


def _arrow(x: int, y: int, to_x: int, to_y: int) -> str:
    return f'<path d="M{x} {y}L{to_x - 2} {to_y}" stroke="#5f6b7a" fill="none" marker-end="url(#arrow)"/>'
