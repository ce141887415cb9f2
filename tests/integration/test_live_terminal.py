"""brimline on a terminal: the live screen in place, what stands there afterwards, and every end leaves it whole."""

import re
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.repetitions import repetitions
from tests.support.terminal import Terminal

RUN = (sys.executable, "-m", "brimline", "run", "ycsb-b", "--null", "--warmup", "0s")
SPARKS = re.compile(r"[▁▂▃▄▅▆▇█]")


@pytest.fixture
def terminals(tmp_path: Path) -> Iterator[list[Terminal]]:
    opened: list[Terminal] = []
    yield opened
    for each in opened:
        each.close()


def start(terminals: list[Terminal], directory: Path, *more: str, columns: int = 80, **environment: str) -> Terminal:
    terminal = Terminal(
        [*RUN, *more], columns=columns, environment={"BRIMLINE_RUNS_DIR": str(directory), **environment}
    )
    terminals.append(terminal)
    return terminal


def rows(frame: list[str], label: str) -> list[str]:
    return [line for line in frame if line.startswith(label)]


@pytest.mark.parametrize("columns", [80, *repetitions(120)])
def test_a_run_has_one_screen_in_place_and_15_lines_at_its_end(
    columns: int, terminals: list[Terminal], tmp_path: Path
) -> None:
    terminal = start(terminals, tmp_path, "--rate", "2000/s", "--duration", "1200ms", columns=columns)
    assert terminal.ended() in (0, 3, 4), "on a busy machine the run may prove nothing"
    drawn = [frame for frame in terminal.frames if rows(frame, "answered") and rows(frame, "errors")]
    assert all(len(rows(frame, "answered")) == 1 for frame in drawn), "in place"
    assert all(len(line) <= columns for frame in drawn for line in frame)
    shares = {found[1] for frame in drawn for line in frame if (found := re.search(r"(\S+) %, \S+ \S+ left", line))}
    assert len(shares) > 1, "it goes on"
    whole = [frame for frame in drawn if SPARKS.search(rows(frame, "response p99")[0])]
    assert whole and rows(whole[-1], "offered")[0].split() == ["offered", "2", "000", "ops/s"]
    shown = terminal.screen.lines
    assert not rows(shown, "answered") and terminal.screen.cursor_shown
    begin = next(index for index, line in enumerate(shown) if line.startswith("Run · "))
    assert len(shown[begin:]) <= 15 + 1 and rows(shown, "report: ")


def test_ctrl_c_leaves_the_terminal_whole(terminals: list[Terminal], tmp_path: Path) -> None:
    terminal = start(terminals, tmp_path, "--rate", "2000/s", "--duration", "1min")
    terminal.until(lambda lines: any(" left" in line for line in lines))
    terminal.interrupt()
    assert terminal.ended() == 128 + signal.SIGINT
    shown = terminal.screen.lines
    assert terminal.screen.cursor_shown and not rows(shown, "answered")
    assert rows(shown, "report: ") and rows(shown, "error: interrupted by SIGINT")


@pytest.mark.parametrize(
    ("columns", "environment"), [(20, {}), (80, {"TERM": "dumb"}), *repetitions((80, {"NO_COLOR": "1"}))], ids=str
)
def test_a_terminal_that_can_not_show_it_has_plain_lines(
    columns: int, environment: dict[str, str], terminals: list[Terminal], tmp_path: Path
) -> None:
    terminal = start(terminals, tmp_path, "--duration", "300ms", columns=columns, **environment)
    assert terminal.ended() == 0
    shown = terminal.screen.lines
    assert not any(rows(frame, "answered") for frame in terminal.frames)
    assert any("report: " in line for line in shown) and any("Encode-and-record" in line for line in shown)


def test_a_terminal_that_goes_away_costs_no_record(terminals: list[Terminal], tmp_path: Path) -> None:
    terminal = start(terminals, tmp_path, "--rate", "2000/s", "--duration", "1min")
    terminal.until(lambda lines: any(" left" in line for line in lines))
    terminal.hang_up()
    assert terminal.process.wait(timeout=20) == 1, "the result can't be printed"
    assert list(tmp_path.glob("*/report.html"))
