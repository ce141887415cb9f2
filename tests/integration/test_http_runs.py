"""Runs on an HTTP service: what is measured, what is said of the service, and what is refused before the run."""

import base64
import json
import re
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from brimline.record import read_record
from brimline.units import format_count
from tests.support.certificates import authority
from tests.support.command_line import CommandLine, Outcome
from tests.support.order_service import Answer, Asked, OrderService, order_service
from tests.support.starved import awake

SHOP = """
name: shop
protocol: http
values:
  id: {kind: int, min: 1, max: 9}
operations:
  look: {share: 75%, get: {path: /orders/$id}, expect: {status: 200, json: {state: open}}}
  place:
    share: 25%
    steps:
      - post: {path: /orders, json: {customer: $id}}
        expect: {status: 201}
        save: {order: json.id}
      - get: {path: /orders/$order}
"""
SHORT = ("--duration", "400ms", "--warmup", "0s", "--connections", "2")
CALM = ("--think-time", "2ms")


def shop(asked: Asked) -> Answer:
    if asked.method == "POST":
        return 201, {"id": 5}
    if "/orders/" not in asked.path:
        return 404, {}
    return 200, {"id": int(asked.path.rpartition("/")[2]), "state": "open"}


@pytest.fixture
def service() -> Iterator[OrderService]:
    with order_service() as service:
        service.answer = shop
        yield service


@pytest.fixture
def workload(brimline_cli: CommandLine) -> Path:
    path = brimline_cli.directory / "shop.yaml"
    path.write_text(SHOP)
    return path


def run(cli: CommandLine, workload: Path, uri: str, *words: str, environment: dict[str, str] | None = None) -> Outcome:
    calm = () if "--rate" in words else CALM
    return awake(cli, "run", str(workload), "--uri", uri, *SHORT, *calm, "--json", *words, environment=environment)


def checks(document: Any) -> dict[str, Any]:
    return {each["name"]: each for each in document["checks"]}


def test_a_run_on_a_service(brimline_cli: CommandLine, service: OrderService, workload: Path) -> None:
    done = run(brimline_cli, workload, service.uri)

    assert done.exit_code == 0, done.stderr
    (directory,) = brimline_cli.record_directories()
    record = read_record(directory)
    assert record.summary is not None
    assert record.summary["failed"] == 0
    assert record.summary["command_names"]["GET"]["answered"] > 0
    assert record.environment["server"]["engine"] == "HTTP"
    assert record.environment["server"]["server"] == "orders/1.0"
    found = checks(done.json())["opcounters"]
    assert (found["result"], found["evidence"]) == ("unknown", "what a service counts only its own log knows")
    assert record.server[-1]["server_cpu_ns"] is not None
    parts = done.json()["operations"]["look"]["request_parts"]
    assert parts["first_byte"]["count"] > 0
    assert parts["transfer"]["count"] > 0
    html = (directory / "report.html").read_text()
    assert "look: to the first byte" in html
    assert "orders/1.0" in html


def test_a_reply_that_comes_in_two_pieces_is_told_on_the_first_screen(brimline_cli: CommandLine) -> None:
    """Neither more connections nor a faster database shortens what lies between the pieces."""
    path = brimline_cli.directory / "late.yaml"
    path.write_text("name: late\nprotocol: http\noperations:\n  look: {get: {path: /}}\n")
    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=_answer_in_two_pieces, args=(listener,), daemon=True).start()
        uri = f"http://127.0.0.1:{listener.getsockname()[1]}"
        done = run(brimline_cli, path, uri)
        listener.shutdown(socket.SHUT_RDWR)

    assert done.exit_code == 0, done.stderr
    (directory,) = brimline_cli.record_directories()
    shown = brimline_cli.run("report", directory, "--format", "markdown", "-o", "-").stdout
    told = re.search(r"look: ([0-9.]+) % of the time of its requests lies between .* last, ([0-9.]+) ms of each", shown)
    assert told is not None and float(told[1]) > 90 and 30 <= float(told[2]) < 60


