"""Tests that failed side by side are run once more alone, if they are few, and named in any case."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.support.second_look import FAILED, FAILED_MAX, TESTS_FAILED, main


class _Pytest:
    """Takes the place of pytest: of the tests that failed, `still` fail again."""

    def __init__(self, failed: Sequence[str], still: Sequence[str]) -> None:
        self.still = still
        self.asked: list[list[str]] = []
        _write(failed)

    def __call__(self, arguments: Sequence[str]) -> int:
        self.asked.append(list(arguments))
        _write(self.still)
        return TESTS_FAILED if self.still else 0


def _write(failed: Sequence[str]) -> None:
    FAILED.parent.mkdir(parents=True, exist_ok=True)
    FAILED.write_text(json.dumps(dict.fromkeys(failed, True)))


_ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_what_holds_alone_is_named_and_does_not_fail_the_run(capfd: pytest.CaptureFixture[str]) -> None:
    again = _Pytest(["t.py::a", "t.py::b"], [])
    assert main(["1", "-x"], again) == 0
    (asked,) = again.asked
    assert asked[0] == "--last-failed"
    assert asked[-1] == "-x"
    said = capfd.readouterr().out
    assert said.count("t.py::a") == 2
    assert "failed only beside others" in said


def test_what_fails_again_fails_the_run(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["1"], _Pytest(["t.py::a", "t.py::b"], ["t.py::b"])) == TESTS_FAILED
    assert capfd.readouterr().out.count("t.py::b") == 1


@pytest.mark.parametrize(
    ("code", "failed"), [("1", [str(each) for each in range(FAILED_MAX + 1)]), ("2", ["a"]), ("1", [])]
)
def test_many_failures_and_other_ends_stand(code: str, failed: list[str]) -> None:
    again = _Pytest(failed, [])
    assert main([code], again) == int(code)
    assert not again.asked


def test_without_a_list_the_end_stands() -> None:
    assert main(["1"], lambda _: pytest.fail("nothing is known to be run")) == 1


def test_what_failed_in_an_earlier_run_is_forgotten_before_the_first() -> None:
    lines = (_ROOT / "Makefile").read_text(encoding="utf-8").splitlines()
    first = next(number for number, line in enumerate(lines) if "tests.support.second_look" in line)
    assert f"rm -f {FAILED} " in lines[first - 1]
