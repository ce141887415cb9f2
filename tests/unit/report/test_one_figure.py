"""One figure, one interval, in every format; and no figure of a report contradicts another one.

Drawn runs of the real engine against the scripted server, on a virtual clock: open and closed loops, short ones whose
tails are bounds, overloaded ones and stalls that leave operations unsent and unanswered.
"""

import csv
import io
import json
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from random import Random
from xml.sax.saxutils import unescape

import pytest
from rich.console import Console

from brimline.analysis.figure import known_text
from brimline.analysis.gate import GateVerdict
from brimline.analysis.latency import Latency
from brimline.analysis.objective import LatencyObjective, Slo
from brimline.analysis.observation import Observation, observe
from brimline.analysis.quantile_text import quantile_text
from brimline.analysis.verdict import judge
from brimline.api.results import RunResult
from brimline.cli.junit import outcome_case
from brimline.errors import Interrupted
from brimline.record import RunRecord
from brimline.report import Report, in_language, print_report, render_html, render_json, run_report
from brimline.report.csv_export import statistics_csv
from brimline.report.jmeter_table import milliseconds
from brimline.report.junit import junit_xml
from brimline.report.markdown import render_markdown
from brimline.report.printed import table_cells
from brimline.report.statistics import report_clock
from brimline.stats.estimate import Estimate
from brimline.units import format_duration
from tests.unit.record.samples import SECOND_NS, plan
from tests.unit.report.report_samples import script, simulated_plan, write_run

SEEDS = range(12)
PAGES = (2, 7, 11)
"""Those of which pages are made too, which takes longest."""
COLUMNS = {"Median": ("p50", 0.5), "90th": ("p90", 0.9), "95th": ("p95", 0.95), "99th": ("p99", 0.99)}
_P99 = re.compile(r"(?:response|service) p99 (?:≥ )?[\d.]+ \w+", re.IGNORECASE)


@dataclass(frozen=True)
class Drawn:
    record: RunRecord
    observation: Observation
    report: Report
    result: RunResult

    @property
    def junit(self) -> str:
        """What a CI system is told."""
        return unescape(junit_xml([outcome_case(self.result)], suite="run"))

    def latency(self, operation: str | None) -> Latency:
        found = self.observation.latency(operation, report_clock(self.record))
        assert found is not None
        return found


