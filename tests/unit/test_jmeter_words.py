"""Words of `brimline jmeter`."""

from pathlib import Path

import pytest

from tests.support.command_line import CommandLine
from tests.support.jmx import element, group, headers, plan_text, sampler


def write(directory: Path, text: str, name: str = "plan.jmx") -> None:
    (directory / name).write_text(text, encoding="utf-8")


def test_a_plan_becomes_a_file_and_what_is_left_out_is_told(brimline_cli: CommandLine) -> None:
    script = element("JSR223PreProcessor", "sign", {})
    write(brimline_cli.directory, plan_text(headers(X_Api_Key="hidden-word"), group(sampler("Home"), script)))
    outcome = brimline_cli.run("jmeter", "plan.jmx", "-o", "shop.yaml")
    assert outcome.exit_code == 0, outcome.stderr
    assert outcome.stdout == ""
    lines = outcome.stderr.splitlines()
    assert lines[0] == "not taken over:"
    assert '"sign" (JSR223PreProcessor): is a script; write what it makes as values' in lines[1]
    assert lines[2] == "taken over in another form:"
    assert lines[-3:] == [
        "it takes what is secret from the environment: SHOP_X_API_KEY",
        "shop.yaml: 1 operation",
        "next: brimline run shop.yaml",
    ]
    text = (brimline_cli.directory / "shop.yaml").read_text(encoding="utf-8")
    assert "hidden-word" not in text + outcome.stderr
    printed = brimline_cli.run("jmeter", "plan.jmx", "-q")
    assert (printed.stdout, printed.stderr) == (text, "")


def test_a_plan_that_does_not_say_where_it_goes_needs_an_address(brimline_cli: CommandLine) -> None:
    write(brimline_cli.directory, plan_text(group(sampler("Home", domain="${host}", port=""))))
    outcome = brimline_cli.run("jmeter", "plan.jmx", "-o", "shop.yaml")
    assert outcome.stderr.splitlines()[-1] == "next: brimline run shop.yaml --uri URI"


def test_rows_of_a_file_are_written_beside_it(brimline_cli: CommandLine) -> None:
    (brimline_cli.directory / "users.csv").write_text("ann\n", encoding="utf-8")
    rows = element("CSVDataSet", "Users", {"filename": "users.csv", "variableNames": "user"})
    write(brimline_cli.directory, plan_text(rows, group(sampler("Home", "/${user}"))))
    outcome = brimline_cli.run("jmeter", "plan.jmx", "-o", "shop.yaml")
    assert "shop-users.csv goes with it" in outcome.stderr
    assert (brimline_cli.directory / "shop-users.csv").read_text() == "user\nann\n"
    brimline_cli.run("jmeter", "plan.jmx", "-o", "other.yaml")
    (brimline_cli.directory / "other.yaml").unlink()
    again = brimline_cli.run("jmeter", "plan.jmx", "-o", "other.yaml")
    again.check_error(2, "other-users.csv is there already", "--force")
    assert not (brimline_cli.directory / "other.yaml").exists()


def test_several_groups_need_a_directory(brimline_cli: CommandLine) -> None:
    write(brimline_cli.directory, plan_text(group(sampler("A"), name="Buyers"), group(sampler("B"), name="Readers")))
    for words in ((), ("-o", "shop.yaml")):
        brimline_cli.run("jmeter", "plan.jmx", *words).check_error(
            2, "plan.jmx becomes 2 workloads: buyers, readers", "-o DIRECTORY"
        )
    outcome = brimline_cli.run("jmeter", "plan.jmx", "-o", "shop")
    assert outcome.exit_code == 0, outcome.stderr
    assert sorted(path.name for path in (brimline_cli.directory / "shop").iterdir()) == ["buyers.yaml", "readers.yaml"]
    assert "shop/readers.yaml: 1 operation" in outcome.stderr


def test_a_property_is_given_as_jmeter_takes_it(brimline_cli: CommandLine) -> None:
    write(brimline_cli.directory, plan_text(group(sampler("A"), threads="${__P(threads,1)}", loops="${__P(loops)}")))
    outcome = brimline_cli.run("jmeter", "plan.jmx", "-J", "threads=20", "-J", "loops=30", "-q")
    assert "load: {kind: tlr, threads: 20, loops: 30, ramp_up: 1ms}" in outcome.stdout


@pytest.mark.parametrize(
    ("words", "text", "said"),
    [
        (("none.jmx",), None, "can't read none.jmx"),
        (("plan.jmx",), "<jmeterTestPlan>\n<hashTree>\n", "plan.jmx:3: is no XML"),
        (("plan.jmx",), "<project/>", "plan.jmx:1: is no test plan of JMeter"),
        (("plan.jmx",), plan_text(), "has no thread group that is enabled"),
        (("plan.jmx",), plan_text(group()), "nothing of plan.jmx can be taken over"),
        (("plan.jmx", "-J", "=5"), plan_text(group(sampler())), "-J =5 names no property"),
        (("plan.jmx", "-o", "there.yaml"), plan_text(group(sampler())), "there.yaml is there already"),
        (("plan.jmx", "-o", "there.yaml/x"), plan_text(group(sampler())), "can't make the directory there.yaml/x"),
        (("plan.jmx",), '<!DOCTYPE x [<!ENTITY a "b">]><jmeterTestPlan/>', "has a DOCTYPE"),
    ],
)
def test_words_that_can_not_be_followed(
    brimline_cli: CommandLine, words: tuple[str, ...], text: str | None, said: str
) -> None:
    if text is not None:
        write(brimline_cli.directory, text)
    (brimline_cli.directory / "there.yaml").write_text("mine", encoding="utf-8")
    brimline_cli.run("jmeter", *words).check_error(2, said)
    assert (brimline_cli.directory / "there.yaml").read_text(encoding="utf-8") == "mine"
