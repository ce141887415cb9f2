"""Owns where the workloads of a test plan are written: a file, or a directory with what belongs beside them."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from brimline.compat.jmeter.translation import PlanTranslated, from_jmeter
from brimline.errors import UsageError
from brimline.init.words import name_word
from brimline.record.files import is_there, replace_text

_SUFFIXES = (".yaml", ".yml")


@dataclass(frozen=True, slots=True, kw_only=True)
class JmeterWorkload:
    """A workload of a plan. `path` None: nowhere but `text`. `has_target`: it says where its requests go."""

    name: str
    text: str
    operations: int
    has_target: bool
    path: Path | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class JmeterResult:
    """The workloads of a plan, and files of rows `beside` them.

    `not_taken` and `changed` begin with file and line; `environment` are variables that hold what is secret.
    """

    workloads: Sequence[JmeterWorkload]
    beside: Sequence[Path] = ()
    not_taken: Sequence[str] = ()
    changed: Sequence[str] = ()
    environment: Sequence[str] = ()


def write_workloads(plan: Path, target: Path | None, *, properties: Sequence[str], overwrite: bool) -> JmeterResult:
    """Translates a plan, and writes its workloads to `target`, None: nowhere. Raises UsageError."""
    into = target is not None and not (target.suffix.lower() in _SUFFIXES and not target.is_dir())
    if target is not None and not into and is_there(target) and not overwrite:
        raise UsageError(f"{target} is there already", hint="give --force to replace it, or another name")
    stem = None if target is None else name_word(plan.stem) if into else target.stem
    translated = from_jmeter(plan, stem=stem, properties=dict(map(_property, properties)))
    if len(translated.workloads) > 1 and not into:
        groups = ", ".join(translated.workloads)
        raise UsageError(
            f"{plan} becomes {len(translated.workloads)} workloads: {groups}", hint="give a directory: -o DIRECTORY"
        )
    if target is None:
        return _result(translated, [None], [])
    paths = [target / f"{name}.yaml" if into else target for name in translated.workloads]
    beside = _beside(translated, target if into else target.parent)
    for each in [*paths, *beside]:
        if is_there(each) and not overwrite:
            raise UsageError(f"{each} is there already", hint="give --force to replace it, or another name")
    if into:
        _make(target)
    for each, text in beside.items():
        replace_text(each, text)
    for each, workload in zip(paths, translated.workloads.values(), strict=True):
        replace_text(each, workload.text)
    return _result(translated, paths, list(beside))


def _beside(translated: PlanTranslated, directory: Path) -> dict[Path, str]:
    every = [each.beside for each in translated.workloads.values()]
    return {directory / name: text for beside in every for name, text in beside.items()}


def _make(directory: Path) -> None:
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise UsageError(f"can't make the directory {directory}: {reason}", hint="give another one") from error


def _result(translated: PlanTranslated, paths: Sequence[Path | None], beside: Sequence[Path]) -> JmeterResult:
    return JmeterResult(
        workloads=[
            JmeterWorkload(
                name=name,
                text=each.text,
                operations=each.operations,
                has_target=name not in translated.without_target,
                path=path,
            )
            for (name, each), path in zip(translated.workloads.items(), paths, strict=True)
        ],
        beside=beside,
        not_taken=translated.not_taken,
        changed=translated.changed,
        environment=translated.environment,
    )


def _property(given: str) -> tuple[str, str]:
    name, separator, value = given.partition("=")
    if not separator or not name.strip():
        raise UsageError(f"-J {given} names no property", hint="write it like -J threads=20")
    return name.strip(), value


def listing(result: JmeterResult) -> list[str]:
    """What it could not take over, by line of the plan, what it wrote, and what comes next; a line each."""
    lines: list[str] = []
    for title, remarks in (("not taken over", result.not_taken), ("taken over in another form", result.changed)):
        lines += [f"{title}:", *(f"  {each}" for each in remarks)] if remarks else []
    lines += [f"{path} goes with it" for path in result.beside]
    if result.environment:
        lines.append(f"it takes what is secret from the environment: {', '.join(result.environment)}")
    written = [each for each in result.workloads if each.path is not None]
    lines += [f"{each.path}: {each.operations} operation{'s' * (each.operations > 1)}" for each in written]
    uri = "" if written and written[0].has_target else " --uri URI"
    lines += [f"next: brimline run {written[0].path}{uri}"] if written else []
    return lines
