"""Owns gates as JUnit XML, which every CI system shows: one test case per gated metric.

The elements that Jenkins, GitLab and GitHub's actions read: `testsuite`, `testcase`, `failure` for a missed gate, and
`error` where nothing can be told, because an inconclusive run must not look green.
"""

import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Sequence
from pathlib import Path

from brimline.analysis.gate import GateCase, GateVerdict
from brimline.record.files import replace_text

# What XML 1.0 has no way to say, escaped or not (§2.2).
_NO_XML = re.compile("[^\\t\\n\\r\\x20-\\ud7ff\\ue000-\\ufffd\\U00010000-\\U0010ffff]")


def junit_xml(cases: Sequence[GateCase], *, suite: str, seconds: float = 0.0) -> str:
    """The document as text; `suite` names what was gated, `seconds` is how long the command took, in equal parts."""
    count = {verdict: sum(case.verdict is verdict for case in cases) for verdict in GateVerdict}
    root = ElementTree.Element(
        "testsuite",
        name=_clean(f"brimline {suite}"),
        tests=str(len(cases)),
        failures=str(count[GateVerdict.FAIL]),
        errors=str(count[GateVerdict.INCONCLUSIVE]),
        skipped="0",
        time=f"{seconds:.3f}",
    )
    for case in cases:
        element = ElementTree.SubElement(
            root,
            "testcase",
            classname=_clean(f"brimline.{suite}"),
            name=_clean(case.name),
            time=f"{seconds / len(cases):.3f}",
        )
        if case.verdict is GateVerdict.PASS:
            ElementTree.SubElement(element, "system-out").text = _clean(case.text)
        else:
            tag = "failure" if case.verdict is GateVerdict.FAIL else "error"
            found = ElementTree.SubElement(
                element, tag, type=case.kind or case.verdict.value, message=_clean(case.text)
            )
            found.text = _clean(case.text)
    ElementTree.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ElementTree.tostring(root, encoding="unicode")}\n'


def write_junit(cases: Sequence[GateCase], path: Path, *, suite: str, seconds: float = 0.0) -> None:
    """Writes the document, replacing an older one whole. Raises RecordError."""
    replace_text(path, junit_xml(cases, suite=suite, seconds=seconds))


def _clean(text: str) -> str:
    return _NO_XML.sub("\N{REPLACEMENT CHARACTER}", text)
