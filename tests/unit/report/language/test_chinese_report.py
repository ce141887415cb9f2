"""Reports of every kind in Chinese: no English word is left but names, and numbers are written the Chinese way."""

import io
import re
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from brimline.analysis.observation import observe
from brimline.analysis.verdict import Slo, judge
from brimline.compat.imported.view import imported_report
from brimline.compat.results import import_files
from brimline.errors import UsageError
from brimline.report import (
    Report,
    in_language,
    print_report,
    render_html,
    render_json,
    run_report,
    said_in,
)
from brimline.report.data_import.view import import_report
from brimline.report.failover.ledger import how_written
from brimline.report.language.report_words import _FIGURE_WORDS, _WORDS
from brimline.report.language.translator import catalogue
from brimline.report.markdown import render_markdown
from brimline.report.view import Cell, Chart, Column, Section, Table, Verdict
from brimline.spec.import_settings import ImportSettings
from brimline.units import format_count, format_duration, format_number, format_percentage, format_rate
from brimline.wording import Verbatim, capitalised, joined, message, wanted_language
from tests.support.ycsb_golden import GOLDEN
from tests.unit.compat.results.jtl import START_MS, Sample, uniform, write, write_lines
from tests.unit.report.comparison_samples import dropped, interfered, regressed, report_of, trend_of
from tests.unit.report.import_samples import an_import
from tests.unit.report.report_samples import ENVIRONMENT, SPEC, Reports, frontier, simulated_plan, write_run
from tests.unit.report.test_load_report import THREE_REFUSED, _plan

_THINGS = (
    "CPU JSON MongoDB brimline opcounters opLatencies JavaScript YCSB Apdex JMeter WiredTiger Python spec yaml "
    "order service ycsb Welch Holm divisive SLO UTC"
)
_UNITS = "KB kB MB GB ms ns"
_OPERATIONS = "read update insert scan find query getmore command delete load"
NAMES = {*_THINGS.split(), *_UNITS.split(), *_OPERATIONS.split(), "journal", "majority"}
"""What is called the same in Chinese."""
PATTERNS = re.compile(
    r"https?://\S+|/[\w./-]+|p\d+(\.\d+)?|\d+(\.\d+)?(ns|us|ms|s|m|h|d)\b|[0-9a-f]{8,}|w: \w+|T-L-R|\d+-per-s"
    r"|\d{8}t\d{6}z\S*|\w+\.usertable|\b\w*-\d\S*"
)


def _words(value: Any) -> Iterator[str]:
    """Everything that people read in a report, but for what is there to be copied."""
    if isinstance(value, Chart):
        yield from _figure_words(value.figure)
    if is_dataclass(value):
        named = _WORDS[type(value)]
        for field in fields(value):
            inner = getattr(value, field.name)
            if field.name in named:
                yield inner
            elif not isinstance(inner, Mapping) and field.name != "grids":
                yield from _words(inner)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _words(each)


def _figure_words(value: Any, *, words: bool = False) -> Iterator[str]:
    if isinstance(value, str) and words:
        yield re.sub(r"%\{[^}]*\}|<[^>]*>", " ", value)
    elif isinstance(value, Mapping):
        for key, each in value.items():
            yield from _figure_words(each, words=key in _FIGURE_WORDS)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _figure_words(each, words=words)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        for each in value.values():
            yield from _texts(each)
    elif isinstance(value, list | tuple):
        yield " ".join(map(str, value))
    elif isinstance(value, str):
        yield value


def _english(report: Report, *names: str) -> set[str]:
    """The English words in a report that should be Chinese. `names` are what this report quotes."""
    quoted = sorted({*_texts(ENVIRONMENT), *names}, key=len, reverse=True)
    found = set()
    for text in _words(report):
        for name in quoted:
            text = text.replace(name, " ")
        words = re.findall(r"[A-Za-z]{2,}", PATTERNS.sub(" ", text))
        found |= {f"{word} in: {text}" for word in words if word not in NAMES}
    return found


