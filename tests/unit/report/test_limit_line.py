"""The objective's line in the charts of a run: only where the run is judged by it."""

from pathlib import Path

import pytest

from brimline.report.run import run_sections
from brimline.report.view import Chart
from tests.support.objectives import p99_within
from tests.unit.report.report_samples import simulated_plan, write_run


@pytest.mark.parametrize(("rate", "drawn"), [(500.0, True), (None, False)])
def test_a_closed_loop_has_no_limit(tmp_path: Path, rate: float | None, drawn: bool) -> None:
    limit = p99_within(5_000_000_000).leading
    record = write_run(tmp_path / "run", simulated_plan(rate_ops_per_s=rate, connections=4))
    charts = {each.id: each for each in run_sections.charts(record, limit=limit).blocks if isinstance(each, Chart)}
    said = [each["text"] for each in charts["over-time"].figure["layout"]["annotations"]]
    assert any("objective" in text for text in said) == drawn
    highest = charts["percentiles"].figure["layout"]["yaxis"]["range"][1]
    assert (highest > 9.5) == drawn, "no room is left for a limit that isn't judged"
