"""A record as pandas data frames, for notebooks. pandas is an extra: it is imported here only, on request."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from brimline.errors import UsageError
from brimline.record.time_histogram import Histogram, IntervalHistogram

_QUANTILES = (0.5, 0.9, 0.95, 0.99, 0.999, 0.9999)


def frames(
    rows: Mapping[str, tuple[Sequence[Mapping[str, Any]], list[str] | None]],
    histograms: Mapping[tuple[str, str], Histogram],
    interval_histograms: Iterable[IntervalHistogram],
) -> dict[str, Any]:
    """`operations`, `steps`, `intervals`, `server` (row by row), `quantiles` and `quantiles_over_time`; times in ns.

    `quantiles` are of the measured window, by operation and clock; `quantiles_over_time` of each interval, by
    operation, clock and `start_s`, the seconds since the run's start, so that a p99 over time is
    `frames["quantiles_over_time"].loc["read", "service"]["p99_ns"]`.

    Raises UsageError when pandas isn't installed.
    """
    try:
        import pandas
    except ImportError as error:
        raise UsageError(
            "data frames need pandas, which isn't installed",
            hint="pip install 'brimline[frames]', or pip install pandas",
        ) from error
    over_time, told = [], []
    for each in interval_histograms:
        over_time.append((each.operation, each.clock, each.start_ns / 1e9))
        told.append(_figures(each.histogram))
    return {
        **{name: pandas.DataFrame(its, columns=columns) for name, (its, columns) in rows.items()},
        "quantiles": _indexed(
            pandas,
            [_figures(each) for each in histograms.values()],
            list(histograms),
            ["operation", "clock"],
        ),
        "quantiles_over_time": _indexed(pandas, told, over_time, ["operation", "clock", "start_s"]),
    }


def _figures(histogram: Histogram) -> dict[str, float]:
    """A row of quantiles, in ns."""
    return (
        {"count": histogram.count(), "mean_ns": histogram.mean()}
        | {f"p{quantile * 100:g}_ns": histogram.quantile(quantile) for quantile in _QUANTILES}
        | {"max_ns": histogram.max()}
    )


def _indexed(pandas: Any, rows: list[dict[str, float]], keys: list[Any], names: list[str]) -> Any:
    index = pandas.MultiIndex.from_tuples(keys, names=names) if keys else None
    return pandas.DataFrame(rows, index=index).sort_index(kind="stable") if keys else pandas.DataFrame(rows)