QUOTED = (
    # what the report lint calls its subjects
    "documents",
    # a directory
    "runs/20261122t080000z-interfere-ycsb-c-0059a198",
    # a case of a gate
    "ycsb-c fed1a150 throughput",
    # what servers said
    "WriteConflict",
    "MaxTimeMSExpired",
    "scripted error",
    "scripted write error",
    "TransientTransactionError",
    "DuplicateKey",
)


@pytest.mark.parametrize("kind", ["run", "capacity", "sweep"])
def test_no_english_word_is_left(reports: Reports, kind: str) -> None:
    report = in_language(getattr(reports, kind), "zh")
    assert _english(report, *QUOTED) == set()
    assert report.language == "zh"


def test_no_english_word_is_left_in_a_load(tmp_path: Path) -> None:
    record = write_run(tmp_path / "run", _plan(faults=THREE_REFUSED))
    report = in_language(run_report(record, observe(record)), "zh")
    assert _english(report, *QUOTED) == set()


@pytest.mark.parametrize("kind", ["closed", "overloaded", "unsealed", "tlr"])
def test_no_english_word_is_left_where_things_went_wrong(tmp_path: Path, kind: str) -> None:
    rate = {"overloaded": 14_000.0}.get(kind)
    changes: dict[str, Any] = {"warmup_s": 0.0, "duration_s": 3.0}
    if kind == "tlr":
        changes |= {"pacer": {"kind": "tlr", "loops": 20, "ramp_up_ns": 1_000_000_000}, "duration_ns": None}
        changes |= {"connections": 20, "operation_count": 400}
    record = write_run(tmp_path / "run", simulated_plan(rate_ops_per_s=rate, **changes), sealed=kind != "unsealed")
    observation, slo = observe(record), Slo()
    judgement = judge(observation, slo) if kind == "overloaded" else None
    report = run_report(record, observation, slo=slo if judgement else None, judgement=judgement)
    assert _english(in_language(report, "zh"), *QUOTED) == set()


@pytest.mark.parametrize(
    "report",
    [report_of(regressed()), trend_of(dropped()), interfered(), interfered("backup")],
    ids=["comparison", "trend", "interference", "backups"],
)
def test_no_english_word_is_left_between_runs(report: Report) -> None:
    assert _english(in_language(report, "zh"), *QUOTED) == set()


FROM_THE_FILES = ("GET order", "boom", "READ", "UPDATE", "SHA-256", "jtl-csv", "SampleCount")
"""Names, labels and messages that imported files have."""


@pytest.mark.parametrize("origin", ["jmeter", "groups", "ycsb", "status"])
def test_no_english_word_is_left_in_imported_results(tmp_path: Path, origin: str) -> None:
    failed = [Sample(START_MS + each, 5, success=False, message="boom") for each in range(10)]
    groups = ["timeStamp,elapsed,label,success,SampleCount,ErrorCount", f"{START_MS},600,GET order,true,3,1"]
    files = {
        "jmeter": lambda: [write(tmp_path / "r.jtl", [*uniform(2000), *failed])],
        "groups": lambda: [write_lines(tmp_path / "r.jtl", groups)],
        "ycsb": lambda: [GOLDEN / "a-run.default.stdout"],
        "status": lambda: [GOLDEN / "a-run.status.stdout", GOLDEN / "a-run.status.stderr"],
    }[origin]()
    report = in_language(imported_report(import_files(files)), "zh")
    assert _english(report, *QUOTED, *FROM_THE_FILES, *(file.name for file in files)) == set()


@pytest.mark.parametrize(
    ("ended_by", "attempts", "settings"),
    [
        ("completed", 1, ImportSettings(type="csv", headerline=True)),
        ("server_lost", 2, ImportSettings()),
        ("input", 1, ImportSettings(legacy=True)),
    ],
)
@pytest.mark.parametrize("inputs", [1, 2])
def test_no_english_word_is_left_in_an_import(
    ended_by: str, attempts: int, settings: ImportSettings, inputs: int
) -> None:
    report = import_report(
        an_import(ended_by=ended_by, attempts=attempts, reason="reason", not_utf8=3, settings=settings, inputs=inputs)
    )
    quoted = (
        "shop.orders",
        "orders.csv.gz",
        "orders-more.csv.gz",
        "UTF-8",
        "U+FFFD",
        "json",
        "rejected.jsonl",
        "import --resume",
        "csv",
        "insert",
        "gzip",
        "null",
        "_id",
    )
    assert _english(in_language(report, "zh"), *QUOTED, *quoted, "reason") == set()


