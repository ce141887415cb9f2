"""Owns recognising a server of a lab by the address it is reached at, so that records say what it is part of."""

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from brimline.record.redaction import REDACTED
from brimline.servers.access import Login
from brimline.servers.lab.state import Lab, LabServer, labs_directory, server_process, stored_labs
from brimline.servers.state import is_own

_LOOPBACK = frozenset({"127.0.0.1", "localhost", "[::ffff:127.0.0.1]"})


def lab_server(address: str) -> tuple[Lab, LabServer] | None:
    """The lab and its server at `address` ("host:port") that runs on this machine; None where there is none."""
    host, _, port = address.rpartition(":")
    if host not in _LOOPBACK or not is_own(labs_directory()):
        return None
    for lab in stored_labs(labs_directory()):
        for server in lab.servers:
            if server.address.rpartition(":")[2] == port and server_process(lab, server) is not None:
                return lab, server
    return None


def lab_password_file(addresses: Sequence[str], *, user: str) -> Path | None:
    """Where the password of `user` lies, whom brimline made for its lab at `addresses`; None for any other servers.

    One of them runs; the others are of the same lab, and may have ended.
    """
    lab, _ = next(filter(None, map(lab_server, addresses)), (None, None))
    if lab is None or lab.user != user or not all(_is_of(lab, address) for address in addresses):
        return None
    return lab.password_file


def is_user_of_lab(address: str, login: Login | None) -> bool:
    """Whether `login` is of the user whom brimline made for its lab at `address`."""
    lab, _ = lab_server(address) or (None, None)
    return lab is not None and login is not None and (login.username, login.source) == (lab.user, "admin")


def lab_uri(uri: str) -> str | None:
    """The connection string of a record that says `user_of_lab`, with that user: the password is found then.

    None for other servers, and for a lab that doesn't run.
    """
    scheme, hidden, rest = uri.partition(f"://{REDACTED}@")
    addresses = re.split("[/?]", rest, maxsplit=1)[0].split(",")
    lab, _ = next(filter(None, map(lab_server, addresses)), (None, None))
    if not hidden or lab is None or lab.user is None or not all(_is_of(lab, address) for address in addresses):
        return None
    return f"{scheme}://{lab.user}@{rest}"


def _is_of(lab: Lab, address: str) -> bool:
    host, _, port = address.rpartition(":")
    return host in _LOOPBACK and any(server.address.rpartition(":")[2] == port for server in lab.servers)


def lab_facts(lab: Lab) -> dict[str, Any]:
    """What a lab is, for a record. `network` is absent where connections reach the servers themselves."""
    sets = Counter(server.set_name for server in lab.servers if server.set_name is not None)
    facts = {
        "topology": lab.topology,
        "servers": len(lab.servers),
        "members": max(sets.values(), default=None),
        "network": lab.settings.get("network"),
        **{name: lab.settings.get(name) for name in ("cpu_share", "cpus", "small", "cache_gb", "election_timeout_ms")},
    }
    return {name: value for name, value in facts.items() if value not in (None, [], False)}
