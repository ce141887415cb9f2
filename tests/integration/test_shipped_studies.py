"""Every shipped study at its least scale: a document without an empty table, whose figures contradict nothing."""

import re
import signal
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
import yaml

import brimline
from brimline.report.view import Cell, Chart, Column, Facts, Report, Section, Table, Verdict
from brimline.study.document.made import Made, all_made
from brimline.study.document.whole import study_report
from brimline.study.spec import load_study
from brimline.study.state import StudyDirectory
from tests.support.command_line import CommandLine
from tests.support.study_documents import shape
from tests.support.waiting import eventually

STUDIES = Path(brimline.__file__).parent / "study" / "studies"
NAMES = [path.stem for path in sorted(STUDIES.glob("*.yaml"))]
AT_ONCE = 2
WITHIN_S = 900
KILLED, KILLED_IN = "s3-versions", "half-and-half"
PARTS = ("测试目的", "测试点", "测试环境", "测试方法", "测试数据", "测试结果", "稳定性", "结论与建议", "附录")


def words(name: str | Path) -> tuple[str | Path, ...]:
    return ("study", "run", name, "--scale", "ci", "--lang", "zh", "--format", "html", "--quiet")


def made(command_line: CommandLine, name: str | Path) -> Path:
    outcome = command_line.run_process(*words(name), timeout_s=WITHIN_S)
    assert outcome.exit_code == 0, outcome.stderr
    return study_directory(command_line)


def study_directory(command_line: CommandLine) -> Path:
    (directory,) = command_line.runs.glob("*-study-*")
    return directory


def check_experiment(made: Made) -> None:
    """It lacks a part that it needs, levels of a factor, or size; else it ended well, and its report has figures."""
    entry, experiment = made.entry, made.experiment
    if entry.lacks is not None:
        name = entry.lacks.name
        is_small = name == entry.name and not experiment.at_ci
        assert name in experiment.needs or name.split()[0] in experiment.vary or is_small, entry
        return
    assert entry.ended is not None and entry.ended.exit_code in (0, 3, 4), entry
    assert made.report is not None, (entry.name, made.missing)
    assert has_figures(made.report, experiment.verb), (entry.name, "a report without a figure")


def has_figures(report: Report, verb: str) -> bool:
    """Whether it has any in a grid; single queries of a scan have none, and their times stand in the table of those."""
    return any(row.figures for grid in report.grids for row in grid.rows) or (verb == "scan" and has_times(report))


def has_times(report: Report) -> bool:
    tables = [block for each in report.sections if each.id == "scenarios" for block in each.blocks
              if isinstance(block, Table)]  # fmt: skip
    times = [
        row[place].text
        for table in tables
        for place, column in enumerate(table.columns)
        if column.label == "First touch"
        for row in table.rows
    ]
    return any(re.search(r"\d", each) for each in times)


def a_report(section: str, *texts: str) -> Report:
    columns = [Column(label=label, numeric=False) for label in ("Query", "First touch", "Steady")]
    table = Table(columns=columns, rows=[[Cell(text=text) for text in texts]])
    verdict = Verdict(tone="pass", caption="", figure="", unit="", interval="", sentence="")
    sections = [Section(id=section, title="", short="", blocks=[table])]
    return Report(kind="", kind_title="", name="", subtitle="", verdict=verdict, sections=sections, footer="")


@pytest.mark.parametrize("verb", ["scan", "run"])
def test_a_number_in_a_table_of_checks_is_no_figure(verb: str) -> None:
    assert not has_figures(a_report("checks", "Sizes", "in 3 of 22 probes", "3"), verb)
    assert not has_figures(a_report("scenarios", "a range of 10", "–", "2"), verb)
    assert has_figures(a_report("scenarios", "a range", "1.2 ms", "–"), verb) is (verb == "scan")


def check(directory: Path) -> Report:
    state = StudyDirectory.open(directory)
    for each in all_made(state):
        check_experiment(each)
    report = study_report(state, "en")
    for section in report.sections:
        for block in section.blocks:
            if isinstance(block, Table):
                assert block.rows, block.title
                assert re.match(r"Table \d+-\d+", block.title), block.title
            elif isinstance(block, Chart):
                assert block.figure["data"], block.title
    (steady,) = (block for section in report.sections if section.id == "stability" for block in section.blocks
                 if isinstance(block, Table) and "steady" in block.title)  # fmt: skip
    assert {row[3].text for row in steady.rows} == {"0"}, "no claim contradicts another"
    facts = [block for section in report.sections for block in section.blocks if isinstance(block, Facts)]
    left_open = [fact for each in facts if each.title == "What was not shown" for fact in each.facts]
    never = [fact for fact in left_open if "…" in fact.label and fact.value.startswith("it has no figure")]
    assert not never, "prose about a figure that such a report never has"
    page = (directory / "document.html").read_text(encoding="utf-8")
    for part in PARTS:
        assert re.search(rf"<h2>\d+ {part}</h2>", page), part
    return report


