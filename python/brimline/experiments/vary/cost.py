"""Owns what a factor sweep costs in time, to be said before it starts."""

from brimline.experiments.cost import NOTHING_PUT_BACK, PutBack, most_text
from brimline.experiments.vary.order import VarySettings
from brimline.units import NS_PER_S, format_count, format_duration, format_percentage
from brimline.wording import joined, message


def vary_cost_text(settings: VarySettings, *, own_server: bool, put_back: PutBack = NOTHING_PUT_BACK) -> str:
    """`estimate: about 6 min, 30 runs (10 combinations, 3 blocks); at most 20 min, without 6 starts and loads …`."""
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
    putting_back_s = put_back.seconds(settings.blocks * count)
    least_s = settings.blocks * count * settings.run_s + putting_back_s
    most_s = settings.blocks_max * count * settings.run_most_s
    if settings.budget_s is not None:
        least_s, most_s = min(least_s, settings.budget_s), min(most_s, settings.budget_s)
    parts: list[str] = [
        message(
            "estimate: about {typical}, {runs} times {measure} of about {each} ({combinations} combinations)"
            if settings.is_nested
            else "estimate: about {typical}, {runs} runs ({combinations} combinations, {blocks} blocks)",
            measure=settings.measure,
            each=format_duration(settings.run_s * NS_PER_S),
            typical=format_duration(least_s * NS_PER_S),
            runs=format_count(settings.blocks * count),
            combinations=format_count(count),
            blocks=format_count(settings.blocks),
        ),
        most_text(most_s, puts_back=putting_back_s > 0),
    ]
    if settings.blocks < settings.blocks_max:
        parts.append(
            message(
                "further blocks until each is known within {precision}, at most {most} in all (--repeats-max)",
                precision=format_percentage(settings.precision),
                most=format_count(settings.blocks_max),
            )
        )
    parts.extend(put_back.clauses(settings.blocks * count))
    if own_server and settings.apart:
        servers = len(settings.groups)
        parts.append(message("a server is started and loaded {count} times a block", count=format_count(servers)))
    return joined("; ", parts)


def rest_text(settings: VarySettings, first_s: float) -> str:
    """What the first of them tells of the others, where nothing was known beforehand."""
    left = settings.blocks * len(settings.combinations) - 1
    return message(
        "estimate: about {rest} more, {runs} times as long as the first, which took {first}",
        rest=format_duration(left * first_s * NS_PER_S),
        runs=format_count(left),
        first=format_duration(first_s * NS_PER_S),
    )
