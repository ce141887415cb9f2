"""Owns the operations of a workload that is written: from commands that were seen, with shares and rates."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from brimline.init.command_groups import CommandGroup, CommandGroups
from brimline.init.holes import holes_in
from brimline.init.observed import Observations
from brimline.init.popularity import Popularity, popularity
from brimline.init.step_writer import StepWriter
from brimline.init.words import operation_name
from brimline.init.yaml_text import Noted
from brimline.units import counted, format_count, format_duration, format_percentage, format_rate

OPERATIONS_MAX = 64
_RATE_COMMANDS_MIN = 20
_RATE_COVERED_S_MIN = 5.0
_SHARE_DECIMALS = 2
_FIELDS_IN_NAME = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Operations:
    """Operations as a spec has them, what is to be said of them, and the rate of all together where it is known."""

    operations: Mapping[str, Any]
    notes: Sequence[str] = ()
    rate_ops_per_s: float | None = None
    not_taken: Sequence[str] = field(default_factory=tuple)


def seen_operations(groups: CommandGroups, observations: Observations, writer: StepWriter) -> Operations:
    """The operations behind the commands that a source told of, the most frequent first, 64 at most."""
    ranked = sorted(groups.groups.values(), key=lambda each: -each.times)
    taken, rest = ranked[:OPERATIONS_MAX], ranked[OPERATIONS_MAX:]
    total = sum(each.times for each in taken)
    rate = _rate(groups.times, observations)
    names: set[str] = set()
    found: dict[str, Any] = {}
    for group, share in zip(taken, _shares([each.times for each in taken]), strict=True):
        step = writer.write(group)
        name = operation_name(_name_parts(group), names)
        found[name] = Noted(
            {"share": share, **step},
            above=[_seen_words(group, total, observations.covered_s), *_guess_lines(writer.guesses, group)],
        )
    return Operations(
        operations=found,
        notes=_notes(groups, observations),
        rate_ops_per_s=None if observations.only_slow else rate,
        not_taken=_not_taken(groups, observations, rest),
    )


def key_laws(groups: CommandGroups, writer: StepWriter) -> dict[str, Popularity]:
    """How even the keys of each loaded collection are asked for, by how often equal keys came."""
    drawn: dict[str, Counter[Any]] = {}
    dropped: set[str] = set()
    for group in groups.groups.values():
        name = group.request.collection
        for hole in holes_in(group.request.arguments):
            target = name if hole.field == "_id" else writer.references.get((name, hole.field))
            if hole.role != "equal" or target is None or target not in writer.values.loaded:
                continue
            shape = group.holes[hole.number].shape
            if shape.many:
                dropped.add(target)
            drawn.setdefault(target, Counter()).update(shape.distinct)
    laws = {}
    for name, counts in drawn.items():
        law = None if name in dropped else popularity(counts.values(), key_count=writer.values.counts.get(name, 0))
        if law is not None:
            laws[name] = law
    return laws


def _name_parts(group: CommandGroup) -> list[str]:
    request = group.request
    kind = request.kind
    if request.arguments.get("many"):
        kind = f"{kind}_many"
    conditions = request.arguments.get("filter")
    if kind == "aggregate":
        stages = request.arguments.get("pipeline") or []
        conditions = stages[0].get("$match") if stages and isinstance(stages[0], Mapping) else None
    fields = _fields_of(conditions)[:_FIELDS_IN_NAME]
    return [kind, request.collection, *(["by", *fields] if fields else [])]


def _fields_of(conditions: Any) -> list[str]:
    if not isinstance(conditions, Mapping):
        return []
    found: list[str] = []
    for name, value in conditions.items():
        if not name.startswith("$"):
            found.append("id" if name == "_id" else name)
        elif isinstance(value, list):
            found += [each for inner in value for each in _fields_of(inner)]
    return list(dict.fromkeys(found))


def _shares(times: Sequence[int]) -> list[str]:
    """Percentages that add up to 100, none of them 0."""
    total = sum(times)
    least = 10**-_SHARE_DECIMALS
    shares = [max(round(100 * each / total, _SHARE_DECIMALS), least) for each in times]
    largest = max(range(len(shares)), key=shares.__getitem__) if shares else 0
    if shares:
        shares[largest] = round(shares[largest] + 100 - sum(shares), _SHARE_DECIMALS)
    return [f"{each:g}%" for each in shares]


def _rate(times: int, observations: Observations) -> float | None:
    covered = observations.covered_s
    if covered is None or covered < _RATE_COVERED_S_MIN or times < _RATE_COMMANDS_MIN:
        return None
    return times / covered


def _seen_words(group: CommandGroup, total: int, covered_s: float | None) -> str:
    said = [f"{times_words(group.times)}, {format_percentage(group.times / total)}"]
    if covered_s is not None and covered_s >= _RATE_COVERED_S_MIN:
        said.append(f"{format_rate(group.times / covered_s)} on average")
    if group.mean_ms:
        said.append(f"{format_duration(group.mean_ms * 1e6)} each on the server")
    if group.summaries:
        said.append(group.summaries.most_common(1)[0][0])
    return ", ".join(said)


def _guess_lines(guesses: Sequence[str], group: CommandGroup) -> list[str]:
    lines = [f"guess: {each}" for each in guesses]
    if group.in_transaction:
        lines.append(
            f"guess: {format_count(group.in_transaction)} of them were in transactions; here each stands alone"
        )
    return lines


def times_words(count: int) -> str:
    """How often, in words."""
    return "once" if count == 1 else f"{format_count(count)} times"


def _notes(groups: CommandGroups, observations: Observations) -> list[str]:
    covered = observations.covered_s
    time = "" if covered is None else f" over {format_duration(covered * 1e9)}"
    notes = [f"Operations are from {observations.source}: {counted(groups.times, 'command')}{time}."]
    if observations.only_slow:
        notes.append("It holds slow operations only, so shares and rates are of the slow ones, not of all.")
    return notes


def _not_taken(groups: CommandGroups, observations: Observations, rest: Sequence[CommandGroup]) -> list[str]:
    """What is not in the operations, each with how often it came."""
    found = [f"{reason}: {times_words(count)}" for reason, count in groups.not_translated.most_common()]
    if rest:
        times = sum(each.times for each in rest)
        found.append(f"{len(rest)} rarer shapes beyond {OPERATIONS_MAX} operations: {times_words(times)}")
    found += [
        f"left out as no operation: {what}: {times_words(count)}" for what, count in observations.left_out.most_common()
    ]
    return found
