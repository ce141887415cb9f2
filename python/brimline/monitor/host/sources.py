"""Owns which source of a host's figures is meant: a watcher by its address, an exporter by its page, else a file."""

import os
import time
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

from pymongo.errors import PyMongoError

from brimline.errors import UsageError
from brimline.monitor.host.asking import MEMBERS_MAX, Question
from brimline.monitor.host.clock import Exchange
from brimline.monitor.host.exporter import ExporterHost
from brimline.monitor.host.file import TIME_GRAIN_NS, FileHost
from brimline.monitor.host.remote import FIRST_EXCHANGES, RemoteHost
from brimline.monitor.host.source import HostSource
from brimline.monitor.server_host import data_path
from brimline.servers.addresses import read_address
from brimline.servers.deployment import Deployment, control_client, split_address
from brimline.servers.members import known_members
from brimline.units import NS_PER_S

_EXPORTER_PORT = 9100


def host_source(where: str, *, deployment: Deployment, token: str, disk: str | None) -> HostSource:
    """What `where` names; it has answered, or can be read.

    Raises UsageError where it names nothing, or the host can be seen from here, and TargetError where what it names
    doesn't answer, or not as it should.
    """
    if deployment.pid is not None:
        raise UsageError(
            f"the server at {deployment.address} runs on this machine, whose figures are read without more",
            hint="leave --host-metrics out",
        )
    if deployment.shards:
        raise UsageError(
            "the host of one of several shards would not speak for the others", hint="leave --host-metrics out"
        )
    # `Path.exists` raises of what is too long for a name.
    address = None if os.path.exists(where) else read_address(where)  # noqa: PTH110
    if address is not None:
        if disk is not None:
            raise UsageError(
                f"--host-disk {disk} is for an exporter or a file; brimline watch knows the server's own disk",
                hint="leave --host-disk out",
            )
        source = RemoteHost(host=address[0], port=address[1], token=token, question=question_about(deployment))
        source.require()
        return source
    if where.startswith(("http://", "https://")):
        exporter = _exporter(where, disk)
        exporter.require()
        return exporter
    file = FileHost(path=Path(where), disk=disk, ask_time=partial(_ask_time, deployment))
    file.require()
    return file


def _exporter(where: str, disk: str | None) -> ExporterHost:
    try:
        address = urlsplit(where)
        host, port = address.hostname, _EXPORTER_PORT if address.port is None else address.port
    except ValueError:
        host, port = None, 0
    if host is None or not port or address.scheme != "http" or address.username is not None:
        raise UsageError(
            f"--host-metrics {where} is no address of a node exporter's page",
            hint="write http://HOST:9100/metrics; behind TLS or a login use brimline watch, or a file of its pages",
        )
    path = f"{address.path or '/metrics'}{'?' if address.query else ''}{address.query}"
    return ExporterHost(host=host, port=port, path=path, disk=disk)


def _ask_time(deployment: Deployment) -> Sequence[Exchange]:
    """What the server says that the time is on its host, some times; nothing where it doesn't say."""
    found: list[Exchange] = []
    if deployment.protocol != "mongodb":
        return found
    with (
        suppress(PyMongoError, ValueError),
        control_client(deployment.address, access=deployment.access) as client,
    ):
        client.admin.command("ping")  # so that the time to connect is none of the questions'
        for _ in range(FIRST_EXCHANGES):
            sent_ns = time.time_ns()
            now = client.admin.command("hello").get("localTime")
            received_ns = time.time_ns()
            if isinstance(now, datetime):
                now_ns = round(now.replace(tzinfo=UTC).timestamp() * NS_PER_S) + TIME_GRAIN_NS // 2
                found.append(Exchange(sent_ns, now_ns, received_ns))
    return found


def question_about(deployment: Deployment) -> Question:
    """What is asked about the host of `deployment`'s server: which process it is, where its data are, its neighbours.

    Raises nothing: what the server doesn't tell is left open.
    """
    host, port = split_address(deployment.address)
    if deployment.protocol != "mongodb":
        place = "" if deployment.data_directory is None else str(deployment.data_directory)
        return Question(port=port, data_path=place)
    with control_client(deployment.address, access=deployment.access) as client:
        place = data_path(client) or ""
        known = dict.fromkeys([*deployment.addresses, *known_members(client)])
    ports = [split_address(each) for each in known if each.rpartition(":")[2].isdigit()]
    members = [its_port for its_host, its_port in ports if its_host == host and its_port != port]
    return Question(port=port, data_path=place, members=tuple(sorted(set(members))[:MEMBERS_MAX]))
