import random
from pathlib import Path

import pytest

from brimline.compat.jmeter import document, from_jmeter
from brimline.compat.jmeter.document import read_plan
from brimline.errors import ExitCode, UsageError
from tests.support.jmx import controller, element, group, headers, plan_text, sampler
from tests.unit.compat.jmeter.plans import PLANS
from tests.unit.compat.jmeter.translating import keys_of, requests, translated

STRANGE = ("${", "${__Random(", "-1", "nan", "1e999", "${__P(x)}", "", "$1$", "[", "\\", "9" * 30, "${id}", "(((")
HEAD = '<?xml version="1.0"?>\n<jmeterTestPlan version="1.2">\n'


def write(directory: Path, text: str | bytes) -> Path:
    path = directory / "plan.jmx"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_elements_have_their_lines_classes_properties_and_children(tmp_path: Path) -> None:
    text = HEAD + (
        "<hashTree>\n"
        '<TestPlan testclass="TestPlan" testname="Plan">\n'
        '<elementProp name="a" elementType="Arguments"><collectionProp name="list">'
        '<elementProp name="x" elementType="Argument"><stringProp name="n">1</stringProp></elementProp>'
        '<stringProp name="49">two</stringProp></collectionProp></elementProp>\n'
        "</TestPlan>\n"
        "<hashTree>\n"
        '<org.apache.jmeter.threads.ThreadGroup testname="T" enabled="false"/>\n<hashTree/>\n'
        '<ThroughputController testclass="ThroughputController" testname="C">'
        "<FloatProperty><name>percent</name><value>12.5</value><savedValue>0.0</savedValue></FloatProperty>"
        "</ThroughputController>\n<hashTree><Below/><hashTree/></hashTree>\n"
        "</hashTree>\n</hashTree>\n</jmeterTestPlan>\n"
    )
    (plan,) = read_plan(write(tmp_path, text)).children
    assert (plan.kind, plan.name, plan.line) == ("TestPlan", "Plan", 4)
    assert plan.items("a", "list") == [{"n": "1"}, "two"]
    group, chance = plan.children
    assert (group.kind, group.enabled, group.line) == ("ThreadGroup", False, 8)
    assert (chance.text("percent"), [each.kind for each in chance.children]) == ("12.5", ["Below"])
    assert [each.kind for each in plan.everything()] == ["ThroughputController", "Below"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", ":1: is no XML: no element found"),
        ("no XML", ":1: is no XML: syntax error"),
        (f"{HEAD}<hashTree>\n<TestPlan></hashTree>", ":4: is no XML: mismatched tag"),
        (f"{HEAD}<hashTree>", ":3: is no XML: no element found"),
        ("<project>\n</project>", ":1: is no test plan of JMeter: it begins with <project>"),
        (f"{HEAD}<hashTree/></jmeterTestPlan>", "has no test plan that is enabled"),
        ('<?xml version="1.0" encoding="none-such"?>\n<jmeterTestPlan/>', "is no XML: unknown encoding"),
        (b"\xff\xfe\x00", "is no XML"),
        (plan_text(), "has no thread group that is enabled"),
        (plan_text(group(sampler(), name="Users"), name="x").replace('"true"', '"false"'), "has no test plan"),
        (plan_text(group(name="Users")), 'nothing of plan.jmx can be taken over'),
        (plan_text(element("SetupThreadGroup", "first", {}, sampler())), "nothing of plan.jmx can be taken over"),
    ],
)  # fmt: skip
def test_what_is_no_plan_is_one_error(tmp_path: Path, text: str | bytes, said: str) -> None:
    path = write(tmp_path, text)
    with pytest.raises(UsageError) as caught:
        from_jmeter(path, stem=None, properties={})
    assert said in caught.value.message.replace(str(path), "plan.jmx")
    assert caught.value.hint
    assert caught.value.exit_code is ExitCode.USAGE


LAUGHS = "".join(f'<!ENTITY l{i} "{f"&l{i - 1};" * 10}">\n' for i in range(1, 10))


@pytest.mark.parametrize(
    "doctype",
    [
        f'<!DOCTYPE x [\n<!ENTITY l0 "lol">\n{LAUGHS}]>',
        '<!DOCTYPE x [<!ENTITY secret SYSTEM "file:///etc/passwd">]>',
        '<!DOCTYPE x SYSTEM "http://192.0.2.1/x.dtd">',
        '<!DOCTYPE x [<!ENTITY % p SYSTEM "file:///etc/passwd"> %p;]>',
    ],
)
def test_entities_are_refused_before_any_is_expanded(tmp_path: Path, doctype: str) -> None:
    head = '<?xml version="1.0"?>\n'
    path = write(tmp_path, f"{head}{doctype}\n<jmeterTestPlan><hashTree>&l9;&secret;</hashTree></jmeterTestPlan>")
    with pytest.raises(UsageError, match=r"has a DOCTYPE") as caught:
        read_plan(path)
    assert "root:" not in caught.value.message


