"""Owns making growth happen: steps loaded, memory brought into the state asked for, batches of queries measured."""

import hashlib
import shutil
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import Any

from pymongo.errors import PyMongoError

from brimline.analysis.growth.figures import (
    CACHE_PAGES_READ,
    SLICE_READS_MIN,
    LoadFigures,
    load_figures,
    query_figures,
    quiet_time_ns,
)
from brimline.analysis.growth.speed import IMPORT_TIME_MIN_S
from brimline.analysis.observation import observe
from brimline.errors import TargetError, UsageError
from brimline.execution import MakeDirectory, RunContext, execute
from brimline.execution.grown_data import Index, extend_data, put_back
from brimline.execution.unrecorded import execute_unrecorded
from brimline.experiments.conductor import Made
from brimline.experiments.growth.order import (
    GrowthTask,
    GrowthTrial,
    Protocol,
    describe_outcome,
    describe_task,
    index_fields,
)
from brimline.monitor.server_status import COMMAND, read_status
from brimline.plan import Plan, TargetPlan, load_plan, resolve
from brimline.record import ExperimentWriter, RunRecord
from brimline.record.files import read_json_if_there, replace_json
from brimline.servers import Deployment, control_client, page_cache
from brimline.servers.deployment import Client
from brimline.spec import Spec
from brimline.spec.keys import UniformKeys
from brimline.spec.load_models import ClosedLoad
from brimline.spec.operations import OperationsSpec
from brimline.units import NS_PER_S, count_text, format_duration, format_percentage, sum_of_known

FACTS_FILE = "growth.json"
"""What was seen of the server around a trial, beside its record."""
INTERVAL_NS = NS_PER_S // 20
"""Length of the slices; a look at the server takes it 0.3 ms."""
WARM_UP_BATCHES_MAX = 8
"""Batches without measuring after which a cache that still fills is taken as it is, and said not to have settled."""
SETTLED_PAGES = 0.015
"""Pages read into the cache per query, more or less than in the batch before, at which it has settled."""
CONTROL_PARTS = 10
"""Slices of a control."""
COLD_SHARE_MAX = 0.05
"""Share of the files in memory up to which queries count as cold."""


@dataclass(slots=True)
class GrowthWork:
    """The effects of a growth. `context` changes when the server is started again."""

    spec: Spec
    target: TargetPlan
    writer: ExperimentWriter
    context: RunContext
    make_directory: MakeDirectory
    drop: bool
    settled_for: tuple[tuple[str, int], bool | None] | None = None

    def perform(self, probe: GrowthTask, trials: Sequence[GrowthTrial]) -> Sequence[Made[GrowthTrial]]:
        """Loads a step or asks a batch; UsageError where the collection holds something else."""
        directory, trial = _load(probe, self) if probe.stage == "load" else _query(probe, self)
        if not trials and trial.load is not None:
            _advise(trial.load, self)
        return (
            Made(
                trial=trial,
                directory=directory,
                title=describe_task(probe),
                outcome=describe_outcome(trial),
                ended=trial.ended_by == "completed",
            ),
        )


def read_trial(task: GrowthTask, record: RunRecord, *, took_s: float | None = None) -> GrowthTrial:
    """What a trial shows, from its record and the facts beside it."""
    facts = read_json_if_there(record.directory / FACTS_FILE) or {}
    observation = observe(record)
    if task.stage == "load":
        figures = load_figures(record, observation, facts) if record.complete else None
        return GrowthTrial(task=task, ended_by=record.ended_by, load=figures, took_s=took_s)
    seen = query_figures(record, observation, facts) if record.complete else None
    return GrowthTrial(task=task, ended_by=record.ended_by, query=seen, took_s=took_s)


def step_spec(spec: Spec, records: int) -> Spec:
    """The workload over the first `records` records."""
    return spec.model_copy(update={"data": spec.data.model_copy(update={"records": records})})


