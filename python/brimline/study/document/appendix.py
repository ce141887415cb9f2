"""Owns the appendix: the command of each experiment, every figure as CSV, and the study itself."""

import csv
import shlex
from collections.abc import Sequence

from brimline.report.grid import Grid, grid_csv
from brimline.report.view import Block, Code, Section
from brimline.study.commands import file_words
from brimline.study.document.made import Made
from brimline.study.document.results import Prose
from brimline.study.state import StudyDirectory
from brimline.wording import message


def appendix(directory: StudyDirectory, made: Sequence[Made], prose: Prose) -> Section:
    """What it takes to do it again, and to draw it anew."""
    study = directory.study
    lines = [
        shlex.join(("brimline", *file_words(study, file, directory.scale, directory.file(name, file.format))))
        for name, file in study.spec.files.items()
    ]
    for each in made:
        words = [word.replace("{", "").replace("}", "") if word.startswith("{") else word for word in each.entry.words]
        lines.append(shlex.join(("brimline", *words)))
    blocks: list[Block] = [Code(title="Commands", text="\n".join(lines))]
    for each in made:
        if each.report is not None:
            text = "\n\n".join(_figures(grid) for grid in each.report.grids if grid.known).strip()
            if text:
                title = message("Raw figures: {experiment}", experiment=prose.title(each))
                blocks.append(Code(title=title, text=text))
    blocks.append(Code(title="The study", text=study.text.rstrip()))
    return Section(id="appendix", title="Appendix", short="Appendix", blocks=blocks)


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
