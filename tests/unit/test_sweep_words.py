"""`brimline sweep --connections` is another word for one of its factors."""

import pytest

from brimline.cli.sweep import _varied
from brimline.errors import UsageError


def test_connections_are_short_for_a_factor() -> None:
    assert _varied(None, "1,8") == ["connections=1,8"]
    assert _varied(["cache-gb=1,2"], "1,8") == ["cache-gb=1,2", "connections=1,8"]
    assert _varied(None, None) is None and _varied(["threads=1"], None) == ["threads=1"]


def test_both_words_at_once_are_refused() -> None:
    with pytest.raises(UsageError, match="say the same"):
        _varied(["connections=1"], "8")
