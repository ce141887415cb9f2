"""Owns JMeter's results as XML: `testResults` holds samples, whose attributes are the columns of the CSV form.

Samples inside of samples (embedded resources, parts of a transaction) are part of the outer one's time and are not
counted again. A document type is refused: with it come entities, which can make a small file endless.
"""

import codecs
import re
import xml.parsers.expat
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from brimline.compat.results.jtl_errors import ErrorTally
from brimline.compat.results.jtl_times import bad_time
from brimline.compat.results.source import (
    ELAPSED_MS_MAX,
    EPOCH_MS_MAX,
    EPOCH_MS_MIN,
    LINE_LENGTH_MAX,
    SAMPLE_BYTES_MAX,
    SAMPLES_MAX,
    bad_file,
    unreadable,
    whole_number,
)
from brimline.compat.results.tally import Batch, Tally
from brimline.errors import UsageError

_SAMPLES = ("sample", "httpSample")
_BLOCK_BYTES = 256 * 1024
_REFERENCE = re.compile(rb"&#(?:x(?P<hexadecimal>[0-9A-Fa-f]{1,8})|(?P<decimal>[0-9]{1,9}));")
_REFERENCE_BYTES_MAX = 16
_DECLARED = re.compile(rb"<\?xml[^>]{0,200}?encoding\s*=\s*[\"'](?P<name>[A-Za-z0-9._-]{1,40})[\"']")
_CONTROL_MAX = 0x1F
_WHITE_SPACE = (0x9, 0xA, 0xD)
_BATCH_ROWS = 50_000
_ATTRIBUTES = {"t": "elapsed", "ts": "timeStamp", "by": "bytes", "sby": "sentBytes", "na": "allThreads",
               "sc": "SampleCount", "ec": "ErrorCount"}  # fmt: skip
_MOST = {"t": ELAPSED_MS_MAX, "ts": EPOCH_MS_MAX, "by": SAMPLE_BYTES_MAX, "sby": SAMPLE_BYTES_MAX}


def read_jtl_xml(path: Path, tally: Tally, errors: ErrorTally) -> None:
    """Counts every outer sample of a file. Raises UsageError."""
    reader = _Reader(path, tally, errors)
    try:
        with path.open("rb") as file:
            reader.begin(file.read(_BLOCK_BYTES))
            while block := file.read(_BLOCK_BYTES):
                reader.feed(block)
        reader.end()
    except OSError as error:
        raise unreadable(path, error) from error


