import xml.etree.ElementTree as ElementTree
from pathlib import Path

from brimline.analysis.gate import GateCase, GateVerdict
from brimline.report.junit import junit_xml, write_junit

HOSTILE = 'a < b & "c" \x00\x0b\x1f \ud800 \ufffe ]]> 服务'


def test_each_verdict_becomes_what_ci_systems_read(tmp_path: Path) -> None:
    cases = [GateCase(name=each.value, verdict=each, text=f"text of {each.value}") for each in GateVerdict]
    path = tmp_path / "gate.xml"
    write_junit(cases, path, suite="compare", seconds=6.0)
    root = ElementTree.parse(path).getroot()
    assert root.tag == "testsuite"
    assert {name: root.get(name) for name in ("tests", "failures", "errors", "skipped")} == {
        "tests": "3",
        "failures": "1",
        "errors": "1",
        "skipped": "0",
    }
    children = {case.get("name"): [child.tag for child in case] for case in root.iter("testcase")}
    assert children == {"pass": ["system-out"], "fail": ["failure"], "inconclusive": ["error"]}
    assert (root.get("time"), {case.get("time") for case in root.iter("testcase")}) == ("6.000", {"2.000"})
    (failure,) = root.iter("failure")
    assert failure.get("message") == failure.text == "text of fail"


def test_hostile_text_is_escaped_or_replaced_and_the_file_stays_well_formed() -> None:
    case = GateCase(name=HOSTILE, verdict=GateVerdict.FAIL, text=HOSTILE)
    root = ElementTree.fromstring(junit_xml([case], suite=HOSTILE).encode())
    (element,) = root.iter("testcase")
    replacement = "\N{REPLACEMENT CHARACTER}"
    assert element.get("name") == f'a < b & "c" {replacement * 3} {replacement} {replacement} ]]> 服务'
