"""The load model of the command line."""

import pytest

import brimline
from brimline.cli.options import load_model
from brimline.errors import UsageError


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
    none = dict.fromkeys(("rate", "arrivals", "think_time", "tlr"))
    assert load_model(**none | words) == load


@pytest.mark.parametrize(
    "words", [{"rate": "1/s", "tlr": "1,1,1s"}, {"arrivals": "poisson"}, {"tlr": "1,,1s"}, {"tlr": ""}]
)
def test_no_load_model(words: dict[str, str]) -> None:
    none = dict.fromkeys(("rate", "arrivals", "think_time", "tlr"))
    with pytest.raises(UsageError) as refused:
        load_model(**none | words)
    assert refused.value.hint


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
