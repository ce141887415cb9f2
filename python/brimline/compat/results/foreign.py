"""Owns how results of tools look that `import-results` doesn't read, so that an error can name them."""

import codecs
import re
import shlex
from collections.abc import Sequence
from pathlib import Path

from brimline.compat.results.source import FORMATS_HINT, bad_file
from brimline.errors import UsageError

# What a file begins with, what it is, the program that unpacks it whatever its name is, and how such names end.
_PACKED: Sequence[tuple[bytes, str, str, str]] = (
    (b"\x1f\x8b", "compressed with gzip", "zcat", ".gz"),
    (b"BZh", "compressed with bzip2", "bzcat", ".bz2"),
    (b"\xfd7zXZ\0", "compressed with xz", "xzcat", ".xz"),
    (b"\x28\xb5\x2f\xfd", "compressed with zstd", "zstdcat", ".zst"),
    (b"\x04\x22\x4d\x18", "compressed with lz4", "lz4cat", ".lz4"),
    (b"\x1f\x9d", "compressed with compress", "zcat", ".Z"),
    (b"\x5d\0\0", "compressed with lzma", "lzcat", ".lzma"),
    (b"\xff\x06\0\0sNaPpY", "compressed with snappy", "snzip -dc", ".sz"),
)
# brotli has no mark: its name says it.
_PACKED_BY_NAME: Sequence[tuple[str, str, str]] = ((".br", "compressed with brotli", "brotli -dc"),)
# What else it begins with, and what to do.
_BYTES: Sequence[tuple[bytes, str, str]] = (
    (b"PK\x03\x04", "a ZIP archive", "unpack it first: unzip FILE"),
    (b"SQLite format 3\0", "an SQLite database", FORMATS_HINT),
    (b"\x89PNG\r\n", "a PNG image", FORMATS_HINT),
    (b"%PDF-", "a PDF document", FORMATS_HINT),
)
# What a file begins with that stands for another one.
_POINTERS: Sequence[tuple[re.Pattern[bytes], str, str]] = (
    (
        re.compile(rb"\s*(?:ext-.*\n)*version https?://(?:git-lfs|hawser|git-media)\.|# git-media\n|\[git-media\]"),
        "a pointer of Git LFS, not the file itself",
        "fetch it: git lfs pull",
    ),
    (
        re.compile(rb"(?:(?:\.\./)*\.git)?/annex/objects/"),
        "a pointer of git-annex, not the file itself",
        "fetch it: git annex get FILE",
    ),
)
_MARKS: Sequence[tuple[bytes, str]] = (
    (b"\xff\xfe\0\0", "UTF-32"),
    (b"\0\0\xfe\xff", "UTF-32"),
    (b"\xff\xfe", "UTF-16"),
    (b"\xfe\xff", "UTF-16"),
)
# Without a mark: how often a unit of Latin text has 0 at each of its places.
_WITHOUT_MARK: Sequence[tuple[Sequence[bool], str]] = (
    ((False, True, True, True), "UTF-32LE"),
    ((True, True, True, False), "UTF-32BE"),
    ((False, True), "UTF-16LE"),
    ((True, False), "UTF-16BE"),
)
_ENCODED_BYTES = 200
_PAGE = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*<(?:!--|(?:!doctype|html|head|body|title|meta|table|div|pre)\b)", re.IGNORECASE
)
_JMETER_XML = re.compile(rb"<testResults\b")
_LOCUST_HINT = f"Locust keeps no single samples; {FORMATS_HINT}"
_SAMPLES_HINT = "give JMeter's own results instead, the file of -l, with a row for each sample"
# A regular expression for a text's beginning, whose results it is, and a hint where there is a better one.
_TEXTS: Sequence[tuple[str, str, str]] = (
    (r"sampler_label,aggregate_report_", "JMeter's table of a whole run", _SAMPLES_HINT),
    (r"\s*\{.{0,200}\"(?:sampleCount|errorCount|transaction)\"\s*:", "JMeter's dashboard", _SAMPLES_HINT),
    (r".*?^summary [+=] ", "JMeter's summariser", _SAMPLES_HINT),
    (r"\"?(?:Type|Method)\"?[,;\t]\"?Name\"?[,;\t]\"?(?:Request Count|# requests|Error)\"?[,;\t]", "Locust",
     _LOCUST_HINT),
    (r"\"?Timestamp\"?[,;\t]\"?User [Cc]ount\"?[,;\t]|\"?Name\"?[,;\t]\"?# requests\"?[,;\t]", "Locust",
     _LOCUST_HINT),
    (r"\"?Count\"?[,;\t]\"?Message\"?[,;\t]\"?Traceback\"?[,;\t]", "Locust", _LOCUST_HINT),
    (r".{0,4000}?^ *(?:(?:Type|Method) +)?Name +(?:# (?:reqs|requests)|50% +66%)", "Locust", _LOCUST_HINT),
    (r".{0,4000}?(?:^ *# (?:occurrences|fails) +Error|/(?:INFO|WARNING|ERROR)/locust\.)", "Locust", _LOCUST_HINT),
    # In every language: the second column is the number of something, and other names have a share or percentiles.
    (r"[^,;\t\n]+[,;\t]\"?# (?=[^\n]*%)[^,;\t\n]+(?:[,;\t][^,;\t\n]*){3,}",
     "JMeter's table of a whole run", _SAMPLES_HINT),
    (r"(?=[^\n]*\b90 ?%)(?=[^\n]*\b95 ?%)(?=[^\n]*\b99 ?%)[^,;\t\n]+(?:[,;\t][^,;\t\n]*){7,}",
     "JMeter's table of a whole run", _SAMPLES_HINT),
    (r"\s*\[\s*\{.{0,400}\"(?:num_requests|last_request_timestamp)\"\s*:", "Locust", _LOCUST_HINT),
    (r"metric_name,timestamp,metric_value|\{\"type\":\"(?:Metric|Point)\"|.*^ *http_req_duration\.+:", "k6", ""),
    (r"\s*\{.{0,4000}\"(?:http_req_duration|root_group|iteration_duration)\"", "k6", ""),
    (r".{0,400}? execution: \w+\n +script: ", "k6", ""),
    (r".{0,200}\bRunning [0-9.]+[smh] test @ [^\n]*\n[0-9]+ connections", "autocannon", ""),
    (r".{0,200}\bRunning [0-9.]+[smh] test @ ", "wrk", ""),
    (r"This is ApacheBench|starttime\tseconds\tctime\tdtime|\s*(?:Server Software|Concurrency Level): ",
     "ApacheBench", ""),
    (r"\s*=+ [A-Z_ ()0-9a-z]+ =+\n +[0-9]+ requests completed|\"test\",\"rps\",", "redis-benchmark", ""),
    (r"\s*Summary:\s+Success rate:", "oha", ""),
    (r"Bombarding ", "bombardier", ""),
    (r"Transaction Type Index,Transaction Name,", "BenchBase", ""),
    (r" *ns +total +read +write ", "mongotop", "brimline stat shows a server live"),
    (r"\s*Summary:\s+Total:\s+[0-9.]+ secs|response-time,DNS\+dialup,", "hey", ""),
    (r"Requests +\[total, rate|\s*\{\"latencies\":|\{\"attack\":", "Vegeta", ""),
    (r"[0-9]{19},[0-9]{3},[0-9]+,[0-9]+,[0-9]+,", "Vegeta", ""),
    (r"RUN\t\S+\t|ASSERTION\t|=+\n---- Global Information", "Gatling", ""),
    (r"\s*\{\s*\"aggregate\"\s*:\s*\{", "Artillery", ""),
    (r".{0,300}\bsysbench [0-9]", "sysbench", ""),
    (r"pgbench \(|transaction type: |starting vacuum", "pgbench", ""),
    (r".{0,4000}?(?:\bmemtier_benchmark\b|^[0-9]+ +Threads\s+[0-9]+ +Connections per thread|^\[RUN #[0-9]+[ \]]"
     r"|^ALL STATS *\n=+\nType +Ops/sec)", "memtier_benchmark", ""),
    (r"\s*\{.{0,4000}\"(?:ALL STATS|Connections per thread)\"", "memtier_benchmark", ""),
    (r".{0,4000}(?:\*+ Stress Settings \*+|\ntype +total ops,|Op rate +:)", "cassandra-stress",
     "give its histogram log instead (-log hdrfile=FILE)"),
    (r"\s*\{\s*\"(?:READ|UPDATE|INSERT|SCAN|TOTAL)\"\s*:", "go-ycsb", "let it print text (-p outputstyle=plain)"),
    # It says what it was asked for first, whatever comes behind.
    (r"(?:.{0,8000}?^\[\{[^\n]*|\s*\[?\s*\{\s*)\"Operation\"\s*:", "go-ycsb",
     "let it print text (-p outputstyle=plain)"),
    (r".{0,8000}?^\+-+\+-+\+[-+]*\n\| +OPERATION +\|", "go-ycsb", "let it print text (-p outputstyle=plain)"),
    (r"insert +query +update +delete +getmore +command", "mongostat", "brimline stat shows a server live"),
    (r"\s*\{.{0,300}\"fio version\"|.{0,4000}?^(?:fio-[0-9]|[0-9];fio-)", "fio", ""),
    (r".{0,4000}?^\S[^\n]*: \(g(?:roupid)?=[0-9]+[^\n]*\): (?:rw|err)=", "fio", ""),
)  # fmt: skip
_PATTERNS = tuple((re.compile(pattern, re.DOTALL | re.MULTILINE), tool, hint) for pattern, tool, hint in _TEXTS)


