"""Owns what YCSB's client says from its start to its end, composed from a plan and from the record of it.

What YCSB prints on standard output is handed to `say`, its status lines and brimline's own talk to `talk`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from brimline.analysis.finding import Standing
from brimline.compat.ycsb.export import render
from brimline.compat.ycsb.hdr_files import write_hdr_files
from brimline.compat.ycsb.measurements import Clocks
from brimline.compat.ycsb.missed_target import missed_target
from brimline.compat.ycsb.raw import write_raw
from brimline.compat.ycsb.status import StatusLines
from brimline.compat.ycsb.text import measurement_rows
from brimline.errors import RecordError
from brimline.execution import allow_descriptors, check_room
from brimline.plan import Plan, TargetPlan, load_plan
from brimline.plan.log import operations_at_most
from brimline.plan.model import ClosedPacer, ConstantPacer, LoadWork, MixWork
from brimline.record import brimline_version
from brimline.record.model import RunRecord, Samples
from brimline.spec import LoadedSpec, Spec, YcsbOutput
from brimline.units import NS_PER_S

if TYPE_CHECKING:
    from brimline.analysis.observation import Observation

_RAW_LINE_BYTES_MIN = len("READ,1577911970030,494\n")


@dataclass(frozen=True, slots=True, kw_only=True)
class YcsbFront:
    """The client in YCSB's words. `say` gets text as it is to be printed, `talk` lines without their end."""

    loaded: LoadedSpec
    output: YcsbOutput
    say: Callable[[str], None]
    talk: Callable[[str], None]

    def announce(self) -> None:
        """Its first lines."""
        self.talk(f"YCSB Client brimline {brimline_version()}\n\nLoading workload...\nStarting test.")
        if self.output.max_execution_time_s:
            self.talk(f"Maximum execution time specified as: {self.output.max_execution_time_s} secs")

    def check_limits(self, plan: Plan) -> None:
        """Before a word of YCSB's says that there is a connection, and before there is a directory for a record.

        Raises UsageError where there may not be so many open files, or where the file of raw latencies can't fit, as
        far as their number is known.
        """
        allow_descriptors(plan)
        count = operations_at_most(plan)
        if self.output.raw_file is not None and count is not None:
            needed_bytes = count * _RAW_LINE_BYTES_MIN
            what = f"{self.output.raw_file} at least"
            check_room(needed_bytes, Path(self.output.raw_file).parent, what=what, or_else="plan fewer operations")

    def begin(self, plan: Plan) -> StatusLines | None:
        """What it says before the first operation; the status lines, where they are wanted."""
        if self.loaded.spec.data.values == "derived":
            self.say("Data integrity is enabled.\n")
        self.say(f"mongo client connection created with {self.output.address}\n")
        lines = None
        if self.output.status:
            lines = StatusLines(
                self.output,
                operation_count=plan.data.record_count if plan.work.kind == "load" else self.output.operation_count,
                documents_per_insert=plan.work.insert_batch_size if isinstance(plan.work, MixWork) else 1,
                clocks=Clocks.of(plan),
            )
            self._status(lines.first())
        tracked = self.output.tracked_errors
        self.talk(
            f"DBWrapper: report latency for each error is {str(tracked is None).lower()} and specific error codes to "
            f"track for latency are: [{', '.join(sorted(tracked or ()))}]"
        )
        return lines

    def listener(self, lines: StatusLines | None) -> Callable[[Samples], None] | None:
        """Shows the status lines that samples bring."""
        if lines is None:
            return None

        def show(samples: Samples) -> None:
            for line in lines.add(samples):
                self._status(line)

        return show

    def end(self, record: RunRecord, lines: StatusLines | None) -> None:
        """What it says behind the last operation, before the measurements."""
        limit_s = self.output.max_execution_time_s
        if limit_s and record.summary is not None and record.summary["elapsed_ns"] >= limit_s * NS_PER_S:
            self.talk("Maximum time elapsed. Requesting stop for the workload.")
            self.talk("Stop requested for workload. Now Joining!")
        if lines is not None:
            self._status(lines.last(close_ns=record.summary.get("close_ns") if record.summary else None))

    def _status(self, line: str) -> None:
        self.talk(line)
        if self.output.measurement_type == "timeseries":
            self.say(f"{line}\n")  # so does YCSB, for this type alone

    def conclude(self, record: RunRecord, observation: "Observation") -> None:
        """Writes the measurements where they are wanted, and says what failed and where the record is.

        A file that can't be written keeps none of the rest from being written or said. Raises RecordError.
        """
        try:
            self._hand_out(record)
        except RecordError as error:
            raise RecordError(error.message, hint=f"the record is kept: brimline show {record.directory}") from error
        finally:
            self._tell(record, observation)

    def _hand_out(self, record: RunRecord) -> None:
        raw = write_raw(record, self.output, say=self.say) if self.output.is_raw else None
        text = render(measurement_rows(record, self.output, raw), self.output.exporter)
        try:
            if self.output.export_file is None:
                self.say(text)
            else:
                _write(self.output.export_file, text)
        finally:
            write_hdr_files(record, self.output)
            if raw is not None and raw.error is not None:
                raise raw.error

    def _tell(self, record: RunRecord, observation: "Observation") -> None:
        for row in record.errors:
            words = (row["operation"], row["outcome"], str(row["code"] or ""), row["label"])
            self.talk(f"{row['count']} x {' '.join(filter(None, words))}: {row['example']}")
        # YCSB's lines have no place for what -target asked for and didn't get, nor for latencies that are lost.
        for finding in observation.findings:
            if finding.name in ("sent", "operation_log") and finding.verdict is not Standing.PASS:
                self.talk(f"warning: {finding.evidence}")
        if not observation.unsent and (missed := missed_target(record, self.output)):
            self.talk(f"warning: {missed}")
        self.talk(f"record: {record.directory}")


def ycsb_load_plan(spec: Spec, target: TargetPlan, output: YcsbOutput) -> Plan:
    """The load with a command in flight per thread unless bounded, and the rate and the time limit of YCSB's client."""
    plan = load_plan(spec, target=target)
    assert isinstance(plan.work, LoadWork)  # noqa: S101 - what load_plan makes
    rate = output.target_ops_per_s / plan.work.batch_size
    limit_ns = output.max_execution_time_s * NS_PER_S
    return plan.model_copy(
        update={
            "in_flight_max": None if spec.in_flight is None else plan.in_flight_max,
            "pacer": ConstantPacer(rate_ops_per_s=rate) if rate else ClosedPacer(),
            "duration_ns": limit_ns or None,
            "interval_ns": min(plan.interval_ns, limit_ns) if limit_ns else plan.interval_ns,
        }
    )


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise RecordError(f"can't write {path}: {(error.strerror or str(error)).lower()}") from error