OF_KINDS: Mapping[str, tuple[str, ...]] = {
    "frontier": (),
    "ab": (),
    "soak": (),
    "growth": ("runs/20260302t091405z-growth-order-service-12345678",),
    "vary": ("runs/20261122t080000z-vary-order-service-0059a198",),
    "design": ("runs/20261122t080000z-vary-order-service-0059a198", "replica-set-3", "standalone", "brimline capacity",
               "trials/"),
    "failover": ("SIGSTOP", "SIGCONT", "SECONDARY", "PRIMARY", "ledger.csv", "read-your-writes", "monotonic reads",
                 "pause", "j: true"),
}  # fmt: skip
"""What reports of a kind quote besides."""


@pytest.mark.parametrize("kind", OF_KINDS)
def test_no_english_word_is_left_in_any_kind(every_kind: Mapping[str, Report], kind: str) -> None:
    report = in_language(every_kind[kind], "zh")
    others = [each for each in report.sections if kind != "soak" or each.id != "environment"]  # that of this machine
    assert _english(replace(report, sections=others), *QUOTED, *OF_KINDS[kind]) == set()


@pytest.mark.parametrize("limits_ms", [(5, 0.1), (0.1, 0.05)], ids=["some", "none"])
def test_no_english_word_is_left_in_a_frontier_of_limits_that_cannot_be_kept(
    tmp_path: Path, limits_ms: tuple[float, ...]
) -> None:
    assert _english(in_language(frontier(tmp_path / "frontier", limits_ms), "zh"), *QUOTED) == set()


def test_no_english_word_is_left_where_figures_contradict_each_other(tmp_path: Path) -> None:
    path, good = tmp_path / "r.txt", "[READ], 99thPercentileLatency(us), 6131"
    text = (GOLDEN / "a-run.hdr-verbose.stdout").read_text()
    assert good in text
    path.write_text(text.replace(good, good.replace("6131", "9131")))
    report = in_language(imported_report(import_files([path])), "zh")
    assert len(report.verdict.badges) == 2
    assert _english(report, *QUOTED, *FROM_THE_FILES, path.name) == set()


def test_the_terms_are_those_that_the_field_uses(reports: Reports) -> None:
    html = unescape(render_html(in_language(reports.capacity, "zh")))
    for term in ("可持续吞吐量", "响应时间", "拐点", "置信区间", "瓶颈", "次/秒", "负载发生器", "闭环", "百分位"):
        assert term in html
    assert '<html lang="zh-CN">' in html


def test_headline_keeps_its_digits(reports: Reports) -> None:
    english, chinese = reports.capacity.verdict, in_language(reports.capacity, "zh").verdict
    assert chinese.figure == english.figure.replace(" ", "")  # below 10 000
    assert chinese.unit == "次/秒"


def test_the_terminal_speaks_it_too(reports: Reports) -> None:
    output = io.StringIO()
    print_report(in_language(reports.run, "zh"), Console(file=output, width=200, no_color=True))
    assert "响应时间 p99" in output.getvalue()
    assert "Objective" not in output.getvalue()


def test_json_and_what_is_to_be_copied_stay(reports: Reports) -> None:
    chinese = in_language(reports.run, "zh")
    assert render_json(chinese) == render_json(reports.run)
    html = unescape(render_html(chinese))
    assert ENVIRONMENT["command"] in html
    assert SPEC.rstrip() in html


def test_settings_stay_as_they_are_typed() -> None:
    ledger = {"write_concern": {"w": 1, "j": True}, "retry_writes": True}
    assert said_in("zh", how_written(ledger)).startswith("w: 1，j: true，")


