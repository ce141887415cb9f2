"""Chinese reports of every kind as they are written: no English sentence in HTML or Markdown."""

import re
from collections.abc import Mapping
from html import unescape

import pytest

from brimline.report import Report, in_language, render_html
from brimline.report.markdown import render_markdown
from tests.support.own_work import SHOP
from tests.unit.report.every_kind import KINDS
from tests.unit.report.report_samples import ENVIRONMENT

COPIED = re.compile(r"<(style|script|pre|code|title)\b.*?</\1>|```.*?```|`[^`]*`", re.DOTALL)
SENTENCE = re.compile(r"[A-Za-z][a-z']*(?:[ ,:;]+[A-Za-z][a-z']*){2,}")
NAMES = {
    ENVIRONMENT["host"]["cpu_model"],
    "AMD EPYC",
    "GNU Linux",
    "Debian GNU",
    "scripted write error",
    "unknown operator",
    *(f"{operation}: {step['name']}" for operation, steps in SHOP.items() for step in steps),
}
"""What machines and servers call themselves, what they said, and what an author calls operations and steps."""


def sentences(text: str) -> list[str]:
    """Three English words in a row, outside of what is there to be copied."""
    told = re.findall(r'(?:aria-label|data-[a-z]+)="([^"]*)"', text)
    shown = "\n".join([re.sub(r"<[^>]+>", "\n", COPIED.sub("\n", text)), *told])
    for name in NAMES:
        shown = shown.replace(name, "").replace(name.replace("_", "\\_"), "")
    return [each.group() for each in SENTENCE.finditer(unescape(shown))]


@pytest.mark.parametrize("kind", KINDS)
def test_no_english_sentence_is_left(every_kind: Mapping[str, Report], kind: str) -> None:
    chinese = in_language(every_kind[kind], "zh")
    assert sentences(render_html(chinese)) == []
    assert sentences(render_markdown(chinese)) == []


@pytest.mark.parametrize("kind", KINDS)
def test_the_scan_sees_english_sentences(every_kind: Mapping[str, Report], kind: str) -> None:
    assert len(sentences(render_html(every_kind[kind]))) > 10
    assert len(sentences(render_markdown(every_kind[kind]))) > 10
