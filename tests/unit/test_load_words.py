"""The load model of the command line."""

import json
from pathlib import Path
from typing import Any

import pytest

import brimline
from brimline.api.options import LoadOptions
from brimline.cli.app import main
from brimline.errors import UsageError
from brimline.execution import execute
from brimline.record import RunRecord


@pytest.mark.parametrize(
    ("words", "load"),
    [
        ({}, None),
        ({"rate": "5k/s"}, {"kind": "constant", "rate": "5k/s"}),
        ({"rate": "5k/s", "arrivals": "poisson"}, {"kind": "poisson", "rate": "5k/s"}),
        ({"think_time": "1ms"}, {"kind": "closed", "think_time": "1ms"}),
        ({"tlr": "4,2,1s"}, {"kind": "tlr", "threads": "4", "loops": "2", "ramp_up": "1s"}),
        # An empty rate is one that can't be read, and no closed loop.
        ({"rate": ""}, {"kind": "constant", "rate": ""}),
        ({"think_time": ""}, {"kind": "closed", "think_time": ""}),
    ],
)
def test_load_model(words: dict[str, str], load: dict[str, str] | None) -> None:
    assert LoadOptions(**words).overrides["load"] == load  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "words", [{"rate": "1/s", "tlr": "1,1,1s"}, {"arrivals": "poisson"}, {"tlr": "1,,1s"}, {"tlr": ""}]
)
def test_no_load_model(words: dict[str, str]) -> None:
    with pytest.raises(UsageError) as refused:
        _ = LoadOptions(**words).overrides  # type: ignore[arg-type]
    assert refused.value.hint


RUN_AT_A_RATE = ("run", "ycsb-c", "--null", "--rate", "2000/s", "--duration", "200ms", "--warmup", "0s")
AT_A_RATE = "constant rate of 2000/s, whatever the target does, over 32 connections on 1 thread"


def test_a_run_says_its_load_in_one_line_before_it_begins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    said_before: list[str] = []

    def begin(*arguments: Any, **named: Any) -> RunRecord:
        said_before.append(capsys.readouterr().err)
        return execute(*arguments, **named)

    monkeypatch.setattr("brimline.api.run.execute", begin)
    for quiet in ([], ["--quiet"]):
        with pytest.raises(SystemExit) as ended:
            main([*RUN_AT_A_RATE, "--json", *quiet])
        assert ended.value.code in (0, 3, 4), "a busy machine may not keep the rate"
        streams = capsys.readouterr()
        document = json.loads(streams.out)
        assert (document["load_model"], document["load"]) == (AT_A_RATE, AT_A_RATE)
        assert "load: " not in streams.err, "once is enough"
    assert said_before == [f"load: {AT_A_RATE}\n", ""]


@pytest.mark.parametrize("null", [False, True], ids=["a server of its own", "the null target"])
def test_a_load_that_would_not_stay_is_refused_before_anything_is_started(
    null: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def start(*_: object, **__: object) -> None:
        raise AssertionError("a server was started")

    monkeypatch.delenv("BRIMLINE_URI", raising=False)
    monkeypatch.setattr("brimline.api.workplace.own_server", start)
    with pytest.raises(UsageError, match="holds no data" if null else "would be gone with it"):
        brimline.load("ycsb-c", options=brimline.Options(null=null))
