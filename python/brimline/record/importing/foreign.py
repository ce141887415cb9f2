"""Owns how results of tools look that `import-results` doesn't read, so that an error can name them."""

import re
import shlex
from collections.abc import Sequence
from pathlib import Path

from brimline.errors import UsageError
from brimline.record.importing.source import FORMATS_HINT, bad_file

# What a file begins with, what it is, the program that unpacks it whatever its name is, and how such names end.
_PACKED: Sequence[tuple[bytes, str, str, str]] = (
    (b"\x1f\x8b", "compressed with gzip", "zcat", ".gz"),
    (b"BZh", "compressed with bzip2", "bzcat", ".bz2"),
    (b"\xfd7zXZ\0", "compressed with xz", "xzcat", ".xz"),
    (b"\x28\xb5\x2f\xfd", "compressed with zstd", "zstdcat", ".zst"),
    (b"\x04\x22\x4d\x18", "compressed with lz4", "lz4cat", ".lz4"),
)
_UTF16, _UTF16_HINT = "text in UTF-16", "turn it into UTF-8 first: iconv -f UTF-16 -t UTF-8 FILE"
# What else it begins with, and what to do.
_BYTES: Sequence[tuple[bytes, str, str]] = (
    (b"PK\x03\x04", "a ZIP archive", "unpack it first: unzip FILE"),
    (b"\xff\xfe", _UTF16, _UTF16_HINT),
    (b"\xfe\xff", _UTF16, _UTF16_HINT),
    (b"SQLite format 3\0", "an SQLite database", FORMATS_HINT),
    (
        b"version https://git-lfs.github.com/spec/",
        "a pointer of Git LFS, not the file itself",
        "fetch it: git lfs pull",
    ),
    (b"\x89PNG\r\n", "a PNG image", FORMATS_HINT),
    (b"%PDF-", "a PDF document", FORMATS_HINT),
)
_PAGE = re.compile(rb"(?:\xef\xbb\xbf)?\s*<(?:!doctype +)?html", re.IGNORECASE)
_LOCUST_HINT = f"Locust keeps no single samples; {FORMATS_HINT}"
_SAMPLES_HINT = "give JMeter's own results instead, the file of -l, with a row for each sample"
# A regular expression for a text's beginning, whose results it is, and a hint where there is a better one.
_TEXTS: Sequence[tuple[str, str, str]] = (
    (r"Label[,;\t]# Samples[,;\t]|sampler_label,aggregate_report_", "JMeter's table of a whole run", _SAMPLES_HINT),
    (r"\s*\{.{0,200}\"(?:sampleCount|errorCount|transaction)\"\s*:", "JMeter's dashboard", _SAMPLES_HINT),
    (r".*?^summary [+=] ", "JMeter's summariser", _SAMPLES_HINT),
    (r"\"?(?:Type|Method)\"?[,;\t]\"?Name\"?[,;\t]\"?(?:Request Count|# requests|Error)\"?[,;\t]", "Locust",
     _LOCUST_HINT),
    (r"\"?Timestamp\"?[,;\t]\"?User [Cc]ount\"?[,;\t]|\"?Name\"?[,;\t]\"?# requests\"?[,;\t]", "Locust",
     _LOCUST_HINT),
    (r"\"?Count\"?[,;\t]\"?Message\"?[,;\t]\"?Traceback\"?[,;\t]", "Locust", _LOCUST_HINT),
    (r".{0,4000}?^ *(?:(?:Type|Method) +)?Name +(?:# (?:reqs|requests)|50% +66%)", "Locust", _LOCUST_HINT),
    (r".{0,4000}?(?:^ *# (?:occurrences|fails) +Error|/(?:INFO|WARNING|ERROR)/locust\.)", "Locust", _LOCUST_HINT),
    (r"\s*\[\s*\{.{0,400}\"(?:num_requests|last_request_timestamp)\"\s*:", "Locust", _LOCUST_HINT),
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
    for begin, what, program, suffix in _PACKED:
        if head.startswith(begin):
            unpacked = path.name.removesuffix(suffix)
            if unpacked == path.name:
                unpacked = f"unpacked-{path.name}"
            hint = f"unpack it first: {program} < {shlex.quote(path.name)} > {shlex.quote(unpacked)}"
            raise bad_file(path, f"it is {what}", hint=hint)
    if _PAGE.match(head):
        raise bad_file(path, "it is a page of HTML", hint=FORMATS_HINT)
    for begin, what, hint in _BYTES:
        if head.startswith(begin):
            raise bad_file(path, f"it is {what}", hint=hint.replace("FILE", shlex.quote(path.name)))
    # UTF-16 without a mark: every other byte of Latin text is 0.
    if b"\0" in head[:200] and not head[0:200:2].strip(b"\0") != b"" != head[1:200:2].strip(b"\0"):
        hint = _UTF16_HINT.replace("UTF-16 ", "UTF-16BE " if head[0] == 0 else "UTF-16LE ", 1)
        raise bad_file(path, f"it is {_UTF16}", hint=hint.replace("FILE", shlex.quote(path.name)))


def foreign(path: Path, head: str) -> UsageError | None:
    """The error for results of a tool that isn't read; None where it isn't known whose they are."""
    for pattern, tool, hint in _PATTERNS:
        if pattern.match(head):
            return bad_file(path, f"these are results of {tool}, which are not read", hint=hint or FORMATS_HINT)
    return None
