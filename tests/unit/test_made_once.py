"""What workers share is made by one of them."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event

import pytest

from tests.support.made_once import _made_once


def test_one_makes_it_while_the_others_wait(tmp_path: Path) -> None:
    made, begun, go_on = list[int](), Event(), Event()

    def make() -> dict[str, int]:
        begun.set()
        assert go_on.wait(10)
        made.append(1)
        return {"rows": len(made)}

    with ThreadPoolExecutor(3) as pool:
        first = pool.submit(_made_once, tmp_path / "it.pickle", make)
        assert begun.wait(10)
        others = [pool.submit(_made_once, tmp_path / "it.pickle", make) for _ in range(2)]
        go_on.set()
        assert [each.result() for each in (first, *others)] == [{"rows": 1}] * 3


def test_what_could_not_be_made_is_made_by_the_next(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError):
        _made_once(tmp_path / "it.pickle", lambda: 1 // 0)
    assert _made_once(tmp_path / "it.pickle", lambda: 2) == 2
    assert _made_once(tmp_path / "it.pickle", lambda: 3) == 2
