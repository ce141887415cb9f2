"""Owns the document as a whole: its cover and its parts in order."""

from datetime import datetime

from brimline.report import in_language
from brimline.report.document import FORMAT_VERSION
from brimline.report.view import Badge, Fact, Report, Verdict
from brimline.study.document.appendix import appendix
from brimline.study.document.conclusions import conclusions, stability
from brimline.study.document.made import Made, all_made
from brimline.study.document.numbering import numbered
from brimline.study.document.results import NotShown, Prose, breakpoints, results
from brimline.study.document.surroundings import data, environment, method, points, purpose
from brimline.study.scale import Scale
from brimline.study.spec import in_words, size_said
from brimline.study.state import StudyDirectory
from brimline.units import format_count, format_duration
from brimline.wording import Verbatim, message


def study_report(directory: StudyDirectory, language: str) -> Report:
    """The document of a study in a language. Raises SpecError and RecordError for a damaged study."""
    spec, made, not_shown = directory.study.spec, all_made(directory), NotShown()
    prose = Prose(made, language, not_shown)
    sections = [
        purpose(spec, prose),
        points(made, prose),
        environment(spec, made, prose),
        method(spec, made, prose),
        data(spec, made, prose),
        results(made, prose),
        breakpoints(made, prose),
        stability(made, prose),
        conclusions(spec, made, prose, not_shown, scale=directory.scale),
        appendix(directory, made, prose),
    ]
    title = in_words(spec.title, language)
    report = Report(
        kind="study",
        kind_title="Test report",
        name=title,
        subtitle=message("brimline {version} · study {name}", version=directory.version, name=Verbatim(spec.name)),
        verdict=_cover(directory, made, directory.scale),
        sections=numbered(sections),
        footer=f"brimline {directory.version} · {directory.path.name}",
        data=_document(directory, made),
    )
    return in_language(report, language)


def _cover(directory: StudyDirectory, made: list[Made], scale: Scale) -> Verdict:
    measured = [each for each in made if each.report is not None]
    left_out = [each for each in made if each.entry.lacks is not None]
    took_s = sum(each.entry.ended.took_s for each in made if each.entry.ended is not None)
    share = size_said(directory.study.spec, scale)
    return Verdict(
        tone="pass" if len(measured) == len(made) else "warn",
        caption=message(
            "{measured} of {count} experiments measured", measured=len(measured), count=format_count(len(made))
        ),
        figure="",
        unit="",
        interval="",
        sentence="The conclusions, and what was not shown, are in the part before the appendix.",
        badges=[Badge(text=message("scale {share}", share=share), tone="muted")]
        + [Badge(text=message("left out: {count}", count=len(left_out)), tone="warn") for _ in left_out[:1]],
        facts=[
            Fact(label="Date", value=Verbatim(f"{datetime.fromisoformat(directory.started_at):%Y-%m-%d}")),
            Fact(label="Time", value=format_duration(took_s * 1e9)),
            Fact(label="Experiments", value=format_count(len(made))),
            Fact(label="Runs", value=format_count(sum(each.runs for each in made))),
        ],
    )


def _document(directory: StudyDirectory, made: list[Made]) -> dict[str, object]:
    """The study for machines: of each experiment how it ended, and the figures of its own JSON."""
    return {
        "format_version": FORMAT_VERSION,
        "kind": "study",
        "name": directory.study.spec.name,
        "directory": str(directory.path),
        "scale": directory.scale.text,
        "experiments": [
            {
                "name": each.experiment.name,
                "verb": each.experiment.verb,
                "record": None if each.record is None else str(each.record),
                "left_out": None if each.entry.lacks is None else each.entry.lacks.name,
                "error": each.missing,
                "verdict": None if each.report is None else each.report.verdict.headline,
            }
            for each in made
        ],
    }
