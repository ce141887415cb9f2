"""What can't be said on standard error is lost, and not the result on standard output with it."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

_RUN = ("run", "ycsb-c", "--null", "--duration", "300ms", "--warmup", "0s", "--json")


def _run(redirection: str, *arguments: str, directory: Path) -> subprocess.CompletedProcess[str]:
    words = ["sh", "-c", f'exec "$@" {redirection}', "sh", sys.executable, "-m", "brimline", *arguments]
    return subprocess.run(words, cwd=directory, stdout=subprocess.PIPE, text=True, timeout=60, check=False)


@pytest.mark.parametrize("redirection", ["2>/dev/full", "2>&-"])
def test_a_run_is_printed_whose_progress_can_t_be(redirection: str, tmp_path: Path) -> None:
    done = _run(redirection, *_RUN, "--runs-dir", "runs", directory=tmp_path)
    assert done.returncode == 0
    assert json.loads(done.stdout)["kind"] == "run"
    (record,) = (tmp_path / "runs").iterdir()
    assert (record / "record.json").exists()


@pytest.mark.parametrize("redirection", ["2>/dev/full", "2>&-"])
def test_an_error_that_can_t_be_said_keeps_its_exit_code(redirection: str, tmp_path: Path) -> None:
    done = _run(redirection, "run", "no-such-workload", "--null", directory=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
