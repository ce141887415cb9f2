"""Owns how results of tools look that `import-results` doesn't read, so that an error can name them."""

import re
from collections.abc import Sequence
from pathlib import Path

from brimline.errors import UsageError
from brimline.record.importing.source import FORMATS_HINT, bad_file

_Known = tuple[str, str]
# What a file begins with, and whose it is.
_BYTES: Sequence[tuple[bytes, str, str]] = (
    (b"\x1f\x8b", "compressed with gzip", "unpack it first: gunzip FILE"),
    (b"PK\x03\x04", "a ZIP archive", "unpack it first: unzip FILE"),
    (b"BZh", "compressed with bzip2", "unpack it first: bunzip2 FILE"),
    (b"\xfd7zXZ\0", "compressed with xz", "unpack it first: unxz FILE"),
    (b"\x28\xb5\x2f\xfd", "compressed with zstd", "unpack it first: unzstd FILE"),
    (b"\xff\xfe", "text in UTF-16", "turn it into UTF-8 first: iconv -f UTF-16 -t UTF-8 FILE"),
    (b"\xfe\xff", "text in UTF-16", "turn it into UTF-8 first: iconv -f UTF-16 -t UTF-8 FILE"),
    (b"SQLite format 3\0", "an SQLite database", FORMATS_HINT),
)
_SAMPLES_HINT = "give JMeter's own results instead, the file of -l, with a row for each sample"
# A regular expression for a text's beginning, whose results it is, and a hint where there is a better one.
_TEXTS: Sequence[tuple[str, str, str]] = (
    (r"Label[,;\t]# Samples[,;\t]|sampler_label,aggregate_report_", "JMeter's table of a whole run", _SAMPLES_HINT),
    (r"\s*\{.{0,200}\"(?:sampleCount|errorCount|transaction)\"\s*:", "JMeter's dashboard", _SAMPLES_HINT),
    (r".*?^summary [+=] ", "JMeter's summariser", _SAMPLES_HINT),
    (r"\"?Type\"?,\"?Name\"?,\"?Request Count\"?|\"?Timestamp\"?,\"?User Count\"?,", "Locust", ""),
    (r".{0,4000}?^ *Type +Name +# reqs", "Locust", ""),
    (r"metric_name,timestamp,metric_value|\{\"type\":\"(?:Metric|Point)\"|.*^ *http_req_duration\.+:", "k6", ""),
    (r"\s*\{.{0,4000}\"(?:http_req_duration|root_group|iteration_duration)\"", "k6", ""),
    (r".{0,200}\bRunning [0-9.]+[smh] test @ ", "wrk", ""),
    (r"This is ApacheBench|starttime\tseconds\tctime\tdtime", "ApacheBench", ""),
    (r"\s*Summary:\s+Total:\s+[0-9.]+ secs|response-time,DNS\+dialup,", "hey", ""),
    (r"Requests +\[total, rate|\s*\{\"latencies\":|\{\"attack\":", "Vegeta", ""),
    (r"RUN\t\S+\t|ASSERTION\t|=+\n---- Global Information", "Gatling", ""),
    (r"\s*\{\s*\"aggregate\"\s*:\s*\{", "Artillery", ""),
    (r".{0,300}\bsysbench [0-9]", "sysbench", ""),
    (r"pgbench \(|transaction type: |starting vacuum", "pgbench", ""),
    (r".{0,300}memtier_benchmark|[0-9]+ +Threads\n[0-9]+ +Connections per thread", "memtier_benchmark", ""),
    (r".{0,4000}(?:\*+ Stress Settings \*+|\ntype +total ops,|Op rate +:)", "cassandra-stress",
     "give its histogram log instead (-log hdrfile=FILE)"),
    (r"\s*\{\s*\"(?:READ|UPDATE|INSERT|SCAN|TOTAL)\"\s*:", "go-ycsb", "let it print text (-p outputstyle=plain)"),
    (r"\s*\[?\s*\{\s*\"Operation\"\s*:", "go-ycsb", "let it print text (-p outputstyle=plain)"),
    (r"\+-+\+-+\+[-+]*\n\| +OPERATION +\|", "go-ycsb", "let it print text (-p outputstyle=plain)"),
    (r"insert +query +update +delete +getmore +command", "mongostat", "brimline stat shows a server live"),
    (r"\s*\{.{0,300}\"fio version\"|fio-[0-9]", "fio", ""),
)  # fmt: skip
_PATTERNS = tuple((re.compile(pattern, re.DOTALL | re.MULTILINE), tool, hint) for pattern, tool, hint in _TEXTS)


def refuse_foreign_bytes(path: Path, head: bytes) -> None:
    """Raises UsageError, with what to do, for a file that is packed or in another encoding."""
    for begin, what, hint in _BYTES:
        if head.startswith(begin):
            raise bad_file(path, f"it is {what}", hint=hint.replace("FILE", path.name))
    # UTF-16 without a mark: every other byte of Latin text is 0.
    if b"\0" in head[:200] and not head[0:200:2].strip(b"\0") != b"" != head[1:200:2].strip(b"\0"):
        hint = _BYTES[5][2].replace("UTF-16 ", "UTF-16BE " if head[0] == 0 else "UTF-16LE ", 1)
        raise bad_file(path, "it is text in UTF-16", hint=hint.replace("FILE", path.name))


def foreign(path: Path, head: str) -> UsageError | None:
    """The error for results of a tool that isn't read; None where it isn't known whose they are."""
    for pattern, tool, hint in _PATTERNS:
        if pattern.match(head):
            return bad_file(path, f"these are results of {tool}, which are not read", hint=hint or FORMATS_HINT)
    return None
