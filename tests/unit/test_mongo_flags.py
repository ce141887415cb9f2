"""Flags that MongoDB's own tools have for a server: none is taken silently, and each has a hint to the address."""

import pytest

from brimline.cli.app import main
from brimline.compat.mongo_tools.flags import FLAGS
from brimline.process_list import PASSWORD_VARIABLE
from tests.support.ycsb_golden import GOLDEN

pytestmark = pytest.mark.usefixtures("impatient")
SECRET = "s3cr3t-of-mine"
WORKLOAD = str(GOLDEN / "workloadc.properties")


def said(words: list[str], capsys: pytest.CaptureFixture[str]) -> tuple[object, str]:
    with pytest.raises(SystemExit) as ended:
        main(words)
    streams = capsys.readouterr()
    assert streams.out == "" or ended.value.code == 0
    return ended.value.code, streams.err


@pytest.mark.parametrize("verb", [["import", "rows.json"], ["stat"], ["run", "ycsb-c"], ["doctor"]], ids=" ".join)
@pytest.mark.parametrize("flag", FLAGS)
def test_every_flag_about_a_server_says_what_it_is_here(
    flag: str, verb: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    if verb[0] in ("run", "doctor") and flag in ("-h", "-p"):
        return  # are flags of these
    forms = [[flag, SECRET], [f"{flag}={SECRET}"] if flag.startswith("--") else [f"{flag}{SECRET}"]]
    for form in forms:
        code, text = said([*verb, *form], capsys)
        assert code == 2 and text.startswith("error: "), text
        assert any(
            word in text for word in ("--uri", "--password-file", "is not read", "are not read", "X.509", "FIPS")
        )
        assert SECRET not in text


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("--waitQueueMultiple 5", "--max-pool-size"),
        ("--wait-queue-multiple=5", "--max-pool-size"),
        ("--maxPoolSize 5", "--max-pool-size"),
        ("--minPoolSize=5", "makes all connections before the run begins"),
        ("--max-wait-time 5", "how long is counted"),
        ("--client mongodb-async", "--client java-reactive"),
        ("--client=mongodb", "--client wire"),
        ("--client odbc", "run --help"),
    ],
)
def test_words_of_drivers_name_what_has_their_meaning(
    words: str, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, text = said(["run", "ycsb-c", *words.split()], capsys)
    assert code == 2 and text.count("error: ") == 1 and told in text.partition("hint: ")[2], text


@pytest.mark.parametrize("flag", ["-p", "--password", "--config"])
def test_the_variable_of_a_password_is_the_one_that_is_read(flag: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, text = said(["stat", flag, SECRET], capsys)
    assert code == 2 and f" {PASSWORD_VARIABLE} " in text, text


@pytest.mark.parametrize("scheme", ["mongodb", "mongodb+srv", "MONGODB"])
@pytest.mark.parametrize(
    "more", [[], ["rows.json"], ["--uri", "mongodb://h"], ["--throw-away"], ["--resume", "latest"]]
)
def test_an_address_among_files_is_named_as_one(
    more: list[str], scheme: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """As mongoimport's synopsis has it."""
    for place in ([f"{scheme}://u:{SECRET}@h/db"], ["--file", f"{scheme}://u:{SECRET}@h/db"]):
        code, text = said(["import", *place, "-c", "c", *more], capsys)
        assert code == 2 and "address" in text and "--uri mongodb://" in text and SECRET not in text, text


@pytest.mark.parametrize("verb", ["import", "stat"])
def test_the_help_is_still_there(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    for words in ([verb, "-h"], [verb, "--help"], [verb, "-h", "--uri", "mongodb://h"], ["-h"]):
        assert said(words, capsys) == (0, "")
    assert said(["list", "-h", "word"], capsys) == (0, ""), "stands for no tool of MongoDB's"


@pytest.mark.parametrize(("interval", "code"), [("0.009", 2), ("0.01", 5), ("86400", 5), ("86401", 2)])
def test_an_interval_is_a_hundredth_of_a_second_to_a_day(
    interval: str, code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert said(["stat", "--uri", "mongodb://127.0.0.1:1", interval], capsys)[0] == code


@pytest.mark.parametrize("verb", ["list", "lint"])
def test_a_verb_without_a_server_has_no_address(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, text = said([verb, "--host", "db"], capsys)
    assert code == 2 and "--uri" not in text


@pytest.mark.parametrize("flag", ["-h", "--host", "--port", "-u", "--username", "--password", "--ssl", "--uri", "-url",
                                  "--tls", "-host", "--authenticationDatabase"])  # fmt: skip
def test_ycsb_has_the_address_in_a_property(flag: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, text = said(["ycsb", "run", "mongodb", "-P", WORKLOAD, flag, SECRET], capsys)
    assert code == 2 and "mongodb.url=" in text and SECRET not in text, text


@pytest.mark.parametrize("name", ["host", "hosts", "port", "mongodb.host", "mongodb.port", "mongodb.database",
                                  "mongodb.uri", "mongodb.username", "mongodb.userName", "mongodb.password",
                                  "mongodb.auth", "mongodb.authdb", "mongodb.ssl", "mongodb.w"])  # fmt: skip
def test_properties_of_other_clients_are_in_the_address(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, text = said(["ycsb", "run", "mongodb", "-P", WORKLOAD, "-p", f"{name}={SECRET}"], capsys)
    assert code == 2 and f"{name}: would have no effect" in text and "mongodb.url=" in text, text
    assert SECRET not in text


def test_a_binding_that_is_none_names_those_that_are(capsys: pytest.CaptureFixture[str]) -> None:
    code, text = said(["ycsb", "run", "mongodb-reactive", "-P", WORKLOAD], capsys)
    assert code == 2 and "mongodb-async, by the reactive driver for Java" in text