def query_plan(task: GrowthTask, spec: Spec, target: TargetPlan) -> Plan:
    """Reads of one whole document each, by keys drawn uniformly, another set of them in each batch."""
    varied = step_spec(spec, task.records).model_copy(
        update={
            "operations": OperationsSpec.model_validate({"read": 1}),
            "keys": UniformKeys(),
            "read_all_fields": True,
            "load": ClosedLoad(),
            "in_flight": None,
            "connections": task.connections,
            "warmup_ns": 0,
            "duration_ns": None,
            "operation_count": task.queries,
            "interval_ns": INTERVAL_NS,
        }
    )
    # Keys are the same for every seed. With one seed all batches would ask for the same few records.
    draws = f"{spec.seed} {task.indexes} {task.records} {task.connections} {task.queries} {task.repeat}"
    seed = int.from_bytes(hashlib.sha256(draws.encode()).digest()[:8], "big")
    return resolve(varied, target=target).model_copy(update={"seed": seed})


def _load(task: GrowthTask, work: GrowthWork) -> tuple[Path, GrowthTrial]:
    indexes = _indexes(task, work)
    if task.there:
        _put_back(task.there, indexes, work)
    load = load_plan(step_spec(work.spec, task.records), target=work.target)
    controls = [_control_ns(_beside(task), work)] if task.there else []
    before = _look(work)
    directory = _begin(task, work)
    record = extend_data(
        load,
        there=task.there,
        indexes=indexes,
        make_directory=lambda _: directory,
        context=work.context,
        drop=work.drop,
    )
    if record.complete:
        after = _look(work)
        facts = {"before": before, "after": after, **_sizes(record, work)}
        controls.append(_control_ns(_beside(task), work))
        known = [each for each in controls if each is not None]
        facts["control_ns"] = fmean(known) if known else None
        replace_json(directory / FACTS_FILE, facts)
    return directory, read_trial(task, record)


def _beside(task: GrowthTask) -> GrowthTask:
    """The control of an import: as many reads as it takes to tell their time."""
    return replace(task, stage="query", records=1, there=0, connections=1, queries=CONTROL_PARTS * SLICE_READS_MIN)


def _advise(load: LoadFigures, work: GrowthWork) -> None:
    """Says at once where steps are too short, while it can still be begun anew."""
    if load.elapsed_s < IMPORT_TIME_MIN_S:
        enough = round(float(f"{load.documents_per_s * IMPORT_TIME_MIN_S * 1.2:.1e}"))
        work.context.progress.note(
            f"a step is imported in {format_duration(load.elapsed_s * NS_PER_S)}: a rate is told over "
            f"{format_duration(IMPORT_TIME_MIN_S * NS_PER_S)} and more, so that steps are put together for it; "
            f"--step {count_text(enough)} is long enough"
        )


def _query(task: GrowthTask, work: GrowthWork) -> tuple[Path, GrowthTrial]:
    _put_back(task.records, _indexes(task, work), work)
    prepared = _prepare_memory(task, work)
    before = _look(work)
    directory = _begin(task, work)
    plan = query_plan(task, work.spec, work.target)
    record = execute(plan, directory=directory, title=describe_task(task), context=work.context)
    if record.complete:
        after = _look(work)
        facts = {"before": before, "after": after, "control_ns": _control_ns(task, work), **prepared}
        replace_json(directory / FACTS_FILE, facts)
    return directory, read_trial(task, record)


def _begin(task: GrowthTask, work: GrowthWork) -> Path:
    return work.writer.begin_trial(asdict(task), stage=task.stage, label=task.label, needs=FACTS_FILE)


def _indexes(task: GrowthTask, work: GrowthWork) -> Sequence[Index]:
    return index_fields(task.indexes, work.spec.data.field_names)


def _put_back(records: int, indexes: Sequence[Index], work: GrowthWork) -> None:
    load = load_plan(step_spec(work.spec, records), target=work.target)
    put_back(load, indexes=indexes, make_directory=work.make_directory, context=work.context, drop=work.drop)


