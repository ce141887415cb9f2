"""`brimline sweep --connections` is another word for one of its factors."""

import pytest

from brimline.cli.design import DesignOptions
from brimline.cli.sweep import _fixed, _with_connections
from brimline.errors import UsageError


def varied(*factors: str) -> DesignOptions:
    return DesignOptions(vary=factors)


def test_connections_are_short_for_a_factor() -> None:
    assert _with_connections(varied(), "1,8").vary == ("connections=1,8",)
    assert _with_connections(varied("cache-gb=1,2"), "1,8").vary == ("cache-gb=1,2", "connections=1,8")


def test_both_words_at_once_are_refused() -> None:
    with pytest.raises(UsageError, match="say the same"):
        _with_connections(varied("connections=1"), "8")


def test_one_number_beside_other_factors_is_that_of_all_runs() -> None:
    assert _fixed(varied("cache-gb=1,2"), "8") == "8"
    assert _fixed(varied("cache-gb=1,2"), "1,8") is None and _fixed(varied("cache-gb=1,2"), None) is None
    assert _fixed(varied(), "8") is None, "alone it stays a factor with one level, which is refused"
    assert _fixed(varied("connection=1,8"), "8") is None, "both words at once are refused, not one of them dropped"
