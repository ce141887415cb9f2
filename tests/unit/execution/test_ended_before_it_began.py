"""What ends a run before its engine has anything to say of it stands in the record as what it was."""

from pathlib import Path

import pytest

from brimline.errors import BrimlineError, Interrupted, TargetError
from brimline.execution.execute import execute
from brimline.plan import resolve
from brimline.record import read_record
from tests.support.simulation import context, read_only, target


@pytest.mark.parametrize(
    ("error", "ended_by"),
    [(Interrupted("interrupted by SIGINT"), "interrupt"), (TargetError("no connection could be made"), "error")],
)
def test_the_record_says_how_it_ended(error: BrimlineError, ended_by: str, tmp_path: Path) -> None:
    def end() -> None:
        raise error

    plan = resolve(read_only(), target=target({"service": {"kind": "fixed", "ns": 1_000_000}}))
    with pytest.raises(type(error)):
        execute(plan, directory=tmp_path / "run", title="a run", context=context(), change=end)
    record = read_record(tmp_path / "run")
    assert (record.ended_by, record.message) == (ended_by, error.message)
