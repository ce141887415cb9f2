"""Studies from the command line: checked, made, killed and gone on with, and the document that they end in."""

import json
import re
import signal
from pathlib import Path

import pytest

from brimline.api.reopen import open_result
from brimline.api.vary import VaryResult
from brimline.study.document.whole import study_report
from brimline.study.state import StudyDirectory
from brimline.study.writing.browser import find_chromium
from tests.support.command_line import CommandLine
from tests.support.study_documents import shape
from tests.support.waiting import eventually

STUDY = """\
name: nothing
title: {en: Nothing, zh: 空目标}
purpose: [{en: To see what sending costs., zh: 测量发送本身的开销。}]
experiments:
  - name: ladder
    title: {en: A ladder, zh: 阶梯}
    verb: sweep
    workload: ycsb-c
    options: {null: true, records: 1k, connections-max: 2, duration: 100ms, warmup: 50ms}
    text:
      - {en: "The most was {ladder throughput max}.", zh: "最高 {ladder throughput max}。"}
      - {en: "And {ladder nonsense}.", zh: "以及 {ladder nonsense}。"}
  - name: crossed
    title: {en: Crossed, zh: 交叉}
    verb: run
    workload: ycsb-c
    options: {null: true, records: 1k, duration: 300ms, warmup: 50ms, repeats: 3, repeats-max: 3}
    vary: {connections: [1, 2]}
    show: [throughput, read.mean]
  - name: elsewhere
    title: {en: A verb of tomorrow, zh: 未来的命令}
    verb: dance
    workload: ycsb-c
advice: [{en: "Mind {crossed throughput connections=2}.", zh: "注意 {crossed throughput connections=2}。"}]
"""


@pytest.fixture
def study(brimline_cli: CommandLine) -> Path:
    path = brimline_cli.directory / "study.yaml"
    path.write_text(STUDY, encoding="utf-8")
    return path


def study_directory(brimline_cli: CommandLine) -> Path:
    (found,) = brimline_cli.runs.glob("*-study-*")
    return found


def test_check_says_what_a_study_takes_and_begins_nothing(brimline_cli: CommandLine, study: Path) -> None:
    checked = brimline_cli.run("study", "check", study, "--json").json()
    by_name = {each["name"]: each for each in checked["experiments"]}
    assert by_name["crossed"]["estimate_s"] >= 6 * 0.35
    assert by_name["elsewhere"]["left_out"] == "dance"
    assert not brimline_cli.runs.exists()


def test_check_warns_where_the_least_is_too_long(brimline_cli: CommandLine, study: Path) -> None:
    checked = brimline_cli.run("study", "check", study, "--budget", "1s")
    assert checked.exit_code == 0, checked.stderr
    assert "warning: even the least of it does not fit the budget of 1" in checked.stdout
    assert brimline_cli.run("study", "check", study, "--budget", "1s", "--json").json()["fits_budget"] is False


def test_a_wrong_option_is_told_with_its_experiment(brimline_cli: CommandLine, study: Path) -> None:
    study.write_text(STUDY.replace("connections-max: 2", "connections-most: 2"), encoding="utf-8")
    refused = brimline_cli.run("study", "check", study)
    refused.check_error(2, "ladder: no such option: --connections-most")


@pytest.mark.parametrize(
    ("verb", "options"),
    [
        ("generate", "{rows: 5, format: csv, output: here.csv}"),
        ("init", "{output: here.csv}"),
        ("run", "{resume-design: nowhere, records: 1k}"),
    ],
)
def test_check_does_nothing_that_a_verb_would_do_at_once(
    brimline_cli: CommandLine, study: Path, verb: str, options: str
) -> None:
    ladder = "options: {null: true, records: 1k, connections-max: 2, duration: 100ms, warmup: 50ms}"
    text = STUDY.replace("verb: sweep", f"verb: {verb}").replace(ladder, f"options: {options}")
    assert options in text
    study.write_text(text, encoding="utf-8")
    checked = brimline_cli.run("study", "check", study)
    checked.check_error(2, "ladder: a study can't have ")
    assert checked.hint.startswith("give a verb that measures")
    assert not (brimline_cli.directory / "here.csv").exists()


