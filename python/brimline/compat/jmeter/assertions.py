"""Owns assertions: what a reply must say, as an operation's `expect` has it."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from brimline.compat.jmeter.document import Element
from brimline.compat.jmeter.json_paths import dotted_path
from brimline.compat.jmeter.patterns import literal, usable
from brimline.compat.jmeter.place import Remarks
from brimline.compat.jmeter.texts import Text
from brimline.compat.jmeter.variables import Variables

ASSERTIONS: Final = frozenset({"ResponseAssertion", "JSONPathAssertion"})
_MATCH, _CONTAINS, _NOT, _EQUALS, _SUBSTRING, _OR = 1, 2, 4, 8, 16, 32
_STATUSES: Final = range(100, 600)
_DEFAULT: Final = range(200, 400)
"""What JMeter takes for success by itself."""
_NOT_THERE: Final = "write what must be there, by contains or matches"
_ASSERTION: Final = "Assertion."
_SCALARS: Final = ("0", "7", "42", "1234567", "-1", "0.5", "true", "false")
"""Texts of what JSON has besides texts."""


@dataclass
class Expectation:
    """What a reply must say. `present` are paths into its JSON that must be there, whatever stands there."""

    statuses: frozenset[int] = frozenset(_DEFAULT)
    contains: list[str] = field(default_factory=list)
    matches: list[str] = field(default_factory=list)
    json: dict[str, Text | dict[str, str]] = field(default_factory=dict)
    present: list[str] = field(default_factory=list)

    @property
    def has_status(self) -> bool:
        """Whether it is another than a request's own."""
        return self.statuses != frozenset(_DEFAULT)

    def status(self) -> Any:
        """The statuses as a workload has them: one, or ranges."""
        ranges = status_ranges(self.statuses)
        if len(ranges) == 1:
            low, high = ranges[0]
            return low if low == high else {"min": low, "max": high}
        forms: list[int | str] = []
        for low, high in ranges:
            forms += [f"{low // 100}xx"] if (low % 100, high) == (0, low + 99) else range(low, high + 1)
        return forms

    def text(self) -> dict[str, str]:
        """What the body must contain, or where it must match."""
        found: dict[str, str] = {}
        if len(self.contains) == 1:
            found["contains"] = self.contains[0]
        patterns = [*self.matches, *(map(literal, self.contains) if len(self.contains) > 1 else ())]
        if patterns:
            found["matches"] = patterns[0] if len(patterns) == 1 else _all_of(patterns)
        return found


def status_ranges(statuses: Iterable[int]) -> list[tuple[int, int]]:
    """Statuses as ranges, in order."""
    ranges: list[tuple[int, int]] = []
    for status in sorted(statuses):
        if ranges and ranges[-1][1] == status - 1:
            ranges[-1] = (ranges[-1][0], status)
        else:
            ranges.append((status, status))
    return ranges


def _all_of(patterns: Sequence[str]) -> str:
    """One pattern for two, in either order, on any lines."""
    one, other = (f"(?:{each})" for each in patterns)
    return f"(?s){one}.*{other}|{other}.*{one}"


def expectation_of(assertions: Iterable[Element], variables: Variables, remarks: Remarks) -> Expectation:
    """What assertions ask for together."""
    found = Expectation()
    for assertion in assertions:
        if assertion.kind == "JSONPathAssertion":
            _of_json(assertion, found, variables, remarks)
        elif assertion.kind == "ResponseAssertion":
            _of_response(assertion, found, variables, remarks)
    return found


def _of_response(assertion: Element, found: Expectation, variables: Variables, remarks: Remarks) -> None:
    if assertion.text("Assertion.scope", "all") not in ("", "all", "main"):
        remarks.lose(assertion, "it looks at something else than the reply", "write an expect for what is sent")
        return
    kind = int(assertion.text("Assertion.test_type", "2") or 2) if _is_whole(assertion) else 0
    # JMeter wrote the name with this slip, and still does.
    written = assertion.items("Asserion.test_strings") or assertion.items("Assertion.test_strings")
    known = [variables.constant(each) for each in written if isinstance(each, str)]
    wanted = [each for each in known if each is not None]
    if not wanted or len(wanted) < len(known):
        remarks.lose(assertion, "what it compares with is not known beforehand", "write expect at the step")
        return
    what = assertion.text("Assertion.test_field").removeprefix(_ASSERTION)
    if what == "response_code":
        _of_status(assertion, found, kind, wanted, remarks)
    elif what == "response_data":
        _of_text(assertion, found, kind, wanted, remarks)
    else:
        remarks.lose(assertion, f"it looks at {what.replace('_', ' ') or 'nothing'}", "write expect: {headers: …}")


