"""What an import says of itself on stderr while it goes on: figures of a tick that is known."""

import io
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from rich.console import Console

from brimline.cli import progress
from brimline.cli.import_progress import ImportTerminalProgress
from brimline.execution import Tick
from brimline.execution.import_data import _Ticks
from brimline.execution.import_progress import ImportTick

TICK = ImportTick(
    elapsed_s=10.0,
    documents=2_500_000,
    rejected=3,
    bytes_read=250_000_000,
    bytes_total=1_000_000_000,
    documents_per_s=250_000.0,
    bytes_per_s=25_000_000.0,
    left_s=30.0,
    service_p99_ns=12_300_000,
)
OF_A_PIPE = ImportTick(
    elapsed_s=1.0,
    documents=0,
    rejected=0,
    bytes_read=10,
    bytes_total=None,
    documents_per_s=0.0,
    bytes_per_s=10.0,
    left_s=None,
    service_p99_ns=None,
)


def said(tick: ImportTick, monkeypatch: pytest.MonkeyPatch, *, language: str = "en") -> str:
    monkeypatch.setattr(progress, "_PLAIN_EVERY_S", 0.0)
    shown = ImportTerminalProgress(language=language)
    shown._console = Console(file=io.StringIO(), width=200)
    shown.begin("shop.orders")
    shown.tick(tick)
    file = shown._console.file
    assert isinstance(file, io.StringIO)
    return " ".join(file.getvalue().replace("\u202f", " ").split())


def test_a_line_has_rates_p99_what_was_rejected_and_the_time_left(monkeypatch: pytest.MonkeyPatch) -> None:
    line = said(TICK, monkeypatch)
    assert line.startswith("shop.orders: 25 %, 2 500 000 documents, ")
    for part in ("250 000 documents/s", "25.0 MB/s", "p99 12.3 ms", "3 rejected", "30.0 s left"):
        assert part in line, line


def test_before_the_first_document_there_is_no_rate(monkeypatch: pytest.MonkeyPatch) -> None:
    line = said(replace(TICK, documents_per_s=None, bytes_per_s=None), monkeypatch)
    assert "/s" not in line and "25 %, 2 500 000 documents, p99" in line


def test_rates_are_over_what_this_attempt_did(tmp_path: Path) -> None:
    """250 documents were in before. Bytes are told once in a second, and a tick comes four times as often."""
    ticks: list[ImportTick] = []
    sink = SimpleNamespace(tick=ticks.append)

    def polled(elapsed_s: float, documents: int, input_bytes: int) -> dict[str, Any]:
        return {
            "elapsed_ns": int(elapsed_s * 1e9), "counts": {"inserted": documents, "rejected": 0},
            "input_bytes": input_bytes, "is_over": False, "service_p99_ns": 0,
        }  # fmt: skip

    state = SimpleNamespace(inputs=[SimpleNamespace(size_bytes=10_000)], shares=None)
    shown = _Ticks(sink, state, polled(0.0, 250, 0), directory=tmp_path)  # type: ignore[arg-type]
    for quarter in range(1, 33):
        shown.show(polled(quarter / 4, 250 + 100 * (quarter // 2), 1_000 * (quarter // 4)))
    assert [(each.documents_per_s, each.bytes_per_s) for each in ticks[:4]] == [
        (None, None), (200.0, None), (pytest.approx(100 / 0.75), None), (200.0, 1_000.0),
    ]  # fmt: skip
    assert all(700 < (each.bytes_per_s or 0) < 1_400 for each in ticks[12:])
    assert (ticks[-1].documents_per_s, ticks[-1].bytes_per_s) == (200.0, 1_000.0)


def test_at_the_end_no_time_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "left" not in said(replace(TICK, left_s=0.0), monkeypatch)
    assert progress.left_words(0.2) == progress.left_words(None) == []
    assert progress.left_words(4.5) == ["4.50 s left"]


def test_a_run_at_its_end_says_no_time_left() -> None:
    shown = progress.TerminalProgress()
    shown._share = progress.RunShare(total_s=2.0)
    tick = Tick(stage="running", elapsed_s=2.0, finished=10, failed=0, documents=0, in_flight=0, rate_ops_per_s=5.0)
    assert shown._line(tick) == "100 %, 5.00 ops/s"
    assert shown._line(replace(tick, elapsed_s=1.0)) == "50 %, 5.00 ops/s, 1.00 s left"


def test_chinese_lines_have_no_blank_before_the_sign_of_a_share(monkeypatch: pytest.MonkeyPatch) -> None:
    assert said(TICK, monkeypatch, language="zh").startswith("shop.orders：25%，")
    shown = progress.TerminalProgress(Console(file=(file := io.StringIO()), width=200), language="zh")
    shown._share, shown._title = progress.RunShare(total_s=2.0), "ycsb-c"
    shown.tick(Tick(stage="running", elapsed_s=1.0, finished=5, failed=0, documents=0, in_flight=0, rate_ops_per_s=5.0))
    assert file.getvalue().startswith("ycsb-c：50%，"), file.getvalue()


def test_of_a_pipe_nothing_is_said_that_is_not_known(monkeypatch: pytest.MonkeyPatch) -> None:
    line = said(OF_A_PIPE, monkeypatch)
    assert not {"%", "p99", "rejected", "left"} & set(line.replace(",", "").split())