def test_verbs_that_do_something_at_once_are_no_experiments(brimline_cli: CommandLine, study: Path) -> None:
    for verb in ("backup", "restore", "study", "lab", "report", "doctor", "ycsb"):
        study.write_text(STUDY.replace("verb: sweep", f"verb: {verb}"), encoding="utf-8")
        brimline_cli.run("study", "check", study).check_error(2, f"ladder: a study can't have {verb} as an experiment")


@pytest.mark.slow("two experiments, and the document twice")
def test_a_study_ends_in_a_document(brimline_cli: CommandLine, study: Path) -> None:
    made = brimline_cli.run("study", "run", study, "--lang", "zh", "--format", "html", "--quiet")
    assert made.exit_code == 0, made.stderr
    directory = study_directory(brimline_cli)
    page = (directory / "document.html").read_text(encoding="utf-8")
    for words in (
        "测试报告",
        "空目标",
        "1 测试目的",
        "测试环境",
        "结论与建议",
        "表 6-1：阶梯",
        "图 6-1",
        "最高 ",
        "注意 ",
    ):
        assert words in page, words
    assert "以及 …" in page.split("未能证明的内容")[-1], "prose whose figure isn't there is listed as not shown"
    assert "此处没有 dance" in page
    document = json.loads((directory / "study-report.json").read_text())
    assert [each["left_out"] for each in document["experiments"]] == [None, None, "dance"]

    again = brimline_cli.run("study", "report", directory, "--format", "html", "--lang", "en", "--quiet")
    assert again.exit_code == 0, again.stderr
    english = (directory / "document.html").read_text(encoding="utf-8")
    assert "Test report" in english
    assert "The most was " in english


@pytest.mark.browser
@pytest.mark.slow("the document in every format, its charts drawn by Chromium")
def test_pictures_pdf_and_a_template_of_the_house(brimline_cli: CommandLine, study: Path) -> None:
    if find_chromium() is None:
        pytest.skip("there is no Chromium here")
    house = brimline_cli.directory / "house.html.j2"
    house.write_text('{% extends "study.html.j2" %}{% block footer %}<footer>Our house</footer>{% endblock %}')
    words = ("study", "run", study, "--format", "html,md,pdf", "--template", house, "--quiet")
    made = brimline_cli.run(*words)
    assert made.exit_code == 0, made.stderr
    directory = study_directory(brimline_cli)
    assert "Our house" in (directory / "document.html").read_text(encoding="utf-8")
    text = (directory / "document.md").read_text(encoding="utf-8")
    pictures = re.findall(r"!\[Figure [^\]]+\]\((figures/[^)]+\.png)\)", text)
    assert len(pictures) >= 3
    for each in pictures:
        assert (directory / each).read_bytes().startswith(b"\x89PNG"), each
    page = (directory / "document.html").read_text(encoding="utf-8")
    keyed = re.findall(r'</ul>\s*<div class="plot" id="chart-([^"]+)" data-height="(\d+)"', page)
    assert keyed, "charts with a legend"
    for name, height_px in keyed:
        content = (directory / "figures" / f"{name}.png").read_bytes()
        plot_px = int(height_px) + 15  # with the room that its frame takes
        assert int.from_bytes(content[20:24]) > 2 * plot_px, "the legend is in the picture, which is twice as fine"
    assert (directory / "document.pdf").read_bytes().startswith(b"%PDF")

    house.write_text("{% extends 'study.html.j2' %}{% block cover %}{{ nonsense }}{% endblock %}")
    refused = brimline_cli.run("study", "report", directory, "--format", "html", "--template", house, "--quiet")
    refused.check_error(2, "house.html.j2 can't be used: 'nonsense' is undefined")


