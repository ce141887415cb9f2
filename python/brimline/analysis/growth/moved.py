"""Owns the statement about breakpoints of several growths: whether they lie elsewhere, such as with more shards."""

from collections.abc import Mapping, Sequence

from brimline.analysis.figure import Figure
from brimline.stats.ratio import Interval, Ratio, interval_ratio
from brimline.units import format_count, format_number
from brimline.wording import capitalised, message

BREAKS = ("query_break", "import_break")
"""How the keys of breakpoints begin; a growth without a break has its last volume there, without an upper end."""


def breaks_moved(growths: Sequence[tuple[str, Mapping[str, Figure]]]) -> list[str]:
    """Of each breakpoint whether it moves from the first growth to each other; a sentence each.

    `growths` have their level, such as a topology, and the figures of a growth.
    """
    if len(growths) < 2:
        return []
    (base, first), *others = growths
    keys = dict.fromkeys(key for _, figures in growths for key in figures if _is_break(key))
    return [
        sentence
        for key in keys
        for level, figures in others
        if (sentence := _sentence(base, first.get(key), level, figures.get(key))) is not None
    ]


def _is_break(key: str) -> bool:
    return key.rpartition(".")[2].startswith(BREAKS) or key.startswith(BREAKS)


def _sentence(base: str, a: Figure | None, level: str, b: Figure | None) -> str | None:
    if a is None or b is None:
        return None
    found_a, found_b = a.high is not None, b.high is not None
    if not found_a and not found_b:
        return capitalised(
            message(
                "{what}: none with {base} up to {a} records, and none with {level} up to {b}",
                what=a.label, base=base, a=_count(a), level=level, b=_count(b),
            )
        )  # fmt: skip
    ratio = interval_ratio(_interval(a), _interval(b))
    return capitalised(
        message(
            "{what}: {change} with {level}, {ratio}; {a} records with {base}, {b} with {level}",
            what=a.label, change=_change(ratio), level=level, ratio=_ratio_text(ratio), base=base,
            a=_place(a), b=_place(b),
        )
    )  # fmt: skip


def _change(ratio: Ratio) -> str:
    """Whether it moves, and where to; an end that isn't known proves nothing on its side."""
    if ratio.low > 1:
        return "it moves up"
    return "it moves down" if ratio.high < 1 else "no move is shown"


def _ratio_text(ratio: Ratio) -> str:
    """`2.0 times as many (95 % CI 1.7–2.4)`; one-sided where an end isn't known."""
    if ratio.low <= 0:
        return message("at most {high} times as many", high=format_number(ratio.high, digits=2))
    if ratio.high == float("inf"):
        return message("at least {low} times as many", low=format_number(ratio.low, digits=2))
    return message(
        "{ratio} times as many (95 % CI {low}–{high})",
        ratio=format_number(ratio.value, digits=2),
        low=format_number(ratio.low, digits=2),
        high=format_number(ratio.high, digits=2),
    )


def _interval(figure: Figure) -> Interval:
    return (figure.value, figure.low, figure.high)


def _place(figure: Figure) -> str:
    return _count(figure) if figure.high is not None else message("none up to {count}", count=_count(figure))


def _count(figure: Figure) -> str:
    return format_count(round(figure.value))
