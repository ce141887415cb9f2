"""One report of every kind for all tests of the report."""

from pathlib import Path

import pytest

from brimline.report import Report
from tests.unit.report.every_kind import every_kind_once
from tests.unit.report.report_samples import Reports, make_reports


@pytest.fixture(scope="session")
def reports(tmp_path_factory: pytest.TempPathFactory) -> Reports:
    return make_reports(tmp_path_factory.mktemp("records"))


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    return tmp_path / "run"


@pytest.fixture(scope="session")
def every_kind(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Report]:
    return every_kind_once(tmp_path_factory, lambda: request.getfixturevalue("reports"))