def drawn(directory: Path, seed: int) -> Drawn:
    random = Random(seed)
    duration_s = random.choice([1.0, 2.0, 4.0])
    rate = None if seed % 4 == 3 else random.choice([20.0, 300.0, 2_000.0, 13_000.0])
    stall_ns = random.choice([0, SECOND_NS // 3, 3 * SECOND_NS])
    stalls = [{"at_ns": round(random.uniform(0.3, 0.9) * duration_s * SECOND_NS), "length_ns": stall_ns}]
    read = random.choice([1.0, 0.9, 0.5])
    run_plan = simulated_plan(
        rate_ops_per_s=rate,
        connections=random.choice([2, 32]),
        warmup_s=0.0,
        duration_s=duration_s,
        script=script(seed=seed, stalls=stalls if stall_ns else []),
        seed=seed,
        drain_timeout_ns=SECOND_NS // 5,
        work={**plan().model_dump()["work"], "proportions": _proportions(read)},
        interval_ns=SECOND_NS // 10,
    )
    record = write_run(directory, run_plan)
    slo = Slo(latencies=(LatencyObjective(quantile=random.choice([0.99, 0.97])),))
    observation = observe(record, objectives=slo.latencies)
    judgement = None if record.closed_loop else judge(observation, slo)
    report = run_report(record, observation, slo=slo, judgement=judgement)
    result = RunResult(
        report=report,
        directory=directory,
        record=record,
        observation=observation,
        slo=slo,
        judgement=judgement,
    )
    return Drawn(record, observation, report, result)


def _proportions(read: float) -> dict[str, float]:
    return {"read": read, "update": round(1 - read, 3), "insert": 0.0, "scan": 0.0, "read_modify_write": 0.0}


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Callable[[int], Drawn]:
    return cache(lambda seed: drawn(tmp_path_factory.mktemp("drawn") / "run", seed))


def test_what_ended_early_tells_a_ci_system_what_held_until_then(runs: Callable[[int], Drawn]) -> None:
    """It said "interrupted by SIGINT" alone: neither the figure nor what came of the objective."""
    for run in map(runs, PAGES):
        early = replace(run.result, interrupted=Interrupted("interrupted by SIGINT", signal_number=2))
        case, verdict = outcome_case(early), run.report.verdict
        assert (case.kind, case.verdict) == ("interrupted", GateVerdict.INCONCLUSIVE)
        assert case.text.startswith("interrupted by SIGINT. ") and case.text.endswith(verdict.sentence)
        assert verdict.quoted in case.text and verdict.interval in case.text
        document, planned_ns = json.loads(render_json(run.report)), run.record.plan.duration_ns
        assert document["planned_s"] == (None if planned_ns is None else planned_ns / 1e9)


def test_the_draws_hold_what_they_are_for(runs: Callable[[int], Drawn]) -> None:
    all_runs = [runs(seed) for seed in SEEDS]
    figures = [each for run in all_runs for each in run.latency(None).quantiles.values()]
    assert any(each.is_figure for each in figures) and any(not each.is_figure for each in figures)
    assert any(run.latency(None).missing for run in all_runs) and any(run.record.closed_loop for run in all_runs)
    assert any(run.observation.overdue for run in all_runs)
    assert any(_P99.search(run.junit) for run in all_runs)


@pytest.mark.parametrize("seed", SEEDS)
def test_every_format_says_the_same(runs: Callable[[int], Drawn], seed: int) -> None:
    run = runs(seed)
    document = json.loads(render_json(run.report))
    rows = {row["operation"]: row for row in csv.DictReader(io.StringIO(statistics_csv(run.record, run.observation)))}
    chinese = in_language(run.report, "zh")
    texts = [_terminal(run.report), render_markdown(run.report), _terminal(chinese), render_markdown(chinese)]
    texts += [render_html(each) for each in (run.report, chinese) if seed in PAGES]
    plain = [_plain(text) for text in texts]
    for cells in table_cells(run.report, "operations"):
        label = cells["Label"].text
        latency = run.latency(None if label == "Total" else label)
        clock = report_clock(run.record)
        of_kind = document[clock] if label == "Total" else document["operations"][label][clock]
        for column, (name, quantile) in COLUMNS.items():
            seen = latency.quantiles[quantile]
            printed = quantile_text(seen, format_ns=milliseconds)
            assert cells[column].text == printed
            assert all(printed in text for text in plain)
            assert of_kind[f"{name}_interval_ns"] == [seen.low_ns, seen.high_ns]
            assert (of_kind[f"{name}_ns"], of_kind[f"{name}_enough_samples"]) == (seen.known_ns, seen.is_figure)
            in_csv = rows[label]["median_ms" if name == "p50" else f"{name}_ms"]
            assert in_csv == ("" if not seen.is_figure else str(round(seen.value_ns / 1e6, 6)))
        ends = [rows[label]["p99_low_ms"], rows[label]["p99_high_ms"]]
        p99 = latency.p99
        assert ends == ["" if ns is None else str(round(ns / 1e6, 6)) for ns in (p99.low_ns, p99.high_ns)]
    _headline_is_the_table(run)


def _headline_is_the_table(run: Drawn) -> None:
    p99, verdict = run.latency(None).p99, run.report.verdict
    shown = [*((fact.label, fact.value, fact.note) for fact in verdict.facts)]
    shown.append((verdict.caption, verdict.figure, verdict.interval))
    told = [(value, note) for label, value, note in shown if label.startswith(("p99 ", "Response p99"))]
    assert [value for value, _ in told] == [quantile_text(p99)] * len(told)
    if p99.low_ns is not None and p99.high_ns is not None:
        interval = f"95 % CI {format_duration(p99.low_ns)} – {format_duration(p99.high_ns)}"
        assert all(note.startswith(interval) for _, note in told)
    assert {told.partition(" p99 ")[2] for told in _P99.findall(run.junit)} <= {quantile_text(p99)}
    for cells in table_cells(run.report, "objective"):
        named, _, evidence = cells["Evidence"].text.partition(" p99 ")
        if named in ("response", "service"):
            assert evidence.startswith(quantile_text(p99)), evidence


@pytest.mark.parametrize("seed", SEEDS)
def test_quantiles_rise_and_the_whole_stands_between_its_parts(runs: Callable[[int], Drawn], seed: int) -> None:
    run = runs(seed)
    for clock in ("service", "response", "lag"):
        whole = run.observation.latency(None, clock)
        parts = [each for (_, of), each in run.observation.kinds.items() if of == clock]
        if whole is None:
            continue
        for each in (whole, *parts):
            printed = [each.quantiles[quantile].printed_ns or 0 for quantile in sorted(each.quantiles)]
            assert printed == sorted(printed)
            assert each.missing or each.max_ns >= printed[-1]
            assert max(each.max_ns, each.oldest_missing_ns) >= printed[-1]
        for quantile, seen in whole.quantiles.items():
            of_parts = [part.quantiles[quantile] for part in parts if quantile in part.quantiles]
            if len(of_parts) < len(parts):
                continue
            known = [each.printed_ns for each in of_parts if each.printed_ns is not None]
            if len(known) == len(parts):
                assert (seen.printed_ns or 0) >= min(known)
            if all(each.is_figure for each in of_parts):
                assert (seen.printed_ns or 0) <= max(known)
            if len(parts) == 1:
                assert seen == of_parts[0]


def test_what_never_completed_has_waited_until_the_end(tmp_path: Path) -> None:
    """The server stands still from 1 s on; the run ends at 4.2 s, after two tenths of drain."""
    stalls = [{"at_ns": SECOND_NS, "length_ns": 20 * SECOND_NS}]
    run_plan = simulated_plan(
        rate_ops_per_s=1000.0,
        warmup_s=0.0,
        duration_s=4.0,
        connections=8,
        script=script(stalls=stalls),
        drain_timeout_ns=SECOND_NS // 5,
        interval_ns=SECOND_NS // 10,
    )
    record = write_run(tmp_path / "run", run_plan)
    observation = observe(record)
    seen = observation.response
    assert seen is not None and seen.p99_ns is None and seen.p99.low_ns is not None
    # Of 4 000 three quarters were due after the stall, evenly: the 99th has waited 3.2 s but for 40 ms, as far as an
    # interval of 100 ms and the binomial end of the quantile tell.
    assert 2.9 * SECOND_NS < seen.p99.low_ns <= 3.2 * SECOND_NS
    lows = [each.p99.low_ns or 0 for (_, of), each in observation.kinds.items() if of == "response"]
    assert len(lows) == 2 and all(2.9 * SECOND_NS < low_ns <= 3.2 * SECOND_NS for low_ns in lows)
    assert seen.p50.low_ns is not None and 0.9 * SECOND_NS < seen.p50.low_ns <= 1.3 * SECOND_NS
    assert seen.max_ns < seen.p99.low_ns <= seen.oldest_missing_ns <= 3.2 * SECOND_NS
    cells = table_cells(run_report(record, observation), "operations")[0]
    assert cells["99th"].text.startswith("≥ ") and cells["Max"].text.startswith("≥ 3 ")
    # A closed loop too: what its connections sent last was never answered.
    closed = write_run(
        tmp_path / "closed", run_plan.model_copy(update={"pacer": simulated_plan(rate_ops_per_s=None).pacer})
    )
    service = observe(closed).service
    assert service is not None and service.missing == 8 and service.oldest_missing_ns >= 2.9 * SECOND_NS


def _terminal(report: Report) -> str:
    out = io.StringIO()
    print_report(report, Console(file=out, width=300, color_system=None))
    return out.getvalue()


def _plain(text: str) -> str:
    return re.sub(r"&(nbsp|#160);|\u202f|\u00a0", " ", text)


@pytest.mark.parametrize("seed", range(20))
def test_a_table_of_records_rounds_an_interval_as_the_headline_of_each(seed: int) -> None:
    """1 100–4 600 in a search's headline was 1 096 to 4 622 in a trend over it."""
    drawn = Random(seed)
    low, value, high = sorted(drawn.lognormvariate(8, 3) for _ in range(3))
    headline = Estimate(value=value, low=low, high=high, unit="ops/s")
    known, least, most = (each.removesuffix(" ops/s") for each in known_text(value, low, high, "ops/s"))
    assert (known, f"95 % CI {least}–{most}") == (headline.value_text, headline.interval_text)


@pytest.mark.parametrize(
    ("value", "low", "high", "texts"),
    [
        (60.0, 0.1, 1e9, ("60 ops/s", "0 ops/s", "1 000 000 000 ops/s")),
        (1.6, 1.5, 150.0, ("2 ops/s", "2 ops/s", "150 ops/s")),
        (0.0, 0.0, 20.0, ("0 ops/s", "0 ops/s", "20 ops/s")),
        (9_412.0, 9_130.0, 9_690.0, ("9 410 ops/s", "9 130 ops/s", "9 690 ops/s")),
    ],
)
def test_no_interval_is_so_wide_that_its_figure_is_written_as_0(
    value: float, low: float, high: float, texts: tuple[str, str, str]
) -> None:
    assert known_text(value, low, high, "ops/s") == texts
    headline = Estimate(value=value, low=low, high=high, unit="ops/s")
    assert f"{headline.value_text} ops/s" == texts[0]


def test_of_a_time_the_figure_has_four_digits_and_the_ends_of_its_interval_three() -> None:
    assert known_text(12_345_678.0, 11_987_654.0, 13_456_789.0, "ns") == ("12.35 ms", "12.0 ms", "13.5 ms")
