"""Owns the words of an experiment: what is typed to do the same by hand, and what of it is left out here."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from brimline.study.needs import Lacking, level_lacking
from brimline.study.scale import Scale, valued
from brimline.study.spec import ExperimentSpec, FileSpec, LoadedStudy


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """What an experiment says to its verb, but for where records go. `left_out`: levels that it can't have here.

    `lacks`: those of a factor that has less than two levels without them, so that nothing can be compared.
    """

    words: tuple[str, ...]
    left_out: tuple[Lacking, ...] = ()
    lacks: Lacking | None = None


def command_of(study: LoadedStudy, experiment: ExperimentSpec, scale: Scale, files: Mapping[str, Path]) -> Command:
    """The command of an experiment at a scale. `files` are those of rows, by name: without, `{name}` stands for one."""
    words = [experiment.verb]
    if experiment.workload is not None:
        words.append(_placed(experiment.workload, study.directory, files))
    for name, value in experiment.options.items():
        words += _option(name, valued(value, scale), study.directory, files)
    left_out: list[Lacking] = []
    lacks: Lacking | None = None
    for factor, value in experiment.vary.items():
        levels = [*map(str, _list(valued(value, scale)))]
        missing = {level: lacking for level in levels if (lacking := level_lacking(factor, level)) is not None}
        if missing and len(levels) - len(missing) < 2:
            first = next(iter(missing.values()))
            lacks = lacks or Lacking(f"{factor} {','.join(missing)}", first.why, first.how)
            missing = {}
        left_out += missing.values()
        words += ["--vary", f"{factor}={','.join(level for level in levels if level not in missing)}"]
    return Command(words=tuple(words), left_out=tuple(left_out), lacks=lacks)


def file_words(study: LoadedStudy, file: FileSpec, scale: Scale, path: Path) -> tuple[str, ...]:
    """What makes a file of rows."""
    workload = _placed(file.workload, study.directory, {})
    return "generate", workload, "--rows", str(valued(file.rows, scale)), "--format", file.format, "-o", str(path), "-q"


def _option(name: str, value: object, directory: Path, files: Mapping[str, Path]) -> list[str]:
    flag = f"--{name}"
    if isinstance(value, bool):
        return [flag] if value else []
    return [flag, ",".join(_placed(str(each), directory, files) for each in _list(value))]


def _list(value: object) -> Sequence[object]:
    return value if isinstance(value, list) else [value]


def with_files(words: Sequence[str], files: Mapping[str, Path]) -> list[str]:
    """`words` with the paths of files of rows."""
    return [_with_files(each, files) for each in words]


def _with_files(text: str, files: Mapping[str, Path]) -> str:
    for name, path in files.items():
        text = text.replace(f"{{{name}}}", str(path))
    return text


def _placed(text: str, directory: Path, files: Mapping[str, Path]) -> str:
    """`text` with the files of rows that it names, and the path of a file that lies beside the study."""
    text = _with_files(text, files)
    beside = directory / text
    return str(beside) if text.endswith((".yaml", ".csv", ".jsonl")) and beside.is_file() else text
