"""A real server with access control: users of both mechanisms, runs, imports and scans, and who is not let in."""

import json
from pathlib import Path
from urllib.parse import quote_plus

import pytest

from brimline.process_list import PASSWORD_VARIABLE
from brimline.servers.access import Access
from tests.support.command_line import CommandLine
from tests.support.repetitions import repetitions
from tests.support.secured_mongod import ADMIN_PASSWORD, SecuredServer

pytestmark = pytest.mark.mongod

PASSWORD = "geheim/4:all@once%"
ESCAPED = quote_plus(PASSWORD)
ROLES = ["readWriteAnyDatabase", "clusterMonitor"]
SPEC = """\
name: small
data: {records: 1000}
operations: {read: 0.5, update: 0.5}
connections: 64
warmup: 0s
operation_count: 2000
"""


@pytest.fixture(scope="module")
def server(secured: SecuredServer) -> SecuredServer:
    with secured.client() as client:
        # "IX" is what SASLprep makes of the Roman numeral nine.
        for name, password, mechanism in (
            ("modern", PASSWORD, "SCRAM-SHA-256"),
            ("old", PASSWORD, "SCRAM-SHA-1"),
            ("prepared", "IX", "SCRAM-SHA-256"),
        ):
            client.admin.command("createUser", name, pwd=password, roles=ROLES, mechanisms=[mechanism])
        client.admin.command("createUser", "reader", pwd=PASSWORD, roles=["readAnyDatabase"])
        client.users.command(
            "createUser", "elsewhere", pwd=PASSWORD, roles=[{"role": role, "db": "admin"} for role in ROLES]
        )
    return secured


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    path = tmp_path / "small.yaml"
    path.write_text(SPEC)
    return path


def check_nothing_kept(command_line: CommandLine, *texts: str) -> None:
    for secret in ("geheim", ADMIN_PASSWORD):
        assert not [text for text in texts if secret in text]
        assert command_line.files_with(secret) == []


@pytest.mark.parametrize(
    ("user", "more"),
    [
        (f"modern:{ESCAPED}", ""),
        (f"old:{ESCAPED}", "authMechanism=SCRAM-SHA-1"),
        ("prepared:%E2%85%A8", ""),
        (f"elsewhere:{ESCAPED}", "authSource=users"),
        *repetitions((f"old:{ESCAPED}", ""), (f"modern:{ESCAPED}", "authMechanism=SCRAM-SHA-256")),
    ],
)
def test_a_run_of_a_user(brimline_cli: CommandLine, server: SecuredServer, spec: Path, user: str, more: str) -> None:
    uri = f"mongodb://{user}@{server.address}/?{more}"
    outcome = brimline_cli.run("run", spec, "--uri", uri, "--data", "load", "--drop", "--json")
    assert outcome.exit_code in (0, 4), outcome.stderr
    assert json.loads(outcome.stdout)["counts_whole_run"]["ok"] == 2000
    check_nothing_kept(brimline_cli, outcome.stdout, outcome.stderr)


def test_passwords_from_elsewhere(brimline_cli: CommandLine, server: SecuredServer, spec: Path, tmp_path: Path) -> None:
    file = tmp_path / "password"
    uri = f"mongodb://modern@{server.address}"
    outcome = brimline_cli.run("run", spec, "--uri", uri, "--data", "load", "--drop", "--json")
    outcome.check_error(2, "there is no password", PASSWORD_VARIABLE, "--password-file")
    environment = {PASSWORD_VARIABLE: PASSWORD}
    outcome = brimline_cli.run("load", spec, "--drop", environment={**environment, "BRIMLINE_URI": uri})
    assert outcome.exit_code == 0, outcome.stderr
    check_nothing_kept(brimline_cli, outcome.stdout, outcome.stderr)
    file.write_text(f"{PASSWORD}\n")
    outcome = brimline_cli.run("stat", "--uri", uri, "--password-file", file, "-n", "1", "0.1")
    assert outcome.exit_code == 0, outcome.stderr
    file.unlink()
    check_nothing_kept(brimline_cli, outcome.stdout, outcome.stderr)