@pytest.mark.long
@pytest.mark.slow("two experiments on servers of their own")
@pytest.mark.other_client
def test_two_experiments_of_a_study_end_in_a_whole_document(brimline_cli: CommandLine) -> None:
    """The quick twin of it and of all below is `test_a_study_ends_in_a_document` of `test_study.py`."""
    whole = yaml.safe_load((STUDIES / "s4-import-growth-shards.yaml").read_text(encoding="utf-8"))
    kept = [each for each in whole["experiments"] if each["name"] in ("growth", "node-load")]
    two = brimline_cli.directory / "two.yaml"
    advice = [each for each in whole["advice"] if "{growth" in each["en"]]
    study = {**whole, "name": "two", "experiments": kept, "advice": advice}
    two.write_text(yaml.safe_dump(study, allow_unicode=True), encoding="utf-8")
    report = check(made(brimline_cli, two))
    titles = [str(each.title) for each in report.sections]
    assert any("Performance breakpoints" in each for each in titles)


def surely_there(report: Report) -> list[Any]:
    """The shape of a document without percentiles: in a window of 0.3 s few operations lie beyond them."""
    found: list[Any] = []
    for each in shape(report):
        match each:
            case (name, count) if not re.search(r"-p\d|latency", name):
                found.append((re.sub(r"^\d+-\d+-", "", name), count))  # numbers go on behind those that are left out
            case (title, headings, rows):
                found.append((title, [word for word in headings if not re.search(r"\bp\d", word)], rows))
            case str():
                found.append(each)
    return found


@pytest.fixture(scope="module")
def making(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mapping[str, Future[Path]]]:
    """Every shipped study, two under way at a time: no test holds a figure to its size, and servers mostly wait."""
    with ExitStack() as stack:
        pool = stack.enter_context(ThreadPoolExecutor(AT_ONCE))
        by_name = {name: stack.enter_context(CommandLine.below(tmp_path_factory.mktemp(name))) for name in NAMES}
        stack.callback(pool.shutdown, wait=False, cancel_futures=True)
        yield {name: pool.submit(made, by_name[name], name) for name in reversed(NAMES)}  # the longest first


@pytest.mark.long
@pytest.mark.other_client
@pytest.mark.parametrize("name", NAMES)
def test_every_study_ends_in_a_whole_document(making: Mapping[str, Future[Path]], name: str) -> None:
    """A minute each. Its quick twin is `test_a_study_ends_in_a_document`."""
    assert load_study(name).spec.name == name
    check(making[name].result())


@pytest.mark.long
@pytest.mark.other_client
def test_a_shipped_study_that_is_killed_goes_on_to_the_same_document(
    making: Mapping[str, Future[Path]], brimline_cli: CommandLine
) -> None:
    """Its quick twin is `test_a_killed_study_goes_on_to_the_same_document`."""
    undisturbed = making[KILLED].result()
    running = brimline_cli.start(*words(KILLED))
    has_begun = f"*/experiments/{KILLED_IN}/*/trials/*/trial.json"
    assert eventually(lambda: next(brimline_cli.runs.glob(has_begun), None) is not None, timeout_s=WITHIN_S)
    running.send(signal.SIGKILL)
    running.end()
    killed = study_directory(brimline_cli)
    ended = [each.name for each in StudyDirectory.open(killed).entries if each.ended is not None]
    files = [path for name in ended for path in sorted((killed / "experiments" / name).glob("*/trials/*/*"))]
    before = [path.stat().st_mtime_ns for path in files]
    assert ended and files

    going_on = ("study", "run", "--resume", killed, "--lang", "zh", "--format", "html", "--quiet")
    resumed = brimline_cli.run_process(*going_on, timeout_s=WITHIN_S)
    assert resumed.exit_code == 0, resumed.stderr
    assert [path.stat().st_mtime_ns for path in files] == before, "what had ended is not made again"
    assert not (killed / "dropped").exists(), "what was cut short was gone on with"
    assert surely_there(check(killed)) == surely_there(check(undisturbed))


@pytest.mark.long
@pytest.mark.parametrize("name", NAMES)
def test_every_study_is_estimated_to_fit_an_hour(brimline_cli: CommandLine, name: str) -> None:
    """The programs that it needs are looked for, and some rows made: seconds each.

    Its quick twin is `test_check_says_what_a_study_takes_and_begins_nothing`.
    """
    plan = brimline_cli.run("study", "check", name, "--json").json()
    assert plan["fits_budget"] is True
    assert plan["estimate_s"] <= 3600