def _answer_in_two_pieces(listener: socket.socket) -> None:
    def answer(connection: socket.socket) -> None:
        with connection, suppress(OSError):
            while connection.recv(65536):
                connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n")
                time.sleep(0.03)
                connection.sendall(b"{}")

    with suppress(OSError):
        while True:
            threading.Thread(target=answer, args=(listener.accept()[0],), daemon=True).start()


def test_the_report_of_a_service_says_nothing_of_a_database(
    brimline_cli: CommandLine, service: OrderService, workload: Path
) -> None:
    assert run(brimline_cli, workload, service.uri).exit_code == 0
    done = brimline_cli.run("report", "--format", "md", "-o", "-")
    assert done.exit_code == 0, done.stderr
    _title, _blank, subtitle, *_rest = done.stdout.splitlines()
    assert subtitle.endswith(" in flight")
    words = ("document", "examined", "query plan", "write conflicts", "journal", "tickets", "replication")
    assert [word for word in words if word in done.stdout.lower()] == []


def test_each_operation_is_tried_once_before_the_run(
    brimline_cli: CommandLine, service: OrderService, workload: Path
) -> None:
    done = run(brimline_cli, workload, f"{service.uri}/api", "--operations", "1", "--connections", "1")

    assert done.exit_code in (0, 4), done.stderr
    assert service.paths[0] == "GET /api"
    tried = service.paths[1:4]
    assert tried[0].startswith("GET /api/orders/")
    assert tried[1:] == ["POST /api/orders", "GET /api/orders/5"]


def test_a_service_that_answers_404_to_everything_is_one_error(
    brimline_cli: CommandLine, service: OrderService, workload: Path
) -> None:
    service.answer = lambda asked: (404, {})

    done = run(brimline_cli, workload, service.uri)

    assert done.exit_code == 2
    assert done.stderr.count("error:") == 1
    assert "operations.look: the service answers otherwise than is expected" in done.stderr
    assert "404" in done.stderr
    assert len(service.asked) == 1 + 5
    assert brimline_cli.record_directories() == []


def test_a_service_that_closes_instead_of_replying_gets_a_hint_that_fits(
    brimline_cli: CommandLine, workload: Path
) -> None:
    """Only the look whether anything is there is answered."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=_answer_first_alone, args=(listener,), daemon=True).start()
        done = run(brimline_cli, workload, f"http://127.0.0.1:{listener.getsockname()[1]}")
        listener.shutdown(socket.SHUT_RDWR)

    assert done.exit_code == 5, done.stderr
    assert "operations.look: the service gives no reply: " in done.stderr
    assert "why it closes the connection" in done.stderr
    assert "correct path" not in done.stderr


def _answer_first_alone(listener: socket.socket) -> None:
    is_first = True
    with suppress(OSError):
        while True:
            connection, _ = listener.accept()
            with connection:
                connection.recv(65536)
                if is_first:
                    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
                is_first = False


def test_what_is_missing_by_chance_is_no_reason_to_refuse(
    brimline_cli: CommandLine, service: OrderService, workload: Path
) -> None:
    missing = iter([True, False, True])
    service.answer = lambda asked: (404, {}) if "/orders/" in asked.path and next(missing, False) else shop(asked)

    assert run(brimline_cli, workload, service.uri).exit_code == 0


def test_failures_are_told_by_status_with_an_example(
    brimline_cli: CommandLine, service: OrderService, workload: Path
) -> None:
    service.answer = lambda asked: (
        (500, {"why": "two orders in one millisecond"}) if asked.method == "POST" else shop(asked)
    )

    done = run(brimline_cli, workload, service.uri)

    assert done.exit_code == 4, done.stderr
    assert "place failed when it was tried" in done.stderr
    (error,) = done.json()["errors"]
    assert error["code"] == 500
    assert error["operation"] == "place"
    assert error["count"] == done.json()["operations"]["place"]["failed"] > 0


@pytest.mark.parametrize(
    ("follow", "expect", "counted", "result"),
    [
        (1, "", "redirect", None),
        (0, "", "redirect_left", "warn"),
        (0, ", expect: {status: 302}", "redirect_left", "pass"),
    ],
    ids=["followed", "left", "expected"],
)
def test_redirects_are_counted_whether_they_are_followed_or_not(
    follow: int, expect: str, counted: str, result: str | None, brimline_cli: CommandLine, service: OrderService
) -> None:
    service.answer = lambda asked: (302, {"location": "/orders/1"}) if asked.path == "/latest" else shop(asked)
    workload = brimline_cli.directory / "latest.yaml"
    workload.write_text(f"""
