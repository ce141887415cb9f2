"""Owns `brimline study`: ordered experiments of other verbs, and the document that they end in."""

import contextlib
import io
import os
import shlex
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from brimline.api.options import URI_VARIABLE, Group, RecordOptions, option
from brimline.api.planning import Cost, Planned, planning
from brimline.cli import options as opt
from brimline.cli import talk
from brimline.cli.grouped import going_on_with, grouped, only
from brimline.cli.help import GroupedCommand
from brimline.cli.output import console, json_text, printing
from brimline.errors import InvalidRun, UsageError
from brimline.record.files import replace_text
from brimline.report.document import render_json
from brimline.servers.state import servers_directory
from brimline.study.conduct import begin, conduct
from brimline.study.costs import StudyPlan, plan_study
from brimline.study.document.whole import study_report
from brimline.study.scale import parse_scale
from brimline.study.spec import LoadedStudy, languages_lacking, load_study, shipped_studies, size_said
from brimline.study.state import StudyDirectory
from brimline.study.writing.files import FORMATS, Format, require_template, write_document
from brimline.units import NS_PER_S, counted, format_bytes, format_duration, parse_duration

app = typer.Typer(
    help="Make a study: ordered experiments that end in a document.", rich_markup_mode=None, no_args_is_help=True
)

_Study = Annotated[
    str | None, typer.Argument(metavar="STUDY", help="A shipped study, or a YAML file.", show_default=False)
]
_JSON_FILE = "study-report.json"


@dataclass(frozen=True, kw_only=True)
class StudyOptions(Group):
    """How large a study is, and what its document is written as."""

    scale: str = option(
        "--scale", "auto|ci|1|FRACTION", "Size: of the full one 1, as fits the budget auto, least ci.", default="auto"
    )
    budget: str = option("--budget", "TIME", "What auto fits: this time, and half of the free disk.", default="1h")
    formats: str = option("--format", "LIST", "Of html, md, docx, pdf.", default="html,md")
    template: Path | None = option("--template", "FILE", "A house template: .html.j2, .md.j2 or .docx.")


_GOING_ON = frozenset({"--resume", "--resume-design"})
"""Options that make a verb go on at once; a study goes on by itself."""


def _no_experiment(words: str) -> UsageError:
    return UsageError(
        f"a study can't have {words} as an experiment", hint="give a verb that measures, such as run, sweep or grow"
    )


class _Verbs:
    """The verbs as a study calls them: in this process, by their words."""

    def knows(self, verb: str) -> bool:
        from brimline.cli.app import is_verb, tells_cost

        if is_verb(verb) and not tells_cost(verb):
            raise _no_experiment(verb)
        return is_verb(verb)

    def cost(self, words: Sequence[str]) -> Cost:
        from brimline.cli.app import tells_cost

        if not tells_cost(words[0]) or _GOING_ON.intersection(words):
            raise _no_experiment(next((word for word in words if word in _GOING_ON), words[0]))
        try:
            with planning():
                self.perform([*words, "--quiet"])
        except Planned as planned:
            return planned.cost
        raise _no_experiment(shlex.join(words))

    def perform(self, words: Sequence[str]) -> None:
        from brimline.cli.app import performed  # which imports this verb when it is called

        argv, named = sys.argv, os.environ.pop(URI_VARIABLE, None)  # a study says itself which servers it has
        sys.argv = ["brimline", *words]  # what its record says was typed
        try:
            with contextlib.redirect_stdout(io.StringIO()):  # its summary is not the study's
                performed(words)
        finally:
            sys.argv = argv
            if named is not None:
                os.environ[URI_VARIABLE] = named


