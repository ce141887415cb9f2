"""`brimline watch` and who asks it, in one process: what comes over, and every way in which it doesn't."""

import http.client
import json
import os
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer, ThreadingHTTPServer
from itertools import chain, count, repeat
from pathlib import Path
from typing import Any

import pytest

from brimline.analysis.server_use import link_bits_per_s
from brimline.api.watch import watch
from brimline.errors import TargetError, UsageError
from brimline.monitor.host import peer, serving
from brimline.monitor.host.asking import PROTOCOL_VERSION, Question
from brimline.monitor.host.remote import FIRST_EXCHANGES, Refused, RemoteHost, RemoteWatch
from brimline.monitor.host.sampler import REST_WITHIN_S, HostSampler
from brimline.monitor.host.serving import CONNECTIONS_MAX, HostServer
from brimline.monitor.host.source import HOST_COLUMNS, HostGone, Reading, meet
from brimline.monitor.programs import Programs, Search, generating
from tests.support.waiting import eventually

TOKEN = "not-to-be-seen-anywhere"


@contextmanager
def served(server: HTTPServer) -> Iterator[int]:
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    with server:
        thread.start()
        try:
            yield server.server_address[1]
        finally:
            server.shutdown()
            thread.join()


@contextmanager
def watching(tmp_path: Path, *, token: str = TOKEN) -> Iterator[int]:
    file = tmp_path / "token"
    file.write_text(token + "\n")
    with served(watch("127.0.0.1:0", token_file=file if token else None)) as port:
        yield port


def asked(port: int, *, token: str = TOKEN, question: Question | None = None) -> RemoteHost:
    return RemoteHost(host="127.0.0.1", port=port, token=token, question=question or Question())


