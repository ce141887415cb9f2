"""What is installed is enough: the package without the repository around it, and the wheel in an empty environment."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from brimline import _native
from tests.support.server import required_mongod

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "python" / "brimline"
RUN = ["run", "ycsb-c", "--records", "100", "--rate", "200/s", "--duration", "300ms", "--warmup", "0s", "-q"]
EXTRAS = "ui,documents,frames,server"
MEASURED = (0, 3, 4)
"""A run came to its end; on a busy machine it may miss its objective, or prove nothing."""


def said(
    command: Sequence[str | Path], directory: Path, *, timeout_s: float = 120.0
) -> subprocess.CompletedProcess[str]:
    names = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    return subprocess.run(
        [str(each) for each in command],
        cwd=directory,
        env={**names, "XDG_CACHE_HOME": str(directory / "cache"), "HOME": str(directory)},
        capture_output=True,
        text=True,
        timeout=timeout_s,
    )


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a wheel has in it, in a directory with nothing beside it: every file that git doesn't ignore."""
    directory = tmp_path_factory.mktemp("alone")
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "."],
        cwd=PACKAGE,
        capture_output=True,
        text=True,
        check=True,
    )
    for name in listed.stdout.split():
        place = directory / "brimline" / name
        place.parent.mkdir(parents=True, exist_ok=True)
        if (PACKAGE / name).exists():
            shutil.copy(PACKAGE / name, place)
    shutil.copy(str(_native.__file__), directory / "brimline")
    return directory


@pytest.mark.slow("starts brimline as a process, several times")
def test_the_package_needs_nothing_beside_it(alone: Path, tmp_path: Path) -> None:
    program = f"import sys; sys.path.insert(0, {str(alone)!r}); from brimline.__main__ import main; main()"
    for words, expected in (
        (["schema", "result"], '"title": "brimline result"'),
        (["completion", "bash"], "complete -F _brimline brimline"),
        (["study", "list"], "s4-import-growth-shards"),
    ):
        outcome = said([sys.executable, "-I", "-c", program, *words], tmp_path)
        assert outcome.returncode == 0 and expected in outcome.stdout, outcome.stderr
    run = said([sys.executable, "-I", "-c", program, *RUN, "--null", "--lang", "zh"], tmp_path)
    assert run.returncode in MEASURED, run.stderr
    (report,) = (tmp_path / "runs").glob("*/report.html")
    assert '<html lang="zh-CN">' in report.read_text()


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, as `make wheel` builds it."""
    if shutil.which("cargo") is None:
        pytest.skip("no cargo on this machine")
    place = tmp_path_factory.mktemp("wheels")
    maturin = Path(sys.executable).with_name("maturin")
    built = subprocess.run(
        [str(maturin), "build", "--quiet", "--release", "--locked", "--out", str(place)],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert built.returncode == 0, built.stderr
    (found,) = place.glob("brimline-*.whl")
    return found


@pytest.fixture(scope="module", params=["", f"[{EXTRAS}]"], ids=["without extras", "with extras"])
def installed(request: pytest.FixtureRequest, wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """An empty environment with the wheel in it: the directory of its programs."""
    place = tmp_path_factory.mktemp("environment")
    subprocess.run([sys.executable, "-m", "venv", str(place)], check=True)
    programs = place / "bin"
    made = said([programs / "python", "-m", "pip", "install", "-q", f"{wheel}{request.param}"], place, timeout_s=600)
    if made.returncode and "No matching distribution" in made.stderr:
        pytest.skip("the packages that it needs can't be had here")
    assert made.returncode == 0, made.stderr
    yield programs
    shutil.rmtree(place)


@pytest.mark.long
@pytest.mark.slow("builds the wheel and installs it; test_the_package_needs_nothing_beside_it is its quick twin")
def test_the_wheel_does_the_main_job(installed: Path, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    has_extras = "with extras" in request.node.name
    brimline = installed / "brimline"
    assert said([brimline, "--version"], tmp_path).stdout.startswith("brimline ")
    run = said([brimline, *RUN, "--null"], tmp_path)
    assert run.returncode in MEASURED, run.stderr
    mongod = [] if has_extras else ["--mongod", str(required_mongod().path)]
    real = said([brimline, *RUN, *mongod], tmp_path)
    assert real.returncode in MEASURED, real.stderr
    assert len(list((tmp_path / "runs").glob("*/report.html"))) == 2
    ui = said([brimline, "ui", "--port", "99999"], tmp_path)
    assert ui.returncode == 2 and ("can't listen" if has_extras else "make ui") in ui.stderr, ui.stderr
