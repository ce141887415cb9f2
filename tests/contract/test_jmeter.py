"""A plan's samples by label, as JMeter's own run has them. Needs a JDK, Maven and what they fetch."""

import csv
import re
import threading
from collections import Counter
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from benchmarks.peers.builds import Missing
from tests.support.command_line import CommandLine
from tests.support.jmeter import jmeter_home, samples_by_label
from tests.support.jmx import controller, element, group, headers, plan_text, sampler
from tests.support.repetitions import repetitions
from tests.unit.compat.jmeter.translating import promised, workload


class _Orders(BaseHTTPRequestHandler):
    """Orders that are there as soon as they are asked for, behind a login."""

    protocol_version = "HTTP/1.1"
    wbufsize = -1  # a reply is one packet, so that nothing waits for the acknowledgement of its first half

    def _answer(self) -> None:
        self.rfile.read(int(self.headers.get("content-length") or 0))
        if self.path == "/moved":
            self._send(302, b"", location="/orders")
        elif self.path.startswith("/private") and self.headers.get("authorization") != "Bearer t-1":
            self._send(401, b"{}")
        else:
            body = b'{"id": 7, "state": "open", "token": "t-1", "page": "<input name=\\"csrf\\" value=\\"c-1\\">"}'
            self._send(201 if self.command == "POST" else 200, body)

    do_GET = do_POST = _answer  # noqa: N815

    def _send(self, status: int, body: bytes, **more: str) -> None:
        self.send_response(status)
        for name, value in {**more, "content-type": "application/json", "content-length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """A test's output is its own."""


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    with ThreadingHTTPServer(("127.0.0.1", 0), _Orders) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_address[1]
        server.shutdown()


@pytest.fixture(scope="module")
def jmeter() -> None:
    try:
        jmeter_home()
    except Missing as missing:
        pytest.skip(f"{missing.reason}; {missing.hint}")


def request(label: str, path: str, *below: str, **more: Any) -> str:
    return sampler(label, path, *below, port="${__P(port)}", **more)


def token() -> str:
    settings = {"referenceNames": "token", "jsonPathExprs": "$.token", "match_numbers": "1"}
    return element("JSONPostProcessor", "token", {f"JSONPostProcessor.{name}": each for name, each in settings.items()})


def csrf() -> str:
    settings = {"refname": "csrf", "regex": 'value=\\\\"(.+?)\\\\"', "template": "$1$", "match_number": "1"}
    return element("RegexExtractor", "csrf", {f"RegexExtractor.{name}": each for name, each in settings.items()})


def status(code: str) -> str:
    settings = {"Asserion.test_strings": [code], "Assertion.test_field": "Assertion.response_code"}
    return element("ResponseAssertion", code, {**settings, "Assertion.test_type": 8})


PARTS_AND_WHOLES = ("Buy", "Moved-0", "Moved-1")
"""JMeter's rows of a transaction, whose requests have rows too, and of the redirects that a sample consists of."""
WHOLES = ("Users",)
"""brimline's rows of an operation, whose steps have rows too."""
ROWS = {"filename": "users.csv", "variableNames": "user,city", "recycle": True, "shareMode": "shareMode.all"}
PLANS = {
    "a flow": plan_text(
        element("CSVDataSet", "Users", {**ROWS, "delimiter": ";", "fileEncoding": "UTF-8", "quotedData": False}),
        element("CookieManager", "Cookies", {"CookieManager.clearEachIteration": False}),
        group(
            request("Log in", "/login", token(), csrf(), status("201"), method="POST", arguments=[("user", "${user}")]),
            controller(
                "TransactionController",
                request("Order", "/private/${user}", headers(Authorization="Bearer ${token}"), status("200")),
                controller("LoopController", request("Page", "/p/${csrf}?n=${__Random(1,9)}"), loops="3"),
                name="Buy",
                parent=True,
            ),
            request("Moved", "/moved", follow_redirects=True),
            element("ConstantTimer", "Wait", {"ConstantTimer.delay": "3"}),
            threads=3,
            loops=5,
        ),
    ),
    "controllers": plan_text(
        group(
            controller("OnceOnlyController", request("Once", "/once")),
            controller("InterleaveControl", request("Odd", "/odd"), request("Even", "/even"), style=1),
            controller(
                "ThroughputController", request("Some", "/s"), style=1, perThread=True, percentThroughput="40.0"
            ),
            controller("IfController", request("Never", "/n"), condition="${__jexl3(1 > 2)}", useExpression=True),
            controller("RandomOrderController", request("A", "/a"), request("B", "/b")),
            request("Off", "/off", enabled=False),
            threads=2,
            loops=10,
        ),
    ),
    "one request": plan_text(
        group(request("首页", "/"), threads="${__P(threads,4)}", loops=25, ramp_up=1), variables={"unused": "${none}"}
    ),
}


RECORDED = {"Once": 2, "Odd": 10, "Even": 10, "Some": 8, "A": 20, "B": 20}
"""What JMeter 5.6.3 makes of the plan of controllers."""


def test_controllers_choose_as_they_did_in_jmeter(port: int, tmp_path: Path, brimline_cli: CommandLine) -> None:
    promises = promised(workload(tmp_path, PLANS["controllers"], port=str(port)))
    ours = _of_the_run(brimline_cli, "plan.jmx", port)
    assert promises == {label: count for label, count in ours.items() if label not in WHOLES} == RECORDED


@pytest.mark.usefixtures("jmeter")
@pytest.mark.slow("JMeter takes some seconds to start, and its libraries are fetched once")
@pytest.mark.parametrize("name", ["a flow", *repetitions("controllers", "one request")])
def test_a_label_has_as_many_samples_as_in_jmeter(
    name: str, port: int, tmp_path: Path, brimline_cli: CommandLine
) -> None:
    """As the workload promises, and as its run has them. Of controllers the quick twin holds what was recorded here."""
    (tmp_path / "users.csv").write_text("ann;Rome\nbob;Oslo\n")
    promises = promised(workload(tmp_path, PLANS[name], port=str(port)))
    ours = _of_the_run(brimline_cli, "plan.jmx", port)
    theirs = samples_by_label(tmp_path / "plan.jmx", properties={"port": str(port)}, directory=tmp_path)
    theirs = Counter({label: count for label, count in theirs.items() if label not in PARTS_AND_WHOLES})
    assert promises == theirs
    assert name != "controllers" or theirs == RECORDED
    assert Counter({label: count for label, count in ours.items() if label not in WHOLES}) == theirs


def _of_the_run(brimline_cli: CommandLine, plan: str, port: int) -> Counter[str]:
    """Samples by label in the JTL file of a run of the workload that a plan becomes, all of which must be right."""
    for words in (("jmeter", plan, "-o", "run.yaml", "-J", f"port={port}"), ("run", "run.yaml", "--runs-dir", "runs")):
        done = brimline_cli.run(*words, "-q")
        assert done.exit_code == 0, done.stderr
    (directory,) = (brimline_cli.directory / "runs").iterdir()
    assert brimline_cli.run("report", directory, "--format", "jtl").exit_code == 0
    rows = list(csv.DictReader((directory / "results.jtl").read_text(encoding="utf-8").splitlines()))
    assert {row["success"] for row in rows} == {"true"}
    return Counter(re.sub(r" \d+$", "", row["label"]) for row in rows)
