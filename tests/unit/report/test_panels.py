"""Charts beside throughput and latency: what the monitor's rows say over time, and lines that lose no peak."""

import pytest

from brimline.analysis.server_window import ServerWindow
from brimline.report.panels import Line, panel, thinned
from brimline.report.run.server_series import cpu_share, gauge, grown_between, rate, ratio_of_growth, share
from brimline.report.time_axis import TimeSpan
from tests.unit.report.report_samples import Reports

SPAN = TimeSpan(10.0, ((0.0, 2.0),))
SECOND_NS = 1_000_000_000


def _seen(**columns: list[int | str | None]) -> ServerWindow:
    """One row a second."""
    count = len(next(iter(columns.values())))
    return ServerWindow(
        [
            {"at_ns": index * SECOND_NS} | {name: values[index] for name, values in columns.items()}
            for index in range(count)
        ]
    )


def test_a_counter_is_drawn_as_its_growth_in_the_middle_between_looks() -> None:
    seen = _seen(query=[100, 300, 350])
    assert rate(seen, "query") == [(0.5, 200.0), (1.5, 50.0)]


def test_what_was_not_seen_is_a_gap_and_no_zero() -> None:
    seen = _seen(query=[100, None, 350, 20, 40], connections=[5, None, 7, 8, 9])
    assert [value for _, value in rate(seen, "query")] == [None, None, None, 20.0]  # it fell: a restart
    assert gauge(seen, "connections")[1] == (1.0, None)
    assert gauge(seen, "no such column")[0] == (0.0, None)


def test_shares_are_of_what_there_is() -> None:
    seen = _seen(used=[25, 50], most=[100, 100], busy_ns=[0, SECOND_NS], cpus=[4, 4])
    assert share(seen, "used", "most", scale=100.0) == [(0.0, 25.0), (1.0, 50.0)]
    assert cpu_share(seen, "busy_ns", "cpus") == [(0.5, 25.0)]
    assert share(_seen(used=[1], most=[0]), "used", "most") == [(0.0, None)]


def test_the_mean_of_a_time_is_per_operation() -> None:
    seen = _seen(reads_latency_us=[0, 9_000, 9_000], reads_ops=[0, 3, 3])
    assert ratio_of_growth(seen, "reads_latency_us", "reads_ops", scale=1e-3) == [(0.5, 3.0), (1.5, None)]


def test_a_checkpoint_is_marked_from_the_look_before_it_to_the_look_after_it() -> None:
    seen = _seen(checkpoints=[4, 4, 5, 5, 5], checkpoint_running=[0, 0, 0, 0, 1])
    assert grown_between(seen, "checkpoints", while_gauge="checkpoint_running") == [(1.0, 2.0), (3.0, 4.0)]


@pytest.mark.parametrize("peak", [0, 1, 777, 3_598, 3_599])
def test_thinning_keeps_every_peak_and_every_dip(peak: int) -> None:
    points = [(float(second), 100.0) for second in range(3_600)]
    for value in (1_000.0, 0.0):
        points[peak] = (float(peak), value)
        kept = thinned(points, count_max=600)
        assert len(kept) <= 600
        assert (float(peak), value) in kept
        assert [time for time, _ in kept] == sorted(time for time, _ in kept)


def test_gaps_outlive_thinning() -> None:
    points = [(float(second), None if second < 1_000 else 1.0) for second in range(2_000)]
    kept = thinned(points, count_max=100)
    assert None in {value for _, value in kept}
    assert thinned(points, count_max=5_000) == points


def test_nothing_seen_is_no_chart() -> None:
    empty = Line("server", "#000000", [(0.0, None)])
    assert panel("cpu", "CPU", "%", [empty], SPAN, caption="") is None
    drawn = panel("cpu", "CPU", "%", [empty, Line("host", "#111111", [(0.0, 3.0)])], SPAN, caption="")
    assert drawn is not None
    assert [key.name for key in drawn.legend] == ["host", "not counted"]


def test_all_charts_over_time_have_the_same_axis(reports: Reports) -> None:
    charts = {chart.id: chart for section in reports.run.sections if section.id == "charts" for chart in section.blocks}
    assert set(charts) == {
        "over-time",
        "work",
        "cpu",
        "cache",
        "tickets",
        "server-connections",
        "opcounters",
        "network",
        "percentiles",
    }
    spans = {str(chart.figure["layout"]["xaxis"]["range"]) for name, chart in charts.items() if name != "percentiles"}
    assert len(spans) == 1
    aligned = [chart.figure["layout"] for name, chart in charts.items() if name != "percentiles"]
    assert len({layout["margin"]["l"] for layout in aligned}) == 1
    assert not any(layout["yaxis"]["automargin"] for layout in aligned)
    checkpoints = [shape for shape in charts["cache"].figure["layout"]["shapes"] if shape["type"] == "rect"]
    assert len(checkpoints) == 3  # at 8, 16 and 24 s
