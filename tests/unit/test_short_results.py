"""What Python hands back prints as a few lines: a notebook shows it whether anybody asked or not."""

from pathlib import Path

import pytest

from brimline.api.comparison import ComparisonResult, compare
from brimline.api.lint import LintResult
from brimline.api.scan import scan_result
from brimline.api.trend import TrendResult, trend
from brimline.compat.results import import_files
from brimline.errors import UsageError
from tests.unit.analysis.records import run_record
from tests.unit.compat.results.jtl import uniform, write
from tests.unit.report.comparison_samples import dropped, regressed, report_of, trend_of
from tests.unit.report.import_samples import an_import
from tests.unit.report.scan_samples import make_scan

LINES_MAX = 5
LENGTH_MAX = 1_000


def test_every_result_and_record_is_a_few_lines(tmp_path: Path) -> None:
    scan = make_scan(tmp_path / "scan")
    results = [
        ComparisonResult(report=report_of(regressed()), comparison=None),  # type: ignore[arg-type]
        TrendResult(report=trend_of(dropped()), series=()),
        LintResult(source="claims.yaml", findings=()),
        scan_result(scan),
        scan,
        run_record(),
        an_import(),
        import_files([write(tmp_path / "r.jtl", uniform(50))]),
    ]
    for each in results:
        shown = repr(each)
        assert shown.startswith(type(each).__name__), shown
        assert 2 <= shown.count("\n") + 1 <= LINES_MAX, shown
        assert len(shown) < LENGTH_MAX, shown


def test_paths_of_another_type_are_refused_by_name() -> None:
    for ask in (lambda given: compare(["a"], ["b"], runs_dir=given), lambda given: trend(runs_dir=given)):
        with pytest.raises(UsageError, match=r"runs_dir is a path, not int \(7\)"):
            ask(7)
