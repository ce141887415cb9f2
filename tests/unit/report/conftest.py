"""One run, one search and one sweep for all tests of the report."""

from pathlib import Path

import pytest

from tests.unit.report.report_samples import Reports, make_reports


@pytest.fixture(scope="session")
def reports(tmp_path_factory: pytest.TempPathFactory) -> Reports:
    return make_reports(tmp_path_factory.mktemp("records"))


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    return tmp_path / "run"
