"""Owns what is different between two sets of runs before any figure is: plan, server, hosts, versions.

A change without the list of what was changed can't be believed: the other server had another kernel, too.
"""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from brimline.analysis.compared_run import ComparedRun
from brimline.analysis.configured import short_hash
from brimline.units import UNKNOWN_TEXT, format_bytes, format_duration
from brimline.wording import Verbatim, joined, message

ASKED = ("plan", "search", "import", "tool")
"""Where it is said what is measured; the rest is what it is measured on."""
_REPEATED = ("seed", "budget_s")
"""What may differ among repeats."""
_TEXT_LENGTH_MAX = 200
"""What is longer is cut, and told apart by its hash."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One setting that is not the same in all runs: its values in A and in B, each once, as text."""

    where: str  # see `Settings`
    name: str
    a: tuple[str, ...]
    b: tuple[str, ...]


def configuration_differences(a: Sequence[ComparedRun], b: Sequence[ComparedRun]) -> tuple[Difference, ...]:
    """What differs between A and B, or among the runs of one of them; in the order plan, server, hosts, versions."""
    of_a, of_b = [run.settings for run in a], [run.settings for run in b]
    names = dict.fromkeys(name for settings in (*of_a, *of_b) for name in settings)
    differences = [
        Difference(where, name, _values(of_a, where, name), _values(of_b, where, name)) for where, name in names
    ]
    return tuple(each for each in differences if len(each.a) > 1 or len(each.b) > 1 or each.a != each.b)


def typical_differences(a: Sequence[ComparedRun], b: Sequence[ComparedRun]) -> tuple[Difference, ...]:
    """What most runs of A have otherwise than most of B: what was changed about where A ends and B begins."""
    of_a, of_b = [run.settings for run in a], [run.settings for run in b]
    names = dict.fromkeys(name for settings in (*of_a, *of_b) for name in settings)
    differences = [
        Difference(where, name, (_typical(of_a, where, name),), (_typical(of_b, where, name),)) for where, name in names
    ]
    return tuple(each for each in differences if each.a != each.b)


def difference_text(each: Difference) -> str:
    """`lab network: local → 5ms`."""
    return message("{where} {name}: {a} → {b}", where=each.where, name=Verbatim(each.name),
                   a=joined(", ", each.a), b=joined(", ", each.b))  # fmt: skip


def plan_differences(a: ComparedRun, b: ComparedRun) -> tuple[Difference, ...]:
    """What differs between what two records were asked for, but for what repeats may differ in."""
    differences = configuration_differences([a], [b])
    return tuple(each for each in differences if each.where in ASKED and each.name not in _REPEATED)


def _values(runs: Sequence[Mapping[tuple[str, str], Any]], where: str, name: str) -> tuple[str, ...]:
    """The values of one setting, each once, in the order of the runs."""
    return tuple(dict.fromkeys(_text(where, name, settings.get((where, name))) for settings in runs))


def _typical(runs: Sequence[Mapping[tuple[str, str], Any]], where: str, name: str) -> str:
    """The value that most runs have, of several the first."""
    return Counter(_text(where, name, settings.get((where, name))) for settings in runs).most_common(1)[0][0]


def _text(where: str, name: str, value: Any) -> str:
    """A plan leaves nothing open, so that what it lacks is not set; what an environment lacks isn't known.

    Messages without a compressor are known to have none, and a run without workers is of one client. Values are
    the same in every language; that one is not set or not known, yes and no are brimline's words.
    """
    if value is None:
        is_known = where in ("plan", "server options", "lab", "workers") or (where, name) == ("server", "compressor")
        return "not set" if is_known else UNKNOWN_TEXT
    if isinstance(value, bool):
        return "yes" if value else "no"
    if name.endswith("_ns") and isinstance(value, int):
        return format_duration(value)
    if name.endswith("_bytes") and isinstance(value, int):
        return format_bytes(value)
    text = _value_text(value)
    return Verbatim(text if len(text) <= _TEXT_LENGTH_MAX else f"{text[:_TEXT_LENGTH_MAX]}… ({short_hash(text)})")


def _value_text(value: Any) -> str:
    """A list of plain values as people write one, what is nested as JSON has it."""
    if isinstance(value, float):
        return f"{value:g}"
    if not isinstance(value, (list, tuple)):
        return str(value)
    if any(isinstance(each, (list, tuple, Mapping)) or each is None or isinstance(each, bool) for each in value):
        return json.dumps(value, ensure_ascii=False)
    return ", ".join(map(_value_text, value))
