"""A record as pandas data frames, for notebooks. pandas is an extra: it is imported here only, on request."""

from typing import Any

from brimline.errors import UsageError
from brimline.record.model import OperationRow, RunRecord

_QUANTILES = (0.5, 0.9, 0.95, 0.99, 0.999, 0.9999)


def frames(record: RunRecord) -> dict[str, Any]:
    """`operations`, `intervals`, `server` (row by row) and `quantiles` (measured window.

    Index operation, clock; ns).

    Raises UsageError when pandas isn't installed.
    """
    try:
        import pandas
    except ImportError as error:
        raise UsageError(
            "data frames need pandas, which isn't installed",
            hint="pip install 'brimline[frames]', or pip install pandas",
        ) from error
    index = pandas.MultiIndex.from_tuples(list(record.histograms), names=["operation", "clock"])
    quantiles = pandas.DataFrame(
        [
            {"count": histogram.count(), "mean_ns": histogram.mean()}
            | {f"p{quantile * 100:g}_ns": histogram.quantile(quantile) for quantile in _QUANTILES}
            | {"max_ns": histogram.max()}
            for histogram in record.histograms.values()
        ],
        index=index if record.histograms else None,
    )
    return {
        "operations": pandas.DataFrame(record.operations, columns=list(OperationRow.__annotations__)),
        "intervals": pandas.DataFrame(record.intervals),
        "server": pandas.DataFrame(record.server),
        "quantiles": quantiles,
    }