@app.command(cls=GroupedCommand)
@grouped
def run(
    said: StudyOptions,
    output: Annotated[opt.OutputOptions, only("runs_dir", "language", "as_json", "quiet")],
    *,
    study: _Study = None,
    resume: Annotated[str | None, going_on_with("a study", "formats", "template")] = None,
) -> int:
    """Make the experiments of a study and write its document; what can't be had here is left out by name."""
    formats = _formats(said.formats)
    if said.template is not None:
        require_template(said.template)
    say = _Silence() if output.quiet else talk.say
    if resume is not None:
        directory = StudyDirectory.open(Path(resume))
    else:
        loaded = _loaded(study)
        plan = _plan(loaded, said, output.runs_dir)
        for line in _told(loaded, plan):
            say(line)
        output.runs_dir.mkdir(parents=True, exist_ok=True)
        directory = begin(loaded, plan, runs_dir=output.runs_dir)
    with directory.held():
        conduct(directory, _Verbs(), say=say)
        return _written(directory, formats, said.template, output, say)


@app.command(cls=GroupedCommand)
@grouped
def check(
    said: Annotated[StudyOptions, only("scale", "budget")],
    output: Annotated[opt.OutputOptions, only("runs_dir", "as_json")],
    *,
    study: _Study = None,
) -> int:
    """Read a study, look at every experiment as its verb would, and say what it takes; begin nothing."""
    loaded = _loaded(study)
    plan = _plan(loaded, said, output.runs_dir)
    with printing():
        if output.as_json:
            sys.stdout.write(json_text(_plan_document(loaded, plan), None))
            return 0
        out, table = console(), Table(box=None, pad_edge=False, header_style="dim")
        for column in ("Experiment", "Verb", "Time", "Disk", ""):
            table.add_column(column, overflow="fold")
        for each in plan.experiments:
            note = "" if each.lacks is None else f"left out: {each.lacks.name} is not here"
            note = "; ".join([*filter(None, [note]), *(f"without {level.name}" for level in each.command.left_out)])
            table.add_row(
                each.experiment.name,
                each.experiment.verb,
                format_duration(each.seconds * NS_PER_S, digits=2),
                format_bytes(each.disk_bytes, digits=2),
                note,
            )
        out.print(table)
        for line in _told(loaded, plan):
            out.print(line, soft_wrap=True)
        for language in languages_lacking(loaded.spec):
            out.print(f"not all of its prose is written in {language}", soft_wrap=True)
    return 0


@app.command(cls=GroupedCommand)
@grouped
def report(
    said: Annotated[StudyOptions, only("formats", "template")],
    output: Annotated[opt.OutputOptions, only("language", "as_json", "quiet")],
    *,
    directory: Annotated[str, typer.Argument(metavar="DIR", help="The directory of a study.")],
) -> int:
    """Write the document of a study again, from its records: in another language, or other formats."""
    if said.template is not None:
        require_template(said.template)
    say = _Silence() if output.quiet else talk.say
    return _written(StudyDirectory.open(Path(directory)), _formats(said.formats), said.template, output, say)


@app.command(name="list", cls=GroupedCommand)
def list_studies() -> int:
    """List the shipped studies."""
    out = console()
    for name, path in shipped_studies().items():
        spec = load_study(path).spec
        title = spec.title if isinstance(spec.title, str) else spec.title.get("en", "")
        out.print(f"{name:28} {title}", soft_wrap=True)
    return 0


@app.command(cls=GroupedCommand)
def init(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Where the study is written.")],
    force: Annotated[bool, typer.Option("--force", help="Replace a file that is there.")] = False,
) -> int:
    """Write a study to start from: two experiments, prose with figures by reference, comments on every key."""
    if file.exists() and not force:
        raise UsageError(f"{file} is there already", hint="give another name, or --force")
    from importlib import resources

    replace_text(file, resources.files("brimline.study").joinpath("start.yaml").read_text(encoding="utf-8"))
    talk.say(f"{file}; next: brimline study check {file}")
    return 0


def _loaded(study: str | None) -> LoadedStudy:
    if study is None:
        raise UsageError("there is no study", hint=f"name a YAML file, or one of {', '.join(shipped_studies())}")
    return load_study(study)


