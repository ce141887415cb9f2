"""Owns what the DNS says of a cluster: hosts and options behind `mongodb+srv://`.

PyMongo asks it, and checks that the hosts are of the same domain. Source: the drivers' specification of initial DNS
seedlist discovery.
"""

import re

from pymongo.errors import PyMongoError
from pymongo.uri_parser import parse_uri

from brimline.errors import TargetError, UsageError

_TIMEOUT_S = 5.0
HOSTS_MAX = 50
"""As many as a replica set has members: each is waited for in turn, so that thousands would take hours."""
_HOST = re.compile(r"[\w.-]{1,255}")
_OPTIONS = ("authsource", "replicaset")
"""What a TXT record may say; with loadBalanced, which brimline can't honour, it may say nothing else."""


def resolve_srv(host: str) -> tuple[tuple[tuple[str, int], ...], dict[str, str]]:
    """Hosts with their ports, and options by their name in lower case.

    Raises:
        UsageError: what was given is no name that could have such records.
        TargetError: the DNS doesn't answer, or has no such records.
    """
    if "," in host or ":" in host or host.replace(".", "").isdigit():
        raise UsageError(
            "mongodb+srv:// takes one host name without a port", hint="write it as mongodb+srv://CLUSTER.EXAMPLE.COM"
        )
    try:
        found = parse_uri(f"mongodb+srv://{host}/", connect_timeout=_TIMEOUT_S, warn=False)
    except (PyMongoError, ValueError) as error:
        raise TargetError(
            f"the DNS names no servers for mongodb+srv://{host}",
            hint=f"check the name, and that _mongodb._tcp.{host} can be resolved from here",
        ) from error
    options = {str(name).lower(): value for name, value in found["options"].items()}
    if options.get("loadbalanced"):
        raise UsageError(
            f"the DNS says that {host} is a load balancer, which is not supported in this version",
            hint="give the address of a server behind it",
        )
    nodes = tuple((str(name), int(port)) for name, port in found["nodelist"])
    if not 0 < len(nodes) <= HOSTS_MAX or not all(_HOST.fullmatch(name) and 0 < port < 2**16 for name, port in nodes):
        raise TargetError(
            f"what the DNS names for mongodb+srv://{host} can't be the servers of a cluster",
            hint=f"see what _mongodb._tcp.{host} resolves to: 1 to {HOSTS_MAX} host names with ports",
        )
    return nodes, {name: str(options[name]) for name in _OPTIONS if name in options}
