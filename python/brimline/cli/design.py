"""Owns `--vary` and what goes with it, on every verb whose measure can be crossed with factors."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, ClassVar

from brimline.api.options import Group, Options, WorkloadOptions, option
from brimline.api.reopen import find_record
from brimline.api.results import Result
from brimline.api.vary import is_design, resumed_vary
from brimline.api.vary import vary as vary_api
from brimline.api.workload import WorkloadWords
from brimline.errors import UsageError
from brimline.experiments.vary.factor_kinds import KINDS
from brimline.experiments.vary.order import BLOCKS_DEFAULT, BLOCKS_MAX_DEFAULT
from brimline.units import parse_percentage

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
        f"How often each combination is measured, at least; default {BLOCKS_DEFAULT}, or once where its figure has an "
        "interval of its own.",
    )
    repeats_max: int | None = option(
        "--repeats-max", "COUNT", f"How often at most; default {BLOCKS_MAX_DEFAULT}, or as --repeats."
    )
    precision: str | None = option(
        "--precision", "SHARE", "Repeat until the main figure of each is known within this; default 5%."
    )

    @property
    def is_asked(self) -> bool:
        """Whether anything is varied."""
        return bool(self.vary or self.levels)

    def settings(self, *, once: bool) -> dict[str, Any]:
        """Fields of the design's settings, as far as they are given. `once`: a figure has an interval of its own.

        Raises UsageError.
        """
        blocks = self.repeats if self.repeats is not None else 1 if once else BLOCKS_DEFAULT
        most = blocks if once else max(BLOCKS_MAX_DEFAULT, blocks)
        try:
            precision = {} if self.precision is None else {"precision": parse_percentage(self.precision)}
        except ValueError as error:
            raise UsageError(f"--precision: {error}", hint="write it like --precision 5%") from error
        return {"blocks": blocks, "blocks_max": most if self.repeats_max is None else self.repeats_max, **precision}

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
    once: bool = True,
    times: Mapping[str, float] = MappingProxyType({}),
    **of_workload: Any,
) -> Result:
    """The verb `measure` at each combination, with the `words` that are said to it. Raises BrimlineError.

    `times`: of the runs in a closed loop, where these are the measure.
    """
    named: WorkloadWords = {"property_files": workload.property_files, "properties": workload.properties}
    return vary_api(
        workload.workload,
        factors=said.vary,
        levels=said.levels,
        measure=measure,
        said=words,
        settings={**said.settings(once=once), **times},
        options=options,
        **named,
        **of_workload,
    )


def resumed_design(name: str, verb: str, options: Options) -> Result | None:
    """Goes on with a design of this verb; None where the record is something else. Raises BrimlineError."""
    directory = find_record(name, runs_dir=options.runs_dir)
    return resumed_vary(directory, options) if is_design(directory, verb) else None
