"""Owns the candidate "generator": brimline's own engine was late, out of CPU, or near its ceiling."""

from brimline.analysis.bottleneck.evidence import BottleneckKind, Evidence, Fullness, fullness
from brimline.analysis.finding import Standing
from brimline.analysis.lateness import lag_text
from brimline.analysis.observation import Observation
from brimline.analysis.validity import GENERATOR_CHECKS, GENERATOR_CPU_SHARE_MAX, generator_headroom
from brimline.units import format_percentage
from brimline.wording import message

BUSY_SHARE_NEAR = 0.75
"""Share of a CPU from which the busiest thread has little room: bursts of 10 ms already fill it."""


def generator(observation: Observation, *, null_ceiling_ops_per_s: float | None = None) -> Evidence:
    """Full when a check of the generator failed, or when its ceiling is too low."""
    limits = generator_limits(observation, null_ceiling_ops_per_s=null_ceiling_ops_per_s)
    share = observation.generator.busiest_thread_share
    text = message("busiest generator thread {share} of a CPU", share=format_percentage(share))
    if limits:
        return Evidence(
            kind=BottleneckKind.GENERATOR,
            standing=Fullness.FULL,
            text=limits[0] if limits[0].startswith("busiest") else message("{limit}; {cpu}", limit=limits[0], cpu=text),
            verdict=message("the generator ({limit})", limit=limits[0]),
        )
    standing = fullness(share, full=GENERATOR_CPU_SHARE_MAX, near=BUSY_SHARE_NEAR)
    # A full thread without a failed check is that of a run on the null target, which is its own ceiling.
    return Evidence(
        kind=BottleneckKind.GENERATOR, standing=Fullness.NEAR if standing is Fullness.FULL else standing, text=text
    )


def generator_limits(observation: Observation, *, null_ceiling_ops_per_s: float | None = None) -> tuple[str, ...]:
    """Why the generator and not the target was the limit; empty when it was not.

    Lag is held against the server's median too (see `Lateness.limits`), whatever it changes of the figures: a search
    asks for more next. `null_ceiling_ops_per_s` counts where the observation was made without knowing it.
    """
    found = [
        each.evidence
        for each in observation.findings
        if each.name in GENERATOR_CHECKS and each.verdict is Standing.FAIL
    ]
    late, lag, response = observation.lateness, observation.lag, observation.response
    if late is not None and lag is not None and response is not None and late.limits:
        evidence = lag_text(lag, response, late.effects[None, 0.99])
        found.append(message("the generator sent late: {evidence}", evidence=evidence))
    headroom = generator_headroom(observation.throughput_ops_per_s, null_ceiling_ops_per_s)
    found += [each.evidence for each in headroom]
    return tuple(dict.fromkeys(found))