def test_an_import_and_a_scan(brimline_cli: CommandLine, server: SecuredServer, tmp_path: Path) -> None:
    rows = tmp_path / "rows.csv"
    rows.write_text("_id,a\n" + "".join(f"{row},{row % 7}\n" for row in range(5000)))
    uri = f"mongodb://modern:{ESCAPED}@{server.address}/shop?authSource=admin"
    outcome = brimline_cli.run("import", rows, "--headerline", "--uri", uri, "--drop", "--json")
    assert outcome.exit_code == 0, outcome.stderr
    with server.client() as client:
        assert client.shop.rows.count_documents({}) == 5000
    queries = tmp_path / "queries.yaml"
    queries.write_text(
        "name: sevens\ndata: {records: 5000, database: shop, collection: rows}\n"
        "scans:\n  repetitions: 3\n  scenarios:\n    - {name: sevens, filter: {a: 3}}\n"
    )
    outcome = brimline_cli.run("scan", queries, "--uri", uri, "--data", "as-is", "-q", "--json")
    assert outcome.exit_code in (0, 4), outcome.stderr
    check_nothing_kept(brimline_cli, outcome.stdout, outcome.stderr)


@pytest.mark.parametrize(
    ("user", "words"),
    [
        ("modern:wrong-geheim@", ("does not accept the user name and the password", "authSource")),
        (f"nobody:{ESCAPED}@", ("does not accept the user name and the password",)),
        (f"elsewhere:{ESCAPED}@", ("does not accept", "database admin")),
        ("", ("wants a user name and a password", PASSWORD_VARIABLE)),
        (f"modern:{ESCAPED}@", ()),
    ],
)
def test_who_is_not_let_in(
    brimline_cli: CommandLine, server: SecuredServer, spec: Path, user: str, words: tuple[str, ...]
) -> None:
    """In one try: an account may be locked after a few."""
    more = "" if words else "/?authMechanism=SCRAM-SHA-1"
    before = server.log().count("Authentication failed")
    outcome = brimline_cli.run("run", spec, "--uri", f"mongodb://{user}{server.address}{more}")
    outcome.check_refused(*(words or ("does not accept the user name and the password",)))
    failed = server.log().count("Authentication failed") - before
    # For a user it doesn't know the server logs the guess that goes with hello, and the conversation after it.
    assert failed <= 2 if user.startswith(("nobody", "elsewhere")) else failed == (1 if user else 0)
    check_nothing_kept(brimline_cli, outcome.stdout, outcome.stderr)


def test_a_user_who_may_not_write_is_told(brimline_cli: CommandLine, server: SecuredServer, spec: Path) -> None:
    uri = f"mongodb://reader:{ESCAPED}@{server.address}"
    spec.write_text(SPEC.replace("records: 1000", "records: 1000, collection: unread"))
    outcome = brimline_cli.run("load", spec, "--uri", uri)
    outcome.check_error(5, "the user may not do all that", "insert, remove isn't granted", "nothing was changed")
    check_nothing_kept(brimline_cli, outcome.stdout, outcome.stderr)


@pytest.mark.slow("a refusal is waited for")
def test_the_engine_sends_a_wrong_password_once(server: SecuredServer) -> None:
    """However many connections it was to make: the control plane's own proof left out here."""
    from brimline import _native
    from brimline.plan import resolve, wire_target
    from brimline.servers.access import Login
    from brimline.spec import load_spec

    spec = load_spec("ycsb-c", overrides={"connections": 200, "threads": 4, "connect_timeout": "1s"}).spec
    plan = resolve(spec, target=wire_target(spec, address=server.address))
    access = Access(login=Login(username="modern", password="wrong", source="admin"))
    before = server.log().count("Authentication failed")
    for _ in range(2):
        run = _native.start(plan.canonical_json(), access.native)
        with pytest.raises(_native.TargetError, match="Authentication failed"):
            run.join()
    assert server.log().count("Authentication failed") - before == 1


def test_the_process_list_shows_no_password(brimline_cli: CommandLine, server: SecuredServer, spec: Path) -> None:
    uri = f"mongodb://modern:{ESCAPED}@{server.address}"
    running = brimline_cli.start_fresh("stat", "--uri", uri, "0.1")
    assert running.process.stdout is not None
    assert running.process.stdout.readline()
    words = Path(f"/proc/{running.process.pid}/cmdline").read_bytes()
    assert b"geheim" not in words
    assert b"mongodb://***@" in words
