"""Owns the verb `ycsb`: brimline in the form of YCSB's client.

What YCSB prints on standard output is handed to `say`, its status lines and brimline's own talk to `talk`. The
record is written as by `run` and `load`, and everything that YCSB says at the end is composed from it.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from brimline.api.options import Options
from brimline.api.protocols import require_mongodb
from brimline.api.run import interruption
from brimline.api.workplace import Workplace, given_uri, workplace
from brimline.compat.ycsb.front import YcsbFront, ycsb_load_plan
from brimline.execution import add_data, execute
from brimline.plan import resolve
from brimline.spec import load_ycsb
from brimline.spec.ycsb_front import Phase

if TYPE_CHECKING:
    from brimline.api.results import RunResult


def ycsb(
    phase: Phase,
    *,
    client: str = "wire",
    property_files: Sequence[str | Path] = (),
    properties: Sequence[str] = (),
    options: Options | None = None,
    say: Callable[[str], None],
    talk: Callable[[str], None],
) -> "RunResult":
    """Loads or runs what YCSB properties describe, and says what YCSB would.

    `client` is what operations go through. `say` gets text as it is to be printed, `talk` lines without their end.

    Raises BrimlineError where nothing was measured; otherwise `RunResult.error` says why the result is no good.
    """
    loaded, output = load_ycsb(property_files, properties, phase=phase, client=client)
    front = YcsbFront(loaded=loaded, output=output, say=say, talk=talk)
    front.announce()
    options = options or Options()
    require_mongodb("ycsb", given_uri(loaded.spec, options), options)
    with workplace(loaded, options) as place:
        result = _load(place, front) if phase == "load" else _run(place, front)
    try:
        result.write(options.language)
    finally:
        front.conclude(result.record, result.observation)
    return result


def _run(place: Workplace, front: YcsbFront) -> "RunResult":
    plan = resolve(place.spec, target=place.target)
    front.check_limits(plan)
    place.stop.raise_if_requested()
    directory = place.directory(plan)
    lines = front.begin(plan)
    context = replace(place.context, on_samples=front.listener(lines))
    record = execute(plan, directory=directory, title=plan.name, context=context)
    front.end(record, lines)
    from brimline.api.run_result import run_result  # not before: the load has the memory to itself

    return run_result(record, None, interrupted=interruption(place.stop, directory))


def _load(place: Workplace, front: YcsbFront) -> "RunResult":
    plan = ycsb_load_plan(place.spec, place.target, front.output)
    front.check_limits(plan)
    directory = place.directory(plan, kind="load")
    lines = front.begin(plan)
    context = replace(place.context, on_samples=front.listener(lines))
    record = add_data(plan, directory=directory, context=context)
    front.end(record, lines)
    from brimline.api.ycsb_result import ycsb_load_result  # as in `_run`

    return ycsb_load_result(
        record,
        interrupted=interruption(place.stop, directory),
        may_end_early=front.output.max_execution_time_s > 0,
    )
