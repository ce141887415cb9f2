"""Shares that the verbs that compare are given."""

import pytest

from brimline.cli.gating import share_of
from brimline.errors import UsageError


def test_a_share_is_read() -> None:
    assert (share_of("3%", "--margin"), share_of("0.1%", "--margin")) == (0.03, 0.001)


@pytest.mark.parametrize("text", ["0%", "100%", "250%", "3", "-1%"])
def test_a_share_that_leaves_nothing_or_everything_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match=r"^--margin"):
        share_of(text, "--margin")