def _plan(loaded: LoadedStudy, said: StudyOptions, runs_dir: Path) -> StudyPlan:
    try:
        budget_s = parse_duration(said.budget) / NS_PER_S
    except ValueError as error:
        raise UsageError(f"--budget: {error}", hint="write it like --budget 1h") from error
    if budget_s <= 0:
        raise UsageError("--budget: no study fits in no time", hint="write it like --budget 1h")
    places = (servers_directory(), runs_dir)  # where data lie, and where files of rows and records do
    with tempfile.TemporaryDirectory(prefix="brimline-study-") as scratch:
        return plan_study(
            loaded, parse_scale(said.scale), _Verbs(), scratch=Path(scratch), places=places, budget_s=budget_s
        )


def _formats(text: str) -> list[Format]:
    names = [each.strip() for each in text.split(",")]
    found: list[Format] = [each for each in FORMATS if each in names]
    if unknown := [each for each in names if each not in FORMATS]:
        raise UsageError(f"--format: there is no format {unknown[0]}", hint=f"give some of {','.join(FORMATS)}")
    if "docx" in found:
        from brimline.study.writing.docx import require_docx

        require_docx()  # before anything is measured
    return found


def _told(loaded: LoadedStudy, plan: StudyPlan) -> list[str]:
    """The estimate, said before anything begins."""
    left_out = [each.experiment.name for each in plan.experiments if each.lacks is not None]
    lines = [
        f"estimate at scale {size_said(loaded.spec, plan.scale)}: "
        f"about {format_duration(plan.seconds * NS_PER_S, digits=2)}, "
        f"up to {format_bytes(plan.disk_bytes, digits=2)} on disk"
    ]
    if plan.over_budget_s is not None:
        budget = format_duration(plan.over_budget_s * NS_PER_S, digits=2)
        lines.append(f"warning: even the least of it does not fit the budget of {budget}; --scale ci may be less")
    for each in plan.experiments:
        for lacking in [*([each.lacks] if each.lacks else []), *each.command.left_out]:
            lines.append(f"{each.experiment.name}: without {lacking.name}, {lacking.why} ({lacking.how})")
    return lines if not left_out else [*lines, f"left out: {', '.join(left_out)}"]


def _plan_document(loaded: LoadedStudy, plan: StudyPlan) -> dict[str, Any]:
    return {
        "format_version": 1,
        "kind": "study_plan",
        "name": loaded.spec.name,
        "scale": plan.scale.text,
        "estimate_s": round(plan.seconds, 1),
        "disk_bytes": plan.disk_bytes,
        "fits_budget": plan.over_budget_s is None,
        "experiments": [
            {
                "name": each.experiment.name,
                "words": list(each.command.words),
                "estimate_s": round(each.seconds, 1),
                "disk_bytes": each.disk_bytes,
                "left_out": None if each.lacks is None else each.lacks.name,
                "levels_left_out": [level.name for level in each.command.left_out],
            }
            for each in plan.experiments
        ],
    }


def _written(
    directory: StudyDirectory, formats: Sequence[Format], template: Path | None, output: RecordOptions, say: Any
) -> int:
    found = study_report(directory, output.language)
    replace_text(directory.path / _JSON_FILE, render_json(found))
    written = write_document(found, directory.path, formats, template=template, say=say)
    failed = [each for each in directory.entries if each.ended is not None and each.ended.exit_code not in (0, 3, 4)]
    error = written.error
    if failed:
        said = failed[0].ended.error if failed[0].ended is not None else ""
        is_final = all(each.ended is None or each.ended.is_final for each in failed)
        again = "does not repeat it" if is_final else "makes anew what failed for want of a server or of room"
        error = InvalidRun(
            f"{len(failed)} of {counted(len(directory.entries), 'experiment')} failed: {failed[0].name}: {said}",
            hint=f"the others are in the document; brimline study run --resume {directory.path} {again}",
        )
    with printing():
        if getattr(output, "as_json", False):
            sys.stdout.write(json_text(found.data, error))
        else:
            out = console()
            out.print(f"{found.name}: {found.verdict.caption}", soft_wrap=True)
            for path in written.files:
                out.print(f"document: {path}", soft_wrap=True)
    if error is not None:
        raise error
    return 0


class _Silence:
    def __call__(self, _text: str) -> None:
        pass
