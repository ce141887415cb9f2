"""Owns the appendix: the command of each experiment, every figure as CSV, and the study itself."""

import csv
import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from brimline.errors import redact_text
from brimline.report.grid import Grid
from brimline.report.grid_tables import grid_csv
from brimline.report.view import Block, Code, Section
from brimline.study.commands import file_words, with_files
from brimline.study.document.made import Made
from brimline.study.document.results import Prose
from brimline.study.order_service import IDS, ORDERS, SEED, at_scale
from brimline.study.secrets import storable
from brimline.study.state import FILES, StudyDirectory
from brimline.wording import message

_SERVICE = "examples/order-service"
"""Where the order service is in brimline's repository."""


def appendix(directory: StudyDirectory, made: Sequence[Made], prose: Prose) -> Section:
    """What it takes to do it again, and to draw it anew."""
    blocks: list[Block] = [Code(title="Commands", text="\n".join(_commands(directory, made)))]
    for each in made:
        if each.report is not None:
            text = "\n\n".join(_figures(grid) for grid in each.report.grids if grid.known).strip()
            if text:
                title = message("Raw figures: {experiment}", experiment=prose.title(each))
                blocks.append(Code(title=title, text=text))
    blocks.append(Code(title="The study", text=redact_text(directory.study.text.rstrip())))
    return Section(id="appendix", title="Appendix", short="Appendix", blocks=blocks)


def _commands(directory: StudyDirectory, made: Sequence[Made]) -> Iterator[str]:
    """What is typed to do it again, in order: files of rows, servers that come up and go, and the experiments."""
    study = directory.study
    servers = study.spec.servers
    folders = {name: directory.path / FILES / name for name, said in servers.items() if ORDERS in said}
    paths = folders | {name: directory.file(name, file.format) for name, file in study.spec.files.items()}
    if paths:
        yield shlex.join(("mkdir", "-p", *map(str, [directory.path / FILES, *folders.values()])))
    for name, file in study.spec.files.items():
        yield shlex.join(("brimline", *file_words(study, file, directory.scale, paths[name])))
    up: str | None = None
    for each in made:
        server = each.experiment.server
        if server != up and server is not None:
            yield from [] if up is None else [shlex.join(("brimline", "lab", "down", up))]
            yield from _server(server, servers[server], directory, paths)
            up = server
        line = shlex.join(("brimline", *storable(with_files(each.entry.words, paths))))
        yield line if server is None else f"{line} --uri {_uri_of(server)}"
    if up is not None:
        yield shlex.join(("brimline", "lab", "down", up))


def _server(
    name: str, said: Mapping[str, object], directory: StudyDirectory, paths: Mapping[str, Path]
) -> Iterator[str]:
    """What brings a server up, with the orders of an order service."""
    options = [
        f"--{option}" if value is True else f"--{option}={value}"
        for option, value in said.items()
        if option != ORDERS and value is not False
    ]
    yield shlex.join(("brimline", "lab", "up", name, *options))
    if ORDERS in said:
        orders = str(at_scale(said[ORDERS], directory.scale))
        yield f"cp {_SERVICE}/*.yaml {shlex.quote(str(paths[name]))}"
        rest = shlex.join(("--orders", orders, "--file", str(paths[name] / IDS)))
        yield f"python {_SERVICE}/{SEED} {_uri_of(name)} {rest}"


def _uri_of(server: str) -> str:
    """The addresses of a lab, which are others each time; those of client-routed shards in one row."""
    return f'"$(brimline lab uri {shlex.quote(server)} | paste -sd,)"'


def _figures(grid: Grid) -> str:
    """A grid as CSV, without columns that are empty."""
    rows = list(csv.reader(grid_csv(grid, grid.known).splitlines()))
    kept = [place for place in range(len(rows[0])) if any(row[place] for row in rows[1:])]
    return "\n".join(",".join(_short(row[place]) for place in kept) for row in rows)


def _short(text: str) -> str:
    """A number to six digits, as far as anybody reads it; the record has them all."""
    try:
        return f"{float(text):.6g}" if "." in text else text
    except ValueError:
        return text
