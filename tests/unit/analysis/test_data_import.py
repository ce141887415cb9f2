"""What is said of an import: the sum of its records, and the server's count against it."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from brimline.analysis.compared_imports import compared_import
from brimline.analysis.data_import import import_findings, misfits_text
from brimline.analysis.finding import Standing
from brimline.record.data_import import ImportRecord, ImportRow, ImportState
from brimline.record.histograms import native_codec
from brimline.record.model import Standstill
from brimline.report.data_import.view import import_report
from brimline.spec.import_settings import ImportSettings, Mode
from brimline.units import NS_PER_S

COUNTS = {
    "read": 10,
    "inserted": 7,
    "updated": 0,
    "deleted": 0,
    "unmatched": 0,
    "rejected": 2,
    "nulls": 1,
    "oversized": 0,
    "ignorable": 2,
    "found": 0,
}


def record(
    *,
    ended_by: str | None = "completed",
    after: int | None = 12,
    mode: Mode = "insert",
    attempts: int = 1,
    **counts: int,
) -> ImportRecord:
    state = ImportState(
        name="d.c",
        namespace="d.c",
        settings=ImportSettings(mode=mode).to_document(),
        inputs=[],
        object_ids={},
        count_before=5,
        ended_by=ended_by,
        counts=COUNTS | counts,
        count_after=after,
        attempts=attempts,
    )
    return ImportRecord(
        directory=Path("x"),
        state=state,
        checkpoint={},
        environment={},
        rows=[],
        service=native_codec().empty(),
        interval_p99_ns=[],
        server_facts={},
        brimline_version="0",
    )


def standings(**options: Any) -> dict[str, Standing]:
    return {each.name: each.verdict for each in import_findings(record(**options))}


def test_an_import_that_adds_up_passes() -> None:
    found = standings()
    assert found["ended"] is found["conservation"] is found["count"] is Standing.PASS
    assert found["rejected"] is Standing.WARN


def test_a_record_that_is_nowhere_fails() -> None:
    assert standings(read=11)["conservation"] is Standing.FAIL


@pytest.mark.parametrize("after", [11, 13])
def test_another_count_than_the_sum_fails(after: int) -> None:
    assert standings(after=after)["count"] is Standing.FAIL


def test_deleted_documents_are_taken_off() -> None:
    assert standings(inserted=0, deleted=3, unmatched=4, after=2, mode="delete")["count"] is Standing.PASS


def test_after_an_interruption_statements_by_key_prove_no_count() -> None:
    assert standings(after=11, mode="upsert", attempts=2)["count"] is Standing.WARN
    assert standings(after=11, mode="upsert", attempts=1)["count"] is Standing.FAIL
    assert standings(after=11, mode="insert", attempts=2)["count"] is Standing.FAIL


def test_what_was_not_counted_is_unknown() -> None:
    assert standings(after=None, ended_by="server_lost")["count"] is Standing.UNKNOWN
    assert standings(after=None, ended_by="server_lost")["ended"] is Standing.FAIL
    assert standings(ended_by=None)["ended"] is Standing.FAIL


def test_an_importer_that_stood_still_is_named_and_its_counts_stand() -> None:
    sound = record()
    still: Standstill = {"from_ns": 1_000_000_000, "to_ns": 2_500_000_000, "still_ns": 1_480_000_000}
    stopped = replace(sound, state=replace(sound.state, standstills=[still], duration_ns=4_000_000_000))
    (finding,) = [each for each in import_findings(stopped) if each.name == "standstills"]
    assert finding.verdict is Standing.WARN
    assert finding.evidence.startswith("the generator itself did not run for 1.48 s from 1.00 s on, 37 %")
    assert not [each for each in import_findings(sound) if each.name == "standstills"]
    facts = {fact.label: fact for fact in import_report(stopped).verdict.facts}
    assert (facts["Stood still"].value, facts["Stood still"].note) == ("1.48 s", finding.evidence)


def test_the_rate_of_an_importer_that_stood_still_leaves_that_out() -> None:
    """1 000 documents in each second but in those of the standstill: report, JSON and comparison say the same."""
    stood: Standstill = {"from_ns": 1_400_000_000, "to_ns": 2_900_000_000, "still_ns": 1_480_000_000}
    documents = (1000, 400, 100, 1000)
    rows = [
        ImportRow(
            start_ns=number * NS_PER_S,
            end_ns=(number + 1) * NS_PER_S,
            documents=count,
            refused=0,
            commands=1,
            input_bytes=1,
            bytes_out=1,
            process_cpu_ns=1,
        )
        for number, count in enumerate(documents)
    ]
    sound = replace(record(), rows=rows)
    sound = replace(sound, state=replace(sound.state, duration_ns=4 * NS_PER_S))
    assert rates(sound) == ("Import rate", "625.0", "", 625.0, 625.0)
    stopped = replace(sound, state=replace(sound.state, standstills=[stood]))
    over = "over 2.00 s; left out: 2.00 s, all of each interval in which the importer stood still"
    assert rates(stopped) == ("Import rate", "1 000", over, 1000.0, 1000.0)
    short: Standstill = {"from_ns": 1_400_000_000, "to_ns": 1_500_000_000, "still_ns": 100_000_000}
    assert rates(replace(sound, state=replace(sound.state, standstills=[short]))) == rates(sound)
    nothing_left = replace(stopped, rows=rows[1:3])
    assert rates(nothing_left) == ("No rate: the importer stood still", "", "", None, None)


def rates(record: ImportRecord) -> tuple[str, str, str, float | None, float | None]:
    """What the headline says, JSON, and what a comparison takes."""
    report = import_report(record)
    verdict = report.verdict
    compared = compared_import(record).figures.get("throughput")
    return verdict.caption, verdict.figure, verdict.interval, report.data["documents_per_s"], compared


@pytest.mark.parametrize(
    ("grace", "became"),
    [("skipField", "was left out"), ("autoCast", "was stored as what it looks like")],
)
def test_of_one_the_words_are_singular(grace: str, became: str) -> None:
    sound = record(after=1, rejected=1, read=9)
    settings = {**sound.state.settings, "parse_grace": grace}
    one = replace(sound, state=replace(sound.state, count_before=0, settings=settings, misfits={"price": 1}))
    assert misfits_text(one) == f"1 cell did not fit its column's type and {became}: price 1"
    rejected = next(each for each in import_findings(one) if each.name == "rejected")
    assert rejected.evidence.startswith("1 record was rejected; it is in")
    six = replace(one, state=replace(one.state, misfits=dict.fromkeys("abcdef", 1)))
    assert (misfits_text(six) or "").endswith("e 1, 1 more column")


def test_the_sentence_of_an_import_of_one_document_is_singular() -> None:
    sound = record(after=6, read=1, inserted=1, rejected=0, nulls=0, ignorable=0)
    one = replace(sound, state=replace(sound.state, count_before=0, count_after=1, misfits={"price": 1}))
    told = "Every record is accounted for, 1 cell aside, and the server counted 1 document afterwards."
    assert import_report(one).verdict.sentence == told
