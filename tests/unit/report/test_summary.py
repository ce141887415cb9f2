"""What a terminal shows after a measurement: at most 15 lines, with the figures and warnings of the report."""

import re
from collections.abc import Mapping
from dataclasses import replace
from io import StringIO
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from rich.cells import cell_len
from rich.console import Console

from brimline.cli.output import LINES_MAX, show_result
from brimline.errors import GateFailed
from brimline.report import Report, in_language, print_summary, summarised
from brimline.report.sketch import sketched
from brimline.report.view import Cell, Chart, Column, Fact, Section, Sketch, Table, Verdict
from tests.unit.report.every_kind import KINDS

MEASURING = tuple(kind for kind in KINDS if kind not in ("comparison", "trend"))
PATH = "runs/20261122t151053z-capacity-ycsb-b-f1573daa/report.html"
CHECK_COLUMNS = [Column(label=each, numeric=False) for each in ("Check", "Result", "Evidence")]


def printed(report: Report, *, width: int = 80, terminal: bool = True, lines_max: int = LINES_MAX) -> list[str]:
    out = StringIO()
    console = Console(file=out, width=width, force_terminal=terminal, color_system=None, highlight=False, markup=False)
    print_summary(report, console, closing=[f"report: {PATH}"], lines_max=lines_max)
    return out.getvalue().splitlines()


@pytest.mark.parametrize("kind", MEASURING)
@pytest.mark.parametrize("language", ["en", "zh"])
def test_no_summary_is_longer_than_15_lines(every_kind: Mapping[str, Report], kind: str, language: str) -> None:
    report = in_language(summarised(every_kind[kind]), language)
    for width in (60, 80, 120):
        lines = printed(report, width=width)
        assert len(lines) <= LINES_MAX, (width, lines)
        assert all(cell_len(line) <= width for line in lines if PATH not in line), (width, lines)
    assert len(printed(report, width=20)) + len(PATH) // 20 <= LINES_MAX
    assert len(printed(report, terminal=False)) <= LINES_MAX


@pytest.mark.parametrize("kind", MEASURING)
def test_answer_chart_path_and_next_step_are_there(every_kind: Mapping[str, Report], kind: str) -> None:
    report = every_kind[kind]
    lines = printed(summarised(report), width=120)
    assert report.name in lines[0]
    assert report.verdict.caption in lines[1] and report.verdict.figure in lines[1]
    assert f"report: {PATH}" in lines and lines[-1].startswith("next: ")
    assert kind == "load" or any("└" in line for line in lines), "a chart, but of one interval"
    assert "next" not in printed(in_language(summarised(report), "zh"), width=120)[-1]


def of_checks(tones: Mapping[str, Any], sentence: str = "The objective is met.") -> Report:
    rows = [
        [Cell(text=name), Cell(text=tone or "pass", tone=tone), Cell(text=f"what {name} saw")]
        for name, tone in tones.items()
    ]
    checks = Section(id="validity", title="", short="", blocks=[Table(columns=CHECK_COLUMNS, rows=rows)])
    verdict = Verdict(tone="pass", caption="Throughput", figure="10", unit="ops/s", interval="", sentence=sentence)
    return Report(
        kind="run", kind_title="Run", name="a", subtitle="b", verdict=verdict, sections=[checks], footer="", data={}
    )


def test_checks_that_failed_or_warned_say_how_sure_it_is() -> None:
    (line,) = [
        each
        for each in printed(summarised(of_checks({"Sent": "", "Lag": "warn", "CPU": "fail"})))
        if "How sure" in each
    ]
    assert re.fullmatch(r"How sure +failed: CPU: what CPU saw; warned: Lag: what Lag saw", line)
    (line,) = [each for each in printed(summarised(of_checks({"Sent": "", "Lag": ""}))) if "How sure" in each]
    assert "none of 2 checks failed or warned" in line


def test_a_host_that_others_filled_is_to_become_quiet_first() -> None:
    report = of_checks({"Host full of other programs": "warn"})
    assert printed(summarised(report))[-1] == "next: wait until the server's host is quiet, and measure again"
    undecided = replace(report, verdict=replace(report.verdict, tone="warn"))
    assert " ".join(printed(summarised(undecided))).endswith("is quiet, and repeat it for longer: --duration")
    assert "quiet" not in printed(summarised(of_checks({"Server's host quiet": ""})))[-1]


