"""Every check of a run has words of its own, and has them in Chinese."""

import inspect
import re

from brimline.analysis import validity
from brimline.report.blocks import CHECK_NAMES
from brimline.report.language.translator import catalogue

CHECKED = set(re.findall(r'Finding\(\s*"(\w+)"', inspect.getsource(validity)))


def test_every_check_has_a_name_in_both_languages() -> None:
    assert "operation_log" in CHECKED
    assert CHECKED - CHECK_NAMES.keys() == set()
    assert {name for name in CHECK_NAMES.values() if name not in catalogue("zh")} == set()
