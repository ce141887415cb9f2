"""Owns how a limit is shown: what was full, and every candidate with what was seen of it."""

from collections.abc import Mapping
from typing import Any

from brimline.analysis.bottleneck import NAMES, Bottleneck, BottleneckKind, Fullness, at_its_limit, bottleneck
from brimline.analysis.observation import Observation
from brimline.report.view import Block, Cell, Column, Fact, Facts, Section, Table, Text, Tone
from brimline.wording import capitalised, message

_WORDS: Mapping[Fullness, str] = {
    Fullness.FULL: "full",
    Fullness.NEAR: "near",
    Fullness.NOT: "room left",
    Fullness.UNKNOWN: "unknown",
}
_TONES: Mapping[Fullness, Tone] = {
    Fullness.FULL: "fail",
    Fullness.NEAR: "warn",
    Fullness.NOT: "pass",
    Fullness.UNKNOWN: "muted",
}
WHY = "Why"
"""The label of what limited a load."""
_CAPTION = (
    "In the order in which they are judged: the first full one is the limit, because causes stand before what they "
    "bring about. Unknown: the server or its host don't show it from here."
)


def limit_section(observation: Observation) -> Section:
    """What limited one run, or that nothing needed to; empty for a run without a server."""
    if observation.target == "null":
        return _section([])
    found = bottleneck(observation)
    if at_its_limit(observation):
        return _section(limit_blocks(found))
    met = Text(text="What was asked for was answered: nothing had to be full.", tone="muted")
    return _section([met, candidate_table(found)])


def limit_facts(observation: Observation) -> list[Fact]:
    """The same sentence for the first screen of a run; nothing where nothing was full, or needed to be."""
    if observation.target == "null" or not at_its_limit(observation):
        return []
    return [Fact(label=WHY, value=limit_sentence(bottleneck(observation)))]


def limit_blocks(limit: Bottleneck) -> list[Block]:
    """The limit in a sentence, its remarks, and the table of candidates."""
    blocks: list[Block] = [Text(text=limit_sentence(limit))]
    if limit.remarks:
        blocks.append(Facts(title="Evidence", facts=[Fact(label="", value=line) for line in limit.remarks]))
    return [*blocks, candidate_table(limit)]


def limit_sentence(limit: Bottleneck) -> str:
    """What was full, as a sentence of its own."""
    if limit.kind is BottleneckKind.UNDETERMINED:
        return "Undetermined: nothing that can be seen was full."
    return message("Limited by {limit}.", limit=limit.text)


def candidate_table(limit: Bottleneck) -> Table:
    """Every candidate, whether it was full, and what was seen."""
    return Table(
        columns=[
            Column(label="Candidate", numeric=False, leading=True),
            Column(label="State", numeric=False, tag=True),
            Column(label="Seen", numeric=False),
        ],
        rows=[
            [
                Cell(text=capitalised(NAMES[each.kind])),
                Cell(text=_WORDS[each.standing], tone=_TONES[each.standing]),
                Cell(text=each.text),
            ]
            for each in limit.candidates
        ],
        caption=_CAPTION,
    )


def limit_document(limit: Bottleneck | None) -> dict[str, Any] | None:
    """A limit as JSON; None stays None."""
    if limit is None:
        return None
    return {
        "kind": limit.kind.value,
        "text": limit.text,
        "evidence": list(limit.evidence),
        "candidates": [
            {"kind": each.kind.value, "standing": each.standing.value, "seen": each.text} for each in limit.candidates
        ],
    }


def run_limit_document(observation: Observation) -> dict[str, Any] | None:
    """The limit of one run as JSON; `reached`: whether it asked for more than it got. None without a server."""
    if observation.target == "null":
        return None
    return {"reached": at_its_limit(observation), **(limit_document(bottleneck(observation)) or {})}


def _section(blocks: list[Block]) -> Section:
    return Section(id="bottleneck", title="What limited it", short="Limit", blocks=blocks)