def test_every_warning_is_named_where_not_all_can_be_told() -> None:
    names = [f"check{number:02}" for number in range(12)]
    shown = " ".join(printed(summarised(of_checks(dict.fromkeys(names, "warn"))), width=120))
    assert all(name in shown for name in names), shown


def test_a_check_that_is_only_named_says_that_it_failed() -> None:
    """`Generator on time` alone would say that it was."""
    report = of_checks(
        {"On time": "fail", "Steady": "warn", "Sent": "fail"}, sentence="What On time saw; what Steady saw."
    )
    (line,) = [each for each in printed(summarised(report)) if "How sure" in each]
    assert line.endswith("failed: Sent: what Sent saw; On time; warned: Steady")


def test_why_has_a_second_line_before_how_sure() -> None:
    report, words = of_checks({}), "word " * 40
    facts = [Fact(label=each, value=words) for each in ("Why", "How sure")]
    lines = printed(replace(report, verdict=replace(report.verdict, sentence="", facts=facts)), lines_max=6)
    assert [line[:8].strip() for line in lines[2:5]] == ["Why", "", "How sure"] and lines[4].endswith("…")


def test_what_the_verdict_says_is_not_said_again() -> None:
    report = of_checks({"CPU": "fail"}, sentence="What CPU saw. Seen, and not to be used: 10 ops/s.")
    assert any(re.fullmatch(r"How sure +failed: CPU", line) for line in printed(summarised(report)))


def test_an_error_at_the_end_belongs_to_the_15_lines(
    every_kind: Mapping[str, Report], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    error = GateFailed("the objective was missed: " + "x" * 100, hint="the report says more")
    result: Any = SimpleNamespace(report=every_kind["run"], html=Path(PATH), error=error)
    with pytest.raises(GateFailed):
        show_result(result, as_json=False)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) <= LINES_MAX - 3
    assert not any(line.startswith("next:") for line in lines), "the hint says it"


def test_what_the_error_says_makes_room_for_the_chart(every_kind: Mapping[str, Report]) -> None:
    report = every_kind["capacity"]
    report = replace(report, verdict=replace(report.verdict, sentence="At 98 connections: too late.", figure=""))
    told = summarised(report, has_hint=True, said="no capacity: at 98 connections: too late")
    lines = printed(told, lines_max=9)
    assert not any("98 connections" in line for line in lines) and any("└" in line for line in lines)
    assert any("How sure" in line for line in lines) and len(lines) <= 9
    assert any("98 connections" in line for line in printed(summarised(report), lines_max=9))


def test_what_an_error_says_in_other_words_is_not_said_before_it() -> None:
    """The reasons of a missed objective stood under the verdict, cut short, and again in the error."""
    sentence = "Planned 10, sent 5: 5 (50 %) never went out. The objective is missed: too late; p99 ≥ 1.5 s."
    said = "the objective was missed: planned 10, sent 5: 5 (50 %) never went out; too late; p99 ≥ 1.5 s"
    report = of_checks({}, sentence=sentence)
    assert summarised(report, said=said).verdict.sentence == ""
    more = replace(report, verdict=replace(report.verdict, sentence=f"{sentence} Seen, and not to be used: 5 ops/s."))
    assert summarised(more, said=said).verdict.sentence == "Seen, and not to be used: 5 ops/s."
    assert summarised(more).verdict.sentence == more.verdict.sentence


def test_details_are_every_table(every_kind: Mapping[str, Report], capsys: pytest.CaptureFixture[str]) -> None:
    result: Any = SimpleNamespace(report=every_kind["run"], html=Path(PATH), error=None)
    show_result(result, as_json=False, details=True)
    told = capsys.readouterr().out
    assert "Can the figures be believed?" in told and "Planned against sent" in told
    show_result(result, as_json=False)
    assert len(capsys.readouterr().out.splitlines()) <= LINES_MAX


def chart(traces: list[dict[str, Any]], **layout: Any) -> Chart:
    sketch = Sketch(axis="y2", caption="p99 over load")
    axes = {"xaxis": {}, "yaxis2": {"type": "log", "tickvals": [1e6, 1e7], "ticktext": ["1 ms", "10 ms"]}}
    figure = {"data": traces, "layout": {"shapes": [], **axes, **layout}}
    return Chart(id="", title="", caption="", summary="", figure=figure, sketch=sketch)


def marks(symbol: str, name: str, xs: list[float], ys: list[float]) -> dict[str, Any]:
    return {"mode": "markers", "yaxis": "y2", "name": name, "marker": {"symbol": symbol}, "x": xs, "y": ys}


