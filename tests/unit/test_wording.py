"""A message is a string that still knows its template and values."""

import copy
import json
import pickle

import pytest

from brimline.wording import Verbatim, capitalised, joined, message, shortened


def test_a_message_is_the_english_sentence() -> None:
    text = message("{share} of {count} CPUs", share="40 %", count=2)
    assert text == "40 % of 2 CPUs"
    assert json.dumps({"evidence": text}) == '{"evidence": "40 % of 2 CPUs"}'
    assert (text.template, text.values) == ("{share} of {count} CPUs", {"share": "40 %", "count": 2})


def test_joined_sentences_stay_apart() -> None:
    first = message("{n} errors", n=3)
    both = joined("; ", [first, "no answer {yet}"])
    assert both == "3 errors; no answer {yet}"
    assert both.values["part0"] is first
    assert joined("; ", []) == ""
    assert joined(" {} ", ["a", "b"]) == "a {} b"


def test_copies_keep_what_the_message_knows() -> None:
    text = message("{n} errors", n=3)
    for twin in (pickle.loads(pickle.dumps(text)), copy.deepcopy(text)):
        assert twin == text
        assert twin.template == text.template
        assert twin.values == text.values


def test_a_name_that_somebody_gave_keeps_its_first_letter() -> None:
    figure = message("{kind} {figure}", kind=Verbatim("latest_orders"), figure="p99")
    assert capitalised(figure) == "latest_orders p99"
    assert capitalised(message("{figure} ≤ {limit}", figure=figure, limit="5 ms")) == "latest_orders p99 ≤ 5 ms"
    assert capitalised(Verbatim("revenue")) == "revenue"
    assert capitalised(message("{kind} p99", kind="read")) == "Read p99"
    assert capitalised("a sentence") == "A sentence"


@pytest.mark.parametrize(("text", "short"), [("", ""), ("four", "four"), ("fiver", "fiv…"), ("much longer", "muc…")])
def test_a_shortened_text_is_never_longer_than_asked(text: str, short: str) -> None:
    assert shortened(text, 4) == short
