"""Every check of a run has words of its own, and has them in Chinese."""

import inspect
import re

from brimline.analysis import validity
from brimline.analysis.finding import Finding, Standing
from brimline.report.blocks import CHECK_FAULTS, CHECK_NAMES, checks
from brimline.report.language.translator import catalogue
from brimline.report.view import Table

CHECKED = set(re.findall(r'Finding\(\s*"(\w+)"', inspect.getsource(validity)))


def test_every_check_has_a_name_in_both_languages() -> None:
    assert "operation_log" in CHECKED
    assert CHECKED - CHECK_NAMES.keys() == set()
    assert {name for name in CHECK_NAMES.values() if name not in catalogue("zh")} == set()


def test_every_check_that_can_fail_has_a_fault_of_its_own_in_both_languages() -> None:
    """ "warned: Enough samples" named what was wished for."""
    assert CHECK_NAMES.keys() - CHECK_FAULTS.keys() <= {"watched", "host_watched"}, "which are unknown at worst"
    assert {fault for fault in CHECK_FAULTS.values() if fault not in catalogue("zh")} == set()
    assert set(CHECK_FAULTS.values()) & set(CHECK_NAMES.values()) == set()


def test_a_check_that_failed_or_warned_is_named_by_its_fault() -> None:
    section = checks([Finding("samples", each, "") for each in Standing], intro="")
    (table,) = [block for block in section.blocks if isinstance(block, Table)]
    names = {row[1].text: row[0].text for row in table.rows}
    assert names == {
        "pass": "Enough samples",
        "warn": "Too few samples",
        "fail": "Too few samples",
        "unknown": "Enough samples",
    }