def test_a_host_tells_what_its_counters_say_on_our_clock(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server, watching(tmp_path) as port:
        question = Question(port=server.getsockname()[1], data_path=str(tmp_path))
        watch = asked(port, question=question).watch()
        before_ns = time.monotonic_ns()
        reading = watch.read()
        after_ns = time.monotonic_ns()
        watch.close()
    assert before_ns <= reading.at_ns <= after_ns and reading.gap == ""
    assert reading.columns["host_cpu_count"] == os.cpu_count()
    # This test is the process that listens on the port; generator and host are under one kernel.
    assert (reading.columns["server_cpu_ns"] or 0) > 0 and reading.columns["shared_host"] is True
    assert (reading.columns["disk_free_bytes"] or 0) > 0
    facts = watch.facts()
    assert facts["source"] == "watch" and facts["from"] == f"127.0.0.1:{port}"
    assert 0 < facts["clock_error_ns"] <= (after_ns - before_ns) / 2


def test_a_port_on_which_nobody_listens_leaves_the_hosts_own_figures(tmp_path: Path) -> None:
    with watching(tmp_path) as port:
        watch = asked(port, question=Question(port=1)).watch()
        columns = watch.read().columns
        watch.close()
    assert columns["server_cpu_ns"] is None and columns["host_busy_ns"]


def test_a_node_that_others_started_is_the_generators_here_too(tmp_path: Path) -> None:
    """An actor of Ray under the kernel of the command and of the watch: no other program of that host."""
    node = subprocess.Popen(["sleep", "60"])
    asked_for: list[frozenset[int]] = []

    class Noted(Programs):
        def __init__(self, search: Search, *, ours: frozenset[int] = frozenset(), **words: Any) -> None:
            asked_for.append(ours)
            super().__init__(search, ours=ours, **words)

    try:
        with socket.create_server(("127.0.0.1", 0)) as server, watching(tmp_path) as port, ExitStack() as stack:
            stack.enter_context(pytest.MonkeyPatch.context()).setattr(serving, "Programs", Noted)
            watch = asked(port, question=Question(port=server.getsockname()[1])).watch()
            watch.read()  # says whose kernel it is
            with generating(frozenset({node.pid})):
                watch.read()
            watch.read()
            watch.close()
    finally:
        node.kill()
        node.wait()
    own = frozenset({os.getpid()})
    assert asked_for == [frozenset(), own, own | {node.pid}]


def test_without_a_token_nobody_beyond_this_machine_is_answered() -> None:
    with pytest.raises(UsageError, match="there is no token"):
        watch("0.0.0.0:0")
    with pytest.raises(UsageError, match="is no address"):
        watch("27027")


def test_a_port_that_is_taken_and_a_disk_that_is_not_there() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(TargetError, match="address already in use"):
        watch(f"127.0.0.1:{taken.getsockname()[1]}")
    with pytest.raises(UsageError, match="there is no disk sdzz"):
        watch("127.0.0.1:0", disk="sdzz")


@pytest.mark.parametrize("token", ["", "another"])
def test_who_does_not_know_the_token_is_told_so_and_the_token_is_not_shown(tmp_path: Path, token: str) -> None:
    with watching(tmp_path) as port, pytest.raises(TargetError) as refused:
        asked(port, token=token).require()
    assert "does not accept the token" in refused.value.message and "BRIMLINE_WATCH_TOKEN" in (refused.value.hint or "")
    assert TOKEN not in str(refused.value) and TOKEN not in repr(asked(1))


@pytest.mark.parametrize(
    "question",
    [
        "/host?port=x",
        "/host?member=0",
        "/host?member=70000",
        "/host?&&",
        "/host?port=1&data=a%00",
        "/host?" + "member=1&" * 200,
    ],
)
def test_a_question_that_cannot_be_is_refused(tmp_path: Path, question: str) -> None:
    with watching(tmp_path, token="") as port, closing(http.client.HTTPConnection("127.0.0.1", port)) as connection:
        connection.request("GET", question)
        assert connection.getresponse().status == 400


def test_it_only_reads(tmp_path: Path) -> None:
    with watching(tmp_path, token="") as port:
        for method, path, status in (("GET", "/", 404), ("POST", "/host", 501), ("DELETE", "/host", 501)):
            with closing(http.client.HTTPConnection("127.0.0.1", port)) as connection:
                connection.request(method, path)
                assert connection.getresponse().status == status


def test_too_many_who_look_on_are_sent_away_and_those_before_stay(tmp_path: Path) -> None:
    with watching(tmp_path) as port:
        watches = [asked(port).watch() for _ in range(CONNECTIONS_MAX)]
        for each in watches:
            each.read()
        one_more = asked(port).watch()
        with pytest.raises(HostGone):
            one_more.read()
        assert watches[0].read().gap == ""
        for each in (*watches, one_more):
            each.close()


def test_who_shows_no_token_takes_no_place_for_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither says anything: the one that has shown the token stays, as between two looks of a run."""
    monkeypatch.setattr(serving, "ASKED_WITHIN_S", 0.2)
    with ExitStack() as stack, watching(tmp_path) as port:
        known = asked(port).watch()
        known.read()
        silent = [
            stack.enter_context(socket.create_connection(("127.0.0.1", port))) for _ in range(CONNECTIONS_MAX - 1)
        ]
        silent[0].sendall(b"GET /host HTTP/1.1\r\nX: ")  # not to its end
        silent[1].sendall(b"GET /host HTTP/1.1\r\nAuthorization: Bearer wrong\r\n\r\n")
        for each in silent:
            each.settimeout(10.0)
            while each.recv(4096):
                pass
        another = asked(port).watch()
        assert eventually(lambda: _is_answered(another)), "the places are free again"
        connection = known._peer._connection
        assert known.read().gap == "" and known._peer._connection is connection is not None
        for watch in (known, another):
            watch.close()


def _is_answered(watch: RemoteWatch) -> bool:
    try:
        return watch.read().gap == ""
    except HostGone:
        return False


def answering(told: bytes | Callable[[], dict[str, Any]], *, status: int = 200) -> HTTPServer:
    """Answers `told`; a document is made anew for each answer."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            body = told if isinstance(told, bytes) else json.dumps(told()).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None: ...

    return ThreadingHTTPServer(("127.0.0.1", 0), Handler)


WHOLE = {"protocol": PROTOCOL_VERSION, "at_ns": 1, "boot_id": "x", "columns": {}, "facts": {}, "brimline": "0.1.0"}


def whole(**told: Any) -> dict[str, Any]:
    """What a host tells now."""
    return WHOLE | {"at_ns": time.monotonic_ns()} | told


def test_it_is_asked_eight_times_before_a_run_and_once_per_look_then() -> None:
    """The first answer is late, as the server's process is looked for; the quickest says where the clocks are."""
    asked_count, late_ns = 0, 100_000_000

    def told() -> dict[str, Any]:
        nonlocal asked_count
        asked_count += 1
        if asked_count == 1:
            time.sleep(late_ns / 1e9)
        return whole()

    with served(answering(told)) as port:
        watch = asked(port).watch()
        watch.read()
        assert asked_count == FIRST_EXCHANGES == 8
        assert watch.facts()["clock_error_ns"] < late_ns / 2
        watch.read()
        watch.close()
    assert asked_count == 9


def boots_anew(count: int) -> dict[str, Any]:
    return whole(boot_id=str(count))


def jumps(count: int) -> dict[str, Any]:
    return whole(at_ns=time.monotonic_ns() + count % 2 * 100_000_000_000)


@pytest.mark.parametrize(("told", "reason"), [(boots_anew, "started anew"), (jumps, "clock jumped")])
def test_times_that_can_not_be_are_no_reading(told: Callable[[int], dict[str, Any]], reason: str) -> None:
    counted = count()
    with served(answering(lambda: told(next(counted)))) as port:
        with pytest.raises(TargetError, match=reason):
            asked(port).require()
        watch = asked(port).watch()
        for _ in range(3):
            with pytest.raises(HostGone, match=reason):
                watch.read()
        watch.close()


def test_a_host_that_was_started_anew_is_said_once_and_read_on() -> None:
    boots = chain(["a"] * 8, repeat("b"))
    since = {"a": 0, "b": 10**18}
    with served(
        answering(lambda: whole(boot_id=(boot := next(boots)), at_ns=time.monotonic_ns() - since[boot] % 10**9))
    ) as port:
        watch = asked(port).watch()
        watch.read()
        with pytest.raises(HostGone, match="started anew"):
            watch.read()
        assert watch.read().gap == ""
        watch.close()


@pytest.mark.parametrize(
    ("document", "reason"),
    [
        (
            WHOLE | {"protocol": 2, "brimline": "9.9.9"},
            "(brimline 9.9.9, protocol 2; here it is 1)",
        ),
        ({"hello": 1}, "is no brimline watch"),
        (["what"], "is no brimline watch"),
        (WHOLE | {"at_ns": "soon"}, "answers what can't be read"),
        *((WHOLE | {"at_ns": at_ns}, "answers what can't be read") for at_ns in (10**400, -(10**30), -1)),
        (WHOLE | {"columns": {"host_busy_ns": [1]}}, "answers what can't be read"),
        (WHOLE | {"columns": {"host_busy_ns": True}}, "answers what can't be read"),
        ({"error": "no\x1b[2Jroom"}, "refuses: no�[2Jroom"),
    ],
)
def test_another_version_and_what_is_no_watcher_at_all_are_told_apart(document: object, reason: str) -> None:
    with served(answering(json.dumps(document).encode())) as port, pytest.raises(TargetError) as refused:
        asked(port).require()
    assert reason in refused.value.message and refused.value.hint


def test_an_answer_that_is_too_deep_is_refused() -> None:
    with served(answering(b"[" * 200_000)) as port, pytest.raises(TargetError, match="is no brimline watch"):
        asked(port).require()


@pytest.mark.parametrize(
    "columns",
    [
        {"host_busy_ns": 10**400, "host_cpu_count": float("nan")},
        {"disk_busy_ms": float("inf"), "host_memory_total_bytes": "much"},
        {"others_cpu_ns_by_name": "make=" + "9" * 5000, "members_cpu_ns_by_name": 7},
        {"others_cpu_ns_by_name": "a=-5;=3;b;c=\u0661"},
        {"host_cpu_count": 0, "server_cpu_count": 1 << 17, "disk_reads": -1},
    ],
)
@pytest.mark.parametrize(
    "facts",
    [
        {"disk": ["sda"], "interfaces_bits_per_s": "eth0", "gaps": 3, "source": 5, "from": None},
        {"interfaces_bits_per_s": {"eth0": "fast", "eth1": 10**400, "eth2": -1, "eth3": float("nan")}},
    ],
)
def test_what_can_not_be_says_nothing(columns: dict[str, Any], facts: dict[str, Any]) -> None:
    """Of a record with it nobody could read anything any more."""
    with served(answering(lambda: whole(columns=columns | {"host_iowait_ns": None}, facts=facts))) as port:
        watch = asked(port).watch()
        reading = watch.read()
        told = reading.columns
        known = watch.facts()
        watch.close()
    assert {told[name] for name in columns} == {None} and reading.cant_be == columns.keys()
    assert known["disk"] is None and set(known["interfaces_bits_per_s"].values()) <= {None}
    assert link_bits_per_s({"monitor": {"host": known}}) == ()
    assert known.keys() == {"disk", "interfaces_bits_per_s", "source", "from", "clock_error_ns"}
    assert (known["source"], known["from"]) == ("watch", f"127.0.0.1:{port}")


def test_an_answer_without_an_end_is_not_read_to_its_end() -> None:
    with served(answering(b"[" * 300_000)) as port, pytest.raises(TargetError, match="is no brimline watch"):
        asked(port).require()


def test_nobody_there_is_said_with_the_way_to_start_it() -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    with pytest.raises(TargetError, match="connection refused") as refused:
        asked(port).require()
    assert "brimline watch" in (refused.value.hint or "")


def test_one_that_never_answers_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(peer, "ANSWER_S", 0.05)
    with socket.create_server(("127.0.0.1", 0)) as silent, pytest.raises(TargetError, match="no answer within"):
        asked(silent.getsockname()[1]).require()


class Scripted:
    """A host that shows what is said, look after look."""

    def __init__(self, looks: list[Reading | Exception]) -> None:
        self.looks = looks
        self.closed = False
        self.seen = threading.Event()

    def watch(self) -> "Scripted":
        return self

    def read(self) -> Reading | None:
        if not self.looks:
            self.seen.set()
            return None
        look = self.looks.pop(0)
        if isinstance(look, Exception):
            raise look
        return look

    def rest(self, *, since_ns: int, until_ns: int) -> list[Reading]:
        return []

    def facts(self) -> dict[str, Any]:
        return {"source": "watch"}

    def close(self) -> None:
        self.closed = True


def sampled(*looks: Reading | Exception) -> tuple[list[dict[str, Any]], HostSampler]:
    host = Scripted(list(looks))
    with HostSampler(host, server="db:27017", interval_s=0.001) as sampler:
        assert host.seen.wait(5)
        assert sampler.take_rows() == []  # the run's clock has no zero yet
        sampler.set_origin(1_000)
    assert host.closed
    return sampler.take_rows(), sampler


def test_readings_are_rows_on_the_runs_clock_and_a_silence_is_a_gap_with_its_reason() -> None:
    rows, sampler = sampled(
        Reading(at_ns=1_500, columns={"host_busy_ns": 7, "shared_host": True}),
        HostGone("connection refused"),
        Refused("does not accept the token", hint=""),
        ZeroDivisionError(),
        Reading(at_ns=9_000, columns={"host_busy_ns": 9}),
    )
    assert rows[0] == dict.fromkeys(HOST_COLUMNS) | {
        "at_ns": 500, "gap": "", "server": "db:27017", "host_busy_ns": 7, "shared_host": 1
    }  # fmt: skip
    assert [row["gap"] for row in rows] == [
        "", "connection refused", "does not accept the token", "unreadable (ZeroDivisionError)", ""
    ]  # fmt: skip
    assert sampler.facts() == {
        "source": "watch",
        "gaps": [{"start_ns": 500, "end_ns": 8_000, "reason": "connection refused"}],
        "unusable_since_ns": {"shared_host": 8_000},
    }
    assert sampler.filled == {"host_busy_ns", "shared_host"}


def test_a_column_that_says_nothing_of_use_is_noted_from_its_first_such_reading_within_the_run() -> None:
    whole = {"host_busy_ns": 7, "disk_busy_ms": 1}
    _, sampler = sampled(
        Reading(at_ns=500, cant_be=frozenset({"host_cpu_count"})),  # before the run
        Reading(at_ns=1_500, columns=whole),
        Reading(at_ns=2_500, gap="connection refused"),
        Reading(at_ns=3_500, columns=whole | {"disk_busy_ms": None}),
        Reading(at_ns=4_500, columns={}, cant_be=frozenset({"host_busy_ns", "host_cpu_count"})),
        Reading(at_ns=5_500, columns=whole),
    )
    assert sampler.facts()["unusable_since_ns"] == {
        "disk_busy_ms": 2_500,
        "host_busy_ns": 3_500,
        "host_cpu_count": 3_500,
    }


def test_an_answer_without_an_end_is_left_and_told() -> None:
    """A byte now and then: no time between two of them is long, and the answer never is there."""
    let_go = threading.Event()

    class Dripping(Scripted):
        def read(self) -> Reading | None:
            self.seen.set()
            let_go.wait(10)
            return None

    host = Dripping([])
    with HostSampler(host, server="db:27017", interval_s=0.001, stop_within_s=0.01) as sampler:
        assert host.seen.wait(5)
        sampler.set_origin(0)
    (row,) = sampler.take_rows()
    assert row["gap"] == "its answer does not come to an end" and sampler.facts()["gaps"]
    with pytest.raises(HostGone, match="does not come to an end"):
        meet(Dripping([]), within_s=0.01)
    let_go.set()


class AtTheEnd(Scripted):
    """What it shows is known at the end only."""

    def __init__(self, rest: Reading | Exception) -> None:
        super().__init__([])
        self._rest = rest

    def rest(self, *, since_ns: int, until_ns: int) -> list[Reading]:
        if isinstance(self._rest, Exception):
            raise self._rest
        return [self._rest]


@pytest.mark.parametrize(
    ("rest", "gap"), [(Reading(at_ns=5), ""), (ZeroDivisionError(), "unreadable (ZeroDivisionError)")]
)
def test_what_is_only_known_at_the_end_may_take_longer_than_an_answer_and_may_fail(
    rest: Reading | Exception, gap: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    host = AtTheEnd(rest)
    with HostSampler(host, server="db:27017", interval_s=0.001, stop_within_s=0.5) as sampler:
        assert host.seen.wait(5)
        sampler.set_origin(0)
        join, waited_s = sampler._thread.join, []

        def too_long_for_an_answer(within_s: float) -> bool:
            waited_s.append(within_s)
            return join(10) and within_s > 0.5

        monkeypatch.setattr(sampler._thread, "join", too_long_for_an_answer)
    assert [row["gap"] for row in sampler.take_rows()] == [gap]
    assert waited_s == [0.5, REST_WITHIN_S]


def test_a_host_that_goes_away_and_comes_back(tmp_path: Path) -> None:
    with watching(tmp_path) as port:
        source = asked(port)
        watch = source.watch()
        watch.read()
    with pytest.raises(HostGone):
        watch.read()
        watch.read()  # the kernel may have taken the first question
    file = tmp_path / "token"
    with served(_again(port, file)):
        assert watch.read().gap == ""
    watch.close()


def _again(port: int, file: Path) -> HostServer:
    return watch(f"127.0.0.1:{port}", token_file=file)