def test_sizes_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path, HEAD + "<hashTree>" * 500)
    with pytest.raises(UsageError, match="deeper"):
        read_plan(path)
    monkeypatch.setattr(document, "NODES_MAX", 100)
    with pytest.raises(UsageError, match="has more"):
        read_plan(write(tmp_path, HEAD + "<hashTree>" + "<a/>" * 200))
    with path.open("wb") as sparse:
        sparse.write(f"{HEAD}<!-- ".encode())
        sparse.truncate(document.BYTES_MAX + 10)
    monkeypatch.setattr(document, "BYTES_MAX", 10**5)
    path.write_text(f"{HEAD}<!-- {' ' * 10**5} --></jmeterTestPlan>")
    with pytest.raises(UsageError, match="is larger than"):
        read_plan(path)


def test_what_is_no_file_is_not_waited_for(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is no file"):
        read_plan(tmp_path)
    with pytest.raises(UsageError, match="no such file"):
        read_plan(tmp_path / "none.jmx")


def test_a_plan_in_utf_16_is_read(tmp_path: Path) -> None:
    text = plan_text(group(sampler("首页"))).replace("UTF-8", "UTF-16")
    found = from_jmeter(write(tmp_path, text.encode("utf-16")), stem=None, properties={})
    assert "首页" in next(iter(found.workloads.values())).text


@pytest.mark.parametrize("name", PLANS)
def test_no_mutation_of_a_plan_is_more_than_an_error(tmp_path: Path, name: str) -> None:
    """Cut, changed, doubled and exchanged, a plan becomes workloads or one error."""
    draw, text = random.Random(name), PLANS[name]
    lines, outcomes = text.splitlines(keepends=True), set()
    for number in range(120):
        if number % 3 == 0:
            changed = text[: draw.randrange(len(text))]
        elif number % 3 == 1:
            some = list(lines)
            for _ in range(3):
                at, other = draw.randrange(len(some)), draw.randrange(len(some))
                some[at], some[other] = some[other], some[at]
            changed = "".join(some)
        else:
            at = draw.randrange(len(lines))
            value = draw.choice(
                ["${", "${__Random(", "-1", "nan", "1e999", "${__P(x)}", "", "$1$", "[", "\\", "9" * 30]
            )
            line = lines[at]
            begin, end = line.find(">"), line.rfind("</")
            changed = "".join(
                [*lines[:at], f"{line[: begin + 1]}{value}{line[end:]}" if end > begin else line, *lines[at + 1 :]]
            )
        try:
            translated(tmp_path, changed)
            outcomes.add("taken")
        except UsageError as error:
            assert error.hint
            outcomes.add("refused")
    assert outcomes == {"taken", "refused"}


def test_variables_that_grow_without_an_end_are_given_up(tmp_path: Path) -> None:
    variables = {f"v{number}": f"${{v{number - 1}}}" * 10 for number in range(1, 12)}
    variables |= {"v0": "x" * 100, "own": "a${own}"}
    plan = plan_text(group(sampler(path="/${v11}"), sampler(path="/${own}"), loops="${v11}"), variables=variables)
    found = translated(tmp_path, plan)
    assert [each.partition("): ")[2].partition(",")[0] for each in found.not_taken] == [
        "how often it loops is not known beforehand; -J sets a property; one loop is taken",
        "its variables have values that have variables",
        "${own} is defined nowhere",
    ]
    assert [each["get"]["path"] for each in requests(keys_of(found))] == ["/$$%7Bv11%7D", "/a$$%7Bown%7D"]


def test_a_disabled_element_is_skipped_with_all_below_it(tmp_path: Path) -> None:
    off = element("LoopController", "off", {"LoopController.loops": "3"}, sampler("Hidden"), enabled=False)
    manager = headers(x_off="1").replace('enabled="true"', 'enabled="false"')
    found = translated(tmp_path, plan_text(group(sampler("A"), off, manager, sampler("B", enabled=False))))
    text = next(iter(found.workloads.values())).text
    assert "Hidden" not in text
    assert "x-off" not in text
    assert found.not_taken == []


def test_each_remark_has_file_line_name_class_reason_and_what_to_do(tmp_path: Path) -> None:
    script = element("JSR223PreProcessor", "sign\nit", {"script": "secret-word"})
    wait = controller("WhileController", sampler("Poll"), name="until done")
    found = translated(tmp_path, plan_text(group(sampler("A"), wait, script)))
    lines = (tmp_path / "plan.jmx").read_text().splitlines()
    for each in found.not_taken:
        assert each.startswith("plan.jmx:")
        kind = each.partition("(")[2].partition(")")[0]
        assert f"<{kind} " in lines[int(each.split(":")[1]) - 1]
    assert [each.partition(": ")[2] for each in found.not_taken] == [
        '"until done" (WhileController): repeats as long as a condition holds, with 1 request; '
        "write its steps as often as they are needed",
        '"sign it" (JSR223PreProcessor): is a script; write what it makes as values',
    ]
    assert "secret-word" not in "".join(found.not_taken)