def test_english_stays_as_it_is(reports: Reports) -> None:
    assert in_language(reports.run, "en") is reports.run
    assert said_in("en", "Throughput") == "Throughput"


def translated_block(table: Table) -> Table:
    """A table as a Chinese report has it."""
    verdict = Verdict(tone="", caption="", figure="", unit="", interval="", sentence="")
    section = Section(id="a", title="", short="", blocks=[table])
    report = Report(kind="run", kind_title="", name="", subtitle="", verdict=verdict, sections=[section], footer="")
    (said,) = in_language(report, "zh").sections[0].blocks
    assert isinstance(said, Table)
    return said


@pytest.mark.parametrize(
    ("quantity", "chinese"),
    [
        (format_count(9_999), "9999"),
        (format_count(10_001), "10 001"),
        (format_count(123_456), "123 456"),
        (format_count(1_000_000), "1 000 000"),
        (format_count(123_456_789), "123 456 789"),
        (format_count(-20_000), "-20 000"),
        (format_number(9_430.4), "9430"),
        (format_number(9_999.6), "1.00 万"),
        (format_number(14_320, digits=4), "1.432 万"),
        (format_number(0.25), "0.250"),
        (format_rate(9_430), "9430 次/秒"),
        (format_rate(123_456), "12.3 万次/秒"),
        (format_rate(2.5e8), "2.50 亿次/秒"),
        (format_rate(20_000, unit="documents/s"), "2.00 万个文档/秒"),
        (format_rate(float("nan")), "—"),
        (format_percentage(0.97314), "97.3%"),
        (format_percentage(56.8), "5680%"),
        (format_duration(9_400_000), "9.40 ms"),
        (format_duration(1_500_000_000), "1.50 s"),
        (format_duration(125_000_000_000), "2 分 5 秒"),
        (format_duration(5_400_000_000_000), "1 小时 30 分"),
    ],
)
def test_quantities_are_written_the_chinese_way(quantity: str, chinese: str) -> None:
    assert said_in("zh", quantity) == chinese


def test_a_sentence_is_put_together_anew() -> None:
    inner = message("{share} of the operations failed", share=format_percentage(0.25))
    assert said_in("zh", inner) == "25% 的操作失败"
    assert said_in("zh", capitalised("undetermined")) == "未能确定"
    assert said_in("zh", joined("; ", [inner, "the generator was late"])) == "25% 的操作失败；负载发生器滞后"
    assert said_in("zh", message("{count} connections", count=format_count(20_000))) == "20 000 个连接"
    assert said_in("zh", "something that nobody translated") == "something that nobody translated"
    assert said_in("zh", message("{n} such things", n=format_count(10_000))) == "10 000 such things"


def test_a_space_stands_where_a_name_meets_a_chinese_word() -> None:
    """As the sentences themselves have it; what somebody named stays as it is."""
    told = message("{metric} is longer with {what}", metric="p95", what=Verbatim("client go"))
    assert said_in("zh", told) == "client go：p95 更长"
    assert (
        said_in("zh", message("{metric} is longer with {what}", metric="service p99", what="x"))
        == "x：服务时间 p99 更长"
    )
    assert said_in("zh", Verbatim("订单v2")) == "订单v2"
    named = message("{metric} is longer with {what}", metric="Throughput", what=Verbatim("订单v2"))
    assert said_in("zh", named) == "订单v2：吞吐量更长"


def test_an_error_that_a_record_kept_is_known_again() -> None:
    """Such as the reason of a cell that failed: its text is what is stored."""
    kept = "the target went away: no connection to the target for 3000 ms: db1:27017"
    assert said_in("zh", kept) == "目标已不可达：3000 ms 内没有到目标的连接：db1:27017"
    cell = message("block {block}, {outcome}: {reason}", block=format_count(1), outcome="failed", reason=kept)
    assert said_in("zh", cell).endswith("目标已不可达：3000 ms 内没有到目标的连接：db1:27017")
    assert (
        said_in("zh", "no run counts: nothing was measured; the disk is odd")
        == "没有有效的运行：没有测得任何结果；the disk is odd"
    )
    assert said_in("zh", "a text that is no error at all") == "a text that is no error at all"


