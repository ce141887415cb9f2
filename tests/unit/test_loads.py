"""What several loads come to together."""

from typing import Any, cast

import pytest

from brimline.api.results import AlreadyLoaded, LoadResult, Loads
from brimline.dataset.inspection import Inspection, State
from brimline.errors import Interrupted, InvalidRun, UsageError
from brimline.execution.data import goes_on

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


@pytest.mark.parametrize("state", State)
def test_a_load_goes_on_whether_what_is_there_may_be_replaced_or_not(state: State) -> None:
    """The command that began it, `--drop` in it or not, goes on with `--resume`; only what is no load is replaced."""
    found = Inspection(state=state, explanation="it holds something else", document_count=1, manifest=None)
    is_load = state in (State.UNFINISHED, State.READY)
    assert goes_on(found, drop=True) is is_load
    if is_load or state is State.ABSENT:
        assert goes_on(found, drop=False) is is_load
    else:
        with pytest.raises(UsageError, match="there is no load to go on with: it holds something else"):
            goes_on(found, drop=False)