def refuse_foreign_bytes(path: Path, head: bytes) -> None:
    """Raises UsageError, with what to do, for a file that is packed, in another encoding, or stands for another one."""
    for begin, what, program, suffix in _PACKED:
        if head.startswith(begin):
            raise _packed(path, what, program, suffix)
    for suffix, what, program in _PACKED_BY_NAME:
        if path.name.lower().endswith(suffix):
            raise _packed(path, what, program, suffix)
    named = shlex.quote(path.name)
    for pattern, what, hint in _POINTERS:
        if pattern.match(head.removeprefix(codecs.BOM_UTF8)):
            raise bad_file(path, f"it is {what}", hint=hint.replace("FILE", named))
    if _PAGE.match(head) and not _JMETER_XML.search(head):
        raise bad_file(path, "it is a page of HTML", hint=FORMATS_HINT)
    for begin, what, hint in _BYTES:
        if head.startswith(begin):
            raise bad_file(path, f"it is {what}", hint=hint.replace("FILE", named))
    if (encoding := _encoding(head)) is not None:
        hint = f"turn it into UTF-8 first: iconv -f {encoding} -t UTF-8 {named}"
        raise bad_file(path, f"it is text in {encoding[:6]}", hint=hint)


def _packed(path: Path, what: str, program: str, suffix: str) -> UsageError:
    unpacked = path.name.removesuffix(suffix)
    if unpacked == path.name:
        unpacked = f"unpacked-{path.name}"
    hint = f"unpack it first: {program} < {shlex.quote(path.name)} > {shlex.quote(unpacked)}"
    return bad_file(path, f"it is {what}", hint=hint)


def _encoding(head: bytes) -> str | None:
    """What `iconv` calls the encoding of a text of 16 or 32 bits, told by its mark or by the zeros of Latin text."""
    marked = next((name for mark, name in _MARKS if head.startswith(mark)), None)
    if marked is not None:
        return marked
    for are_zero, name in _WITHOUT_MARK:
        width = len(are_zero)
        units = [head[place:_ENCODED_BYTES:width] for place in range(width)]
        if len(head) >= width and all(
            (not any(unit)) if is_zero else 0 not in unit for unit, is_zero in zip(units, are_zero, strict=True)
        ):
            return name
    return None


def foreign(path: Path, head: str) -> UsageError | None:
    """The error for results of a tool that isn't read; None where it isn't known whose they are."""
    for pattern, tool, hint in _PATTERNS:
        if pattern.match(head):
            return bad_file(path, f"these are results of {tool}, which are not read", hint=hint or FORMATS_HINT)
    return None
