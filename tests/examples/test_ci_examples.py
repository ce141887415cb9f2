"""The files for CI: they are YAML of the form that GitHub and GitLab read, and their commands are brimline's."""

import os
import re
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer.main
import yaml

from brimline.cli.app import VERBS, whole_program

CI = Path(__file__).parents[2] / "examples" / "ci"
FILES = sorted(CI.glob("*.yaml"))
SECRET = re.compile(r"mongodb(\+srv)?://|password", re.IGNORECASE)


def jobs_of(path: Path) -> dict[str, Any]:
    document = yaml.safe_load(path.read_text())
    return dict(document.get("jobs", document))


def scripts_of(path: Path) -> Iterator[str]:
    for job in jobs_of(path).values():
        yield from (step["run"] for step in job.get("steps", ()) if "run" in step)
        yield from (*job.get("before_script", ()), *job.get("script", ()))


def commands_of(path: Path) -> list[list[str]]:
    """The words of each command that begins with brimline, without the variables before it and what is behind it."""
    found = []
    for script in scripts_of(path):
        for line in script.splitlines():
            words = shlex.split(line.partition("||")[0])
            while words and re.match(r"\w+=", words[0]):
                del words[0]
            if words[:1] == ["brimline"]:
                found.append(words[1:])
    return found


def test_there_is_one_of_each_kind() -> None:
    assert [path.name for path in FILES] == ["github-nightly.yaml", "github-release.yaml", "gitlab.yaml"]
    named = {path.name: {words[0] for words in commands_of(path)} for path in FILES}
    assert named["github-nightly.yaml"] == {"run", "trend"}
    assert named["github-release.yaml"] == {"run", "compare"}
    assert named["gitlab.yaml"] == {"run", "trend", "compare"}


@pytest.mark.parametrize("path", FILES, ids=[path.name for path in FILES])
def test_its_commands_are_parsed(path: Path) -> None:
    program: Any = typer.main.get_command(whole_program())
    for words in commands_of(path):
        assert words[0] in VERBS
        verb = program.commands[words[0]]
        context = verb.make_context(words[0], words[1:])
        assert context.params["junit"] or words[0] == "run"
        assert not SECRET.search(" ".join(words)), "secrets come from the environment"


@pytest.mark.parametrize("path", FILES, ids=[path.name for path in FILES])
def test_its_scripts_are_a_shells(path: Path) -> None:
    for script in scripts_of(path):
        assert subprocess.run(["bash", "-n", "-c", script], capture_output=True).returncode == 0, script


@pytest.mark.parametrize("path", [each for each in FILES if each.name.startswith("github")], ids=lambda path: path.name)
def test_a_workflow_has_what_github_needs(path: Path) -> None:
    document = yaml.safe_load(path.read_text())
    assert document[True], "YAML 1.1 reads `on` as true, and GitHub knows"
    for job in document["jobs"].values():
        assert {"runs-on", "steps", "timeout-minutes"} <= job.keys()
        assert all({"uses", "run"} & step.keys() for step in job["steps"])


def test_jobs_of_gitlab_end_and_keep_what_they_found() -> None:
    for name, job in jobs_of(CI / "gitlab.yaml").items():
        if not name.startswith("."):
            assert {"script", "rules", "timeout", "artifacts"} <= job.keys()
            assert job["artifacts"]["when"] == "always"


def ended(script: str, exit_code: int, directory: Path) -> "subprocess.CompletedProcess[str]":
    """The script with a brimline that only ends."""
    program = directory / ".venv" / "bin" / "brimline"
    program.parent.mkdir(parents=True)
    program.write_text(f"#!/bin/sh\nexit {exit_code}\n")
    program.chmod(0o755)
    environment = {"PATH": f"{program.parent}:{os.environ['PATH']}", "HOME": str(directory)}
    words = ["bash", "-e", "-c", script]
    return subprocess.run(words, cwd=directory, env=environment, capture_output=True, text=True, timeout=30)


@pytest.mark.parametrize("name", ["github-nightly.yaml", "gitlab.yaml"])
@pytest.mark.parametrize("exit_code", [0, 2, 3, 4, 5])
def test_a_trend_that_cannot_be_told_is_a_warning(name: str, exit_code: int, tmp_path: Path) -> None:
    (script,) = (each for each in scripts_of(CI / name) if "brimline trend" in each)
    done = ended(script, exit_code, tmp_path)
    if name == "gitlab.yaml":
        assert done.returncode == (104 if exit_code == 4 else exit_code)
        assert jobs_of(CI / name)["nightly"]["allow_failure"] == {"exit_codes": 104}, "which passes with a warning"
    else:
        assert done.returncode == (0 if exit_code == 4 else exit_code)
        assert ("::warning" in done.stdout) == (exit_code == 4)
