"""Owns JTL files whose figures are known by formula."""

import csv
import io
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

START_MS = 1_700_000_000_000
COLUMNS = (
    "timeStamp,elapsed,label,responseCode,responseMessage,threadName,dataType,success,failureMessage,bytes,sentBytes,"
    "grpThreads,allThreads,URL,Latency,IdleTime,Connect"
)


class Sample(NamedTuple):
    start_ms: int
    elapsed_ms: int
    label: str = "GET order"
    success: bool = True
    message: str = ""
    threads: int = 5


def row(sample: Sample, delimiter: str = ",") -> str:
    code = "200" if sample.success else "500"
    cells = (
        *(sample.start_ms, sample.elapsed_ms, sample.label, code, "OK", "Users 1-1", "text"),
        *(str(sample.success).lower(), sample.message, 1000, 200, sample.threads, sample.threads),
        *("http://h/order/1", sample.elapsed_ms, 0, 1),
    )
    text = io.StringIO()
    csv.writer(text, delimiter=delimiter, lineterminator="\n").writerow(cells)
    return text.getvalue().removesuffix("\n")


def write(path: Path, samples: Iterable[Sample], *, delimiter: str = ",") -> Path:
    lines = [COLUMNS.replace(",", delimiter), *(row(each, delimiter) for each in samples)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def uniform(count: int = 1000, *, label: str = "GET order", first_ms: int = START_MS) -> list[Sample]:
    """1 ms to `count` ms, each once, one every 10 ms: mean (n + 1) / 2, the q-quantile is q·n ms."""
    return [Sample(first_ms + 10 * each, each, label) for each in range(1, count + 1)]


def write_lines(path: Path, lines: Sequence[str]) -> Path:
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path
