"""Owns `.hdr` files: HdrHistogram logs as YCSB's `hdrhistogram.fileoutput` writes them.

One file per measurement, without tags; values are µs, so that with the format's customary divisor the interval
maximum is in seconds. A row per status interval where status lines were asked for, else one for the whole run.
"""

from pathlib import Path

from brimline.compat.ycsb.measurements import Clocks, Measurement, Times, named_measurements, times_by_interval
from brimline.record import hlog
from brimline.record.files import replace_text
from brimline.record.model import RunRecord
from brimline.spec import YcsbOutput
from brimline.units import NS_PER_S


def write_hdr_files(record: RunRecord, output: YcsbOutput) -> list[Path]:
    """Writes the files that `output.hdr_path` asks for; none without it. Raises RecordError."""
    if output.hdr_path is None or record.summary is None:
        return []
    paths = []
    for name, lines in _lines_by_name(record, output).items():
        path = Path(f"{output.hdr_path}{name}.hdr")
        replace_text(path, _header(name, record.summary["started_unix_ns"]) + "".join(lines))
        paths.append(path)
    return paths


def _lines_by_name(record: RunRecord, output: YcsbOutput) -> dict[str, list[str]]:
    assert record.summary is not None  # noqa: S101 - the caller has looked
    end_ns = record.summary["elapsed_ns"]
    width_ns = output.status_interval_s * NS_PER_S if output.status else end_ns + 1
    prefix = "" if output.measurement_type == "hdrhistogram" else "Hdr"
    clocks = Clocks.of(record.plan)
    lines: dict[str, list[str]] = {}
    gathered = times_by_interval(record, lambda _, interval_end_ns: (interval_end_ns - 1) // width_ns)
    for place, times in gathered.items():
        span = place * width_ns, min((place + 1) * width_ns, end_ns)
        for name, measurement in named_measurements(times, output, clocks=clocks):
            lines.setdefault(f"{prefix}{name}", []).append(_line(measurement, *span))
    close_ns = record.summary.get("close_ns")
    if close_ns is not None:
        for name, cleanup in named_measurements(Times(), output, clocks=clocks, close_ns=close_ns):
            lines[f"{prefix}{name}"] = [_line(cleanup, end_ns, end_ns + close_ns)]
    return lines


def _header(name: str, started_unix_ns: int) -> str:
    return f"#[Logging for: {name}]\n{hlog.VERSION}{hlog.start_time(started_unix_ns)}{hlog.LEGEND}"


def _line(measurement: Measurement, start_ns: int, end_ns: int) -> str:
    histogram = measurement.histogram()
    span = f"{start_ns / 1e9:.3f},{(end_ns - start_ns) / 1e9:.3f}"
    return f"{span},{histogram.max() / hlog.MAX_VALUE_DIVISOR:.3f},{histogram.encode()}\n"
