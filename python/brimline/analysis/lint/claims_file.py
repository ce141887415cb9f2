"""Owns the file of claims that a user writes: strict YAML into `Claims`, each figure with the digits it was given.

`docs/guides/lint.md` lists every key. A figure's tolerance is half a unit of its last digit: "1544/s" may be 1543.5 to
1544.5, "0.07%" 0.065 to 0.075. A whole number without a unit was counted and is exact.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from brimline import units
from brimline.analysis.lint.claims import Claims, Conclusion, Limit, Ratio, Repeated, Result
from brimline.analysis.lint.figure import Figure
from brimline.analysis.lint.relations import SAID_MAX
from brimline.errors import SpecError
from brimline.spec.document import Document, Path, dotted, located, parse_document
from brimline.spec.readers import shown

_LAST_NUMBER = re.compile(r"(?P<whole>[0-9][0-9_]*)(?:\.(?P<decimals>[0-9]+))?(?:e(?P<exponent>[+-]?[0-9]{1,3}))?"
                          r"(?P<unit>[^0-9]*)$")  # fmt: skip
_PERCENTILE_KEY = re.compile(r"p([0-9]{1,2}(?:\.[0-9]{1,6})?)")
_WORKS = ("read", "write")
RATIO_FIGURES = ("throughput", "mean", "time_per_operation", "document_rate", "bytes_rate", "volume", "error_rate")

Reader = Callable[[Any], Any]


def read_claims(text: str, source: str) -> Claims:
    """The claims in `text`. Raises SpecError, which names `source`, the line and the key."""
    document = parse_document(text, source, wanted="it lists results; docs/guides/lint.md has an example")
    return _File(document, source).claims()


_GROUPS = re.compile(r"(?<![0-9.])[0-9]{1,3}(?:[ \u00a0\u2009\u202f][0-9]{3})+(?![0-9])")
"""Thousands set apart by spaces, as reports print them, this program's among them."""


def figure(parse: Callable[[str], float], *, of_unit: str = "") -> Reader:
    """Reads a quantity with its tolerance. `of_unit` is what a quantity of this kind needs behind its number."""

    def read(value: Any) -> Figure:
        if isinstance(value, bool) or not isinstance(value, int | float | str):
            raise ValueError(f"must be a figure, not {shown(value)}")
        if isinstance(value, int | float) and not abs(value) < 1e300:
            raise ValueError(f"must be finite, but is {shown(value)}")
        if isinstance(value, int) and not of_unit:
            return _not_negative(Figure(float(value)))
        text = _GROUPS.sub(lambda groups: "".join(groups[0].split()), value) if isinstance(value, str) else repr(value)
        if text.strip().startswith("-"):
            raise ValueError(f"must not be negative, but is {shown(value)}")
        number = float(parse(text))
        if text.strip().isdecimal() and not of_unit:
            return Figure(number)
        return Figure(number, _half_a_digit(text.strip(), parse))

    return read


def _not_negative(given: Figure) -> Figure:
    if given.value < 0:
        raise ValueError(f"must not be negative, but is {given.value:g}")
    return given


def _half_a_digit(text: str, parse: Callable[[str], float]) -> float:
    """Half a unit of the last digit of `text`, in base units."""
    match = _LAST_NUMBER.search(text)
    if match is None:
        return 0.0
    decimals = len(match["decimals"] or "") - int(match["exponent"] or 0)
    return 0.5 * 10.0**-decimals * float(parse(f"1{match['unit']}"))


def _plain_number(text: str) -> float:
    try:
        return float(text.replace("_", ""))
    except ValueError:
        return float(units.parse_count(text))


def _duration_s(text: str) -> float:
    return units.parse_duration(text) / units.NS_PER_S


def _bytes_rate(text: str) -> float:
    size, separator, period = text.partition("/")
    if not separator or period.strip() != "s":
        raise ValueError(f'"{text}" is no rate of bytes; write it like "49MB/s"')
    return float(units.parse_bytes(size))


_count = figure(units.parse_count)
_rate = figure(units.parse_rate, of_unit="/s")
_time = figure(lambda text: float(units.parse_duration(text)), of_unit="ms")
_size = figure(lambda text: float(units.parse_bytes(text)))
_number = figure(_plain_number)

