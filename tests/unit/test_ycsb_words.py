"""The words of `brimline ycsb`: what can't be followed is one clear error, before anything is begun."""

from pathlib import Path

import pytest

from brimline.cli.app import main
from tests.support.secrets import ADDRESSES, ASSIGNMENTS, SECRET
from tests.support.ycsb_golden import GOLDEN

pytestmark = pytest.mark.usefixtures("impatient")

WORKLOAD = str(GOLDEN / "workloadc.properties")


def said(words: list[str], capsys: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as ended:
        main(["ycsb", *words])
    streams = capsys.readouterr()
    assert isinstance(ended.value.code, int)
    return ended.value.code, streams.out, streams.err


@pytest.mark.parametrize(
    ("words", "parts"),
    [
        ([], ["error: ycsb needs a phase and a binding", "hint: usage: brimline ycsb load|run mongodb"]),
        (["run"], ["error: ycsb needs a phase and a binding"]),
        (["shell", "mongodb"], ['not "shell"', "hint: usage"]),
        (["run", "redis"], ['error: "redis" is not a binding', "hint: there are mongodb, by"]),
        (["run", "mongodb"], ["error: properties: workload: is missing", "hint: add workload="]),
        (["run", "mongodb", "-threads"], ["error: -threads needs a value"]),
        (["run", "mongodb", "--threads", "4"], ['no flag "--threads"', 'did you mean "-threads"']),
        (["run", "mongodb", "-jvm-args", "x"], ["error: -jvm-args would have no effect", "hint: there is no JVM"]),
        (["run", "mongodb", "-jvm-args=-Xmx1g"], ["error: -jvm-args would have no effect", "hint: there is no JVM"]),
        (["run", "mongodb", "-cp=conf"], ["error: -cp would have no effect", "hint: there is no class path"]),
        (["run", "mongodb", "-t=true"], ['ycsb has no flag "-t=true"']),
        (["run", "mongodb", "-load"], ["error: -load contradicts ycsb run", "hint: remove -load"]),
        (["load", "mongodb", "-t"], ["error: -t contradicts ycsb load", "hint: remove -t"]),
        (["run", "mongodb", "workloads/workloada"], ['no flag "workloads/workloada"']),
        (["run", "mongodb", "-P", WORKLOAD, "-p", "k"], ['-p "k" is no assignment']),
        (
            ["run", "mongodb", "-P", WORKLOAD, "-threads", "0"],
            ["error: -threads: must be a whole number from 1", "hint: write it like -threads 16"],
        ),
        (
            ["run", "mongodb", "-P", WORKLOAD, "-target", "-5"],
            ["error: -target: must be a whole number from 0", "hint: write it like -target 5000"],
        ),
        (["run", "mongodb", "-P", WORKLOAD, "-target", "1000000000000"], ["error: -target: ", "hint: "]),
        (["run", "mongodb", "-P", WORKLOAD, "-p", "threadcount=x"], ["error: -p: threadcount: ", "threadcount=16"]),
        (["run", "mongodb", "-P", WORKLOAD, "-p", "measurementtype=rwa"], ["error: -p: measurementtype: ", "hint: "]),
        (["run", "mongodb", "-P", WORKLOAD, "-p", "nosuch=1"], ["error: -p: nosuch: would have no effect"]),
        (["run", "mongodb", "-P", WORKLOAD, "-l", "x"], ["error: -l: would have no effect", "(-s)"]),
        (["run", "mongodb", "-P", WORKLOAD, "-db", "site.ycsb.BasicDB"], ["is not the MongoDB binding"]),
        (["run", "mongodb", "-P", WORKLOAD, "-db", "site.ycsb.db.NoSuch"], ["is not the MongoDB binding"]),
        (
            ["run", "mongodb", "-P", WORKLOAD, "-p", "measurementtype=nosuch"],
            ["error: -p: measurementtype: ", "hint: "],
        ),
        (
            ["run", "mongodb", "-P", WORKLOAD, "-p", "measurement.trackjvm=true"],
            ["error: -p: measurement.trackjvm: would have no effect: there is no JVM"],
        ),
        (["run", "mongodb", "-P", "/no/such/file"], ["error: can't read /no/such/file"]),
    ],
)
def test_bad_words_are_one_clear_error(
    words: list[str],
    parts: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    code, out, err = said(words, capsys)
    assert (code, out) == (2, "")
    assert err.count("error: ") == 1 and "Traceback" not in err
    for part in parts:
        assert part in err
    assert not list(tmp_path.iterdir()), "nothing was begun"


@pytest.mark.parametrize("words", [["--help"], ["-h"], ["run", "--help"], ["load", "mongodb", "-threads", "-h"]])
def test_help_says_how(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = said(words, capsys)
    assert code == 0 and "ycsb" in out and "mongodb" in out


def test_the_later_flag_counts(capsys: pytest.CaptureFixture[str]) -> None:
    """-threads is threadcount: the last of the two is what is read, and refused here."""
    _, _, err = said(["run", "mongodb", "-P", WORKLOAD, "-threads", "4", "-p", "threadcount=x"], capsys)
    assert 'threadcount: must be a whole number from 1 on, but is "x"' in err
    words = ["run", "mongodb", "-P", WORKLOAD, "-p", "threadcount=x", "-threads", "4", "-p", "nosuch=1"]
    _, _, err = said(words, capsys)
    assert "nosuch" in err and "threadcount" not in err.partition("error: ")[2]


@pytest.mark.parametrize(
    "words",
    [
        *(["-p", f"mongodb.url={address}"] for address in ADDRESSES),
        *(["-p", f"mongodb.url={address}", "-p", "nosuch=1"] for address in ADDRESSES),
        *(["-p", assignment] for assignment in ASSIGNMENTS),
        *([f"-p{assignment}"] for assignment in ASSIGNMENTS),
        *([address] for address in ADDRESSES),
        ["-p", f"mongodb.url=mongodb://u:{SECRET}", f"{SECRET}@h/y"],
        [f"--password={SECRET} {SECRET}"],
        [f"--uri=mongodb://u:{SECRET} {SECRET}@h/y"],
    ],
)
def test_a_secret_in_the_words_is_not_repeated(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    code, out, err = said(["run", "mongodb", "-P", WORKLOAD, *words], capsys)
    assert code in (2, 5) and err.count("error: ") == 1
    assert SECRET not in out + err
    assert not list(tmp_path.iterdir()), "nothing was begun"


@pytest.mark.parametrize(
    "password",
    ["ab/S3cretTail", "12/S3cretTail", "ab/S3cretTail/x", "ab?journal=S3cretTail", "ab?maxPoolSize=S3cretTail"],
)
def test_a_password_that_is_not_escaped_is_told_as_run_tells_it(
    password: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is not taken for the database, nor for an option, which errors would quote."""
    monkeypatch.chdir(tmp_path)
    address = f"mongodb.url=mongodb://bob:{password}@127.0.0.1:1/ycsb"
    code, out, err = said(["run", "mongodb", "-P", WORKLOAD, "-p", address], capsys)
    assert (code, out) == (2, "")
    assert "error: the connection string has an @ behind its hosts\n" in err
    assert "S3cret" not in err


def test_words_without_a_secret_are_repeated_as_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    flags = ["-P", WORKLOAD, "-p", "mongodb.url=mongodb://h:1,[::1]:27017/y?w=1&readPreference=primary"]
    flags += ["-threads", "4", "-p", "table=t x"]
    _, _, err = said(["run", "mongodb", *flags, "-p", "nosuch=1"], capsys)
    assert f"Command line: -t -db site.ycsb.db.MongoDbClient {' '.join(flags)} -p nosuch=***\n" in err


def test_a_server_that_does_not_answer_is_told_in_words_of_ycsb(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """YCSB's command line has no --uri, and starts no server."""
    monkeypatch.chdir(tmp_path)
    address = "mongodb.url=mongodb://127.0.0.1:1/ycsb"
    code, _, err = said(["run", "mongodb", "-P", WORKLOAD, "-p", address, "-p", "operationcount=1"], capsys)
    assert code == 5
    assert "error: no server answers at mongodb://127.0.0.1:1" in err
    assert "--uri" not in err and "mongod of their own" not in err
