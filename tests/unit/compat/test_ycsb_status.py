"""How YCSB's client says how long it will take."""

import pytest

from brimline.compat.ycsb.status import remaining_text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0 second "),
        (1, "1 second "),
        (9, "9 second "),
        (10, "10 seconds "),
        (47, "47 seconds "),
        (60, "1 minute "),
        (119, "1 minute "),
        (22 * 60, "22 minutes "),
        (3600, "1 hour "),
        (5100, "1 hour 25 minutes "),
        (5 * 3600 + 14 * 60, "5 hours 14 minutes "),
        (86_400, "1 day "),
        (86_400 + 3660, "1 day 1 hour "),
        (2 * 86_400 + 59, "2 days "),
        (2**63 - 1, "106751991167300 days 15 hours "),
    ],
)
def test_remaining_time(seconds: int, text: str) -> None:
    assert remaining_text(seconds) == text