def test_probes_stand_where_they_were() -> None:
    limit = {"type": "line", "xref": "x domain", "yref": "y2", "y0": 1e7, "y1": 1e7}
    drawn = chart([marks("circle", "pass", [100, 200], [1e6, 2e6]), marks("x", "fail", [300], [1e8])], shapes=[limit])
    rows = sketched(drawn, width=50, rows=4)
    assert [row.index("│") for row in rows[:4]] == [6] * 4
    assert rows[0].endswith("×") and rows[3].startswith(" 1 ms │●")
    assert "10 ms │┄┄┄" in rows[1] or "10 ms │┄┄┄" in rows[2]
    assert re.fullmatch(r" +└100 +p99 over load  ● pass  × fail +300", rows[4])


def test_where_two_ticks_share_a_row_the_limit_is_named() -> None:
    limit = {"type": "line", "xref": "x domain", "yref": "y2", "y0": 1e7, "y1": 1e7}
    axis = {"type": "log", "tickvals": [5e6, 1e7, 1e8], "ticktext": ["5 ms", "10 ms", "100 ms"]}
    drawn = chart([marks("circle", "pass", [1, 2], [5e6, 5e8])], shapes=[limit], yaxis2=axis)
    assert sketched(drawn, width=60, rows=2)[1].startswith(" 10 ms │")


@pytest.mark.parametrize("limit_ns", [2e6, 7e6, 2e7, 25e6, 6e7, 3e8])
@pytest.mark.parametrize("rows", [3, 4])
def test_a_limit_between_two_ticks_is_named_where_it_lies(limit_ns: float, rows: int) -> None:
    """`100 ms` stood before the line of 20 ms."""
    limit = {"type": "line", "xref": "x domain", "yref": "y2", "y0": limit_ns, "y1": limit_ns}
    axis = {"type": "log", "tickvals": [1e6, 1e7, 1e8], "ticktext": ["1 ms", "10 ms", "100 ms"]}
    drawn = chart([marks("circle", "pass", [1, 2], [1e6, 5e8])], shapes=[limit], yaxis2=axis)
    (line,) = [row for row in sketched(drawn, width=60, rows=rows) if "┄" in row]
    assert line.split("│")[0].strip() == f"{limit_ns / 1e6:g} ms"


def test_a_line_has_gaps_and_its_highest_point_above() -> None:
    line = {"mode": "lines", "yaxis": "y2", "name": "p99", "x": [0, 1, 2, 3, 4], "y": [1e6, None, 1e8, 1e6, 1e6]}
    band = {"mode": "lines", "yaxis": "y2", "name": "p99 band", "fill": "toself", "x": [0, 4], "y": [1e12, 1e12]}
    top, *_, bottom, _ = sketched(chart([line, band]), width=60, rows=3)
    cells = [row.split("│")[1] for row in (top, bottom)]
    assert [bool(cells[0][:24].strip()), bool(cells[0][24:30].strip())] == [False, True]
    assert cells[1][1:20].strip() == "", "no line across the gap"


def test_nothing_is_drawn_where_nothing_can_be() -> None:
    empty = chart([{"mode": "lines", "yaxis": "y2", "name": "p99", "x": [1.0], "y": [None]}])
    assert sketched(empty, width=80, rows=4) == []
    assert sketched(chart([marks("circle", "pass", [100], [1e6])]), width=80, rows=4) == [], "one point is no course"
    two = chart([marks("circle", "pass", [100, 200], [1e6, 1e6])])
    assert sketched(two, width=39, rows=4) == [] and sketched(replace(two, sketch=None), width=80, rows=4) == []
    assert any("●" in row for row in sketched(two, width=80, rows=4))


def test_the_height_of_a_level_line_can_be_told() -> None:
    """Its values lie between two ticks of the axis: one of them belongs to the scale then."""
    rows = sketched(chart([marks("circle", "pass", [1, 2], [8e6, 8e6])]), width=60, rows=3)
    assert rows[0].startswith("10 ms │") and "●" not in rows[0] and "●" in rows[2]


def test_a_chart_is_left_out_where_its_characters_are_unknown(every_kind: Mapping[str, Report], tmp_path: Path) -> None:
    with (tmp_path / "out").open("w", encoding="latin-1", errors="replace") as out:
        console = Console(file=out, width=80, force_terminal=True, color_system=None)
        print_summary(summarised(every_kind["run"]), console, closing=[], lines_max=LINES_MAX)
    assert "⣀" not in (told := (tmp_path / "out").read_text("latin-1")) and "└" not in told and "Errors" in told
