"""Owns what the last intervals of a run showed, for those who look on while it goes on."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from itertools import groupby

from brimline import _native
from brimline.record.model import SampleRow, Samples
from brimline.units import NS_PER_S


@dataclass(frozen=True, slots=True, kw_only=True)
class Recent:
    """One interval of a run, all operations together; a quantile is None where nothing was answered."""

    end_s: float
    answered_per_s: float
    documents_per_s: float
    failed_share: float
    p50_ns: int | None
    p99_ns: int | None


def recent(samples: Samples, *, closed_loop: bool, apart: Collection[str] = ()) -> list[Recent]:
    """The intervals of `samples` in order, without the drain, in which nothing is offered any more.

    Times are service times in a closed loop, else response times. Operations with loads `apart` are left out.
    Decodes some kilobytes for each interval, so it is for those only who show it.
    """
    rows = [row for row in _offered(samples) if row["operation"] not in apart]
    return [_interval(span, list(own), closed_loop=closed_loop) for span, own in groupby(rows, key=_span)]


def latest_by_operation(samples: Samples, *, closed_loop: bool) -> dict[str, Recent]:
    """The last interval of `samples` operation by operation; what was not at work in it is missing."""
    rows = _offered(samples)
    last = [row for row in rows if _span(row) == _span(rows[-1])] if rows else []
    names = dict.fromkeys(row["operation"] for row in last)
    return {
        name: _interval(_span(rows[-1]), [row for row in last if row["operation"] == name], closed_loop=closed_loop)
        for name in names
    }


def _offered(samples: Samples) -> list[SampleRow]:
    """Rows in the order of time, without those of the drain."""
    drained = {(each["start_ns"], each["end_ns"]) for each in samples["intervals"] if each["phase"] == "drain"}
    return sorted((row for row in samples["operations"] if _span(row) not in drained), key=_span)


def _span(row: SampleRow) -> tuple[int, int]:
    return row["start_ns"], row["end_ns"]


def _interval(span: tuple[int, int], rows: list[SampleRow], *, closed_loop: bool) -> Recent:
    answered, failed = sum(row["ok"] + row["miss"] for row in rows), sum(row["failed"] for row in rows)
    per_s = NS_PER_S / max(span[1] - span[0], 1)
    times = _merged((row["service"] if closed_loop else row["response"]) for row in rows)
    known = times is not None and times.count() > 0
    return Recent(
        end_s=span[1] / NS_PER_S,
        answered_per_s=answered * per_s,
        documents_per_s=sum(row["documents"] for row in rows) * per_s,
        failed_share=failed / max(answered + failed, 1),
        p50_ns=times.quantile(0.5) if times is not None and known else None,
        p99_ns=times.quantile(0.99) if times is not None and known else None,
    )


def _merged(texts: Iterable[str | None]) -> _native.Histogram | None:
    merged: _native.Histogram | None = None
    for text in texts:
        if text is not None:
            each = _native.Histogram.decode(text)
            if merged is None:
                merged = each
            else:
                merged.merge(each)
    return merged
