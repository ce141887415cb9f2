"""`brimline list` where nobody sees a screen: one record a line, and a load is called one."""

import json

from tests.support.command_line import CommandLine

LONG = "a-name-" * 20


def test_a_pipe_has_one_record_a_line_and_loads_are_told_from_runs(brimline_cli: CommandLine) -> None:
    for kind in ("load", "mix"):
        directory = brimline_cli.runs / f"20261122t080000z-{kind}-{LONG}-0059a198"
        directory.mkdir(parents=True)
        (directory / "record.json").write_text(json.dumps({"format_version": 1, "name": LONG, "ended_by": "completed"}))
        (directory / "plan.json").write_text(json.dumps({"work": {"kind": kind}}))
    _, *lines = brimline_cli.run("list").stdout.splitlines()
    assert len(lines) == 2
    for line, kind in zip(lines, ("load", "run"), strict=True):
        assert LONG in line and line.split()[2] == kind  # behind date and time