def test_figures_beside_each_other_have_one_unit() -> None:
    low, high = format_number(9_223), format_number(12_330, digits=4)
    assert said_in("zh", message("{low} to {high}", low=low, high=high)).count("万") == 0
    assert said_in("zh", message("{low} to {high}", low=high, high=high)).count("万") == 2
    table = Table(columns=[Column(label="Throughput")], rows=[[Cell(text=high)], [Cell(text=format_count(1_215))]])
    said = translated_block(table)
    assert [row[0].text for row in said.rows] == ["12 330", "1215"]


def test_an_interval_of_one_value_is_that_value() -> None:
    text = " ".join(_words(in_language(report_of(regressed()), "zh")))
    assert "0 个百分点至 0 个百分点" not in text and "0 个百分点" in text


def test_marks_between_chinese_words_are_full_width() -> None:
    assert said_in("zh", joined(", ", ["Throughput", "Response time"])) == "吞吐量，响应时间"
    assert said_in("zh", Verbatim("订单, 明细")) == "订单, 明细"
    assert Table(columns=[Column(label="每个文档", unit="磁盘占用")], rows=[]).headings == ["每个文档，磁盘占用"]
    mixed = [Column(label="平均值", unit="ms"), Column(label="p90", unit="ms")]
    assert Table(columns=mixed, rows=[]).headings == ["平均值，ms", "p90，ms"], "one way within a table"


def test_marks_that_a_format_puts_are_full_width_too(reports: Reports) -> None:
    """Between a label and its value, and around a note, on the terminal and in Markdown."""
    english, report = reports.run, in_language(reports.run, "zh")
    text = render_markdown(report)
    assert re.search(r"^# [\u4e00-\u9fff]+：", text), text[:80]
    assert not re.search(r"[\u4e00-\u9fff]:(?!//)", re.sub(r"```.*?```|`[^`]*`", "", text, flags=re.DOTALL))
    assert not re.search(r"\*\* \([^)]*[\u4e00-\u9fff]", text)
    assert report.verdict.headline.count("：") == 1 and "（" in report.verdict.headline
    assert ": " in english.verdict.headline and " (95 % CI" in english.verdict.headline


@pytest.mark.parametrize("setting", ["majority", "query", "update", "insert", "getmore", "journaled"])
def test_settings_and_operations_stay_as_they_are_typed(setting: str) -> None:
    assert said_in("zh", setting) == setting


@pytest.mark.parametrize(
    "word",
    [
        "索引集",
        "多数派",
        "响应(?!时间)",
        "百分位(?!数)",
        "(?<!百)分位",
        "(?<!磁盘)已满",
        "(?<=[0-9}]) %",
        "[\u4e00-\u9fff][,:;]",
        "[,:;] ?[\u4e00-\u9fff]",
        "加载",
        "工作负载",
        "负载生成器",
        "同时进行(?!的内容)",
        "日志（journal",
        "[^行]记录封存",
    ],
)
def test_a_term_is_always_the_same(word: str) -> None:
    assert [each for each in catalogue("zh").values() if re.search(word, each)] == []


def test_the_language_is_chosen_by_option_then_by_environment() -> None:
    assert wanted_language(environment={}) == "en"
    assert wanted_language(environment={"BRIMLINE_LANG": "zh_CN.UTF-8"}) == "zh"
    assert wanted_language("en", environment={"BRIMLINE_LANG": "zh"}) == "en"
    assert wanted_language("zh-Hans", environment={}) == "zh"
    with pytest.raises(UsageError, match="--lang"):
        wanted_language("fr", environment={})
    with pytest.raises(UsageError, match="BRIMLINE_LANG"):
        wanted_language(environment={"BRIMLINE_LANG": "de"})


def test_wordless_templates_have_chinese_punctuation() -> None:
    said = said_in("zh", message("{metric}: {change}, {interval}", metric="throughput", change="a", interval="b"))
    assert said == "吞吐量：a，b"
