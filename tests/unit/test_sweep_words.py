"""`brimline sweep --connections` is another word for one of its factors."""

import pytest

from brimline.cli.sweep import _fixed, _varied
from brimline.errors import UsageError


def test_connections_are_short_for_a_factor() -> None:
    assert _varied((), "1,8") == ["connections=1,8"]
    assert _varied(["cache-gb=1,2"], "1,8") == ["cache-gb=1,2", "connections=1,8"]
    assert not _varied((), None) and _varied(["threads=1"], None) == ["threads=1"]


def test_both_words_at_once_are_refused() -> None:
    with pytest.raises(UsageError, match="say the same"):
        _varied(["connections=1"], "8")


def test_one_number_beside_other_factors_is_that_of_all_runs() -> None:
    assert _fixed(["cache-gb=1,2"], "8") == "8"
    assert _fixed(["cache-gb=1,2"], "1,8") is None and _fixed(["cache-gb=1,2"], None) is None
    assert _fixed((), "8") is None, "alone it stays a factor with one level, which is refused"
    assert _fixed(["connection=1,8"], "8") is None, "both words at once are refused, not one of them dropped"
