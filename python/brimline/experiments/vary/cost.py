"""Owns what a factor sweep costs in time, to be said before it starts."""

import math

from brimline.experiments.cost import AROUND_RUN_S, NOTHING_PUT_BACK, PutBack, most_text
from brimline.experiments.vary.order import VarySettings
from brimline.units import NS_PER_S, format_count, format_duration, format_percentage
from brimline.wording import joined, message

_SAYS = {
    (False, False): "estimate: about {typical}, {runs} runs ({combinations} combinations, {blocks} blocks)",
    (False, True): "estimate: about {typical} to {longest}, {runs} to {runs_most} runs ({combinations} combinations, "
    "{blocks} to {blocks_most} blocks)",
    (True, False): "estimate: about {typical}, {runs} times {measure} of about {each} ({combinations} combinations)",
    (True, True): "estimate: about {typical} to {longest}, {runs} to {runs_most} times {measure} of about {each} "
    "({combinations} combinations)",
}
"""By whether another measure than a run is made, and whether blocks may follow after the least."""


def vary_cost_text(settings: VarySettings, *, own_server: bool, put_back: PutBack = NOTHING_PUT_BACK) -> str:
    """`estimate: about 6 min to 20 min, 30 to 100 runs (10 combinations, 3 to 10 blocks); …`."""
    count = len(settings.combinations)
    if settings.run_s == 0:
        return message(
            "estimate: {runs} times {measure} ({combinations} combinations), at most {most}; how long one takes shows "
            "with the first",
            measure=settings.measure,
            runs=format_count(settings.blocks * count),
            most=format_count(settings.blocks_max * count),
            combinations=format_count(count),
        )
    typical_s, longest_s = (_about_s(settings, put_back, blocks) for blocks in (settings.blocks, settings.blocks_max))
    goes_on = settings.blocks < settings.blocks_max
    words = {
        "measure": settings.measure,
        "each": format_duration(settings.run_s * NS_PER_S),
        "typical": format_duration(typical_s * NS_PER_S),
        "longest": format_duration(longest_s * NS_PER_S),
        "runs": format_count(settings.blocks * count),
        "runs_most": format_count(settings.blocks_max * count),
        "combinations": format_count(count),
        "blocks": format_count(settings.blocks),
        "blocks_most": format_count(settings.blocks_max),
        "around": format_duration(AROUND_RUN_S * NS_PER_S),
    }
    parts: list[str] = [message(_SAYS[settings.is_nested, goes_on], **words)]
    parts.append(
        most_text(_most_s(settings), puts_back=put_back.size_bytes > 0)
        if settings.is_nested
        else message("of that {around} around each run, without server starts and loading", around=words["around"])
    )
    if goes_on:
        parts.append(
            message(
                "further blocks until each is known within {precision}; exactly {blocks}: --repeats-max {blocks}",
                precision=format_percentage(settings.precision),
                blocks=format_count(settings.blocks),
            )
        )
    parts.extend(put_back.clauses(settings.blocks_max * count))
    if own_server and settings.apart:
        servers = len(settings.groups)
        parts.append(message("a server is started and loaded {count} times a block", count=format_count(servers)))
    return joined("; ", parts)


def _about_s(settings: VarySettings, put_back: PutBack, blocks: int) -> float:
    """About how long so many blocks take, with what is around each run."""
    runs = blocks * len(settings.combinations)
    around_s = 0.0 if settings.is_nested else runs * AROUND_RUN_S
    return min(runs * settings.run_s + around_s + put_back.seconds(runs), _budget_s(settings))


def _most_s(settings: VarySettings) -> float:
    return min(settings.blocks_max * len(settings.combinations) * settings.run_most_s, _budget_s(settings))


def _budget_s(settings: VarySettings) -> float:
    return math.inf if settings.budget_s is None else settings.budget_s


def rest_text(settings: VarySettings, first_s: float) -> str:
    """What the first of them tells of the others, where nothing was known beforehand."""
    left = settings.blocks * len(settings.combinations) - 1
    return message(
        "estimate: about {rest} more, {runs} times as long as the first, which took {first}",
        rest=format_duration(left * first_s * NS_PER_S),
        runs=format_count(left),
        first=format_duration(first_s * NS_PER_S),
    )