_RESULT_FIGURES: Mapping[str, tuple[str, Reader]] = {
    "samples": ("samples", _count),
    "duration": ("duration_s", figure(_duration_s, of_unit="s")),
    "throughput": ("throughput_per_s", _rate),
    "time_per_operation": ("time_per_operation_ns", _time),
    "threads": ("threads", _count),
    "loops": ("loops", _count),
    "planned": ("planned", _count),
    "errors": ("error_count", _count),
    "error_rate": ("error_share", figure(units.parse_percentage, of_unit="%")),
    "mean": ("mean_ns", _time),
    "min": ("min_ns", _time),
    "max": ("max_ns", _time),
    "percentile_samples": ("percentile_samples", _count),
    "documents": ("documents", _count),
    "document_size": ("document_bytes", _size),
    "volume": ("volume_bytes", _size),
    "document_rate": ("documents_per_s", _rate),
    "bytes_rate": ("bytes_per_s", figure(_bytes_rate, of_unit="MB/s")),
}
_FIGURE_FIELDS = {key: field for key, (field, _) in _RESULT_FIGURES.items()}


class _File:
    """Walks through a document; every refusal says where."""

    def __init__(self, document: Document, source: str) -> None:
        self._document = document
        self._source = source
        self._names: list[str] = []

    def claims(self) -> Claims:
        parts = self._mapping(self._document.values, (), ("results", "ratios", "limits", "repeats", "conclusions"))
        results = [self._result(value, path) for value, path in self._items(parts, "results")]
        self._names = [each.name for each in results]
        for index, name in enumerate(self._names):
            if name in self._names[:index]:
                raise self._error(f"a second result is called {shown(name)}", ("results", index, "name"))
        for index, result in enumerate(results):
            for number, part in enumerate(result.parts):
                where = ("results", index, "parts", number)
                if self._known_result(part, where) == result.name:
                    raise self._error(f"{shown(part)} can't be a part of itself", where)
        return Claims(
            results=results,
            ratios=[self._ratio(value, path) for value, path in self._items(parts, "ratios")],
            limits=[self._limit(value, path) for value, path in self._items(parts, "limits")],
            repeated=[self._repeated(value, path) for value, path in self._items(parts, "repeats")],
            conclusions=[self._conclusion(value, path) for value, path in self._items(parts, "conclusions")],
        )

    def _result(self, value: Any, path: Path) -> Result:
        others = ("name", "work", "runs", "limit", "parts", "counted")
        percentiles = [key for key in value if _PERCENTILE_KEY.fullmatch(key)] if isinstance(value, dict) else []
        given = self._mapping(value, path, (*others, *_RESULT_FIGURES, *percentiles))
        fields: dict[str, Any] = {
            field: self._read(reader, given[key], (*path, key))
            for key, (field, reader) in _RESULT_FIGURES.items()
            if key in given
        }
        counted = self._mapping(given.get("counted", {}), (*path, "counted"), ("samples", "documents"))
        return Result(
            name=self._text(given, "name", path),
            work=self._choice(given, "work", _WORKS, path),
            percentiles_ns={
                round(float(key[1:]) / 100, 9): self._read(_time, given[key], (*path, key)) for key in percentiles
            },
            counted={key: self._read(_count, each, (*path, "counted", key)) for key, each in counted.items()},
            parts=[self._read(_word, part, where) for part, where in self._items(given, "parts", path)],
            runs=self._read(_whole, given["runs"], (*path, "runs")) if "runs" in given else None,
            is_limit=self._read(_truth, given.get("limit", False), (*path, "limit")),
            **fields,
        )

    def _ratio(self, value: Any, path: Path) -> Ratio:
        given = self._mapping(value, path, ("name", "of", "to", "figure", "value", "said"))
        if "value" not in given and "said" not in given:
            raise self._error("needs a value, such as 8.43, or what is said of it", path)
        named = self._text(given, "figure", path, default="throughput")
        if named not in RATIO_FIGURES and not _PERCENTILE_KEY.fullmatch(named):
            raise self._error(f"{shown(named)} is no known figure", (*path, "figure"),
                              hint=f"figures: {', '.join(RATIO_FIGURES)}, p50, p99 …")  # fmt: skip
        return Ratio(
            name=self._text(given, "name", path),
            of=self._known_result(self._text(given, "of", path), (*path, "of")),
            to=self._known_result(self._text(given, "to", path), (*path, "to")),
            figure=_FIGURE_FIELDS.get(named, named),
            value=self._read(_number, given["value"], (*path, "value")) if "value" in given else None,
            said=self._choice(given, "said", tuple(SAID_MAX), path),
        )

    def _limit(self, value: Any, path: Path) -> Limit:
        given = self._mapping(value, path, ("name", "good", "bad", "repeats", "series", "runs"))
        series = []
        for pair, where in self._items(given, "series", path):
            if not isinstance(pair, list) or len(pair) != 2:
                raise self._error("must be a load and the time seen at it, such as [4411, 150ms]", where)
            series.append((self._read(_number, pair[0], where), self._read(_time, pair[1], where)))
        return Limit(
            name=self._text(given, "name", path),
            good=self._read(_number, self._needed(given, "good", path), (*path, "good")),
            bad=self._read(_number, self._needed(given, "bad", path), (*path, "bad")),
            repeats=[self._read(_number, each, where) for each, where in self._items(given, "repeats", path)],
            series=series,
            runs=self._read(_whole, given["runs"], (*path, "runs")) if "runs" in given else None,
        )

    def _repeated(self, value: Any, path: Path) -> Repeated:
        given = self._mapping(value, path, ("name", "values", "same_figure"))
        values = [self._read(_any_figure, each, where) for each, where in self._items(given, "values", path)]
        if len(values) < 2:
            raise self._error("needs at least two values", (*path, "values"))
        return Repeated(
            name=self._text(given, "name", path),
            values=values,
            exact=self._read(_truth, given.get("same_figure", False), (*path, "same_figure")),
        )

    def _conclusion(self, value: Any, path: Path) -> Conclusion:
        given = self._mapping(value, path, ("text", "about"))
        about = [self._known_result(self._read(_word, name, where), where)
                 for name, where in self._items(given, "about", path)]  # fmt: skip
        if not about:
            raise self._error("needs the results that it is about", (*path, "about"))
        return Conclusion(text=self._text(given, "text", path), about=about)

    def _mapping(self, value: Any, path: Path, keys: Sequence[str]) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise self._error(f"must be a mapping, not {shown(value)}", path, hint=f"known keys: {', '.join(keys)}")
        for key in value:
            if key not in keys:
                raise self._error("unknown key", (*path, key), hint=f"known keys: {', '.join(keys)}")
        return value

    def _items(self, given: Mapping[str, Any], key: str, path: Path = ()) -> list[tuple[Any, Path]]:
        values = given.get(key, [])
        if not isinstance(values, list):
            raise self._error(f"must be a list, not {shown(values)}", (*path, key))
        return [(value, (*path, key, index)) for index, value in enumerate(values)]

    def _read(self, reader: Reader, value: Any, path: Path) -> Any:
        try:
            return reader(value)
        except (ValueError, OverflowError) as error:
            raise self._error(str(error), path) from None

    def _needed(self, given: Mapping[str, Any], key: str, path: Path) -> Any:
        if key not in given:
            raise self._error("is missing", (*path, key), hint=f"add {key}")
        return given[key]

    def _text(self, given: Mapping[str, Any], key: str, path: Path, *, default: str | None = None) -> str:
        value = self._needed(given, key, path) if default is None else given.get(key, default)
        return str(self._read(_word, value, (*path, key)))

    def _choice(self, given: Mapping[str, Any], key: str, choices: Sequence[str], path: Path) -> str:
        value = given.get(key)
        if value is None:
            return ""
        if value not in choices:
            raise self._error(f"{shown(value)} is no known value", (*path, key), hint=f"values: {', '.join(choices)}")
        return str(value)

    def _known_result(self, name: str, path: Path) -> str:
        if name not in self._names:
            hint = f"results: {', '.join(self._names)}" if self._names else "name it among the results"
            raise self._error(f"no result is called {shown(name)}", path, hint=hint)
        return name

    def _error(self, text: str, path: Path, *, hint: str | None = None) -> SpecError:
        line = self._document.line_of(path)
        where = located(text, self._source, line, path)
        return SpecError(where, path=dotted(path), line=line, hint=hint or "docs/guides/lint.md lists the keys")


def _word(value: Any) -> str:
    """A name; one that YAML reads as a number is taken as it was written."""
    if isinstance(value, bool) or not isinstance(value, int | float | str) or value == "":
        raise ValueError(f"must be text, not {shown(value)}")
    return str(value)


def _whole(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ValueError(f"must be a whole number from 1 on, not {shown(value)}")
    return value


def _truth(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError(f"must be true or false, not {shown(value)}")
    return value


def _any_figure(value: Any) -> Figure:
    """A time, a rate, a percentage, or a plain number: whatever a report repeats."""
    if isinstance(value, str):
        for reader in (_time, figure(units.parse_percentage), _rate):
            try:
                return reader(value)  # type: ignore[no-any-return]
            except ValueError:
                continue
    return _number(value)  # type: ignore[no-any-return]
