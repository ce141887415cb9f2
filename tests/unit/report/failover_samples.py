"""A failover with known answers: a server that stands still for two seconds, on a virtual clock."""

from dataclasses import asdict
from pathlib import Path

from brimline import _native
from brimline.experiments.failover.order import FAILOVER_KIND, FailoverProbe, FailoverSettings, Limit
from brimline.record import ExperimentRecord, ExperimentWriter, RecordWriter, RunRecord, read_experiment, read_record
from brimline.record.fault import FAULT_FILE, FaultFacts, Said, write_fault
from brimline.record.ledger import Entries, StaleRead, Write, write_ledger
from brimline.record.operation_log import log_path
from brimline.servers import OPEN
from tests.unit.report.report_samples import ENVIRONMENT, SPEC, script, simulated_plan

S = 1_000_000_000
BEGUN_S, STALL_S, UNDONE_S, END_S = 7, 2, 12, 20
"""On the run's clock."""
RATE_OPS_PER_S = 500.0


def make_failover(
    directory: Path, *, repeats: int = 2, slo: tuple[Limit, ...] = (), stall_s: float = STALL_S
) -> ExperimentRecord:
    """Faults of which each costs two seconds; of the second a write is missing and another one there twice."""
    settings = FailoverSettings(fault="pause", repeats=repeats, rate_ops_per_s=RATE_OPS_PER_S, slo=slo, hold_s=5.0)
    with ExperimentWriter(
        directory, kind=FAILOVER_KIND, name="order-service", settings={**asdict(settings), "seed": 1}, spec_text=SPEC,
        environment=ENVIRONMENT,
    ) as writer:  # fmt: skip
        for number in range(1, repeats + 1):
            probe = FailoverProbe(number=number)
            place = writer.begin_trial(asdict(probe), stage="fault", label=f"pause-{number}", needs=FAULT_FILE)
            record = _run(place, stall_s)
            _beside(record, is_sound=number != 2)
            writer.end_trial(place, took_s=30.0)
        writer.seal(ended_by="completed")
    return read_experiment(directory)


def _run(directory: Path, stall_s: float) -> RunRecord:
    stalls = [{"at_ns": BEGUN_S * S, "length_ns": round(stall_s * S)}] if stall_s else []
    plan = simulated_plan(rate_ops_per_s=RATE_OPS_PER_S, warmup_s=2.0, duration_s=END_S - 2.0, operation_log=True,
                          script=script(stalls=stalls))  # fmt: skip
    with RecordWriter(directory, plan, SPEC, ENVIRONMENT) as writer:
        run = _native.start(plan.canonical_json(), OPEN.native, log_path(directory))
        summary = run.join()
        writer.append(run.take_samples())
        writer.seal(summary, None, ended_by=summary["ended_by"], message=summary["message"])
    return read_record(directory)


def _beside(record: RunRecord, *, is_sound: bool) -> None:
    assert record.summary is not None
    zero = record.summary["started_unix_ns"]

    def at(seconds: float) -> int:
        return zero + round(seconds * S)

    writes = [
        Write(session=number % 2, number=number // 2, sent_unix_ns=at(number / 10), done_unix_ns=at(number / 10 + 0.01),
              answer="unknown" if number == 71 else "acknowledged", error="NetworkTimeout" if number == 71 else "")
        for number in range(200)
    ]  # fmt: skip
    found = {(each.session, each.number): 1 for each in writes if each.answer == "acknowledged"}
    stale: tuple[StaleRead, ...] = ()
    if not is_sound:
        del found[0, 36]
        found[1, 40] = 2
        stale = (StaleRead(kind="read-your-writes", session=0, number=36, unix_ns=at(7.3)),)
    write_ledger(record.directory, Entries(writes=writes, found=found))
    write_fault(
        record.directory,
        FaultFacts(
            name="pause", what="the server stands still (SIGSTOP), and goes on (SIGCONT)", at="127.0.0.1:27017",
            begun_unix_ns=at(BEGUN_S), done_unix_ns=at(BEGUN_S + 0.001), undo_begun_unix_ns=at(UNDONE_S),
            undone_unix_ns=at(UNDONE_S + 0.002), whole_unix_ns=at(UNDONE_S + 1), by_hand="kill -CONT 4711",
            said=(Said(unix_ns=at(8.5), address="127.0.0.1:27018", text="SECONDARY → PRIMARY"),),
            ledger={"write_concern": {"w": 1, "j": True}, "retry_writes": True, "sessions": 2}, stale=stale,
        ),
    )  # fmt: skip