def _is_whole(assertion: Element) -> bool:
    return re.fullmatch(r"\d{1,3}", assertion.text("Assertion.test_type", "2") or "2") is not None


def _of_status(assertion: Element, found: Expectation, kind: int, wanted: list[str], remarks: Remarks) -> None:
    tests: list[Callable[[str], bool]] = []
    for each in wanted:
        test = _tester(kind, each.strip())
        if test is None:
            remarks.lose(assertion, "its pattern is none", "write expect: {status: …}")
            return
        tests.append(test)
    together, is_not = (any if kind & _OR else all), bool(kind & _NOT)
    taken = {code for code in _STATUSES if together(test(str(code)) is not is_not for test in tests)}
    # With "ignore status" JMeter looks at this assertion alone.
    known = frozenset(_STATUSES) if assertion.flag("Assertion.assume_success") else found.statuses
    if not taken & known:
        taken &= set(_STATUSES)
        if not taken:
            remarks.lose(assertion, "no status meets it", "write expect: {status: …}")
            return
        remarks.change(assertion, "a reply with such a status is no failure here, which it is in JMeter")
        found.statuses = frozenset(taken)
        return
    found.statuses = frozenset(taken & known)


def _tester(kind: int, wanted: str) -> Callable[[str], bool] | None:
    if kind & _EQUALS:
        return lambda text: text == wanted
    if kind & _SUBSTRING:
        return lambda text: wanted in text
    if not usable(wanted) or len(wanted) > 200:
        return None
    pattern = re.compile(wanted)
    return (lambda text: bool(pattern.fullmatch(text))) if kind & _MATCH else lambda text: bool(pattern.search(text))


def _of_text(assertion: Element, found: Expectation, kind: int, wanted: list[str], remarks: Remarks) -> None:
    if kind & _NOT:
        remarks.lose(assertion, "it says what must not be in the reply", _NOT_THERE)
        return
    if not kind & (_EQUALS | _SUBSTRING) and not all(map(usable, wanted)):
        remarks.lose(assertion, "its pattern has what there is none of, as looks ahead or back", _NOT_THERE)
        return
    if kind & _SUBSTRING and (len(wanted) == 1 or not kind & _OR):
        _add(assertion, found.contains, wanted, found, remarks)
        return
    patterns = [_pattern(kind, each) for each in wanted]
    if kind & _OR:
        patterns = ["|".join(f"(?:{each})" for each in patterns)]
    _add(assertion, found.matches, patterns, found, remarks)


def _pattern(kind: int, wanted: str) -> str:
    if kind & _EQUALS:
        return rf"\A{literal(wanted)}\z"
    if kind & _SUBSTRING:
        return literal(wanted)
    return rf"\A(?:{wanted})\z" if kind & _MATCH else wanted


def _add(assertion: Element, to: list[str], wanted: list[str], found: Expectation, remarks: Remarks) -> None:
    for each in wanted:
        if each in to:
            continue
        if len(found.contains) + len(found.matches) >= 2:
            remarks.lose(assertion, "a third thing that the body must say", "write one pattern for all")
            return
        to.append(each)


def _of_json(assertion: Element, found: Expectation, variables: Variables, remarks: Remarks) -> None:
    path = dotted_path(variables.constant(assertion.text("JSON_PATH")) or "")
    if not path:
        remarks.lose(assertion, "its path may lead to several places", "write expect: {json: {path: value}}")
        return
    if assertion.flag("INVERT"):
        remarks.lose(assertion, "it says what must not be there", "write expect: {json: {path: value}}")
        return
    if not assertion.flag("JSONVALIDATION"):
        found.present.append(path)
        return
    if assertion.flag("EXPECT_NULL"):
        remarks.lose(assertion, "it expects null", "write expect: {json: {path: value}}")
        return
    wanted = variables.text(assertion.text("EXPECTED_VALUE"), assertion)
    known = wanted.constant
    if known is not None and (not assertion.flag("ISREGEX", True) or re.fullmatch(r"[\w -]*", known)):
        if _is_scalar(known):
            remarks.change(assertion, f"{known} as JSON has it, and not as a text")
        found.json[path] = wanted
    elif known is None or not usable(known):
        remarks.lose(assertion, "its pattern is not known beforehand, or none here", "write expect: {json: …}")
    elif any(re.fullmatch(known, each) for each in _SCALARS):
        # JMeter looks at the text of whatever stands there, brimline at texts alone.
        found.present.append(path)
        remarks.change(assertion, "that something is there: its pattern may be about a number")
    else:
        found.json[path] = {"matches": rf"\A(?:{known})\z"}


def _is_scalar(text: str) -> bool:
    """Whether JSON has it as a number, true or false."""
    return re.fullmatch(r"-?(?:0|[1-9]\d*)|true|false", text) is not None
