"""What is imported when: a load has memory to itself, and no verb waits for what another one needs."""

import json
import subprocess
import sys

import pytest

import brimline
from brimline import _native
from brimline.cli.app import VERBS

NOT_FOR_A_LOAD = {
    "brimline.analysis.observation",
    "brimline.experiments.trial",
    "numpy",
    "jinja2",
}
WORDS_OF_THE_SCREEN = {
    "brimline.report",
    "brimline.report.language",
    "brimline.report.language.chinese",
    "brimline.report.language.report_words",
    "brimline.report.language.translator",
    "brimline.report.marks",
    "brimline.report.view",
}
"""All of `report` that a load has in memory: the screen and the lines of progress are Chinese as well."""
A_RUN = """
import json, sys, tempfile
from pathlib import Path

import brimline
from brimline.execution import Silence


class Noting(Silence):
    def begin(self, title, plan):
        self.at_begin = sorted(sys.modules)

    def end(self):
        self.at_end = sorted(sys.modules)


noted = Noting()
with tempfile.TemporaryDirectory() as runs:
    options = brimline.Options(null=True, runs_dir=Path(runs), progress=noted)
    brimline.run("ycsb-c", overrides={"operation_count": 1000, "warmup": "0s"}, options=options)
print(json.dumps([noted.at_begin, noted.at_end, sorted(sys.modules)]))
"""


def of_the_report(modules: set[str]) -> set[str]:
    return {each for each in modules if each.split(".")[:2] == ["brimline", "report"]}


def modules_after(program: str) -> set[str]:
    return set(json.loads(said(f"{program}\nimport json, sys\nprint(json.dumps(sorted(sys.modules)))")))


def said(program: str) -> str:
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=120)
    return done.stdout.splitlines()[-1]


def test_analysis_and_report_come_when_the_load_is_over() -> None:
    at_begin, at_end, afterwards = (set(each) for each in json.loads(said(A_RUN)))
    assert not at_end & NOT_FOR_A_LOAD
    assert of_the_report(at_end) <= WORDS_OF_THE_SCREEN
    assert at_begin == at_end, "nothing is imported while a load is measured"
    assert {"brimline.report.run.view", "brimline.analysis.observation"} <= afterwards, "else this sees nothing"


@pytest.mark.parametrize("verb", ["run", "load"])
def test_the_verbs_that_load_need_no_report_but_the_words_of_the_screen(verb: str) -> None:
    loaded = modules_after(f"import brimline.cli; brimline.cli.import_verb(['{verb}'])")
    assert not loaded & NOT_FOR_A_LOAD
    assert of_the_report(loaded) == WORDS_OF_THE_SCREEN


def test_ycsb_needs_its_own_text_alone() -> None:
    loaded = modules_after("import brimline.cli; brimline.cli.import_verb(['ycsb', 'run'])")
    assert not loaded & NOT_FOR_A_LOAD and not of_the_report(loaded)


def test_the_list_of_verbs_needs_none_of_them() -> None:
    loaded = modules_after("import brimline.cli.app; assert brimline.cli.app._exit_code(['--help']) == 0")
    assert "brimline.cli.app" in loaded
    assert not {each for each in loaded if each.startswith(("brimline.api", "brimline.spec", "pydantic", "pymongo"))}


def test_every_verb_is_where_the_list_says() -> None:
    for name, verb in VERBS.items():
        assert callable(verb.imported()), name
        assert len(verb.line) <= 62, f"{name}: 80 columns have room for 62"


def test_the_package_says_its_version() -> None:
    assert brimline.__version__ == _native.__version__


def test_every_name_of_the_front_door_is_there() -> None:
    for name in brimline.__all__:
        assert getattr(brimline, name).__name__ == name
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = brimline.nothing  # type: ignore[attr-defined]
