"""Owns what other tools leave behind: JMeter's JTL files, YCSB's output, histogram logs in, an `ImportedRun` out.

One file one format; each is read as a stream, and nothing is written before everything was read.
"""

from collections.abc import Sequence
from pathlib import Path

from brimline.compat.results.foreign import refuse_foreign_bytes
from brimline.compat.results.hdr_log import YCSB, HdrLog, is_hdr_log, read_hdr_log
from brimline.compat.results.hdr_run import hdr_run
from brimline.compat.results.jtl_csv import headless, is_blank, is_jtl_header, read_jtl_csv
from brimline.compat.results.jtl_errors import ErrorTally
from brimline.compat.results.jtl_xml import read_jtl_xml
from brimline.compat.results.source import FORMATS_HINT, bad_file, described, head_of
from brimline.compat.results.tally import OTHER_OPERATIONS, Tally
from brimline.compat.results.ycsb_lines import YcsbOutput, read_ycsb
from brimline.compat.results.ycsb_run import ycsb_run
from brimline.errors import UsageError, visible
from brimline.record.environment import brimline_version
from brimline.record.imported import ImportedRun, Printed, Series, SourceFile
from brimline.units import NS_PER_MS, NS_PER_US

_NOWHERE = Path()
_EACH_BY_ITSELF = "import each run by itself"


def import_files(files: Sequence[Path]) -> ImportedRun:
    """The run that `files` are of: JTL files of one or several generators, or everything that one run of YCSB left.

    Raises UsageError with the file and line for what can't be read.
    """
    forms = [format_of(path) for path in files]
    is_jtl = {form.startswith("jtl") for form in forms}
    if len(is_jtl) > 1:
        jmeter = next(path for path, form in zip(files, forms, strict=True) if form.startswith("jtl"))
        ycsb = next(path for path, form in zip(files, forms, strict=True) if not form.startswith("jtl"))
        raise UsageError(
            f"{jmeter.name} is of JMeter and {ycsb.name} of YCSB: they are no files of one run",
            hint=_EACH_BY_ITSELF,
        )
    sources = [described(path, form) for path, form in zip(files, forms, strict=True)]
    repeated = next((each for each in sources if sum(each.sha256 == other.sha256 for other in sources) > 1), None)
    if repeated is not None:
        raise UsageError(f"{repeated.name} is given twice, or is the same as another file", hint="give each file once")
    return _jmeter(files, sources) if is_jtl == {True} else _ycsb(files, sources)


def format_of(path: Path) -> str:
    """What a file is, by how it begins. Raises UsageError for what is none of the known formats."""
    head = head_of(path)
    refuse_foreign_bytes(path, head)
    if b"\0" in head:
        raise bad_file(path, "this is no text", line=1 + head[: head.index(b"\0")].count(b"\n"), hint=FORMATS_HINT)
    text = head.decode("utf-8-sig", errors="replace")
    first = next((line for line in text.splitlines() if not is_blank(line)), "")
    if text.lstrip().startswith("<"):
        return "jtl-xml"
    if is_hdr_log(text):
        return "hdr"
    if is_jtl_header(first):
        return "jtl-csv"
    if (names := headless(first)) is not None:
        problem = "it looks like JMeter's results without the header that names the columns"
        raise bad_file(path, problem, line=1 + text.splitlines().index(first), hint=f"put it first: {names}")
    return "ycsb"


