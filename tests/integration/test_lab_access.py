"""Every verb that takes a server reaches a lab with access control and TLS: by password and by certificate."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

import brimline
from brimline.servers.lab.state import Lab
from tests.support.command_line import CALM, CommandLine
from tests.support.repetitions import repetitions
from tests.support.server import required_mongod

pytestmark = [pytest.mark.mongod, pytest.mark.other_client]

SHORT = ("--records", "1000", "--duration", "150ms", "--warmup", "20ms")
GROWTH = ("--to", "400", "--step", "200", "--connections", "1", "--queries", "100", "--repeats", "1")
ONCE = ("--repeats", "1", "--repeats-max", "1")
QUERIES = """\
name: sevens
data: {records: 1000, database: shop, collection: rows}
scans:
  repetitions: 3
  scenarios:
    - {name: sevens, filter: {a: 3}}
"""


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    required_mongod()
    if shutil.which("openssl") is None:
        pytest.skip("there is no openssl command here to make certificates with")
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        with brimline.lab(replica_set=2, auth=True, tls=True, small=True, election_timeout_ms=2000) as started:
            yield started


def by_password(lab: Lab) -> tuple[str | Path, ...]:
    assert lab.password_file is not None
    return ("--uri", lab.uris[0], "--password-file", lab.password_file)


def by_certificate(lab: Lab) -> str:
    uri = lab.uris[0].replace(f"{lab.user}@", "").replace("authSource=admin&", "")
    return f"{uri}&tlsCertificateKeyFile={lab.client_certificate_file}&authMechanism=MONGODB-X509"


def check_no_password(cli: CommandLine, lab: Lab, *texts: str) -> None:
    assert lab.password_file is not None
    password = lab.password_file.read_text()
    assert not [text for text in texts if password in text]
    assert cli.files_with(password) == []


@pytest.mark.slow("a secured set comes up and elects its primary")
@pytest.mark.usefixtures("brief_checks")
@pytest.mark.parametrize(
    "words",
    [
        ("run", "ycsb-a", "--data", "load", *SHORT, *CALM),
        ("sweep", "ycsb-c", "--data", "load", "--connections-max", "2", "--repeats", "1", *SHORT),
        (
            "interfere",
            "ycsb-c",
            *SHORT,
            *CALM,
            *("--data", "load", "--with", "scan"),
            *("--background-rows", "5k"),
            "--pairs",
            "1",
        ),
        ("stat", "-n", "1", "0.1"),
        ("doctor", "ycsb-c", "--records", "1000"),
        ("grow", "ycsb-c", "--drop", *GROWTH),
        # Its runs are those of `sweep`, on the same connections.
        *repetitions((("sweep", "ycsb-c", "--data", "load", "--vary", "indexes=none,single", *ONCE, *SHORT),)),
    ],
    ids=lambda words: " ".join(words[:1] + words[words.index("--vary") :][:1] if "--vary" in words else words[:1]),
)
def test_a_verb_reaches_a_secured_set(brimline_cli: CommandLine, lab: Lab, words: tuple[str, ...]) -> None:
    outcome = brimline_cli.run(*words, *by_password(lab))
    assert outcome.exit_code in (0, 4), outcome.stderr
    for trouble in ("user name", "certificate", "TLS", "Traceback", "requires authentication"):
        assert trouble not in outcome.stderr
    check_no_password(brimline_cli, lab, outcome.stdout, outcome.stderr)


def test_what_was_imported_is_scanned(brimline_cli: CommandLine, lab: Lab, tmp_path: Path) -> None:
    rows = tmp_path / "rows.csv"
    rows.write_text("_id,a\n" + "".join(f"{row},{row % 7}\n" for row in range(1000)))
    outcome = brimline_cli.run("import", rows, "--headerline", "--db", "shop", "--drop", *by_password(lab), "--json")
    assert outcome.exit_code == 0, outcome.stderr
    queries = tmp_path / "queries.yaml"
    queries.write_text(QUERIES)
    outcome = brimline_cli.run("scan", queries, "--data", "as-is", "--json", *by_password(lab))
    assert outcome.exit_code == 0, outcome.stderr
    check_no_password(brimline_cli, lab, outcome.stdout, outcome.stderr)


@pytest.mark.slow("two experiments, one of which goes on, on a lab")
def test_an_experiment_finds_its_server_again_unless_that_had_a_user(brimline_cli: CommandLine, lab: Lab) -> None:
    """The record holds the whole address, but for who the user is."""
    sweep = ("sweep", "ycsb-c", "--data", "load", "--connections-max", "1", "--repeats", "1", *SHORT)
    uri = by_certificate(lab)
    for words, stored in (
        (("--uri", uri), uri),
        (by_password(lab), lab.uris[0].replace(f"{lab.user}@", "***@")),
    ):
        outcome = brimline_cli.run(*sweep, *words)
        assert outcome.exit_code in (0, 4), outcome.stderr
        directory = brimline_cli.record_directories(kind="sweep-")[-1]
        assert json.loads((directory / "environment.json").read_text())["uri"] == stored
        outcome = brimline_cli.run("sweep", "--resume", directory)
        if stored == uri:
            assert outcome.exit_code in (0, 4), outcome.stderr
        else:
            outcome.check_error(2, "a record holds no user and no password", "--uri")
            assert "starting" not in outcome.stderr, "no server is started for it"
            outcome = brimline_cli.run("sweep", "--resume", directory, *words)
            assert outcome.exit_code in (0, 4), outcome.stderr
