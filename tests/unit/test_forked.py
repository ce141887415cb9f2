"""A process that begins with everything imported is like a fresh one in all that a test looks at."""

import os
import signal
import subprocess
from pathlib import Path

import pytest

from tests.support import forked


def start(directory: Path, text: str, **environment: str) -> forked.Forked:
    script = directory / "program.py"
    script.write_text(text)
    return forked.start([str(script)], directory=directory, environment={**os.environ, **environment})


@pytest.mark.parametrize(
    ("text", "code", "stdout", "stderr"),
    [
        ("print('here', end='')", 0, "here", ""),
        ("import sys; sys.exit(3)", 3, "", ""),
        ("import sys; sys.exit('no')", 1, "", "no\n"),
        ("import os; os.kill(os.getpid(), 9)", -9, "", ""),
        ("import atexit; atexit.register(print, 'last'); print('first')", 0, "first\nlast\n", ""),
        ("import sys; print('brimline.report.html' in sys.modules, __name__)", 0, "True __main__\n", ""),
        ("import subprocess; subprocess.run(['sh', '-c', 'echo below; echo beside >&2'])", 0, "below\n", "beside\n"),
        ("print('x' * 200_000)", 0, "x" * 200_000 + "\n", ""),
    ],
)
def test_how_it_ends_and_what_it_says(tmp_path: Path, text: str, code: int, stdout: str, stderr: str) -> None:
    process = start(tmp_path, text)
    assert process.communicate(timeout=30) == (stdout, stderr)
    assert process.returncode == process.poll() == process.wait() == code


def test_what_fails_has_a_traceback(tmp_path: Path) -> None:
    process = start(tmp_path, "1 / 0")
    assert process.communicate(timeout=30)[1].endswith("ZeroDivisionError: division by zero\n")
    assert process.returncode == 1


def test_its_surroundings(tmp_path: Path) -> None:
    process = start(
        tmp_path,
        "import os, signal, sys\n"
        "print(os.getcwd(), os.environ['GIVEN'], sys.argv, os.getsid(0) == os.getpid())\n"
        "print([signal.getsignal(each) for each in (signal.SIGTERM, signal.SIGCHLD)], sys.stdin.read())\n"
        "print(sorted(int(each) for each in os.listdir('/proc/self/fd'))[:3], len(os.listdir('/proc/self/fd')))\n",
        GIVEN="yes",
    )
    first, second, third = process.communicate(timeout=30)[0].splitlines()
    assert first == f"{tmp_path} yes [{str(tmp_path / 'program.py')!r}] True"
    assert second.count("SIG_DFL") == 2
    assert third == "[0, 1, 2] 4", "the three streams, and the directory that is read"


def test_a_signal_ends_it_and_one_that_runs_has_no_code(tmp_path: Path) -> None:
    process = start(tmp_path, "import time\nprint('under way', flush=True)\ntime.sleep(60)")
    assert process.stdout is not None
    assert process.stdout.readline() == "under way\n"
    assert process.poll() is None
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(0.01)
    process.send_signal(signal.SIGTERM)
    assert process.wait(30) == -signal.SIGTERM
    process.kill()
    assert process.communicate(timeout=30) == ("", "")


def test_two_share_nothing(tmp_path: Path) -> None:
    drawing = "import random, uuid; print(random.random(), uuid.uuid4())"
    (tmp_path / "other").mkdir()
    drawn = [start(each, drawing).communicate(timeout=30)[0] for each in (tmp_path, tmp_path / "other")]
    assert not set(drawn[0].split()) & set(drawn[1].split())


def test_output_goes_to_files_where_they_are_given(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text("import sys; print('out'); print('err', file=sys.stderr)")
    with (tmp_path / "out").open("wb") as out, (tmp_path / "err").open("wb") as err:
        process = forked.start(
            [str(tmp_path / "program.py")], directory=tmp_path, environment={**os.environ}, files=(out, err)
        )
        assert process.communicate(timeout=30) == ("", "")
    assert [(tmp_path / each).read_text() for each in ("out", "err")] == ["out\n", "err\n"]