def _jmeter(files: Sequence[Path], sources: Sequence[SourceFile]) -> ImportedRun:
    tally, errors = Tally(NS_PER_MS), ErrorTally()
    knows_zone: dict[bool, Path] = {}
    for path, source in zip(files, sources, strict=True):
        if source.format == "jtl-csv":
            knows_zone[read_jtl_csv(path, tally, errors)] = path
        else:
            read_jtl_xml(path, tally, errors)
            knows_zone[True] = path
        if len(knows_zone) > 1:
            raise bad_file(
                knows_zone[False],
                f"timeStamp is a date without a zone, and in {knows_zone[True].name} its zone is known: which of them "
                "came first can't be told",
                hint="write all of them in milliseconds since 1970, or import each file by itself",
            )
        tally.next_source()
    first_ms, last_ms = tally.first_ms or 0, tally.last_ms or 0
    times = tally.times("service")
    return ImportedRun(
        directory=_NOWHERE,
        name=visible(files[0].stem),
        tool="JMeter",
        sources=sources,
        started_unix_ns=first_ms * NS_PER_MS if True in knows_zone else None,
        duration_ns=max(last_ms - first_ms, 1) * NS_PER_MS,
        value_unit_ns=NS_PER_MS,
        series=[_jmeter_series(operation, tally) for operation in tally.operations],
        rows=tally.rows(),
        active=tally.active(),
        times=times,
        errors=errors.rows(),
        printed=Printed(),
        notes=_jmeter_notes(tally),
        brimline_version=brimline_version(),
    )


def _jmeter_series(operation: str, tally: Tally) -> Series:
    sums = tally.totals[operation]
    return Series(
        operation=operation,
        clock="service",
        samples=sums.samples,
        misses=0,
        failed=sums.failed,
        timed=sums.samples,
        counted=True,
        times_from="groups" if sums.grouped else "samples",
        mean_ns=sums.time * NS_PER_MS / sums.samples if sums.samples else None,
        min_ns=None if sums.least is None or sums.grouped else sums.least * NS_PER_MS,
        max_ns=None if sums.most is None or sums.grouped else sums.most * NS_PER_MS,
        bytes_in=sums.bytes_in if tally.knows_bytes_in else None,
        bytes_out=sums.bytes_out if tally.knows_bytes_out else None,
    )


def _jmeter_notes(tally: Tally) -> list[str]:
    notes = ["JMeter writes times in whole milliseconds"]
    if any(sums.grouped for sums in tally.totals.values()):
        notes.append(
            "some rows stand for several samples (SampleCount): of these only the mean is known, "
            "and the rate of the run is not"
        )
    if OTHER_OPERATIONS in tally.operations:
        notes.append("there are more labels than can be told apart; the rest is one line")
    return notes


def _ycsb(files: Sequence[Path], sources: Sequence[SourceFile]) -> ImportedRun:
    output = YcsbOutput()
    logs: list[HdrLog] = []
    for path, source in zip(files, sources, strict=True):
        if source.format == "hdr":
            _add_logs(path, read_hdr_log(path), logs)
        else:
            read_ycsb(path, output)
    tool = logs[0].tool if logs else YCSB
    others = [path for path, source in zip(files, sources, strict=True) if source.format != "hdr"]
    if tool != YCSB and others:
        raise bad_file(others[0], f"it is no file of {tool}, whose log {files[0].name} is", hint=_EACH_BY_ITSELF)
    run = hdr_run(logs, files[0]) if tool != YCSB else ycsb_run(output, logs, files[0])
    return ImportedRun(
        directory=_NOWHERE,
        name=visible((output.summary_file or files[0]).stem),
        tool=tool if tool != YCSB else output.tool,
        sources=sources,
        started_unix_ns=run.started_unix_ns,
        duration_ns=run.duration_ns,
        value_unit_ns=logs[0].unit_ns if logs else NS_PER_US,
        series=run.series,
        rows=run.rows,
        active=[],
        times=run.times,
        errors=run.errors,
        printed=run.printed,
        notes=[*run.notes, *run.warnings],
        warnings=tuple(run.warnings),
        brimline_version=brimline_version(),
    )


def _add_logs(path: Path, read: Sequence[HdrLog], logs: list[HdrLog]) -> None:
    for log in read:
        if logs and logs[0].tool != log.tool:
            raise bad_file(path, f"it is of {log.tool}, the log before it of {logs[0].tool}", hint=_EACH_BY_ITSELF)
        if any((log.operation, log.clock) == (other.operation, other.clock) for other in logs):
            raise bad_file(path, f"a second log of {log.operation}", hint="import the runs one by one")
        logs.append(log)