def _prepare_memory(task: GrowthTask, work: GrowthWork) -> dict[str, Any]:
    """Brings memory into the state that the protocol asks for, and says what that came to."""
    if task.protocol is Protocol.HOT:
        if work.settled_for is None or work.settled_for[0] != (task.indexes, task.records):
            work.settled_for = (task.indexes, task.records), _warm_up(task, work)
        return {"restarted": False, "settled": work.settled_for[1]}
    deployment = _own(work)
    own = deployment.own
    if own is None:
        raise UsageError(
            f"{task.protocol} queries need a server that brimline may start again",
            hint="leave --uri out, or give --protocol hot",
        )
    shares: list[float | None] = []

    def between() -> None:
        if task.protocol is Protocol.COLD:
            page_cache.drop(own.data_directory)
        shares.append(page_cache.resident_share(own.data_directory))

    work.context.progress.step("starting the server again")
    work.context = replace(work.context, deployment=own.restart(meanwhile=between))
    if task.protocol is Protocol.COLD and (shares[0] is None or shares[0] > COLD_SHARE_MAX):
        seen = "can't be seen" if shares[0] is None else f"is {format_percentage(shares[0])}"
        work.context.progress.note(f"not surely cold: the share of the files that is still in memory {seen}")
    return {"restarted": True, "page_cache_share": shares[0]}


def _control_ns(task: GrowthTask, work: GrowthWork) -> float | None:
    """Time of a read in a batch as long that reads the first record over and over, which is always in the cache.

    How fast the machine is just then, which on a shared one changes by more than a volume's effect.
    """
    part = replace(task, records=1, queries=max(task.queries // CONTROL_PARTS, 1))
    plan = query_plan(part, work.spec, work.target)
    with _clients(work) as clients:
        looks = [_status(clients)]
        for _ in range(CONTROL_PARTS):
            execute_unrecorded(plan, context=work.context)
            looks.append(_status(clients))
    return quiet_time_ns(looks)


def _warm_up(task: GrowthTask, work: GrowthWork) -> bool | None:
    """Asks batches without measuring until the cache reads about as much as in the one before.

    Whether it came to that; None where the server doesn't say what its cache reads.
    """
    work.context.progress.step("warming up")
    last: float | None = None
    for number in range(1, WARM_UP_BATCHES_MAX + 1):
        plan = query_plan(replace(task, repeat=-number), work.spec, work.target)
        before = _look(work).get(CACHE_PAGES_READ)
        execute_unrecorded(plan, context=work.context)
        after = _look(work).get(CACHE_PAGES_READ)
        if before is None or after is None:
            return None
        read = (after - before) / task.queries
        if work.context.stop.requested or (last is not None and abs(read - last) <= SETTLED_PAGES):
            return True
        last = read
    return False


def _own(work: GrowthWork) -> Deployment:
    if work.context.deployment is None:
        raise UsageError("growth needs a server", hint="leave --null out")
    return work.context.deployment


def _look(work: GrowthWork) -> dict[str, int | None]:
    """The servers' counters now. Raises TargetError."""
    with _clients(work) as clients:
        return _status(clients)


@contextmanager
def _clients(work: GrowthWork) -> Iterator[Sequence[Client]]:
    """One of each server that has a part of the records."""
    deployment = _own(work)
    with ExitStack() as open_clients:
        yield [
            open_clients.enter_context(control_client(address, access=deployment.access, purpose="growth"))
            for address in (deployment.address, *deployment.shards)
        ]


def _status(clients: Sequence[Client]) -> dict[str, int | None]:
    """What all of them say, added up."""
    looks = [_status_of(client) for client in clients]
    return {name: sum_of_known([look.get(name) for look in looks]) for name in looks[0]}


def _status_of(client: Client) -> dict[str, int | None]:
    try:
        status = client.admin.command(dict(COMMAND))
    except PyMongoError as error:
        raise TargetError("the server doesn't say how it is", hint="check that it still runs") from error
    pages = status.get("wiredTiger", {}).get("cache", {}).get("pages read into cache")
    return {**read_status(status), CACHE_PAGES_READ: pages}


def _sizes(record: RunRecord, work: GrowthWork) -> dict[str, Any]:
    """Those of the load's record, which follow a checkpoint, so that queries don't meet its writing; and the disk."""
    sizes = record.server_facts.get("after", {})
    own = _own(work).own
    found = {"sizes": sizes, "files_bytes": sizes.get("files_bytes")}
    if own is None:
        return found
    # The server counts what is reserved for root as used; brimline sees its own server's disk as users do.
    usage = shutil.disk_usage(own.data_directory)
    return {**found, "disk_share": usage.used / (usage.used + usage.free)}
