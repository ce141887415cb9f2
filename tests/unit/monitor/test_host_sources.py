"""What `--host-metrics` names, and of which servers it has no meaning."""

import time
from contextlib import closing
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, HTTPServer
from itertools import count
from pathlib import Path
from threading import Thread
from typing import Any, cast

import pytest

from brimline.errors import TargetError, UsageError
from brimline.monitor.host import peer, sources
from brimline.monitor.host.asking import Question
from brimline.monitor.host.exporter import ExporterHost, ExporterWatch
from brimline.monitor.host.file import FileHost
from brimline.monitor.host.remote import RemoteHost
from brimline.monitor.host.source import HostGone
from brimline.monitor.host.sources import host_source
from brimline.servers import Deployment
from brimline.units import NS_PER_S

SAMPLES = Path(__file__).parent / "samples"
ELSEWHERE = Deployment(
    address="db:27017",
    uri_redacted="mongodb://db:27017",
    kind="standalone",
    engine="MongoDB",
    version="6.0.5",
    git_version="",
    local=False,
    pid=None,
    cpu_count=4,
)


@pytest.fixture(autouse=True)
def nobody_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "question_about", lambda _: Question(port=27017))
    monkeypatch.setattr(RemoteHost, "require", lambda _: None)


def source(where: str, *, deployment: Deployment = ELSEWHERE, disk: str | None = None) -> Any:
    return host_source(where, deployment=deployment, token="", disk=disk)


@pytest.mark.parametrize(
    ("where", "host", "port"),
    [("db1:27027", "db1", 27027), ("[fd00::1]:1", "fd00::1", 1), ("10.0.0.5:65535", "10.0.0.5", 65535)],
)
def test_an_address_is_that_of_a_watcher(where: str, host: str, port: int) -> None:
    found = source(where)
    assert isinstance(found, RemoteHost)
    assert (found.host, found.port, found.address) == (host, port, where)


def test_a_file_may_be_called_as_an_address_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "db1:27027").write_text((SAMPLES / "iostat.txt").read_text())
    assert isinstance(source("db1:27027"), FileHost)


@pytest.mark.parametrize("port", ["0", "99999", "123456"])
def test_a_port_that_none_can_be_is_refused(port: str) -> None:
    with pytest.raises(UsageError, match=f"the port {port} is out of range"):
        source(f"db1:{port}")


@pytest.mark.parametrize(
    ("deployment", "said"),
    [
        (replace(ELSEWHERE, pid=7, local=True), "runs on this machine"),
        (replace(ELSEWHERE, shards=("db2:27017",)), "would not speak for the others"),
    ],
)
def test_a_server_that_it_has_no_meaning_for(deployment: Deployment, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        source("db:27027", deployment=deployment)


@pytest.mark.parametrize(
    "where",
    ["https://db:9100", "http://user:secret@db:9100", "http://", "http://db:x", "http://db:0", "http://db:99999"],
)
def test_a_page_that_cant_be_read_is_refused_without_its_secret(where: str) -> None:
    with pytest.raises(UsageError, match="is no address of a node exporter's page") as refused:
        source(where)
    assert "secret" not in refused.value.message


class Page(BaseHTTPRequestHandler):
    pages: dict[str, bytes]

    def do_GET(self) -> None:
        body = self.pages.get(self.path, b"")
        self.send_response(200 if body else 404)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None: ...


def test_a_node_exporter_is_read_where_its_page_is() -> None:
    first, _, _ = (SAMPLES / "node_exporter.txt").read_bytes().partition(b"node_time_seconds 1.7957155671")
    pages = {"/metrics": first + b"node_time_seconds 1\n", "/other": b"up 1\n"}
    handler = type("Handler", (Page,), {"pages": pages})
    with HTTPServer(("127.0.0.1", 0), handler) as server:
        thread = Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            at = f"http://127.0.0.1:{server.server_address[1]}"
            found = source(at)
            assert isinstance(found, ExporterHost)
            with closing(found.watch()) as watch:
                reading = watch.read()
            assert reading.columns["host_cpu_count"] == 2 and reading.columns["disk_reads"]
            assert watch.facts()["disk"] == "vda" and watch.facts()["from"] == f"{at}/metrics"
            for path, reason in (("/other", "has no node_time_seconds"), ("/nothing", "answers with status 404")):
                with pytest.raises(TargetError, match=reason):
                    source(f"{at}{path}")
            with pytest.raises(UsageError, match="tells of no disk sda"):
                source(at, disk="sda")
        finally:
            server.shutdown()
            thread.join()
    with pytest.raises(TargetError, match="connection refused"):
        source(at)


def test_a_page_of_a_clock_that_jumped_is_no_reading() -> None:
    times_s = iter((1_000.0, 1_100.0, 1_100.002))
    ours_ns = count(time.monotonic_ns(), NS_PER_S // 1000)

    class Told:
        def get(self, *_: object, **__: object) -> peer.Page:
            body = f"node_time_seconds {next(times_s)}\n".encode()
            return peer.Page(status=200, body=body, sent_ns=next(ours_ns), received_ns=next(ours_ns))

    source = ExporterHost(host="db", port=9100, path="/metrics", disk=None)
    watch = ExporterWatch(source, cast("peer.Peer", Told()))
    assert watch.read().gap == ""
    with pytest.raises(HostGone, match="its clock jumped"):
        watch.read()
    assert watch.read().gap == ""