@pytest.mark.slow("a study killed and gone on with, and one undisturbed")
def test_a_killed_study_goes_on_to_the_same_document(brimline_cli: CommandLine, study: Path) -> None:
    process = brimline_cli.start("study", "run", study, "--format", "html", "--quiet")

    def two_cells_are_there() -> bool:
        return len(list(brimline_cli.runs.glob("*/experiments/crossed/*/trials/*/trial.json"))) >= 2

    assert eventually(two_cells_are_there), "the second experiment did not begin"
    process.send(signal.SIGKILL)
    process.end()
    killed = study_directory(brimline_cli)
    assert brimline_cli.run("study", "run", "--resume", killed, "--format", "html", "--quiet").exit_code == 0

    whole = brimline_cli.run("study", "run", study, "--format", "html", "--quiet", "--runs-dir", "others")
    assert whole.exit_code == 0, whole.stderr
    (undisturbed,) = (brimline_cli.directory / "others").iterdir()
    first, second = (study_report(StudyDirectory.open(each), "en") for each in (killed, undisturbed))
    assert shape(first) == shape(second)
    assert not (killed / "dropped").exists(), "what was cut short was gone on with, and not made anew"
    (record,) = killed.glob("experiments/crossed/*")
    result = open_result(record)
    assert isinstance(result, VaryResult)
    cells = [(each.probe.block, each.probe.levels) for each in result.trials if each.counts]
    assert sorted(cells) == sorted({*cells}), "no cell twice"
    assert len(cells) == 6, "each cell once"


def test_a_study_to_start_from_can_be_made(brimline_cli: CommandLine) -> None:
    assert brimline_cli.run("study", "init", "mine.yaml").exit_code == 0
    checked = brimline_cli.run("study", "check", "mine.yaml", "--scale", "ci")
    assert checked.exit_code == 0, checked.stderr
    brimline_cli.run("study", "init", "mine.yaml").check_error(2, "is there already")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("run",), "there is no study"),
        (("run", "s5"), "there is no study s5"),
        (("run", "--resume", "nowhere"), "nowhere holds no study"),
        (("run", "--resume", "nowhere", "--scale", "ci"), "as it was begun, and --scale is given as well"),
        (("run", "--resume", "nowhere", "--scale", "auto"), "as it was begun, and --scale is given as well"),
        (("run", "--resume", "nowhere", "--budget", "1h"), "as it was begun, and --budget is given as well"),
        (("run", "s1-drivers", "--resume", "nowhere"), "as it was begun, and STUDY is given as well"),
        (("run", "--resume", "nowhere", "--format", "md"), "nowhere holds no study"),
        (("check", "s4-import-growth-shards", "--scale", "7"), "7 is no scale"),
        (("check", "s4-import-growth-shards", "--budget", "0s"), "no study fits in no time"),
        (("run", "s4-import-growth-shards", "--format", "odt"), "there is no format odt"),
        (("run", "s4-import-growth-shards", "--template", "house.txt"), "says nothing of its kind"),
    ],
)
def test_bad_words_are_one_error(brimline_cli: CommandLine, words: tuple[str, ...], said: str) -> None:
    brimline_cli.run("study", *words).check_error(2, said)


@pytest.mark.slow("a server that is not there is waited for")
def test_an_experiment_that_fails_ends_nothing_and_is_told(brimline_cli: CommandLine, study: Path) -> None:
    lost = "null: true, records: 1k, connections-max: 2"
    text = STUDY.replace(lost, "uri: 'mongodb://127.0.0.1:1/', records: 1k, connections-max: 2")
    assert text != STUDY
    study.write_text(text, encoding="utf-8")
    environment = {"BRIMLINE_URI": "mongodb://127.0.0.1:2/"}  # which a study has no use for
    words = ("study", "run", study, "--format", "html", "--quiet")
    brimline_cli.run(*words, environment=environment).check_error(4, "1 of 3 experiments failed: ladder: ")
    document = json.loads((study_directory(brimline_cli) / "study-report.json").read_text())
    by_name = {each["name"]: each for each in document["experiments"]}
    assert "127.0.0.1:1" in by_name["ladder"]["error"]
    assert by_name["crossed"]["verdict"]
