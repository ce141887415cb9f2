"""Owns what comparisons say of figures that lag of the generator spoils, or is a good part of."""

from collections.abc import Iterator, Sequence

from brimline.analysis.compared_run import METRIC_QUANTILES, ComparedRun, Metric
from brimline.units import format_percentage
from brimline.wording import Verbatim, joined, message

SPOILT_ADVICE = "offer a lower rate, or give the generator more CPU"
"""What helps where the generator was late: more such runs would not."""


def spoilt_metrics(run: ComparedRun) -> list[Metric]:
    """The metrics that a run would have a figure of, were lag not most of it."""
    return [each for each in run.metrics if is_spoilt(run, each.key)]


def is_spoilt(run: ComparedRun, key: str) -> bool:
    """Whether `key` is such a metric."""
    quantile = METRIC_QUANTILES.get(key)
    return quantile is not None and run.spoilt(quantile) and quantile not in run.bounds


def spoilt_text(run: ComparedRun) -> str:
    """Which figures of a run are left out and why; "" where none is."""
    spoilt = spoilt_metrics(run)
    if not spoilt:
        return ""
    shares = [
        message(
            "{metric} ({share})",
            metric=each.label,
            share=format_percentage(run.lag_shares[METRIC_QUANTILES[each.key]]),
        )
        for each in spoilt
    ]
    return message(
        "the generator sent late, and figures are left out of which its lag may be most: {figures}",
        figures=joined(", ", shares),
    )


def lag_warnings(a: Sequence[ComparedRun], b: Sequence[ComparedRun]) -> Iterator[str]:
    """Figures that are left out, by run, and the largest part that lag may be of one that is compared."""
    for side, runs in (("A", a), ("B", b)):
        for run in runs:
            if text := spoilt_text(run):
                yield message("{name} ({side}): {evidence}", name=Verbatim(run.name), side=side, evidence=text)
    told = [
        (run.lag_shares[quantile], run, metric)
        for run in (*a, *b)
        for metric in run.metrics
        if metric.decides and metric.key in run.figures
        and (quantile := METRIC_QUANTILES.get(metric.key, 0.0)) in run.lag_shares
    ]  # fmt: skip
    if told:
        share, run, metric = max(told, key=lambda each: each[0])
        yield message(
            "Lag of the generator may be up to {share} of a figure that is compared ({metric} of {name}): as much of a "
            "difference may be its.",
            share=format_percentage(share),
            metric=metric.label,
            name=Verbatim(run.name),
        )