name: latest
protocol: http
http: {{follow_redirects: {follow}}}
operations: {{latest: {{get: {{path: /latest}}{expect}}}}}
""")

    done = run(brimline_cli, workload, service.uri)

    assert done.exit_code == 0, done.stderr
    latest = done.json()["operations"]["latest"]
    counts = {part: times["count"] for part, times in latest["request_parts"].items() if "redirect" in part}
    assert counts == {counted: latest["service"]["count"]}
    found = checks(done.json()).get("redirects")
    assert (found and found["result"]) == result
    if found is not None:
        count = format_count(latest["service"]["count"])
        assert found["evidence"].startswith(f"redirects that were not followed: {count}")
    report = brimline_cli.run("report", "--format", "md", "-o", "-").stdout
    assert f"latest: redirects {'followed' if follow else 'not followed'}" in report


@pytest.mark.slow("a whole search of a service on real time")
def test_a_rate_and_a_search_are_of_a_service_too(
    brimline_cli: CommandLine, service: OrderService, workload: Path
) -> None:
    steady = run(brimline_cli, workload, service.uri, "--rate", "400/s")
    swept = brimline_cli.run(
        *("sweep", workload, "--uri", service.uri, "--connections", "1,2", "--duration", "200ms", "--warmup", "0s"),
        "--json",
    )

    assert steady.exit_code in (0, 4), steady.stderr
    assert steady.json()["operations"]["look"]["response"]["count"] > 0
    assert swept.exit_code in (0, 4), swept.stderr


def test_secrets_of_the_environment_are_sent_and_stored_nowhere(
    brimline_cli: CommandLine, service: OrderService, workload: Path
) -> None:
    workload.write_text(SHOP + "http: {headers: {x-key: {env: KEY}}, basic: {username: u, password: {env: PASS}}}\n")

    done = run(brimline_cli, workload, service.uri, environment={"KEY": "k3y-s3cret", "PASS": "p4ss-s3cret"})
    last = service.asked[-1].headers
    missing = run(brimline_cli, workload, service.uri, environment={"KEY": "k3y-s3cret"})

    assert done.exit_code == 0, done.stderr
    assert last["x-key"] == "k3y-s3cret"
    assert base64.b64decode(last["authorization"].removeprefix("Basic ")).decode() == "u:p4ss-s3cret"
    assert brimline_cli.files_with("s3cret") == []
    assert missing.exit_code == 2
    assert "PASS" in missing.stderr


def test_a_service_with_tls(brimline_cli: CommandLine, workload: Path, tmp_path: Path) -> None:
    signing = authority(tmp_path, "trusted")
    with order_service(signing.sign("server")) as service:
        service.answer = shop
        trusted = run(brimline_cli, workload, f"{service.uri}?tlsCAFile={signing.certificate}")
        untrusted = run(brimline_cli, workload, service.uri)
        plain = run(brimline_cli, workload, service.uri.replace("https", "http"))

    assert trusted.exit_code == 0, trusted.stderr
    assert untrusted.exit_code == 5
    assert "not signed by an authority that is trusted here" in untrusted.stderr
    assert plain.exit_code == 5


def test_a_comparison_of_runs_on_services(brimline_cli: CommandLine, service: OrderService, workload: Path) -> None:
    for _ in range(2):
        assert run(brimline_cli, workload, service.uri).exit_code == 0
    first, second = brimline_cli.record_directories()

    done = brimline_cli.run("compare", str(first), str(second), "--json")

    assert done.exit_code in (0, 4), done.stderr
    assert json.dumps(done.json())
