"""Owns claims that join results: ratios, words for a change, and figures that should be the same."""

from collections.abc import Callable, Iterator, Mapping

from brimline.analysis.finding import Finding, Standing
from brimline.analysis.lint.claims import Claims, Ratio, Repeated
from brimline.analysis.lint.derived import stated
from brimline.analysis.lint.figure import Figure, compare, number_text
from brimline.units import format_duration, format_percentage
from brimline.wording import message

SAID_MAX = {"unchanged": 0.02, "slight": 0.10}
"""The largest change that a word may stand for, as a share."""
REPEATS_APART_MAX = 0.05
"""Spread of repeats, as a share of the smallest, from which one of them alone says little."""
_FORMS: Mapping[str, Callable[[float], str]] = {"": number_text, "ns": format_duration, "share": format_percentage}


def relation_findings(claims: Claims) -> Iterator[Finding]:
    """Every ratio and every repetition."""
    for ratio in claims.ratios:
        yield from _ratio(ratio, claims)
    for repeated in claims.repeated:
        yield _repeated(repeated)


def figure_of(claims: Claims, result_name: str, figure: str) -> Figure | None:
    """A figure by the name of its field, or a percentile by its name, of the result of that name."""
    result = claims.result(result_name)
    if result is None:
        return None
    if figure.startswith("p") and figure[1:2].isdigit():
        return result.percentiles_ns.get(round(float(figure[1:]) / 100, 9))
    value = getattr(result, figure, None)
    return value if isinstance(value, Figure) else None


def _ratio(ratio: Ratio, claims: Claims) -> Iterator[Finding]:
    of, to = figure_of(claims, ratio.of, ratio.figure), figure_of(claims, ratio.to, ratio.figure)
    if of is None or to is None or not to.value:
        evidence = message("{subject}: one of the two results lacks the figure", subject=ratio.name)
        yield Finding("ratio", Standing.UNKNOWN, evidence)
        return
    recomputed = of / to
    if ratio.value is not None:
        how = message("{of} / {to}", of=ratio.of, to=ratio.to)
        yield stated(
            "ratio",
            ratio.name,
            compare(ratio.value, recomputed),
            number_text(ratio.value.value),
            number_text(recomputed.value),
            how,
        )
    if ratio.said:
        yield _said(ratio, recomputed.value - 1)


def _said(ratio: Ratio, change: float) -> Finding:
    shown = message(
        '{subject}: called "{said}", the change is {sign}{change}',
        subject=ratio.name,
        said=ratio.said,
        sign="+" if change >= 0 else "−",
        change=format_percentage(abs(change)),
    )
    within = abs(change) <= SAID_MAX[ratio.said]
    return Finding("words", Standing.PASS if within else Standing.FAIL, shown)


def _repeated(repeated: Repeated) -> Finding:
    values = sorted(repeated.values, key=lambda each: each.value)
    low, high = values[0], values[-1]
    if repeated.exact:
        form = _FORMS[repeated.unit]
        one = repeated.values[0]
        other = max(repeated.values[1:], key=lambda each: abs(each.value - one.value))
        how = "the same figure elsewhere"
        return stated("restated", repeated.name, compare(one, other), form(one.value), form(other.value), how)
    spread = (high.value - low.value) / low.value if low.value else 0.0
    shown = message("{subject}: repeats differ by {spread}", subject=repeated.name, spread=format_percentage(spread))
    if spread <= REPEATS_APART_MAX:
        return Finding("repeats", Standing.PASS, shown)
    evidence = message("{shown}; none of them alone is the figure", shown=shown)
    return Finding("repeats", Standing.WARN, evidence)
