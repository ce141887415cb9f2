"""Owns what the document says before its results: purpose, test points, environment, method and data."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from brimline.report import blocks
from brimline.report.view import Block, Cell, Column, Section, Table
from brimline.spec import Spec
from brimline.study.document.made import Made
from brimline.study.document.results import Prose
from brimline.study.document.topology import drawing
from brimline.study.spec import StudySpec, in_words
from brimline.units import UNKNOWN_TEXT, format_bytes, format_count, format_duration
from brimline.wording import Verbatim


def purpose(spec: StudySpec, prose: Prose) -> Section:
    """What the study is for."""
    return Section(
        id="purpose", title="Purpose", short="Purpose", blocks=[prose.plain(words) for words in spec.purpose]
    )


def points(made: Sequence[Made], prose: Prose) -> Section:
    """What is tested, and whether it was."""
    rows = []
    for number, each in enumerate(made, start=1):
        point = in_words(each.experiment.point, prose.language)
        rows.append(
            [
                Cell(text=str(number)),
                Cell(text=Verbatim(point) if point else prose.title(each)),
                Cell(text=Verbatim(each.experiment.verb)),
                Cell(text=Verbatim(", ".join(_factors(each.entry.words)) or UNKNOWN_TEXT)),
                _outcome(each),
            ]
        )
    return Section(
        id="points",
        title="Test points",
        short="Test points",
        blocks=[
            Table(
                columns=[
                    Column(label="No.", leading=True),
                    Column(label="What is tested", numeric=False),
                    Column(label="Verb", numeric=False),
                    Column(label="Varied", numeric=False),
                    Column(label="Outcome", numeric=False, tag=True),
                ],
                rows=rows,
                title="Test points",
            )
        ],
    )


def _factors(words: Sequence[str]) -> list[str]:
    return [value.partition("=")[0] for option, value in pairwise(words) if option == "--vary"]


def _outcome(made: Made) -> Cell:
    if made.entry.lacks is not None:
        return Cell(text="left out", tone="muted")
    if made.report is None:
        return Cell(text="not measured", tone="warn" if made.entry.ended is None else "fail")
    return Cell(text="measured, with reservations", tone="warn") if made.missing else Cell(text="measured", tone="pass")


def environment(spec: StudySpec, made: Sequence[Made], prose: Prose) -> Section:
    """Hardware, versions, settings, and a drawing of the servers."""
    found = next((each.environments[0] for each in made if each.environments), None)
    shown: list[Block] = []
    if found is not None:
        of_host = {name: value for name, value in found.items() if name != "server"}
        shown += blocks.environment(of_host).blocks
    rows = [row for each in made for row in _servers(each, prose)]
    if rows:
        shown.append(
            Table(
                columns=[
                    Column(label="Experiment", numeric=False, leading=True),
                    Column(label="Version", numeric=False),
                    Column(label="Topology", numeric=False),
                    Column(label="Settings", numeric=False),
                ],
                rows=rows,
                title="Servers",
            )
        )
    picture = drawing(spec, made)
    return Section(
        id="environment",
        title="Test environment",
        short="Environment",
        blocks=[*shown, *([picture] if picture is not None else [])],
    )


def _servers(made: Made, prose: Prose) -> Iterator[list[Cell]]:
    seen: set[tuple[str, ...]] = set()
    for each in made.environments:
        server = each.get("server")
        if not isinstance(server, Mapping):
            continue
        row = (_version(server), _topology(server), _settings(server))
        if row not in seen:
            yield [Cell(text=prose.title(made) if not seen else ""), *(Cell(text=Verbatim(text)) for text in row)]
        seen.add(row)


def _version(server: Mapping[str, Any]) -> str:
    return " ".join(str(server[key]) for key in ("engine", "version") if server.get(key)) or UNKNOWN_TEXT


def _topology(server: Mapping[str, Any]) -> str:
    lab = server.get("lab")
    return str(lab.get("topology")) if isinstance(lab, Mapping) else str(server.get("kind") or UNKNOWN_TEXT)


_SETTINGS = ("--wiredTigerCacheSizeGB", "--replSet", "--storageEngine", "--nojournal")


def _settings(server: Mapping[str, Any]) -> str:
    """Settings by which speed is what it is, from the server's command line or what it said."""
    line = server.get("getCmdLineOpts")
    argv = [str(each) for each in line.get("argv", [])] if isinstance(line, Mapping) else []
    said = [f"{word} {value}" for word, value in pairwise(argv) if word in _SETTINGS]
    if isinstance(concern := server.get("default_write_concern"), Mapping):
        said += [f"{name}={value}" for name, value in concern.items() if name in ("w", "j", "journal")]
    settings = server.get("settings")
    said += [f"{name}={value}" for name, value in settings.items()] if isinstance(settings, Mapping) else []
    return ", ".join(said) or UNKNOWN_TEXT


