"""Owns the servers a run talks to: the bundled mongod, and any other server behind a connection string.

Both ways end in a `Deployment`: an address for the engine and the facts a report needs. brimline's own
connections for anything that is not measured are made by `control_client`.
"""

from brimline.servers.access import OPEN, Access
from brimline.servers.binary import BUNDLED_LICENCE, ServerBinary, find_mongod
from brimline.servers.bundled import bundled
from brimline.servers.deployment import Deployment, control_client, server_documents
from brimline.servers.external import compressing_by, external, external_again, primary_now, reached, reading_by
from brimline.servers.password import PasswordSource
from brimline.servers.state import sweep

__all__ = [
    "BUNDLED_LICENCE",
    "OPEN",
    "Access",
    "Deployment",
    "PasswordSource",
    "ServerBinary",
    "bundled",
    "compressing_by",
    "control_client",
    "external",
    "external_again",
    "find_mongod",
    "primary_now",
    "reached",
    "reading_by",
    "server_documents",
    "sweep",
]
