"""Owns what holds for every test with a real server: it counted what brimline counted."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from brimline.analysis.finding import Standing
from brimline.analysis.validity import opcounters
from brimline.record import read_record
from brimline.record.data_import import is_import
from brimline.record.layout import RECORD_FILE
from brimline.record.reader import read_state
from brimline.record.scan import SCAN_TRIAL_KIND


@pytest.fixture(autouse=True)
def _counts_agree(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[None]:
    """Compares the counts of every run that a test left, but for tests in which somebody else is at work on purpose."""
    yield
    if request.node.get_closest_marker("other_client") is not None:
        return
    for file in sorted(tmp_path.rglob(RECORD_FILE)):
        if is_import(file.parent):
            continue  # it counts itself, see test_import.py
        if read_state(file.parent, RECORD_FILE).get("kind") == SCAN_TRIAL_KIND:
            continue  # a query of a scan, which has counts of its own
        record = read_record(file.parent)
        if record.plan.target.kind == "null":
            continue
        finding = opcounters(record)
        assert finding.verdict is not Standing.FAIL, f"{file.parent.name}: {finding.evidence}"
