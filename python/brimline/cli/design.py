"""Owns `--vary` and what goes with it, on every verb whose measure can be crossed with factors."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar

from brimline.api.options import Group, Options, WorkloadOptions, option
from brimline.api.workload import WorkloadWords
from brimline.errors import UsageError
from brimline.experiments.measure import BLOCKS_DEFAULT, BLOCKS_MAX_DEFAULT
from brimline.experiments.vary.factor_kinds import KINDS
from brimline.units import parse_percentage

if TYPE_CHECKING:
    from brimline.api.results import Result

_FACTORS = ", ".join(KINDS)


@dataclass(frozen=True, kw_only=True)
class DesignOptions(Group):
    """What is varied, and how often each combination is measured."""

    title: ClassVar[str] = "Design"

    vary: Sequence[str] = option(
        "--vary",
        "NAME=V1,V2",
        f"Measure at each of these levels; repeatable, every combination is measured. Factors: {_FACTORS}.",
        default=(),
    )
    levels: Sequence[str] = option(
        "--levels",
        "NAME=V,NAME=V",
        "One combination, where they are listed and not crossed; repeatable.",
        default=(),
    )
    repeats: int | None = option(
        "--repeats",
        "COUNT",
        f"How often each combination is measured; with --precision or --repeats-max at the least. Default: "
        f"{BLOCKS_DEFAULT} and more until each is precise, or once where its figure has an interval of its own.",
    )
    repeats_max: int | None = option(
        "--repeats-max",
        "COUNT",
        f"How often at most; default as --repeats, or {BLOCKS_MAX_DEFAULT} without it or with --precision.",
    )
    precision: str | None = option(
        "--precision", "SHARE", "Repeat until the main figure of each is known within this; default 5%."
    )

    @property
    def is_asked(self) -> bool:
        """Whether anything is varied."""
        return bool(self.vary or self.levels)

    @property
    def settings(self) -> dict[str, Any]:
        """Fields of the design's settings, as far as they are given. Raises UsageError."""
        try:
            precision = None if self.precision is None else parse_percentage(self.precision)
        except ValueError as error:
            raise UsageError(f"--precision: {error}", hint="write it like --precision 5%") from error
        given = {"blocks": self.repeats, "blocks_max": self.repeats_max, "precision": precision}
        return {name: value for name, value in given.items() if value is not None}

    def require_asked(self, *known: str) -> None:
        """Refuses what says how a design repeats where nothing is varied, but for `known` ones. Raises UsageError."""
        idle = next((each.name for name, each in self.given.items() if name not in ("vary", "levels", *known)), None)
        if idle is not None and not self.is_asked:
            raise UsageError(f"{idle} has no effect without --vary", hint="name a factor, or leave it out")


def designed(
    said: DesignOptions,
    measure: str,
    words: Mapping[str, Any],
    workload: WorkloadOptions,
    options: Options,
    *,
    times: Mapping[str, float] = MappingProxyType({}),
    **of_workload: Any,
) -> "Result":
    """The verb `measure` at each combination, with the `words` that are said to it. Raises BrimlineError.

    `times`: of the runs in a closed loop, where these are the measure.
    """
    from brimline.api.vary import vary  # not before: the load of a verb without factors has the memory to itself

    named: WorkloadWords = {"property_files": workload.property_files, "properties": workload.properties}
    return vary(
        workload.workload,
        factors=said.vary,
        levels=said.levels,
        measure=measure,
        said=words,
        settings={**said.settings, **times},
        options=options,
        **named,
        **of_workload,
    )


def resumed_design(name: str, verb: str, options: Options) -> "Result | None":
    """Goes on with a design of this verb; None where the record is something else. Raises BrimlineError."""
    from brimline.api.reopen import find_record
    from brimline.api.vary import is_design, resumed_vary

    directory = find_record(name, runs_dir=options.runs_dir)
    return resumed_vary(directory, options) if is_design(directory, verb) else None


def resumed(name: str, verb: str, options: Options) -> "Result":
    """Goes on with a design of a verb that has nothing else to go on with. Raises UsageError where it is none."""
    found = resumed_design(name, verb, options)
    if found is None:
        raise UsageError(f"{name} holds no design of brimline {verb}", hint="what has no --vary begins anew")
    return found