def method(spec: StudySpec, made: Sequence[Made], prose: Prose) -> Section:
    """How each experiment goes."""
    rows = [
        [
            Cell(text=prose.title(each)),
            Cell(text=Verbatim(each.experiment.verb)),
            Cell(text=Verbatim(" ".join(_levels(each.entry.words)) or UNKNOWN_TEXT)),
            Cell(text=Verbatim(_options(each.entry.words) or UNKNOWN_TEXT)),
            Cell(text=format_count(each.runs)),
            Cell(text=UNKNOWN_TEXT if each.entry.ended is None else format_duration(each.entry.ended.took_s * 1e9)),
        ]
        for each in made
        if each.report is not None
    ]
    table = Table(
        columns=[
            Column(label="Experiment", numeric=False, leading=True),
            Column(label="Verb", numeric=False),
            Column(label="Varied", numeric=False),
            Column(label="Options", numeric=False),
            Column(label="Runs"),
            Column(label="Took"),
        ],
        rows=rows,
        title="Method of each experiment",
        caption="What is varied is measured in blocks, in an order drawn at random, so that a drift of the machine "
        "meets every combination alike. The commands are in the appendix.",
    )
    return Section(
        id="method",
        title="Method",
        short="Method",
        blocks=[*(prose.plain(words) for words in spec.method), *([table] if rows else [])],
    )


def _levels(words: Sequence[str]) -> list[str]:
    return [value for option, value in pairwise(words) if option == "--vary"]


def _options(words: Sequence[str]) -> str:
    """What was said besides factors, shown as on a command line."""
    kept, rest = list[str](), iter(words[1:])
    for word in rest:
        if word == "--vary":
            next(rest)
        elif word.startswith("--") or kept:
            kept.append(word)
    return " ".join(kept)


def data(spec: StudySpec, made: Sequence[Made], prose: Prose) -> Section:
    """The data sets, as the workloads of the records say."""
    rows, seen = [], set()
    for each in made:
        for found in each.specs:
            row = _data_set(found)
            if row is not None and row not in seen:
                rows.append([*(Cell(text=text) for text in row), Cell(text=prose.title(each))])
                seen.add(row)
    table = Table(
        columns=[
            Column(label="Workload", numeric=False, leading=True),
            Column(label="Documents"),
            Column(label="Bytes each, at most"),
            Column(label="In all, at most"),
            Column(label="Operations", numeric=False),
            Column(label="First used by", numeric=False),
        ],
        rows=rows,
        title="Data sets",
    )
    return Section(
        id="data",
        title="Test data",
        short="Data",
        blocks=[*(prose.plain(words) for words in spec.data), *([table] if rows else [])],
    )


def _data_set(spec: Spec) -> tuple[str, ...] | None:
    if spec.is_own:
        return None
    size, shares = spec.data.document_bytes_max, spec.to_document().get("operations", {})
    return (
        Verbatim(spec.name),
        format_count(spec.data.records),
        format_count(size),
        format_bytes(spec.data.records * size),
        Verbatim(", ".join(f"{name} {share:g}" for name, share in shares.items() if isinstance(share, int | float))),
    )
