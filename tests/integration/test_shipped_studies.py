"""Every shipped study at its least scale: a document without an empty table, whose figures contradict nothing."""

import re
from pathlib import Path

import pytest
import yaml

import brimline
from brimline.report.view import Chart, Report, Table
from brimline.study.document.made import Made, all_made
from brimline.study.document.whole import study_report
from brimline.study.spec import load_study
from brimline.study.state import StudyDirectory
from tests.support.command_line import CommandLine

STUDIES = Path(brimline.__file__).parent / "study" / "studies"
PARTS = ("测试目的", "测试点", "测试环境", "测试方法", "测试数据", "测试结果", "稳定性", "结论与建议", "附录")


def made(brimline_cli: CommandLine, name: str | Path) -> Path:
    words = ("study", "run", name, "--scale", "ci", "--lang", "zh", "--format", "html", "--quiet")
    outcome = brimline_cli.run_process(*words, timeout_s=400)
    assert outcome.exit_code == 0, outcome.stderr
    (directory,) = brimline_cli.runs.glob("*-study-*")
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
    figures = [figure for grid in made.report.grids for row in grid.rows for figure in row.figures.values()]
    assert figures, (entry.name, "a report without a figure")


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
    page = (directory / "document.html").read_text(encoding="utf-8")
    for part in PARTS:
        assert re.search(rf"<h2>\d+ {part}</h2>", page), part
    return report


@pytest.mark.slow("two experiments on servers of their own")
@pytest.mark.other_client
def test_two_experiments_of_a_study_end_in_a_whole_document(brimline_cli: CommandLine) -> None:
    whole = yaml.safe_load((STUDIES / "s4-import-growth-shards.yaml").read_text(encoding="utf-8"))
    kept = [each for each in whole["experiments"] if each["name"] in ("growth", "node-load")]
    two = brimline_cli.directory / "two.yaml"
    advice = [each for each in whole["advice"] if "{growth" in each["en"]]
    study = {**whole, "name": "two", "experiments": kept, "advice": advice}
    two.write_text(yaml.safe_dump(study, allow_unicode=True), encoding="utf-8")
    report = check(made(brimline_cli, two))
    titles = [str(each.title) for each in report.sections]
    assert any("Performance breakpoints" in each for each in titles)


@pytest.mark.long
@pytest.mark.other_client
@pytest.mark.parametrize("name", [path.stem for path in sorted(STUDIES.glob("*.yaml"))])
def test_every_study_ends_in_a_whole_document(brimline_cli: CommandLine, name: str) -> None:
    """A minute each. Its quick twin is the test of two experiments."""
    assert load_study(name).spec.name == name
    check(made(brimline_cli, name))
