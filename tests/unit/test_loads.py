"""What several loads come to together."""

from typing import Any, cast

from brimline.api.results import AlreadyLoaded, LoadResult, Loads
from brimline.errors import Interrupted, InvalidRun

WHOLE = AlreadyLoaded(namespace="db.a", document_count=3)


class Failed(LoadResult):
    """A load that fell short."""

    def __init__(self) -> None:
        pass

    @property
    def error(self) -> InvalidRun:
        """What it ended with."""
        return InvalidRun("the collection db.b holds 2 documents and not the intended 3")


def test_the_error_of_one_is_that_of_all() -> None:
    assert (Loads(results=[WHOLE]).error, Loads(results=[WHOLE]).exit_code) == (None, 0)
    failed = Loads(results=[WHOLE, cast(Any, Failed())])
    assert (failed.exit_code, str(failed.error)) == (4, "the collection db.b holds 2 documents and not the intended 3")


def test_a_signal_between_two_of_them_is_told() -> None:
    interrupted = Interrupted("interrupted by SIGINT", signal_number=2)
    assert Loads(results=[WHOLE], interrupted=interrupted).error is interrupted


def test_each_is_told_as_alone() -> None:
    told = Loads(results=[WHOLE, WHOLE]).to_dict()
    assert told["collections"] == [WHOLE.to_dict(), WHOLE.to_dict()]