class _Reader:
    def __init__(self, path: Path, tally: Tally, errors: ErrorTally) -> None:
        self._path, self._tally, self._errors = path, tally, errors
        self._depth = self._count = self._fed = self._skipped = 0
        self._rows: list[tuple[str, int, int, int, int, int, int, int]] = []
        self._carried = b""
        self._decoder: codecs.IncrementalDecoder | None = None
        self._optional: frozenset[str] | None = None
        self._parser = self._new_parser(None)

    def _new_parser(self, encoding: str | None) -> xml.parsers.expat.XMLParserType:
        parser = xml.parsers.expat.ParserCreate(encoding)
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._stop
        parser.StartDoctypeDeclHandler = self._refuse_type
        return parser

    def begin(self, block: bytes) -> None:
        """Feeds the first block without blank lines in front, which no XML has."""
        text = block.removeprefix(codecs.BOM_UTF8).lstrip()
        self._skipped = block[: len(block) - len(text)].count(b"\n")
        if (declared := _DECLARED.match(text)) is not None:
            self._decode_as(declared["name"].decode())
        self.feed(text)

    def _decode_as(self, encoding: str) -> None:
        """Has an encoding decoded here: the parser itself knows none of several bytes but Unicode's."""
        try:
            " ".encode(encoding)
        except LookupError as error:
            raise bad_file(self._path, f"its encoding {encoding} is not known", line=1) from error
        self._decoder = codecs.getincrementaldecoder(encoding)(errors="replace")
        self._parser = self._new_parser("utf-8")

    def feed(self, block: bytes) -> None:
        """Feeds a block. Control characters, which JMeter writes as references and no XML 1.0 has, become U+FFFD."""
        if self._decoder is not None:
            block = self._decoder.decode(block).encode()
        block = self._carried + block
        begun = block.rfind(b"&", max(len(block) - _REFERENCE_BYTES_MAX, 0))
        cut = begun if begun >= 0 and b";" not in block[begun:] else len(block)
        block, self._carried = _REFERENCE.sub(_character, block[:cut]), block[cut:]
        try:
            self._parser.Parse(block, False)
        except xml.parsers.expat.ExpatError as error:
            problem = xml.parsers.expat.errors.messages[error.code]
            raise bad_file(self._path, f"not valid XML: {problem}", line=error.lineno + self._skipped) from error
        self._fed += len(block)
        if self._fed - self._parser.CurrentByteIndex > 16 * LINE_LENGTH_MAX:
            raise self._bad("a tag or attribute without end")

    def end(self) -> None:
        try:
            self._parser.Parse(self._carried, True)
        except xml.parsers.expat.ExpatError as error:
            raise bad_file(
                self._path,
                f"not valid XML: {xml.parsers.expat.errors.messages[error.code]}",
                line=error.lineno + self._skipped,
                hint="if JMeter was ended while it wrote, close the last sample and testResults",
            ) from error
        self._flush()
        if not self._count:
            raise bad_file(self._path, "the file holds no sample")

    def _refuse_type(self, *_: object) -> None:
        raise self._bad("a document type is not allowed")

    def _start(self, name: str, attributes: Mapping[str, str]) -> None:
        self._depth += 1
        if self._depth == 1 and name != "testResults":
            raise self._bad(f"<{name[:40]}> is not what JMeter's results begin with, <testResults>")
        if self._depth == 2 and name in _SAMPLES:
            self._sample(attributes)

    def _stop(self, _name: str) -> None:
        self._depth -= 1

    def _sample(self, given: Mapping[str, str]) -> None:
        missing = [each for each in ("t", "ts", "lb", "s") if each not in given]
        if missing:
            raise self._bad(f"the sample has no attribute {', '.join(missing)}")
        if given["s"] not in ("true", "false"):
            raise self._bad(f"s can't be {given['s'][:40]!r}")
        optional = frozenset(given) & {"by", "sby", "na"}
        self._optional = optional if self._optional is None else self._optional & optional
        count = self._number(given, "sc", absent=1)
        failed = self._number(given, "ec", absent=0 if given["s"] == "true" else count)
        if failed > count:
            raise self._bad("ec is above sc")
        if failed:
            self._errors.add(given["lb"], code=given.get("rc", ""), message=given.get("rm", ""), count=failed)
        start, elapsed = self._number(given, "ts"), self._number(given, "t")
        others = (self._number(given, each, absent=0) for each in ("by", "sby", "na"))
        end = start + elapsed if count == 1 else start
        self._rows.append((given["lb"], end, elapsed if count else 0, count, failed, *others))  # type: ignore[arg-type]
        self._count += 1
        if len(self._rows) >= _BATCH_ROWS:
            self._flush()

    def _number(self, given: Mapping[str, str], name: str, *, absent: int = 0) -> int:
        text = given.get(name)
        if text is None:
            return absent
        number = whole_number(text, most=_MOST.get(name, SAMPLES_MAX))
        if name == "ts" and (number is None or number < EPOCH_MS_MIN):
            raise bad_time(self._path, "ts (timeStamp)", text, self._line)
        if number is None:
            raise self._bad(f"{name} ({_ATTRIBUTES[name]}) can't be {text[:40]!r}")
        return number

    def _flush(self) -> None:
        if not self._rows:
            return
        labels, *columns = zip(*self._rows, strict=True)
        ends, times, counts, failed, bytes_in, bytes_out, active = (_integers(each) for each in columns)
        optional = self._optional or frozenset()
        self._tally.add(
            Batch(
                operation=list(labels),
                end_ms=ends,
                time=times,
                count=counts,
                failed=failed,
                bytes_in=bytes_in if "by" in optional else None,
                bytes_out=bytes_out if "sby" in optional else None,
                active=active if "na" in optional else None,
            )
        )
        self._rows = []

    @property
    def _line(self) -> int:
        return self._parser.CurrentLineNumber + self._skipped

    def _bad(self, problem: str) -> UsageError:
        return bad_file(self._path, problem, line=self._line)


def _character(reference: re.Match[bytes]) -> bytes:
    """A reference as it is, but for one to a character that XML doesn't have."""
    hexadecimal = reference["hexadecimal"]
    code = int(hexadecimal, 16) if hexadecimal is not None else int(reference["decimal"])
    return b"&#xFFFD;" if code <= _CONTROL_MAX and code not in _WHITE_SPACE else reference[0]


def _integers(values: tuple[object, ...]) -> NDArray[np.int64]:
    return np.array(values, dtype=np.int64)
