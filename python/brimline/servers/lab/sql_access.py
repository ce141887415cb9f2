"""Owns how a MariaDB or PostgreSQL of a lab is reached, and brimline's own connections to it."""

from urllib.parse import quote

from brimline.errors import TargetError
from brimline.servers.lab import access
from brimline.servers.lab.state import Lab, LabServer
from brimline.servers.sql_client import SqlClient, SqlError, open_client
from brimline.servers.sql_reading import ConnectionLost
from brimline.servers.target_uri import parse_target_uri

_SCHEMES = {"mariadb": "mariadb", "postgres": "postgresql"}


def connection_string(lab: Lab, server: LabServer, *, database: str = access.DATABASE, with_password: bool) -> str:
    """How to reach a database of the server; without the password unless that is wanted for a private file."""
    user = access.user_information(lab, with_password=with_password)
    tls = f"?tls=true&tlsCAFile={quote(str(lab.ca_file), safe='/')}" if lab.tls else ""
    return f"{_SCHEMES[server.role]}://{user}{server.address}/{database}{tls}"


def sql_client(lab: Lab, server: LabServer, *, database: str = access.DATABASE) -> SqlClient:
    """A connection to a database of the server. Raises TargetError."""
    return open_client(parse_target_uri(connection_string(lab, server, database=database, with_password=True)))


def answers(lab: Lab, server: LabServer) -> bool:
    """Whether the server lets the lab's user in, and answers."""
    # initdb knows no other database, and a server's part is done where its lab's own is gone.
    database = "postgres" if server.role == "postgres" else "mysql"
    try:
        with sql_client(lab, server, database=database) as client:
            return bool(client.rows("SELECT 1"))
    except (TargetError, SqlError, ConnectionLost):
        return False
